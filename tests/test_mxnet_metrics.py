"""MXNet's metrics: its values, configurations, names, and metrics of one's own."""

import json
import math
from collections import OrderedDict
from types import SimpleNamespace

import numpy as np
import pytest

from oracles.mxnet_metrics import FILE, RUNS, run
from rarefy import metric, nd

RECORD = json.loads(FILE.read_text())["runs"]
OURS = SimpleNamespace(metric=metric, nd=nd)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_values_are_mxnets():
    for case, expected in zip(RUNS, RECORD, strict=True):
        found = run(OURS, *case)
        for ours, theirs in zip(found, expected, strict=True):
            for (name, value), (their_name, their_value) in zip(ours, theirs, strict=True):
                assert name == their_name, case
                if case[0] == "pearsonr" and case[1]:
                    # MXNet has no global value of the whole, nor of what came since reset_local.
                    continue
                np.testing.assert_allclose(value, their_value, rtol=2e-6, err_msg=str(case))


def test_pearson_of_all_elements():
    rng = np.random.default_rng(0)
    both = rng.normal(size=(2, 12)) + 1e4
    made = metric.PearsonCorrelation(average="micro")
    for part in np.split(both, 3, axis=1):
        made.update([nd.array(part[0], dtype="float64")], [nd.array(part[1], dtype="float64")])
    assert made.get()[1] == pytest.approx(np.corrcoef(both)[0, 1], rel=1e-6)
    made.reset_local()
    assert math.isnan(made.get()[1])
    assert made.get_global()[1] == pytest.approx(np.corrcoef(both)[0, 1], rel=1e-6)


def test_a_metric_is_made_from_anything():
    mean = metric.create(lambda label, pred: (np.abs(label - pred).sum(), len(label)))
    assert mean.name == "custom(<lambda>)"
    several = metric.create(["acc", metric.MSE(name="error"), mean])
    several.update([nd.array([1.0, 0.0])], [nd.array([1.0, 0.5])])
    assert several.get() == (["accuracy", "error", "custom(<lambda>)"], [1.0, 0.125, 0.25])
    assert several.get_name_value()[1] == ("error", 0.125)
    assert several.get_metric(0) is several.metrics[0]
    with pytest.raises(ValueError, match="none has index 7"):
        several.get_metric(7)
    with pytest.raises(NotImplementedError):
        mean.get_config()
    for made in (
        metric.TopKAccuracy(top_k=3),
        metric.Perplexity(ignore_label=2),
        metric.F1(average="micro", output_names=["a"]),
        metric.CompositeEvalMetric(["mae", "mcc"]),
    ):
        config = json.loads(json.dumps(made.get_config()))
        again = metric.create(**config)
        assert type(again) is type(made)
        assert (again.name, again.get_config()) == (made.name, made.get_config())
    assert metric.create(made) is made
    for wrong, kind in (("nonsense", ValueError), ("nonsense", AssertionError), (3, TypeError)):
        with pytest.raises(kind):
            metric.create(wrong)
    assert metric.np(np.max, name="largest").name == "largest"


def test_named_outputs_extra_outputs_and_wrong_shapes():
    made = metric.create("mse", output_names=["b"], label_names=["y"])
    preds = OrderedDict(a=nd.array([9.0]), b=nd.array([1.0]))
    made.update_dict(OrderedDict(y=nd.array([3.0]), z=nd.array([0.0])), preds)
    assert made.get() == ("mse", 4.0)
    both = metric.CompositeEvalMetric(["mse", "mae"], output_names=["b"], label_names=["y"])
    both.update_dict({"y": nd.array([3.0]), "z": nd.array([0.0])}, preds)
    assert both.get()[1] == [4.0, 2.0]
    extra = metric.CustomMetric(lambda label, pred: 1.0, allow_extra_outputs=True)
    extra.update([nd.array([1.0])], [nd.array([1.0]), nd.array([2.0])])
    assert extra.get()[1] == 1.0
    label, pred = nd.array([0.0, 1.0, 2.0]), nd.array([[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]])
    for name, labels in (("mse", [label, label]), ("acc", [label[:2]]), ("f1", [label])):
        with pytest.raises(ValueError, match=r"shape|binary"):
            metric.create(name).update(labels, [pred])
    with pytest.raises(ValueError, match="at least 2"):
        metric.TopKAccuracy()


@metric.register
@metric.alias("largest_label")
class Largest(metric.EvalMetric):
    def __init__(self, name="largest", **kwargs):
        super().__init__(name, **kwargs)

    def update(self, labels, preds):
        self.sum_metric += max(float(a.asnumpy().max()) for a in labels)
        self.num_inst += 1


def test_a_metric_of_ones_own():
    made = metric.create("largest_label", scale=3)
    assert isinstance(made, Largest)
    assert math.isnan(made.get()[1])
    made.update([nd.array([1.0, 5.0])], [nd.array([0.0])])
    assert (made.get(), made.get_global()) == (("largest", 5.0), ("largest", 5.0))
    assert str(made) == "EvalMetric: {'largest': 5.0}"
    assert made.get_config()["scale"] == 3
