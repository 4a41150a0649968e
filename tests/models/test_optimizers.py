"""The optimizers as training uses them, and the settings that choose them."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from rarefy.models import ModelHeader, settings
from rarefy.models._kinds import kind_of
from rarefy.models._network import Network
from rarefy.models._optimizers import l2_strengths, refreshed_ftrl

WIDTH = 6


def network(loss="logistic", outputs=1, bias=0.0, steps=10, strengths=None, scale=None, **given):
    chosen = settings(1000, loss, 1.0, **{"batch_size": 4, "schedule": "constant", **given})
    classes = None if loss == "squared" else tuple(range(max(outputs, 2)))
    header = ModelHeader(
        chosen.model, loss, WIDTH, 1, classes, factors=chosen.factors, hidden=chosen.layers
    )
    kind = kind_of(header)
    formula = kind.formula(kind.first(chosen, np.full(outputs, bias, np.float32)))
    return Network(formula, loss, chosen, steps=steps, strengths=strengths, scale=scale)


def batch(rng, rows=4):
    x = (rng.random((rows, WIDTH)) < 0.5) * rng.normal(size=(rows, WIDTH))
    x[:, 5] = 0  # a column that no row has
    return csr_array(x.astype(np.float32)), rng.integers(0, 2, rows).astype(np.float32)


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def gradients(x, y, w, b):
    """Of the logistic loss summed over the rows."""
    d = sigmoid(x @ w + b) - y
    return x.T @ d, d.sum()


def test_adagrad_step_is_that_of_the_formula(rng):
    net = network(lr=0.3)
    w, b, h, hb = np.zeros(WIDTH), 0.0, np.zeros(WIDTH), 0.0
    for _ in range(5):
        x, y = batch(rng)
        scores = net.learn(x, y, None).asnumpy()
        np.testing.assert_allclose(scores, x.toarray() @ w + b, rtol=1e-4, atol=1e-6)
        g, gb = gradients(x.toarray(), y, w, b)
        h, hb = h + g * g, hb + gb * gb
        w, b = w - 0.3 * g / np.sqrt(h + 1), b - 0.3 * gb / np.sqrt(hb + 1)
    weight, bias = net.numbers().values()
    np.testing.assert_allclose(weight[:, 0], w, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(bias, b, rtol=1e-4)
    assert weight[5] == 0


def test_sgd_takes_the_mean_over_the_batch(rng):
    net = network(lr=0.3, optimizer="sgd")
    x, y = batch(rng)
    net.learn(x, y, None)
    g, gb = gradients(x.toarray(), y, np.zeros(WIDTH), 0.0)
    weight, bias = net.numbers().values()
    np.testing.assert_allclose(weight[:, 0], -0.3 * g / 4, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(bias, -0.3 * gb / 4, rtol=1e-5)


def test_short_batch_and_zero_weights_leave_the_padding_out(rng):
    x, y = batch(rng, rows=3)
    short, padded = network(lr=0.3), network(lr=0.3)
    short.learn(x, y, None)
    more = csr_array(np.concatenate([x.toarray(), 9 * np.ones((1, WIDTH), np.float32)]))
    weights = np.array([1, 1, 1, 0], np.float32)
    padded.learn(more, np.append(y, 1).astype(np.float32), weights)
    np.testing.assert_allclose(
        short.numbers()["weight"], padded.numbers()["weight"], rtol=1e-6, atol=1e-8
    )


def test_softmax_step_is_that_of_the_formula(rng):
    net = network("softmax", outputs=3, lr=0.3, optimizer="sgd")
    x, _ = batch(rng)
    y = np.array([0, 2, 1, 2], np.float32)
    net.learn(x, y, None)
    d = np.full((4, 3), 1 / 3) - np.eye(3)[y.astype(int)]
    weight, bias = net.numbers().values()
    np.testing.assert_allclose(weight, -0.3 * x.toarray().T @ d / 4, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(bias, -0.3 * d.sum(axis=0) / 4, rtol=1e-5, atol=1e-7)


def test_squared_factorization_machine_step_is_that_of_the_formula(rng):
    options = {"lr": 0.1, "optimizer": "sgd", "model": "fm", "factors": 2, "factor_std": 0.5}
    net = network("squared", **options, factor_lr=0.5)
    v = net.numbers()["factors"]
    x, _ = batch(rng)
    y = rng.normal(size=4).astype(np.float32)
    scores = net.learn(x, y, None).asnumpy()
    dense = x.toarray()
    s = dense @ v
    z = 0.5 * ((s**2).sum(axis=1) - (dense**2 @ v**2).sum(axis=1))
    np.testing.assert_allclose(scores, z, rtol=1e-4, atol=1e-6)
    d = z - y
    g = dense.T @ (s * d[:, None]) - (dense**2).T @ d[:, None] * v
    np.testing.assert_allclose(net.numbers()["factors"], v - 0.05 * g / 4, rtol=1e-4, atol=1e-6)


def test_first_factors_are_those_of_the_seed():
    options = {"model": "fm", "factors": 2, "seed": 7, "factor_std": 0.5}
    expected = np.random.default_rng(7).standard_normal((WIDTH, 2), np.float32) * np.float32(0.5)
    np.testing.assert_array_equal(network(**options).numbers()["factors"], expected)


def test_l2_pulls_at_the_rows_of_the_batch_only(rng):
    strengths = np.arange(1, WIDTH + 1, dtype=np.float32)[:, None]
    plain, pulled = (network(lr=0.3, optimizer="sgd", strengths=s) for s in (None, strengths))
    x, y = batch(rng)
    x = csr_array(x.toarray() * np.array([1, 1, 1, 0, 1, 0], np.float32))
    for net in (plain, pulled):
        net.load_state(
            {**net.state()[0], "param.weight": np.ones((WIDTH, 1), np.float32)}, net.state()[1]
        )
        net.learn(x, y, None)
    present = (x.toarray() != 0).any(axis=0)
    first, second = plain.numbers(), pulled.numbers()
    difference = first["weight"][:, 0] - second["weight"][:, 0]
    np.testing.assert_allclose(difference, present * 0.3 / 4 * strengths[:, 0], rtol=1e-5)
    np.testing.assert_array_equal(first["bias"], second["bias"])


def test_l2_strength_is_unbiased_over_batches(rng):
    """Strength times the share of batches with the column is the penalty of every step."""
    rows, size, l2 = 10_000, 20, 0.01
    counts = np.array([0, 1, 10, 300, 5000, 10_000])
    found = l2_strengths(l2, counts, rows, size, None)[:, 0]
    assert found[0] == 0
    for count, strength in zip(counts[1:], found[1:], strict=True):
        has = np.zeros(rows, bool)
        has[:count] = True
        shares = [rng.permutation(has).reshape(-1, size).any(axis=1).mean() for _ in range(20)]
        assert strength * np.mean(shares) == pytest.approx(l2 * size, rel=0.02)
    scaled = l2_strengths(l2, counts, rows, size, np.full(6, 5.0, np.float32))
    np.testing.assert_allclose(scaled[:, 0], found / 25, rtol=1e-6)


def test_l2_strength_counts_the_rows_of_a_short_last_batch(rng):
    """The penalties of an epoch add up to that of all rows, not to that of full batches."""
    rows, l2 = 10, 0.01
    for size in (16, 8):  # one short batch; one of 8 and one of 2
        counts = np.array([1, 4, 10])
        found = l2_strengths(l2, counts, rows, size, None)[:, 0]
        for count, strength in zip(counts, found, strict=True):
            has = np.arange(rows) < count
            batches = [
                sum(part.any() for part in np.split(rng.permutation(has), range(size, rows, size)))
                for _ in range(4000)
            ]
            assert strength * np.mean(batches) == pytest.approx(l2 * rows, rel=0.02)


def test_ftrl_weight_is_made_anew_from_its_state():
    z, n = np.array([0.5, -3.0, 3.0]), np.array([4.0, 4.0, 1.0])
    # (sign(z) l1 - z) * lr / sqrt(n): 0; (-1 + 3) / 20; (1 - 3) / 10.
    np.testing.assert_allclose(refreshed_ftrl(z, n, 0.1, 1.0), [0, 2 / 20, -2 / 10])


@pytest.mark.parametrize("schedule", ["linear", "constant"])
def test_ftrl_step_is_that_of_the_formula(rng, schedule):
    """A step of weighted dual averaging with squares that start at 1, from the first bias on."""
    net = network(optimizer="ftrl", lr=0.3, l1=0.02, schedule=schedule, bias=0.5, steps=5)
    w, z, n = np.zeros(WIDTH + 1), np.zeros(WIDTH + 1), np.ones(WIDTH + 1)
    w[-1], z[-1], lamda1 = 0.5, -0.5 / 0.3, 0.0
    for t in range(1, 6):
        x, y = batch(rng)
        net.learn(x, y, None)
        present = np.append((x.toarray() != 0).any(axis=0), True)
        share = 1 - t / 6 if schedule == "linear" else 1
        lamda1 += share * 0.02 * 4
        g = share * np.append(*gradients(x.toarray(), y, w[:-1], w[-1]))
        z = np.where(present, z + g - (np.sqrt(n + g * g) - np.sqrt(n)) * w / 0.3, z)
        n = np.where(present, n + g * g, n)
        l1 = np.append(np.full(WIDTH, lamda1), 0)
        weights = np.where(np.abs(z) > l1, (np.sign(z) * l1 - z) * 0.3 / np.sqrt(n), 0)
        w = np.where(present, weights, w)
    weight, bias = net.numbers().values()
    np.testing.assert_allclose(weight[:, 0], weights[:-1], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(bias, weights[-1:], rtol=1e-4)


def test_ftrl_starts_from_the_first_factors():
    options = {"model": "fm", "factors": 2, "seed": 7, "optimizer": "ftrl", "lr": 0.3}
    net = network(**options, factor_lr=0.5)
    z, n = (state.asnumpy() for state in net.step.states["factors"])
    np.testing.assert_allclose(-z * 0.15 / np.sqrt(n), net.numbers()["factors"], rtol=1e-6)
    scale = np.float32([1, 2, 1, 0.5, 1, 1])
    net = network(**options, l1=0.1, scale=scale)
    z, n, _ = (state.asnumpy() for state in net.step.states["weight"])
    np.testing.assert_array_equal(n[:, 0], scale**2)


def test_state_goes_on_exactly(rng):
    first, second = network(model="fm", factors=2), network(model="fm", factors=2, seed=9)
    for _ in range(3):
        first.learn(*batch(rng), None)
    arrays, counts = first.state()
    assert {name: array.shape for name, array in arrays.items()} == second.array_shapes()
    second.load_state(arrays, counts)
    x, y = batch(rng)
    for net in (first, second):
        net.learn(x, y, None)
    for a, b in zip(first.numbers().values(), second.numbers().values(), strict=True):
        np.testing.assert_array_equal(a, b)


DEFAULTS = [
    ({"rows": 800}, {"lr": 0.5, "batch_size": 16, "epochs": 30}),
    ({"rows": 32_561}, {"lr": 0.5, "batch_size": 64, "epochs": 10}),
    ({"rows": 200_000}, {"lr": 0.25, "batch_size": 128, "epochs": 2}),
    ({"rows": 10**9}, {"lr": 0.1, "batch_size": 1024, "epochs": 1}),
    ({"rows": 1}, {"lr": 0.5, "batch_size": 16, "epochs": 30}),
    ({"rows": 800, "optimizer": "sgd"}, {"lr": 2.0, "schedule": "linear"}),
    ({"rows": 800, "optimizer": "ftrl"}, {"lr": 0.5, "schedule": "linear"}),
    ({"rows": 800, "optimizer": "adam"}, {"lr": 0.01}),
    ({"rows": 800, "model": "fm"}, {"factors": 8}),
    ({"rows": 800, "lr": None, "epochs": 7}, {"lr": 0.5, "epochs": 7}),
]


@pytest.mark.parametrize(("given", "expected"), DEFAULTS)
def test_defaults_follow_from_the_rows(given, expected):
    given = dict(given)
    found = settings(given.pop("rows"), "logistic", 1.0, **given).as_dict()
    assert {name: found[name] for name in expected} == expected


BAD = [
    ({"lr": 0.0}, "lr"),
    ({"lr": float("inf")}, "lr"),
    ({"l2": -1.0}, "l2"),
    ({"l1": 0.1}, "ftrl"),
    ({"batch_size": 0}, "batch_size"),
    ({"optimizer": "magic"}, "optimizer must be one of"),
    ({"factors": 3}, "0 for a linear model"),
    ({"model": "fm", "factors": 0}, "positive for a factorization machine"),
]


@pytest.mark.parametrize(("given", "message"), BAD)
def test_settings_that_make_no_sense_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        settings(100, "logistic", 1.0, **given)
