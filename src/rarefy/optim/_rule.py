"""A rule of `rarefy._primitives.rows_update` as a gradient transformation."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
from jax import numpy as jnp

from rarefy._primitives.rows_update import COMMON, RULES
from rarefy._primitives.take_rows import take_rows
from rarefy.optim._transformation import (
    GradientTransformation,
    Tree,
    canonical,
    is_sparse,
    with_rows,
)
from rarefy.sparse import BCOO, row_sparse_rows


class RuleState(NamedTuple):
    """The state of an optimizer.

    Attributes:
      count: `()`, int32: how many updates were done.
      tables: by name, trees like the parameters.
    """

    count: jax.Array  # pyright: ignore[reportIncompatibleMethodOverride]
    tables: dict[str, Tree]


Hyper = Mapping[str, Any]
Start = Callable[[jax.Array, Any], jax.Array]


class RuleOf(NamedTuple):
    """How an optimizer uses a rule.

    Attributes:
      name: key of `RULES`.
      hyper: from the number of updates before this one to the rule's hyper-parameters by name; those
        that it leaves out are neutral.
      starts: for each state of the rule, in order, the first value from a parameter and its dtype.
      reads_weight: whether the rule needs the weight. If not, it is applied to a weight of zero, and
        what comes out is the update to the last bit.
      step: from the hyper-parameters, the weight and all that the rule gives to the update; None: the
        new weight less the old.
    """

    name: str
    hyper: Callable[[jax.Array], Hyper]
    starts: Sequence[Start]
    reads_weight: bool
    step: Callable[[Hyper, jax.Array, Sequence[jax.Array]], jax.Array] | None = None


NEUTRAL = dict(zip(COMMON, (1.0, 0.0, 1.0, -1.0), strict=True))


def transformation(rule: RuleOf, state_dtype: Any = None) -> GradientTransformation:
    """Makes the transformation: row_sparse gradients move the rows they store, dense ones all.

    Args:
      rule: what to do.
      state_dtype: type of the states; None: that of the parameter.
    """
    names = RULES[rule.name].states

    def init(params: Tree) -> RuleState:
        tables = {}
        for name, start in zip(names, rule.starts, strict=True):
            tables[name] = jax.tree.map(
                lambda p, start=start: start(p, state_dtype or jnp.result_type(p)), params
            )
        return RuleState(jnp.zeros((), jnp.int32), tables)

    def update(updates: Tree, state: RuleState, params: Tree = None) -> tuple[Tree, RuleState]:
        gradients, structure = jax.tree.flatten(updates, is_leaf=is_sparse)
        weights: list[Any] = [None] * len(gradients)
        if rule.reads_weight:
            if params is None:
                raise ValueError(
                    f"optim: the update of {rule.name} with these settings depends on the parameters; "
                    f"call update(gradients, state, params)"
                )
            weights = structure.flatten_up_to(params)
        olds = [structure.flatten_up_to(state.tables[name]) for name in names]
        hyper = {**NEUTRAL, **rule.hyper(state.count)}
        steps, news = [], []
        for gradient, weight, *tables in zip(gradients, weights, *olds, strict=True):
            one = _sparse if is_sparse(gradient) else _dense
            step, new = one(rule, hyper, gradient, weight, tables)
            steps.append(step)
            news.append(new)
        tables = {
            name: jax.tree.unflatten(structure, [new[i] for new in news])
            for i, name in enumerate(names)
        }
        return jax.tree.unflatten(structure, steps), RuleState(state.count + 1, tables)

    return GradientTransformation(init, update)


def _dense(rule: RuleOf, hyper: Hyper, gradient: Any, weight: Any, tables: Sequence[jax.Array]):
    step, new = _moved(rule, hyper, jnp.asarray(gradient), weight, tables)
    return step, [n.astype(t.dtype) for n, t in zip(new, tables, strict=True)]


def _sparse(rule: RuleOf, hyper: Hyper, gradient: BCOO, weight: Any, tables: Sequence[jax.Array]):
    for table in tables if weight is None else (weight, *tables):
        if table.shape != gradient.shape:
            raise ValueError(
                f"optim: a gradient of shape {gradient.shape} meets a parameter or state of shape "
                f"{table.shape}; they must be equal"
            )
    gradient = canonical(gradient)
    rows = row_sparse_rows(gradient)
    olds = [take_rows(t, rows) for t in tables]
    here = None if weight is None else take_rows(jnp.asarray(weight), rows)
    step, new = _moved(rule, hyper, gradient.data, here, olds)
    real = (rows < gradient.shape[0]).reshape(-1, *(1,) * (step.ndim - 1))
    step = jnp.where(real, step, 0)  # a rule may make something of a padding row
    return with_rows(gradient, step), [
        set_rows(t, rows, n) for t, n in zip(tables, new, strict=True)
    ]


def _moved(rule: RuleOf, hyper: Hyper, gradient, weight, tables: Sequence[jax.Array]):
    """The update and the new states, in the type they are computed in: float32 or wider."""
    inputs = (gradient, *tables) if weight is None else (gradient, weight, *tables)
    dtype = jnp.promote_types(jnp.result_type(*inputs), jnp.float32)
    gradient, *tables = (jnp.asarray(x).astype(dtype) for x in (gradient, *tables))
    weight = jnp.zeros_like(gradient) if weight is None else jnp.asarray(weight).astype(dtype)
    numbers = {name: jnp.asarray(hyper[name]).astype(dtype) for name in RULES[rule.name].hyper}
    new, *states = RULES[rule.name].apply(gradient, weight, *tables, *numbers.values())
    step = new - weight if rule.step is None else rule.step(hyper, weight, (new, *states))
    return step.astype(dtype), states


def set_rows(table: jax.Array, rows: jax.Array, values: jax.Array) -> jax.Array:
    """Writes rows into a table, in place where it is donated.

    Args:
      table: `(n, *d)`.
      rows: `(k,)`, ascending and unique; `n` is padding.
      values: `(k, *d)`.
    """
    n, k = table.shape[0], rows.shape[0]
    is_unique = n + k <= jnp.iinfo(rows.dtype).max  # padding too, if it is made so
    if is_unique:
        rows = jnp.where(rows < n, rows, n + jnp.arange(k, dtype=rows.dtype))
    values = values.astype(table.dtype)
    return table.at[rows].set(
        values, mode="drop", indices_are_sorted=True, unique_indices=is_unique
    )
