"""Coordinate entries as plain buffers: the functions that BCOO is made of.

Everywhere `data` is `(*batch, nse, *dense)`, `indices` is `(*batch, nse, n_sparse)`, `shape` is
`(*batch, *sparse, *dense)`; a batch axis of a buffer may be 1. An entry with any coordinate out of
range is padding: whatever its value, it counts for nothing.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from rarefy._primitives.csr_to_coo import csr_to_coo
from rarefy._primitives.group_cells import CellGroups, group_cells
from rarefy._primitives.group_rows import group_rows
from rarefy._primitives.segment_rows import segment_rows
from rarefy._primitives.zeros import zeros
from rarefy.sparse import _rows
from rarefy.sparse._index import (
    along_last,
    are_pairs,
    as_kernel_index,
    cell_coordinates,
    cell_numbers,
    first_of_run,
    in_range,
    linear_ids,
    normalize_padding,
    sort_order,
)

Shape = tuple[int, ...]


class Layout(NamedTuple):
    """How the dimensions of a BCOO are stored."""

    batch: Shape
    sparse: Shape
    dense: Shape
    nse: int


def layout_of(data: Any, indices: Any, shape: Shape) -> Layout:
    """Reads the layout off the buffers."""
    n_batch, n_sparse = indices.ndim - 2, indices.shape[-1]
    return Layout(
        batch=shape[:n_batch],
        sparse=shape[n_batch : n_batch + n_sparse],
        dense=shape[n_batch + n_sparse :],
        nse=indices.shape[-2],
    )


def over_batches(function: Callable[..., Any], batch: Shape, *buffers: jax.Array) -> Any:
    """Applies `function` to the buffers of every batch, giving buffers with those batch axes."""
    if not batch:
        return function(*buffers)
    full = [jnp.broadcast_to(b, (*batch, *b.shape[len(batch) :])) for b in buffers]
    for _ in batch:
        function = jax.vmap(function)
    return function(*full)


def coordinates(indices: jax.Array, batch: Shape) -> list[jax.Array]:
    """Lists the batch and sparse coordinates of all entries, arrays that broadcast together."""
    n_batch = len(batch)
    (indices,) = as_kernel_index(indices)
    own = [
        lax.broadcasted_iota(indices.dtype, (*(1,) * d, size, *(1,) * (n_batch - d)), d)
        for d, size in enumerate(batch)
    ]
    return own + [indices[..., d] for d in range(indices.shape[-1])]


def zero_padding(data: jax.Array, indices: jax.Array, shape: Shape) -> jax.Array:
    """Sets the values of padding entries to zero."""
    layout = layout_of(data, indices, shape)
    real = in_range(indices, layout.sparse)
    # A plain 0 would make integers of bools.
    real = real.reshape(*real.shape, *(1,) * len(layout.dense))
    return jnp.where(real, data, jnp.zeros((), data.dtype))


@partial(jax.jit, static_argnames="shape", inline=True)
def todense(data, indices, *, shape):
    """Adds up the entries in a dense array of `shape`."""
    layout = layout_of(data, indices, shape)
    places = tuple(coordinates(indices, layout.batch))
    data = jnp.broadcast_to(data, (*layout.batch, *data.shape[len(layout.batch) :]))
    if not places:
        return data.sum(0, dtype=data.dtype)
    places = (jnp.broadcast_to(places[0], (*layout.batch, layout.nse)), *places[1:])
    if any(size > np.iinfo(places[-1].dtype).max for size in shape):
        raise ValueError(f"todense: a dense array of shape {shape} is out of reach")
    target = _zeros(shape, data.dtype).at[places]
    if data.dtype == bool:
        return target.max(data, mode="drop", wrap_negative_indices=False)
    return target.add(data, mode="drop", wrap_negative_indices=False)


# From so many bytes on a kernel on several threads and huge pages beats XLA's loop.
LARGE = 1 << 22


def _zeros(shape: Shape, dtype):
    large = math.prod(shape) * np.dtype(dtype).itemsize >= LARGE
    return zeros(shape=shape, dtype=dtype) if large else jnp.zeros(shape, dtype)


def count_nonzero(mat: jax.Array, n_batch: int, n_dense: int) -> int:
    """Counts the cells that a sparse form of `mat` must store, in the batch that has most.

    Raises:
      jax.errors.ConcretizationTypeError: `mat` is traced without a value.
    """
    occupied = _occupied(mat, n_batch, n_dense)
    return int(occupied.sum(axis=1).max(initial=0))


def _occupied(mat, n_batch: int, n_dense: int):
    occupied = mat != 0
    if n_dense:
        occupied = occupied.any(axis=tuple(range(mat.ndim - n_dense, mat.ndim)))
    sparse = mat.shape[n_batch : mat.ndim - n_dense]
    return occupied.reshape(math.prod(mat.shape[:n_batch]), math.prod(sparse))


@partial(jax.jit, static_argnames=("nse", "n_batch", "n_dense", "index_dtype"), inline=True)
def fromdense(mat, *, nse, n_batch, n_dense, index_dtype):
    """Takes the non-zero cells of `mat` in row-major order, the first `nse` of each batch.

    Returns:
      data `(*batch, nse, *dense)` and indices `(*batch, nse, n_sparse)`, sorted, unique, padded
      with zero and the sizes of the dimensions.
    """
    batch, sparse = mat.shape[:n_batch], mat.shape[n_batch : mat.ndim - n_dense]
    dense = mat.shape[mat.ndim - n_dense :]
    cells = math.prod(sparse)
    if 0 in (cells, math.prod(batch)):
        padding = jnp.asarray(np.asarray(sparse, index_dtype))
        indices = jnp.broadcast_to(padding, (*batch, nse, len(sparse)))
        return jnp.zeros((*batch, nse, *dense), mat.dtype), indices
    if not batch and len(sparse) == 2 and not dense:
        data, columns, indptr = _rows.fromdense(mat, nse=nse, index_dtype=index_dtype)
        return data, csr_to_coo(columns, indptr, n_cols=sparse[1]).astype(index_dtype)
    rank = jnp.cumsum(_occupied(mat, n_batch, n_dense), axis=1, dtype=jnp.int32)
    wanted = lax.iota(jnp.int32, nse) + 1
    cell = jax.vmap(lambda r: jnp.searchsorted(r, wanted, side="left"))(rank)
    values = mat.reshape(math.prod(batch), cells, *dense)
    data = jax.vmap(lambda v, c: v.at[c].get(mode="fill", fill_value=0))(values, cell)
    indices = cell_coordinates(cell, sparse, np.dtype(index_dtype))
    return data.reshape(*batch, nse, *dense), indices.reshape(*batch, nse, len(sparse))


def fromdense_host(mat: np.ndarray, *, nse, n_batch, n_dense, index_dtype):
    """The same as `fromdense` for a concrete array, on the host; `nse=None` stores what there is.

    Returns:
      data and indices, NumPy.
    """
    batch, sparse = mat.shape[:n_batch], mat.shape[n_batch : mat.ndim - n_dense]
    dense = mat.shape[mat.ndim - n_dense :]
    places = [np.flatnonzero(line) for line in _occupied(mat, n_batch, n_dense)]
    if nse is None:
        nse = max((p.size for p in places), default=0)
    values = mat.reshape(len(places), math.prod(sparse), *dense)
    data = np.zeros((len(places), nse, *dense), mat.dtype)
    indices = np.empty((len(places), nse, len(sparse)), index_dtype)
    indices[:] = np.asarray(sparse, index_dtype)
    for b, place in enumerate(places):
        place = place[:nse]
        data[b, : place.size] = values[b, place]
        if sparse:
            indices[b, : place.size] = np.stack(np.unravel_index(place, sparse), axis=-1)
    return data.reshape(*batch, nse, *dense), indices.reshape(*batch, nse, len(sparse))


@partial(jax.jit, static_argnames="shape", inline=True)
def sort_indices(data, indices, *, shape):
    """Sorts the entries of every batch by coordinates, padding last; equal ones keep order."""
    layout = layout_of(data, indices, shape)
    n_batch = len(layout.batch)

    def sort(indices):
        order = sort_order(indices, layout.sparse)
        return normalize_padding(indices, layout.sparse)[order], order

    # Indices that batches share are sorted once and stay shared.
    indices, order = over_batches(sort, indices.shape[:n_batch], indices)
    batch = np.broadcast_shapes(data.shape[:n_batch], order.shape[:n_batch])
    return over_batches(lambda d, o: d[o], batch, data, order), indices


@partial(jax.jit, static_argnames=("shape", "nse", "remove_zeros"), inline=True)
def sum_duplicates(data, indices, *, shape, nse, remove_zeros):
    """Adds up entries of the same cell.

    Args:
      nse: slots of the result; the cells that come last are left out where it is too small.
      remove_zeros: whether entries with value zero are dropped before they are added up.

    Returns:
      data and indices, sorted, unique and padded; and `(*batch,)` int32, the number of cells.
    """
    layout = layout_of(data, indices, shape)
    dense_axes = tuple(range(1, 1 + len(layout.dense)))

    def merge(data, indices):
        (indices,) = as_kernel_index(indices)
        if remove_zeros:
            stays = jnp.any(data != 0, axis=dense_axes)
            indices = jnp.where(stays[:, None], indices, along_last(layout.sparse, indices))
        groups = groups_of(indices, layout.sparse, nse)
        return sum_groups(groups.order, groups.starts, data), groups.cells, groups.count

    return over_batches(merge, layout.batch, data, indices)


def groups_of(indices: jax.Array, sizes: Shape, capacity: int) -> CellGroups:
    """`group_cells` for cells of any number of dimensions, `(nse, n_sparse)`, int32 or int64."""
    if are_pairs(indices, sizes):
        return group_cells(indices, shape=(sizes[0], sizes[1]), capacity=capacity)
    ids = cell_numbers(indices, sizes)
    if ids is not None:
        found = group_rows(ids, n_rows=math.prod(sizes), capacity=capacity)
        return CellGroups(cell_coordinates(found.rows, sizes, indices.dtype), *found[1:])
    order = sort_order(indices, sizes)
    indices = normalize_padding(indices, sizes)[order]
    first = first_of_run(indices, sizes)
    rank = jnp.cumsum(first, dtype=jnp.int32) - 1
    slot = jnp.where(first, rank, capacity + 1)
    padding = jnp.broadcast_to(np.asarray(sizes, indices.dtype), (capacity, len(sizes)))
    cells = padding.at[slot].set(indices, mode="drop", unique_indices=True)
    is_kept = in_range(indices, sizes) & (rank < capacity)
    position = lax.iota(jnp.int32, indices.shape[0])
    starts = jnp.full(capacity + 1, is_kept.sum(dtype=jnp.int32))
    starts = starts.at[slot].set(position, mode="drop", unique_indices=True)
    group = jnp.where(is_kept, rank, capacity)
    inverse = jnp.zeros_like(group).at[order].set(group, unique_indices=True)
    return CellGroups(cells, inverse, order, starts, first.sum(dtype=jnp.int32))


def sum_groups(order: jax.Array, starts: jax.Array, values: jax.Array) -> jax.Array:
    """Sums rows by group: `segment_rows` for floats, exact integers, "or" for bool."""
    if jnp.issubdtype(values.dtype, jnp.inexact):
        return segment_rows(order, starts, values, form=form_for(values.dtype))
    nse, groups = order.shape[0], starts.shape[0] - 1
    if nse == 0:
        return jnp.zeros((groups, *values.shape[1:]), values.dtype)
    group = jnp.searchsorted(starts[1:], lax.iota(jnp.int32, nse), side="right")
    target = jnp.zeros((groups, *values.shape[1:]), values.dtype).at[group]
    if values.dtype == bool:
        return target.max(values[order], mode="drop", indices_are_sorted=True)
    return target.add(values[order], mode="drop", indices_are_sorted=True)


def form_for(dtype: Any) -> Any:
    """Which form of a primitive suits values of `dtype`: the kernels take real floats only."""
    return "auto" if jnp.issubdtype(dtype, jnp.floating) else "xla"


@partial(jax.jit, static_argnames=("shape", "permutation"), inline=True)
def transpose(data, indices, *, shape, permutation):
    """Permutes dimensions within their kind: batch, sparse, dense."""
    layout = layout_of(data, indices, shape)
    n_batch, n_sparse = len(layout.batch), len(layout.sparse)
    batch = permutation[:n_batch]
    sparse = [p - n_batch for p in permutation[n_batch : n_batch + n_sparse]]
    dense = [p - n_sparse + 1 for p in permutation[n_batch + n_sparse :]]
    data = data.transpose(*batch, n_batch, *dense)
    indices = indices.transpose(*batch, n_batch, n_batch + 1)
    if sparse == list(range(len(sparse)))[::-1]:  # a fifth of what a gather costs
        return data, indices[..., ::-1]
    return data, indices[..., np.asarray(sparse, np.int32)]


@partial(jax.jit, static_argnames=("shape", "axes"), inline=True)
def reduce_sum(data, indices, *, shape, axes):
    """Sums over `axes`; summed batch axes become part of nse.

    Returns:
      data and indices of the remaining dimensions, with repeats and not sorted.
    """
    layout = layout_of(data, indices, shape)
    n_batch, n_sparse = len(layout.batch), len(layout.sparse)
    batch_axes = tuple(a for a in axes if a < n_batch)
    sparse_kept = [d for d in range(n_sparse) if n_batch + d not in axes]
    dense_axes = tuple(a - n_sparse + 1 for a in axes if a >= n_batch + n_sparse)
    if any(a >= n_batch for a in axes) and n_sparse:
        data = zero_padding(data, indices, shape)
        indices = normalize_padding(indices, layout.sparse)
    if dense_axes:
        data = data.sum(axis=dense_axes, dtype=data.dtype)
    indices = indices[..., np.asarray(sparse_kept, np.int32)]
    if not batch_axes:
        return data, indices
    data = jnp.broadcast_to(data, (*layout.batch, *data.shape[n_batch:]))
    indices = jnp.broadcast_to(indices, (*layout.batch, *indices.shape[n_batch:]))
    kept = [a for a in range(n_batch) if a not in batch_axes]
    sizes = [layout.batch[a] for a in kept]
    nse = layout.nse * math.prod(layout.batch[a] for a in batch_axes)
    rest = tuple(range(n_batch, data.ndim))
    data = data.transpose(*kept, *batch_axes, *rest).reshape(
        *sizes, nse, *data.shape[n_batch + 1 :]
    )
    indices = indices.transpose(*kept, *batch_axes, n_batch, n_batch + 1)
    return data, indices.reshape(*sizes, nse, len(sparse_kept))


@partial(jax.jit, static_argnames=("shape",), inline=True)
def extract(indices, values, *, shape):
    """Looks up the cells that `indices` name in a dense array; padding gives zero.

    Args:
      indices: `(*batch, nse, n_sparse)`.
      values: dense, of as many dimensions as `shape`; a dimension may be 1 and stands for all.

    Returns:
      `(*batch, nse, *dense)`, with dense axes of 1 where `values` has 1.
    """
    batch, n_sparse = shape[: indices.ndim - 2], indices.shape[-1]
    real = in_range(indices, shape[len(batch) : len(batch) + n_sparse])
    places = [
        jnp.where(real, c, 0) if values.shape[d] != 1 else jnp.zeros((), c.dtype)
        for d, c in enumerate(coordinates(indices, batch))
    ]
    found = values[tuple(places)] if places else values[None]
    lead = (*(1,) * len(batch), 1)
    if places and found.ndim < len(lead) + values.ndim - len(places):
        found = found.reshape(*lead, *found.shape)
    real = real.reshape(*real.shape, *(1,) * (found.ndim - real.ndim))
    return jnp.where(real, found, jnp.zeros((), found.dtype))


def cell_ids(
    places: Sequence[jax.Array], sizes: Sequence[int], real: jax.Array, padding: int
) -> jax.Array:
    """Row-major numbers of the cells at `places`, `padding` where not `real`; flat."""
    shape = real.shape
    ids = linear_ids([jnp.broadcast_to(p, shape) for p in places], sizes)
    ids = jnp.broadcast_to(ids, shape)
    return jnp.where(real, ids, np.asarray(padding, ids.dtype)).reshape(-1)


@partial(jax.jit, inline=True)
def multiply(data, values):
    """Multiplies stored values by looked-up ones, in the shape of `data` or of its whole batch."""
    return data * values


@partial(jax.jit, inline=True)
def divide(data, values):
    """Divides stored values by looked-up ones."""
    return data / values


@partial(jax.jit, static_argnames="shape", inline=True)
def concatenate_entries(data, indices, *, shape):
    """Puts the entries of several arrays of one shape and layout one after another."""
    n_batch = indices[0].ndim - 2
    data = [jnp.broadcast_to(d, (*shape[:n_batch], *d.shape[n_batch:])) for d in data]
    indices = [jnp.broadcast_to(i, (*shape[:n_batch], *i.shape[n_batch:])) for i in indices]
    return jnp.concatenate(data, axis=n_batch), jnp.concatenate(indices, axis=n_batch)


@partial(jax.jit, static_argnames="shape", inline=True)
def keep_first(data, indices, *, shape):
    """Sets to zero what belongs to entries whose cell an earlier entry of the batch names too."""
    layout = layout_of(data, indices, shape)

    def keep(data, indices):
        indices = normalize_padding(indices, layout.sparse)
        order = sort_order(indices, layout.sparse)
        first = first_of_run(indices[order], layout.sparse)
        first = jnp.zeros_like(first).at[order].set(first, unique_indices=True)
        first = first.reshape(-1, *(1,) * (data.ndim - 1))
        return jnp.where(first, data, jnp.zeros((), data.dtype))

    return over_batches(keep, layout.batch, data, indices)
