"""float16 weights that are updated through a float32 copy, against what MXNet 1.9.1 recorded."""

import json

import numpy as np
import pytest

from oracles.mxnet_multi_precision import FILE, START, STEPS, gradients
from rarefy import nd, optimizer
from rarefy.optimizer import SGD, TrainStep

RUNS = json.loads(FILE.read_text())["runs"]
# Where rows without gradient stay whether an update is lazy or not.
STILL = [r for r in RUNS if r["optimizer"] in ("sgd", "adagrad") and not r.get("wd")]
# A unit in the last place of float16: float32 may round to the other side of a tie.
CLOSE = {"rtol": 1e-3, "atol": 1e-7}


def make(run, **options):
    given = {k: v for k, v in run.items() if k not in ("optimizer", "weights")}
    return optimizer.create(run["optimizer"], multi_precision=True, **given, **options)


def one_hot(gradient):
    """The rows of a gradient that are not zero, and the csr array that puts them in their places."""
    rows = np.flatnonzero(gradient.any(axis=1))
    parts = (np.ones(len(rows), np.float16), rows, np.arange(len(rows) + 1))
    x = nd.sparse.csr_matrix(parts, shape=(len(rows), 4), dtype="float16")
    return x, nd.array(gradient[rows], dtype="float16")


def agrees(found, run):
    assert np.dtype(found[0].dtype) == np.float16
    np.testing.assert_allclose(np.array(found, float), run["weights"], **CLOSE)
    exact = np.mean(np.array(found, float) == run["weights"])
    assert exact > 0.9


@pytest.mark.parametrize("run", RUNS, ids=lambda r: r["optimizer"])
def test_eager_updates_are_mxnets(run):
    made, weight, found = make(run), nd.array(START, dtype="float16"), []
    state = made.create_state_multi_precision(0, weight)
    for gradient in gradients():
        made.update_multi_precision(0, weight, nd.array(gradient, dtype="float16"), state)
        found.append(weight.asnumpy())
    agrees(found, run)


@pytest.mark.parametrize("run", RUNS, ids=lambda r: r["optimizer"])
def test_compiled_steps_are_mxnets(run):
    weight, found = nd.array(START, dtype="float16"), []
    weight.attach_grad()
    step = TrainStep(lambda head: (weight * head).sum(), {"weight": weight}, make(run))
    for gradient in gradients():
        step(nd.array(gradient, dtype="float16"))
        found.append(weight.asnumpy())
    agrees(found, run)
    assert step.compilations == 1


@pytest.mark.parametrize("run", STILL, ids=lambda r: r["optimizer"])
def test_compiled_steps_with_row_sparse_gradients_are_mxnets(run):
    weight, found = nd.array(START, dtype="float16"), []
    weight.attach_grad(stype="row_sparse")
    params = {"weight": weight}
    step = TrainStep(lambda x, head: (nd.dot(x, weight) * head).sum(), params, make(run))
    for gradient in gradients():
        step(*one_hot(gradient))
        found.append(weight.asnumpy())
    agrees(found, run)


def test_a_row_sparse_weight_steps_through_its_copy():
    run = STILL[0]
    weight, found = nd.array(START, dtype="float16").tostype("row_sparse"), []
    weight.attach_grad()
    made = make(run)
    step = TrainStep(lambda x, head: (nd.dot(x, weight) * head).sum(), {"weight": weight}, made)
    for gradient in gradients():
        step(*one_hot(gradient))
        assert weight.stype == "row_sparse"
        found.append(weight.asnumpy())
    agrees(found, run)


def test_a_step_without_a_copy_loses_small_steps():
    """What the copy is for: each of these steps is below half a unit in the last place of 1."""
    found = {}
    for multi_precision in (True, False):
        weight = nd.ones((2,), dtype="float16")
        weight.attach_grad()
        made = SGD(learning_rate=1e-4, multi_precision=multi_precision)
        if multi_precision:
            step = TrainStep(lambda weight=weight: weight.sum(), {"w": weight}, made)
        else:
            with pytest.warns(UserWarning, match="multi_precision"):
                step = TrainStep(lambda weight=weight: weight.sum(), {"w": weight}, made)
        for _ in range(20):
            step()
        found[multi_precision] = weight.asnumpy()
    assert found[False].tolist() == [1, 1]
    np.testing.assert_allclose(found[True], 0.998, rtol=5e-4)


def test_the_copy_is_part_of_the_saved_state():
    run = RUNS[1]
    weights = []

    def begin():
        weight = nd.array(START, dtype="float16")
        weight.attach_grad()
        weights.append(weight)
        return TrainStep(lambda head: (weight * head).sum(), {"weight": weight}, make(run))

    first, heads = begin(), [nd.array(g, dtype="float16") for g in gradients()]
    for head in heads[: STEPS // 2]:
        first(head)
    saved, then = first.state_dict(), weights[0].asnumpy()
    second = begin()
    weights[1][:] = then
    second.load_state_dict(saved)
    for head in heads[STEPS // 2 :]:
        first(head)
        second(head)
    np.testing.assert_array_equal(weights[0].asnumpy(), weights[1].asnumpy())
