"""Attributes that symbols get from the block they are made in."""

import threading
from typing import Any, ClassVar


class _ScopeClass(type):
    @property
    def current(cls) -> "AttrScope":
        """The innermost scope of this thread."""
        return current()


class AttrScope(metaclass=_ScopeClass):
    """A block, with `with`, whose symbols get attributes.

    Args:
      **kwargs: the attributes; strings.

    Raises:
      ValueError: an attribute is no string.
    """

    _current: ClassVar[Any] = threading.local()

    def __init__(self, **kwargs: str):
        for key, value in kwargs.items():
            if not isinstance(value, str):
                raise ValueError(f"Attributes need to be string; {key} is {value!r}")
        self._attr = kwargs
        self._before: list[tuple[AttrScope, dict[str, str]]] = []

    def get(self, attr: dict[str, str] | None) -> dict[str, str]:
        """The attributes of the scope with those given, which come first.

        Raises:
          ValueError: an attribute is no string.
        """
        for value in (attr or {}).values():
            if not isinstance(value, str):
                raise ValueError("Set Attr only accepts string values")
        return {**self._attr, **(attr or {})}

    def __enter__(self) -> "AttrScope":
        outer = current()
        self._before.append((outer, self._attr))
        self._attr = {**outer._attr, **self._attr}
        AttrScope._current.value = self
        return self

    def __exit__(self, *_) -> None:
        AttrScope._current.value, self._attr = self._before.pop()


def current() -> AttrScope:
    """The innermost scope of this thread."""
    found = getattr(AttrScope._current, "value", None)
    if found is None:
        found = AttrScope._current.value = AttrScope()
    return found


current()  # so that the first thread has one from the start, as in MXNet
