"""Functions that a block calls before or after it is run."""

import weakref
from collections.abc import Callable, MutableMapping
from typing import Any


class HookHandle:
    """Takes a hook off again: with `detach`, or at the end of a `with` block."""

    def __init__(self) -> None:
        self._hooks: Callable[[], MutableMapping[int, Any] | None] | None = None

    def attach(self, hooks: MutableMapping[int, Any], hook: Callable[..., Any]) -> None:
        """Puts a hook among others.

        Args:
          hooks: the others; a dictionary that weak references can point to.
          hook: the hook.

        Raises:
          RuntimeError: the handle stands for a hook already.
        """
        if self._hooks is not None:
            raise RuntimeError("the handle stands for a hook already; make another one")
        hooks[id(self)] = hook
        self._hooks = weakref.ref(hooks)

    def detach(self) -> None:
        """Takes the hook off; done twice, it does nothing."""
        hooks = self._hooks() if self._hooks is not None else None
        if hooks is not None:
            hooks.pop(id(self), None)

    def __enter__(self) -> "HookHandle":
        return self

    def __exit__(self, *_: object) -> None:
        self.detach()
