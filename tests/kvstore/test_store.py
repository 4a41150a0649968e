"""The store of one process: what MXNet leaves open, and what it does wrong."""

import time

import numpy as np
import pytest

import rarefy as mx
from rarefy import nd
from rarefy.kvstore import KVStore, KVStoreBase, create

ONES = nd.ones((2, 3))


def rows(ids, n=6, value=1.0, width=2):
    data = np.full((len(ids), width), value, "float32")
    return nd.sparse.row_sparse_array((data, ids), shape=(n, width))


def test_names():
    for name in ("local", "device", "Local", "local_allreduce_cpu"):
        assert create(name).type == name.lower()
    assert mx.kv.create().type == "local" and mx.kvstore is mx.kv
    for name in ("dist_sync", "dist_async", "dist_sync_device", "nccl", "horovod"):
        with pytest.raises(mx.MXNetError, match="several processes"):
            create(name)
    with pytest.raises(ValueError, match="'foo' is not known; there are local, device"):
        create("foo")


def test_a_store_of_ones_own():
    @KVStoreBase.register
    class Mine(KVStoreBase):
        pass

    try:
        assert isinstance(create("mine"), Mine) and create("MINE").type == "mine"
        with pytest.raises(NotImplementedError, match="Mine has no pushpull"):
            create("mine").pushpull("a", ONES)
    finally:
        del KVStoreBase.kv_registry["mine"]


def test_the_store_shares_nothing_with_its_callers():
    kv, weight, out = KVStore(), nd.ones((2, 3)), nd.zeros((2, 3))
    kv.init("a", weight)
    weight[:] = 7
    kv.pull("a", out=out)
    assert out.asnumpy().tolist() == np.ones((2, 3)).tolist()
    grad = nd.ones((2, 3)) * 3
    kv.push("a", grad)  # stored as it is
    grad[:] = 9
    kv.pull("a", out=out)
    out[:] = 5
    kv.pull("a", out=weight)
    assert weight.asnumpy().tolist() == np.full((2, 3), 3).tolist()
    kv._set_updater(lambda key, grad, stored: grad.__imul__(0))
    kv.push("a", out)
    assert out.asnumpy().tolist() == np.full((2, 3), 5).tolist()
    table, taken = rows([0, 1, 2, 3, 4, 5]), rows([])
    kv.init("t", table)
    kv.row_sparse_pull("t", out=taken, row_ids=nd.array([2, 4]))
    table[:] = 0
    taken[:] = 0
    kv.row_sparse_pull("t", out=taken, row_ids=nd.array([2, 5]))
    assert taken.asnumpy().tolist() == rows([2, 5]).asnumpy().tolist()


def test_row_numbers_are_checked():
    kv = create()
    kv.init("t", rows([1, 3]))
    out = rows([])
    for wrong, place in (([0, 6], r"\[1\] is 6"), ([-1], r"\[0\] is -1")):
        with pytest.raises(mx.MXNetError, match=rf"row_ids{place}, outside the 6 rows of 't'"):
            kv.row_sparse_pull("t", out=out, row_ids=nd.array(wrong))
    for ids in ([3, 0, 3], np.array([3, 0]), [nd.array([0, 3])], nd.array([0, 3], dtype="int32")):
        kv.row_sparse_pull("t", out=out, row_ids=ids)
        assert out.indices.asnumpy().tolist() == [0, 3]
    for wrong in ("ab", ["a"], 3):
        with pytest.raises(ValueError, match="row_ids"):
            kv.row_sparse_pull("t", out=out, row_ids=wrong)


def test_pull_into_row_sparse_warns():
    kv, out = create(), rows([2])
    kv.init("t", rows([1, 3]))
    with pytest.warns(UserWarning, match="row_sparse_pull with row_ids"):
        kv.pull("t", out=out)
    assert out.indices.asnumpy().tolist() == [2]


def test_sums_of_rows_cost_what_the_rows_cost():
    n = 50_000_000  # a dense copy would be 400 MB
    kv = create("device")
    kv.init("w", rows([], n))
    parts = [rows([5, n - 1], n), rows([], n), rows([0, 5], n, 2.0)]
    kv.push("w", parts)
    started = time.perf_counter()
    kv.push("w", parts)
    out = rows([], n)
    kv.row_sparse_pull("w", out=out, row_ids=[0, 1, 5, n - 1])
    assert time.perf_counter() - started < 1
    assert out.indices.asnumpy().tolist() == [0, 1, 5, n - 1]
    assert out.data.asnumpy()[:, 0].tolist() == [2, 0, 3, 1]


def test_several_contexts():
    kv = create()
    kv.init(0, ONES)
    kv.push(0, [nd.ones((2, 3), ctx=mx.cpu(i)) * (i + 1) for i in range(3)])
    outs = [nd.zeros((2, 3), ctx=mx.cpu(i)) for i in (2, 0)]
    kv.pull(0, out=outs)
    assert [o.context for o in outs] == [mx.cpu(2), mx.cpu(0)]
    assert all((o.asnumpy() == 6).all() for o in outs)


def test_states_are_saved_and_read_back(tmp_path):
    def made():
        kv = create()
        kv.init("w", ONES)
        kv.set_optimizer(mx.optimizer.SGD(learning_rate=0.1, momentum=0.9))
        return kv

    first, second, path = made(), made(), tmp_path / "states"
    first.push("w", ONES)
    first.save_optimizer_states(path, dump_optimizer=True)
    weight, other = nd.zeros((2, 3)), nd.zeros((2, 3))
    first.pull("w", out=weight)
    second._values["w"][:] = weight
    second.load_optimizer_states(path)
    for kv, out in ((first, weight), (second, other)):
        kv.push("w", ONES)
        kv.pull("w", out=out)
    # 1 - 0.1, then the momentum -0.1 * 0.9 - 0.1
    np.testing.assert_allclose(weight.asnumpy(), 0.71, rtol=1e-6)
    assert other.asnumpy().tolist() == weight.asnumpy().tolist()
    with pytest.raises(TypeError, match="takes an optimizer"):
        first.set_optimizer("sgd")
