"""Calls and branches: nested `jit`, `checkpoint`, functions with rules of their own, `cond`."""

from collections.abc import Sequence
from typing import Any

import jax
from jax import lax
from jax import numpy as jnp

from rarefy.sparse._bcoo import BCOO
from rarefy.sparse._bcsr import BCSR
from rarefy.sparse._jaxpr import closed
from rarefy.sparse._sparsify._length import lengthened
from rarefy.sparse._sparsify._refusals import unsupported
from rarefy.sparse._sparsify._values import (
    Call,
    Rule,
    Spec,
    describe,
    is_sparse,
    pack,
)
from rarefy.sparse._sparsify._walk import Walk


def call_body(walk: Walk, call: Call, ins: list[Any]) -> Sequence[Any]:
    """Goes through the body in place: shared buffers and known numbers stay so."""
    if any(call.params.get("donated_invars", ())):
        raise unsupported(call, ins, "Donate no arguments, or call jit around sparsify.")
    body, consts = closed(call.params.get("jaxpr", call.params.get("call_jaxpr")))
    return walk.run(body, consts, ins)


def checkpoint(walk: Walk, call: Call, ins: list[Any]) -> Sequence[Any]:
    body, consts = closed(call.params["jaxpr"])
    buffers, spec = pack(ins)
    found: list[Spec] = []

    def again(buffers):
        outs, out_spec = pack(walk.inner().run(body, consts, spec.values(buffers)))
        found[:] = [out_spec]
        return outs

    options = {k: call.params[k] for k in ("policy", "prevent_cse")}
    outs = jax.checkpoint(again, **options)(buffers)
    return found[0].values(outs)


class _Form:
    """The layout of one result of all branches.

    Args:
      values: what each branch gives, settled; sparse all or none.
    """

    def __init__(self, values: Sequence[Any]):
        self.is_sparse = is_sparse(values[0])
        if not self.is_sparse:
            return
        first, *others = values
        self.kind = type(first) if all(type(v) is type(first) for v in others) else BCOO
        self.n_batch = min(v.n_batch for v in values)
        self.n_dense = min(v.n_dense for v in values)
        self.nse = max(v.nse for v in values)
        self.flags = (
            all(v.indices_sorted for v in values),
            all(v.unique_indices for v in values),
        )
        self.shape = first.shape
        # Index buffers from outside, which every branch hands on, are no results.
        same = all(len(v._bufs) == len(first._bufs) for v in others) and all(
            a is b for v in others for a, b in zip(v._bufs[1:], first._bufs[1:], strict=True)
        )
        self.fixed = first._bufs[1:] if same else None

    def buffers(self, walk: Walk, value: Any) -> list[Any]:
        value = walk.settled(value)
        if not self.is_sparse:
            return [jnp.asarray(value)]
        if self.fixed is not None:
            return [value.data]
        if self.kind is BCOO:
            value = walk.coo(value).update_layout(n_batch=self.n_batch, n_dense=self.n_dense)
        return list(lengthened(value, self.nse)._bufs)

    def restore(self, buffers: Sequence[Any]) -> Any:
        if not self.is_sparse:
            return buffers[0]
        buffers = [*buffers, *(self.fixed or ())]
        if self.kind is BCOO:
            return BCOO._trusted(buffers[0], buffers[1], self.shape, *self.flags)
        return BCSR._trusted(buffers[0], buffers[1], buffers[2], self.shape, *self.flags)


def cond(walk: Walk, call: Call, ins: list[Any]) -> Sequence[Any]:
    branches, operands = [closed(b) for b in call.params["branches"]], ins[1:]
    platforms = call.params.get("branches_platforms")
    if platforms is not None and None in platforms:
        # Branches for devices are ways to compute one thing; sparse rules need the general one.
        branches = [branches[platforms.index(None)]]
    if len(branches) == 1:
        body, consts = branches[0]
        return walk.run(body, consts, operands)

    def settled(body, consts):
        inner = walk.inner()
        return [inner.settled(o) for o in inner.run(body, consts, operands)]

    results = []
    for body, consts in branches:

        def probe(body=body, consts=consts):
            results.append(settled(body, consts))
            return [jax.tree.leaves(r) for r in results[-1]]

        jax.eval_shape(probe)
    together = list(zip(*results, strict=True))
    for number, values in enumerate(together):
        if len({is_sparse(v) for v in values}) > 1:
            layouts = " and ".join(describe(v) for v in values)
            raise TypeError(
                f"sparsified true_fun output must have same type structure as sparsified false_fun "
                f"output, but output[{number}] is {layouts}. Use sparse.todense() in the branch that "
                f"gives a sparse one."
            )
    forms = [_Form(values) for values in together]

    def branch(body, consts):
        inner = walk.inner()
        outs = inner.run(body, consts, operands)
        return [form.buffers(inner, o) for form, o in zip(forms, outs, strict=True)]

    found = lax.switch(walk.dense(ins[0]), [lambda b=b, c=c: branch(b, c) for b, c in branches])
    return [form.restore(b) for form, b in zip(forms, found, strict=True)]


NATIVE: dict[str, Rule] = {
    **dict.fromkeys(
        ("jit", "pjit", "closed_call", "core_call", "core_closed_call", "custom_lin"), call_body
    ),
    **dict.fromkeys(("remat", "remat2", "checkpoint"), checkpoint),
    "cond": cond,
}
