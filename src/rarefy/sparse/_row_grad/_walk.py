"""The walk through the derivative of a function, a linear jaxpr, with tables that are never made.

It is done twice. The first walk finds the rows that are read: what depends on tangents does not
exist in it (`LINEAR`). The second has tangents of those rows, and is a linear function of them that
JAX transposes. Control flow is entered and built again around its body.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import jax
from jax import lax
from jax import numpy as jnp
from jax.extend.core import Literal
from jax.sharding import PartitionSpec

from rarefy.sparse._jaxpr import closed, evaluate, live, scan_sizes
from rarefy.sparse._row_grad._blame import DenseUse
from rarefy.sparse._row_grad._reads import Read, read_or_view
from rarefy.sparse._row_grad._table import LINEAR, Fed, Site, Table, is_array, is_site


class Walk:
    """One evaluation of a linear jaxpr.

    Args:
      feed: None to find the rows. Otherwise what `feed_of` makes of the first walk's record.

    Attributes:
      record: the reads, in order: a `Site`, or a list or tuple for what was inside control flow.
    """

    def __init__(self, feed: Sequence[Any] | None = None):
        self.record: list[Any] = []
        self._feed: Iterator[Any] | None = None if feed is None else iter(feed)

    @property
    def is_finding(self) -> bool:
        """Whether this is the first walk."""
        return self._feed is None

    def run(self, jaxpr: Any, consts: Sequence[Any], args: Sequence[Any]) -> list[Any]:
        """Evaluates a jaxpr whose inputs are arrays, tables or LINEAR."""
        env = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *args], strict=True))

        def value(atom):
            return atom.val if isinstance(atom, Literal) else env[atom]

        for eqn in live(jaxpr):
            try:
                outs = self._equation(eqn, [value(v) for v in eqn.invars])
            except DenseUse as use:
                if not use.trail or use.trail[0] is not eqn:
                    use.trail.insert(0, eqn)
                raise
            env.update(zip(eqn.outvars, outs, strict=True))
        return [value(v) for v in jaxpr.outvars]

    def next(self) -> Any:
        """What is fed to the next read or control flow; None while finding."""
        return None if self._feed is None else next(self._feed)

    def _equation(self, eqn: Any, ins: list[Any]) -> Sequence[Any]:
        if all(map(is_array, ins)):
            return evaluate(eqn, ins)
        enter = CONTROL.get(eqn.primitive.name)
        if enter is not None:
            return enter(self, eqn, ins)
        if any(isinstance(x, Table) for x in ins):
            found = read_or_view(eqn, ins)
            return [found if isinstance(found, Table) else self._read(eqn, found)]
        return [LINEAR] * len(eqn.outvars)

    def _read(self, eqn: Any, read: Read) -> Any:
        if self.is_finding:
            found = read.find()
            varying = _varying(jax.typeof(found.ids)) | _varying(eqn.outvars[0].aval)
            site = Site(
                _vary(found.ids, varying),
                tuple(_vary(r, varying) for r in found.residuals),
                leaf=read.table.leaf,
                canonical=found.canonical,
                summed_over=read.table.summed_over,
                varying=tuple(sorted(varying)),
            )
            self.record.append(site)
            return LINEAR
        fed: Fed = self.next()
        return read.again(read.table.rows(fed.tangents), *fed.site.residuals)


def _varying(aval: Any) -> frozenset[str]:
    """The mesh axes along which a value inside `shard_map` differs."""
    kind = getattr(aval, "manual_axis_type", None)
    return frozenset() if kind is None else kind.varying


def _vary(array: jax.Array, axes: Iterable[str]) -> jax.Array:
    missing = tuple(a for a in axes if a not in _varying(jax.typeof(array)))
    return lax.pcast(array, missing, to="varying") if missing else array


def feed_of(record: Any, tangents: Any) -> Any:
    """Pairs each site of a record with the tangents of its rows."""
    return jax.tree.map(Fed, record, tangents, is_leaf=is_site)


class _Outputs:
    """Carries results out of a function that JAX traces: arrays as such, the rest beside it."""

    def __init__(self) -> None:
        self.tags: list[Any] = []

    def keep(self, values: Sequence[Any]) -> list[Any]:
        """The arrays among the values, which the function returns."""
        self.tags = [None if is_array(v) else v for v in values]
        return [v for v in values if is_array(v)]

    def restore(self, arrays: Sequence[Any]) -> list[Any]:
        """All the values, from the arrays that came out."""
        rest = iter(arrays)
        return [next(rest) if tag is None else tag for tag in self.tags]


def _has_table(values: Sequence[Any]) -> bool:
    return any(isinstance(v, Table) for v in values)


def _call(walk: Walk, eqn: Any, ins: list[Any]) -> Sequence[Any]:
    body, consts = closed(eqn.params.get("jaxpr", eqn.params.get("call_jaxpr")))
    return walk.run(body, consts, ins)


def _checkpoint(walk: Walk, eqn: Any, ins: list[Any]) -> Sequence[Any]:
    body, consts = closed(eqn.params["jaxpr"])
    if walk.is_finding:
        inner = Walk()
        outs = inner.run(body, consts, ins)
        if _has_table(ins):
            walk.record.append(inner.record)
        return outs
    outputs = _Outputs()

    def again(ins, feed):
        return outputs.keep(Walk(feed).run(body, consts, _merge(ins, eqn_ins)))

    eqn_ins = ins
    arrays = jax.checkpoint(
        again, policy=eqn.params["policy"], prevent_cse=eqn.params["prevent_cse"]
    )([x for x in ins if is_array(x)], walk.next())
    return outputs.restore(arrays)


def _merge(arrays: Sequence[Any], template: Sequence[Any]) -> list[Any]:
    """The values of `template` with its arrays replaced, in order."""
    rest = iter(arrays)
    return [next(rest) if is_array(x) else x for x in template]


def _scan(walk: Walk, eqn: Any, ins: list[Any]) -> Sequence[Any]:
    params = eqn.params
    body, body_consts = closed(params["jaxpr"])
    n_consts, n_carry = scan_sizes(params)
    consts, carry, xs = (
        ins[:n_consts],
        ins[n_consts : n_consts + n_carry],
        ins[n_consts + n_carry :],
    )
    for x in xs:
        if isinstance(x, Table):
            raise DenseUse(x.leaf, eqn, "the scan goes over its rows")
    for j, x in enumerate(carry):
        if isinstance(x, Table) and body.outvars[j] is not body.invars[n_consts + j]:
            raise DenseUse(x.leaf, eqn, "the loop changes it")
    feed, outputs = walk.next(), _Outputs()

    def build(carry):
        """The scan in which those carries are linear that are so in `carry`."""
        loose = list(carry)

        def step(known, slices):
            elements, feed = slices
            inner = Walk(feed)
            now, each = _merge(known, carry), _merge(elements, xs)
            outs = inner.run(body, body_consts, [*consts, *now, *each])
            after = outs[:n_carry]
            for j, value in enumerate(after):
                if value is LINEAR and is_array(carry[j]):
                    loose[j] = LINEAR
                    after[j] = now[j]  # only so that this attempt can be finished
            kept = [after[j] for j in range(n_carry) if is_array(carry[j])]
            return kept, (outputs.keep(outs[n_carry:]), inner.record)

        out = lax.scan(
            step,
            [x for x in carry if is_array(x)],
            ([x for x in xs if is_array(x)], feed),
            length=params["length"],
            reverse=params["reverse"],
            unroll=params["unroll"],
        )
        return loose, out

    while True:
        loose, (last, (stacked, record)) = build(carry)
        if all(a is b for a, b in zip(loose, carry, strict=True)):
            break
        carry = loose
    if walk.is_finding and _has_table(ins):
        walk.record.append(jax.tree.map(_stacked, record, is_leaf=is_site))
    return [*_merge(last, carry), *outputs.restore(stacked)]


def _stacked(site: Site) -> Site:
    """A site that stands for several reads of its kind."""
    return replace(site, canonical=False)


def _cond(walk: Walk, eqn: Any, ins: list[Any]) -> Sequence[Any]:
    index, operands = ins[0], ins[1:]
    branches = [closed(b) for b in eqn.params["branches"]]
    feeds = walk.next() or [None] * len(branches)
    arrays = [x for x in operands if is_array(x)]
    results: list[list[Any]] = [[] for _ in branches]

    def run(k, arrays):
        inner = Walk(feeds[k])
        body, consts = branches[k]
        results[k] = inner.run(body, consts, _merge(arrays, operands))
        return results[k], inner.record

    # What a branch computes must have the form of what the others compute.
    records = [jax.eval_shape(lambda a, k=k: run(k, a)[1], arrays) for k in range(len(branches))]
    tags = [_common(eqn, outs) for outs in zip(*results, strict=True)]

    def branch(k, arrays):
        outs, record = run(k, arrays)
        everywhere = tuple(
            record if i == k else jax.tree.map(_nothing, other, is_leaf=is_site)
            for i, other in enumerate(records)
        )
        return [o for o, tag in zip(outs, tags, strict=True) if tag is None], everywhere

    known, record = lax.switch(
        index, [lambda a, k=k: branch(k, a) for k in range(len(branches))], arrays
    )
    if walk.is_finding and _has_table(ins):
        walk.record.append(jax.tree.map(_stacked, record, is_leaf=is_site))
    rest = iter(known)
    return [next(rest) if tag is None else tag for tag in tags]


def _common(eqn: Any, outs: Sequence[Any]) -> Any:
    """What an output of a cond is, from what it is in each branch: None for an array."""
    first = outs[0]
    tables = [o for o in outs if isinstance(o, Table)]
    if tables:
        if not all(tables[0].same_as(o) for o in outs):
            raise DenseUse(tables[0].leaf, eqn, "the branches choose between it and another array")
        return first
    return LINEAR if any(o is LINEAR for o in outs) else None


def _nothing(site: Any) -> Site:
    """A read of no rows in the form of another."""

    def fill(struct, value):
        return _vary(jnp.full(struct.shape, value, struct.dtype), site.varying)

    residuals = jax.tree.map(lambda r: fill(r, 0), site.residuals)
    return replace(site, ids=fill(site.ids, -1), residuals=residuals)


def _while(walk: Walk, eqn: Any, ins: list[Any]) -> Sequence[Any]:
    for x in ins:
        if isinstance(x, Table):
            raise DenseUse(
                x.leaf,
                eqn,
                "no gradient goes back through a while_loop, nor through a fori_loop whose bounds are "
                "traced; use static bounds or scan, or stop_gradient inside of it",
            )
    return [LINEAR] * len(eqn.outvars)


def _shard_map(walk: Walk, eqn: Any, ins: list[Any]) -> Sequence[Any]:
    params = eqn.params
    body, consts = closed(params["jaxpr"])
    axes = tuple(a for a in params["mesh"].axis_names if a in params["newly_manual_axes"])
    checks = params["check_vma"]
    for x, spec in zip(ins, params["in_specs"], strict=True):
        if isinstance(x, Table) and any(part is not None for part in spec):
            raise DenseUse(x.leaf, eqn, f"it is sharded as {spec}, and must be replicated")
    outputs, found = _Outputs(), []

    def sharded(site: Site) -> tuple[str, ...]:
        return tuple(a for a in axes if a in site.varying) if checks else axes

    def inside(fed: Fed) -> Fed:
        return replace(fed, site=replace(fed.site, sharded=fed.site.sharded[1:]))

    def outside(site: Site) -> Site:
        """The rows of all devices, one after another."""
        return replace(
            site,
            canonical=False,
            summed_over=tuple(a for a in site.summed_over if a not in axes),
            varying=tuple(a for a in site.varying if a not in axes),
            sharded=(sharded(site), *site.sharded),
        )

    def local(arrays, feed):
        inner = Walk(feed)
        outs = outputs.keep(inner.run(body, consts, _merge(arrays, ins)))
        found[:] = [inner.record]
        return outs, inner.record

    arrays = [x for x in ins if is_array(x)]
    array_specs = [s for x, s in zip(ins, params["in_specs"], strict=True) if is_array(x)]

    def mapped(function, feed_specs, out_specs):
        return jax.shard_map(
            function,
            mesh=params["mesh"],
            in_specs=(array_specs, feed_specs),
            out_specs=out_specs,
            axis_names=set(axes),
            check_vma=checks,
        )

    if walk.is_finding:  # once only for the form of the record, on which its specs depend
        jax.eval_shape(mapped(lambda a, f: (local(a, f), ())[1], None, ()), arrays, None)
        feed, feed_specs, tags = None, None, outputs.tags
        record_specs = jax.tree.map(
            lambda s: jax.tree.map(lambda _: _spec(sharded(s)), s), found[0], is_leaf=is_site
        )
    else:
        fed = walk.next()
        feed = jax.tree.map(inside, fed, is_leaf=is_site)
        feed_specs = jax.tree.map(
            lambda f: jax.tree.map(lambda _: _spec(f.site.sharded[0]), inside(f)),
            fed,
            is_leaf=is_site,
        )
        tags, record_specs = [None] * len(eqn.outvars), []
    kept = [s for s, tag in zip(params["out_specs"], tags, strict=True) if tag is None]
    known, record = mapped(local, feed_specs, (kept, record_specs))(arrays, feed)
    if walk.is_finding and _has_table(ins):
        walk.record.append(jax.tree.map(outside, record, is_leaf=is_site))
    return outputs.restore(known)


def _spec(axes: tuple[str, ...]) -> PartitionSpec:
    return PartitionSpec(axes) if axes else PartitionSpec()


def _custom(walk: Walk, eqn: Any, ins: list[Any]) -> Sequence[Any]:
    for x in ins:
        if isinstance(x, Table):
            raise DenseUse(
                x.leaf,
                eqn,
                "a function with its own custom_vjp takes it, and such a rule gives a dense gradient; "
                "give it the gathered rows",
            )
    return [LINEAR] * len(eqn.outvars)


CONTROL: dict[str, Callable[[Walk, Any, list[Any]], Sequence[Any]]] = {
    "jit": _call,
    "pjit": _call,
    "closed_call": _call,
    "core_call": _call,
    "core_closed_call": _call,
    "remat": _checkpoint,
    "remat2": _checkpoint,
    "checkpoint": _checkpoint,
    "scan": _scan,
    "cond": _cond,
    "while": _while,
    "shard_map": _shard_map,
    "custom_lin": _custom,
}
"""By the primitive's name: how the walk goes into it."""
