"""Functions on row_sparse values against dense NumPy."""

import jax
import numpy as np
import pytest
from jax import numpy as jnp
from numpy.testing import assert_allclose, assert_array_equal

from cases.awkward import csr_cases, row_sparse_cases
from rarefy import sparse
from rarefy.sparse import BCOO, BCSR

FLOAT32 = (np.dtype("float32"),), (np.dtype("int32"),)
ALL = row_sparse_cases(*FLOAT32)
SMALL = [c for c in ALL if c.dense is not None]
NAMES = (
    "canonical",
    "full",
    "stored zero rows",
    "nothing stored",
    "no rows",
    "padded",
    "padding only",
)
NAMES += ("one dimension", "three dimensions", "no columns")
SORTED = [c for c in SMALL if c.name in NAMES]
each_sorted = pytest.mark.parametrize("case", SORTED, ids=str)


def row_sparse(case) -> BCOO:
    return sparse.row_sparse(case.data, case.rows, case.shape)


def other_of(case):
    """A value that shares every second row."""
    rows = np.arange(0, case.shape[0], 2, dtype=np.int32)
    data = np.ones((rows.size, *case.shape[1:]), np.float32)
    dense = np.zeros(case.shape, np.float32)
    dense[rows] = 1
    return sparse.row_sparse(data, rows, case.shape), dense


def assert_sound(value):
    sparse.check_row_sparse(value)
    rows = np.asarray(sparse.row_sparse_rows(value))
    assert_array_equal(np.asarray(value.data)[rows == value.shape[0]], 0)
    assert sparse.is_row_sparse(value)


@pytest.mark.parametrize("case", row_sparse_cases(), ids=str)
def test_merge_rows_adds_what_belongs_together(case):
    with jax.enable_x64(True):
        merged = sparse.merge_rows(case.rows, case.data, case.shape[0])
        assert_sound(merged)
        assert merged.dtype == case.data.dtype
        distinct = np.unique(case.rows[(case.rows >= 0) & (case.rows < case.shape[0])])
        assert_array_equal(sparse.row_sparse_rows(merged)[: distinct.size], distinct)
        assert sparse.nnz(merged) == distinct.size
        if case.dense is not None:
            assert_array_equal(merged.todense(), case.dense)


def test_merge_rows_of_ids_in_any_shape():
    ids, values = np.array([[3, 0], [3, 9]]), np.arange(12.0).reshape(2, 2, 3)
    merged = sparse.merge_rows(ids, values, 5, capacity=4)
    assert_array_equal(sparse.row_sparse_rows(merged), [0, 3, 5, 5])
    assert_array_equal(merged.data[:2], [[3, 4, 5], [6, 8, 10]])
    with pytest.raises(ValueError, match="values must be"):
        sparse.merge_rows(ids, values[0], 5)


def test_half_precision_sums_do_not_stall():
    merged = sparse.merge_rows(np.zeros(5000, int), np.ones((5000, 1), np.float16), 3)
    assert merged.data[0, 0] == 5000


@each_sorted
def test_add_multiply_and_dense(case):
    x, (y, dense) = row_sparse(case), other_of(case)

    def arithmetic(x, y):
        total, product = sparse.add_row_sparse(x, y), sparse.multiply_row_sparse(x, y)
        return total, product, total.todense(), product.todense(), sparse.add_to_dense(dense, x)

    total, product, total_dense, product_dense, plus = jax.jit(arithmetic)(x, y)
    assert_array_equal(total_dense, case.dense + dense)
    assert_array_equal(product_dense, case.dense * dense)
    assert_array_equal(plus, case.dense + dense)
    union = np.union1d(case.rows[case.rows < case.shape[0]], np.arange(0, case.shape[0], 2))
    for found in (total, product):
        assert_sound(found)
        assert found.nse == min(x.nse + y.nse, case.shape[0])
        assert_array_equal(sparse.row_sparse_rows(found)[: union.size], union)


@each_sorted
def test_retain_takes_named_rows_in_order(case):
    n = case.shape[0]
    ids = np.array([n - 1, 0, 1, 0, n, n + 5, -1])
    found = jax.jit(sparse.retain)(row_sparse(case), ids)
    wanted = np.unique(ids[(ids >= 0) & (ids < n)])
    assert_sound(found)
    assert found.nse == 7
    assert_array_equal(sparse.row_sparse_rows(found)[: wanted.size], wanted)
    assert_array_equal(found.data[: wanted.size], case.dense[wanted])
    with pytest.raises(ValueError, match="ids must be"):
        sparse.retain(row_sparse(case), 3)


@each_sorted
def test_to_and_from_dense(case):
    x = row_sparse(case)
    assert_array_equal(sparse.row_sparse_to_dense(x), case.dense)
    back = sparse.row_sparse_from_dense(case.dense, case.shape[0] + 1)
    assert_sound(back)
    assert_array_equal(back.todense(), case.dense)
    flat = case.dense.reshape(case.shape[0], int(np.prod(case.shape[1:])))
    assert sparse.nnz(back) == flat.any(axis=1).sum()


@each_sorted
def test_concatenation(case):
    x, (y, dense) = row_sparse(case), other_of(case)
    found = sparse.concat_row_sparse([x, y, x])
    assert_sound(found)
    assert_array_equal(found.todense(), np.concatenate([case.dense, dense, case.dense]))


CSR_NAMES = (
    "canonical",
    "nothing stored",
    "no columns",
    "no rows",
    "padding with columns in range",
)
CSR_NAMES += ("padding inside rows", "everything at once", "stored zeros")
CSR = [c for c in csr_cases(*FLOAT32) if c.name in CSR_NAMES]


def csr(case) -> BCSR:
    buffers = map(jnp.asarray, (case.data, case.indices, case.indptr))
    return BCSR._trusted(*buffers, case.shape)


@pytest.mark.parametrize("case", CSR, ids=str)
def test_csr_transpose_dot_has_a_row_for_each_stored_column(case):
    m, n = case.shape
    dense = (np.arange(m * 3).reshape(m, 3) % 5 - 2).astype(np.float32)
    for right in (dense, dense[:, 0], np.stack([dense, dense], axis=2)):
        found = sparse.csr_transpose_dot(csr(case), right)
        assert_sound(found)
        assert found.shape == (n, *right.shape[1:])
        assert_allclose(found.todense(), np.tensordot(case.dense.T, right, 1), rtol=1e-6)
        columns = case.indices[: case.indptr[-1]]
        stored = np.unique(columns[(columns >= 0) & (columns < n)])
        assert_array_equal(sparse.row_sparse_rows(found)[: stored.size], stored)
        assert sparse.nnz(found) == stored.size
    with pytest.raises(ValueError, match="do not align"):
        sparse.csr_transpose_dot(csr(case), np.ones((m + 1, 2)))


def test_csr_transpose_dot_of_integers_and_with_room():
    x = BCSR.fromdense(np.array([[1, 0, 2], [0, 0, 3]], np.int32))
    found = sparse.csr_transpose_dot(x, np.array([[10], [2**25 + 1]], np.int32), capacity=3)
    assert_array_equal(sparse.row_sparse_rows(found), [0, 2, 3])
    assert_array_equal(found.data[:, 0], [10, 20 + 3 * (2**25 + 1), 0])


def test_csr_transpose_dot_is_differentiable():
    case = CSR[-1]
    weight = jnp.cos(jnp.arange(case.shape[0] * 2.0)).reshape(-1, 2)

    def loss(data, dense):
        return (sparse.csr_transpose_dot(csr(case)._with_data(data), dense).data ** 2).sum()

    def dense_loss(data, dense):
        rows = np.repeat(np.arange(case.shape[0] + 1), np.diff(case.indptr, append=data.shape[0]))
        matrix = jnp.zeros(case.shape).at[rows, case.indices].add(data, mode="drop")
        return ((matrix.T @ dense) ** 2).sum()

    data = jnp.asarray(case.data)
    found = jax.jit(jax.grad(loss, argnums=(0, 1)))(data, weight)
    expected = jax.grad(dense_loss, argnums=(0, 1))(data, weight)
    for ours, theirs in zip(found, expected, strict=True):
        assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("case", CSR, ids=str)
def test_csr_dot_row_sparse(case):
    n = case.shape[1]
    rows = np.append(np.arange(0, n, 2), n).astype(np.int32)
    data = np.ones((rows.size, 2), np.float32)
    data[-1] = 0
    found = sparse.csr_dot_row_sparse(csr(case), sparse.row_sparse(data, rows, (n, 2)))
    dense = np.zeros((n, 2), np.float32)
    dense[rows[:-1]] = 1
    assert_allclose(found, case.dense @ dense, rtol=1e-6)
    nothing = sparse.row_sparse(np.zeros((0, 2), np.float32), np.zeros(0, int), (n, 2))
    assert_array_equal(sparse.csr_dot_row_sparse(csr(case), nothing), np.zeros((case.shape[0], 2)))


def test_products_with_a_tall_table_never_make_it():
    n = 2**31 - 2
    x = BCSR((np.ones(2, np.float32), np.array([5, n - 1]), np.array([0, 1, 2])), shape=(2, n))
    grad = sparse.csr_transpose_dot(x, np.full((2, 3), 2, np.float32))
    assert_array_equal(sparse.row_sparse_rows(grad), [5, n - 1])
    assert_array_equal(sparse.csr_dot_row_sparse(x, grad), np.full((2, 3), 2))
    assert_array_equal(sparse.add_row_sparse(grad, grad).data[:2], np.full((2, 3), 4))


def test_constructor_refuses():
    data = np.ones((2, 3))
    with pytest.raises(ValueError, match=r"rows\[0\] is 4 and rows\[1\] is 1; use merge_rows"):
        sparse.row_sparse(data, [4, 1], (7, 3))
    with pytest.raises(ValueError, match=r"rows\[0\] is 1 and rows\[1\] is 1"):
        sparse.row_sparse(data, [1, 1], (7, 3))
    with pytest.raises(ValueError, match=r"rows\[1\] is 9, expected 0 to 6"):
        sparse.row_sparse(data, [1, 9], (7, 3))
    with pytest.raises(ValueError, match="data must be"):
        sparse.row_sparse(data, [1, 2], (7, 4))
    with pytest.raises(TypeError, match="integers"):
        sparse.row_sparse(data, [1.0, 2.0], (7, 3))
    assert sparse.row_sparse(data, [7, 7], (7, 3)).nse == 2


def test_check_names_the_first_violation():
    def value(rows):
        return BCOO._trusted(jnp.ones((3, 2)), jnp.array(rows)[:, None], (5, 2))

    for full in (False, True):
        with pytest.raises(ValueError, match=r"indices\[2\] is 8, expected 0 to 4"):
            sparse.check_row_sparse(value([0, 1, 8]), full=full)
    sparse.check_row_sparse(value([3, 1, 1]), full=False)
    with pytest.raises(ValueError, match=r"rows\[0\] is 3 and rows\[1\] is 1"):
        sparse.check_row_sparse(value([3, 1, 1]))
    with pytest.raises(ValueError, match="not laid out as row_sparse"):
        sparse.check_row_sparse(BCOO.fromdense(np.ones((2, 2))))
    with pytest.raises(TypeError, match="expected row_sparse values"):
        sparse.add_row_sparse(value([0, 1, 2]), value([0, 1, 2]))
