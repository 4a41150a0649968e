"""Reductions, positions of extremes, and running sums."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from rarefy.sparse import _entries
from rarefy.sparse._bcoo import BCOO
from rarefy.sparse._bcoo_functions import bcoo_reduce_sum
from rarefy.sparse._index import in_range, sort_order
from rarefy.sparse._jaxpr import evaluate
from rarefy.sparse._sparsify._refusals import unsupported
from rarefy.sparse._sparsify._values import Call, Filled, Rule, Shape, is_sparse
from rarefy.sparse._sparsify._walk import Walk


class _Slots(NamedTuple):
    """The slots of an array whose cells are stored once, where some axes are reduced.

    Attributes:
      data: `(*batch, nse, *dense)`.
      real: `(*batch, nse)`: which slots are not padding.
      places: the kept batch and sparse coordinates, `(*batch, nse)` each, out of range for padding.
      lead: the sizes of those dimensions.
      dense_axes: which axes of `data` are reduced.
      reduced: how many slots would belong to a cell of the result if all cells were stored.
      is_reduced: for each dimension of the array, whether it is.
      n_dense: how many dense dimensions the array has.
    """

    data: jax.Array
    real: jax.Array
    places: tuple[jax.Array, ...]
    lead: Shape
    dense_axes: tuple[int, ...]
    reduced: int
    is_reduced: tuple[bool, ...]
    n_dense: int

    def combine(self, how: str, data: jax.Array, start: Any) -> jax.Array:
        """Combines values of slots, `(*batch, nse, *d)`, to `(*lead, *d)`."""
        rank = self.real.ndim
        if not self.places:
            reduce = {"multiply": "prod", "add": "sum"}.get(how, how)
            return getattr(jnp, reduce)(data, axis=tuple(range(rank)), initial=start).astype(
                data.dtype
            )
        target = jnp.full((*self.lead, *data.shape[rank:]), start, data.dtype)
        return getattr(target.at[self.places], how)(data, mode="drop", wrap_negative_indices=False)

    def masked(self, data: jax.Array, value: Any) -> jax.Array:
        """The data with `value` in padding."""
        real = self.real.reshape(*self.real.shape, *(1,) * (data.ndim - self.real.ndim))
        return jnp.where(real, data, jnp.asarray(value, data.dtype))

    def missing(self) -> jax.Array:
        """How many cells are not stored, `(*lead, *1s)` for the dense dimensions that are kept."""
        count = self.combine("add", self.real.astype(jnp.int32), 0)
        kept = self.n_dense - len(self.dense_axes)
        return (self.reduced - count).reshape(*count.shape, *(1,) * kept)

    def varies(self, base: Any) -> bool:
        """Whether a background differs along reduced axes that are not dense."""
        stop = len(self.is_reduced) - self.n_dense
        return any(
            r and s != 1 for r, s in zip(self.is_reduced[:stop], base.shape[:stop], strict=True)
        )

    def drop(self, base: Any) -> Any:
        """A background, reduced to size 1 along the reduced axes, without them."""
        return jnp.reshape(
            base, [s for r, s in zip(self.is_reduced, base.shape, strict=True) if not r]
        )


def _slots(mat: BCOO, axes: Sequence[int]) -> _Slots:
    layout = _entries.layout_of(mat.data, mat.indices, mat.shape)
    n_batch, n_stored = len(layout.batch), len(layout.batch) + len(layout.sparse)
    whole = (*layout.batch, layout.nse)
    data = jnp.broadcast_to(mat.data, (*whole, *layout.dense))
    real = jnp.broadcast_to(in_range(mat.indices, layout.sparse), whole)
    kept = [d for d in range(n_stored) if d not in axes]
    coordinates = _entries.coordinates(mat.indices, layout.batch)
    # A slot is padding if any coordinate is out of range, also one that is reduced.
    places = tuple(
        jnp.where(real, jnp.broadcast_to(coordinates[d], whole), mat.shape[d]) for d in kept
    )
    return _Slots(
        data=data,
        real=real,
        places=places,
        lead=tuple(mat.shape[d] for d in kept),
        dense_axes=tuple(n_batch + 1 + a - n_stored for a in axes if a >= n_stored),
        reduced=math.prod(mat.shape[a] for a in axes if a < n_stored),
        is_reduced=tuple(d in axes for d in range(mat.ndim)),
        n_dense=len(layout.dense),
    )


def _reduce_sum(walk: Walk, call: Call, ins: list[Any]) -> Sequence[Any]:
    value, axes = ins[0], tuple(call.params["axes"])
    if isinstance(value, Filled):
        return [_sum_of_filled(walk, value, axes)]
    # The sum of the primitive keeps the type, which `bcoo_reduce_sum` may widen.
    out = bcoo_reduce_sum(value, axes=axes)
    out = out._with_buffers(out.data.astype(value.dtype), out.indices)
    return [out if out.ndim else out.todense()]


def _sum_of_filled(walk: Walk, value: Filled, axes: Sequence[int]) -> jax.Array:
    slots = _slots(walk.coo(value.mat), axes)
    base = jnp.asarray(value.base)
    dtype = slots.data.dtype

    def total(data):
        data = slots.masked(data, 0).sum(axis=slots.dense_axes, dtype=dtype)
        return slots.combine("add", data, 0)

    along = tuple(a for a in axes if base.shape[a] != 1)
    copies = math.prod(value.shape[a] for a in axes if base.shape[a] == 1)
    if not slots.varies(base):
        # Without a difference of large sums: the background counts only where nothing is stored.
        dense = [a for a in axes if a >= len(value.shape) - slots.n_dense]
        times = math.prod(value.shape[a] for a in dense if base.shape[a] == 1)
        rest = slots.drop(base.sum(axis=along, keepdims=True, dtype=dtype))
        return total(slots.data) + rest * (slots.missing() * times).astype(dtype)
    everywhere = slots.drop(base.sum(axis=along, keepdims=True, dtype=dtype)) * jnp.asarray(
        copies, dtype
    )
    mat = walk.coo(value.mat)
    under = _entries.extract(mat.indices, base, shape=mat.shape)
    return everywhere + total(slots.data - under)


def _extreme(how: str, combine: Callable[..., Any], start: Callable[[Any], Any]) -> Rule:
    """Maxima, minima and products, whose results are dense: one cell for many."""
    over = {"max": jnp.max, "min": jnp.min, "multiply": jnp.prod}[how]

    def rule(walk: Walk, call: Call, ins: list[Any]) -> Sequence[Any]:
        value, axes = ins[0], tuple(call.params["axes"])
        filled = isinstance(value, Filled)
        mat = walk.coo(walk.merged(value.mat if filled else value))
        base = jnp.asarray(value.base) if filled else jnp.zeros((1,) * mat.ndim, mat.dtype)
        slots = _slots(mat, axes)
        if slots.varies(base):
            raise unsupported(call, ins, "The background differs along what is reduced.")
        first = start(mat.dtype)
        data = slots.masked(slots.data, first)
        data = over(data, axis=slots.dense_axes).astype(mat.dtype) if slots.dense_axes else data
        found = slots.combine(how, data, first)
        dense = [a for a in axes if a >= mat.ndim - slots.n_dense]
        if how == "multiply" and dense:
            full = [s if a in dense else base.shape[a] for a, s in enumerate(mat.shape)]
            base = jnp.broadcast_to(base, full)
        rest = slots.drop(over(base, axis=tuple(axes), keepdims=True).astype(mat.dtype))
        return [combine(found, rest, slots.missing())]

    return rule


def _lowest(dtype: Any) -> Any:
    if dtype == np.bool_:
        return False
    return -np.inf if jnp.issubdtype(dtype, jnp.inexact) else jnp.iinfo(dtype).min


def _highest(dtype: Any) -> Any:
    if dtype == np.bool_:
        return True
    return np.inf if jnp.issubdtype(dtype, jnp.inexact) else jnp.iinfo(dtype).max


def _power(base: jax.Array, times: jax.Array) -> jax.Array:
    if base.dtype == bool:
        return base | (times == 0)
    raised = jnp.where(times == 0, 1, base ** jnp.where(times == 0, 1, times).astype(base.dtype))
    return raised.astype(base.dtype)


_reduce_max = _extreme("max", lambda x, r, n: jnp.where(n > 0, jnp.maximum(x, r), x), _lowest)
_reduce_min = _extreme("min", lambda x, r, n: jnp.where(n > 0, jnp.minimum(x, r), x), _highest)
_reduce_prod = _extreme("multiply", lambda x, r, n: x * _power(r, n), lambda dtype: 1)


def _position(lowest: bool) -> Rule:
    """`argmax` and `argmin` over one axis: the first of the stored cells or the unstored zeros."""

    def rule(walk: Walk, call: Call, ins: list[Any]) -> Sequence[Any]:
        (value,), axes = ins, tuple(call.params["axes"])
        if not is_sparse(value) or len(axes) != 1:
            raise unsupported(call, ins)
        axis, dtype = axes[0], np.dtype(call.params["index_dtype"])
        mat = walk.coo(value)
        n_dense = min(mat.n_dense, mat.ndim - 1 - axis)
        mat = walk.merged(mat.update_layout(n_batch=min(mat.n_batch, axis), n_dense=n_dense))
        slots = _slots(mat, axes)
        start = _highest(mat.dtype) if lowest else _lowest(mat.dtype)
        best = slots.combine("min" if lowest else "max", slots.masked(slots.data, start), start)
        zero = jnp.zeros((), mat.dtype)
        beats = (jnp.minimum if lowest else jnp.maximum)(best, zero)
        best = jnp.where(slots.missing() > 0, beats, best)
        there = best[slots.places] if slots.places else best
        is_best = (slots.data == there) | (slots.data != slots.data)
        own = jnp.broadcast_to(mat.indices[..., axis - mat.n_batch], slots.real.shape)
        own = own.reshape(*own.shape, *(1,) * slots.n_dense)
        size = mat.shape[axis]
        at = jnp.where(is_best, own, size).astype(dtype)
        found = slots.combine("min", slots.masked(at, size), size)
        gap = _first_gap(mat, slots, axis).reshape(*slots.lead, *(1,) * slots.n_dense)
        # NaN is the extreme, and so no zero competes with it.
        return [jnp.where(best == 0, jnp.minimum(found, gap.astype(dtype)), found)]

    return rule


def _first_gap(mat: BCOO, slots: _Slots, axis: int) -> jax.Array:
    """The first coordinate along `axis` that is not stored, `(*lead,)`; its size if there is none."""
    here = axis - mat.n_batch
    order = [d for d in range(mat.n_sparse) if d != here] + [here]
    size = mat.shape[axis]

    def gaps(indices):
        sizes = [mat.shape[mat.n_batch + d] for d in order]
        indices = indices[:, np.asarray(order)]
        by = sort_order(indices, sizes)
        indices = indices[by]
        slot = lax.iota(jnp.int32, indices.shape[0])
        new = jnp.any(indices[1:, :-1] != indices[:-1, :-1], axis=-1)
        new = jnp.concatenate([jnp.ones(min(slot.size, 1), bool), new])
        rank = slot - lax.cummax(jnp.where(new, slot, 0))
        gap = jnp.where(indices[:, -1] == rank, size, rank)
        return jnp.zeros_like(gap).at[by].set(gap.astype(jnp.int32), unique_indices=True)

    batch = mat.shape[: mat.n_batch]
    gap = _entries.over_batches(gaps, batch, mat.indices)
    first = slots.combine("min", slots.masked(gap, size), size)
    return jnp.minimum(first, slots.combine("add", slots.real.astype(jnp.int32), 0))


def _along_dense(name: str) -> Rule:
    """Running sums and the like along one dense axis, where zeros give zeros."""

    def rule(walk: Walk, call: Call, ins: list[Any]) -> Sequence[Any]:
        value, key = ins[0], "dimension" if name == "sort" else "axis"
        axis = call.params[key]
        if not is_sparse(value) or len(ins) != 1 or axis < value.n_batch + value.n_sparse:
            raise unsupported(
                call, ins, "It is implemented along a dense axis: use update_layout(n_dense=...)."
            )
        value = value if name == "cumsum" else walk.merged(value)
        params = {**call.params, key: axis - value.n_sparse + 1}
        data = evaluate(Call(call.primitive, params), [value.data])[0]
        return [value._with_buffers(data, value.indices)]

    return rule


RULES: dict[str, Rule] = {
    "reduce_sum": _reduce_sum,
    "reduce_max": _reduce_max,
    "reduce_min": _reduce_min,
    "reduce_prod": _reduce_prod,
    "reduce_or": _reduce_max,
    "reduce_and": _reduce_min,
    "argmax": _position(lowest=False),
    "argmin": _position(lowest=True),
    **{n: _along_dense(n) for n in ("cumsum", "cumprod", "cummax", "cummin", "sort")},
}
