"""Updating several parameters by one program."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from rarefy import _key, autograd
from rarefy._cell import Cell, holding, store_all
from rarefy._ops.precision import wide
from rarefy._ops.storage import canonical, is_traced
from rarefy.nd._handle import Handle
from rarefy.sparse import BCOO

Item = tuple[Any, Handle, Handle, Any]
"""A parameter's index, weight, gradient and state."""


def can_fuse(weight: Any, grad: Any, state: Any) -> bool:
    """Whether a parameter can be updated together with others: weight and states are default and
    whole, the gradient is default or row_sparse."""
    return (
        isinstance(weight, Handle)
        and isinstance(grad, Handle)
        and grad._stype != "csr"
        and all(a._stype == "default" and a._path is None for a in (weight, *arrays_of(state)))
        and not is_traced(weight._cell.value)
    )


def of_one_size(items: Sequence[Item]) -> tuple[list[Item], list[Item]]:
    """Those whose row_sparse gradients have as many slots as the first one, and the others.

    A program is made for the slots of its gradients. They come from a short ladder, but there would be
    one for each combination of several.
    """
    together, rest, slots = [], [], None
    for item in items:
        value = item[2]._value
        if isinstance(value, BCOO):
            slots = value.nse if slots is None else slots
            if value.nse != slots:
                rest.append(item)
                continue
        together.append(item)
    return together, rest


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
            grads = [canonical(item[2]._value) for item in items]
            new, random = self._programs[key](own, grads, numbers, _key.STATE.value)
        store_all(cells, new)
        if random is not None:
            _key.STATE.store(random)


def _shape_of(state: Any) -> Any:
    """How a state nests, hashable."""
    if isinstance(state, list | tuple):
        return tuple(map(_shape_of, state))
    return state is not None


def _program(apply: Callable[..., None], layout: Sequence[tuple[Any, Any, Sequence[str]]]) -> Any:
    nested = [(index, _shape_of(state), names) for index, state, names in layout]

    def program(held, grads, numbers, random):
        values, numbers = iter(held), iter(numbers)
        arrays: list[Handle] = []

        def take() -> Handle:
            arrays.append(Handle._classes["default"](Cell(next(values))))
            return arrays[-1]

        def rebuild(shape: Any) -> Any:
            if isinstance(shape, tuple):
                return tuple(map(rebuild, shape))
            return take() if shape else None

        with holding([_key.STATE], [random]):
            for (index, shape, names), grad in zip(nested, grads, strict=True):
                weight, state = take(), rebuild(shape)
                scalars = {name: next(numbers) for name in names}
                apply(index, weight, Handle._wrap(grad), state, scalars)
            drawn = _key.STATE.value
        return [array._value for array in arrays], None if drawn is random else drawn

    return jax.jit(program, donate_argnums=0)
