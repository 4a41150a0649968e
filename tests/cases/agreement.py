"""Checks of a sparse function against a dense one: eagerly, compiled, batched and differentiated."""

import jax
import numpy as np
from jax import numpy as jnp
from numpy.testing import assert_allclose

from cases.entries import awkward_entries
from rarefy.sparse import BCOO, JAXSparse, todense


def layouts(shape):
    """Every `(n_batch, n_dense)` that an array of `shape` may have."""
    return [(b, d) for b in range(len(shape) + 1) for d in range(len(shape) + 1 - b)]


def drawn(shape, n_batch=0, n_dense=0, *, seed=0, dtype=np.float32, nse=6) -> BCOO:
    """A BCOO with repeats and padding, not sorted."""
    if n_batch + n_dense == len(shape):  # no sparse dimension: every slot names the one cell
        rng = np.random.default_rng(seed)
        dims = (*shape[:n_batch], nse, *shape[n_batch:])
        data = rng.integers(-4, 5, dims).astype(dtype)
        return BCOO((data, np.zeros((*shape[:n_batch], nse, 0), np.int32)), shape=shape)
    entries = awkward_entries(
        shape, n_batch=n_batch, n_dense=n_dense, nse=nse, dtype=dtype, seed=seed
    )
    return BCOO((entries.data, entries.indices), shape=shape)


def dense_of(tree):
    """The tree with dense arrays in the place of sparse ones."""
    return jax.tree.map(todense, tree, is_leaf=lambda x: isinstance(x, JAXSparse))


def agrees(
    sparse_function, dense_function, *args, rtol=1e-5, compiled=True, gradients=True, label=""
):
    """Checks value, dtype, the compiled form buffer by buffer, and both Jacobians."""
    expected = np.asarray(dense_function(*dense_of(args)))
    found = sparse_function(*args)
    value = np.asarray(dense_of(found))
    assert value.dtype == expected.dtype, (label, value.dtype, expected.dtype)
    wide = np.complex64 if expected.dtype.kind == "c" else np.float32
    options = {"rtol": rtol, "atol": rtol, "err_msg": str(label)}
    assert_allclose(value.astype(wide), expected.astype(wide), **options)
    again = jax.jit(sparse_function)(*args) if compiled else found
    assert jax.tree.structure(again) == jax.tree.structure(found), label
    for x, y in zip(jax.tree.leaves(again), jax.tree.leaves(found), strict=True):
        assert x.dtype == y.dtype, label
        assert_allclose(np.asarray(x).astype(wide), np.asarray(y).astype(wide), **options)
    if not gradients or not jnp.issubdtype(expected.dtype, jnp.floating):
        return
    buffers = [jax.tree.leaves(a)[0] for a in args]

    def remade(values):
        rest = [jax.tree.flatten(a) for a in args]
        return [
            jax.tree.unflatten(tree, [v, *leaves[1:]])
            for v, (leaves, tree) in zip(values, rest, strict=True)
        ]

    def of_sparse(*values):
        return dense_of(sparse_function(*remade(values)))

    def of_dense(*values):
        return dense_function(*dense_of(remade(values)))

    everything = tuple(range(len(buffers)))
    for jacobian in (jax.jacrev, jax.jacfwd):
        pairs = zip(
            jacobian(of_sparse, everything)(*buffers),
            jacobian(of_dense, everything)(*buffers),
            strict=True,
        )
        for x, y in pairs:
            assert_allclose(x, y, rtol=1e-4, atol=1e-4, err_msg=f"{label} {jacobian.__name__}")
