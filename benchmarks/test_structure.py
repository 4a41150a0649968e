"""Structural operations of the functional core beside jax.experimental.sparse and SciPy.

`make bench ARGS="-k structure"` prints an operation's three lines one after another.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import jax
import numpy as np
import pytest
import scipy.sparse
from jax import numpy as jnp
from jax.experimental import sparse as jax_sparse

from rarefy import sparse

LARGE, WIDE, PICKED, SMALL = (10_000, 199_000), (500, 2_500), (2_000, 40_000), (200, 600)
ROWS = np.random.default_rng(6).choice(2_000, 100, replace=False).astype(np.int32)


@cache
def matrix(size: int, stored: int, seed: int) -> scipy.sparse.csr_array:
    rng = np.random.default_rng(seed)
    cells = np.unique(rng.integers(0, size * size, 2 * stored))
    cells = np.sort(rng.choice(cells, stored, replace=False))
    data = rng.standard_normal(stored).astype(np.float32)
    return scipy.sparse.csr_array((data, np.divmod(cells, size)), shape=(size, size))


def bcoo(library: Any, value, *, shuffled: bool = False):
    coo = value.tocoo()
    indices, data = np.stack(coo.coords, axis=1).astype(np.int32), coo.data
    if shuffled:
        order = np.random.default_rng(1).permutation(len(data))
        indices, data = indices[order], data[order]
    flags = {"indices_sorted": not shuffled, "unique_indices": not shuffled}
    return library.BCOO((jnp.asarray(data), jnp.asarray(indices)), shape=value.shape, **flags)


def bcsr(library: Any, value):
    buffers = (value.data, value.indices.astype(np.int32), value.indptr.astype(np.int32))
    flags = {"indices_sorted": True, "unique_indices": True}
    return library.BCSR(tuple(map(jnp.asarray, buffers)), shape=value.shape, **flags)


def shuffled_coo(value):
    coo, order = value.tocoo(), np.random.default_rng(1).permutation(value.nnz)
    places = tuple(c[order] for c in coo.coords)
    return scipy.sparse.coo_array((coo.data[order], places), shape=value.shape)


def merged(coo):
    out = coo.copy()
    out.sum_duplicates()
    return out


def sum_of(a, b):
    return (a + b).sum_duplicates(nse=a.nse + b.nse)


Operand = Callable[[Any, Any], Any]
shuffled = partial(bcoo, shuffled=True)

# Size, what both libraries run on which operands, and what SciPy does on its own csr matrices.
CASES: dict[str, tuple[tuple[int, int], Callable, Operand, Callable]] = {
    "product": (SMALL, lambda a, b: a @ b, bcoo, lambda a, b: a @ b),
    "elementwise-product": (WIDE, lambda a, b: a * b, bcoo, lambda a, b: a * b),
    "rows-by-number": (PICKED, lambda a, b: a[jnp.asarray(ROWS)], bcoo, lambda a, b: a[ROWS]),
    "sum": (LARGE, sum_of, bcoo, lambda a, b: a + b),
    "from_bcoo": (LARGE, lambda a, b: a, shuffled, lambda a, b: shuffled_coo(a)),
    "to_bcoo": (LARGE, lambda a, b: a.to_bcoo(), bcsr, lambda a, b: a.tocoo()),
    "sum_duplicates": (LARGE, lambda a, b: a.sum_duplicates(nse=a.nse), shuffled, shuffled_coo),
    "sort_indices": (LARGE, lambda a, b: a.sort_indices(), shuffled, shuffled_coo),
    "transpose": (LARGE, lambda a, b: a.T.sort_indices(), bcoo, lambda a, b: a.T.tocsr()),
    "fromdense": (PICKED, None, bcoo, lambda a, b: scipy.sparse.csr_array(a)),
}
each_case = pytest.mark.parametrize("name", CASES)


def call_of(library: Any, name: str):
    size, run, operand, _ = CASES[name]
    a, b = (matrix(*size, seed) for seed in (1, 2))
    if name == "fromdense":
        dense = jnp.asarray(a.toarray())
        return jax.jit(partial(library.BCOO.fromdense, nse=a.nnz)), (dense,)
    run = library.BCSR.from_bcoo if name == "from_bcoo" else run
    operands = (operand(library, a), operand(library, b))
    return jax.jit(run), operands[: 1 if name == "from_bcoo" else 2]


def expected_of(name: str):
    size, _, _, run = CASES[name]
    a, b = (matrix(*size, seed) for seed in (1, 2))
    out = a if run is shuffled_coo or name in ("from_bcoo", "fromdense") else run(a, b)
    return out.toarray()


def dense_of(value):
    value = value.todense()
    return np.asarray(value.reshape(-1, value.shape[-1]))


@each_case
def test_rarefy(measure, name):
    run, operands = call_of(sparse, name)
    out = dense_of(measure(run, *operands))
    np.testing.assert_allclose(out, expected_of(name), rtol=1e-4, atol=1e-5)


@each_case
def test_jax(measure, name):
    run, operands = call_of(jax_sparse, name)
    measure(run, *operands)


@each_case
def test_scipy(measure, name):
    size, _, _, run = CASES[name]
    a, b = (matrix(*size, seed) for seed in (1, 2))
    if run is shuffled_coo:
        measure(partial(merged, shuffled_coo(a)))
    elif name == "from_bcoo":
        measure(shuffled_coo(a).tocsr)
    elif name == "fromdense":
        measure(partial(scipy.sparse.csr_array, a.toarray()))
    else:
        measure(run, a, b)


@pytest.mark.parametrize("library", [sparse, None], ids=["rarefy", "scipy"])
@pytest.mark.parametrize("name", ["add", "multiply", "transpose", "matmul", "transposed-vector"])
def test_csr(measure, name, library):
    """csr matrices, for which jax.experimental.sparse has none of these."""
    a, b = matrix(*LARGE, 1), matrix(*LARGE, 2)
    vector = np.ones(LARGE[0], np.float32)
    runs = {
        "add": (lambda a, b: a + b, (a, b)),
        "multiply": (lambda a, b: a * b, (a, b)),
        "transpose": (lambda a: a.T, (a,)),
        "matmul": (lambda a, b: a @ b, (a, b)),
        "transposed-vector": (lambda a, v: a.T @ v, (a, vector)),
    }
    run, operands = runs[name]
    if library is None:
        measure((lambda a: a.T.tocsr()) if name == "transpose" else run, *operands)
        return
    ours = [bcsr(library, v) if v is not vector else jnp.asarray(v) for v in operands]
    # Compiled, a product has the slots that any of its kind may need; a caller has the pattern.
    out = measure(run if name == "matmul" else jax.jit(run), *ours)
    out = out.todense() if name != "transposed-vector" else out
    want = run(*operands)
    want = want.toarray() if name != "transposed-vector" else want
    np.testing.assert_allclose(out, want, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("library", [sparse, None], ids=["rarefy", "scipy"])
@pytest.mark.parametrize("axis", [0, 1])
def test_sum(measure, axis, library):
    """Sums of the columns and of the rows of a csr matrix."""
    a = matrix(*LARGE, 1)
    if library is None:
        measure(a.sum, axis)
        return
    out = measure(jax.jit(partial(sparse.csr_sum, axis=axis)), bcsr(library, a))
    np.testing.assert_allclose(out, a.sum(axis), rtol=1e-3, atol=1e-4)
