"""What may be done to the tangent of a table: reads of rows, and changes of each row on its own.

A read gives the ids of the rows that it reads; with tangents `(m, *d)` for those rows in place of
the table's, it computes what the equation computes. A change of each row is only noted.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp
from jax.lax import GatherDimensionNumbers, GatherScatterMode

from rarefy._primitives.coo_dot_dense import coo_dot_dense
from rarefy._primitives.csr_dot_dense import csr_dot_dense
from rarefy._primitives.csr_sample_dot import csr_sample_dot
from rarefy._primitives.csr_t_dot_dense import csr_t_dot_dense
from rarefy._primitives.group_rows import RowGroups, group_rows
from rarefy.sparse._index import as_kernel_index, index_dtype_for, row_of_entry
from rarefy.sparse._row_grad._blame import DenseUse
from rarefy.sparse._row_grad._table import Table


class Found(NamedTuple):
    """The rows that a read reads, and what `Read.again` needs to know of them."""

    ids: jax.Array
    residuals: tuple[jax.Array, ...] = ()
    canonical: bool = False


class Read(NamedTuple):
    """An equation that reads rows of a table.

    Attributes:
      table: what is read.
      find: gives the rows.
      again: `(rows, *residuals)` to the equation's result, linear in `rows`, `(m, *e)`.
    """

    table: Table
    find: Callable[[], Found]
    again: Callable[..., jax.Array]


def read_or_view(eqn: Any, ins: Sequence[Any]) -> Read | Table:
    """Understands an equation that takes a table.

    Raises:
      DenseUse: it can not be done by rows.
    """
    rule = RULES.get(eqn.primitive.name)
    found = None if rule is None else rule(eqn, *ins)
    if found is None:
        leaf = next(x.leaf for x in ins if isinstance(x, Table))
        raise DenseUse(leaf, eqn)
    return found


# Reads by index.


def _gather(eqn, table, indices):
    numbers: GatherDimensionNumbers = eqn.params["dimension_numbers"]
    sizes, mode = eqn.params["slice_sizes"], eqn.params["mode"]
    n, window = table.shape[0], sizes[0]
    # A window of all rows is a dense use, and a batch over a column has no gather of its own here.
    if numbers.operand_batching_dims or (window == n and n > 1) or window == 0:
        return None
    batch = indices.shape[:-1]
    others = [k for k, d in enumerate(numbers.start_index_map) if d != 0]

    def find():
        start = jnp.zeros(batch, index_dtype_for(n))
        if 0 in numbers.start_index_map:
            start = indices[..., numbers.start_index_map.index(0)]
        return Found(_window_ids(start, window, n, clip=mode == GatherScatterMode.CLIP))

    def again(rows):
        rows = rows.reshape(*batch, window, *rows.shape[1:])
        first = len(batch)
        collapsed = tuple(first + d for d in numbers.collapsed_slice_dims)
        if not others and tuple(sizes[1:]) == table.shape[1:]:
            out = lax.squeeze(rows, collapsed)
        else:  # the other axes are indexed in each row's own element of the batch
            axes = tuple(range(first))
            out = lax.gather(
                rows,
                indices[..., np.asarray(others, int)],
                GatherDimensionNumbers(
                    offset_dims=tuple(range(first, first + len(numbers.offset_dims))),
                    collapsed_slice_dims=collapsed,
                    start_index_map=tuple(first + numbers.start_index_map[k] for k in others),
                    operand_batching_dims=axes,
                    start_indices_batching_dims=axes,
                ),
                slice_sizes=(*(1,) * first, *sizes),
                mode=mode,
                fill_value=0,
            )
        batch_first = [d for d in range(out.ndim) if d not in numbers.offset_dims]
        order = [*batch_first, *numbers.offset_dims]
        return out.transpose(np.argsort(order)) if out.ndim else out

    return Read(table, find, again)


def _window_ids(start, window: int, n: int, *, clip: bool):
    """The rows of the windows that begin at `start`; outside the table for a window that hangs over.

    Read back, JAX drops such a window in every mode but clip.
    """
    dtype = np.promote_types(start.dtype, index_dtype_for(n))
    (start,) = as_kernel_index(start.astype(dtype))
    last = max(n - window, 0)
    if clip:
        start = jnp.clip(start, 0, last)
    else:
        start = jnp.where((start >= 0) & (start <= last), start, n)
    if window == 1:
        return start.reshape(-1)
    ids = start[..., None] + lax.iota(start.dtype, window)
    return jnp.minimum(ids, n).reshape(-1)


def _dynamic_slice(eqn, table, *starts):
    sizes, n = eqn.params["slice_sizes"], table.shape[0]
    if (sizes[0] == n and n > 1) or sizes[0] == 0:
        return None

    def find():
        return Found(_window_ids(starts[0], sizes[0], n, clip=True))

    def again(rows):
        if tuple(sizes[1:]) == table.shape[1:]:
            return rows
        begin = (jnp.zeros_like(starts[0]), *starts[1:])
        return lax.dynamic_slice(rows, begin, sizes)

    return Read(table, find, again)


def _slice(eqn, table):
    start, limit = eqn.params["start_indices"], eqn.params["limit_indices"]
    strides = eqn.params["strides"] or (1,) * len(start)

    def columns(rows):
        begin, end = (0, *start[1:]), (rows.shape[0], *limit[1:])
        return lax.slice(rows, begin, end, (1, *strides[1:]))

    ids = np.arange(start[0], limit[0], strides[0], dtype=index_dtype_for(table.shape[0]))
    if len(ids) == table.shape[0]:
        return table.seen_as(columns, eqn.outvars[0].aval.shape)
    return Read(table, lambda: Found(jnp.asarray(ids), canonical=True), columns)


def _squeeze(eqn, table):
    dimensions = eqn.params["dimensions"]
    if 0 not in dimensions:
        view = lambda rows: lax.squeeze(rows, dimensions)  # noqa: E731
        return table.seen_as(view, eqn.outvars[0].aval.shape)
    only = jnp.zeros(1, index_dtype_for(1))  # a table of one row
    return Read(table, lambda: Found(only, canonical=True), lambda x: lax.squeeze(x, dimensions))


def _take_rows(eqn, table, rows):
    return Read(table, lambda: Found(rows), lambda taken: taken)


# Reads by a product.


def _groups(ids, limit, n: int) -> RowGroups:
    (ids,) = as_kernel_index(ids.astype(np.promote_types(ids.dtype, index_dtype_for(n))))
    return group_rows(ids, limit, n_rows=n, capacity=min(ids.shape[0], n))


def _by_column(indices, indptr, n: int) -> Found:
    """The rows that the columns of a csr matrix name, and its columns numbered among those."""
    groups = _groups(indices, indptr[-1], n)
    return Found(groups.rows, (groups.inverse.astype(indices.dtype),), canonical=True)


def _by_row(indices, indptr) -> Found:
    """The rows of a csr matrix that have entries, and its `indptr` without the others."""
    m = indptr.shape[0] - 1
    groups = _groups(row_of_entry(indptr, indices.shape[0]), indptr[-1], m)
    return Found(groups.rows, (groups.starts.astype(indptr.dtype),), canonical=True)


def _csr_dot_dense(eqn, data, indices, indptr, table):
    if not isinstance(table, Table):
        return None
    return Read(
        table,
        lambda: _by_column(indices, indptr, table.shape[0]),
        lambda rows, columns: csr_dot_dense(data, columns, indptr, rows, **eqn.params),
    )


def _csr_t_dot_dense(eqn, data, indices, indptr, table):
    if not isinstance(table, Table):
        return None
    return Read(
        table,
        lambda: _by_row(indices, indptr),
        lambda rows, starts: csr_t_dot_dense(data, indices, starts, rows, **eqn.params),
    )


def _coo_dot_dense(eqn, data, indices, table):
    if not isinstance(table, Table):
        return None
    row_axis, n = eqn.params["row_axis"], table.shape[0]
    row = indices[:, row_axis]

    def find():
        is_real = (row >= 0) & (row < eqn.params["n_rows"])
        columns = jnp.where(is_real, indices[:, 1 - row_axis], n)
        groups = _groups(columns, columns.shape[0], n)
        return Found(groups.rows, (groups.inverse.astype(indices.dtype),), canonical=True)

    def again(rows, columns):
        pair = (row, columns) if row_axis == 0 else (columns, row)
        return coo_dot_dense(data, jnp.stack(pair, axis=-1), rows, **eqn.params)

    return Read(table, find, again)


def _csr_sample_dot(eqn, indices, indptr, lhs, rhs):
    if isinstance(rhs, Table):
        return Read(
            rhs,
            lambda: _by_column(indices, indptr, rhs.shape[0]),
            lambda rows, columns: csr_sample_dot(columns, indptr, lhs, rows, **eqn.params),
        )
    return Read(
        lhs,
        lambda: _by_row(indices, indptr),
        lambda rows, starts: csr_sample_dot(indices, starts, rows, rhs, **eqn.params),
    )


# Changes of each row.


def _convert(eqn, table):
    dtype = eqn.params["new_dtype"]
    return table.seen_as(lambda rows: rows.astype(dtype), table.shape)


def _reshape(eqn, table):
    sizes = tuple(eqn.params["new_sizes"])
    if eqn.params.get("dimensions") is not None or not sizes or sizes[0] != table.shape[0]:
        return None
    return table.seen_as(lambda rows: rows.reshape(rows.shape[0], *sizes[1:]), sizes)


def _transpose(eqn, table):
    permutation = eqn.params["permutation"]
    if permutation[0] != 0:
        return None
    return table.seen_as(lambda rows: rows.transpose(permutation), eqn.outvars[0].aval.shape)


def _broadcast_in_dim(eqn, table):
    shape, where = eqn.params["shape"], eqn.params["broadcast_dimensions"]
    if not where or where[0] != 0 or shape[0] != table.shape[0]:
        return None
    return table.seen_as(
        lambda rows: lax.broadcast_in_dim(rows, (rows.shape[0], *shape[1:]), where), shape
    )


def _same(eqn, table):
    return table


def _pvary(eqn, table):
    return table.summed(tuple(eqn.params["axes"]))


RULES: dict[str, Callable[..., Read | Table | None]] = {
    "gather": _gather,
    "dynamic_slice": _dynamic_slice,
    "slice": _slice,
    "squeeze": _squeeze,
    "take_rows": _take_rows,
    "coo_dot_dense": _coo_dot_dense,
    "csr_dot_dense": _csr_dot_dense,
    "csr_t_dot_dense": _csr_t_dot_dense,
    "csr_sample_dot": _csr_sample_dot,
    "convert_element_type": _convert,
    "reshape": _reshape,
    "transpose": _transpose,
    "broadcast_in_dim": _broadcast_in_dim,
    "copy": _same,
    "copy_p": _same,
    "sharding_constraint": _same,
    "pvary": _pvary,
}
"""By the primitive's name: the equation and its inputs to what it is, None for a dense use."""
