"""What is written, and that it reads back bit for bit."""

import bz2
import gzip
import io
import lzma

import ml_dtypes
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from oracles import libsvm as oracle
from rarefy.io import LabelLists, LibSVMReader, load_libsvm, save_libsvm


def text_of(*args, **options):
    stream = io.BytesIO()
    save_libsvm(stream, *args, **options)
    return stream.getvalue().decode()


def test_text_worked_out_by_hand():
    X = sp.csr_array(np.array([[0, 0.5, 0], [0, 0, 0], [-1, 0, 1e-7]], np.float32))
    assert text_of(X, np.array([1, -1, 0.25])) == "1 1:0.5\n-1\n0.25 0:-1 2:1e-07\n"
    assert text_of(X, [1, -1, 3], index_base=1) == "1 2:0.5\n-1\n3 1:-1 3:1e-07\n"
    assert text_of(X, [1, 2, 3], qid=[7, 7, -8]) == (
        "1 qid:7 1:0.5\n2 qid:7\n3 qid:-8 0:-1 2:1e-07\n"
    )
    assert text_of(X, [1, 2, 3], weights=[0.5, 1, 2]) == ("1:0.5 1:0.5\n2:1\n3:2 0:-1 2:1e-07\n")
    assert text_of(X[[0, 2]]) == "1:0.5\n0:-1 2:1e-07\n"
    assert text_of(X, qid=[1, 2, 3]) == "qid:1 1:0.5\nqid:2\nqid:3 0:-1 2:1e-07\n"
    assert text_of(X, [(3, 1), (0,), ()]) == "1,3 1:0.5\n0\n 0:-1 2:1e-07\n"


def test_zeros_are_written_on_request():
    X = sp.csr_array((np.array([0.0, -0.0, 1]), [0, 1, 2], [0, 3]), shape=(1, 3))
    assert text_of(X, [1]) == "1 2:1\n"
    assert text_of(X, [1], keep_zeros=True) == "1 0:0 1:-0 2:1\n"


def test_kinds_of_tables():
    dense = np.array([[0, 2], [3, 0]])
    expected = "1 1:2\n2 0:3\n"
    for X in (dense, dense.tolist(), dense[::-1][::-1], sp.coo_matrix(dense), sp.csc_array(dense)):
        assert text_of(X, [1, 2]) == expected
    assert text_of(dense == 3, [1, 2]) == "1\n2 0:1\n"
    for name in ("to_scipy", "asscipy", "to_scipy_sparse"):
        wrapper = type("Wrapper", (), {name: lambda self: sp.csr_array(dense)})()
        assert text_of(wrapper, [1, 2]) == expected


def test_columns_are_sorted_and_repeats_summed():
    unsorted = sp.csr_array((np.array([1.0, 2, 3]), [2, 0, 2], [0, 3]), shape=(1, 3))
    assert text_of(unsorted, [1]) == "1 0:2 2:4\n"
    assert unsorted.indices.tolist() == [2, 0, 2]  # the argument is as it was


def test_types_of_numbers_are_written_exactly():
    big = np.array([[2**63 - 1, -(2**63)]])
    assert text_of(big, [2**53 + 1]) == f"{2**53 + 1} 0:{2**63 - 1} 1:{-(2**63)}\n"
    third = np.array([[1 / 3]])
    assert text_of(third, np.float32([0.1])) == "0.1 0:0.3333333333333333\n"
    assert text_of(third.astype(np.float32), [0.1]) == "0.1 0:0.33333334\n"
    assert text_of(third.astype(np.float16), np.float16([0.1])) == "0.099975586 0:0.33325195\n"
    half = third.astype(ml_dtypes.bfloat16)
    assert text_of(half, [1]) == "1 0:0.33398438\n"
    assert text_of(np.array([[7]], np.uint8), np.array([True])) == "1 0:7\n"
    assert (
        text_of(sp.csr_array(([1.0], [2**40], [0, 1]), shape=(1, 2**41)), [1]) == f"1 {2**40}:1\n"
    )


REFUSED = [
    ({"X": np.ones((2, 2)), "y": [1]}, ValueError, "y: has 1 elements, X has 2 rows"),
    ({"X": np.ones((2, 2)), "y": np.ones((2, 1))}, ValueError, "shape"),
    ({"X": np.ones(2), "y": [1]}, ValueError, "1 dimensions"),
    ({"X": np.ones((1, 2)), "y": [1], "qid": [1, 2]}, ValueError, "qid"),
    ({"X": np.ones((1, 2)), "y": [1], "qid": [1.5]}, TypeError, "qid"),
    ({"X": np.ones((1, 2)), "weights": [1.0]}, ValueError, "need y"),
    ({"X": np.ones((1, 2)), "y": [1], "index_base": 2}, ValueError, "index_base"),
    ({"X": np.array([[np.nan]]), "y": [1]}, ValueError, "element 0 is nan"),
    ({"X": np.ones((1, 1)), "y": [np.inf]}, ValueError, "y: element 0 is inf"),
    ({"X": np.array([["a"]]), "y": [1]}, TypeError, "type of numbers"),
    ({"X": np.array([[1j]]), "y": [1]}, TypeError, "complex128"),
    ({"X": np.ones((1, 1), np.longdouble), "y": [1]}, TypeError, "digits"),
    ({"X": np.ones((1, 1)), "y": np.array([2**64 - 1], np.uint64)}, ValueError, "64-bit"),
    ({"X": np.array([[1.0], [0]])}, ValueError, "row 1 has no entry and no labels"),
    ({"X": np.array([[0], [1.0]]), "y": [(), (1,)]}, ValueError, "row 0 has no entry and no label"),
    ({"X": np.ones((2, 1)), "y": [(1,), ()], "weights": [1, 2]}, ValueError, "row 1 has no label"),
]


@pytest.mark.parametrize("arguments, kind, words", REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_read_back_is_refused(tmp_path, arguments, kind, words):
    target = tmp_path / "data.svm"
    target.write_text("old")
    with pytest.raises(kind, match=words):
        save_libsvm(target, **arguments)
    assert target.read_text() == "old"


@pytest.mark.parametrize(
    "suffix, unpack",
    [("", bytes), (".gz", gzip.decompress), (".bz2", bz2.decompress), (".xz", lzma.decompress)],
)
def test_files_are_packed_by_their_suffix(tmp_path, suffix, unpack):
    path = tmp_path / f"data.svm{suffix}"
    save_libsvm(path, np.eye(3), [1, 2, 3])
    assert unpack(path.read_bytes()) == b"1 0:1\n2 1:1\n3 2:1\n"
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_no_rows_are_an_empty_file(tmp_path):
    save_libsvm(tmp_path / "data.svm", np.empty((0, 3)), [])
    assert (tmp_path / "data.svm").read_bytes() == b""


def test_text_does_not_depend_on_threads(rng):
    X = sp.random_array((5000, 50), density=0.2, format="csr", rng=rng)
    y = rng.random(5000)
    text = text_of(X, y, n_threads=1)
    assert text == text_of(X, y, n_threads=3)
    for i in range(0, 5000, 500):
        label, *entries = text.splitlines()[i].split()
        assert float(label) == y[i]
        pairs = [(int(j), float(v)) for j, v in (entry.split(":") for entry in entries)]
        row = X[[i]]
        assert pairs == list(zip(row.indices.tolist(), row.data.tolist(), strict=True))


def test_a_batch_can_be_written(tmp_path):
    (tmp_path / "in.svm").write_text("1 0:0.5 3:2\n0 1:1\n")
    (batch,) = LibSVMReader(tmp_path / "in.svm", batch_size=5)
    assert text_of(batch, batch.labels) == "1 0:0.5 3:2\n0 1:1\n"
    lists = LabelLists(np.array([0, 2, 3]), np.array([4, 5, 0]))
    assert text_of(batch, lists) == "4,5 0:0.5 3:2\n0 1:1\n"


@st.composite
def tables(draw):
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    floats = hnp.from_dtype(np.dtype(dtype), allow_nan=False, allow_infinity=False)
    shape = (draw(st.integers(1, 6)), draw(st.integers(0, 6)))
    dense = draw(hnp.arrays(dtype, shape, elements=st.one_of(st.just(0), floats)))
    stored = draw(hnp.arrays(bool, shape))
    row, column = np.nonzero((dense != 0) | stored)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=shape[0]))])
    return sp.csr_array((dense[row, column], column, indptr), shape=shape)


def bits(array):
    return array.tobytes(), array.dtype


@given(tables(), st.integers(0, 1), st.booleans(), st.data())
def test_rows_read_back_bit_for_bit(X, base, labelled, data):
    dtype = X.dtype
    floats = hnp.from_dtype(dtype, allow_nan=False, allow_infinity=False)
    rows = X.shape[0]
    y = data.draw(hnp.arrays(dtype, rows, elements=floats)) if labelled else None
    weights = data.draw(hnp.arrays(dtype, rows, elements=floats)) if labelled else None
    qid = data.draw(hnp.arrays(np.int64, rows))
    text = text_of(X, y, index_base=base, qid=qid, weights=weights, keep_zeros=True)
    read = load_libsvm(
        io.BytesIO(text.encode()),
        dtype=dtype,
        index_base=base,
        n_features=X.shape[1],
        labels="required" if labelled else "none",
        weights=labelled,
    )
    assert bits(read.X.data) == bits(X.data)
    assert np.array_equal(read.X.indices, X.indices)
    assert np.array_equal(read.X.indptr, X.indptr)
    assert bits(read.qid) == bits(qid)
    if labelled:
        assert bits(read.y) == bits(y) and bits(read.weights) == bits(weights)
    # Another parser sees the same.
    form = {"labelled": labelled, "weights": labelled, "qid": True}
    expected, bad = oracle.parse(text.encode(), **form, base=base, dtype=dtype)
    assert not bad and [len(row.entries) for row in expected] == np.diff(X.indptr).tolist()
    values = [value for row in expected for _, value in row.entries]
    assert bits(np.array(values, dtype)) == bits(X.data)


@given(st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4, unique=True), min_size=1))
def test_label_lists_read_back(lists):
    X = np.ones((len(lists), 1), np.float32)
    text = text_of(X, lists)
    read = load_libsvm(io.BytesIO(text.encode()), multilabel=True, index_base=0)
    assert list(read.y) == [tuple(sorted(ids)) for ids in lists]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_extreme_values_read_back(dtype):
    info = np.finfo(dtype)
    values = [info.max, -info.max, info.tiny, info.smallest_subnormal, -info.smallest_subnormal]
    values += [np.nextafter(info.tiny, dtype(0)), dtype(0.1), 1 + info.eps, dtype(2**24 + 1)]
    X = np.array([values], dtype)
    read = load_libsvm(io.BytesIO(text_of(X, [0]).encode()), dtype=dtype, index_base=0)
    assert bits(read.X.data) == bits(X[0])
