"""The product csr @ dense."""

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
    check_dtypes,
    diagonal_blocks,
    rows_of_entries,
    scale_rows,
    stacked_rows,
    sum_rows,
    take_or_zero,
)


@public()
def csr_dot_dense(data, indices, indptr, dense, *, form: Form = "auto") -> jax.Array:
    """Multiplies a CSR matrix by a dense matrix or vector.

    Args:
      data: `(nse,)`: float16, bfloat16, float32 or float64; other types use the XLA form.
      indices: `(nse,)`, int32 or int64: the column of each entry. Order is free, repeats add up. A
        column outside `[0, n)` is padding and is skipped.
      indptr: `(m + 1,)`, same dtype as `indices`, non-decreasing. Entries from `indptr[-1]` on are
        padding.
      dense: `(n, *k)`, same dtype as `data`.
      form: which implementation to use.

    Returns:
      `(m, *k)`, dtype of `data`. 16-bit floats are summed in float32. NaN and infinity come from
      stored entries and the rows of `dense` that they name, never from padding. A row's bits depend
      on its own entries alone: not on other rows, nor on the number of threads.

    Raises:
      ValueError: shapes do not agree.
      TypeError: `data` and `dense`, or `indices` and `indptr`, differ in dtype.

    Cost: O(indptr[-1] * k + m * k). The gradient with respect to `dense` is dense, `(n, *k)`;
    `csr_t_dot_rows` gives it as rows.
    """
    return bind("csr_dot_dense", data, indices, indptr, dense, form=form)


def _csr_dot_dense_xla(data, indices, indptr, dense):
    m, n, dtype = indptr.shape[0] - 1, dense.shape[0], accumulator(data.dtype)
    row = rows_of_entries(indptr, data.shape[0])
    is_real = (indices >= 0) & (indices < n) & (row >= 0) & (row < m)
    weights = jnp.where(is_real, data, 0)
    products = scale_rows(weights, take_or_zero(dense, indices, is_real), dtype)
    return sum_rows(products, row, is_real, m, data.dtype)


def _csr_dot_dense_abstract(data, indices, indptr, dense):
    check_csr("csr_dot_dense", indices, indptr, data)
    check_dtypes("csr_dot_dense", data, dense)
    if dense.ndim == 0:
        raise ValueError("csr_dot_dense: dense must be (n, *k), got a scalar")
    return like(dense, (indptr.shape[0] - 1, *dense.shape[1:]), data.dtype)


def _csr_dot_dense_jvp_data(tangent, data, indices, indptr, dense, *, form):
    return bind("csr_dot_dense", tangent, indices, indptr, dense, form=form)


def _csr_dot_dense_jvp_dense(tangent, data, indices, indptr, dense, *, form):
    return bind("csr_dot_dense", data, indices, indptr, tangent, form=form)


def _csr_dot_dense_transpose(cotangent, data, indices, indptr, dense, *, form):
    if ad.is_undefined_primal(data):
        if type(cotangent) is ad.Zero:
            return ad.Zero(data.aval), None, None, None
        return (
            bind("csr_sample_dot", indices, indptr, cotangent, dense, form=form),
            None,
            None,
            None,
        )
    if type(cotangent) is ad.Zero:
        return None, None, None, ad.Zero(dense.aval)
    n = dense.aval.shape[0]
    out = bind("csr_t_dot_dense", data, indices, indptr, cotangent, n_cols=n, form=form)
    return None, None, None, out


def _csr_dot_dense_batch(args, dims, *, form):
    data, indices, indptr, dense = args
    size, dense_dim = batch_size(args, dims), dims[3]
    if dims[:3] == (None, None, None):  # the batch becomes part of the columns
        dense = jnp.moveaxis(dense, dense_dim, 1)
        return bind("csr_dot_dense", data, indices, indptr, dense, form=form), 1
    n = dense.shape[0 if dense_dim is None or dense_dim > 0 else 1]
    data, indices, indptr = map(batch_first, args[:3], dims[:3], (size,) * 3)
    shared = dense_dim is None
    blocks = diagonal_blocks(indices, indptr, n, shared=shared)
    if blocks is None:
        return one_by_one(csr_dot_dense_p)(args, dims, form=form)
    dense = dense if shared else stacked_rows(dense, dense_dim, size)
    out = bind("csr_dot_dense", data.reshape(-1), *blocks, dense, form=form)
    return out.reshape(size, indptr.shape[1] - 1, *out.shape[1:]), 0


csr_dot_dense_p = define(
    "csr_dot_dense",
    abstract=_csr_dot_dense_abstract,
    xla=_csr_dot_dense_xla,
    supports=float_values(0, 3),
)
ad.defjvp(csr_dot_dense_p, _csr_dot_dense_jvp_data, None, None, _csr_dot_dense_jvp_dense)
ad.primitive_transposes[csr_dot_dense_p] = _csr_dot_dense_transpose
batching.primitive_batchers[csr_dot_dense_p] = _csr_dot_dense_batch
