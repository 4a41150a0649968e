"""The product of two dense matrices at the stored places of a csr pattern."""

import jax
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
    stacked_rows,
    take_or_zero,
)


@public()
def csr_sample_dot(indices, indptr, lhs, rhs, *, form: Form = "auto") -> jax.Array:
    """Computes `lhs @ rhs.T` at the stored places of a CSR matrix, and nowhere else.

    Args:
      indices: `(nse,)`, int32 or int64: the column of each entry, in any order, with repeats. A
        column outside `[0, n)` is padding.
      indptr: `(m + 1,)`, same dtype as `indices`, non-decreasing. Entries from `indptr[-1]` on are
        padding.
      lhs: `(m, *k)`: float16, bfloat16, float32 or float64; other types use the XLA form.
      rhs: `(n, *k)`, same dtype as `lhs`.
      form: which implementation to use.

    Returns:
      `(nse,)`, dtype of `lhs`: for an entry in row r and column c the sum over `*k` of
      `lhs[r] * rhs[c]`; zero for padding. 16-bit floats are summed in float32.

    Raises:
      ValueError: shapes do not agree.
      TypeError: `lhs` and `rhs`, or `indices` and `indptr`, differ in dtype.

    Cost: O(nse * k + m).
    """
    return bind("csr_sample_dot", indices, indptr, lhs, rhs, form=form)


def _csr_sample_dot_xla(indices, indptr, lhs, rhs):
    m, n, dtype = lhs.shape[0], rhs.shape[0], accumulator(lhs.dtype)
    row = rows_of_entries(indptr, indices.shape[0])
    is_real = (indices >= 0) & (indices < n) & (row >= 0) & (row < m)
    products = take_or_zero(lhs, row, is_real).astype(dtype)
    products *= take_or_zero(rhs, indices, is_real).astype(dtype)
    return products.sum(tuple(range(1, products.ndim)), dtype=dtype).astype(lhs.dtype)


def _csr_sample_dot_abstract(indices, indptr, lhs, rhs):
    check_csr("csr_sample_dot", indices, indptr)
    check_dtypes("csr_sample_dot", lhs, rhs)
    check_dense("csr_sample_dot", lhs, indptr.shape[0] - 1, "the matrix")
    if rhs.ndim == 0 or lhs.shape[1:] != rhs.shape[1:]:
        raise ValueError(
            f"csr_sample_dot: lhs (m, *k) and rhs (n, *k) must agree in k: {lhs.shape}, {rhs.shape}"
        )
    return like(lhs, indices.shape, lhs.dtype)


def _csr_sample_dot_jvp_lhs(tangent, indices, indptr, lhs, rhs, *, form):
    return bind("csr_sample_dot", indices, indptr, tangent, rhs, form=form)


def _csr_sample_dot_jvp_rhs(tangent, indices, indptr, lhs, rhs, *, form):
    return bind("csr_sample_dot", indices, indptr, lhs, tangent, form=form)


def _csr_sample_dot_transpose(cotangent, indices, indptr, lhs, rhs, *, form):
    if ad.is_undefined_primal(lhs):
        if type(cotangent) is ad.Zero:
            return None, None, ad.Zero(lhs.aval), None
        return None, None, bind("csr_dot_dense", cotangent, indices, indptr, rhs, form=form), None
    if type(cotangent) is ad.Zero:
        return None, None, None, ad.Zero(rhs.aval)
    n = rhs.aval.shape[0]
    out = bind("csr_t_dot_dense", cotangent, indices, indptr, lhs, n_cols=n, form=form)
    return None, None, None, out


def _csr_sample_dot_batch(args, dims, *, form):
    indices, indptr, lhs, rhs = args
    size, rhs_dim = batch_size(args, dims), dims[3]
    shared = rhs_dim is None
    n = rhs.shape[0 if shared or rhs_dim > 0 else 1]
    indices, indptr = map(batch_first, args[:2], dims[:2], (size,) * 2)
    nse = indices.shape[1]
    blocks = diagonal_blocks(indices, indptr, n, shared=shared)
    if blocks is None:
        return one_by_one(csr_sample_dot_p)(args, dims, form=form)
    lhs = stacked_rows(lhs, dims[2], size)
    rhs = rhs if shared else stacked_rows(rhs, rhs_dim, size)
    return bind("csr_sample_dot", *blocks, lhs, rhs, form=form).reshape(size, nse), 0


csr_sample_dot_p = define(
    "csr_sample_dot",
    abstract=_csr_sample_dot_abstract,
    xla=_csr_sample_dot_xla,
    supports=float_values(2, 3),
)
ad.defjvp(csr_sample_dot_p, None, None, _csr_sample_dot_jvp_lhs, _csr_sample_dot_jvp_rhs)
ad.primitive_transposes[csr_sample_dot_p] = _csr_sample_dot_transpose
batching.primitive_batchers[csr_sample_dot_p] = _csr_sample_dot_batch
