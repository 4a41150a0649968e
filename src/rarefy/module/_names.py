"""Checks that names of inputs fit the graph and what an iterator provides."""

import warnings
from collections.abc import Sequence
from typing import Any

from rarefy.base import ArgumentError
from rarefy.io import DataDesc
from rarefy.sym import Symbol

_PARAMETERS = ("_weight", "_bias", "_gamma", "_beta")


def require(condition: Any, message: str) -> None:
    """Raises unless something holds that a call needs.

    Raises:
      ArgumentError: with the message.
    """
    if not condition:
        raise ArgumentError(message)


def check_inputs(symbol: Symbol, names: Sequence[str], kind: str, *, refuse: bool) -> None:
    """Says which names are no arguments of the graph.

    Raises:
      ValueError: there are some, and `refuse` is set; otherwise it is a warning.
    """
    arguments = symbol.list_arguments()
    for name in names:
        if name in arguments:
            continue
        message = (
            f"You created Module with Module(..., {kind}_names={list(names)}) but input with name "
            f"{name!r} is not found in symbol.list_arguments(). Did you mean one of: "
            f"{', '.join(a for a in arguments if not a.endswith(_PARAMETERS))}"
        )
        if refuse:
            raise ValueError(message)
        warnings.warn(message, stacklevel=4)


def described(
    names: Sequence[str], shapes: Sequence[Any] | None, kind: str, *, refuse: bool
) -> list[DataDesc]:
    """Descriptions of inputs from descriptions or pairs.

    Raises:
      ValueError: they have other names, and `refuse` is set; otherwise it is a warning.
    """
    descs = [d if isinstance(d, DataDesc) else DataDesc(*d) for d in shapes or ()]
    if sorted(names) != sorted(d.name for d in descs):
        message = (
            f"Data provided by {kind}_shapes don't match names specified by {kind}_names "
            f"({descs} vs. {list(names)})"
        )
        if refuse:
            raise ValueError(message)
        warnings.warn(message, stacklevel=4)
    return descs
