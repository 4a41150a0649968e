"""The compiled step against record, backward and trainer.step, where something changes on the way."""

import numpy as np
import pytest

import rarefy as mx
from rarefy import autograd, gluon, nd
from rarefy.gluon import nn

ROWS, FEATURES = 4, 6
LOSS = gluon.loss.L2Loss()


def make(seed=1, **settings):
    """A small net with everything initialized, and its trainer."""
    mx.random.seed(seed)
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(nn.Dense(3, activation="tanh", in_units=FEATURES), nn.BatchNorm(), nn.Dense(1))
    net.initialize(mx.init.Uniform(0.5))
    net(nd.zeros((1, FEATURES)))
    settings = {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.01, **settings}
    return net, gluon.Trainer(net.collect_params(), "sgd", settings)


def batch(i, rows=ROWS):
    rng = np.random.default_rng(i)
    return nd.array(rng.standard_normal((rows, FEATURES))), nd.array(rng.standard_normal((rows, 1)))


def plain(net, trainer):
    def step(x, *labels, batch_size=None):
        with autograd.record():
            loss = LOSS(net(x), *labels)
        loss.backward()
        trainer.step(x.shape[0] if batch_size is None else batch_size)
        return loss

    return step


def values(net):
    return {n: p.data().asnumpy() for n, p in net.collect_params().items()}


def assert_alike(net, other):
    for (name, a), b in zip(values(net).items(), values(other).values(), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6, err_msg=name)


def test_what_changes_between_steps_is_seen_and_compiles_only_where_it_must():
    (net, trainer), (twin, other) = make(), make()
    step, eager = gluon.TrainStep(net, LOSS, trainer), plain(twin, other)
    both = ((net, trainer, step), (twin, other, eager))

    def do(i, **kwargs):
        losses = [each(*batch(i), **kwargs).asnumpy() for _, _, each in both]
        np.testing.assert_allclose(*losses, rtol=2e-5, atol=1e-6)
        assert_alike(net, twin)

    do(0)
    for _, each, _ in both:
        each.set_learning_rate(0.05)
    do(1)
    do(2, batch_size=7)
    for each, _, _ in both:
        each[0].weight.lr_mult = 3.0
        each[2].bias.wd_mult = 2.0
    do(3)
    for each, _, _ in both:
        each[0].weight.set_data(nd.ones((3, FEATURES)))
    do(4)
    assert step.compilations == 1
    for each, _, _ in both:
        each[2].weight.grad_req = "null"
    frozen = net[2].weight.data().asnumpy()
    do(5)
    np.testing.assert_array_equal(net[2].weight.data().asnumpy(), frozen)
    assert step.compilations == 2
    for each, _, _ in both:
        each[2].weight.grad_req = "write"
    do(6)
    assert step.compilations == 2
    # A step by hand between two compiled ones, and states from a file.
    plain(net, trainer)(*batch(7))
    eager(*batch(7))
    do(8)
    assert step.compilations == 2
    # The last, smaller batch of an epoch.
    for i in range(2):
        assert step(*batch(i, 3)).shape == (3,)
        eager(*batch(i, 3))
        do(i)
    assert step.compilations == 3


def test_states_are_those_of_the_trainer(tmp_path):
    (net, trainer), (twin, other) = make(), make()
    step, eager = gluon.TrainStep(net, LOSS, trainer), plain(twin, other)
    for i in range(2):
        step(*batch(i))
        eager(*batch(i))
    trainer.save_states(str(tmp_path / "states"))
    weights = values(net)
    step(*batch(2))
    for name, param in net.collect_params().items():
        param.set_data(nd.array(weights[name]))
    trainer.load_states(str(tmp_path / "states"))
    step(*batch(2))
    eager(*batch(2))
    assert_alike(net, twin)
    assert step.compilations == 1
    assert trainer.optimizer.num_update == other.optimizer.num_update == 3


def test_sums_of_gradients_shared_parameters_and_weights_of_samples():
    """With grad_req='add', as long as nobody clears it, each update is by the sum so far."""

    def tied():
        mx.random.seed(3)
        first = nn.Dense(FEATURES, in_units=FEATURES, activation="tanh")
        net = nn.HybridSequential()
        net.add(first, nn.Dense(FEATURES, in_units=FEATURES, params=first.params))
        net.initialize(mx.init.Uniform(0.5))
        net.collect_params().setattr("grad_req", "add")
        return net, gluon.Trainer(net.collect_params(), "adam")

    (net, trainer), (twin, other) = tied(), tied()
    assert len(trainer._params) == 2
    step, eager = gluon.TrainStep(net, LOSS, trainer), plain(twin, other)
    for i in range(4):
        x, _ = batch(i)
        weight = nd.array(np.arange(ROWS)[:, None])
        losses = [each(x, x, weight).asnumpy() for each in (step, eager)]
        np.testing.assert_allclose(*losses, rtol=1e-5, atol=1e-6)
        if i == 1:
            for each in (net, twin):
                each.collect_params().zero_grad()
    assert_alike(net, twin)
    for a, b in zip(*(each.collect_params().values() for each in (net, twin)), strict=True):
        np.testing.assert_allclose(a.grad().asnumpy(), b.grad().asnumpy(), rtol=1e-4, atol=1e-5)
    assert step.compilations == 1


class Table(gluon.HybridBlock):
    """Two inputs, a table with row_sparse gradient, and a parameter that may go unused."""

    def __init__(self, stype="default"):
        super().__init__()
        self.used = True
        with self.name_scope():
            self.table = self.params.get(
                "table", shape=(50, 3), stype=stype, grad_stype="row_sparse"
            )
            self.rest = self.params.get("rest", shape=(1, 3))

    def hybrid_forward(self, F, ids, scale, table, rest):
        rows = F.Embedding(ids, table, input_dim=50, output_dim=3, sparse_grad=True)
        out = F.broadcast_mul(rows, scale)
        return F.broadcast_add(out, rest) if self.used else out


def test_tables_move_in_the_rows_of_the_batch_and_ids_are_checked():
    stype = "row_sparse"

    def trained(way):
        mx.random.seed(5)
        net = Table(stype)
        net.initialize()
        trainer = gluon.Trainer(net.collect_params(), "adagrad", {"learning_rate": 0.5})
        ids, scale = nd.array([7, 2, 7]), nd.array([[1.0], [2.0], [3.0]])
        y = nd.ones((3, 3))
        if way == "one program":
            step = gluon.TrainStep(net, LOSS, trainer)
            for _ in range(3):
                step([ids, scale], y)
            before = net.table._of().asnumpy()
            with pytest.raises(mx.MXNetError, match="50"):
                step([nd.array([7, 50, 7]), scale], y)
            np.testing.assert_array_equal(net.table._of().asnumpy(), before)
            assert trainer.optimizer.num_update == 3
        else:
            net.hybridize(way == "hybridized")
            for _ in range(3):
                with autograd.record():
                    loss = LOSS(net(ids, scale), y)
                loss.backward()
                trainer.step(3)
            grad = net.table.grad()
            assert grad.stype == "row_sparse"
            assert grad.indices.asnumpy().tolist() == [2, 7]
        return net.table._of().asnumpy()

    eager = trained("eager")
    for way in ("hybridized", "one program"):
        np.testing.assert_allclose(trained(way), eager, rtol=1e-5)
    mx.random.seed(5)
    untouched = Table(stype)
    untouched.initialize()
    rows = np.setdiff1d(np.arange(50), [2, 7])
    np.testing.assert_array_equal(eager[rows], untouched.table._of().asnumpy()[rows])


def test_a_parameter_that_is_not_used_is_refused_or_left_alone():
    net = Table()
    net.used = False
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"wd": 0.5})
    inputs, y = [nd.array([1]), nd.ones((1, 1))], nd.ones((1, 3))
    with pytest.raises(UserWarning, match=net.rest.name):
        gluon.TrainStep(net, LOSS, trainer)(inputs, y)
    assert trainer.optimizer.num_update == 0
    before = net.rest.data().asnumpy()
    step = gluon.TrainStep(net, LOSS, trainer, ignore_stale_grad=True, return_outputs=True)
    loss, out = step(inputs, y)
    assert (loss.shape, out.shape, step.compilations) == ((1,), (1, 3), 1)
    np.testing.assert_array_equal(net.rest.data().asnumpy(), before)
    net.used = True
    net._changed()
    step(inputs, y)
    assert (net.rest.data().asnumpy() != before).all()
    assert step.compilations == 2


def test_shapes_come_from_the_first_batch_and_children_may_be_added_later():
    net = nn.Sequential()
    net.add(nn.Dense(3), nn.Dropout(0.5), nn.Dense(2))
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd")
    step = gluon.TrainStep(net, LOSS, trainer, ignore_stale_grad=True)
    x, _ = batch(0)
    assert step(x, nd.ones((ROWS, 2))).shape == (ROWS,)
    assert net[2].weight.shape == (2, 3)
    first, second = (step(x, nd.zeros((ROWS, 2))).asnumpy() for _ in range(2))
    assert (first != second).any()
    net.add(nn.Dense(1))
    net.initialize()
    assert step(x, nd.ones((ROWS, 1))).shape == (ROWS,)
    assert net[3].weight.shape == (1, 2)


def test_narrow_nets_keep_wide_weights():
    dtype = "bfloat16"

    def trained(way):
        mx.random.seed(2)
        net = nn.HybridSequential()
        net.add(nn.Dense(1, in_units=FEATURES))
        net.initialize()
        net.cast(dtype)
        settings = {"learning_rate": 0.01, "multi_precision": True}
        trainer = gluon.Trainer(net.collect_params(), "adam", settings)
        step = gluon.TrainStep(net, LOSS, trainer) if way else plain(net, trainer)
        for i in range(2):
            step(*(a.astype(dtype) for a in batch(i)))
        state = trainer._updaters[0].states[0]
        wide = [s for s in state if getattr(s, "dtype", None) == np.float32]
        assert wide
        assert net[0].weight.dtype == dtype
        return wide[0].asnumpy()

    np.testing.assert_allclose(trained(True), trained(False), rtol=0.1, atol=0.02)


def test_several_devices_and_stores_that_update_are_refused():
    net, _ = make()
    net.collect_params().reset_ctx([mx.cpu(0), mx.cpu(1)])
    trainer = gluon.Trainer(net.collect_params(), "sgd")
    with pytest.raises(ValueError, match="one device"):
        gluon.TrainStep(net, LOSS, trainer)
    net, _ = make()
    trainer = gluon.Trainer(net.collect_params(), "sgd", update_on_kvstore=True)
    with pytest.raises(ValueError, match="where they are"):
        gluon.TrainStep(net, LOSS, trainer)(*batch(0))


@pytest.mark.parametrize("optimizer", ["adam", "nadam"])
def test_a_batch_that_is_refused_is_no_update(optimizer):
    found = []
    for mistakes in (False, True):
        mx.random.seed(1)
        net = nn.Dense(1, in_units=FEATURES, prefix="net_")
        net.initialize(mx.init.Uniform(0.5))
        trainer = gluon.Trainer(net.collect_params(), optimizer, {"learning_rate": 0.1})
        step = gluon.TrainStep(net, LOSS, trainer)
        for i in range(3):
            step(*batch(i))
            if mistakes:
                x, y = batch(i)
                with pytest.raises(mx.MXNetError, match="reshape_like"):
                    step(x, nd.ones((ROWS + 1, 1)))
                with pytest.raises(ZeroDivisionError, match="batches without rows"):
                    step(nd.zeros((0, FEATURES)), y[:0])
                with pytest.raises(ZeroDivisionError, match="batches without rows"):
                    trainer.step(0)
        assert trainer.optimizer.num_update == 3
        found.append(values(net))
    for name, weight in found[0].items():
        np.testing.assert_array_equal(found[1][name], weight)
