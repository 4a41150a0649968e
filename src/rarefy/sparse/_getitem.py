"""What stands between the brackets of a BCOO: basic indices, arrays of numbers, masks.

The functions take BCOO values without importing the class, which is built on them.
"""

import math
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from rarefy.sparse import _entries, _slicing
from rarefy.sparse._check import is_concrete
from rarefy.sparse._index import along_last, as_kernel_index
from rarefy.sparse._operators import take

Shape = tuple[int, ...]


def getitem(mat: Any, item: Any) -> Any:
    """Indexes as NumPy does, and takes the nearest cell for a number out of range, as JAX does.

    Arrays, broadcast together, become dimensions: batch ones where they index the first sparse
    dimension or several, else of the kind that was indexed.

    Raises:
      IndexError: too many indices, or a mask that does not fit.
      TypeError: an index of another kind, or a traced mask.
    """
    rows = _plain_rows(item, mat.shape[0]) if mat.ndim else None
    if rows is not None:
        return take(mat, rows, 0)
    items = item if isinstance(item, tuple) else (item,)
    if not any(_is_array(i) for i in items):
        return _basic(mat, items)
    items = _spelled_out(items, mat.shape)
    arrays, axes, basic = [], [], []
    dimension = axis = 0
    for i in items:
        if _is_array(i):
            arrays.append(ids_of(i, mat.shape[dimension]))
            axes.append(axis)
        basic.append(slice(None) if _is_array(i) else i)
        axis += i is None or isinstance(i, slice) or _is_array(i)
        dimension += i is not None
    # Integers count as arrays where NumPy asks whether the arrays stand side by side.
    stand = [k for k, i in enumerate(items) if i is not None and not isinstance(i, slice)]
    side_by_side = all(b == a + 1 for a, b in pairwise(stand))
    place = stand[0] if side_by_side else 0
    mat = _basic(mat, tuple(basic))
    if len(arrays) == 1:
        return _move_axes(take(mat, arrays[0], axes[0]), axes[0], arrays[0].ndim, place)
    shape = np.broadcast_shapes(*(a.shape for a in arrays))
    xp = np if all(isinstance(a, np.ndarray) for a in arrays) else jnp
    ids = [xp.broadcast_to(a, shape).reshape(-1) for a in arrays]
    rest = tuple(s for d, s in enumerate(mat.shape) if d not in axes)
    out = _take_cells(mat, ids, axes)
    buffers = [lax.reshape(b, (*shape, *b.shape[1:])) for b in out._bufs]
    out = mat._trusted(*buffers, (*shape, *rest), out.indices_sorted, out.unique_indices)
    return _move_axes(out, 0, len(shape), place)


def _plain_rows(item: Any, size: int) -> np.ndarray | None:
    """The row numbers that an index is, if it is nothing else: known and in range."""
    if not isinstance(item, np.ndarray | jax.Array) or item.ndim != 1 or not is_concrete(item):
        return None
    rows = np.asarray(item)
    if rows.dtype.kind not in "iu" or not rows.size or rows.min() < 0 or rows.max() >= size:
        return None
    return rows


def _is_array(index: Any) -> bool:
    return isinstance(index, list | np.ndarray | jax.Array) and np.ndim(index) > 0


def _basic(mat: Any, item: Any) -> Any:
    plan = _slicing.plan_of(item, mat.shape)
    if plan == _slicing.whole(mat.shape):
        return mat
    data, indices, shape = _slicing.take(mat.data, mat.indices, shape=mat.shape, plan=plan)
    return mat._trusted(data, indices, shape)


def _spelled_out(given: Sequence[Any], shape: Shape) -> list[Any]:
    """An index for every dimension: slices in place of `...`, numbers in place of masks."""
    out: list[Any] = []
    # A list of nothing is one of no integers.
    items: list[Any] = [
        np.asarray(i or np.zeros(0, int)) if isinstance(i, list) else i for i in given
    ]
    widths = [i.ndim if _is_mask(i) else int(i is not None and i is not Ellipsis) for i in items]
    dots = [k for k, i in enumerate(items) if i is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can only have a single ellipsis")
    if sum(widths) > len(shape):
        raise IndexError(f"too many indices: {sum(widths)} for an array of {len(shape)} dimensions")
    at = dots[0] if dots else len(items)
    whole: list[Any] = [slice(None)] * (len(shape) - sum(widths))
    dimension = 0
    for i in (*items[:at], *whole, *items[at + 1 :]):
        if not _is_mask(i):
            out.append(i)
            dimension += i is not None
            continue
        if not is_concrete(i):
            raise TypeError(
                "a mask must be known: under jit use integers, or an array of bools from outside"
            )
        sizes = shape[dimension : dimension + i.ndim]
        if i.shape != sizes:
            raise IndexError(
                f"a mask of shape {i.shape} does not fit dimensions {dimension} to "
                f"{dimension + i.ndim - 1}: {sizes}"
            )
        out += np.nonzero(np.asarray(i))
        dimension += i.ndim
    return out


def _is_mask(index: Any) -> bool:
    return _is_array(index) and index.dtype == bool


def ids_of(ids: Any, size: int) -> jax.Array | np.ndarray:
    """Numbers in range, NumPy where they are known."""
    if not jnp.issubdtype(ids.dtype, jnp.integer):
        raise TypeError(f"indices must be integers or bools, got {ids.dtype}")
    known = is_concrete(ids)
    xp = np if known else jnp
    ids = np.asarray(ids, np.int64) if known else ids
    return xp.clip(xp.where(ids < 0, ids + size, ids), 0, max(size - 1, 0))


def _take_cells(mat: Any, ids: Sequence[Any], axes: Sequence[int]) -> Any:
    """Takes cells of several dimensions, the `i`-th by the `i`-th of all `ids`.

    Args:
      ids: arrays `(k,)`, in range, one for each of `axes`.

    Returns:
      BCOO `(k, *rest)`, `k` a batch dimension.
    """
    rest = [d for d in range(mat.ndim) if d not in axes]
    shape = (ids[0].size, *(mat.shape[d] for d in rest))
    if max(axes) < mat.n_batch:
        buffers = [_take_batches(b, ids, axes) for b in mat._bufs]
        return mat._trusted(*buffers, shape, mat.indices_sorted, mat.unique_indices)
    mat = mat.update_layout(n_batch=0, n_dense=0).transpose((*axes, *rest))
    rows = take(mat, ids[0], 0)
    others = jnp.stack([jnp.asarray(i) for i in ids[1:]], axis=-1)
    data, indices = _keep_cells(rows.data, rows.indices, others, sizes=shape[1:])
    cells = math.prod(shape[1:])
    if rows.nse > cells:
        data, indices, _ = _entries.sum_duplicates(
            data, indices, shape=shape, nse=cells, remove_zeros=False
        )
        return mat._trusted(data, indices, shape, True, True)
    return mat._trusted(data, indices, shape, False, mat.unique_indices)


def _take_batches(buffer: jax.Array, ids: Sequence[Any], axes: Sequence[int]) -> jax.Array:
    buffer = jnp.moveaxis(buffer, axes, range(len(axes)))
    # An axis of size 1 is shared by all.
    own = zip(ids, buffer.shape[: len(axes)], strict=True)
    return buffer[tuple(jnp.minimum(jnp.asarray(i), size - 1) for i, size in own)]


@partial(jax.jit, static_argnames="sizes", inline=True)
def _keep_cells(data, indices, ids, *, sizes):
    """Drops the first sparse dimensions of one batch dimension, of which each batch keeps a cell.

    Args:
      data: `(k, nse)`; indices: `(k, nse, n_sparse)`.
      ids: `(k, n)`, the coordinates that are kept.
      sizes: of the sparse dimensions that stay.

    Returns:
      data `(k, nse)` and indices `(k, nse, n_sparse - n)`, where other entries are padding.
    """
    n = ids.shape[-1]
    (indices,) = as_kernel_index(indices)
    keep = jnp.all(indices[..., :n] == ids[:, None, :].astype(indices.dtype), axis=-1)
    rest = indices[..., n:]
    rest = jnp.where(keep[..., None], rest, along_last(sizes, rest))
    return jnp.where(keep, data, jnp.zeros((), data.dtype)), rest


def _move_axes(mat: Any, at: int, count: int, place: int) -> Any:
    """Moves `count` dimensions from `at` to stand behind `place` others."""
    if at == place:
        return mat
    others = [d for d in range(mat.ndim) if not at <= d < at + count]
    permutation = (*others[:place], *range(at, at + count), *others[place:])
    if not mat._keeps_kinds(permutation):
        mat = mat.update_layout(n_batch=0, n_dense=0)
    return mat.transpose(permutation)
