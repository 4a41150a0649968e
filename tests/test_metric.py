"""Metrics against values of scikit-learn 1.9.1 and cases worked out by hand."""

import itertools
import math

import numpy as np
import pytest

from rarefy import metric, nd

LABELS = [1, 0, 1, 1, 0, 0, 1, 0]
SCORES = [2.0, -1.0, 0.5, -0.25, 0.5, -3.0, 0.0, 1.5]
WEIGHTS = [1, 2, 0.5, 1, 3, 0.25, 2, 1]
PROBABILITIES = [1 / (1 + math.exp(-z)) for z in SCORES]
CLASS_LABELS = [0, 2, 1, 1]
CLASS_SCORES = [[1.0, 0.5, -1], [0, 0, 3], [2, 1, 0], [-1, 4, -2]]
CLASS_WEIGHTS = [1, 2, 3, 0.5]
TARGETS = [3, -0.5, 2, 7]
PREDICTIONS = [2.5, 0, 2, 8]
TARGET_WEIGHTS = [1, 2, 3, 4]

# function, labels, scores, weights, value: scikit-learn's log_loss, roc_auc_score, accuracy_score,
# mean_squared_error (its root), mean_absolute_error.
SKLEARN = [
    (metric.binary_log_loss, LABELS, PROBABILITIES, None, 0.6446788621145866),
    (metric.binary_log_loss, LABELS, PROBABILITIES, WEIGHTS, 0.7291641607055547),
    (metric.logistic_loss, LABELS, SCORES, None, 0.6446788621145866),
    (metric.logistic_loss, LABELS, SCORES, WEIGHTS, 0.7291641607055547),
    (metric.auc, LABELS, SCORES, None, 0.65625),
    (metric.auc, LABELS, PROBABILITIES, None, 0.65625),
    (metric.auc, LABELS, SCORES, WEIGHTS, 0.5288888888888889),
    (metric.accuracy, LABELS, SCORES, None, 0.5),
    (metric.accuracy, LABELS, SCORES, WEIGHTS, 0.3488372093023256),
    (metric.softmax_loss, CLASS_LABELS, CLASS_SCORES, None, 0.5166650812747666),
    (metric.softmax_loss, CLASS_LABELS, CLASS_SCORES, CLASS_WEIGHTS, 0.7649550720173723),
    (metric.accuracy, CLASS_LABELS, CLASS_SCORES, None, 0.75),
    (metric.accuracy, CLASS_LABELS, CLASS_SCORES, CLASS_WEIGHTS, 3.5 / 6.5),
    (metric.rmse, TARGETS, PREDICTIONS, None, 0.6123724356957945),
    (metric.rmse, TARGETS, PREDICTIONS, TARGET_WEIGHTS, 0.689202437604511),
    (metric.mae, TARGETS, PREDICTIONS, None, 0.5),
    (metric.mae, TARGETS, PREDICTIONS, TARGET_WEIGHTS, 0.55),
]

RUNNING = {
    metric.logistic_loss: lambda: metric.RunningMean(metric.logistic_loss),
    metric.softmax_loss: lambda: metric.RunningMean(metric.softmax_loss),
    metric.accuracy: lambda: metric.RunningMean(metric.accuracy),
    metric.mae: lambda: metric.RunningMean(metric.mae),
    metric.rmse: metric.RunningRMSE,
    metric.auc: metric.RunningAUC,
}


@pytest.mark.parametrize(("function", "labels", "scores", "weights", "value"), SKLEARN)
def test_functions_agree_with_sklearn(function, labels, scores, weights, value):
    assert function(labels, scores, weights) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("batch", [1, 3, 8])
@pytest.mark.parametrize(("function", "labels", "scores", "weights", "value"), SKLEARN)
def test_accumulators_agree_with_sklearn(function, labels, scores, weights, value, batch):
    if function not in RUNNING:
        pytest.skip("no accumulator from probabilities")
    running = RUNNING[function]()
    for i in range(0, len(labels), batch):
        part = slice(i, i + batch)
        running.update(labels[part], scores[part], None if weights is None else weights[part])
        other = RUNNING[function]()
        other.load_state_dict(running.state_dict())
        running = other
    assert running.value() == pytest.approx(value, rel=1e-12)


def pairs_won(labels, scores, weights):
    """AUC by its definition, pair by pair."""
    won = total = 0.0
    rows = list(zip(labels, scores, weights, strict=True))
    for (y, z, w), (y2, z2, w2) in itertools.product(rows, rows):
        if y == 1 and y2 == 0:
            total += w * w2
            won += w * w2 * (1.0 if z > z2 else 0.5 if z == z2 else 0.0)
    return won / total


@pytest.mark.parametrize("seed", range(4))
def test_auc_counts_pairs_and_ties_by_half(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, 60)
    scores = rng.integers(-3, 4, 60) / 2
    weights = rng.integers(0, 4, 60) / 4
    expected = pairs_won(labels, scores, weights)
    assert metric.auc(labels, scores, weights) == pytest.approx(expected, rel=1e-12)
    coarse = metric.RunningCoarseAUC()
    coarse.update(labels, scores, weights)  # these scores are 16-bit floats: no rounding
    assert coarse.value() == pytest.approx(expected, rel=1e-12)


def test_coarse_auc_is_within_1e_4_and_resumes_exactly():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 20_000)
    scores = rng.normal(labels * 1.5 - 4, 1.0)
    running, half = metric.RunningCoarseAUC(), metric.RunningCoarseAUC()
    running.update(labels, scores)
    half.update(labels[:9_000], scores[:9_000])
    resumed = metric.RunningCoarseAUC()
    resumed.load_state_dict(half.state_dict())
    resumed.update(labels[9_000:], scores[9_000:])
    assert running.value() == pytest.approx(metric.auc(labels, scores), abs=1e-4)
    assert resumed.value() == running.value()


def test_coarse_auc_orders_zeros_infinities_and_small_numbers():
    scores = [-np.inf, -70000.0, -1.0, -1e-7, -0.0, 0.0, 1e-7, 1.0, 70000.0, np.inf]
    coarse = metric.RunningCoarseAUC()
    coarse.update([0] * 5 + [1] * 5, scores)
    # 25 pairs; -0 and 0 are equal, and each overflow joins its infinity without crossing classes.
    assert coarse.value() == pytest.approx(24.5 / 25)


@pytest.mark.parametrize("z", [0.0, 20.0, 800.0, -800.0])
def test_logistic_loss_of_large_scores_is_exact(z):
    expected = {0.0: math.log(2), 20.0: 2.061153620314381e-09, 800.0: 0.0, -800.0: 800.0}[z]
    assert metric.logistic_loss([1], [z]) == pytest.approx(expected, rel=1e-12)
    assert metric.logistic_loss([0], [-z]) == pytest.approx(expected, rel=1e-12)


def test_softmax_loss_of_large_scores_does_not_overflow():
    assert metric.softmax_loss([1], [[1000.0, 0.0, 0.0]]) == pytest.approx(1000.0)
    assert metric.softmax_loss([0], [[1000.0, 0.0, 0.0]]) == 0.0


def test_log_loss_of_impossible_label_is_infinite():
    assert metric.binary_log_loss([1, 0], [0.0, 0.5]) == math.inf
    assert metric.binary_log_loss([1, 0], [1.0, 0.0]) == 0.0


@pytest.mark.parametrize(
    "function", [metric.logistic_loss, metric.auc, metric.accuracy, metric.rmse, metric.mae]
)
def test_no_rows_give_nan(function):
    assert math.isnan(function([], []))


@pytest.mark.parametrize("make", [*RUNNING.values(), metric.RunningCoarseAUC])
def test_accumulators_start_at_nan(make):
    assert math.isnan(make().value())


def test_auc_of_one_class_is_nan():
    assert math.isnan(metric.auc([1, 1], [0.2, 0.3]))
    assert math.isnan(metric.auc([0, 1], [0.2, 0.3], [0, 1]))


def test_running_mean_ignores_batches_without_weight():
    running = metric.RunningMean(metric.accuracy)
    running.update([1], [1.0], [0.0])
    running.update([], [])
    running.update([0], [1.0])
    assert running.value() == 0.0


BAD = [
    (metric.auc, ([0, 1], [0.5]), "labels"),
    (metric.auc, ([0, 2], [0.5, 1]), "0 or 1; got 2"),
    (metric.auc, ([0, 1], [0.5, np.nan]), "row 1"),
    (metric.auc, ([0, 1], [[0.5, 1]]), "shape (1, 2)"),
    (metric.auc, ([0, 1], [0.5, 1], [1, -2]), "-2.0"),
    (metric.auc, ([0, 1], [0.5, 1], [1]), "2 rows"),
    (metric.logistic_loss, ([-1, 1], [0.5, 1]), "0 or 1; got -1"),
    (metric.binary_log_loss, ([1], [1.5]), "[0, 1]; got 1.5"),
    (metric.binary_log_loss, ([1], [np.nan]), "[0, 1]; got nan"),
    (metric.softmax_loss, ([3], [[1.0, 2, 3]]), "0 to 2; got 3"),
    (metric.softmax_loss, ([0.5], [[1.0, 2, 3]]), "0 to 2; got 0.5"),
    (metric.softmax_loss, ([0], [1.0]), "(rows, classes)"),
    (metric.accuracy, ([0, 1], [[1.0, 2, 3]]), "same rows"),
    (metric.rmse, ([0, 1], [1.0]), "same shape"),
]


@pytest.mark.parametrize(("function", "args", "message"), BAD)
def test_bad_arguments_are_named(function, args, message):
    with pytest.raises(ValueError) as error:
        function(*args)
    assert message in str(error.value)


def test_auc_and_log_loss_as_metrics():
    rng = np.random.default_rng(3)
    labels, scores = rng.integers(0, 2, (3, 20)), (rng.random((3, 20)) * 8).round() / 8
    for name, form in itertools.product(("auc", "log_loss", "LogLoss"), (1, 2, 3)):
        made = metric.create(name)
        assert math.isnan(made.get()[1])
        for i, (y, p) in enumerate(zip(labels, scores, strict=True)):
            if i == 1:
                made.reset_local()
            shaped = {1: p, 2: p[:, None], 3: np.stack([1 - p, p], axis=1)}[form]
            made.update([nd.array(y)], [nd.array(shaped)])
        for (_, found), of in ((made.get(), slice(1, 3)), (made.get_global(), slice(0, 3))):
            y, p = labels[of].ravel(), scores[of].ravel()
            above = p[y == 1][:, None] - p[y == 0]
            kept = np.clip(p, 1e-12, 1 - 1e-12)
            expected = (
                np.mean((above > 0) + (above == 0) / 2)
                if name == "auc"
                else -np.mean(np.log(np.where(y == 1, kept, 1 - kept)))
            )
            assert found == pytest.approx(expected, rel=1e-5), (name, form)
        with pytest.raises(ValueError, match="predictions must be"):
            made.update([nd.array([0, 1])], [nd.ones((2, 3))])
        with pytest.raises(ValueError, match="0 or 1"):
            made.update([nd.array([0, 3])], [nd.ones((2,))])
        assert metric.create(made.get_config()).get_config() == made.get_config()


@pytest.mark.parametrize("name", ["loss", "mae"])
def test_sums_are_kept_in_double_precision(name):
    made = metric.create(name)
    for size in (2.0**25, *[1.0] * 8):  # float32 has no 2 ** 25 + 1
        made.update([nd.zeros(1)], [nd.array([size])])
    assert made.sum_metric == 2**25 + 8
    assert type(made.get()[1]) is float
