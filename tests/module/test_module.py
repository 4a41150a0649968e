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


def softmax_by_hand(start, steps, rate, momentum=0.0, eps=None):
    """Weight and bias after steps over the first 32 rows, with a rule that is lazy or not alike."""
    weight, bias = start.astype("float64"), np.zeros(2)
    state = [np.zeros_like(weight), np.zeros_like(bias)]
    x, labels = X[:32].astype("float64"), np.eye(2)[Y[:32].astype(int)]
    for _ in range(steps):
        scores = np.exp(x @ weight + bias)
        slope = (scores / scores.sum(axis=1, keepdims=True) - labels) / 32
        for i, (array, grad) in enumerate(((weight, x.T @ slope), (bias, slope.sum(axis=0)))):
            if eps is None:
                state[i] = momentum * state[i] - rate * grad
                array += state[i]
            else:
                state[i] += grad * grad
                array -= rate * grad / np.sqrt(state[i] + eps)
    return weight, bias


@pytest.mark.parametrize(
    ("optimizer", "options"),
    [("sgd", {}), ("sgd", {"momentum": 0.5}), ("adagrad", {"eps": 1e-3})],
    ids=["sgd", "momentum", "adagrad"],
)
def test_a_step_on_a_row_sparse_weight(optimizer, options):
    touched = np.flatnonzero(np.asarray(abs(X[:32]).sum(axis=0)).ravel())
    start = np.random.default_rng(0).normal(size=(COLUMNS, 2)).astype("float32")
    batch = mx.io.DataBatch([nd.sparse.csr_matrix(X[:32])], [nd.array(Y[:32])], 0)
    module = mx.mod.Module(linear())
    module.bind([("data", (32, COLUMNS))], [("softmax_label", (32,))])
    module.init_params()
    # All rows are stored: a table. Those of the batch alone: rows are searched for. And back.
    for rows in (np.arange(COLUMNS), touched, np.arange(COLUMNS)):
        stored = np.zeros_like(start)
        stored[rows] = start[rows]
        value = nd.sparse.row_sparse_array((start[rows], rows), shape=start.shape)
        module.set_params({"weight": value, "bias": nd.zeros(2)}, {})
        module.init_optimizer(
            optimizer=optimizer,
            optimizer_params={"learning_rate": 0.5, **options},
            force_init=bool(options) or not module.optimizer_initialized,
        )
        for _ in range(3):
            module.forward_backward(batch)
            module.update()
        weight, bias = softmax_by_hand(stored, 3, 0.5, **options)
        found = module.get_params()[0]
        np.testing.assert_allclose(found["weight"].asnumpy(), weight, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(found["bias"].asnumpy(), bias, rtol=1e-4, atol=1e-5)
        assert found["weight"].stype == "row_sparse"
        assert found["weight"].indices.asnumpy().tolist() == rows.tolist()
    assert module._whole_step.compilations == (1 if options else 2)


def test_a_graph_that_uses_the_rows_of_a_weight_is_no_table():
    data = mx.sym.Variable("data", stype="csr")
    weight = mx.sym.Variable("weight", stype="row_sparse", shape=(COLUMNS, 2), init=mx.init.One())
    kept = mx.sym.sparse.retain(weight, mx.sym.Variable("rows"))
    net = mx.sym.MakeLoss(mx.sym.sparse.dot(data, kept))
    module = mx.mod.Module(net, ["data", "rows"], None)
    module.bind([("data", (4, COLUMNS)), mx.io.DataDesc("rows", (2,), layout="T")])
    module.init_params()
    module.init_optimizer(optimizer_params={"learning_rate": 4.0})
    batch = mx.io.DataBatch(
        [nd.sparse.csr_matrix(np.ones((4, COLUMNS))), nd.array([3, 7])], None, 0
    )
    module.forward_backward(batch)
    module.update()
    expected = np.ones((COLUMNS, 2))
    expected[[3, 7]] -= 4  # four rows of ones, over four
    np.testing.assert_array_equal(numbers(module)["weight"], expected)


def test_a_bucket_may_have_its_parameters_in_another_order():
    def gen(key):
        data = mx.sym.Variable("data")
        w, v = (mx.sym.Variable(n, shape=(1,), init=mx.init.Zero()) for n in ("w", "v"))
        terms = [data * 1 * w, data * 2 * v] if key else [data * 1 * v, data * 3 * w]
        return mx.sym.MakeLoss(terms[0] + terms[1]), ("data",), ()

    one = [mx.io.DataDesc("data", (1,))]
    module = mx.mod.BucketingModule(gen, 1)
    module.bind(one)
    module.init_params()
    module.init_optimizer(optimizer_params={"learning_rate": 1.0, "momentum": 0.5, "wd": 0.0})
    for key in (1, 0):
        module.forward_backward(
            mx.io.DataBatch([nd.ones(1)], [], 0, bucket_key=key, provide_data=one)
        )
        module.update()
    # w: -1, then -(0.5 + 3) more; v: -2, then -(1 + 1) more
    found = {name: array.item() for name, array in numbers(module).items()}
    assert found == {"w": -4.5, "v": -4.0}
    assert module._buckets[0].symbol.list_arguments()[1] == "v"


def test_the_bar_of_fit_counts_batches(capsys):
    module = mx.mod.Module(linear())
    module.fit(batches(), num_epoch=2, eval_metric="ce", progress=True)
    shown = capsys.readouterr().err
    assert "Epoch[0]: 4batch" in shown and "4/4" in shown and "cross-entropy=" in shown


class _Sums(mx.metric.EvalMetric):
    """A metric of one's own."""

    def __init__(self):
        super().__init__("sums")

    def update(self, labels, preds):
        self.sum_metric += float(labels[0].asnumpy().sum() + preds[0].asnumpy().sum())
        self.num_inst += 1


@pytest.mark.parametrize("callback", ["none", "speedometer", "own"])
@pytest.mark.parametrize(
    ("metric", "epochs", "batches"),
    [  # what MXNet 1.9.1 logs and what a callback sees there
        (lambda: "acc", [0.76, 0.84], [0.6, 0.65]),
        (lambda: "ce", [0.655768, 0.561867], [0.693147, 0.682567]),
        (_Sums, [14.6, 14.6], [14.0, 15.0]),
    ],
)
def test_metrics_of_fit_whether_they_may_wait_or_not(caplog, callback, metric, epochs, batches):
    caplog.set_level(logging.INFO)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((50, 5)).astype("float32")
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc")
    module = mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax"))
    seen = []
    module.fit(
        mx.io.NDArrayIter(x, (x[:, 0] > 0).astype("float32"), 10),
        eval_metric=metric(),
        num_epoch=2,
        optimizer_params={"learning_rate": 0.1},
        initializer=mx.init.One(),
        batch_end_callback={
            "none": None,
            "speedometer": mx.callback.Speedometer(10, 2, auto_reset=False),
            "own": lambda param: seen.append(param.eval_metric.get()[1]),
        }[callback],
    )
    logged = [r.args[-1] for r in caplog.records if "Train-" in r.msg]
    np.testing.assert_allclose(logged, epochs, rtol=1e-5)
    if callback == "own":
        np.testing.assert_allclose(seen[:2], batches, rtol=1e-5)


def test_a_metric_takes_a_batch_in_when_the_next_one_is_under_way(monkeypatch):
    steps, taken = [], []
    step, update = mx.mod.Module._fit_step, mx.metric.Accuracy.update
    monkeypatch.setattr(mx.mod.Module, "_fit_step", lambda *a: (steps.append(1), step(*a)))

    def look(metric, labels, preds):
        taken.append((len(steps), labels[0].asnumpy().tolist()))
        update(metric, labels, preds)

    monkeypatch.setattr(mx.metric.Accuracy, "update", look)
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc")
    module = mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax"))
    x, y = np.ones((6, 3), "float32"), np.arange(6.0)
    module.fit(mx.io.NDArrayIter(x, y, 2), num_epoch=1)
    assert taken == [(2, [0, 1]), (3, [2, 3]), (3, [4, 5])]


class _Reused(mx.io.DataIter):
    """Five batches, all in the same two arrays; it may break down."""

    def __init__(self, write, breaks_at=None):
        super().__init__(8)
        rng = np.random.default_rng(0)
        self.x = rng.standard_normal((5, 8, 4)).astype("float32")
        self.y = rng.integers(0, 3, (5, 8)).astype("float32")
        self.data, self.label = nd.zeros((8, 4)), nd.zeros((8,))
        self.provide_data = [mx.io.DataDesc("data", (8, 4))]
        self.provide_label = [mx.io.DataDesc("softmax_label", (8,))]
        self.write, self.breaks_at, self.at = write, breaks_at, 0

    def reset(self):
        self.at = 0

    def next(self):
        if self.at == self.breaks_at:
            raise RuntimeError("the disk is gone")
        if self.at == 5:
            raise StopIteration
        self.write(self.data, self.x[self.at])
        self.write(self.label, self.y[self.at])
        self.at += 1
        return mx.io.DataBatch([self.data], [self.label], pad=0)


def _one_by_one(array, numbers):
    for i, x in enumerate(numbers):
        array[i] = x


def _added(array, numbers):
    array *= 0
    array += nd.array(numbers)


def _three_classes():
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc")
    return mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax"))


def _error_of(labels, scores):
    return float((scores.argmax(1) != labels).mean())


def test_metrics_do_not_notice_that_arrays_of_batches_are_used_again():
    found = []
    for write in (lambda a, x: a.__setitem__(slice(None), x), _one_by_one, _added):
        for reads in (True, False):
            metric = mx.metric.CompositeEvalMetric(["acc", "ce", mx.metric.np(_error_of)])
            metric.add(mx.metric.CompositeEvalMetric(["acc"]))
            callback = (lambda param: param.eval_metric.get()) if reads else None
            _three_classes().fit(
                _Reused(write),
                eval_metric=metric,
                num_epoch=1,
                initializer=mx.init.Zero(),
                optimizer_params={"learning_rate": 0.5},
                batch_end_callback=callback,
            )
            found.append(metric.get()[1])
    np.testing.assert_allclose(found, [found[0]] * len(found), rtol=1e-6)
    assert abs(found[0][0] + found[0][2] - 1) < 1e-6


def test_a_metric_has_all_batches_that_were_done_when_an_iterator_breaks_down():
    metric = mx.metric.Accuracy()
    with pytest.raises(RuntimeError, match="the disk is gone"):
        _three_classes().fit(_Reused(_added, 3), eval_metric=metric, num_epoch=1)
    assert metric.num_inst == 24  # as in MXNet 1.9.1


def test_a_function_of_the_user_is_called_right_after_its_batch(monkeypatch):
    steps, seen = [], []
    step = mx.mod.Module._fit_step
    monkeypatch.setattr(mx.mod.Module, "_fit_step", lambda *a: (steps.append(1), step(*a)))
    metric = mx.metric.np(lambda labels, scores: seen.append(len(steps)) or 0.0)
    nested = mx.metric.CompositeEvalMetric([mx.metric.CompositeEvalMetric(["acc"])])
    nested.get_metric(0).add(metric)
    _three_classes().fit(_Reused(_added), eval_metric=nested, num_epoch=1)
    assert seen == [1, 2, 3, 4, 5]


def test_fit_without_a_batch_says_so(tmp_path):
    (tmp_path / "empty.svm").touch()
    data = mx.sym.Variable("data", stype="csr")
    scores = mx.sym.sparse.dot(data, mx.sym.Variable("weight", shape=(5, 1), stype="row_sparse"))
    module = mx.mod.Module(mx.sym.LogisticRegressionOutput(scores, name="softmax"))
    rows = mx.io.LibSVMIter(tmp_path / "empty.svm", data_shape=(5,), batch_size=2)
    few = mx.io.NDArrayIter(np.ones((1, 5)), np.ones((1, 1)), 2, last_batch_handle="discard")
    for batches in (rows, few):
        with pytest.raises(ValueError, match="gives no batch in epoch 0; it has no rows"):
            module.fit(batches, num_epoch=1, eval_metric="mse", force_rebind=True)
