"""The optimizers take the same steps as MXNet 1.9.1.

`mxnet_trajectories.json` was written by running MXNet: a weight of four rows through four gradients
(two rows; none; three rows; two rows, one of them zero), for each optimizer, storage type and
option.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from oracles.optimizers import trajectory
from rarefy import nd, optimizer

RECORD = json.loads((Path(__file__).parent / "mxnet_trajectories.json").read_text())
START = np.array(RECORD["start"], np.float32)


def name_of(run):
    params = ",".join(f"{k}={v}" for k, v in run["params"].items())
    return f"{run['optimizer']}-{run['weight']}-{run['grad']}-lazy={run['lazy']}-{params}"


def our_lazy(run):
    """MXNet's ftrl goes dense for a dense weight, and its adagrad is always lazy."""
    if run["lazy"] is None:
        return not (run["optimizer"] == "ftrl" and run["weight"] == "default")
    return run["lazy"]


def gradient(rows, stype):
    dense = np.zeros_like(START)
    for row, g in rows:
        dense[row] = g
    if stype == "default":
        return nd.array(dense)
    if not rows:
        return nd.sparse.zeros("row_sparse", START.shape)
    data, ids = np.array([g for _, g in rows], np.float32), np.array([r for r, _ in rows])
    return nd.sparse.row_sparse_array((data, ids), shape=START.shape)


def listed(state):
    if state is None:
        return []
    return list(state) if isinstance(state, tuple) else [state]


@pytest.mark.parametrize("run", RECORD["runs"], ids=name_of)
def test_steps_are_mxnets(run):
    made = optimizer.create(run["optimizer"], lazy_update=our_lazy(run), **run["params"])
    weight = nd.array(START).tostype(run["weight"])
    state = made.create_state(0, weight)
    assert [s.stype for s in listed(state)] == run["state_stypes"]
    for rows, expected in zip(RECORD["gradients"], run["weights"], strict=True):
        made.update(0, weight, gradient(rows, run["grad"]), state)
        assert weight.stype == run["weight"]
        np.testing.assert_allclose(weight.asnumpy(), expected, rtol=3e-6, atol=3e-7)
    for s, expected, stype in zip(listed(state), run["states"], run["state_stypes"], strict=True):
        assert s.stype == stype
        np.testing.assert_allclose(s.asnumpy(), expected, rtol=3e-6, atol=3e-7)


@pytest.mark.parametrize("run", RECORD["runs"], ids=name_of)
def test_closed_form_is_mxnets(run):
    gradients = [[(row, np.array(g)) for row, g in rows] for rows in RECORD["gradients"]]
    lazy = our_lazy(run) and run["grad"] == "row_sparse"
    weights, states = trajectory(run["optimizer"], START, gradients, lazy=lazy, **run["params"])
    np.testing.assert_allclose(weights, run["weights"], rtol=2e-5, atol=1e-6)
    for s, expected in zip(states, run["states"], strict=True):
        np.testing.assert_allclose(s, expected, rtol=3e-6, atol=3e-7)
