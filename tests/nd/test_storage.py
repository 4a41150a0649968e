"""Conversions, copies, slices and what is read from sparse arrays."""

import copy
import pickle

import numpy as np
import pytest

from cases.handles import (
    csr_array,
    csr_structures,
    few_csr,
    few_row_sparse,
    row_sparse_array,
    row_sparse_structures,
)
from rarefy import MXNetError, cpu, nd
from rarefy.base import NotSupportedForSparseNDArray

A = np.array([[7, 0, 8, 0], [0, 0, 0, 0], [0, 9, 0, 0]], np.float32)
SPARSE = ("csr", "row_sparse")
STYPES = ("default", *SPARSE)
# How the given memory lies matters where an array is made, in test_create.py, and not later.
CASES = [c for c in (*csr_structures(), *row_sparse_structures()) if "strided" not in c.tags]
TYPED = [c for c in (*few_csr(), *few_row_sparse()) if c.name == "everything at once"]


def made(case):
    return csr_array(case) if hasattr(case, "indptr") else row_sparse_array(case)


def of(stype, dense=A):
    return nd.array(dense, dtype=dense.dtype).tostype(stype)


def same(array, dense, stype):
    assert array.stype == stype
    assert array.shape == dense.shape
    assert array.asnumpy().dtype == dense.dtype
    np.testing.assert_array_equal(array.asnumpy(), dense)


@pytest.mark.parametrize("case", [*CASES, *TYPED], ids=str)
def test_awkward_arrays_convert_and_copy(case):
    array, stype = made(case), "csr" if hasattr(case, "indptr") else "row_sparse"
    same(array, case.dense, stype)
    same(array.tostype("default"), case.dense, "default")
    same(nd.cast_storage(array, "default"), case.dense, "default")
    same(array.tostype(stype), case.dense, stype)
    same(array.tostype("default").tostype(stype), case.dense, stype)
    for copied in (array.copy(), copy.copy(array), copy.deepcopy(array), array.copyto(cpu(0))):
        assert copied is not array
        same(copied, case.dense, stype)
        assert copied.nnz == array.nnz or "repeated" in case.tags  # operators add repeats up
    target = nd.sparse.zeros(stype, case.shape, dtype=case.data.dtype)
    assert array.copyto(target) is target
    same(target, case.dense, stype)
    target = nd.zeros(case.shape, dtype=case.data.dtype)
    array.copyto(target)
    same(target, case.dense, "default")
    target = nd.sparse.zeros(stype, case.shape, dtype=case.data.dtype)
    target[:] = array
    same(target, case.dense, stype)
    target[:] = array.tostype("default")
    same(target, case.dense, stype)
    assert target.nnz == array.tostype("default").tostype(stype).nnz


@pytest.mark.parametrize("case", [*CASES, *TYPED], ids=str)
def test_awkward_arrays_survive_pickling(case):
    array = made(case)
    back = pickle.loads(pickle.dumps(array))
    same(back, case.dense, array.stype)
    assert type(back) is type(array)
    np.testing.assert_array_equal(back.indices.asnumpy(), array.indices.asnumpy())
    np.testing.assert_array_equal(back.data.asnumpy(), array.data.asnumpy())


@pytest.mark.parametrize("case", csr_structures(), ids=str)
def test_awkward_arrays_to_scipy(case):
    matrix = csr_array(case).asscipy()
    assert matrix.shape == case.shape
    nnz = int(case.indptr[-1])
    np.testing.assert_array_equal(matrix.data, case.data[:nnz])
    np.testing.assert_array_equal(matrix.toarray(), case.dense)


@pytest.mark.parametrize("case", csr_structures(), ids=str)
def test_awkward_rows(case):
    array, rows = csr_array(case), case.shape[0]
    for key in (slice(0, 2), slice(1, None), slice(-2, None), slice(2, 1), slice(0, 99)):
        part = array[key]
        same(part, case.dense[key], "csr")
        assert part.nnz == np.diff(case.indptr)[key].sum() or "repeated" in case.tags
    for i in range(-rows, rows):
        same(array[i], case.dense[i % rows : i % rows + 1], "csr")


def test_conversion_drops_zeros_and_copies_keep_them():
    stored = nd.sparse.csr_matrix(([1.0, 0.0], [0, 2], [0, 2]), shape=(1, 4))
    assert stored.copy().nnz == stored.tostype("csr").nnz == stored.astype("float64").nnz == 2
    assert stored.tostype("default").tostype("csr").nnz == 1
    rows = nd.sparse.row_sparse_array(([[0.0, 0.0]], [2]), shape=(4, 2))
    assert rows.copy().nnz == 1
    assert rows.tostype("default").tostype("row_sparse").nnz == 0


@pytest.mark.parametrize("stype", STYPES)
def test_a_copy_shares_nothing(stype):
    array = of(stype)
    others = [array.copy(), array.astype("float32"), array.tostype("default").copy()]
    target = nd.sparse.zeros(stype, A.shape)
    target[:] = array
    others.append(target)
    array[:] = of(stype, np.zeros_like(A))
    for other in others:
        np.testing.assert_array_equal(other.asnumpy(), A)
    np.testing.assert_array_equal(array.asnumpy(), 0)
    target[:] = of(stype, 2 * A)
    np.testing.assert_array_equal(array.asnumpy(), 0)


def test_what_is_read_is_a_copy():
    array = of("csr")
    for part in (array.data, array.indices, array.indptr, array.asnumpy(), array[0:1].data):
        part[:] = 1
    array.asscipy().data[:] = 1
    np.testing.assert_array_equal(array.asnumpy(), A)
    rows = of("row_sparse")
    for part in (rows.data, rows.indices, rows.asnumpy()):
        part[:] = 1
    np.testing.assert_array_equal(rows.asnumpy(), A)


@pytest.mark.parametrize("stype", SPARSE)
def test_assignment_converts_storage_and_dtype(stype):
    target = nd.sparse.zeros(stype, A.shape, dtype="float16")
    for value in (of("default"), of(stype), A, A.tolist(), A.astype("float64"), A.astype(int)):
        target[:] = nd.sparse.zeros(stype, A.shape, dtype="float16")
        assert target.nnz == 0
        target[:] = value
        same(target, A.astype("float16"), stype)
    same(of(stype).copyto(nd.sparse.zeros(stype, A.shape, dtype="int32")), A.astype("int32"), stype)


def test_a_number_fills_row_sparse_only():
    rows = of("row_sparse")
    rows[:] = 3
    same(rows, np.full_like(A, 3), "row_sparse")
    with pytest.raises(ValueError, match="CSRNDArray"):
        of("csr")[:] = 3


@pytest.mark.parametrize("stype", SPARSE)
def test_what_sparse_arrays_do_not_do(stype):
    array, other = of(stype), of(*(s for s in SPARSE if s != stype))
    name = type(array).__name__
    with pytest.raises(TypeError, match=f"stype {stype} from {other.stype}"):
        array[:] = other
    with pytest.raises(TypeError, match="copyto does not support"):
        other.copyto(array)
    with pytest.raises(ValueError, match=f"from {stype} to {other.stype}.*'default' first"):
        array.tostype(other.stype)
    with pytest.raises(MXNetError, match=f"{stype} does not convert to {other.stype}"):
        nd.cast_storage(array, other.stype)
    with pytest.raises(MXNetError, match="stype must be one of"):
        array.tostype("coo")
    with pytest.raises(TypeError, match=f"{name} only supports"):
        array[0] = 1
    with pytest.raises(ValueError, match=f"{name} only supports"):
        array[0:1] = 1
    with pytest.raises(TypeError, match=f"cannot assign None .* to {name}"):
        array[:] = None
    with pytest.raises(MXNetError, match=r"\(2, 4\) cannot be assigned to \(3, 4\)"):
        array[:] = nd.ones((2, 4))
    with pytest.raises(NotImplementedError, match="nnz"):
        array.size  # noqa: B018
    with pytest.raises(NotImplementedError, match="asscalar"):
        array.asscalar()
    with pytest.raises(NotSupportedForSparseNDArray):
        array.reshape((4, 3))
    with pytest.raises(TypeError, match=f"a {stype} array cannot be assigned to a dense one"):
        nd.zeros(A.shape)[:] = array
    np.testing.assert_array_equal(array.asnumpy(), A)


def test_slices_that_csr_lacks():
    array = of("csr")
    with pytest.raises(ValueError, match="continuous slicing on axis 0"):
        array[::2]
    with pytest.raises(ValueError, match=r"Multi-dimension indexing.*nd\.slice"):
        array[0, 1]
    for key in (3, -4):
        with pytest.raises(
            IndexError, match=f"index {key} is out of bounds for axis 0 with size 3"
        ):
            array[key]
    with pytest.raises(NotImplementedError, match="retain"):
        of("row_sparse")[0]
    assert array[:] is array


def test_iteration_over_csr_ends():
    np.testing.assert_array_equal([row.asnumpy()[0] for row in of("csr")], A)


def test_csr_needs_a_matrix():
    for shape in ((3,), (2, 2, 2)):
        with pytest.raises(ValueError, match="2 Dimensional"):
            nd.ones(shape).tostype("csr")


@pytest.mark.parametrize(
    ("stype", "shape", "text"),
    [
        ("csr", (3, 4), "\n<CSRNDArray 3x4 @cpu(0)>"),
        ("row_sparse", (3, 4, 2), "\n<RowSparseNDArray 3x4x2 @cpu(0)>"),
        ("default", (2,), "\n[0. 0.]\n<NDArray 2 @cpu(0)>"),
    ],
)
def test_repr_is_mxnets(stype, shape, text):
    assert repr(nd.zeros(shape, stype=stype)) == text
    assert str(nd.zeros(shape, stype=stype)) == text


# check_format

BROKEN_CSR = {
    r"columns of row 0 .* falls at position 1: 2, 0": ([1.0, 2, 3], [2, 0, 1], [0, 2, 3]),
    r"columns of row 1 .* repeats at position 2: 1, 1": ([1.0, 2, 3], [0, 1, 1], [0, 1, 3]),
}


@pytest.mark.parametrize("message", BROKEN_CSR)
def test_check_format_of_csr(message):
    array = nd.sparse.csr_matrix(BROKEN_CSR[message], shape=(2, 3))
    with pytest.raises(MXNetError, match=message):
        array.check_format()
    array.check_format(full_check=False)
    canonical = array * 1  # an operator puts its arrays in order first
    canonical.check_format()
    np.testing.assert_array_equal(canonical.asnumpy(), array.asnumpy())


@pytest.mark.parametrize("rows", [[2, 0], [1, 1]])
def test_check_format_of_row_sparse(rows):
    array = nd.sparse.row_sparse_array(([[1.0], [2.0]], rows), shape=(3, 1))
    with pytest.raises(MXNetError, match=rf"rows\[0\] is {rows[0]} and rows\[1\] is {rows[1]}"):
        array.check_format()
    array.check_format(full_check=False)
    (array * 1).check_format()


# retain


@pytest.mark.parametrize("case", [c for c in row_sparse_structures() if c.shape[0] > 2], ids=str)
def test_retain_of_awkward_arrays(case):
    array, ids = row_sparse_array(case), [2, 0, 1, 2]
    for kept in (array.retain(nd.array(ids)), nd.sparse.retain(array, nd.array(ids))):
        expected = np.zeros_like(case.dense)
        expected[ids] = case.dense[ids]
        same(kept, expected, "row_sparse")
        assert kept.indices.asnumpy().tolist() == ([0, 1, 2] if array.nnz else [])
        kept.check_format()


def test_retain_refuses_what_is_no_row():
    rows = of("row_sparse")
    with pytest.raises(MXNetError, match=r"indices\[1\] is 3, outside the 3 rows of data"):
        rows.retain(nd.array([0, 3]))
    with pytest.raises(MXNetError, match="retain takes a row_sparse array"):
        nd.sparse.retain(of("default"), nd.array([0]))
