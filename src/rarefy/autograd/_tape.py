"""The tape: reverse mode over operators, with cotangents of any storage type.

A node is data: an operator, the storage types it ran on, its parameters, the slots it read and wrote
and the values it saved. How to pull a cotangent back is looked up by that data and compiled once
(`rarefy._ops.compiled.pullback`). The same engine runs on concrete values and on tracers, so a whole
step of recording, going back and updating can be one compiled program.

It exists beside JAX's own reverse mode because JAX gives a cotangent the type of its primal: the
gradient of a dense table would be dense.
"""

import itertools
import math
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Any, Protocol
from weakref import ref

import jax
import jax.numpy as jnp

from rarefy._cell import Cell
from rarefy._later import Later, may_wait, now, wait_all
from rarefy._ops.compiled import Static, inlined, pullback, split_params
from rarefy._ops.fallback import require_room_back
from rarefy._ops.gradient import add, as_stype, cotangent_like
from rarefy._ops.infer import Plan
from rarefy._ops.opdef import Signature
from rarefy._ops.places import with_stored
from rarefy._ops.precision import wide
from rarefy._ops.storage import SType, Value, stype_of, zeros_of
from rarefy._primitives.from_host import filled
from rarefy._watch import watch
from rarefy.base import MXNetError
from rarefy.sparse import BCOO, BCSR

_numbers = itertools.count()


def next_number() -> int:
    """The number of a new node: nodes are gone back through from the highest to the lowest."""
    return next(_numbers)


class Recorded(Protocol):
    """What the tape needs of a node.

    Attributes:
      number: from `next_number`.
      inputs: for each array its slot, None where it depends on no variable.
      outputs: a slot for each result.
      differentiable: whether it has a gradient; where it has none, that of its inputs is zero.
      puts_off: whether `pull_back` takes `Later`s and may return some; it need not be there.
    """

    number: int

    @property
    def inputs(self) -> "tuple[Slot | None, ...]": ...

    @property
    def outputs(self) -> "tuple[Slot, ...]": ...

    @property
    def differentiable(self) -> bool: ...

    def pull_back(self, cotangents: Sequence[Value | None]) -> tuple[Value | None, ...]:
        """Cotangents of the inputs from those of the outputs."""
        ...

    def held(self) -> Iterable[Any]:
        """The values that `pull_back` is going to read; `()` after `release`."""
        ...

    def release(self) -> None:
        """Lets the saved values go; there is no going back through the node any more."""
        ...


_kept: list[ref[Recorded]] = []  # some are gone since, or hold nothing any more
_look_through = 1 << 10  # at how many of them these are taken out
_lock = threading.Lock()


def release(heads: Iterable["Slot"]) -> None:
    """Lets the records go that the heads depend on, as a backward pass does at its end."""
    _release(reachable(heads))


def _release(nodes: Iterable[Recorded]) -> None:
    for node in nodes:
        node.release()
        for slot in node.outputs:
            slot.released = True


def keep(node: Recorded) -> None:
    """Notes that a node holds values, for `spare`."""
    global _look_through
    _kept.append(ref(node))
    if len(_kept) > _look_through:
        _look_through = max(1 << 10, 2 * len(all_held()))


def all_held() -> list[Iterable[Any]]:
    """For each node that holds values what it holds."""
    found, kept = [], []
    with _lock:
        count = len(_kept)  # another thread may record meanwhile
        for each in _kept[:count]:
            node = each()
            if node is not None and (held := node.held()):
                kept.append(each)
                found.append(held)
        _kept[:count] = kept
    return found


def spare(cells: Iterable[Cell]) -> None:
    """Marks those of some cells as shared whose buffers a record is going to read, so that no program
    takes them over. After a backward pass its record reads none."""
    held = _kept and [value for values in all_held() for value in values if value is not None]
    if held:
        needed = set(map(id, jax.tree.leaves(held)))
        for cell in cells:
            if not cell.shared and any(id(x) in needed for x in jax.tree.leaves(cell.value)):
                cell.shared = True


class GradientError(MXNetError):
    """A gradient was asked for that cannot be computed."""


@dataclass(eq=False)
class Leaf:
    """Where the gradient of a variable goes.

    Attributes:
      grad: the cell of the gradient.
      grad_req: 'write', 'add' or 'null'.
      stype: storage type of the gradient.
      fresh: whether `backward` has written the gradient since the flag was last taken down.
    """

    grad: Cell | None
    grad_req: str
    stype: SType
    fresh: bool = False


class Slot:
    """One recorded value: a variable (with a leaf) or the result of a node.

    Attributes:
      wanted: the storage type that the cotangent of this value should have: that of the gradient of a
        variable, else that of the value; but 'default' for a sparse value made of one whose cotangent
        is dense, as that has to know what the cotangent is in places that are not stored.
      released: whether a backward pass has let the values of its node go: then nothing needs the
        array to stay as it is.
    """

    __slots__ = ("index", "leaf", "node", "released", "wanted")

    def __init__(
        self,
        wanted: SType,
        *,
        leaf: Leaf | None = None,
        node: Recorded | None = None,
        index: int = 0,
    ):
        self.wanted: SType = leaf.stype if leaf else wanted
        self.leaf = leaf
        self.node = node
        self.index = index
        self.released = False


class Node:
    """One recorded operator."""

    __slots__ = (
        "__weakref__",
        "inputs",
        "key",
        "number",
        "outputs",
        "places",
        "plan",
        "scalars",
        "shapes",
        "static",
        "training",
        "values",
    )

    def __init__(self, plan: Plan, static: Static, scalars, training: bool, key, inputs):
        self.number = next_number()
        self.plan = plan
        self.static = static
        self.scalars = scalars
        self.training = training
        self.key = key
        self.inputs: tuple[Slot | None, ...] = inputs
        self.values: tuple[tuple[Value | None, ...], tuple[Value, ...]] | None = None
        self.places: dict[int, Value] | None = None
        self.outputs: tuple[Slot, ...] = ()

    @property
    def differentiable(self) -> bool:
        """Whether the operator has a gradient."""
        return self.plan.op.differentiable

    def pull_back(self, cotangents: Sequence[Value | None]) -> tuple[Value | None, ...]:
        """Cotangents of the inputs from those of the outputs."""
        if self.values is None:
            raise self.gone()
        want: Signature = tuple(slot and slot.wanted for slot in self.inputs)
        plan = self.plan
        program = inlined(
            pullback(plan.op, plan.rule, plan.signature, self.static, self.training, want)
        )
        inputs, outputs = self.values
        require_room_back(plan.op, plan.signature, inputs, want)
        given = (inputs, outputs, tuple(cotangents), self.scalars, self.key)
        if watch.run is None:
            found = program(*given)
        else:
            found = watch.run(f"_backward_{plan.op.name}", program, *given)
        places = self.places
        if not places:
            return found
        return tuple(
            _in_places(c, places[i]) if i in places and c is not None else c
            for i, c in enumerate(found)
        )

    def held(self) -> Iterable[Any]:
        """The values that `pull_back` is going to read; none after `release`."""
        return () if self.values is None else itertools.chain(*self.values)

    def gone(self) -> GradientError:
        """The error that the record was released."""
        return GradientError(
            f"the record of {self.plan.op.name} was released by an earlier backward; pass "
            "retain_graph=True to that call to go back twice"
        )

    def release(self) -> None:
        """Lets the saved values go; there is no going back through the node any more."""
        self.values = None
        self.places = None


def record(
    plan: Plan,
    params: dict[str, Any],
    training: bool,
    key: jax.Array | None,
    slots: Sequence[Slot | None],
    inputs: Sequence[Value | None],
    outputs: Sequence[Value],
    given: Sequence[Value | None],
) -> tuple[Slot, ...]:
    """Puts an operator that has run on the tape and returns the slots of its results.

    `given` are the inputs before they were made dense, where they were: a cotangent in the storage
    type of such an array lives in the places that the array stores.
    """
    static, scalars = split_params(plan.op, params)
    node = Node(plan, static, scalars, training, key, tuple(slots))
    node.values = (tuple(inputs), tuple(outputs))
    keep(node)
    if plan.fallback:
        node.places = {
            i: value
            for i, (slot, value) in enumerate(zip(slots, given, strict=True))
            if slot is not None
            and isinstance(value, BCSR | BCOO)
            and slot.wanted == stype_of(value)
        }
    dense = any(
        slot is not None and slot.wanted == "default" and (kind != "default" or plan.op.converts)
        for slot, kind in zip(slots, plan.signature, strict=True)
    )
    node.outputs = tuple(
        Slot("default" if dense else stype, node=node, index=i) for i, stype in enumerate(plan.out)
    )
    return node.outputs


def backward(
    heads: Sequence[Slot],
    cotangents: Sequence[Value],
    *,
    retain_graph: bool = False,
) -> None:
    """Goes back from the heads and writes the gradients of the variables that they depend on.

    Args:
      heads: slots of recorded values.
      cotangents: one for each head, of its shape.
      retain_graph: whether the record is kept, to go back again.

    Raises:
      GradientError: a record was released before.

    The gradient of a variable that the heads depend on only through operators without a gradient is
    zero.
    """
    found = propagate(heads, cotangents, retain_graph=retain_graph)
    waiting: list[tuple[Cell, Later]] = []
    for slot, cotangent in found.items():
        leaf = slot.leaf
        if leaf is None or leaf.grad is None or leaf.grad_req == "null":
            continue
        if type(cotangent) is Later and leaf.grad_req == "write" and may_wait(leaf.grad):
            waiting.append((leaf.grad, cotangent))
        elif not _write(leaf, now(cotangent), cotangents):
            continue
        leaf.fresh = True
    if waiting:
        wait_all(waiting)


def _write(leaf: Leaf, cotangent: Value | None, heads: Sequence[Value]) -> bool:
    """Writes the gradient of a variable; False where there is nothing to write."""
    assert leaf.grad is not None
    before = leaf.grad.value
    with wide():
        if cotangent is not None:
            value = as_stype(cotangent, leaf.stype)
            value = add(before, value) if leaf.grad_req == "add" else value
        elif leaf.grad_req == "add" or before is None:
            return False
        else:
            value = zeros_of(before.shape, before.dtype, leaf.stype)
    assert value is not None
    # The caller, or the next backward, has its head gradients too.
    leaf.grad.store(value, shared=any(value is c for c in heads))
    return True


def propagate(
    heads: Sequence[Slot],
    cotangents: Sequence[Value],
    *,
    retain_graph: bool = False,
) -> dict[Slot, Value | None]:
    """The cotangents of all variables that the heads depend on, by slot; None where it is zero. They
    may be `Later`s, of the storage type that is wanted."""
    pending: dict[Slot, Value | None] = {}
    for slot, cotangent in zip(heads, cotangents, strict=True):
        pending[slot] = add(pending.get(slot), cotangent)
    nodes = sorted(reachable(heads), key=_number_of, reverse=True)
    with wide():
        for node in nodes:
            outer = [pending.pop(slot, None) for slot in node.outputs]
            if not any(c is not None for c in outer) or not node.differentiable:
                for slot in node.inputs:
                    if slot is not None:
                        pending.setdefault(slot, None)
                continue
            if not getattr(node, "puts_off", False):
                outer = [c if c is None else now(c) for c in outer]
            for slot, cotangent in zip(node.inputs, node.pull_back(outer), strict=True):
                if slot is not None:
                    before = pending.get(slot)
                    if before is not None:
                        cotangent = add(now(before), now(cotangent))
                    pending[slot] = cotangent
    if not retain_graph:
        _release(nodes)
    return {slot: cotangent for slot, cotangent in pending.items() if slot.leaf is not None}


_in_places = jax.jit(cotangent_like)
_number_of = attrgetter("number")


def reachable(heads: Iterable[Slot]) -> set[Recorded]:
    """The nodes that the heads depend on."""
    seen: set[Recorded] = set()
    stack = [slot.node for slot in heads if slot.node]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        stack += [s.node for s in node.inputs if s is not None and s.node is not None]
    return seen


def ones_like(value: Value, wanted: SType) -> Value:
    """The cotangent that a head has by default: ones.

    Args:
      value: the head.
      wanted: the storage type of its cotangent; a sparse one has ones in the places that the head
        stores.
    """
    if isinstance(value, BCSR | BCOO):
        with wide():
            if wanted == "default":
                return jnp.ones(value.shape, value.dtype)
            return with_stored(value, jnp.ones_like(value.data))
    if math.prod(value.shape) <= _FEW:
        return _few_ones(value.shape, value.dtype)
    with wide():
        return jnp.ones(value.shape, value.dtype)


# The ones of a loss are asked for at each step, and making them takes longer than going back.
_FEW = 1 << 14


@lru_cache(maxsize=64)
def _few_ones(shape: tuple[int, ...], dtype: Any) -> jax.Array:
    with jax.ensure_compile_time_eval(), wide():
        return filled(shape, 1, dtype)
