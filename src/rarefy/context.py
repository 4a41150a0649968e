"""Contexts: where an array lives."""

import threading
from functools import lru_cache
from typing import Any, ClassVar

import jax
from jax.core import Tracer

from rarefy.base import MXNetError

DEVICE_TYPES = {"cpu": 1, "gpu": 2, "cpu_pinned": 3, "cpu_shared": 5}
"""The types of device and the numbers that stand for them in MXNet's files."""


class ContextError(MXNetError, KeyError, ValueError):
    """There is no such type of device."""

    __str__ = MXNetError.__str__


class _ContextClass(type):
    @property
    def default_ctx(cls) -> "Context":
        """The current context; assigned to, it is the one from now on, in this thread."""
        return current_context()

    @default_ctx.setter
    def default_ctx(cls, context: "Context") -> None:
        Context._local.current = context


class Context(metaclass=_ContextClass):
    """A device: a type and a number.

    Used with `with`, it is where arrays are made that are given no context.

    Args:
      device_type: 'cpu' or 'gpu' ('cpu_pinned' and 'cpu_shared' are the host's memory too), or a
        context to copy.
      device_id: the number of the device. The host may be given any number.

    Raises:
      ContextError: the type is unknown; a KeyError and a ValueError.
    """

    devstr2type: ClassVar[dict[str, int]] = DEVICE_TYPES
    devtype2str: ClassVar[dict[int, str]] = {number: name for name, number in DEVICE_TYPES.items()}

    _local: ClassVar[Any] = threading.local()
    __slots__ = ("_before", "device_id", "device_type")

    def __init__(self, device_type: "str | Context", device_id: int = 0):
        if isinstance(device_type, Context):
            device_type, device_id = device_type.device_type, device_type.device_id
        if device_type not in DEVICE_TYPES:
            raise ContextError(
                f"device_type must be one of {', '.join(DEVICE_TYPES)}; got {device_type!r}"
            )
        self.device_type: str = device_type
        self.device_id = int(device_id)
        self._before: list[Context | None] = []

    @property
    def device_typeid(self) -> int:
        """The number of the device type."""
        return DEVICE_TYPES[self.device_type]

    @property
    def device(self) -> Any:
        """The JAX device.

        Raises:
          MXNetError: there is no such device.
        """
        if self.device_type != "gpu":
            devices = jax.devices("cpu")
            return devices[self.device_id if 0 <= self.device_id < len(devices) else 0]
        try:
            devices = jax.devices("gpu")
        except RuntimeError:
            devices = []
        if not 0 <= self.device_id < len(devices):
            raise MXNetError(
                f"{self} was asked for, but this process has {len(devices)} GPUs; use cpu(), or "
                "install jax with GPU support"
            )
        return devices[self.device_id]

    def __enter__(self) -> "Context":
        self._before.append(getattr(self._local, "current", None))
        self._local.current = self
        return self

    def __exit__(self, *_) -> None:
        self._local.current = self._before.pop()

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Context)
            and self.device_type == other.device_type
            and self.device_id == other.device_id
        )

    def __hash__(self) -> int:
        return hash((self.device_type, self.device_id))

    def __repr__(self) -> str:
        return f"{self.device_type}({self.device_id})"

    def empty_cache(self) -> None:
        """Accepted for MXNet's sake; XLA manages its own memory."""


_CPU = Context("cpu", 0)


def cpu(device_id: int = 0) -> Context:
    """The host."""
    return Context("cpu", device_id)


def cpu_pinned(device_id: int = 0) -> Context:
    """The host's memory."""
    return Context("cpu_pinned", device_id)


def gpu(device_id: int = 0) -> Context:
    """A GPU. Arrays can be made there only if there is one."""
    return Context("gpu", device_id)


def num_gpus() -> int:
    """How many GPUs this process can use."""
    try:
        return len(jax.devices("gpu"))
    except RuntimeError:
        return 0


def gpu_memory_info(device_id: int = 0) -> tuple[int, int]:
    """The memory of a GPU as `(free, total)` in bytes, of what this process may take of it.

    Raises:
      MXNetError: there is no such GPU, or it does not tell.
    """
    found = gpu(device_id).device.memory_stats() or {}
    if "bytes_limit" not in found:
        raise MXNetError(f"gpu({device_id}) does not tell how much memory it has")
    total = int(found["bytes_limit"])
    return total - int(found.get("bytes_in_use", 0)), total


def current_context() -> Context:
    """Where arrays are made that are given no context: the innermost `with`, or cpu(0)."""
    return getattr(Context._local, "current", None) or _CPU


def context_of(value: Any) -> Context:
    """The context of a concrete array; the current one for a traced array and one that is still on
    the host."""
    leaf = getattr(value, "data", value)
    if not isinstance(leaf, jax.Array) or isinstance(leaf, Tracer):
        return current_context()
    return Context(*_kind_and_number(next(iter(leaf.devices()))))


@lru_cache(maxsize=64)
def _kind_and_number(device: Any) -> tuple[str, int]:
    kind = "gpu" if device.platform in ("gpu", "cuda", "rocm") else "cpu"
    return kind, jax.devices(device.platform).index(device)
