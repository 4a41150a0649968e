"""The product of a matrix of coordinates and a dense one."""

from typing import Literal

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp
from jax.interpreters import ad, batching

from rarefy._primitives._batching import one_by_one
from rarefy._primitives._define import Form, bind, define, float_values, like, public
from rarefy._primitives._entries import (
    accumulator,
    batch_first,
    batch_size,
    check_dtypes,
    scale_rows,
    stacked_rows,
    sum_rows,
    take_or_zero,
)


@public("n_rows", "row_axis", "in_order")
def coo_dot_dense(
    data,
    indices,
    dense,
    *,
    n_rows: int,
    row_axis: Literal[0, 1] = 0,
    in_order: bool = False,
    form: Form = "auto",
) -> jax.Array:
    """Multiplies a matrix of coordinates, or its transpose, by a dense matrix or vector.

    Args:
      data: `(nse,)`: float16, bfloat16, float32 or float64; other types use the XLA form.
      indices: `(nse, 2)`, int32 or int64: the coordinates of each entry. Order is free, repeats add
        up. An entry with a coordinate out of range is padding and is skipped.
      dense: `(n, *k)`, same dtype as `data`.
      n_rows: rows of the result.
      row_axis: which of the two coordinates is the row of the result; 1 multiplies the transpose.
      in_order: whether rows ascend, those of padding too, where each counts as the nearest of
        `[0, n_rows]`. Costs less then; the result is wrong where it is not so.
      form: which implementation to use.

    Returns:
      `(n_rows, *k)`, dtype of `data`; zero where a row has no entries. 16-bit floats are summed in
      float32. The bits do not depend on the number of threads.

    Raises:
      ValueError: shapes do not agree, or a size does not fit the dtype of `indices`.
      TypeError: `data` and `dense` differ in dtype, or `indices` has another.

    Cost: O(nse * k + n_rows * k), in one pass over `indices`; up to eight times the memory of the
    result where there are many entries to a row and they are not in order.
    """
    return bind(
        "coo_dot_dense",
        data,
        indices,
        dense,
        n_rows=n_rows,
        row_axis=row_axis,
        in_order=in_order,
        form=form,
    )


def _split(indices, row_axis: int, n_rows: int, n_cols: int):
    """Rows and columns of the entries, and which are real."""
    row, column = indices[:, row_axis], indices[:, 1 - row_axis]
    return row, column, (row >= 0) & (row < n_rows) & (column >= 0) & (column < n_cols)


def _coo_dot_dense_xla(data, indices, dense, *, n_rows, row_axis, in_order):
    dtype = accumulator(data.dtype)
    row, column, is_real = _split(indices, row_axis, n_rows, dense.shape[0])
    weights = jnp.where(is_real, data, 0)
    products = scale_rows(weights, take_or_zero(dense, column, is_real), dtype)
    return sum_rows(products, row, is_real, n_rows, data.dtype)


def _coo_dot_dense_abstract(data, indices, dense, *, n_rows, row_axis, in_order):
    if indices.ndim != 2 or indices.shape[1] != 2 or data.shape != indices.shape[:1]:
        raise ValueError(
            f"coo_dot_dense: data must be (nse,) and indices (nse, 2), got {data.shape} and "
            f"{indices.shape}"
        )
    if indices.dtype not in (np.int32, np.int64):
        raise TypeError(f"coo_dot_dense: indices must be int32 or int64, got {indices.dtype}")
    check_dtypes("coo_dot_dense", data, dense)
    if dense.ndim == 0:
        raise ValueError("coo_dot_dense: dense must be (n, *k), got a scalar")
    if not 0 <= n_rows <= jnp.iinfo(indices.dtype).max:
        raise ValueError(f"coo_dot_dense: {n_rows} rows do not fit {indices.dtype}")
    return like(dense, (n_rows, *dense.shape[1:]), data.dtype)


def _coo_dot_dense_jvp_data(tangent, data, indices, dense, **params):
    return bind("coo_dot_dense", tangent, indices, dense, **params)


def _coo_dot_dense_jvp_dense(tangent, data, indices, dense, **params):
    return bind("coo_dot_dense", data, indices, tangent, **params)


def _coo_dot_dense_transpose(cotangent, data, indices, dense, *, n_rows, row_axis, in_order, form):
    if ad.is_undefined_primal(data):
        if type(cotangent) is ad.Zero:
            return ad.Zero(data.aval), None, None
        return _at_entries(cotangent, indices, dense, n_rows, row_axis, in_order, form), None, None
    if type(cotangent) is ad.Zero:
        return None, None, ad.Zero(dense.aval)
    turned = {"n_rows": dense.aval.shape[0], "row_axis": 1 - row_axis, "in_order": False}
    return None, None, bind("coo_dot_dense", data, indices, cotangent, **turned, form=form)


def _at_entries(rows, indices, dense, n_rows, row_axis, in_order, form):
    """The elements of `rows @ dense.T` at the entries, zero for padding."""
    n_cols = dense.shape[0]
    if in_order:
        sizes = {"n_rows": n_rows, "n_cols": n_cols, "row_axis": row_axis}
        places = bind("coo_to_csr", indices, **sizes, form=form)
        return bind("csr_sample_dot", *places, rows, dense, form=form)
    # Each entry as a row of its own.
    row, column, is_real = _split(indices, row_axis, n_rows, n_cols)
    taken = bind("take_rows", rows, jnp.where(is_real, row, n_rows), form=form)
    column = jnp.where(is_real, column, n_cols)
    each = lax.iota(column.dtype, column.shape[0] + 1)
    return bind("csr_sample_dot", column, each, taken, dense, form=form)


# Up to so many columns a pass over coordinates costs less than to make a csr matrix of them first.
FEW_COLUMNS = 16
# From so many entries on, a step of a loop costs less than coordinates that are written for each
# element of a batch.
LONG = 512


def _coo_dot_dense_batch(args, dims, *, n_rows, row_axis, in_order, form):
    data, indices, dense = args
    params = {"row_axis": row_axis, "in_order": in_order, "form": form}
    size, dense_dim = batch_size(args, dims), dims[2]
    if dims[:2] == (None, None):  # the batch becomes part of the columns
        dense = jnp.moveaxis(dense, dense_dim, 1)
        if in_order and dense.size > FEW_COLUMNS * dense.shape[0]:
            sizes = {"n_rows": n_rows, "n_cols": dense.shape[0], "row_axis": row_axis}
            places = bind("coo_to_csr", indices, **sizes, form=form)
            return bind("csr_dot_dense", data, *places, dense, form=form), 1
        return bind("coo_dot_dense", data, indices, dense, n_rows=n_rows, **params), 1
    shared = dense_dim is None
    n = dense.shape[0 if shared or dense_dim > 0 else 1]
    largest = max(size * n_rows, n if shared else size * n)
    is_long = dims[1] is None and indices.shape[0] > LONG
    if is_long or largest > jnp.iinfo(indices.dtype).max:
        return one_by_one(coo_dot_dense_p)(args, dims, n_rows=n_rows, **params)
    data, indices = (batch_first(x, d, size) for x, d in zip(args[:2], dims[:2], strict=True))
    blocks = _blocks(indices, n_rows, n, row_axis, shared=shared)
    dense = dense if shared else stacked_rows(dense, dense_dim, size)
    out = bind("coo_dot_dense", data.reshape(-1), blocks, dense, n_rows=size * n_rows, **params)
    return out.reshape(size, n_rows, *out.shape[1:]), 0


def _blocks(indices, n_rows: int, n_cols: int, row_axis: int, *, shared: bool):
    """The coordinates `(batch, nse, 2)` of matrices as those of one: blocks down a diagonal, or
    below each other where they share their columns. Rows that ascend still do."""
    row, column = indices[..., row_axis], indices[..., 1 - row_axis]
    is_real = (row >= 0) & (row < n_rows) & (column >= 0) & (column < n_cols)
    block = lax.iota(indices.dtype, indices.shape[0])[:, None]
    width = n_cols if shared else indices.shape[0] * n_cols
    row = jnp.clip(row, 0, n_rows) + n_rows * block
    column = jnp.where(is_real, column + (0 if shared else n_cols) * block, width)
    pair = (row, column) if row_axis == 0 else (column, row)
    return jnp.stack(pair, axis=-1).reshape(-1, 2)


coo_dot_dense_p = define(
    "coo_dot_dense",
    abstract=_coo_dot_dense_abstract,
    xla=_coo_dot_dense_xla,
    supports=float_values(0, 2),
    attributes=("row_axis", "in_order"),
)
ad.defjvp(coo_dot_dense_p, _coo_dot_dense_jvp_data, None, _coo_dot_dense_jvp_dense)
ad.primitive_transposes[coo_dot_dense_p] = _coo_dot_dense_transpose
batching.primitive_batchers[coo_dot_dense_p] = _coo_dot_dense_batch
