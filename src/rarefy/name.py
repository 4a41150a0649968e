"""Names for symbols that are given none."""

import threading
from typing import Any, ClassVar


class _ManagerClass(type):
    @property
    def current(cls) -> "NameManager":
        """The innermost manager of this thread."""
        return current()


class NameManager(metaclass=_ManagerClass):
    """A block, with `with`, in which names are counted anew: `exp0`, `exp1`, ..."""

    _current: ClassVar[Any] = threading.local()

    def __init__(self):
        self._counter: dict[str, int] = {}
        self._before: list[NameManager] = []

    def get(self, name: str | None, hint: str) -> str:
        """A name: the one given, or `hint` with a number.

        Args:
          name: the name that the user gave, if any.
          hint: what the name begins with otherwise.
        """
        if name:
            return name
        number = self._counter.get(hint, 0)
        self._counter[hint] = number + 1
        return f"{hint}{number}"

    def __enter__(self) -> "NameManager":
        self._before.append(current())
        NameManager._current.value = self
        return self

    def __exit__(self, *_) -> None:
        NameManager._current.value = self._before.pop()


class Prefix(NameManager):
    """A block whose names begin with a prefix, also those that are given.

    Args:
      prefix: what they begin with.
    """

    def __init__(self, prefix: str):
        super().__init__()
        self._prefix = prefix

    def get(self, name: str | None, hint: str) -> str:
        """The prefix and a name as `NameManager.get` gives it."""
        return self._prefix + super().get(name, hint)


def current() -> NameManager:
    """The innermost manager of this thread."""
    found = getattr(NameManager._current, "value", None)
    if found is None:
        found = NameManager._current.value = NameManager()
    return found


current()  # so that the first thread has one from the start, as in MXNet
