"""A function compiled as one program against the same function run operator by operator."""

import gc
import threading
import weakref

import jax
import numpy as np
import pytest

import rarefy as mx
from rarefy import _later, autograd, nd, optimizer
from rarefy.nd._cached_op import CachedOp

RNG = np.random.default_rng(3)


def variable(shape, stype=None):
    array = nd.array(RNG.normal(size=shape))
    array.attach_grad(stype=stype)
    return array


def rows(shape=(4, 6), density=0.4):
    dense = RNG.normal(size=shape) * (RNG.random(shape) < density)
    return nd.array(dense).tostype("csr")


def gradients(call, args, variables):
    for v in variables:
        v.grad[:] = 0
    with autograd.record():
        out = call(*args)
        total = sum((o * o).sum() for o in (out if isinstance(out, tuple) else (out,)))
    total.backward()
    outs = [o.asnumpy() for o in (out if isinstance(out, tuple) else (out,))]
    return outs, [(v.grad.stype, v.grad.asnumpy()) for v in variables]


class Net:
    """The functions that are compared, with the arrays they close over."""

    def __init__(self):
        self.w, self.v = variable((6, 3), "row_sparse"), variable((3, 3))
        self.b, self.table = variable((3,)), variable((5, 3), "row_sparse")
        self.mean, self.var = nd.zeros((3,)), nd.ones((3,))
        self.held = (self.w, self.v, self.b, self.table, self.mean, self.var)
        self.variables = self.held[:4]

    def layers(self, x):
        return nd.tanh(nd.dot(nd.relu(nd.dot(x, self.w) + self.b), self.v))

    def shared(self, x):
        y = nd.dot(x, self.w)
        return y + self.b, nd.dot(y, self.v) * self.b, x

    def embedded(self, ids):
        rows = nd.Embedding(ids, self.table, input_dim=5, output_dim=3, sparse_grad=True)
        return rows.sum(axis=1) + self.b

    def normalized(self, x):
        y = nd.dot(x, self.v)
        return nd.BatchNorm(y, self.b, self.b, self.mean, self.var, fix_gamma=False)

    def dropped(self, x):
        return nd.Dropout(nd.dot(x, self.v), p=0.5) + nd.Dropout(x, p=0.3)

    def written(self, x):
        class Square(autograd.Function):
            def forward(self, x):
                self.save_for_backward(x)
                return x * x

            def backward(self, dy):
                return 2 * dy * self.saved_tensors[0]

        return Square()(nd.dot(x, self.v)) + self.b


@pytest.mark.parametrize(
    ("name", "arg"),
    [
        ("layers", rows()),
        ("shared", rows()),
        ("embedded", nd.array([[0, 4], [4, 2]])),
        ("normalized", nd.array(RNG.normal(size=(4, 3)))),
        ("dropped", nd.array(RNG.normal(size=(4, 3)))),
        ("written", nd.array(RNG.normal(size=(4, 3)))),
    ],
)
def test_compiled_function_gives_values_gradients_state_of_the_eager_one(name, arg):
    net = Net()
    fn = getattr(net, name)
    op = CachedOp(fn)
    for turn in range(2):
        before = net.mean.copy(), net.var.copy()
        mx.random.seed(turn)
        expected = gradients(fn, [arg], net.variables)
        state = net.mean.asnumpy(), net.var.asnumpy()
        net.mean[:], net.var[:] = before
        mx.random.seed(turn)
        found = gradients(lambda x: op([x], net.held), [arg], net.variables)
        for a, b in zip(found[0], expected[0], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
        for (kind, a), (same, b) in zip(found[1], expected[1], strict=True):
            assert kind == same
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(net.mean.asnumpy(), state[0], rtol=1e-5)
        np.testing.assert_allclose(net.var.asnumpy(), state[1], rtol=1e-5)
        assert op.compilations == 2  # forward and backward
    assert (name == "normalized") == bool(np.any(net.mean.asnumpy()))
    np.testing.assert_allclose(
        (op([arg], net.held)[0] if name == "shared" else op([arg], net.held)).shape[0],
        arg.shape[0],
    )
    assert op.compilations == 3  # without recording


def test_gradients_reach_what_comes_before_and_after():
    net, x = Net(), variable((2, 3))
    op = CachedOp(lambda x: nd.dot(x, net.v))
    with autograd.record():
        y = (op([x * x], (net.v,)) * 3).sum()
    y.backward()
    np.testing.assert_allclose(
        x.grad.asnumpy(), 6 * x.asnumpy() * net.v.asnumpy().sum(axis=1), rtol=1e-5
    )


def test_gradient_of_a_csr_argument_is_dense_or_stays_in_its_places():
    net = Net()
    op = CachedOp(lambda x: nd.dot(x * 2, net.v))
    for stype in ("default", "csr"):
        x = rows((4, 3))
        x.attach_grad(stype=stype)
        with autograd.record():
            op([x], (net.v,)).sum().backward()
        expected = np.tile(2 * net.v.asnumpy().sum(axis=1), (4, 1))
        if stype == "csr":
            expected = expected * (x.asnumpy() != 0)
        assert x.grad.stype == stype
        np.testing.assert_allclose(x.grad.asnumpy(), expected, rtol=1e-5)


def test_forward_returns_only_what_the_pullback_reads():
    net = Net()
    op = CachedOp(lambda x: nd.sigmoid(nd.dot(x, net.w) + net.b) + 1)
    with autograd.record():
        y = op([rows()], net.held)
    kept = y._slot.node.found.saved
    assert [x.shape for x in kept] == [(4, 3)]  # the sigmoid's result, neither table nor sums
    kept = weakref.ref(kept[0])
    y.backward()
    gc.collect()
    assert kept() is None


def test_result_that_is_an_argument_is_not_copied():
    net = Net()
    op = CachedOp(lambda: net.w)
    assert op([], (net.w,))._value is net.w._value


def test_gradient_of_gradient():
    t = nd.array([1.0, 2.0, 3.0])
    t.attach_grad()
    op = CachedOp(lambda t: t**3)
    with autograd.record():
        g = autograd.grad(op([t]), [t], create_graph=True)[0]
        z = (g * g).sum()
    z.backward()
    np.testing.assert_allclose(t.grad.asnumpy(), [36, 288, 972])


def test_going_back_twice():
    net, x = Net(), rows()
    op = CachedOp(net.layers)
    with autograd.record():
        y = op([x], net.held)
    y.backward(retain_graph=True)
    once = net.w.grad.asnumpy()
    y.backward()
    np.testing.assert_array_equal(net.w.grad.asnumpy(), once)
    with pytest.raises(autograd.GradientError, match="retain_graph=True"):
        y.backward()


def test_ids_out_of_range_are_refused_though_the_program_cannot_see_them():
    net = Net()
    op = CachedOp(net.embedded)
    for _ in range(2):
        with pytest.raises(mx.MXNetError, match="outside the 5 rows"):
            op([nd.array([[0, 9]])], net.held)
    assert op([nd.array([[0, 1]])], net.held).shape == (1, 3)


def test_changing_an_argument_or_a_stranger_in_place_is_refused():
    stranger = nd.zeros((2,))

    def own(x):
        x += 1
        return x

    def other(x):
        stranger[:] = x
        return x

    with pytest.raises(mx.MXNetError, match="argument 0 is changed in place"):
        CachedOp(own)([nd.ones((2,))])
    with pytest.raises(RuntimeError, match="outside a compiled function"):
        CachedOp(other)([nd.ones((2,))])
    np.testing.assert_array_equal(stranger.asnumpy(), 0)
    held = CachedOp(other)
    held([nd.ones((2,))], (stranger,))
    np.testing.assert_array_equal(stranger.asnumpy(), 1)


def test_inside_another_trace_it_runs_as_it_is():
    net = Net()
    op = CachedOp(lambda x: nd.dot(x, net.v))
    outer = CachedOp(lambda x: op([x], (net.v,)) + 1)
    x = nd.ones((2, 3))
    np.testing.assert_allclose(
        outer([x], (net.v,)).asnumpy(), 1 + np.ones((2, 3)) @ net.v.asnumpy(), rtol=1e-5
    )
    assert (op.compilations, outer.compilations) == (0, 1)
    assert not isinstance(net.v._value, jax.core.Tracer)


def test_what_comes_again_and_again_is_put_off_until_it_is_read(monkeypatch):
    """A loop that trains becomes one program; whoever reads in between gets what there would be."""
    runs, do = [], _later._do
    monkeypatch.setattr(_later, "_do", lambda *args: (runs.append(args), do(*args)))
    x, y = nd.array([[1.0, 2.0], [3.0, 5.0]]), nd.array([[1.0], [0.0]])

    def train(read, steps=12):
        weight, bias = nd.array([[0.5, -0.25]]), nd.array([0.1])
        for array in (weight, bias):
            array.attach_grad()
        net = CachedOp(lambda x: nd.FullyConnected(x, weight, bias, num_hidden=1))
        loss = CachedOp(lambda p, y: nd.square(p - y))
        updater = optimizer.get_updater(optimizer.create("sgd", learning_rate=0.01))
        held = [weight, bias]
        for _ in range(steps):
            runs.clear()
            with autograd.record():
                out = net([x], held)
                value = loss([out, y])
            if read == "results":
                out.wait_to_read()
            value.backward(retain_graph=read == "again")
            if read == "again":
                value.backward()
            if read == "gradients":
                weight.grad.wait_to_read()
            if read == "other":
                with autograd.record():
                    left = net([x], held)  # has the weights of now, whenever it is read
                    before = x.asnumpy() @ weight.asnumpy().T + bias.asnumpy()
            updater([0, 1], [weight.grad, bias.grad], held)
            if read == "other":
                np.testing.assert_allclose(left.asnumpy(), before, 1e-5)
        if read == "nothing":
            assert len(runs) == 1, runs  # the loop is one program
        return [a.asnumpy() for a in (weight, bias, value, weight.grad)]

    weight, bias, value = np.array([[0.5, -0.25]]), np.array([0.1]), None
    for _ in range(12):
        error = x.asnumpy() @ weight.T + bias - y.asnumpy()
        value, grad = error**2, 2 * error.T @ x.asnumpy()
        weight, bias = weight - 0.01 * grad, bias - 0.01 * 2 * error.sum()
    for read in ("nothing", "results", "gradients", "again", "other"):
        for mine, wanted in zip(train(read), (weight, bias, value, grad), strict=True):
            np.testing.assert_allclose(mine, wanted, 1e-4, 1e-6, err_msg=read)


def test_going_back_through_weights_that_were_updated_since_is_where_they_were():
    weight = variable((1, 2))
    before = weight.asnumpy()
    net = CachedOp(lambda x: nd.dot(x, nd.square(weight).T))
    updater = optimizer.get_updater(optimizer.create("sgd"))
    other = variable((3,))
    for _ in range(10):  # the last ones are put off
        weight[:] = before
        with autograd.record():
            out = net([nd.ones((4, 2))], [weight])
        out.backward(retain_graph=True)
        updater([0, 1], [weight.grad, nd.ones(3)], [weight, other])
        out.backward()
        np.testing.assert_allclose(weight.grad.asnumpy(), 2 * before * 4, 1e-6)
        np.testing.assert_allclose(weight.asnumpy(), before - 0.01 * 2 * before * 4, 1e-6)


@pytest.mark.parametrize("calls", [2, 12])
def test_function_and_its_arrays_go_with_their_last_user(calls):
    def train():
        net, x = Net(), rows()
        op = CachedOp(net.layers)
        for _ in range(calls):
            with autograd.record():
                y = op([x], net.held)
            y.backward()
        return weakref.ref(op), weakref.ref(net.w)

    kept = train()
    gc.collect()
    assert [each() for each in kept] == [None, None]


def test_a_program_that_fails_leaves_what_was_put_off_to_be_tried_again(monkeypatch):
    w, x = variable((2,)), nd.array([1.0, 2.0])
    op, later = CachedOp(lambda x: nd.square(x) * w), CachedOp(lambda y: y + 1)
    for _ in range(12):  # the last ones are put off
        with autograd.record():
            y = op([x], [w])
            z = later([y])

    def failing(self, live):
        raise MemoryError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(_later._Wiring, "program", failing)
        with pytest.raises(MemoryError, match="no room"):
            z.wait_to_read()
    wanted = np.array([1.0, 4.0]) * w.asnumpy()
    np.testing.assert_allclose(z.asnumpy(), wanted + 1, 1e-6)
    np.testing.assert_allclose(y.asnumpy(), wanted, 1e-6)
    z.backward()
    np.testing.assert_allclose(w.grad.asnumpy(), [1, 4])


def test_threads_may_call_one_function_while_it_is_compiled_for_another_shape():
    """What a trace puts into the weights is seen by nobody else."""
    weight, found = variable((4, 3)), []
    call, held = CachedOp(lambda x: nd.dot(x, weight)), [weight]
    x = RNG.normal(size=(40, 4)).astype("float32")
    expected = x @ weight.asnumpy()

    def work(first):
        for n in range(first, 40, 4):
            try:
                out = call([nd.array(x[:n])], held).asnumpy()
                found.append(np.abs(out - expected[:n]).max() < 1e-5)
            except Exception as error:
                found.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 39
