"""The products in another process: on one CPU, and on two devices."""

import hashlib
import json
import os
import subprocess
import sys
from functools import partial

import jax
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding, PartitionSpec

import rarefy._primitives as primitives
from oracles import products as oracle


def bits_of_products() -> dict[str, str]:
    """A hash of each product's result, on operands that several threads share."""
    rng = np.random.default_rng(0)
    m, n, nse = 3000, 500, 60_000
    # Rows up to 30,000 entries; no entry twice, padding at the end and in the middle.
    indptr = np.sort(rng.integers(0, nse // 2, m + 1)).astype(np.int32)
    indptr[0], indptr[-1] = 0, nse - 5
    indices = rng.integers(-1, n + 1, nse).astype(np.int32)
    data = rng.standard_normal(nse).astype(np.float32)
    groups = primitives.group_rows(indices, indptr[-1], n_rows=n, capacity=n)
    rows = np.searchsorted(indptr[1:], np.arange(nse), side="right").astype(np.int32)
    places = np.stack([rows, indices], axis=1)
    found = {}
    for k in (1, 3, 64):
        left = rng.standard_normal((m, k)).astype(np.float32)
        right = rng.standard_normal((n, k)).astype(np.float32)
        found |= {
            f"csr_dot_dense {k}": primitives.csr_dot_dense(data, indices, indptr, right),
            f"csr_t_dot_dense {k}": primitives.csr_t_dot_dense(
                data, indices, indptr, left, n_cols=n
            ),
            f"csr_sample_dot {k}": primitives.csr_sample_dot(indices, indptr, left, right),
            f"csr_t_dot_rows {k}": primitives.csr_t_dot_rows(
                data, indptr, groups.order, groups.starts, left
            ),
            f"coo_dot_dense {k}": primitives.coo_dot_dense(
                data, places, right, n_rows=m, in_order=True
            ),
            f"coo_dot_dense transposed {k}": primitives.coo_dot_dense(
                data, places, left, n_rows=n, row_axis=1
            ),
        }
    return {name: hashlib.sha256(np.asarray(x).tobytes()).hexdigest() for name, x in found.items()}


def in_child(task: str, flags: str = "") -> str:
    """What this file prints for `task` when it is run by a process of its own."""
    tests = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    env = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu", "PYTHONPATH": tests}
    command = [sys.executable, __file__, task]
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="cannot be kept to one CPU")
def test_bits_do_not_depend_on_the_number_of_threads():
    assert json.loads(in_child("bits on one cpu")) == bits_of_products()


def test_gradients_over_two_devices_equal_those_of_one():
    compared = in_child("two devices", "--xla_force_host_platform_device_count=2")
    assert compared == "6 arrays of 2 devices agree\n"


def check_two_devices() -> str:
    compared = 0

    def agree(found, expected, **tolerance):
        nonlocal compared
        np.testing.assert_allclose(found, expected, **tolerance)
        compared += 1

    rng = np.random.default_rng(1)
    n, nse, k = 6, 10, 3
    data = rng.standard_normal((2, nse)).astype(np.float32)
    indices = rng.integers(0, n + 1, (2, nse)).astype(np.int32)
    indptr = np.array([[0, 3, 3, 5, 9], [0, 1, 4, 8, 10]], np.int32)
    weight = rng.standard_normal((n, k)).astype(np.float32)

    def loss(data, indices, indptr, weight):
        out = primitives.csr_dot_dense(data[0], indices[0], indptr[0], weight)
        return jax.lax.psum((out**2).sum(), "x")

    split, whole = PartitionSpec("x"), PartitionSpec()
    outs = [oracle.csr_dot_dense(data[i], indices[i], indptr[i], weight) for i in (0, 1)]
    by_weight = sum(
        oracle.csr_t_dot_dense(data[i], indices[i], indptr[i], 2 * outs[i], n_cols=n)
        for i in (0, 1)
    )
    by_data = [oracle.csr_sample_dot(indices[i], indptr[i], 2 * outs[i], weight) for i in (0, 1)]
    for check_vma in (True, False):
        mesh = jax.make_mesh((2,), ("x",), axis_types=(AxisType.Auto,))
        mapped = jax.shard_map(
            loss,
            mesh=mesh,
            in_specs=(split, split, split, whole),
            out_specs=whole,
            check_vma=check_vma,
        )
        grads = jax.jit(jax.grad(mapped, (0, 3)))(data, indices, indptr, weight)
        agree(grads[0], by_data, rtol=1e-4, atol=1e-5)
        agree(grads[1], by_weight, rtol=1e-4, atol=1e-5)

    mesh = jax.make_mesh((2,), ("x",), axis_types=(AxisType.Explicit,))
    rows = jax.device_put(weight, NamedSharding(mesh, PartitionSpec("x", None)))
    with jax.set_mesh(mesh):
        for form in ("kernel", "xla"):
            call = partial(primitives.csr_dot_dense, form=form)
            out = jax.jit(call)(data[0], indices[0], indptr[0], rows)
            agree(out, outs[0], rtol=1e-5, atol=1e-6)
    return f"{compared} arrays of {jax.device_count()} devices agree"


if __name__ == "__main__":
    if sys.argv[1] == "bits on one cpu":
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # before jax starts its threads
        print(json.dumps(bits_of_products()))
    else:
        print(check_two_devices())
