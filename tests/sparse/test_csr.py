"""Functions on csr matrices against SciPy and dense NumPy, on awkward input."""

import jax
import numpy as np
import pytest
import scipy.sparse
from jax import numpy as jnp
from numpy.testing import assert_allclose, assert_array_equal

from cases.awkward import csr_cases
from rarefy import sparse
from rarefy.sparse import BCSR

FLOAT32 = (np.dtype("float32"),), (np.dtype("int32"),)
NAMES = (
    "canonical",
    "shuffled columns",
    "repeats that cancel",
    "empty last rows",
    "one row",
    "nothing stored",
    "no rows",
    "no columns",
    "padded",
    "padding with columns in range",
    "padding inside rows",
    "everything at once",
)
CASES = [c for c in csr_cases(*FLOAT32) if c.name in NAMES]
BIG = [c for c in csr_cases(*FLOAT32) if c.name == "3,000,000 x 3,000,000"]
each_case = pytest.mark.parametrize("case", CASES, ids=str)


def csr(case) -> BCSR:
    buffers = map(jnp.asarray, (case.data, case.indices, case.indptr))
    return BCSR._trusted(*buffers, case.shape)


def dense_of(*shape):
    return (np.arange(np.prod(shape)).reshape(shape) % 7 - 3).astype(np.float32)


def other_of(case):
    """A matrix of the same shape that shares some of its places."""
    dense = dense_of(*case.shape) * (dense_of(*case.shape) > 0)
    return BCSR.fromdense(dense), dense


def assert_canonical(value):
    sparse.check_csr(value, full=True)
    assert_padding_last(value)


def assert_padding_last(value):
    nnz = int(value.indptr[-1])
    assert_array_equal(value.indices[nnz:], value.shape[1])
    assert_array_equal(value.data[nnz:], 0)


@each_case
def test_add_and_multiply(case):
    x, (y, dense) = csr(case), other_of(case)
    total, product = jax.jit(lambda a, b: (sparse.csr_add(a, b), sparse.csr_multiply(a, b)))(x, y)
    assert total.nse == x.nse + y.nse
    assert_canonical(total)
    assert_array_equal(total.to_scipy_sparse().toarray(), case.dense + dense)
    assert product.nse == min(x.nse, y.nse)
    assert_canonical(product)
    assert_array_equal(product.to_scipy_sparse().toarray(), case.dense * dense)


@each_case
def test_difference_with_itself_drops_zeros_on_demand(case):
    x = csr(case)
    for drop in (False, True):
        found = sparse.csr_add(x, -x, drop_zeros=drop)
        assert_canonical(found)
        assert not found.to_scipy_sparse().toarray().any()
        places = scipy.sparse.csr_array(x.to_scipy_sparse())
        places.sum_duplicates()
        assert sparse.nnz(found) == (0 if drop else places.nnz)


@each_case
def test_products_and_sums(case):
    x, (m, n) = csr(case), case.shape

    def products(x, right, left):
        out = [sparse.csr_dot(x, r) for r in (right, right[:, 0])]
        out += [sparse.csr_t_dot(x, v) for v in (left, left[:, 0])]
        return [*out, sparse.csr_sum(x, 0), sparse.csr_sum(x, -1)]

    right, left, d = dense_of(n, 3), dense_of(m, 2), case.dense
    expected = [d @ right, d @ right[:, 0], d.T @ left, d.T @ left[:, 0], d.sum(0), d.sum(1)]
    for found, value in zip(jax.jit(products)(x, right, left), expected, strict=True):
        assert_allclose(found, value, rtol=1e-6)


@each_case
def test_canonical_form(case):
    x = csr(case)
    kept, dropped = sparse.canonical_csr(x), sparse.canonical_csr(x, drop_zeros=True)
    for found in (kept, dropped):
        assert_canonical(found)
        assert found.nse == x.nse
        assert_array_equal(found.to_scipy_sparse().toarray(), case.dense)
    assert sparse.nnz(dropped) == np.count_nonzero(case.dense)


@each_case
def test_rows_by_range(case):
    x, m = csr(case), case.shape[0]
    for begin, end in {(0, m), (0, 0), (m // 3, m - m // 4), (m, m), (max(m - 1, 0), m)}:
        exact = sparse.rows_nnz(x, begin, end)
        for nse in (None, exact, sparse.capacity(exact, x.nse)):
            found = sparse.slice_rows(x, begin, end, nse=nse)
            assert found.nse == (x.nse if nse is None else nse)
            assert_array_equal(found.to_scipy_sparse().toarray(), case.dense[begin:end])
            assert_padding_last(found)


def test_rows_by_range_refuse_bounds():
    x = csr(CASES[0])
    for begin, end in ((-1, 2), (2, 1), (0, 99)):
        with pytest.raises(ValueError, match=f"rows {begin} to {end}"):
            sparse.slice_rows(x, begin, end)


def test_slices_of_one_size_compile_once():
    x = csr(CASES[-1])
    take = jax.jit(lambda x, b: sparse._rows.slice_rows(*x._bufs, b, n_rows=2, nse=4, n_columns=10))
    for begin in range(4):
        take(x, begin)
    assert take._cache_size() == 1


@each_case
def test_rows_by_number(case):
    m = case.shape[0]
    if m == 0:
        ids = np.array([0, -1])
        expected = np.zeros((2, case.shape[1]))
    else:
        ids = np.array([m - 1, 0, m // 2, 0, m, -1])
        expected = np.concatenate([case.dense[ids[:4]], np.zeros((2, case.shape[1]))])
    x = csr(case)
    found = jax.jit(lambda x, i: sparse.take_csr_rows(x, i, 4 * x.nse))(x, ids)
    assert_array_equal(found.to_scipy_sparse().toarray(), expected)
    assert_padding_last(found)


def test_concatenation_of_rows():
    for case in CASES:
        x, (y, dense) = csr(case), other_of(case)
        found = sparse.concat_rows([x, y, x])
        assert found.nse == 2 * x.nse + y.nse
        expected = np.concatenate([case.dense, dense, case.dense])
        assert_array_equal(found.to_scipy_sparse().toarray(), expected)
        assert_padding_last(found)
    with pytest.raises(ValueError, match="widths differ"):
        sparse.concat_rows([csr(CASES[0]), csr(CASES[-1])])
    with pytest.raises(TypeError, match="csr matrices"):
        sparse.concat_rows([])


@each_case
def test_from_dense_with_room(case):
    x = jax.jit(lambda d: sparse.csr_from_dense(d, 40))(case.dense)
    assert x.nse == 40
    assert_canonical(x)
    assert_array_equal(sparse.csr_to_dense(x), case.dense)


@pytest.mark.parametrize("case", BIG, ids=str)
def test_what_is_huge_costs_what_it_stores(case):
    x = csr(case)
    total = sparse.csr_add(x, x)
    assert_canonical(total)
    assert_array_equal(total.data[: x.nse], 2 * case.data)
    product = sparse.csr_multiply(x, total)
    assert_array_equal(product.data, 2 * case.data**2)
    assert sparse.nnz(sparse.slice_rows(x, 1, 10)) == sparse.rows_nnz(x, 1, 10) == 2
    taken = sparse.take_csr_rows(x, np.array([case.shape[0] - 1]), 16)
    assert_array_equal(taken.data[:4], [*case.data[-3:], 0])


def test_gradients_flow_to_the_values():
    case = CASES[-1]
    x, (y, _) = csr(case), other_of(case)
    weight = jnp.sin(jnp.arange(case.dense.size, dtype=jnp.float32)).reshape(case.shape)

    def loss(data):
        z = x._with_data(data)
        parts = (
            sparse.csr_add(z, y),
            sparse.csr_multiply(z, y),
            sparse.canonical_csr(z),
            sparse.slice_rows(z, 0, case.shape[0]),
            sparse.take_csr_rows(z, jnp.arange(case.shape[0]), z.nse),
        )
        return sum((p.todense() * weight).sum() for p in parts)

    rows = np.repeat(np.arange(case.shape[0]), np.diff(case.indptr))
    columns = case.indices[: rows.size]
    cell = np.asarray(weight)[rows, columns]
    expected = 4 * cell + cell * other_of(case)[1][rows, columns]
    gradient = jax.jit(jax.grad(loss))(x.data)
    assert_allclose(gradient[: rows.size], expected, rtol=1e-5)
    assert_array_equal(gradient[rows.size :], 0)


VIOLATIONS = {
    "begin": ([0, 1], [1, 1, 2], "begin with 0"),
    "falls": ([0, 1], [0, 2, 1], r"indptr\[1\] is 2 and indptr\[2\] is 1"),
    "ends": ([0, 1], [0, 1, 3], "ends with 3"),
    "column": ([0, 7], [0, 1, 2], r"indices\[1\] \(row 1\) is 7, expected 0 to 3"),
    "negative": ([-1, 2], [0, 1, 2], r"indices\[0\] \(row 0\) is -1"),
    "padding among rows": ([4, 2], [0, 1, 2], r"indices\[0\] \(row 0\) is 4"),
}


@pytest.mark.parametrize("columns, indptr, message", VIOLATIONS.values(), ids=VIOLATIONS.keys())
def test_check_names_the_first_violation(columns, indptr, message):
    x = BCSR._trusted(jnp.ones(2), jnp.array(columns), jnp.array(indptr), (2, 4))
    for full in (False, True):
        with pytest.raises(ValueError, match=message):
            sparse.check_csr(x, full=full)


def test_full_check_looks_at_order():
    for columns, what in (([0, 2, 1, 3], "falls"), ([0, 1, 1, 3], "repeats")):
        x = BCSR._trusted(jnp.ones(4), jnp.array(columns), jnp.array([0, 1, 4]), (2, 4))
        sparse.check_csr(x, full=False)
        with pytest.raises(ValueError, match=f"columns of row 1 must ascend, but indices {what}"):
            sparse.check_csr(x)
    ends = BCSR._trusted(jnp.ones(3), jnp.array([2, 3, 0]), jnp.array([0, 2, 3]), (2, 4))
    sparse.check_csr(ends)


def test_what_is_no_csr_is_refused():
    x = BCSR.fromdense(np.ones((2, 3, 4)), n_batch=1)
    with pytest.raises(TypeError, match="expected csr matrices"):
        sparse.csr_add(x, x)
    with pytest.raises(ValueError, match="not a csr matrix"):
        sparse.check_csr(x)
    y = BCSR.fromdense(np.ones((2, 3)))
    with pytest.raises(ValueError, match="shapes differ"):
        sparse.csr_multiply(y, y[:1])
    with pytest.raises(ValueError, match="do not align"):
        sparse.csr_dot(y, np.ones(2))
    with pytest.raises(ValueError, match="do not align"):
        sparse.csr_t_dot(y, np.ones(3))
    assert sparse.is_csr(y)
    assert not sparse.is_csr(x)
