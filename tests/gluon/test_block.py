"""Blocks, parameters and trainers where MXNet gives no answer, or another one."""

import numpy as np
import pytest

import rarefy as mx
from rarefy import autograd, gluon, nd
from rarefy.gluon import nn

X = np.arange(12.0).reshape(3, 4) / 10


class Own(gluon.HybridBlock):
    """A block whose `hybrid_forward` uses parameters of unknown shapes in several ways."""

    def __init__(self):
        super().__init__()
        self.calls = 0
        with self.name_scope():
            for name, shape in {"w": (0, 2), "v": (3, 0), "u": (0, 0), "b": (0,)}.items():
                setattr(self, name, self.params.get(name, shape=shape, allow_deferred_init=True))

    def hybrid_forward(self, F, x, w, v, u, b):
        self.calls += 1
        hidden = F.FullyConnected(F.dot(x, w), v, b, num_hidden=3)
        return F.dot(F.sin(hidden), F.Embedding(F.arange(3), u, input_dim=5, output_dim=2))


class Nested(gluon.HybridBlock):
    """Takes and gives nested lists; overrides `forward`."""

    def __init__(self):
        super().__init__()
        self.traced = 0
        with self.name_scope():
            self.scale = self.params.get("scale", shape=(1,), init="ones")

    def forward(self, pair, mask):
        self.traced += 1
        a, (b,) = pair
        total = (a + b) * self.scale.data()
        return [total, (total * mask if mask is not None else total.sum(),)]


def test_shapes_follow_from_what_operators_do_with_parameters():
    for hybridize in (False, True):
        net = Own()
        net.initialize()
        if hybridize:
            net.hybridize()
        net(nd.array(X))
        shapes = {name: param.shape for name, param in net._reg_params.items()}
        assert shapes == {"w": (4, 2), "v": (3, 2), "u": (5, 2), "b": (3,)}
        # Once on shapes, then on numbers or in a trace.
        assert net.calls == 2

    class Unclear(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.w = self.params.get("w", shape=(2, 0), allow_deferred_init=True)

        def hybrid_forward(self, F, x, w):
            return F.sin(w) * x

    net = Unclear()
    net.initialize()
    with pytest.raises(ValueError, match=r"\(2, -1\) of parameter 'unclear0_w'.*give all"):
        net(nd.array(X))
    net.w.shape = (2, 1)
    assert net(nd.array([[1.0]])).shape == (2, 1)


def test_a_hybridized_block_is_traced_only_where_it_must_be():
    net = Nested()
    net.initialize()
    a, b, mask = nd.array(X), nd.ones((3, 4)), nd.zeros((3, 4))
    expected = [[o.asnumpy() for o in (t, s)] for t, (s,) in (net([a, (b,)], None),)]
    net.hybridize(static_alloc=True, static_shape=True)
    net.traced = 0
    for _ in range(2):
        total, (rest,) = net([a, (b,)], None)
        np.testing.assert_allclose(total.asnumpy(), expected[0][0])
        np.testing.assert_allclose(rest.asnumpy(), expected[0][1])
    assert net.traced == 1
    assert (net([a, (b,)], mask)[1][0].asnumpy() == 0).all()
    assert net.traced == 2
    net.scale.set_data(nd.array([3.0]))
    net.scale.data()[:] += 1
    np.testing.assert_allclose(net([a, (b,)], None)[0].asnumpy(), expected[0][0] * 4, rtol=1e-6)
    net.initialize(mx.init.One(), force_reinit=True)
    np.testing.assert_allclose(net([a, (b,)], None)[0].asnumpy(), expected[0][0], rtol=1e-6)
    assert net.traced == 2
    with autograd.record():
        total, _ = net([a, (b,)], None)
    total.backward()
    np.testing.assert_allclose(net.scale.grad().asnumpy(), (X + 1).sum(), rtol=1e-6)
    assert net.traced == 3
    with pytest.raises(ValueError, match="nested"):
        net([a, (b,)], 2.0)
    net.hybridize(False)
    net([a, (b,)], 2.0)
    assert net.traced == 4


def test_what_is_inside_runs_in_the_program_of_the_outermost_and_changes_are_seen():
    inner, net = nn.HybridSequential(), nn.HybridSequential()
    inner.add(nn.Dense(2, in_units=4))
    net.add(inner, nn.Dense(1, in_units=2))
    net.initialize()
    net.hybridize()
    x = nd.array(X)
    before = net(x)
    assert (net.compilations, inner.compilations) == (1, 0)
    inner.add(nn.HybridLambda(lambda F, x: F.zeros_like(x)))
    assert (net(x).asnumpy() == net[1].bias.data().asnumpy()).all()
    assert (before.asnumpy() != 0).any()
    net.cast("float64")
    assert net(x.astype("float64")).dtype == np.float64


def test_hooks_are_called_and_taken_off():
    net = nn.Dense(2, in_units=4)
    net.initialize()
    seen = []
    with net.register_forward_pre_hook(lambda block, args: seen.append(("before", len(args)))):
        handle = net.register_forward_hook(lambda block, args, out: seen.append(out.shape))
        net(nd.array(X))
    net(nd.array(X))
    handle.detach()
    handle.detach()
    net(nd.array(X))
    assert seen == [("before", 1), (3, 2), (3, 2)]
    with net.register_forward_hook(lambda *_: None), pytest.warns(UserWarning, match="hook"):
        net.hybridize()


def test_blocks_in_plain_lists_are_warned_about():
    class Careless(gluon.Block):
        def __init__(self):
            super().__init__()
            self.layers = {"all": [nn.Dense(2)]}

    with pytest.warns(UserWarning, match="Careless.layers"):
        Careless().collect_params()


def test_shared_parameters_are_written_once_if_asked_and_read_either_way(tmp_path):
    def tied():
        net = nn.HybridSequential()
        first = nn.Dense(4, in_units=4)
        net.add(first, nn.Dense(4, in_units=4, params=first.params))
        net.initialize()
        return net

    net = tied()
    for deduplicate, names in ((False, 4), (True, 2)):
        path = str(tmp_path / "net")
        net.save_parameters(path, deduplicate=deduplicate)
        assert len(nd.load(path)) == names
        other = tied()
        other.load_parameters(path)
        np.testing.assert_array_equal(other(nd.array(X)).asnumpy(), net(nd.array(X)).asnumpy())
    one, two = (nn.Dense(4, in_units=4) for _ in range(2))
    one.initialize()
    with pytest.warns(UserWarning, match="deprecated"):
        one.save_params(path)
    with pytest.warns(UserWarning, match="deprecated"):
        two.load_params(path)
    np.testing.assert_array_equal(two.weight.data().asnumpy(), one.weight.data().asnumpy())


def test_rows_of_a_sparse_parameter_with_and_without_a_trainer():
    table = gluon.Parameter("t", shape=(6, 2), stype="row_sparse", grad_stype="row_sparse")
    table.initialize("ones")
    ids = nd.array([[4, 1], [1, 4]])
    for _ in range(2):
        rows = table.row_sparse_data(ids)
        assert (rows.stype, rows.indices.asnumpy().tolist()) == ("row_sparse", [1, 4])
        with autograd.record():
            rows = table.row_sparse_data(ids)
            out = nd.Embedding(ids, rows, input_dim=6, output_dim=2, sparse_grad=True)
        out.backward()
        assert table.grad().indices.asnumpy().tolist() == [1, 4]
        np.testing.assert_array_equal(table.grad().data.asnumpy(), np.full((2, 2), 2.0))
        trainer = gluon.Trainer([table], "sgd", {"learning_rate": 0.25})
        trainer.step(2)
        # Here a stale row_sparse gradient is refused, as a dense one is.
        with pytest.raises(UserWarning, match="`t`"):
            trainer.step(2)
        table._trainer = None
    np.testing.assert_array_equal(table._of().asnumpy()[:, 0], [1, 0.5, 1, 1, 0.5, 1])
    with pytest.raises(mx.MXNetError, match=r"row_id has 6.*0 to 5"):
        table.row_sparse_data(nd.array([6]))
    with pytest.raises(TypeError, match="row_id"):
        table.row_sparse_data([1])
    table.zero_grad()
    assert table.grad().indices.shape == (0,)


@pytest.mark.parametrize("update_on_kvstore", [None, False])
def test_several_devices_do_what_one_does(update_on_kvstore, tmp_path):
    ctxs = [mx.cpu(0), mx.cpu(1)]

    def make(ctx):
        net = nn.HybridSequential()
        net.add(nn.Dense(3, in_units=4, activation="tanh"), nn.Dense(1, in_units=3))
        net.initialize(ctx=ctx)
        params = net.collect_params()
        for i, param in enumerate(params.values()):
            param.set_data(nd.array(np.random.default_rng(i).normal(size=param.shape)))
        settings = {"learning_rate": 0.1, "momentum": 0.9}
        return net, gluon.Trainer(params, "sgd", settings, update_on_kvstore=update_on_kvstore)

    (net, trainer), (one, other) = make(ctxs), make(mx.cpu())
    x, y, loss = nd.array(X[:2]), nd.ones((2, 1)), gluon.loss.L2Loss()
    net.hybridize(update_on_kvstore is None)
    for step in range(3):
        parts = zip(*(gluon.utils.split_and_load(a, ctxs) for a in (x, y)), strict=True)
        with autograd.record():
            losses = [loss(net(a), b) for a, b in parts]
            single = loss(one(x), y)
        autograd.backward(losses)
        trainer.step(2)
        single.backward()
        other.step(2)
        if step == 1:
            trainer.save_states(str(tmp_path / "s"))
            trainer.load_states(str(tmp_path / "s"))
    for param, wanted in zip(
        net.collect_params().values(), one.collect_params().values(), strict=True
    ):
        assert [c.context for c in param.list_data()] == ctxs
        for copy in param.list_data():
            np.testing.assert_allclose(copy.asnumpy(), wanted.data().asnumpy(), rtol=1e-5)
    if update_on_kvstore is None:
        with pytest.raises(AssertionError, match="kvstore"):
            trainer.update(2)
    mixed = Nested()
    mixed.initialize(ctx=ctxs)
    mixed.hybridize()
    with pytest.raises(ValueError, match="contexts"):
        mixed([x, (x.as_in_context(mx.cpu(1)),)], None)


def test_gradients_can_be_changed_between_backward_and_update():
    net = nn.Dense(1, in_units=4, use_bias=False)
    net.initialize("zeros")
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1.0})
    with autograd.record():
        loss = net(nd.array(X))
    loss.backward()
    trainer.allreduce_grads()
    net.weight.grad()[:] *= 2
    trainer.update(1)
    np.testing.assert_allclose(net.weight.data().asnumpy()[0], -2 * X.sum(0), rtol=1e-6)
