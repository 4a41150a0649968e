"""Checks of symbols: right ones pass, wrong ones are told."""

import numpy as np
import pytest

import rarefy as mx
from rarefy import test_utils as checks

A, B = mx.sym.Variable("a"), mx.sym.Variable("b")
SETTINGS = [
    {"ctx": mx.cpu(), "a": (2, 3), "b": (2, 3), "type_dict": {"a": kind, "b": kind}}
    for kind in ("float32", "float64", "float16")
]


def test_forward_backward_and_numeric_gradients():
    x, y = np.float32([[1, 2], [3, 4]]), np.float32([[5, 6], [7, 8]])
    checks.check_symbolic_forward(A * B + 1, [x, y], [x * y + 1])
    checks.check_symbolic_backward(
        A * B, {"a": x, "b": y}, [y], {"a": y * y, "b": x * y}, grad_req="add"
    )
    with pytest.raises(AssertionError):
        checks.check_symbolic_backward(A * B, [x, y], [y], [y * y, x])
    checks.check_numeric_gradient(mx.sym.sin(A) * B, [x, y], rtol=1e-2, atol=1e-2)
    right = mx.nd.array(x).tostype("csr")
    weight = mx.nd.array(y).tostype("row_sparse")
    product = mx.sym.dot(
        mx.sym.Variable("a", stype="csr"), mx.sym.Variable("b", stype="row_sparse")
    )
    checks.check_numeric_gradient(
        product, [right, weight], grad_nodes=["b"], grad_stype_dict={"b": "row_sparse"},
        rtol=1e-2, atol=1e-2,
    )  # fmt: skip


def test_consistency_over_dtypes():
    np.random.seed(0)
    found = checks.check_consistency(mx.sym.tanh(A) * B, SETTINGS, rtol=1e-2, atol=1e-2)
    assert found["a"].dtype == np.float64
    truth = {"wrong_output": np.zeros((2, 3)), "a": None, "b": None}
    with pytest.raises(AssertionError, match="at wrong_output"):
        checks.check_consistency(
            mx.sym.elemwise_add(A, B, name="wrong"), SETTINGS[:2], ground_truth=truth
        )
    with pytest.raises(AssertionError, match="same arguments"):
        checks.check_consistency([A + B, A + A], SETTINGS[:2])


def test_speed_and_structure():
    assert checks.check_speed(A * B, N=2, a=(2, 3), b=(2, 3)) > 0
    assert checks.check_speed(A * 2, {"a": np.ones(3)}, N=2, typ="forward") > 0
    with pytest.raises(ValueError, match="whole"):
        checks.check_speed(A * 2, typ="backward", a=(1,))
    assert checks.same_symbol_structure(A + B, mx.sym.elemwise_add(B, A))
    assert not checks.same_symbol_structure(A + B, A * B)
    assert not checks.same_symbol_structure(A, A * B)
