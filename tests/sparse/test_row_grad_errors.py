"""What a marked table must not be used for, and how the error says so."""

import jax
import numpy as np
import pytest
from jax import lax
from jax import numpy as jnp

from rarefy.sparse import BCOO, DenseUseError, grad, value_and_grad

IDS = np.array([3, 7, 3])
TABLE = jnp.ones((9, 2))


@jax.jit
def helper(t):
    return jnp.exp(t).sum()


@jax.custom_vjp
def own_rule(t):
    return t[IDS].sum()


own_rule.defvjp(lambda t: (t[IDS].sum(), t), lambda t, g: (g * t,))


def scanned(t):
    return lax.scan(lambda c, row: (c + row.sum(), None), 0.0, t)[0]


def changed_in_a_loop(t):
    return lax.fori_loop(0, 3, lambda i, s: s * 2, t)[0, 0]


def while_loop(t):
    return lax.while_loop(lambda c: c < 3, lambda c: c + t[0].sum(), 0.0)


def chosen(t):
    return lax.cond(t[0, 0] > 0, lambda: t, lambda: jnp.zeros((9, 2)))[IDS].sum()


# What is done, and what of it the error names.
DENSE = {
    "times a number": (lambda t: (t * 2)[IDS].sum(), "'mul'"),
    "sum": (lambda t: t.sum(), "'reduce_sum'"),
    "sum over columns": (lambda t: t.sum(1)[IDS].sum(), "'reduce_sum'"),
    "transpose": (lambda t: t.T[0, 0], "'transpose'"),
    "norm": (lambda t: t[IDS].sum() + jnp.linalg.norm(t), "'norm'"),
    "squared": (lambda t: t[IDS].sum() + (t**2).sum(), "'integer_pow'|'square'"),
    "tanh": (lambda t: jnp.tanh(t)[IDS].sum(), "'tanh'"),
    "all scores": (lambda t: jax.nn.logsumexp(t @ jnp.ones(2)), "'dot_general'"),
    "flattened": (lambda t: t.reshape(-1)[IDS].sum(), "'reshape'"),
    "joined": (lambda t: jnp.concatenate([t, jnp.ones((1, 2))])[IDS].sum(), "'concatenate'"),
    "row set": (lambda t: t.at[3].set(0.0)[IDS].sum(), "'scatter'"),
    "a column": (lambda t: t[:, 0].sum(), "'reduce_sum'"),
    "reversed": (lambda t: t[::-1][IDS].sum(), "'rev'"),
    "scan over rows": (scanned, "'scan'.*goes over its rows"),
    "changed in a loop": (changed_in_a_loop, "'scan'.*the loop changes it"),
    "while loop": (while_loop, "'while'.*no gradient goes back"),
    "cond": (chosen, "'cond'.*choose"),
    "custom_vjp": (lambda t: own_rule(t), "custom_vjp.*gathered rows"),
    "in vmap": (lambda t: jax.vmap(lambda i: (t * i).sum())(jnp.ones(3)).sum(), "'mul'"),
    "in scan": (
        lambda t: lax.scan(lambda c, i: (c + (t * 3)[i].sum(), None), 0.0, IDS)[0],
        "'mul'",
    ),
    "in remat": (lambda t: jax.checkpoint(lambda t: jnp.sin(t).sum())(t), "'sin'"),
}


@pytest.mark.parametrize("loss, names", DENSE.values(), ids=DENSE.keys())
@pytest.mark.parametrize("compile", [False, True], ids=["eager", "jit"])
def test_a_dense_use_is_named_with_its_line(loss, names, compile):
    ours = value_and_grad(loss, row_sparse=True)
    code = loss.__code__
    with pytest.raises(DenseUseError, match=names) as caught:
        (jax.jit(ours) if compile else ours)(TABLE)
    text = str(caught.value)
    assert "argument 0" in text and "stop_gradient" in text
    lines = range(code.co_firstlineno, code.co_firstlineno + 6)
    assert any(f"{code.co_filename}:{line} " in text for line in lines), text


def test_the_line_is_in_the_function_that_is_called():
    line = helper.__wrapped__.__code__.co_firstlineno + 2
    with pytest.raises(
        DenseUseError, match=rf"'exp' at .*test_row_grad_errors.py:{line} \(in helper"
    ):
        grad(lambda t: t[IDS].sum() + helper(t), row_sparse=True)(TABLE)


def test_a_loop_of_traced_length():
    def loss(t, n):
        return lax.fori_loop(0, n, lambda i, c: c + t[i].sum(), 0.0)

    with pytest.raises(DenseUseError, match=r"'while'.*whose bounds are traced"):
        jax.jit(grad(loss, row_sparse=True))(TABLE, 3)
    assert grad(loss, row_sparse=True)(TABLE, 3).data[:, 0].tolist() == [1, 1, 1]


def test_the_path_of_the_table_is_named():
    loss = lambda p: p["a"][IDS].sum() + p["b"]["t"].sum()  # noqa: E731
    params = {"a": TABLE, "b": {"t": TABLE}}
    with pytest.raises(DenseUseError, match=r"argument 0\['b'\]\['t'\] is used densely"):
        grad(loss, row_sparse=True)(params)


def test_a_table_of_which_the_gradient_is_not_wanted_may_be_dense():
    loss = lambda t: t[IDS].sum() * lax.stop_gradient(t).sum()  # noqa: E731
    assert grad(loss, row_sparse=True)(TABLE).data[:, 0].tolist() == [36, 18, 0]


@pytest.mark.parametrize("compile", [False, True], ids=["eager", "jit"])
def test_the_table_must_not_be_returned(compile):
    ours = grad(lambda t: (t[IDS].sum(), {"table": t}), has_aux=True, row_sparse=True)
    with pytest.raises(DenseUseError, match="returns argument 0 itself"):
        (jax.jit(ours) if compile else ours)(TABLE)


WRONG = {
    "vector": (lambda t: t[IDS], {}, TypeError, r"scalar output; got shape \(3, 2\)"),
    "integer": (lambda t: jnp.int32(1), {}, TypeError, "real floating, got int32"),
    "no pair": (lambda t: t[0, 0], {"has_aux": True}, TypeError, r"pair \(value, aux\)"),
    "other argument": (lambda t: t[0, 0], {"row_sparse": 1}, ValueError, "argument 1 is not diff"),
    "no such key": (lambda t: t[0, 0], {"row_sparse": {"x": True}}, ValueError, "do not fit"),
    "not a bool": (lambda t: t[0, 0], {"row_sparse": "yes"}, TypeError, "must be bools"),
    "unknown option": (lambda t: t[0, 0], {"rowsparse": True}, TypeError, "rowsparse"),
    "argnums": (lambda t: t[0, 0], {"argnums": 3}, ValueError, "only 1 positional"),
}


@pytest.mark.parametrize("loss, options, kind, text", WRONG.values(), ids=WRONG.keys())
def test_wrong_arguments(loss, options, kind, text):
    with pytest.raises(kind, match=text):
        grad(loss, **{"row_sparse": True, **options})(TABLE)


def test_marks_of_a_dict_must_be_there():
    with pytest.raises(ValueError, match="argument 0 has no 'emd'; it has 'emb', 'w'"):
        grad(lambda p: p["emb"][0, 0], row_sparse={"emd": True})({"emb": TABLE, "w": TABLE})


def test_a_scalar_an_integer_and_a_sparse_array_are_no_tables():
    with pytest.raises(TypeError, match=r"argument 0\['b'\], which must be a floating array"):
        grad(lambda p: p["t"][0, 0] + p["b"], row_sparse=True)({"t": TABLE, "b": 1.0})
    with pytest.raises(TypeError, match=r"argument 0, which must be .* int32\[4\]"):
        grad(lambda t: 1.0, row_sparse=True, allow_int=True)(jnp.arange(4))
    with pytest.raises(TypeError, match="which is a BCOO"):
        grad(lambda t: t.data.sum(), row_sparse=True)(BCOO.fromdense(np.eye(3)))
