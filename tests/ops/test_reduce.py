"""Reductions: values against NumPy, over every structure, and gradients."""

import numpy as np
import pytest

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

X = np.array([[1, 0, -2.5, 0], [0, 0, 0, 0], [0, 3, 0, 0.5]], np.float32)
REDUCTIONS = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "prod": np.prod}
SPARSE = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min}
AXES = (None, 0, 1, (0, 1), -1)


def at_least_1d(x):
    return np.asarray(x).reshape(np.shape(x) or (1,))


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_dense(name, axis, keepdims):
    result = getattr(nd, name)(nd.array(X), axis=axis, keepdims=keepdims)
    expected = at_least_1d(REDUCTIONS[name](X, axis=axis, keepdims=keepdims))
    assert result.shape == expected.shape
    assert_close(result.asnumpy(), expected)


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("name", SPARSE)
def test_csr_is_not_made_dense(name, axis, no_fallback):
    result = getattr(nd, name)(nd.array(X).tostype("csr"), axis=axis)
    assert result.stype == "default"
    assert_close(result.asnumpy(), at_least_1d(SPARSE[name](X, axis=axis)))


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("name", ["sum", "mean"])
def test_row_sparse_is_not_made_dense(name, axis, no_fallback):
    result = getattr(nd, name)(nd.array(X).tostype("row_sparse"), axis=axis)
    assert_close(result.asnumpy(), at_least_1d(SPARSE[name](X, axis=axis)))


@pytest.mark.parametrize("case", csr_structures(), ids=str)
def test_every_structure_of_csr(case):
    array = csr_array(case)
    names = ("sum", "max", "min") if 0 not in case.shape else ("sum",)
    for axis in (None, 0, 1):
        for name in names:
            result = getattr(nd, name)(array, axis=axis).asnumpy()
            expected = at_least_1d(SPARSE[name](case.dense, axis=axis))
            assert_close(result, expected)
    assert_close(nd.norm(array).asnumpy()[0], np.linalg.norm(case.dense))


@pytest.mark.parametrize("case", row_sparse_structures(), ids=str)
def test_every_structure_of_row_sparse(case):
    array = row_sparse_array(case)
    for axis in (None, 0, -1):
        result = nd.sum(array, axis=axis).asnumpy()
        assert_close(result, at_least_1d(case.dense.sum(axis=axis)))
    assert_close(nd.norm(array).asnumpy()[0], np.linalg.norm(case.dense))


@pytest.mark.parametrize("case", few_csr() + few_row_sparse(), ids=str)
def test_every_type(case):
    array = csr_array(case) if hasattr(case, "indptr") else row_sparse_array(case)
    result = nd.sum(array, axis=0)
    assert np.dtype(result.dtype) == case.data.dtype
    assert_close(result.asnumpy(), case.dense.astype(np.float64).sum(axis=0), case.data.dtype)


@pytest.mark.parametrize("stype", ["default", "csr", "row_sparse"])
@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("name", ["sum", "mean"])
def test_gradient(name, axis, stype):
    x = nd.array(X).tostype(stype)
    x.attach_grad(stype="default")
    with autograd.record():
        y = getattr(nd, name)(x, axis=axis)
    y.backward()
    count = {None: X.size, 0: X.shape[0], 1: X.shape[1]}[axis] if name == "mean" else 1
    np.testing.assert_allclose(x.grad.asnumpy(), np.full_like(X, 1 / count), rtol=1e-6)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_gradient_of_csr_lives_where_it_is_stored(axis, no_fallback):
    x = nd.array(X).tostype("csr")
    x.attach_grad()
    with autograd.record():
        y = nd.sum(x, axis=axis)
    y.backward()
    assert x.grad.stype == "csr"
    np.testing.assert_array_equal(x.grad.asnumpy(), (X != 0) * 1.0)


def test_gradient_of_a_sum_costs_what_is_stored(no_fallback):
    side = 3_000_000
    x = nd.sparse.csr_matrix(([1.0, 2.0], ([5, side - 1], [7, 3])), shape=(side, side))
    x.attach_grad()
    with autograd.record():
        y = nd.sum(x * x)
    y.backward()
    assert y.asscalar() == 5
    assert x.grad.data.asnumpy().tolist() == [2, 4]


def test_exclude():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    result = nd.sum(nd.array(x), axis=1, exclude=True)
    np.testing.assert_array_equal(result.asnumpy(), x.sum(axis=(0, 2)))


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_norm(order, axis):
    result = nd.norm(nd.array(X), ord=order, axis=axis).asnumpy()
    flat = X.reshape(-1) if axis is None else X
    expected = np.linalg.norm(flat, ord=order, axis=0 if axis is None else axis)
    assert_close(result, at_least_1d(expected))


def test_gradient_of_the_norm_of_zero_is_zero():
    x = nd.zeros((3,))
    x.attach_grad()
    with autograd.record():
        y = nd.norm(x)
    y.backward()
    assert x.grad.asnumpy().tolist() == [0, 0, 0]


@pytest.mark.parametrize("axis", [0, 1, None])
def test_square_sum(axis):
    rows = nd.array(X).tostype("row_sparse")
    result = nd._internal._square_sum(rows, axis=axis)
    assert_close(result.asnumpy(), at_least_1d((X * X).sum(axis=axis)))
    if axis == 1:
        kept = nd._internal._square_sum(rows, axis=1, keepdims=True)
        assert kept.stype == "row_sparse"
        assert_close(kept.asnumpy(), (X * X).sum(axis=1, keepdims=True))


def test_many_small_numbers_in_float16():
    ones = nd.ones((5000,), dtype="float16")
    assert ones.sum().asscalar() == 5000
    csr = nd.sparse.csr_matrix(np.ones((1, 5000), np.float16))
    assert nd.sum(csr, axis=1).asscalar() == 5000


def test_integers_stay_exact():
    x = nd.array([2**53, 1], dtype="int64")
    assert x.sum().asscalar() == 2**53 + 1
    csr = nd.sparse.csr_matrix(np.array([[2**53, 1]]))
    assert nd.sum(csr, axis=1).asscalar() == 2**53 + 1


def test_refusals():
    with pytest.raises(MXNetError, match="axis 2"):
        nd.sum(nd.array(X), axis=2)
    with pytest.raises(MXNetError, match="twice"):
        nd.sum(nd.array(X), axis=(0, -2))
    with pytest.raises(MXNetError, match="ord"):
        nd.norm(nd.array(X), ord=3)
