"""Functions with derivative rules of their own.

JAX applies such a rule to the dense function, which gives a program for the derivative. That program
is walked through like any other, with tangents or cotangents that live at the stored cells.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp

from rarefy.sparse import _entries
from rarefy.sparse._jaxpr import closed, evaluate
from rarefy.sparse._sparsify._refusals import unsupported
from rarefy.sparse._sparsify._values import (
    Call,
    Filled,
    Rule,
    Spec,
    dtype_of,
    is_sparse,
    known,
    pack,
    shape_of,
    stored,
    with_data,
)
from rarefy.sparse._sparsify._walk import Walk


def _is_moving(value: Any) -> bool:
    """Whether a value can have a derivative."""
    return known(value) is None and jnp.issubdtype(dtype_of(value), jnp.inexact)


def _is_inexact(buffer: Any) -> bool:
    return jnp.issubdtype(jnp.result_type(buffer), jnp.inexact)


def _data(value: Any) -> Any:
    return stored(value).data if is_sparse(value) else value


def _replaced(value: Any, data: Any) -> Any:
    return with_data(value, data) if is_sparse(value) else data


Parts = list[tuple[Any, Any]]


def _parts(walk: Walk, call: Call, of: Any, value: Any) -> Parts:
    """The buffers of a result or operand, each with its derivative in `value`.

    Raises:
      NotImplementedError: `value` has other cells.
    """
    if isinstance(of, Filled):
        data = _parts(walk, call, of.mat, value)
        if known(of.base) is not None:
            return data
        base = value.base if isinstance(value, Filled) else jnp.zeros_like(of.base)
        if not is_sparse(value) and not isinstance(value, Filled):
            raise _other_cells(call, of, value)
        if np.broadcast_shapes(base.shape, of.base.shape) != of.base.shape:
            raise _other_cells(call, of, value)
        return [*data, (of.base, jnp.broadcast_to(base, of.base.shape))]
    if not is_sparse(of):
        return [(of, walk.dense(value))]
    mat = walk.coo(of)
    if is_sparse(value) or isinstance(value, Filled):
        other = walk.coo(value.mat if isinstance(value, Filled) else value)
        if other.indices is not mat.indices or other.data.shape != mat.data.shape:
            raise _other_cells(call, of, value)
        return [(mat.data, other.data)]
    found = _entries.extract(mat.indices, walk.dense(value), shape=mat.shape)
    return [(mat.data, jnp.broadcast_to(found, mat.data.shape))]


def _other_cells(call: Call, of: Any, value: Any) -> NotImplementedError:
    way_out = "Its derivative has other cells than the value; use sparse.todense() on the operand."
    return unsupported(call, [of, value], way_out)


class _Outlined:
    """A call whose body is a function of buffers, with the layout of its results."""

    def __init__(self, walk: Walk, call: Call, operands: Sequence[Any], body: Any):
        self.walk, self.call = walk, call
        self.buffers, self.spec = pack(operands)
        self.body, self.consts = closed(body)
        self.moving = [i for i, x in enumerate(operands) if _is_moving(x)]
        self.avals = [jax.ShapeDtypeStruct(shape_of(x), dtype_of(x)) for x in operands]
        self._out_spec: Spec | None = None

    def run(self, *buffers: Any) -> list[Any]:
        """The buffers of the results that are no indices of the operands."""
        outs = self.walk.inner().run(self.body, self.consts, self.spec.values(buffers))
        # Numbers must go through the call, or they would have the derivatives of an identity.
        given = [None if _is_inexact(b) else b for b in buffers]
        outs = [o if is_sparse(o) or isinstance(o, Filled) else self.walk.dense(o) for o in outs]
        found, self._out_spec = pack(outs, given)
        return [jnp.asarray(b) for b in found]

    def results(self, buffers: Sequence[Any], outs: Sequence[Any]) -> list[Any]:
        if self._out_spec is None:
            raise AssertionError("the body has not run")
        return self._out_spec.values([*buffers, *outs])

    def apply(self, values: Sequence[Any]) -> Callable[..., list[Any]]:
        """The dense function of the operands that have derivatives."""
        full = list(values)

        def function(*moving):
            for i, v in zip(self.moving, moving, strict=True):
                full[i] = v
            return [o for o in evaluate(self.call, full) if _is_inexact(o)]

        return function


def _by_buffer(buffers: Sequence[Any], parts: Parts) -> list[Any]:
    """A derivative for each buffer: the sum of those found, and nothing for integers."""
    of: dict[int, Any] = {}
    for buffer, derivative in parts:
        of[id(buffer)] = of[id(buffer)] + derivative if id(buffer) in of else derivative
    return [
        of.get(id(b), jnp.zeros_like(b))
        if _is_inexact(b)
        else np.zeros(np.shape(b), jax.dtypes.float0)
        for b in buffers
    ]


def _inexact_results(values: Sequence[Any]) -> list[Any]:
    return [v for v in values if jnp.issubdtype(dtype_of(v), jnp.inexact)]


def _operands(walk: Walk, ins: Sequence[Any]) -> list[Any] | None:
    """The operands, each cell stored once; None if one has a background that is not zero."""
    if any(isinstance(x, Filled) for x in ins):
        return None
    return [walk.merged(x) if is_sparse(x) else walk.settled(x) for x in ins]


def custom_jvp_call(walk: Walk, call: Call, ins: list[Any]) -> Sequence[Any]:
    operands = _operands(walk, ins)
    if operands is None:
        # The function of the background is computed by the body, and so differentiated through it.
        return walk.run(*closed(call.params["call_jaxpr"]), ins)
    outlined = _Outlined(walk, call, operands, call.params["call_jaxpr"])
    moving, avals = outlined.moving, outlined.avals
    function = jax.custom_jvp(outlined.run)

    def derivative(primals, tangents):
        start = [primals[i] for i in moving]
        return jax.jvp(outlined.apply(primals), start, tangents)[1]

    @function.defjvp
    def _rule(primals, tangents):
        outs = function(*primals)
        inner, values = walk.inner(), outlined.spec.values(primals)
        moved = outlined.spec.values(tangents)
        dots = [_replaced(values[i], _data(moved[i])) for i in moving]
        program = jax.make_jaxpr(derivative)(avals, [avals[i] for i in moving])
        found = inner.run(program.jaxpr, program.consts, [*values, *dots])
        results = _inexact_results(outlined.results(primals, outs))
        pairs = zip(results, found, strict=True)
        return outs, _by_buffer(outs, [p for r, f in pairs for p in _parts(inner, call, r, f)])

    return outlined.results(outlined.buffers, function(*outlined.buffers))


def custom_vjp_call(walk: Walk, call: Call, ins: list[Any]) -> Sequence[Any]:
    operands = _operands(walk, ins)
    if operands is None:
        raise unsupported(call, ins, "Use sparse.todense() on its operand.")
    outlined = _Outlined(walk, call, operands, call.params["call_jaxpr"])
    moving, avals = outlined.moving, outlined.avals
    function = jax.custom_vjp(outlined.run)

    def derivative(primals, cotangents):
        start = [primals[i] for i in moving]
        return jax.vjp(outlined.apply(primals), *start)[1](cotangents)

    def forward(*buffers):
        outs = function(*buffers)
        return outs, (buffers, outs)

    def backward(saved, cotangents):
        buffers, outs = saved
        inner, values = walk.inner(), outlined.spec.values(buffers)
        results = _inexact_results(outlined.results(buffers, outs))
        if any(isinstance(r, Filled) for r in results):
            raise unsupported(call, results, "Its result has no derivative here; use todense().")
        by_buffer = {id(o): c for o, c in zip(outs, cotangents, strict=True)}
        arriving = [_replaced(r, by_buffer[id(_data(r))]) for r in results]
        forms = [jax.ShapeDtypeStruct(shape_of(r), dtype_of(r)) for r in results]
        program = jax.make_jaxpr(derivative)(avals, forms)
        found = inner.run(program.jaxpr, program.consts, [*values, *arriving])
        pairs = zip([values[i] for i in moving], found, strict=True)
        return tuple(_by_buffer(buffers, [p for m, f in pairs for p in _parts(inner, call, m, f)]))

    function.defvjp(forward, backward)
    return outlined.results(outlined.buffers, function(*outlined.buffers))


NATIVE: dict[str, Rule] = {
    "custom_jvp_call": custom_jvp_call,
    "custom_vjp_call": custom_vjp_call,
    "custom_vjp_call_jaxpr": custom_vjp_call,
}
