"""Awkward arrays are written, read back and cut into batches without a change."""

import numpy as np
import pytest

from cases.awkward import csr_cases
from cases.handles import csr_array
from rarefy.io import LibSVMIter, NDArrayIter, load_libsvm, save_libsvm

FLOATS = tuple(map(np.dtype, ("float32", "float64")))
CASES = [
    c
    for c in csr_cases(FLOATS, without=("non-finite", "holes"))
    if c.dense is not None and c.shape[0]
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_written_and_read_back(case, tmp_path):
    labels = np.arange(case.shape[0])
    save_libsvm(tmp_path / "rows", csr_array(case), labels)
    read = load_libsvm(
        tmp_path / "rows", n_features=case.shape[1], index_base=0, dtype=case.data.dtype
    )
    assert read.X.dtype == case.data.dtype
    assert read.X.shape == case.shape
    np.testing.assert_array_equal(read.X.toarray(), case.dense)
    np.testing.assert_array_equal(read.y, labels)
    assert read.X.nnz == np.count_nonzero(case.dense)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_stored_zeros_can_be_written(case, tmp_path):
    array = csr_array(case) * 1  # without repeats, which would be added up
    save_libsvm(tmp_path / "rows", array, np.arange(case.shape[0]), keep_zeros=True)
    read = load_libsvm(tmp_path / "rows", n_features=case.shape[1], index_base=0)
    assert read.X.nnz == array.nnz
    np.testing.assert_array_equal(read.X.toarray(), case.dense)


@pytest.mark.parametrize("handle", ["pad", "discard", "roll_over"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_cut_into_batches(case, handle):
    rows, size = case.shape[0], 2
    if rows < size:
        size = 1
    batches = list(NDArrayIter(csr_array(case), np.arange(rows), size, last_batch_handle=handle))
    whole = rows // size + (handle == "pad" and rows % size > 0)
    assert len(batches) == whole
    for i, batch in enumerate(batches):
        (data,) = batch.data
        wanted = np.arange(i * size, (i + 1) * size) % rows
        assert data.stype == "csr"
        np.testing.assert_array_equal(data.asnumpy(), case.dense[wanted])
        assert batch.label[0].asnumpy().tolist() == wanted.tolist()
        data.check_format(full_check=not case.tags & {"shuffled", "repeated"})


@pytest.mark.parametrize("case", [c for c in CASES if c.shape[1]], ids=str)
def test_read_in_batches(case, tmp_path):
    save_libsvm(tmp_path / "rows", csr_array(case), np.arange(case.shape[0]))
    batches = LibSVMIter(
        data_libsvm=str(tmp_path / "rows"), data_shape=case.shape[1:], batch_size=1
    )
    found = [batch.data[0] for batch in batches]
    assert all(data.stype == "csr" for data in found)
    rows = np.concatenate([data.asnumpy() for data in found])
    np.testing.assert_array_equal(rows, case.dense.astype(np.float32))
