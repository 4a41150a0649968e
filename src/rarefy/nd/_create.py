"""Making dense arrays."""

from functools import cache
from operator import index
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from rarefy._later import finish_all
from rarefy._ops.defs import OPERATORS
from rarefy._ops.precision import wide
from rarefy._ops.storage import SType
from rarefy._primitives.from_host import from_host
from rarefy.base import MXNetError
from rarefy.context import Context, cpu, current_context
from rarefy.nd import _create_sparse as sparse
from rarefy.nd._handle import Handle
from rarefy.nd._invoke import invoke
from rarefy.nd._ndarray import NDArray

Shape = int | tuple[int, ...]


def array(source_array: Any, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """Makes an array of what holds numbers; the numbers are copied.

    Args:
      source_array: an array of this library (a sparse one stays so), a `scipy.sparse.csr_matrix`
        (becomes csr), or what NumPy makes an array of.
      ctx: where it lives; the current context by default.
      dtype: its dtype; by default that of an array of this library or of SciPy, else float32.

    Returns:
      An array of the shape of `source_array`.

    Raises:
      TypeError: it cannot be made an array.
    """
    if isinstance(source_array, sparse.BaseSparseNDArray) or sparse.is_scipy(source_array):
        return sparse.array(source_array, ctx=ctx, dtype=dtype)
    if isinstance(source_array, NDArray):
        dtype = np.dtype(dtype or source_array.dtype)
        with wide():
            return at(ctx, jnp.array(source_array._value, dtype=dtype, copy=True))
    if isinstance(source_array, jax.Array):
        with wide():
            return at(ctx, jnp.array(source_array, dtype=np.dtype(dtype or np.float32), copy=True))
    return at(ctx, host_array(source_array, np.dtype(dtype or np.float32)))


def host_array(source: Any, dtype: np.dtype) -> jax.Array:
    """A JAX array of a dtype that owns what it holds, from a list or a NumPy array."""
    try:
        try:
            numbers = np.array(source, dtype=dtype, order="C", copy=True)
        except OverflowError:  # a number beyond an integer type wraps around, as in C
            numbers = np.array(source).astype(dtype, order="C")
    except (ValueError, TypeError) as error:
        raise TypeError(f"source_array must be array like object: {error}") from error
    with wide():
        return from_host(numbers, owned=True)


def at(ctx: Context | None, value: Any) -> Any:
    """The handle of a new value, in a context."""
    ctx = ctx if ctx is not None else current_context()
    if not isinstance(ctx, Context):
        raise MXNetError(f"ctx must be a Context, such as cpu(); got {ctx!r}")
    if ctx == cpu(0):
        handle = Handle._wrap(value)
        if jax.default_backend() == "cpu":
            return handle
    handle = Handle._wrap(jax.device_put(value, ctx.device))
    handle._ctx = ctx
    return handle


def as_shape(shape: Any) -> tuple[int, ...]:
    """A shape given as a number or a sequence.

    Raises:
      MXNetError: it is neither, or a size is negative.
    """
    try:
        sizes = tuple(map(index, (shape,) if hasattr(shape, "__index__") else shape))
    except TypeError:
        raise MXNetError(f"shape must be an integer or some of them; got {shape!r}") from None
    if any(n < 0 for n in sizes):
        raise MXNetError(f"shape must not have negative sizes; got {sizes}")
    return sizes


def _made(name: str, ctx: Context | None, params: dict[str, Any], out: Any = None) -> NDArray:
    return placed(invoke(OPERATORS[name], (), params, out), ctx, out)


def placed(made: Any, ctx: Context | None, out: Any = None) -> Any:
    """What an operator has made of nothing, in a context, unless it was written to `out`."""
    ctx = ctx if ctx is not None else current_context()
    return made if out is not None or ctx == made.context else at(ctx, made._value)


@cache
def _dtype(dtype: Any) -> str:
    return np.dtype(dtype or np.float32).name


def zeros(
    shape: Shape,
    ctx: Context | None = None,
    dtype: Any = None,
    stype: SType | None = None,
    **kwargs,
) -> NDArray:
    """An array of zeros.

    Args:
      shape: the shape.
      ctx: where it lives; the current context by default.
      dtype: the dtype; float32 by default.
      stype: the storage type; 'default' by default.
      **kwargs: `out`, an array to fill.
    """
    if stype not in (None, "default"):
        return sparse.zeros(stype, shape, ctx=ctx, dtype=dtype)
    params = {"shape": as_shape(shape), "dtype": _dtype(dtype)}
    return _made("_zeros", ctx, params, kwargs.get("out"))


def ones(shape: Shape, ctx: Context | None = None, dtype: Any = None, **kwargs) -> NDArray:
    """An array of ones.

    Args:
      shape: the shape.
      ctx: where it lives; the current context by default.
      dtype: the dtype; float32 by default.
      **kwargs: `out`, an array to fill.
    """
    params = {"shape": as_shape(shape), "dtype": _dtype(dtype)}
    return _made("_ones", ctx, params, kwargs.get("out"))


def full(
    shape: Shape, val: float, ctx: Context | None = None, dtype: Any = np.float32, out: Any = None
) -> NDArray:
    """An array of one value.

    Args:
      shape: the shape.
      val: the value.
      ctx: where it lives; the current context by default.
      dtype: the dtype.
      out: an array to fill.
    """
    params = {"shape": as_shape(shape), "value": val, "dtype": _dtype(dtype)}
    return _made("_full", ctx, params, out)


def empty(
    shape: Shape, ctx: Context | None = None, dtype: Any = None, stype: SType | None = None
) -> NDArray:
    """An array whose elements are to be written; they are zeros.

    Args:
      shape: the shape.
      ctx: where it lives; the current context by default.
      dtype: the dtype; float32 by default.
      stype: the storage type; 'default' by default.
    """
    return zeros(shape, ctx, dtype, stype)


def arange(
    start: float,
    stop: float | None = None,
    step: float = 1.0,
    repeat: int = 1,
    infer_range: bool | None = None,
    ctx: Context | None = None,
    dtype: Any = np.float32,
) -> NDArray:
    """Numbers at equal distances.

    Args:
      start: the first number; without `stop` the numbers run from 0 to `start`.
      stop: the numbers stay below it.
      step: their distance.
      repeat: how often each stands.
      infer_range: accepted for MXNet's sake.
      ctx: where the array lives; the current context by default.
      dtype: the dtype.
    """
    params = {
        "start": start,
        "stop": stop,
        "step": step,
        "repeat": int(repeat),
        "dtype": _dtype(dtype),
    }
    return _made("_arange", ctx, params)


def linspace(
    start: float,
    stop: float,
    num: int,
    endpoint: bool = True,
    ctx: Context | None = None,
    dtype: Any = np.float32,
) -> NDArray:
    """Numbers that divide an interval evenly.

    Args:
      start, stop: the ends.
      num: how many numbers.
      endpoint: whether `stop` is one of them.
      ctx: where the array lives; the current context by default.
      dtype: the dtype.
    """
    params = {
        "start": start,
        "stop": stop,
        "num": num,
        "endpoint": endpoint,
        "dtype": _dtype(dtype),
    }
    return _made("_linspace", ctx, params)


def eye(
    N: int,
    M: int = 0,
    k: int = 0,
    ctx: Context | None = None,
    dtype: Any = None,
    **kwargs,
) -> NDArray:
    """A matrix with ones on a diagonal.

    Args:
      N: rows.
      M: columns; 0 for as many as rows.
      k: which diagonal; above the main one where positive.
      ctx: where it lives; the current context by default.
      dtype: the dtype; float32 by default.
      **kwargs: `out`, an array to fill.
    """
    params = {"N": N, "M": M, "k": k, "dtype": _dtype(dtype)}
    return _made("_eye", ctx, params, kwargs.get("out"))


def concatenate(arrays, axis: int = 0, always_copy: bool = True) -> NDArray:
    """Joins a list of arrays along an axis.

    Args:
      arrays: a list of arrays whose shapes agree but for `axis`.
      axis: the axis.
      always_copy: whether a single array is copied.

    Raises:
      AssertionError: `arrays` is no list, or an empty one.
      MXNetError: shapes or dtypes do not agree.
    """
    assert isinstance(arrays, list) and arrays, "concatenate needs a list of arrays"
    if len(arrays) == 1 and not always_copy:
        return arrays[0]
    return invoke(OPERATORS["Concat"], list(arrays), {"dim": axis})


def moveaxis(tensor: NDArray, source, destination) -> NDArray:
    """Moves axes to other places; the others keep their order.

    Args:
      tensor: the array.
      source: an axis or a sequence of axes.
      destination: where they go.

    Raises:
      ValueError: an axis is out of range or named twice, or there are not as many places as axes.
    """
    moved = normalize_axis_tuple(source, tensor.ndim, "source")
    places = normalize_axis_tuple(destination, tensor.ndim, "destination")
    if len(moved) != len(places):
        raise ValueError(f"{len(moved)} axes cannot go to {len(places)} places")
    order = [a for a in range(tensor.ndim) if a not in moved]
    for place, a in sorted(zip(places, moved, strict=True)):
        order.insert(place, a)
    return invoke(OPERATORS["transpose"], (tensor,), {"axes": tuple(order)})


def split_v2(ary: NDArray, indices_or_sections, axis: int = 0, squeeze_axis: bool = False):
    """Cuts an array into parts along an axis.

    Args:
      ary: the array.
      indices_or_sections: the number of equal parts, or where the parts after the first begin.
      axis: the axis.
      squeeze_axis: whether an axis that has become 1 disappears.

    Returns:
      A list of arrays; an array where there is one part.

    Raises:
      ValueError: the axis does not divide into equal parts, or the axis is out of range.
      MXNetError: a part begins beyond the end.
    """
    return ary.split_v2(indices_or_sections, axis, squeeze_axis)


def histogram(a: NDArray, bins: "int | NDArray" = 10, range: Any = None) -> list[NDArray]:
    """Counts elements by interval.

    Args:
      a: any shape.
      bins: `(n + 1,)`, ascending: the bounds of the intervals, the last one inclusive; or a number of
        equal intervals.
      range: the ends of these; the smallest and the largest element by default.

    Returns:
      Counts `(n,)`, int64, and the bounds `(n + 1,)`.

    Raises:
      ValueError: `bins` is neither, or `range` is empty.
    """
    if isinstance(bins, NDArray):
        return invoke(OPERATORS["_histogram"], (a, bins), {"bin_cnt": None, "range": None})
    if not isinstance(bins, int | np.integer):
        raise ValueError("bins argument should be either an integer or an NDArray")
    if range is None:
        found = a.asnumpy()
        range = (found.min(), found.max())
        if range[0] == range[1]:
            range = (range[0] - 0.5, range[1] + 0.5)
    low, high = (float(end) for end in range)
    if not low < high:
        raise ValueError(f"range must be ascending; got {low} to {high}")
    params = {"bin_cnt": int(bins), "range": (low, high)}
    return invoke(OPERATORS["_histogram"], (a, None), params)


def onehot_encode(indices: NDArray, out: NDArray) -> NDArray:
    """Fills each row of `out` with zeros and a one in the column that `indices` names.

    Args:
      indices: `(n,)`.
      out: `(n, classes)`.

    Returns:
      `out`.

    Raises:
      MXNetError: the shapes do not agree.
    """
    if out.ndim != 2 or indices.shape != out.shape[:1]:
        raise MXNetError(
            f"onehot_encode: indices {indices.shape} name no columns of out {out.shape}; they must be "
            "(n,) and (n, classes)"
        )
    params = {"depth": out.shape[1], "on_value": 1.0, "off_value": 0.0}
    params["dtype"] = np.dtype(out.dtype).name
    return invoke(OPERATORS["one_hot"], (indices,), params, out)


def waitall() -> None:
    """Waits until everything is computed."""
    finish_all()
    for value in jax.live_arrays():
        value.block_until_ready()
