"""Reductions of sparse arrays that look at what is stored and know that the rest is zero."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from rarefy._ops.defs._numbers import is_floating
from rarefy._ops.defs.reduce import (
    argmax,
    argmin,
    axes_of,
    csr_sum,
    max_,
    min_,
    nanprod,
    nansum,
    norm,
    prod,
    root,
    row_sparse_sum,
    shaped,
)
from rarefy._ops.gradient import pull_back
from rarefy._ops.opdef import Operator
from rarefy._ops.places import is_real, row_of_entry, rows_of, sample, with_data
from rarefy._ops.storage import to_dense
from rarefy.sparse import BCOO, BCSR, sparsify

# ---- maxima and minima ----


def _extreme_of_rows(op: Operator, is_max: bool) -> None:
    """The rule of the maximum or minimum of row_sparse."""
    over, better = (jnp.max, jnp.maximum) if is_max else (jnp.min, jnp.minimum)

    @op.rule("row_sparse", out="default")
    def _(data, *, axis, keepdims, exclude):
        axes = axes_of(len(data.shape), axis, exclude)
        kept = tuple(n for a, n in enumerate(data.shape) if a and a not in axes)
        trailing = tuple(a for a in axes if a)
        if 0 in data.shape:
            return op.fn(data.todense(), axis=axis, keepdims=keepdims, exclude=exclude)
        if 0 not in axes:
            best = over(data.data, axis=trailing) if trailing else data.data
            out = jnp.zeros((data.shape[0], *kept), data.dtype)
            best = out.at[rows_of(data)].set(best, mode="drop")
            return shaped(best, data.shape, axes, keepdims)
        # Zero stands for the rows that are not stored.
        worst = _worst(data.dtype, is_max)
        values = jnp.where(is_real(data), data.data, worst)
        best = over(values, axis=(0, *trailing), initial=worst)
        lacks = _rows_stored(data) < data.shape[0]
        best = jnp.where(lacks, better(best, jnp.zeros((), data.dtype)), best)
        return shaped(best, data.shape, axes, keepdims)


def _worst(dtype, is_max: bool) -> jax.Array:
    floats = jnp.issubdtype(dtype, jnp.floating)
    low, high = (-jnp.inf, jnp.inf) if floats else (jnp.iinfo(dtype).min, jnp.iinfo(dtype).max)
    return jnp.asarray(low if is_max else high, dtype)


def _rows_stored(data: BCOO) -> jax.Array:
    return (rows_of(data) < data.shape[0]).sum()


def _extreme_back(op: Operator) -> Callable[..., Any]:
    def back(want, inputs, output, cotangent, *, axis, keepdims, exclude):
        """What is equal to the extreme gets its cotangent, as of a dense array."""
        (data,) = inputs
        params = {"axis": axis, "keepdims": keepdims, "exclude": exclude}
        if want[0] == "default":
            dense = [to_dense(data)]
            return pull_back(lambda x: (op.fn(x, **params),), dense, (cotangent,), want)
        axes = axes_of(len(data.shape), axis, exclude)
        whole = tuple(1 if a in axes else n for a, n in enumerate(data.shape))
        best, g = (sample(data, to_dense(v).reshape(whole)) for v in (output, cotangent))
        hit = is_real(data) & (data.data == best)
        return (with_data(data, jnp.where(hit, g, jnp.zeros((), g.dtype))),)

    return back


for _op, _is_max in ((max_, True), (min_, False)):
    _extreme_of_rows(_op, _is_max)
    for _stype in ("csr", "row_sparse"):
        _op.gradient(_stype)(_extreme_back(_op))


# ---- sums and norms ----


@nansum.rule("csr", out="default")
def _(data, *, axis, keepdims, exclude):
    axes = axes_of(2, axis, exclude)
    return shaped(csr_sum(_without_nan(data, 0), axes), data.shape, axes, keepdims)


@nansum.rule("row_sparse", out="default")
def _(data, *, axis, keepdims, exclude):
    axes = axes_of(len(data.shape), axis, exclude)
    return shaped(row_sparse_sum(_without_nan(data, 0), axes), data.shape, axes, keepdims)


def _without_nan(data, neutral: float):
    x = data.data
    return with_data(data, jnp.where(jnp.isnan(x), jnp.asarray(neutral, x.dtype), x))


@norm.rule("row_sparse", out=lambda axis, **_: None if axis in (None, ()) else "default")
def _(data, *, ord, axis, out_dtype, keepdims):
    axes = axes_of(len(data.shape), axis)
    if ord not in (1, 2):
        raise ValueError(f"ord must be 1 or 2, got {ord}")
    wide = jnp.promote_types(data.dtype, jnp.float32) if is_floating(data) else jnp.float64
    x = data.data.astype(wide)
    total = row_sparse_sum(with_data(data, x * jnp.sign(x) if ord == 1 else x * x), axes)
    total = total if ord == 1 else root(total)
    return shaped(total.astype(out_dtype or data.dtype), data.shape, axes, keepdims)


# ---- products ----


def _groups(data: BCSR, axes: tuple[int, ...]) -> tuple[jax.Array, int, int]:
    """Which of the results each entry belongs to, how many results there are, and of how many
    elements each."""
    m, n = data.shape
    if axes == (0, 1):
        return jnp.zeros(data.nse, jnp.int32), 1, m * n
    return (data.indices, n, m) if axes == (0,) else (row_of_entry(data), m, n)


def _count(data: BCSR, at: jax.Array, groups: int, chosen) -> jax.Array:
    ones = (is_real(data) & chosen).astype(jnp.int64)
    return jnp.zeros(groups, jnp.int64).at[at].add(ones, mode="drop")


def _product(op: Operator, *, skips_nan: bool) -> None:
    """The rule of the product of csr: zero where something is not stored."""

    @op.rule("csr", out="default")
    def _(data, *, axis, keepdims, exclude):
        axes = axes_of(2, axis, exclude)
        data = _without_nan(data, 1) if skips_nan else data
        at, groups, size = _groups(data, axes)
        values = jnp.where(is_real(data), data.data, jnp.ones((), data.dtype))
        total = jnp.ones(groups, data.dtype).at[at].multiply(values, mode="drop")
        lacks = _count(data, at, groups, True) < size
        total = jnp.where(lacks, total * jnp.zeros((), data.dtype), total)
        return shaped(total, data.shape, axes, keepdims)

    @op.gradient("csr")
    def _(want, inputs, output, cotangent, *, axis, keepdims, exclude):
        """The product of the others: where one of them is not stored, zero."""
        (data,) = inputs
        params = {"axis": axis, "keepdims": keepdims, "exclude": exclude}
        if want[0] == "default":
            dense = [to_dense(data)]
            return pull_back(lambda x: (op.fn(x, **params),), dense, (cotangent,), want)
        axes = axes_of(2, axis, exclude)
        whole = tuple(1 if a in axes else n for a, n in enumerate(data.shape))
        g = sample(data, to_dense(cotangent).reshape(whole))
        if skips_nan:
            g = jnp.where(jnp.isnan(data.data), jnp.zeros((), g.dtype), g)
            data = _without_nan(data, 1)
        at, groups, size = _groups(data, axes)
        x, one = data.data, jnp.ones((), data.dtype)
        is_zero = x == 0
        values = jnp.where(is_real(data) & ~is_zero, x, one)
        total = jnp.ones(groups, data.dtype).at[at].multiply(values, mode="drop")
        zeros = size - _count(data, at, groups, ~is_zero)
        total, zeros = (v.at[at].get(mode="fill", fill_value=0) for v in (total, zeros))
        others = jnp.where(is_zero, total, total / jnp.where(is_zero, one, x))
        alone = is_real(data) & (zeros == is_zero)
        return (with_data(inputs[0], jnp.where(alone, g * others, jnp.zeros((), g.dtype))),)


_product(prod, skips_nan=False)
_product(nanprod, skips_nan=True)


# ---- places ----


def _place(op: Operator, is_max: bool) -> None:
    """The rules of the place of the maximum or minimum: the first of equal elements."""
    find = jnp.argmax if is_max else jnp.argmin
    beats = (lambda x: x < 0) if is_max else (lambda x: x > 0)

    @op.rule("csr", out="default")
    def _(data, *, axis, keepdims):
        if axis is not None:
            return _along(data, axis, keepdims)
        if 0 in data.shape:
            return op.fn(data.todense(), axis=axis, keepdims=keepdims)
        best = (max_ if is_max else min_).rules[("csr",)][0]
        rows = best.fn(data, axis=1, keepdims=False, exclude=False)
        row = find(rows)
        column = _along(data, 1, False, jnp.int64)[row]
        return _flat(row * data.shape[1] + column, data, keepdims)

    @op.rule("row_sparse", out="default")
    def _(data, *, axis, keepdims):
        n, ndim = data.shape[0], len(data.shape)
        if data.data.size == 0 or 0 in data.shape:
            return op.fn(data.todense(), axis=axis, keepdims=keepdims)
        (axis,) = axes_of(ndim, axis) if axis is not None else (None,)
        if axis == 0:
            return _along(data, 0, keepdims)
        rows = rows_of(data)
        if axis is not None:
            found = find(data.data, axis=axis)
            shape = (n, *found.shape[1:])
            found = jnp.zeros(shape, found.dtype).at[rows].set(found, mode="drop")
            return shaped(found.astype(data.dtype), data.shape, (axis,), keepdims)
        flat = data.data.reshape(data.nse, -1)
        width, at = flat.shape[1], find(flat, axis=1)
        values = jnp.take_along_axis(flat, at[:, None], axis=1)[:, 0]
        values = jnp.where(rows < n, values, _worst(data.dtype, is_max))
        slot = find(values)
        stored = rows[slot].astype(jnp.int64) * width + at[slot]
        # The first row that is not stored is the number of rows before a gap.
        gap = (jnp.cumprod(rows == jnp.arange(data.nse, dtype=rows.dtype)).sum()) * width
        lacks, value = _rows_stored(data) < n, values[slot]
        place = jnp.where(value == 0, jnp.minimum(stored, gap), stored)
        place = jnp.where(beats(value), gap, place)
        return _flat(jnp.where(lacks, place, stored), data, keepdims)

    def _along(data, axis: int, keepdims: bool, dtype: Any = None) -> jax.Array:
        (axis,) = axes_of(len(data.shape), axis)
        found = sparsify(lambda x: find(x, axis=axis))(data)
        return shaped(found.astype(dtype or data.dtype), data.shape, (axis,), keepdims)


def _flat(place: jax.Array, data, keepdims: bool) -> jax.Array:
    return place.astype(data.dtype).reshape((1,) * len(data.shape) if keepdims else (1,))


_place(argmax, True)
_place(argmin, False)
