"""Rules of sparsify under jit, grad and vmap together, against the dense function.

The matrix has repeats, padding in the middle and no order. All functions go into one program for each
layout, which keeps the time of compilation down.
"""

import jax
import numpy as np
import pytest
from jax import numpy as jnp
from numpy.testing import assert_allclose

from cases.entries import awkward_entries
from rarefy.sparse import BCOO, BCSR, sparsify, todense

ENTRIES = awkward_entries((5, 6), nse=9, seed=3)
PLAIN = BCOO((ENTRIES.data, ENTRIES.indices), shape=(5, 6))
W = np.linspace(-2, 2, 6, dtype=np.float32)
R = np.linspace(1, 3, 5, dtype=np.float32)

FUNCTIONS = {
    "where": lambda x: jnp.where(x > 0.5, 2 * x, -x),
    "where mask": lambda x: jnp.where(W > 0, x, 0.0),
    "segment_sum": lambda x: jax.ops.segment_sum(x, jnp.array([0, 1, 0, 2, 1]), 3),
    "argmax": lambda x: x.argmax(1).astype(jnp.float32),
    "mean": lambda x: x.mean(0),
    "var": lambda x: x.var(0),
    "norm": jnp.linalg.norm,
    "norm of columns": lambda x: jnp.linalg.norm(x, axis=0),
    "einsum": lambda x: jnp.einsum("ij,i,j->", x, R, W),
    "gram": lambda x: jnp.einsum("ij,kj->ik", x, x),
    "maximum": lambda x: jnp.maximum(x, 0),
    "minimum": lambda x: jnp.minimum(x, 0.0),
    "max": lambda x: x.max(1),
    "logistic": lambda x: jax.nn.sigmoid(x) @ W,
    "tanh": jnp.tanh,
    "integer_pow": lambda x: x**3,
    "softmax": lambda x: jax.nn.softmax(x) @ W,
    "rows and columns": lambda x: x[jnp.array([0, 3, 0])][:, jnp.array([1, 1, 4])],
}


@pytest.mark.parametrize("mat", [PLAIN, BCSR.from_bcoo(PLAIN)], ids=["bcoo", "bcsr"])
def test_jit_grad_and_vmap_are_those_of_the_dense_function(mat):
    places = (mat if isinstance(mat, BCOO) else mat.to_bcoo()).indices
    scales = jnp.array([[1.0], [-2.0]])

    def sparse(data):
        return type(mat)._trusted(data, *mat._bufs[1:], mat.shape)

    def dense(data):
        return jnp.zeros(mat.shape).at[places[:, 0], places[:, 1]].add(data, mode="drop")

    def all_of(function, make):
        def value(data):
            return todense(function(make(data)))

        gradient = jax.grad(lambda data: jnp.sin(value(data)).sum())
        return value(mat.data), gradient(mat.data), jax.vmap(value)(scales * mat.data)

    found = jax.jit(lambda: [all_of(sparsify(f), sparse) for f in FUNCTIONS.values()])()
    expected = jax.jit(lambda: [all_of(f, dense) for f in FUNCTIONS.values()])()
    for name, ours, theirs in zip(FUNCTIONS, found, expected, strict=True):
        for what, a, b in zip(("value", "gradient", "vmap"), ours, theirs, strict=True):
            assert_allclose(a, b, rtol=1e-4, atol=1e-4, err_msg=f"{name}, {what}")
