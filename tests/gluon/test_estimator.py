"""The estimator and its handlers: training goes on, the order of events, checkpoints, stopping."""

import io
import math
import re
import warnings

import numpy as np
import pytest

import rarefy as mx
from rarefy import gluon
from rarefy.gluon.contrib.estimator import (
    BatchBegin,
    BatchEnd,
    BatchProcessor,
    CheckpointHandler,
    EarlyStoppingHandler,
    EpochBegin,
    EpochEnd,
    Estimator,
    EventHandler,
    GradientUpdateHandler,
    LoggingHandler,
    ProgressBarHandler,
    StoppingHandler,
    TrainBegin,
    TrainEnd,
)

RNG = np.random.default_rng(5)
X = RNG.normal(size=(40, 5)).astype("float32")
Y = (X[:, 0] > 0).astype("float32")


def loader(batch_size=10):
    return gluon.data.DataLoader(gluon.data.ArrayDataset(X, Y), batch_size=batch_size)


def estimator(optimizer="adam", rate=0.05, **options):
    mx.random.seed(1)
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(4, activation="tanh", in_units=5), gluon.nn.Dense(2, in_units=4))
    net.initialize(mx.init.Xavier())
    trainer = gluon.Trainer(net.collect_params(), optimizer, {"learning_rate": rate})
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    made = Estimator(net, loss, trainer=trainer, **options)
    made.logger.handlers[:] = []
    made.lines = []
    made.logger.info = lambda text, *args: made.lines.append(text % args)
    return made


def weights(made):
    return [p.data().asnumpy() for p in made.net.collect_params().values()]


class Own(BatchProcessor):
    """The default one under another name: then a batch is not one compiled step."""


class Events(TrainBegin, TrainEnd, EpochBegin, EpochEnd, BatchBegin, BatchEnd):
    """Writes down what happens."""

    def __init__(self, priority=0):
        self.priority = priority
        self.seen = []

    def train_begin(self, estimator, *args, **kwargs):
        self.seen.append("train_begin")

    def train_end(self, estimator, *args, **kwargs):
        self.seen.append("train_end")

    def epoch_begin(self, estimator, *args, **kwargs):
        self.seen.append("epoch_begin")

    def epoch_end(self, estimator, *args, **kwargs):
        self.seen.append("epoch_end")

    def batch_begin(self, estimator, *args, **kwargs):
        assert set(kwargs) == {"batch"}
        self.seen.append("batch_begin")

    def batch_end(self, estimator, *args, **kwargs):
        assert set(kwargs) == {"batch", "pred", "label", "loss"}
        assert all(len(kwargs[name]) == 1 for name in ("pred", "label", "loss"))
        self.seen.append("batch_end")


def test_compiled_and_plain_training_agree_and_learn():
    compiled, plain = estimator(), estimator(batch_processor=Own())
    for made in (compiled, plain):
        made.fit(loader(), val_data=loader(), epochs=15)
        (accuracy, loss) = made.train_metrics
        assert (accuracy.name, loss.name) == (
            "training accuracy",
            "training softmaxcrossentropyloss",
        )
        assert accuracy.get()[1] > 0.9
        assert loss.get()[1] < 0.4
        assert made.val_metrics[0].get()[1] >= accuracy.get()[1]
    assert compiled._step is not None and compiled._step.compilations == 1
    assert plain._step is None
    for a, b in zip(weights(compiled), weights(plain), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)


def test_events_come_in_order_and_lengths_are_kept():
    for length, batches in (({"epochs": 2}, 8), ({"batches": 5}, 5)):
        made, events = estimator(), Events()
        made.fit(loader(), event_handlers=[events], **length)
        text = " ".join(events.seen)
        assert events.seen.count("batch_end") == batches
        assert text.startswith("train_begin epoch_begin batch_begin batch_end batch_begin")
        assert text.endswith("batch_end epoch_end train_end")
        assert events.seen.count("epoch_begin") == events.seen.count("epoch_end") == 2


def test_handlers_see_metrics_and_weights_as_their_priority_says():
    made = estimator()
    before = weights(made)[0]

    class Early(BatchEnd):
        priority = -3000

        def batch_end(self, estimator, *args, **kwargs):
            self.count = estimator.train_metrics[0].num_inst
            self.weight = weights(estimator)[0]

    early = Early()

    class Late(Early):
        priority = 10

    late = Late()
    made = estimator(batch_processor=Own())
    made.fit(loader(), batches=1, event_handlers=[late, early])
    assert (early.count, late.count) == (0, 10)
    np.testing.assert_array_equal(early.weight, before)
    assert np.any(late.weight != before)


def test_a_handler_ends_the_training():
    class Enough(BatchEnd):
        def batch_end(self, estimator, *args, **kwargs):
            return True

    made, events = estimator(), Events()
    made.fit(loader(), epochs=9, event_handlers=[events, Enough()])
    assert events.seen.count("batch_end") == 1
    assert events.seen[-2:] == ["epoch_end", "train_end"]


def test_a_handler_of_ones_own_takes_the_place_of_the_default():
    class Twice(GradientUpdateHandler):
        def batch_end(self, estimator, *args, **kwargs):
            estimator.trainer.step(10)
            estimator.trainer.step(10, ignore_stale_grad=True)
            return False

    made, other = estimator("sgd"), estimator("sgd", batch_processor=Own())
    before = weights(made)[0]
    made.fit(loader(), batches=1, event_handlers=[Twice(), StoppingHandler()])
    other.fit(loader(), batches=1)
    assert np.any(np.abs(weights(made)[0] - before) > 0)
    np.testing.assert_allclose(weights(other)[0] - before, _once(before), rtol=1e-4, atol=1e-6)


def _once(before):
    made = estimator("sgd")
    made.fit(loader(), batches=1)
    return weights(made)[0] - before


def test_checkpoints_are_kept_resumed_and_the_best_one_saved(tmp_path):
    folder = str(tmp_path / "run")

    def handler(**options):
        return CheckpointHandler(folder, "m", max_checkpoints=2, verbose=1, **options)

    made = estimator()
    best = handler(save_best=True, monitor=made.train_metrics[1], mode="min", batch_period=3)
    made.fit(loader(), epochs=4, event_handlers=[best])
    names = sorted(p.name for p in (tmp_path / "run").iterdir())
    assert names == [
        "m-best.params",
        "m-best.states",
        "m-checkpoints.json",
        "m-epoch3batch15.params",
        "m-epoch3batch15.states",
        "m-epoch3batch16.params",
        "m-epoch3batch16.states",
    ]
    whole = estimator()
    whole.fit(loader(), epochs=6)
    assert any("symbol file) is not saved" in line for line in made.lines)  # it is not hybridized
    resumed = estimator(rate=0.001)
    resumed.net.hybridize()
    resumed.fit(loader(), epochs=6, event_handlers=[handler(resume_from_checkpoint=True)])
    assert any(
        "resumed from epoch 4 batch 16, continue to train for 2 epochs" in line
        for line in resumed.lines
    )
    for a, b in zip(weights(whole), weights(resumed), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    graph = mx.sym.load(f"{folder}/m-symbol.json")
    assert graph.list_arguments() == ["data", *resumed.net.collect_params()]
    names = {p.name for p in (tmp_path / "run").iterdir()}
    assert "m-epoch5batch24.params" in names and "m-epoch3batch15.params" not in names
    again = estimator()
    again.fit(loader(), epochs=6, event_handlers=[handler(resume_from_checkpoint=True)])
    assert any("continue to train for 0 epochs" in line for line in again.lines)


def test_resuming_where_nothing_is_begins_at_the_start(tmp_path):
    made = estimator()
    made.fit(
        loader(),
        epochs=1,
        event_handlers=[CheckpointHandler(str(tmp_path), resume_from_checkpoint=True)],
    )
    assert any("no checkpoint of model" in line for line in made.lines)
    assert (tmp_path / "model-epoch0batch4.params").exists()


def test_early_stopping():
    made = estimator("sgd", 0.0)
    stop = EarlyStoppingHandler(made.train_metrics[1], patience=2, mode="min")
    events = Events()
    made.fit(loader(), epochs=9, event_handlers=[stop, events])
    assert events.seen.count("epoch_end") == 3
    assert any(
        "early stopping due to training softmaxcrossentropyloss" in line for line in made.lines
    )
    beaten = EarlyStoppingHandler(made.train_metrics[0], mode="max", baseline=2.0)
    events = Events()
    made.fit(loader(), epochs=9, event_handlers=[beaten, events])
    assert events.seen.count("epoch_end") == 1


def test_logging_says_epochs_batches_and_metrics():
    made = estimator()
    made.fit(
        loader(),
        val_data=loader(),
        epochs=1,
        event_handlers=[LoggingHandler(2, made.train_metrics)],
    )
    assert made.lines[:2] == [
        "Training begin: using optimizer Adam with current learning rate 0.0500",
        "Train for 1 epochs.",
    ]
    assert any(
        line.startswith("[Epoch 0][Batch 4][Samples 40] time/interval: ")
        and "training accuracy: " in line
        for line in made.lines
    )
    assert re.match(r"Train finished using total \d+s with 1 epochs\. ", made.lines[-1])


def test_progress_bar():
    made, file = estimator(), io.StringIO()
    bar = ProgressBarHandler(made.train_metrics, file=file)
    made.fit(loader(), epochs=2, event_handlers=[bar])
    shown = file.getvalue()
    assert "epoch 1: 100%" in shown and "4/4" in shown and "training accuracy=" in shown


def test_csr_batches_of_an_iterator(tmp_path):
    sparse = mx.nd.array(X * (X > 0.5)).tostype("csr")
    it = mx.io.NDArrayIter(sparse, Y, batch_size=10, last_batch_handle="discard")
    net = gluon.nn.SparseDense(2, in_units=5)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = Estimator(net, gluon.loss.SoftmaxCrossEntropyLoss())
    assert any("learning rate 0.001" in str(w.message) for w in caught)
    made.logger.handlers[:] = []
    made.trainer.set_learning_rate(1.0)
    made.fit(it, epochs=8)
    assert made.train_metrics[0].get()[1] > 0.8


def _raises(what, **options):
    return pytest.raises(ValueError, match=what, **options)


def test_what_cannot_be_is_refused():
    made = estimator()
    with _raises("give epochs or batches"):
        made.fit(loader())
    with _raises("give epochs or batches"):
        made.fit(loader(), epochs=1, batches=1)
    with _raises("loss must be a gluon.loss.Loss"):
        Estimator(made.net, 3)
    with _raises("trainer must be a gluon.Trainer"):
        Estimator(made.net, made.loss, trainer=3)
    with _raises("metrics must be an EvalMetric"):
        Estimator(made.net, made.loss, train_metrics="acc", trainer=made.trainer)
    with _raises("context must be a Context"):
        Estimator(made.net, made.loss, context=[3], trainer=made.trainer)
    with _raises("train_data must be a"):
        made.fit(3, epochs=1)
    with _raises("a batch must be a pair"):
        made.fit([1, 2], epochs=1)
    with _raises("val_data must be a"):
        made.evaluate(3)
    with _raises("event_handlers must be"):
        made.fit(loader(), epochs=1, event_handlers=[3])
    with _raises("yields no batch"):
        made.fit(((x, y) for x, y in loader()), epochs=2)
    with _raises("log_interval must be"):
        LoggingHandler(log_interval="x")
    with _raises("monitor must be one of"):
        EarlyStoppingHandler(monitor="x")
    with _raises("monitor must be one of"):
        CheckpointHandler("x", save_best=True)
    with _raises("none of this estimator's"):
        made.fit(
            loader(),
            epochs=1,
            event_handlers=EarlyStoppingHandler(mx.metric.Accuracy(), mode="max"),
        )
    assert issubclass(StoppingHandler, EventHandler)


def test_nan_is_no_improvement():
    made = estimator()
    with pytest.warns(UserWarning, match="taken to improve as training accuracy grows"):
        stop = EarlyStoppingHandler(made.train_metrics[0])
    assert stop.best == -math.inf
    assert not stop._best.seen(math.nan) and stop._best.seen(0.1) and not stop._best.seen(0.1)
