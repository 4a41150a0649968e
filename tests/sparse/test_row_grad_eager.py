"""Gradients by rows that are called without jit: what is kept from call to call, and what is not."""

import enum

import jax
import numpy as np
import pytest
from jax import numpy as jnp
from numpy.testing import assert_allclose, assert_array_equal

from rarefy.sparse import BCSR, DenseUseError, grad, value_and_grad

TABLE = jnp.sin(jnp.arange(80, dtype=jnp.float32)).reshape(40, 2)
IDS = np.array([3, 7, 3])
scale = 1.0


class Mode(enum.Enum):
    SUM = "sum"
    SQUARE = "square"


def rows(gradient):
    found = np.asarray(gradient.indices[:, 0])
    return found[found < gradient.shape[0]].tolist()


def test_a_second_call_traces_nothing():
    traces = []

    def loss(params, ids, mode, rate, labels=None):
        traces.append(mode)
        read = params["t"][ids] @ params["w"]
        out = rate * (read if mode is Mode.SUM else read**2).sum()
        return out, {"read": read, "mode": mode, "labels": labels}

    ours = value_and_grad(loss, has_aux=True, row_sparse={"t": True})
    params = {"t": TABLE, "w": jnp.array([1.0, 2.0])}
    for repeat in range(3):
        for ids in (IDS + repeat, np.array([0, repeat])):
            for mode in Mode:
                args = (params, ids, mode, 0.5 + repeat)
                (_, aux), gradient = ours(*args, labels="some")
                read = TABLE[ids] @ params["w"]
                factor = args[-1] * (1 if mode is Mode.SUM else 2 * read)
                expected = np.zeros(TABLE.shape)
                np.add.at(expected, ids, np.outer(factor * jnp.ones(len(ids)), params["w"]))
                assert_allclose(gradient["t"].todense(), expected, rtol=1e-5)
                assert rows(gradient["t"]) == sorted(set(ids.tolist()))
                assert aux["mode"] is mode and aux["labels"] == "some"
                assert_allclose(aux["read"], read, rtol=1e-5)
    assert len(traces) == 4  # two numbers of ids, two modes
    ours(jax.tree.map(lambda x: 2 * x, params), IDS, Mode.SUM, 1)
    assert len(traces) == 5  # a whole number, and no labels


def test_without_rows_every_call_runs_the_function_as_under_jax():
    draws = np.random.default_rng(0)
    drawn = []

    def loss(x, v):
        drawn.append(draws.random())  # such as a mask that NumPy draws
        return drawn[-1] * (x @ v).sum()

    x, v = BCSR.fromdense(np.array([[0, 2.0], [1, 0]], np.float32)), np.ones(2, np.float32)
    for call in range(4):
        dx = grad(loss)(x, v)
        assert_allclose(dx.data, 2 * [drawn[call]], rtol=1e-6)
    assert len(drawn) == 4


def test_what_a_function_reads_beside_its_arguments_is_current():
    """As under `jax.grad`, and not as under `jax.jit`: the values are those of the call."""

    class Model:
        def __init__(self):
            self.ids, self.settings = np.array([5]), {"power": 1}

        def loss(self, t):
            return (t[self.ids] ** self.settings["power"]).sum()

    def scaled(t):
        return scale * t[IDS].sum()

    def through_another(t):
        return scaled(t) + t[0].sum()

    def drawn(t):
        return t[source.integers(0, 40, 2)].sum()

    global scale
    first, second = grad(scaled, row_sparse=True), grad(through_another, row_sparse=True)
    for scale in (1.0, 1.0, 3.0):
        assert_allclose(first(TABLE).data[:, 0], [2 * scale, scale, 0])
        assert_allclose(second(TABLE).data[:, 0], [1, 2 * scale, scale, 0])
    model = Model()
    ours = grad(model.loss, row_sparse=True)
    assert rows(ours(TABLE)) == [5]
    model.ids = np.array([8])
    assert rows(ours(TABLE)) == [8]
    model.settings["power"] = 2
    assert_allclose(ours(TABLE).data, 2 * TABLE[8:9], rtol=1e-6)
    source = np.random.default_rng(0)
    ours, again = grad(drawn, row_sparse=True), np.random.default_rng(0)
    for _ in range(3):
        assert rows(ours(TABLE)) == sorted(set(again.integers(0, 40, 2).tolist()))


def test_functions_that_need_the_numbers_of_their_arguments():
    def loss(t, count, ids):
        return t[:count].sum() if t[0, 1] > 0 else 3 * t[np.unique(ids)].sum()

    ours = grad(loss, row_sparse=True)
    assert rows(ours(TABLE, 2, IDS)) == [0, 1]
    assert rows(ours(TABLE, 3, IDS)) == [0, 1, 2]
    assert rows(ours(-TABLE, 3, IDS)) == [3, 7]


def test_the_program_is_for_the_callers_settings_and_arguments():
    ours = grad(lambda t, i: (t[i] ** 2).sum(), row_sparse=True)
    ids = IDS.copy()  # JAX keeps a NumPy constant of a trace for the x64 setting that it had
    assert ours(TABLE, ids).data.dtype == np.float32
    with jax.enable_x64(True):
        assert ours(TABLE.astype(np.float64), ids).data.dtype == np.float64
        assert ours(TABLE, ids).data.dtype == np.float32
    mapped = jax.vmap(ours, (None, 0))(TABLE, np.stack([IDS, IDS + 1]))
    assert_array_equal(mapped.indices[..., 0], [[3, 7, 40], [4, 8, 40]])
    with pytest.raises(TypeError, match="argument 0, which must be a floating"):
        ours(jnp.arange(4), IDS)
    dense = np.zeros((2, 40), np.float32)
    dense[[0, 1, 1], [3, 7, 3]] = 1
    product = grad(lambda t, x: (x @ t).sum(), row_sparse=True)
    for x in (dense, dense[::-1].copy()):
        assert_allclose(product(TABLE, BCSR.fromdense(x)).data[:, 0], [2, 1, 0])


WHOLE = {
    "add": (lambda t: (t + 1)[IDS].sum(), "'add'"),
    "sub": (lambda t: (t - t.dtype.type(2))[2:4].sum(), "'sub'"),
    "one row": (lambda t: (t + 1)[3, 0], "'add'"),
    "in jit": (lambda t: jax.jit(lambda t: t + 1)(t)[IDS].sum(), "'add'"),
    "given to jit": (lambda t: jax.jit(lambda t: t[IDS].sum())(t[:, :1] + 1), "'add'"),
    "in scan": (
        lambda t: jax.lax.scan(lambda c, i: (c + (t + 1)[i].sum(), None), 0.0, IDS)[0],
        "'add'",
    ),
    "in cond": (
        lambda t: jax.lax.cond(t[0, 0] > 0, lambda: 0.0, lambda: (t + 1)[IDS].sum()),
        "'add'",
    ),
    "product": (lambda t: (BCSR.fromdense(np.eye(40)) @ (t + 1)).sum(), "'add'"),
}


@pytest.mark.parametrize("name", WHOLE)
def test_a_table_changed_as_a_whole_before_rows_are_read_is_an_error(name):
    loss, what = WHOLE[name]
    line = rf"{what} at .*test_row_grad_eager.py:{loss.__code__.co_firstlineno}"
    with pytest.raises(DenseUseError, match=rf"{line}.*of which only rows are read"):
        grad(loss, row_sparse=True)(TABLE)


def test_a_change_without_a_gradient_is_no_error():
    loss = lambda t: t[IDS].sum() * (jax.lax.stop_gradient(t) + 1)[IDS].sum()  # noqa: E731
    factor = (TABLE[IDS] + 1).sum()
    assert_allclose(grad(loss, row_sparse=True)(TABLE).data[:, 0], [2 * factor, factor, 0])
    loss = lambda t: t[jnp.argmax(t[:, 0] + 1)].sum()  # noqa: E731
    assert rows(grad(loss, row_sparse=True)(TABLE)) == [int(TABLE[:, 0].argmax())]
