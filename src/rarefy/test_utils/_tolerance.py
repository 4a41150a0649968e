"""How far apart two arrays may be: tolerances by dtype."""

from typing import Any

import ml_dtypes
import numpy as np

from rarefy.context import Context, current_context, num_gpus
from rarefy.nd import NDArray

_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
_EXACT = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")

_RTOL = {np.dtype(d): t for d, t in (("float16", 1e-2), ("float32", 1e-4), ("float64", 1e-5))}
_ATOL = {np.dtype(d): t for d, t in (("float16", 1e-1), ("float32", 1e-3), ("float64", 1e-20))}
# Steps of a finite difference: powers of two, so that x + step - x is the step.
_STEP = {np.dtype(d): 2.0**-p for d, p in (("float16", 6), ("float32", 9), ("float64", 14))}
_RTOL[_BFLOAT16], _ATOL[_BFLOAT16], _STEP[_BFLOAT16] = 1e-1, 1e-1, 2.0**-4


def default_rtols() -> dict[np.dtype, float]:
    """The relative tolerance of each dtype; 0 for integers."""
    return {**_RTOL, **{np.dtype(d): 0 for d in _EXACT}}


def default_atols() -> dict[np.dtype, float]:
    """The absolute tolerance of each dtype; 0 for integers."""
    return {**_ATOL, **{np.dtype(d): 0 for d in _EXACT}}


def default_numeric_eps() -> dict[np.dtype, float]:
    """The step of a finite difference for each floating dtype."""
    return dict(_STEP)


def default_dtype() -> type:
    """float32."""
    return np.float32


def default_context() -> Context:
    """The current context."""
    return current_context()


def set_default_context(ctx: Context) -> None:
    """Makes `ctx` the context of arrays that are given none, in this thread."""
    ctx.__enter__()


def list_gpus() -> range:
    """The numbers of the GPUs that this process can use."""
    return range(num_gpus())


def effective_dtype(dat: Any) -> np.dtype:
    """The dtype whose tolerance an array is compared with."""
    return np.dtype(getattr(dat, "dtype", np.float64))


def get_tolerance(dat: Any, tol: Any, default_tol: dict[np.dtype, float]) -> float:
    """The tolerance for an array.

    Args:
      dat: the array.
      tol: a number, a dict by dtype, or None for `default_tol`.
      default_tol: tolerances by dtype.
    """
    if tol is None:
        tol = default_tol
    if not isinstance(tol, dict):
        return tol
    dtype = effective_dtype(dat)
    found = {np.dtype(key): value for key, value in tol.items()}.get(dtype)
    return default_tol.get(dtype, 0) if found is None else found


def get_tols(x: Any, y: Any, rtol: Any, atol: Any) -> tuple[float, float]:
    """The tolerances for a pair: the looser of the two arrays'."""
    return (
        max(get_tolerance(x, rtol, default_rtols()), get_tolerance(y, rtol, default_rtols())),
        max(get_tolerance(x, atol, default_atols()), get_tolerance(y, atol, default_atols())),
    )


def get_rtol(rtol: float | None = None, dtype: Any = np.float64) -> float:
    """`rtol`, or that of the dtype."""
    return default_rtols()[np.dtype(dtype)] if rtol is None else rtol


def get_atol(atol: float | None = None, dtype: Any = np.float64) -> float:
    """`atol`, or that of the dtype."""
    return default_atols()[np.dtype(dtype)] if atol is None else atol


def get_etol(etol: float | None = None) -> float:
    """The share of elements that may differ: `etol`, or none."""
    return 0 if etol is None else etol


def as_numpy(value: Any) -> np.ndarray:
    """An array as NumPy's, sparse ones dense."""
    return value.asnumpy() if isinstance(value, NDArray) else np.asarray(value)
