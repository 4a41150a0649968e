"""Sparsifying by tracers: the function runs with arrays that know their sparse values."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax import numpy as jnp
from jax.core import ShapedArray, Trace, Tracer
from jax.extend.core import set_current_trace, take_current_trace

from rarefy.sparse._sparsify._program import abstract
from rarefy.sparse._sparsify._table import new_walk
from rarefy.sparse._sparsify._values import Call, Filled, Grid, LowRank, Spread
from rarefy.sparse._sparsify._walk import Walk


class SparseTracer(Tracer):
    """An array inside of a function that is sparsified with `use_tracer=True`."""

    __slots__ = ("_value",)

    def __init__(self, trace: "SparseTrace", value: Any):
        if isinstance(value, Filled | Spread | Grid | LowRank):
            aval = ShapedArray(value.shape, jnp.dtype(value.dtype))
        else:
            form = abstract(value)
            aval = ShapedArray(form.shape, form.dtype, weak_type=form.weak_type)
        super().__init__(trace, aval)
        self._value = value

    def full_lower(self) -> "SparseTracer":
        return self


class SparseTrace(Trace):
    """Computes each primitive by the walk's rules."""

    __slots__ = ("parent", "walk")

    def __init__(self, parent: Any, walk: Walk):
        super().__init__()
        self.parent, self.walk = parent, walk

    def value(self, tracer: Any) -> Any:
        if isinstance(tracer, SparseTracer) and tracer._trace is self:
            return tracer._value
        return tracer

    def tracer(self, value: Any) -> SparseTracer:
        return SparseTracer(self, value)

    def stage_value(self, val: Any) -> Any:
        if isinstance(val, SparseTracer) and val._trace is self:
            return val
        return self.tracer(self.parent.stage_value(val))

    def _apply(self, call: Call, tracers: Sequence[Any]) -> list[SparseTracer]:
        with set_current_trace(self.parent):
            return [self.tracer(o) for o in self.walk.apply(call, [self.value(t) for t in tracers])]

    def process_primitive(self, primitive: Any, tracers: Any, params: Any, /) -> Any:
        outs = self._apply(Call(primitive, params), tracers)
        return outs if primitive.multiple_results else outs[0]

    def _stage(
        self, process: str, primitive: Any, functions: Any, tracers: Any, options: Any
    ) -> Any:
        """Makes the equation of a function with its own rules, and applies that."""

        def staged(*args):
            with take_current_trace() as trace, set_current_trace(trace):
                return getattr(trace, process)(primitive, *functions, args, **options)

        with set_current_trace(self.parent):
            values = [self.value(t) for t in tracers]
            forms = [jax.typeof(t) for t in tracers]
            forms = [jax.ShapeDtypeStruct(f.shape, f.dtype, weak_type=f.weak_type) for f in forms]
            program = jax.make_jaxpr(staged)(*forms)
            consts = [self.value(c) for c in program.consts]
            return [self.tracer(o) for o in self.walk.run(program.jaxpr, consts, values)]

    def process_custom_jvp_call(self, primitive, fun, jvp, tracers, /, **options) -> Any:
        outs = self._stage("process_custom_jvp_call", primitive, (fun, jvp), tracers, options)
        # The caller asks which of the two has run. If derivatives are taken, both have.
        for store in jvp.stores:
            if store is not None:
                store.reset()
        return outs

    def process_custom_vjp_call(self, primitive, fun, fwd, bwd, tracers, /, **options) -> Any:
        return self._stage("process_custom_vjp_call", primitive, (fun, fwd, bwd), tracers, options)


def run_with_tracers(
    function: Callable[..., Any], values: Sequence[Any], *, only_compiled: bool = False
) -> tuple[list[Any], Any]:
    """Runs a function of arrays with tracers of the values.

    Returns:
      The values of the leaves of its result, settled, and its structure.
    """
    walk = new_walk(only_compiled=only_compiled)
    with take_current_trace() as parent:
        trace = SparseTrace(parent, walk)
        with set_current_trace(trace):
            out = function(*(trace.tracer(v) for v in values))
            leaves, structure = jax.tree.flatten(out)
        with set_current_trace(parent):
            outs = [walk.settled(trace.value(x)) for x in leaves]
    return outs, structure
