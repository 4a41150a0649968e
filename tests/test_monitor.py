"""The monitor, on an executor of two layers."""

import logging

import pytest

import rarefy as mx
from rarefy import nd

# x . w^T = (14, -6), then relu; what MXNet 1.9.1's monitor says of it.
RESULTS = [("fc_output", "10.770329\t"), ("act_output", "9.899495\t")]
INPUTS = [("x", "2.1602468\t"), ("w", "1.6832509\t")]


@pytest.fixture
def executor():
    x, w = mx.sym.Variable("x"), mx.sym.Variable("w")
    fc = mx.sym.FullyConnected(x, w, no_bias=True, num_hidden=2, name="fc")
    act = mx.sym.Activation(fc, act_type="relu", name="act")
    arrays = {"x": nd.array([[1, 2, 3]]), "w": nd.array([[1, 2, 3], [-1, -1, -1]])}
    return act.bind(mx.cpu(), arrays)


def alike(found, expected):
    """Whether the same steps and names have the same statistics, but for the last digit."""
    assert [look[:2] for look in found] == [look[:2] for look in expected]
    assert [float(look[2]) for look in found] == pytest.approx([float(e[2]) for e in expected])
    return all(look[2].endswith("\t") for look in found)


def looks(monitor, executor, count):
    monitor.install(executor)
    found = []
    for _ in range(count):
        monitor.tic()
        executor.forward()
        found.append(monitor.toc())
    return found


def test_every_second_batch(executor):
    first, second, third = looks(mx.mon.Monitor(2), executor, 3)
    assert alike(first, [(1, *pair) for pair in RESULTS + INPUTS])
    assert second == []
    assert alike(third, [(3, *pair) for pair in RESULTS + INPUTS])


def test_patterns_order_and_statistics(executor, caplog):
    ((*found,),) = looks(mx.monitor.Monitor(1, pattern=".*w|act.*", sort=True), executor, 1)
    assert alike(found, [(1, *RESULTS[1]), (1, *INPUTS[1])])
    monitor = mx.mon.Monitor(1, lambda a: [a.min(), a.max()], pattern="fc_output|x")
    (found,) = looks(monitor, executor, 1)
    assert found == [(1, "fc_output", "-6.0\t14.0\t"), (1, "x", "1.0\t3.0\t")]
    monitor.tic()
    with caplog.at_level(logging.INFO):
        monitor.toc_print()
    assert caplog.messages == [f"Batch: {2:7d} {'x':30s} 1.0\t3.0\t"]
    wrong = mx.mon.Monitor(1, lambda a: 3)
    wrong.install(executor)
    wrong.tic()
    with pytest.raises(TypeError, match="stat_func must return arrays; got int"):
        wrong.toc()
