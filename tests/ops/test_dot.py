"""Products: every pair of storage types, every structure, and their gradients."""

import numpy as np
import pytest

from cases.handles import (
    assert_close,
    csr_array,
    csr_structures,
    few_csr,
    row_sparse_array,
    row_sparse_structures,
)
from rarefy import MXNetError, autograd, nd

A = np.array([[1, 0, 2, 0], [0, 0, 0, 0], [0, -3, 0, 0.5]], np.float32)


def numbers(shape, seed=0, dtype=np.float32):
    quarters = np.random.default_rng(seed).integers(-16, 17, shape)
    return (quarters / 4).astype(dtype)


@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize(
    "stypes",
    [
        ("default", "default", "default", "default"),
        ("csr", "default", "default", "row_sparse"),
        ("csr", "row_sparse", "default", "row_sparse"),
        ("default", "csr", "csr", "default"),
        ("csr", "csr", "csr", "csr"),
    ],
    ids=lambda s: f"{s[0]}-{s[1]}",
)
def test_storage_types_values_and_gradients(stypes, transpose_a, transpose_b, no_fallback):
    left, right, plain, transposed = stypes
    a = A.T if transpose_a else A
    b = numbers((4, 5), 2) * (numbers((4, 5), 3) > 0)
    b[1] = 0
    b = np.ascontiguousarray(b.T) if transpose_b else b
    x, y = nd.array(a).tostype(left), nd.array(b).tostype(right)
    x.attach_grad(stype="default")
    y.attach_grad(stype="default")
    with autograd.record():
        z = nd.dot(x, y, transpose_a=transpose_a, transpose_b=transpose_b)
    full_a, full_b = (a.T if transpose_a else a), (b.T if transpose_b else b)
    assert z.stype == (transposed if transpose_a else plain)
    assert_close(z.asnumpy(), full_a @ full_b)
    head = numbers(z.shape, 4)
    z.backward(nd.array(head))
    of_a, of_b = head @ full_b.T, full_a.T @ head
    assert_close(x.grad.asnumpy(), of_a.T if transpose_a else of_a)
    assert_close(y.grad.asnumpy(), of_b.T if transpose_b else of_b)


@pytest.mark.parametrize("case", csr_structures(), ids=str)
def test_every_structure_of_csr(case, no_fallback):
    array = csr_array(case)
    m, n = case.shape
    right, left = numbers((n, 3), 1), numbers((m, 3), 2)
    assert_close(nd.dot(array, nd.array(right)).asnumpy(), case.dense @ right)
    rows = nd.dot(array, nd.array(left), transpose_a=True)
    assert rows.stype == "row_sparse"
    assert_close(rows.asnumpy(), case.dense.T @ left)
    rows.check_format()
    whole = nd.dot(array, nd.array(left), transpose_a=True, forward_stype="default")
    assert whole.stype == "default"
    assert_close(whole.asnumpy(), case.dense.T @ left)
    turned = nd.dot(nd.array(left.T), array)
    assert turned.stype == "csr"
    assert_close(turned.asnumpy(), left.T @ case.dense)
    turned.check_format()
    square = nd.dot(array, array, transpose_b=True)
    assert_close(square.asnumpy(), case.dense @ case.dense.T)
    square.check_format()


@pytest.mark.parametrize("case", csr_structures(), ids=str)
def test_gradients_over_every_structure(case, no_fallback):
    array = csr_array(case)
    weight = nd.array(numbers((case.shape[1], 2), 1))
    head = numbers((case.shape[0], 2), 2)
    stored = stored_places(case)
    for stype in ("row_sparse", "default"):
        weight.attach_grad(stype=stype)
        with autograd.record():
            z = nd.dot(array, weight)
        z.backward(nd.array(head))
        assert weight.grad.stype == stype
        assert_close(weight.grad.asnumpy(), case.dense.T @ head)
        if stype == "row_sparse":
            columns = np.flatnonzero(stored.any(axis=0))
            np.testing.assert_array_equal(weight.grad.indices.asnumpy(), columns)
    array.attach_grad()
    with autograd.record():
        z = nd.dot(array, weight)
    z.backward(nd.array(head))
    assert array.grad.stype == "csr"
    assert_close(array.grad.asnumpy(), (head @ weight.asnumpy().T) * stored)


def stored_places(case):
    """Where a case stores something, also zeros."""
    stored = np.zeros(case.shape, bool)
    for row in range(case.shape[0]):
        for entry in range(case.indptr[row], case.indptr[row + 1]):
            stored[row, case.indices[entry]] = True
    return stored


@pytest.mark.parametrize("case", row_sparse_structures(), ids=str)
def test_every_structure_of_row_sparse(case, no_fallback):
    if case.dense.ndim != 2:
        pytest.skip("dot takes matrices")
    n = case.shape[0]
    csr = numbers((3, n), 1) * (numbers((3, n), 2) > 0)
    result = nd.dot(nd.sparse.csr_matrix(csr), row_sparse_array(case))
    assert result.stype == "default"
    assert_close(result.asnumpy(), csr @ case.dense)
    result = nd.dot(nd.sparse.csr_matrix(csr.T), row_sparse_array(case), transpose_a=True)
    assert result.stype == "row_sparse"
    assert_close(result.asnumpy(), csr @ case.dense)


@pytest.mark.parametrize("case", few_csr(), ids=str)
def test_every_type(case):
    array, right = csr_array(case), numbers((case.shape[1], 2), 1, case.data.dtype)
    weight = nd.array(right, dtype=right.dtype)
    weight.attach_grad(stype="row_sparse")
    with autograd.record():
        z = nd.dot(array, weight)
    z.backward()
    assert np.dtype(z.dtype) == np.dtype(weight.grad.dtype) == case.data.dtype
    dense = case.dense.astype(np.float64)
    assert_close(z.asnumpy(), dense @ right.astype(np.float64), case.data.dtype)
    expected = np.repeat(dense.sum(axis=0)[:, None], 2, axis=1)
    assert_close(weight.grad.asnumpy(), expected, case.data.dtype)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
def test_integers(dtype):
    a, b = np.array([[1, 0, 2], [0, 3, 0]], dtype), np.array([[1, 2], [3, 4], [5, 6]], dtype)
    result = nd.dot(nd.sparse.csr_matrix(a), nd.array(b, dtype=dtype))
    assert result.dtype == np.dtype(dtype).type
    np.testing.assert_array_equal(result.asnumpy(), a @ b)


def test_a_wide_weight_costs_what_the_batch_costs(no_fallback):
    n = 50_000_000
    csr = nd.sparse.csr_matrix(([1.0, 2.0], [3, n - 1], [0, 1, 2]), shape=(2, n))
    rows = nd.dot(csr, nd.ones((2, 1)), transpose_a=True)
    assert rows.indices.asnumpy().tolist() == [3, n - 1]
    assert rows.data.asnumpy().ravel().tolist() == [1, 2]


def test_a_row_sparse_weight_larger_than_memory(no_fallback):
    n = 1 << 40
    weight = nd.sparse.row_sparse_array(([[1.0, 2.0], [3.0, 4.0]], [5, n - 1]), shape=(n, 2))
    places = ([0, 1], [n - 1, 6])
    csr = nd.sparse.csr_matrix(([10.0, 1.0], places), shape=(2, n), dtype="float32")
    assert nd.dot(csr, weight).asnumpy().tolist() == [[30, 40], [0, 0]]


def test_weight_gradient_rows_are_sorted_and_distinct():
    csr = nd.sparse.csr_matrix(([1, 2, 3, 4.0], [5, 1, 5, 0], [0, 2, 4]), shape=(2, 6))
    weight = nd.ones((6, 1))
    weight.attach_grad(stype="row_sparse")
    with autograd.record():
        z = nd.dot(csr, weight)
    z.backward()
    assert weight.grad.indices.asnumpy().tolist() == [0, 1, 5]
    assert weight.grad.data.asnumpy().ravel().tolist() == [4, 2, 4]


def test_repeats_have_the_same_bits():
    rng = np.random.default_rng(0)
    csr = nd.sparse.csr_matrix(rng.normal(size=(60, 40)) * (rng.random((60, 40)) < 0.3))
    right = nd.array(rng.normal(size=(60, 8)), dtype="float64")
    results = [nd.dot(csr, right, transpose_a=True).asnumpy() for _ in range(4)]
    assert all((r == results[0]).all() for r in results)


@pytest.mark.parametrize(
    ("left", "right"),
    [((2, 3, 4), (4, 5, 6)), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 2))],
)
def test_dense_of_any_dimensions(left, right):
    a, b = numbers(left), numbers(right, 1)
    expected = np.tensordot(a, b, axes=1)
    result = nd.dot(nd.array(a), nd.array(b))
    assert result.shape == (expected.shape or (1,))
    assert_close(result.asnumpy(), expected.reshape(result.shape))


def test_batch_dot():
    a, b = numbers((2, 3, 4)), numbers((2, 5, 4), 1)
    result = nd.batch_dot(nd.array(a), nd.array(b), transpose_b=True)
    assert_close(result.asnumpy(), a @ b.swapaxes(1, 2))


def test_refusals():
    csr = nd.array(A).tostype("csr")
    with pytest.raises(MXNetError, match=r"lhs \(3, 4\) and rhs \(3, 2\).*lhs columns \(4\)"):
        nd.dot(csr, nd.ones((3, 2)))
    with pytest.raises(MXNetError, match="transpose_b=True"):
        nd.dot(csr, nd.ones((2, 4)))
    with pytest.raises(MXNetError, match="Reshape a vector"):
        nd.dot(csr, nd.ones((4,)))
    with pytest.raises(MXNetError, match="dtype"):
        nd.dot(csr, nd.ones((4, 2), dtype="float64"))
    with pytest.raises(TypeError, match="rhs must be an array"):
        nd.dot(csr, np.ones((4, 2)))
