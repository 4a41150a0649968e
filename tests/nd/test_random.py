"""Random arrays follow their distributions, their seed and their dtype."""

import numpy as np
import pytest
import scipy.stats

import rarefy
from rarefy import autograd, nd

N = 4000
CONTINUOUS = {
    "uniform": (lambda n: nd.random.uniform(-1, 3, n), scipy.stats.uniform(-1, 4)),
    "normal": (lambda n: nd.random.normal(2, 0.5, n), scipy.stats.norm(2, 0.5)),
    "randn": (lambda n: nd.random.randn(n, loc=-1.0, scale=3.0), scipy.stats.norm(-1, 3)),
    "exponential": (lambda n: nd.random.exponential(2.5, n), scipy.stats.expon(scale=2.5)),
    "gamma": (lambda n: nd.random.gamma(3, 0.5, n), scipy.stats.gamma(3, scale=0.5)),
    "normal like": (
        lambda n: nd.random.normal_like(nd.zeros(n), loc=2, scale=0.5),
        scipy.stats.norm(2, 0.5),
    ),
    "samples of exponential": (
        lambda n: nd.random.exponential(nd.array([2.5]), shape=n)[0],
        scipy.stats.expon(scale=2.5),
    ),
    "operator uniform": (lambda n: nd.random_uniform(0, 2, (n,)), scipy.stats.uniform(0, 2)),
    "operator exponential": (
        lambda n: nd.random_exponential(lam=4.0, shape=(n,)),
        scipy.stats.expon(scale=0.25),
    ),
    "operator gamma": (
        lambda n: nd.random_gamma(alpha=2.0, beta=3.0, shape=(n,)),
        scipy.stats.gamma(2, scale=3),
    ),
}


@pytest.fixture(autouse=True)
def _seed():
    rarefy.random.seed(7)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_distribution(name):
    draw, known = CONTINUOUS[name]
    values = draw(N).asnumpy()
    assert values.dtype == np.float32
    assert scipy.stats.kstest(values, known.cdf).pvalue > 1e-3


def counts_fit(values, probabilities):
    found = np.bincount(values.astype(int), minlength=len(probabilities))
    assert len(found) == len(probabilities)
    return scipy.stats.chisquare(found, N * np.array(probabilities)).pvalue > 1e-3


def test_poisson():
    values = nd.random.poisson(1.5, N).asnumpy()
    known = scipy.stats.poisson(1.5).pmf(np.arange(7))
    assert counts_fit(np.minimum(values, 7), [*known, 1 - known.sum()])
    assert (nd.random_poisson(lam=0.0, shape=(9,)).asnumpy() == 0).all()


COUNTS = {
    "negative binomial": (
        lambda n: nd.random.negative_binomial(3, 0.4, n),
        scipy.stats.nbinom(3, 0.4),
    ),
    "generalized negative binomial": (
        lambda n: nd.random.generalized_negative_binomial(2, 0.5, n),
        scipy.stats.nbinom(2, 0.5),
    ),
}


@pytest.mark.parametrize("name", COUNTS)
def test_distribution_of_counts(name):
    draw, distribution = COUNTS[name]
    values = draw(N).asnumpy()
    known = distribution.pmf(np.arange(9))
    assert (values.dtype, values.shape) == (np.float32, (N,))
    assert counts_fit(np.minimum(values, 9), [*known, 1 - known.sum()])


def test_randint():
    values = nd.random.randint(-2, 3, N)
    assert values.dtype == np.int32
    assert counts_fit(values.asnumpy() + 2, [0.2] * 5)
    assert nd.random_randint(low=5, high=6, shape=(3,)).asnumpy().tolist() == [5, 5, 5]


def test_multinomial():
    data = np.array([[0.1, 0.7, 0.2], [0, 0, 1]], np.float32)
    values = nd.random.multinomial(nd.array(data), shape=N)
    assert (values.shape, values.dtype) == ((2, N), np.int32)
    assert counts_fit(values.asnumpy()[0], data[0])
    assert (values.asnumpy()[1] == 2).all()
    assert nd.sample_multinomial(nd.array(data[1])).asnumpy().tolist() == [2]


def test_logarithms_of_what_was_drawn_have_a_gradient():
    data = nd.array([[0.1, 0.7, 0.2], [0, 0.5, 0.5]])
    data.attach_grad()
    with autograd.record():
        values, logs = nd.sample_multinomial(data, shape=(5,), get_prob=True)
    logs.backward()
    drawn, p = values.asnumpy(), data.asnumpy()
    assert (drawn.dtype, logs.shape) == (np.int32, (2, 5))
    np.testing.assert_allclose(logs.asnumpy(), np.log(np.take_along_axis(p, drawn, 1)), rtol=1e-6)
    counts = np.stack([np.bincount(row, minlength=3) for row in drawn])
    np.testing.assert_allclose(data.grad.asnumpy() * p, counts, rtol=1e-6)


def test_random_slopes_of_rrelu():
    x = -nd.ones((N,))
    mean = nd.LeakyReLU(x, act_type="rrelu", lower_bound=0.2, upper_bound=0.4).asnumpy()
    np.testing.assert_allclose(mean, -0.3, rtol=1e-6)
    with autograd.train_mode():
        drawn = nd.LeakyReLU(x, act_type="rrelu", lower_bound=0.2, upper_bound=0.4).asnumpy()
    assert scipy.stats.kstest(-drawn, scipy.stats.uniform(0.2, 0.2).cdf).pvalue > 1e-3


def test_zipfian_classes():
    drawn, of_true, of_drawn = nd.contrib.rand_zipfian(nd.array([3]), N, 5)
    expected = N * np.log(np.arange(2, 7) / np.arange(1, 6)) / np.log(6)
    assert counts_fit(drawn.asnumpy(), expected / N)
    np.testing.assert_allclose(of_true.asnumpy(), expected[3:4])
    np.testing.assert_allclose(of_drawn.asnumpy(), expected[drawn.asnumpy()])


def test_shuffle_keeps_rows():
    rows = np.arange(60, dtype=np.float32).reshape(20, 3)
    shuffled = nd.random.shuffle(nd.array(rows)).asnumpy()
    assert (shuffled != rows).any()
    np.testing.assert_array_equal(shuffled[shuffled[:, 0].argsort()], rows)


def test_the_seed_decides_and_every_draw_moves_on():
    first, second = nd.random.uniform(shape=5), nd.random.uniform(shape=5)
    assert (first.asnumpy() != second.asnumpy()).all()
    rarefy.random.seed(7)
    np.testing.assert_array_equal(nd.random.uniform(shape=5).asnumpy(), first.asnumpy())
    rarefy.random.seed(8)
    assert (nd.random.uniform(shape=5).asnumpy() != first.asnumpy()).all()


def test_arrays_as_parameters():
    low, high = nd.array([0, 10]), nd.array([1, 30])
    values = nd.random.uniform(low, high, shape=N).asnumpy()
    assert values.shape == (2, N)
    for row, known in zip(
        values, (scipy.stats.uniform(0, 1), scipy.stats.uniform(10, 20)), strict=True
    ):
        assert scipy.stats.kstest(row, known.cdf).pvalue > 1e-3


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_dtypes_and_out(dtype):
    for draw in (nd.random.uniform, nd.random.normal, nd.random.exponential, nd.random.gamma):
        values = draw(shape=(200,), dtype=dtype)
        assert np.dtype(values.dtype) == dtype
        assert len(np.unique(values.asnumpy())) > 100
        out = nd.zeros((200,), dtype=dtype)
        assert draw(out=out) is out
        assert out.asnumpy().any()


def test_uniform_stays_below_its_end():
    values = nd.random.uniform(shape=(20_000,), dtype="float16").asnumpy()
    assert values.min() >= 0
    assert values.max() < 1


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("uniform", (2, 1)),
        ("normal", (0, -1)),
        ("gamma", (-1, 1)),
        ("gamma", (1, 0)),
        ("exponential", (-1,)),
        ("poisson", (-1,)),
        ("negative_binomial", (-3, 0.5)),
        ("negative_binomial", (3, 1.5)),
        ("generalized_negative_binomial", (-1, 0.3)),
        ("generalized_negative_binomial", (1, -0.3)),
        ("randint", (5, 2)),
    ],
)
def test_numbers_that_no_distribution_has(name, numbers):
    with pytest.raises(rarefy.MXNetError, match="must"):
        getattr(nd.random, name)(*numbers, shape=(2,))
