"""Sharing elements with NumPy, DLPack and pickles; contexts, waiting and the engine's switches."""

import copy
import importlib
import pickle

import jax
import numpy as np
import pytest

import rarefy as mx
from rarefy import MXNetError, nd
from rarefy.nd import ndarray as array_module
from rarefy.optimizer import SGD, TrainStep

DTYPES = (
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "bool",
)


def aligned(count):
    """Zeros that begin where XLA can use them as they are."""
    raw = np.zeros(count * 4 + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + count * 4].view("f4")


def test_from_numpy_is_one_with_the_numpy_array():
    for given in (aligned(6).reshape(3, 2), np.zeros((3, 2), "f4")):
        shared = nd.from_numpy(given)
        with pytest.raises(ValueError, match="read-only"):
            given[0] = 1
        shared[2, 1] = 100
        shared[:1] += 5
        assert given.tolist() == shared.asnumpy().tolist() == [[5, 5], [0, 0], [0, 100]]
        other = nd.from_numpy(given, zero_copy=False)
        other[:] = 1
        assert given.sum() == 110
    again = nd.from_numpy(np.ones(3, "f4"))
    assert nd.from_numpy(np.zeros((1, 0, 2))).shape == (1, 0, 2)
    assert nd.from_numpy(np.array(2.5)).asscalar() == 2.5
    assert again.dtype == np.float32
    with pytest.raises(ValueError, match="c-contiguous"):
        nd.from_numpy(np.zeros((2, 3)).T)


def test_other_arrays_keep_what_they_took_over_from_numpy():
    given = aligned(4)
    shared = nd.from_numpy(given)
    taken, forwarded = nd.ones(4), nd.identity(shared)
    taken[:] = shared
    shared[:] = 7
    assert taken.asnumpy().sum() == forwarded.asnumpy().sum() == 0
    assert shared.asnumpy().sum() == 28


def test_dlpack_there_and_back():
    for dtype in DTYPES:
        array = nd.array([[0, 1, 2], [1, 0, 1]], dtype=dtype)
        for capsule in (
            array.to_dlpack_for_read(),
            nd.to_dlpack_for_read(array),
            array.to_dlpack_for_write(),
            nd.to_dlpack_for_write(array),
            array,
        ):
            back = nd.from_dlpack(capsule)
            assert back.dtype == array.dtype and back.asnumpy().tolist() == array.asnumpy().tolist()
    capsule = nd.ones(2).to_dlpack_for_read()
    nd.from_dlpack(capsule)
    for used in (capsule, 5):
        with pytest.raises(ValueError):
            nd.from_dlpack(used)
    with pytest.raises(mx.base.NotSupportedForSparseNDArray):
        nd.ones((2, 2)).tostype("csr").to_dlpack_for_read()


def test_memory_handed_out_is_not_overwritten():
    array = nd.arange(4)
    seen = [np.asarray(array), np.from_dlpack(array), jax.dlpack.from_dlpack(array)]
    view = array[1:3]
    array += 1
    nd.sgd_update(array, nd.ones(4), lr=1.0, out=array)
    assert [np.asarray(s).tolist() for s in seen] == [[0, 1, 2, 3]] * 3
    assert view.asnumpy().tolist() == [1, 2] and np.array(array).flags.writeable
    assert np.asarray(array, "float64").dtype == np.float64


def test_written_through_a_capsule():
    array = nd.zeros(4)
    kept = array.copy()
    taken = array.detach()
    pointer = array.to_dlpack_for_write()  # another library would write where it points to
    address = nd.from_dlpack(pointer)._value.unsafe_buffer_pointer()
    assert address == array._value.unsafe_buffer_pointer()
    assert (kept + taken).asnumpy().sum() == 0


def test_copies_and_pickles_of_every_storage_type():
    for stype in ("default", "csr", "row_sparse"):
        for dtype in ("float64", "bfloat16"):
            array = nd.array([[0, 1], [0, 0], [1, 0]], dtype=dtype).tostype(stype)
            for same in (
                pickle.loads(pickle.dumps(array)),
                copy.copy(array),
                copy.deepcopy({"a": array})["a"],
                array.copy(),
            ):
                assert (same.stype, same.dtype) == (stype, array.dtype) and same is not array
                assert same.asnumpy().tolist() == array.asnumpy().tolist()
                same[:] = np.ones((3, 2))
                assert array.asnumpy().tolist() == [[0, 1], [0, 0], [1, 0]]


def test_contexts():
    host = nd.ones((2,))
    for context in (mx.cpu(3), mx.cpu_pinned(), mx.Context("cpu_shared", 0)):
        moved = host.as_in_context(context)
        assert moved.context == context and moved is not host
        assert host.copyto(context).context == context
        moved[:] = 5
        assert host.asnumpy().tolist() == [1, 1] and (moved + 1).asnumpy().tolist() == [6, 6]
        with context:
            assert nd.zeros(2).context == context == mx.Context.default_ctx
    assert host.as_in_context(mx.cpu()) is host
    for call in (
        lambda: nd.ones(2, ctx=mx.gpu(7)),
        lambda: host.as_in_context(mx.gpu(7)),
        lambda: host.copyto(mx.gpu(7)),
        lambda: nd.ones((2, 2)).tostype("csr").as_in_context(mx.gpu(7)),
        lambda: mx.context.gpu_memory_info(7),
    ):
        with pytest.raises(MXNetError, match=r"gpu\(7\) was asked for"):
            call()
    for kind in (KeyError, ValueError, MXNetError):
        with pytest.raises(kind, match="device_type must be one of"):
            mx.Context("tpu")
    assert (mx.cpu().device_typeid, mx.Context.devtype2str[5]) == (1, "cpu_shared")


def test_waiting_and_bulk():
    with mx.engine.bulk(10):
        x = nd.ones((3,))
        for _ in range(20):
            x += 1
    x.wait_to_read()
    x.wait_to_write()
    nd.waitall()
    assert x.asnumpy().tolist() == [21] * 3
    before = mx.engine.set_bulk_size(3)
    assert mx.engine.set_bulk_size(before) == 3


def test_a_gradient_is_fresh_until_it_is_taken():
    x = nd.ones(2)
    assert not x._fresh_grad
    x.attach_grad()
    for _ in range(2):
        with mx.autograd.record():
            y = x * 2
        y.backward()
        assert x._fresh_grad
        x._fresh_grad = False
        x.grad[:] = 0
        assert not x._fresh_grad


def test_names_that_programs_import():
    assert array_module.NDArray is nd.NDArray
    assert array_module._STORAGE_TYPE_STR_TO_ID == {
        "undefined": -1, "default": 0, "row_sparse": 1, "csr": 2,
    }  # fmt: skip
    assert array_module._DTYPE_NP_TO_MX[np.int64] == 6 and array_module._DTYPE_MX_TO_NP[-1] is None
    for stype, number in (("default", 0), ("row_sparse", 1), ("csr", 2)):
        assert array_module._storage_type(nd.ones((1, 1)).tostype(stype).handle) == number
    assert importlib.import_module("rarefy.ndarray") is mx.nd is mx.ndarray
    sparse = importlib.import_module("rarefy.ndarray.sparse")
    assert sparse.CSRNDArray is nd.sparse.CSRNDArray
    csr = nd.ones((1, 2)).tostype("csr")
    assert (csr._num_aux, csr._aux_types) == (2, [np.int64] * 2)
    assert csr._aux_data(0).asnumpy().tolist() == [0, 2] == csr.indptr.asnumpy().tolist()
    error = mx.base.NotImplementedForSymbol(test_contexts, "+", 1)
    assert isinstance(error, MXNetError) and "test_contexts (as +) is not supported" in str(error)


def test_shapes_of_numpy_are_a_switch_of_the_thread():
    @mx.use_np_shape
    def inside():
        return mx.is_np_shape(), mx.is_np_array()

    assert inside() == (True, False) and not mx.is_np_shape()
    with mx.np_shape(True), mx.np_shape(False):
        assert not mx.is_np_shape()
    assert mx.set_np_shape(False) is False


def test_a_step_on_memory_of_numpy():
    weight = nd.from_numpy(np.ones((4, 2), np.float32))
    weight.attach_grad()
    rule = SGD(learning_rate=0.5)
    step = TrainStep(lambda x: nd.dot(x, weight).sum(), {"weight": weight}, rule)
    for left in (0.5, 0.0):
        step(nd.from_numpy(np.ones((1, 4), np.float32)))
        assert (weight.asnumpy() == left).all()
