"""Compressed rows as plain buffers: the functions that BCSR is made of."""

from functools import partial

import jax
from jax import lax
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


@partial(jax.jit, static_argnames=("n_rows", "nse", "n_columns"), inline=True)
def slice_rows(data, indices, indptr, begin, *, n_rows, nse, n_columns):
    """Takes `n_rows` rows of a csr matrix from row `begin`.

    Args:
      data: `(slots, *d)`; indices: `(slots,)`; indptr: `(m + 1,)`.
      begin: integer, may be traced; `begin + n_rows <= m`.
      nse: slots of the result, at least what the rows occupy, at most `slots`.
      n_columns: number of columns, the index of padding.

    Returns:
      data, indices and indptr of the rows, entries in their order, padding last.

    Cost: O(nse + n_rows).
    """
    indices, indptr = as_kernel_index(indices, indptr)
    indptr = lax.dynamic_slice_in_dim(indptr, begin, n_rows + 1)
    first = indptr[0]
    indptr = indptr - first
    # Near the end a slice of nse slots begins before `first`; the overhang is moved to its end.
    at = jnp.minimum(first, data.shape[0] - nse)

    def window(buffer):
        part = lax.dynamic_slice_in_dim(buffer, at, nse)
        return lax.dynamic_slice_in_dim(jnp.concatenate([part, part]), first - at, nse)

    real = lax.iota(indptr.dtype, nse) < indptr[-1]
    indices = jnp.where(real, window(indices), n_columns)
    real = real.reshape(-1, *(1,) * (data.ndim - 1))
    return jnp.where(real, window(data), jnp.zeros((), data.dtype)), indices, indptr
