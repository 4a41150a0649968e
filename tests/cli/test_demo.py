"""The made-up click log and `rarefy demo`."""

import re

import numpy as np
import pytest

from rarefy.cli._click_log import FIELDS, N_COLUMNS, RANK, PlantedModel
from rarefy.io import load_libsvm, save_libsvm
from rarefy.metric import auc, binary_log_loss


@pytest.fixture(scope="module")
def log():
    return PlantedModel(0).draw(20_000)


def test_log_is_like_a_click_log(log):
    assert log.x.shape == (20_000, N_COLUMNS) == (20_000, 1_000_000)
    assert log.x.has_canonical_format
    per_row = np.diff(log.x.indptr)
    assert len(FIELDS) < per_row.min() and per_row.max() <= 40
    assert (log.x.data > 0).all()
    assert 0.1 < log.y.mean() < 0.3
    # Popular columns beside rare ones: most of those that occur do so once or twice.
    counts = np.bincount(log.x.indices)
    assert counts.max() > 2000
    assert np.mean(counts[counts > 0] <= 2) > 0.5


def test_categorical_columns_have_one_id_a_row(log):
    start = 0
    for field in FIELDS:
        part = log.x[:, start : start + field.ids]
        assert (np.diff(part.indptr) == 1).all(), field.name
        assert (part.data == 1).all()
        start += field.ids
    words = log.x[:, start:]
    np.testing.assert_allclose(words.multiply(words).sum(axis=1), 1, atol=2e-3)


def test_probabilities_are_those_of_a_factorization_machine(log):
    """The logit, computed by another formula from the model's own numbers."""
    model = PlantedModel(0)
    rows = log.x[:50]
    factors = np.zeros((N_COLUMNS, RANK))
    start = 0
    for k, field in enumerate(FIELDS):
        if k in model._factors:
            factors[start : start + field.ids] = model._factors[k]
        start += field.ids
    squares = rows.multiply(rows)
    pairs = 0.5 * ((rows @ factors) ** 2 - squares @ factors**2).sum(axis=1)
    logit = -2.2 + rows @ model._weight + pairs
    np.testing.assert_allclose(log.p[:50], 1 / (1 + np.exp(-logit)), rtol=1e-5)


def test_labels_are_drawn_with_their_probabilities(log):
    """Calibrated: in each tenth of the rows, by probability, as many ones as expected."""
    for part in np.array_split(np.argsort(log.p), 10):
        expected, spread = log.p[part].mean(), np.sqrt((log.p[part] * (1 - log.p[part])).mean())
        assert abs(log.y[part].mean() - expected) < 4 * spread / np.sqrt(len(part))


def test_best_is_what_the_true_probabilities_reach(log):
    best = log.best()
    assert best["log_loss"] == binary_log_loss(log.y, log.p)
    assert best["auc"] == auc(log.y, log.p)
    # The mean entropy of the labels is the expectation of the log loss: no model is below it.
    p = log.p
    entropy = -np.mean(p * np.log(p) + (1 - p) * np.log1p(-p))
    # Of a single row the log loss has the variance p (1 - p) (log p - log (1 - p))^2.
    spread = np.sqrt(np.mean(p * (1 - p) * (np.log(p) - np.log1p(-p)) ** 2) / len(p))
    assert abs(best["log_loss"] - entropy) < 4 * spread
    assert spread < 0.02 * entropy


def test_same_seed_draws_the_same_log(log):
    again, other = PlantedModel(0).draw(20_000), PlantedModel(1).draw(20_000)
    np.testing.assert_array_equal(again.x.indices, log.x.indices)
    np.testing.assert_array_equal(again.y, log.y)
    assert not np.array_equal(other.y, log.y)


def test_file_brings_back_the_same_rows(log, tmp_path):
    save_libsvm(tmp_path / "x.svm", log.x[:500], log.y[:500], index_base=0)
    found = load_libsvm(tmp_path / "x.svm", n_features=N_COLUMNS, index_base=0)
    np.testing.assert_array_equal(found.X.indices, log.x[:500].indices)
    np.testing.assert_array_equal(found.X.data, log.x[:500].data)


def test_demo_shows_how_close_the_models_come(rarefy, tmp_path):
    status, out, err = rarefy("demo", "--rows", 100_000, "--out", "d")
    assert status == 0, err
    table = dict(
        re.findall(r"^(share of clicks alone|linear model|factorization machine|true prob\w+) +"
                   r"[\d.]+ +[\d.]+ +(-?\d+)%$", out, re.M)
    )  # fmt: skip
    linear, fm = int(table["linear model"]), int(table["factorization machine"])
    assert int(table["share of clicks alone"]) == 0
    assert int(table["true probabilities"]) == 100
    # The pairs are out of a linear model's reach.
    assert 20 < linear < 40
    assert 60 < fm < 100
    assert "a dense one would have taken 34.3 MiB a step" in out
    assert len(re.findall(r"[\d,]+ rows/s\. A gradient had", out)) == 2
    for path in ("clicks.svm", "clicks.test.svm", "linear/curves.png", "fm/curves.png"):
        assert (tmp_path / "d" / path).stat().st_size > 10_000
        assert f"d/{path}" in out
