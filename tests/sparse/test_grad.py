"""Differentiation with respect to sparse arguments, as `jax.experimental.sparse` does it."""

import jax
import numpy as np
import pytest
from jax import numpy as jnp
from jax.experimental import sparse as oracle
from numpy.testing import assert_allclose, assert_array_equal

from rarefy import sparse

DENSE = np.array([[0, 2, 0, -1], [3, 0, 0, 0], [0, 0, 0, 4]], np.float32)
RIGHT = np.sin(np.arange(8, dtype=np.float32)).reshape(4, 2)


def matrices(module):
    """The same matrix in each layout: with batch dimensions too."""
    return {
        "bcoo": module.BCOO.fromdense(DENSE),
        "padded": module.BCOO.fromdense(DENSE, nse=6),
        "bcsr": module.BCSR.fromdense(DENSE),
        "batched": module.BCOO.fromdense(DENSE, n_batch=1, nse=2),
    }


def loss(a, b):
    return jnp.sum((a @ b) ** 2)


def same(ours, theirs):
    """Checks two trees with sparse arrays in them, buffer by buffer."""
    sparse_type = lambda x: hasattr(x, "todense")  # noqa: E731
    a, a_tree = jax.tree.flatten(ours, is_leaf=sparse_type)
    b, b_tree = jax.tree.flatten(theirs, is_leaf=sparse_type)
    assert a_tree == b_tree
    for x, y in zip(a, b, strict=True):
        assert sparse_type(x) == sparse_type(y)
        if sparse_type(x):
            assert type(x).__name__ == type(y).__name__ and x.shape == y.shape
            assert repr(x) == repr(y)
            for p, q in zip(jax.tree.leaves(x), jax.tree.leaves(y), strict=True):
                assert p.dtype == q.dtype
                assert_allclose(p, q, rtol=1e-5, atol=1e-6)
        else:
            assert_allclose(x, y, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("layout", matrices(sparse))
@pytest.mark.parametrize("argnums", [0, 1, (0, 1), (1,), (0,), [1, 0]], ids=str)
def test_gradients(layout, argnums):
    ours, theirs = matrices(sparse)[layout], matrices(oracle)[layout]
    for name in ("grad", "value_and_grad"):
        expected = getattr(oracle, name)(loss, argnums)(theirs, RIGHT)
        found = getattr(sparse, name)(loss, argnums)
        same(found(ours, RIGHT), expected)
        same(jax.jit(found)(ours, RIGHT), expected)


@pytest.mark.parametrize("layout", ["bcoo", "padded", "bcsr"])
@pytest.mark.parametrize("name", ["jacfwd", "jacrev", "jacobian"])
@pytest.mark.parametrize("argnums", [0, 1, (0, 1)], ids=str)
def test_jacobians(layout, name, argnums):
    product = lambda a, b: a @ b  # noqa: E731
    expected = jax.jacrev(lambda d, b: d @ b, argnums)(DENSE, RIGHT)
    found = getattr(sparse, name)(product, argnums)(matrices(sparse)[layout], RIGHT)
    by_matrix = {0: (found, expected), (0, 1): (found[0], expected[0])}.get(argnums)
    if by_matrix is not None:
        ours, dense = by_matrix
        assert isinstance(ours, type(matrices(sparse)[layout])) and ours.shape == (3, 2, 3, 4)
        stored = np.where(DENSE != 0, dense, 0)
        assert_allclose(ours.todense(), stored, rtol=1e-6)
    if argnums != 0:
        dense_part = (found, expected) if argnums == 1 else (found[1], expected[1])
        assert_allclose(*dense_part, rtol=1e-6)


@pytest.mark.parametrize("name", ["jacfwd", "jacrev"])
def test_jacobians_as_in_jax(name):
    product = lambda a, b: a @ b  # noqa: E731
    for argnums in (0, 1, (0, 1)):
        same(
            getattr(sparse, name)(product, argnums)(matrices(sparse)["bcoo"], RIGHT),
            getattr(oracle, name)(product, argnums)(matrices(oracle)["bcoo"], RIGHT),
        )


def test_aux():
    both = lambda a, b: (loss(a, b), {"out": a @ b})  # noqa: E731
    ours, theirs = matrices(sparse)["bcoo"], matrices(oracle)["bcoo"]
    for name in ("grad", "value_and_grad", "jacfwd", "jacrev"):
        same(
            getattr(sparse, name)(both, (0, 1), has_aux=True)(ours, RIGHT),
            getattr(oracle, name)(both, (0, 1), has_aux=True)(theirs, RIGHT),
        )


def test_sparse_arrays_inside_a_tree():
    tree = lambda m: {"a": m["bcoo"], "b": [m["bcsr"], RIGHT]}  # noqa: E731
    of_tree = lambda p: loss(p["a"], p["b"][1]) + loss(p["b"][0], p["b"][1])  # noqa: E731
    found = sparse.grad(of_tree)(tree(matrices(sparse)))
    expected = oracle.grad(of_tree)(tree(matrices(oracle)))
    same(found, expected)


def test_options_are_honoured():
    a = sparse.BCOO.fromdense(DENSE.astype(np.complex64) * (1 + 2j))
    with pytest.raises(TypeError, match="real"):
        sparse.grad(loss)(a, RIGHT)
    found = sparse.grad(loss, holomorphic=True)(a, RIGHT.astype(np.complex64))
    expected = jax.grad(lambda d: jnp.sum((d @ RIGHT) ** 2), holomorphic=True)(
        DENSE.astype(np.complex64) * (1 + 2j)
    )
    assert_allclose(found.todense(), np.where(DENSE != 0, expected, 0), rtol=1e-5)
    ids = jnp.array([1, 2])
    by_int = sparse.grad(lambda i, b: b[i].sum(), allow_int=True)(ids, RIGHT)
    assert by_int.dtype == jax.dtypes.float0


def test_keywords_reach_the_function():
    scaled = lambda a, b, *, scale: scale * loss(a, b)  # noqa: E731
    ours = matrices(sparse)["bcoo"]
    one, three = (sparse.grad(scaled)(ours, RIGHT, scale=s) for s in (1.0, 3.0))
    assert_allclose(three.data, 3 * one.data, rtol=1e-6)


def test_second_order():
    ours = matrices(sparse)["padded"]
    outer = sparse.grad(lambda a: (sparse.grad(loss)(a, RIGHT).data ** 2).sum())(ours)
    dense_inner = jax.grad(lambda d: jnp.sum((d @ RIGHT) ** 2))
    expected = jax.grad(lambda d: jnp.sum(jnp.where(DENSE != 0, dense_inner(d), 0) ** 2))(DENSE)
    assert_allclose(outer.todense(), np.where(DENSE != 0, expected, 0), rtol=1e-5)


def test_the_function_keeps_its_name():
    assert sparse.grad(loss).__name__ == "loss"


def test_indices_are_those_of_the_argument():
    ours = matrices(sparse)["padded"]
    assert_array_equal(sparse.grad(loss)(ours, RIGHT).indices, ours.indices)
