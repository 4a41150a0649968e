"""Factorization machines."""

import jax.numpy as jnp

from rarefy._ops.defs._numbers import require_same_dtype
from rarefy._ops.opdef import operator
from rarefy._ops.places import row_of_entry, with_data, with_stored
from rarefy._ops.storage import to_dense
from rarefy._primitives.csr_dot_dense import csr_dot_dense
from rarefy._primitives.csr_sample_dot import csr_sample_dot
from rarefy._primitives.csr_t_dot_rows import csr_t_dot_rows
from rarefy._primitives.group_rows import RowGroups, group_rows
from rarefy._primitives.take_rows import take_rows
from rarefy.sparse import BCOO, BCSR
from rarefy.sparse._capacity import capacity


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
      v: `(n, factors)`, dtype of `data`, dense: a vector for each feature.

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


@factorization_machine.rule("csr", "default", out="default")
def _(data, v):
    _check(data, v)
    groups = _columns(data)
    rows = take_rows(v, groups.rows)
    total = csr_dot_dense(data.data, groups.inverse, data.indptr.astype(jnp.int32), rows)
    norms = (rows * rows).sum(axis=1)
    squares = data.data * data.data
    diagonal = csr_dot_dense(squares, groups.inverse, data.indptr.astype(jnp.int32), norms)
    return (0.5 * ((total * total).sum(axis=1) - diagonal))[:, None]


@factorization_machine.gradient("csr", "default")
def _(want, inputs, output, cotangent):
    data, v = inputs
    g = to_dense(cotangent)[:, 0]
    indptr = data.indptr.astype(jnp.int32)
    groups = _columns(data)
    rows = take_rows(v, groups.rows)
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
    return weighted @ v.T - with_data(data, own).todense()
