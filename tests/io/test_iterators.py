"""Iterators over arrays and LibSVM files: MXNet's batches, and csr that stays csr."""

import gzip
import tracemalloc

import numpy as np
import pytest
import scipy.sparse

from rarefy import nd
from rarefy.io import DataBatch, DataDesc, DataIter, LibSVMError, LibSVMIter, NDArrayIter

X = np.arange(20.0).reshape(10, 2)
Y = np.arange(10)
SPARSE = scipy.sparse.random(10, 30, density=0.2, format="csr", random_state=1, dtype="float32")


def labels(batches):
    return [[int(y) for y in b.label[0].asnumpy()] for b in batches]


def epochs(it, count):
    """Labels and pads of some epochs."""
    result = []
    for _ in range(count):
        batches = list(it)
        result.append((labels(batches), [b.pad for b in batches]))
        it.reset()
    return result


def rows_of(it):
    return np.concatenate([b.data[0].asnumpy()[: len(b.index)] for b in it])


# NDArrayIter.

WHOLE = [[0, 1, 2, 3], [4, 5, 6, 7]]
SOURCES = {
    "numpy": X,
    "dense": nd.array(X),
    "csr": nd.sparse.csr_matrix(X),
    "scipy": scipy.sparse.csr_matrix(X),
    "scipy csc": scipy.sparse.csc_array(X),
    "strided": np.asfortranarray(np.repeat(X, 2, axis=1))[:, ::2],
}
EACH_SOURCE = pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)


@EACH_SOURCE
def test_pad_fills_the_last_batch_from_the_begin(source):
    it = NDArrayIter(source, Y, 4)
    assert epochs(it, 3) == [([*WHOLE, [8, 9, 0, 1]], [0, 0, 2])] * 3
    assert [b.data[0].asnumpy()[:, 0].tolist() for b in it][-1] == [16, 18, 0, 2]


@EACH_SOURCE
def test_discard_leaves_out_the_last_batch(source):
    it = NDArrayIter(source, Y, 4, last_batch_handle="discard")
    assert epochs(it, 3) == [(WHOLE, [0, 0])] * 3


@EACH_SOURCE
def test_roll_over_begins_the_next_epoch(source):
    """As MXNet does it, pads included."""
    first = (WHOLE, [0, 0])
    second = ([[8, 9, 0, 1], [2, 3, 4, 5], [6, 7, 8, 9]], [2, 0, 0])
    it = NDArrayIter(source, Y, 4, last_batch_handle="roll_over")
    assert epochs(it, 4) == [first, second, first, second]
    assert [b.data[0].asnumpy()[:, 0].tolist() for b in it] == [[0, 2, 4, 6], [8, 10, 12, 14]]


def test_roll_over_is_forgotten():
    it = NDArrayIter(X, Y, 4, last_batch_handle="roll_over")
    list(it)
    it.hard_reset()
    assert labels(it) == WHOLE
    it = NDArrayIter(X, Y, 4, last_batch_handle="roll_over")
    it.next()
    it.reset()  # not at the end: nothing is left over
    assert labels(it) == WHOLE


@pytest.mark.parametrize(
    ("size", "expected"), [(10, 0), (20, 10), (25, 15)], ids=["exact", "twice", "more than twice"]
)
def test_a_batch_may_be_larger_than_the_data(size, expected):
    ((batch,), pads) = epochs(NDArrayIter(X, Y, size), 1)[0]
    assert batch == [i % 10 for i in range(size)]
    assert pads == [expected]
    if size > 10:
        assert list(NDArrayIter(X, Y, size, last_batch_handle="discard")) == []


def test_shuffle_draws_mxnets_orders():
    np.random.seed(0)
    it = NDArrayIter(X, Y, 4, shuffle=True, last_batch_handle="roll_over")
    got = epochs(it, 4)
    assert [x for x, _ in got] == [
        [[2, 8, 4, 9], [1, 6, 7, 3]],
        [[0, 5, 5, 7], [0, 1, 6, 2], [4, 3, 9, 8]],
        [[9, 6, 1, 2], [5, 4, 8, 0]],
        [[7, 3, 3, 5], [0, 2, 1, 8], [6, 7, 4, 9]],
    ]


@pytest.mark.parametrize("handle", ["pad", "roll_over"])
def test_shuffled_epochs_visit_every_row_once(handle):
    np.random.seed(3)
    it = NDArrayIter(SPARSE, Y, 5, shuffle=True, last_batch_handle=handle)
    orders = []
    for _ in range(2):
        batches = list(it)
        orders.append([y for batch in labels(batches) for y in batch])
        assert sorted(orders[-1]) == list(range(10))
        got = np.concatenate([b.data[0].asnumpy() for b in batches])
        np.testing.assert_array_equal(got, SPARSE.toarray()[orders[-1]])
        it.reset()
    assert orders[0] != orders[1]


@pytest.mark.parametrize("handle", ["pad", "discard", "roll_over"])
@pytest.mark.parametrize("source", [SPARSE, nd.sparse.csr_matrix(SPARSE), {"data": SPARSE}])
def test_csr_batches_stay_csr(handle, source):
    it = NDArrayIter(source, Y, 4, last_batch_handle=handle)
    for _ in range(2):
        for batch in it:
            assert batch.data[0].stype == "csr"
            assert batch.data[0].shape == (4, 30)
            batch.data[0].check_format()
            index = labels([batch])[0]
            np.testing.assert_array_equal(batch.data[0].asnumpy(), SPARSE.toarray()[index])
        it.reset()


def test_a_wide_csr_is_never_dense():
    columns = np.arange(0, 50_000_000, 100_000)
    entries = (np.ones(len(columns)), (np.arange(len(columns)) % 64, columns))
    wide = scipy.sparse.csr_matrix(entries, shape=(64, 50_000_000))
    tracemalloc.start()
    for batch in NDArrayIter(wide, np.zeros(64), 16, shuffle=True):
        assert batch.data[0].shape == (16, 50_000_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


def test_csr_labels():
    it = NDArrayIter(X, SPARSE, 4)
    assert [b.label[0].stype for b in it] == ["csr"] * 3
    assert it.provide_label == [("softmax_label", (4, 30))]


def test_names():
    assert NDArrayIter(X, Y, 4).provide_data == [("data", (4, 2))]
    assert NDArrayIter(X, Y, 4).provide_label == [("softmax_label", (4,))]
    assert NDArrayIter([X], [Y], 4, data_name="d").provide_data == [("d", (4, 2))]
    two = NDArrayIter([X, X[:, 0]], [Y, Y], 4, label_name="l")
    assert two.provide_data == [("_0_data", (4, 2)), ("_1_data", (4,))]
    assert [d.name for d in two.provide_label] == ["_0_l", "_1_l"]
    named = NDArrayIter({"b": X[:, 0], "a": X}, {"z": Y, "l": Y}, 4)
    assert [d.name for d in named.provide_data] == ["a", "b"]
    assert [d.name for d in named.provide_label] == ["l", "z"]
    assert NDArrayIter(X, None, 4).provide_label == []
    assert NDArrayIter(X, None, 4).next().label == []
    assert NDArrayIter(X, Y, 4, layout="NT").provide_data[0].layout == "NT"


def test_dtypes():
    def dtype(source):
        it = NDArrayIter(source, Y, 4)
        assert it.provide_data[0].dtype == it.next().data[0].dtype
        return np.dtype(it.next().data[0].dtype).name

    assert dtype(X) == dtype(X.astype("int32")) == dtype(X.astype("float16")) == "float32"
    assert dtype(nd.array(X, dtype="float64")) == "float64"
    assert dtype(nd.array(X, dtype="int64")) == "int64"
    assert dtype(scipy.sparse.csr_matrix(X)) == "float64"
    assert np.dtype(NDArrayIter(X, Y, 4).next().label[0].dtype) == np.float32


def test_the_protocol():
    it = NDArrayIter(X, Y, 4)
    assert it.iter_next()
    assert it.getdata()[0].asnumpy()[:, 0].tolist() == [0, 2, 4, 6]
    assert it.getlabel()[0].asnumpy().tolist() == [0, 1, 2, 3]
    assert it.getindex() is None
    assert it.iter_next()
    assert it.getpad() == 0
    assert it.iter_next()
    assert it.getpad() == 2
    assert not it.iter_next()
    assert not it.iter_next()
    with pytest.raises(RuntimeError, match="reset"):
        it.getdata()
    with pytest.raises(StopIteration):
        it.next()
    assert list(it) == []
    it.reset()
    assert labels([it.next()]) == [[0, 1, 2, 3]]
    it.reset()  # in the middle of an epoch
    assert labels([it.next()]) == [[0, 1, 2, 3]]


def test_what_cannot_be_iterated_is_refused():
    with pytest.raises(ValueError, match="last_batch_handle"):
        NDArrayIter(X, Y, 4, last_batch_handle="x")
    with pytest.raises(ValueError, match="batch_size"):
        NDArrayIter(X, Y, 0)
    with pytest.raises(ValueError, match="softmax_label has 4 rows, data 10"):
        NDArrayIter(X, Y[:4], 4)
    for nothing in (None, [], {}):
        with pytest.raises(ValueError, match="none"):
            NDArrayIter(nothing, Y, 4)
    row_sparse = nd.array(X).tostype("row_sparse")
    for wrong in ("abc", 3, np.array(["a"]), row_sparse):
        with pytest.raises(TypeError, match="data is"):
            NDArrayIter({"data": wrong}, None, 1)


def test_no_rows_make_no_batches():
    for handle in ("pad", "discard", "roll_over"):
        assert list(NDArrayIter(X[:0], Y[:0], 4, last_batch_handle=handle)) == []


def test_descriptions():
    desc = DataDesc("x", [3, 4])
    assert desc == ("x", (3, 4)) == DataDesc("x", (3, 4))
    name, shape = desc
    assert (name, shape, desc.dtype, desc.layout) == ("x", (3, 4), np.float32, "NCHW")
    assert repr(desc) == "DataDesc[x,(3, 4),<class 'numpy.float32'>,NCHW]"
    assert DataDesc.get_batch_axis(None) == 0
    assert DataDesc.get_batch_axis("TNC") == 1
    (made,) = DataDesc.get_list([("a", (1, 2))], [("a", "float16")])
    assert (made.name, made.shape, made.dtype) == ("a", (1, 2), "float16")
    assert DataDesc.get_list([("a", (1, 2))], None) == [("a", (1, 2))]


def test_batches_print_and_check():
    assert repr(NDArrayIter(X, Y, 4).next()) == (
        "DataBatch: data shapes: [(4, 2)] label shapes: [(4,)]"
    )
    with pytest.raises(TypeError, match="list"):
        DataBatch(X)
    with pytest.raises(TypeError, match="list"):
        DataBatch([X], Y)


def test_an_iterator_of_ones_own():
    class Count(DataIter):
        at = 0

        def iter_next(self):
            self.at += 1
            return self.at <= 3

        def getdata(self):
            return [nd.ones((self.batch_size,)) * self.at]

    assert [b.data[0].asnumpy().tolist() for b in Count(2)] == [[1, 1], [2, 2], [3, 3]]
    assert list(DataIter(3)) == []


# LibSVMIter.


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.t"
    path.write_text("".join(f"{i} {i % 5}:{i + 1}\n" for i in range(10)))
    return path


@pytest.fixture
def label(tmp_path):
    path = tmp_path / "label.t"
    path.write_text("".join(f"9 {i % 2}:{i + 1}\n" for i in range(10)))
    return path


DENSE = np.zeros((10, 5), "float32")
DENSE[np.arange(10), np.arange(10) % 5] = np.arange(10) + 1


def test_epochs_begin_at_the_first_row(data):
    it = LibSVMIter(data_libsvm=data, data_shape=(5,), batch_size=4)
    assert it.provide_data == [("data", (4, 5))]
    assert it.provide_label == [("softmax_label", (4,))]
    assert epochs(it, 3) == [([*WHOLE, [8, 9, 0, 1]], [0, 0, 2])] * 3
    batches = list(it)
    for batch in batches:
        assert batch.data[0].stype == "csr"
        np.testing.assert_array_equal(batch.data[0].asnumpy(), DENSE[labels([batch])[0]])
    assert [b.index.tolist() for b in batches] == labels(batches)
    assert batches[0].index.dtype == np.uint64


def test_round_batch_false_gives_a_short_batch(data):
    it = LibSVMIter(data_libsvm=data, data_shape=5, batch_size=4, round_batch=False)
    for _ in range(2):
        batches = list(it)
        assert [b.data[0].shape for b in batches] == [(4, 5), (4, 5), (2, 5)]
        assert [b.data[0].stype for b in batches] == ["csr"] * 3
        assert [b.pad for b in batches] == [0, 0, 0]
        assert labels(batches) == [*WHOLE, [8, 9]]
        it.reset()


def test_a_batch_larger_than_the_file(data):
    it = LibSVMIter(data_libsvm=data, data_shape=5, batch_size=23)
    assert epochs(it, 2) == [([[i % 10 for i in range(23)]], [13])] * 2


def test_reset_in_the_middle(data):
    it = LibSVMIter(data_libsvm=data, data_shape=5, batch_size=4)
    assert it.iter_next()
    assert it.getpad() == 0
    assert labels([DataBatch([it.getdata()], [it.getlabel()])]) == [[0, 1, 2, 3]]
    assert it.getindex().tolist() == [0, 1, 2, 3]
    it.reset()
    with pytest.raises(RuntimeError, match="reset"):
        it.getdata()
    assert labels(it) == [*WHOLE, [8, 9, 0, 1]]
    assert not it.iter_next()
    with pytest.raises(StopIteration):
        it.next()


def test_labels_of_their_own(data, label):
    it = LibSVMIter(
        data_libsvm=data, data_shape=5, label_libsvm=label, label_shape=(2,), batch_size=4
    )
    assert it.provide_label == [("softmax_label", (4, 2))]
    for _ in range(2):
        batches = list(it)
        assert [b.label[0].stype for b in batches] == ["csr"] * 3
        got = np.concatenate([b.label[0].asnumpy() for b in batches])
        expected = np.zeros((12, 2))
        rows = np.arange(12) % 10
        expected[np.arange(12), rows % 2] = rows + 1
        np.testing.assert_array_equal(got, expected)
        it.reset()


@pytest.mark.parametrize("parts", [1, 2, 3, 7, 12])
def test_every_row_is_in_one_part(data, label, parts):
    for files in ({}, {"label_libsvm": label, "label_shape": (2,)}):
        seen = []
        for part in range(parts):
            it = LibSVMIter(
                data_libsvm=data,
                data_shape=5,
                batch_size=2,
                num_parts=parts,
                part_index=part,
                round_batch=False,
                **files,
            )
            for _ in range(2):
                values = [v for b in it for v in b.data[0].asnumpy().max(axis=1)]
                it.reset()
            seen += values
            if files:  # labels stay with their rows
                for b in it:
                    np.testing.assert_array_equal(
                        b.data[0].asnumpy().max(axis=1), b.label[0].asnumpy().max(axis=1)
                    )
        assert seen == list(range(1, 11))


def test_files_of_different_length_are_refused(data, label):
    text = label.read_text()
    for lines in (text.splitlines(True)[:-1], [text, "0 0:1\n", "0 1:1\n"]):
        label.write_text("".join(lines))
        it = LibSVMIter(data, 5, label, 2, batch_size=5)
        with pytest.raises(ValueError, match=r"label\.t.*rows|rows.*label\.t"):
            list(it)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("1 0:1\n0 5:2\n", ":2:3"),
        ("1 0:1\n0 -1:2\n", ":2:3"),
        ("1 0:1 x\n", ":1:7"),
        ("1 0:1\n0 1\n", ":2:3"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, text, place):
    path = tmp_path / "bad.t"
    path.write_text(text)
    with pytest.raises(LibSVMError, match=f"bad.t{place}"):
        list(LibSVMIter(path, 5, batch_size=1))


def test_comments_blank_lines_and_query_ids(tmp_path):
    path = tmp_path / "odd.t"
    path.write_text("# head\n1 qid:3 0:1 # note\n\n2 qid:3 4:2\r\n3 qid:4\n")
    it = LibSVMIter(path, 5, batch_size=3)
    (batch,) = it
    assert batch.label[0].asnumpy().tolist() == [1, 2, 3]
    np.testing.assert_array_equal(
        batch.data[0].asnumpy(), [[1, 0, 0, 0, 0], [0, 0, 0, 0, 2], [0, 0, 0, 0, 0]]
    )


def test_packed_files_and_folders(data, tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    lines = data.read_text().splitlines(True)
    (folder / "a").write_text("".join(lines[:6]).rstrip())  # no newline at the end
    (folder / "b.gz").write_bytes(gzip.compress("".join(lines[6:]).encode()))
    assert (
        epochs(LibSVMIter(folder, 5, batch_size=5), 2)
        == [([[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]], [0, 0])] * 2
    )


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_libsvm_dtypes(data, dtype):
    it = LibSVMIter(data, 5, batch_size=4, dtype=dtype)
    batch = it.next()
    assert np.dtype(batch.data[0].dtype).name == np.dtype(batch.label[0].dtype).name == dtype
    assert np.dtype(it.provide_data[0].dtype).name == dtype


def test_libsvm_names(data):
    it = LibSVMIter(data, 5, batch_size=4, data_name="x", label_name="y", label_libsvm="NULL")
    assert (it.provide_data[0].name, it.provide_label[0].name) == ("x", "y")


def test_libsvm_arguments_are_checked(data, tmp_path):
    with pytest.raises(FileNotFoundError):
        LibSVMIter(tmp_path / "no", 5, batch_size=4)
    with pytest.raises(ValueError, match="one dimension"):
        LibSVMIter(data, (5, 2), batch_size=4)
    with pytest.raises(ValueError, match="label_shape"):
        LibSVMIter(data, 5, label_shape=(3,), batch_size=4)
    with pytest.raises(ValueError, match="batch_size"):
        LibSVMIter(data, 5, batch_size=0)
    with pytest.raises(ValueError, match="part_index"):
        LibSVMIter(data, 5, batch_size=4, num_parts=2, part_index=2)
    with pytest.raises(TypeError, match="data_shape"):
        LibSVMIter(data_libsvm=data, batch_size=4)
