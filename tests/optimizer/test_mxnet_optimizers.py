"""The optimizers take the steps that MXNet 1.9.1 takes, for each storage type and precision.

`mxnet_optimizers.json` was written by tests/oracles/mxnet_optimizers.py. Where MXNet is plainly at
fault there is a difference, which `docs/differences.md` names.
"""

import json

import numpy as np
import pytest

from oracles.mxnet_optimizers import FILE, GRADIENTS, START, gradient
from rarefy import nd, optimizer

RECORD = json.loads(FILE.read_text())
NAMES = sorted({run["optimizer"] for run in RECORD["runs"]})
# A unit in the last place of float16: float32 may round to the other side of a tie.
CLOSE = {"float32": {"rtol": 2e-5, "atol": 1e-6}, "float16": {"rtol": 1.1e-3, "atol": 1e-4}}


def differs(run) -> bool:
    """Whether MXNet does not agree with itself: its NAG decays the momentum by the new weight where it
    works in place, by the old one elsewhere. Or refuses: it has no row_sparse `Test`."""
    if run["optimizer"] == "nag":
        return run["weight"] == "row_sparse" and {"wd", "momentum"} <= run["params"].keys()
    return "raises" in run


def grad_of(rows, run):
    if run["grad"] == "default":
        return nd.array(gradient(rows), dtype=run["dtype"])
    data = np.array([values for _, values in rows], run["dtype"])
    return nd.sparse.row_sparse_array((data, [row for row, _ in rows]), shape=(4, 2))


def same(found, expected, close):
    if expected is None:
        assert found is None
    elif isinstance(expected, list):
        assert isinstance(found, tuple)
        for f, e in zip(found, expected, strict=True):
            same(f, e, close)
    else:
        assert (found.stype, np.dtype(found.dtype).name) == (expected["stype"], expected["dtype"])
        agrees(found.asnumpy(), expected["values"], close)


def agrees(found, expected, close):
    assert np.isfinite(found).all()
    # MXNet's adamax divides zero by zero where there was no gradient yet.
    known = ~np.isnan(np.array(expected, float))
    np.testing.assert_allclose(found[known], np.array(expected, float)[known], **close)


@pytest.mark.filterwarnings("ignore::rarefy._ops.fallback.StorageFallbackWarning")
@pytest.mark.parametrize("name", NAMES)
def test_steps_are_mxnets(name):
    for run in RECORD["runs"]:
        if run["optimizer"] != name or differs(run):
            continue
        close = CLOSE[run["dtype"]]
        try:
            made = optimizer.create(
                name, multi_precision=run["dtype"] == "float16", **run["params"]
            )
            weight = nd.array(START, dtype=run["dtype"])
            if run["weight"] != "default":
                weight = weight.tostype(run["weight"])
            state = made.create_state_multi_precision(0, weight)
            for rows, expected in zip(GRADIENTS, run["weights"], strict=True):
                grad = grad_of(rows, run)
                before = grad.asnumpy()
                made.update_multi_precision(0, weight, grad, state)
                agrees(weight.asnumpy(), expected, close)
                np.testing.assert_array_equal(grad.asnumpy(), before)
            assert weight.stype == run["weight"]
            same(state, run["state"], close)
        except AssertionError as error:
            asked = {k: v for k, v in run.items() if k not in ("weights", "state")}
            raise AssertionError(asked) from error
