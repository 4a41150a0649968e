"""Coordinates of a CSR matrix."""

import jax
from jax import lax
from jax import numpy as jnp
from jax.interpreters import batching

from rarefy._primitives._batching import one_by_one
from rarefy._primitives._define import Form, bind, define, like, public
from rarefy._primitives._entries import check_csr, rows_of_entries


@public("n_cols")
def csr_to_coo(indices, indptr, *, n_cols: int, form: Form = "auto") -> jax.Array:
    """Makes the coordinates of the entries of a CSR matrix.

    Args:
      indices: `(nse,)`, int32 or int64, columns; one outside `[0, n_cols)` is padding.
      indptr: `(m + 1,)`, same dtype, non-decreasing. Entries before `indptr[0]` and from
        `indptr[-1]` on are padding.
      n_cols: number of columns.
      form: which implementation to use.

    Returns:
      `(nse, 2)`, rows and columns, in the order of the entries. Padding has column `n_cols`, and
      row `m` where it belongs to no row.

    Raises:
      ValueError, TypeError: the operands do not fit together.

    Cost: O(nse + m).
    """
    return bind("csr_to_coo", indices, indptr, n_cols=n_cols, form=form)


def _csr_to_coo_xla(indices, indptr, *, n_cols):
    nse, m = indices.shape[0], indptr.shape[0] - 1
    row = rows_of_entries(indptr, nse).astype(indices.dtype)
    row = jnp.where((lax.iota(indptr.dtype, nse) < indptr[0]) | (row < 0), m, row)
    real = (row < m) & (indices >= 0) & (indices < n_cols)
    return jnp.stack([row, jnp.where(real, indices, n_cols)], axis=-1)


def _csr_to_coo_abstract(indices, indptr, *, n_cols):
    check_csr("csr_to_coo", indices, indptr)
    if not 0 <= n_cols <= jnp.iinfo(indices.dtype).max:
        raise ValueError(f"csr_to_coo: n_cols {n_cols} does not fit {indices.dtype}")
    return like(indices, (indices.shape[0], 2), indices.dtype)


csr_to_coo_p = define(
    "csr_to_coo", abstract=_csr_to_coo_abstract, xla=_csr_to_coo_xla, attributes=("n_cols",)
)
batching.primitive_batchers[csr_to_coo_p] = one_by_one(csr_to_coo_p)
