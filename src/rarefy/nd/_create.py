"""Making dense arrays."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from rarefy._ops.defs import OPERATORS
from rarefy._ops.precision import wide
from rarefy._ops.storage import SType
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
        numbers = np.array(source, dtype=dtype, order="C", copy=True)
    except (ValueError, TypeError) as error:
        raise TypeError(f"source_array must be array like object: {error}") from error
    with wide():
        return jnp.asarray(numbers)


def at(ctx: Context | None, value: Any) -> Any:
    """The handle of a new value, in a context."""
    ctx = ctx if ctx is not None else current_context()
    if not isinstance(ctx, Context):
        raise TypeError(f"ctx must be a Context, such as cpu(); got {ctx!r}")
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
      ValueError: a size is negative.
    """
    sizes = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
    sizes = tuple(int(n) for n in sizes)
    if any(n < 0 for n in sizes):
        raise ValueError(f"shape must not have negative sizes; got {sizes}")
    return sizes


def _made(name: str, ctx: Context | None, params: dict[str, Any], out: Any = None) -> NDArray:
    made = invoke(OPERATORS[name], (), params, out)
    return made if out is not None or ctx is None else at(ctx, made._value)


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
) -> NDArray:
    """A matrix with ones on a diagonal.

    Args:
      N: rows.
      M: columns; 0 for as many as rows.
      k: which diagonal; above the main one where positive.
      ctx: where it lives; the current context by default.
      dtype: the dtype; float32 by default.
    """
    return _made("_eye", ctx, {"N": N, "M": M, "k": k, "dtype": _dtype(dtype)})


def concatenate(arrays, axis: int = 0, always_copy: bool = True) -> NDArray:
    """Joins a list of arrays along an axis.

    Args:
      arrays: a list of arrays whose shapes agree but for `axis`.
      axis: the axis.
      always_copy: whether a single array is copied.
    """
    if len(arrays) == 1 and not always_copy:
        return arrays[0]
    return invoke(OPERATORS["Concat"], list(arrays), {"dim": axis})


def moveaxis(tensor: NDArray, source, destination) -> NDArray:
    """Moves axes to other places; the others keep their order.

    Args:
      tensor: the array.
      source: an axis or a sequence of axes.
      destination: where they go.
    """
    moved = [int(a) % tensor.ndim for a in np.atleast_1d(source)]
    places = [int(a) % tensor.ndim for a in np.atleast_1d(destination)]
    order = [a for a in range(tensor.ndim) if a not in moved]
    for place, a in sorted(zip(places, moved, strict=True)):
        order.insert(place, a)
    return invoke(OPERATORS["transpose"], (tensor,), {"axes": tuple(order)})


def waitall() -> None:
    """Waits until everything is computed."""
    for value in jax.live_arrays():
        value.block_until_ready()
