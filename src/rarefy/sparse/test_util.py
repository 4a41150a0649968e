"""`jax.experimental.sparse.test_util` under its name: what tests of sparse code are written with.

`SparseTestCase` is a `unittest.TestCase`, and one of absl's parameterized ones where absl is
installed.
"""

import functools
import itertools
import math
import unittest
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import numpy as jnp

from rarefy.sparse._base import JAXSparse
from rarefy.sparse._bcoo import BCOO
from rarefy.sparse._bcoo_shapes import bcoo_broadcast_in_dim, bcoo_concatenate
from rarefy.sparse._bcsr import BCSR
from rarefy.sparse._bcsr_functions import bcsr_broadcast_in_dim, bcsr_concatenate
from rarefy.sparse._create import todense

try:
    from absl.testing.parameterized import TestCase as _TestCase
except ImportError:
    _TestCase = unittest.TestCase

MATMUL_TOL = {np.float32: 1e-5, np.float64: 1e-10, np.complex64: 1e-5, np.complex128: 1e-10}

# By the number of bits that a value rounds to.
_TOLERANCE = {7: 1e-2, 10: 1e-3, 23: 1e-6, 52: 1e-15}


class BatchedDotGeneralProperties(NamedTuple):
    """A product of a batched sparse array, as a test case."""

    lhs_shape: tuple[int, ...]
    rhs_shape: tuple[int, ...]
    n_batch: int
    n_dense: int
    dimension_numbers: Any


class SparseLayout(NamedTuple):
    """How many dimensions of each kind there are."""

    n_batch: int
    n_dense: int
    n_sparse: int


def is_sparse(x: Any) -> bool:
    """Whether `x` is a sparse array."""
    return isinstance(x, JAXSparse)


def rand_default(rng: np.random.RandomState, scale: float = 3) -> Callable[..., np.ndarray]:
    """Makes a function `(shape, dtype)` that draws normal values, integers rounded."""

    def draw(shape, dtype):
        dtype = np.dtype(dtype)
        values = scale * np.asarray(rng.standard_normal(shape))
        if jnp.issubdtype(dtype, jnp.complexfloating):
            values = values + 1j * scale * np.asarray(rng.standard_normal(shape))
        elif dtype == np.bool_:
            return values > 0
        elif jnp.issubdtype(dtype, jnp.unsignedinteger):
            values = np.abs(values)
        return np.asarray(values).astype(dtype)

    return draw


class SparseTestCase(_TestCase):  # pyright: ignore[reportGeneralTypeIssues]
    """Checks that sparse functions agree with dense ones."""

    def rng(self) -> np.random.RandomState:
        """A generator whose seed is the name of the test."""
        seed = sum(ord(c) * 31**i for i, c in enumerate(self.id())) % 2**32
        return np.random.RandomState(seed)

    def assertAllClose(
        self,
        actual: Any,
        desired: Any,
        *,
        check_dtypes: bool = True,
        atol: Any = None,
        rtol: Any = None,
        canonicalize_dtypes: bool = True,
        err_msg: str = "",
    ) -> None:
        """Checks that two trees of arrays are equal up to rounding."""
        found, tree = jax.tree.flatten(actual)
        expected, other = jax.tree.flatten(desired)
        self.assertEqual(len(found), len(expected), f"{tree} and {other} {err_msg}")  # noqa: PT009
        for x, y in zip(found, expected, strict=True):
            x, y = (np.asarray(a) for a in (x, y))
            self.assertEqual(x.shape, y.shape, err_msg)  # noqa: PT009
            if check_dtypes:
                pair = [jax.dtypes.canonicalize_dtype(a.dtype) for a in (x, y)]
                pair = pair if canonicalize_dtypes else [x.dtype, y.dtype]
                self.assertEqual(*pair, err_msg)  # noqa: PT009
            default = max(map(_tolerance, (x.dtype, y.dtype)))
            options: dict[str, Any] = {
                "rtol": _chosen(rtol, x.dtype, default),
                "atol": _chosen(atol, x.dtype, default),
            }
            wide = [a if a.dtype.kind in "biufc" else a.astype(np.float32) for a in (x, y)]
            np.testing.assert_allclose(wide[0], wide[1], **options, err_msg=err_msg)

    def assertArraysAllClose(self, actual: Any, desired: Any, **options: Any) -> None:
        """As `assertAllClose`."""
        self.assertAllClose(actual, desired, **options)

    def assertArraysEqual(
        self, actual: Any, desired: Any, *, check_dtypes: bool = True, err_msg: str = ""
    ) -> None:
        """Checks that two arrays are equal to the bit, NaN included."""
        np.testing.assert_array_equal(np.asarray(actual), np.asarray(desired), err_msg=err_msg)
        if check_dtypes:
            self.assertEqual(np.asarray(actual).dtype, np.asarray(desired).dtype, err_msg)  # noqa: PT009

    def assertDtypesMatch(self, x: Any, y: Any, *, canonicalize_dtypes: bool = True) -> None:
        """Checks that two arrays are of one dtype."""
        pair = [jnp.result_type(a) if canonicalize_dtypes else np.asarray(a).dtype for a in (x, y)]
        self.assertEqual(*pair)  # noqa: PT009

    def _CompileAndCheck(
        self,
        fun: Callable[..., Any],
        args_maker: Callable[[], Any],
        *,
        check_dtypes: bool = True,
        tol: Any = None,
        atol: Any = None,
        rtol: Any = None,
        **_: Any,
    ) -> None:
        """Checks that a function and its compiled form agree."""
        args = args_maker()
        tolerances = {"atol": atol or tol, "rtol": rtol or tol}
        compiled = jax.jit(fun)(*args)
        self.assertAllClose(fun(*args), compiled, check_dtypes=check_dtypes, **tolerances)

    def _CheckAgainstNumpy(
        self,
        numpy_reference_op: Callable[..., Any],
        lax_op: Callable[..., Any],
        args_maker: Callable[[], Any],
        check_dtypes: bool = True,
        tol: Any = None,
        atol: Any = None,
        rtol: Any = None,
        canonicalize_dtypes: bool = True,
    ) -> None:
        """Checks a function against a NumPy one."""
        args = args_maker()
        self.assertAllClose(
            numpy_reference_op(*args),
            lax_op(*args),
            check_dtypes=check_dtypes,
            atol=atol or tol,
            rtol=rtol or tol,
            canonicalize_dtypes=canonicalize_dtypes,
        )

    def assertSparseArraysEquivalent(
        self,
        x: Any,
        y: Any,
        *,
        check_dtypes: bool = True,
        atol: Any = None,
        rtol: Any = None,
        canonicalize_dtypes: bool = True,
        err_msg: str = "",
    ) -> None:
        """Checks that two sparse arrays agree buffer by buffer, and in what else they know."""
        self.assertEqual(jax.tree.structure(x), jax.tree.structure(y), err_msg)  # noqa: PT009
        self.assertAllClose(
            x,
            y,
            check_dtypes=check_dtypes,
            atol=atol,
            rtol=rtol,
            canonicalize_dtypes=canonicalize_dtypes,
            err_msg=err_msg,
        )

    def _CheckAgainstDense(
        self,
        dense_op: Callable[..., Any],
        sparse_op: Callable[..., Any],
        args_maker: Callable[[], Any],
        check_jit: bool = True,
        check_dtypes: bool = True,
        tol: Any = None,
        atol: Any = None,
        rtol: Any = None,
        canonicalize_dtypes: bool = True,
    ) -> None:
        """Checks a sparse function against a dense one, and its compiled form against itself."""
        args = args_maker()
        expected = dense_op(*_to_dense(args))
        found = sparse_op(*args)
        tolerances = {"atol": atol or tol, "rtol": rtol or tol}
        self.assertAllClose(
            expected,
            _to_dense(found),
            check_dtypes=check_dtypes,
            canonicalize_dtypes=canonicalize_dtypes,
            **tolerances,
        )
        if check_jit:
            self.assertSparseArraysEquivalent(found, jax.jit(sparse_op)(*args), **tolerances)

    def _CheckGradsSparse(
        self,
        dense_fun: Callable[..., Any],
        sparse_fun: Callable[..., Any],
        args_maker: Callable[[], Any],
        *,
        argnums: Sequence[int] | None = None,
        modes: Sequence[str] = ("fwd", "rev"),
        atol: Any = None,
        rtol: Any = None,
    ) -> None:
        """Checks the Jacobians with respect to stored values against those of a dense function."""
        if not set(modes) <= {"fwd", "rev"}:
            raise ValueError(f"modes are 'fwd' and 'rev', got {modes}")
        args = args_maker()
        buffers, tree = jax.tree.flatten(args)
        counts = [len(jax.tree.leaves(arg)) for arg in args]
        firsts = [sum(counts[:i]) for i in range(len(counts))]
        numbers = firsts if argnums is None else [firsts[n] for n in argnums]

        def dense_of(*buffers):
            return dense_fun(*_to_dense(jax.tree.unflatten(tree, buffers)))

        def sparse_of(*buffers):
            return _to_dense(sparse_fun(*jax.tree.unflatten(tree, buffers)))

        for mode, jacobian in (("rev", jax.jacrev), ("fwd", jax.jacfwd)):
            if mode in modes:
                expected = jacobian(dense_of, argnums=numbers)(*buffers)
                found = jacobian(sparse_of, argnums=numbers)(*buffers)
                self.assertAllClose(expected, found, atol=atol, rtol=rtol)

    def _random_bdims(self, *counts: int) -> list[int]:
        rng = self.rng()
        return [rng.randint(0, count + 1) for count in counts]

    def _CheckBatchingSparse(
        self,
        dense_fun: Callable[..., Any],
        sparse_fun: Callable[..., Any],
        args_maker: Callable[[], Any],
        *,
        batch_size: int = 3,
        bdims: Sequence[int | None] | None = None,
        check_jit: bool = False,
        check_dtypes: bool = True,
        tol: Any = None,
        atol: Any = None,
        rtol: Any = None,
        canonicalize_dtypes: bool = True,
    ) -> None:
        """Checks `jax.vmap` of a sparse function against that of a dense one."""
        if bdims is None:
            first = args_maker()
            bdims = self._random_bdims(*(a.n_batch if is_sparse(a) else a.ndim for a in first))

        def batched():
            rows = zip(*(args_maker() for _ in range(batch_size)), strict=True)
            return [
                values[0] if axis is None else _stack(values, axis)
                for values, axis in zip(rows, bdims, strict=True)
            ]

        self._CheckAgainstDense(
            jax.vmap(dense_fun, bdims),
            jax.vmap(sparse_fun, bdims),
            batched,
            check_dtypes=check_dtypes,
            tol=tol,
            atol=atol,
            rtol=rtol,
            check_jit=check_jit,
            canonicalize_dtypes=canonicalize_dtypes,
        )


def _to_dense(tree: Any) -> Any:
    return jax.tree.map(todense, tree, is_leaf=is_sparse)


def _tolerance(dtype: np.dtype) -> float:
    if not jnp.issubdtype(dtype, jnp.inexact):
        return 0.0
    return _TOLERANCE.get(int(jnp.finfo(dtype).nmant), 1e-6)


def _chosen(given: Any, dtype: np.dtype, default: float) -> float:
    """A tolerance that may be given by dtype."""
    if isinstance(given, dict):
        return {np.dtype(k): v for k, v in given.items()}.get(np.dtype(dtype), default)
    return default if given is None else given


def _stack(values: Sequence[Any], axis: int) -> Any:
    first: Any = values[0]
    if not is_sparse(first):
        return jnp.stack(values, axis)
    expand, join = (
        (bcoo_broadcast_in_dim, bcoo_concatenate)
        if isinstance(first, BCOO)
        else (bcsr_broadcast_in_dim, bcsr_concatenate)
    )
    shape = (*first.shape[:axis], 1, *first.shape[axis:])
    dims = [d for d in range(len(shape)) if d != axis]
    rows: Any = [expand(v, shape=shape, broadcast_dimensions=dims) for v in values]
    return join(rows, dimension=axis)


def _rand_sparse(
    shape: Sequence[int],
    dtype: Any,
    *,
    rng: np.random.RandomState,
    rand_method: Callable[..., Any],
    nse: float,
    n_batch: int,
    n_dense: int,
    sparse_format: str,
) -> Any:
    if sparse_format not in ("bcoo", "bcsr"):
        raise ValueError(f"Sparse format {sparse_format} not supported.")
    shape = tuple(shape)
    n_sparse = len(shape) - n_batch - n_dense
    if min(n_sparse, n_batch, n_dense) < 0:
        raise ValueError(f"Invalid parameters: {shape=} {n_batch=} {n_sparse=}")
    if sparse_format == "bcsr" and n_sparse != 2:
        raise ValueError(f"bcsr array must have 2 sparse dimensions; {n_sparse} is given.")
    batch, sparse = shape[:n_batch], shape[n_batch : n_batch + n_sparse]
    count = math.ceil(nse * math.prod(sparse)) if 0 <= nse < 1 else int(nse)
    data = jnp.asarray(rand_method(rng)((*batch, count, *shape[n_batch + n_sparse :]), dtype))
    if sparse_format == "bcoo":
        indices = rng.randint(0, sparse, size=(*batch, count, n_sparse), dtype=np.int32)
        return BCOO((data, indices), shape=shape)
    indices = rng.randint(0, sparse[1], size=(*batch, count), dtype=np.int32)
    starts = rng.randint(0, count + 1, size=(*batch, sparse[0] + 1), dtype=np.int32)
    starts = np.sort(starts, axis=-1)
    starts[..., 0] = 0
    return BCSR((data, indices, starts), shape=shape)


def rand_bcoo(
    rng: np.random.RandomState,
    rand_method: Callable[..., Any] = rand_default,
    nse: float = 0.5,
    n_batch: int = 0,
    n_dense: int = 0,
) -> Callable[..., BCOO]:
    """Makes a function `(shape, dtype)` that draws a BCOO, unsorted and with repeats."""
    options = {"rng": rng, "rand_method": rand_method, "nse": nse}
    layout = {"n_batch": n_batch, "n_dense": n_dense, "sparse_format": "bcoo"}
    return functools.partial(_rand_sparse, **options, **layout)


def rand_bcsr(
    rng: np.random.RandomState,
    rand_method: Callable[..., Any] = rand_default,
    nse: float = 0.5,
    n_batch: int = 0,
    n_dense: int = 0,
) -> Callable[..., BCSR]:
    """Makes a function `(shape, dtype)` that draws a BCSR, unsorted and with repeats."""
    options = {"rng": rng, "rand_method": rand_method, "nse": nse}
    layout = {"n_batch": n_batch, "n_dense": n_dense, "sparse_format": "bcsr"}
    return functools.partial(_rand_sparse, **options, **layout)


def rand_sparse(
    rng: np.random.RandomState,
    nse: float = 0.5,
    post: Callable[..., Any] = lambda x: x,
    rand_method: Callable[..., Any] = rand_default,
) -> Callable[..., Any]:
    """Makes a function `(shape, dtype)` that draws a dense array with at most `nse` non-zeros."""
    fraction = nse

    def draw(shape, dtype, nse=fraction):
        size = math.prod(shape)
        count = min(size, int(nse * size if 0 <= nse < 1 else nse))
        values = np.array(rand_method(rng)(shape, dtype))
        values.reshape(-1)[rng.choice(size, size - count, replace=False)] = 0
        return post(values)

    return draw


def iter_subsets(s: Sequence[Any]) -> Iterable[tuple[Any, ...]]:
    """All subsets of a sequence, the small ones first."""
    return itertools.chain.from_iterable(itertools.combinations(s, n) for n in range(len(s) + 1))


def iter_sparse_layouts(shape: Sequence[int], min_n_batch: int = 0) -> Iterator[SparseLayout]:
    """All layouts that a BCOO of a shape may have."""
    ndim = len(shape)
    for n_batch in range(min_n_batch, ndim + 1):
        for n_dense in range(ndim + 1 - n_batch):
            yield SparseLayout(n_batch, n_dense, ndim - n_batch - n_dense)


def iter_bcsr_layouts(shape: Sequence[int], min_n_batch: int = 0) -> Iterator[SparseLayout]:
    """All layouts that a BCSR of a shape may have."""
    for n_batch in range(min_n_batch, len(shape) - 1):
        yield SparseLayout(n_batch, len(shape) - 2 - n_batch, 2)
