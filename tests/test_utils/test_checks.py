"""Checks of values and gradients: they pass what is right and name what is wrong."""

import numpy as np
import pytest

from rarefy import autograd, nd
from rarefy import test_utils as tu

X, W = np.float32([[1, 0, 2], [0, 3, 0]]), np.float32([[1], [2], [3]])


def product(x, w):
    return nd.dot(x, w)


def test_forward():
    (out,) = tu.check_symbolic_forward(product, [X, W], [X @ W])
    np.testing.assert_array_equal(out.asnumpy(), X @ W)
    tu.check_symbolic_forward(product, {"w": W, "x": nd.array(X).tostype("csr")}, [X @ W])
    with pytest.raises(AssertionError, match="FORWARD_output0"):
        tu.check_symbolic_forward(product, [X, W], [X @ W + 1])
    with pytest.raises(ValueError, match=r"\['x', 'z'\]"):
        tu.check_symbolic_forward(product, {"x": X, "z": W}, [X @ W])
    np.testing.assert_array_equal(tu.simple_forward(product, x=X, w=W), X @ W)


def test_backward():
    heads = np.float32([[1], [2]])
    right = {"x": heads @ W.T, "w": X.T @ heads}
    grads = tu.check_symbolic_backward(product, [X, W], [heads], right)
    np.testing.assert_array_equal(grads["w"].asnumpy(), X.T @ heads)
    tu.check_symbolic_backward(product, [X, W], [heads], right, grad_req="add")
    tu.check_symbolic_backward(product, [X, W], [heads], [right["x"], right["w"]])
    tu.check_symbolic_backward(
        product, [X, W], [heads], {**right, "x": X * 9}, grad_req={"x": "null", "w": "write"}
    )
    with pytest.raises(AssertionError, match="BACKWARD_w"):
        tu.check_symbolic_backward(product, [X, W], [heads], {"w": X.T @ heads + 1})


def test_backward_checks_the_storage_type():
    csr, heads = nd.array(X).tostype("csr"), np.float32([[1], [2]])
    stypes = {"w": "row_sparse"}
    tu.check_symbolic_backward(product, [csr, W], [heads], {"w": X.T @ heads}, grad_stypes=stypes)


def test_numeric_gradient():
    tu.check_numeric_gradient(product, [X, W])
    tu.check_numeric_gradient(product, [X, W], dtype=np.float64, rtol=1e-6, atol=1e-6)
    tu.check_numeric_gradient(
        product,
        [nd.array(X).tostype("csr"), W],
        grad_nodes=["w"],
        grad_stype_dict={"w": "row_sparse"},
    )

    def wrong(x):
        return nd.BlockGrad(x) * x  # half the slope of x * x

    with pytest.raises(AssertionError, match="NUMERICAL_x"):
        tu.check_numeric_gradient(wrong, [X])


def test_numeric_gradient_leaves_its_inputs_as_they_were():
    x = nd.array(X)
    tu.check_numeric_gradient(lambda x: x * x, [x])
    np.testing.assert_array_equal(x.asnumpy(), X)
    assert not autograd.is_recording()
