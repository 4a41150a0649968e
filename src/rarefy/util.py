"""MXNet's switches between its array semantics, and questions about the machine.

Arrays without dimensions or without elements exist here whatever these switches say. They decide
what `nd.save` and `Symbol.tojson` write: with NumPy's shapes switched on they mark it so, as MXNet
does. And they decide what `Symbol.infer_shape` takes for unknown: 0 and (), or -1 and None.
"""

import functools
import os
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from rarefy.base import MXNetError
from rarefy.context import gpu_memory_info, num_gpus

Function = TypeVar("Function", bound=Callable[..., Any])


class _Switch(threading.local):
    shape = False


_switch = _Switch()


def is_np_array() -> bool:
    """Whether `mx.np` arrays are what layers give; there are none."""
    return False


def is_np_shape() -> bool:
    """Whether NumPy's shapes are switched on in this thread."""
    return _switch.shape


def set_np_shape(active: bool) -> bool:
    """Switches NumPy's shapes on or off in this thread.

    Returns:
      How the switch stood before.
    """
    before, _switch.shape = _switch.shape, bool(active)
    return before


class np_shape:
    """A block, with `with`, in which NumPy's shapes are switched on or off.

    Args:
      active: whether they are on.
    """

    def __init__(self, active: bool = True):
        self._active = active
        self._before: list[bool] = []

    def __enter__(self) -> "np_shape":
        self._before.append(set_np_shape(self._active))
        return self

    def __exit__(self, *_) -> None:
        set_np_shape(self._before.pop())


def use_np_shape(function: Function) -> Function:
    """Decorates a function: it runs with NumPy's shapes switched on."""

    @functools.wraps(function)
    def run(*args, **kwargs):
        with np_shape(True):
            return function(*args, **kwargs)

    return run  # pyright: ignore[reportReturnType] - wraps keeps the signature


def getenv(name: str) -> str | None:
    """An environment variable, or None."""
    return os.environ.get(name)


def setenv(name: str, value: str | None) -> None:
    """Sets an environment variable, or removes it."""
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


def get_gpu_count() -> int:
    """How many GPUs this process can use."""
    return num_gpus()


def get_gpu_memory(gpu_dev_id: int) -> tuple[int, int]:
    """The memory of a GPU as `(free, total)` in bytes.

    Raises:
      ValueError: there is no such GPU.
    """
    try:
        return gpu_memory_info(gpu_dev_id)
    except MXNetError as error:
        raise ValueError(str(error)) from error
