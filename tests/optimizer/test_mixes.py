"""Update operators on every mix of storage types, against NumPy row by row."""

import itertools

import numpy as np
import pytest

from oracles.mxnet_updates import CALLS
from oracles.optimizers import trajectory
from rarefy import nd
from rarefy._ops.defs import OPERATORS
from rarefy._ops.defs._update_rules import ROW_RULES

BETA1, BETA2 = 0.9, 0.999
# The parameters of the operator, and of the optimizer that the oracle knows by the same name.
UPDATES = {
    "sgd": ({"lr": 0.1, "wd": 0.05}, {"learning_rate": 0.1, "wd": 0.05}),
    "adam": (
        {"lr": 0.1 * np.sqrt(1 - BETA2) / (1 - BETA1), "beta1": BETA1, "beta2": BETA2, "wd": 0.05},
        {"learning_rate": 0.1, "wd": 0.05},
    ),
    "adagrad": ({"lr": 0.1, "wd": 0.05}, {"learning_rate": 0.1, "wd": 0.05}),
    "ftrl": (
        {"lr": 0.1, "wd": 0.05, "lamda1": 0.1},
        {"learning_rate": 0.1, "wd": 0.05, "lamda1": 0.1},
    ),
}
MIXES = [
    (name, mix)
    for name in UPDATES
    for mix in itertools.product(
        ("default", "row_sparse"), repeat=len(OPERATORS[f"{name}_update"].arrays)
    )
]


def of(dense, stype):
    return nd.array(dense, dtype="float64").tostype(stype)


@pytest.mark.parametrize("lazy", [True, False], ids=["lazy", "standard"])
@pytest.mark.parametrize(
    ("name", "mix"), MIXES, ids=lambda x: x if isinstance(x, str) else "-".join(x)
)
def test_every_mix_of_storage_types(name, mix, lazy):
    rng = np.random.default_rng(0)
    start, given = rng.normal(size=(6, 2)), np.zeros((6, 2))
    given[[1, 2, 4]] = rng.normal(size=(3, 2))
    states = [abs(rng.normal(size=(6, 2))) for _ in mix[2:]]
    for state in states:
        state[[0, 2, 5]] = 0  # a row_sparse state lacks them
    options, params = UPDATES[name]
    weight, grad, *arrays = (of(a, s) for a, s in zip((start, given, *states), mix, strict=True))
    update = getattr(nd, f"{name}_update")
    assert update(weight, grad, *arrays, lazy_update=lazy, out=weight, **options) is weight
    pairs = given if mix[1] == "default" else [(r, given[r]) for r in (1, 2, 4)]
    after, moved = trajectory(name, start, [pairs], lazy=lazy, states=states, **params)
    assert (weight.stype, *(a.stype for a in arrays)) == (mix[0], *mix[2:])
    np.testing.assert_allclose(weight.asnumpy(), after[-1], rtol=1e-12, atol=1e-13)
    for array, value in zip(arrays, moved, strict=True):
        np.testing.assert_allclose(array.asnumpy(), value, rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(grad.asnumpy(), given)


def test_every_update_is_here():
    """Or in test_lazy.py (sgd_mom), test_multi_precision.py (_copy_rows), test_updater.py (_sgld) and
    test_update_operators.py."""
    found = {op.name.removesuffix("_update") for op in OPERATORS.values() if op.updates}
    called = {name.removeprefix("contrib.").removesuffix("_update") for name, *_ in CALLS}
    known = {*UPDATES, *called, *ROW_RULES, "sgd_mom", "copy_rows", "sgld", "lamb", "mp_lamb"}
    known |= {f"{n}_sgd_mom" for n in ("multi_mp", "preloaded_multi_mp")}
    known |= {"mp_lamb_update_phase2", "multi_mp_adamw", "multi_mp_lamb"}
    known -= {"multi_lars"}  # replaces nothing
    assert {name.removeprefix("_contrib").removeprefix("_") for name in found} == known
