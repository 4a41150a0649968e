"""The rules of sparsify: every function gives what it gives for the dense array, in every layout."""

import operator
from typing import Any

import jax
import numpy as np
import pytest
from jax import lax
from jax import numpy as jnp
from jax.experimental import sparse as jsparse
from jax.scipy.special import logsumexp
from numpy.testing import assert_allclose

from cases.entries import awkward_entries
from rarefy.sparse import BCOO, BCSR, SparseTracer, sparsify, todense

W = np.linspace(-2, 2, 6, dtype=np.float32)
ROWS = np.linspace(1, 3, 5, dtype=np.float32)
FULL = np.linspace(-3, 3, 30, dtype=np.float32).reshape(5, 6)
PICK = np.array([0, 3, -1])


def leaves(tree):
    found = jax.tree.leaves(tree, is_leaf=lambda x: isinstance(x, BCOO | BCSR))
    return [np.asarray(todense(x)) for x in found]


def same(got, want, *, rtol=2e-5, atol=2e-5):
    got, want = leaves(got), leaves(want)
    assert len(got) == len(want)
    for a, b in zip(got, want, strict=True):
        assert a.dtype == b.dtype
        assert_allclose(a, b, rtol=rtol, atol=atol)


def matrices(dtype: Any = np.float32, seed=3):
    """A matrix in every layout: each with repeats, a stored zero and padding in the middle."""
    for n_batch, n_dense in ((0, 0), (1, 0), (0, 1)):
        entries = awkward_entries(
            (5, 6), n_batch=n_batch, n_dense=n_dense, nse=9, dtype=dtype, seed=seed
        )
        yield BCOO((entries.data, entries.indices), shape=entries.shape), entries.dense
    entries = awkward_entries((5, 6), nse=9, dtype=dtype, seed=seed)
    yield BCSR.from_bcoo(BCOO((entries.data, entries.indices), shape=(5, 6))), entries.dense
    yield BCSR.fromdense(entries.dense), entries.dense
    yield BCOO.fromdense(np.zeros((5, 6), dtype), nse=2), np.zeros((5, 6), dtype)


ZERO_PRESERVING = {
    "neg": operator.neg,
    "abs": jnp.abs,
    "sin": jnp.sin,
    "tanh": jnp.tanh,
    "expm1": lambda x: jnp.expm1(x / 4),
    "log1p": lambda x: jnp.log1p(jnp.abs(x)),
    "sqrt": lambda x: jnp.sqrt(jnp.abs(x)),
    "sign": jnp.sign,
    "round": jnp.round,
    "square": jnp.square,
    "cube": lambda x: x**3,
    "power": lambda x: jnp.abs(x) ** 1.5,
    "relu": jax.nn.relu,
    "gelu": jax.nn.gelu,
    "silu": jax.nn.silu,
    "clip": lambda x: jnp.clip(x, -1, 2),
    "maximum_zero": lambda x: jnp.maximum(x, 0),
    "minimum_zero": lambda x: jnp.minimum(0, x),
    "where_positive": lambda x: jnp.where(x > 0, x, 0),
    "where_dense_mask": lambda x: jnp.where(W > 0, x, 0),
    "not_equal": lambda x: x != 0,
    "isnan": jnp.isnan,
    "as_int": lambda x: x.astype(jnp.int32),
    "as_bool": lambda x: x.astype(bool),
    "scaled": lambda x: 2.5 * x,
    "times_row": lambda x: x * W,
    "times_column": lambda x: ROWS[:, None] * x,
    "times_full": lambda x: x * FULL,
    "over_row": lambda x: x / (W + 3),
    "remainder": lambda x: lax.rem(x, jnp.full((5, 6), 2.0)),
    "twice": lambda x: x + x,
    "plus_reversed": lambda x: x + x[::-1],
    "minus_reversed": lambda x: x - 3 * x[::-1],
    "times_reversed": lambda x: x * x[::-1],
    "maximum_reversed": lambda x: jnp.maximum(x, x[::-1]),
    "normalized": lambda x: x / (1e-3 + todense(jnp.abs(x).sum(1, keepdims=True))),
    "over_sparse_sums": lambda x: x / (x * x + 1).sum(1, keepdims=True),
}


@pytest.mark.parametrize("name", ZERO_PRESERVING)
def test_elementwise_functions_that_keep_zero_are_sparse(name):
    function = ZERO_PRESERVING[name]
    for mat, dense in matrices():
        out = sparsify(function)(mat)
        assert isinstance(out, type(mat)), mat
        assert out.nse <= 2 * mat.nse
        same(out, function(jnp.asarray(dense)))


DENSE = {
    "plus_full": lambda x: x + FULL,
    "full_minus": lambda x: FULL - x,
    "maximum_full": lambda x: jnp.maximum(x, FULL),
    "todense": lambda x: todense(x) + 1,
    "product": lambda x: x @ W,
    "product_from_left": lambda x: ROWS @ x,
    "matrix_product": lambda x: x @ np.outer(W, [1, 2]).astype(np.float32),
    "transposed_product": lambda x: x.T @ ROWS,
    "einsum": lambda x: jnp.einsum("ij,i,j->", x, ROWS, W),
    "tensordot": lambda x: jnp.tensordot(x, FULL, 2),
    "sum": jnp.sum,
    "mean": jnp.mean,
    "max": jnp.max,
    "max_of_columns": lambda x: x.max(0),
    "min_of_rows": lambda x: x.min(1),
    "product_of_rows": lambda x: x.prod(1),
    "any": lambda x: (x != 0).any(1),
    "all": lambda x: (x > 0).all(0),
    "var": jnp.var,
    "var_of_columns": lambda x: x.var(0),
    "std_of_rows": lambda x: x.std(1),
    "norm": jnp.linalg.norm,
    "argmax": jnp.argmax,
    "argmax_of_columns": lambda x: x.argmax(0),
    "argmin_of_rows": lambda x: x.argmin(1),
    "logsumexp": lambda x: logsumexp(x, axis=1),
    "sum_of_exp": lambda x: jnp.exp(x / 4).sum(0),
    "sum_of_plus": lambda x: (x + 1).sum(1),
    "zeros": lambda x: (x == 0).sum(0),
    "logistic_product": lambda x: jax.nn.sigmoid(x) @ W,
    "product_logistic": lambda x: ROWS @ jax.nn.sigmoid(x),
    "cosine_product": lambda x: jnp.cos(x) @ FULL.T,
    "softmax_expectation": lambda x: (jax.nn.softmax(x) * x).sum(1),
    "centred_squares": lambda x: ((x - x.mean(0)) ** 2).sum(),
    "logaddexp": lambda x: jnp.logaddexp(x, 0.0).mean(),
    "softplus": lambda x: jax.nn.softplus(x).mean(1),
}


@pytest.mark.parametrize("name", DENSE)
def test_reductions_and_products_are_those_of_the_dense_array(name):
    function = DENSE[name]
    for mat, dense in matrices():
        same(sparsify(function)(mat), function(jnp.asarray(dense)), atol=1e-4)


SHAPES = {
    "sum_of_columns": lambda x: x.sum(0),
    "sum_keepdims": lambda x: x.sum(1, keepdims=True),
    "mean_of_rows": lambda x: x.mean(1),
    "norm_of_columns": lambda x: jnp.linalg.norm(x, axis=0),
    "transpose": lambda x: x.T,
    "reshape": lambda x: x.reshape(6, 5),
    "ravel": jnp.ravel,
    "row": lambda x: x[1],
    "columns": lambda x: x[:, 1:5:2],
    "cell": lambda x: x[2, 3],
    "rows_by_number": lambda x: x[PICK],
    "dynamic_slice": lambda x: lax.dynamic_slice(x, (1, 2), (2, 3)),
    "dynamic_row": lambda x: lax.dynamic_index_in_dim(x, jnp.asarray(3), 0),
    "reversed": lambda x: x[::-1],
    "squeezed": lambda x: x[:, :1].squeeze(1),
    "expanded": lambda x: x[None],
    "stack": lambda x: jnp.stack([x, 2 * x]),
    "concatenate": lambda x: jnp.concatenate([x, 3 * x], 0),
    "concatenate_zeros": lambda x: jnp.concatenate([x, jnp.zeros((5, 2))], 1),
    "tile": lambda x: jnp.tile(x, (2, 1)),
    "split": lambda x: jnp.split(x, [2, 3], 1),
    "pad": lambda x: jnp.pad(x, ((1, 2), (0, 3))),
    "pad_inside_and_cut": lambda x: lax.pad(x, 0.0, ((-1, 1, 1), (2, -1, 0))),
    "outer": lambda x: jnp.outer(x[0], x[1]),
    "diagonal": jnp.diagonal,
    "trace": jnp.trace,
    "gram": lambda x: x @ x.T,
    "vdot": lambda x: jnp.vdot(x, x),
    "segment_sum": lambda x: jax.ops.segment_sum(x, jnp.array([0, 1, 0, 2, 9]), 3),
    "row_of_dense_axis": lambda x: x.reshape(5, 2, 3),
}


@pytest.mark.parametrize("name", SHAPES)
def test_changes_of_shape_are_those_of_the_dense_array(name):
    function = SHAPES[name]
    for mat, dense in matrices():
        same(sparsify(function)(mat), function(jnp.asarray(dense)), atol=1e-4)


@pytest.mark.parametrize("dtype", [np.int32, np.float16, bool, np.complex64])
def test_rules_hold_for_other_dtypes(dtype):
    functions = [lambda x: x.sum(0), lambda x: x * x[::-1], lambda x: x[1:3].T, lambda x: x != 0]
    if dtype is not bool:
        functions += [operator.neg, lambda x: x @ x.T, lambda x: x - x[::-1]]
    if dtype in (np.int32, np.float16):
        functions += [lambda x: x.max(1), lambda x: x.argmin(0), lambda x: jnp.clip(x, -1, 1)]
    for mat, dense in matrices(dtype):
        if dtype is bool and not isinstance(mat, BCSR):
            continue
        for function in functions:
            same(sparsify(function)(mat), function(jnp.asarray(dense)), rtol=2e-3, atol=2e-3)


def test_running_sums_along_a_dense_axis():
    entries = awkward_entries((5, 3), n_dense=1)
    mat = BCOO((entries.data, entries.indices), shape=entries.shape)
    for function in (lambda x: jnp.cumsum(x, 1), lambda x: jnp.sort(x, 1), lambda x: x[:, ::-1]):
        out = sparsify(function)(mat)
        assert isinstance(out, BCOO)
        same(out, function(jnp.asarray(entries.dense)))


def test_extremes_see_nan_and_negative_rows():
    dense = np.array([[-1.0, -2.0, -3.0], [0.0, -1.0, 0.0], [np.nan, 1.0, 0.0]], np.float32)
    for mat in (BCOO.fromdense(dense), BCSR.fromdense(dense)):
        for function in (lambda x: x.max(1), lambda x: x.argmax(1), lambda x: x.argmin(0)):
            same(sparsify(function)(mat), function(jnp.asarray(dense)))


def test_convolution():
    x = BCOO.fromdense(np.array([[[0.0, 1, 0, 0, 2, 0, 3]]], np.float32), n_batch=2)
    kernel = jnp.array([[[1.0, -2, 4]]])

    def convolve(x, k):
        return lax.conv_general_dilated(x, k, (1,), "SAME")

    same(sparsify(convolve)(x, kernel), convolve(x.todense(), kernel))


@pytest.mark.parametrize("use_tracer", [False, True])
def test_two_sparse_operands_of_different_patterns(use_tracer):
    a, b = (awkward_entries((5, 6), seed=s) for s in (1, 2))
    pairs = (
        operator.add,
        operator.sub,
        operator.mul,
        jnp.minimum,
        lambda x, y: x @ y.T,
        lambda x, y: jnp.where(x > 0, y, 0),
        lambda x, y: (x == y).sum(),
        lambda x, y: x * y.sum(0),
    )
    for left in (BCOO, BCSR):
        for right in (BCOO, BCSR):
            x, y = BCOO((a.data, a.indices), shape=(5, 6)), BCOO((b.data, b.indices), shape=(5, 6))
            x = x if left is BCOO else BCSR.from_bcoo(x)
            y = y if right is BCOO else BCSR.from_bcoo(y)
            for function in pairs:
                out = sparsify(function, use_tracer=use_tracer)(x, y)
                same(out, function(jnp.asarray(a.dense), jnp.asarray(b.dense)))


AS_IN_JAX = {
    "sin": jnp.sin,
    "scaled": lambda x: x * 2,
    "times_row": lambda x: x * W,
    "sum0": lambda x: x.sum(0),
    "sum1": lambda x: x.sum(1),
    "sum": jnp.sum,
    "transpose": lambda x: x.T,
    "row": lambda x: x[1],
    "expanded": lambda x: x[None],
    "add": lambda x: x + x,
    "sub": lambda x: x - 2 * x,
    "reshape": lambda x: x.reshape(6, 5),
    "plus_full": lambda x: x + FULL,
    "vector_product": lambda x: jnp.dot(x[0], x[1]),
    "while": lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2), (0, x)),
    "cond": lambda x: lax.cond(True, lambda y: 2 * y, lambda y: 3 * y, x),
}


@pytest.mark.parametrize("name", AS_IN_JAX)
def test_results_have_the_layouts_that_jax_gives(name):
    entries = awkward_entries((5, 6), seed=3)
    function = AS_IN_JAX[name]
    ours = sparsify(function)(BCOO((entries.data, entries.indices), shape=(5, 6)))
    theirs = jsparse.sparsify(function)(
        jsparse.BCOO((jnp.asarray(entries.data), jnp.asarray(entries.indices)), shape=(5, 6))
    )
    ours = jax.tree.leaves(ours, is_leaf=lambda x: isinstance(x, BCOO))
    theirs = jax.tree.leaves(theirs, is_leaf=lambda x: isinstance(x, jsparse.BCOO))
    for a, b in zip(ours, theirs, strict=True):
        assert isinstance(a, BCOO) == isinstance(b, jsparse.BCOO)
        if isinstance(a, BCOO):
            assert (a.shape, a.n_batch, a.n_dense, a.dtype) == (
                b.shape,
                b.n_batch,
                b.n_dense,
                b.dtype,
            )
            assert a.nse <= b.nse
        assert_allclose(todense(a), jsparse.todense(b), rtol=1e-5)


def test_tracer_is_seen_only_where_it_is_asked_for():
    seen = []

    def look(x):
        seen.append(isinstance(x, SparseTracer))
        return x

    sparsify(look)(jnp.arange(5))
    sparsify(look, use_tracer=True)(jnp.arange(5))
    sparsify(look, use_tracer=True)(BCOO.fromdense(jnp.arange(5)))
    assert seen == [False, True, True]
