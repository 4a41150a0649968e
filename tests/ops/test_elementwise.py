"""Functions of one array: values, storage types, derivatives, dtypes."""

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
from cases.operators import UNARY, Unary
from rarefy import autograd, nd
from rarefy._ops.compiled import _forward
from rarefy._ops.defs import OPERATORS


def points(op: Unary) -> np.ndarray:
    """Where an operator is tested: zero among them where it is defined there."""
    x = np.random.default_rng(3).uniform(op.low, op.high, (5, 6))
    if op.low <= 0 <= op.high:
        x[0, 1:4] = x[2] = x[3, 3] = x[:, 5] = 0
    return x.astype(np.float32)


@pytest.mark.parametrize("stype", ["default", "csr", "row_sparse"])
@pytest.mark.parametrize("name", UNARY)
def test_values_and_storage_type(name, stype):
    op = UNARY[name]
    x = points(op)
    result = getattr(nd, name)(nd.array(x).tostype(stype))
    assert result.stype == (stype if op.zero else "default")
    assert result.dtype == np.float32
    with np.errstate(all="ignore"):
        assert_close(result.asnumpy(), op.fn(x.astype(np.float64)), scale=10)


@pytest.mark.parametrize("name", [n for n, op in UNARY.items() if not op.zero])
def test_zeros_of_a_sparse_array_are_computed_too(name):
    x = np.array([[0, 0, 1.5], [0, 0, 0]], np.float32)
    with np.errstate(all="ignore"):
        expected = UNARY[name].fn(x.astype(np.float64)) if "gamma" not in name else None
    for stype in ("csr", "row_sparse"):
        result = getattr(nd, name)(nd.array(x).tostype(stype)).asnumpy()
        dense = getattr(nd, name)(nd.array(x)).asnumpy()
        np.testing.assert_array_equal(result, dense)
        if expected is not None:
            np.testing.assert_allclose(result, expected, rtol=1e-5)


@pytest.mark.parametrize("stype", ["default", "csr", "row_sparse"])
@pytest.mark.parametrize("name", [n for n, op in UNARY.items() if op.slope])
def test_derivative(name, stype):
    op = UNARY[name]
    x = points(op)
    array = nd.array(x).tostype(stype)
    array.attach_grad(stype="default")
    head = np.random.default_rng(4).normal(size=x.shape).astype(np.float32)
    with autograd.record():
        y = getattr(nd, name)(array)
    y.backward(nd.array(head))
    with np.errstate(all="ignore"):
        expected = op.slope(x.astype(np.float64)) * head
    defined = np.isfinite(expected)
    assert_close(array.grad.asnumpy()[defined], expected[defined], scale=20)


@pytest.mark.parametrize("case", csr_structures(), ids=str)
def test_every_structure_of_csr(case):
    array = csr_array(case)
    for name, expected in (("square", case.dense**2), ("cos", np.cos(case.dense))):
        result = getattr(nd, name)(array)
        assert_close(result.asnumpy(), expected)
    nd.square(array).check_format()


@pytest.mark.parametrize("case", row_sparse_structures(), ids=str)
def test_every_structure_of_row_sparse(case):
    array = row_sparse_array(case)
    for name, expected in (("square", case.dense**2), ("cos", np.cos(case.dense))):
        result = getattr(nd, name)(array)
        assert_close(result.asnumpy(), expected)
    nd.square(array).check_format()


@pytest.mark.parametrize("case", few_csr(), ids=str)
def test_every_type_of_csr(case):
    result = nd.tanh(csr_array(case))
    assert result.stype == "csr"
    assert np.dtype(result.dtype) == case.data.dtype
    assert_close(result.asnumpy(), np.tanh(case.dense.astype(np.float64)), case.data.dtype)


@pytest.mark.parametrize("case", few_row_sparse(), ids=str)
def test_every_type_of_row_sparse(case):
    result = nd.tanh(row_sparse_array(case))
    assert result.stype == "row_sparse"
    assert np.dtype(result.dtype) == case.data.dtype
    assert_close(result.asnumpy(), np.tanh(case.dense.astype(np.float64)), case.data.dtype)


def test_stored_zeros_stay_stored():
    x = nd.sparse.csr_matrix(([1.0, 0.0], [0, 2], [0, 2]), shape=(1, 3))
    assert nd.abs(x).indices.asnumpy().tolist() == [0, 2]
    assert (x * 0).data.asnumpy().tolist() == [0, 0]


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
def test_integers_stay_integers(dtype):
    x = nd.array([1, 2, 9], dtype=dtype)
    assert nd.sqrt(x).asnumpy().tolist() == [1, 1, 3]
    assert nd.exp(x).asnumpy().tolist()[:2] == [2, 7]
    assert nd.sqrt(x).dtype == np.dtype(dtype).type


def test_nan_and_inf_pass_through():
    x = np.array([np.nan, np.inf, -np.inf, 1], np.float32)
    for name in ("abs", "square", "tanh", "exp", "sigmoid", "relu"):
        with np.errstate(all="ignore"):
            expected = UNARY[name].fn(x)
        np.testing.assert_allclose(getattr(nd, name)(nd.array(x)).asnumpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("stype", ["default", "csr", "row_sparse"])
def test_clip(stype):
    x = np.array([[-2, 0, 0.5], [0, 0, 0], [3, 0, -0.5]], np.float32)
    result = nd.clip(nd.array(x).tostype(stype), -1, 1)
    assert result.stype == stype
    np.testing.assert_array_equal(result.asnumpy(), np.clip(x, -1, 1))


def test_a_number_and_a_number_of_slots_compile_once():
    op = OPERATORS["_mul_scalar"]
    program = _forward(op, op.rules[("csr",)][0], (), False, ())
    shape = (9, 7)  # of no other test here, as a program that is there already would not be counted
    before = program._cache_size()
    for stored, factor in ((1, 2.0), (4, 3.5), (9, -1.0), (16, 7)):
        dense = np.arange(63) < stored
        result = nd.array(dense.reshape(shape)).tostype("csr") * factor
        assert result.asnumpy().sum() == stored * factor
    assert program._cache_size() == before + 1
    nd.array(np.ones(shape)).tostype("csr") * 2.0  # 63 slots are another rung
    assert program._cache_size() == before + 2
