"""Operators that describe arrays in a few numbers."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from rarefy._ops.defs._numbers import is_floating, require_same_dtype
from rarefy._ops.defs.reduce import axes_of
from rarefy._ops.opdef import operator

Shape = tuple[int, ...]


@operator("moments", results=2)
def moments(data, *, axes: int | Shape | None = None, keepdims: bool = False):
    """Computes mean and variance over axes.

    Args:
      data: any shape, floating; sparse arrays go dense.
      axes: an axis or a tuple of axes.
      keepdims: whether the axes stay, with size 1.

    Returns:
      Mean and variance, dtype of `data`.

    Raises:
      MXNetError: there are no axes.
    """
    if axes is None or axes == ():
        raise ValueError(f"axes must name an axis; pass axes={tuple(range(data.ndim))} for all")
    over = axes_of(data.ndim, axes)
    x = data.astype(jnp.promote_types(data.dtype, jnp.float32))
    mean = jnp.mean(x, axis=over, keepdims=True)
    variance = jnp.mean(jnp.square(x - mean), axis=over, keepdims=True)
    shape = mean.shape if keepdims else tuple(n for a, n in enumerate(data.shape) if a not in over)
    return tuple(r.reshape(shape or (1,)).astype(data.dtype) for r in (mean, variance))


@operator("_histogram", visible="internal", results=2, differentiable=False)
def histogram(
    data, bins: Any = None, *, bin_cnt: int | None = None, range: tuple[float, float] | None = None
):
    """Counts elements by interval.

    Args:
      data: any shape; sparse arrays go dense.
      bins: `(n + 1,)`, ascending: the bounds of the intervals.
      bin_cnt: the number of equal intervals, instead of `bins`.
      range: the ends of these.

    Returns:
      Counts `(n,)`, int64, and bounds `(n + 1,)`. The last interval holds its upper bound.

    Raises:
      MXNetError: there are both or neither of `bins` and `bin_cnt`.
    """
    if (bins is None) == (bin_cnt is None) or (bin_cnt is not None and range is None):
        raise ValueError("histogram takes bins, or bin_cnt and range")
    if bins is None:
        assert bin_cnt is not None and range is not None
        bounds = jnp.asarray(np.linspace(*range, bin_cnt + 1)).astype(data.dtype)
    else:
        bounds = bins
    flat = data.reshape(-1)
    place = jnp.searchsorted(bounds, flat, side="right") - 1
    place = jnp.where(flat == bounds[-1], bounds.shape[0] - 2, place)
    place = jnp.where((flat >= bounds[0]) & (flat <= bounds[-1]), place, bounds.shape[0])
    counts = jnp.zeros(bounds.shape[0] - 1, jnp.int64).at[place].add(1, mode="drop")
    return counts, jnp.copy(bounds)


@operator("_contrib_allclose", visible="internal", differentiable=False)
def allclose(a, b, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = True):
    """Whether two arrays agree: `|a - b| <= atol + rtol * |b|` everywhere.

    Args:
      a, b: of one shape and dtype.
      rtol, atol: how much they may differ.
      equal_nan: whether NaN agrees with NaN.

    Returns:
      `()`, uint8: 1 or 0.
    """
    require_same_dtype(a, b)
    return jnp.allclose(a, b, rtol, atol, equal_nan).astype(jnp.uint8)


def _finite(*arrays):
    finite = jnp.asarray(True)
    for array in arrays:
        finite &= jnp.isfinite(array).all()
    return finite.astype(jnp.float32).reshape(1)


@operator("all_finite", differentiable=False)
def all_finite(data, *, init_output: bool = True):
    """Whether an array holds neither NaN nor infinity.

    Args:
      data: any shape, floating.
      init_output: accepted for MXNet's sake.

    Returns:
      `(1,)`, float32: 1 or 0.
    """
    return _finite(data)


@operator("multi_all_finite", differentiable=False)
def multi_all_finite(*data, num_arrays: int = 1, init_output: bool = True):
    """Whether arrays hold neither NaN nor infinity.

    Args:
      data: arrays of any shapes, floating.
      num_arrays: how many there are.
      init_output: accepted for MXNet's sake.

    Returns:
      `(1,)`, float32: 1 or 0.
    """
    _require_count(data, num_arrays)
    return _finite(*data)


def _require_count(arrays, expected: int) -> None:
    if len(arrays) != expected:
        raise ValueError(f"there are {len(arrays)} arrays, but the number given is {expected}")


@operator("multi_sum_sq", differentiable=False)
def multi_sum_sq(*data, num_arrays: int):
    """Sums the squares of each of several arrays.

    Args:
      data: arrays of any shapes, floating.
      num_arrays: how many there are.

    Returns:
      `(num_arrays,)`, float32.
    """
    _require_count(data, num_arrays)
    return jnp.stack([jnp.square(x.astype(jnp.float32)).sum() for x in data])


@operator("amp_cast")
def amp_cast(data, *, dtype: str):
    """Converts floats to another dtype; integers stay as they are.

    Args:
      data: any shape; sparse arrays go dense.
      dtype: a floating dtype.

    Returns:
      Shape of `data`, dense.
    """
    return data.astype(dtype) if is_floating(data) else jnp.copy(data)


@operator("amp_multicast", results=lambda num_outputs, **_: num_outputs)
def amp_multicast(*data, num_outputs: int, cast_narrow: bool = False):
    """Converts arrays to one dtype, the widest of them or the narrowest.

    Args:
      data: arrays of any shapes, floating.
      num_outputs: how many there are.
      cast_narrow: whether the narrowest dtype is taken.

    Returns:
      The arrays, dense.
    """
    _require_count(data, num_outputs)
    choose = min if cast_narrow else max
    dtype = choose((x.dtype for x in data), key=lambda d: d.itemsize)
    return tuple(x.astype(dtype) if is_floating(x) else jnp.copy(x) for x in data)
