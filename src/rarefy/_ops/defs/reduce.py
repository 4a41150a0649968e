"""Reductions over axes."""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp

from rarefy._ops.defs._numbers import in_float, is_floating
from rarefy._ops.opdef import Operator, operator
from rarefy._ops.places import is_real, row_of_entry, rows_of, with_data, with_stored
from rarefy._ops.storage import SPARSE
from rarefy.sparse import BCOO, BCSR
from rarefy.sparse._csr import csr_sum as _csr_sum

Axis = int | tuple[int, ...] | None


def axes_of(ndim: int, axis: Axis, exclude: bool = False) -> tuple[int, ...]:
    """The axes that a reduction runs over, ascending.

    Raises:
      ValueError: an axis does not exist or is named twice.
    """
    if axis is None or axis == ():
        return tuple(range(ndim))
    named = axis if isinstance(axis, tuple) else (axis,)
    found = sorted(a + ndim if a < 0 else a for a in named)
    if any(not 0 <= a < ndim for a in found):
        raise ValueError(f"axis {axis} is out of range for {ndim} dimensions")
    if len(set(found)) != len(found):
        raise ValueError(f"axis {axis} names a dimension twice")
    return tuple(a for a in range(ndim) if a not in found) if exclude else tuple(found)


def at_least_1d(x):
    """MXNet's arrays have a dimension: what is reduced to one number has shape (1,)."""
    return x.reshape(1) if x.ndim == 0 else x


def _reduction(name: str, fn: Callable, says: str, aliases: tuple[str, ...] = ()) -> Operator:
    def meaning(data, *, axis: Axis = None, keepdims: bool = False, exclude: bool = False):
        axes = axes_of(data.ndim, axis, exclude)
        out = fn(data, axes, keepdims).astype(data.dtype)
        return at_least_1d(out)

    meaning.__doc__ = (
        f"Computes {says} over axes.\n\n"
        "Args:\n"
        "  data: any shape and storage type.\n"
        "  axis: an axis or a tuple of axes; None or () for all.\n"
        "  keepdims: whether the axes stay, with size 1.\n"
        "  exclude: whether the reduction runs over the other axes.\n\n"
        "Returns:\n"
        "  dtype of `data`, dense; a single number has shape (1,). 16-bit floats are accumulated in\n"
        "  float32.\n"
    )
    return operator(name, aliases=aliases)(meaning)


def _sum(x, axes, keepdims):
    wide = jnp.float32 if is_floating(x) and x.dtype.itemsize < 4 else x.dtype
    return jnp.sum(x, axis=axes, keepdims=keepdims, dtype=wide if x.dtype != bool else jnp.int64)


def _mean(x, axes, keepdims):
    if is_floating(x):
        wide = jnp.promote_types(x.dtype, jnp.float32)
        return jnp.mean(x, axis=axes, keepdims=keepdims, dtype=wide)
    return in_float(lambda y: jnp.mean(y, axis=axes, keepdims=keepdims))(x)


def _prod(x, axes, keepdims):
    return jnp.prod(x, axis=axes, keepdims=keepdims, dtype=x.dtype)


@partial(jax.custom_jvp, nondiff_argnums=(1, 2, 3))
def _best(x, axes, keepdims, is_max: bool):
    """The maximum or minimum; the gradient goes to all elements that are equal to it."""
    return (jnp.max if is_max else jnp.min)(x, axis=axes, keepdims=keepdims)


@_best.defjvp
def _(axes, keepdims, is_max, primals, tangents):
    (x,), (moved,) = primals, tangents
    hit = x == _best(x, axes, True, is_max)
    change = jnp.where(hit, moved, jnp.zeros((), moved.dtype)).sum(axis=axes, keepdims=keepdims)
    return _best(x, axes, keepdims, is_max), change


def _max(x, axes, keepdims):
    return _best(x, axes, keepdims, True)


def _min(x, axes, keepdims):
    return _best(x, axes, keepdims, False)


def _without_nan(fn, neutral):
    def reduce(x, axes, keepdims):
        return fn(jnp.where(jnp.isnan(x), jnp.asarray(neutral, x.dtype), x), axes, keepdims)

    return reduce


sum_ = _reduction("sum", _sum, "the sum", ("sum_axis",))
mean = _reduction("mean", _mean, "the mean")
prod = _reduction("prod", _prod, "the product")
nansum = _reduction("nansum", _without_nan(_sum, 0), "the sum, NaN counted as 0")
nanprod = _reduction("nanprod", _without_nan(_prod, 1), "the product, NaN counted as 1")
max_ = _reduction("max", _max, "the maximum", ("max_axis",))
min_ = _reduction("min", _min, "the minimum", ("min_axis",))


def shaped(totals, shape, axes, keepdims):
    """Totals over `axes` of an array of `shape`, given without these axes, in the shape asked for."""
    kept = tuple(1 if a in axes else n for a, n in enumerate(shape))
    if not keepdims:
        kept = tuple(n for a, n in enumerate(shape) if a not in axes)
    return totals.reshape(kept or (1,))


def csr_sum(data: BCSR, axes) -> jax.Array:
    """Sums a csr value over axes: `(n,)`, `(m,)` or `()`. Integers keep their dtype."""
    if axes == (0, 1):
        values = jnp.where(is_real(data), data.data, jnp.zeros((), data.dtype))
        return _sum(values, (0,), False).astype(data.dtype)
    return _csr_sum(data, axes[0])


@sum_.rule("csr", out="default")
def _(data, *, axis, keepdims, exclude):
    axes = axes_of(2, axis, exclude)
    if not axes:
        return data.todense()
    return shaped(csr_sum(data, axes), data.shape, axes, keepdims)


@mean.rule("csr", out="default")
def _(data, *, axis, keepdims, exclude):
    axes = axes_of(2, axis, exclude)
    if not axes:
        return data.todense()
    n = 1
    for a in axes:
        n *= data.shape[a]
    wide = jnp.promote_types(data.dtype, jnp.float32) if is_floating(data) else jnp.float64
    total = csr_sum(with_data(data, data.data.astype(wide)), axes)
    return shaped((total / n).astype(data.dtype), data.shape, axes, keepdims)


@sum_.rule("row_sparse", out="default")
def _(data, *, axis, keepdims, exclude):
    axes = axes_of(len(data.shape), axis, exclude)
    return shaped(row_sparse_sum(data, axes), data.shape, axes, keepdims)


@mean.rule("row_sparse", out="default")
def _(data, *, axis, keepdims, exclude):
    axes = axes_of(len(data.shape), axis, exclude)
    n = 1
    for a in axes:
        n *= data.shape[a]
    wide = jnp.promote_types(data.dtype, jnp.float32) if is_floating(data) else jnp.float64
    total = row_sparse_sum(with_data(data, data.data.astype(wide)), axes) / n
    return shaped(total.astype(data.dtype), data.shape, axes, keepdims)


def row_sparse_sum(data: BCOO, axes):
    """Sums a row_sparse value over axes; the row axis disappears or is scattered to its length."""
    values = with_stored(data, data.data).data
    partial = _sum(values, tuple(axes), False).astype(data.dtype)
    if 0 in axes:
        return partial
    out = jnp.zeros((data.shape[0], *partial.shape[1:]), data.dtype)
    return out.at[rows_of(data)].set(partial, mode="drop")


def _extreme(op: Operator, is_max: bool) -> None:
    """The rule of the maximum or minimum of csr: what is stored, against the zeros that are not."""
    better = jnp.maximum if is_max else jnp.minimum

    @op.rule("csr", out="default")
    def _(data, *, axis, keepdims, exclude):
        axes = axes_of(2, axis, exclude)
        if not axes:
            return data.todense()
        low = jnp.iinfo(data.dtype).min if not is_floating(data) else -jnp.inf
        high = jnp.iinfo(data.dtype).max if not is_floating(data) else jnp.inf
        worst = jnp.asarray(low if is_max else high, data.dtype)
        values = jnp.where(is_real(data), data.data, worst)
        if axes == (0, 1):
            at, groups, size = jnp.zeros(data.nse, jnp.int32), 1, data.shape[0] * data.shape[1]
        elif axes == (0,):
            at, groups, size = data.indices, data.shape[1], data.shape[0]
        else:
            at, groups, size = row_of_entry(data), data.shape[0], data.shape[1]
        ones = is_real(data).astype(jnp.int64)
        stored = jnp.zeros(groups, jnp.int64).at[at].add(ones, mode="drop")
        best = jnp.full(groups, worst, data.dtype)
        best = (
            best.at[at].max(values, mode="drop") if is_max else best.at[at].min(values, mode="drop")
        )
        best = jnp.where(stored < size, better(best, jnp.zeros((), data.dtype)), best)
        return shaped(best, data.shape, axes, keepdims)


_extreme(max_, True)
_extreme(min_, False)


@operator("_square_sum", visible="internal")
def square_sum(data, *, axis: Axis = None, keepdims: bool = False, exclude: bool = False):
    """Computes the sum of squares over axes.

    Args:
      data: any shape and storage type.
      axis: an axis or a tuple of axes; None for all.
      keepdims: whether the axes stay, with size 1.
      exclude: whether the reduction runs over the other axes.

    Returns:
      dtype of `data`. Of a row_sparse array over axis 1 with keepdims the result is row_sparse, else
      dense.
    """
    return sum_.fn(data * data, axis=axis, keepdims=keepdims, exclude=exclude)


@square_sum.rule(
    "row_sparse",
    out=lambda axis, keepdims, exclude: (
        "row_sparse" if keepdims and axis in (1, (1,)) and not exclude else None
    ),
)
def _(data, *, axis, keepdims, exclude):
    total = _sum(with_stored(data, data.data * data.data).data, (1,), True).astype(data.dtype)
    shape = (data.shape[0], *total.shape[1:])
    return BCOO._trusted(
        total,
        data.indices,
        shape,
        indices_sorted=data.indices_sorted,
        unique_indices=data.unique_indices,
    )


@square_sum.rule("row_sparse", out="default")
def _(data, *, axis, keepdims, exclude):
    axes = axes_of(len(data.shape), axis, exclude)
    squares = with_data(data, data.data * data.data)
    return shaped(row_sparse_sum(squares, axes), data.shape, axes, keepdims)


@square_sum.rule("csr", out="default")
def _(data, *, axis, keepdims, exclude):
    axes = axes_of(2, axis, exclude)
    return shaped(csr_sum(with_data(data, data.data * data.data), axes), data.shape, axes, keepdims)


@operator("norm")
def norm(
    data,
    *,
    ord: int = 2,
    axis: Axis = None,
    out_dtype: str | None = None,
    keepdims: bool = False,
):
    """Computes the L1 or L2 norm over axes.

    Args:
      data: any shape and storage type.
      ord: 1 for the sum of absolute values, 2 for the root of the sum of squares.
      axis: an axis or a tuple of axes; None for all.
      out_dtype: dtype of the result; None for that of `data`.
      keepdims: whether the axes stay, with size 1.

    Returns:
      Dense; a single number has shape (1,).

    Raises:
      MXNetError: `ord` is neither 1 nor 2.
    """
    axes = axes_of(data.ndim, axis)
    wide = jnp.promote_types(data.dtype, jnp.float32) if is_floating(data) else jnp.float64
    x = data.astype(wide)
    if ord == 1:
        total = jnp.sum(x * jnp.sign(x), axis=axes, keepdims=keepdims)
    elif ord == 2:
        total = root(jnp.sum(x * x, axis=axes, keepdims=keepdims))
    else:
        raise ValueError(f"ord must be 1 or 2, got {ord}")
    return at_least_1d(total.astype(out_dtype or data.dtype))


def root(x):
    """The square root, with gradient zero at zero instead of NaN."""
    safe = jnp.where(x == 0, jnp.ones_like(x), x)
    return jnp.where(x == 0, jnp.zeros_like(x), jnp.sqrt(safe))


@norm.rule("csr", out=lambda axis, **_: "default" if isinstance(axis, int) else None)
def _(data, *, ord, axis, out_dtype, keepdims):
    axes = axes_of(2, axis)
    wide = jnp.promote_types(data.dtype, jnp.float32) if is_floating(data) else jnp.float64
    x = data.data.astype(wide)
    if ord not in (1, 2):
        raise ValueError(f"ord must be 1 or 2, got {ord}")
    total = csr_sum(with_data(data, x * jnp.sign(x) if ord == 1 else x * x), axes)
    total = total if ord == 1 else root(total)
    return shaped(total.astype(out_dtype or data.dtype), data.shape, axes, keepdims)


for _stype in SPARSE:

    @norm.rule(_stype, out=lambda axis, **_: "default" if axis in (None, ()) else None)
    def _(data, *, ord, axis, out_dtype, keepdims):
        values = with_stored(data, data.data).data
        total = norm.fn(values, ord=ord, axis=None, out_dtype=out_dtype, keepdims=False)
        return total.reshape((1,) * len(data.shape) if keepdims else (1,))


def _arg(name: str, fn: Callable, says: str) -> Operator:
    def meaning(data, *, axis: int | None = None, keepdims: bool = False):
        if axis is None:
            place = fn(data.reshape(-1), axis=0).reshape((1,) * data.ndim if keepdims else (1,))
        else:
            place = fn(data, axis=axis, keepdims=keepdims)
        return at_least_1d(place.astype(data.dtype))

    meaning.__doc__ = (
        f"Finds the place of {says} along an axis; the first of equal ones.\n\n"
        "Args:\n"
        "  data: any shape and storage type.\n"
        "  axis: the axis; None for the flat array.\n"
        "  keepdims: whether the axis stays, with size 1.\n\n"
        "Returns:\n"
        "  dtype of `data`, dense.\n"
    )
    return operator(name, differentiable=False)(meaning)


argmax = _arg("argmax", jnp.argmax, "the maximum")
argmin = _arg("argmin", jnp.argmin, "the minimum")


@operator("argmax_channel", differentiable=False)
def argmax_channel(data):
    """Finds the place of the maximum along axis 1.

    Args:
      data: `(n, c)`.

    Returns:
      `(n,)`, dtype of `data`.
    """
    return jnp.argmax(data, axis=1).astype(data.dtype)
