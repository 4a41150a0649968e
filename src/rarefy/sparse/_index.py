"""Index arrays as plain buffers: their dtypes, linear ids, sorting, padding."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from rarefy._primitives.group_cells import group_cells
from rarefy._primitives.group_rows import group_rows

INT32_MAX = 2**31 - 1


def has_int64() -> bool:
    """Whether 64-bit types are enabled where this is called."""
    return jax.dtypes.canonicalize_dtype(np.int64) == np.int64


def common_dtype(*arrays: Any) -> np.dtype:
    """The type that holds the values of all, also where implicit promotion is switched off.

    `jax.lax.dot_general` takes operands of two types whatever `jax_numpy_dtype_promotion` says.
    """
    with jax.numpy_dtype_promotion("standard"):
        return jnp.result_type(*arrays)


def widens(dtype: Any, wanted: Any) -> bool:
    """Whether every value of `dtype` has its like in `wanted`, whatever promotion is allowed."""
    with jax.numpy_dtype_promotion("standard"):
        return jnp.promote_types(dtype, wanted) == wanted


def index_dtype_for(*sizes: int) -> np.dtype:
    """The index type that holds every one of `sizes`, each of which is also the padding index."""
    return np.dtype(np.int32 if max(sizes, default=0) <= INT32_MAX else np.int64)


def as_kernel_index(*arrays: jax.Array) -> tuple[jax.Array, ...]:
    """Brings index arrays to one common type that kernels take: int32 or int64."""
    wide = has_int64() and any(a.dtype in (np.int64, np.uint64) for a in arrays)
    dtype = np.dtype(np.int64 if wide else np.int32)
    return tuple(a if a.dtype == dtype else a.astype(dtype) for a in arrays)


def pad_leading(array: jax.Array, length: int, fill: Any) -> jax.Array:
    """Lengthens axis 0 of `array` to `length` with `fill`."""
    missing = length - array.shape[0]
    if missing == 0:
        return array
    return _pad_leading(array, missing=missing, fill=fill)


@partial(jax.jit, static_argnames=("missing", "fill"), inline=True)
def _pad_leading(array, *, missing, fill):
    config = [(0, missing, 0)] + [(0, 0, 0)] * (array.ndim - 1)
    return lax.pad(array, jnp.asarray(fill, array.dtype), config)


def trim_leading(array: jax.Array, length: int) -> jax.Array:
    """Shortens axis 0 of `array` to `length`."""
    if array.shape[0] == length:
        return array
    return lax.slice_in_dim(array, 0, length)


def along_last(sizes: Sequence[int], like: jax.Array | np.ndarray) -> np.ndarray:
    """Sizes as an array beside `like`: of its dtype and rank, along its last axis.

    All axes are spelled out because `jax_numpy_rank_promotion` may forbid to add them.
    """
    return np.asarray(sizes, like.dtype).reshape(*(1,) * (like.ndim - 1), -1)


def in_range(indices: jax.Array, sizes: Sequence[int]) -> jax.Array:
    """Tells which entries are real.

    Args:
      indices: `(*b, nse, n_sparse)`, integer.
      sizes: the `n_sparse` sizes of the indexed dimensions.

    Returns:
      `(*b, nse)`, bool: whether every coordinate lies inside its dimension.
    """
    (indices,) = as_kernel_index(indices)
    largest = np.iinfo(indices.dtype).max
    limit = along_last([min(s, largest) for s in sizes], indices)
    return jnp.all((indices >= 0) & (indices < limit), axis=-1)


def normalize_padding(indices: jax.Array, sizes: Sequence[int]) -> jax.Array:
    """Moves every coordinate of a padding entry to the size of its dimension.

    Args:
      indices: `(*b, nse, n_sparse)`, integer.
      sizes: the `n_sparse` sizes of the indexed dimensions.

    Returns:
      The indices, same dtype; an entry with one coordinate out of range has all out of range.
    """
    return jnp.where(in_range(indices, sizes)[..., None], indices, along_last(sizes, indices))


def linear_ids(coordinates: Sequence[jax.Array], sizes: Sequence[int]) -> jax.Array:
    """Numbers cells in row-major order.

    Args:
      coordinates: integer arrays that broadcast together, one for each dimension, in range.
      sizes: the sizes of those dimensions; their product must fit the type that is chosen for it.

    Returns:
      Array of the broadcast shape: int32, or int64 where the number of cells needs it.
    """
    shape = jnp.broadcast_shapes(*(c.shape for c in coordinates)) if coordinates else ()
    dtype = index_dtype_for(math.prod(sizes))
    ids = jnp.zeros(shape, dtype)
    for coordinate, size in zip(coordinates, sizes, strict=True):
        ids = ids * np.asarray(size, dtype) + coordinate.astype(dtype)
    return ids


def cell_numbers(indices: jax.Array, sizes: Sequence[int]) -> jax.Array | None:
    """Numbers the cells that entries name, in row-major order, so that one key sorts them.

    Args:
      indices: `(nse, n_sparse)`, int32 or int64; padding may be anywhere.
      sizes: the `n_sparse` sizes.

    Returns:
      `(nse,)`, int32 or int64, `prod(sizes)` for padding; None where no index type can number them.
    """
    cells = math.prod(sizes)
    if cells > INT32_MAX and not (has_int64() and cells < 2**63):
        return None
    if len(sizes) == 1:
        ids = indices[:, 0].astype(index_dtype_for(cells))
    else:
        ids = linear_ids([indices[:, d] for d in range(len(sizes))], sizes)
        ids = jnp.broadcast_to(ids, indices.shape[:1])
    return jnp.where(in_range(indices, sizes), ids, np.asarray(cells, ids.dtype))


def cell_coordinates(cells: jax.Array, sizes: Sequence[int], dtype: Any) -> jax.Array:
    """The coordinates of numbered cells; the inverse of `cell_numbers`.

    Args:
      cells: `(*b,)`, integer; `prod(sizes)` is padding.
      sizes: the `n_sparse` sizes.
      dtype: integer type of the result.

    Returns:
      `(*b, n_sparse)`; padding has the sizes.
    """
    parts, rest = [], cells
    for size in reversed(sizes):
        parts.append(rest % max(size, 1))
        rest = rest // max(size, 1)
    if not parts:
        return jnp.zeros((*cells.shape, 0), dtype)
    stacked = jnp.stack(parts[::-1], axis=-1).astype(dtype)
    is_real = (cells < math.prod(sizes))[..., None]
    return jnp.where(is_real, stacked, along_last(sizes, stacked))


def are_pairs(indices: jax.Array, sizes: Sequence[int]) -> bool:
    """Whether `group_cells` takes these cells, `(nse, n_sparse)` of dimensions of these sizes."""
    fits = max(sizes, default=0) <= np.iinfo(indices.dtype).max and math.prod(sizes) < 2**63
    return len(sizes) == 2 and fits


def sort_order(indices: jax.Array, sizes: Sequence[int]) -> jax.Array:
    """Finds the stable permutation that sorts entries by coordinates, padding last.

    Args:
      indices: `(nse, n_sparse)`, integer; padding may be anywhere.
      sizes: the `n_sparse` sizes.

    Returns:
      `(nse,)`, int32.

    Cost: O(nse), once for each dimension where the cells cannot be numbered.
    """
    (indices,) = as_kernel_index(indices)
    if are_pairs(indices, sizes):
        return group_cells(indices, shape=(sizes[0], sizes[1]), capacity=0).order
    ids = cell_numbers(indices, sizes)
    if ids is not None:
        return group_rows(ids, n_rows=math.prod(sizes), capacity=0).order
    indices = normalize_padding(indices, sizes)
    order = lax.iota(jnp.int32, indices.shape[0])
    for d in reversed(range(indices.shape[1])):
        step = group_rows(indices[order, d], n_rows=sizes[d], capacity=0).order
        order = order[step]
    return order


def first_of_run(indices: jax.Array, sizes: Sequence[int]) -> jax.Array:
    """Marks where a new cell begins among sorted entries with normal padding.

    Args:
      indices: `(nse, n_sparse)`, sorted, padding normalized and last.
      sizes: the `n_sparse` sizes.

    Returns:
      `(nse,)`, bool; False for padding.
    """
    changed = jnp.any(indices[1:] != indices[:-1], axis=-1)
    changed = jnp.concatenate([jnp.ones(min(indices.shape[0], 1), bool), changed])
    return changed & in_range(indices, sizes)


def row_starts(rows: jax.Array, n_rows: int) -> jax.Array:
    """Makes an `indptr` from sorted row numbers.

    Args:
      rows: `(nse,)`, ascending, in `[0, n_rows]`; `n_rows` is padding.
      n_rows: how many rows there are.

    Returns:
      `(n_rows + 1,)`, same dtype: entries of row `i` are those from `out[i]` to `out[i + 1]`.

    Cost: O(nse + n_rows), or O(n_rows * log(nse)) where that is less.
    """
    nse = rows.shape[0]
    if n_rows * max(nse, 1).bit_length() <= 4 * nse:
        bounds = lax.iota(rows.dtype, n_rows + 1)
        return jnp.searchsorted(rows, bounds, side="left").astype(rows.dtype)
    counts = jnp.zeros(n_rows + 1, rows.dtype)
    counts = counts.at[rows + 1].add(1, mode="drop", indices_are_sorted=True)
    return jnp.cumsum(counts, dtype=rows.dtype)


def row_of_entry(indptr: jax.Array, nse: int) -> jax.Array:
    """Tells the row of each entry of a CSR matrix.

    Args:
      indptr: `(m + 1,)`, non-decreasing.
      nse: the number of slots.

    Returns:
      `(nse,)`, dtype of `indptr`, ascending; `m` for slots from `indptr[-1]` on.

    Cost: O(nse + m), or O(nse * log(m)) where that is less.
    """
    m = indptr.shape[0] - 1
    if nse * max(m, 1).bit_length() <= 4 * m:
        slots = lax.iota(indptr.dtype, nse)
        return jnp.searchsorted(indptr[1:], slots, side="right").astype(indptr.dtype)
    ends = jnp.zeros(nse, indptr.dtype)
    ends = ends.at[indptr[1:]].add(1, mode="drop", indices_are_sorted=True)
    return jnp.cumsum(ends, dtype=indptr.dtype)
