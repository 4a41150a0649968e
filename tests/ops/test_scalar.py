"""An array and a number: values, storage types, dtypes."""

import numpy as np
import pytest

from cases.handles import (
    assert_close,
    csr_array,
    csr_structures,
    row_sparse_array,
    row_sparse_structures,
)
from cases.operators import WITH_NUMBER
from rarefy import nd

X = np.array([[1.5, 0, -2, 0], [0, 0, 0, 0], [0, 0.25, 0, 3]], np.float32)


@pytest.mark.parametrize("scalar", [0.0, 1.5, -1.0, 2])
@pytest.mark.parametrize("stype", ["default", "csr", "row_sparse"])
@pytest.mark.parametrize("name", WITH_NUMBER)
def test_values_and_storage_type(name, stype, scalar):
    op = WITH_NUMBER[name]
    x = abs(X) if name == "_power_scalar" else X
    result = getattr(nd._internal, name)(nd.array(x).tostype(stype), scalar)
    assert result.stype == (stype if op.keeps(scalar) else "default")
    assert result.dtype == np.float32
    with np.errstate(all="ignore"):
        expected = op.fn(x.astype(np.float64), scalar)
    if name == "_div_scalar" and scalar == 0 and stype == "row_sparse":
        expected[1] = 0  # what is absent stays zero
    if name == "_div_scalar" and scalar == 0 and stype == "csr":
        expected[x == 0] = 0
    assert_close(result.asnumpy(), expected)


@pytest.mark.parametrize("case", csr_structures(), ids=str)
def test_every_structure_of_csr(case):
    array = csr_array(case)
    assert_close((array * 2.5).asnumpy(), case.dense * 2.5)
    assert_close((1 - array).asnumpy(), 1 - case.dense)


@pytest.mark.parametrize("case", row_sparse_structures(), ids=str)
def test_every_structure_of_row_sparse(case):
    array = row_sparse_array(case)
    assert_close((array / 4).asnumpy(), case.dense / 4)
    assert_close((array + 1).asnumpy(), case.dense + 1)


def test_a_number_is_cut_to_the_integers_of_the_array():
    x = nd.array([1, 2, 200], dtype="uint8")
    assert (x * 2.7).asnumpy().tolist() == [2, 4, 144]
    assert (x + 100).asnumpy().tolist() == [101, 102, 44]


def test_integers_beyond_float64_are_exact():
    x = nd.array([1], dtype="int64")
    assert (x + (2**53 + 1)).asnumpy()[0] == 2**53 + 2
    assert (x * 2**60).asnumpy()[0] == 2**60


@pytest.mark.parametrize("number", [np.float32(2), np.int64(2), True, 2, 2.0])
def test_kinds_of_numbers(number):
    expected = X * float(number)
    np.testing.assert_array_equal((nd.array(X) * number).asnumpy(), expected)
    np.testing.assert_array_equal((number * nd.array(X)).asnumpy(), expected)
