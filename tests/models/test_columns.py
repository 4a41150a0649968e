"""Scaling columns does not change what a model says."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from rarefy.models._columns import ColumnScaling, ColumnStats


@pytest.fixture
def rows(rng):
    """50 rows, 8 columns: one-hot, large, dense with an offset, constant, empty, mostly dense."""
    x = np.zeros((50, 8), np.float32)
    x[np.arange(50), rng.integers(0, 3, 50)] = 1
    x[rng.random(50) < 0.4, 3] = 250.0
    x[:, 4] = rng.normal(1000, 3, 50)
    x[:, 5] = 7.0
    x[:46, 7] = rng.normal(-2, 0.1, 46)
    return x


def stats_of(x, batch=50):
    stats = ColumnStats(x.shape[1])
    for i in range(0, len(x), batch):
        part = csr_array(x[i : i + batch])
        stats.update(part.data, part.indices, part.shape[0])
    return stats


def test_stats_are_those_of_the_columns_in_any_batches(rows):
    for batch in (1, 7, 50):
        stats = stats_of(rows, batch)
        assert stats.rows == 50
        assert stats.count.tolist() == (rows != 0).sum(axis=0).tolist()
        np.testing.assert_allclose(stats.total, rows.astype(float).sum(axis=0), rtol=1e-12)
        np.testing.assert_allclose(stats.squares, (rows.astype(float) ** 2).sum(axis=0), rtol=1e-12)


def test_dense_columns_are_standardized_and_one_hot_columns_left_alone(rows):
    scaling = ColumnScaling.fit(stats_of(rows))
    assert scaling.dense.tolist() == [4, 7]
    assert scaling.scale[[0, 1, 2, 6]].tolist() == [1, 1, 1, 1]
    assert scaling.scale[3] == 250 and scaling.scale[5] == 7
    scaled = scaling.apply(csr_array(rows)).toarray()
    np.testing.assert_allclose(scaled[:, [4, 7]].mean(axis=0), 0, atol=1e-4)
    np.testing.assert_allclose(scaled[:, [4, 7]].std(axis=0), 1, rtol=1e-3)
    np.testing.assert_array_equal(scaled[:, :3], rows[:, :3])


def test_scaled_rows_stay_sorted_and_unique(rows):
    scaled = ColumnScaling.fit(stats_of(rows)).apply(csr_array(rows))
    assert scaled.has_canonical_format
    np.testing.assert_allclose(
        scaled.toarray()[48], [*(rows[48, :3]), rows[48, 3] / 250, *scaled.toarray()[48, 4:]]
    )


def test_one_hot_rows_need_no_scaling():
    x = np.eye(6, dtype=np.float32)
    scaling = ColumnScaling.fit(stats_of(x))
    assert scaling.is_none
    x = csr_array(x)
    assert scaling.apply(x) is x


def test_centering_can_be_left_out(rows):
    scaling = ColumnScaling.fit(stats_of(rows), center=False)
    assert not len(scaling.dense)
    assert scaling.scale[4] == pytest.approx(1000, rel=0.01)


@pytest.mark.parametrize("outputs", [1, 3])
def test_unscaled_linear_model_gives_the_same_scores(rows, rng, outputs):
    scaling = ColumnScaling.fit(stats_of(rows))
    weight, bias = rng.normal(size=(8, outputs)), rng.normal(size=outputs)
    scores = scaling.apply(csr_array(rows)).toarray().astype(float) @ weight + bias
    w, b, none = scaling.unscaled(weight, bias, None)
    assert none is None
    np.testing.assert_allclose(rows.astype(float) @ w + b, scores, rtol=1e-3, atol=1e-3)


def machine(x, weight, bias, factors):
    """A factorization machine by its definition, pair by pair."""
    z = x @ weight[:, 0] + bias[0]
    for i in range(x.shape[1]):
        for j in range(i + 1, x.shape[1]):
            z = z + (factors[i] @ factors[j]) * x[:, i] * x[:, j]
    return z


def test_unscaled_factorization_machine_gives_the_same_scores(rows, rng):
    scaling = ColumnScaling.fit(stats_of(rows))
    weight, bias, factors = rng.normal(size=(8, 1)), rng.normal(size=1), rng.normal(size=(8, 2))
    scores = machine(scaling.apply(csr_array(rows)).toarray().astype(float), weight, bias, factors)
    unscaled = machine(rows.astype(float), *scaling.unscaled(weight, bias, factors))
    # The offset of 1000 against a spread of 3 costs digits: the values themselves are float32.
    np.testing.assert_allclose(unscaled, scores, rtol=1e-3, atol=2e-2)


def test_rows_without_elements_or_without_rows_are_left_alone():
    assert ColumnScaling.fit(ColumnStats(4)).is_none
    stats = ColumnStats(4)
    stats.update(np.zeros(0, np.float32), np.zeros(0, np.int32), 3)
    assert ColumnScaling.fit(stats).is_none
