"""Gradients by rows of a table, against JAX on the same function and a version by hand.

Ids say the table and how many ids are read.
"""

from functools import partial

import jax
import numpy as np
import pytest
from jax import numpy as jnp

from rarefy import optim, sparse

# height, width, ids
SIZES = {"1000000x64-1000": (1_000_000, 64, 1000), "100000x64-1000": (100_000, 64, 1000)}


def loss_of(rows, w):
    return jnp.mean(jax.nn.softplus(jnp.tanh(rows) @ w))


def read(table, w, ids):
    return loss_of(table[ids], w)


def by_hand(table, w, ids):
    """The gradient of the rows that were gathered; equal ids are not merged."""
    return jax.value_and_grad(loss_of)(table[ids], w)


def by_hand_merged(table, w, ids):
    rows, where = jnp.unique(ids, return_inverse=True, size=ids.size, fill_value=len(table))
    value, gradient = by_hand(table, w, ids)
    return value, rows, jax.ops.segment_sum(gradient, where, num_segments=ids.size)


WAYS = {
    "rarefy": sparse.value_and_grad(read, row_sparse=True),
    "by-hand": by_hand,
    "by-hand-merged": by_hand_merged,
    "jax.grad": jax.value_and_grad(read),
}
OPTIMIZERS = {
    "sgd": optim.sgd(0.1),
    "momentum": optim.sgd(0.1, 0.9),
    "adam": optim.adam(0.001),
    "adagrad": optim.adagrad(0.1),
    "ftrl": optim.ftrl(0.1, 0.01),
}


@pytest.fixture(scope="module", params=SIZES.values(), ids=SIZES.keys())
def operands(request):
    """(table, w, ids)"""
    height, width, count = request.param
    rng = np.random.default_rng(0)
    return (
        jnp.asarray(rng.standard_normal((height, width), np.float32)),
        jnp.asarray(rng.standard_normal(width, np.float32)),
        jnp.asarray(rng.integers(0, height, count), jnp.int32),
    )


@pytest.mark.parametrize("way", WAYS)
def test_value_and_gradient(benchmark, operands, way):
    compiled = jax.jit(WAYS[way])
    jax.block_until_ready(compiled(*operands))
    benchmark(lambda: jax.block_until_ready(compiled(*operands)))


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_whole_step_in_place(benchmark, operands, name):
    optimizer = OPTIMIZERS[name]

    @partial(jax.jit, donate_argnums=(0, 1))
    def step(table, state, w, ids):
        value, gradient = WAYS["rarefy"](table, w, ids)
        updates, state = optimizer.update(gradient, state, table)
        return optim.apply_updates(table, updates), state, value

    table, w, ids = operands
    held = [jnp.copy(table), optimizer.init(table)]

    def run():
        held[0], held[1], value = step(held[0], held[1], w, ids)
        jax.block_until_ready((held, value))

    run()
    benchmark(run)
