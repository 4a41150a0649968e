"""The capacity ladder, padding and trimming."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from rarefy import sparse
from rarefy.sparse import BCOO, BCSR, capacity


def test_rungs_are_powers_of_two_then_quarter_steps():
    assert [capacity(n) for n in (0, 1, 16, 17, 32, 33, 1000)] == [16, 16, 16, 32, 32, 64, 1024]
    million = 2**20
    assert [capacity(n) for n in (million, million + 1)] == [million, million * 5 // 4]
    rungs = {capacity(n) for n in range(2**20, 2**22, 999)}
    quarters = {q * 2**k for k in (18, 19) for q in (4, 5, 6, 7, 8)}
    assert rungs == quarters


def test_rungs_fit_and_waste_little():
    rng = np.random.default_rng(0)
    for n in rng.integers(1, 2**40, 2000):
        rung = capacity(int(n))
        assert rung >= n
        assert capacity(rung) == rung
        assert rung <= 16 or rung < 2 * n
        assert n <= 2**20 or rung <= 1.25 * n


def test_a_limit_is_never_passed():
    assert capacity(5, 7) == 7
    assert capacity(7, 7) == 7
    assert capacity(5, 100) == 16
    assert capacity(0, 0) == 0
    with pytest.raises(ValueError, match="8 exceeds the limit 7"):
        capacity(8, 7)
    with pytest.raises(ValueError, match="negative"):
        capacity(-1)


def test_csr_is_padded_and_trimmed():
    dense = np.array([[0, 1, 2], [3, 0, 0]], np.float32)
    x = BCSR.fromdense(dense)
    wide = sparse.pad_csr(x, 16)
    assert repr(wide) == "BCSR(float32[2, 3], nse=16)"
    assert_array_equal(wide.indices[3:], 3)
    assert_array_equal(wide.data[3:], 0)
    assert_array_equal(wide.todense(), dense)
    assert wide.indices_sorted
    back = sparse.trim_csr(wide, 3)
    assert_array_equal(back.indices, x.indices)
    assert sparse.pad_csr(x, 3).data is x.data
    with pytest.raises(ValueError, match="less than the 16 slots"):
        sparse.pad_csr(wide, 3)
    with pytest.raises(ValueError, match="exceeds the 3 slots"):
        sparse.trim_csr(x, 4)
    with pytest.raises(TypeError, match="without batch or dense"):
        sparse.pad_csr(BCOO.fromdense(dense), 9)


def test_row_sparse_is_padded_and_trimmed():
    x = sparse.row_sparse(np.ones((2, 3), np.float32), [1, 4], (6, 3))
    wide = sparse.pad_row_sparse(x, 5)
    assert_array_equal(wide.indices[:, 0], [1, 4, 6, 6, 6])
    assert_array_equal(wide.todense(), x.todense())
    sparse.check_row_sparse(wide)
    assert_array_equal(sparse.trim_row_sparse(wide, 2).indices, x.indices)
    with pytest.raises(ValueError, match="less than"):
        sparse.pad_row_sparse(wide, 3)
    with pytest.raises(ValueError, match="exceeds"):
        sparse.trim_row_sparse(x, 3)
    with pytest.raises(TypeError, match="one sparse dimension"):
        sparse.trim_row_sparse(BCOO.fromdense(np.ones((2, 2))), 1)
