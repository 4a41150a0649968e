"""Elementwise operators: their formula in NumPy, where they are defined, and what becomes of zero."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

_gamma = np.vectorize(math.gamma, otypes=[np.float64])
_lgamma = np.vectorize(math.lgamma, otypes=[np.float64])
_erf = np.vectorize(math.erf, otypes=[np.float64])


@dataclass(frozen=True)
class Unary:
    """An operator of one array.

    Attributes:
      fn: the same in NumPy.
      low, high: where it is tested.
      zero: whether zero stays zero, so that sparse arrays stay sparse.
      slope: its derivative in NumPy; None where it is zero almost everywhere.
    """

    fn: Callable
    slope: Callable | None
    low: float = -2.0
    high: float = 2.0
    zero: bool = True


def _none(x):
    return np.zeros_like(x)


UNARY: dict[str, Unary] = {
    "abs": Unary(np.abs, np.sign),
    "sign": Unary(np.sign, _none),
    "negative": Unary(np.negative, lambda x: -np.ones_like(x)),
    "square": Unary(np.square, lambda x: 2 * x),
    "relu": Unary(lambda x: np.maximum(x, 0), lambda x: (x > 0) * 1.0),
    "round": Unary(lambda x: np.trunc(x + np.copysign(0.5, x)), _none),
    "rint": Unary(lambda x: np.ceil(x - 0.5), _none),
    "ceil": Unary(np.ceil, _none),
    "floor": Unary(np.floor, _none),
    "trunc": Unary(np.trunc, _none),
    "fix": Unary(np.trunc, _none),
    "sqrt": Unary(np.sqrt, lambda x: 0.5 / np.sqrt(x), 0.1, 4),
    "cbrt": Unary(np.cbrt, lambda x: 1 / (3 * np.cbrt(x) ** 2)),
    "expm1": Unary(np.expm1, np.exp),
    "log1p": Unary(np.log1p, lambda x: 1 / (1 + x), -0.9, 3),
    "sin": Unary(np.sin, np.cos),
    "tan": Unary(np.tan, lambda x: 1 + np.tan(x) ** 2, -1.2, 1.2),
    "arcsin": Unary(np.arcsin, lambda x: 1 / np.sqrt(1 - x * x), -0.9, 0.9),
    "arctan": Unary(np.arctan, lambda x: 1 / (1 + x * x)),
    "sinh": Unary(np.sinh, np.cosh),
    "tanh": Unary(np.tanh, lambda x: 1 - np.tanh(x) ** 2),
    "arcsinh": Unary(np.arcsinh, lambda x: 1 / np.sqrt(1 + x * x)),
    "arctanh": Unary(np.arctanh, lambda x: 1 / (1 - x * x), -0.9, 0.9),
    "degrees": Unary(np.degrees, lambda x: np.full_like(x, 180 / np.pi)),
    "radians": Unary(np.radians, lambda x: np.full_like(x, np.pi / 180)),
    "softsign": Unary(lambda x: x / (1 + abs(x)), lambda x: 1 / (1 + abs(x)) ** 2),
    "erf": Unary(_erf, lambda x: 2 / np.sqrt(np.pi) * np.exp(-x * x)),
    "exp": Unary(np.exp, np.exp, zero=False),
    "log": Unary(np.log, lambda x: 1 / x, 0.1, 4, zero=False),
    "log10": Unary(np.log10, lambda x: 1 / (x * np.log(10)), 0.1, 4, zero=False),
    "log2": Unary(np.log2, lambda x: 1 / (x * np.log(2)), 0.1, 4, zero=False),
    "cos": Unary(np.cos, lambda x: -np.sin(x), zero=False),
    "arccos": Unary(np.arccos, lambda x: -1 / np.sqrt(1 - x * x), -0.9, 0.9, zero=False),
    "cosh": Unary(np.cosh, np.sinh, zero=False),
    "arccosh": Unary(np.arccosh, lambda x: 1 / np.sqrt(x * x - 1), 1.1, 4, zero=False),
    "rsqrt": Unary(lambda x: x**-0.5, lambda x: -0.5 * x**-1.5, 0.1, 4, zero=False),
    "rcbrt": Unary(
        lambda x: 1 / np.cbrt(x), lambda x: -1 / (3 * np.cbrt(x) ** 4), 0.1, 4, zero=False
    ),
    "reciprocal": Unary(lambda x: 1 / x, lambda x: -1 / x**2, 0.2, 4, zero=False),
    "gamma": Unary(_gamma, None, 0.5, 4, zero=False),
    "gammaln": Unary(_lgamma, None, 0.5, 4, zero=False),
    "sigmoid": Unary(
        lambda x: 1 / (1 + np.exp(-x)),
        lambda x: np.exp(-x) / (1 + np.exp(-x)) ** 2,
        zero=False,
    ),
}


@dataclass(frozen=True)
class WithNumber:
    """An operator of an array x and a number s.

    Attributes:
      fn: the same in NumPy.
      keeps: for which numbers zero stays zero.
    """

    fn: Callable
    keeps: Callable[[float], bool] = lambda s: False


def _one(compare):
    return lambda x, s: compare(x, s) * 1.0


WITH_NUMBER: dict[str, WithNumber] = {
    "_plus_scalar": WithNumber(np.add, lambda s: s == 0),
    "_minus_scalar": WithNumber(np.subtract, lambda s: s == 0),
    "_rminus_scalar": WithNumber(lambda x, s: s - x),
    "_mul_scalar": WithNumber(np.multiply, lambda s: True),
    "_div_scalar": WithNumber(np.divide, lambda s: True),
    "_mod_scalar": WithNumber(lambda x, s: np.mod(x, s) if s else np.zeros_like(x)),
    "_power_scalar": WithNumber(lambda x, s: np.abs(x) ** s),
    "_maximum_scalar": WithNumber(np.maximum),
    "_minimum_scalar": WithNumber(np.minimum),
    "_hypot_scalar": WithNumber(np.hypot, lambda s: s == 0),
    "_equal_scalar": WithNumber(_one(np.equal), lambda s: s != 0),
    "_not_equal_scalar": WithNumber(_one(np.not_equal), lambda s: s == 0),
    "_greater_scalar": WithNumber(_one(np.greater), lambda s: s >= 0),
    "_greater_equal_scalar": WithNumber(_one(np.greater_equal), lambda s: s > 0),
    "_lesser_scalar": WithNumber(_one(np.less), lambda s: s <= 0),
    "_lesser_equal_scalar": WithNumber(_one(np.less_equal), lambda s: s < 0),
}
