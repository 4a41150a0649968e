"""Who watches operators run: nobody, or a profiler."""

from collections.abc import Callable
from typing import Any


class Watch:
    """One slot, that the places where operators run look into.

    Attributes:
      run: None, or a function `(name, function, *args, **kwargs)` that calls the function in its place
        and returns its result.
    """

    __slots__ = ("run",)

    def __init__(self) -> None:
        self.run: Callable[..., Any] | None = None


watch = Watch()
