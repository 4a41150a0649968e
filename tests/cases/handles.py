"""Awkward cases as arrays of the library."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np

from cases.awkward import CsrCase, RowSparseCase, csr_cases, row_sparse_cases
from rarefy import nd
from rarefy.nd._handle import Handle
from rarefy.sparse import BCOO, BCSR

FLOAT32 = (np.dtype("float32"),)
INT32 = (np.dtype("int32"),)
# Padding that an array of this layer never has: its constructors and operators put it last, as zeros.
NOT_HERE = ("non-finite", "holes")


def csr_array(case: CsrCase):
    """The csr array of a case, as a user or (where there is padding) an operator makes it."""
    if "padded" not in case.tags:
        parts = (case.data, case.indices, case.indptr)
        return nd.sparse.csr_matrix(parts, shape=case.shape)
    with jax.enable_x64(True):
        parts = map(jnp.array, (case.data, case.indices, case.indptr))
        flags = {"indices_sorted": False, "unique_indices": False}
        return Handle._wrap(BCSR._trusted(*parts, case.shape, **flags))


def row_sparse_array(case: RowSparseCase):
    """The row_sparse array of a case, as a user or (where there is padding) an operator makes it."""
    if "padded" not in case.tags:
        return nd.sparse.row_sparse_array((case.data, case.rows), shape=case.shape)
    with jax.enable_x64(True):
        data, rows = jnp.array(case.data), jnp.array(case.rows)
        flags = {"indices_sorted": False, "unique_indices": False}
        return Handle._wrap(BCOO._trusted(data, rows[:, None], case.shape, **flags))


@cache
def csr_structures() -> tuple[CsrCase, ...]:
    """Every structure of csr that fits a dense array, in float32 and int32."""
    cases = csr_cases(FLOAT32, INT32, without=NOT_HERE)
    return tuple(c for c in cases if c.dense is not None)


@cache
def row_sparse_structures() -> tuple[RowSparseCase, ...]:
    """Every structure of row_sparse that fits a dense array, in float32 and int32."""
    cases = row_sparse_cases(FLOAT32, INT32, without=NOT_HERE)
    return tuple(c for c in cases if c.dense is not None)


@cache
def few_csr() -> tuple[CsrCase, ...]:
    """The structures that have most in them, in every type."""
    cases = csr_cases(without=NOT_HERE)
    return tuple(c for c in cases if c.name in ("everything at once", "nothing stored"))


@cache
def few_row_sparse() -> tuple[RowSparseCase, ...]:
    """The structures that have most in them, in every type."""
    cases = row_sparse_cases(without=NOT_HERE)
    return tuple(c for c in cases if c.name in ("everything at once", "nothing stored"))


def tolerance(dtype) -> float:
    """How far a result may lie from the same computed in float64: a few units in the last place."""
    return {2: 2e-2 if np.dtype(dtype).name == "bfloat16" else 2e-3, 4: 1e-5, 8: 1e-12}[
        np.dtype(dtype).itemsize
    ]


def assert_close(actual, expected, dtype=None, scale: float = 1.0) -> None:
    """Compares in float64 with the tolerance of a dtype."""
    actual = np.asarray(actual)
    limit = tolerance(dtype or actual.dtype) * scale
    np.testing.assert_allclose(
        actual.astype(np.float64), np.asarray(expected, np.float64), rtol=limit, atol=limit
    )
