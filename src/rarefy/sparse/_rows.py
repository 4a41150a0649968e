"""Compressed rows as plain buffers: the functions that BCSR is made of."""

from functools import partial

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from rarefy._primitives.coo_to_csr import coo_to_csr
from rarefy._primitives.csr_combine import csr_combine
from rarefy._primitives.csr_merge import csr_merge
from rarefy._primitives.csr_to_coo import csr_to_coo
from rarefy._primitives.csr_turn import csr_turn
from rarefy._primitives.dense_places import dense_places
from rarefy.sparse._index import as_kernel_index, index_dtype_for, row_starts

Shape = tuple[int, ...]


@partial(jax.jit, static_argnames="shape", inline=True)
def compress(indices, *, shape):
    """Makes columns and `indptr` of sorted coordinates.

    Args:
      indices: `(*batch, nse, 2)`, sorted by row, padding last.
      shape: `(*batch, m, n, *dense)`.

    Returns:
      `(*batch, nse)` and `(*batch, m + 1)`, dtype of `indices`.

    Cost: O(nse + m).
    """
    (indices,) = as_kernel_index(indices)
    n_batch = indices.ndim - 2
    n_rows = shape[n_batch]
    if n_batch == 0:
        return coo_to_csr(indices, shape=shape[:2])
    starts = partial(row_starts, n_rows=n_rows)
    for _ in range(n_batch):
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
    indices, indptr = as_kernel_index(indices, indptr)
    return tuple(csr_turn(data, indices, indptr, n_cols=shape[1]))


@partial(jax.jit, static_argnames=("shape", "nse", "minus", "drop_zeros"), inline=True)
def add(a, b, *, shape, nse=None, minus=False, drop_zeros=False):
    """Adds two csr matrices whose columns ascend in each row without repeats.

    Args:
      a, b: data, indices and indptr of each.
      shape: `(m, n)`.
      nse: slots of the result; None: as many as both have.
      minus: whether to subtract instead.
      drop_zeros: whether to drop elements whose sum is zero.

    Returns:
      data, indices and indptr of the sum, in order, padding last.

    Cost: O(nse of both + m).
    """
    nse = a[0].shape[0] + b[0].shape[0] if nse is None else nse
    if minus:
        b = -b[0], *b[1:]
    return tuple(_combined(a, b, shape, nse=nse, drop_zeros=drop_zeros)[:3])


def _combined(a, b, shape, **options):
    dtype = jnp.result_type(a[0], b[0])
    values = a[0].astype(dtype), b[0].astype(dtype)
    places = as_kernel_index(*a[1:], *b[1:])
    return csr_combine(*values, *places, n_cols=shape[1], **options)


@partial(jax.jit, static_argnames=("fn", "shape"), inline=True)
def combine(a, b, fn, *, shape):
    """Combines two csr matrices element by element where either stores something.

    Args:
      a, b: data, indices and indptr of each, in order.
      fn: of two arrays; 0 of two zeros.
      shape: `(m, n)`.

    Returns:
      data, indices and indptr, as of `add`; and the number of elements and whether one of them is
      zero, `(2,)`, dtype of the indices: what has to be known before the result gets its size.
    """
    dtype = jnp.result_type(a[0], b[0])
    places = as_kernel_index(*a[1:], *b[1:])
    found = csr_merge(*places, n_cols=shape[1], nse=a[0].shape[0] + b[0].shape[0])
    data = fn(
        _entries_or_zero(a[0], found.from_a, dtype), _entries_or_zero(b[0], found.from_b, dtype)
    )
    real = lax.iota(found.indptr.dtype, data.shape[0]) < found.indptr[-1]
    zero = jnp.any((data == 0) & real)
    facts = jnp.stack([found.indptr[-1], zero.astype(found.indptr.dtype)])
    return data, found.indices, found.indptr, facts


@partial(jax.jit, static_argnames="n_columns", inline=True)
def without_zeros(data, indices, indptr, *, n_columns):
    """Moves the elements of a csr matrix that are not zero to the front, in their order."""
    n = n_columns
    nse = data.shape[0]
    keep = (data != 0) & (lax.iota(indptr.dtype, nse) < indptr[-1])
    ranks = jnp.concatenate([jnp.zeros(1, indptr.dtype), jnp.cumsum(keep, dtype=indptr.dtype)])
    slot = jnp.where(keep, ranks[:-1], nse)
    indices = jnp.full_like(indices, n).at[slot].set(indices, mode="drop")
    return jnp.zeros_like(data).at[slot].set(data, mode="drop"), indices, ranks[indptr]


@partial(jax.jit, static_argnames=("shape", "nse"), inline=True)
def multiply(a, b, *, shape, nse=None):
    """Multiplies two csr matrices element by element; as `add`, of as many slots as the smaller.

    Returns:
      data, indices and indptr of the product, and the number of elements, also beyond `nse`.
    """
    nse = min(a[0].shape[0], b[0].shape[0]) if nse is None else nse
    return tuple(_combined(a, b, shape, nse=nse, product=True))


def _entries_or_zero(data, entries, dtype):
    if data.shape[0] == 0:
        return jnp.zeros(entries.shape, dtype)
    return data.at[entries].get(mode="fill", fill_value=0).astype(dtype)


@partial(jax.jit, static_argnames=("nse", "index_dtype"), inline=True)
def fromdense(mat, *, nse, index_dtype):
    """Takes the non-zero cells of a matrix in order, the first `nse`.

    Returns:
      data, indices and indptr, sorted, unique, padding last; a narrow `index_dtype` is widened to
      one that kernels take.

    Cost: O(m * n).
    """
    if index_dtype not in (np.int32, np.int64):
        index_dtype = index_dtype_for(mat.shape[1], nse)
    # Places have no derivative; `dense_places` has no rule for one.
    found = dense_places(lax.stop_gradient(mat), nse=nse, index_dtype=index_dtype)
    cells = csr_to_coo(found.indices, found.indptr, n_cols=mat.shape[1])
    if mat.size == 0:
        return jnp.zeros(nse, mat.dtype), found.indices, found.indptr
    data = mat.at[cells[:, 0], cells[:, 1]].get(mode="fill", fill_value=0)
    return data, found.indices, found.indptr


@partial(jax.jit, static_argnames=("n_rows", "nse", "n_columns", "inside"), inline=True)
def slice_rows(data, indices, indptr, begin, *, n_rows, nse, n_columns, inside=False):
    """Takes `n_rows` rows of a csr matrix from row `begin`.

    Args:
      data: `(slots, *d)`; indices: `(slots,)`; indptr: `(m + 1,)`.
      begin: integer, may be traced; `begin + n_rows <= m`.
      nse: slots of the result, at least what the rows occupy, at most `slots`.
      n_columns: number of columns, the index of padding.
      inside: whether there are `nse` slots from the first entry of the rows on.

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
        if inside:
            return lax.dynamic_slice_in_dim(buffer, first, nse)
        part = lax.dynamic_slice_in_dim(buffer, at, nse)
        return lax.dynamic_slice_in_dim(jnp.concatenate([part, part]), first - at, nse)

    real = lax.iota(indptr.dtype, nse) < indptr[-1]
    indices = jnp.where(real, window(indices), n_columns)
    real = real.reshape(-1, *(1,) * (data.ndim - 1))
    return jnp.where(real, window(data), jnp.zeros((), data.dtype)), indices, indptr
