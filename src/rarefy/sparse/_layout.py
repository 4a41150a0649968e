"""Changes of layout: dense to sparse, batch and dense dimensions, JAX's own objects."""

import math
import operator
import sys
import warnings
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from rarefy._primitives.csr_to_coo import csr_to_coo
from rarefy.sparse import _entries
from rarefy.sparse._check import as_shape, is_concrete
from rarefy.sparse._entries import layout_of
from rarefy.sparse._index import (
    along_last,
    as_kernel_index,
    has_int64,
    in_range,
    index_dtype_for,
    row_of_entry,
)
from rarefy.sparse._info import SparseEfficiencyError, SparseEfficiencyWarning

Shape = tuple[int, ...]


def shared_axes(shape: Shape, n_batch: int, *buffers: Any) -> dict[str, tuple[int, ...]]:
    """Static data of a tree: the batch axes, counted from the last, along which nothing varies.

    Along the others a buffer has the size of the shape, and `mapped_shape` sees when it is cut.
    """
    if n_batch <= 0 or not all(len(getattr(b, "shape", ())) >= n_batch for b in buffers):
        return {}
    lead = range(min(n_batch, len(shape)))
    found = tuple(
        d - n_batch for d in lead if shape[d] != 1 and all(b.shape[d] == 1 for b in buffers)
    )
    return {"shared": found} if found else {}


def mapped_shape(
    shape: Shape, rank: int, n_batch: int, shared: Sequence[int], *buffers: Any
) -> Shape:
    """Finds the shape of a value whose buffers were cut, sliced or stacked along leading axes.

    `jax.lax.scan`, `jax.shard_map`, `jax.tree.map` and the like work on buffers and hand back the
    static shape unchanged. Axes that all buffers lost or won in front are batch axes of the value, and
    a batch axis is as long as the buffers are along it.

    Args:
      shape: the static shape.
      rank: the number of dimensions that the buffers have room for.
      n_batch: the number of leading batch axes that the buffers have.
      shared: what `shared_axes` found.
      buffers: the buffers.
    """
    if rank > len(shape):
        won = rank - len(shape)
        if won > n_batch:
            return shape
        lead = [max((b.shape[d] for b in buffers), key=lambda s: s != 1) for d in range(won)]
        shape = (*lead, *shape)
    shape = shape[len(shape) - rank :]
    if n_batch <= 0 or any(len(b.shape) < n_batch for b in buffers):
        return shape
    sizes = [{b.shape[d] for b in buffers} for d in range(n_batch)]
    kept = [
        s in found or d - n_batch in shared
        for d, (s, found) in enumerate(zip(shape, sizes, strict=False))
    ]
    cut = [s if k else max(found) for s, k, found in zip(shape, kept, sizes, strict=False)]
    return (*cut, *shape[n_batch:])


def fromdense(
    name: str,
    mat: jax.Array | np.ndarray,
    nse: int | None,
    index_dtype: Any,
    n_batch: int,
    n_dense: int,
) -> tuple[jax.Array, jax.Array]:
    """Finds data and indices of the non-zero cells; the classes' `fromdense` documents it."""
    n_batch, n_dense = operator.index(n_batch), operator.index(n_dense)
    if n_batch < 0 or n_dense < 0 or n_batch + n_dense > mat.ndim:
        raise ValueError(
            f"{name}.fromdense: n_batch={n_batch} and n_dense={n_dense} do not fit an array of "
            f"{mat.ndim} dimensions"
        )
    if nse is not None:
        nse = _as_nse(f"{name}.fromdense", nse)
    sparse = mat.shape[n_batch : mat.ndim - n_dense]
    dtype = np.dtype(index_dtype)
    if max(sparse, default=0) > np.iinfo(dtype).max:
        raise ValueError(
            f"{name}.fromdense: {dtype} cannot index {sparse}; pass a wider index_dtype"
        )
    options = {"n_batch": n_batch, "n_dense": n_dense, "index_dtype": dtype}
    if is_concrete(mat):
        data, indices = _entries.fromdense_host(np.asarray(mat), nse=nse, **options)
        return jnp.asarray(data), jnp.asarray(indices)
    if nse is None:
        nse = _concrete_count(name, mat, n_batch, n_dense)
    return _entries.fromdense(mat, nse=nse, **options)


def _concrete_count(name: str, mat: Any, n_batch: int, n_dense: int) -> int:
    try:
        return _entries.count_nonzero(lax.stop_gradient(mat), n_batch, n_dense)
    except jax.errors.ConcretizationTypeError as error:
        error.args = (
            f"{name}.fromdense: under jit, vmap and the like the number of stored elements must be "
            f"given; pass nse=. {error.args[0]}",
        )
        raise


def _as_nse(name: str, nse: Any) -> int:
    try:
        nse = operator.index(nse)
    except TypeError:
        raise TypeError(f"{name}: nse must be an integer, got {nse!r}") from None
    if nse < 0:
        raise ValueError(f"{name}: nse must not be negative, got {nse}")
    return nse


def sum_duplicates(
    name: str,
    buffers: tuple[jax.Array, jax.Array],
    shape: Shape,
    nse: int | None,
    remove_zeros: bool,
) -> tuple[jax.Array, jax.Array]:
    """Merges repeated entries of BCOO buffers; `BCOO.sum_duplicates` documents it."""
    layout = layout_of(*buffers, shape)
    room = layout.nse if nse is None else _as_nse(name, nse)
    data, indices, count = _entries.sum_duplicates(
        *buffers, shape=shape, nse=room, remove_zeros=remove_zeros
    )
    if nse is not None:
        return data, indices
    try:
        most = int(count.max(initial=0))
    except jax.errors.ConcretizationTypeError:
        raise ValueError(
            f"{name}: nse must be specified when using the function within jit, vmap, and "
            f"other transformations requiring abstract evaluation."
        ) from None
    n_batch = len(layout.batch)
    data = lax.slice_in_dim(data, 0, most, axis=n_batch)
    return data, lax.slice_in_dim(indices, 0, most, axis=n_batch)


def permutation_of(
    axes: Sequence[int] | None, n_batch: int, n_sparse: int, n_dense: int
) -> tuple[int, ...]:
    """Checks a permutation of dimensions that must keep batch, sparse and dense ones apart."""
    ndim = n_batch + n_sparse + n_dense
    if axes is None:
        axes = range(ndim)[::-1]
    permutation = tuple(operator.index(a) for a in axes)
    permutation = tuple(a + ndim if a < 0 else a for a in permutation)
    if sorted(permutation) != list(range(ndim)):
        raise TypeError(
            f"transpose permutation isn't a permutation of operand dimensions, got permutation "
            f"{permutation} for {ndim} dimensions."
        )
    if sorted(permutation[:n_batch]) != list(range(n_batch)):
        raise NotImplementedError(
            f"transpose permutation cannot permute batch axes with non-batch axes; got permutation "
            f"{permutation}, with n_batch={n_batch}. Use update_layout(n_batch=0) first."
        )
    if sorted(permutation[n_batch + n_sparse :]) != list(range(n_batch + n_sparse, ndim)):
        raise NotImplementedError(
            f"transpose permutation cannot permute dense axes with non-dense axes; got permutation "
            f"{permutation}, with n_dense={n_dense}. Use update_layout(n_dense=0) first."
        )
    return permutation


def canonical_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """Makes ascending non-negative axes of what a reduction was given; None means all.

    Raises:
      ValueError: an axis is out of range or repeated.
    """
    if axis is None:
        return tuple(range(ndim))
    given = (axis,) if isinstance(axis, int | np.integer) else tuple(axis)
    axes = [operator.index(a) + (ndim if a < 0 else 0) for a in given]
    if any(not 0 <= a < ndim for a in axes) or len(set(axes)) < len(axes):
        raise ValueError(f"axis {axis} is out of range or repeated for {ndim} dimensions")
    return tuple(sorted(axes))


def sum_dtype(dtype: Any, wanted: Any) -> np.dtype:
    """The type of a sum: `wanted` if given, else what `jax.numpy.sum` makes of `dtype`."""
    if wanted is not None:
        return jax.dtypes.canonicalize_dtype(wanted)
    return _sum_dtype(np.dtype(dtype), has_int64())


@lru_cache(maxsize=64)
def _sum_dtype(dtype: np.dtype, wide: bool) -> np.dtype:
    del wide  # part of the key: the answer depends on it
    return jax.eval_shape(jnp.sum, jax.ShapeDtypeStruct((1,), dtype)).dtype


def update_layout(
    data: jax.Array,
    indices: jax.Array,
    shape: Shape,
    n_batch: int,
    n_dense: int,
    on_inefficient: str | None,
) -> tuple[jax.Array, jax.Array]:
    """Rewrites BCOO buffers for other numbers of batch and dense dimensions."""
    if on_inefficient not in ("error", "warn", None):
        raise ValueError(f"on_inefficient must be 'error', 'warn' or None, got {on_inefficient!r}")
    if n_batch < 0 or n_dense < 0 or n_batch + n_dense > len(shape):
        raise ValueError(
            f"update_layout: n_batch={n_batch} and n_dense={n_dense} do not fit shape {shape}"
        )
    layout = layout_of(data, indices, shape)
    for what, old, new, sizes in (
        ("n_dense", len(layout.dense), n_dense, shape[len(shape) - n_dense :]),
        ("n_batch", len(layout.batch), n_batch, shape[:n_batch]),
    ):
        turned = sizes[: new - old] if what == "n_dense" else sizes[old:]
        if new > old and any(size > 1 for size in turned):
            _report_inefficient(what, old, new, shape, on_inefficient)
    return relayout(data, indices, shape=shape, n_batch=n_batch, n_dense=n_dense)


def _report_inefficient(what: str, old: int, new: int, shape: Shape, how: str | None) -> None:
    message = (
        f"For matrix of shape {shape}, increasing {what} from {old} to {new} results in "
        f"inefficient storage."
    )
    if how == "error":
        raise SparseEfficiencyError(
            f"{message} To disable this error, set the on_inefficient argument of "
            f"bcoo_update_layout to 'warn' or None."
        )
    if how == "warn":
        message += " To disable this warning, set the on_inefficient argument to None."
        warnings.warn(message, SparseEfficiencyWarning, stacklevel=4)


@partial(jax.jit, static_argnames=("shape", "n_batch", "n_dense"), inline=True)
def relayout(data, indices, *, shape, n_batch, n_dense):
    layout = layout_of(data, indices, shape)
    fewer = max(len(layout.dense) - n_dense, 0)
    if fewer:
        data, indices = dense_to_sparse(data, indices, shape, fewer)
    for _ in range(len(layout.batch) - n_batch):
        data, indices = _last_batch_to_sparse(data, indices, shape)
    for _ in range(n_batch - len(layout.batch)):
        data, indices = _first_sparse_to_batch(data, indices, shape)
    for _ in range(n_dense - len(layout.dense)):
        data, indices = _last_sparse_to_dense(data, indices, shape)
    return data, indices


def dense_to_sparse(data, indices, shape: Shape, count: int):
    """Turns the first `count` dense dimensions of BCOO buffers into sparse ones.

    Sorted unique entries stay so; repeated ones may come out of order.

    Returns:
      data `(*batch, nse * width, *dense[count:])` and indices, where `width` is the number of cells
      in the dimensions that were turned.
    """
    layout = layout_of(data, indices, shape)
    n_batch, turned = len(layout.batch), layout.dense[:count]
    width = math.prod(turned)
    (indices,) = as_kernel_index(indices)
    dtype = np.promote_types(indices.dtype, index_dtype_for(*turned))
    real = in_range(indices, layout.sparse)[..., None, None]
    own = np.indices(turned).reshape(count, width).T.astype(dtype)
    own = own.reshape(*(1,) * (real.ndim - 2), width, count)
    own = jnp.where(real, own, along_last(turned, own))
    whole = indices.astype(dtype)[..., None, :]
    whole = jnp.broadcast_to(whole, (*indices.shape[:-1], width, indices.shape[-1]))
    indices = jnp.concatenate([whole, own], axis=-1)
    slots = layout.nse * width
    data = data.reshape(*data.shape[:n_batch], slots, *layout.dense[count:])
    return data, indices.reshape(*indices.shape[:n_batch], slots, indices.shape[-1])


def _last_batch_to_sparse(data, indices, shape: Shape):
    n_batch = indices.ndim - 2
    layout = layout_of(data, indices, shape)
    size = layout.batch[-1]
    (indices,) = as_kernel_index(indices)
    data = jnp.broadcast_to(data, (*data.shape[: n_batch - 1], size, *data.shape[n_batch:]))
    full = (*indices.shape[: n_batch - 1], size, *indices.shape[n_batch:])
    real = jnp.broadcast_to(in_range(indices, layout.sparse), full[:-1])
    own = lax.broadcasted_iota(indices.dtype, full[:-1], n_batch - 1)
    own = jnp.where(real, own, size)[..., None]
    indices = jnp.concatenate([own, jnp.broadcast_to(indices, full)], axis=-1)
    slots = size * layout.nse
    data = data.reshape(*data.shape[: n_batch - 1], slots, *layout.dense)
    return data, indices.reshape(*full[: n_batch - 1], slots, indices.shape[-1])


def _first_sparse_to_batch(data, indices, shape: Shape):
    n_batch = indices.ndim - 2
    layout = layout_of(data, indices, shape)
    size, rest = layout.sparse[0], layout.sparse[1:]
    (indices,) = as_kernel_index(indices)
    numbers = lax.broadcasted_iota(indices.dtype, (*(1,) * n_batch, size, 1), n_batch)
    here = indices[..., None, :, 0] == numbers  # (*batch, size, nse)
    others = indices[..., None, :, 1:]
    others = jnp.where(here[..., None], others, along_last(rest, others))
    mask = here.reshape(*here.shape, *(1,) * len(layout.dense))
    return jnp.where(mask, jnp.expand_dims(data, n_batch), jnp.zeros((), data.dtype)), others


def _last_sparse_to_dense(data, indices, shape: Shape):
    n_batch, n_sparse = indices.ndim - 2, indices.shape[-1]
    layout = layout_of(data, indices, shape)
    # The turned dimension is the last sparse one that is left; those after it are dense already.
    size = shape[n_batch + n_sparse - 1]
    (indices,) = as_kernel_index(indices)
    numbers = lax.broadcasted_iota(indices.dtype, (*(1,) * (n_batch + 1), size), n_batch + 1)
    here = indices[..., -1:] == numbers  # (*batch, nse, size)
    mask = here.reshape(*here.shape, *(1,) * len(layout.dense))
    data = jnp.where(mask, jnp.expand_dims(data, n_batch + 1), jnp.zeros((), data.dtype))
    return data, indices[..., :-1]


def bcoo_parts_of_jax(mat: Any) -> tuple[jax.Array, jax.Array, Shape, bool, bool]:
    """Reads data, indices, shape and flags off one of JAX's own sparse arrays.

    Raises:
      TypeError: it is none.
    """
    kind = _jax_kind(mat)
    shape = as_shape(f"from_jax({kind})", mat.shape)
    if kind == "BCOO":
        return mat.data, mat.indices, shape, mat.indices_sorted, mat.unique_indices
    if kind == "COO":
        row, col = as_kernel_index(mat.row, mat.col)
        return mat.data, jnp.stack([row, col], axis=-1), shape, False, False
    data, indices, indptr, *_ = bcsr_parts_of_jax(mat)
    if kind == "CSC":
        coordinates = csr_coordinates(indices, indptr, shape=shape[::-1])[..., ::-1]
    else:
        coordinates = csr_coordinates(indices, indptr, shape=shape)
    return data, coordinates, shape, False, getattr(mat, "unique_indices", False)


def bcsr_parts_of_jax(mat: Any) -> tuple[jax.Array, jax.Array, jax.Array, Shape, bool, bool]:
    """Reads the buffers and flags of JAX's BCSR, CSR or CSC (whose `indptr` is that of columns)."""
    shape = as_shape(f"from_jax({_jax_kind(mat)})", mat.shape)
    flags = (getattr(mat, "indices_sorted", False), getattr(mat, "unique_indices", False))
    return mat.data, mat.indices, mat.indptr, shape, *flags


def _jax_kind(mat: Any) -> str:
    kind = type(mat).__name__
    needed = {
        "BCOO": ("data", "indices", "shape"),
        "BCSR": ("data", "indices", "indptr", "shape"),
        "COO": ("data", "row", "col", "shape"),
        "CSR": ("data", "indices", "indptr", "shape"),
        "CSC": ("data", "indices", "indptr", "shape"),
    }.get(kind)
    if needed is None or not all(hasattr(mat, n) for n in needed):
        raise TypeError(f"from_jax: expected a sparse array of JAX, got {type(mat)}")
    return kind


def jax_class(name: str) -> Any:
    """The class of that name in JAX's own sparse module, which the caller must have imported.

    Raises:
      RuntimeError: it was not imported.
    """
    module = sys.modules.get("jax.experimental.sparse")
    if module is None:
        raise RuntimeError("to_jax: import jax.experimental.sparse first; rarefy does not load it")
    return getattr(module, name)


@partial(jax.jit, static_argnames="shape", inline=True)
def csr_coordinates(indices, indptr, *, shape):
    """Makes BCOO indices of BCSR ones.

    Args:
      indices: `(*batch, nse)`.
      indptr: `(*batch, m + 1)`.
      shape: `(*batch, m, n, *dense)`.

    Returns:
      `(*batch, nse, 2)`, in the order of the entries; padding has column `n`, and row `m` behind
      the last row.
    """
    n_batch = indices.ndim - 1
    indices, indptr = as_kernel_index(indices, indptr)
    if n_batch == 0:
        return csr_to_coo(indices, indptr, n_cols=shape[1])
    batch = shape[:n_batch]
    m, n = indptr.shape[-1] - 1, shape[n_batch + 1]

    def rows_of(indptr):
        return row_of_entry(indptr, indices.shape[-1])

    for _ in batch:
        rows_of = jax.vmap(rows_of)
    rows = rows_of(indptr)
    batch = jnp.broadcast_shapes(rows.shape[:-1], indices.shape[:-1])
    rows = jnp.broadcast_to(rows, (*batch, rows.shape[-1]))
    columns = jnp.broadcast_to(indices, (*batch, rows.shape[-1]))
    real = (rows < m) & (columns >= 0) & (columns < n)
    return jnp.stack([rows, jnp.where(real, columns, n)], axis=-1)
