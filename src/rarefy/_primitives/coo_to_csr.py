"""Columns and row starts of sorted coordinates."""

from typing import Literal

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp
from jax.interpreters import batching

from rarefy._primitives._batching import one_by_one
from rarefy._primitives._define import Form, bind, define, like, public


@public("shape", "row_axis")
def coo_to_csr(
    indices, *, shape: tuple[int, int], row_axis: Literal[0, 1] = 0, form: Form = "auto"
) -> tuple[jax.Array, jax.Array]:
    """Makes the indices of a CSR matrix from coordinates that are sorted by row.

    Args:
      indices: `(nse, 2)`, int32 or int64; rows ascend. An entry with a coordinate out of range is
        padding.
      shape: number of rows and of columns of the result.
      row_axis: which of the two coordinates is the row of the result.
      form: which implementation to use.

    Returns:
      columns `(nse,)`, the number of columns for padding, and indptr `(rows + 1,)`, dtype of
      `indices`. Padding stays in its row if that is in range; a row below it counts as the first.

    Raises:
      ValueError: `indices` is not `(nse, 2)`, or a size does not fit its dtype.

    Cost: O(nse + rows).
    """
    return tuple(
        bind("coo_to_csr", indices, n_rows=shape[0], n_cols=shape[1], row_axis=row_axis, form=form)
    )


def _coo_to_csr_xla(indices, *, n_rows, n_cols, row_axis):
    row, column = indices[:, row_axis], indices[:, 1 - row_axis]
    real = (row >= 0) & (row < n_rows) & (column >= 0) & (column < n_cols)
    bounds = lax.iota(indices.dtype, n_rows + 1)
    starts = jnp.searchsorted(jnp.clip(row, 0, n_rows), bounds, side="left")
    return jnp.where(real, column, n_cols), starts.astype(indices.dtype)


def _coo_to_csr_abstract(indices, *, n_rows, n_cols, row_axis):
    if indices.ndim != 2 or indices.shape[1] != 2 or indices.dtype not in (np.int32, np.int64):
        raise ValueError(f"coo_to_csr: indices must be (nse, 2), int32 or int64, got {indices}")
    if not 0 <= min(n_rows, n_cols) <= max(n_rows, n_cols) <= jnp.iinfo(indices.dtype).max:
        raise ValueError(f"coo_to_csr: shape {(n_rows, n_cols)} does not fit {indices.dtype}")
    columns = like(indices, indices.shape[:1], indices.dtype)
    return columns, like(indices, (n_rows + 1,), indices.dtype)


coo_to_csr_p = define(
    "coo_to_csr",
    abstract=_coo_to_csr_abstract,
    xla=_coo_to_csr_xla,
    multiple_results=True,
    attributes=("row_axis", "n_cols"),
)
batching.primitive_batchers[coo_to_csr_p] = one_by_one(coo_to_csr_p)
