"""Gradients by rows through control flow, nested transformations and custom rules."""

import os
import subprocess
import sys

import jax
import numpy as np
import pytest
from jax import lax
from jax import numpy as jnp
from jax.sharding import AxisType, PartitionSpec
from numpy.testing import assert_allclose, assert_array_equal

from rarefy.sparse import BCOO, DenseUseError, grad, value_and_grad

N, D = 40, 4
TABLE = np.random.default_rng(7).normal(size=(N, D)).astype(np.float32)
IDS = np.array([3, 7, 3, 39, 0], np.int32)


@jax.jit
def compiled_rows(t):
    return jax.jit(lambda t: jnp.tanh(t[IDS]))(t)


@jax.jit
def compiled_identity(t):
    return t


def scan_of_scan(t):
    def outer(total, i):
        def inner(subtotal, j):
            return subtotal + jnp.sin(t[i] * t[j]).sum(), t[j, 0]

        subtotal, column = lax.scan(inner, 0.0, IDS + 1 - N)
        return total * 0.9 + subtotal, column.sum()

    total, columns = lax.scan(outer, 1.0, IDS)
    return total + (columns**2).sum()


def scan_with_the_table_in_its_state(t):
    def step(state, i):
        table, total = state
        return (table, total * 0.5 + (table[i] ** 2).sum()), None

    return lax.scan(step, (t, 1.0), IDS)[0][1]


def scan_with_ids_in_its_state(t):
    def step(state, _):
        i, total = state
        return ((i * 5 + 2) % N, total + (t[i] ** 2).sum()), None

    return lax.scan(step, (jnp.int32(3), 0.0), None, length=3)[0][1]


def reversed_scan(t):
    return lax.scan(lambda c, i: (c * 0.5 + jnp.cos(t[i]).sum(), None), 0.0, IDS, reverse=True)[0]


def for_loop(t):
    return lax.fori_loop(0, 4, lambda i, c: c + (t[3 * i] * c).sum(), 1.0)


def for_loop_with_the_table_in_its_state(t):
    return lax.fori_loop(0, 4, lambda i, s: (s[0], s[1] + s[0][3 * i].sum() ** 2), (t, 1.0))[1]


def cond(t):
    yes = lax.cond(t[0, 0] > -100, lambda t: jnp.sin(t[IDS]).sum(), lambda t: t[5].sum(), t)
    no = lax.cond(t[0, 0] < -100, lambda: (t[IDS] ** 2).sum(), lambda: (t[8:10] ** 3).sum())
    return yes + no


def switch_without_the_table_in_a_branch(t):
    return lax.switch(jnp.int32(1), [lambda: 0.0, lambda: t[4].sum() ** 2, lambda: t[IDS].sum()])


def cond_in_scan(t):
    def step(c, i):
        part = lax.cond(i > 5, lambda: jnp.sin(t[i]).sum(), lambda: t[i, 0] * t[1, 1])
        return c + part, None

    return lax.scan(step, 0.0, IDS)[0]


def remat(t):
    return jax.checkpoint(lambda t, i: jnp.sin(jnp.sin(t[i] * 2)).sum())(t, IDS)


def remat_with_policy_in_scan(t):
    @jax.checkpoint
    def step(c, i):
        return c + jnp.sin(t[i] @ t[2]), None

    saved = jax.checkpoint(
        lambda t: jnp.sin(jnp.sin(t[IDS])).sum(), policy=jax.checkpoint_policies.dots_saveable
    )
    return lax.scan(step, 0.0, IDS)[0] + saved(t)


def remat_of_scan_that_makes_ids(t):
    def inside(t):
        best = lax.scan(lambda c, i: (c + t[i], jnp.argmax(c + t[i])), jnp.zeros(D), IDS)[1]
        return jnp.sin(t[best + 10]).sum()

    return jax.checkpoint(inside)(t)


def inner_vmap(t):
    return (jax.vmap(lambda i: jnp.sin(t[i]))(IDS) ** 2).sum()


def inner_vmap_of_windows(t):
    return (jax.vmap(lambda i: lax.dynamic_slice(t, (i, 1), (2, 2)))(IDS) ** 2).sum()


def inner_vmap_of_scan(t):
    pick = lambda ids: lax.scan(lambda c, i: (c + jnp.sin(t[i]).sum(), None), 0.0, ids)[0]  # noqa: E731
    return (jax.vmap(pick)(IDS.repeat(2).reshape(2, 5)) ** 2).sum()


def inner_map(t):
    return (lax.map(lambda i: jnp.sin(t[i]).sum(), IDS) ** 2).sum()


def inner_grad(t):
    return (jax.grad(lambda r: (r**3).sum())(t[IDS]) ** 2).sum()


@jax.custom_jvp
def jvp_of_rows(rows):
    return rows**2


@jvp_of_rows.defjvp
def _(primals, tangents):
    return jvp_of_rows(*primals), 5 * primals[0] * tangents[0]


@jax.custom_jvp
def jvp_of_table(t, i):
    return (t[i] ** 2).sum()


@jvp_of_table.defjvp
def _(primals, tangents):
    t, i = primals
    return jvp_of_table(t, i), (7 * t[i] * tangents[0][i]).sum()


@jax.custom_vjp
def vjp_of_rows(rows):
    return rows**2


vjp_of_rows.defvjp(lambda r: (r**2, r), lambda r, g: (3 * r * g,))


def custom_rules(t):
    def step(c, i):
        return c + vjp_of_rows(t[i]).sum() + jvp_of_rows(t[i]).sum(), None

    looped = lax.scan(step, 0.0, IDS)[0]
    return looped + vjp_of_rows(t[IDS]).sum() + jvp_of_rows(t[IDS]).sum() + jvp_of_table(t, IDS)


def uses_without_gradient(t):
    best = jnp.argmax((t @ t[0]) * 2)
    index = lax.while_loop(lambda i: t[i, 0] < 0, lambda i: i + 1, jnp.int32(0))
    scale = lax.stop_gradient(jnp.sqrt((t**2).sum()))
    finite = jnp.isfinite(t).all()
    unused = jnp.exp(t)
    del unused
    return jnp.where(finite, scale, 0) * (t[best] @ t[index]) + lax.stop_gradient(t).sum()


ROWS = [0, 3, 7, 39]
PROGRAMS = {
    compiled_rows: ROWS,
    scan_of_scan: [0, 1, 3, 4, 7, 8, 39],
    scan_with_the_table_in_its_state: ROWS,
    scan_with_ids_in_its_state: [3, 7, 17],
    reversed_scan: ROWS,
    for_loop: [0, 3, 6, 9],
    for_loop_with_the_table_in_its_state: [0, 3, 6, 9],
    cond: [0, 3, 7, 8, 9, 39],
    switch_without_the_table_in_a_branch: [4],
    cond_in_scan: [0, 1, 3, 7, 39],
    remat: ROWS,
    remat_with_policy_in_scan: [0, 2, 3, 7, 39],
    remat_of_scan_that_makes_ids: None,
    inner_vmap: ROWS,
    inner_vmap_of_windows: [0, 1, 3, 4, 7, 8, 38, 39],
    inner_vmap_of_scan: ROWS,
    inner_map: ROWS,
    inner_grad: ROWS,
    custom_rules: ROWS,
    uses_without_gradient: None,
    lambda t: compiled_identity(t)[IDS].sum(): ROWS,
}


def touched(gradient):
    rows = np.asarray(gradient.indices[:, 0])
    assert_array_equal(rows[:-1] <= rows[1:], True)
    return rows[rows < N].tolist()


@pytest.mark.parametrize(
    "program, rows", PROGRAMS.items(), ids=lambda p: getattr(p, "__name__", "")
)
@pytest.mark.parametrize("compile", [False, True], ids=["eager", "jit"])
def test_a_program_gives_the_dense_gradient_on_its_rows(program, rows, compile):
    source = np.random.default_rng()
    loss = lambda t: (source, program(t).sum())[1]  # noqa: E731
    # A function that could draw numbers is not compiled where jit is not asked for.
    ours, table = value_and_grad(loss, row_sparse=True), jnp.asarray(TABLE)
    value, gradient = (jax.jit(ours) if compile else ours)(table)
    expected_value, expected = jax.value_and_grad(loss)(table)
    assert_allclose(value, expected_value, rtol=1e-5)
    assert_allclose(gradient.todense(), expected, rtol=2e-5, atol=1e-5)
    if rows is not None:
        assert touched(gradient) == rows
    assert len(touched(gradient)) < N / 2


@pytest.mark.parametrize("over", ["ids", "table", "both"])
def test_vmap_over_the_gradient(over):
    tables, ids = np.stack([TABLE, TABLE[::-1] * 2]), np.array([[1, 2, 1], [39, 3, 3]])
    loss = lambda t, i: (jnp.sin(t[i]) ** 2).sum()  # noqa: E731
    axes = {"ids": (None, 0), "table": (0, None), "both": (0, 0)}[over]
    args = (tables if axes[0] == 0 else TABLE), (ids if axes[1] == 0 else ids[0])
    values, gradients = jax.vmap(value_and_grad(loss, row_sparse=True), axes)(*args)
    expected_values, expected = jax.vmap(jax.value_and_grad(loss), axes)(*args)
    assert_allclose(values, expected_values, rtol=1e-5)
    assert gradients.shape == (2, N, D) and gradients.n_batch == 1
    assert_allclose(gradients.todense(), expected, rtol=1e-5, atol=1e-6)


def test_gradients_in_a_scan_of_steps():
    def step(t, ids):
        g = grad(lambda t: (t[ids] ** 2).sum(), row_sparse=True)(t)
        return t.at[g.indices[:, 0]].add(-0.1 * g.data, mode="drop"), g.data.sum()

    batches = np.array([[1, 2, 1], [39, 3, 3]])
    out, _ = jax.jit(lambda t: lax.scan(step, t, batches))(jnp.asarray(TABLE))
    expected = TABLE.astype(np.float64)
    for ids in batches:
        gradient = np.zeros_like(expected)
        np.add.at(gradient, ids, 2 * expected[ids])
        expected = expected - 0.1 * gradient
    assert_allclose(out, expected, rtol=1e-5)


def cubes(t):
    return (t[IDS] ** 3).sum()


def test_second_order():
    def penalty(t):
        return (grad(cubes, row_sparse=True)(t).data ** 2).sum()

    # Of row 3, read twice, the gradient is 6 t**2, of the others 3 t**2; derivatives of their squares.
    expected = np.zeros_like(TABLE)
    expected[[0, 7, 39]] = 36 * TABLE[[0, 7, 39]] ** 3
    expected[3] = 144 * TABLE[3] ** 3
    for transform in (lambda f: f, jax.jit):
        assert_allclose(transform(jax.grad(penalty))(jnp.asarray(TABLE)), expected, rtol=1e-5)
        by_rows = transform(grad(penalty, row_sparse=True))(jnp.asarray(TABLE))
        assert touched(by_rows) == ROWS
        assert_allclose(by_rows.todense(), expected, rtol=1e-5)
    direction = TABLE[::-1].copy()
    _, tangent = jax.jvp(grad(cubes, row_sparse=True), (TABLE,), (direction,))
    assert_allclose(tangent.data[1], 12 * TABLE[3] * direction[3], rtol=1e-5)  # rows 0, 3, 7, 39, -


def test_meta_step_through_the_gradient():
    def after_a_step(w, t):
        inner = grad(lambda t: ((t[IDS] @ w) ** 2).sum(), row_sparse=True)(t)
        moved = t.at[inner.indices[:, 0]].add(-0.1 * inner.data, mode="drop")
        return (moved[IDS] ** 2).sum()

    def dense(w, t):
        moved = t - 0.1 * jax.grad(lambda t: ((t[IDS] @ w) ** 2).sum())(t)
        return (moved[IDS] ** 2).sum()

    w = jnp.arange(1.0, 5)
    t = jnp.asarray(TABLE)
    assert_allclose(jax.grad(after_a_step)(w, t), jax.grad(dense)(w, t), rtol=1e-4)


# On two devices, in a process of its own.


def on_two_devices():
    mesh = jax.make_mesh((2,), ("x",), axis_types=(AxisType.Auto,))
    for check in (True, False):
        with_a_mesh(mesh, check)
    sharded = jax.shard_map(
        lambda t: lax.psum(t[0].sum(), "x"),
        mesh=mesh,
        in_specs=PartitionSpec("x"),
        out_specs=PartitionSpec(),
    )
    with pytest.raises(DenseUseError, match="must be replicated"):
        grad(sharded, row_sparse=True)(jnp.asarray(TABLE))


def with_a_mesh(mesh, check):
    everywhere, along = PartitionSpec(), PartitionSpec("x")
    ids = np.array([3, 7, 3, 39, 0, 3, 8, 8])
    table, w = jnp.asarray(TABLE), jnp.arange(1.0, 5)

    def local(t, w, ids):
        def step(c, i):
            yes, no = lambda: jnp.sin(t[i] @ w), lambda: t[1, 1] * t[i, 0]
            # With the check, JAX sums over devices inside a branch that not all of them take.
            part = jnp.where(i > 5, yes(), no()) if check else lax.cond(i > 5, yes, no)
            return c + part, None

        start = jnp.zeros(())
        start = lax.pcast(start, ("x",), to="varying") if check else start
        looped = lax.scan(step, start, ids)[0]
        return lax.psum((t[ids] ** 2).sum() + looped + jnp.sin(t[2:4]).sum(), "x")

    mapped = jax.shard_map(
        local,
        mesh=mesh,
        in_specs=(everywhere, everywhere, along),
        out_specs=everywhere,
        check_vma=check,
    )
    loss = lambda t, w: mapped(t, w, ids) + (t[20] ** 2).sum()  # noqa: E731

    def on_one_device(t, w):
        chosen = jnp.where(ids > 5, jnp.sin(t[ids] @ w), t[1, 1] * t[ids, 0]).sum()
        return (t[ids] ** 2).sum() + chosen + 2 * jnp.sin(t[2:4]).sum() + (t[20] ** 2).sum()

    for transform in (lambda f: f, jax.jit):
        value, (by_rows, by_w) = transform(value_and_grad(loss, (0, 1), row_sparse=0))(table, w)
        value_1, (dense_1, w_1) = jax.value_and_grad(on_one_device, (0, 1))(table, w)
        assert_allclose(value, value_1, rtol=1e-5)
        assert_allclose(by_rows.todense(), dense_1, rtol=1e-4, atol=1e-5)
        assert_allclose(by_w, w_1, rtol=1e-4)
        assert touched(by_rows) == [0, 1, 2, 3, 7, 8, 20, 39]

    def per_device(t, w, ids):
        local_loss = lambda t, w: (jnp.tanh(t[ids]) @ w).sum()  # noqa: E731
        by_rows, by_w = grad(local_loss, (0, 1), row_sparse=0)(t, w)
        dense, dense_w = jax.grad(local_loss, (0, 1))(t, w)
        return by_rows.data, by_rows.indices, by_w, dense, dense_w

    # JAX sums gradients of replicated arguments over the devices exactly where it checks them.
    out = everywhere if check else along
    data, indices, by_w, dense, dense_w = jax.jit(
        jax.shard_map(
            per_device,
            mesh=mesh,
            in_specs=(everywhere, everywhere, along),
            out_specs=out,
            check_vma=check,
        )
    )(table, w, ids)
    assert_allclose(by_w, dense_w, rtol=1e-5)
    parts = 1 if check else 2
    for d, i, e in zip(
        np.split(data, parts), np.split(indices, parts), np.split(dense, parts), strict=True
    ):
        assert_allclose(BCOO((d, i), shape=(N, D)).todense(), e, rtol=1e-5, atol=1e-6)


def test_shard_map_over_the_batch():
    tests = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    flags = "--xla_force_host_platform_device_count=2"
    env = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu", "PYTHONPATH": tests}
    done = subprocess.run(
        [sys.executable, __file__], capture_output=True, text=True, env=env, check=False
    )
    assert done.returncode == 0, done.stderr


if __name__ == "__main__":
    assert jax.device_count() == 2
    on_two_devices()
