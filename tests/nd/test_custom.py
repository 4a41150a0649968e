"""Operators written in Python."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import rarefy as mx
from rarefy import autograd, nd
from rarefy.nd._handle import Handle


class Scaled(mx.operator.CustomOp):
    """s * x^2, with a count of the calls."""

    def __init__(self, s):
        self.s = s

    def forward(self, is_train, req, in_data, out_data, aux):
        self.training = is_train
        self.assign(out_data[0], req[0], in_data[0] * in_data[0] * self.s)
        aux[0][:] = aux[0] + 1

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        assert self.training and out_data == [None]
        self.assign(in_grad[0], req[0], 2 * self.s * in_data[0] * out_grad[0])


@mx.operator.register("scaled")
class ScaledProp(mx.operator.CustomOpProp):
    def __init__(self, s="1"):
        super().__init__(need_top_grad=True)
        self.s = float(s)

    def list_auxiliary_states(self):
        return ["count"]

    def infer_shape(self, in_shape):
        return in_shape, in_shape, [(1,)]

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        return [*out_grad, *in_data]

    def create_operator(self, ctx, in_shapes, in_dtypes):
        assert (in_shapes, in_dtypes) == ([(3,)], [np.float32])
        return Scaled(self.s)


class Squared(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], nd.sparse.square(in_data[0]))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], nd.sparse.elemwise_mul(2 * in_data[0], out_grad[0]))


@mx.operator.register("squared")
class SquaredProp(mx.operator.CustomOpProp):
    """x^2 of csr, with a csr gradient."""

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Squared()

    def infer_storage_type(self, in_stype):
        return ["csr"], ["csr"], []

    def infer_storage_type_backward(self, ograd_stype, in_stype, out_stype, igrad_stype, aux_stype):
        return ["csr"], ["csr"], ["csr"], ["csr"], []


class HostSoftmax(mx.operator.CustomOp):
    """A loss computed with NumPy, after the example of MXNet's documentation."""

    def forward(self, is_train, req, in_data, out_data, aux):
        x = in_data[0].asnumpy()
        y = np.exp(x - x.max(axis=1, keepdims=True))
        self.assign(out_data[0], req[0], nd.array(y / y.sum(axis=1, keepdims=True)))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        y = out_data[0].asnumpy().copy()
        y[np.arange(len(y)), in_data[1].asnumpy().astype(int)] -= 1
        self.assign(in_grad[0], req[0], nd.array(y))


@mx.operator.register("host_softmax")
class HostSoftmaxProp(mx.operator.CustomOpProp):
    def __init__(self):
        super().__init__(need_top_grad=False)

    def list_arguments(self):
        return ["data", "label"]

    def infer_shape(self, in_shape):
        return [in_shape[0], in_shape[0][:1]], [in_shape[0]]

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return HostSoftmax()


def test_forward_backward_and_state():
    x, count = nd.array([1, 2, 3]), nd.zeros(1)
    x.attach_grad()
    with autograd.record():
        y = (nd.Custom(x, count, op_type="scaled", s=3) * 2).sum()
    y.backward()
    assert (y.asscalar(), x.grad.asnumpy().tolist()) == (84, [12, 24, 36])
    assert count.asnumpy().tolist() == [1]


def test_csr_stays_csr_both_ways():
    x = nd.array([[1, 0, 3], [0, 2, 0]]).tostype("csr")
    x.attach_grad()
    with autograd.record():
        y = nd.Custom(x, op_type="squared")
    y.backward()
    assert (y.stype, x.grad.stype) == ("csr", "csr")
    assert y.asnumpy().tolist() == [[1, 0, 9], [0, 4, 0]]
    assert x.grad.asnumpy().tolist() == [[2, 0, 6], [0, 4, 0]]


def test_a_loss_in_numpy_needs_no_cotangent():
    data, label = nd.array([[1, 2, 3], [1, 0, -1]]), nd.array([2, 0])
    data.attach_grad()
    with autograd.record():
        y = nd.Custom(data, label, op_type="host_softmax")
    y.backward()
    found = data.grad.asnumpy()
    with autograd.record():
        y = nd.SoftmaxOutput(data, label)
    y.backward()
    np.testing.assert_allclose(found, data.grad.asnumpy(), atol=1e-6)


def test_in_a_compiled_step():
    def run(op_type, *arrays):
        handles = [Handle._wrap(a) for a in arrays]
        handles[0].attach_grad()
        with autograd.record():
            y = nd.Custom(*handles, op_type=op_type)
        y.backward()
        return y._value, handles[0].grad._value

    x = jnp.arange(3.0)
    y, g = jax.jit(lambda x, count: run("scaled", x, count))(x, jnp.zeros(1))
    assert (y.tolist(), g.tolist()) == ([0, 1, 4], [0, 2, 4])
    with pytest.raises(mx.MXNetError, match="not known while a function is being compiled"):
        jax.jit(lambda x, ids: run("host_softmax", x, ids))(jnp.ones((2, 3)), jnp.zeros(2))


def test_what_is_refused():
    x = nd.ones((2, 3))
    with pytest.raises(mx.MXNetError, match="op_type 'none' is not registered"):
        nd.Custom(x, op_type="none")
    with pytest.raises(mx.MXNetError, match=r"takes the arrays \['data', 'label'\]; got 1"):
        nd.Custom(x, op_type="host_softmax")
    with pytest.raises(mx.MXNetError, match="must have the shapes"):
        nd.Custom(x, nd.ones(3), op_type="host_softmax")
    with pytest.raises(mx.MXNetError, match="must define infer_storage_type"):
        nd.Custom(x.tostype("csr"), nd.ones(2), op_type="host_softmax")
    with pytest.raises(TypeError, match="subclass of CustomOpProp"):
        mx.operator.register("wrong")(Scaled)
