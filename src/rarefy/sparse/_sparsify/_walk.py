"""The walk through a program, equation by equation, with values that may be sparse."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp
from jax.extend.core import Literal

from rarefy.sparse import _entries, _rows
from rarefy.sparse._bcoo import BCOO
from rarefy.sparse._bcsr import BCSR
from rarefy.sparse._jaxpr import evaluate, live
from rarefy.sparse._sparsify import _low_rank
from rarefy.sparse._sparsify._refusals import refused, unsupported
from rarefy.sparse._sparsify._values import (
    Call,
    Filled,
    Grid,
    LowRank,
    Rows,
    Rule,
    Spread,
    is_dense,
    is_sparse,
    known,
    stored,
)


class NumbersWanted(Exception):
    """A result could be smaller if it were not compiled: its size depends on numbers."""


class Walk:
    """One evaluation of a jaxpr.

    Args:
      rules: by the primitive's name: the rules that take BCOO and dense values, and say nothing of
        BCSR, whose values come to them as BCOO.
      native: by the primitive's name: the rules that take any value as it is.
      outer: the walk that this one is inside of, whose results it may use.
      only_compiled: whether the program is compiled although it need not be.
    """

    def __init__(
        self,
        rules: dict[str, Rule],
        native: dict[str, Rule],
        outer: Any = None,
        only_compiled: bool = False,
    ):
        self.rules, self.native, self.outer = rules, native, outer
        self._only_compiled = only_compiled
        # By the identity of buffers, which are kept so that identities are not used again.
        self._known: dict[Any, Any] = {}

    def inner(self) -> "Walk":
        """A walk for a program inside of this one, with buffers of its own."""
        return Walk(self.rules, self.native, self)

    def want_numbers(self) -> None:
        """Says that the size of a result depends on numbers, which loops do not know.

        Raises:
          NumbersWanted: they would be known if the program were not compiled.
        """
        if self._only_compiled:
            raise NumbersWanted

    def run(self, jaxpr: Any, consts: Sequence[Any], args: Sequence[Any]) -> list[Any]:
        """Evaluates a jaxpr."""
        env = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *args], strict=True))

        def value(atom):
            return atom.val if isinstance(atom, Literal) else env[atom]

        for eqn in live(jaxpr):
            outs = self.apply(Call(eqn.primitive, eqn.params), [value(v) for v in eqn.invars])
            env.update(zip(eqn.outvars, outs, strict=True))
        return [value(v) for v in jaxpr.outvars]

    def apply(self, call: Call, ins: list[Any]) -> Sequence[Any]:
        """The results of a primitive."""
        if all(map(is_dense, ins)):
            return self._of_dense(call, ins)
        if any(isinstance(x, Grid | LowRank) for x in ins) and call.name not in _low_rank.INLINED:
            found = _low_rank.of_structured(call, ins)
            if found is not None:
                return [found]
            return self.apply(
                call, [_low_rank.made(x) if isinstance(x, Grid | LowRank) else x for x in ins]
            )
        native = self.native.get(call.name)
        if native is not None:
            return native(self, call, ins)
        if not any(is_sparse(x) or isinstance(x, Filled) for x in ins):
            return evaluate(call, [self.dense(x) for x in ins])
        rule = self.rules.get(call.name)
        if rule is None:
            raise unsupported(call, ins)
        outs = rule(self, call, [self.coo(x) if is_sparse(x) else x for x in ins])
        first = next((x for x in ins if is_sparse(x)), None)
        if isinstance(first, BCSR | Rows):
            return [Rows(o) if isinstance(o, BCOO) else o for o in outs]
        return outs

    def _of_dense(self, call: Call, ins: list[Any]) -> Sequence[Any]:
        if ins and call.name in self.native and all(known(x) is not None for x in ins):
            number = folded(call, ins)
            if number is not None:
                return [number]
        structured = _low_rank.of_dense(call, ins)
        if structured is not None:
            return [structured]
        if call.name == "broadcast_in_dim":
            return self.native[call.name](self, call, ins)
        return evaluate(call, ins)

    # Forms of one value, each made once.

    def _once(self, key: tuple[Any, ...], kept: Any, make: Any) -> Any:
        at: Walk | None = self
        while at is not None:
            if key in at._known:
                return at._known[key][1]
            at = at.outer
        made = make()
        self._known[key] = (kept, made)
        return made

    def coo(self, value: Any) -> BCOO:
        """A sparse value as BCOO; those that share indices share them afterwards."""
        mat = stored(value)
        if isinstance(mat, BCOO):
            return mat
        cells = self._once(
            ("coo", id(mat.indices), id(mat.indptr), mat.shape),
            (mat.indices, mat.indptr),
            lambda: mat.to_bcoo(),
        )
        return BCOO._trusted(mat.data, cells.indices, mat.shape, *mat._info[1:])

    def merged(self, value: Any) -> Any:
        """A sparse value each of whose cells is stored once; by indices shared as before."""
        if stored(value).unique_indices:
            return value
        mat = self.coo(value)
        one = self._once(
            ("merged", id(mat.data), id(mat.indices), mat.shape),
            (mat.data, mat.indices),
            lambda: mat._unique(),
        )
        # Merging depends on the indices alone, so all values of one pattern get the same.
        places = self._once(("places", *_pattern_of(mat)), mat.indices, lambda: one.indices)
        one = BCOO._trusted(one.data, places, mat.shape, True, True)
        return one if isinstance(value, BCOO) else Rows(one)

    def places(self, mat: BCOO) -> Any:
        """The indices of a BCOO, or those that its merging gave if it was merged before."""
        at: Walk | None = self
        while at is not None:
            if ("places", *_pattern_of(mat)) in at._known:
                return at._known["places", *_pattern_of(mat)][1]
            at = at.outer
        return mat.indices

    def csr(self, value: Rows) -> Any:
        """What a value computed from a BCSR is outside: a BCSR, if it has two sparse dimensions."""
        mat = value.mat
        if mat.n_sparse != 2:
            return mat
        if not mat.indices_sorted:
            return BCSR.from_bcoo(mat)
        indices, indptr = self._once(
            ("csr", id(mat.indices), mat.shape),
            mat.indices,
            lambda: _rows.compress(mat.indices, shape=mat.shape),
        )
        return BCSR._trusted(mat.data, indices, indptr, mat.shape, True, mat.unique_indices)

    def dense(self, value: Any) -> Any:
        """The dense array of a value."""
        if isinstance(value, Spread):
            return jnp.broadcast_to(value.base, value.shape)
        if is_sparse(value):
            return self.coo(value).todense()
        if isinstance(value, Filled):
            return self._dense_of_filled(value)
        return _low_rank.made(value) if isinstance(value, Grid | LowRank) else value

    def _dense_of_filled(self, value: Filled) -> jax.Array:
        mat = self.coo(value.mat)
        whole = jnp.broadcast_to(value.base, value.shape).astype(value.dtype)
        layout = _entries.layout_of(mat.data, mat.indices, mat.shape)
        places = tuple(_entries.coordinates(mat.indices, layout.batch))
        data = jnp.broadcast_to(mat.data, (*layout.batch, *mat.data.shape[len(layout.batch) :]))
        if not places:
            return data[0] if layout.nse else whole
        places = (jnp.broadcast_to(places[0], (*layout.batch, layout.nse)), *places[1:])
        return whole.at[places].set(data, mode="drop", wrap_negative_indices=False)

    def settled(self, value: Any) -> Any:
        """A value as it leaves the program: BCOO, BCSR or dense.

        Raises:
          NotImplementedError: it would be dense.
        """
        if isinstance(value, Rows):
            return self.csr(value)
        if isinstance(value, Filled) and value.refusal is not None:
            raise refused(value.refusal, value)
        return value if is_sparse(value) else self.dense(value)


def _pattern_of(mat: BCOO) -> tuple[Any, ...]:
    return id(mat.indices), mat.shape, mat.n_dense


def folded(call: Call, ins: Sequence[Any]) -> np.ndarray | None:
    """The result of a primitive with one result, for numbers that are known; None where none is."""
    numbers = [known(x) for x in ins]
    with jax.ensure_compile_time_eval():
        try:
            (out,) = evaluate(call, [jnp.asarray(n) for n in numbers])
            out = np.asarray(out)
        except (TypeError, ValueError, jax.errors.ConcretizationTypeError):
            return None  # a parameter that goes with other shapes
    return out if out.size == 1 else None
