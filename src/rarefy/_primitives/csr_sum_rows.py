"""Sums of the rows of a CSR matrix."""

import jax
from jax import numpy as jnp
from jax.interpreters import ad, batching

from rarefy._primitives._batching import one_by_one
from rarefy._primitives._define import Form, bind, define, float_values, like, public
from rarefy._primitives._entries import accumulator, check_csr, rows_of_entries, sum_rows


@public("n_cols")
def csr_sum_rows(data, indices, indptr, *, n_cols: int, form: Form = "auto") -> jax.Array:
    """Sums each row of a CSR matrix: `csr_dot_dense` with ones, without reading them.

    Args:
      data: `(nse,)`. The kernel takes floats.
      indices: `(nse,)`, int32 or int64, columns: any order, repeats allowed; one outside
        `[0, n_cols)` is padding.
      indptr: `(m + 1,)`, same dtype, non-decreasing. Entries before `indptr[0]` and from
        `indptr[-1]` on are padding.
      n_cols: number of columns.
      form: which implementation to use.

    Returns:
      `(m,)`, dtype of `data`. 16-bit floats are summed in float32. The bits of the kernel are the
      same for any number of threads.

    Raises:
      ValueError, TypeError: the operands do not fit together.

    Cost: O(nse + m); the derivative is that of `csr_dot_dense`.
    """
    return bind("csr_sum_rows", data, indices, indptr, n_cols=n_cols, form=form)


def _csr_sum_rows_xla(data, indices, indptr, *, n_cols):
    m = indptr.shape[0] - 1
    row = rows_of_entries(indptr, data.shape[0])
    real = (row >= 0) & (row < m) & (indices >= 0) & (indices < n_cols)
    wide = jnp.where(real, data, jnp.zeros((), data.dtype)).astype(accumulator(data.dtype))
    return sum_rows(wide, row, real, m, data.dtype)


def _csr_sum_rows_abstract(data, indices, indptr, *, n_cols):
    check_csr("csr_sum_rows", indices, indptr, data)
    return like(data, (indptr.shape[0] - 1,), data.dtype)


def _csr_sum_rows_jvp(tangent, data, indices, indptr, *, n_cols, form):
    ones = jnp.ones(n_cols, tangent.dtype)
    return bind("csr_dot_dense", tangent, indices, indptr, ones, form=form)


csr_sum_rows_p = define(
    "csr_sum_rows",
    abstract=_csr_sum_rows_abstract,
    xla=_csr_sum_rows_xla,
    supports=float_values(0),
    attributes=("n_cols",),
)
ad.defjvp(csr_sum_rows_p, _csr_sum_rows_jvp, None, None)
batching.primitive_batchers[csr_sum_rows_p] = one_by_one(csr_sum_rows_p)
