"""Comma-separated numbers: places of faults, chunks, lengths; threads that end."""

import gc
import gzip
import pickle
import threading

import numpy as np
import pytest

from rarefy import MXNetError, nd
from rarefy.io import (
    CSVError,
    CSVIter,
    DataIter,
    LibSVMIter,
    MXDataIter,
    NDArrayIter,
    PrefetchingIter,
    ResizeIter,
    _csv_iter,
)


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("1,2\n3,x\n", "2:3: found 'x', expected a number of type float32"),
        (
            "a,b\n1,2\n",
            "1:1: found 'a', expected a number of type float32. There must be no header",
        ),
        ("1,2\n\n3\n", "3:1: found 1 fields, expected 2"),
        ("1,2\r\n3,4,5\r\n", "2:1: found 3 fields, expected 2"),
        ("1,2\n3,\n", "2:3: found '', expected"),
        ("1,2 3\n", "1:3: found '2 3', expected"),
        ("1,2\n" * 9 + "5,0x1", "10:3: found '0x1', expected"),
        ("1,2\n1_0,2\n", "2:1: found '1_0', expected"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, monkeypatch, text, place):
    monkeypatch.setattr(_csv_iter, "_CHUNK_BYTES", 16)
    path = write(tmp_path / "bad.csv", text)
    with pytest.raises(CSVError) as caught:
        list(CSVIter(path, 2, batch_size=1))
    assert f"bad.csv:{place}" in str(caught.value)
    assert isinstance(caught.value, MXNetError) and isinstance(caught.value, ValueError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize("chunk", [1, 7, 1 << 20])
def test_chunks_change_nothing(tmp_path, monkeypatch, chunk):
    monkeypatch.setattr(_csv_iter, "_CHUNK_BYTES", chunk)
    values = np.random.default_rng(0).normal(size=(23, 6)).astype("float32")
    text = "".join(",".join(map(repr, row)) + "\n" for row in values.tolist()) + "\n  \n"
    folder = tmp_path / "parts"
    folder.mkdir()
    lines = text.splitlines(True)
    write(folder / "a.csv", b"\xef\xbb\xbf" + "".join(lines[:9]).rstrip().encode())
    write(folder / "b.csv.gz", gzip.compress("".join(lines[9:]).replace(",", " , ").encode()))
    it = CSVIter(folder, (2, 3), batch_size=5)
    for _ in range(2):
        batches = list(it)
        assert [b.pad for b in batches] == [0, 0, 0, 0, 2]
        found = np.concatenate([b.data[0].asnumpy() for b in batches])
        np.testing.assert_array_equal(found, values.reshape(23, 2, 3)[np.arange(25) % 23])
        assert [int(i) for b in batches for i in b.index] == [*range(23), 0, 1]
        it.reset()
    assert it.provide_data == [("data", (5, 2, 3))] and isinstance(it, MXDataIter)


def test_files_of_different_length_are_refused(tmp_path):
    data = write(tmp_path / "d.csv", "1\n2\n3\n4\n")
    for rows in (3, 2, 5, 6):
        labels = write(tmp_path / "l.csv", "0\n" * rows)
        with pytest.raises(
            ValueError, match=f"l.csv differ in length: one ends after {min(rows, 4)} rows"
        ):
            list(CSVIter(data, 1, labels, batch_size=2))
    assert list(CSVIter(write(tmp_path / "none.csv", "\n\n"), 1, batch_size=2)) == []
    for wrong in ({"data_shape": ()}, {"data_shape": 0}, {"batch_size": 0}, {"dtype": "U1"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            CSVIter(**{"data_csv": data, "data_shape": 1, "batch_size": 2, **wrong})


# Threads.


def ahead():
    return [t for t in threading.enumerate() if t.name == "rarefy-prefetch"]


@pytest.mark.parametrize("kind", ["csv", "libsvm", "prefetching", "resized"])
def test_dropping_an_iterator_ends_its_threads(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(_csv_iter, "_CHUNK_BYTES", 16)
    before = len(ahead())
    csv = write(tmp_path / "d.csv", "1,2\n" * 1000)
    svm = write(tmp_path / "d.svm", "1 0:2\n" * 1000)
    arrays = NDArrayIter(np.ones((1000, 2)), None, 2)
    it = {
        "csv": lambda: CSVIter(csv, 2, batch_size=2),
        "libsvm": lambda: LibSVMIter(svm, 2, batch_size=2),
        "prefetching": lambda: PrefetchingIter([arrays, NDArrayIter(np.ones((1000, 2)), None, 2)]),
        "resized": lambda: ResizeIter(PrefetchingIter(arrays), 3),
    }[kind]()
    gc.disable()  # dropping it must be enough
    try:
        it.next()
        assert kind == "libsvm" or len(ahead()) > before
        del it
        assert len(ahead()) == before
    finally:
        gc.enable()


def test_reading_goes_on_while_a_batch_is_used():
    class Source(DataIter):
        def __init__(self):
            super().__init__(1)
            self.provide_data, self.provide_label = (
                NDArrayIter(np.ones((1, 1)), None, 1).provide_data,
                [],
            )
            self.made, self.more = 0, threading.Event()

        def iter_next(self):
            self.made += 1
            if self.made == 3:
                self.more.set()
            return self.made <= 5

        def getdata(self):
            return [nd.ones((1, 1)) * self.made]

    source = Source()
    it = PrefetchingIter(source)
    assert it.next().data[0].asscalar() == 1
    assert source.more.wait(5)  # two more are made without being asked for
    assert [b.data[0].asscalar() for b in it] == [2, 3, 4, 5]
    with pytest.raises(RuntimeError, match="no current batch"):
        it.getdata()


def test_iterators_that_do_not_go_together():
    one, two = (NDArrayIter(np.ones((n, 2)), None, 2) for n in (4, 6))
    with pytest.raises(ValueError, match="here they have no batch, pad 0"):
        list(PrefetchingIter([one, two]))
    three = NDArrayIter(np.ones((3, 2)), None, 2)
    one.reset()
    with pytest.raises(ValueError, match="pad 0, pad 1"):
        list(PrefetchingIter([one, three]))
    with pytest.raises(ValueError, match="needs an iterator"):
        PrefetchingIter([])
    with pytest.raises(ValueError, match="rename_data has 2 dicts for 1"):
        PrefetchingIter(one, [{}, {}])
    with pytest.raises(ValueError, match="has no batches"):
        ResizeIter(NDArrayIter(np.ones((1, 2)), None, 2, last_batch_handle="discard"), 2).next()
