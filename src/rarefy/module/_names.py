"""Checks that names of inputs fit the graph and what an iterator provides."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from rarefy.base import ArgumentError
from rarefy.context import Context
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


def contexts_of_groups(given: Any, devices: int) -> list[dict[str, Context] | None]:
    """For each device the contexts of groups of nodes.

    Args:
      given: None; a list with a dict for each device; or a dict of contexts, or of lists of them with
        one for all devices or for each.
      devices: how many there are.

    Raises:
      ArgumentError: there are not as many as devices, or something is no context.
    """
    if given is None:
        return [None] * devices
    if isinstance(given, list):
        require(len(given) == devices, f"group2ctxs has {len(given)} dicts for {devices} devices")
        return given
    require(isinstance(given, Mapping), "group2ctxs must be a dict or a list of dicts")
    found: list[dict[str, Context] | None] = [{} for _ in range(devices)]
    for group, contexts in given.items():
        contexts = [contexts] if isinstance(contexts, Context) else list(contexts)
        require(
            len(contexts) in (1, devices) and all(isinstance(c, Context) for c in contexts),
            f"group2ctxs: {group!r} must have one context, or one for each of {devices} devices",
        )
        for i, mapping in enumerate(found):
            assert mapping is not None
            mapping[group] = contexts[i % len(contexts)]
    return found
