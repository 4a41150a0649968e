"""sparsify through loops, branches, calls, rules of derivatives, and the transformations around it."""

import jax
import numpy as np
import pytest
from jax import lax
from jax import numpy as jnp
from numpy.testing import assert_allclose, assert_array_equal

from rarefy.sparse import BCOO, BCSR, grad, sparsify, todense

D = np.array([[0, 1, 0, 2, 0], [3, 0, 0, 0, -1], [0, 0, 0, 0, 0], [0, -2, 4, 0, 0.5]], np.float32)
V = np.linspace(-1, 1, 5, dtype=np.float32)
BOTH = [BCOO.fromdense(D), BCSR.fromdense(D)]
each = pytest.mark.parametrize("mat", BOTH, ids=["bcoo", "bcsr"])


def dense_leaves(tree):
    return [todense(x) for x in jax.tree.leaves(tree, is_leaf=lambda x: isinstance(x, BCOO | BCSR))]


def agree(function, mat, **options):
    got, want = sparsify(function, **options)(mat), function(jnp.asarray(D))
    for a, b in zip(dense_leaves(got), dense_leaves(want), strict=True):
        assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    return got


LOOPS = {
    "while": lambda x: lax.while_loop(lambda c: c[0] < 4, lambda c: (c[0] + 1, 2 * c[1]), (0, x)),
    "while_const": lambda x: lax.while_loop(
        lambda v: jnp.abs(v).sum() < 50, lambda v: x.T @ (x @ v), jnp.ones(5)
    ),
    "fori_pattern": lambda x: lax.fori_loop(0, 3, lambda i, c: c * x, x),
    "becomes_dense": lambda x: lax.fori_loop(0, 3, lambda i, c: c + jnp.ones_like(D), x),
    "two_of_one_pattern": lambda x: lax.fori_loop(0, 3, lambda i, c: (c[1], c[0] + c[1]), (x, x)),
    "grows_once": lambda x: lax.fori_loop(0, 3, lambda i, c: x[::-1] * (i + 1) + x, x),
    "scan_rows": lambda x: lax.scan(lambda c, row: (c + row @ V, 2 * row), 0.0, x),
    "scan_columns": lambda x: lax.scan(lambda c, column: (c, column.sum()), 0, x.T),
    "scan_dense": lambda x: lax.scan(lambda c, a: (a * c, x * a), x, jnp.arange(1.0, 4)),
    "cond": lambda x: lax.cond(x[0, 1] > 0, lambda y: 2 * y, lambda y: 3 * y, x),
    "cond_patterns": lambda x: lax.cond(x.sum() > 0, lambda y: y + y[::-1], lambda y: y, x),
    "switch": lambda x: lax.switch(1, [lambda y: y @ V, lambda y: (y * y) @ V], x),
    "jit": lambda x: jax.jit(lambda y: (jnp.sin(y), y @ V))(x),
    "checkpoint": lambda x: jax.checkpoint(lambda y: jnp.sin(y) @ V)(x),
    "vmap": lambda x: jax.vmap(lambda v: x @ v)(jnp.stack([V, 2 * V])),
}


@each
@pytest.mark.parametrize("name", LOOPS)
def test_control_flow(name, mat):
    agree(LOOPS[name], mat)


@pytest.mark.parametrize("name", ["while", "scan_rows", "cond", "jit"])
def test_control_flow_with_tracers(name):
    agree(LOOPS[name], BOTH[0], use_tracer=True)


def test_indices_that_a_loop_does_not_change_stay_the_same_buffer():
    x = BOTH[0]
    _, out = agree(LOOPS["while"], x)
    assert out.indices is x.indices
    out = agree(lambda y: lax.cond(True, lambda z: 2 * z, lambda z: -z, y), x)
    assert out.indices is x.indices


def test_a_stack_of_scanned_rows_is_batched():
    stack = BCOO.fromdense(jnp.stack([D, 2 * D]), n_batch=1)
    last, rows = sparsify(lambda x: lax.scan(lambda c, m: (c + m @ V, jnp.sin(m)), 0.0 * V[:4], x))(
        stack
    )
    assert_allclose(last, 3 * D @ V, rtol=1e-5)
    assert isinstance(rows, BCOO) and rows.n_batch == 1
    assert_allclose(rows.todense(), np.sin(np.stack([D, 2 * D])), rtol=1e-6)


def test_a_loop_that_stores_more_with_every_step_is_refused():
    with pytest.raises(NotImplementedError, match=r"scan is not .* stores more with every step"):
        sparsify(lambda x: lax.fori_loop(0, 3, lambda i, c: c + x[::-1], x))(BOTH[0])


def test_branches_of_different_kinds_are_refused_with_their_layouts():
    with pytest.raises(TypeError, match="sparsified true_fun output must have same type structure"):
        sparsify(lambda x: lax.cond(False, lambda y: y, lambda y: y + D, x))(BOTH[0])


@jax.custom_jvp
def five_times(x):
    return x


five_times.defjvp(lambda p, t: (five_times(*p), 5 * t[0]))


@jax.custom_vjp
def three_times(x):
    return 2 * x


three_times.defvjp(lambda x: (three_times(x), None), lambda _, c: (3 * c,))

LOSSES = {
    "tanh": lambda x: (jnp.tanh(x @ V) ** 2).sum(),
    "relu": lambda x: jax.nn.relu(x).sum(),
    "softplus": lambda x: jax.nn.softplus(x).mean(),
    "variance": lambda x: x.var(0).sum(),
    "logsumexp": lambda x: jax.nn.logsumexp(x, axis=1).sum(),
    "custom_jvp": lambda x: (five_times(x) * x).sum(),
    "custom_jvp_twice": lambda x: five_times(five_times(x)).sum(),
    "custom_vjp": lambda x: (three_times(x) ** 2).sum(),
    "fori": lambda x: lax.fori_loop(0, 3, lambda i, c: jnp.tanh(x.T @ (x @ c)), V).sum(),
    "checkpoint": lambda x: jax.checkpoint(lambda y: (y @ V) ** 3)(x).sum(),
    "max": lambda x: (x.max(1) ** 2).sum(),
}


@each
@pytest.mark.parametrize("name", LOSSES)
def test_gradient_lives_at_the_stored_cells(name, mat):
    loss = LOSSES[name]
    want = np.where(D != 0, jax.grad(loss)(jnp.asarray(D)), 0)
    for function in (grad(sparsify(loss)), jax.jit(grad(sparsify(loss)))):
        found = function(mat)
        assert isinstance(found, type(mat))
        assert_allclose(found.todense(), want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["relu", "custom_jvp", "custom_jvp_twice", "custom_vjp"])
def test_rules_of_derivatives_hold_with_tracers(name):
    loss = LOSSES[name]
    want = np.where(D != 0, jax.grad(loss)(jnp.asarray(D)), 0)
    assert_allclose(
        grad(sparsify(loss, use_tracer=True))(BOTH[0]).todense(), want, rtol=1e-4, atol=1e-5
    )


def test_gradient_at_a_stored_zero_is_that_of_the_rule():
    x = BCOO((jnp.array([0.0, 2.0]), jnp.array([[0], [2]])), shape=(4,))
    assert_array_equal(grad(sparsify(lambda x: jax.nn.relu(x).sum()))(x).data, [0, 1])


@each
def test_derivatives_of_dense_arguments_to_second_order(mat):
    def loss(v, x):
        return (jnp.tanh(x @ v) ** 2).sum()

    want = jax.hessian(loss)(V, jnp.asarray(D))
    assert_allclose(jax.hessian(sparsify(loss))(V, mat), want, rtol=1e-4, atol=1e-5)
    assert_allclose(
        sparsify(lambda v, x: jax.grad(loss)(v, x))(V, mat),
        jax.grad(loss)(V, jnp.asarray(D)),
        rtol=1e-5,
        atol=1e-6,
    )


def test_vmap_over_a_batch_dimension():
    stack = BCOO.fromdense(jnp.stack([D, 2 * D]), n_batch=1)
    got = jax.vmap(sparsify(lambda m: jnp.sin(m) @ V))(stack)
    assert_allclose(got, np.sin(np.stack([D, 2 * D])) @ V, rtol=1e-5)
