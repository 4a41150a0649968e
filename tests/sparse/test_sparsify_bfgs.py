"""Logistic regression by BFGS with sparse data, and the structured matrices that make it fast."""

from functools import partial

import jax
import numpy as np
import pytest
from jax import numpy as jnp
from jax.scipy import optimize
from numpy.testing import assert_allclose

from rarefy.sparse import BCOO, BCSR, sparsify

N = 70  # enough cells for a structured matrix


def model(params, x):
    return 0.5 * (jnp.tanh((jnp.dot(x, params[1:]) + params[0]) / 2) + 1)


def loss(params, x, y):
    p = model(params, x)
    return -jnp.mean(y * jnp.log(p) + (1 - y) * jnp.log(1 - p))


def fit(x, y, maxiter=None):
    start = jnp.zeros(x.shape[1] + 1)
    found = optimize.minimize(
        partial(loss, x=x, y=y), x0=start, method="BFGS", options={"maxiter": maxiter}
    )
    return found.x, found.fun


def problem(rng, rows, columns):
    x = rng.standard_normal((rows, columns)) * (rng.random((rows, columns)) < 0.3)
    y = x @ rng.standard_normal(columns) + 2 * rng.standard_normal(rows) > 0
    return x.astype(np.float32), y.astype(np.float32)


@pytest.mark.parametrize("make", [BCOO.fromdense, BCSR.fromdense])
def test_fit_finds_the_minimum_of_the_dense_fit(rng, make):
    x, y = problem(rng, 200, 8)
    params, value = sparsify(fit)(make(x), y)
    dense_params, dense_value = fit(jnp.asarray(x), y)
    assert_allclose(value, dense_value, atol=1e-5)
    assert_allclose(params, dense_params, atol=2e-2)


def test_steps_with_a_structured_update_are_those_of_the_dense_fit(rng):
    x, y = problem(rng, 300, N)
    got = sparsify(fit)(BCOO.fromdense(x), y, maxiter=3)
    want = fit(jnp.asarray(x), y, maxiter=3)
    assert_allclose(got[1], want[1], rtol=1e-4)
    assert_allclose(got[0], want[0], atol=2e-3)


UPDATES = {
    "identity_minus_outer": lambda h, s, y: (jnp.eye(N) - 0.5 * s[:, None] * y[None, :]) @ h,
    "from_the_right": lambda h, s, y: h @ (s[None, :] * y[:, None] + 2 * jnp.eye(N)),
    "transposed": lambda h, s, y: (jnp.eye(N) + jnp.outer(s, y)).T @ h,
    "of_a_vector": lambda h, s, y: (jnp.outer(s, y) - jnp.outer(y, s)) @ (h @ s),
    "negative": lambda h, s, y: h @ -jnp.outer(s, y),
    "made_after_all": lambda h, s, y: h * (jnp.eye(N) + s[:, None] * y[None, :]),
    "mask": lambda h, s, y: jnp.where(jnp.eye(N, dtype=bool), h, s[:, None] * y[None, :]),
    "returned": lambda h, s, y: jnp.eye(N) - s[:, None] * y[None, :],
    "batched_use": lambda h, s, y: jnp.stack([jnp.eye(N), jnp.outer(s, y)]) @ h,
    "both": lambda h, s, y: jnp.einsum(
        "ij,jk,lk", jnp.eye(N) - jnp.outer(s, y), h, jnp.eye(N) - jnp.outer(s, y)
    ),
}


@pytest.mark.parametrize("use_tracer", [False, True])
@pytest.mark.parametrize("name", UPDATES)
def test_structured_matrices_are_the_matrices(name, use_tracer, rng):
    h, s, y = (rng.standard_normal(shape).astype(np.float32) for shape in ((N, N), N, N))
    function = UPDATES[name]
    got = sparsify(function, use_tracer=use_tracer)(h, s, y)
    assert_allclose(got, function(jnp.asarray(h), s, y), rtol=1e-4, atol=1e-3)


def test_a_structured_update_multiplies_no_two_matrices():
    h, s = jnp.ones((N, N)), jnp.ones(N)
    program = jax.make_jaxpr(sparsify(UPDATES["both"]))(h, s, s)
    products = [e for e in program.eqns if e.primitive.name == "dot_general"]
    assert products
    assert all(min(v.aval.ndim for v in e.invars) == 1 for e in products)
