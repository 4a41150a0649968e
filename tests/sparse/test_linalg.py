"""Linear systems and eigenvalues, against NumPy."""

import jax
import numpy as np
import pytest
import scipy.sparse
from jax import numpy as jnp
from jax.test_util import check_grads
from numpy.testing import assert_allclose

from rarefy.sparse import BCOO, BCSR, COO, CSC, CSR, linalg


@pytest.fixture
def wide():
    """64-bit types, which numeric derivatives need."""
    with jax.enable_x64(True):
        yield


def system(n=8):
    rng = np.random.default_rng(0)
    a = rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.4) + 3 * np.eye(n)
    return a, rng.standard_normal(n)


def test_spsolve_solves_and_differentiates(wide):
    a, b = system()
    m = BCSR.fromdense(a)

    def solve(data, b):
        return linalg.spsolve(data, m.indices, m.indptr, b)

    assert_allclose(solve(m.data, b), np.linalg.solve(a, b))
    check_grads(solve, (m.data, jnp.asarray(b)), 2)
    check_grads(jax.jit(solve), (m.data, jnp.asarray(b)), 1)
    both = jax.vmap(solve)(jnp.stack([m.data, 2 * m.data]), jnp.stack([b, b]))
    assert_allclose(both, np.stack([np.linalg.solve(a, b), np.linalg.solve(2 * a, b)]))
    columns = np.stack([b, 2 * b], axis=1)
    assert_allclose(solve(m.data, columns), np.linalg.solve(a, columns))


@pytest.mark.parametrize("kind", [BCOO, BCSR, COO, CSR, CSC])
def test_spsolve_takes_a_sparse_matrix_of_any_kind(kind, wide):
    a, b = system()
    assert_allclose(linalg.spsolve(kind.fromdense(a), b), np.linalg.solve(a, b))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_spsolve_of_unsorted_repeated_and_padded_entries(dtype, wide):
    data = np.array([1, 3, 2, 1, 5, 9], dtype)
    indices, indptr = np.array([1, 0, 0, 1, 2, 0]), np.array([0, 2, 4, 5])
    a = np.array([[3, 1, 0], [2, 1, 0], [0, 0, 5]], dtype)
    out = linalg.spsolve(data, indices, indptr, np.arange(3).astype(dtype))
    assert out.dtype == dtype
    assert_allclose(out, np.linalg.solve(a, np.arange(3)), rtol=1e-5)


def test_spsolve_of_a_singular_matrix_is_nan_and_bad_input_is_named():
    none = BCSR.fromdense(np.zeros((3, 3), np.float32))
    assert np.isnan(linalg.spsolve(none, np.ones(3, np.float32))).all()
    a = BCSR.fromdense(np.eye(3, dtype=np.float32))
    ones = np.ones(3, np.float32)
    with pytest.raises(ValueError, match="data types do not match"):
        linalg.spsolve(a, np.ones(3, np.int32))
    with pytest.raises(ValueError, match="square"):
        linalg.spsolve(BCSR.fromdense(np.ones((2, 3), np.float32)), np.ones(2, np.float32))
    with pytest.raises(ValueError, match="integer typed"):
        linalg.spsolve(a.data, a.data, a.indptr, ones)
    with pytest.raises(ValueError, match="one-dimensional"):
        linalg.spsolve(a.data[None], a.indices, a.indptr, ones)
    with pytest.raises(ValueError, match="Invalid CSR buffer sizes"):
        linalg.spsolve(a.data, a.indices, a.indptr, np.ones(4, np.float32))
    with pytest.raises(ValueError, match="reorder=7"):
        linalg.spsolve(a.data, a.indices, a.indptr, ones, reorder=7)


@pytest.mark.parametrize("name", ["cg", "gmres", "bicgstab"])
def test_iterative_solvers_take_sparse_matrices(name, wide):
    a, b = system()
    a = a @ a.T
    solve, options = getattr(linalg, name), {"tol": 1e-13, "maxiter": 300}
    preconditioner = BCOO.fromdense(np.diag(1 / np.diag(a)))
    run = jax.jit(lambda m, b: solve(m, b, M=preconditioner, **options))
    for kind in (BCOO, BCSR, CSC):
        m = kind.fromdense(a)
        assert_allclose(run(m, b)[0], np.linalg.solve(a, b), rtol=1e-5)
    with pytest.raises(ValueError, match="square"):
        solve(BCOO.fromdense(np.ones((2, 3))), np.ones(3))
    g = jax.grad(lambda b: linalg.cg(m, b, **options)[0].sum())(jnp.asarray(b))
    assert_allclose(g, np.linalg.solve(a.T, np.ones(len(b))), rtol=1e-5)


def test_lobpcg_finds_the_largest_eigenvalues(wide):
    n = 100
    a = scipy.sparse.random(n, n, 0.05, random_state=0)
    a = a + a.T + scipy.sparse.diags(np.arange(n) * 1.0)
    start = np.random.default_rng(1).standard_normal((n, 4))
    expected = np.linalg.eigvalsh(a.toarray())[::-1][:4]
    for matrix in (BCOO.from_scipy_sparse(a), BCSR.from_scipy_sparse(a), a.toarray()):
        with jax.numpy_rank_promotion("raise"):
            values, vectors, steps = linalg.lobpcg_standard(matrix, start, m=200)
        assert_allclose(values, expected, rtol=1e-9)
        assert_allclose(a @ np.asarray(vectors), vectors * values, atol=1e-6)
        assert_allclose(vectors.T @ vectors, np.eye(4), atol=1e-10)
        assert 0 < int(steps) < 200
    with pytest.raises(ValueError, match=r"expected search dim \* 5 < matrix dim"):
        linalg.lobpcg_standard(np.eye(10), np.ones((10, 2)))
    with pytest.raises(ValueError, match="must have search dim > 0"):
        linalg.lobpcg_standard(np.eye(10), np.ones((10, 0)))
    with pytest.raises(ValueError, match="same dtypes"):
        linalg.lobpcg_standard(lambda v: v.astype(np.float32), start)
