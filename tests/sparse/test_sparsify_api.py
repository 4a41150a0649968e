"""How sparsify is called: arguments, programs that are kept, shared buffers, refusals, references."""

import operator
from typing import Any

import jax
import numpy as np
import pytest
from jax import lax
from jax import numpy as jnp
from numpy.testing import assert_array_equal

from rarefy.sparse import BCOO, BCSR, sparsify, todense
from rarefy.sparse.transform import (
    SparsifyEnv,
    SparsifyValue,
    arrays_to_spvalues,
    sparsify_raw,
    spvalues_to_arrays,
    spvalues_to_avals,
)

D = np.array([[0, 1, 0, 2], [3, 0, 0, 0], [0, 0, 4, 0]], np.float32)
X = BCOO.fromdense(D)


def counted(function):
    calls = []

    def wrapped(*args, **kwargs):
        calls.append(1)
        return function(*args, **kwargs)

    return sparsify(wrapped), calls


def test_second_call_traces_nothing():
    function, calls = counted(lambda x, v: jnp.sin(x) @ v)
    for scale in (1, 2, 3):
        out = function(X * scale, scale * jnp.ones(4))
        np.testing.assert_allclose(out, np.sin(D * scale).sum(1) * scale, rtol=1e-5)
    assert len(calls) == 1
    function(X, np.ones((4, 2), np.float32))
    function(BCSR.fromdense(D), jnp.ones(4))
    assert len(calls) == 3


def test_a_product_of_open_size_is_not_traced_again_and_needs_no_dense_room():
    dense = np.eye(200, dtype=np.float32)
    x = BCOO.fromdense(dense)
    function, calls = counted(lambda x, y: 2 * (x @ y))
    out = function(x, 5 * x)
    assert out.nse < 1000
    assert_array_equal(out.todense(), 10 * dense)
    traces = len(calls)
    function(x, 3 * x)
    assert len(calls) == traces


def test_trees_and_keyword_arguments():
    function = sparsify(
        lambda p, scale=1, axis=0, x=None: {"s": (p["x"] * scale).sum(axis), "x": x}
    )
    out = function({"x": X, "unused": None}, scale=3, axis=1, x=X)
    assert_array_equal(out["s"].todense(), 3 * D.sum(1))
    assert out["x"].indices is X.indices
    assert_array_equal(function({"x": X}, axis=0)["s"].todense(), D.sum(0))
    mask = np.array([True, False, True])
    rows = sparsify(lambda x, mask: x[mask])
    assert_array_equal(rows(X, mask=mask).todense(), D[mask])
    assert_array_equal(rows(X, mask=~mask).todense(), D[~mask])


def test_what_is_no_array_is_refused_by_name():
    with pytest.raises(TypeError, match=r"positional arguments must be arrays .* 'axis' of str"):
        sparsify(lambda x, a: x)(X, "axis")


def test_results_share_buffers_with_arguments_and_each_other():
    x, twice, sine = sparsify(lambda x: (x, 2 * x, jnp.sin(x)))(X)
    assert x.data is X.data
    assert x.indices is twice.indices is sine.indices is X.indices
    r = BCSR.fromdense(D)
    twice = sparsify(lambda x: 2 * x)(r)
    assert twice.indices is r.indices and twice.indptr is r.indptr
    total = sparsify(operator.add)(x, X)
    assert total.nse == X.nse


def test_closures_over_tracers_do_not_leak():
    def outer(w):
        return sparsify(lambda x: x @ w)(X).sum()

    assert_array_equal(jax.grad(outer)(jnp.ones(4)), D.sum(0))
    assert_array_equal(jax.jit(jax.grad(outer))(jnp.ones(4)), D.sum(0))

    class Model:
        w: Any

        def __init__(self):
            self.call = sparsify(lambda x: x @ self.w)

    model = Model()

    def step(w):
        model.w = w
        return model.call(X).sum()

    for _ in range(2):
        assert_array_equal(jax.grad(step)(jnp.ones(4)), D.sum(0))


def test_64_bit_types_are_those_of_the_caller():
    function = sparsify(lambda x: x.sum(0) * 2)
    assert function(X).dtype == np.float32
    with jax.enable_x64(True):
        assert function(BCOO.fromdense(D.astype(np.float64))).dtype == np.float64
        assert function(X).dtype == np.float32


REFUSED = {
    "cos": (lax.cos, "^sparse rule for cos is not implemented because it would result in dense"),
    "exp": (jnp.exp, "^sparse rule for exp is not implemented because it would result in dense"),
    "equal": (lambda x: x == 0, "^sparse rule for eq is not implemented because it would result"),
    "power": (
        lambda x: x**0,
        "integer_pow with non-positive exponent 0 is not implemented because",
    ),
    "plus": (lambda x: x + 1, "^Addition between a sparse array X and a dense array Y is not"),
    "minus": (lambda x: x - 1.0, r"^Subtraction between sparse and dense array\."),
    "over": (lambda x: 1 / x, "^Division by a sparse array is not implemented because it would"),
    "cumsum": (
        lambda x: jnp.cumsum(x, 1),
        r"^sparse rule for cumsum is not implemented\. The operands are BCOO\(float32\[3, 4\], nse=4\)",
    ),
    "set": (lambda x: x.at[0].set(1.0), "^sparse rule for scatter is not implemented.*todense"),
}


@pytest.mark.parametrize("use_tracer", [False, True])
@pytest.mark.parametrize("name", REFUSED)
def test_refusals_name_the_primitive(name, use_tracer):
    function, text = REFUSED[name]
    with pytest.raises(NotImplementedError, match=text):
        sparsify(function, use_tracer=use_tracer)(X)


def test_a_refusal_has_a_note_with_the_layouts():
    with pytest.raises(NotImplementedError) as caught:
        sparsify(lax.complex)(X, X)
    assert str(caught.value) == "sparse rule for complex is not implemented."
    assert any("BCOO(float32[3, 4], nse=4)" in note for note in caught.value.__notes__)


def test_values_refer_to_buffers():
    x = jnp.arange(5)
    m = BCOO.fromdense(x)
    env = SparsifyEnv()
    values = arrays_to_spvalues(env, (x, m, m))
    assert values == (
        SparsifyValue((5,), 0),
        SparsifyValue((5,), 1, 2, indices_sorted=True, unique_indices=True),
        SparsifyValue((5,), 3, 4, indices_sorted=True, unique_indices=True),
    )
    assert values[0].is_dense() and values[1].is_bcoo() and values[1].ndim == 1
    back = spvalues_to_arrays(env, values)
    assert_array_equal(back[0], x)
    assert back[1].indices_sorted
    assert_array_equal(back[2].todense(), x)
    aval = spvalues_to_avals(env, values)[1]
    assert (aval.shape, aval.dtype) == ((5,), x.dtype)


def test_raw_functions_keep_shared_indices():
    m = BCOO.fromdense(jnp.arange(5))
    env = SparsifyEnv([m.indices, m.data, 2 * m.data])
    flags = {"unique_indices": True}
    x = env.sparse((5,), data_ref=1, indices_ref=0, **flags)
    y = env.sparse((5,), data_ref=2, indices_ref=0, **flags)
    for function in (operator.add, operator.mul):
        (out,), structure = sparsify_raw(function)(env, x, y)
        assert out.indices_ref == 0
        (array,) = spvalues_to_arrays(env, [out])
        expected = function(np.arange(5), 2 * np.arange(5))
        assert_array_equal(todense(array), expected)
        assert structure == jax.tree.structure(0)
    with pytest.raises(ValueError, match="give either data or data_ref"):
        env.sparse((5,), indices_ref=0)
