"""Changes of shape on BCOO buffers: broadcast, concatenate, reshape, reverse, squeeze."""

import math
from collections.abc import Sequence
from functools import partial

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from rarefy.sparse._entries import layout_of
from rarefy.sparse._index import (
    as_kernel_index,
    cell_coordinates,
    cell_numbers,
    has_int64,
    in_range,
    index_dtype_for,
    normalize_padding,
)

Shape = tuple[int, ...]


def whole_batch(data, indices, shape: Shape):
    """Repeats batch axes of 1 that stand for all."""
    n_batch = indices.ndim - 2
    batch = shape[:n_batch]
    return (
        jnp.broadcast_to(data, (*batch, *data.shape[n_batch:])),
        jnp.broadcast_to(indices, (*batch, *indices.shape[n_batch:])),
    )


def normal_index(indices, sizes: Sequence[int]):
    """Indices of a type that also holds `sizes`, padding with every coordinate out of range."""
    (indices,) = as_kernel_index(indices)
    dtype = np.promote_types(indices.dtype, index_dtype_for(*sizes))
    if dtype.itemsize == 8 and not has_int64():
        raise ValueError(
            f"dimensions {tuple(sizes)} need int64 indices; run under jax.enable_x64(True)"
        )
    return indices if indices.dtype == dtype else indices.astype(dtype)


def _repad(indices, real, sizes: Sequence[int]):
    indices = normal_index(indices, sizes)
    return jnp.where(real[..., None], indices, np.asarray(sizes, indices.dtype))


@partial(jax.jit, static_argnames=("shape", "out", "dimensions"), inline=True)
def broadcast_in_dim(data, indices, *, shape, out, dimensions):
    """`jax.lax.broadcast_in_dim` of BCOO buffers.

    New dimensions before the first sparse one are batch dimensions, those between sparse ones and,
    without dense dimensions, behind them are sparse ones. Growing a sparse dimension repeats its
    entries.

    Args:
      shape: shape of the operand; out: that of the result.
      dimensions: for each dimension of the operand its place in the result, ascending.

    Returns:
      data and indices of the result.
    """
    layout = layout_of(data, indices, shape)
    n_batch, n_sparse, n_dense = map(len, layout[:3])
    batch_dims, rest = dimensions[:n_batch], dimensions[n_batch:]
    sparse_dims, dense_dims = rest[:n_sparse], rest[n_sparse:]
    new_batch = min(rest, default=len(out))
    new_dense = len(out) - min(dense_dims) if n_dense else 0
    new_sparse = len(out) - new_batch - new_dense
    data = lax.broadcast_in_dim(
        data,
        (*out[:new_batch], layout.nse, *out[len(out) - new_dense :]),
        (*batch_dims, new_batch, *(d + 1 - new_sparse for d in dense_dims)),
    )
    indices = lax.broadcast_in_dim(
        indices, (*out[:new_batch], layout.nse, n_sparse), (*batch_dims, new_batch, new_batch + 1)
    )
    sizes = out[new_batch : new_batch + new_sparse]
    places = [d - new_batch for d in sparse_dims]
    if new_sparse == n_sparse and layout.sparse == sizes:
        return data, indices
    real = in_range(indices, layout.sparse)
    grown = [d for d, size in enumerate(sizes) if size != _old_size(d, places, layout.sparse)]
    wide = jnp.zeros((*indices.shape[:-1], new_sparse), normal_index(indices, sizes).dtype)
    if places:
        wide = wide.at[..., np.asarray(places)].set(indices.astype(wide.dtype))
    times = math.prod(sizes[d] for d in grown)
    if grown:
        own = np.indices([sizes[d] for d in grown]).reshape(len(grown), times).T
        wide = jnp.broadcast_to(wide[..., None, :], (*wide.shape[:-1], times, new_sparse))
        wide = wide.at[..., np.asarray(grown)].set(own.astype(wide.dtype))
        wide = wide.reshape(*out[:new_batch], layout.nse * times, new_sparse)
        real = jnp.repeat(real, times, axis=-1)
        data = jnp.repeat(data, times, axis=new_batch)
    return data, _repad(wide, real, sizes)


def _old_size(place: int, places: Sequence[int], sizes: Shape) -> int:
    return sizes[places.index(place)] if place in places else 1


@partial(jax.jit, static_argnames=("shapes", "dimension"), inline=True)
def concatenate(data, indices, *, shapes, dimension):
    """`jax.lax.concatenate` of BCOO buffers of one layout along any dimension.

    Along a batch dimension, arrays with fewer slots get padding; otherwise slots add up.
    """
    n_batch = indices[0].ndim - 2
    n_sparse = indices[0].shape[-1]
    sizes = [s[dimension] for s in shapes]
    out = (*shapes[0][:dimension], sum(sizes), *shapes[0][dimension + 1 :])
    sparse = out[n_batch : n_batch + n_sparse]
    index_dtype = np.result_type(*(normal_index(i, sparse).dtype for i in indices))
    dtype = jnp.result_type(*data)
    nse = max(i.shape[-2] for i in indices)
    all_data, all_indices = [], []
    for k, (d, i, shape) in enumerate(zip(data, indices, shapes, strict=True)):
        d, i = whole_batch(d, i, shape)
        i = i.astype(index_dtype)
        real = in_range(i, shape[n_batch : n_batch + n_sparse])
        offset = sum(sizes[:k])
        if dimension < n_batch:
            missing = nse - i.shape[-2]
            i = _pad_axis(_repad(i, real, sparse), n_batch, 0, missing, 0)
            if missing:
                i = i.at[..., nse - missing :, :].set(np.asarray(sparse, index_dtype))
            d = _pad_axis(d, n_batch, 0, missing, 0)
        elif dimension < n_batch + n_sparse:
            i = i.at[..., dimension - n_batch].add(np.asarray(offset, index_dtype))
            i = _repad(i, real, sparse)
        else:
            axis = dimension - n_sparse + 1
            d = _pad_axis(d, axis, offset, sum(sizes) - offset - sizes[k], 0)
        all_data.append(d.astype(dtype))
        all_indices.append(i)
    axis = dimension if dimension < n_batch else n_batch
    return jnp.concatenate(all_data, axis), jnp.concatenate(all_indices, axis)


def _pad_axis(array, axis: int, before: int, after: int, fill):
    if before == after == 0:
        return array
    config = [(0, 0, 0)] * array.ndim
    config[axis] = (before, after, 0)
    return lax.pad(array, jnp.asarray(fill, array.dtype), config)


def split_sizes(layout_sizes: tuple[int, int, int], new: Shape) -> tuple[int, int] | None:
    """Finds where new dimensions divide into batch, sparse and dense ones.

    Args:
      layout_sizes: the number of cells in batch, sparse and dense dimensions.
      new: the new shape.

    Returns:
      The numbers of leading dimensions that are batch, and batch or sparse; the most that fit.
      None where they do not divide.
    """
    batch, sparse, dense = layout_sizes
    for i in reversed(range(len(new) + 1)):
        if math.prod(new[:i]) != batch:
            continue
        for j in reversed(range(i, len(new) + 1)):
            if math.prod(new[i:j]) == sparse and math.prod(new[j:]) == dense:
                return i, j
    return None


@partial(jax.jit, static_argnames=("shape", "new", "parts", "permutation"), inline=True)
def reshape(data, indices, *, shape, new, parts, permutation):
    """`jax.lax.reshape` of BCOO buffers, after a permutation of dimensions within their kind.

    Args:
      new: the new shape; parts: what `split_sizes` found.
      permutation: dimensions of the operand in the order in which cells are numbered.
    """
    data, indices = whole_batch(data, indices, shape)
    layout = layout_of(data, indices, shape)
    n_batch, n_sparse = len(layout.batch), len(layout.sparse)
    batch, sparse, dense = new[: parts[0]], new[parts[0] : parts[1]], new[parts[1] :]
    lead = permutation[:n_batch]
    order = np.asarray([p - n_batch for p in permutation[n_batch : n_batch + n_sparse]], np.int32)
    tail = [p - n_sparse + 1 for p in permutation[n_batch + n_sparse :]]
    data = data.transpose(*lead, n_batch, *tail).reshape(*batch, layout.nse, *dense)
    indices = indices.transpose(*lead, n_batch, n_batch + 1)[..., order]
    indices = indices.reshape(*batch, layout.nse, n_sparse)
    sizes = tuple(layout.sparse[p] for p in order)
    if sizes == sparse:
        return data, indices
    return data, _renumber(indices, sizes, sparse)


def _renumber(indices, old: Shape, new: Shape):
    """Gives entries the coordinates of the same cells in another shape."""
    real = in_range(indices, old)
    indices = normal_index(indices, (*old, *new))
    if not new:
        return jnp.zeros((*indices.shape[:-1], 0), indices.dtype)
    if not old:
        return jnp.zeros((*indices.shape[:-1], len(new)), indices.dtype)
    columns = []
    for here, there in _groups(old, new):
        sizes, targets = [old[d] for d in here], [new[d] for d in there]
        if sizes == targets:
            columns.append(indices[..., np.asarray(here, np.int32)])
            continue
        part = indices[..., np.asarray(here, np.int32)].reshape(-1, len(here))
        cells = cell_numbers(part, sizes)
        if cells is None:
            raise ValueError(
                f"reshape: {sizes} to {targets} needs 64-bit cell numbers; run under "
                f"jax.enable_x64(True)"
            )
        found = cell_coordinates(cells, targets, indices.dtype)
        columns.append(found.reshape(*indices.shape[:-1], len(there)))
    return _repad(jnp.concatenate(columns, axis=-1), real, new)


def _groups(old: Shape, new: Shape) -> list[tuple[list[int], list[int]]]:
    """Pairs the shortest runs of dimensions that hold equally many cells, so that numbers stay
    small."""
    if 0 in old or 0 in new:
        return [(list(range(len(old))), list(range(len(new))))]
    groups, i, j = [], 0, 0
    while i < len(old) and j < len(new):
        here, there, a, b = [i], [j], old[i], new[j]
        i, j = i + 1, j + 1
        while a != b:
            if a < b:
                a, i = a * old[i], i + 1
                here.append(i - 1)
            else:
                b, j = b * new[j], j + 1
                there.append(j - 1)
        groups.append((here, there))
    groups[-1][0].extend(range(i, len(old)))  # ones that are left over
    groups[-1][1].extend(range(j, len(new)))
    return groups


@partial(jax.jit, static_argnames=("shape", "dimensions"), inline=True)
def squeeze(data, indices, *, shape, dimensions):
    """Drops dimensions of size 1 from BCOO buffers."""
    n_batch, n_sparse = indices.ndim - 2, indices.shape[-1]
    batch = tuple(d for d in dimensions if d < n_batch)
    dense = tuple(d - n_sparse + 1 for d in dimensions if d >= n_batch + n_sparse)
    kept = [d for d in range(n_sparse) if d + n_batch not in dimensions]
    if len(kept) < n_sparse:
        # A padding entry may be out of range in a dimension that goes.
        sizes = shape[n_batch : n_batch + n_sparse]
        if kept:
            indices = normalize_padding(as_kernel_index(indices)[0], sizes)
        else:
            data = _drop(data, in_range(indices, sizes))
        indices = indices[..., np.asarray(kept, np.int32)]
    return lax.squeeze(data, (*batch, *dense)), lax.squeeze(indices, batch)


def _drop(data, real):
    mask = real.reshape(*real.shape, *(1,) * (data.ndim - real.ndim))
    return jnp.where(mask, data, jnp.zeros((), data.dtype))


@partial(jax.jit, static_argnames=("shape", "n"), inline=True)
def sparse_axes_in_front(data, indices, *, shape, n):
    """Adds `n` sparse dimensions of size 1 in front of buffers without batch dimensions."""
    sizes = shape[: indices.shape[-1]]
    (indices,) = as_kernel_index(indices)
    real = in_range(indices, sizes)
    own = jnp.where(real, 0, 1).astype(indices.dtype)[:, None]
    return data, jnp.concatenate([own] * n + [normalize_padding(indices, sizes)], axis=-1)


def lengthen(data, indices, *, shape: Shape, nse: int):
    """Adds padding until there are `nse` slots."""
    n_batch, n_sparse = indices.ndim - 2, indices.shape[-1]
    missing = nse - indices.shape[-2]
    if missing <= 0:
        return data, indices
    data = _pad_axis(data, n_batch, 0, missing, 0)
    sizes = np.asarray(shape[n_batch : n_batch + n_sparse], indices.dtype)
    more = jnp.broadcast_to(jnp.asarray(sizes), (*indices.shape[:-2], missing, n_sparse))
    return data, jnp.concatenate([indices, more], axis=-2)
