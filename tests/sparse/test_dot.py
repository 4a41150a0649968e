"""Products of sparse and dense arrays against NumPy, in every layout and either way round."""

import jax
import numpy as np
import pytest
from jax import lax
from jax import numpy as jnp
from numpy.testing import assert_allclose, assert_array_equal

from cases.awkward import csr_cases
from cases.entries import LAYOUTS, awkward_entries
from rarefy.sparse import BCOO, BCSR, bcoo_dot_general, bcsr_dot_general


def entries_of(layout, **options):
    return awkward_entries(**layout, seed=5, **options)


def bcoo(entries):
    return BCOO((entries.data, entries.indices), shape=entries.shape)


def dense_of(*shape, dtype=np.float32):
    return (np.arange(np.prod(shape)).reshape(shape) % 7 - 3).astype(dtype)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_matmul_is_numpys_from_both_sides(layout):
    entries = entries_of(layout)
    x, dense = bcoo(entries), entries.dense
    n = dense.shape[-1]
    lead = dense.shape[0] if dense.ndim == 3 else 2
    rights = [dense_of(n), dense_of(n, 3), dense_of(lead, n, 2), dense_of(1, n, 2)]
    rows = dense.shape[-2] if dense.ndim > 1 else n
    lefts = [dense_of(rows), dense_of(3, rows), dense_of(lead, 2, rows)]
    if dense.ndim > 3:
        rights, lefts = rights[:2], lefts[:2]

    def products(m):
        return [m @ r for r in rights], [v @ m for v in lefts]

    right, left = jax.jit(products)(x)
    for found, other in zip(right, rights, strict=True):
        assert_allclose(found, dense @ other, rtol=1e-6, err_msg=f"@ {other.shape}")
    for found, other in zip(left, lefts, strict=True):
        assert_allclose(found, other @ dense, rtol=1e-6, err_msg=f"{other.shape} @")


def test_matmul_eagerly():
    entries = awkward_entries((5, 6))
    x = bcoo(entries)
    assert_allclose(x @ dense_of(6), entries.dense @ dense_of(6))
    assert_allclose(dense_of(2, 5) @ x, dense_of(2, 5) @ entries.dense)
    assert_allclose(jnp.asarray(dense_of(5)) @ x, dense_of(5) @ entries.dense)


def test_matmul_of_bcsr_is_numpys_from_both_sides():
    for case in csr_cases((np.dtype("float32"),), (np.dtype("int32"),)):
        if "big" in case.tags or case.name not in (
            "everything at once",
            "padding inside rows",
            "padding with columns in range",
            "no rows",
            "no columns",
            "nothing stored",
        ):
            continue
        m, n = case.shape
        x = BCSR._trusted(*map(jnp.asarray, (case.data, case.indices, case.indptr)), case.shape)
        rights = (dense_of(n), dense_of(n, 3), dense_of(2, n, 2))
        lefts = (dense_of(m), dense_of(3, m), dense_of(2, 3, m))
        find = jax.jit(lambda x, r, l: ([x @ v for v in r], [v @ x for v in l]))
        found = find(x, rights, lefts)
        for product, right in zip(found[0], rights, strict=True):
            assert_allclose(product, case.dense @ right, rtol=1e-6, err_msg=str(case))
        for product, left in zip(found[1], lefts, strict=True):
            assert_allclose(product, left @ case.dense, rtol=1e-6, err_msg=str(case))


def test_matmul_of_batched_bcsr():
    dense = dense_of(2, 3, 4)
    x = BCSR.fromdense(dense, n_batch=1)
    rights = (dense_of(4), dense_of(4, 2), dense_of(2, 4, 2), dense_of(1, 4, 2))
    lefts = (dense_of(3), dense_of(5, 3), dense_of(2, 5, 3), dense_of(7, 1, 5, 3))
    found = jax.jit(lambda x: ([x @ v for v in rights], [v @ x for v in lefts]))(x)
    for product, right in zip(found[0], rights, strict=True):
        assert_allclose(product, dense @ right)
    for product, left in zip(found[1], lefts, strict=True):
        assert_allclose(product, left @ dense)
    padded = BCSR.fromdense(dense, n_batch=1, nse=15)
    assert_allclose(padded @ dense_of(4), dense @ dense_of(4))


DIMENSION_NUMBERS = [
    ((2, 3, 4), (4, 5), (((2,), (0,)), ((), ()))),
    ((2, 3, 4), (5, 3), (((1,), (1,)), ((), ()))),
    ((2, 3, 4), (2, 5), (((0,), (0,)), ((), ()))),
    ((2, 3, 4), (4, 3), (((1, 2), (1, 0)), ((), ()))),
    ((2, 3, 4), (2, 4, 3), (((0, 1, 2), (0, 2, 1)), ((), ()))),
    ((2, 3, 4), (2, 4, 5), (((2,), (1,)), ((0,), (0,)))),
    ((2, 3, 4), (5, 2, 3), (((1,), (2,)), ((0,), (1,)))),
    ((2, 3, 4), (3, 4, 2), (((2,), (1,)), ((0, 1), (2, 0)))),
    ((2, 3, 4), (2,), (((), ()), ((), ()))),
]
LAYOUTS_OF_THREE = [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (0, 2)]


@pytest.mark.parametrize("n_batch, n_dense", LAYOUTS_OF_THREE)
def test_dot_general_contracts_and_batches_any_dimension(n_batch, n_dense):
    entries = awkward_entries((2, 3, 4), n_batch=n_batch, n_dense=n_dense, seed=3)
    x = bcoo(entries)
    others = [(dense_of(*shape), numbers) for _, shape, numbers in DIMENSION_NUMBERS]

    def swap(numbers):
        (a, b), (c, d) = numbers
        return ((b, a), (d, c))

    def products(m):
        right = [bcoo_dot_general(m, r, dimension_numbers=n) for r, n in others]
        return right, [bcoo_dot_general(r, m, dimension_numbers=swap(n)) for r, n in others]

    right, left = jax.jit(products)(x)
    for (other, numbers), found, swapped in zip(others, right, left, strict=True):
        expected = lax.dot_general(entries.dense, other, numbers)
        assert_allclose(found, expected, err_msg=str(numbers))
        expected = lax.dot_general(other, entries.dense, swap(numbers))
        assert_allclose(swapped, expected, err_msg=str(numbers))


@pytest.mark.parametrize("n_batch, n_dense", [(0, 1), (1, 0)])
def test_dot_general_of_bcsr(n_batch, n_dense):
    dense = dense_of(2, 3, 4)
    x = BCSR.fromdense(dense, n_batch=n_batch, n_dense=n_dense)
    others = [(dense_of(*shape), numbers) for _, shape, numbers in DIMENSION_NUMBERS]

    def products(m):
        return [bcsr_dot_general(m, r, dimension_numbers=n) for r, n in others]

    for (other, numbers), found in zip(others, jax.jit(products)(x), strict=True):
        assert_allclose(found, lax.dot_general(dense, other, numbers), err_msg=str(numbers))
    swapped = bcsr_dot_general(dense_of(5, 2), x, dimension_numbers=(((1,), (0,)), ((), ())))
    assert_allclose(swapped, np.einsum("ab,bcd->acd", dense_of(5, 2), dense))


@pytest.mark.parametrize("dtype", [np.float16, jnp.bfloat16, np.int8, bool, np.complex64])
def test_dtypes_multiply_as_in_jax(dtype):
    dense = jnp.asarray(awkward_entries((5, 6)).dense).astype(dtype)
    wide, row = dense_of(6, 3, dtype=dtype), dense_of(5, dtype=dtype)

    def products(m):
        return m @ wide, m @ wide[:, 0], row @ m

    unique = BCOO.fromdense(dense)
    expected = jax.jit(products)(dense)
    for sparse in (unique, BCSR.from_bcoo(unique)):
        for found, right in zip(jax.jit(products)(sparse), expected, strict=True):
            assert found.dtype == right.dtype
            assert_allclose(found.astype(np.complex64), right.astype(np.complex64), rtol=1e-2)


def test_integers_are_exact():
    big = 2**24 + 1
    x = BCOO.fromdense(np.array([[big, 0], [1, 1]], np.int32))
    for sparse in (x, BCSR.from_bcoo(x)):
        assert_array_equal(sparse @ np.array([1, 2**25 + 1], np.int32), [big, 2**25 + 2])


def test_mixed_dtypes_promote():
    x = BCSR.fromdense(np.eye(3, dtype=np.float16))
    assert (x @ jnp.ones(3, jnp.float32)).dtype == np.float32
    assert (jnp.ones(3, jnp.int32) @ x).dtype == np.float16
    found = bcsr_dot_general(
        x,
        jnp.ones(3, jnp.float16),
        dimension_numbers=(((1,), (0,)), ((), ())),
        preferred_element_type=jnp.float32,
    )
    assert found.dtype == np.float32


def test_what_does_not_align_is_refused():
    x = BCOO.fromdense(np.ones((3, 4), np.float32))
    for sparse in (x, BCSR.from_bcoo(x)):
        with pytest.raises(TypeError, match="contracting dimensions"):
            sparse @ np.ones(5)
        with pytest.raises(TypeError, match="contracting dimensions"):
            np.ones((2, 4)) @ sparse
        with pytest.raises(ValueError, match="at least one dimension"):
            sparse @ 2.0
    with pytest.raises(ValueError, match="do not broadcast"):
        BCOO.fromdense(np.ones((2, 3, 4)), n_batch=1) @ np.ones((3, 4, 5))
    with pytest.raises(NotImplementedError, match="BCSR and ndarray"):
        bcsr_dot_general(x, np.ones(4), dimension_numbers=(((1,), (0,)), ((), ())))


def test_padding_never_meets_what_is_not_finite():
    bad = np.array([np.nan, np.inf, 1, 1], np.float32)
    x = BCOO(([1.0, 2.0, 5.0], [[0, 2], [1, 3], [3, 4]]), shape=(3, 4))
    for sparse in (x, BCSR.from_bcoo(x)):
        assert_array_equal(sparse @ bad, [1, 2, 0])
        assert_array_equal(sparse @ np.stack([bad, bad], 1), [[1, 1], [2, 2], [0, 0]])


def test_empty_sides():
    for m, n in ((0, 3), (3, 0), (0, 0)):
        x = BCOO.fromdense(np.ones((m, n), np.float32))
        for sparse in (x, BCSR.from_bcoo(x)):
            assert_array_equal(sparse @ np.ones((n, 2), np.float32), np.zeros((m, 2)))
            assert_array_equal(np.ones((2, m), np.float32) @ sparse, np.zeros((2, n)))
    x = BCSR.fromdense(np.ones((3, 2), np.float32))
    assert (x @ np.ones((2, 0), np.float32)).shape == (3, 0)
