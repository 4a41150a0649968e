"""Going back in a way that can be gone back through itself: gradients of gradients.

A pullback is a function of the values that an operator read and of the cotangents of its results. Here
it is put on the tape as a node of its own, a `Derived`, whose pullback is the one that JAX derives.
That node has a pullback of the same kind, so the order of a derivative is not limited.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp

from rarefy._ops.compiled import meaning, pullback
from rarefy._ops.gradient import cotangent_like, pull_back
from rarefy._ops.precision import wide
from rarefy._ops.storage import Value, stype_of, to_dense
from rarefy.autograd._tape import (
    GradientError,
    Node,
    Recorded,
    Slot,
    keep,
    next_number,
    reachable,
)
from rarefy.sparse import BCOO
from rarefy.sparse._row_sparse import add_row_sparse

Function = Callable[[tuple, Any], tuple]
"""Takes values and further operands, returns values, None where a result is zero. It must be the
same object whenever it is the same function: what is compiled for it is kept by identity."""


class Taped(NamedTuple):
    """A value and its place on the tape; None where it depends on no variable."""

    value: Value
    slot: Slot | None


class RecordsItself(Protocol):
    """A node that knows how to go back on the tape."""

    def pull_back_recorded(self, cotangents: Sequence[Taped | None]) -> Sequence[Taped | None]: ...


class Derived:
    """A recorded function of JAX.

    Attributes:
      fn: the function.
      values: what it read.
      operands: further operands that have no gradient.
    """

    differentiable = True

    def __init__(self, fn: Function, values: tuple, operands: Any, inputs: tuple[Slot | None, ...]):
        self.number = next_number()
        self.fn = fn
        self.values: tuple | None = values
        self.operands = operands
        self.inputs = inputs
        self.outputs: tuple[Slot, ...] = ()
        self.present: tuple[int, ...] = ()
        keep(self)

    def pull_back(self, cotangents: Sequence[Value | None]) -> tuple[Value | None, ...]:
        """Cotangents of the inputs from those of the outputs."""
        fn, values, operands = self.pullback([c is not None for c in cotangents])
        return _compiled(fn)((*values, *(c for c in cotangents if c is not None)), operands)

    def pullback(self, given: Sequence[bool]) -> tuple[Function, tuple, Any]:
        """The pullback as a function of the values and the cotangents that are given."""
        if self.values is None:
            raise GradientError(
                "the record of a gradient was released by an earlier backward; pass "
                "retain_graph=True to that call to go back twice"
            )
        want = tuple(slot and slot.wanted for slot in self.inputs)
        for value, kind in zip(self.values, want, strict=True):
            if kind == "default" and value is not None and stype_of(value) != "default":
                raise GradientError(
                    f"a gradient of a gradient with respect to a {stype_of(value)} array needs that "
                    "array's gradient to have its storage type; call attach_grad() without stype"
                )
        fn = _pullback_of_function(self.fn, want, self.present, tuple(given))
        return fn, self.values, self.operands

    def held(self) -> Sequence[Any]:
        """The values that `pull_back` is going to read; none after `release`."""
        return self.values or ()

    def release(self) -> None:
        """Lets the saved values go."""
        self.values = None


def _derive(fn: Function, values: tuple, operands: Any, slots: Sequence[Slot | None]) -> list:
    """Runs a function and puts it on the tape, if anything it reads is there."""
    found = _compiled(fn)(values, operands)
    if not any(slots):
        return [None if value is None else Taped(value, None) for value in found]
    node = Derived(fn, values, operands, tuple(slots))
    node.present = tuple(i for i, value in enumerate(found) if value is not None)
    node.outputs = tuple(
        Slot(stype_of(found[i]), node=node, index=k) for k, i in enumerate(node.present)
    )
    taken = iter(node.outputs)
    return [None if value is None else Taped(value, next(taken)) for value in found]


@lru_cache(maxsize=4096)
def _compiled(fn: Function) -> Function:
    return jax.jit(fn)  # type: ignore[return-value]


@lru_cache(maxsize=4096)
def _pullback_of_function(
    fn: Function, want: tuple, present: tuple[int, ...], given: tuple[bool, ...]
) -> Function:
    """The pullback of a function's results that are no None, as a function."""

    def back(values, operands):
        inputs, cotangents = values[: len(want)], iter(values[len(want) :])

        def through(*inputs):
            results = fn(inputs, operands)
            return tuple(results[i] for i in present)

        filled = tuple(
            cotangent_like(next(cotangents), out) if is_given else jax.tree.map(jnp.zeros_like, out)
            for out, is_given in zip(through(*inputs), given, strict=True)
        )
        return pull_back(through, inputs, filled, want)

    return back


@lru_cache(maxsize=4096)
def _pullback_of_operator(
    op, rule, signature, static, training: bool, want: tuple, given: tuple[bool, ...]
) -> Function:
    """The pullback of an operator as a function of its inputs and the cotangents given."""
    program = pullback(op, rule, signature, static, training, want)
    compute = meaning(op, rule, static, training)

    def back(values, operands):
        scalars, key, places = operands
        inputs, cotangents = values[: len(want)], iter(values[len(want) :])
        outer = tuple(next(cotangents) if is_given else None for is_given in given)
        # The results anew, so that what they owe to the inputs is seen.
        outputs = compute(inputs, scalars, key)
        found = program(inputs, outputs, outer, scalars, key)
        return tuple(
            cotangent_like(c, places[i]) if c is not None and i in places else c
            for i, c in enumerate(found)
        )

    return back


def _pullback(node: Any, given: Sequence[bool]) -> tuple[Function, tuple, Any]:
    if isinstance(node, Derived):
        return node.pullback(given)
    plan = node.plan
    if node.values is None:
        raise node.gone()
    if plan.rule.eager if plan.rule else plan.op.eager:
        kinds = ", ".join(str(s) for s in plan.signature)
        raise GradientError(
            f"create_graph=True: the gradient of {plan.op.name}({kinds}) has no gradient of its own, "
            "as the number of elements it stores depends on the values; make the arrays dense with "
            "tostype('default')"
        )
    want = tuple(slot and slot.wanted for slot in node.inputs)
    fn = _pullback_of_operator(
        plan.op, plan.rule, plan.signature, node.static, node.training, want, tuple(given)
    )
    return fn, node.values[0], (node.scalars, node.key, node.places or {})


def propagate_recorded(
    heads: Sequence[Slot], cotangents: Sequence[Taped]
) -> dict[Slot, Taped | None]:
    """`propagate` that records itself: the cotangents of all variables, with their places on the tape.

    Raises:
      GradientError: a record was released before, or a pullback on the way has no gradient.
    """
    pending: dict[Slot, Taped | None] = {}
    for slot, cotangent in zip(heads, cotangents, strict=True):
        pending[slot] = _add(pending.get(slot), cotangent)
    with wide():
        for node in sorted(reachable(heads), key=lambda node: node.number, reverse=True):
            outer = [pending.pop(slot, None) for slot in node.outputs]
            if all(c is None for c in outer) or not node.differentiable:
                for slot in node.inputs:
                    if slot is not None:
                        pending.setdefault(slot, None)
                continue
            for slot, found in zip(node.inputs, _pull_back(node, outer), strict=True):
                if slot is not None:
                    pending[slot] = _add(pending.get(slot), found)
    return {slot: found for slot, found in pending.items() if slot.leaf is not None}


def _pull_back(
    node: "Recorded | RecordsItself", outer: Sequence[Taped | None]
) -> Sequence[Taped | None]:
    if not isinstance(node, Node | Derived):
        return node.pull_back_recorded(outer)  # type: ignore[union-attr]
    fn, values, operands = _pullback(node, [c is not None for c in outer])
    present = [c for c in outer if c is not None]
    slots = (*node.inputs, *(c.slot for c in present))
    return _derive(fn, (*values, *(c.value for c in present)), operands, slots)


def _add(a: Taped | None, b: Taped | None) -> Taped | None:
    if a is None or b is None:
        return b if a is None else a
    return _derive(_sum, (a.value, b.value), (), (a.slot, b.slot))[0]


def _sum(values: tuple, operands: Any) -> tuple:
    a, b = values
    if isinstance(a, BCOO) and isinstance(b, BCOO):
        return (add_row_sparse(a, b),)
    return (to_dense(a) + to_dense(b),)
