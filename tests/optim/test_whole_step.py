"""A whole training step: gradients by rows, lazy updates, everything in place."""

from functools import partial

import jax
import numpy as np
import optax
import pytest
from jax import numpy as jnp
from numpy.testing import assert_allclose, assert_array_equal

from rarefy import optim, sparse

OPTIMIZERS = {
    "sgd": optim.sgd(0.1),
    "momentum": optim.sgd(0.1, 0.9),
    "adam": optim.adam(0.1, weight_decay=0.01),
    "adagrad": optim.adagrad(0.1),
    "ftrl": optim.ftrl(0.1, 0.01, warm_start=True),
    "chain": optax.chain(
        optim.clip_by_global_norm(1.0), optim.adam(optax.linear_schedule(0.1, 0.01, 9))
    ),
}


def loss_of(params, ids, labels):
    rows = params["table"][ids].mean(axis=1)
    logits = jnp.tanh(rows @ params["w"]) @ params["v"]
    return jnp.mean(jax.nn.softplus(logits) - labels * logits)


def step_with(optimizer, traces=None):
    @partial(jax.jit, donate_argnums=(0, 1))
    def step(params, state, ids, labels):
        if traces is not None:
            traces.append(1)
        value, gradient = sparse.value_and_grad(loss_of, row_sparse={"table": True})(
            params, ids, labels
        )
        updates, state = optimizer.update(gradient, state, params)
        return optim.apply_updates(params, updates), state, value

    return step


def params_of(height, width=8):
    rng = np.random.default_rng(1)
    return {
        "table": jnp.asarray(rng.normal(size=(height, width)), jnp.float32),
        "w": jnp.asarray(rng.normal(size=(width, 4)), jnp.float32),
        "v": jnp.asarray(rng.normal(size=(4,)), jnp.float32),
    }


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_step_works_in_place_on_the_rows_alone(name):
    height, optimizer = 200_000, OPTIMIZERS[name]
    params, step = params_of(height), step_with(optimizer)
    state = optimizer.init(params)
    ids, labels = np.array([[5, 7], [5, 199_999], [9, 9]]), np.array([1.0, 0.0, 1.0])
    before = np.asarray(params["table"]).copy()

    def tables(params, state):
        return [x for x in jax.tree.leaves((params, state)) if x.shape == (height, 8)]

    places = [x.unsafe_buffer_pointer() for x in tables(params, state)]
    memory = step.lower(params, state, ids, labels).compile().memory_analysis()
    assert memory.temp_size_in_bytes < 100_000  # a table has 6,400,000 bytes
    for _ in range(3):
        params, state, _ = step(params, state, ids, labels)
    assert sorted(x.unsafe_buffer_pointer() for x in tables(params, state)) == sorted(places)
    moved = (np.asarray(params["table"]) != before).any(axis=1).nonzero()[0]
    assert moved.tolist() == [5, 7, 9, 199_999]


def test_one_program_for_all_batches():
    traces, rng = [], np.random.default_rng(0)
    optimizer = OPTIMIZERS["chain"]
    params, step = params_of(100), step_with(optimizer, traces)
    state = optimizer.init(params)
    for _ in range(4):
        ids = rng.integers(0, 100, (6, 2))
        params, state, _ = step(params, state, ids, np.ones(6, np.float32))
    assert len(traces) == 1


def test_training_is_that_of_optax_where_lazy_makes_no_difference():
    rng = np.random.default_rng(2)
    ours, theirs = optim.adagrad(0.3), optax.adagrad(0.3)
    params = dense_params = params_of(50)
    params = jax.tree.map(jnp.copy, params)
    state, dense_state, step = ours.init(params), theirs.init(dense_params), step_with(ours)
    values = []
    for _ in range(20):
        ids = rng.integers(0, 50, (16, 2))
        labels = (ids.sum(axis=1) % 2).astype(np.float32)
        params, state, value = step(params, state, ids, labels)
        expected, gradient = jax.value_and_grad(loss_of)(dense_params, ids, labels)
        updates, dense_state = theirs.update(gradient, dense_state, dense_params)
        dense_params = optax.apply_updates(dense_params, updates)
        assert_allclose(value, expected, rtol=1e-4)
        values.append(float(value))
    jax.tree.map(lambda a, b: assert_allclose(a, b, rtol=1e-3, atol=1e-4), params, dense_params)
    assert np.mean(values[-5:]) < np.mean(values[:5])


def test_without_donation_the_old_values_stay():
    optimizer = optim.sgd(0.1)
    params = params_of(10)
    kept = np.asarray(params["table"]).copy()
    loss = lambda p: (p["table"][np.array([1])] ** 2).sum()  # noqa: E731
    gradient = sparse.grad(loss, row_sparse={"table": True})(params)
    updates, _ = optimizer.update(gradient, optimizer.init(params), params)
    after = optim.apply_updates(params, updates)
    assert_array_equal(params["table"], kept)
    assert_allclose(after["table"][1], 0.8 * kept[1], rtol=1e-6)
