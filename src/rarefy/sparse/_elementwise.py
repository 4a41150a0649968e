"""The elementwise product of two sparse arrays, on plain BCOO buffers."""

from collections.abc import Sequence
from functools import partial

import jax
import numpy as np
from jax import numpy as jnp

from rarefy.sparse._entries import groups_of, over_batches
from rarefy.sparse._index import along_last, as_kernel_index, in_range

Shape = tuple[int, ...]


@partial(jax.jit, static_argnames=("lhs_shape", "rhs_shape"), inline=True)
def multiply_sparse(lhs_data, lhs_indices, rhs_data, rhs_indices, *, lhs_shape, rhs_shape):
    """Multiplies two sparse arrays of one layout, cell by cell; sizes of 1 broadcast.

    Args:
      lhs_data, lhs_indices, rhs_data, rhs_indices: buffers with equally many batch, sparse and
        dense dimensions.

    Returns:
      data and indices. Where one side is not broadcast along a sparse dimension, they have the
      slots of that side (of the one with fewer, where both are): a slot keeps its cell, with zero
      where the other side stores nothing. Where both are, there is a slot for each pair.

    Cost: O(nse of both), or O(product of both nse) where both sides are broadcast.
    """
    n_batch, n_sparse = lhs_indices.ndim - 2, lhs_indices.shape[-1]
    shape: Shape = tuple(map(int, jnp.broadcast_shapes(lhs_shape, rhs_shape)))
    a = lhs_shape[n_batch : n_batch + n_sparse]
    b = rhs_shape[n_batch : n_batch + n_sparse]
    n_dense = len(shape) - n_batch - n_sparse
    lhs_grows = any(x == 1 != y for x, y in zip(a, b, strict=True))
    rhs_grows = any(y == 1 != x for x, y in zip(a, b, strict=True))
    fewer = lhs_indices.shape[-2] <= rhs_indices.shape[-2]

    def one(lhs_data, lhs_indices, rhs_data, rhs_indices):
        lhs_indices, rhs_indices = as_kernel_index(lhs_indices, rhs_indices)
        joined = [d for d, (x, y) in enumerate(zip(a, b, strict=True)) if x == y]
        lhs_keys, rhs_keys, n_keys = _shared_keys(lhs_indices, rhs_indices, a, b, joined)
        if not lhs_grows and (rhs_grows or fewer):
            found = _look_up(lhs_data, lhs_keys, rhs_data, rhs_keys, n_keys, n_dense)
            return found, lhs_indices
        if not rhs_grows:
            found = _look_up(rhs_data, rhs_keys, lhs_data, lhs_keys, n_keys, n_dense)
            return found, rhs_indices
        pair = (lhs_keys[:, None] == rhs_keys[None, :]) & (lhs_keys < n_keys)[:, None]
        both = lhs_data[:, None] * rhs_data[None, :]
        both = jnp.where(
            pair.reshape(*pair.shape, *(1,) * n_dense), both, jnp.zeros((), both.dtype)
        )
        own = [
            (lhs_indices[:, None, d] if x != 1 else rhs_indices[None, :, d]) + 0 * pair
            for d, (x, _) in enumerate(zip(a, b, strict=True))
        ]
        places = jnp.stack(own, axis=-1)
        limit = along_last(np.broadcast_shapes(a, b), places)
        indices = jnp.where(pair[..., None], places, limit)
        slots = pair.size
        return both.reshape(slots, *both.shape[2:]), indices.reshape(slots, len(a))

    batch = shape[:n_batch]
    return over_batches(one, batch, lhs_data, lhs_indices, rhs_data, rhs_indices)


def _shared_keys(lhs, rhs, a: Shape, b: Shape, joined: Sequence[int]):
    """Numbers the cells of the joined dimensions alike on both sides.

    Returns:
      `(lhs nse,)` and `(rhs nse,)`, below the number of keys, which is padding; that number.
    """
    lhs_nse = lhs.shape[0]
    dims = np.asarray(joined, np.int32)
    sizes = [a[d] for d in joined]
    both = jnp.concatenate([lhs[:, dims], rhs[:, dims]])
    # A padding entry may be out of range in a dimension that is not joined.
    real = jnp.concatenate([in_range(lhs, a), in_range(rhs, b)])
    total = both.shape[0]
    both = jnp.where(real[:, None], both, along_last(sizes, both))
    if joined:
        keys = jnp.where(real, groups_of(both, tuple(sizes), total).inverse, total)
    else:
        keys = jnp.where(real, 0, total)
    return keys[:lhs_nse], keys[lhs_nse:], total


def _look_up(data, keys, table_data, table_keys, n_keys: int, n_dense: int):
    """Multiplies every entry by the sum of the other side's entries of the same key."""
    table = jnp.zeros((n_keys, *table_data.shape[1:]), table_data.dtype).at[table_keys]
    if table_data.dtype == bool:
        table = table.max(table_data, mode="drop")
    else:
        table = table.add(table_data, mode="drop")
    there = jnp.zeros(n_keys, bool).at[table_keys].set(True, mode="drop")
    found = there.at[keys].get(mode="fill", fill_value=False)
    other = table.at[keys].get(mode="fill", fill_value=0)
    product = data * other
    found = found.reshape(-1, *(1,) * n_dense)
    return jnp.where(found, product, jnp.zeros((), product.dtype))
