"""Windows of BCOO buffers at places known only at run time, and rows by a list of ids."""

import math
from functools import partial

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from rarefy._primitives.group_rows import group_rows
from rarefy.sparse import _entries
from rarefy.sparse._entries import layout_of, over_batches
from rarefy.sparse._index import along_last, as_kernel_index, in_range

Shape = tuple[int, ...]


@partial(jax.jit, static_argnames=("shape", "sizes"), inline=True)
def dynamic_slice(data, indices, starts, *, shape, sizes):
    """`jax.lax.dynamic_slice` of BCOO buffers.

    Args:
      starts: an integer scalar for each dimension. Negative ones count from the end; then they are
        moved so that the window lies inside.
      sizes: the size of the window in each dimension.

    Returns:
      data and indices. What falls outside is padding; slots are given up only where there are more
      than cells.
    """
    layout = layout_of(data, indices, shape)
    n_batch, n_sparse = len(layout.batch), len(layout.sparse)
    starts = [
        _inside(s, size, window) for s, size, window in zip(starts, shape, sizes, strict=True)
    ]
    for d in range(n_batch):
        if data.shape[d] != 1 or shape[d] == 1:
            data = lax.dynamic_slice_in_dim(data, starts[d], sizes[d], d)
        if indices.shape[d] != 1 or shape[d] == 1:
            indices = lax.dynamic_slice_in_dim(indices, starts[d], sizes[d], d)
    for d in range(n_batch + n_sparse, len(shape)):
        data = lax.dynamic_slice_in_dim(data, starts[d], sizes[d], d - n_sparse + 1)
    if not n_sparse:
        return data, indices
    window = sizes[n_batch : n_batch + n_sparse]
    (indices,) = as_kernel_index(indices)
    real = in_range(indices, layout.sparse)
    first = jnp.stack([s.astype(indices.dtype) for s in starts[n_batch : n_batch + n_sparse]])
    indices = indices - first.reshape(*(1,) * (indices.ndim - 1), -1)
    real &= in_range(indices, window)
    indices = jnp.where(real[..., None], indices, along_last(window, indices))
    real = real.reshape(*real.shape, *(1,) * len(layout.dense))
    data = jnp.where(real, data, jnp.zeros((), data.dtype))
    cells = math.prod(window)
    if layout.nse > cells:
        data, indices, _ = _entries.sum_duplicates(
            data, indices, shape=sizes, nse=cells, remove_zeros=False
        )
    return data, indices


def _inside(start, size: int, window: int):
    start = jnp.asarray(start)
    wide = np.int64 if size > np.iinfo(start.dtype).max else start.dtype
    start = start.astype(jax.dtypes.canonicalize_dtype(wide))
    if jnp.issubdtype(start.dtype, jnp.signedinteger):
        start = jnp.where(start < 0, start + size, start)
    return jnp.clip(start, 0, size - window)


@partial(jax.jit, static_argnames=("n_rows", "in_order"), inline=True)
def row_runs(indices, ids, *, n_rows, in_order):
    """Finds where the entries of rows, cells of the first sparse dimension, stand.

    Args:
      indices: `(*batch, nse, n_sparse)`.
      ids: `(k,)`, integer, in range.
      in_order: whether the entries of each batch are sorted by row, padding last.

    Returns:
      order `(*batch, nse)` or None, begins and ends `(*batch, k)`: the entries of row `ids[i]` are
      `order[begins[i]:ends[i]]`, or `begins[i]` to `ends[i]` themselves; and the most slots that a
      row has.

    Cost: O(nse + k log nse), or O(k log nse) in order.
    """

    def find(indices):
        (indices,) = as_kernel_index(indices)
        wanted = ids.astype(indices.dtype)
        if in_order:
            bounds = _first_in(indices, jnp.concatenate([wanted, wanted + 1]))
            return None, *jnp.split(bounds, 2)
        rows = indices[:, 0]
        rows = jnp.where((rows >= 0) & (rows < n_rows), rows, n_rows)
        order = group_rows(rows, n_rows=n_rows, capacity=0).order
        rows = rows[order]
        return order, jnp.searchsorted(rows, wanted), jnp.searchsorted(rows, wanted, side="right")

    order, begins, ends = over_batches(find, indices.shape[:-2], indices)
    return order, begins, ends, (ends - begins).max(initial=0)


def _first_in(indices, rows):
    """The first of sorted entries `(nse, n_sparse)` in each row or a later one; as `searchsorted`,
    which would copy the rows of all entries to search in them."""

    def halve(_, bounds):
        low, high = bounds
        middle = (low + high) // 2
        is_before = (low < high) & (indices.at[middle, 0].get(mode="clip") < rows)
        return jnp.where(is_before, middle + 1, low), jnp.where(is_before, high, middle)

    bounds = jnp.zeros(rows.shape, jnp.int32), jnp.full(rows.shape, indices.shape[0], jnp.int32)
    return lax.fori_loop(0, indices.shape[0].bit_length(), halve, bounds)[0]


@partial(jax.jit, static_argnames=("shape", "width", "in_order"), inline=True)
def take_rows(data, indices, ids, *, shape, width, in_order):
    """Takes rows by number, as `row_runs` finds them; repeats allowed. As `take_runs`."""
    layout = layout_of(data, indices, shape)
    if layout.nse == 0 or layout.sparse[0] == 0:
        empty = jnp.zeros((*layout.batch, ids.shape[0], width, *layout.dense), data.dtype)
        pad = jnp.asarray(np.asarray(layout.sparse[1:], indices.dtype))
        return empty, jnp.broadcast_to(pad, (*empty.shape[: len(layout.batch) + 2], pad.size))
    *runs, _ = row_runs(indices, ids, n_rows=layout.sparse[0], in_order=in_order)
    return take_runs(data, indices, *runs, shape=shape, width=width)


@partial(jax.jit, static_argnames=("shape", "width"), inline=True)
def take_runs(data, indices, order, begins, ends, *, shape, width):
    """Makes the runs of entries that `row_runs` found a batch dimension behind the others.

    Args:
      width: slots for each run; entries beyond it are left out.

    Returns:
      data `(*batch, k, width, *dense)` and indices `(*batch, k, width, n_sparse - 1)`.

    Cost: O(k * width) for each batch.
    """
    layout = layout_of(data, indices, shape)

    def take(data, indices, begins, ends, *order):
        (indices,) = as_kernel_index(indices)
        entry, real = _slots(begins, ends, width)
        if order:
            entry = order[0].at[entry].get(mode="clip")
        entry = jnp.minimum(entry, layout.nse - 1)
        chosen = indices[entry]
        real &= in_range(chosen, layout.sparse)
        return _or_padding(data[entry], chosen[..., 1:], real, layout.sparse[1:])

    orders = () if order is None else (order,)
    return over_batches(take, layout.batch, data, indices, begins, ends, *orders)


@partial(jax.jit, static_argnames=("n_columns", "width"), inline=True)
def take_csr_rows(data, indices, indptr, ids, *, n_columns, width):
    """`take_rows` of csr buffers without batches: data `(k, width, *dense)`, indices
    `(k, width, 1)`."""
    indices, indptr = as_kernel_index(indices, indptr)
    if data.shape[0] == 0 or indptr.shape[0] == 1:
        pad = jnp.full((ids.shape[0], width, 1), n_columns, indices.dtype)
        return jnp.zeros((ids.shape[0], width, *data.shape[1:]), data.dtype), pad
    entry, real = _slots(indptr[ids], indptr[ids + 1], width)
    entry = jnp.minimum(entry, data.shape[0] - 1)
    chosen = indices[entry][..., None]
    real &= in_range(chosen, (n_columns,))
    return _or_padding(data[entry], chosen, real, (n_columns,))


def _slots(begins, ends, width: int):
    """The entries of runs, `(k, width)`, and whether they are."""
    place = begins[:, None] + lax.iota(begins.dtype, width)[None, :]
    return place, place < ends[:, None]


def _or_padding(data, indices, real, sizes: Shape):
    indices = jnp.where(real[..., None], indices, along_last(sizes, indices))
    real = real.reshape(*real.shape, *(1,) * (data.ndim - real.ndim))
    return jnp.where(real, data, jnp.zeros((), data.dtype)), indices
