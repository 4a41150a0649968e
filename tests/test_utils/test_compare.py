"""Comparisons: what they let through and what they say."""

import os

import numpy as np
import pytest

import rarefy as mx
from rarefy import test_utils as tu


def test_tolerance_is_that_of_the_looser_dtype():
    assert tu.get_tols(np.zeros(2, "float16"), np.zeros(2), None, None) == (1e-2, 1e-1)
    assert tu.get_tols(mx.nd.zeros(2), np.zeros(2), None, 1e-2) == (1e-4, 1e-2)
    assert tu.get_tolerance(np.zeros(2, "float32"), {"float32": 0.3}, tu.default_rtols()) == 0.3
    assert tu.almost_equal(np.float32([2.0]), np.float32([2.0011]))
    assert not tu.almost_equal(np.float32([2.0]), np.float32([2.002]))
    assert not tu.almost_equal(np.array([1, 2]), np.array([1, 3]))
    assert tu.almost_equal(np.array([np.inf]), np.array([np.inf]))
    assert not tu.almost_equal(np.array([np.inf]), np.array([-np.inf]))
    assert not tu.almost_equal(np.array([np.nan]), np.array([np.nan]))
    assert tu.almost_equal(np.array([np.nan]), np.array([np.nan]), equal_nan=True)


@pytest.mark.parametrize("stype", ["default", "csr", "row_sparse"])
def test_arrays_of_every_storage_type_compare_with_numpy(stype):
    dense = np.float32([[0, 1, 0], [0, 0, 0], [2, 0, 3]])
    made = mx.nd.array(dense).tostype(stype)
    tu.assert_almost_equal(made, dense)
    tu.assert_allclose(made, dense)
    assert tu.same(made, dense)
    assert not tu.same(made, dense + 1)
    with pytest.raises(AssertionError, match="Items are not equal"):
        tu.assert_almost_equal(made, dense + 1)


def test_the_message_names_the_worst_place():
    a, b = np.float32([1, 2, 0]), np.float32([1, 2.5, 9])
    # 9 against 0: 9 / (1e-3 + 1e-4 * 9); two of three differ.
    with pytest.raises(AssertionError) as caught:
        tu.assert_almost_equal(a, b, names=("mine", "theirs"))
    message = str(caught.value)
    assert "Error 4736.8" in message
    assert "(mismatch 66.666667%)" in message
    assert "Location of maximum error: (2,), mine=0.00000000, theirs=9.00000000" in message
    with pytest.raises(AssertionError, match=r"maximum error: \(0,\)"):
        tu.assert_almost_equal(np.array([np.nan, 1]), np.array([np.nan, 2]))


def test_shapes_broadcast_unless_told_not_to():
    assert tu.almost_equal(np.zeros((2, 3)), np.zeros((1, 3)))
    with pytest.raises(AssertionError, match=r"a.shape = \(2, 3\)"):
        tu.almost_equal(np.zeros((2, 3)), np.zeros((1, 3)), use_broadcast=False)


def test_a_share_may_differ():
    a, b = np.zeros(10), np.r_[np.zeros(9), 1]
    tu.assert_almost_equal_with_err(a, b, etol=0.1)
    with pytest.raises(AssertionError, match="Items are not equal"):
        tu.assert_almost_equal_with_err(a, b, etol=0.05)


def test_nan_is_ignored_where_asked():
    tu.assert_almost_equal_ignore_nan(np.array([1, np.nan]), np.array([np.nan, 2]))
    with pytest.raises(AssertionError, match="Items are not equal"):
        tu.assert_almost_equal_ignore_nan(np.array([1, np.nan]), np.array([3, 2.0]))


def test_same_array_means_shared_memory():
    a = mx.nd.ones((4,))
    assert tu.same_array(a, a[0:4])
    assert not tu.same_array(a, a.copy())
    np.testing.assert_array_equal(a.asnumpy(), np.ones(4))


def test_assert_exception():
    def fails():
        raise KeyError("x")

    tu.assert_exception(fails, KeyError)
    with pytest.raises(KeyError):
        tu.assert_exception(fails, ValueError)
    with pytest.raises(AssertionError, match="raised nothing"):
        tu.assert_exception(lambda: 1, ValueError)


def test_environment_is_put_back(monkeypatch):
    monkeypatch.setenv("RAREFY_A", "before")
    monkeypatch.delenv("RAREFY_B", raising=False)
    with tu.environment({"RAREFY_A": None, "RAREFY_B": 2}):
        assert os.environ.get("RAREFY_A") is None
        assert os.environ["RAREFY_B"] == "2"
    assert os.environ["RAREFY_A"] == "before"
    assert "RAREFY_B" not in os.environ
    with pytest.raises(ZeroDivisionError), tu.environment("RAREFY_B", "1"):
        _ = 1 / 0
    assert "RAREFY_B" not in os.environ


def test_discard_stderr_drops_native_writes(capfd):
    with tu.discard_stderr():
        os.write(2, b"lost")
    os.write(2, b"kept")
    assert capfd.readouterr().err == "kept"


def test_retry_gives_up_after_n():
    tries = []

    @tu.retry(3)
    def flaky(passes_at):
        tries.append(1)
        assert len(tries) >= passes_at

    flaky(3)
    tries.clear()
    with pytest.raises(AssertionError):
        flaky(4)
    assert len(tries) == 3


def test_generators_are_judged():
    rng = np.random.default_rng(0)
    from_normal, shifted = rng.standard_normal, lambda n: rng.normal(0.1, 1.1, n)
    # Quantiles of the normal distribution at 1/5, 2/5, ... from a table.
    edges = [-np.inf, -0.841621, -0.253347, 0.253347, 0.841621, np.inf]
    buckets, probs = tu.gen_buckets_probs_with_ppf(lambda q: edges[round(5 * q)], 5)
    assert buckets[1] == (-0.841621, -0.253347)
    assert probs == [0.2] * 5
    assert tu.mean_check(from_normal, 0, 1, 10000)
    assert not tu.mean_check(shifted, 0, 1, 10000)
    assert tu.var_check(from_normal, 1, 10000)
    assert not tu.var_check(shifted, 1, 10000)
    assert len(tu.verify_generator(from_normal, buckets, probs, 10000)) == 5
    with pytest.raises(AssertionError, match="Generator test fails"):
        tu.verify_generator(shifted, buckets, probs, 10000)
    # By hand: counts 4, 6 against 5, 5 give 0.4; P(chi2 of one degree > 0.4) = 0.5271.
    p, seen, expected = tu.chi_square_check(
        lambda n: np.array([0] * 4 + [1] * 6), [0, 1], [0.5, 0.5], 10
    )
    assert p == pytest.approx(0.527089, abs=1e-5)
    assert (seen.tolist(), expected.tolist()) == ([4, 6], [5, 5])


def test_compare_optimizer_tells_steps_apart():
    def sgd(lr):
        return mx.optimizer.SGD(learning_rate=lr, momentum=0.9, lazy_update=False)

    for w_stype, g_stype in [("default", "default"), ("default", "row_sparse")]:
        tu.compare_optimizer(sgd(0.1), sgd(0.1), (3, 4), "float32", w_stype, g_stype)
    tu.compare_optimizer(sgd(0.1), sgd(0.1), [(3, 4), (2,)], "float32", ntensors=2)

    class RowByRow(mx.optimizer.Optimizer):
        """A reference that reads and writes rows, as only dense arrays let it."""

        def create_state(self, index, weight):
            return None

        def update(self, index, weight, grad, state):
            for row in range(weight.shape[0]):
                weight[row] -= 0.1 * grad[row]

    rows = mx.optimizer.SGD(learning_rate=0.1)
    tu.compare_optimizer(RowByRow(), rows, (3, 4), "float32", "row_sparse", "row_sparse")
    tu.compare_optimizer(RowByRow(), sgd(0.1), [(3, 4), (2,)], "float32", compare_states=False)
    with pytest.raises(AssertionError, match="Items are not equal"):
        tu.compare_optimizer(sgd(0.1), sgd(0.2), (3, 4), "float32")
