"""Datasets, samplers and loaders: csr rows stay csr, orders hold, errors say where."""

import gc
import threading
import time

import numpy as np
import pytest
import scipy.sparse

from rarefy import autograd, cpu, cpu_pinned, nd
from rarefy.base import ArgumentError
from rarefy.gluon import data as gdata
from rarefy.gluon.data.dataloader import WorkerTimeoutError, default_batchify_fn


def loader_threads():
    return [t for t in threading.enumerate() if t.name == "rarefy-loader"]


def test_samplers():
    batches = gdata.BatchSampler
    kept = gdata.SequentialSampler(7)
    for sampler, length, expected in (
        (gdata.SequentialSampler(3, 2), 3, [2, 3, 4]),
        (gdata.FilterSampler(lambda x: x % 2, [5, 2, 7, 9]), 3, [0, 2, 3]),
        (gdata.IntervalSampler(7, 3), 7, [0, 3, 6, 1, 4, 2, 5]),
        (gdata.IntervalSampler(7, 3, rollover=False), 3, [0, 3, 6]),
        (batches(kept, 3), 3, [[0, 1, 2], [3, 4, 5], [6]]),
        (batches(kept, 3, "discard"), 2, [[0, 1, 2], [3, 4, 5]]),
    ):
        assert len(sampler) == length
        assert list(sampler) == list(sampler) == expected
    rolling = batches(kept, 3, "rollover")
    lengths = [(len(rolling), list(rolling)) for _ in range(3)]
    assert lengths == [
        (2, [[0, 1, 2], [3, 4, 5]]),
        (2, [[6, 0, 1], [2, 3, 4]]),
        (3, [[5, 6, 0], [1, 2, 3], [4, 5, 6]]),
    ]
    np.random.seed(3)
    # As MXNet 1.9.1 after np.random.seed(3).
    assert [list(gdata.RandomSampler(6)) for _ in range(2)] == [
        [3, 5, 4, 1, 0, 2],
        [5, 4, 1, 2, 3, 0],
    ]
    first, second = gdata.RandomSampler(9, seed=1), gdata.RandomSampler(9, seed=1)
    orders = [list(first), list(first)]
    assert orders == [list(second), list(second)] and orders[0] != orders[1]
    assert sorted(orders[0]) == list(range(9))


def test_datasets():
    numbers = gdata.SimpleDataset(list(range(10)))
    whole = gdata.ArrayDataset(np.arange(4), nd.array([5, 6, 7, 8]), ["a", "b", "c", "d"])
    for dataset, expected in (
        (numbers.filter(lambda x: x > 6), [7, 8, 9]),
        (numbers.shard(3, 0), [0, 1, 2, 3]),
        (numbers.shard(3, 2), [7, 8, 9]),
        (numbers.take(2), [0, 1]),
        (numbers.take(None).shard(5, 4).take(99), [8, 9]),
        (numbers.sample(gdata.IntervalSampler(10, 5)), [0, 5, 1, 6, 2, 7, 3, 8, 4, 9]),
        (numbers.take(3).transform(lambda x: -x), [0, -1, -2]),
        (numbers.take(2).transform_first(lambda x: x + 1), [1, 2]),
        (whole.take(2), [(0, 5.0, "a"), (1, 6.0, "b")]),
        (whole.take(1).transform(lambda x, y, z: (z, x)), [("a", 0)]),
        (whole.take(1).transform_first(lambda x: x + 1), [(1, 5.0, "a")]),
    ):
        assert [dataset[i] for i in range(len(dataset))] == expected
    calls = []
    eager = numbers.take(3).transform(lambda x: calls.append(x) or 2 * x, lazy=False)
    assert (len(calls), eager[2], len(calls)) == (3, 4, 3)

    rows = scipy.sparse.csr_matrix(np.eye(3, dtype=np.float32) * [1, 2, 3])
    for source in (rows, rows.tocsc(), scipy.sparse.coo_array(rows), nd.sparse.csr_matrix(rows)):
        row, label = gdata.ArrayDataset(source, np.arange(3))[1]
        assert (row.stype, row.shape, label) == ("csr", (1, 3), 1)
        assert row.asnumpy().tolist() == [[0, 2, 0]]
    assert gdata.SimpleDataset(rows)[0:2].shape == (2, 3)


def test_csr_and_row_sparse_batches_keep_their_storage(rng):
    dense = (rng.random((11, 6)) * (rng.random((11, 6)) < 0.4)).astype(np.float32)
    dense[3] = 0
    csr, labels = nd.sparse.csr_matrix(dense), np.arange(11)
    rows = nd.array(dense).tostype("row_sparse")
    both = gdata.ArrayDataset(csr, labels)
    many = gdata.ArrayDataset(csr, labels, rows, nd.array(dense), scipy.sparse.csr_matrix(dense))
    for dataset, of in (
        (both, 1),
        (both.shard(2, 1), 1),
        (both.transform_first(lambda x: x * 3), 3),
        (both.take(9).filter(lambda item: item[1] % 2 == 0), 1),
        (many, 1),
    ):
        orders = []
        for workers in (0, 2):
            loader = gdata.DataLoader(dataset, 4, True, num_workers=workers, seed=1)
            orders.append(seen := [])
            for x, y, *others in loader:
                ids = y.asnumpy()
                assert (x.stype, x.shape, y.dtype) == ("csr", (len(ids), 6), np.int64)
                x.check_format()
                assert x.asnumpy().tolist() == (of * dense[ids]).tolist()
                stypes = [(o.stype, o.asnumpy().tolist()) for o in others]
                expected = dense[ids].tolist()
                assert stypes == [
                    (s, expected) for s in ("row_sparse", "default", "csr")[: len(stypes)]
                ]
                seen.append(ids.tolist())
            assert len(loader) == len(seen)
        assert orders[0] == orders[1]
        assert sorted(k for batch in orders[0] for k in batch) == [
            dataset[i][1] for i in range(len(dataset))
        ]
    # An array is a dataset itself, and repeated and unsorted columns are brought in order.
    wild = nd.sparse.csr_matrix(([1.0, 2.0, 3.0], [4, 0, 4], [0, 3]), shape=(1, 6))
    (batch,) = gdata.DataLoader(wild, 2, pin_memory=True)
    batch.check_format()
    assert batch.asnumpy().tolist() == [[2, 0, 0, 0, 4, 0]]
    assert batch.context == cpu_pinned(0)
    # Memory follows what is stored: the dense batch would have 4 * 10^9 numbers.
    wide = nd.sparse.csr_matrix(([1.0], [10**9 - 1], [0, 0, 1, 1, 1]), shape=(4, 10**9))
    assert [b.nnz for b in gdata.DataLoader(wide, 4)] == [1]


def test_items_are_put_together():
    for items, expected in (
        ([1, 2], ("int64", [1, 2])),
        ([1.5, 2.0], ("float64", [1.5, 2.0])),
        ([np.float32(1), np.float32(2)], ("float32", [1, 2])),
        ([[1, 2], [3, 4]], ("int64", [[1, 2], [3, 4]])),
        ([np.ones((1, 2), np.int8)] * 2, ("int8", [[[1, 1]], [[1, 1]]])),
        ([nd.array([1, 2]), nd.array([3, 4])], ("float32", [[1, 2], [3, 4]])),
    ):
        batch = default_batchify_fn(items)
        assert (np.dtype(batch.dtype).name, batch.asnumpy().tolist()) == expected
    nested = default_batchify_fn([((1, 2.0), {"a": 3}), ((4, 5.0), {"a": 6})])
    (first, second), named = nested
    assert [p.asnumpy().tolist() for p in (first, second, named["a"])] == [[1, 4], [2, 5], [3, 6]]
    row = nd.sparse.csr_matrix(np.eye(2, dtype=np.float32))
    for items, kind, message in (
        ([row, row], ValueError, "made of single rows"),
        ([row[0], row[0].astype("float64")], TypeError, "float64"),
        ([row[0], nd.sparse.zeros("csr", (1, 3))], ValueError, r"item 1 float32 \(1, 3\)"),
        ([row[0], 3], TypeError, "item 1 a <class 'int'>"),
        ([(1, 2), (1,)], ValueError, r"\[1, 2\] parts"),
    ):
        with pytest.raises(kind, match=message):
            default_batchify_fn(items)


def test_workers_raise_at_their_place_and_end():
    def fussy(x, y):
        if y == 6:
            raise KeyError("no six")
        return x, y

    csr = nd.sparse.csr_matrix(np.eye(10, dtype=np.float32))
    dataset = gdata.ArrayDataset(csr, np.arange(10))
    for workers in (0, 2):
        seen = []
        loader = gdata.DataLoader(dataset.transform(fussy), 4, num_workers=workers)
        with pytest.raises(KeyError, match="no six") as caught:
            seen.extend(y.asnumpy().tolist() for _, y in loader)
        assert seen == [[0, 1, 2, 3]]
        assert any("raised by item 6" in note for note in caught.value.__notes__)
        assert any("batch 1 of items 4, 5, 6, 7" in note for note in caught.value.__notes__)
    assert not loader_threads()

    loader = gdata.DataLoader(dataset, 2, num_workers=2, prefetch=1)
    batches = iter(loader)
    next(batches)
    assert len(loader_threads()) == 2
    batches.close()
    assert not loader_threads()
    assert len(list(loader)) == len(list(loader)) == 5

    def failing():
        yield [0, 1]
        raise OSError("no more")

    batches = iter(gdata.DataLoader(dataset, batch_sampler=failing(), num_workers=1, prefetch=5))
    assert next(batches)[1].asnumpy().tolist() == [0, 1]
    with pytest.raises(OSError, match="no more"):
        next(batches)
    assert not loader_threads()

    ahead = gdata.DataLoader(dataset, 5, num_workers=1, auto_reload=True)
    assert [y.shape for _, y in ahead] == [y.shape for _, y in ahead] == [(5,), (5,)]
    assert len(loader_threads()) == 1
    del ahead
    gc.collect()
    assert not loader_threads()

    release = threading.Event()
    slow = dataset.transform(lambda x, y: (release.wait(20), y))
    for kind in (TimeoutError, WorkerTimeoutError):
        with pytest.raises(kind, match=r"longer than 0.05 seconds"):
            list(gdata.DataLoader(slow, 2, num_workers=1, timeout=0.05))
    release.set()
    while loader_threads():
        time.sleep(0.01)


def test_arguments_that_cannot_be_are_refused():
    data, loader = gdata.SimpleDataset([1, 2, 3]), gdata.DataLoader
    sampler, csr = gdata.SequentialSampler(3), nd.sparse.zeros("csr", (3, 2))
    for kind, message, call in (
        (ValueError, "batch_size is needed", lambda: loader(data)),
        (ValueError, "shuffle must not", lambda: loader(data, 2, shuffle=True, sampler=sampler)),
        (ValueError, "must not be given", lambda: loader(data, 2, batch_sampler=[[1]])),
        (ValueError, "'keep', 'discard', 'rollover'", lambda: loader(data, 2, last_batch="pad")),
        (ValueError, "at least 1; got 0", lambda: loader(data, 0)),
        (AssertionError, "positive", lambda: loader(data, 2, timeout=0)),
        (ArgumentError, "got shard 3 of 3", lambda: data.shard(3, 3)),
        (ArgumentError, "array 0 has 3, array 1 has 2", lambda: gdata.ArrayDataset(data, [1, 2])),
        (AssertionError, "at least one", lambda: gdata.ArrayDataset()),
        (ArgumentError, "1 to 3", lambda: gdata.IntervalSampler(3, 4)),
        (TypeError, "must be a gluon.data.Sampler", lambda: data.sample([0])),
        (IndexError, "item 3 of a dataset of 3", lambda: list(loader(csr, batch_sampler=[[3]]))),
    ):
        with pytest.raises(kind, match=message):
            call()


def test_csr_batches_stay_on_the_host_until_something_is_computed():
    for dtype in (np.float32, np.float64):
        rows = scipy.sparse.random(6, 9, density=0.4, format="csr", dtype=dtype, random_state=0)
        (batch,) = gdata.DataLoader(gdata.ArrayDataset(rows), 6)
        dense = rows.toarray()
        parts = batch._value.data, batch._value.indices, batch._value.indptr
        assert all(isinstance(p, np.ndarray) and not p.flags.writeable for p in parts)
        assert (batch.context, batch.dtype) == (cpu(), dtype)
        batch.check_format(True)
        for same in (batch.copy(), batch.as_in_context(cpu()), batch.tostype("default"), batch * 1):
            np.testing.assert_array_equal(same.asnumpy(), dense)
        np.testing.assert_array_equal(batch[2:4].asnumpy(), dense[2:4])
        taken = batch.asscipy()
        taken.data[:] = 7  # a copy
        batch.attach_grad()
        with autograd.record():
            total = (batch * batch).sum()
        total.backward()
        np.testing.assert_allclose(batch.grad.asnumpy(), 2 * dense, rtol=1e-6)
        batch[:] = batch * 2
        np.testing.assert_array_equal(batch.asnumpy(), 2 * dense)
