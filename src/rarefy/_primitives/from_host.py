"""Arrays of the host on the device, without a program for each shape."""

import math
from functools import lru_cache, partial
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp

from rarefy._primitives.zeros import zeros

SMALL = 1 << 18
"""Elements up to which an array is made without compiling: a program for its shape costs 10 ms."""

_OFTEN = 64
"""After so many arrays of a shape the next ones are made by a program, in half of the time."""


def from_host(array: np.ndarray, *, owned: bool = False) -> jax.Array:
    """Takes an array to the device.

    `jax.numpy.asarray` compiles a program for each new shape, and reads the array while the caller
    may be writing into it already. Here the numbers are those of the moment of the call.

    Args:
      array: of numbers.
      owned: whether nobody is going to write into it any more; then it is not copied first.

    Returns:
      The same shape and, where 64 bits are disabled, at most 32 of them.

    Raises:
      TypeError: it does not hold numbers.
    """
    if array.size > SMALL or _is_often(array.shape, array.dtype):
        return jnp.asarray(array if owned else np.array(array))
    return _put(array)


def filled(shape: tuple[int, ...], value: Any, dtype: Any) -> jax.Array:
    """An array of one value.

    Args:
      shape: its shape.
      value: a number.
      dtype: its dtype.
    """
    if math.prod(shape) > SMALL:
        return jnp.full(shape, value, dtype) if value else zeros(shape=tuple(shape), dtype=dtype)
    if _is_often(shape, np.dtype(dtype)):
        return _spread(np.asarray(value, dtype), shape)
    return _put(np.full(shape, value, dtype))


def _put(array: np.ndarray) -> jax.Array:
    """The array in memory of the device. What begins at a whole cache line would be used where it is,
    and memory of the host cannot be donated."""
    if array.dtype.hasobject or array.dtype.kind in "SU":
        raise TypeError(f"an array of {array.dtype} holds no numbers")
    memory = np.empty(array.nbytes + 2 * _LINE, np.uint8)
    begin = -memory.ctypes.data % _LINE + _LINE // 2
    copy = memory[begin : begin + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return jax.device_put(copy)


_LINE = 64


def _is_often(shape: tuple[int, ...], dtype: np.dtype) -> bool:
    made = _made(shape, dtype)
    made[0] += 1
    return made[0] > _OFTEN


@lru_cache(maxsize=1024)
def _made(shape: tuple[int, ...], dtype: np.dtype) -> list[int]:
    """How many arrays of a shape and dtype were made, to be counted on."""
    return [0]


@partial(jax.jit, static_argnums=1)
def _spread(value, shape: tuple[int, ...]):
    return jnp.broadcast_to(value, shape)
