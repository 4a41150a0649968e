"""`rarefy.optim` together with optax, on trees with dense and row_sparse gradients."""

import jax
import numpy as np
import optax
import pytest
from jax import numpy as jnp
from numpy.testing import assert_allclose, assert_array_equal

from rarefy import optim
from rarefy.sparse import BCOO, row_sparse

RNG = np.random.default_rng(6)
PARAMS = {
    "table": RNG.normal(size=(9, 2)).astype(np.float32),
    "net": {"w": RNG.normal(size=(2, 4)).astype(np.float32), "b": np.float32(1.5)},
}
ROWS = [1, 4, 8]


def params():
    return jax.tree.map(jnp.asarray, PARAMS)


def gradients(seed=0):
    """The same gradient with a row_sparse table and all dense."""
    rng = np.random.default_rng(seed)
    table = np.zeros((9, 2), np.float32)
    table[ROWS] = rng.normal(size=(3, 2))
    net = {"w": jnp.asarray(rng.normal(size=(2, 4)), jnp.float32), "b": jnp.float32(rng.normal())}
    rows = row_sparse(
        np.concatenate([table[ROWS], np.zeros((1, 2), np.float32)]),
        np.array([*ROWS, 9], np.int32),
        (9, 2),
    )
    return {"table": rows, "net": net}, {"table": jnp.asarray(table), "net": net}


def dense(tree):
    return jax.tree.map(
        lambda g: g.todense() if isinstance(g, BCOO) else g,
        tree,
        is_leaf=lambda g: isinstance(g, BCOO),
    )


def same(a, b, rtol=1e-5):
    jax.tree.map(lambda x, y: assert_allclose(x, y, rtol=rtol, atol=1e-6), dense(a), dense(b))


def steps(optimizer, which, n=3):
    """Parameters after `n` compiled steps with row_sparse (0) or dense (1) gradients."""
    now, update = params(), jax.jit(optimizer.update)
    state = optimizer.init(now)
    for seed in range(n):
        updates, state = update(gradients(seed)[which], state, now)
        now = optim.apply_updates(now, updates)
    return now, state


def test_global_norm_is_that_of_the_dense_tree():
    mixed, full = gradients()
    assert_allclose(optim.global_norm(mixed), optax.tree.norm(full), rtol=1e-6)
    assert optim.global_norm({}) == 0
    big = row_sparse(jnp.full((1, 2), 300.0, jnp.float16), jnp.array([1]), (9, 2))
    assert_allclose(optim.global_norm(big), 300 * np.sqrt(2), rtol=1e-3)  # its square overflows


@pytest.mark.parametrize("bound", [0.5, 100.0])
def test_clipping_by_the_global_norm(bound):
    mixed, full = gradients()
    ours, theirs = optim.clip_by_global_norm(bound), optax.clip_by_global_norm(bound)
    found, _ = ours.update(mixed, ours.init(PARAMS))
    expected, _ = theirs.update(full, theirs.init(PARAMS))
    assert isinstance(found["table"], BCOO)
    assert_array_equal(found["table"].indices[:, 0], [*ROWS, 9])
    same(found, expected)


def test_chain_with_clipping_and_a_schedule():
    schedule = optax.cosine_decay_schedule(0.3, 5)
    ours = optax.chain(optim.clip_by_global_norm(1.0), optim.adagrad(schedule))
    theirs = optax.chain(optax.clip_by_global_norm(1.0), optax.adagrad(schedule))
    # Without decay AdaGrad does not move a row whose gradient is zero: lazy or not is the same.
    same(steps(ours, 0)[0], steps(theirs, 1)[0])


def test_optax_inside_on_rows():
    ours = optax.chain(
        optim.on_rows(optax.clip(0.7)),
        optim.on_rows(optax.clip_by_global_norm(1.0)),
        optim.sgd(1.0),
        optim.on_rows(optax.scale_by_schedule(optax.linear_schedule(0.5, 0.1, 3))),
        optim.on_rows(optax.scale(2.0)),
    )
    theirs = optax.chain(
        optax.clip(0.7),
        optax.clip_by_global_norm(1.0),
        optax.sgd(1.0),
        optax.scale_by_schedule(optax.linear_schedule(0.5, 0.1, 3)),
        optax.scale(2.0),
    )
    same(steps(ours, 0)[0], steps(theirs, 1)[0])


def test_on_rows_gives_the_rows_of_the_parameters():
    decay = optim.on_rows(optax.add_decayed_weights(0.1))
    mixed, _ = gradients()
    found, _ = decay.update(mixed, decay.init(params()), params())
    expected = np.asarray(mixed["table"].data)[:3] + 0.1 * PARAMS["table"][ROWS]
    assert_allclose(found["table"].data[:3], expected, rtol=1e-6)
    assert_array_equal(found["table"].data[3], 0)
    assert_allclose(found["net"]["b"], mixed["net"]["b"] + 0.15, rtol=1e-6)


def test_on_rows_keeps_padding_zero():
    shift = optax.stateless(lambda updates, params: jax.tree.map(lambda u: u + 1, updates))
    found, _ = optim.on_rows(shift).update(gradients()[0], optax.EmptyState())
    assert_array_equal(found["table"].data[3], 0)


def test_on_rows_refuses_states_by_parameter():
    with pytest.raises(ValueError, match=r"keeps an array of shape \((2, 4|9, 2)\)"):
        optim.on_rows(optax.trace(0.9)).init(params())


def test_a_transformation_that_scales_row_numbers_is_found_out():
    chain = optax.chain(optax.scale(0.5), optim.adam(0.1))
    with pytest.raises(TypeError, match=r"become float32: .* optim.on_rows"):
        chain.update(gradients()[0], chain.init(params()), params())


@pytest.mark.parametrize("name", ["multi_transform", "partition"])
def test_groups_of_parameters(name):
    make = getattr(optax, name)
    labels = {"table": "rows", "net": {"w": "net", "b": "fixed"}}
    others = {"net": optax.adam(0.1), "fixed": optax.set_to_zero()}
    ours = make({"rows": optim.adagrad(0.2), **others}, labels)
    theirs = make({"rows": optax.adagrad(0.2), **others}, labels)
    found, _ = steps(ours, 0)
    same(found, steps(theirs, 1)[0])
    assert found["net"]["b"] == PARAMS["net"]["b"]
    assert (np.asarray(found["table"]) != PARAMS["table"]).any(axis=1).nonzero()[0].tolist() == ROWS


def test_one_optimizer_moves_every_parameter():
    for optimizer in (optim.sgd(0.1, 0.9), optim.adam(0.1), optim.adagrad(0.1), optim.ftrl(0.1)):
        after, state = steps(optimizer, 0, n=1)
        assert (np.asarray(after["net"]["w"]) != PARAMS["net"]["w"]).all()
        assert after["net"]["b"] != PARAMS["net"]["b"]
        assert (np.asarray(after["table"])[ROWS] != PARAMS["table"][ROWS]).all()
        assert jax.tree.structure(state.tables[next(iter(state.tables))]) == jax.tree.structure(
            params()
        )


def test_masked():
    mask = {"table": True, "net": {"w": False, "b": False}}
    optimizer = optax.masked(optim.sgd(0.5), mask)
    mixed, _ = gradients()
    updates, _ = optimizer.update(mixed, optimizer.init(params()), params())
    assert_allclose(updates["table"].data, -0.5 * mixed["table"].data, rtol=1e-6)
    assert_array_equal(updates["net"]["w"], mixed["net"]["w"])


def test_injected_hyperparameters():
    optimizer = optax.inject_hyperparams(optim.sgd)(learning_rate=0.5)
    state = optimizer.init(params())
    state.hyperparams["learning_rate"] = jnp.float32(0.25)
    mixed, _ = gradients()
    updates, _ = jax.jit(optimizer.update)(mixed, state, params())
    assert_allclose(updates["table"].data, -0.25 * mixed["table"].data, rtol=1e-5, atol=1e-7)


def test_updates_of_none_leave_a_parameter():
    after = optim.apply_updates(params(), {"table": gradients()[0]["table"], "net": None})
    same(after["net"], PARAMS["net"])
    assert (np.asarray(after["table"])[ROWS] != PARAMS["table"][ROWS]).any()


def test_steps_under_vmap_and_scan():
    mixed, full = gradients()
    optimizer = optim.adam(0.1)

    def step(carry, _):
        now, state = carry
        updates, state = optimizer.update(mixed, state, now)
        return (optim.apply_updates(now, updates), state), None

    (looped, _), _ = jax.lax.scan(step, (params(), optimizer.init(params())), None, length=3)
    now, state = params(), optimizer.init(params())
    for _ in range(3):
        (now, state), _ = step((now, state), None)
    same(looped, now)
    both = jax.vmap(lambda s: step((jax.tree.map(lambda p: p * s, params()), state), None)[0][0])(
        jnp.array([1.0, 2.0])
    )
    one = step((jax.tree.map(lambda p: p * 2, params()), state), None)[0][0]
    same(jax.tree.map(lambda x: x[1], both), one)
    del full
