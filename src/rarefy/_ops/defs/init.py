"""Arrays made from nothing."""

import numpy as np

from rarefy._ops.opdef import operator
from rarefy._primitives.from_host import filled, from_host

Shape = tuple[int, ...]


@operator("_zeros", visible="internal", eager=True, differentiable=False)
def zeros(*, shape: Shape, dtype: str = "float32"):
    """Zeros.

    Args:
      shape: the shape.
      dtype: the dtype.

    Returns:
      `shape`, dense.
    """
    return filled(shape, 0, dtype)


@operator("_ones", visible="internal", eager=True, differentiable=False)
def ones(*, shape: Shape, dtype: str = "float32"):
    """Ones.

    Args:
      shape: the shape.
      dtype: the dtype.

    Returns:
      `shape`, dense.
    """
    return filled(shape, 1, dtype)


@operator("_full", visible="internal", eager=True, differentiable=False)
def full(*, shape: Shape, value: float, dtype: str = "float32"):
    """One value throughout.

    Args:
      shape: the shape.
      value: the value.
      dtype: the dtype.

    Returns:
      `shape`, dense.
    """
    return filled(shape, value, dtype)


@operator("_arange", visible="internal", eager=True, differentiable=False)
def arange(
    *,
    start: float,
    stop: float | None = None,
    step: float = 1.0,
    repeat: int = 1,
    dtype: str = "float32",
):
    """Numbers at equal distances.

    Args:
      start: the first number; with `stop` None the numbers run from 0 to `start`.
      stop: the numbers stay below it.
      step: their distance.
      repeat: how often each stands.
      dtype: the dtype.

    Returns:
      `(count * repeat,)`, dense.

    Raises:
      MXNetError: `step` is zero, or `repeat` is not positive.
    """
    if step == 0 or repeat < 1:
        raise ValueError(f"step must not be 0 and repeat be positive; got {step} and {repeat}")
    first, last = (0, start) if stop is None else (start, stop)
    numbers = np.arange(first, last, step, dtype=dtype)
    return from_host(np.repeat(numbers, repeat) if repeat > 1 else numbers, owned=True)


@operator("_linspace", visible="internal", eager=True, differentiable=False)
def linspace(*, start: float, stop: float, num: int, endpoint: bool = True, dtype: str = "float32"):
    """Numbers that divide an interval evenly.

    Args:
      start, stop: the ends.
      num: how many numbers.
      endpoint: whether `stop` is one of them.
      dtype: the dtype.

    Returns:
      `(num,)`, dense.
    """
    return from_host(np.linspace(start, stop, num, endpoint=endpoint, dtype=dtype), owned=True)


@operator("_eye", visible="internal", eager=True, differentiable=False)
def eye(*, N: int, M: int = 0, k: int = 0, dtype: str = "float32"):
    """A matrix with ones on a diagonal.

    Args:
      N: rows.
      M: columns; 0 for as many as rows.
      k: which diagonal; above the main one where positive.
      dtype: the dtype.

    Returns:
      `(N, M)`, dense.
    """
    return from_host(np.eye(N, M or N, k, dtype), owned=True)
