"""Modules: what MXNet leaves open, and the whole step of fit."""

import logging

import numpy as np
import pytest
import scipy.sparse

import rarefy as mx
from rarefy import nd

N, COLUMNS = 64, 1000
X = scipy.sparse.random(N, COLUMNS, density=0.01, format="csr", random_state=4, dtype="float32")
Y = (np.asarray(X.sum(axis=1)).ravel() > 4.5).astype("float32")


def linear():
    data = mx.sym.Variable("data", stype="csr")
    weight = mx.sym.Variable("weight", stype="row_sparse", shape=(COLUMNS, 2), init=mx.init.Zero())
    bias = mx.sym.Variable("bias", shape=(2,), init=mx.init.Zero())
    scores = mx.sym.broadcast_add(mx.sym.sparse.dot(data, weight), bias)
    return mx.sym.SoftmaxOutput(scores, mx.sym.Variable("softmax_label"), name="softmax")


def batches(size=16):
    return mx.io.NDArrayIter(X, Y, size)


def numbers(module):
    return {name: array.asnumpy() for name, array in module.get_params()[0].items()}


@pytest.mark.filterwarnings("ignore:Parameters already initialized")
def test_fit_is_one_program_that_computes_what_the_loop_does():
    fitted, looped = mx.mod.Module(linear()), mx.mod.Module(linear())
    params = {"learning_rate": 0.5, "momentum": 0.9, "wd": 0.01}
    it = batches(24)  # the last batch is filled up
    fitted.fit(it, num_epoch=2, optimizer_params=params, eval_metric="ce")
    outputs = fitted.get_outputs()[0].asnumpy()
    looped.bind(it.provide_data, it.provide_label)
    looped.init_params()
    looped.init_optimizer(optimizer_params=params)
    for _ in range(2):
        for batch in it:
            looped.forward_backward(batch)
            looped.update()
        it.reset()
    np.testing.assert_allclose(looped.get_outputs()[0].asnumpy(), outputs, rtol=1e-5)
    for name, array in numbers(looped).items():
        np.testing.assert_allclose(numbers(fitted)[name], array, rtol=1e-5, atol=1e-7)
    assert fitted._whole_step.compilations == 1
    # Both go on from where they are, with the same momentum.
    for module in (fitted, looped):
        module.fit(it, num_epoch=1)
    for name, array in numbers(looped).items():
        np.testing.assert_allclose(numbers(fitted)[name], array, rtol=1e-5, atol=1e-7)
    assert fitted._whole_step.compilations == 1


def test_a_step_does_not_touch_the_rest_of_a_table():
    module = mx.mod.Module(linear())
    module.fit(batches(), num_epoch=1, optimizer_params={"learning_rate": 0.5, "wd": 0.1})
    touched = np.asarray(abs(X).sum(axis=0)).ravel() > 0
    weight = numbers(module)["weight"]
    assert (weight[touched] != 0).any(axis=1).all() and not weight[~touched].any()
    assert module._exec_group.grad_arrays[0][0].stype == "row_sparse"


def test_a_monitor_sees_the_batches_of_fit(caplog):
    module, monitor = mx.mod.Module(linear()), mx.mon.Monitor(2, pattern="softmax_output|bias")
    with caplog.at_level(logging.INFO):
        module.fit(batches(32), num_epoch=2, monitor=monitor)
    looks = [m.split()[:3] for m in caplog.messages if m.startswith("Batch:")]
    assert looks == [["Batch:", s, name] for s in "13" for name in ("softmax_output", "bias")]


def test_losses_that_are_none_need_gradients():
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc")
    module = mx.mod.Module(net, label_names=None)
    it = mx.io.NDArrayIter(np.ones((4, 3), "float32"), None, 2)
    with pytest.raises(mx.MXNetError, match="head_gradient is required"):
        module.fit(it, num_epoch=1, eval_metric=mx.metric.Loss())
    it.reset()
    batch = it.next()
    module.forward(batch)
    module.backward(nd.ones((2, 2)))
    module.update()
    other = mx.mod.Module(net, label_names=None)
    other.bind(it.provide_data, for_training=False)
    other.init_params()
    other.forward(batch)
    with pytest.raises(AssertionError, match="for_training=True"):
        other.backward(nd.ones((2, 2)))


def test_calls_out_of_order_are_refused():
    module = mx.mod.Module(linear())
    for call in (
        lambda: module.forward(batches().next()),
        lambda: module.get_params(),
        lambda: module.init_optimizer(),
        lambda: module.data_shapes,
        lambda: module.predict(batches()),
        lambda: module.fit(batches()),
        lambda: module.init_params(),
        lambda: mx.mod.Module(linear(), work_load_list=[1, 2]),
    ):
        with pytest.raises(AssertionError):
            call()
    with pytest.warns(UserWarning, match="softmax_label"):
        module.bind([("data", (4, COLUMNS))])
    module.init_params()
    with pytest.raises(AssertionError, match="call init_optimizer first"):
        module.update()
    with pytest.warns(UserWarning, match="already initialized"):
        module.init_params()
    with pytest.warns(UserWarning, match="rescale_grad"):
        module.init_optimizer(optimizer=mx.optimizer.SGD())
    with pytest.warns(UserWarning, match="No need to call sparse_row_id_fn"):
        module.prepare(batches().next(), sparse_row_id_fn=lambda batch: {})


def test_another_batch_size_without_labels():
    module = mx.mod.Module(linear())
    module.bind(batches().provide_data, batches().provide_label)
    module.init_params()
    whole = module.predict(batches(64)).asnumpy()
    module.forward(mx.io.DataBatch([nd.sparse.csr_matrix(X[:10])]), is_train=False)
    np.testing.assert_allclose(module.get_outputs()[0].asnumpy(), whole[:10], rtol=1e-6)
