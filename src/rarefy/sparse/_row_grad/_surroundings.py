"""What a function reads beside its arguments, so far as it can be seen from outside.

A program that is kept holds what it read when it was traced. `jax.jit` leaves it to the user that
this does not change; a gradient that is called without `jit` must not.
"""

import functools
import random
import sysconfig
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

MOST_PARTS = 1000
MOST_BYTES = 2**20

_LIBRARIES = (
    *(sysconfig.get_paths()[k] for k in ("stdlib", "purelib", "platlib")),
    str(Path(__file__).parents[2]),
)
_FIXED = (type, ModuleType, BuiltinFunctionType, jax.Array, np.generic, np.dtype, np.ufunc)
_DRAWS = (np.random.Generator, np.random.RandomState, random.Random)
_CHANGING_MODULES = (np.random, random, time)
_ACTING = frozenset(("print", "input", "open", "exec", "eval", "globals", "next"))


class _Unknown(Exception):
    """The function may read what cannot be compared, or does more than to compute."""


def surroundings(function: Any) -> list[Any] | None:
    """The values that a function can reach by the names in it, and the parts of these.

    None where they cannot be told, or may be others at each call.
    """
    try:
        found = list(islice(_reached(function, set()), MOST_PARTS + 1))
    except _Unknown:
        return None
    return found if len(found) <= MOST_PARTS else None


def are_same(before: list[Any], now: list[Any] | None) -> bool:
    """Whether two surroundings agree: numbers, texts and bytes by value, others by identity."""
    return (
        now is not None
        and len(before) == len(now)
        and all(
            a is b or (type(a) is type(b) and isinstance(a, int | float | str | bytes) and a == b)
            for a, b in zip(before, now, strict=True)
        )
    )


def _reached(value: Any, seen: set[int]) -> Iterator[Any]:
    if isinstance(value, np.ndarray):
        if value.nbytes > MOST_BYTES or value.dtype.hasobject:
            raise _Unknown
        yield value.tobytes()
        return
    yield value
    if isinstance(value, (Tracer, *_DRAWS)) or any(value is m for m in _CHANGING_MODULES):
        raise _Unknown
    if id(value) in seen or value is None or isinstance(value, _FIXED):
        return
    seen.add(id(value))
    for inner in _parts(value):
        yield from _reached(inner, seen)


def _parts(value: Any) -> list[Any]:
    if isinstance(value, FunctionType):
        return [] if value.__code__.co_filename.startswith(_LIBRARIES) else _of_function(value)
    if isinstance(value, MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, functools.partial):
        return [value.func, value.args, value.keywords]
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, list | tuple | set | frozenset):
        return list(value)
    if type(value).__module__.partition(".")[0] in ("jax", "jaxlib", "rarefy"):
        leaves = jax.tree.leaves(value)  # of a sparse array; a transformed function does not change
        return [] if len(leaves) == 1 and leaves[0] is value else leaves
    return list(getattr(value, "__dict__", {}).values())


def _of_function(function: FunctionType) -> list[Any]:
    names = set(_names(function.__code__))
    known = function.__globals__
    values = [known[name] for name in sorted(names & known.keys())]
    if names & _ACTING - known.keys() or ("random" in names and any(v is np for v in values)):
        raise _Unknown
    for cell in function.__closure__ or ():
        try:
            values.append(cell.cell_contents)
        except ValueError:  # not assigned yet
            raise _Unknown from None
    return [*values, *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _names(const)
