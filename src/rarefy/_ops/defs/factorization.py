"""Factorization machines."""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from rarefy._ops.defs._ids import as_ids, require_ids
from rarefy._ops.defs._numbers import require_same_dtype
from rarefy._ops.opdef import operator
from rarefy._ops.places import row_of_entry, rows_of, with_data, with_stored
from rarefy._ops.storage import count_stored, is_traced, to_dense, zeros_of
from rarefy._primitives.csr_dot_dense import csr_dot_dense
from rarefy._primitives.csr_sample_dot import csr_sample_dot
from rarefy._primitives.csr_t_dot_rows import csr_t_dot_rows
from rarefy._primitives.group_rows import RowGroups, group_rows
from rarefy._primitives.take_rows import take_rows
from rarefy.sparse import BCOO, BCSR
from rarefy.sparse._capacity import capacity
from rarefy.sparse._row_sparse import stored_places


def _columns(data: BCSR) -> RowGroups:
    n = data.shape[1]
    slots = capacity(min(data.nse, n), n)
    return group_rows(data.indices, data.indptr[-1], n_rows=n, capacity=slots)


@operator("factorization_machine")
def factorization_machine(data, v):
    """Computes the pairwise term of a factorization machine.

    For each row x it is `0.5 * sum_f ((sum_i v[i, f] x[i])^2 - sum_i v[i, f]^2 x[i]^2)`, which is the
    sum over all pairs of features of `(v[i] . v[j]) x[i] x[j]`.

    Args:
      data: csr `(b, n)`, floating (dense works too).
      v: `(n, factors)`, dtype of `data`, dense or row_sparse: a vector for each feature.

    Returns:
      `(b, 1)`, dense. The gradient of `v` is row_sparse where that is asked for; neither way reads or
      writes rows of `v` whose feature does not occur in `data`.

    Raises:
      MXNetError: shapes or dtypes do not fit.

    Cost: O(nnz * factors), forward and backward.
    Source: Rendle, Factorization Machines (2010), equation 5.
    """
    _check(data, v)
    total = data @ v
    squares = (data * data) @ (v * v)
    return 0.5 * (total * total - squares).sum(axis=1, keepdims=True)


def _check(data, v) -> None:
    require_same_dtype(data, v)
    if len(data.shape) != 2 or v.ndim != 2 or data.shape[1] != v.shape[0]:
        raise ValueError(
            f"data must be (b, n) and v (n, factors); got {tuple(data.shape)} and {tuple(v.shape)}"
        )


@factorization_machine.rule("csr", "row_sparse", out="default")
@factorization_machine.rule("csr", "default", out="default")
def _(data, v):
    _check(data, v)
    groups = _columns(data)
    rows = _vectors(v, groups)
    total = csr_dot_dense(data.data, groups.inverse, data.indptr.astype(jnp.int32), rows)
    norms = (rows * rows).sum(axis=1)
    squares = data.data * data.data
    diagonal = csr_dot_dense(squares, groups.inverse, data.indptr.astype(jnp.int32), norms)
    return (0.5 * ((total * total).sum(axis=1) - diagonal))[:, None]


def _vectors(v, groups: RowGroups):
    """The vectors of the features that occur; zeros where a row_sparse table stores none."""
    if not isinstance(v, BCOO):
        return take_rows(v, groups.rows)
    if v.nse == 0:  # XLA gathers nothing from an axis without any
        return jnp.zeros((groups.rows.shape[0], *v.shape[1:]), v.dtype)
    return take_rows(v.data, stored_places(rows_of(v), groups.rows, v.shape[0]))


@factorization_machine.gradient("csr", "row_sparse")
@factorization_machine.gradient("csr", "default")
def _(want, inputs, output, cotangent):
    data, v = inputs
    g = to_dense(cotangent)[:, 0]
    indptr = data.indptr.astype(jnp.int32)
    groups = _columns(data)
    rows = _vectors(v, groups)
    total = csr_dot_dense(data.data, groups.inverse, indptr, rows)
    left = right = None
    if want[1] is not None:
        right = _factor_gradient(data, groups, rows, total, g)
        right = BCOO._trusted(
            right, groups.rows[:, None], v.shape, indices_sorted=True, unique_indices=True
        )
        if want[1] != "row_sparse":
            right = right.todense()
    if want[0] is not None:
        left = _data_gradient(want[0], data, v, groups, rows, total, g)
    return left, right


def _factor_gradient(data: BCSR, groups: RowGroups, rows, total, g):
    """For feature j: `sum_r g[r] x[r, j] total[r] - v[j] sum_r g[r] x[r, j]^2`."""
    indptr = data.indptr.astype(jnp.int32)
    order, starts = groups.order, groups.starts
    first = csr_t_dot_rows(data.data, indptr, order, starts, total * g[:, None])
    second = csr_t_dot_rows(data.data * data.data, indptr, order, starts, g)
    return first - rows * second[:, None]


def _data_gradient(want, data: BCSR, v, groups: RowGroups, rows, total, g):
    """For an element (r, j): `g[r] (v[j] . total[r] - x[r, j] |v[j]|^2)`."""
    weighted = total * g[:, None]
    indptr = data.indptr.astype(jnp.int32)
    norms = take_rows((rows * rows).sum(axis=1), groups.inverse)
    of_row = take_rows(g, row_of_entry(data))
    own = data.data * norms * of_row
    if want == "csr":
        sampled = csr_sample_dot(groups.inverse, indptr, weighted, rows)
        return with_stored(data, sampled - own)
    return weighted @ to_dense(v).T - with_data(data, own).todense()


def _check_fields(values, params) -> None:
    data, table, fields = values
    if any(map(is_traced, values)):
        return
    ids = np.asarray(fields)
    if isinstance(data, BCSR) and ids.ndim == 1 and ids.size == data.shape[1]:
        ids = ids[np.asarray(data.indices)[: count_stored(data)]]  # of features that occur
    n_fields = params["n_fields"] if "n_fields" in params else table.shape[1]
    require_ids("fields", ids, n_fields, "fields")


@operator("field_aware_factorization_machine", check=_check_fields)
def field_aware_factorization_machine(data, v, fields):
    """Computes the pairwise term of a field-aware factorization machine.

    Each feature has a field, and a vector for every field. For each row x the term is the sum over all
    pairs of features i < j of `(v[i, fields[j]] . v[j, fields[i]]) x[i] x[j]`.

    Args:
      data: csr `(b, n)`, floating (dense works too).
      v: `(n, n_fields, factors)`, dtype of `data`, dense or row_sparse.
      fields: `(n,)`, any numeric dtype: the field of each feature.

    Returns:
      `(b, 1)`, dense. The gradient of `v` is row_sparse where that is asked for; neither way reads or
      writes rows of `v` whose feature does not occur in `data`.

    Raises:
      MXNetError: shapes or dtypes do not fit, or a field of a feature that occurs is out of range.

    Cost: O(nnz * n_fields * factors + b * n_fields^2 * factors), forward and backward: for each row
    the vectors are added up by the field of the feature and the field that they are for.
    Source: Juan, Zhuang, Chin and Lin, Field-aware Factorization Machines for CTR Prediction (2016).
    """
    _check_field_aware(data, v, fields)
    belongs = fields[:, None] == jnp.arange(v.shape[1]).astype(fields.dtype)
    by_field = jnp.einsum("bi,if,igk->bfgk", data, belongs.astype(v.dtype), v)
    pairs = (by_field * jnp.swapaxes(by_field, 1, 2)).sum(axis=(1, 2, 3))
    own = jnp.einsum("if,ifk->ik", belongs.astype(v.dtype), v)
    return 0.5 * (pairs - (data * data) @ (own * own).sum(axis=1))[:, None]


def _check_field_aware(data, v, fields) -> None:
    require_same_dtype(data, v)
    if len(data.shape) != 2 or v.ndim != 3 or data.shape[1] != v.shape[0]:
        raise ValueError(
            "data must be (b, n) and v (n, n_fields, factors); got "
            f"{tuple(data.shape)} and {tuple(v.shape)}"
        )
    if tuple(fields.shape) != (data.shape[1],):
        raise ValueError(f"fields must have shape {(data.shape[1],)}; got {tuple(fields.shape)}")


class _Cells(NamedTuple):
    """A batch with its entries in the order of row and field: a csr matrix of `b * n_fields` rows.

    Attributes:
      groups: the features that occur.
      field: `(features,)`: their fields.
      position: `(nse,)`: where in the new order each entry stands.
      x: `(nse,)`: the entries in the new order.
      feature: `(nse,)`: their features, as positions in `groups.rows`.
      indptr: `(b * n_fields + 1,)`: where a row and field begins.
    """

    groups: RowGroups
    field: Any
    position: Any
    x: Any
    feature: Any
    indptr: Any

    def sums(self, rows):
        """For each row and field the sum of the rows of its features, `(b * n_fields, *d)`."""
        return csr_dot_dense(self.x, self.feature, self.indptr, rows)

    def gradient(self, g):
        """What the cotangent of `sums` says of the row of each feature, `(features, *d)`."""
        order = self.position[self.groups.order]
        return csr_t_dot_rows(self.x, self.indptr, order, self.groups.starts, g)

    def sampled(self, g, rows):
        """What it says of each entry, `(nse,)`."""
        return csr_sample_dot(self.feature, self.indptr, g, rows)[self.position]


def _cells(data: BCSR, fields, n_fields: int) -> _Cells:
    b = data.shape[0]
    groups = _columns(data)
    field = as_ids(fields, n_fields).at[groups.rows].get(mode="fill", fill_value=0)
    of_entry = field.at[groups.inverse].get(mode="fill", fill_value=0)
    dtype = np.int32 if b * n_fields < 2**31 else np.int64
    cell = row_of_entry(data).astype(dtype) * n_fields + of_entry.astype(dtype)
    slots = min(data.nse, b * n_fields)
    order = group_rows(cell, data.indptr[-1], n_rows=b * n_fields, capacity=slots).order
    counts = jnp.zeros(b * n_fields + 1, jnp.int32).at[cell + 1].add(1, mode="drop")
    position = jnp.zeros_like(order).at[order].set(jnp.arange(order.shape[0], dtype=order.dtype))
    return _Cells(
        groups=groups,
        field=field,
        position=position,
        x=data.data[order],
        feature=groups.inverse[order],
        indptr=jnp.cumsum(counts, dtype=jnp.int32),
    )


class _ByField(NamedTuple):
    """What is computed of a batch for a field-aware machine.

    Attributes:
      cells: the batch.
      rows: `(features, n_fields, factors)`: the vectors of the features that occur.
      own: `(features, factors)`: of these the ones for the own field.
      sums: `(b, n_fields, n_fields, factors)`: for each row and field the vectors added up.
    """

    cells: _Cells
    rows: Any
    own: Any
    sums: Any


def _has_nothing(data: BCSR, n_fields: int) -> bool:
    """Whether there is no element; XLA gathers nothing from an axis without any."""
    return 0 in (data.nse, *data.shape, n_fields)


def _by_field(data: BCSR, v, fields) -> _ByField:
    cells = _cells(data, fields, v.shape[1])
    rows = _vectors(v, cells.groups)
    own = jnp.take_along_axis(rows, cells.field[:, None, None], axis=1)[:, 0]
    sums = cells.sums(rows).reshape(data.shape[0], v.shape[1], *v.shape[1:])
    return _ByField(cells, rows, own, sums)


@field_aware_factorization_machine.rule("csr", "row_sparse", "default", out="default")
@field_aware_factorization_machine.rule("csr", "default", "default", out="default")
def _(data, v, fields):
    _check_field_aware(data, v, fields)
    if _has_nothing(data, v.shape[1]):
        return jnp.zeros((data.shape[0], 1), v.dtype)
    batch = _by_field(data, v, fields)
    pairs = (batch.sums * jnp.swapaxes(batch.sums, 1, 2)).sum(axis=(1, 2, 3))
    norms = (batch.own * batch.own).sum(axis=1)
    squares = data.data * data.data
    diagonal = csr_dot_dense(
        squares, batch.cells.groups.inverse, data.indptr.astype(jnp.int32), norms
    )
    return (0.5 * (pairs - diagonal))[:, None]


@field_aware_factorization_machine.gradient("csr", "row_sparse", "default")
@field_aware_factorization_machine.gradient("csr", "default", "default")
def _(want, inputs, output, cotangent):
    data, v, fields = inputs
    g = to_dense(cotangent)[:, 0]
    if _has_nothing(data, v.shape[1]):
        left = with_stored(data, jnp.zeros_like(data.data))
        left = to_dense(left) if want[0] == "default" else left
        return left, zeros_of(v.shape, v.dtype, want[1] or "default"), None
    batch = _by_field(data, v, fields)
    # The derivative by the sums of field f for field g is the sums of field g for field f.
    slope = (jnp.swapaxes(batch.sums, 1, 2) * g[:, None, None, None]).reshape(-1, *v.shape[1:])
    left = right = None
    if want[1] is not None:
        right = BCOO._trusted(
            _field_gradient(data, batch, slope, g),
            batch.cells.groups.rows[:, None],
            v.shape,
            indices_sorted=True,
            unique_indices=True,
        )
        if want[1] != "row_sparse":
            right = right.todense()
    if want[0] == "csr":
        sampled = batch.cells.sampled(slope, batch.rows)
        norms = take_rows((batch.own * batch.own).sum(axis=1), batch.cells.groups.inverse)
        own = data.data * norms * take_rows(g, row_of_entry(data))
        left = with_stored(data, sampled - own)
    elif want[0] is not None:
        left = _dense_field_gradient(data, to_dense(v), fields, batch, slope, g)
    return left, right, None


def _field_gradient(data: BCSR, batch: _ByField, slope, g):
    """For each feature that occurs, by the entries of it."""
    groups, squares = batch.cells.groups, data.data * data.data
    first = batch.cells.gradient(slope)
    indptr = data.indptr.astype(jnp.int32)
    second = csr_t_dot_rows(squares, indptr, groups.order, groups.starts, g)
    place = jnp.arange(first.shape[0])
    return first.at[place, batch.cells.field].add(-batch.own * second[:, None])


def _dense_field_gradient(data: BCSR, v, fields, batch: _ByField, slope, g):
    """For each cell, also those that `data` does not store."""
    field = as_ids(fields, v.shape[1])
    slope = slope.reshape(data.shape[0], *v.shape[1:2], *v.shape[1:])
    norms = jnp.take_along_axis(v, field[:, None, None], axis=1)[:, 0]
    own = data.todense() * (norms * norms).sum(axis=1) * g[:, None]
    return jnp.einsum("bigk,igk->bi", slope[:, field], v) - own


@operator("field_embedding", check=_check_fields)
def field_embedding(data, weight, fields, *, n_fields: int):
    """Adds up rows of a table for each example and field: those of the features of the field.

    Args:
      data: csr `(b, n)`, floating (dense works too): the weight of each feature.
      weight: `(n, k)`, dtype of `data`, dense or row_sparse: a row for each feature.
      fields: `(n,)`, any numeric dtype: the field of each feature.
      n_fields: how many fields there are.

    Returns:
      `(b, n_fields, k)`, dense; zeros where an example has no feature of a field. The gradient of
      `weight` is row_sparse where that is asked for; neither way reads or writes rows of `weight` whose
      feature does not occur in `data`.

    Raises:
      MXNetError: shapes or dtypes do not fit, or a field of a feature that occurs is out of range.

    Cost: O(nnz * k + b * n_fields * k), forward and backward.
    """
    _check_embedded(data, weight, fields)
    belongs = fields[:, None] == jnp.arange(n_fields).astype(fields.dtype)
    return jnp.einsum("bi,if,ik->bfk", data, belongs.astype(weight.dtype), weight)


def _check_embedded(data, weight, fields) -> None:
    require_same_dtype(data, weight)
    if len(data.shape) != 2 or weight.ndim != 2 or data.shape[1] != weight.shape[0]:
        raise ValueError(
            "data must be (b, n) and weight (n, k); got "
            f"{tuple(data.shape)} and {tuple(weight.shape)}"
        )
    if tuple(fields.shape) != (data.shape[1],):
        raise ValueError(f"fields must have shape {(data.shape[1],)}; got {tuple(fields.shape)}")


@field_embedding.rule("csr", "row_sparse", "default", out="default")
@field_embedding.rule("csr", "default", "default", out="default")
def _(data, weight, fields, *, n_fields):
    _check_embedded(data, weight, fields)
    shape = (data.shape[0], n_fields, weight.shape[1])
    if _has_nothing(data, n_fields):
        return jnp.zeros(shape, weight.dtype)
    cells = _cells(data, fields, n_fields)
    return cells.sums(_vectors(weight, cells.groups)).reshape(shape)


@field_embedding.gradient("csr", "row_sparse", "default")
@field_embedding.gradient("csr", "default", "default")
def _(want, inputs, output, cotangent, *, n_fields):
    data, weight, fields = inputs
    g = to_dense(cotangent)
    left = right = None
    if _has_nothing(data, n_fields):
        left = with_stored(data, jnp.zeros_like(data.data))
        left = to_dense(left) if want[0] == "default" else left
        return left, zeros_of(weight.shape, weight.dtype, want[1] or "default"), None
    cells = _cells(data, fields, n_fields)
    by_cell = g.reshape(-1, weight.shape[1])
    if want[1] is not None:
        right = BCOO._trusted(
            cells.gradient(by_cell),
            cells.groups.rows[:, None],
            weight.shape,
            indices_sorted=True,
            unique_indices=True,
        )
        right = right if want[1] == "row_sparse" else right.todense()
    if want[0] == "csr":
        sampled = cells.sampled(by_cell, _vectors(weight, cells.groups))
        left = with_stored(data, sampled)
    elif want[0] is not None:
        left = jnp.einsum("bik,ik->bi", g[:, as_ids(fields, n_fields)], to_dense(weight))
    return left, right, None
