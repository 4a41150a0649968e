"""The one thing that changes: a slot that holds an immutable value."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from jax.extend.core import get_opaque_trace_state

from rarefy._ops.storage import Value


class TraceError(RuntimeError):
    """A cell was written from another trace than the one it was made in."""


class Cell:
    """Holds a value that can be replaced.

    Attributes:
      value: the immutable value.
      version: counts the replacements.
      shared: whether another cell may hold the same buffers; then they are never donated.
    """

    __slots__ = ("_trace", "shared", "value", "version")

    def __init__(self, value: Value, *, shared: bool = False):
        self.value = value
        self.version = 0
        self.shared = shared
        self._trace = get_opaque_trace_state(convention="nnx")

    def store(self, value: Value, *, shared: bool = False) -> None:
        """Replaces the value.

        Raises:
          TraceError: the cell was made outside the running trace. The value would be a tracer that
            outlives its trace.
        """
        self._check(get_opaque_trace_state(convention="nnx"))
        self.value = value
        self.version += 1
        self.shared = shared

    def _check(self, trace: Any) -> None:
        if trace != self._trace:
            raise TraceError(
                "an array made outside a compiled function cannot be changed inside it, as the new "
                "value exists only while the function is traced; return the new value, or make the "
                "array a parameter of the compiled step"
            )


def store_all(cells: Iterable[Cell], values: Iterable[Value]) -> None:
    """Stores a value in each cell, as `Cell.store` does, asking only once which trace is running."""
    trace = get_opaque_trace_state(convention="nnx")
    for cell, value in zip(cells, values, strict=True):
        if cell._trace != trace:
            cell._check(trace)
        cell.value = value
        cell.version += 1
        cell.shared = False


@contextmanager
def holding(cells: Iterable[Cell], values: Iterable[Any]) -> Iterator[list[Cell]]:
    """Lets cells hold the given values, inside a trace, and gives them back their own at the end.

    This is how a compiled step sees the arrays that a user's function has closed over: while it is
    traced, their cells belong to that trace and may be read and written.
    """
    cells = list(cells)
    before = [(c.value, c.version, c.shared, c._trace) for c in cells]
    trace = get_opaque_trace_state(convention="nnx")
    try:
        for cell, value in zip(cells, values, strict=True):
            cell.value, cell._trace = value, trace
        yield cells
    finally:
        for cell, (value, version, shared, owner) in zip(cells, before, strict=True):
            cell.value, cell.version, cell.shared, cell._trace = value, version, shared, owner
