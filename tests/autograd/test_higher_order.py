"""Gradients of gradients, and functions with a gradient written by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rarefy import autograd, nd
from rarefy.autograd import GradientError

X = np.array([[1.0, -0.5], [0.25, 2.0], [0.0, 1.5]])
W = np.array([[0.5, -1.0, 0.25], [1.5, 0.75, -0.5]])


def variable(value, stype=None):
    array = nd.array(value, dtype="float64")
    array.attach_grad(stype=stype)
    return array


def test_orders_of_a_cube():
    # x ** 3: 3 x ** 2, 6 x, 6, then nothing.
    x = variable([2.0, -1.0])
    with autograd.record():
        y = x * x * x
        orders = []
        for _ in range(4):
            (y,) = autograd.grad(y, x, create_graph=True)
            orders.append(y.asnumpy())
    np.testing.assert_allclose(orders, [[12, 3], [12, -6], [6, 6], [0, 0]])


def net(x, w):
    hidden = nd.tanh(nd.dot(x, w))
    return nd.sum(nd.softmax(hidden) * hidden, axis=1)


def net_in_jax(x, w):
    hidden = jnp.tanh(x @ w)
    return jnp.sum(jax.nn.softmax(hidden) * hidden, axis=1)


def test_gradient_penalty_against_jax():
    def penalty(x, w):
        return (jax.grad(lambda x: net_in_jax(x, w).sum())(x) ** 2).sum()

    with jax.enable_x64(True):
        want = jax.grad(penalty, (0, 1))(jnp.array(X), jnp.array(W))
    x, w = variable(X), variable(W)
    with autograd.record():
        (slope,) = autograd.grad(net(x, w), x, create_graph=True)
        loss = (slope * slope).sum()
    loss.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), want[0], rtol=1e-12)
    np.testing.assert_allclose(w.grad.asnumpy(), want[1], rtol=1e-12)


@pytest.mark.parametrize("stype", ["default", "row_sparse"])
def test_through_the_gradient_of_a_sparse_product(stype):
    # loss = sum((x w) ** 2): slope = 2 x.T x w, its square's gradient 8 (x.T x) ** 2 w.
    dense = np.array([[1.0, 0, 2], [0, 0, 3]])
    weight = np.array([[1.0], [2.0], [-1.0]])
    x, w = nd.array(dense, dtype="float64").tostype("csr"), variable(weight, stype)
    with autograd.record():
        product = nd.dot(x, w)
        (slope,) = autograd.grad((product * product).sum(), w, create_graph=True)
        assert slope.stype == stype
        loss = (slope * slope).sum()
    gram = dense.T @ dense
    np.testing.assert_allclose(slope.asnumpy(), 2 * gram @ weight)
    loss.backward()
    np.testing.assert_allclose(w.grad.asnumpy(), 8 * gram @ gram @ weight)
    assert w.grad.stype == stype


def test_with_respect_to_csr_values():
    # loss = sum((x w) ** 3 / 3): slope = (x w) ** 2 w.T where x stores something.
    dense = np.array([[1.0, 0, 2], [0, 0, 3]])
    weight = np.array([[1.0], [2.0], [-1.0]])
    x = nd.array(dense, dtype="float64").tostype("csr")
    x.attach_grad()
    w = nd.array(weight, dtype="float64")
    with autograd.record():
        product = nd.dot(x, w)
        (slope,) = autograd.grad((product**3).sum() / 3, x, create_graph=True)
        loss = nd.sum(slope * slope)
    stored = dense != 0
    first = (dense @ weight) ** 2 * weight.T * stored
    np.testing.assert_allclose(slope.asnumpy(), first)
    loss.backward()
    inner = (2 * first * weight.T).sum(1, keepdims=True)  # d loss / d (x w) ** 2
    want = inner * 2 * (dense @ weight) * weight.T * stored
    np.testing.assert_allclose(x.grad.asnumpy(), want)


def test_the_cotangent_given_is_on_the_tape_too():
    # grad of x * x with cotangent v is 2 x v: linear in v.
    x, v = variable([3.0, 4.0]), variable([1.0, -1.0])
    with autograd.record():
        (slope,) = autograd.grad(x * x, x, head_grads=v * 1, create_graph=True)
        total = slope.sum()
    total.backward()
    np.testing.assert_allclose(v.grad.asnumpy(), [6, 8])
    np.testing.assert_allclose(x.grad.asnumpy(), [2, -2])


def test_a_constant_gradient_has_no_slope():
    x, y = variable([3.0]), variable([2.0])
    with autograd.record():
        (slope,) = autograd.grad(x * 2 + nd.floor(y), x, create_graph=True)
        z = slope * x + y
    assert slope.asscalar() == 2
    z.backward()
    assert x.grad.asscalar() == 2


def test_what_has_no_second_gradient_says_so():
    x = variable(np.eye(3)).tostype("csr")
    x.attach_grad()
    with autograd.record():
        y = nd.dot(x, x)
        with pytest.raises(GradientError, match=r"dot\(csr, csr\)"):
            autograd.grad(y, x, create_graph=True)


class Sigmoid(autograd.Function):
    def forward(self, x):
        y = 1 / (1 + nd.exp(-x))
        self.save_for_backward(y)
        return y

    def backward(self, dy):
        (y,) = self.saved_tensors
        return dy * y * (1 - y)


class Swap(autograd.Function):
    """(x, y) -> (3 y, x); its gradient is wrong on purpose, so that it is seen to be used."""

    def forward(self, x, y):
        return y * 3, x

    def backward(self, first, second):
        return second * 10, first * 100


def test_function():
    x = variable([0.0, 1.0])
    with autograd.record():
        y = Sigmoid()(x) * 2
        assert autograd.is_recording()
    y.backward(nd.array([1.0, 3.0], dtype="float64"))
    s = 1 / (1 + np.exp(-np.array([0.0, 1.0])))
    np.testing.assert_allclose(y.asnumpy(), 2 * s)
    np.testing.assert_allclose(x.grad.asnumpy(), np.array([2, 6]) * s * (1 - s))


def test_function_of_several_arrays():
    x, y = variable([1.0]), variable([2.0])
    with autograd.record():
        first, second = Swap()(x, y)
        total = first * 1 + second * 5
    assert (first.asscalar(), second.asscalar()) == (6, 1)
    total.backward()
    assert (x.grad.asscalar(), y.grad.asscalar()) == (50, 100)
    with autograd.record():
        first, _ = Swap()(x, y)
    first.backward()  # the other result has no part in it: its cotangent is zero
    assert (x.grad.asscalar(), y.grad.asscalar()) == (0, 100)


def test_function_takes_and_gives_sparse_arrays():
    class Twice(autograd.Function):
        def forward(self, x):
            assert x.stype == "csr"
            return x * 2

        def backward(self, dy):
            assert dy.stype == "csr"
            return dy * 2

    x = nd.array(np.eye(3), dtype="float64").tostype("csr")
    x.attach_grad()
    with autograd.record():
        y = nd.sum(Twice()(x) * 3)
    y.backward()
    assert x.grad.stype == "csr"
    np.testing.assert_allclose(x.grad.asnumpy(), 6 * np.eye(3))


def test_gradient_of_the_gradient_of_a_function():
    # Its backward is made of operators: s (1 - s) (1 - 2 s).
    x = variable([0.5])
    with autograd.record():
        (slope,) = autograd.grad(Sigmoid()(x), x, create_graph=True)
    slope.backward()
    s = 1 / (1 + np.exp(-0.5))
    np.testing.assert_allclose(slope.asnumpy(), [s * (1 - s)])
    np.testing.assert_allclose(x.grad.asnumpy(), [s * (1 - s) * (1 - 2 * s)])


def test_function_outside_of_record_and_twice():
    x = variable([0.0])
    sigmoid = Sigmoid()
    assert sigmoid(x).asscalar() == 0.5
    with pytest.raises(AssertionError, match="called once"):
        sigmoid(x)


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        (lambda dy: (dy, dy), "2 cotangents for 1"),
        (lambda dy: 3, "must be an array"),
        (lambda dy: dy.sum(), r"shape \(1,\)"),
    ],
)
def test_function_with_a_bad_backward_says_what_is_wrong(returned, text):
    class Bad(autograd.Function):
        def forward(self, x):
            return x * 1

        def backward(self, dy):
            return returned(dy)

    x = variable([1.0, 2.0])
    with autograd.record():
        y = Bad()(x)
    with pytest.raises(GradientError, match=text):
        y.backward()


def test_function_record_is_released():
    x = variable([1.0])
    with autograd.record():
        y = Sigmoid()(x)
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(GradientError, match="released"):
        y.backward()
