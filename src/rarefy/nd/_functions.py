"""Functions of the namespaces that put operators together."""

import math

from rarefy._ops.defs import OPERATORS
from rarefy.context import Context
from rarefy.nd import random
from rarefy.nd._invoke import invoke
from rarefy.nd._ndarray import NDArray


def reset_arrays(*data: NDArray, num_arrays: int | None = None, out=None, name=None) -> list:
    """Sets arrays to zero in place.

    Args:
      data: arrays of any shape and storage type.
      num_arrays: how many there are.
      out, name: accepted for MXNet's sake.

    Raises:
      ValueError: there are not `num_arrays` arrays.
    """
    if num_arrays not in (None, len(data)):
        raise ValueError(f"reset_arrays: there are {len(data)} arrays, but num_arrays={num_arrays}")
    for array in data:
        array._store(invoke(OPERATORS["zeros_like"], (array,), {})._value)
    return []


def isinf(data: NDArray) -> NDArray:
    """1 where an element is infinite, else 0; dtype of `data`."""
    return data.abs() == math.inf


def isnan(data: NDArray) -> NDArray:
    """1 where an element is NaN, else 0; dtype of `data`."""
    return data != data


def isfinite(data: NDArray) -> NDArray:
    """1 where an element is neither NaN nor infinite, else 0; dtype of `data`."""
    return data.abs() < math.inf


def rand_zipfian(
    true_classes: NDArray, num_sampled: int, range_max: int, ctx: Context | None = None
):
    """Draws classes with probabilities that fall as those of words by rank.

    Class c of n has the probability `log((c + 2) / (c + 1)) / log(n + 1)`.

    Args:
      true_classes: `(k,)`: classes whose expected count is wanted.
      num_sampled: how many classes are drawn, with replacement.
      range_max: n.
      ctx: where the results live.

    Returns:
      The classes drawn, `(num_sampled,)` int64; how often each true class is expected, `(k,)` float64;
      how often each class drawn is expected, `(num_sampled,)` float64.
    """
    whole = math.log(range_max + 1)
    drawn = random.uniform(0, whole, (num_sampled,), "float64", ctx)
    sampled = (drawn.exp() - 1).astype("int64") % range_max

    def expected(classes: NDArray) -> NDArray:
        classes = classes.astype("float64")
        return ((classes + 2) / (classes + 1)).log() * (num_sampled / whole)

    return sampled, expected(true_classes), expected(sampled)
