"""Loops: what is carried keeps one layout, and index buffers that do not change are not carried."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
from jax import lax
from jax import numpy as jnp

from rarefy.sparse._bcoo import BCOO
from rarefy.sparse._bcoo_shapes import bcoo_dynamic_slice, bcoo_squeeze
from rarefy.sparse._bcsr import BCSR
from rarefy.sparse._jaxpr import closed, scan_sizes
from rarefy.sparse._sparsify._length import lengthened
from rarefy.sparse._sparsify._values import (
    Call,
    Rows,
    Rule,
    describe,
    is_sparse,
    pack,
    stored,
)
from rarefy.sparse._sparsify._walk import Walk

ATTEMPTS = 6


@dataclass(frozen=True, eq=False)
class _Slot:
    """How one carried value travels.

    Attributes:
      value: the value before the loop, whose layout all others must have.
      fixed: whether the index buffers stay those of `value`.
    """

    value: Any
    fixed: bool

    @property
    def buffers(self) -> list[Any]:
        if not is_sparse(self.value):
            return [self.value]
        return [self.value.data] if self.fixed else jax.tree.leaves(self.value)

    def restore(self, buffers: Sequence[Any]) -> Any:
        if not is_sparse(self.value):
            return buffers[0]
        leaves, structure = jax.tree.flatten(self.value)
        return jax.tree.unflatten(structure, [*buffers, *leaves[len(buffers) :]])


class _Changed(Exception):
    """The carried layout cannot hold what the body gives; `change` makes a slot that can hold more.

    It is applied outside of the body, whose values must not leave it.
    """

    def __init__(self, number: int, change: Callable[[_Slot], _Slot]):
        super().__init__()
        self.number, self.change = number, change


def _index_buffers(value: Any) -> tuple[Any, ...]:
    return value._bufs[1:]


def _leave(walk: Walk, number: int, slot: _Slot, out: Any) -> list[Any]:
    """The buffers of what the body gives for a slot.

    Raises:
      _Changed: another slot is needed.
    """
    before, out = slot.value, walk.settled(out)
    if not is_sparse(before):
        return [walk.dense(out)]
    if not is_sparse(out):
        raise _Changed(number, lambda s: _Slot(s.value.todense(), False))
    if isinstance(before, BCSR) and isinstance(out, BCOO) and out.n_sparse == 2:
        out = BCSR.from_bcoo(out)
    elif isinstance(before, BCOO) and isinstance(out, BCSR):
        out = out.to_bcoo()
    if isinstance(before, BCOO) and isinstance(out, BCOO):
        out = out.update_layout(n_batch=before.n_batch, n_dense=before.n_dense)
    same = all(a is b for a, b in zip(_index_buffers(before), _index_buffers(out), strict=True))
    if slot.fixed and not same:
        raise _Changed(number, lambda s: replace(s, fixed=False))
    flags = before.indices_sorted & out.indices_sorted, before.unique_indices & out.unique_indices
    if flags != (before.indices_sorted, before.unique_indices):
        raise _Changed(number, lambda s: replace(s, value=_flagged(s.value, flags)))
    if out.nse > before.nse:
        most = out.nse
        raise _Changed(number, lambda s: replace(s, value=lengthened(s.value, most)))
    out = lengthened(out, before.nse)
    return [out.data] if slot.fixed else list(out._bufs)


def _flagged(value: Any, flags: tuple[bool, bool]) -> Any:
    return type(value)._trusted(*value._bufs, value.shape, *flags)


class _Carry:
    """The carried values of a loop, and the search for a layout that they keep."""

    def __init__(self, walk: Walk, call: Call, values: Sequence[Any]):
        self.walk, self.call = walk, call
        settled = [walk.settled(v) for v in values]
        self.slots = [_Slot(v if is_sparse(v) else jnp.asarray(v), is_sparse(v)) for v in settled]

    @property
    def buffers(self) -> list[list[Any]]:
        return [slot.buffers for slot in self.slots]

    def enter(self, buffers: Sequence[Sequence[Any]]) -> list[Any]:
        return [slot.restore(b) for slot, b in zip(self.slots, buffers, strict=True)]

    def leave(self, walk: Walk, outs: Sequence[Any]) -> list[list[Any]]:
        numbered = enumerate(zip(self.slots, outs, strict=True))
        return [_leave(walk, i, slot, out) for i, (slot, out) in numbered]

    def search(self, build: Any) -> Any:
        """What `build()` returns, once no slot has to change."""
        for _ in range(ATTEMPTS * max(len(self.slots), 1)):
            try:
                return build()
            except _Changed as change:
                self.slots[change.number] = change.change(self.slots[change.number])
        layouts = [describe(s.value) for s in self.slots if is_sparse(s.value)]
        raise NotImplementedError(
            f"sparse rule for {self.call.name} is not implemented for a body whose result stores "
            f"more with every step; it carries {', '.join(layouts)}. Carry a dense array, or values "
            f"whose nse stays: of one pattern, or products with one."
        )


def while_loop(walk: Walk, call: Call, ins: list[Any]) -> Sequence[Any]:
    params = call.params
    cond, cond_consts = closed(params["cond_jaxpr"])
    body, body_consts = closed(params["body_jaxpr"])
    n_cond, n_both = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
    of_cond, of_body = ins[:n_cond], ins[n_cond:n_both]
    carry = _Carry(walk, call, ins[n_both:])

    def proceeds(buffers):
        inner = walk.inner()
        return inner.dense(inner.run(cond, cond_consts, [*of_cond, *carry.enter(buffers)])[0])

    def step(buffers):
        inner = walk.inner()
        outs = inner.run(body, body_consts, [*of_body, *carry.enter(buffers)])
        return carry.leave(inner, outs)

    return carry.enter(carry.search(lambda: lax.while_loop(proceeds, step, carry.buffers)))


def scan(walk: Walk, call: Call, ins: list[Any]) -> Sequence[Any]:
    params = call.params
    body, body_consts = closed(params["jaxpr"])
    n_consts, n_carry = scan_sizes(params)
    n_both = n_consts + n_carry
    consts = ins[:n_consts]
    carry = _Carry(walk, call, ins[n_consts:n_both])
    each = [_Elements(walk, call, x, params["length"]) for x in ins[n_both:]]
    specs: list[Any] = []

    def step(buffers, slices):
        number, slices = slices
        inner = walk.inner()
        elements = [e.element(inner, s, number) for e, s in zip(each, slices, strict=True)]
        outs = inner.run(body, body_consts, [*consts, *carry.enter(buffers), *elements])
        after = carry.leave(inner, outs[: len(carry.slots)])
        values = [inner.settled(o) for o in outs[len(carry.slots) :]]
        values = [v if is_sparse(v) else jnp.asarray(v) for v in values]
        stacked, spec = pack(values)
        specs[:] = [spec]
        return after, stacked

    def build():
        return lax.scan(
            step,
            carry.buffers,
            (jnp.arange(params["length"], dtype=jnp.int32), [e.scanned for e in each]),
            length=params["length"],
            reverse=params["reverse"],
            unroll=params["unroll"],
        )

    last, stacked = carry.search(build)
    # Buffers that gained an axis make values that gained a batch dimension.
    return [*carry.enter(last), *specs[0].values(stacked)]


class _Elements:
    """What a scan goes over: the elements of a value along its first dimension.

    A batch dimension is taken apart by buffers. Of others a window of one row is cut in each step.
    """

    def __init__(self, walk: Walk, call: Call, value: Any, length: int):
        self.value, self.is_batched = value, False
        if not is_sparse(value):
            self.scanned = jnp.asarray(walk.dense(walk.settled(value)))
            return
        self.value = mat = stored(value)
        self.is_batched = mat.n_batch > 0
        buffers = mat._bufs if self.is_batched else ()
        self.shared = [b.shape[0] != length for b in buffers]
        self.scanned = [b for b, shared in zip(buffers, self.shared, strict=True) if not shared]

    def element(self, walk: Walk, scanned: Any, number: Any) -> Any:
        if not is_sparse(self.value):
            return scanned
        if not self.is_batched:
            # The first dimension is sparse or dense: a window of one row, at the cost of all entries.
            mat = walk.coo(self.value)
            starts = [number, *(jnp.zeros((), number.dtype),) * (mat.ndim - 1)]
            row = bcoo_dynamic_slice(mat, starts, (1, *mat.shape[1:]))
            row = bcoo_squeeze(row, dimensions=(0,))
            return row if isinstance(self.value, BCOO) else Rows(row)
        parts = iter(scanned)
        leaves, structure = jax.tree.flatten(self.value)
        buffers = [
            jnp.squeeze(b, 0) if shared else next(parts)
            for b, shared in zip(leaves, self.shared, strict=True)
        ]
        return jax.tree.unflatten(structure, buffers)


NATIVE: dict[str, Rule] = {"while": while_loop, "scan": scan}
