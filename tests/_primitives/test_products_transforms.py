"""The products under jax's transformations: each is checked against dense arithmetic."""

from functools import partial
from itertools import product as combinations

import jax
import numpy as np
import pytest
from jax import lax
from jax import numpy as jnp
from jax.sharding import AxisType, PartitionSpec
from jax.test_util import check_grads

from oracles import products as oracle
from rarefy._primitives import (
    csr_dot_dense,
    csr_sample_dot,
    csr_t_dot_dense,
    csr_t_dot_rows,
)

M, N, NSE = 4, 5, 12
FORMS = ("kernel", "xla")
# An empty row, repeats, columns out of range on both sides, and two entries behind the last row.
INDPTR = np.array([0, 3, 3, 8, 10], np.int32)
INDICES = np.array([4, 0, 4, 5, 1, 1, -1, 2, 3, 0, 2, 1], np.int32)
ROWS = oracle.rows_of(INDPTR, NSE)
REAL = (ROWS >= 0) & (INDICES >= 0) & (INDICES < N)
COLUMNS, ORDER, STARTS = oracle.groups_of(INDICES, INDPTR, N)


def as_dense(data):
    """The matrix of `data`, differentiable."""
    real = np.flatnonzero(REAL)
    return jnp.zeros((M, N), data.dtype).at[ROWS[real], INDICES[real]].add(data[real])


def sampled(matrix):
    """The elements of a matrix at the stored places, differentiable."""
    out = matrix[np.where(REAL, ROWS, 0), np.where(REAL, INDICES, 0)]
    return jnp.where(REAL, out, 0)


@pytest.fixture
def operands():
    rng = np.random.default_rng(3)
    return {
        "data": rng.standard_normal(NSE),
        "left": rng.standard_normal((M, 3)),
        "right": rng.standard_normal((N, 3)),
    }


def bilinear(form):
    """Each product as (function of its two float operands, their names, the same done densely)."""
    return {
        "csr_dot_dense": (
            lambda data, right: csr_dot_dense(data, INDICES, INDPTR, right, form=form),
            ("data", "right"),
            lambda data, right: as_dense(data) @ right,
        ),
        "csr_t_dot_dense": (
            lambda data, left: csr_t_dot_dense(data, INDICES, INDPTR, left, n_cols=N, form=form),
            ("data", "left"),
            lambda data, left: as_dense(data).T @ left,
        ),
        "csr_sample_dot": (
            lambda left, right: csr_sample_dot(INDICES, INDPTR, left, right, form=form),
            ("left", "right"),
            lambda left, right: sampled(left @ right.T),
        ),
        "csr_t_dot_rows": (
            lambda data, left: csr_t_dot_rows(data, INDPTR, ORDER, STARTS, left, form=form),
            ("data", "left"),
            lambda data, left: (as_dense(data).T @ left)[COLUMNS],
        ),
    }


every_product = pytest.mark.parametrize("name", bilinear("auto"))
every_form = pytest.mark.parametrize("form", FORMS)


@every_form
@every_product
def test_derivatives_of_second_order_forward_and_reverse(name, form, operands):
    function, names, _ = bilinear(form)[name]
    with jax.enable_x64(True):
        args = [jnp.array(operands[n]) for n in names]
        check_grads(jax.jit(lambda *a: jnp.sin(function(*a))), args, order=2, modes=("fwd", "rev"))


@every_product
def test_jacobians_both_ways_and_hessian_equal_the_dense_ones(name, operands):
    function, names, dense = bilinear("auto")[name]
    args = [jnp.array(operands[n], jnp.float32) for n in names]

    def loss(f):
        return lambda *a: (f(*a) ** 3).sum()

    for transform in (jax.jacfwd, jax.jacrev):
        out, expected = (jax.jit(transform(f, (0, 1)))(*args) for f in (function, dense))
        for o, e in zip(out, expected, strict=True):
            np.testing.assert_allclose(o, e, atol=1e-5)
    out, expected = (jax.jit(jax.hessian(loss(f), (0, 1)))(*args) for f in (function, dense))
    for o, e in zip(jax.tree.leaves(out), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(o, e, atol=1e-3, rtol=1e-4)


@every_product
def test_gradient_with_respect_to_one_operand_leaves_the_other_alone(name, operands):
    function, names, dense = bilinear("auto")[name]
    args = [jnp.array(operands[n], jnp.float32) for n in names]
    for argument in (0, 1):
        grad = jax.jit(jax.grad(lambda *a: (function(*a) ** 2).sum(), argument))
        expected = jax.jit(jax.grad(lambda *a: (dense(*a) ** 2).sum(), argument))(*args)
        np.testing.assert_allclose(grad(*args), expected, rtol=1e-4, atol=1e-4)


@every_product
def test_padding_has_no_derivative(name, operands):
    function, names, _ = bilinear("auto")[name]
    if "data" not in names:
        pytest.skip("takes no data")
    args = [jnp.array(operands[n], jnp.float32) for n in names]
    grad = jax.grad(lambda *a: (function(*a) ** 2).sum())
    assert (np.asarray(jax.jit(grad)(*args))[~REAL] == 0).all()
    hessian = jax.jit(jax.jacfwd(grad))(*args)
    assert (np.asarray(hessian)[~REAL] == 0).all()


def batched(mapped, size=3):
    """Operands of all products with a batch in the given axes: {name: (array, axis or None)}.

    Each element of the batch has its own number of stored entries.
    """
    rng = np.random.default_rng(5)
    indptr = np.sort(rng.integers(0, NSE, (size, M + 1)), axis=1).astype(np.int32)
    indptr[:, 0] = [0, 0, 2]  # entries before the first row are padding too
    indptr[:, -1] = [NSE, NSE - 3, NSE - 1]
    arrays = {
        "data": rng.standard_normal((size, NSE)).astype(np.float32),
        "indices": rng.integers(-1, N + 1, (size, NSE)).astype(np.int32),
        "indptr": indptr,
        "left": rng.standard_normal((size, M, 2)).astype(np.float32),
        "right": rng.standard_normal((size, N, 2)).astype(np.float32),
    }
    axes = {"data": 1, "indices": 0, "indptr": 1, "left": 2, "right": 1}
    return {
        name: (np.moveaxis(x, 0, axes[name]), axes[name]) if name in mapped else (x[1], None)
        for name, x in arrays.items()
    }


VMAPPED = {
    "csr_dot_dense": (csr_dot_dense, ("data", "indices", "indptr", "right")),
    "csr_t_dot_dense": (
        partial(csr_t_dot_dense, n_cols=N),
        ("data", "indices", "indptr", "left"),
    ),
    "csr_sample_dot": (csr_sample_dot, ("indices", "indptr", "left", "right")),
}
SUBSETS = [m for m in combinations((False, True), repeat=4) if any(m)]


@pytest.mark.parametrize("mapped", SUBSETS, ids=lambda m: "".join(map(str, map(int, m))))
@pytest.mark.parametrize("name", VMAPPED)
def test_vmap_over_any_operands_equals_a_loop(name, mapped):
    function, names = VMAPPED[name]
    chosen = {n for n, is_mapped in zip(names, mapped, strict=True) if is_mapped}
    arrays = batched(chosen)
    args, axes = zip(*(arrays[n] for n in names), strict=True)
    out = jax.jit(jax.vmap(function, axes))(*args)
    params = getattr(function, "keywords", {})
    for b in range(3):
        one = [x if d is None else np.take(x, b, d) for x, d in zip(args, axes, strict=True)]
        expected = getattr(oracle, name)(*one, **params)
        np.testing.assert_allclose(out[b], expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("names", [("left",), ("data", "left"), ("data", "order", "starts")])
def test_vmap_of_grouped_products_equals_a_loop(names):
    arrays = batched({"data", "indices", "left"})
    groups = [oracle.groups_of(i, INDPTR, N)[1:] for i in arrays["indices"][0]]
    capacity = max(len(starts) for _, starts in groups)
    order = np.stack([order for order, _ in groups])
    starts = np.stack([np.pad(s, (0, capacity - len(s)), mode="edge") for _, s in groups])
    full = {
        "data": np.moveaxis(arrays["data"][0], 1, 0),
        "order": order,
        "starts": starts,
        "left": np.moveaxis(arrays["left"][0], 2, 0),
    }
    order_of = ("data", "order", "starts", "left")
    args = [full[n] if n in names else full[n][0] for n in order_of]
    axes = [0 if n in names else None for n in order_of]

    def call(data, order, starts, left):
        return csr_t_dot_rows(data, INDPTR, order, starts, left)

    out = jax.jit(jax.vmap(call, axes))(*args)
    for b in range(3):
        data, order, starts, left = (
            x if d is None else x[b] for x, d in zip(args, axes, strict=True)
        )
        expected = oracle.csr_t_dot_rows(data, INDPTR, order, starts, left)
        np.testing.assert_allclose(out[b], expected, rtol=1e-5, atol=1e-5)


def test_vmap_over_two_axes():
    rng = np.random.default_rng(2)
    data = rng.standard_normal((2, NSE)).astype(np.float32)
    right = rng.standard_normal((3, N)).astype(np.float32)

    def call(data, right):
        return csr_dot_dense(data, INDICES, INDPTR, right)

    out = jax.jit(jax.vmap(jax.vmap(call, (None, 0)), (0, None)))(data, right)
    for a, b in combinations(range(2), range(3)):
        expected = oracle.csr_dot_dense(data[a], INDICES, INDPTR, right[b])
        np.testing.assert_allclose(out[a, b], expected, rtol=1e-5, atol=1e-5)


def test_batch_whose_positions_exceed_int32_is_run_one_by_one():
    wide = 2**30
    data, indptr = np.ones((3, 2), np.float32), np.array([0, 1, 2], np.int32)
    indices = np.array([[0, wide - 1], [5, 7], [wide, -1]], np.int32)

    def call(data, indices):  # abstract: nobody has the memory for such a matrix
        dense = jnp.zeros((2, 1), jnp.float32)
        return csr_t_dot_dense(data, indices, indptr, dense, n_cols=wide)

    jaxpr = str(jax.make_jaxpr(jax.vmap(call))(data, indices))
    assert "scan" in jaxpr
    assert jax.eval_shape(jax.vmap(call), data, indices).shape == (3, wide, 1)


@every_product
def test_vmap_of_grad_equals_the_dense_one(name, operands):
    function, names, dense = bilinear("auto")[name]
    args = [jnp.stack([operands[n], -2 * operands[n]]).astype(jnp.float32) for n in names]
    for axes in ((0, 0), (0, None), (None, 0)):
        here = [x if d == 0 else x[0] for x, d in zip(args, axes, strict=True)]
        out, expected = (
            jax.jit(jax.vmap(jax.grad(lambda *a, f=f: (f(*a) ** 2).sum(), (0, 1)), axes))(*here)
            for f in (function, dense)
        )
        for o, e in zip(out, expected, strict=True):
            np.testing.assert_allclose(o, e, rtol=1e-4, atol=1e-4)


@every_product
def test_remat_and_scan(name, operands):
    function, names, dense = bilinear("auto")[name]
    args = [jnp.array(operands[n], jnp.float32) for n in names]

    def loop(f):
        def step(carry, _):
            first, second = carry
            out = jax.checkpoint(f)(first, second)
            return (first * 0.5, second + jnp.tanh(out).mean()), out.sum()

        return lambda *a: lax.scan(step, a, None, length=3)[1].sum()

    out, expected = (jax.jit(jax.grad(loop(f), (0, 1)))(*args) for f in (function, dense))
    for o, e in zip(out, expected, strict=True):
        np.testing.assert_allclose(o, e, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("check_vma", [True, False])
@every_form
@every_product
def test_shard_map_and_its_gradient(name, form, check_vma, operands):
    # On one device; test_products_devices.py has two. What is tested here are the types: an operand
    # that varies over the devices meets one that does not.
    function, names, dense = bilinear(form)[name]
    args = [jnp.array(operands[n], jnp.float32) for n in names]
    mesh = jax.make_mesh((1,), ("x",), axis_types=(AxisType.Auto,))
    split, whole = PartitionSpec("x"), PartitionSpec()

    def total(f, *a):
        return lax.psum((f(*a) ** 2).sum(), "x")

    mapped_by = partial(jax.shard_map, mesh=mesh, out_specs=whole, check_vma=check_vma)
    totals = [
        mapped_by(partial(total, function), in_specs=specs)
        for specs in ((split, whole), (whole, split))
    ]
    # Twice the same number, by one operand varying and by the other.
    out = jax.jit(jax.grad(lambda *a: sum(t(*a) for t in totals), (0, 1)))(*args)
    expected = jax.jit(jax.grad(lambda *a: 2 * (dense(*a) ** 2).sum(), (0, 1)))(*args)
    for o, e in zip(out, expected, strict=True):
        np.testing.assert_allclose(o, e, rtol=1e-4, atol=1e-4)


@every_product
def test_whole_program_lowers_for_other_platforms_without_custom_calls(name, operands):
    function, names, _ = bilinear("auto")[name]
    args = [jnp.array(operands[n], jnp.float32) for n in names]
    step = jax.jit(jax.value_and_grad(lambda *a: (function(*a) ** 2).sum(), (0, 1)))
    for platform in ("cuda", "tpu"):
        text = step.trace(*args).lower(lowering_platforms=(platform,)).as_text()
        assert "rarefy" not in text and "custom_call" not in text
    exported = jax.export.export(step, platforms=("tpu", "cuda"))(*args)
    assert exported.platforms == ("tpu", "cuda")


def test_public_functions_leave_no_trace_of_their_compilation():
    jaxpr = jax.make_jaxpr(lambda d, r: csr_dot_dense(d, INDICES, INDPTR, r))(
        np.ones(NSE, np.float32), np.ones((N, 2), np.float32)
    )
    assert [eqn.primitive.name for eqn in jaxpr.eqns] == ["csr_dot_dense"]
