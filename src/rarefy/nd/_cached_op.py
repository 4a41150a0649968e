"""A function on arrays as one compiled program, which is one node of the tape."""

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from weakref import ref

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import jaxpr_as_fun

from rarefy import _key
from rarefy._cell import Cell, holding
from rarefy._later import Later, like, new_kind, now, put_off, seen, waiting
from rarefy._ops import deferred
from rarefy._ops.compiled import inlining
from rarefy._ops.gradient import as_stype
from rarefy._ops.opdef import Signature
from rarefy._ops.precision import wide
from rarefy._ops.storage import _PLAIN, SType, Value, canonical, is_traced
from rarefy.autograd._derived import Taped, propagate_recorded
from rarefy.autograd._mode import _mode, _scope
from rarefy.autograd._tape import (
    GradientError,
    Leaf,
    Node,
    Slot,
    keep,
    next_number,
    ones_like,
    propagate,
    reachable,
)
from rarefy.base import MXNetError
from rarefy.nd._handle import Handle
from rarefy.sparse import JAXSparse
from rarefy.sparse._jaxpr import reads


class CachedOp:
    """A function on arrays, compiled as a whole for each combination of shapes and storage types.

    Under `autograd.record` a call is one node on the tape. Going forward the program returns, beside
    the results, just those numbers that its pullback reads; going back is a second program. A call
    that comes again and again is put off (`rarefy._later`), so that it becomes one program with the
    calls that use its results and with going back through them.

    Args:
      fn: takes arrays (None where one is absent) and returns an array, or lists, tuples or dicts of
        arrays and of other things. It runs while it is traced: it may not ask for numbers.

    Attributes:
      compilations: how often a program has been compiled, forward and backward.
    """

    def __init__(self, fn: Callable[..., Any]):
        self.fn = fn
        self.compilations = 0
        self._programs: dict[Any, Callable[..., Any]] = {}
        self._often: dict[Any, _Info] = {}
        self._infos: list[_Info] = []  # programs refer to them weakly
        self._running = _Running()
        self._held: tuple[Sequence[Handle], list[Cell]] = ((), [_key.STATE])

    def __call__(self, args: Sequence[Handle | None], held: Sequence[Handle] = ()) -> Any:
        """Calls the function.

        Args:
          args: its arguments.
          held: the arrays that it has closed over: variables and state. It may change them. Give the
            same object each time: that spares looking them through.

        Returns:
          What the function returns, in arrays of its own.

        Raises:
          MXNetError: the function changes an argument in place, or an operator refuses something.
          TraceError: it changes an array that is neither its own nor among `held`.
        """
        cells = self._cells_of(held)
        values = [c.value for c in cells]
        given: list[Any] = []
        slots: list[Slot | None] = []
        context, traced = None, is_traced(values[-1])
        for a in args:
            if a is None:
                given.append(None)
                slots.append(None)
                continue
            value = _given(a)
            traced = traced or is_traced(value)
            context = context or a._ctx
            given.append(value)
            slots.append(a._slot)
        if traced:
            return self.fn(*args)
        want: Signature | None = None
        mode = (_mode.recording, _mode.training)
        if mode[0]:
            slots += [h._slot for h in held]
            wanted: list[SType | None] = [s and s.wanted for s in slots]
            want = tuple(wanted) if any(wanted) else None
        call = _Call(self, mode, want, args, held, cells, given, values)
        found = self._put_off(call) if want is not None else None
        if found is None:
            found = self._do(call)
        info = found.info
        if info.changed:
            for i, value in zip(info.changed, found.changed, strict=True):
                if context is not None and cells[i] is _key.STATE:  # it is of no device
                    value = jnp.asarray(np.asarray(value))
                cells[i].store(value)
        outer: Sequence[Slot | None] = [None] * len(info.results)
        if want is not None and any(info.wanted):
            outer = CachedNode(call, info, slots, found).outputs
            if len(outer) < len(info.wanted):
                taken = iter(outer)
                outer = [w and next(taken) for w in info.wanted]
        handles = []
        results = iter(found.results)
        for source, slot in zip(info.results, outer, strict=True):
            shared = source is not None
            if source is None:
                value: Any = next(results)
            else:
                value = (*given, *values)[source]
                _owner(args, cells, source).shared = True
            if type(value) is Later:
                handle = Handle._classes["default"](waiting(value, shared=shared), None, slot)
            else:
                handle = Handle._wrap(value, slot, shared=shared)
            handle._ctx = context
            handles.append(handle)
        return info.rebuild(handles)

    def _do(self, call: "_Call") -> "_Traced":
        """Runs the forward program."""
        given = call.given = list(map(now, call.given))
        with wide():
            found = self._program("forward", call.mode, call.want)(call, given, call.values)
        try:
            deferred.make(found.info.checks, [*given, *call.values])
        except (TypeError, ValueError) as error:
            raise MXNetError(str(error)) from error
        return found

    def _put_off(self, call: "_Call") -> "_Traced | None":
        """Puts the forward program off, if that can be and it has been run often enough."""
        operands: Any = (*call.given, *call.values)
        kinds = [v.aval if type(v) is _PLAIN else _kind(v) for v in operands]
        key = (call.mode, call.want, tuple(kinds))
        info = self._often.get(key)
        if info is None:
            found = self._do(call)
            if _may_wait(found):
                self._often[key] = found.info
                results: Any = found.results
                found.info.likes = [*(v.aval for v in results), None]
            return found
        info.calls += 1
        if info.calls < _OFTEN or (info.checks and _check_waits(info.checks, operands)):
            return None
        if info.checks:
            try:
                deferred.make(info.checks, operands)
            except (TypeError, ValueError) as error:
                raise MXNetError(str(error)) from error
        laters = put_off(info.kind, partial(self._trace_later, call), operands, info.likes)
        return _Traced(laters, (), laters.pop(), info)

    def _trace_later(self, call: "_Call", *operands: Any) -> list[Any]:
        """The results of the forward program and a list of what it saves, in another program."""
        n = len(call.args)
        program = self._program("forward", call.mode, call.want)
        found = program(call, list(operands[:n]), list(operands[n:]))
        return [*found.results, found.saved]

    def _cells_of(self, held: Sequence[Handle]) -> list[Cell]:
        """The cells of arrays, each once, and the random state at the end."""
        if held is not self._held[0]:
            cells = {id(h._cell): h._cell for h in held}
            self._held = (held, [*cells.values(), _key.STATE])
        return self._held[1]

    def _program(self, kind: str, mode: Any, want: Signature | None) -> Callable[..., Any]:
        """The compiled program of a kind, as a function of a call and operands."""
        key = (kind, mode, want)
        if key not in self._programs:
            trace = getattr(self, f"_trace_{kind}")
            self._programs[key] = jax.jit(partial(trace, mode, want), inline=True)
        program = self._programs[key]

        def run(call: "_Call", *operands: Any) -> Any:
            before, self._running.call = self._running.call, call
            try:
                return program(*operands)
            finally:
                self._running.call = before

        return run

    def _trace_forward(self, mode: Any, want: Signature | None, given, values) -> "_Traced":
        self.compilations += 1
        ran = _run(self._call(), mode, want, given, values)
        arguments = {id(v): i for i, v in enumerate([*given, *values]) if v is not None}
        info = _Info()
        self._infos.append(info)
        info.checks = deferred.on_arguments(ran.checks, [*given, *values])
        info.tree, info.constants = ran.tree, ran.constants
        info.is_one = ran.tree == _LEAF and ran.constants == [_ARRAY]
        info.changed = [i for i, _ in ran.changed]
        info.wanted = [h._slot and h._slot.wanted for h in ran.arrays]
        outcomes = [h._value for h in ran.arrays]
        info.results = [arguments.get(id(v)) for v in outcomes]
        own = [v for v, place in zip(outcomes, info.results, strict=True) if place is None]
        saved = self._save(info, ran, [*given, *values], own) if any(info.wanted) and want else []
        return _Traced(own, [v for _, v in ran.changed], saved, info)

    def _trace_again(self, mode: Any, want: Signature, given, values, cotangents):
        """Cotangents where the forward program has not saved what they need: it is run again."""
        self.compilations += 1
        ran = _run(self._call(), mode, want, given, values)
        heads = [h._slot for h in ran.arrays if h._slot is not None]
        pairs = [(s, c) for s, c in zip(heads, cotangents, strict=True) if c is not None]
        found = propagate([s for s, _ in pairs], [c for _, c in pairs])
        return _in_order(found, ran.variables)

    def _save(self, info: "_Info", ran: "_Ran", arguments: list, results: list) -> list[jax.Array]:
        """Works out the pullback and returns the numbers that it reads and that are not at hand."""
        heads = [h._slot for h in ran.arrays if h._slot is not None]
        found = sorted(reachable(heads), key=lambda node: node.number)
        nodes = [node for node in found if isinstance(node, Node)]
        if len(nodes) < len(found):
            return []  # it calls a user's function: run again to go back
        info.expected = jax.eval_shape(
            lambda: [ones_like(h._value, h._slot.wanted) for h in ran.arrays if h._slot is not None]
        )
        leaves, tree = jax.tree.flatten([(n.values, n.places, n.scalars, n.key) for n in nodes])
        numbers = {id(x): x for x in leaves}
        keys, numbers = list(numbers), list(numbers.values())
        traced = [k for k, x in enumerate(numbers) if is_traced(x)]
        constant = {keys[k]: x for k, x in enumerate(numbers) if not is_traced(x)}
        order = [id(x) for x in leaves]

        def back(saved, cotangents):
            at = {**constant, **{keys[k]: x for k, x in zip(traced, saved, strict=True)}}
            parts = jax.tree.unflatten(tree, [at[key] for key in order])
            for node, part in zip(nodes, parts, strict=True):
                node.values, node.places, node.scalars, node.key = part
            return _in_order(propagate(heads, cotangents), ran.variables)

        like = [jax.ShapeDtypeStruct(numbers[k].shape, numbers[k].dtype) for k in traced]
        with inlining():
            jaxpr, shape = jax.make_jaxpr(back, return_shape=True)(like, info.expected)
        for node in nodes:
            node.release()
            node.scalars = node.key = None
        out = jax.tree.structure(shape)
        used = reads(jaxpr.jaxpr)[: len(traced)]
        places = _places(arguments, results)
        sources, saved = [], []
        for k, is_used in zip(traced, used, strict=True):
            if not is_used:
                continue
            place = places.get(id(numbers[k]))
            if place is None:
                place = ("saved", len(saved))
                saved.append(numbers[k])
            sources.append(place)
        info.sources = sources

        def pull_back(numbers, cotangents):
            self.compilations += 1
            numbers = iter(numbers)
            # What is not read is left out of the program by the compiler.
            filled = [
                next(numbers) if u else jnp.zeros(x.shape, x.dtype)
                for u, x in zip(used, like, strict=True)
            ]
            return jax.tree.unflatten(
                out, jaxpr_as_fun(jaxpr)(*filled, *jax.tree.leaves(cotangents))
            )

        info.back = jax.jit(pull_back, inline=True)
        info.gives = shape
        return saved

    def _call(self) -> "_Call":
        assert self._running.call is not None
        return self._running.call


class _Running(threading.local):
    call: "_Call | None" = None


@dataclass(eq=False, slots=True)
class _Call:
    """One call: what a trace, or going back by running again, needs to know of it."""

    op: CachedOp
    mode: tuple[bool, bool]
    want: Signature | None
    args: Sequence[Handle | None]
    held: Sequence[Handle]
    cells: list[Cell]
    given: list[Value | None]
    values: list[Value]


class _Info:
    """What is found out while a program is traced.

    Attributes:
      results: for each result its position among the arguments, if it is one unchanged.
      wanted: for each result the storage type of its cotangent, None where it depends on no variable.
      changed: positions of the cells that the function changes.
      checks: of the arguments' numbers.
      sources: where each number that the pullback reads comes from: ('argument' | 'result' | 'saved'
        | 'constant', which).
      back: the pullback, a function of these numbers and the cotangents; None if there is none and
        the function has to run again.
      expected: the cotangents that `back` takes, as shapes and dtypes.
      gives: those that it returns.
      likes: the results of the program, as shapes and dtypes, and None for what it saves, where it
        may be put off.
      kind, back_kind: the kinds of task that it and its pullback are.
      calls: how often it was called after the first time.
      is_one: whether the result is one array.
      known: itself, weakly. JAX keeps the structure of a program's results for ever; what an `_Info`
        leads to, a model with its parameters, must not stay with it.
    """

    results: list[int | None]
    wanted: list[SType | None]
    changed: list[int]
    checks: list[deferred.Check]
    tree: Any
    constants: list[Any]
    sources: Sequence[tuple[str, Any]] = ()
    back: Callable[..., Any] | None = None
    expected: Sequence[Value] = ()
    gives: Sequence[Any] = ()
    likes: Sequence[Any] = ()
    calls = 0
    is_one = False

    def __init__(self) -> None:
        self.kind, self.back_kind = new_kind(), new_kind()
        self.known = ref(self)

    def rebuild(self, handles: Sequence[Handle]) -> Any:
        """What the function returns, with these arrays."""
        if self.is_one:
            return handles[0]
        arrays = iter(handles)
        leaves = [next(arrays) if c is _ARRAY else c for c in self.constants]
        return jax.tree.unflatten(self.tree, leaves)


_ARRAY = object()
_DENSE = (_PLAIN, Later)
_LEAF = jax.tree.structure(0)
_OFTEN = 8
"""How many calls are run at once: another program would cost more than it saves."""
_SMALL = 1 << 21
"""How many numbers a program that is put off may give, with its pullback."""


@dataclass(eq=False, slots=True)
class _Traced:
    """What a forward program returns. What is saved may be a `Later` of a list."""

    results: Sequence[Any]
    changed: Sequence[Value]
    saved: Any
    info: _Info


jax.tree_util.register_pytree_node(
    _Traced,
    lambda t: ((t.results, t.changed, t.saved), t.info.known),
    lambda known, parts: _Traced(*parts, info=known()),  # pyright: ignore[reportArgumentType]
)


@dataclass(eq=False)
class _Ran:
    """A run of the function on traced values."""

    arrays: list[Handle]
    tree: Any
    constants: list[Any]
    changed: list[tuple[int, Value]]
    variables: list[Slot | None]
    checks: list[deferred.Check]


def _run(call: _Call, mode: Any, want: Signature | None, given, values) -> _Ran:
    """Runs the function on values in place of a call's arrays."""
    args = [None if v is None else Handle._wrap(v) for v in given]
    for own, arg in zip(args, call.args, strict=True):
        if own is not None and arg is not None:
            own._ctx = arg._ctx
    arrays = [*args, *call.held]
    variables: list[Slot | None] = [None] * len(arrays)
    if want is not None:
        variables = [w and Slot(w, leaf=Leaf(None, "write", w)) for w in want]
    before = [(h, h._slot) for h in call.held]
    try:
        for array, slot in zip(arrays, variables, strict=True):
            if array is not None:
                array._slot = slot
        with (
            holding(call.cells, values) as cells,
            _scope(*mode),
            deferred.collecting() as checks,
            inlining(),
        ):
            result = call.op.fn(*args)
            changed = [(i, c.value) for i, c in enumerate(cells) if c.value is not values[i]]
            leaves, tree = jax.tree.flatten(result, is_leaf=lambda x: x is None)
            found = [_seen(h) for h in leaves if isinstance(h, Handle)]
        for i, own in enumerate(args):
            if own is not None and own._cell.version:
                raise MXNetError(
                    f"argument {i} is changed in place inside a compiled function, which its caller "
                    "would not see; return the new value instead"
                )
    finally:
        for array, slot in before:
            array._slot = slot
    constants = [_ARRAY if isinstance(leaf, Handle) else leaf for leaf in leaves]
    return _Ran(found, tree, constants, changed, variables, checks)


def _seen(handle: Handle) -> Handle:
    """What a handle shows now, apart from its cell."""
    return Handle._wrap(handle._value, handle._slot)


def _places(arguments: list, results: list) -> dict[int, tuple[str, tuple[int, int]]]:
    """Where the parts of arguments and results are, by identity."""
    return {
        id(part): (kind, (i, j))
        for kind, group in (("result", results), ("argument", arguments))
        for i, value in enumerate(group)
        for j, part in enumerate(jax.tree.leaves(value))
    }


def _in_order(found: dict[Slot, Value | None], variables: list[Slot | None]) -> tuple:
    """The cotangents of variables in the storage types wanted."""
    cotangents = [None if v is None else found.get(v) for v in variables]
    return tuple(
        None if c is None else as_stype(c, v.wanted)  # type: ignore[union-attr]
        for c, v in zip(cotangents, variables, strict=True)
    )


def _given(array: Handle) -> Any:
    """A value in normal form, or the `Later` that an array waits for."""
    cell = array._cell
    value = seen(cell) if array._path is None else array._value
    return value if type(value) is _PLAIN or type(value) is Later else canonical(value)


def _kind(value: Any) -> Any:
    """What a program's shapes depend on."""
    if value is None:
        return None
    if type(value) is Later:
        return value.like
    if isinstance(value, JAXSparse):
        # Rows that a loader has cut are NumPy arrays.
        parts = [jax.typeof(x) if type(x) is np.ndarray else x.aval for x in value._bufs]
        return (type(value), value.shape, value.indices_sorted, value.unique_indices, *parts)  # pyright: ignore[reportAttributeAccessIssue]
    return value.aval


def _check_waits(checks: Sequence[deferred.Check], operands: Sequence[Any]) -> bool:
    """Whether numbers that are to be checked are not known yet."""
    places = [p for check in checks for p in check.values if isinstance(p, int)]
    return any(type(operands[p]) is Later for p in places)


def _may_wait(found: "_Traced") -> bool:
    """Whether a program changes nothing, can be gone back through, returns dense arrays, and is small
    enough, forward and backward, for its start to matter.

    A large gradient would be written twice: the update could not take over what it was made of.
    """
    parts = (*found.results, *found.saved)
    back = found.info.back is not None and not found.info.changed
    if not back or any(isinstance(v, JAXSparse) for v in parts):
        return False
    return sum(v.size for v in jax.tree.leaves((parts, found.info.gives))) <= _SMALL


def _owner(args: Sequence[Handle | None], cells: list[Cell], position: int) -> Cell:
    if position >= len(args):
        return cells[position - len(args)]
    arg = args[position]
    assert arg is not None
    return arg._cell


class CachedNode:
    """A recorded call of a `CachedOp`."""

    differentiable = True
    puts_off = True

    def __init__(self, call: _Call, info: _Info, slots: Sequence[Slot | None], found: _Traced):
        self.number = next_number()
        self.inputs = tuple(slots)
        self.call: _Call | None = call
        self.info = info
        self.found: _Traced | None = found
        heads: list[SType] = [w for w in info.wanted if w is not None]
        self.outputs = tuple([Slot(w, node=self, index=i) for i, w in enumerate(heads)])
        keep(self)

    def pull_back(self, cotangents: Sequence[Value | None]) -> tuple[Value | None, ...]:
        """Cotangents of the inputs from those of the outputs."""
        call, info, found = self._kept()
        if info.back is not None:
            filled = [
                _zeros_of(e) if c is None else c
                for c, e in zip(cotangents, info.expected, strict=True)
            ]
            if all(map(_is_like, filled, info.expected)):
                numbers, saved = self._numbers(call, found)
                if Later in map(type, (saved, *numbers, *filled)):
                    return _put_back_off(info, numbers, saved, filled)
                return info.back(_together(info, numbers, saved), filled)
        self._done(call)
        again = call.op._program("again", call.mode, call.want)
        return again(call, call.given, call.values, tuple(map(now, cotangents)))

    @staticmethod
    def _done(call: _Call) -> None:
        call.given = list(map(now, call.given))

    def _numbers(self, call: _Call, found: _Traced) -> tuple[list[Any], Any]:
        """What the pullback reads: what is at hand, and what was saved."""
        arguments, numbers = (*call.given, *call.values), []
        for kind, which in self.info.sources:
            if kind == "saved":
                continue
            value: Any = (arguments if kind == "argument" else found.results)[which[0]]
            dense = type(value) in _DENSE or not isinstance(value, JAXSparse)
            numbers.append(value if dense else value._bufs[which[1]])  # pyright: ignore[reportAttributeAccessIssue]
        # Besides what waits there are NumPy arrays, of rows that a loader has cut.
        saved = found.saved
        return numbers, saved.value if type(saved) is Later and saved.task is None else saved

    def pull_back_recorded(self, cotangents: Sequence[Taped | None]) -> Sequence[Taped | None]:
        """The same on the tape: the function is run operator by operator, on the values it had."""
        call, _, _ = self._kept()
        self._done(call)
        slots = [slot for slot in self.inputs if slot is not None]
        before = [(slot, slot.leaf, slot.node) for slot in slots]
        arrays = [None if v is None else Handle._wrap(v, shared=True) for v in call.given]
        held = [(h, h._slot) for h in call.held]
        try:
            # For a moment the inputs are variables: the tape ends at them.
            for slot in slots:
                slot.leaf, slot.node = slot.leaf or Leaf(None, "write", slot.wanted), None
            for array, slot in zip((*arrays, *call.held), self.inputs, strict=True):
                if array is not None:
                    array._slot = slot
            with holding(call.cells, call.values), _scope(*call.mode):
                leaves = jax.tree.leaves(call.op.fn(*arrays), is_leaf=lambda x: x is None)
            heads = [h._slot for h in leaves if isinstance(h, Handle) and h._slot is not None]
            pairs = [(s, c) for s, c in zip(heads, cotangents, strict=True) if c is not None]
            found = propagate_recorded([s for s, _ in pairs], [c for _, c in pairs])
            return [None if slot is None else found.get(slot) for slot in self.inputs]
        finally:
            for slot, leaf, node in before:
                slot.leaf, slot.node = leaf, node
            for array, slot in held:
                array._slot = slot

    def _kept(self) -> tuple[_Call, _Info, _Traced]:
        if self.call is None or self.found is None:
            raise GradientError(
                "the record of a compiled function was released by an earlier backward; pass "
                "retain_graph=True to that call to go back twice"
            )
        return self.call, self.info, self.found

    def held(self) -> Sequence[Any]:
        """The values that `pull_back` is going to read; none after `release`."""
        call, found = self.call, self.found
        if call is None or found is None:
            return ()
        read = (*call.given, *call.values, *found.results)
        return [v.value if type(v) is Later else v for v in read]

    def release(self) -> None:
        """Lets the saved values go."""
        self.call = self.found = None


def _together(info: _Info, numbers: Iterable[Any], saved: Sequence[Any]) -> list[Any]:
    """All that a pullback reads, in its order."""
    numbers = iter(numbers)
    return [saved[which] if kind == "saved" else next(numbers) for kind, which in info.sources]


def _put_back_off(
    info: _Info, numbers: list[Any], saved: Any, cotangents: list[Any]
) -> tuple[Any, ...]:
    """Puts a pullback off."""
    count, back = 1 + len(numbers), info.back
    assert back is not None

    def trace(saved: Any, *operands: Any) -> list[Any]:
        found = back(_together(info, operands, saved), list(operands[count - 1 :]))
        return [v for v in found if v is not None]

    given = [v for v in info.gives if v is not None]
    laters = iter(put_off(info.back_kind, trace, [saved, *numbers, *cotangents], given))
    return tuple([None if v is None else next(laters) for v in info.gives])


def _zeros_of(like: Any) -> Any:
    return jax.tree.map(lambda part: jnp.zeros(part.shape, part.dtype), like)


def _is_like(value: Any, expected: Any) -> bool:
    """Whether a cotangent is stored as expected, part by part."""
    value = like(value)
    if type(expected) is jax.ShapeDtypeStruct:
        plain = type(value) in (jax.ShapeDtypeStruct, _PLAIN) or not isinstance(value, JAXSparse)
        return plain and value.shape == expected.shape
    if not isinstance(value, JAXSparse):
        return False
    return jax.tree.structure(value) == jax.tree.structure(expected) and [
        x.shape for x in jax.tree.leaves(value)
    ] == [x.shape for x in jax.tree.leaves(expected)]
