"""A gradient called without `jit`: its compiled programs, kept from call to call."""

from collections.abc import Callable
from enum import Enum
from typing import Any

import jax
import numpy as np
from jax.core import Tracer
from jax.extend.core import get_opaque_trace_state

from rarefy.sparse._row_grad._mixed import Mixed
from rarefy.sparse._row_grad._surroundings import are_same, surroundings

# The state outside of every transformation, as at import.
_OUTSIDE = get_opaque_trace_state()
# In a program the first are inputs, and the second, a bool among them, constants.
_INPUTS = (jax.Array, np.ndarray, np.generic, int, float, complex)
_CONSTANTS = (bool, str, bytes, type, np.dtype, Enum)


class Programs:
    """A function that is compiled once for each form of its arguments.

    Where it cannot be, it is called as it is: inside of another transformation, with arguments that
    are more than arrays, numbers and texts, if it needs the numbers of its arguments (or has no
    program for another reason), and for good once what it reads beside its arguments has changed.

    Args:
      compute: of positional and keyword arguments, to a tree.
      source: the user's function in it.
    """

    def __init__(self, compute: Callable[..., Any], source: Callable[..., Any]):
        self._compute, self._source = compute, source
        self._kept: dict[Any, Callable[..., Mixed] | None] = {}
        self._surroundings: list[Any] | None = None
        self._keeps, self._traces = True, 0

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self._keeps:
            now = surroundings(self._source)
            is_current = self._surroundings is None or are_same(self._surroundings, now)
            self._keeps = now is not None and is_current
        if not self._keeps:
            return self._compute(*args, **kwargs)
        traces = self._traces
        found = self._found(args, kwargs)
        if self._traces != traces:
            # What the function does to its surroundings, such as to count its calls, is no change.
            self._surroundings = surroundings(self._source)
        return found

    def _found(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if get_opaque_trace_state() == _OUTSIDE:
            leaves, structure = jax.tree.flatten((args, kwargs))
            key = _key(leaves, structure)
            if key is not None and key not in self._kept:
                self._kept[key] = self._program(leaves, structure)
            program = None if key is None else self._kept[key]
            if program is not None:
                try:
                    return program([x for x in leaves if _is_input(x)]).tree()
                except Exception:  # what is the user's fault comes again below, as it is
                    self._kept[key] = None
        return self._run(*args, **kwargs)

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        self._traces += 1
        return self._compute(*args, **kwargs)

    def _program(self, leaves: list[Any], structure: Any) -> Callable[..., Mixed]:
        constants = [None if _is_input(x) else x for x in leaves]
        is_input = [_is_input(x) for x in leaves]

        @jax.jit
        def program(inputs):
            rest = iter(inputs)
            whole = [next(rest) if i else c for i, c in zip(is_input, constants, strict=True)]
            args, kwargs = jax.tree.unflatten(structure, whole)
            return Mixed.of(self._run(*args, **kwargs))

        return program


def _is_input(leaf: Any) -> bool:
    return isinstance(leaf, _INPUTS) and not isinstance(leaf, bool)


def _key(leaves: list[Any], structure: Any) -> Any:
    """Equal for calls that one program can serve; None where none may be kept."""
    key: list[Any] = [structure]
    for leaf in leaves:
        if _is_input(leaf):
            if isinstance(leaf, Tracer) or (isinstance(leaf, np.ndarray) and leaf.dtype.hasobject):
                return None
            key.append(None)
        elif isinstance(leaf, _CONSTANTS):
            key.append((type(leaf), leaf))
        else:
            return None
    try:
        hash(structure)
    except TypeError:
        return None
    return tuple(key)
