"""Compressed rows as plain buffers: the functions that BCSR is made of."""

from functools import partial

import jax
import numpy as np
from jax import numpy as jnp

from rarefy._primitives.group_rows import group_rows
from rarefy.sparse._index import as_kernel_index, row_of_entry, row_starts

Shape = tuple[int, ...]


@partial(jax.jit, static_argnames="n_rows", inline=True)
def compress(indices, *, n_rows):
    """Makes columns and `indptr` of sorted coordinates.

    Args:
      indices: `(*batch, nse, 2)`, sorted by row, padding last.
      n_rows: the number of rows.

    Returns:
      `(*batch, nse)` and `(*batch, n_rows + 1)`, dtype of `indices`.

    Cost: O(nse + n_rows).
    """
    (indices,) = as_kernel_index(indices)
    starts = partial(row_starts, n_rows=n_rows)
    for _ in range(indices.ndim - 2):
        starts = jax.vmap(starts)
    return indices[..., 1], starts(jnp.clip(indices[..., 0], 0, n_rows))


@partial(jax.jit, static_argnames="shape", inline=True)
def transpose(data, indices, indptr, *, shape):
    """Swaps rows and columns of a csr matrix.

    Args:
      data: `(nse,)`; indices: `(nse,)`; indptr: `(m + 1,)`; any order, repeats and padding allowed.
      shape: `(m, n)`.

    Returns:
      data, indices and indptr of the transpose, of as many slots, sorted; repeats keep their order.

    Cost: O(nse + m + n).
    """
    m, n = shape
    indices, indptr = as_kernel_index(indices, indptr)
    nse = indices.shape[0]
    groups = group_rows(indices, indptr[-1], n_rows=n, capacity=0)
    rows = row_of_entry(indptr, nse)[groups.order]
    columns = indices[groups.order]
    real = (rows < m) & (columns >= 0) & (columns < n)
    columns = jnp.where(real, columns, n)
    rows = jnp.where(real, rows, m)
    return data[groups.order], rows, row_starts(columns, n)


@partial(jax.jit, static_argnames="n_columns", inline=True)
def mark_real(indices, indptr, *, n_columns):
    """Tells which slots of a csr matrix hold an entry: `(nse,)` bool."""
    slots = np.arange(indices.shape[0], dtype=indptr.dtype)
    return (slots < indptr[-1]) & (indices >= 0) & (indices < n_columns)
