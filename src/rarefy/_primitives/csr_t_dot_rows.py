"""The product csr.T @ dense, into the rows that have entries."""

import jax
from jax import lax
from jax import numpy as jnp
from jax.interpreters import ad, batching

from rarefy._primitives._batching import one_by_one
from rarefy._primitives._define import Form, bind, define, float_values, like, public
from rarefy._primitives._entries import (
    accumulator,
    check_csr,
    check_dense,
    check_dtypes,
    rows_of_entries,
    scale_rows,
    sum_rows,
    take_or_zero,
)


@public()
def csr_t_dot_rows(data, indptr, order, starts, dense, *, form: Form = "auto") -> jax.Array:
    """Multiplies a transposed CSR matrix by a dense one, where its entries are grouped by column.

    Args:
      data: `(nse,)`: float16, bfloat16, float32 or float64; other types use the XLA form.
      indptr: `(m + 1,)`, int32 or int64, non-decreasing, m below 2**31. Entries from `indptr[-1]`
        on are padding.
      order: `(nse,)`, int32: the entries, group by group, as `group_rows` gives it on the columns.
      starts: `(capacity + 1,)`, int32, non-decreasing: group i is `order[starts[i]:starts[i + 1]]`.
      dense: `(m, *k)`, same dtype as `data`.
      form: which implementation to use.

    Returns:
      `(capacity, *k)`, dtype of `data`: at i the sum over the entries e of group i of
      `data[e] * dense[row of e]`; zeros for an empty group. 16-bit floats are summed in float32.
      The bits of the kernel are those of `csr_dot_dense` on the transposed matrix, for any number
      of threads.

    Raises:
      ValueError: shapes do not agree.
      TypeError: `data` and `dense` differ in dtype, or an index array has another than named.

    Cost: O(nse * k + m + capacity * k), however many columns the matrix has.
    """
    return bind("csr_t_dot_rows", data, indptr, order, starts, dense, form=form)


def _csr_t_dot_rows_xla(data, indptr, order, starts, dense):
    nse, m, capacity = data.shape[0], dense.shape[0], starts.shape[0] - 1
    group = jnp.searchsorted(starts, lax.iota(starts.dtype, nse), side="right") - 1
    is_entry = (order >= 0) & (order < nse) & (group >= 0) & (group < capacity)
    row = take_or_zero(rows_of_entries(indptr, nse), order, is_entry)
    is_real = is_entry & (row >= 0) & (row < m)
    weights = take_or_zero(data, order, is_real)
    taken = take_or_zero(dense, row, is_real)
    products = scale_rows(weights, taken, accumulator(data.dtype))
    return sum_rows(products, group, is_real, capacity, data.dtype)


def _csr_t_dot_rows_abstract(data, indptr, order, starts, dense):
    check_csr("csr_t_dot_rows", order.update(dtype=indptr.dtype), indptr, data)
    check_dtypes("csr_t_dot_rows", data, dense)
    check_dense("csr_t_dot_rows", dense, indptr.shape[0] - 1, "the matrix")
    if starts.ndim != 1 or starts.shape[0] == 0:
        raise ValueError(f"csr_t_dot_rows: starts must be (capacity + 1,), got {starts.shape}")
    if order.dtype != jnp.int32 or starts.dtype != jnp.int32:
        raise TypeError(
            f"csr_t_dot_rows: order and starts must be int32, got {order.dtype} and {starts.dtype}"
        )
    if dense.shape[0] >= 2**31:
        raise ValueError(f"csr_t_dot_rows: at most 2**31 - 1 rows, got {dense.shape[0]}")
    return like(dense, (starts.shape[0] - 1, *dense.shape[1:]), data.dtype)


def _csr_t_dot_rows_jvp_data(tangent, data, indptr, order, starts, dense, *, form):
    return bind("csr_t_dot_rows", tangent, indptr, order, starts, dense, form=form)


def _csr_t_dot_rows_jvp_dense(tangent, data, indptr, order, starts, dense, *, form):
    return bind("csr_t_dot_rows", data, indptr, order, starts, tangent, form=form)


def _csr_t_dot_rows_transpose(cotangent, data, indptr, order, starts, dense, *, form):
    operand = data if ad.is_undefined_primal(data) else dense
    if type(cotangent) is ad.Zero:
        out = ad.Zero(operand.aval)
    else:  # with the group as its column, an entry stands in an ordinary csr matrix
        groups = _group_of_entries(order, starts).astype(indptr.dtype)
        if operand is data:
            out = bind("csr_sample_dot", groups, indptr, dense, cotangent, form=form)
        else:
            out = bind("csr_dot_dense", data, groups, indptr, cotangent, form=form)
    return tuple(out if x is operand else None for x in (data, indptr, order, starts, dense))


def _group_of_entries(order, starts):
    """The group of each entry, the number of groups for an entry of none."""
    (nse,), capacity = order.shape, starts.shape[0] - 1
    group = jnp.searchsorted(starts, lax.iota(starts.dtype, nse), side="right") - 1
    group = jnp.where(group < 0, capacity, group).astype(jnp.int32)
    place = jnp.where(order < 0, nse, order)
    return jnp.full(nse, capacity, jnp.int32).at[place].set(group, mode="drop")


def _csr_t_dot_rows_batch(args, dims, *, form):
    if dims[:4] != (None,) * 4:
        return one_by_one(csr_t_dot_rows_p)(args, dims, form=form)
    dense = jnp.moveaxis(args[4], dims[4], 1)  # the batch becomes part of the columns
    return bind("csr_t_dot_rows", *args[:4], dense, form=form), 1


csr_t_dot_rows_p = define(
    "csr_t_dot_rows",
    abstract=_csr_t_dot_rows_abstract,
    xla=_csr_t_dot_rows_xla,
    supports=float_values(0, 4),
)
ad.defjvp(csr_t_dot_rows_p, _csr_t_dot_rows_jvp_data, None, None, None, _csr_t_dot_rows_jvp_dense)
ad.primitive_transposes[csr_t_dot_rows_p] = _csr_t_dot_rows_transpose
batching.primitive_batchers[csr_t_dot_rows_p] = _csr_t_dot_rows_batch
