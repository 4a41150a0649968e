"""Products of dense arrays at the stored places of BCOO indices, on plain buffers."""

import math
from functools import partial

import jax
from jax import lax
from jax import numpy as jnp

from rarefy._primitives.csr_sample_dot import csr_sample_dot
from rarefy._primitives.group_rows import group_rows
from rarefy.sparse._entries import cell_ids, coordinates
from rarefy.sparse._index import as_kernel_index, in_range, row_starts
from rarefy.sparse._layout import dense_to_sparse

Shape = tuple[int, ...]


@partial(jax.jit, static_argnames="dimension_numbers", inline=True)
def dot_general_sampled(lhs, rhs, indices, *, dimension_numbers):
    """`jax.lax.dot_general` of dense arrays, computed only at the places that `indices` name.

    Args:
      lhs, rhs: dense.
      indices: `(*batch, nse, n_sparse)`, BCOO indices of an array of the product's shape; a batch
        axis may be 1.

    Returns:
      `(*batch, nse, *dense)`: BCOO data; zero for padding. A cell that is named twice is computed
      twice.

    Cost: O(nse * size of what is contracted); the product itself is never made.
    """
    product = partial(lax.dot_general, dimension_numbers=dimension_numbers)
    out = jax.eval_shape(product, lhs, rhs)
    n_batch, n_sparse = indices.ndim - 2, indices.shape[-1]
    n_stored, shape = n_batch + n_sparse, out.shape
    if n_stored > len(shape):
        raise ValueError(
            f"bcoo_dot_general_sampled: indices {indices.shape} have {n_batch} batch and "
            f"{n_sparse} sparse dimensions, the product {shape} has {len(shape)}"
        )
    for d, size in enumerate(indices.shape[:n_batch]):
        if size not in (1, shape[d]):
            raise ValueError(
                f"bcoo_dot_general_sampled: batch dimensions of indices {indices.shape} do not fit "
                f"the product {shape}"
            )
    dense = shape[n_stored:]
    nse, full = indices.shape[-2], (*shape[:n_batch], indices.shape[-2])
    if dense:
        none = jnp.zeros((*(1,) * n_batch, nse, *dense), out.dtype)
        _, indices = dense_to_sparse(none, indices, shape, len(dense))
    data = _sample_cells(lhs, rhs, indices, shape, dimension_numbers, out.dtype)
    return data.reshape(*full, *dense)


def _sample_cells(lhs, rhs, indices, shape: Shape, dimension_numbers, dtype):
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = dimension_numbers
    n_batch, n_shared = indices.ndim - 2, len(lhs_batch)
    lhs_free = [d for d in range(lhs.ndim) if d not in lhs_contract and d not in lhs_batch]
    rhs_free = [d for d in range(rhs.ndim) if d not in rhs_contract and d not in rhs_batch]
    places = coordinates(indices, shape[:n_batch])
    real = in_range(indices, shape[n_batch:])
    real = jnp.broadcast_to(real, (*shape[:n_batch], indices.shape[-2]))
    shared = list(range(n_shared))
    row_dims = shared + [n_shared + i for i in range(len(lhs_free))]
    column_dims = shared + [n_shared + len(lhs_free) + i for i in range(len(rhs_free))]
    depth = math.prod(lhs.shape[d] for d in lhs_contract)
    row_sizes, column_sizes = [shape[d] for d in row_dims], [shape[d] for d in column_dims]
    n_rows, n_columns = math.prod(row_sizes), math.prod(column_sizes)
    rows = cell_ids([places[d] for d in row_dims], row_sizes, real, n_rows)
    columns = cell_ids([places[d] for d in column_dims], column_sizes, real, n_columns)
    lhs = lhs.transpose(*lhs_batch, *lhs_free, *lhs_contract).reshape(n_rows, depth)
    rhs = rhs.transpose(*rhs_batch, *rhs_free, *rhs_contract).reshape(n_columns, depth)
    return sample(rows, columns, lhs.astype(dtype), rhs.astype(dtype))


def sample(rows, columns, lhs, rhs):
    """`lhs[rows[e]] . rhs[columns[e]]` for every entry; zero where one is out of range.

    Args:
      rows, columns: `(nse,)`, integer; `m` and `n` are padding.
      lhs: `(m, k)`; rhs: `(n, k)`, of one dtype.

    Returns:
      `(nse,)`, that dtype.
    """
    nse, (m, depth), n = rows.shape[0], lhs.shape, rhs.shape[0]
    if 0 in (nse, m, n, depth):
        return jnp.zeros(nse, lhs.dtype)
    rows, columns = as_kernel_index(rows, columns)
    if not jnp.issubdtype(lhs.dtype, jnp.floating):
        left = lhs.at[rows].get(mode="fill", fill_value=0, wrap_negative_indices=False)
        right = rhs.at[columns].get(mode="fill", fill_value=0, wrap_negative_indices=False)
        if lhs.dtype == bool:
            return jnp.any(left & right, axis=1)
        return jnp.sum(left * right, axis=1, dtype=lhs.dtype)
    order = group_rows(rows, n_rows=m, capacity=0).order
    indptr = row_starts(jnp.clip(rows[order], 0, m), m)
    found = csr_sample_dot(columns[order], indptr, lhs, rhs)
    return jnp.zeros_like(found).at[order].set(found, unique_indices=True)
