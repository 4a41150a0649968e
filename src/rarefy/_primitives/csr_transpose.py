"""The transpose of a CSR matrix."""

from typing import NamedTuple

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp
from jax.interpreters import batching

from rarefy._primitives._batching import one_by_one
from rarefy._primitives._define import Form, bind, define, like, public
from rarefy._primitives._entries import check_csr, rows_of_entries


class CsrTransposed(NamedTuple):
    """Indices of a transpose; the docstring of `csr_transpose` says what the fields hold."""

    indices: jax.Array
    indptr: jax.Array
    order: jax.Array


@public("n_cols")
def csr_transpose(indices, indptr, *, n_cols: int, form: Form = "auto") -> CsrTransposed:
    """Finds the indices of the transpose of a CSR matrix, and where its values come from.

    Args:
      indices: `(nse,)`, int32 or int64, columns: any order, repeats allowed; one outside
        `[0, n_cols)` is padding.
      indptr: `(m + 1,)`, same dtype, non-decreasing. Entries before `indptr[0]` and from
        `indptr[-1]` on are padding.
      n_cols: number of columns.
      form: which implementation to use.

    Returns:
      indices `(nse,)` and indptr `(n_cols + 1,)`, dtype of `indices`: rows of the matrix for each
      of its columns, ascending, repeats in their order; padding, of row `m`, comes last.
      order `(nse,)`, int32: the permutation of the entries, `data[order]` the transpose's values.

    Raises:
      ValueError, TypeError: the operands do not fit together.

    Cost: O(nse + m + n_cols).
    Source: Gustavson, Two Fast Algorithms for Sparse Matrices (1978).
    """
    return CsrTransposed(*bind("csr_transpose", indices, indptr, n_cols=n_cols, form=form))


def _csr_transpose_xla(indices, indptr, *, n_cols):
    nse, m = indices.shape[0], indptr.shape[0] - 1
    position, row = lax.iota(jnp.int32, nse), rows_of_entries(indptr, nse)
    real = (row >= 0) & (row < m) & (indices >= 0) & (indices < n_cols)
    key = jnp.where(real, indices, n_cols)
    key, order = lax.sort((key, position), num_keys=1, is_stable=True)
    starts = jnp.searchsorted(key, lax.iota(indices.dtype, n_cols + 1), side="left")
    rows = jnp.where(real, row, m)[order]
    return rows.astype(indices.dtype), starts.astype(indices.dtype), order


def _csr_transpose_abstract(indices, indptr, *, n_cols):
    check_csr("csr_transpose", indices, indptr)
    if not 0 <= n_cols <= jnp.iinfo(indices.dtype).max or indices.shape[0] >= 2**31:
        raise ValueError(
            f"csr_transpose: n_cols {n_cols} must fit {indices.dtype}, and the number of entries "
            f"{indices.shape[0]} int32"
        )
    return (
        like(indices, indices.shape, indices.dtype),
        like(indices, (n_cols + 1,), indices.dtype),
        like(indices, indices.shape, np.dtype(np.int32)),
    )


csr_transpose_p = define(
    "csr_transpose",
    abstract=_csr_transpose_abstract,
    xla=_csr_transpose_xla,
    multiple_results=True,
)
batching.primitive_batchers[csr_transpose_p] = one_by_one(csr_transpose_p)
