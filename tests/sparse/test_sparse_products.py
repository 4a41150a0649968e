"""Products of sparse with sparse, and dense products at stored places, in every layout."""

from functools import partial

import jax
import numpy as np
import pytest
import scipy.sparse
from jax import lax
from jax import numpy as jnp
from jax.experimental import sparse as jsparse
from numpy.testing import assert_allclose, assert_array_equal

from cases.agreement import agrees, drawn, layouts
from rarefy import sparse
from rarefy.sparse import BCOO, BCSR

MATRICES = (((1,), (0,)), ((), ()))
PRODUCTS = [
    ((4, 5), (5, 3), MATRICES),
    ((4, 5), (3, 5), (((1,), (1,)), ((), ()))),
    ((5,), (5,), (((0,), (0,)), ((), ()))),
    ((4, 5), (5,), MATRICES),
    ((2, 4, 5), (2, 5, 3), (((2,), (1,)), ((0,), (0,)))),
    ((2, 4, 5), (5, 3), (((2,), (0,)), ((), ()))),
    ((2, 4, 3), (4, 3), (((1, 2), (0, 1)), ((), ()))),
    ((2, 3), (4,), (((), ()), ((), ()))),
]


def sampled_layouts():
    """A third of all pairs of layouts of each product, the same ones every time."""
    pairs = [
        (case, left, right)
        for case in PRODUCTS
        for left in layouts(case[0])
        for right in layouts(case[1])
    ]
    plain = [(case, (0, 0), (0, 0)) for case in PRODUCTS]
    return plain + pairs[1::5]


@pytest.mark.parametrize("case, left, right", sampled_layouts(), ids=str)
def test_sparse_dot_general_in_every_layout(case, left, right):
    lhs_shape, rhs_shape, numbers = case
    x, y = drawn(lhs_shape, *left, seed=1), drawn(rhs_shape, *right, seed=2)
    run = partial(sparse.bcoo_dot_general, dimension_numbers=numbers)
    dense = partial(lax.dot_general, dimension_numbers=numbers)
    agrees(run, dense, x, y, gradients=left == right == (0, 0))


@pytest.mark.parametrize(
    "dtype", [bool, np.int8, np.uint16, np.int32, np.float16, jnp.bfloat16, np.complex64]
)
def test_sparse_products_of_every_dtype(dtype):
    x = drawn((4, 5), dtype=np.float32, seed=1)
    y = drawn((5, 3), dtype=np.float32, seed=2)
    if dtype is bool:
        x, y = x.sum_duplicates(), y.sum_duplicates()
    if dtype is np.complex64:
        x, y = (m._with_buffers(m.data * (1 + 2j), m.indices) for m in (x, y))
    x, y = (m._with_buffers(m.data.astype(dtype), m.indices) for m in (x, y))
    rough = dtype in (np.float16, jnp.bfloat16)
    agrees(lambda a, b: a @ b, jnp.matmul, x, y, rtol=0.02 if rough else 1e-6)
    other = x._with_buffers(x.data, jnp.array(x.indices))
    agrees(lambda a, b: a * b, jnp.multiply, x, other, rtol=0.02 if rough else 1e-6)


def test_64_bit_products():
    with jax.enable_x64(True):
        for dtype in (np.float64, np.int64, np.uint64, np.complex128):
            x, y = (
                BCOO.fromdense(drawn(s, seed=3).todense().astype(dtype)) for s in ((4, 5), (5, 3))
            )
            agrees(lambda a, b: a @ b, jnp.matmul, x, y, rtol=1e-12)


def test_matmul_of_sparse_arrays_broadcasts_as_numpy_does():
    shapes = [((2, 4, 5), (5, 3)), ((4, 5), (2, 5, 3)), ((1, 4, 5), (2, 5, 3)), ((5,), (2, 5, 3))]
    for left, right in shapes:
        x, y = drawn(left, seed=4), drawn(right, seed=5)
        agrees(lambda a, b: a @ b, jnp.matmul, x, y, label=(left, right), gradients=False)
    x = BCSR.fromdense(drawn((4, 5)).todense())
    out = x @ x.T
    assert isinstance(out, BCSR)
    assert_allclose(out.todense(), x.todense() @ x.todense().T)
    assert isinstance(x @ BCOO.fromdense(np.eye(5, dtype=np.float32)), BCSR)


def test_a_small_product_has_the_slots_that_jax_gives_it():
    x, m, n = jnp.arange(3.0), jnp.arange(6.0).reshape(2, 3), jnp.arange(12.0).reshape(3, 4)
    for left, right in ((x, x), (m, x), (m, n)):
        ours = sparse.BCOO.fromdense(left) @ sparse.BCOO.fromdense(right)
        theirs = jsparse.BCOO.fromdense(left) @ jsparse.BCOO.fromdense(right)
        if left.ndim == right.ndim == 1:
            ours = sparse.bcoo_dot_general(
                *map(BCOO.fromdense, (left, right)), dimension_numbers=(((0,), (0,)), ((), ()))
            )
        assert ours.nse == theirs.nse


def test_a_large_product_stores_little_more_than_its_elements():
    a = scipy.sparse.random(500, 400, 0.01, "csr", np.float32, random_state=1)
    b = scipy.sparse.random(400, 600, 0.01, "csr", np.float32, random_state=2)
    expected = a @ b
    out = BCOO.from_scipy_sparse(a) @ BCOO.from_scipy_sparse(b)
    assert expected.nnz <= out.nse < 2 * expected.nnz
    assert out.indices_sorted
    assert out.unique_indices
    assert_allclose(out.todense(), expected.toarray(), rtol=1e-5, atol=1e-6)


def test_a_pattern_that_is_known_while_values_are_traced_sizes_the_result():
    a = scipy.sparse.random(300, 300, 0.01, "csr", np.float32, random_state=1)
    x = BCOO.from_scipy_sparse(a)
    found = []

    def loss(data):
        y = x._with_buffers(data, x.indices)
        found.append((y @ x).nse)
        found.append(y[np.arange(200)].nse)
        return (y @ x).data.sum()

    gradient = jax.jit(jax.grad(loss))(x.data)
    assert found == [(x @ x).nse, x[np.arange(200)].nse]
    rows = np.asarray(a.sum(1)).ravel()
    assert_allclose(gradient, rows[np.asarray(x.indices)[:, 1]], rtol=1e-4, atol=1e-5)


def test_products_of_shapes_without_end():
    n = 2**40
    with jax.enable_x64(True):
        index = jnp.array([[3, n - 1], [n - 2, 5], [n - 1, 3]])
        x = BCOO((jnp.array([2.0, 3.0, 4.0]), index), shape=(n, n))
        out = (x @ x).sum_duplicates()
        assert out.shape == (n, n)
        assert out.indices.tolist() == [[3, 3], [n - 1, n - 1]]
        assert out.data.tolist() == [8.0, 8.0]
        both = x * x.T
        assert both.sum_duplicates().indices.tolist() == [[3, n - 1], [n - 1, 3]]


def test_gradients_come_in_the_order_of_the_values():
    """Stored out of order and twice, a value's derivative stands in its own slot."""
    x = drawn((4, 5), seed=6)
    y = drawn((5, 3), seed=7)
    weights = np.arange(12, dtype=np.float32).reshape(4, 3)

    def loss(x, y):
        return jnp.sum((x @ y).todense() * weights)

    gx, gy = sparse.grad(loss, (0, 1))(x, y)
    assert_array_equal(gx.indices, x.indices)
    for e, place in enumerate(np.asarray(x.indices)):
        inside = (place < np.asarray(x.shape)).all()
        expected = weights[place[0]] @ np.asarray(y.todense())[place[1]] if inside else 0
        assert_allclose(gx.data[e], expected, err_msg=str(e))
    assert gy.nse == y.nse
    hessian = jax.hessian(lambda d: loss(x._with_buffers(d, x.indices), y) ** 2)(x.data)
    flat = np.asarray(gx.data)
    assert_allclose(hessian, 2 * np.outer(flat, flat), rtol=1e-4)


@pytest.mark.parametrize("n_batch, n_sparse", [(0, 2), (1, 1), (2, 0), (0, 1), (1, 0), (0, 0)])
@pytest.mark.parametrize("numbers", [MATRICES, (((1,), (1,)), ((), ()))], ids=str)
def test_sampled_products_are_those_of_the_cells(rng, n_batch, n_sparse, numbers):
    lhs = rng.standard_normal((3, 4)).astype(np.float32)
    rhs = rng.standard_normal((4, 5) if numbers is MATRICES else (5, 4)).astype(np.float32)
    indices = drawn((3, 5), n_batch, 2 - n_batch - n_sparse, seed=8).indices
    run = partial(sparse.bcoo_dot_general_sampled, indices=indices, dimension_numbers=numbers)

    def cells(lhs, rhs):
        product = lax.dot_general(lhs, rhs, numbers)
        nse = indices.shape[-2]
        batch = [
            np.arange(product.shape[d]).reshape(*(-1 if k == d else 1 for k in range(n_batch)), 1)
            for d in range(n_batch)
        ]
        places = (*batch, *(indices[..., d] for d in range(n_sparse)))
        if not places:
            return jnp.broadcast_to(product, (nse, *product.shape))
        found = product.at[places].get(mode="fill", fill_value=0)
        full = (*product.shape[:n_batch], nse, *product.shape[n_batch + n_sparse :])
        return jnp.broadcast_to(found, full)

    agrees(run, cells, lhs, rhs)
    assert_allclose(
        run(lhs, rhs),
        jsparse.bcoo_dot_general_sampled(lhs, rhs, indices, dimension_numbers=numbers),
        rtol=1e-5,
    )


def test_sampled_products_with_batches_and_of_integers(rng):
    lhs, rhs = rng.integers(-4, 5, (2, 3, 4)), rng.integers(-4, 5, (2, 4, 5))
    numbers = (((2,), (1,)), ((0,), (0,)))
    indices = drawn((2, 3, 5), 1, 0, seed=9).indices
    for dtype in (np.int32, np.float16, np.complex64, bool):
        x, y = lhs.astype(dtype), rhs.astype(dtype)
        out = sparse.bcoo_dot_general_sampled(x, y, indices, dimension_numbers=numbers)
        dense = lax.dot_general(x, y, numbers)
        expected = jsparse.bcoo._bcoo_extract(indices, dense)
        assert out.dtype == expected.dtype
        assert_array_equal(out, expected)
    with pytest.raises(ValueError, match="2 batch and 2 sparse dimensions"):
        sparse.bcoo_dot_general_sampled(lhs, rhs, indices[:1, None], dimension_numbers=numbers)


FACTORS = [
    ((4, 5), (4, 5)),
    ((4, 5), (1, 5)),
    ((4, 1), (1, 5)),
    ((2, 3, 4), (2, 3, 4)),
    ((3, 4), (2, 3, 4)),
    ((5,), (5,)),
]


@pytest.mark.parametrize("left, right", FACTORS, ids=str)
def test_elementwise_products_in_every_layout(left, right):
    pairs = [(a, b) for a in layouts(left) for b in layouts(right)]
    for a, b in [pairs[0], *pairs[1::7]]:
        x, y = drawn(left, *a, seed=1), drawn(right, *b, seed=2)
        gradients = a == b == (0, 0)
        agrees(lambda p, q: p * q, jnp.multiply, x, y, gradients=gradients, label=(a, b))


def test_elementwise_product_is_small_and_keeps_zero_times_nan():
    a = scipy.sparse.random(500, 500, 0.01, "csr", np.float32, random_state=1)
    b = scipy.sparse.random(500, 500, 0.02, "csr", np.float32, random_state=2)
    out = BCOO.from_scipy_sparse(a) * BCOO.from_scipy_sparse(b)
    assert out.nse == a.nnz
    assert_allclose(out.todense(), (a * b if a.ndim == 1 else a.multiply(b)).toarray())
    assert isinstance(BCSR.from_scipy_sparse(a) * BCSR.from_scipy_sparse(b), BCSR)
    x = BCOO(([np.nan, 1.0], [[0], [1]]), shape=(3,))
    y = BCOO(([2.0, np.inf], [[1], [2]]), shape=(3,))
    assert (x * y).todense().tolist() == [0, 2, 0]  # what neither stores stays zero
    with pytest.raises(TypeError, match="same number of dimensions"):
        sparse.bcoo_multiply_sparse(x, drawn((4, 5)))
    with pytest.raises(ValueError, match="broadcast"):
        x * drawn((4,))


@pytest.mark.parametrize("padding", ["VALID", "SAME", [(0, 2)], [(1, 0)]], ids=str)
def test_convolutions(padding):
    x, k = drawn((1, 1, 7), 2, seed=1), drawn((1, 1, 3), 2, seed=2, nse=3)
    options = {"window_strides": (1,), "padding": padding}
    run = partial(sparse.bcoo_conv_general_dilated, **options)
    dense = partial(lax.conv_general_dilated, **options)
    for pair in ((x, k), (x, k.todense()), (x.todense(), k)):
        agrees(run, dense, *pair, rtol=1e-4, gradients=False)


def test_convolutions_of_planes_and_what_is_refused():
    x, k = drawn((1, 1, 5, 6), 2, seed=1), drawn((1, 1, 2, 3), 2, seed=2)
    options = {"window_strides": (1, 1), "padding": "SAME"}
    run = partial(sparse.bcoo_conv_general_dilated, **options)
    agrees(run, partial(lax.conv_general_dilated, **options), x, k, rtol=1e-4)
    with pytest.raises(NotImplementedError, match="window_strides"):
        sparse.bcoo_conv_general_dilated(x, k, window_strides=(2, 1), padding="SAME")


def test_mapped_and_compiled_control_flow(rng):
    x = BCOO.fromdense(drawn((3, 4, 4), seed=3).todense(), n_batch=1)
    found = jax.vmap(lambda m: (m @ m).todense())(x)
    assert_allclose(found, np.stack([m @ m for m in np.asarray(x.todense())]), rtol=1e-5)
    m = x[0]

    def powers(m, v):
        step = lambda v, _: (m @ v, None)  # noqa: E731
        return lax.scan(step, v, length=3)[0]

    v = rng.standard_normal(4).astype(np.float32)
    dense = np.asarray(m.todense())
    assert_allclose(jax.jit(powers)(m, v), dense @ (dense @ (dense @ v)), rtol=1e-4)
    grad = jax.grad(lambda d: powers(m._with_buffers(d, m.indices), v).sum())(m.data)
    assert np.isfinite(grad).all()
