"""The product csr @ dense."""

import jax
from jax import lax
from jax import numpy as jnp

from rarefy._primitives._define import Form, define


def csr_dot_dense(data, indices, indptr, dense, *, form: Form = "auto") -> jax.Array:
    """Multiplies a CSR matrix by a dense matrix or vector.

    Args:
      data: `(nse,)`, floating.
      indices: `(nse,)`, int32 or int64: the column of each entry. Order is free, repeats add up. A
        column outside `[0, n)` is padding and is skipped.
      indptr: `(m + 1,)`, same dtype as `indices`, non-decreasing. Entries from `indptr[-1]` on are
        padding.
      dense: `(n, k)` or `(n,)`, same dtype as `data`.
      form: which implementation to use.

    Returns:
      `(m, k)` or `(m,)`, dtype of `data`. 16-bit floats are summed in float32.

    Cost: O(indptr[-1] * k).
    """
    return csr_dot_dense_p.bind(data, indices, indptr, dense, form=form)


def _csr_dot_dense_xla(data, indices, indptr, dense):
    m, (nse,), n = indptr.shape[0] - 1, data.shape, dense.shape[0]
    row = jnp.searchsorted(indptr, lax.iota(indptr.dtype, nse), side="right") - 1
    real = (indices >= 0) & (indices < n) & (row < m)
    accumulator = jnp.promote_types(data.dtype, jnp.float32)
    values = jnp.where(real, data, 0).astype(accumulator)
    taken = dense.at[indices].get(mode="fill", fill_value=0).astype(accumulator)
    products = values.reshape(-1, *(1,) * (dense.ndim - 1)) * taken
    out = jnp.zeros((m, *dense.shape[1:]), accumulator)
    return out.at[row].add(products, mode="drop", indices_are_sorted=True).astype(data.dtype)


def _csr_dot_dense_abstract(data, indices, indptr, dense):
    return dense.update(shape=(indptr.shape[0] - 1, *dense.shape[1:]), dtype=data.dtype)


csr_dot_dense_p = define("csr_dot_dense", abstract=_csr_dot_dense_abstract, xla=_csr_dot_dense_xla)
