"""Optimizer updates by the gradient csr.T @ dense, which is never made."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching

from rarefy._primitives._batching import one_by_one
from rarefy._primitives._define import Form, aligned, define, public
from rarefy._primitives.csr_t_dot_rows import csr_t_dot_rows
from rarefy._primitives.group_rows import group_rows
from rarefy._primitives.rows_update import RULES, require_operands, rows_update, tables_of


@public("rule")
def csr_t_update(
    rule: str, tables: Sequence[Any], data, indices, indptr, dense, hyper, *, form: Form = "auto"
) -> tuple[jax.Array, ...]:
    """Applies an optimizer's rule with the gradient `csr.T @ dense` to the rows which that has.

    The same as `group_rows`, `csr_t_dot_rows` and `rows_update` one after the other. The entries are
    not sorted and the gradient is not written down, which takes less than half the time where rows
    are short.

    Args:
      rule: a key of `RULES`, where its formula stands.
      tables: the weight and the states that `RULES[rule].states` names: each `(n, *d)`, all
        float32 or all float64. Donate them to the surrounding `jax.jit` and they are updated in
        place.
      data: `(nse,)`, dtype of the weight: values of the csr matrix `(m, n)`.
      indices: `(nse,)`, int32 or int64: columns, any order, repeats allowed; one outside `[0, n)` is
        padding.
      indptr: `(m + 1,)`, dtype of `indices`, non-decreasing: the entries of row r are those from
        `indptr[r]` to `indptr[r + 1]`.
      dense: `(m, *d)`, dtype of the weight.
      hyper: `(h,)`, dtype of the weight: the values that `RULES[rule].hyper` names.
      form: which implementation to use.

    Returns:
      The new tables. Rows that no entry names keep their bits; one that is named is moved, also if
      its gradient is zero.

    Raises:
      ValueError: the rule is unknown, or shapes or dtypes do not agree.

    Cost: O(nse * prod(d)) whatever `n` when donated, plus one copy of each table when not. The bits
    of the kernel are the same for any number of threads.
    """
    tables = tables_of("csr_t_update", rule, tables)
    weight, nse, m = tables[0], data.shape[0], indptr.shape[0] - 1
    if weight.dtype not in (np.float32, np.float64):
        raise ValueError(f"{rule}: weight must be float32 or float64, got {jax.typeof(weight)}")
    expected = [
        ("data", data, (nse,), weight.dtype),
        ("indices", indices, (nse,), indices.dtype),
        ("indptr", indptr, (m + 1,), indices.dtype),
        ("dense", dense, (m, *weight.shape[1:]), weight.dtype),
    ]
    require_operands(rule, weight.dtype, hyper, expected)
    operands = aligned(*tables, data, indices, indptr, dense, hyper)
    return tuple(CSR_T_UPDATE[rule].bind(*operands, form=form))


def _csr_t_update_xla(*operands, rule, form="xla"):
    *tables, data, indices, indptr, dense, hyper = operands
    n, (nse,) = tables[0].shape[0], data.shape
    groups = group_rows(indices, indptr[-1], n_rows=n, capacity=min(nse, n), form=form)
    grad = csr_t_dot_rows(data, indptr, groups.order, groups.starts, dense, form=form)
    return rows_update(rule, tables, groups.rows, grad, hyper, form=form)


def _csr_t_update_abstract(*avals):
    return tuple(avals[:-5])


def _csr_t_update_jvp(rule, primals, tangents, *, form):
    tangents = [ad.instantiate_zeros(t) for t in tangents]
    by_parts = partial(_csr_t_update_xla, rule=rule, form=form)
    return jax.jvp(by_parts, tuple(primals), tuple(tangents))


def _csr_t_update_primitive(rule: str) -> Primitive:
    tables = 1 + len(RULES[rule].states)
    primitive = define(
        f"csr_t_update_{rule}",
        abstract=_csr_t_update_abstract,
        xla=partial(_csr_t_update_xla, rule=rule),
        multiple_results=True,
        supports=lambda *avals: avals[0].dtype in (np.float32, np.float64),
        aliases={i: i for i in range(tables)},
    )
    ad.primitive_jvps[primitive] = partial(_csr_t_update_jvp, rule)
    batching.primitive_batchers[primitive] = one_by_one(primitive)
    return primitive


CSR_T_UPDATE: dict[str, Primitive] = {rule: _csr_t_update_primitive(rule) for rule in RULES}
"""The primitive of each rule: operands `(*tables, data, indices, indptr, dense, hyper)`."""
