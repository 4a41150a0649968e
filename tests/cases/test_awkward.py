"""The awkward arrays are what they say they are, by SciPy and by counting."""

import numpy as np
import pytest
import scipy.sparse

from cases.awkward import FLOATS, INDICES, csr_cases, row_sparse_cases

ALL_CSR = csr_cases(without=())
ALL_ROW_SPARSE = row_sparse_cases(without=())


@pytest.mark.parametrize("case", ALL_CSR, ids=str)
def test_csr_answer_is_scipys(case):
    nnz = int(case.indptr[-1])
    row = np.repeat(np.arange(case.shape[0]), np.diff(case.indptr))
    column, data = case.indices[:nnz], case.data[:nnz].astype(np.float64)
    real = (column >= 0) & (column < case.shape[1])
    matrix = scipy.sparse.coo_matrix((data[real], (row[real], column[real])), shape=case.shape)
    if case.dense is None:
        assert "big" in case.tags
        assert matrix.nnz == nnz
        return
    assert case.dense.dtype == case.data.dtype
    np.testing.assert_array_equal(case.dense.astype(np.float64), matrix.toarray())


@pytest.mark.parametrize("case", ALL_CSR, ids=str)
def test_csr_has_the_tags_that_it_deserves(case):
    m, n = case.shape
    nnz = int(case.indptr[-1])
    assert case.indptr.shape == (m + 1,)
    assert case.data.shape == case.indices.shape
    assert case.indptr[0] == 0
    assert (np.diff(case.indptr) >= 0).all()
    assert case.indptr.dtype == case.indices.dtype
    rows = [case.indices[a:b] for a, b in zip(case.indptr, case.indptr[1:], strict=False) if b > a]
    inside = (case.indices >= 0) & (case.indices < n)
    quiet_tail = (case.indices[nnz:] == n).all() and (case.data[nnz:] == 0).all()
    found = {
        "shuffled": any((np.diff(row) < 0).any() for row in rows if (row < n).all()),
        "repeated": any(len(np.unique(row)) < len(row) for row in rows),
        "stored zeros": bool((case.data[:nnz] == 0).any()),
        "padded": len(case.data) > nnz and quiet_tail,
        "holes": (len(case.data) > nnz and not quiet_tail) or not inside[:nnz].all(),
        "strided": not all(
            a.flags.c_contiguous for a in (case.data, case.indices, case.indptr) if a.size > 1
        ),
        "non-finite": not np.isfinite(case.data.astype(np.float64)).all(),
        "big": m * n > 2**31,
    }
    assert {tag for tag, is_so in found.items() if is_so} == case.tags


@pytest.mark.parametrize("case", ALL_ROW_SPARSE, ids=str)
def test_row_sparse_answer_is_numpys(case):
    assert case.data.shape == (len(case.rows), *case.shape[1:])
    if case.dense is None:
        assert "big" in case.tags
        return
    want = np.zeros(case.shape)
    real = (case.rows >= 0) & (case.rows < case.shape[0])
    np.add.at(want, case.rows[real], case.data[real].astype(np.float64))
    assert case.dense.dtype == case.data.dtype
    np.testing.assert_array_equal(case.dense.astype(np.float64), want)


@pytest.mark.parametrize("case", ALL_ROW_SPARSE, ids=str)
def test_row_sparse_has_the_tags_that_it_deserves(case):
    n = case.shape[0]
    real = (case.rows >= 0) & (case.rows < n)
    rows = case.rows[real]
    flat = case.data.astype(np.float64).reshape(len(case.rows), -1) if case.data.size else None
    tail = case.rows[len(rows) :]
    quiet = real[: len(rows)].all() and (tail == n).all() and not case.data[~real].any()
    found = {
        "shuffled": bool((np.diff(rows) < 0).any()),
        "repeated": len(np.unique(rows)) < len(rows),
        "stored zeros": flat is not None and bool((flat[real] == 0).all(axis=1).any()),
        "padded": not real.all() and quiet,
        "holes": not real.all() and not quiet,
        "strided": not (case.data.flags.c_contiguous and case.rows.flags.c_contiguous),
        "non-finite": not np.isfinite(case.data.astype(np.float64)).all(),
        "big": int(np.prod(case.shape, dtype=object)) > 10**8,
    }
    assert {tag for tag, is_so in found.items() if is_so} == case.tags


@pytest.mark.parametrize("cases", [ALL_CSR, ALL_ROW_SPARSE], ids=["csr", "row_sparse"])
def test_every_type_and_every_tag_occurs(cases):
    index = [c.indices if hasattr(c, "indices") else c.rows for c in cases]
    types = {(c.data.dtype, i.dtype) for c, i in zip(cases, index, strict=True)}
    assert types == {(f, i) for f in FLOATS for i in INDICES}
    assert {t for c in cases for t in c.tags} == {
        *(
            "shuffled",
            "repeated",
            "stored zeros",
            "padded",
            "holes",
            "strided",
            "big",
            "non-finite",
        ),
    }
    assert len({str(c) for c in cases}) == len(cases)


@pytest.mark.parametrize("case", [*ALL_CSR, *ALL_ROW_SPARSE], ids=str)
def test_inputs_cannot_be_written_to(case):
    assert not case.data.flags.writeable
    if case.data.size:
        with pytest.raises(ValueError):
            case.data[0] = 1


def test_cases_can_be_chosen():
    only = csr_cases((np.dtype("float64"),), (np.dtype("int64"),), without=("big", "holes"))
    assert {(c.data.dtype, c.indices.dtype) for c in only} == {
        (np.dtype("float64"), np.dtype("int64"))
    }
    assert not any(c.tags & {"big", "holes"} for c in only)
    assert any("non-finite" in c.tags for c in only)
