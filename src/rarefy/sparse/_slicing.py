"""Basic indexing of coordinate entries: integers, slices, `...` and new axes."""

import math
import operator
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from rarefy.sparse import _entries
from rarefy.sparse._entries import layout_of
from rarefy.sparse._index import along_last, as_kernel_index, in_range

Shape = tuple[int, ...]


class Span(NamedTuple):
    """The cells `start + i * step` for `i < size` of one dimension."""

    start: int
    step: int
    size: int


class Plan(NamedTuple):
    """A basic index, made static: for each dimension an integer or a span; then new axes."""

    parts: tuple[int | Span, ...]
    new_axes: tuple[int, ...]


def plan_of(item: Any, shape: Shape) -> Plan:
    """Reads what stands between the brackets.

    Raises:
      IndexError: there are too many indices, two ellipses, or an integer for no cells at all.
      TypeError: an index is of another kind.
      NotImplementedError: an index is an array.
    """
    items = item if isinstance(item, tuple) else (item,)
    if any(isinstance(i, list | np.ndarray | jax.Array) and np.ndim(i) > 0 for i in items):
        raise NotImplementedError(
            "a sparse array takes integers, slices, ... and None between brackets; for rows by a "
            "list of ids convert to BCSR and use rarefy.sparse.take_csr_rows"
        )
    n_ellipses = sum(i is Ellipsis for i in items)
    n_used = sum(i is not None and i is not Ellipsis for i in items)
    if n_ellipses > 1:
        raise IndexError("an index can only have a single ellipsis")
    if n_used > len(shape):
        raise IndexError(f"too many indices: {n_used} for an array of {len(shape)} dimensions")
    if not n_ellipses:
        items = (*items, Ellipsis)
    parts: list[int | Span] = []
    new_axes = []
    n_out = 0
    for position, i in enumerate(items):
        if i is None:
            new_axes.append(n_out)
            n_out += 1
        elif i is Ellipsis:
            n_after = sum(j is not None for j in items[position + 1 :])
            parts += [Span(0, 1, size) for size in shape[len(parts) : len(shape) - n_after]]
            n_out = len(new_axes) + sum(isinstance(p, Span) for p in parts)
        else:
            part = _part_of(i, len(parts), shape[len(parts)])
            parts.append(part)
            n_out += isinstance(part, Span)
    return Plan(tuple(parts), tuple(new_axes))


def whole(shape: Shape) -> Plan:
    """The plan that takes all of an array as it is."""
    return Plan(tuple(Span(0, 1, size) for size in shape), ())


def _part_of(index: Any, dimension: int, size: int) -> int | Span:
    if isinstance(index, slice):
        start, stop, step = index.indices(size)
        return Span(start, step, len(range(start, stop, step)))
    if isinstance(index, bool | np.bool_):
        raise IndexError("a sparse array cannot be indexed by a bool")
    try:
        place = operator.index(index)
    except TypeError:
        raise TypeError(f"an index must be an integer, slice, ... or None, got {index!r}") from None
    if size == 0:
        raise IndexError(f"index {place} is out of range for dimension {dimension} of size 0")
    # As in JAX, where what is out of range means the nearest cell.
    return min(max(place + size if place < 0 else place, 0), size - 1)


def row_range_of(plan: Plan, shape: Shape) -> Span | None:
    """The rows that a plan takes of an array without batch dimensions, if it takes whole ones in
    order.

    None where it takes anything else.
    """
    whole = (Span(0, 1, size) for size in shape[1:])
    rows = plan.parts[0]
    if plan.new_axes or isinstance(rows, int) or rows.step != 1 or plan.parts[1:] != tuple(whole):
        return None
    return rows


@partial(jax.jit, static_argnames=("shape", "plan"), inline=True)
def take_parts(data, indices, *, shape, plan):
    """Takes the parts of a plan, without its new axes; every slot stays."""
    layout = layout_of(data, indices, shape)
    n_batch, n_sparse = len(layout.batch), len(layout.sparse)
    batch = plan.parts[:n_batch]
    sparse = plan.parts[n_batch : n_batch + n_sparse]
    dense = plan.parts[n_batch + n_sparse :]
    data = _take_axes(data, batch, 0)
    indices = _take_axes(indices, batch, 0)
    n_batch = sum(isinstance(p, Span) for p in batch)
    data = _take_axes(data, dense, n_batch + 1)
    if any(p != Span(0, 1, s) for p, s in zip(sparse, layout.sparse, strict=True)):
        data, indices = _take_sparse(data, indices, sparse, layout.sparse)
    return data, indices


def _take_axes(buffer, parts, first: int):
    axis = first
    for part in parts:
        is_shared = buffer.shape[axis] == 1
        if isinstance(part, int):
            buffer = lax.index_in_dim(buffer, 0 if is_shared else part, axis, keepdims=False)
            continue
        if not is_shared:
            buffer = _take_span(buffer, part, axis)
        elif part.size == 0:
            buffer = lax.slice_in_dim(buffer, 0, 0, axis=axis)
        axis += 1
    return buffer


def _take_span(buffer, span: Span, axis: int):
    if span.size == 0:
        return lax.slice_in_dim(buffer, 0, 0, axis=axis)
    last = span.start + (span.size - 1) * span.step
    low, high = min(span.start, last), max(span.start, last)
    out = lax.slice_in_dim(buffer, low, high + 1, abs(span.step), axis=axis)
    return lax.rev(out, (axis,)) if span.step < 0 else out


def _take_sparse(data, indices, parts, sizes: Shape):
    (indices,) = as_kernel_index(indices)
    n_batch = indices.ndim - 2
    keep = in_range(indices, sizes)
    columns, new_sizes = [], []
    for d, part in enumerate(parts):
        c = indices[..., d]
        if isinstance(part, int):
            keep &= c == part
            continue
        offset = (c - part.start) * (1 if part.step > 0 else -1)
        stride = abs(part.step)
        place = offset // stride
        keep &= (offset >= 0) & (offset % stride == 0) & (place < part.size)
        columns.append(place)
        new_sizes.append(part.size)
    if columns:
        places = jnp.stack(columns, axis=-1)
        indices = jnp.where(keep[..., None], places, along_last(new_sizes, places))
    else:
        indices = jnp.zeros((*keep.shape, 0), indices.dtype)
    mask = keep.reshape(*keep.shape, *(1,) * (data.ndim - n_batch - 1))
    return jnp.where(mask, data, jnp.zeros((), data.dtype)), indices


def _insert_axis(data, indices, shape: Shape, axis: int):
    n_batch, n_sparse = indices.ndim - 2, indices.shape[-1]
    if axis <= n_batch:
        data, indices = jnp.expand_dims(data, axis), jnp.expand_dims(indices, axis)
    elif axis <= n_batch + n_sparse:
        real = in_range(indices, shape[n_batch : n_batch + n_sparse])
        own = jnp.where(real, 0, 1).astype(indices.dtype)[..., None]
        d = axis - n_batch
        indices = jnp.concatenate([indices[..., :d], own, indices[..., d:]], axis=-1)
    else:
        data = jnp.expand_dims(data, axis - n_sparse + 1)
    return data, indices, (*shape[:axis], 1, *shape[axis:])


def take(data: Any, indices: Any, *, shape: Shape, plan: Plan) -> tuple[Any, Any, Shape]:
    """Takes a basic index of BCOO buffers.

    Returns:
      data, indices and shape. What falls outside becomes padding, so entries are no longer sorted;
      slots are given up only where there are more than cells.

    Cost: O(nse).
    """
    data, indices = take_parts(data, indices, shape=shape, plan=plan)
    n_sparse = indices.shape[-1]
    shape = tuple(p.size for p in plan.parts if isinstance(p, Span))
    n_batch = indices.ndim - 2
    cells = math.prod(shape[n_batch : n_batch + n_sparse])
    if indices.shape[-2] > cells:
        data, indices, _ = _entries.sum_duplicates(
            data, indices, shape=shape, nse=cells, remove_zeros=False
        )
    for axis in plan.new_axes:
        data, indices, shape = _insert_axis(data, indices, shape, axis)
    return data, indices, shape
