"""Arithmetic and comparisons of arrays and numbers."""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rarefy._ops.defs import OPERATORS
from rarefy._ops.opdef import Operator
from rarefy.nd._handle import Handle
from rarefy.nd._invoke import invoke

Number = int | float | np.generic
NUMBERS = (int, float, np.generic)


def scalar_for(array: Handle, number: Any) -> int | float:
    """A number as a Python one; a float where the array holds floats, so that 2 and 2.0 are one
    program."""
    if isinstance(number, np.generic):
        number = number.item()
    return number if array._cell.value.dtype.kind in "iub" else float(number)


@dataclass(frozen=True)
class Binary:
    """The operators that make up one arithmetic function.

    Attributes:
      name: the function's name.
      array: for two arrays, broadcast.
      same: for two arrays of one shape of which the first is sparse; `array` where there is none.
      scalar: for an array and a number.
      reverse: for a number and an array.
      python: for two numbers.
    """

    name: str
    array: Operator
    same: Operator
    scalar: Operator
    reverse: Operator
    python: Callable[[Any, Any], Any]

    def __call__(self, lhs, rhs, out=None):
        if isinstance(lhs, Handle):
            if isinstance(rhs, Handle):
                return invoke(self.array, (lhs, rhs), {}, out)
            if isinstance(rhs, NUMBERS):
                return invoke(self.scalar, (lhs,), {"scalar": scalar_for(lhs, rhs)}, out)
        elif isinstance(rhs, Handle) and isinstance(lhs, NUMBERS):
            return invoke(self.reverse, (rhs,), {"scalar": scalar_for(rhs, lhs)}, out)
        elif isinstance(lhs, NUMBERS) and isinstance(rhs, NUMBERS):
            return self.python(lhs, rhs)
        wrong = lhs if not isinstance(lhs, (Handle, *NUMBERS)) else rhs
        raise TypeError(
            f"{self.name}: type {type(wrong)} not supported; pass an array of this library "
            "(nd.array(...)) or a number"
        )

    def sparse(self, lhs, rhs, out=None):
        """The same with the sparse namespace's choice: equal shapes go to the elementwise operator."""
        both = isinstance(lhs, Handle) and isinstance(rhs, Handle)
        if both and lhs._value.shape == rhs._value.shape:
            return invoke(self.same, (lhs, rhs), {}, out)
        return self(lhs, rhs, out)


def _binary(name, array, scalar, reverse, python, same=None) -> Binary:
    return Binary(
        name,
        OPERATORS[array],
        OPERATORS[same or array],
        OPERATORS[scalar],
        OPERATORS[reverse],
        python,
    )


def _flag(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], float]:
    return lambda a, b: float(compare(a, b))


ADD = _binary("add", "broadcast_add", "_plus_scalar", "_plus_scalar", operator.add, "elemwise_add")
SUBTRACT = _binary(
    "subtract", "broadcast_sub", "_minus_scalar", "_rminus_scalar", operator.sub, "elemwise_sub"
)
MULTIPLY = _binary(
    "multiply", "broadcast_mul", "_mul_scalar", "_mul_scalar", operator.mul, "elemwise_mul"
)
DIVIDE = _binary("divide", "broadcast_div", "_div_scalar", "_rdiv_scalar", operator.truediv)
MODULO = _binary("modulo", "broadcast_mod", "_mod_scalar", "_rmod_scalar", operator.mod)
POWER = _binary("power", "broadcast_power", "_power_scalar", "_rpower_scalar", operator.pow)
MAXIMUM = _binary("maximum", "broadcast_maximum", "_maximum_scalar", "_maximum_scalar", max)
MINIMUM = _binary("minimum", "broadcast_minimum", "_minimum_scalar", "_minimum_scalar", min)
EQUAL = _binary("equal", "broadcast_equal", "_equal_scalar", "_equal_scalar", _flag(operator.eq))
NOT_EQUAL = _binary(
    "not_equal", "broadcast_not_equal", "_not_equal_scalar", "_not_equal_scalar", _flag(operator.ne)
)
GREATER = _binary(
    "greater", "broadcast_greater", "_greater_scalar", "_lesser_scalar", _flag(operator.gt)
)
GREATER_EQUAL = _binary(
    "greater_equal",
    "broadcast_greater_equal",
    "_greater_equal_scalar",
    "_lesser_equal_scalar",
    _flag(operator.ge),
)
LESSER = _binary(
    "lesser", "broadcast_lesser", "_lesser_scalar", "_greater_scalar", _flag(operator.lt)
)
LESSER_EQUAL = _binary(
    "lesser_equal",
    "broadcast_lesser_equal",
    "_lesser_equal_scalar",
    "_greater_equal_scalar",
    _flag(operator.le),
)
LOGICAL_AND = _binary(
    "logical_and",
    "broadcast_logical_and",
    "_logical_and_scalar",
    "_logical_and_scalar",
    _flag(lambda a, b: bool(a) and bool(b)),
)
LOGICAL_OR = _binary(
    "logical_or",
    "broadcast_logical_or",
    "_logical_or_scalar",
    "_logical_or_scalar",
    _flag(lambda a, b: bool(a) or bool(b)),
)
LOGICAL_XOR = _binary(
    "logical_xor",
    "broadcast_logical_xor",
    "_logical_xor_scalar",
    "_logical_xor_scalar",
    _flag(lambda a, b: bool(a) != bool(b)),
)


def add(lhs, rhs):
    """lhs + rhs of arrays (broadcast) or numbers."""
    return ADD(lhs, rhs)


def subtract(lhs, rhs):
    """lhs - rhs of arrays (broadcast) or numbers."""
    return SUBTRACT(lhs, rhs)


def multiply(lhs, rhs):
    """lhs * rhs, element by element, of arrays (broadcast) or numbers."""
    return MULTIPLY(lhs, rhs)


def divide(lhs, rhs):
    """lhs / rhs, element by element, of arrays (broadcast) or numbers."""
    return DIVIDE(lhs, rhs)


true_divide = divide


def modulo(lhs, rhs):
    """lhs mod rhs with the sign of rhs, of arrays (broadcast) or numbers."""
    return MODULO(lhs, rhs)


def power(base, exp):
    """base to the power exp, of arrays (broadcast) or numbers."""
    return POWER(base, exp)


def maximum(lhs, rhs):
    """The larger of lhs and rhs, of arrays (broadcast) or numbers."""
    return MAXIMUM(lhs, rhs)


def minimum(lhs, rhs):
    """The smaller of lhs and rhs, of arrays (broadcast) or numbers."""
    return MINIMUM(lhs, rhs)


def equal(lhs, rhs):
    """1 where lhs == rhs, else 0, of arrays (broadcast) or numbers."""
    return EQUAL(lhs, rhs)


def not_equal(lhs, rhs):
    """1 where lhs != rhs, else 0, of arrays (broadcast) or numbers."""
    return NOT_EQUAL(lhs, rhs)


def greater(lhs, rhs):
    """1 where lhs > rhs, else 0, of arrays (broadcast) or numbers."""
    return GREATER(lhs, rhs)


def greater_equal(lhs, rhs):
    """1 where lhs >= rhs, else 0, of arrays (broadcast) or numbers."""
    return GREATER_EQUAL(lhs, rhs)


def lesser(lhs, rhs):
    """1 where lhs < rhs, else 0, of arrays (broadcast) or numbers."""
    return LESSER(lhs, rhs)


def lesser_equal(lhs, rhs):
    """1 where lhs <= rhs, else 0, of arrays (broadcast) or numbers."""
    return LESSER_EQUAL(lhs, rhs)


def logical_and(lhs, rhs):
    """1 where both are not zero, else 0, of arrays (broadcast) or numbers."""
    return LOGICAL_AND(lhs, rhs)


def logical_or(lhs, rhs):
    """1 where one is not zero, else 0, of arrays (broadcast) or numbers."""
    return LOGICAL_OR(lhs, rhs)


def logical_xor(lhs, rhs):
    """1 where exactly one is not zero, else 0, of arrays (broadcast) or numbers."""
    return LOGICAL_XOR(lhs, rhs)
