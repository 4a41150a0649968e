"""The product of two csr matrices: places and values, both forms, against one oracle and SciPy."""

import jax
import numpy as np
import pytest
import scipy.sparse
from jax import numpy as jnp
from jax.test_util import check_grads
from numpy.testing import assert_allclose, assert_array_equal

from oracles import products
from rarefy._primitives import csr_dot_csr, csr_dot_csr_places

FORMS = ("kernel", "xla")


def operand(rng, rows, columns, nse, dtype=np.float32, index=np.int32):
    """Unsorted entries with repeats, padding inside rows and behind the last one."""
    data = rng.integers(-4, 5, nse).astype(dtype)
    indices = rng.integers(0, columns + 1, nse).astype(index)
    indptr = np.sort(rng.integers(0, max(nse - 1, 1), rows + 1)).astype(index)
    indptr[0] = 0
    return data, indices, indptr


CASES = [(5, 6, 4, 12, 14), (1, 1, 1, 3, 3), (4, 3, 70, 20, 40), (0, 3, 2, 0, 4), (3, 2, 4, 5, 0)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("m, k, n, a_nse, b_nse", CASES)
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_places_and_values_are_those_of_the_oracle(rng, form, m, k, n, a_nse, b_nse, index):
    with jax.enable_x64(index == np.int64):
        a, b = operand(rng, m, k, a_nse, index=index), operand(rng, k, n, b_nse, index=index)
        places = (*a[1:], *b[1:])
        for nse in (0, 3, m * n):
            found = csr_dot_csr_places(*places, n_cols=n, nse=nse, form=form)
            expected = products.csr_dot_csr_places(*places, n_cols=n, nse=nse)
            for x, y in zip(found, expected, strict=True):
                assert_array_equal(x, y, err_msg=f"{nse=}")
            own = (*found[:2],)
            c = rng.integers(-4, 5, nse).astype(np.float32)
            for wanted, pair in ((0, (b[0], c)), (1, (a[0], c)), (2, (a[0], b[0]))):
                out = csr_dot_csr(*pair, *places, *own, n_cols=n, wanted=wanted, form=form)
                oracle = products.csr_dot_csr(
                    *pair, *places, *map(np.asarray, own), n_cols=n, wanted=wanted
                )
                assert_array_equal(out, oracle, err_msg=f"{nse=} {wanted=}")


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
def test_the_kernel_takes_four_dtypes(rng, dtype):
    with jax.enable_x64(True):
        a, b = operand(rng, 5, 6, 12, dtype), operand(rng, 6, 4, 14, dtype)
        own = csr_dot_csr_places(*a[1:], *b[1:], n_cols=4, nse=20)[:2]
        out = csr_dot_csr(a[0], b[0], *a[1:], *b[1:], *own, n_cols=4, form="kernel")
        assert out.dtype == dtype
        both = (*a[1:], *b[1:], *map(np.asarray, own))
        assert_array_equal(out, products.csr_dot_csr(a[0], b[0], *both, n_cols=4))


def test_large_products_agree_with_scipy_and_repeat_to_the_bit():
    a = scipy.sparse.random(3000, 2000, 0.004, "csr", np.float32, random_state=1)
    b = scipy.sparse.random(2000, 2500, 0.004, "csr", np.float32, random_state=2)
    expected = (a @ b).tocsr()
    expected.sort_indices()
    places = (a.indices, a.indptr, b.indices, b.indptr)
    c = csr_dot_csr_places(*places, n_cols=2500, nse=expected.nnz + 7)
    assert int(c.count) == expected.nnz
    assert_array_equal(c.indices[: expected.nnz], expected.indices)
    assert_array_equal(c.indptr, expected.indptr)
    run = jax.jit(lambda x, y: csr_dot_csr(x, y, *places, c.indices, c.indptr, n_cols=2500))
    out = run(a.data, b.data)
    assert_allclose(out[: expected.nnz], expected.data, rtol=1e-5)
    for _ in range(3):
        assert_array_equal(run(a.data, b.data), out)


@pytest.mark.parametrize("form", FORMS)
def test_derivatives_of_any_order_and_batches(rng, form):
    with jax.enable_x64(True):
        a, b = operand(rng, 5, 6, 12, np.float64), operand(rng, 6, 4, 14, np.float64)
        own = csr_dot_csr_places(*a[1:], *b[1:], n_cols=4, nse=20)[:2]

        def product(x, y):
            return jnp.sin(csr_dot_csr(x, y, *a[1:], *b[1:], *own, n_cols=4, form=form))

        check_grads(product, (a[0], b[0]), 2)
        many = rng.standard_normal((3, 12))
        found = jax.vmap(product, (0, None))(many, b[0])
        assert_allclose(found, np.stack([product(x, b[0]) for x in many]))


def test_operands_that_do_not_fit_are_refused(rng):
    a, b = operand(rng, 5, 6, 12), operand(rng, 6, 4, 14)
    with pytest.raises(ValueError, match="n_cols=-1"):
        csr_dot_csr_places(*a[1:], *b[1:], n_cols=-1, nse=3)
    wide = b[1].astype(np.int64), b[2].astype(np.int64)
    with jax.enable_x64(True), pytest.raises(TypeError, match="one type"):
        csr_dot_csr_places(*a[1:], *wide, n_cols=4, nse=3)
    own = csr_dot_csr_places(*a[1:], *b[1:], n_cols=4, nse=20)[:2]
    with pytest.raises(ValueError, match="do not fit"):
        csr_dot_csr(a[0], a[0], *a[1:], *b[1:], *own, n_cols=4)
