"""Updaters: lists by one program, optimizers in MXNet's style, states that MXNet saved."""

import base64
import json
import os
import pickle

import jax
import numpy as np
import pytest

from oracles import mxnet_states
from rarefy import cpu, nd, optimizer, random
from rarefy.optimizer import LBSGD, SGD, SGLD, AdamW, Optimizer, TrainStep

SAVED = json.loads(mxnet_states.FILE.read_text())["runs"]


def some(dtype="float32", seed=0):
    rng = np.random.default_rng(seed)
    return [nd.array(rng.normal(size=s), dtype=dtype) for s in ((3, 2), (4,), (2, 2, 2))]


def arrays_of(state):
    if isinstance(state, tuple):
        return [a for part in state for a in arrays_of(part)]
    return [] if state is None else [state]


@pytest.fixture
def programs():
    """The names of the programs that are compiled."""
    names = []

    def heard(event, duration, **known):
        if event == "/jax/core/compile/backend_compile_duration":
            names.append(known.get("fun_name", ""))

    jax.monitoring.register_event_duration_secs_listener(heard)
    yield names
    jax.monitoring.unregister_event_duration_listener(heard)


@pytest.mark.parametrize(
    ("name", "params", "dtype"),
    [
        ("sgd", {"momentum": 0.9, "multi_precision": True, "wd": 0.1}, "float16"),
        ("lars", {"momentum": 0.9, "eta": 0.5}, "float32"),
    ],
)
def test_a_list_is_updated_by_one_program_in_place(name, params, dtype, programs):
    names = {0: "a_weight", 1: "a_bias", 2: "b_weight"}
    made = [optimizer.create(name, param_idx2name=names, **params) for _ in range(2)]
    together, alone = (optimizer.get_updater(m) for m in made)
    weights, others, table = some(dtype), some(dtype), nd.ones((5, 2))
    rows = nd.sparse.row_sparse_array((np.ones((1, 2), "float32"), [3]), shape=(5, 2))
    mine, buffers = [], []
    for step in range(3):
        grads = some(dtype, seed=step + 1)
        programs.clear()
        together([0, 1, 2], grads, weights)
        assert programs.count("jit(program)") == (step == 0)
        mine = [*weights, *(a for i in range(3) for a in arrays_of(together.states[i]))]
        # Those of equal shape may change places; a 16-bit weight is not read, and so not reused.
        wide = [a for a in mine if a.dtype == np.float32]
        buffers.append(sorted(a._value.unsafe_buffer_pointer() for a in wide))
        for i in range(3):
            alone(i, grads[i], others[i])
        for m in made:
            m.set_learning_rate(0.3 / (step + 1))
    assert buffers[1] == buffers[2] != []
    theirs = [*others, *(a for i in range(3) for a in arrays_of(alone.states[i]))]
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=2e-5, atol=1e-6)
    together([0, 9], [grads[0], rows], [weights[0], table])  # what is sparse goes by itself
    assert (table.asnumpy() != 1).any(axis=1).tolist() == [False, False, False, True, False]


class Plain(Optimizer):
    """Momentum written with operators, as MXNet programs do."""

    def create_state(self, index, weight):
        return nd.zeros(weight.shape, dtype=weight.dtype), None

    def update(self, index, weight, grad, state):
        self._update_count(index)
        lr, wd = self._get_lr(index), self._get_wd(index)
        mom, _ = state
        mom[:] *= 0.5
        mom[:] += lr * (grad * self.rescale_grad + wd * weight)
        weight[:] -= mom


class Lists(SGD):
    """Takes lists, as `aggregate_num` says."""

    def update_multi_precision(self, indices, weights, grads, states):
        self.seen = [*getattr(self, "seen", []), list(indices)]
        for weight, grad in zip(weights, grads, strict=True):
            nd.sgd_update(weight, grad, lr=1.0, out=weight)


def test_optimizers_in_mxnets_style_work_in_place():
    updater = optimizer.get_updater(Plain(learning_rate=0.5, rescale_grad=2.0, wd=0.1))
    weights = [nd.ones((2,)), nd.ones((3,))]
    views = [w[0:1] for w in weights]
    for _ in range(2):
        updater([0, 1], [nd.ones((2,)), nd.ones((3,))], weights)
    first = 1 - 0.5 * (2 + 0.1)
    second = first - (0.5 * (1 - first) + 0.5 * (2 + 0.1 * first))
    for weight, view in zip(weights, views, strict=True):
        np.testing.assert_allclose(weight.asnumpy(), second, rtol=1e-6)
        np.testing.assert_allclose(view.asnumpy(), second, rtol=1e-6)
    assert updater.optimizer.num_update == 2
    lists = optimizer.get_updater(Lists())
    lists.optimizer.aggregate_num = 2
    weights = [nd.ones((2,), dtype=d) for d in ("float32", "float64", "float32", "float32")]
    lists([0, 1, 2, 3], [nd.ones((2,), dtype=w.dtype) for w in weights], weights)
    assert lists.optimizer.seen == [[0, 2], [3], [1]]
    assert all((w.asnumpy() == 0).all() for w in weights)


def test_states_that_mxnet_pickled_go_on():
    for name, run in SAVED.items():
        made = optimizer.create(name, **mxnet_states.RUNS[name] | {"learning_rate": 7.0})
        updater, arrays = optimizer.get_updater(made), mxnet_states.weights(nd)
        for array, before in zip(arrays, run["before"], strict=True):
            array[:] = nd.array(before, dtype=array.dtype)
        updater.set_states(base64.b64decode(run["states"][1]))
        assert (made.learning_rate, made.num_update) == (0.1, 2)
        mxnet_states.step(nd, updater, arrays)
        for array, after in zip(arrays, run["after"], strict=True):
            close = {"rtol": 1e-5} if array.dtype == np.float32 else {"rtol": 1e-3}
            np.testing.assert_allclose(array.asnumpy(), after, **close)
        updater.set_states(base64.b64decode(run["states"][0]))
        assert [len(arrays_of(s)) for s in updater.states.values()] == [
            2,
            2 if name != "sgd" else 1,
        ]


def test_copies_on_several_devices_count_apart():
    shared = SGD(learning_rate=1.0)
    updaters, weights = [], [nd.ones((2,), ctx=cpu(i)) for i in range(2)]
    for weight in weights:
        updaters.append(optimizer.get_updater(shared))
        updaters[-1](0, nd.ones((2,), ctx=weight.context), weight)
    assert (shared.num_update, shared._all_index_update_counts) == (1, {0: {0: 1}, 1: {0: 1}})


class Bomb:
    def __reduce__(self):
        return os.mkdir, ("bomb",)


def test_a_pickle_runs_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    updater = optimizer.get_updater(SGD())
    for states in ({0: Bomb()}, {0: 3}, [1]):
        with pytest.raises(ValueError, match="no optimizer states"):
            updater.set_states(pickle.dumps(states))
    assert not list(tmp_path.iterdir())


def test_adamw_decays_beside_the_gradient():
    """As Loshchilov and Hutter have it; lazily only in the rows of the gradient."""
    w, g, m, v = np.ones(2), np.array([0.5, -2.0]), np.zeros(2), np.zeros(2)
    made, weight = AdamW(learning_rate=0.1, wd=0.2), nd.ones((3, 2))
    state = made.create_state(0, weight)
    for t in (1, 2):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        step = m / (1 - 0.9**t) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
        w = w - 0.1 * step - 0.1 * 0.2 * w
        grad = nd.sparse.row_sparse_array((g[None].astype("float32"), [1]), shape=(3, 2))
        made.update(0, weight, grad, state)
    np.testing.assert_allclose(weight.asnumpy(), [[1, 1], w, [1, 1]], rtol=1e-5)


def test_sgld_adds_noise_of_the_right_size():
    random.seed(5)
    made, weight = SGLD(learning_rate=0.04, wd=0.5), nd.ones((100, 100))
    rows = nd.sparse.row_sparse_array((np.ones((1, 100), "float32"), [0]), shape=(100, 100))
    made.update(0, weight, rows, None)
    noise = weight.asnumpy() - (1 - 0.02 * 0.5)
    noise[0] += 0.02
    assert abs(noise.mean()) < 0.01
    assert noise.std() == pytest.approx(0.2, rel=0.03)
    random.seed(5)
    again = nd.ones((100, 100))
    made.update(0, again, rows, None)
    np.testing.assert_array_equal(again.asnumpy(), weight.asnumpy())


def test_compiled_steps_take_them_but_for_lbsgd():
    for name in ("lamb", "lars"):
        eager, compiled = nd.array([[1.0, 2.0], [3.0, -4.0]]), nd.array([[1.0, 2.0], [3.0, -4.0]])
        compiled.attach_grad()
        made = optimizer.create(name, learning_rate=0.1)
        loss = lambda x, w=compiled: (w * x).sum()  # noqa: E731
        step = TrainStep(loss, {"w": compiled}, optimizer.create(name, learning_rate=0.1))
        state, x = made.create_state(0, eager), nd.array([[0.5, 1.0], [-1.0, 2.0]])
        for _ in range(2):
            step(x)
            made.update(0, eager, x, state)
        np.testing.assert_allclose(compiled.asnumpy(), eager.asnumpy(), rtol=1e-6)
    weight = nd.ones((2,))
    weight.attach_grad()
    with pytest.raises(NotImplementedError, match="LBSGD"):
        TrainStep(lambda: weight.sum(), {"w": weight}, LBSGD())()


def test_factors_by_index_name_and_parameter():
    class Parameter:
        lr_mult, wd_mult = 3.0, 4.0

    made = SGD(learning_rate=1.0, wd=1.0, param_idx2name={0: "a_weight", 1: "b_bias", 2: "c"})
    made.set_lr_mult({"a_weight": 2.0, 1: 5.0})
    made.param_dict = {2: Parameter()}
    assert made._get_lrs([0, 1, 2, 3]) == [2, 5, 3, 1]
    assert made._get_wds([0, 1, 2, 3]) == [1, 0, 4, 1]
    copy = pickle.loads(pickle.dumps(made))
    assert (copy.param_dict, copy._get_lr(0)) == ({}, 2.0)
    with pytest.raises(DeprecationWarning):
        made.set_lr_scale({})
