"""Updating several parameters by one program."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from rarefy import autograd
from rarefy._cell import Cell, store_all
from rarefy._ops.precision import wide
from rarefy._ops.storage import is_traced, stype_of
from rarefy.nd._handle import Handle

Item = tuple[Any, Handle, Handle, Any]
"""A parameter's index, weight, gradient and state."""


def can_fuse(index: Any, weight: Any, grad: Any, state: Any) -> bool:
    """Whether a parameter can be updated together with others: all its arrays are default and whole.

    The program of row_sparse gradients depends on how many rows they have, and that of several on
    each combination; such parameters are better updated one by one.
    """
    arrays = [weight, grad, *arrays_of(state)]
    return all(
        isinstance(a, Handle)
        and stype_of(a._value) == "default"
        and not is_traced(a._value)
        and (a is grad or a._path is None)
        for a in arrays
    )


def are_apart(items: Sequence[Item]) -> bool:
    """Whether no cell is there twice, so that all weights and states may be donated."""
    cells = [a._cell for _, weight, grad, state in items for a in (weight, grad, *arrays_of(state))]
    return len(set(map(id, cells))) == len(cells) and not autograd.is_recording()


def arrays_of(state: Any) -> list[Handle]:
    """The arrays of a state in order."""
    if state is None:
        return []
    if isinstance(state, list | tuple):
        return [array for part in state for array in arrays_of(part)]
    return [state]


class FusedUpdate:
    """Compiled updates of lists of parameters, a program for each list.

    Weights and states are donated; the numbers are operands.
    """

    def __init__(self) -> None:
        self._programs: dict[Any, Callable[..., Any]] = {}

    def __call__(
        self, apply: Callable[..., None], items: Sequence[Item], hyper: Sequence[Mapping[str, Any]]
    ) -> None:
        """Updates parameters in place.

        Args:
          apply: the optimizer's `apply` or `apply_multi_precision`.
          items: the parameters.
          hyper: the numbers of each.
        """
        held = [[weight, *arrays_of(state)] for _, weight, _, state in items]
        key = tuple(
            (item[0], _shape_of(item[3]), tuple(h)) for item, h in zip(items, hyper, strict=True)
        )
        if key not in self._programs:
            layout = [(item[0], item[3], tuple(h)) for item, h in zip(items, hyper, strict=True)]
            self._programs[key] = _program(apply, layout)
        for arrays in held:
            for array in arrays:
                array._leave_record()
        cells = [array._cell for arrays in held for array in arrays]
        numbers = np.asarray([value for h in hyper for value in h.values()], np.float64)
        with wide():
            own = [jax.tree.map(jnp.copy, c.value) if c.shared else c.value for c in cells]
            new = self._programs[key](own, [item[2]._value for item in items], numbers)
        store_all(cells, new)


def _shape_of(state: Any) -> Any:
    """How a state nests, hashable."""
    if isinstance(state, list | tuple):
        return tuple(map(_shape_of, state))
    return state is not None


def _program(apply: Callable[..., None], layout: Sequence[tuple[Any, Any, Sequence[str]]]) -> Any:
    nested = [(index, _shape_of(state), names) for index, state, names in layout]

    def program(held, grads, numbers):
        values, numbers = iter(held), iter(numbers)
        arrays: list[Handle] = []

        def take() -> Handle:
            arrays.append(Handle._classes["default"](Cell(next(values))))
            return arrays[-1]

        def rebuild(shape: Any) -> Any:
            if isinstance(shape, tuple):
                return tuple(map(rebuild, shape))
            return take() if shape else None

        for (index, shape, names), grad in zip(nested, grads, strict=True):
            weight, state = take(), rebuild(shape)
            scalars = {name: next(numbers) for name in names}
            apply(index, weight, Handle._wrap(grad), state, scalars)
        return [array._value for array in arrays]

    return jax.jit(program, donate_argnums=0)
