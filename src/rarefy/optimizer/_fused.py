"""Updating several parameters by one program."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from rarefy import _key, autograd
from rarefy._cell import Cell, holding, store_all
from rarefy._later import Later, finish, finish_all, new_kind, now, put_off
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
        value = item[2]._like
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
            self._programs[key] = _Program(apply, layout)
        for arrays in held:
            for array in arrays:
                array._leave_record()
        cells = [array._cell for arrays in held for array in arrays]
        numbers = np.asarray([value for h in hyper for value in h.values()], np.float64)
        with wide():
            own = [jax.tree.map(jnp.copy, c.value) if c.shared else c.value for c in cells]
            grads = [item[2]._given for item in items]
            grads = [g if type(g) is Later else canonical(g) for g in grads]
            new, random = self._programs[key](own, grads, numbers)
        store_all(cells, new)
        if random is not None:
            _key.STATE.store(random)


def _shape_of(state: Any) -> Any:
    """How a state nests, hashable."""
    if isinstance(state, list | tuple):
        return tuple(map(_shape_of, state))
    return state is not None


class _Program:
    """The update of a list of parameters, compiled.

    Args:
      apply: the optimizer's `apply` or `apply_multi_precision`.
      layout: for each parameter its index, its state and the names of its numbers.
    """

    def __init__(
        self, apply: Callable[..., None], layout: Sequence[tuple[Any, Any, Sequence[str]]]
    ):
        self._nested = [(index, _shape_of(state), names) for index, state, names in layout]
        self._apply = apply
        self._compiled = jax.jit(self._trace, donate_argnums=0)
        self._draws = True
        self._kind = new_kind()

    def __call__(
        self, held: list[Any], grads: list[Any], numbers: np.ndarray
    ) -> tuple[Sequence[Any], Any]:
        """The new values of weights and states, and the random state where it has changed.

        Gradients that wait to be computed are computed in the same program.
        """
        if self._draws or not any(type(g) is Later for g in grads):
            grads = list(map(now, grads))
            finish_all()  # the program takes over buffers
            new, random = self._compiled(held, grads, numbers, _key.STATE.value)
            self._draws = random is not None
            return new, random
        count = len(held)

        def trace(*operands: Any) -> Sequence[Any]:
            own, numbers, random = operands[:count], operands[-2], operands[-1]
            return self._trace(own, operands[count:-2], numbers, random)[0]

        operands = [*held, *grads, numbers, _key.STATE.value]
        laters = put_off(self._kind, trace, operands, held)
        finish([t for x in laters if (t := x.task) is not None][:1], donated=held)
        return [later.value for later in laters], None

    def _trace(self, held, grads, numbers, random):
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
            for (index, shape, names), grad in zip(self._nested, grads, strict=True):
                weight, state = take(), rebuild(shape)
                scalars = {name: next(numbers) for name in names}
                self._apply(index, weight, Handle._wrap(grad), state, scalars)
            drawn = _key.STATE.value
        return [array._value for array in arrays], None if drawn is random else drawn
