"""Checks of numbers that are not known while a program is traced, to be made on what it is given.

An operator's `check` looks at numbers (an id that is out of range), so a compiled program cannot make
it. Whoever traces one collects the checks that ask for the program's own arguments, and makes them at
each call.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import jax

from rarefy._ops.opdef import Operator
from rarefy._ops.storage import Value, is_traced


@dataclass(frozen=True)
class Check:
    """A check that could not be made.

    Attributes:
      op: the operator.
      values: its arrays, or where they come from.
      params: its parameters.
    """

    op: Operator
    values: tuple[Any, ...]
    params: Mapping[str, Any]


class _Open(threading.local):
    found: list[Check] | None = None


_open = _Open()


@contextmanager
def collecting() -> Iterator[list[Check]]:
    """Collects the checks of operators that run inside, where their arrays are traced."""
    before, found = _open.found, []
    _open.found = found
    try:
        yield found
    finally:
        _open.found = before


def check(op: Operator, values: Sequence[Value | None], params: Mapping[str, Any]) -> None:
    """Makes the check of an operator, or keeps it for later where numbers are not known."""
    assert op.check is not None
    if _open.found is not None and any(v is not None and is_traced(v) for v in values):
        _open.found.append(Check(op, tuple(values), params))
    op.check(values, params)


def on_arguments(found: Sequence[Check], arguments: Sequence[Any]) -> list[Check]:
    """The checks of the arguments of a program, with positions in place of traced arrays.

    Args:
      found: what `collecting` gave.
      arguments: the values that the program was traced with.

    Returns:
      Checks for `make`. An array that is no argument has its shape and dtype in its place; a check of
      no argument at all cannot be made and is left out.
    """
    position = {id(v): i for i, v in enumerate(arguments) if v is not None}
    kept = []
    for each in found:
        places = tuple(_place(v, position) for v in each.values)
        if any(isinstance(p, int) for p in places):
            kept.append(Check(each.op, places, each.params))
    return kept


def make(checks: Sequence[Check], arguments: Sequence[Any]) -> None:
    """Makes the checks that `on_arguments` gave.

    Raises:
      ValueError or what else the operator's check raises.
    """
    for each in checks:
        values = [arguments[p] if isinstance(p, int) else p for p in each.values]
        each.op.check(values, each.params)  # type: ignore[misc]


def _place(value: Any, position: Mapping[int, int]) -> Any:
    if value is None or not is_traced(value):
        return value
    known = position.get(id(value))
    return jax.ShapeDtypeStruct(value.shape, value.dtype) if known is None else known
