"""Two arrays: values, storage types, gradients, refusals."""

import numpy as np
import pytest
import scipy.sparse

from cases.handles import (
    assert_close,
    csr_array,
    csr_structures,
    few_csr,
    few_row_sparse,
    row_sparse_array,
    row_sparse_structures,
)
from rarefy import MXNetError, autograd, nd

A = np.array([[1, 0, 2, 0], [0, 0, 0, 0], [0, -3, 0, 0.5]], np.float32)
B = np.array([[0, 0, 4, 0], [0, 0, 0, 0], [1, 3, 0, 0]], np.float32)
STYPES = ("default", "csr", "row_sparse")
KINDS = {"elemwise_add": np.add, "elemwise_sub": np.subtract, "elemwise_mul": np.multiply}
SUM = {("csr", "csr"): "csr", ("row_sparse", "row_sparse"): "row_sparse"}
PRODUCT = {
    **SUM,
    ("csr", "default"): "csr",
    ("default", "csr"): "csr",
    ("row_sparse", "default"): "row_sparse",
    ("default", "row_sparse"): "row_sparse",
}


def numbers(shape, seed=0):
    quarters = np.random.default_rng(seed).integers(-16, 17, shape)
    return (quarters / 4).astype(np.float32)


@pytest.mark.filterwarnings("ignore::rarefy._ops.fallback.StorageFallbackWarning")
@pytest.mark.parametrize("right", STYPES)
@pytest.mark.parametrize("left", STYPES)
@pytest.mark.parametrize("name", KINDS)
def test_values_and_storage_types(name, left, right):
    a, b = nd.array(A).tostype(left), nd.array(B).tostype(right)
    result = getattr(nd, name)(a, b)
    table = PRODUCT if name == "elemwise_mul" else SUM
    assert result.stype == table.get((left, right), "default")
    np.testing.assert_array_equal(result.asnumpy(), KINDS[name](A, B))


@pytest.mark.filterwarnings("ignore::rarefy._ops.fallback.StorageFallbackWarning")
@pytest.mark.parametrize("wanted", ["default", "own"])
@pytest.mark.parametrize("right", STYPES)
@pytest.mark.parametrize("left", STYPES)
@pytest.mark.parametrize("name", KINDS)
def test_gradients(name, left, right, wanted):
    a, b = nd.array(A).tostype(left), nd.array(B).tostype(right)
    a.attach_grad(stype=None if wanted == "own" else "default")
    b.attach_grad(stype=None if wanted == "own" else "default")
    head = numbers(A.shape)
    with autograd.record():
        c = getattr(nd, name)(a, b)
    c.backward(nd.array(head))
    of_a = head * B if name == "elemwise_mul" else head
    of_b = {"elemwise_add": head, "elemwise_sub": -head, "elemwise_mul": head * A}[name]
    for array, expected, data in ((a, of_a, A), (b, of_b, B)):
        if wanted == "own":
            assert array.grad.stype == array.stype
            expected = expected * places(array, data)
        np.testing.assert_array_equal(array.grad.asnumpy(), expected)


def places(array, data):
    """Where an array stores something."""
    if array.stype == "csr":
        return data != 0
    if array.stype == "row_sparse":
        return (data != 0).any(axis=1, keepdims=True)
    return np.ones_like(data)


@pytest.mark.parametrize("case", csr_structures(), ids=str)
def test_every_structure_of_csr(case):
    array = csr_array(case)
    other = numbers(case.shape, 1)
    two = nd.sparse.csr_matrix(other)
    for result, expected in (
        (array + two, case.dense + other),
        (array - array, case.dense - case.dense),
        (array * two, case.dense * other),
        (two - array, other - case.dense),
        (array * nd.array(other), case.dense * other),
        (array + nd.array(other), case.dense + other),
        (nd.array(other) - array, other - case.dense),
    ):
        np.testing.assert_array_equal(result.asnumpy(), expected)
        if result.stype == "csr":
            result.check_format()


@pytest.mark.parametrize("case", row_sparse_structures(), ids=str)
def test_every_structure_of_row_sparse(case):
    array = row_sparse_array(case)
    other = numbers(case.shape, 1)
    two = nd.sparse.row_sparse_array(other)
    for result, expected in (
        (array + two, case.dense + other),
        (array - array, case.dense - case.dense),
        (array * two, case.dense * other),
        (array * nd.array(other), case.dense * other),
        (array + nd.array(other), case.dense + other),
    ):
        np.testing.assert_array_equal(result.asnumpy(), expected)
        if result.stype == "row_sparse":
            result.check_format()


@pytest.mark.parametrize("case", few_csr(), ids=str)
def test_every_type_of_csr(case):
    array = csr_array(case)
    for result, expected in ((array + array, 2 * case.dense), (array * array, case.dense**2)):
        assert np.dtype(result.dtype) == case.data.dtype
        assert_close(result.asnumpy(), expected, case.data.dtype)


@pytest.mark.parametrize("case", few_row_sparse(), ids=str)
def test_every_type_of_row_sparse(case):
    array = row_sparse_array(case)
    for result, expected in ((array + array, 2 * case.dense), (array * array, case.dense**2)):
        assert np.dtype(result.dtype) == case.data.dtype
        assert_close(result.asnumpy(), expected, case.data.dtype)


@pytest.mark.parametrize("shape", [(1, 4), (3, 1), (4,), (1, 1)])
def test_csr_with_a_vector(shape):
    csr, vector = nd.array(A).tostype("csr"), numbers(shape) + 5
    product, quotient = csr * nd.array(vector), csr / nd.array(vector)
    assert (product.stype, quotient.stype) == ("csr", "csr")
    np.testing.assert_array_equal(product.asnumpy(), A * vector)
    np.testing.assert_allclose(quotient.asnumpy(), A / vector, rtol=1e-6)
    total = csr - nd.array(vector)
    assert total.stype == "default"
    np.testing.assert_array_equal(total.asnumpy(), A - vector)


@pytest.mark.parametrize("shape", [(4, 1), (1, 5), (1, 1)])
def test_a_csr_vector_by_a_vector(shape):
    x = np.arange(max(shape), dtype=np.float32).reshape(shape)
    quotient = nd.sparse.csr_matrix(x) / nd.array(x + 2)
    assert quotient.stype == "csr"
    np.testing.assert_array_equal(quotient.asnumpy(), x / (x + 2))


def test_gradient_of_csr_with_a_vector():
    csr, vector = nd.array(A).tostype("csr"), nd.array([[1, 2, 3, 4]])
    vector.attach_grad()
    with autograd.record():
        y = csr * vector
    y.backward()
    np.testing.assert_array_equal(vector.grad.asnumpy(), A.sum(0, keepdims=True))


def test_an_absent_element_times_nan_stays_absent():
    nans = nd.array(np.full((2, 2), np.nan))
    assert (nd.sparse.zeros("row_sparse", (2, 2)) * nans).asnumpy().sum() == 0


def test_sums_that_cancel():
    csr, rows = nd.array(A).tostype("csr"), nd.array(A).tostype("row_sparse")
    assert (csr - csr).nnz == 0
    assert (rows - rows).indices.asnumpy().tolist() == [0, 2]


def test_rows_of_a_product_are_those_of_either():
    a = nd.sparse.row_sparse_array(([[1.0], [2.0]], [0, 2]), shape=(4, 1))
    b = nd.sparse.row_sparse_array(([[5.0], [3.0]], [2, 3]), shape=(4, 1))
    assert (a * b).indices.asnumpy().tolist() == [0, 2, 3]
    assert (a * b).asnumpy().ravel().tolist() == [0, 0, 10, 0]


def test_adding_again_and_again_does_not_grow():
    total = nd.sparse.zeros("csr", (50, 50))
    for i in range(40):
        one = nd.sparse.csr_matrix(([1.0], ([i % 5], [3])), shape=(50, 50), dtype="float32")
        total = total + one
    assert total.nnz == 5
    assert total._value.nse == 16
    for i in range(40):
        total = total - nd.sparse.csr_matrix((np.float32([8]), ([i % 5], [3])), shape=(50, 50))
        total += nd.sparse.csr_matrix((np.float32([8]), ([i % 5], [3])), shape=(50, 50))
        assert total._value.nse == 16


RUNGS = (16, 32, 64, 128, 256)


@pytest.mark.parametrize("stype", ["csr", "row_sparse"])
def test_slots_of_a_sum_are_the_rung_of_what_it_stores(stype, rng):
    """Also where the sum of both capacities is no rung, so that only few sizes are ever compiled."""
    total = nd.sparse.zeros(stype, (200, 1))
    seen = np.zeros((200, 1), np.float32)
    sizes = set()
    while (stored := np.count_nonzero(seen)) < 180:
        part = np.float32(rng.random((200, 1)) < rng.choice([0.01, 0.1, 0.2]))
        total, seen = total + nd.array(part).tostype(stype), seen + part
        stored = np.count_nonzero(seen)
        rung = next(r for r in RUNGS if r >= stored)
        assert total._value.nse == (min(rung, 200) if stype == "row_sparse" else rung)
        sizes.add(total._value.nse)
        np.testing.assert_array_equal(total.asnumpy(), seen)
    assert len(sizes) >= 4


@pytest.mark.parametrize(
    "pair", ["default default", "csr default", "csr csr", "row_sparse default"]
)
def test_refusals(pair):
    left, right = pair.split()
    a = nd.array(A).tostype(left)
    with pytest.raises(MXNetError, match="dtype"):
        a + nd.array(B).astype("float64").tostype(right)
    with pytest.raises(MXNetError, match=r"differ|broadcast|shape"):
        nd.elemwise_mul(a, nd.ones((2, 4)).tostype(right))


def test_csr_by_dense_of_one_shape_says_what_to_use():
    with pytest.raises(MXNetError, match="elemwise_div"):
        nd.array(A).tostype("csr") / nd.array(B)


@pytest.mark.parametrize("stype", ["default", "csr", "row_sparse"])
def test_add_n(stype):
    arrays = [nd.array(k * A).tostype(stype) for k in (1, 2, 3)]
    for array in arrays:
        array.attach_grad(stype="default")
    with autograd.record():
        total = nd.add_n(*arrays)
    total.backward()
    assert total.stype == stype
    np.testing.assert_array_equal(total.asnumpy(), 6 * A)
    for array in arrays:
        np.testing.assert_array_equal(array.grad.asnumpy(), np.ones_like(A))


BROADCAST = {
    "broadcast_add": np.add,
    "broadcast_sub": np.subtract,
    "broadcast_mul": np.multiply,
    "broadcast_div": np.divide,
    "broadcast_mod": np.mod,
    "broadcast_power": np.power,
    "broadcast_maximum": np.maximum,
    "broadcast_minimum": np.minimum,
    "broadcast_hypot": np.hypot,
    "broadcast_equal": np.equal,
    "broadcast_not_equal": np.not_equal,
    "broadcast_greater": np.greater,
    "broadcast_greater_equal": np.greater_equal,
    "broadcast_lesser": np.less,
    "broadcast_lesser_equal": np.less_equal,
    "broadcast_logical_and": np.logical_and,
    "broadcast_logical_or": np.logical_or,
    "broadcast_logical_xor": np.logical_xor,
}


@pytest.mark.parametrize(
    "shapes", [((2, 3), (1, 3)), ((2, 1), (1, 3)), ((3,), (2, 3)), ((0, 3), (1, 3))]
)
@pytest.mark.parametrize("name", BROADCAST)
def test_broadcasting(name, shapes):
    a, b = (np.abs(numbers(s, i)) + 0.25 * i + 0.5 for i, s in enumerate(shapes))
    result = getattr(nd, name)(nd.array(a), nd.array(b))
    assert result.dtype == np.float32
    assert_close(result.asnumpy(), BROADCAST[name](a.astype(np.float64), b))


def test_products_of_csr_have_room_for_what_they_have_in_common(rng):
    """More slots than are kept uncounted: first a guess, then as many as there are."""
    a = scipy.sparse.random(80, 200, 0.4, "csr", np.float32, rng=rng)
    b = scipy.sparse.random(80, 200, 0.4, "csr", np.float32, rng=rng)
    x, y = (nd.sparse.csr_matrix(v) for v in (a, b))
    for left, right, expected in ((x, x, a.multiply(a)), (x, y, a.multiply(b))):
        found = left * right
        np.testing.assert_allclose(found.asnumpy(), expected.toarray(), rtol=1e-6)
        assert found.nnz == scipy.sparse.csr_matrix(expected).nnz
    few = x * nd.sparse.zeros("csr", a.shape)
    assert few.nnz == 0 and not few.asnumpy().any()
    assert (x - x).nnz == 0
