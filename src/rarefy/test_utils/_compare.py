"""Assertions on arrays of any storage type, NumPy's included."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rarefy.nd import NDArray, waitall
from rarefy.test_utils._tolerance import as_numpy, get_etol, get_tols

_SHOWN = 4096


def same(a: Any, b: Any) -> bool:
    """Whether two arrays have the same shape and equal elements; NaN equals nothing."""
    return np.array_equal(as_numpy(a), as_numpy(b))


def same_array(array1: NDArray, array2: NDArray) -> bool:
    """Whether two dense arrays are the same memory: a write to one shows in the other."""
    before = array1.asnumpy()
    if not same(before, array2):
        return False
    array1[:] = before + 1
    shared = same(array1, array2)
    array1[:] = before
    return shared


def _excess(a: np.ndarray, b: np.ndarray, rtol: float, atol: float) -> np.ndarray:
    """How many times each difference is its tolerance `atol + rtol * |b|`."""
    if a.dtype == bool:
        a, b = a.astype(np.int8), b.astype(np.int8)
    kind = np.result_type(a, b, np.float32)
    with np.errstate(all="ignore"):
        difference = np.abs(a.astype(kind) - b.astype(kind))
        difference[np.broadcast_to(a == b, difference.shape)] = 0  # infinities of one sign
        allowed = atol + rtol * np.abs(b.astype(kind))
        excess = np.where(difference == 0, 0, difference / allowed)
    return np.where(np.isinf(difference), np.inf, excess)


def _close(a, b, rtol: float, atol: float, equal_nan: bool) -> np.ndarray:
    return np.isclose(*_common(a, b), rtol=rtol, atol=atol, equal_nan=equal_nan)


def _common(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both in a dtype that NumPy can compare them in."""
    kind = np.result_type(a, b)
    if kind.kind not in "biufc":  # bfloat16 and what it meets
        kind = np.dtype(np.float64)
    return a.astype(kind), b.astype(kind)


def almost_equal(a, b, rtol=None, atol=None, equal_nan=False, use_broadcast=True) -> bool:
    """Whether two arrays are equal up to `atol + rtol * |b|`.

    Args:
      a, b: arrays of any storage type, or NumPy's.
      rtol, atol: numbers or dicts by dtype; by default the looser of the two dtypes'.
      equal_nan: whether NaN equals NaN.
      use_broadcast: whether shapes need only broadcast.

    Raises:
      AssertionError: the shapes differ and `use_broadcast` is off.
    """
    rtol, atol = get_tols(a, b, rtol, atol)
    a, b = as_numpy(a), as_numpy(b)
    if not use_broadcast:
        checkShapes(a, b)
    return bool(_close(a, b, rtol, atol, equal_nan).all())


def checkShapes(a: Any, b: Any) -> None:
    """Raises AssertionError where the shapes differ."""
    if a.shape != b.shape:
        raise AssertionError(
            f"Items are not equal: a.shape = {a.shape} and b.shape = {b.shape} are not equal\n"
            f"{_both(as_numpy(a), as_numpy(b))}"
        )


def _both(a: np.ndarray, b: np.ndarray) -> str:
    with np.printoptions(threshold=4, suppress=True):
        return f" ACTUAL: {a!r}\n DESIRED: {b!r}"


def _place(a: np.ndarray, b: np.ndarray, at: tuple[int, ...], names: Sequence[str]) -> str:
    at = tuple(int(i) for i in at)
    return f"{at}, {names[0]}={a[at]:.8f}, {names[1]}={b[at]:.8f}"


def assert_almost_equal(
    a,
    b,
    rtol=None,
    atol=None,
    names=("a", "b"),
    equal_nan=False,
    use_broadcast=True,
    mismatches=(10, 10),
) -> None:
    """Raises where two arrays differ by more than `atol + rtol * |b|`.

    Args:
      a, b: arrays of any storage type, or NumPy's.
      rtol, atol: numbers or dicts by dtype; by default the looser of the two dtypes'.
      names: what the message calls them.
      equal_nan: whether NaN equals NaN.
      use_broadcast: whether shapes need only broadcast.
      mismatches: how many of the worst places the message lists, and how many it may look at.

    Raises:
      AssertionError: they differ; with the largest excess, its place, the share of such elements.
    """
    _assert_close(a, b, rtol, atol, 0, names, equal_nan, use_broadcast, mismatches)


def assert_almost_equal_with_err(
    a,
    b,
    rtol=None,
    atol=None,
    etol=None,
    names=("a", "b"),
    equal_nan=False,
    mismatches=(10, 10),
) -> None:
    """`assert_almost_equal` that lets the share `etol` of the elements differ."""
    _assert_close(a, b, rtol, atol, get_etol(etol), names, equal_nan, True, mismatches)


def _assert_close(a, b, rtol, atol, etol, names, equal_nan, use_broadcast, mismatches) -> None:
    rtol, atol = get_tols(a, b, rtol, atol)
    a, b = as_numpy(a), as_numpy(b)
    if not use_broadcast:
        checkShapes(a, b)
    far = ~_close(a, b, rtol, atol, equal_nan)
    count = int(far.sum())
    if count <= etol * far.size:
        return
    a, b = np.broadcast_arrays(a, b)
    excess = np.where(far, _excess(a, b, rtol, atol), -1)
    # NaN counts as the worst.
    order = np.argsort(np.where(np.isnan(excess), np.inf, excess), axis=None, kind="stable")[::-1]
    worst = [np.unravel_index(i, far.shape) for i in order[: min(count, mismatches[0])]]
    lines = [
        f"{n:3d}: error {excess[at]:f} at {_place(a, b, at, names)}"
        for n, at in enumerate(worst, 1)
    ]
    raise AssertionError(
        f"\nItems are not equal:\nError {excess[worst[0]]:f} exceeds tolerance rtol={rtol:e}, "
        f"atol={atol:e} (mismatch {100 * count / far.size:f}%).\n"
        f"Location of maximum error: {_place(a, b, worst[0], names)}\n{_both(a, b)}\n"
        f"The worst of {count}, in units of the tolerance:\n" + "\n".join(lines)
    )


def assert_almost_equal_ignore_nan(a, b, rtol=None, atol=None, names=("a", "b")) -> None:
    """`assert_almost_equal` where neither is NaN."""
    a, b = np.array(as_numpy(a)), np.array(as_numpy(b))
    unknown = np.isnan(a) | np.isnan(b)
    a[unknown] = b[unknown] = 0
    assert_almost_equal(a, b, rtol, atol, names)


def assert_allclose(a, b, rtol=1e-07, atol=0, equal_nan=True) -> None:
    """`numpy.testing.assert_allclose` on arrays of any storage type."""
    np.testing.assert_allclose(as_numpy(a), as_numpy(b), rtol=rtol, atol=atol, equal_nan=equal_nan)


def compare_ndarray_tuple(t1: Any, t2: Any, rtol=None, atol=None) -> None:
    """Asserts that two arrays, or nested tuples of arrays and None, are almost equal.

    Raises:
      AssertionError: they are not, or the tuples differ in form.
    """
    if t1 is None or t2 is None:
        if t1 is not t2:
            raise AssertionError("one is None, the other is not")
        return
    if isinstance(t1, tuple | list):
        if len(t1) != len(t2):
            raise AssertionError(f"tuples of {len(t1)} and of {len(t2)}")
        for one, other in zip(t1, t2, strict=True):
            compare_ndarray_tuple(one, other, rtol, atol)
        return
    assert_almost_equal(t1, t2, rtol=rtol, atol=atol)


def assert_exception(
    f: Callable[..., Any], exception_type: type[BaseException], *args, **kwargs
) -> None:
    """Asserts that a call raises, at the latest when its results are waited for.

    Args:
      f: what is called with `args` and `kwargs`.
      exception_type: the exception expected; others pass through.

    Raises:
      AssertionError: nothing was raised.
    """
    try:
        f(*args, **kwargs)
        waitall()
    except exception_type:
        return
    raise AssertionError(f"{f} raised nothing; expected {exception_type.__name__}")
