"""The one thing that changes: a slot that holds an immutable value."""

import threading
from collections import Counter
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


class _Held(threading.local):
    def __init__(self) -> None:
        self.cells: dict[int, Cell] = {}


_held = _Held()
_lock = threading.Lock()
_holders: Counter[int] = Counter()


def _of_thread(name: str) -> Any:
    """An attribute of `HeldCell`: of what this thread holds in its place, else of the cell itself."""
    own = getattr(Cell, name)

    def read(cell: Cell) -> Any:
        mine = _held.cells.get(id(cell))
        return own.__get__(cell) if mine is None else getattr(mine, name)

    def write(cell: Cell, value: Any) -> None:
        mine = _held.cells.get(id(cell))
        if mine is None:
            own.__set__(cell, value)
        else:
            setattr(mine, name, value)

    return property(read, write)


class HeldCell(Cell):
    """A cell that some thread holds another value in while it traces. Other threads do not see that
    value; at the end it becomes a plain cell again."""

    __slots__ = ()

    value, version, shared, _trace = map(_of_thread, ("value", "version", "shared", "_trace"))


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
    traced, their cells belong to that trace and may be read and written. Other threads go on seeing
    the cells' own values, except of cells of other kinds.
    """
    cells = list(cells)
    trace = get_opaque_trace_state(convention="nnx")
    plain: dict[int, Cell] = {}
    swapped: list[tuple[Cell, tuple[Any, ...]]] = []
    try:
        for cell, value in zip(cells, values, strict=True):
            before = (
                cell.value,
                cell.version,
                cell.shared,
                cell._trace,
            )  # now none waits for its value
            if _is_plain(cell):
                inside = plain[id(cell)] = Cell(value, shared=cell.shared)
                inside.version = cell.version
            else:
                swapped.append((cell, before))
                cell.value, cell._trace = value, trace
        with _in_this_thread([cell for cell in cells if id(cell) in plain], plain):
            yield cells
    finally:
        for cell, (value, version, shared, owner) in reversed(swapped):
            cell.value, cell.version, cell.shared, cell._trace = value, version, shared, owner


def _is_plain(cell: Cell) -> bool:
    return type(cell) is Cell or type(cell) is HeldCell


@contextmanager
def _in_this_thread(cells: list[Cell], inside: dict[int, Cell]) -> Iterator[None]:
    outer = _held.cells
    with _lock:
        for cell in cells:
            _holders[id(cell)] += 1
            cell.__class__ = HeldCell
    _held.cells = {**outer, **inside}
    try:
        yield
    finally:
        _held.cells = outer
        with _lock:
            for cell in cells:
                _holders[id(cell)] -= 1
                if not _holders[id(cell)]:
                    del _holders[id(cell)]
                    cell.__class__ = Cell
