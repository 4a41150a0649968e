"""Going back from arrays: the public calls of `rarefy.autograd`."""

from collections.abc import Sequence
from typing import Any, Protocol

from rarefy._cell import Cell
from rarefy._later import now
from rarefy._ops.gradient import as_stype
from rarefy._ops.precision import wide
from rarefy._ops.storage import Value, stype_of, zeros_of
from rarefy.autograd._derived import Taped, propagate_recorded
from rarefy.autograd._mode import _scope
from rarefy.autograd._tape import GradientError, Leaf, Slot, ones_like, propagate
from rarefy.autograd._tape import backward as _backward
from rarefy.base import ChoiceError

GRAD_REQS = ("write", "add", "null")


class Array(Protocol):
    """What the tape needs of an array handle."""

    _cell: Cell
    _slot: Slot | None
    _grad: Any

    @property
    def _value(self) -> Value: ...

    @property
    def _like(self) -> Any: ...

    @staticmethod
    def _wrap(value: Value) -> Any: ...


def mark_variables(variables, gradients, grad_reqs: str | Sequence[str] = "write") -> None:
    """Makes arrays variables whose gradients `backward` writes into the given arrays.

    Args:
      variables: an array or a list of arrays.
      gradients: for each the array that receives its gradient; its storage type is the gradient's.
      grad_reqs: 'write', 'add' or 'null', one for all or one for each.

    Raises:
      ValueError: the lists differ in length, a gradient's shape is not its variable's, or a grad_req
        is none of the three.
    """
    variables, gradients = _listed(variables), _listed(gradients)
    reqs = [grad_reqs] * len(variables) if isinstance(grad_reqs, str) else list(grad_reqs)
    if not len(variables) == len(gradients) == len(reqs):
        raise ValueError(
            f"mark_variables: {len(variables)} variables, {len(gradients)} gradients and {len(reqs)} "
            "grad_reqs; there must be one of each"
        )
    for i, (variable, gradient, req) in enumerate(zip(variables, gradients, reqs, strict=True)):
        if req not in GRAD_REQS:
            raise ChoiceError(f"grad_req must be one of {', '.join(GRAD_REQS)}; got {req!r}")
        if gradient._value.shape != variable._value.shape:
            raise ValueError(
                f"mark_variables: gradient {i} has shape {gradient._value.shape}, its variable "
                f"{variable._value.shape}; they must be equal"
            )
        leaf = Leaf(gradient._cell, req, stype_of(gradient._value))
        variable._slot = Slot(stype_of(variable._value), leaf=leaf)
        variable._grad = gradient


def backward(heads, head_grads=None, retain_graph=False, train_mode=True) -> None:
    """Computes the gradients of the heads with respect to the variables they depend on.

    Args:
      heads: an array or a list of arrays, computed under `record`.
      head_grads: for each head its cotangent, or None for ones; None for ones throughout.
      retain_graph: whether the record is kept, to go back again.
      train_mode: whether operators are pulled back as in training.

    Raises:
      GradientError: a head was not computed under `record` from a variable, or its record was
        released by an earlier call.
      TypeError: a head is no array, or its cotangent has another dtype.
      ValueError: the cotangents are not as many as the heads, or not of their shapes.
    """
    heads = _listed(heads)
    slots, cotangents = _seeds(heads, head_grads)
    with _scope(False, train_mode):
        _backward(slots, cotangents, retain_graph=retain_graph)


def grad(heads, variables, head_grads=None, retain_graph=None, create_graph=False, train_mode=True):
    """Returns the gradients of the heads with respect to variables; writes none.

    Args:
      heads: an array or a list of arrays, computed under `record`.
      variables: an array or a list of arrays with `attach_grad`.
      head_grads: for each head its cotangent, or None for ones.
      retain_graph: whether the record is kept, to go back again; by default if `create_graph`.
      create_graph: whether the gradients are recorded themselves, for gradients of gradients. The
        record is kept then.
      train_mode: whether operators are pulled back as in training.

    Returns:
      A list of arrays, also where `variables` is one array.

    Raises:
      GradientError: as `backward`, or an array of `variables` is no variable, or the heads do not
        depend on it; with `create_graph` also where a gradient on the way has none itself, because
        the number of elements that it stores depends on the values.
    """
    heads, variables = _listed(heads), _listed(variables)
    slots, cotangents = _seeds(heads, head_grads)
    for i, variable in enumerate(variables):
        if variable._slot is None or variable._slot.leaf is None:
            raise GradientError(
                f"grad: variable {i} is no variable; call attach_grad() on it first"
            )
    with _scope(False, train_mode), wide():
        if create_graph:
            given = [None] * len(heads) if head_grads is None else _listed(head_grads)
            taped = [
                Taped(c, g if g is None else g._slot)
                for c, g in zip(cotangents, given, strict=True)
            ]
            recorded = propagate_recorded(slots, taped)
        else:
            plain = propagate(slots, cotangents, retain_graph=bool(retain_graph))
            recorded = {s: c if c is None else Taped(now(c), None) for s, c in plain.items()}
    result = []
    with wide():
        for i, variable in enumerate(variables):
            slot = variable._slot
            if slot not in recorded:
                raise GradientError(f"grad: the heads do not depend on variable {i}")
            kind, found = slot.leaf.stype, recorded[slot]
            if found is None:
                value = variable._value
                found = Taped(zeros_of(value.shape, value.dtype, kind), None)
            place = found.slot if stype_of(found.value) == kind else None
            result.append(variable._wrap(as_stype(found.value, kind), place))
    return result


def _seeds(heads: Sequence[Array], head_grads) -> tuple[list[Slot], list[Value]]:
    grads = [None] * len(heads) if head_grads is None else _listed(head_grads)
    if len(grads) != len(heads):
        raise ValueError(f"backward: {len(heads)} heads but {len(grads)} head_grads")
    slots, cotangents = [], []
    for i, (head, grad) in enumerate(zip(heads, grads, strict=True)):
        _require_array(f"head {i}", head)
        if head._slot is None:
            raise GradientError(
                f"backward: head {i} was not computed under autograd.record() from an array with "
                "attach_grad()"
            )
        if grad is None:
            cotangent = ones_like(head._like, head._slot.wanted)
        else:
            cotangent = _head_gradient(i, head._like, grad)
        slots.append(head._slot)
        cotangents.append(cotangent)
    return slots, cotangents


def _head_gradient(i: int, head: Value, grad) -> Value:
    _require_array(f"head gradient {i}", grad)
    cotangent = grad._value
    if cotangent.shape != head.shape:
        raise ValueError(
            f"backward: head gradient {i} has shape {cotangent.shape}, its head {head.shape}; they "
            "must be equal"
        )
    if cotangent.dtype != head.dtype:
        raise TypeError(
            f"backward: head gradient {i} is {cotangent.dtype}, its head {head.dtype}; convert it "
            f"with .astype('{head.dtype}')"
        )
    return cotangent


def _require_array(name: str, array) -> None:
    if not hasattr(array, "_slot"):
        raise TypeError(
            f"backward: {name} must be an array of rarefy; got {type(array).__name__}. Make one with "
            "nd.array(...)"
        )


def _listed(x) -> list:
    return list(x) if isinstance(x, list | tuple) else [x]
