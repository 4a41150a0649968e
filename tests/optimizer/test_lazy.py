"""Lazy and standard updates by row_sparse gradients, against NumPy row by row."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from cases.awkward import row_sparse_cases
from oracles.optimizers import trajectory
from rarefy import nd, optimizer
from rarefy.nd._handle import Handle
from rarefy.sparse import BCOO

OPTIMIZERS = {
    "sgd": {"learning_rate": 0.1, "wd": 0.05},
    "momentum": {"learning_rate": 0.1, "wd": 0.05, "momentum": 0.9},
    "adam": {"learning_rate": 0.1, "wd": 0.05},
    "adagrad": {"learning_rate": 0.1, "wd": 0.05},
    "ftrl": {"learning_rate": 0.1, "wd": 0.05, "lamda1": 0.1},
}
EACH = pytest.mark.parametrize("name", OPTIMIZERS)
LAZY = pytest.mark.parametrize("lazy", [True, False], ids=["lazy", "standard"])
# 1 - beta2 in float32 is off by 1.3e-5, and Adam divides by the root of what it weighs.
TOLERANCE = {"float64": 1e-12, "float32": 3e-5, "float16": 4e-3, "bfloat16": 3e-2}


def made(name, lazy=True, **changes):
    kind = "sgd" if name == "momentum" else name
    return optimizer.create(kind, lazy_update=lazy, **{**OPTIMIZERS[name], **changes})


def expected(name, weight, gradients, lazy, **changes):
    kind = "sgd" if name == "momentum" else name
    return trajectory(kind, weight, gradients, lazy=lazy, **{**OPTIMIZERS[name], **changes})


def row_sparse(pairs, shape, dtype="float32"):
    if not pairs:
        return nd.sparse.zeros("row_sparse", shape, dtype=dtype)
    data = np.array([g for _, g in pairs]).astype(dtype)
    rows = np.array([r for r, _ in pairs])
    return nd.sparse.row_sparse_array((data, rows), shape=shape, dtype=dtype)


def listed(state):
    if state is None:
        return []
    return list(state) if isinstance(state, tuple) else [state]


def check(name, weight, state, after, states, rtol):
    np.testing.assert_allclose(np.float64(weight.asnumpy()), after, rtol=rtol, atol=rtol)
    for s, value in zip(listed(state), states, strict=True):
        np.testing.assert_allclose(np.float64(s.asnumpy()), value, rtol=rtol, atol=rtol)


@EACH
@LAZY
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_steps_are_those_of_the_closed_form(name, lazy, dtype, rng):
    start = rng.normal(size=(7, 3)).astype(dtype)
    rows = [[1, 4], [], [0, 4, 6], [4]]
    gradients = [
        [(r, g) for r, g in zip(ids, rng.normal(size=(len(ids), 3)).astype(dtype), strict=True)]
        for ids in rows
    ]
    options = {"rescale_grad": 0.5, "clip_gradient": 0.6}
    if name == "adam" and dtype == "float16":
        options["wd"] = 0.0  # the square of a small decay is below float16's range
    weight, opt = nd.array(start, dtype=dtype), made(name, lazy, **options)
    state = opt.create_state(0, weight)
    for pairs in gradients:
        opt.update(0, weight, row_sparse(pairs, start.shape, dtype), state)
    after, states = expected(name, np.float64(start), gradients, lazy, **options)
    check(name, weight, state, after[-1], states, TOLERANCE[dtype])


@EACH
@LAZY
@pytest.mark.parametrize("shape", [(5,), (5, 1), (5, 2, 3), (5, 0), (1, 1)], ids=str)
def test_rows_of_any_shape(name, lazy, shape, rng):
    start = rng.normal(size=shape).astype("float32")
    pairs = [(0, rng.normal(size=shape[1:]).astype("float32"))]
    weight, opt = nd.array(start), made(name, lazy)
    state = opt.create_state(0, weight)
    opt.update(0, weight, row_sparse(pairs, shape), state)
    after, states = expected(name, start, [pairs], lazy)
    check(name, weight, state, after[-1], states, 3e-5)


@EACH
def test_lazy_rows_that_are_absent_keep_their_bits(name, rng):
    start = rng.normal(size=(50, 3)).astype("float32")
    weight, opt = nd.array(start), made(name)
    state = opt.create_state(0, weight)
    touched = row_sparse([(r, rng.normal(size=3)) for r in (3, 17)], start.shape)
    everything = row_sparse([(r, rng.normal(size=3)) for r in range(50)], start.shape)
    opt.update(0, weight, everything, state)
    before = [a.asnumpy() for a in (weight, *listed(state))]
    opt.update(0, weight, touched, state)
    others = np.setdiff1d(np.arange(50), (3, 17))
    for array, old in zip((weight, *listed(state)), before, strict=True):
        assert array.asnumpy()[others].tobytes() == old[others].tobytes()
        assert (array.asnumpy()[[3, 17]] != old[[3, 17]]).any()


@EACH
@LAZY
def test_standard_update_has_the_dense_rules_numbers(name, lazy, rng):
    start = rng.normal(size=(9, 4)).astype("float32")
    pairs = [[(r, rng.normal(size=4).astype("float32")) for r in ids] for ids in ([2, 3], [], [8])]
    results = []
    for sparse in (True, False):
        weight, opt = nd.array(start), made(name, lazy and not sparse)
        state = opt.create_state(0, weight)
        for p in pairs:
            grad = row_sparse(p, start.shape)
            opt.update(0, weight, grad if sparse else grad.tostype("default"), state)
        results.append([a.asnumpy() for a in (weight, *listed(state))])
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)


@EACH
def test_a_stored_zero_row_is_touched(name, rng):
    start = rng.normal(size=(4, 2)).astype("float32")
    gradients = [[(1, np.ones(2)), (2, np.ones(2))], [(1, np.zeros(2))]]
    weight, opt = nd.array(start), made(name)
    state = opt.create_state(0, weight)
    for pairs in gradients:
        opt.update(0, weight, row_sparse(pairs, start.shape), state)
    after, states = expected(name, start, gradients, True)
    check(name, weight, state, after[-1], states, 3e-5)
    assert (weight.asnumpy()[1] != np.float32(after[0][1])).any()


@EACH
def test_an_empty_gradient_counts_as_an_update(name, rng):
    start = rng.normal(size=(4, 2)).astype("float32")
    weight, opt = nd.array(start), made(name)
    state = opt.create_state(0, weight)
    opt.update(0, weight, nd.sparse.zeros("row_sparse", start.shape), state)
    np.testing.assert_array_equal(weight.asnumpy(), start)
    for s in listed(state):
        np.testing.assert_array_equal(s.asnumpy(), 0)
    assert opt.num_update == 1


@pytest.mark.parametrize("name", ["sgd", "momentum", "adam", "adagrad"])
def test_an_empty_gradient_decays_all_rows_when_not_lazy(name, rng):
    start = rng.normal(size=(4, 2)).astype("float32")
    weight, opt = nd.array(start), made(name, lazy=False)
    opt.update(0, weight, nd.sparse.zeros("row_sparse", start.shape), opt.create_state(0, weight))
    assert (np.sign(start - weight.asnumpy()) == np.sign(start)).all()


# Which rows are meant does not depend on the rule.
@pytest.mark.parametrize("name", ["momentum"])
@LAZY
@pytest.mark.parametrize("case", row_sparse_cases(floats=(np.dtype("float32"),)), ids=str)
def test_awkward_gradients(name, lazy, case):
    if "big" in case.tags:
        pytest.skip("the weight would be large")
    value = BCOO._trusted(case.data, case.rows[:, None], case.shape)
    grad = Handle._wrap(jax.tree.map(jnp.asarray, value))
    start = np.linspace(-1, 1, int(np.prod(case.shape)), dtype="float32").reshape(case.shape)
    weight, opt = nd.array(start), made(name, lazy)
    state = opt.create_state(0, weight)
    opt.update(0, weight, grad, state)
    real = (case.rows >= 0) & (case.rows < case.shape[0])
    pairs = list(zip(case.rows[real], case.data[real], strict=True))
    after, states = expected(name, start, [pairs], lazy)
    check(name, weight, state, after[-1], states, 3e-5)


def test_a_million_rows_are_not_read():
    tall = next(c for c in row_sparse_cases() if c.name == "3,000,000 rows")
    start = np.zeros((tall.shape[0], 1), "float32")
    weight, opt = nd.array(start), made("momentum")
    state = opt.create_state(0, weight)
    pairs = [(r, g[:1]) for r, g in zip(tall.rows, tall.data, strict=True)]
    opt.update(0, weight, row_sparse(pairs, start.shape), state)
    moved = np.flatnonzero(weight.asnumpy()[:, 0])
    np.testing.assert_array_equal(moved, tall.rows)


# row_sparse weights and states.


@EACH
@LAZY
def test_a_row_sparse_weight_moves_as_a_dense_one(name, lazy, rng):
    start = rng.normal(size=(6, 2)).astype("float32")
    gradients = [[(r, rng.normal(size=2)) for r in ids] for ids in ([1, 4], [], [4, 5], [0])]
    weight, opt = nd.array(start).tostype("row_sparse"), made(name, lazy)
    state = opt.create_state(0, weight)
    for pairs in gradients:
        opt.update(0, weight, row_sparse(pairs, start.shape), state)
    after, states = expected(name, start, gradients, lazy)
    assert weight.stype == "row_sparse"
    check(name, weight, state, after[-1], states, 3e-5)


@EACH
def test_a_row_sparse_weight_may_lack_rows(name, rng):
    start = np.zeros((9, 2), "float32")
    rows = [1, 3, 4, 8]
    start[rows] = rng.normal(size=(4, 2))
    gradients = [[(r, rng.normal(size=2)) for r in ids] for ids in ([3, 8], [1, 4, 8])]
    weight, opt = nd.array(start).tostype("row_sparse"), made(name)
    state = opt.create_state(0, weight)
    for pairs in gradients:
        opt.update(0, weight, row_sparse(pairs, start.shape), state)
    after, states = expected(name, start, gradients, True)
    check(name, weight, state, after[-1], states, 3e-5)
    np.testing.assert_array_equal(weight.indices.asnumpy(), rows)
    for s in listed(state):
        assert s.indices.shape[0] <= len(rows)


@EACH
@pytest.mark.parametrize("stype", ["row_sparse", "default"])
def test_rows_are_never_added_to_a_weight(name, stype):
    start = np.zeros((4, 2), "float32")
    start[[0, 2]] = 1
    weight, opt = nd.array(start).tostype("row_sparse"), made(name)
    grad = row_sparse([(1, np.ones(2)), (2, np.ones(2))], start.shape).tostype(stype)
    missing = "row 1"
    with pytest.raises(ValueError, match=missing):
        opt.update(0, weight, grad, opt.create_state(0, weight))
    np.testing.assert_array_equal(weight.asnumpy(), start)
    assert opt.num_update == 0


@LAZY
@pytest.mark.parametrize(
    "mix", list(itertools.product(("default", "row_sparse"), repeat=3)), ids="-".join
)
def test_every_mix_of_storage_types(mix, lazy, rng):
    start, mom = rng.normal(size=(2, 6, 2)).astype("float32")
    mom[[0, 2, 5]] = 0
    pairs = [(r, rng.normal(size=2).astype("float32")) for r in (1, 2, 4)]
    weight, grad, state = (
        array.tostype(stype)
        for array, stype in zip(
            (nd.array(start), row_sparse(pairs, start.shape).tostype("default"), nd.array(mom)),
            mix,
            strict=True,
        )
    )
    nd.sgd_mom_update(
        weight, grad, state, lr=0.1, momentum=0.9, wd=0.05, lazy_update=lazy, out=weight
    )
    dense = mix[1] == "default"
    after, states = trajectory(
        "sgd",
        start,
        [pairs],
        lazy=lazy and not dense,
        states=[mom],
        learning_rate=0.1,
        momentum=0.9,
        wd=0.05,
    )
    assert (weight.stype, state.stype) == (mix[0], mix[2])
    check("momentum", weight, state, after[-1], states, 1e-6)
