"""Small operators of MXNet's `contrib` that belong to no other family."""

from collections.abc import Callable

import jax.numpy as jnp

from rarefy._ops.defs._sparse import toward
from rarefy._ops.defs.elementwise import keep_zero, round_away
from rarefy._ops.opdef import Operator, Scalar, operator
from rarefy._ops.places import with_data
from rarefy._ops.storage import STYPES, SType


@operator("_contrib_quadratic", visible="internal")
def quadratic(data, *, a: Scalar = 0.0, b: Scalar = 0.0, c: Scalar = 0.0):
    """Computes a * x^2 + b * x + c, element by element.

    Args:
      data: any shape and storage type, floating.
      a, b, c: numbers.

    Returns:
      Shape and dtype of `data`; csr where `data` is so and c is 0.
    """
    square, line, constant = (jnp.asarray(s, data.dtype) for s in (a, b, c))
    return square * data * data + line * data + constant


def _without_constant(a, b, c) -> SType | None:
    return "csr" if isinstance(c, int | float) and c == 0 else None


@quadratic.rule("csr", out=_without_constant)
def _(data, *, a, b, c):
    return with_data(data, quadratic.fn(data.data, a=a, b=b, c=0.0))


@operator("_contrib_div_sqrt_dim", visible="internal")
def div_sqrt_dim(data):
    """Divides by the root of the size of the last axis.

    Args:
      data: any shape, floating; sparse arrays go dense.

    Returns:
      Shape and dtype of `data`, dense.
    """
    return data / jnp.sqrt(jnp.asarray(data.shape[-1], data.dtype))


@operator("_contrib_gradientmultiplier", visible="internal")
def gradientmultiplier(data, *, scalar: Scalar = 1.0, is_int: bool = True):
    """Returns the array and multiplies what comes back through it.

    Args:
      data: any shape and storage type.
      scalar: what the gradient is multiplied by; -1 reverses it.
      is_int: accepted for MXNet's sake.

    Returns:
      The same value in the same storage type.
    """
    return jnp.copy(data)


def _straight(name: str, fn: Callable, says: str) -> Operator:
    """Registers a step function through which gradients go as if it were not there."""

    def meaning(data):
        return fn(data)

    meaning.__doc__ = (
        f"Computes {says}, element by element; gradients go through unchanged.\n\n"
        "Args:\n"
        "  data: any shape and storage type, floating.\n\n"
        "Returns:\n"
        "  Shape, dtype and storage type of `data`.\n"
    )
    return operator(name, visible="internal")(meaning)


_STEPS = (
    _straight("_contrib_round_ste", round_away, "the nearest integer, halves away from zero"),
    _straight("_contrib_sign_ste", jnp.sign, "the sign: -1, 0 or 1"),
)


def _through(want, inputs, output, cotangent):
    return (toward(want[0], inputs[0], cotangent),)


def _multiplied(want, inputs, output, cotangent, *, scalar, is_int):
    numbers = getattr(cotangent, "data", cotangent)
    scaled = with_data(cotangent, numbers * jnp.asarray(scalar, numbers.dtype))
    return (toward(want[0], inputs[0], scaled),)


for _op in (*_STEPS, gradientmultiplier):
    keep_zero(_op)
    for _stype in STYPES:
        _op.gradient(_stype)(_multiplied if _op is gradientmultiplier else _through)
