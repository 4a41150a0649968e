"""Optimizer updates of some rows of a table, in place, and of whole tables."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching

from rarefy._primitives._batching import one_by_one
from rarefy._primitives._define import Form, aligned, define, public

COMMON = ("lr", "wd", "rescale_grad", "clip_gradient")
"""The first hyper-parameters of every rule. A negative `clip_gradient` means: do not clip."""


def _clipped(grad, clip_gradient):
    return jnp.where(clip_gradient < 0, grad, jnp.clip(grad, -clip_gradient, clip_gradient))


def _sgd(grad, weight, lr, wd, rescale_grad, clip_gradient):
    return ((1 - lr * wd) * weight - lr * _clipped(rescale_grad * grad, clip_gradient),)


def _sgd_mom(grad, weight, mom, lr, wd, rescale_grad, clip_gradient, momentum):
    grad = _clipped(rescale_grad * grad, clip_gradient)
    mom = momentum * mom - lr * wd * weight - lr * grad
    return weight + mom, mom


def _adam(grad, weight, mean, var, lr, wd, rescale_grad, clip_gradient, beta1, beta2, epsilon):
    grad = _clipped(rescale_grad * grad + wd * weight, clip_gradient)
    mean = beta1 * mean + (1 - beta1) * grad
    var = beta2 * var + (1 - beta2) * grad * grad
    return weight - lr * mean / (jnp.sqrt(var) + epsilon), mean, var


def _adagrad(grad, weight, history, lr, wd, rescale_grad, clip_gradient, epsilon):
    grad = _clipped(rescale_grad * grad, clip_gradient)
    history = history + grad * grad
    return weight - lr * (grad / jnp.sqrt(history + epsilon) + wd * weight), history


def _ftrl(grad, weight, z, n, lr, wd, rescale_grad, clip_gradient, lamda1, beta):
    grad = _clipped(rescale_grad * grad, clip_gradient)
    n_new = n + grad * grad
    z = z + grad - (jnp.sqrt(n_new) - jnp.sqrt(n)) * weight / lr
    shrunk = (jnp.sign(z) * lamda1 - z) / ((beta + jnp.sqrt(n_new)) / lr + wd)
    return jnp.where(jnp.abs(z) > lamda1, shrunk, 0), z, n_new


class Rule(NamedTuple):
    """An optimizer's formula for one element."""

    states: tuple[str, ...]
    hyper: tuple[str, ...]
    apply: Callable[..., tuple[Any, ...]]


RULES: dict[str, Rule] = {
    "sgd": Rule((), COMMON, _sgd),
    "sgd_mom": Rule(("mom",), (*COMMON, "momentum"), _sgd_mom),
    "adam": Rule(("mean", "var"), (*COMMON, "beta1", "beta2", "epsilon"), _adam),
    "adagrad": Rule(("history",), (*COMMON, "epsilon"), _adagrad),
    "ftrl": Rule(("z", "n"), (*COMMON, "lamda1", "beta"), _ftrl),
}
"""The rules by name: what their states and hyper-parameters are, in order."""


@public("rule")
def rows_update(
    rule: str, tables: Sequence[Any], rows, grad, hyper, *, form: Form = "auto"
) -> tuple[jax.Array, ...]:
    """Applies an optimizer's rule to the given rows of a weight and its states.

    With `g = clip(rescale_grad * grad, clip_gradient)` and for each element of each given row

        sgd      w = (1 - lr * wd) * w - lr * g
        sgd_mom  mom = momentum * mom - lr * wd * w - lr * g;  w += mom
        adam     g = clip(rescale_grad * grad + wd * w, clip_gradient)
                 mean = beta1 * mean + (1 - beta1) * g;  var = beta2 * var + (1 - beta2) * g**2
                 w -= lr * mean / (sqrt(var) + epsilon)
        adagrad  history += g**2;  w -= lr * (g / sqrt(history + epsilon) + wd * w)
        ftrl     z += g - (sqrt(n + g**2) - sqrt(n)) * w / lr;  n += g**2
                 w = (sign(z) * lamda1 - z) / ((beta + sqrt(n)) / lr + wd) if |z| > lamda1 else 0

    Args:
      rule: a key of `RULES`.
      tables: the weight and the states that `RULES[rule].states` names: each `(n, *d)`, all of one
        floating dtype. Donate them to the surrounding `jax.jit` and they are updated in place.
      rows: `(k,)`, int32 or int64, ascending, each row at most once. `n` is padding: it comes last,
        may repeat, and is skipped.
      grad: `(k, *d)`, dtype of the weight: a gradient for each of `rows`.
      hyper: `(h,)`, the values that `RULES[rule].hyper` names, float64 for float64 tables and
        float32 otherwise. An operand, so that a new learning rate compiles nothing. adam's `lr` is
        already corrected for bias.
      form: which implementation to use.

    Returns:
      The new tables. Rows not in `rows` keep their bits. 16-bit floats are computed in float32.

    Raises:
      ValueError: the rule is unknown, or shapes or dtypes do not agree.

    Cost: O(k * prod(d)) whatever `n` when donated, plus one copy of each table when not.
    Source: the lazy updates of MXNet 1.9.1 (`sgd_update`, `sgd_mom_update`, `adam_update`,
    `adagrad_update`, `ftrl_update` for a row_sparse gradient). Its lazy adagrad refuses weight
    decay; here it has that of the dense `AdaGrad` optimizer.
    """
    tables, rows, grad, hyper = _operands(rule, tables, grad, hyper, rows)
    operands = aligned(*tables, rows, grad, hyper)
    return tuple(ROWS_UPDATE[rule].bind(*operands, form=form))


@partial(jax.jit, static_argnames="rule", inline=True)
def dense_update(rule: str, tables: Sequence[Any], grad, hyper) -> tuple[jax.Array, ...]:
    """Applies an optimizer's rule to whole tables.

    Args:
      rule, tables, hyper: as for `rows_update`.
      grad: `(n, *d)`, dtype of the weight.

    Returns:
      The new tables.

    Raises:
      ValueError: the rule is unknown, or shapes or dtypes do not agree.

    Cost: O(n * prod(d)).
    Source: the updates of MXNet 1.9.1 for a dense gradient.
    """
    tables, _, grad, hyper = _operands(rule, tables, grad, hyper)
    return _apply(rule, tables, grad, hyper)


def _operands(rule, tables, grad, hyper, rows=None):
    tables = tables_of("rows_update", rule, tables)
    weight = tables[0]
    shape = weight.shape
    if rows is not None:
        if rows.ndim != 1 or not jnp.issubdtype(rows.dtype, jnp.signedinteger):
            raise ValueError(f"{rule}: rows must be (k,) signed integers, got {jax.typeof(rows)}")
        shape = (*rows.shape, *weight.shape[1:])
    require_operands(rule, weight.dtype, hyper, [("grad", grad, shape, weight.dtype)])
    return tables, rows, grad, hyper


def tables_of(caller: str, rule: str, tables: Sequence[Any]) -> tuple[Any, ...]:
    """The weight and the states of a rule, once they are checked.

    Raises:
      ValueError: the rule is unknown, or the tables are not those it names, floating, of one shape
        `(n, *d)` and dtype.
    """
    if rule not in RULES:
        raise ValueError(f"{caller}: no rule {rule!r}; there are {', '.join(RULES)}")
    tables, names = tuple(tables), ("weight", *RULES[rule].states)
    if len(tables) != len(names):
        raise ValueError(f"{rule}: tables must be ({', '.join(names)}), got {len(tables)}")
    weight = tables[0]
    if weight.ndim == 0 or not jnp.issubdtype(weight.dtype, jnp.floating):
        raise ValueError(f"{rule}: weight must be (n, *d), floating, got {jax.typeof(weight)}")
    for name, table in zip(names, tables, strict=True):
        _require(rule, name, table, weight.shape, weight.dtype)
    return tables


def require_operands(
    rule: str, dtype: Any, hyper: Any, operands: Sequence[tuple[str, Any, tuple[int, ...], Any]]
) -> None:
    """Raises ValueError unless each `(name, value, shape, dtype)` holds, and `hyper` has the numbers of
    the rule for tables of `dtype`."""
    for operand in operands:
        _require(rule, *operand)
    wide = jnp.promote_types(dtype, jnp.float32)
    _require(rule, "hyper", hyper, (len(RULES[rule].hyper),), wide)


def _require(rule: str, name: str, value: Any, shape: tuple[int, ...], dtype: Any) -> None:
    if value.shape != shape or value.dtype != dtype:
        raise ValueError(
            f"{rule}: {name} must be {np.dtype(dtype)}{list(shape)}, got {jax.typeof(value)}"
        )


def _apply(rule, tables, grad, hyper):
    wide = [x.astype(hyper.dtype) for x in (grad, *tables)]
    new = RULES[rule].apply(*wide, *hyper)
    return tuple(x.astype(tables[0].dtype) for x in new)


def _rows_update_xla(*operands, rule):
    *tables, rows, grad, hyper = operands
    n, k = tables[0].shape[0], rows.shape[0]
    if tables[0].size == 0 or k == 0:
        return tuple(tables)
    if n + k <= jnp.iinfo(rows.dtype).max:  # padding too must be unique
        inside = (rows >= 0) & (rows < n)
        rows = jnp.where(inside, rows, n + jnp.arange(k, dtype=rows.dtype))
        known = {"indices_are_sorted": True, "unique_indices": True}
    else:
        known = {"indices_are_sorted": True}
    old = [t.at[rows].get(mode="fill", fill_value=0, **known) for t in tables]
    new = _apply(rule, old, grad, hyper)
    return tuple(t.at[rows].set(x, mode="drop", **known) for t, x in zip(tables, new, strict=True))


def _rows_update_abstract(*avals):
    *tables, _, _, _ = avals
    return tuple(tables)


def _rows_update_jvp(rule, primals, tangents, *, form):
    tangents = [ad.instantiate_zeros(t) for t in tangents]
    return jax.jvp(partial(_rows_update_xla, rule=rule), tuple(primals), tuple(tangents))


def _rows_update_primitive(rule: str) -> Primitive:
    tables = 1 + len(RULES[rule].states)
    primitive = define(
        f"rows_update_{rule}",
        abstract=_rows_update_abstract,
        xla=partial(_rows_update_xla, rule=rule),
        multiple_results=True,
        aliases={i: i for i in range(tables)},
    )
    ad.primitive_jvps[primitive] = partial(_rows_update_jvp, rule)
    batching.primitive_batchers[primitive] = one_by_one(primitive)
    return primitive


ROWS_UPDATE: dict[str, Primitive] = {rule: _rows_update_primitive(rule) for rule in RULES}
"""The primitive of each rule: operands `(*tables, rows, grad, hyper)`, results the new tables."""
