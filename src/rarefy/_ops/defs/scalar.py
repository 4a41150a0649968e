"""An array and a number."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from rarefy._ops.defs._numbers import (
    divide,
    in_float,
    larger,
    logical,
    modulo,
    scalar_like,
    smaller,
)
from rarefy._ops.defs._sparse import densified
from rarefy._ops.opdef import Operator, Scalar, operator
from rarefy._ops.places import with_stored
from rarefy._ops.storage import SPARSE


def _scalar(
    name: str,
    fn: Callable,
    formula: str,
    keeps: Callable[[float], bool] = lambda scalar: False,
    *,
    differentiable: bool = True,
) -> Operator:
    """Registers `fn(array, number)`; `keeps` tells for which numbers zero stays zero."""

    def meaning(data, *, scalar: Scalar):
        if data.dtype == bool:
            data = data.astype(jnp.int64)
        return fn(data, scalar_like(scalar, data)).astype(data.dtype)

    meaning.__doc__ = (
        f"Computes {formula}, element by element.\n\n"
        "Args:\n"
        "  data: any shape and storage type.\n"
        "  scalar: a number s; cut to an integer where `data` holds integers.\n\n"
        "Returns:\n"
        "  Shape and dtype of `data`. Sparse storage is kept where zero stays zero.\n"
    )
    options: dict[str, Any] = {"visible": "internal", "differentiable": differentiable}
    op = operator(name, aliases=(_old_name(name),), **options)(meaning)
    for stype in SPARSE:
        _add_rules(op, stype, keeps)
    return op


def _old_name(name: str) -> str:
    """The name that MXNet had before: `_RMinusScalar` for `_rminus_scalar`."""
    words = [word.capitalize() for word in name.strip("_").split("_")]
    if words[0] in ("Rminus", "Rdiv", "Rmod", "Rpower"):
        words[0] = "R" + words[0][1:].capitalize()
    return "_" + "".join(words)


def _add_rules(op: Operator, stype, keeps) -> None:
    def kept(scalar):
        return stype if isinstance(scalar, int | float) and keeps(scalar) else None

    @op.rule(stype, out=kept, places_of=0 if stype == "csr" else None)
    def _(data, *, scalar):
        return with_stored(data, op.fn(data.data, scalar=scalar))  # 0 / 0 in the padding is NaN

    @op.rule(stype, out="default", spreads=True)
    def _(data, *, scalar):
        return densified(lambda x: op.fn(x, scalar=scalar), data)


def _always(scalar: float) -> bool:
    return True


def _at_zero(scalar: float) -> bool:
    return scalar == 0


_power = in_float(jnp.power)

_scalar("_plus_scalar", jnp.add, "x + s", _at_zero)
_scalar("_minus_scalar", jnp.subtract, "x - s", _at_zero)
_scalar("_rminus_scalar", lambda x, s: s - x, "s - x")
_scalar("_mul_scalar", jnp.multiply, "x * s", _always)
_scalar("_div_scalar", divide, "x / s", _always)
_scalar("_rdiv_scalar", lambda x, s: divide(s, x), "s / x")
_scalar("_mod_scalar", modulo, "x mod s with the sign of s; 0 where s is 0")
_scalar("_rmod_scalar", lambda x, s: modulo(s, x), "s mod x with the sign of x; 0 where x is 0")
_scalar("_power_scalar", _power, "x to the power s")
_scalar("_rpower_scalar", lambda x, s: _power(s, x), "s to the power x")
_scalar("_maximum_scalar", larger, "max(x, s)")
_scalar("_minimum_scalar", smaller, "min(x, s)")
_scalar("_hypot_scalar", in_float(jnp.hypot), "sqrt(x^2 + s^2)", _at_zero)


def _comparison(name: str, fn: Callable, sign: str, keeps) -> None:
    _scalar(name, fn, f"x {sign} s as 1 or 0", keeps, differentiable=False)


_comparison("_equal_scalar", jnp.equal, "==", lambda s: s != 0)
_comparison("_not_equal_scalar", jnp.not_equal, "!=", lambda s: s == 0)
_comparison("_greater_scalar", jnp.greater, ">", lambda s: s >= 0)
_comparison("_greater_equal_scalar", jnp.greater_equal, ">=", lambda s: s > 0)
_comparison("_lesser_scalar", jnp.less, "<", lambda s: s <= 0)
_comparison("_lesser_equal_scalar", jnp.less_equal, "<=", lambda s: s < 0)
_comparison("_logical_and_scalar", lambda x, s: logical(x) & logical(s), "and", _always)
_comparison("_logical_or_scalar", lambda x, s: logical(x) | logical(s), "or", _at_zero)
_comparison("_logical_xor_scalar", lambda x, s: logical(x) ^ logical(s), "xor", _at_zero)


def _scatter(name: str, fn: Callable, formula: str) -> Operator:
    def meaning(data, *, scalar: Scalar):
        return fn(data, scalar_like(scalar, data)).astype(data.dtype)

    meaning.__doc__ = (
        f"Computes {formula} on what is stored only; absent elements stay zero.\n\n"
        "Args:\n"
        "  data: any shape and storage type.\n"
        "  scalar: a number s.\n\n"
        "Returns:\n"
        "  Shape, dtype and storage type of `data`.\n"
    )
    return operator(name, visible="internal")(meaning)


for _op in (
    _scatter("_scatter_plus_scalar", jnp.add, "x + s"),
    _scatter("_scatter_minus_scalar", jnp.subtract, "x - s"),
):
    for _stype in SPARSE:

        @_op.rule(_stype, out=_stype)
        def _(data, *, scalar, op=_op):
            return with_stored(data, op.fn(data.data, scalar=scalar))
