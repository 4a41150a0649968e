"""JAX's transforms on functions of sparse values."""

import jax
import numpy as np
import pytest
from jax import numpy as jnp
from jax.test_util import check_grads
from numpy.testing import assert_allclose, assert_array_equal

from cases.awkward import csr_cases
from cases.entries import awkward_entries
from rarefy.sparse import BCOO, BCSR, bcoo_dot_general, todense

MESS = next(c for c in csr_cases() if c.name == "everything at once" and c.data.dtype == np.float32)
COO = awkward_entries((5, 6))
BATCHED = awkward_entries((2, 4, 5), n_batch=1)
BLOCKED = awkward_entries((4, 5, 2), n_dense=1)


def bcoo(entries, data=None):
    return BCOO((entries.data if data is None else data, entries.indices), shape=entries.shape)


def bcsr(case, data=None):
    data = jnp.asarray(case.data) if data is None else data
    return BCSR._trusted(data, jnp.asarray(case.indices), jnp.asarray(case.indptr), case.shape)


def waves(*shape):
    return jnp.sin(jnp.arange(np.prod(shape), dtype=jnp.float32)).reshape(shape)


def dense_coo(entries, data):
    """The dense meaning of entries with other values, in plain JAX."""
    n_batch, n_sparse = entries.indices.ndim - 2, entries.indices.shape[-1]
    batch = np.indices(entries.indices.shape[:-1])[:n_batch]
    places = (*batch, *np.moveaxis(entries.indices, -1, 0)[:n_sparse])
    return jnp.zeros(entries.shape).at[places].add(data, mode="drop")


def dense_csr(case, data):
    rows = np.repeat(np.arange(case.shape[0] + 1), np.diff(case.indptr, append=case.data.size))
    return jnp.zeros(case.shape).at[rows, case.indices].add(data, mode="drop")


def is_dense(m):
    return isinstance(m, jax.Array)


def dot(m, v, numbers):
    general = jax.lax.dot_general if is_dense(m) else bcoo_dot_general
    return general(m, v, dimension_numbers=numbers)


# name: (function of a matrix and a dense array, source of the matrix, shape of the dense array)
PRODUCTS = {
    "bcoo @ matrix": (lambda m, v: m @ v, COO, (6, 2)),
    "bcoo @ vector": (lambda m, v: m @ v, COO, (6,)),
    "bcoo.T @ matrix": (lambda m, v: m.T @ v, COO, (5, 2)),
    "matrix @ bcoo": (lambda m, v: v @ m, COO, (2, 5)),
    "batched bcoo @ matrix": (lambda m, v: m @ v, BATCHED, (5, 2)),
    "batched bcoo @ batch": (lambda m, v: m @ v, BATCHED, (2, 5, 2)),
    "blocked bcoo @ vector": (lambda m, v: m @ v, BLOCKED, (2,)),
    "blocks with blocks": (lambda m, v: dot(m, v, (((0,), (1,)), ((), ()))), BLOCKED, (3, 4)),
    "bcsr @ matrix": (lambda m, v: m @ v, MESS, (10, 2)),
    "bcsr.T @ vector": (lambda m, v: m.T @ v, MESS, (7,)),
    "matrix @ bcsr": (lambda m, v: v @ m, MESS, (2, 7)),
    "sums": (lambda m, v: todense(m.sum(0)) * v, COO, (6,)),
    "rows": (lambda m, v: todense(m[1:5]) * v, MESS, (4, 10)),
    "cells": (lambda m, v: todense(m[::2, 1:]) * v, COO, (3, 5)),
    "times dense": (lambda m, v: todense(m * v), COO, (5, 6)),
    "divided by dense": (lambda m, v: todense(m / (2 + v)), MESS, (7, 10)),
    "sorted": (lambda m, v: todense(m if is_dense(m) else m.sort_indices()) * v, COO, (5, 6)),
    "merged": (
        lambda m, v: todense(m if is_dense(m) else m.sum_duplicates(7, False)) * v,
        COO,
        (5, 6),
    ),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_derivatives_are_those_of_the_dense_meaning(name):
    function, source, shape = PRODUCTS[name]
    sparse, dense = (bcsr, dense_csr) if source is MESS else (bcoo, dense_coo)
    point = jnp.asarray(source.data), waves(*shape)
    tangent = jnp.cos(point[0]), jnp.cos(3 * point[1])

    def derivatives(make):
        def f(d, v):
            return function(make(source, d), v)

        def loss(d, v):
            return (f(d, v) ** 2).sum()

        def gradient(d, v):
            return jax.grad(loss, argnums=(0, 1))(d, v)

        return jax.jvp(f, point, tangent), jax.jvp(gradient, point, tangent)

    found = jax.tree.leaves(jax.jit(derivatives, static_argnums=0)(sparse))
    expected = jax.tree.leaves(jax.jit(derivatives, static_argnums=0)(dense))
    names = ["value", "jvp", "grad data", "grad dense", "hvp data", "hvp dense"]
    for which, ours, theirs in zip(names, found, expected, strict=True):
        assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4, err_msg=which)


def test_derivatives_by_differences():
    def f(d, v):
        return bcoo(COO, d) @ v

    check_grads(f, (jnp.asarray(COO.data), waves(6)), order=1, atol=1e-2, rtol=1e-2)


def test_gradient_has_the_order_of_the_values_and_ignores_padding():
    def total(d):
        return ((bcoo(COO, d) @ waves(6)) * waves(5)).sum()

    gradient = jax.grad(total)(jnp.asarray(COO.data))
    real = (COO.indices < COO.shape).all(axis=1)
    clipped = np.minimum(COO.indices, np.subtract(COO.shape, 1))
    expected = np.where(real, waves(5)[clipped[:, 0]] * waves(6)[clipped[:, 1]], 0)
    assert_allclose(gradient, expected, rtol=1e-6)


def test_spare_slots_add_nothing_to_a_second_derivative():
    def f(t):
        dense = jnp.array([t + 1, 0, t * t])
        return (BCOO.fromdense(dense, nse=6).data ** 2).sum()

    assert_allclose(jax.grad(jax.grad(f))(0.5), 2 + 12 * 0.25)


def test_gradient_of_fromdense_without_jit():
    gradient = jax.grad(lambda m: (BCOO.fromdense(m).data ** 2).sum())(jnp.array([0.0, 3, 0, 2]))
    assert_array_equal(gradient, [0, 6, 0, 4])


def test_gradient_with_respect_to_a_sparse_value():
    x = bcsr(MESS)
    gradient = jax.grad(lambda m: (m @ waves(10)).sum(), allow_int=True)(x)
    assert isinstance(gradient, BCSR)
    assert gradient.data.shape == x.data.shape
    assert gradient.indices.dtype == jax.dtypes.float0
    value, tangent = jax.jvp(
        lambda d, v: bcsr(MESS, d) @ v, (x.data, waves(10)), (x.data, waves(10))
    )
    assert_allclose(tangent, 2 * value, rtol=1e-5)


def test_jacobians_and_hessian():
    x = bcsr(MESS)
    for jacobian in (jax.jacfwd, jax.jacrev):
        assert_allclose(jacobian(lambda v: x @ v)(waves(10)), MESS.dense, rtol=1e-6)
    hessian = jax.hessian(lambda v: ((bcoo(COO) @ v) ** 2).sum())(waves(6))
    assert_allclose(hessian, 2 * COO.dense.T @ COO.dense, rtol=1e-5)


LAYOUT_OF_BATCHES = {"bcoo": BCOO, "bcsr": BCSR}
each_layout = pytest.mark.parametrize("layout", LAYOUT_OF_BATCHES.values(), ids=LAYOUT_OF_BATCHES)


@each_layout
def test_vmap_maps_over_batches(layout):
    dense = BATCHED.dense
    batched = layout.fromdense(dense, n_batch=1, nse=9)
    seen = []

    def product(m, v):
        seen.append((m.shape, m.n_batch, m.nse, repr(m).startswith("BatchTracer")))
        return m @ v

    assert_allclose(jax.vmap(product, in_axes=(0, None))(batched, waves(5)), dense @ waves(5))
    assert seen == [((4, 5), 0, 9, True)]
    both = jax.vmap(product)(batched, waves(2, 5))
    assert_allclose(both, np.einsum("bmn,bn->bm", dense, waves(2, 5)), rtol=1e-5)
    assert jax.vmap(lambda m: m * 2, in_axes=(0,))(batched).shape == (2, 4, 5)
    assert repr(jax.vmap(lambda m: m)(batched)) == repr(batched)
    one = layout.fromdense(dense[0])
    assert_allclose(
        jax.vmap(lambda m, v: m @ v, in_axes=(None, 0))(one, waves(3, 5)), waves(3, 5) @ dense[0].T
    )
    per_row = jax.vmap(jax.grad(lambda m, v: ((m @ v) ** 2).sum(), argnums=1), in_axes=(0, None))
    expected = [2 * d.T @ d @ waves(5) for d in dense]
    assert_allclose(per_row(batched, waves(5)), expected, rtol=1e-5)


@each_layout
def test_vmap_twice_and_results_that_are_sparse(layout):
    dense = jnp.asarray(np.stack([BATCHED.dense, 2 * BATCHED.dense, 3 * BATCHED.dense]))
    twice = layout.fromdense(dense, n_batch=2)
    found = jax.vmap(jax.vmap(lambda m: m @ waves(5)))(twice)
    assert_allclose(found, dense @ waves(5), rtol=1e-5)
    made = jax.vmap(lambda d: layout.fromdense(d, nse=8))(dense[0])
    assert made.n_batch == 1
    assert_array_equal(made.todense(), dense[0])
    assert_array_equal(jax.vmap(lambda m: m.todense())(made), dense[0])


def test_vmap_shares_what_is_not_mapped():
    scaled = jax.vmap(lambda s: bcoo(COO) * s)(jnp.arange(3.0))
    assert repr(scaled) == "BCOO(float32[3, 5, 6], nse=7, n_batch=1)"
    assert_array_equal(scaled.todense(), np.arange(3)[:, None, None] * COO.dense)
    one_pattern = BCOO((np.ones((2, 3)), np.array([[[0, 0], [1, 1], [2, 2]]])), shape=(2, 3, 4))
    assert_array_equal(jax.vmap(lambda m: m @ jnp.ones(4))(one_pattern), np.ones((2, 3)))
    shared_gradient = jax.grad(lambda d: jax.vmap(lambda v: bcoo(COO, d) @ v)(waves(3, 6)).sum())(
        jnp.asarray(COO.data)
    )
    assert shared_gradient.shape == COO.data.shape


def test_vmap_refuses_other_axes():
    with pytest.raises(ValueError, match="Cannot map in_axis=0 for BCOO array with n_batch=0"):
        jax.vmap(lambda m: m * 2)(bcoo(COO))
    with pytest.raises(ValueError, match="Cannot map in_axis=1 for BCOO array with n_batch=1"):
        jax.vmap(lambda m: m * 2, in_axes=1)(bcoo(BATCHED))
    with pytest.raises(ValueError, match="cannot add out_axis=1 for BCOO array with n_batch=0"):
        jax.vmap(lambda s: bcoo(COO) * s, out_axes=1)(jnp.arange(3.0))


@each_layout
def test_scan_slices_and_stacks_batches(layout):
    batched = layout.fromdense(BATCHED.dense, n_batch=1)

    def step(total, m):
        assert m.shape == (4, 5)
        return total + m @ waves(5), m * 2

    total, doubled = jax.lax.scan(step, jnp.zeros(4), batched)
    assert_allclose(total, (BATCHED.dense @ waves(5)).sum(0), rtol=1e-5)
    assert repr(doubled) == repr(batched)
    assert_array_equal(doubled.todense(), 2 * BATCHED.dense)
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *[batched] * 3)
    assert stacked.shape == (3, 2, 4, 5)
    assert_array_equal(stacked.todense(), np.stack([BATCHED.dense] * 3))


def test_loops_carry_sparse_values():
    x = bcsr(MESS)
    halved = jax.lax.fori_loop(0, 3, lambda i, m: m / 2, x)
    assert_allclose(halved.todense(), MESS.dense / 8)
    chosen = jax.lax.cond(True, lambda m: m, lambda m: -m, x)
    assert_array_equal(chosen.todense(), MESS.dense)
    remat = jax.grad(jax.checkpoint(lambda v: ((x @ v) ** 2).sum()))(waves(10))
    assert_allclose(remat, 2 * MESS.dense.T @ (MESS.dense @ waves(10)), rtol=1e-4)


def test_jit_keeps_static_data_and_compiles_once():
    count = []

    @jax.jit
    def f(m):
        count.append(m.indices_sorted)
        return m

    x = BCOO.fromdense(COO.dense)
    assert f(f(x)).indices_sorted
    assert f(x * 2).unique_indices
    assert count == [True]
    f(bcoo(COO))
    assert count == [True, False]
    assert jax.eval_shape(lambda m: m @ jnp.ones(6), x).shape == (5,)
    assert jax.block_until_ready(x) is not None
    assert x.block_until_ready() is x


def test_custom_rules_differentiate_by_values():
    @jax.custom_jvp
    def total(m):
        return m.todense().sum()

    @total.defjvp
    def rule(primals, tangents):
        (m,), (t,) = primals, tangents
        return total(m), m._with_buffers(t.data, m.indices).todense().sum()

    for x in (bcoo(COO), bcoo(COO).T):
        gradient = jax.grad(lambda d, x=x: total(x._with_buffers(d, x.indices)))(x.data)
        assert_array_equal(gradient, (COO.indices < COO.shape).all(axis=1))


def test_sharded_products_over_devices_of_one_mesh():
    mesh = jax.make_mesh((1,), ("rows",))
    spec = jax.sharding.PartitionSpec

    def product(d, v):
        return bcsr(MESS, d) @ v

    mapped = jax.shard_map(product, mesh=mesh, in_specs=(spec(), spec()), out_specs=spec())
    assert_allclose(mapped(jnp.asarray(MESS.data), waves(10)), MESS.dense @ waves(10), rtol=1e-5)
