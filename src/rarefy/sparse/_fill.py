"""Buffers of sparse arrays that need no dense one: empty ones and diagonals."""

import operator
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp

Shape = tuple[int, ...]


def empty(
    shape: Shape, *, dtype: Any, index_dtype: Any, n_dense: int, n_batch: int, nse: int
) -> tuple[jax.Array, jax.Array]:
    """BCOO buffers of `nse` slots that are all padding.

    Raises:
      ValueError: the layout does not fit `shape`.
    """
    n_batch, n_dense, nse = map(operator.index, (n_batch, n_dense, nse))
    if min(n_batch, n_dense, nse) < 0 or n_batch + n_dense > len(shape):
        raise ValueError(
            f"empty: n_batch={n_batch}, n_dense={n_dense} and nse={nse} do not fit shape {shape}"
        )
    batch, sparse = shape[:n_batch], shape[n_batch : len(shape) - n_dense]
    data = jnp.zeros((*batch, nse, *shape[len(shape) - n_dense :]), dtype)
    limit = jnp.asarray(np.asarray(sparse, index_dtype))
    return data, jnp.broadcast_to(limit, (*batch, nse, len(sparse)))


def diagonal(
    n_rows: int, n_columns: int, k: int, *, dtype: Any, index_dtype: Any
) -> tuple[jax.Array, jax.Array]:
    """BCOO buffers of a matrix with ones on diagonal `k`, above the main one if positive."""
    length = max(0, min(n_rows - max(-k, 0), n_columns - max(k, 0)))
    places = np.arange(length) + np.asarray([[max(-k, 0)], [max(k, 0)]])
    return jnp.ones(length, dtype), jnp.asarray(places.T.astype(index_dtype))
