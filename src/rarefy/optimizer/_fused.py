"""Updating several parameters by one program."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from operator import is_
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from rarefy import _key, autograd
from rarefy._cell import Cell, holding, store_all
from rarefy._later import Later, finish, finish_all, new_kind, now, put_off, seen
from rarefy._ops.compiled import inlining
from rarefy._ops.precision import wide
from rarefy._ops.storage import canonical, is_traced
from rarefy.autograd._tape import spare
from rarefy.nd._handle import Handle
from rarefy.sparse import BCOO

Item = tuple[Any, Handle, Handle, Any]
"""A parameter's index, weight, gradient and state."""


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
        self._programs: dict[Any, _Program] = {}
        self._list = _List((), ())

    def divide(
        self, indices: Sequence[Any], weights: Sequence[Any], grads: Sequence[Any], states: Any
    ) -> tuple[list[Item], list[Item]]:
        """The parameters that one program updates, and the others."""
        arrays = (*weights, *grads, *states)
        if not self._list.is_of(indices, arrays):
            self._list = _List(indices, arrays)
        together, rest = self._list.together, self._list.rest
        if autograd.is_recording() or any(map(is_traced, self._list.weights())):
            return [], [*together, *rest]
        if self._list.sparse > 1:
            together, others = _of_one_size(together)
            rest = [*others, *rest]
        return ([], [*together, *rest]) if len(together) == 1 else (together, rest)

    def __call__(
        self, apply: Callable[..., None], items: Sequence[Item], hyper: Sequence[Mapping[str, Any]]
    ) -> None:
        """Updates parameters in place.

        Args:
          apply: the optimizer's `apply` or `apply_multi_precision`.
          items: the parameters, some that `divide` gave.
          hyper: the numbers of each.
        """
        arrays, described = self._list.of(items)
        names = tuple([tuple(each) for each in hyper])
        program = self._programs.get((described, names))
        if program is None:
            layout = [(*one, n) for one, n in zip(described, names, strict=True)]
            program = self._programs[described, names] = _Program(apply, layout)
        cells = []
        for array in arrays:
            slot = array._slot
            if slot is not None and slot.leaf is None:
                array._leave_record()
            cells.append(array._cell)
        spare(cells)
        with wide():
            own = [jax.tree.map(jnp.copy, c.value) if c.shared else c.value for c in cells]
            grads = [item[2]._given for item in items]
            grads = [g if type(g) is Later else canonical(g) for g in grads]
            numbers = list(chain.from_iterable(each.values() for each in hyper))
            new, random = program(own, grads, numbers)
        store_all(cells, new)
        if random is not None:
            _key.STATE.store(random)


class _List:
    """A list of parameters and what holds as long as it is made of the same arrays.

    Args:
      indices: of the parameters.
      arrays: their weights, their gradients and their states.

    Attributes:
      together: the parameters that can be updated together, as long as nothing is recorded or traced:
        weight and states are default and whole, the gradient is default or row_sparse, and no cell is
        there twice, so that all weights and states may be donated.
      rest: the others.
      sparse: how many gradients of `together` are row_sparse.
    """

    def __init__(self, indices: Sequence[Any], arrays: Sequence[Any]):
        self._indices, self._arrays = tuple(indices), arrays
        n = len(self._indices)
        items = list(
            zip(self._indices, arrays[:n], arrays[n : 2 * n], arrays[2 * n :], strict=True)
        )
        self.together = [one for one in items if _can_fuse(*one[1:])]
        cells = [a._cell for _, w, g, s in self.together for a in (w, g, *arrays_of(s))]
        if len(set(map(id, cells))) < len(cells):
            self.together = []
        ours = set(map(id, self.together))
        self.rest = [one for one in items if id(one) not in ours]
        self.sparse = sum(one[2]._stype == "row_sparse" for one in self.together)
        self._all = self._describe(self.together)
        self._weights = [weight._cell for _, weight, _, _ in self.together]

    def weights(self) -> list[Any]:
        """What the weights of `together` hold."""
        return [seen(cell) for cell in self._weights]

    def is_of(self, indices: Sequence[Any], arrays: Sequence[Any]) -> bool:
        """Whether it is the list of these parameters."""
        return (
            len(arrays) == len(self._arrays)
            and self._indices == tuple(indices)
            and all(map(is_, arrays, self._arrays))
        )

    def of(self, items: Sequence[Item]) -> tuple[list[Handle], Any]:
        """The arrays to be updated, and for each parameter its index and how its state nests."""
        return self._all if items is self.together else self._describe(items)

    @staticmethod
    def _describe(items: Sequence[Item]) -> tuple[list[Handle], Any]:
        arrays = [a for _, weight, _, state in items for a in (weight, *arrays_of(state))]
        return arrays, tuple((item[0], _shape_of(item[3])) for item in items)


def _can_fuse(weight: Any, grad: Any, state: Any) -> bool:
    return (
        isinstance(weight, Handle)
        and isinstance(grad, Handle)
        and grad._stype != "csr"
        and all(a._stype == "default" and a._path is None for a in (weight, *arrays_of(state)))
    )


def _of_one_size(items: Sequence[Item]) -> tuple[list[Item], list[Item]]:
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


def _shape_of(state: Any) -> Any:
    """How a state nests, hashable."""
    if isinstance(state, list | tuple):
        return tuple(map(_shape_of, state))
    return state is not None


class _Program:
    """The update of a list of parameters, compiled.

    Args:
      apply: the optimizer's `apply` or `apply_multi_precision`.
      layout: for each parameter its index, how its state nests and the names of its numbers.
    """

    def __init__(
        self, apply: Callable[..., None], layout: Sequence[tuple[Any, Any, Sequence[str]]]
    ):
        self._nested = layout
        self._apply = apply
        self._compiled = jax.jit(self.program, donate_argnums=0)
        self._draws = True
        self._kind = new_kind()
        self._last: list[float] = []
        self._numbers: Any = None

    def __call__(
        self, held: list[Any], grads: list[Any], hyper: list[float]
    ) -> tuple[Sequence[Any], Any]:
        """The new values of weights and states, and the random state where it has changed.

        Gradients that wait to be computed are computed in the same program.
        """
        numbers = self._as_array(hyper)
        if self._draws or Later not in map(type, grads):
            grads = list(map(now, grads))
            finish_all()  # the program takes over buffers
            new, random = self._compiled(held, grads, numbers, _key.STATE.value)
            self._draws = random is not None
            return new, random
        count = len(held)

        def trace(*operands: Any) -> Sequence[Any]:
            own, numbers, random = operands[:count], operands[-2], operands[-1]
            return [self.program(own, operands[count:-2], numbers, random)[0]]

        operands = [*held, *grads, numbers, _key.STATE.value]
        (new,) = put_off(self._kind, trace, operands, [None])
        assert new.task is not None
        finish([new.task], donated=held)
        return new.value, None

    def _as_array(self, hyper: list[float]) -> Any:
        """Numbers as an `(h,)` float64 array; the same one as long as they do not change."""
        if hyper != self._last:
            self._last, self._numbers = hyper, np.asarray(hyper, np.float64)
        elif isinstance(self._numbers, np.ndarray):
            self._numbers = jnp.asarray(self._numbers)
        return self._numbers

    def program(self, held, grads, numbers, random):
        """What is compiled: the new values, and the random state where it has changed."""
        values, numbers = iter(held), iter(numbers)
        arrays: list[Handle] = []

        def take() -> Handle:
            arrays.append(Handle._classes["default"](Cell(next(values))))
            return arrays[-1]

        def rebuild(shape: Any) -> Any:
            if isinstance(shape, tuple):
                return tuple(map(rebuild, shape))
            return take() if shape else None

        with holding([_key.STATE], [random]), inlining():
            for (index, shape, names), grad in zip(self._nested, grads, strict=True):
                weight, state = take(), rebuild(shape)
                scalars = {name: next(numbers) for name in names}
                self._apply(index, weight, Handle._wrap(grad), state, scalars)
            drawn = _key.STATE.value
        return [array._value for array in arrays], None if drawn is random else drawn
