"""Products of sparse and dense arrays on plain buffers, through the three product primitives."""

import math
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
from jax import lax
from jax import numpy as jnp

from rarefy._primitives.coo_dot_dense import FEW_COLUMNS, coo_dot_dense
from rarefy._primitives.coo_to_csr import coo_to_csr
from rarefy._primitives.csr_dot_dense import csr_dot_dense
from rarefy._primitives.csr_t_dot_dense import csr_t_dot_dense
from rarefy._primitives.group_rows import group_rows
from rarefy._primitives.take_rows import take_rows
from rarefy.sparse._entries import cell_ids, coordinates, form_for, layout_of
from rarefy.sparse._index import (
    as_kernel_index,
    common_dtype,
    in_range,
    index_dtype_for,
    row_of_entry,
    row_starts,
    widens,
)
from rarefy.sparse._layout import csr_coordinates, dense_to_sparse

Shape = tuple[int, ...]
DimensionNumbers = tuple[
    tuple[tuple[int, ...], tuple[int, ...]], tuple[tuple[int, ...], tuple[int, ...]]
]


def canonical_dimension_numbers(dimension_numbers: Any) -> DimensionNumbers:
    """Makes nested tuples of integers, which can be a static argument."""
    (lhs, rhs), (lhs_batch, rhs_batch) = dimension_numbers
    return (
        (tuple(map(int, lhs)), tuple(map(int, rhs))),
        (tuple(map(int, lhs_batch)), tuple(map(int, rhs_batch))),
    )


class MatmulPlan(NamedTuple):
    """The `dot_general` that `lhs @ rhs` stands for, and what must be done to its result."""

    dimension_numbers: DimensionNumbers
    permutation: tuple[int, ...] | None
    shape: Shape

    def finish(self, out: jax.Array) -> jax.Array:
        """Brings the result of the `dot_general` into the order of `matmul`."""
        if self.permutation is None:
            return out
        return out.transpose(self.permutation).reshape(self.shape)


@lru_cache(maxsize=1024)
def matmul_plan(lhs: Shape, rhs: Shape) -> MatmulPlan:
    """Plans `lhs @ rhs` with the rules of NumPy: leading axes are batches and broadcast.

    Raises:
      ValueError: an operand is a scalar, or batch axes do not broadcast.
    """
    if not lhs or not rhs:
        raise ValueError("matmul: operands must have at least one dimension; use * for a scalar")
    n_lhs, n_rhs = max(len(lhs) - 2, 0), max(len(rhs) - 2, 0)
    rank = max(n_lhs, n_rhs)
    lhs_labels = [*range(rank - n_lhs, rank), rank][: max(len(lhs) - 1, 0)]
    rhs_labels = [*range(rank - n_rhs, rank), *([rank + 1] if len(rhs) > 1 else [])]
    pairs = []
    for label in range(rank - min(n_lhs, n_rhs), rank):
        i, j = label - rank + n_lhs, label - rank + n_rhs
        if lhs[i] == rhs[j]:
            pairs.append((i, j))
        elif 1 not in (lhs[i], rhs[j]):
            raise ValueError(f"matmul: batches of {lhs} and {rhs} do not broadcast")
    contracted = n_rhs if len(rhs) > 1 else 0
    lhs_batch, rhs_batch = tuple(i for i, _ in pairs), tuple(j for _, j in pairs)
    rhs_dims = [j for j in range(len(rhs)) if j != contracted]
    found = [(lhs_labels[i], lhs[i]) for i in lhs_batch]
    found += [(lhs_labels[i], lhs[i]) for i in range(len(lhs_labels)) if i not in lhs_batch]
    found += [
        (label, rhs[j]) for label, j in zip(rhs_labels, rhs_dims, strict=True) if j not in rhs_batch
    ]
    permutation = tuple(sorted(range(len(found)), key=lambda k: found[k][0]))
    sizes: dict[int, int] = {}
    for label, size in found:
        sizes[label] = size if sizes.get(label, 1) == 1 else sizes[label]
    is_plain = permutation == tuple(range(len(found))) and len(sizes) == len(found)
    return MatmulPlan(
        (((len(lhs) - 1,), (contracted,)), (lhs_batch, rhs_batch)),
        None if is_plain else permutation,
        tuple(sizes[label] for label in sorted(sizes)),
    )


def check_dot(lhs_shape, lhs_dtype, rhs, dimension_numbers) -> None:
    """Raises what `jax.lax.dot_general` raises for such operands."""
    lhs = jax.ShapeDtypeStruct(lhs_shape, lhs_dtype)
    rhs = jax.ShapeDtypeStruct(rhs.shape, rhs.dtype)
    jax.eval_shape(partial(lax.dot_general, dimension_numbers=dimension_numbers), lhs, rhs)


@partial(
    jax.jit,
    static_argnames=("shape", "dimension_numbers", "sorted_by", "out_dtype"),
    inline=True,
)
def coo_dot_general(data, indices, rhs, *, shape, dimension_numbers, sorted_by, out_dtype=None):
    """`jax.lax.dot_general` of BCOO buffers and a dense array.

    Args:
      data, indices: buffers of the left side, of `shape`.
      rhs: dense.
      sorted_by: the dimensions by which the entries are sorted, first the batch dimensions, then
        sparse ones from the most significant; padding last in each batch.
      out_dtype: type of the result; None: the promoted type.

    Returns:
      Dense; dimensions as `dot_general` orders them.

    Cost: O(nse * width of rhs), after a grouping of the entries by output row where neither output
    rows nor rows of `rhs` come in order. Nothing of the size of the sparse array is made except the
    result.
    """
    check_dot(shape, data.dtype, rhs, dimension_numbers)
    layout = layout_of(data, indices, shape)
    n_batch, n_stored = len(layout.batch), len(layout.batch) + len(layout.sparse)
    (contract, rhs_contract), (batch, rhs_batch) = dimension_numbers
    if any(d >= n_stored for d in (*contract, *batch)):
        data, indices = dense_to_sparse(data, indices, shape, len(layout.dense))
        return coo_dot_general(
            data,
            indices,
            rhs,
            shape=shape,
            dimension_numbers=dimension_numbers,
            sorted_by=sorted_by,
            out_dtype=out_dtype,
        )
    dtype = _work_dtype(data, rhs, out_dtype)
    if _is_matrix_product(layout, dimension_numbers, dtype):
        out = _matrix_dot(
            data.astype(dtype),
            indices,
            jnp.moveaxis(rhs, rhs_contract[0], 0).astype(dtype),
            shape=shape,
            contract=contract[0],
            sorted_by=sorted_by,
        )
        if out is not None:
            return out if out_dtype is None else out.astype(out_dtype)
    row_dims = (*batch, *(d for d in range(n_stored) if d not in contract and d not in batch))
    column_dims = (*batch, *contract)
    free = [d for d in range(rhs.ndim) if d not in rhs_contract and d not in rhs_batch]
    free_sizes = tuple(rhs.shape[d] for d in free)
    rhs = rhs.transpose(*rhs_batch, *rhs_contract, *free)
    n_columns = math.prod(shape[d] for d in column_dims)
    rhs = rhs.reshape(n_columns, *([math.prod(free_sizes)] if free else []))
    data = jnp.broadcast_to(data, (*layout.batch, *data.shape[n_batch:]))
    data = data.reshape(-1, *([math.prod(layout.dense)] if layout.dense else []))
    rows_in_order = row_dims == sorted_by[: len(row_dims)]
    columns_in_order = column_dims == sorted_by[: len(column_dims)] and not layout.dense
    columns_in_order = columns_in_order and not rows_in_order
    out = coo_dot(
        data.astype(dtype),
        _cells(indices, shape, row_dims, in_order=rows_in_order),
        _cells(indices, shape, column_dims, in_order=columns_in_order),
        rhs.astype(dtype),
        math.prod(shape[d] for d in row_dims),
        in_order="rows" if rows_in_order else "columns" if columns_in_order else None,
    )
    out = out.reshape(*(shape[d] for d in row_dims), *layout.dense, *free_sizes)
    return out if out_dtype is None else out.astype(out_dtype)


def _work_dtype(data, rhs, out_dtype):
    """The type in which products are summed: that of the result, unless it is narrower."""
    dtype = common_dtype(data, rhs)
    if out_dtype is not None and widens(dtype, out_dtype):
        return jax.dtypes.canonicalize_dtype(out_dtype)
    return dtype


def _is_matrix_product(layout, dimension_numbers: DimensionNumbers, dtype) -> bool:
    (contract, _), (batch, _) = dimension_numbers
    is_matrix = not layout.batch and not layout.dense and len(layout.sparse) == 2
    return is_matrix and len(contract) == 1 and not batch and jnp.issubdtype(dtype, jnp.inexact)


def _matrix_dot(data, indices, rhs, *, shape: Shape, contract: int, sorted_by):
    """The product over one dimension of a matrix with `rhs`, whose first dimension it is.

    Gives None where the entries are best grouped by row first.
    """
    if 0 in (*shape, indices.shape[0], *rhs.shape):
        return jnp.zeros((shape[1 - contract], *rhs.shape[1:]), data.dtype)
    (indices,) = as_kernel_index(indices)
    form, columns = form_for(data.dtype), rhs.reshape(rhs.shape[0], -1)
    columns = rhs if rhs.ndim == 1 else columns
    in_order = bool(sorted_by) and sorted_by[0] != contract
    if math.prod(rhs.shape[1:]) <= FEW_COLUMNS:
        sizes = {"n_rows": shape[1 - contract], "row_axis": 1 - contract}
        out = coo_dot_dense(data, indices, columns, **sizes, in_order=in_order, form=form)
    elif in_order:
        turned = shape if contract == 1 else shape[::-1]
        places = coo_to_csr(indices, shape=turned, row_axis=1 - contract)
        out = csr_dot_dense(data, *places, columns, form=form)
    elif sorted_by:
        turned = shape if contract == 0 else shape[::-1]
        places = coo_to_csr(indices, shape=turned, row_axis=contract)
        out = csr_t_dot_dense(data, *places, columns, n_cols=turned[1], form=form)
    else:
        return None
    return out.reshape(shape[1 - contract], *rhs.shape[1:])


def _cells(indices, shape: Shape, dims: Sequence[int], *, in_order: bool):
    """Numbers the cells of `dims` that the entries name: `(entries,)`.

    Padding gets the number of cells; or, `in_order`, the last cell it can have, so that numbers
    still ascend: the other side of the product marks it as padding.
    """
    n_batch = indices.ndim - 2
    batch, sparse = shape[:n_batch], shape[n_batch : n_batch + indices.shape[-1]]
    sizes = [shape[d] for d in dims]
    places = coordinates(indices, batch)
    real = jnp.broadcast_to(in_range(indices, sparse), (*batch, indices.shape[-2]))
    if not in_order:
        return cell_ids([places[d] for d in dims], sizes, real, math.prod(sizes))
    clipped = [jnp.clip(places[d], 0, max(shape[d] - 1, 0)) for d in dims]
    return cell_ids(clipped, sizes, jnp.ones_like(real), 0)


def coo_dot(data, rows, columns, rhs, n_rows: int, *, in_order: str | None):
    """Adds up `data[e] * rhs[columns[e]]` in row `rows[e]`.

    Args:
      data: `(nse,)` or `(nse, d)`.
      rows: `(nse,)`, integer.
      columns: `(nse,)`, integer. An entry whose row is `n_rows` or whose column is the number of
        columns is padding.
      rhs: `(columns,)` or `(columns, k)`, dtype of `data`.
      n_rows: how many rows there are.
      in_order: "rows" or "columns" if those ascend, the latter only for `data` of one dimension.

    Returns:
      `(n_rows,)` followed by `d` and `k` where they are there.
    """
    tail = (*data.shape[1:], *rhs.shape[1:])
    if 0 in (n_rows, rows.shape[0], rhs.shape[0], *tail):
        return jnp.zeros((n_rows, *tail), data.dtype)
    if not jnp.issubdtype(data.dtype, jnp.inexact):
        return _exact_coo_dot(data, rows, columns, rhs, n_rows)
    rows, columns = as_kernel_index(rows, columns)
    form = form_for(data.dtype)
    if in_order == "columns":
        indptr = row_starts(columns, rhs.shape[0])
        return csr_t_dot_dense(data, rows, indptr, rhs, n_cols=n_rows, form=form)
    if in_order is None:
        order = group_rows(rows, n_rows=n_rows, capacity=0).order
        rows, columns, data = rows[order], columns[order], data[order]
    indptr = row_starts(rows, n_rows)
    if data.ndim == 1:
        return csr_dot_dense(data, columns, indptr, rhs, form=form)
    position = lax.iota(columns.dtype, rows.shape[0])
    position = jnp.where(columns < rhs.shape[0], position, rows.shape[0])
    taken = take_rows(rhs, columns, form=form)
    if rhs.ndim == 1:
        return csr_dot_dense(taken, position, indptr, data, form=form)
    products = (data[:, :, None] * taken[:, None, :]).reshape(rows.shape[0], -1)
    ones = jnp.ones(rows.shape[0], data.dtype)
    out = csr_dot_dense(ones, position, indptr, products, form=form)
    return out.reshape(n_rows, *tail)


def _exact_coo_dot(data, rows, columns, rhs, n_rows: int):
    """The same for integers and bool, which no float may round."""
    dtype = data.dtype
    if jnp.issubdtype(dtype, jnp.bool_):
        data, rhs = data.astype(jnp.int32), rhs.astype(jnp.int32)
    taken = rhs.at[columns].get(mode="fill", fill_value=0, wrap_negative_indices=False)
    left = data.reshape(*data.shape, *(1,) * (rhs.ndim - 1))
    right = taken.reshape(taken.shape[0], *(1,) * (data.ndim - 1), *taken.shape[1:])
    out = jnp.zeros((n_rows, *data.shape[1:], *rhs.shape[1:]), data.dtype)
    out = out.at[rows].add(left * right, mode="drop", wrap_negative_indices=False)
    return out.astype(dtype)


@partial(
    jax.jit,
    static_argnames=("shape", "dimension_numbers", "sorted_by", "out_dtype"),
    inline=True,
)
def dense_dot_general_coo(
    lhs, data, indices, *, shape, dimension_numbers, sorted_by, out_dtype=None
):
    """`jax.lax.dot_general` of a dense array and BCOO buffers; as `coo_dot_general`."""
    (contract, rhs_contract), (batch, rhs_batch) = dimension_numbers
    check_dot(lhs.shape, lhs.dtype, jax.ShapeDtypeStruct(shape, data.dtype), dimension_numbers)
    out = coo_dot_general(
        data,
        indices,
        lhs,
        shape=shape,
        dimension_numbers=((rhs_contract, contract), (rhs_batch, batch)),
        sorted_by=sorted_by,
        out_dtype=out_dtype,
    )
    return _swap_free(out, len(batch), lhs.ndim - len(batch) - len(contract))


def _swap_free(out, n_batch: int, n_last: int):
    """Moves the last `n_last` axes of a product in front of the free axes of the other operand."""
    axes = range(out.ndim)
    last = axes[out.ndim - n_last :]
    return out.transpose(*axes[:n_batch], *last, *axes[n_batch : out.ndim - n_last])


@partial(jax.jit, static_argnames="shape", inline=True)
def csr_dot(data, indices, indptr, rhs, *, shape):
    """`(m, n) csr @ (n, *k)`, any dtype."""
    data, rhs = _promote(data, rhs)
    indices, indptr = as_kernel_index(indices, indptr)
    if not jnp.issubdtype(data.dtype, jnp.inexact):
        rows = row_of_entry(indptr, indices.shape[0])
        return _exact_coo_dot(data, rows, indices, rhs, shape[0])
    if 0 in (*shape, indices.shape[0], *rhs.shape):
        return jnp.zeros((shape[0], *rhs.shape[1:]), data.dtype)
    return csr_dot_dense(data, indices, indptr, rhs, form=form_for(data.dtype))


@partial(jax.jit, static_argnames="shape", inline=True)
def csr_t_dot(data, indices, indptr, rhs, *, shape):
    """`(m, n) csr transposed @ (m, *k)`, dense result `(n, *k)`, any dtype."""
    data, rhs = _promote(data, rhs)
    indices, indptr = as_kernel_index(indices, indptr)
    if not jnp.issubdtype(data.dtype, jnp.inexact):
        rows = row_of_entry(indptr, indices.shape[0])
        return _exact_coo_dot(data, indices, rows, rhs, shape[1])
    if 0 in (*shape, indices.shape[0], *rhs.shape):
        return jnp.zeros((shape[1], *rhs.shape[1:]), data.dtype)
    return csr_t_dot_dense(data, indices, indptr, rhs, n_cols=shape[1], form=form_for(data.dtype))


def _promote(data, rhs):
    dtype = common_dtype(data, rhs)
    return data.astype(dtype), rhs.astype(dtype)


@partial(jax.jit, static_argnames=("shape", "dimension_numbers", "out_dtype"), inline=True)
def csr_dot_general(data, indices, indptr, rhs, *, shape, dimension_numbers, out_dtype=None):
    """`jax.lax.dot_general` of BCSR buffers and a dense array.

    A product over the columns or the rows goes straight to the primitives, batches as one block
    matrix; anything else goes through coordinates.

    Args:
      data, indices, indptr: buffers of the left side, of `shape`.
      rhs: dense.
      out_dtype: type of the result; None: the promoted type.

    Returns:
      Dense; dimensions as `dot_general` orders them.
    """
    check_dot(shape, data.dtype, rhs, dimension_numbers)
    n_batch, n_dense = indices.ndim - 1, data.ndim - indices.ndim
    (contract, rhs_contract), (batch, rhs_batch) = dimension_numbers
    is_direct = (
        n_dense == 0
        and contract in ((n_batch,), (n_batch + 1,))
        and batch in ((), tuple(range(n_batch)))
    )
    if not is_direct:
        coordinates = csr_coordinates(indices, indptr, shape=shape)
        return coo_dot_general(
            data,
            coordinates,
            rhs,
            shape=shape,
            dimension_numbers=dimension_numbers,
            sorted_by=tuple(range(n_batch)),
            out_dtype=out_dtype,
        )
    dtype = _work_dtype(data, rhs, out_dtype)
    data, rhs = data.astype(dtype), rhs.astype(dtype)
    m, n = shape[n_batch:]
    over_rows = contract == (n_batch,)
    free = [d for d in range(rhs.ndim) if d not in rhs_contract and d not in rhs_batch]
    sizes = [rhs.shape[d] for d in free]
    rhs = rhs.transpose(*rhs_batch, *rhs_contract, *free)
    width = [math.prod(sizes)] if free else []
    if n_batch == 0:
        product = csr_t_dot if over_rows else csr_dot
        out = product(data, indices, indptr, rhs.reshape(rhs.shape[0], *width), shape=(m, n))
    else:
        out = _block_dot(data, indices, indptr, rhs, width, shape, over_rows, bool(batch))
    out = out.reshape(*shape[:n_batch], n if over_rows else m, *sizes)
    return out if out_dtype is None else out.astype(out_dtype)


def _block_dot(data, indices, indptr, rhs, width, shape, over_rows: bool, rhs_is_batched: bool):
    """The product of batched csr with a dense array, as that of one block matrix.

    The blocks lie on the diagonal, or below one another where all batches share `rhs`.
    """
    n_batch = indices.ndim - 1
    batch, (m, n) = shape[:n_batch], shape[n_batch:]
    n_blocks, nse = math.prod(batch), indices.shape[-1]
    indices, indptr = as_kernel_index(indices, indptr)
    dtype = index_dtype_for(n_blocks * max(m, n), n_blocks * nse)
    data = jnp.broadcast_to(data, (*batch, nse)).reshape(-1)
    indices = jnp.broadcast_to(indices, (*batch, nse)).reshape(n_blocks, nse).astype(dtype)
    indptr = jnp.broadcast_to(indptr, (*batch, m + 1)).reshape(n_blocks, m + 1).astype(dtype)
    block = lax.iota(dtype, n_blocks)[:, None]
    slots = lax.iota(dtype, nse)[None, :]
    real = (indices >= 0) & (indices < n) & (slots < indptr[:, -1:])
    diagonal = over_rows or rhs_is_batched
    columns = n_blocks * n if diagonal else n
    indices = jnp.where(real, indices + block * n if diagonal else indices, columns).reshape(-1)
    # The slots after the last entry of a block fall to its last row, where they are padding.
    starts = (indptr[:, :-1] + block * nse).reshape(-1)
    indptr = jnp.concatenate([starts, jnp.full(1, n_blocks * nse, dtype)])
    if rhs_is_batched or not over_rows:
        rhs = rhs.reshape(-1, *width)
    else:
        rhs = jnp.broadcast_to(rhs.reshape(m, *width), (n_blocks, m, *width))
        rhs = rhs.reshape(n_blocks * m, *width)
    product = csr_t_dot if over_rows else csr_dot
    return product(data, indices, indptr, rhs, shape=(n_blocks * m, columns))


@partial(jax.jit, static_argnames=("shape", "dimension_numbers", "out_dtype"), inline=True)
def dense_dot_general_csr(lhs, data, indices, indptr, *, shape, dimension_numbers, out_dtype=None):
    """`jax.lax.dot_general` of a dense array and BCSR buffers; as `csr_dot_general`."""
    (contract, rhs_contract), (batch, rhs_batch) = dimension_numbers
    check_dot(lhs.shape, lhs.dtype, jax.ShapeDtypeStruct(shape, data.dtype), dimension_numbers)
    out = csr_dot_general(
        data,
        indices,
        indptr,
        lhs,
        shape=shape,
        dimension_numbers=((rhs_contract, contract), (rhs_batch, batch)),
        out_dtype=out_dtype,
    )
    return _swap_free(out, len(batch), lhs.ndim - len(batch) - len(contract))
