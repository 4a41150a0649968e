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

    _local: ClassVar[Any] = threading.local()

    def __init__(self):
        self._counts: dict[str, int] = {}
        self._before: list[NameManager] = []

    def get(self, name: str | None, hint: str) -> str:
        """A name: the one given, or `hint` with a number.

        Args:
          name: the name that the user gave, if any.
          hint: what the name begins with otherwise.
        """
        if name:
            return name
        number = self._counts.get(hint, 0)
        self._counts[hint] = number + 1
        return f"{hint}{number}"

    def __enter__(self) -> "NameManager":
        self._before.append(current())
        NameManager._local.current = self
        return self

    def __exit__(self, *_) -> None:
        NameManager._local.current = self._before.pop()


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
    found = getattr(NameManager._local, "current", None)
    if found is None:
        found = NameManager._local.current = NameManager()
    return found
