"""What optimizers share: numbers, counts, names, checkpoints, precision."""

import json
import math
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from oracles.optimizers import trajectory
from rarefy import nd, optimizer
from rarefy.base import MXNetError
from rarefy.lr_scheduler import CosineScheduler, FactorScheduler
from rarefy.optimizer import SGD, AdaGrad, Adam, Ftrl, Optimizer, get_updater

EACH = pytest.mark.parametrize("name", ["sgd", "adam", "adagrad", "ftrl"])
NAMES = {0: "a_weight", 1: "a_bias", 2: "foo"}


def gradient(pairs, shape, dtype="float32"):
    data = np.array([g for _, g in pairs]).astype(dtype).reshape(-1, *shape[1:])
    return nd.sparse.row_sparse_array((data, [r for r, _ in pairs]), shape=shape, dtype=dtype)


# Numbers.


def test_defaults_are_mxnets():
    assert (SGD().lr, SGD().momentum, SGD().lazy_update) == (0.01, 0.0, True)
    adam = Adam()
    assert (adam.lr, adam.beta1, adam.beta2, adam.epsilon) == (0.001, 0.9, 0.999, 1e-8)
    assert (AdaGrad().lr, AdaGrad().float_stable_eps) == (0.01, 1e-7)
    assert (Ftrl().lr, Ftrl().lamda1, Ftrl().beta) == (0.1, 0.01, 1)
    base = Optimizer()
    assert (base.rescale_grad, base.wd, base.clip_gradient, base.num_update) == (1.0, 0.0, None, 0)


def test_weight_decay_spares_names_that_are_no_weights():
    opt = SGD(wd=0.1, param_idx2name=NAMES)
    assert opt.wd_mult == {"a_bias": 0.0, "foo": 0.0}
    opt.set_lr_mult({"a_bias": 2.0, 0: 3.0})
    opt.set_wd_mult({"foo": 0.5})
    assert [opt._get_lr(i) for i in (0, 1, 2, 5)] == pytest.approx([0.03, 0.02, 0.01, 0.01])
    assert [opt._get_wd(i) for i in (0, 1, 2, 5)] == pytest.approx([0.1, 0.0, 0.05, 0.1])


def test_factors_of_parameters_and_symbols():
    param = SimpleNamespace(lr_mult=0.5, wd_mult=2.0)
    opt = SGD(wd=0.1, param_dict={7: param})
    assert (opt._get_lr(7), opt._get_wd(7)) == (0.005, 0.2)
    sym = SimpleNamespace(
        attr_dict=lambda: {"a_bias": {"__lr_mult__": "4", "__wd_mult__": "3"}},
        list_arguments=lambda: ["data", "a_weight", "a_bias"],
    )
    opt = SGD(wd=0.1, sym=sym, param_idx2name=NAMES)
    assert (opt._get_lr(1), opt._get_wd(1)) == pytest.approx((0.04, 0.3))


def test_schedules_see_the_update_that_is_made():
    opt = SGD(lr_scheduler=FactorScheduler(2, 0.5, base_lr=1.0))
    assert opt.learning_rate == 1.0
    assert [opt.hyper(0)["lr"] for _ in range(5)] == [1.0, 1.0, 0.5, 0.5, 0.25]
    assert opt.hyper(1)["lr"] == 0.25  # the largest count of all parameters
    with pytest.raises(UserWarning, match="scheduler"):
        opt.set_learning_rate(0.1)


def test_a_learning_rate_goes_to_the_schedule():
    schedule = FactorScheduler(2, 0.5, base_lr=1.0)
    with pytest.warns(UserWarning, match="replaces"):
        opt = SGD(learning_rate=0.3, lr_scheduler=schedule)
    assert opt.learning_rate == schedule.base_lr == 0.3
    with pytest.warns(UserWarning, match="no effect"):
        opt = SGD(learning_rate=0.3, lr_scheduler=CosineScheduler(9, base_lr=1.0))
    assert opt.learning_rate == 1.0


def test_counts_begin_where_told():
    opt = SGD(begin_num_update=5)
    opt.update(0, nd.ones((2, 2)), nd.ones((2, 2)), None)
    assert (opt.num_update, opt._index_update_count) == (6, {0: 6})


def test_adam_counts_each_parameter_for_its_bias():
    opt = Adam(learning_rate=1.0)
    opt.hyper(0)
    rate = opt.hyper(0)["lr"]
    assert rate == pytest.approx(math.sqrt(1 - 0.999**2) / (1 - 0.9**2))
    assert opt.hyper(1)["lr"] == pytest.approx(math.sqrt(1 - 0.999) / (1 - 0.9))


@pytest.mark.parametrize("bound", [None, 0, 0.0])
def test_no_clipping_by_zero(bound):
    weight = nd.ones((2, 2))
    SGD(learning_rate=1.0, clip_gradient=bound).update(0, weight, nd.ones((2, 2)), None)
    np.testing.assert_array_equal(weight.asnumpy(), 0)


def test_several_parameters_at_once():
    opt, weights = SGD(learning_rate=1.0), [nd.ones((2, 2)), nd.ones((3,))]
    opt.update([0, 1], weights, [nd.ones((2, 2)), nd.ones((3,))], [None, None])
    for w in weights:
        np.testing.assert_array_equal(w.asnumpy(), 0)
    assert opt._index_update_count == {0: 1, 1: 1}


def test_one_sparse_gradient_does_not_stop_the_others():
    updater = get_updater(AdaGrad())
    weights = [nd.ones((4, 2)), nd.ones((3,)), nd.ones((2, 2))]
    grads = [gradient([(1, np.ones(2))], (4, 2)), nd.ones((3,)), nd.ones((2, 2))]
    updater([0, 1, 2], grads, weights)
    assert all((w.asnumpy() != 1).any() for w in weights)


# The registry and optimizers of one's own.


def test_create_ignores_case_and_names_what_there_is():
    assert type(optimizer.create("AdaGrad", eps=0.5)) is AdaGrad
    with pytest.raises(ValueError, match=r"nope.*adam.*sgd"):
        optimizer.create("nope")
    with pytest.raises(TypeError, match="foo"):
        SGD(foo=1)
    with pytest.raises(TypeError, match="param_idx2name"):
        SGD(param_idx2name=3)


def test_an_optimizer_of_ones_own():
    @optimizer.register
    class Halve(Optimizer):
        def create_state(self, index, weight):
            return nd.zeros(weight.shape)

        def update(self, index, weight, grad, state):
            self._update_count(index)
            state += grad
            weight[:] = weight * 0.5 - self._get_lr(index) * state

    try:
        opt = optimizer.create("halve", learning_rate=1.0)
        weight = nd.ones((2, 2))
        get_updater(opt)(0, nd.ones((2, 2)), weight)
        np.testing.assert_array_equal(weight.asnumpy(), -0.5)
        assert opt.num_update == 1
    finally:
        del Optimizer.opt_registry["halve"]


def test_the_base_class_updates_nothing():
    with pytest.raises(NotImplementedError):
        Optimizer().update(0, nd.ones((2,)), nd.ones((2,)), None)
    assert Optimizer().create_state(0, nd.ones((2,))) is None


# What is refused.


@EACH
def test_what_does_not_fit_is_refused(name):
    opt, weight = optimizer.create(name), nd.ones((4, 2))
    state = opt.create_state(0, weight)
    with pytest.raises(MXNetError, match=r"\(4, 3\).*\(4, 2\)"):
        opt.update(0, weight, nd.ones((4, 3)), state)
    with pytest.raises(MXNetError, match=r"float64.*float32"):
        opt.update(0, weight, nd.ones((4, 2), dtype="float64"), state)
    with pytest.raises(MXNetError, match="floating"):
        opt.update(0, nd.ones((4, 2), dtype="int32"), nd.ones((4, 2), dtype="int32"), state)
    with pytest.raises(TypeError, match="csr"):
        opt.update(0, weight, nd.ones((4, 2)).tostype("csr"), state)
    np.testing.assert_array_equal(weight.asnumpy(), 1)


# FTRL.


def test_ftrl_makes_weights_exactly_zero():
    opt, weight = Ftrl(lamda1=1.0, learning_rate=1.0), nd.zeros((3, 1))
    state = opt.create_state(0, weight)
    opt.update(0, weight, gradient([(0, [0.5]), (2, [3.0])], (3, 1)), state)
    assert weight.asnumpy()[0, 0] == 0
    assert weight.asnumpy()[2, 0] < 0


def test_ftrl_l2_is_wd():
    """Where lamda1 and beta are zero, w = -z / (sqrt(n) / lr + wd)."""
    opt, weight = Ftrl(lamda1=0.0, beta=0.0, learning_rate=0.5, wd=0.25), nd.zeros((1, 1))
    opt.update(0, weight, nd.array([[2.0]]), opt.create_state(0, weight))
    np.testing.assert_allclose(weight.asnumpy(), -2.0 / (2.0 / 0.5 + 0.25), rtol=1e-6)


@pytest.mark.parametrize("stype", ["default", "row_sparse"])
def test_ftrl_warm_start_means_the_given_weight(stype, rng):
    start = rng.normal(size=(5, 2)).astype("float32")
    start[3] = 0
    weight = nd.array(start).tostype(stype)
    opt = Ftrl(lamda1=0.3, learning_rate=0.2, beta=0.7, wd=0.1, warm_start=True)
    z, n = opt.create_state(0, weight)
    assert (z.stype, n.stype) == (stype, stype)
    everything = gradient([(r, np.zeros(2)) for r in (0, 1, 2, 4)], (5, 2))
    opt.update(0, weight, everything, (z, n))
    np.testing.assert_allclose(weight.asnumpy(), start, rtol=1e-5)


def test_ftrl_without_warm_start_forgets_a_touched_weight():
    weight, opt = nd.ones((3, 1)), Ftrl()
    opt.update(0, weight, gradient([(1, [0.0])], (3, 1)), opt.create_state(0, weight))
    np.testing.assert_array_equal(weight.asnumpy(), [[1], [0], [1]])


# 16-bit weights.


@EACH
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "row_sparse"])
def test_multi_precision_steps_in_float32(name, dtype, sparse, rng):
    start = rng.normal(size=(5, 2)).astype(dtype)
    opt = optimizer.create(name, multi_precision=True, learning_rate=1e-4, lazy_update=True)
    weight = nd.array(start, dtype=dtype)
    updater = get_updater(opt)
    pairs = [(r, rng.normal(size=2).astype(dtype)) for r in (0, 3)]
    grad = gradient(pairs, (5, 2), dtype)
    for _ in range(20):
        updater(0, grad if sparse else grad.tostype("default"), weight)
    grads = [pairs] * 20
    after, _ = trajectory(name, np.float64(start), grads, lazy=sparse, learning_rate=1e-4)
    assert np.dtype(weight.dtype) == np.dtype(start.dtype)
    rounding = 5e-4 if dtype == "float16" else 4e-3
    np.testing.assert_allclose(np.float64(weight.asnumpy()), after[-1], rtol=rounding, atol=1e-6)


def test_multi_precision_states_are_laid_out_as_mxnets():
    weight = nd.ones((2, 2), dtype="float16")
    mom, copy = SGD(multi_precision=True, momentum=0.9).create_state_multi_precision(0, weight)
    assert np.dtype(copy.dtype) == np.dtype(mom.dtype) == np.float32
    np.testing.assert_array_equal(copy.asnumpy(), 1)
    np.testing.assert_array_equal(mom.asnumpy(), 0)
    none, copy = SGD(multi_precision=True).create_state_multi_precision(0, weight)
    assert none is None
    copy, (mean, _) = Adam(multi_precision=True).create_state_multi_precision(0, weight)
    np.testing.assert_array_equal(copy.asnumpy(), 1)
    np.testing.assert_array_equal(mean.asnumpy(), 0)


def test_narrow_weights_without_multi_precision_warn():
    with pytest.warns(UserWarning, match="multi_precision"):
        SGD().create_state_multi_precision(0, nd.ones((2, 2), dtype="float16"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SGD().create_state_multi_precision(0, nd.ones((2, 2)))


# Checkpoints.


@EACH
def test_a_stopped_run_goes_on_as_if_it_had_not_stopped(name, rng):
    shape, start = (6, 2), rng.normal(size=(6, 2)).astype("float32")
    grads = [
        gradient([(r, rng.normal(size=2)) for r in ids], shape) for ids in ([1], [2, 5], [1, 2])
    ]
    kwargs = {"wd": 0.1, "lr_scheduler": FactorScheduler(1, 0.5, base_lr=0.1)}
    if name == "sgd":
        kwargs["momentum"] = 0.9
    if name in ("adam", "ftrl"):
        kwargs["learning_rate"] = 0.1

    def run(weight, updater, grads):
        for g in grads:
            updater(4, g, weight)
        return weight

    whole = run(nd.array(start), get_updater(optimizer.create(name, **kwargs)), grads)
    first = get_updater(optimizer.create(name, **kwargs))
    half = run(nd.array(start), first, grads[:1])
    second = get_updater(optimizer.create(name, **kwargs))
    second.set_states(first.get_states(dump_optimizer=True))
    resumed = run(nd.array(half.asnumpy()), second, grads[1:])
    np.testing.assert_array_equal(resumed.asnumpy(), whole.asnumpy())
    assert second.optimizer.num_update == 3


def test_a_dumped_optimizer_brings_its_settings():
    saved = optimizer.SGD(momentum=0.9, wd=0.1, learning_rate=0.2, clip_gradient=3.0)
    saved.set_lr_mult({0: 2.0, "bias": 0.0})
    data = get_updater(saved).get_states(dump_optimizer=True)
    updater = get_updater(optimizer.SGD(momentum=0.5))
    updater.set_states(data)
    found = updater.optimizer
    assert (found.momentum, found.wd, found.lr, found.clip_gradient) == (0.9, 0.1, 0.2, 3.0)
    assert found.lr_mult == {0: 2.0, "bias": 0.0}
    # One step from zero momentum: w - lr_mult * lr * (1 + wd * w), 2 - 0.4 * 1.2.
    weight = nd.array([2.0])
    updater(0, nd.array([1.0]), weight)
    np.testing.assert_allclose(weight.asnumpy(), [1.52], rtol=1e-6)


def test_states_of_every_kind_survive():
    updater = get_updater(Adam())
    sparse = gradient([(1, [1.0, 2.0]), (3, [3.0, 4.0])], (5, 2))
    bfloat = nd.array(np.arange(3), dtype="bfloat16")
    empty = nd.sparse.zeros("row_sparse", (5, 2))
    updater.states = {0: None, "w": (sparse, (bfloat, None)), 2: nd.ones((2, 0)), 3: empty}
    other = get_updater(Adam())
    other.set_states(updater.get_states())
    assert list(other.states) == [0, "w", 2, 3]
    assert other.states[0] is None
    back, (narrow, nothing) = other.states["w"]
    assert (back.stype, nothing) == ("row_sparse", None)
    np.testing.assert_array_equal(back.asnumpy(), sparse.asnumpy())
    np.testing.assert_array_equal(back.indices.asnumpy(), [1, 3])
    assert narrow.asnumpy().dtype == bfloat.asnumpy().dtype
    np.testing.assert_array_equal(narrow.asnumpy(), bfloat.asnumpy())
    assert other.states[2].shape == (2, 0)
    assert (other.states[3].stype, other.states[3].shape) == ("row_sparse", (5, 2))


def test_states_of_another_optimizer_are_refused():
    data = get_updater(Adam()).get_states(dump_optimizer=True)
    with pytest.raises(ValueError, match=r"'adam'.*'sgd'"):
        get_updater(SGD()).set_states(data)
    with pytest.raises(ValueError, match="no optimizer states"):
        get_updater(SGD()).set_states(b"junk")


def test_state_dict_is_json():
    opt = Adam()
    opt.update(3, nd.ones((2,)), nd.ones((2,)), opt.create_state(3, nd.ones((2,))))
    opt.set_learning_rate(0.5)
    other = Adam()
    other.load_state_dict(json.loads(json.dumps(opt.state_dict())))
    assert (other.num_update, other._index_update_count, other.lr) == (1, {3: 1}, 0.5)
