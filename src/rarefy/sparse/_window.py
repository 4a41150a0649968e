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


def _row_runs(indices, ids, n_rows: int, in_order: bool):
    """Where the entries of the named rows stand.

    Args:
      indices: `(nse, n_sparse)` of one batch.
      ids: `(k,)`, in range.
      in_order: whether the entries are sorted by row, padding last.

    Returns:
      order `(nse,)` or None, begins `(k,)` and ends `(k,)`: the entries of row `ids[i]` are
      `order[begins[i]:ends[i]]`, or `begins[i]` to `ends[i]` themselves.

    Cost: O(nse + k log nse), or O(k log nse) in order.
    """
    rows = indices[:, 0]
    order = None
    if not in_order:
        rows = jnp.where((rows >= 0) & (rows < n_rows), rows, n_rows)
        order = group_rows(rows, n_rows=n_rows, capacity=0).order
        rows = rows[order]
    ids = ids.astype(rows.dtype)
    return order, jnp.searchsorted(rows, ids), jnp.searchsorted(rows, ids, side="right")


@partial(jax.jit, static_argnames=("n_rows", "in_order"), inline=True)
def widest_row(indices, ids, *, n_rows, in_order):
    """The largest number of slots that one of the named rows holds, over all batches."""

    def count(indices):
        (indices,) = as_kernel_index(indices)
        _, begins, ends = _row_runs(indices, ids, n_rows, in_order)
        return (ends - begins).max(initial=0)

    return over_batches(count, indices.shape[:-2], indices).max(initial=0)


@partial(jax.jit, static_argnames=("shape", "width", "in_order"), inline=True)
def take_rows(data, indices, ids, *, shape, width, in_order):
    """Takes rows, that is cells of the first sparse dimension, by number.

    Args:
      ids: `(k,)`, integer, in range; repeats allowed.
      width: slots for each row; a row's entries beyond it are left out.
      in_order: whether the entries of each batch are sorted by row, padding last.

    Returns:
      data `(*batch, k, width, *dense)` and indices `(*batch, k, width, n_sparse - 1)`: the rows
      are a new batch dimension behind the others.

    Cost: O(nse + k * width) for each batch, without the nse where entries are in order.
    """
    layout = layout_of(data, indices, shape)
    n_rows, sizes = layout.sparse[0], layout.sparse[1:]

    def take(data, indices):
        (indices,) = as_kernel_index(indices)
        order, begins, ends = _row_runs(indices, ids, n_rows, in_order)
        place = begins[:, None] + lax.iota(begins.dtype, width)[None, :]
        real = place < ends[:, None]
        entry = place if order is None else order.at[place].get(mode="clip")
        entry = jnp.minimum(entry, layout.nse - 1)
        chosen = indices[entry]
        real &= in_range(chosen, layout.sparse)
        rest = chosen[..., 1:]
        rest = jnp.where(real[..., None], rest, along_last(sizes, rest))
        mask = real.reshape(*real.shape, *(1,) * (data.ndim - 1))
        return jnp.where(mask, data[entry], jnp.zeros((), data.dtype)), rest

    if layout.nse == 0 or n_rows == 0:
        empty = jnp.zeros((*layout.batch, ids.shape[0], width, *layout.dense), data.dtype)
        pad = jnp.asarray(np.asarray(sizes, indices.dtype))
        return empty, jnp.broadcast_to(pad, (*layout.batch, ids.shape[0], width, len(sizes)))
    return over_batches(take, layout.batch, data, indices)
