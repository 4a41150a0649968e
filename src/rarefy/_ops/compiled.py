"""Running operators on values: one compiled function per operator, signature and static parameters.

Shapes and dtypes are not part of the key; `jax.jit` keeps a program for each, and capacities on a
ladder keep those few.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp

from rarefy._ops.gradient import cotangent_like, pull_back
from rarefy._ops.infer import Plan
from rarefy._ops.opdef import Operator, Rule, Signature
from rarefy._ops.places import with_data
from rarefy._ops.storage import Value, to_dense

Static = tuple[tuple[str, Any], ...]


class _Inlining(threading.local):
    on = False


_inlining = _Inlining()


@contextmanager
def inlining() -> Iterator[None]:
    """Lets operators that run inside be traced as parts of the caller's program, not as calls of
    programs of their own, so that what is known of a value beyond its buffers reaches the next one."""
    before = _inlining.on
    _inlining.on = True
    try:
        yield
    finally:
        _inlining.on = before


def inlined(program: Callable[..., Any]) -> Callable[..., Any]:
    """A compiled function, or inside `inlining` the plain one that it was made of."""
    return getattr(program, "__wrapped__", program) if _inlining.on else program


def split_params(op: Operator, params: dict[str, Any]) -> tuple[Static, dict[str, Any]]:
    """Separates parameters into the static ones, hashable and in order, and the scalars."""
    if not op.scalars:
        return tuple(params.items()), {}
    static = tuple((n, v) for n, v in params.items() if n not in op.scalars)
    return static, {n: params[n] for n in op.scalars if params[n] is not None}


def run(
    plan: Plan,
    values: Sequence[Value | None],
    params: dict[str, Any],
    *,
    key: jax.Array | None = None,
    training: bool = False,
    donate: tuple[int, ...] = (),
) -> tuple[Value, ...]:
    """Runs an operator as planned.

    Args:
      plan: from `infer`.
      values: the arrays, with the storage types of `plan.signature`; None for an absent one.
      params: all parameters by name.
      key: a random key, for an operator that needs one.
      training: for an operator whose result depends on it.
      donate: positions of arrays whose buffers the result may take over.

    Returns:
      The results, as a tuple.
    """
    if plan.eager:
        return _run_eager(plan, values, params, key, training)
    static, scalars = split_params(plan.op, params)
    program = inlined(_forward(plan.op, plan.rule, static, training, donate))
    if not donate:
        results = program((), tuple(values), scalars, key)
        if plan.rule is None or plan.rule.places_of is None:
            return results
        return (with_data(values[plan.rule.places_of], results[0]),)
    given = tuple(v for i, v in enumerate(values) if i in donate)
    kept = tuple(v for i, v in enumerate(values) if i not in donate)
    return program(given, kept, scalars, key)


def _run_eager(plan: Plan, values, params, key, training) -> tuple[Value, ...]:
    op = plan.op
    if op.needs_training or op.needs_key:
        static, scalars = split_params(op, params)
        return meaning(op, plan.rule, static, training)(values, scalars, key)
    result = (plan.rule or op).fn(*values, **params)
    return result if isinstance(result, tuple) else (result,)


def meaning(op: Operator, rule: Rule | None, static: Static, training: bool) -> Callable[..., Any]:
    """The function `(values, scalars, key) -> tuple of values` that an operator computes."""
    fn = rule.fn if rule else op.fn
    extra: dict[str, Any] = {"training": training} if op.needs_training else {}

    def compute(values, scalars, key):
        if op.needs_key:
            extra["key"] = key
        absent = {n: None for n in op.scalars if n not in scalars}
        result = fn(*values, **dict(static), **scalars, **absent, **extra)
        return result if isinstance(result, tuple) else (result,)

    return compute


@lru_cache(maxsize=4096)
def _forward(op, rule, static, training, donate):
    compute = meaning(op, rule, static, training)

    @partial(jax.jit, donate_argnums=(0,) if donate else ())
    def program(given, kept, scalars, key):
        given, kept = list(given), list(kept)
        count = len(given) + len(kept)
        values = [given.pop(0) if i in donate else kept.pop(0) for i in range(count)]
        results = compute(values, scalars, key)
        if rule is None or rule.places_of is None:
            return results
        return (results[0].data,)

    return program


@lru_cache(maxsize=4096)
def pullback(
    op: Operator,
    rule: Rule | None,
    signature: Signature,
    static: Static,
    training: bool,
    want: Signature,
) -> Callable[..., tuple[Value | None, ...]]:
    """The compiled pullback of an operator.

    Args:
      want: for each array the storage type wanted of its cotangent, or None where none is needed.

    Returns:
      A function `(inputs, outputs, cotangents, scalars, key)` that returns a cotangent or None for
      each input. A cotangent of None stands for zero.
    """
    compute = meaning(op, rule, static, training)
    eager = rule.eager if rule else op.eager
    special = op.gradients.get(signature) or (
        op.gradients.get(signature[:1]) if op.variadic and len(set(signature)) == 1 else None
    )
    # A dense cotangent of a sparse array holds more than its stored places: pull back the dense form.
    whole = special is None and any(
        w == "default" and s not in (None, "default") for w, s in zip(want, signature, strict=True)
    )
    if whole:
        compute = meaning(op, None, static, training)

    def program(inputs, outputs, cotangents, scalars, key):
        if special is not None:
            extra: dict[str, Any] = {"training": training} if op.needs_training else {}
            if op.needs_key:
                extra["key"] = key
            absent = {n: None for n in op.scalars if n not in scalars}
            single = len(outputs) == 1
            output = outputs[0] if single else outputs
            cotangent = cotangents[0] if single else cotangents
            return tuple(
                special(
                    want, inputs, output, cotangent, **dict(static), **scalars, **absent, **extra
                )
            )
        if whole:
            inputs, outputs = (
                tuple(None if v is None else to_dense(v) for v in values)
                for values in (inputs, outputs)
            )
        filled = tuple(
            cotangent_like(c, o)
            if c is not None and o is not None
            else jax.tree.map(jnp.zeros_like, o)
            for c, o in zip(cotangents, outputs, strict=True)
        )
        return pull_back(lambda *values: compute(values, scalars, key), inputs, filled, want)

    assert special is not None or not eager, f"{op.name}{signature} needs a gradient of its own"
    return program if eager else jax.jit(program)
