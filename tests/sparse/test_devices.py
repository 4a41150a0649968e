"""Sparse values over eight devices, in a process of its own where every warning is an error.

It also imports the package, under both settings of x64, and checks that no setting of JAX changes.
"""

import os
import subprocess
import sys
import warnings
from functools import partial

import jax
import numpy as np
import pytest
from jax import lax
from jax import numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec
from numpy.testing import assert_allclose, assert_array_equal

COUNT = 8


@pytest.mark.parametrize("x64", ["0", "1"], ids=["x32", "x64"])
def test_on_eight_devices(x64):
    tests = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    env = {
        **os.environ,
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={COUNT}",
        "JAX_PLATFORMS": "cpu",
        "JAX_ENABLE_X64": x64,
        "PYTHONPATH": tests,
    }
    command = [sys.executable, "-W", "error", __file__]
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, done.stderr


def settings():
    return dict(jax.config.values)


def dense_parts(rng):
    """A matrix for each device, `(8, 4, 6)`, with empty rows."""
    dense = rng.standard_normal((COUNT, 4, 6)) * (rng.random((COUNT, 4, 6)) < 0.4)
    dense[1] = 0
    return dense.astype(np.float32)


def shuffled(sparse, dense, nse):
    """A batch of BCOO with padding, in no order, some cells in two halves."""
    mat = sparse.BCOO.fromdense(dense, n_batch=1, nse=nse)
    data = jnp.concatenate([mat.data / 2, mat.data / 2], 1)
    indices = jnp.concatenate([mat.indices, mat.indices], 1)
    order = np.random.default_rng(2).permutation(data.shape[1])
    return sparse.BCOO((data[:, order], indices[:, order]), shape=mat.shape)


def check_products(sparse, mesh, dense):
    """Products under shard_map and their gradients, with both settings of `check_vma`."""
    rng = np.random.default_rng(1)
    weight = jnp.asarray(rng.standard_normal((6, 3)), jnp.float32)
    split, whole = PartitionSpec("x"), PartitionSpec()

    def by_hand(w):
        out = dense @ np.asarray(w)
        by_weight = sum(d.T @ (2 * o) for d, o in zip(dense, out, strict=True))
        return (out**2).sum(), by_weight, 2 * out @ np.asarray(w).T

    value, by_weight, by_cell = by_hand(weight)
    for mat in (shuffled(sparse, dense, 24), sparse.BCSR.fromdense(dense, n_batch=1, nse=24)):
        coo = mat if isinstance(mat, sparse.BCOO) else mat.to_bcoo()
        real = np.asarray((coo.indices < np.array(coo.shape[1:])).all(-1))
        part, row, column = (
            np.arange(COUNT)[:, None],
            *np.moveaxis(np.minimum(coo.indices, [3, 5]), -1, 0),
        )
        by_data = np.where(real, by_cell[part, row, column], 0)

        def local(mat, w):
            return lax.psum(((mat @ w) ** 2).sum(), "x")

        for check in (True, False):
            mapped = jax.shard_map(
                local, mesh=mesh, in_specs=(split, whole), out_specs=whole, check_vma=check
            )
            found, gradients = jax.jit(
                lambda mat, w, mapped=mapped: (
                    mapped(mat, w),
                    sparse.grad(mapped, argnums=(0, 1))(mat, w),
                )
            )(mat, weight)
            assert_allclose(found, value, rtol=1e-4)
            assert_allclose(gradients[0].data, by_data, rtol=1e-4, atol=1e-4)
            assert_allclose(gradients[1], by_weight, rtol=1e-4, atol=1e-4)


def check_sharded_batches(sparse, mesh, dense):
    """A batch that lies over the devices, as it is and under `pmap`."""
    split = NamedSharding(mesh, PartitionSpec("x"))
    vector = jnp.arange(6, dtype=jnp.float32)
    for layout in (sparse.BCOO, sparse.BCSR):
        mat = jax.device_put(layout.fromdense(dense, n_batch=1, nse=24), split)
        assert all(x.sharding.is_equivalent_to(split, x.ndim) for x in jax.tree.leaves(mat))
        out = jax.jit(lambda m: m @ vector, out_shardings=split)(mat)
        assert_allclose(out, dense @ vector, rtol=1e-5, atol=1e-5)
        pairs = layout.fromdense(np.concatenate([dense, dense]), n_batch=1, nse=24)
        of_two = jax.shard_map(
            lambda m: m * m.shape[0],
            mesh=mesh,
            in_specs=PartitionSpec("x"),
            out_specs=PartitionSpec("x"),
        )(pairs)
        assert_array_equal(of_two.todense(), 2 * pairs.todense())
        twice = jax.jit(lambda m: m * 2)(mat)
        assert_array_equal(twice.todense(), 2 * dense)
        one_each = jax.pmap(lambda m: m @ vector)(mat)
        assert_allclose(one_each, dense @ vector, rtol=1e-5, atol=1e-5)


def check_values_in_programs(sparse, dense):
    """Donation, waiting, trees, and loops and branches that carry sparse values."""
    for layout in (sparse.BCOO, sparse.BCSR):
        mat = layout.fromdense(dense[0], nse=15)
        one = layout.fromdense(dense[:1], n_batch=1, nse=15)
        shared = layout._trusted(*one._bufs, (3, 4, 6))  # buffers of size 1 for a batch of three
        assert jax.jit(lambda m: m)(shared).shape == (3, 4, 6)
        given = jax.tree.map(jnp.copy, mat)
        place = given.data.unsafe_buffer_pointer()
        scaled = jax.jit(lambda m: 3 * m, donate_argnums=0)(given)
        assert given.data.is_deleted() and scaled.data.unsafe_buffer_pointer() == place
        assert_allclose(scaled.todense(), 3 * dense[0], rtol=1e-6)
        assert jax.block_until_ready({"m": scaled})["m"] is scaled

        leaves, structure = jax.tree.flatten(mat)
        again = jax.tree.unflatten(structure, leaves)
        assert type(again) is layout and all(
            a is b for a, b in zip(leaves, jax.tree.leaves(again), strict=True)
        )
        assert [p[-1] for p, _ in jax.tree_util.tree_leaves_with_path(mat)] != []

        @jax.jit
        def carried(m):
            summed, _ = lax.scan(lambda c, s: (s * c, c.data.sum()), m, np.float32([1, 2]))
            doubled = lax.while_loop(lambda c: jnp.abs(c.data).sum() < 100, lambda c: 2 * c, summed)
            return lax.cond(doubled.data[0] > 0, lambda c: -c, lambda c: c, doubled)

        out, expected = carried(mat), 2 * dense[0]
        while np.abs(expected).sum() < 100:
            expected = 2 * expected
        expected = -expected if mat.data[0] > 0 else expected
        assert type(out) is layout and out.nse == mat.nse
        assert_allclose(out.todense(), expected, rtol=1e-5)


def check_row_sparse_step(sparse):
    """A step over donated tables has no room of a table's size, on one device and replicated."""
    from rarefy import optim

    height, optimizer = 100_000, optim.adam(0.1)
    params = {"t": jnp.ones((height, 8)), "w": jnp.ones(8)}
    state, ids = optimizer.init(params), jnp.arange(16) * 5

    @partial(jax.jit, donate_argnums=(0, 1))
    def step(params, state, ids):
        loss = lambda p: ((p["t"][ids] @ p["w"]) ** 2).sum()  # noqa: E731
        value, gradient = sparse.value_and_grad(loss, row_sparse={"t": True})(params)
        updates, state = optimizer.update(gradient, state, params)
        return optim.apply_updates(params, updates), state, value

    table = params["t"].nbytes
    memory = step.lower(params, state, ids).compile().memory_analysis()
    assert memory.temp_size_in_bytes < table / 50
    assert memory.output_size_in_bytes - memory.alias_size_in_bytes < table / 50
    params, state, value = step(params, state, ids)
    assert value == 16 * 64
    moved = (np.asarray(params["t"]) != 1).any(1).nonzero()[0]
    assert_array_equal(moved, ids)


def main():
    before = settings()
    import rarefy  # noqa: F401
    from rarefy import sparse

    assert settings() == before, "importing rarefy changes a setting of JAX"
    assert jax.device_count() == COUNT
    dense = dense_parts(np.random.default_rng(0))
    mesh = jax.make_mesh((COUNT,), ("x",), axis_types=(AxisType.Auto,))
    check_products(sparse, mesh, dense)
    check_sharded_batches(sparse, mesh, dense)
    check_values_in_programs(sparse, dense)
    check_row_sparse_step(sparse)
    assert settings() == before


if __name__ == "__main__":
    warnings.simplefilter("error")
    main()
