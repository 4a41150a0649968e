"""Making sparse arrays: every documented form, what is copied, and what is refused."""

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.sparse as sp

from cases.awkward import csr_cases, row_sparse_cases
from rarefy import MXNetError, init, nd
from rarefy.nd.sparse import ArrayFormatError, csr_matrix, row_sparse_array

A = np.array([[7, 0, 8, 0], [0, 0, 0, 0], [0, 9, 0, 0]], np.float32)
DATA, INDICES, INDPTR = [7, 8, 9], [0, 2, 1], [0, 2, 2, 3]
R = np.array([[1, 2], [0, 0], [3, 4], [0, 0]], np.float32)

CSR_FORMS = {
    "lists": lambda: csr_matrix((DATA, INDICES, INDPTR), shape=(3, 4)),
    "no shape": lambda: csr_matrix((DATA, INDICES, INDPTR)),
    "numpy": lambda: csr_matrix(tuple(map(np.array, (DATA, INDICES, INDPTR))), shape=(3, 4)),
    "nd": lambda: csr_matrix(tuple(map(nd.array, (DATA, INDICES, INDPTR))), shape=(3, 4)),
    "jax": lambda: csr_matrix(tuple(map(jnp.array, (DATA, INDICES, INDPTR))), shape=(3, 4)),
    "whole floats": lambda: csr_matrix((DATA, [0.0, 2.0, 1.0], np.float32(INDPTR)), shape=(3, 4)),
    "coordinates": lambda: csr_matrix((DATA, ([0, 0, 2], [0, 2, 1])), shape=(3, 4)),
    "coordinates in any order": lambda: csr_matrix(([9, 7, 8], ([2, 0, 0], [1, 0, 2]))),
    "repeated coordinates": lambda: csr_matrix(([4, 9, 8, 3], ([0, 2, 0, 0], [0, 1, 2, 0]))),
    "dense list": lambda: csr_matrix(A.tolist()),
    "dense numpy": lambda: csr_matrix(A),
    "dense nd": lambda: csr_matrix(nd.array(A)),
    "csr": lambda: csr_matrix(csr_matrix(A)),
    "sparse.array": lambda: nd.sparse.array(csr_matrix(A)),
    "nd.array": lambda: nd.array(csr_matrix(A)),
    "tostype": lambda: nd.array(A).tostype("csr"),
    "cast_storage": lambda: nd.sparse.cast_storage(nd.array(A), "csr"),
    **{
        f"scipy {form}": lambda form=form: csr_matrix(sp.csr_matrix(A).asformat(form))
        for form in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")
    },
    "scipy array": lambda: nd.sparse.array(sp.csr_array(A)),
    "scipy through nd.array": lambda: nd.array(sp.csr_matrix(A)),
}
ROW_SPARSE_FORMS = {
    "lists": lambda: row_sparse_array(([[1, 2], [3, 4]], [0, 2]), shape=(4, 2)),
    "numpy": lambda: row_sparse_array((R[[0, 2]], np.array([0, 2])), shape=(4, 2)),
    "nd": lambda: row_sparse_array((nd.array(R[[0, 2]]), nd.array([0, 2])), shape=(4, 2)),
    "unsorted": lambda: row_sparse_array((R[[2, 0]], [2, 0]), shape=(4, 2)),
    "repeated": lambda: row_sparse_array(([[1, 1], [3, 4], [0, 1]], [0, 2, 0]), shape=(4, 2)),
    "dense list": lambda: row_sparse_array(R.tolist()),
    "dense numpy": lambda: row_sparse_array(R),
    "dense nd": lambda: row_sparse_array(nd.array(R)),
    "row_sparse": lambda: row_sparse_array(row_sparse_array(R)),
    "sparse.array": lambda: nd.sparse.array(row_sparse_array(R)),
    "nd.array": lambda: nd.array(row_sparse_array(R)),
    "tostype": lambda: nd.array(R).tostype("row_sparse"),
    "cast_storage": lambda: nd.sparse.cast_storage(nd.array(R), "row_sparse"),
}


@pytest.mark.parametrize("form", CSR_FORMS)
def test_csr_of(form):
    made = CSR_FORMS[form]()
    assert type(made) is nd.CSRNDArray
    assert made.stype == "csr"
    expected = A[:, :3] if form in ("no shape", "coordinates in any order") else A
    if form == "repeated coordinates":
        expected = A[:, :3]
    assert made.shape == expected.shape
    np.testing.assert_array_equal(made.asnumpy(), expected)
    assert made.data.asnumpy().tolist() == DATA
    assert made.indices.asnumpy().tolist() == INDICES
    assert made.indptr.asnumpy().tolist() == INDPTR
    assert made.indices.dtype == made.indptr.dtype == np.int64
    made.check_format()


@pytest.mark.parametrize("form", ROW_SPARSE_FORMS)
def test_row_sparse_of(form):
    made = ROW_SPARSE_FORMS[form]()
    assert type(made) is nd.RowSparseNDArray
    assert made.shape == (4, 2)
    np.testing.assert_array_equal(made.asnumpy(), R)
    if form not in ("unsorted", "repeated"):
        assert made.indices.asnumpy().tolist() == [0, 2]
        assert made.data.asnumpy().tolist() == [[1, 2], [3, 4]]
        made.check_format()


@pytest.mark.parametrize("case", csr_cases(without=("holes", "padded")), ids=str)
def test_awkward_csr_parts(case):
    made = csr_matrix((case.data, case.indices, case.indptr), shape=case.shape)
    assert np.dtype(made.dtype) == case.data.dtype
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(made, part).asnumpy(), getattr(case, part))
    assert made.nnz == len(case.data)
    if case.dense is not None:
        np.testing.assert_array_equal(made.asnumpy(), case.dense)
        again = csr_matrix(case.dense)
        np.testing.assert_array_equal(again.asnumpy(), case.dense)
        assert again.nnz == np.count_nonzero(case.dense)


@pytest.mark.parametrize("case", row_sparse_cases(without=("holes", "padded")), ids=str)
def test_awkward_row_sparse_parts(case):
    made = row_sparse_array((case.data, case.rows), shape=case.shape)
    assert np.dtype(made.dtype) == case.data.dtype
    np.testing.assert_array_equal(made.data.asnumpy(), case.data)
    np.testing.assert_array_equal(made.indices.asnumpy(), case.rows)
    if case.dense is not None:
        np.testing.assert_array_equal(made.asnumpy(), case.dense)
        again = row_sparse_array(case.dense)
        np.testing.assert_array_equal(again.asnumpy(), case.dense)
        assert again.nnz == (case.dense != 0).any(axis=tuple(range(1, case.dense.ndim))).sum()


@pytest.mark.parametrize("source", ["numpy", "jax", "nd"])
def test_what_is_given_is_copied(source):
    make = {"numpy": np.array, "jax": jnp.array, "nd": nd.array}[source]
    data, indices, indptr = (make(np.array(p, np.float32)) for p in (DATA, INDICES, INDPTR))
    made = csr_matrix((data, indices, indptr), shape=(3, 4))
    if source != "jax":
        data[:], indices[:] = -1, 3
    np.testing.assert_array_equal(made.asnumpy(), A)
    made.data[:] = 0
    made.indices[:] = 0
    made.indptr[:] = 0
    np.testing.assert_array_equal(made.asnumpy(), A)
    matrix = sp.csr_matrix(A)
    made = nd.sparse.array(matrix)
    matrix.data[:] = -1
    np.testing.assert_array_equal(made.asnumpy(), A)


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 100])
def test_room_for_more_is_not_seen(n):
    dense = np.zeros((4, 50), np.float32)
    dense.reshape(-1)[:n] = 1 + np.arange(n)
    for array in (csr_matrix(dense), nd.array(dense).tostype("csr"), csr_matrix(dense) * 1):
        assert array.nnz == n
        assert array.data.shape == array.indices.shape == (n,)
        assert array.data.asnumpy().tolist() == list(range(1, n + 1))
        assert array.nbytes == n * (4 + 8)
        matrix = array.asscipy()
        assert matrix.nnz == n
        assert matrix.has_canonical_format
        np.testing.assert_array_equal(matrix.toarray(), dense)
    rows = nd.array(dense.T).tostype("row_sparse")
    assert rows.nnz == rows.indices.shape[0] == rows.data.shape[0] == min(n, 50)


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "int8", "int32", "int64", "uint8"]
)
def test_dtypes(dtype):
    dense = A.astype(dtype)
    for made in (
        csr_matrix(dense),
        csr_matrix(A, dtype=dtype),
        csr_matrix((np.array(DATA, dtype), INDICES, INDPTR), shape=(3, 4)),
        csr_matrix((DATA, INDICES, INDPTR), shape=(3, 4), dtype=dtype),
        nd.array(dense, dtype=dtype).tostype("csr"),
        csr_matrix(A).astype(dtype),
        nd.sparse.array(csr_matrix(A), dtype=dtype),
        row_sparse_array(dense),
        row_sparse_array((dense[:1], [0]), shape=(3, 4)).astype(dtype),
        row_sparse_array(A, dtype=dtype),
    ):
        assert np.dtype(made.dtype) == np.dtype(dtype)
        assert np.dtype(made.data.dtype) == np.dtype(dtype)
        assert made.asnumpy().dtype == np.dtype(dtype)
        np.testing.assert_array_equal(made.asnumpy()[0], dense[0])


def test_default_dtypes_are_mxnets():
    wide = np.array(DATA, np.float64)
    assert csr_matrix((DATA, INDICES, INDPTR)).dtype == np.float32
    assert csr_matrix((wide, INDICES, INDPTR)).dtype == np.float64
    assert csr_matrix((DATA, ([0, 0, 2], [0, 2, 1]))).dtype == np.int64
    assert nd.array(sp.csr_matrix(A.astype(np.float64))).dtype == np.float64
    assert nd.array(A.astype(np.float64)).dtype == np.float32
    assert nd.sparse.zeros("csr", (2, 2)).dtype == np.float32


@pytest.mark.parametrize("stype", ["csr", "row_sparse", "default"])
def test_zeros_and_empty(stype):
    for make in (nd.sparse.zeros, nd.sparse.empty):
        made = make(stype, (3, 4), dtype="float64")
        assert (made.stype, made.shape, made.dtype) == (stype, (3, 4), np.float64)
        assert not made.asnumpy().any()
        if stype != "default":
            assert made.nnz == 0
            assert made.data.shape == ((0,) if stype == "csr" else (0, 4))
    assert nd.zeros((3, 4), stype=stype).stype == stype


def test_a_product_of_sizes_beyond_int32_breaks_nothing():
    side = 3_000_000
    rows, columns = [0, 5, side - 1], [side - 1, 0, side - 1]
    made = csr_matrix(([1.0, 2.0, 3.0], (rows, columns)), shape=(side, side))
    assert made[side - 1].indices.asnumpy().tolist() == [side - 1]
    assert (made * 2).data.asnumpy().tolist() == [2, 4, 6]
    assert (made + made).data.asnumpy().tolist() == [2, 4, 6]
    wide = csr_matrix(([1.0], [5_000_000_000], [0, 1]), shape=(1, 5_000_000_001))
    assert wide.indices.asnumpy().tolist() == [5_000_000_000]
    assert (wide + wide).indices.asnumpy().tolist() == [5_000_000_000]


# What is wrong is said with its place.
REFUSED_CSR = {
    "indptr has 3 elements; 3 rows need 4": ((DATA, INDICES, [0, 2, 3]), (3, 4)),
    "indptr must begin with 0; it begins with 1": ((DATA, INDICES, [1, 2, 2, 3]), (3, 4)),
    r"indptr must not fall, but indptr\[1\] is 2 and indptr\[2\] is 1": (
        (DATA, INDICES, [0, 2, 1, 3]),
        (3, 4),
    ),
    "indptr ends with 2, but there are 3 indices": ((DATA, INDICES, [0, 1, 2, 2]), (3, 4)),
    r"indices\[1\] \(row 0\) is 4, outside the 4 columns": ((DATA, [0, 4, 1], INDPTR), (3, 4)),
    r"indices\[2\] \(row 2\) is -1, outside the 4 columns": ((DATA, [0, 2, -1], INDPTR), (3, 4)),
    "2 values but 3 indices": (([1, 2], INDICES, INDPTR), (3, 4)),
    "must have one dimension": (([DATA], INDICES, INDPTR), (3, 4)),
    r"row\[1\] is 3, outside the 3 rows": ((DATA, ([0, 3, 2], [0, 1, 2])), (3, 4)),
    r"col\[2\] is -2, outside the 4 columns": ((DATA, ([0, 1, 2], [0, 1, -2])), (3, 4)),
    "must be of one length": ((DATA, ([0, 1], [0, 1])), (3, 4)),
    "without any coordinate, shape is needed": (([], ([], [])), None),
}
REFUSED_ROW_SPARSE = {
    r"indices\[1\] is 4, outside the 4 rows": (([[1, 2], [3, 4]], [0, 4]), (4, 2)),
    r"indices\[0\] is -1, outside the 4 rows": (([[1, 2], [3, 4]], [-1, 2]), (4, 2)),
    r"rows of data have shape \(2,\), those of shape \(4, 3\) have \(3,\)": (
        ([[1, 2]], [0]),
        (4, 3),
    ),
    "as many elements as data has rows": (([[1, 2]], [0, 1]), (4, 2)),
}


@pytest.mark.parametrize("message", REFUSED_CSR)
def test_csr_parts_that_do_not_fit(message):
    parts, shape = REFUSED_CSR[message]
    with pytest.raises(ArrayFormatError, match=message) as caught:
        csr_matrix(parts, shape=shape)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, MXNetError)


@pytest.mark.parametrize("message", REFUSED_ROW_SPARSE)
def test_row_sparse_parts_that_do_not_fit(message):
    parts, shape = REFUSED_ROW_SPARSE[message]
    with pytest.raises(ArrayFormatError, match=message):
        row_sparse_array(parts, shape=shape)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: csr_matrix((DATA, [0, 1.5, 2], INDPTR)), TypeError, "1.5 is none"),
        (lambda: csr_matrix((DATA, ["a", "b", "c"], INDPTR)), TypeError, "integers"),
        (lambda: csr_matrix((["x", 1, 2], INDICES, INDPTR)), TypeError, "data must be numbers"),
        (lambda: csr_matrix((DATA, INDICES, INDPTR, 1)), ValueError, "length of input tuple: 4"),
        (lambda: csr_matrix((DATA, INDICES, INDPTR), shape=(3,)), ValueError, "two dimensions"),
        (lambda: csr_matrix((DATA, INDICES, INDPTR), shape=(3, -1)), ValueError, "two dimensions"),
        (lambda: csr_matrix(np.ones(3)), ValueError, "2 Dimensional"),
        (lambda: csr_matrix(np.ones((2, 2, 2))), ValueError, "2 Dimensional"),
        (lambda: csr_matrix(A, shape=(2, 2)), ValueError, r"shape is \(2, 2\), but"),
        (lambda: csr_matrix(row_sparse_array(R)), ValueError, "RowSparseNDArray"),
        (lambda: row_sparse_array(csr_matrix(A)), ValueError, "CSRNDArray"),
        (lambda: row_sparse_array(np.float32(3)), ValueError, "at least one dimension"),
        (lambda: row_sparse_array(R, shape=(9, 2)), ValueError, r"shape is \(9, 2\), but"),
        (lambda: nd.sparse.zeros("coo", (2, 2)), ValueError, "unknown storage type 'coo'"),
        (lambda: nd.sparse.zeros("csr", (2,)), ValueError, "two dimensions"),
        (lambda: nd.sparse.array(A), ValueError, "csr_matrix or row_sparse_array"),
        (lambda: nd.sparse.array(nd.array(A)), ValueError, "tostype"),
    ],
)
def test_refusals(make, error, message):
    with pytest.raises(error, match=message):
        make()


def _initialized(numbers):
    array = nd.zeros(numbers.shape)
    init.Constant(numbers)("weight", array)
    return array


def test_numbers_of_the_host_may_be_changed_after_a_call():
    """JAX reads a large array of NumPy after the call has returned."""
    for dtype, use in (
        ("i8", lambda a: nd.array([0.0, 1.0, 2.0, 3.0])[a]),
        ("f4", nd.array),
        ("f4", lambda a: row_sparse_array((a[:, None], np.arange(len(a))), shape=(len(a), 1))),
        ("f4", _initialized),
    ):
        numbers = np.ones(4_000_000, dtype)
        found = use(numbers)
        numbers[:] = 3
        assert found.asnumpy().max() == 1
