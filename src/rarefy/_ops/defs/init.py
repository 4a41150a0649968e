"""Arrays made from nothing."""

import math
from functools import lru_cache, partial

import jax
import jax.numpy as jnp
import numpy as np

from rarefy._ops.opdef import operator

Shape = tuple[int, ...]

SMALL = 1 << 18
"""Elements up to which an array is made by NumPy: compiling a program for its shape costs
milliseconds, copying it does not."""


_OFTEN = 64
"""After so many arrays of a shape the next ones are made by a program, in a third of the time."""


def filled(shape: Shape, value, dtype) -> jax.Array:
    """An array of one value."""
    if math.prod(shape) > SMALL:
        return jnp.full(shape, value, dtype)
    made = _made(shape, dtype)
    if made[0] < _OFTEN:
        made[0] += 1
        return jnp.asarray(np.full(shape, value, dtype))
    return _spread(np.asarray(value, dtype), shape)


@lru_cache(maxsize=1024)
def _made(shape: Shape, dtype) -> list[int]:
    """How many arrays of a shape and dtype were made, to be counted on."""
    return [0]


@partial(jax.jit, static_argnums=1)
def _spread(value, shape: Shape):
    return jnp.broadcast_to(value, shape)


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
    return jnp.asarray(np.repeat(numbers, repeat) if repeat > 1 else numbers)


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
    return jnp.asarray(np.linspace(start, stop, num, endpoint=endpoint, dtype=dtype))


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
    return jnp.asarray(np.eye(N, M or N, k, dtype))
