"""The rules of `rarefy.optim`: on dense gradients those of optax, on row_sparse ones lazy."""

import jax
import numpy as np
import optax
import pytest
from jax import numpy as jnp
from numpy.testing import assert_allclose, assert_array_equal

from oracles.optimizers import trajectory
from rarefy import optim
from rarefy.sparse import BCOO, row_sparse

N, D = 7, 3
RNG = np.random.default_rng(5)
WEIGHT = RNG.normal(size=(N, D)).astype(np.float32)
GRADIENTS = RNG.normal(size=(4, N, D)).astype(np.float32)
SCHEDULE = optax.exponential_decay(0.3, 1, 0.7)

# Ours, and the same in optax.
OPTAX = {
    "sgd": (optim.sgd(0.1), optax.sgd(0.1)),
    "sgd schedule": (optim.sgd(SCHEDULE), optax.sgd(SCHEDULE)),
    "sgd decay": (
        optim.sgd(0.1, weight_decay=0.2),
        optax.chain(optax.add_decayed_weights(0.2), optax.sgd(0.1)),
    ),
    "momentum": (optim.sgd(0.1, 0.9), optax.sgd(0.1, 0.9)),
    "momentum schedule": (optim.sgd(SCHEDULE, 0.9), optax.sgd(SCHEDULE, 0.9)),
    "momentum decay": (
        optim.sgd(SCHEDULE, 0.9, weight_decay=0.2),
        optax.chain(optax.add_decayed_weights(0.2), optax.sgd(SCHEDULE, 0.9)),
    ),
    "adam": (optim.adam(0.1), optax.adam(0.1)),
    "adam eps": (optim.adam(0.1, 0.8, 0.9, 0.5), optax.adam(0.1, 0.8, 0.9, 0.5)),
    "adam schedule": (optim.adam(SCHEDULE), optax.adam(SCHEDULE)),
    "adam decay": (
        optim.adam(0.1, weight_decay=0.2),
        optax.chain(optax.add_decayed_weights(0.2), optax.adam(0.1)),
    ),
    "adagrad": (optim.adagrad(0.1), optax.adagrad(0.1)),
    "adagrad start": (optim.adagrad(SCHEDULE, 0.5, 0.2), optax.adagrad(SCHEDULE, 0.5, 0.2)),
}


def run(optimizer, params, gradients, apply=optim.apply_updates):
    """The parameters after each gradient, and the last state."""
    state, after = optimizer.init(params), []
    for gradient in gradients:
        updates, state = optimizer.update(gradient, state, params)
        params = apply(params, updates)
        after.append(params)
    return after, state


def rows_of(dense, rows, padding=0):
    """Some rows of a dense gradient as a row_sparse one."""
    rows = sorted(rows)
    data = np.concatenate([dense[rows], np.zeros((padding, *dense.shape[1:]), dense.dtype)])
    return row_sparse(data, np.array([*rows, *[len(dense)] * padding], np.int32), dense.shape)


# In float64: float32 leaves 1 - 0.999**t only four digits, and they are not the same four in optax.
@pytest.mark.parametrize("ours, theirs", OPTAX.values(), ids=OPTAX.keys())
def test_dense_gradients_move_as_in_optax(ours, theirs):
    with jax.enable_x64(True):
        params = {"w": jnp.asarray(np.float64(WEIGHT)), "b": jnp.float64(2)}
        gradients = [
            {"w": jnp.asarray(g), "b": jnp.asarray(g[0, 0])} for g in GRADIENTS.astype(np.float64)
        ]
        found, _ = run(ours, params, gradients)
        expected, _ = run(theirs, params, gradients, optax.apply_updates)
    for a, b in zip(found, expected, strict=True):
        jax.tree.map(lambda x, y: assert_allclose(x, y, rtol=1e-9), a, b)


@pytest.mark.parametrize("ours, theirs", OPTAX.values(), ids=OPTAX.keys())
def test_row_sparse_gradients_of_all_rows_move_as_dense_ones(ours, theirs):
    with jax.enable_x64(True):
        weight, dense = jnp.asarray(np.float64(WEIGHT)), list(np.float64(GRADIENTS))
        found, _ = run(ours, weight, [rows_of(g, range(N), padding=2) for g in dense])
        expected, _ = run(theirs, weight, dense, optax.apply_updates)
        assert_allclose(np.stack(found), np.stack(expected), rtol=1e-9)


# Rows of each step; what optax does to a row alone is what lazy means, where t does not matter.
TOUCHED = [[0, 2], [2, 5], [], [0, 6]]


@pytest.mark.parametrize("name", ["sgd", "sgd decay", "momentum", "adagrad"])
def test_each_row_moves_as_if_alone(name):
    ours, theirs = OPTAX[name]
    gradients = [rows_of(g, rows, padding=1) for g, rows in zip(GRADIENTS, TOUCHED, strict=True)]
    after, _ = run(ours, jnp.asarray(WEIGHT), gradients)
    for row in range(N):
        own = [g[row] for g, rows in zip(GRADIENTS, TOUCHED, strict=True) if row in rows]
        alone, _ = run(theirs, jnp.asarray(WEIGHT[row]), own, optax.apply_updates)
        assert_allclose(after[-1][row], alone[-1] if alone else WEIGHT[row], rtol=1e-5, atol=1e-6)


ORACLE = {
    "sgd": (optim.sgd(0.1, weight_decay=0.3), {"learning_rate": 0.1, "wd": 0.3}),
    "sgd momentum": (
        optim.sgd(0.1, 0.9, weight_decay=0.3),
        {"learning_rate": 0.1, "wd": 0.3, "momentum": 0.9},
    ),
    "adam": (optim.adam(0.1, eps=0.0), {"learning_rate": 0.1, "epsilon": 0.0}),
    "adam decay": (
        optim.adam(0.1, eps=0.0, weight_decay=0.3),
        {"learning_rate": 0.1, "epsilon": 0.0, "wd": 0.3},
    ),
    "adagrad": (optim.adagrad(0.1, 0.0), {"learning_rate": 0.1}),
    "adagrad decay": (
        optim.adagrad(0.1, 0.0, weight_decay=0.3),
        {"learning_rate": 0.1, "wd": 0.3},
    ),
    "ftrl": (optim.ftrl(0.1), {"learning_rate": 0.1, "lamda1": 0.0}),
    "ftrl penalties": (
        optim.ftrl(0.5, 0.2, 0.3, 2.0),
        {"learning_rate": 0.5, "lamda1": 0.2, "wd": 0.3, "beta": 2.0},
    ),
}


STATES = {"adam": ("mean", "var"), "adagrad": ("history",), "ftrl": ("z", "n")}


@pytest.mark.parametrize("name", ORACLE)
@pytest.mark.parametrize("compile", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize("is_sparse", [True, False], ids=["rows", "dense"])
def test_trajectories(name, compile, is_sparse):
    ours, params = ORACLE[name]
    if is_sparse:
        gradients = [rows_of(g, r, padding=1) for g, r in zip(GRADIENTS, TOUCHED, strict=True)]
        given = [[(r, g[r]) for r in rows] for g, rows in zip(GRADIENTS, TOUCHED, strict=True)]
    else:
        gradients = given = list(GRADIENTS)
    if compile:
        ours = optim.GradientTransformation(ours.init, jax.jit(ours.update))
    after, state = run(ours, jnp.asarray(WEIGHT), gradients)
    expected, states = trajectory(name.split()[0], WEIGHT, given, lazy=True, **params)
    assert_allclose(np.stack(after), np.stack(expected), rtol=2e-5, atol=2e-6)
    if not name.startswith("sgd"):  # whose momentum has the learning rate in it there
        for key, theirs in zip(STATES[name.split()[0]], states, strict=True):
            assert_allclose(state.tables[key], theirs, rtol=2e-5, atol=2e-6)
    assert state.count == len(GRADIENTS)


@pytest.mark.parametrize("name", ORACLE)
def test_other_rows_keep_their_bits(name):
    ours, _ = ORACLE[name]
    warm, state = run(ours, jnp.asarray(WEIGHT), list(GRADIENTS))
    gradient = rows_of(GRADIENTS[0], [1, 4], padding=3)
    updates, after = ours.update(gradient, state, warm[-1])
    weight = optim.apply_updates(warm[-1], updates)
    others = [0, 2, 3, 5, 6]
    assert_array_equal(weight[np.array(others)], warm[-1][np.array(others)])
    assert (np.asarray(weight)[[1, 4]] != np.asarray(warm[-1])[[1, 4]]).any(axis=1).all()
    for key, table in after.tables.items():
        assert_array_equal(np.asarray(table)[others], np.asarray(state.tables[key])[others])
    assert isinstance(updates, BCOO) and updates.nse == gradient.nse
    assert_array_equal(np.asarray(updates.data)[2:], 0)


def test_a_stored_row_of_zeros_is_touched():
    for optimizer, key in ((optim.sgd(0.1, 0.5), "mom"), (optim.adam(0.1, 0.5), "mean")):
        (weight,), state = run(optimizer, jnp.asarray(WEIGHT), [jnp.ones((N, D))])
        zeros = rows_of(np.zeros((N, D), np.float32), [2])
        updates, after = optimizer.update(zeros, state, weight)
        old, new = np.asarray(state.tables[key]), np.asarray(after.tables[key])
        assert_allclose(new[2], 0.5 * old[2], rtol=1e-6)
        assert_array_equal(np.delete(new, 2, 0), np.delete(old, 2, 0))
        assert (np.asarray(updates.data) != 0).all()


def test_repeated_rows_in_any_order_are_added_up_first():
    data, rows = jnp.asarray(GRADIENTS[0][:4]), jnp.array([[5], [1], [N], [5]])
    messy = BCOO((data, rows), shape=(N, D))
    merged = np.zeros((N, D), np.float32)
    merged[5], merged[1] = data[0] + data[3], data[1]
    for optimizer in (optim.sgd(0.1), optim.adam(0.1), optim.adagrad(0.1), optim.ftrl(0.1)):
        found, _ = run(optimizer, jnp.asarray(WEIGHT), [messy])
        expected, _ = run(optimizer, jnp.asarray(WEIGHT), [rows_of(merged, [1, 5])])
        assert_allclose(found[0], expected[0], rtol=1e-6)
    assert_allclose(optim.apply_updates(jnp.asarray(WEIGHT), messy), WEIGHT + merged, rtol=1e-6)
    assert_allclose(optim.global_norm(messy), np.sqrt((merged**2).sum()), rtol=1e-6)


def test_a_gradient_without_rows():
    for name, (optimizer, _) in ORACLE.items():
        empty = row_sparse(jnp.zeros((0, D)), jnp.zeros(0, jnp.int32), (N, D))
        after, state = run(optimizer, jnp.asarray(WEIGHT), [empty])
        assert_array_equal(after[0], WEIGHT, err_msg=name)
        assert state.count == 1


def test_ftrl_keeps_given_weights_with_a_warm_start():
    zeros = rows_of(np.zeros((N, D), np.float32), range(N))
    kept, _ = run(optim.ftrl(0.1, 0.05, 0.2, warm_start=True), jnp.asarray(WEIGHT), [zeros] * 2)
    lost, _ = run(optim.ftrl(0.1, 0.05, 0.2), jnp.asarray(WEIGHT), [zeros])
    assert_allclose(kept[-1], WEIGHT, rtol=1e-4)
    assert_array_equal(lost[-1], 0)


def test_the_update_is_exact_where_the_weight_does_not_enter():
    huge = jnp.full((N, D), 1e8, jnp.float32)  # whose neighbours are 8 apart
    gradient = rows_of(GRADIENTS[0], [1])
    for optimizer, theirs in (OPTAX[k] for k in ("sgd", "momentum", "adam", "adagrad")):
        updates, _ = optimizer.update(gradient, optimizer.init(huge), huge)
        expected, _ = theirs.update(GRADIENTS[0], theirs.init(huge), huge)
        assert_allclose(updates.data[0], expected[1], rtol=1e-5)
        same, _ = optimizer.update(gradient, optimizer.init(huge))  # nor must it be given
        assert_array_equal(same.data, updates.data)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float64"])
def test_other_dtypes(dtype):
    with jax.enable_x64(True):
        weight = jnp.asarray(WEIGHT, dtype)
        gradients = [rows_of(np.asarray(jnp.asarray(g, dtype)), [1, 3]) for g in GRADIENTS]
        given = [[(r, np.float64(g.data[i])) for i, r in enumerate([1, 3])] for g in gradients]
        for name, optimizer, params in (
            ("adam", optim.adam(0.1, eps=0.0, state_dtype="float64"), {"epsilon": 0.0}),
            ("adagrad", optim.adagrad(0.1, 0.0, state_dtype="float64"), {}),
        ):
            after, state = run(optimizer, weight, gradients)
            expected, states = trajectory(
                name, np.float64(weight), given, lazy=True, learning_rate=0.1, **params
            )
            assert after[-1].dtype == np.dtype(dtype)
            for key, theirs in zip(STATES[name], states, strict=True):
                assert state.tables[key].dtype == np.float64
                assert_allclose(state.tables[key], theirs, rtol=1e-6)
            eps = float(jnp.finfo(dtype).eps)
            assert_allclose(np.float64(after[-1]), expected[-1], rtol=4 * eps, atol=4 * eps)


def test_states_of_the_parameters_type_by_default():
    state = optim.adam(0.1).init({"a": jnp.zeros((2, 2), jnp.bfloat16), "b": jnp.zeros(3)})
    assert state.tables["mean"]["a"].dtype == jnp.bfloat16
    assert state.tables["var"]["b"].dtype == jnp.float32


def test_what_an_update_needs():
    gradient = rows_of(GRADIENTS[0], [1])
    for optimizer in (optim.ftrl(0.1), optim.sgd(0.1, weight_decay=0.1)):
        with pytest.raises(ValueError, match=r"update\(gradients, state, params\)"):
            optimizer.update(gradient, optimizer.init(jnp.asarray(WEIGHT)))
    adam = optim.adam(0.1)
    with pytest.raises(ValueError, match=r"shape \(7, 3\) meets .* shape \(8, 3\)"):
        adam.update(gradient, adam.init(jnp.zeros((8, 3))), None)
    with pytest.raises(ValueError, match="n_sparse=1 and n_batch=0"):
        adam.update(BCOO.fromdense(WEIGHT), adam.init(jnp.asarray(WEIGHT)), None)
    with pytest.raises(ValueError, match=r"shape \(7, 3\) for a parameter of shape \(8, 3\)"):
        optim.apply_updates(jnp.zeros((8, 3)), gradient)
