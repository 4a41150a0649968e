"""The product csr.T @ dense, into a dense matrix."""

import jax
from jax import numpy as jnp
from jax.interpreters import ad, batching

from rarefy._primitives._batching import one_by_one
from rarefy._primitives._define import Form, bind, define, float_values, like, public
from rarefy._primitives._entries import (
    accumulator,
    batch_first,
    batch_size,
    check_csr,
    check_dense,
    check_dtypes,
    diagonal_blocks,
    rows_of_entries,
    scale_rows,
    stacked_rows,
    sum_rows,
    take_or_zero,
)


@public("n_cols")
def csr_t_dot_dense(data, indices, indptr, dense, *, n_cols: int, form: Form = "auto") -> jax.Array:
    """Multiplies a transposed CSR matrix by a dense matrix or vector.

    Args:
      data: `(nse,)`: float16, bfloat16, float32 or float64; other types use the XLA form.
      indices: `(nse,)`, int32 or int64: the column of each entry. Order is free, repeats add up. A
        column outside `[0, n_cols)` is padding and is skipped.
      indptr: `(m + 1,)`, same dtype as `indices`, non-decreasing. Entries from `indptr[-1]` on are
        padding.
      dense: `(m, *k)`, same dtype as `data`.
      n_cols: columns of the matrix.
      form: which implementation to use.

    Returns:
      `(n_cols, *k)`, dtype of `data`; zero where a column has no entries. 16-bit floats are summed
      in float32. The bits do not depend on the number of threads.

    Raises:
      ValueError: shapes do not agree, or `n_cols` is negative.
      TypeError: `data` and `dense`, or `indices` and `indptr`, differ in dtype.

    Cost: O(indptr[-1] * k + n_cols * k). Where few columns have entries, `csr_t_dot_rows` does
    without the second.
    """
    return bind("csr_t_dot_dense", data, indices, indptr, dense, n_cols=n_cols, form=form)


def _csr_t_dot_dense_xla(data, indices, indptr, dense, *, n_cols):
    m, dtype = dense.shape[0], accumulator(data.dtype)
    row = rows_of_entries(indptr, data.shape[0])
    is_real = (indices >= 0) & (indices < n_cols) & (row >= 0) & (row < m)
    weights = jnp.where(is_real, data, 0)
    products = scale_rows(weights, take_or_zero(dense, row, is_real), dtype)
    return sum_rows(products, indices, is_real, n_cols, data.dtype)


def _csr_t_dot_dense_abstract(data, indices, indptr, dense, *, n_cols):
    check_csr("csr_t_dot_dense", indices, indptr, data)
    check_dtypes("csr_t_dot_dense", data, dense)
    check_dense("csr_t_dot_dense", dense, indptr.shape[0] - 1, "the matrix")
    if n_cols < 0:
        raise ValueError(f"csr_t_dot_dense: n_cols must not be negative, got {n_cols}")
    return like(dense, (n_cols, *dense.shape[1:]), data.dtype)


def _csr_t_dot_dense_jvp_data(tangent, data, indices, indptr, dense, **params):
    return bind("csr_t_dot_dense", tangent, indices, indptr, dense, **params)


def _csr_t_dot_dense_jvp_dense(tangent, data, indices, indptr, dense, **params):
    return bind("csr_t_dot_dense", data, indices, indptr, tangent, **params)


def _csr_t_dot_dense_transpose(cotangent, data, indices, indptr, dense, *, n_cols, form):
    if ad.is_undefined_primal(data):
        if type(cotangent) is ad.Zero:
            return ad.Zero(data.aval), None, None, None
        return (
            bind("csr_sample_dot", indices, indptr, dense, cotangent, form=form),
            None,
            None,
            None,
        )
    if type(cotangent) is ad.Zero:
        return None, None, None, ad.Zero(dense.aval)
    out = bind("csr_dot_dense", data, indices, indptr, cotangent, form=form)
    return None, None, None, out


def _csr_t_dot_dense_batch(args, dims, *, n_cols, form):
    data, indices, indptr, dense = args
    size, dense_dim = batch_size(args, dims), dims[3]
    if dims[:3] == (None, None, None):  # the batch becomes part of the columns
        dense = jnp.moveaxis(dense, dense_dim, 1)
        out = bind("csr_t_dot_dense", data, indices, indptr, dense, n_cols=n_cols, form=form)
        return out, 1
    data, indices, indptr = map(batch_first, args[:3], dims[:3], (size,) * 3)
    blocks = diagonal_blocks(indices, indptr, n_cols, shared=False)
    if blocks is None:
        return one_by_one(csr_t_dot_dense_p)(args, dims, n_cols=n_cols, form=form)
    dense = stacked_rows(dense, dense_dim, size)
    out = bind("csr_t_dot_dense", data.reshape(-1), *blocks, dense, n_cols=size * n_cols, form=form)
    return out.reshape(size, n_cols, *out.shape[1:]), 0


csr_t_dot_dense_p = define(
    "csr_t_dot_dense",
    abstract=_csr_t_dot_dense_abstract,
    xla=_csr_t_dot_dense_xla,
    supports=float_values(0, 3),
)
ad.defjvp(csr_t_dot_dense_p, _csr_t_dot_dense_jvp_data, None, None, _csr_t_dot_dense_jvp_dense)
ad.primitive_transposes[csr_t_dot_dense_p] = _csr_t_dot_dense_transpose
batching.primitive_batchers[csr_t_dot_dense_p] = _csr_t_dot_dense_batch
