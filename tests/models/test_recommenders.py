"""Recommender models are their formulas, and their tables have gradients by rows."""

import numpy as np
import pytest

from rarefy import autograd, nd
from rarefy.base import ArgumentError
from rarefy.models import DeepFM, MatrixFactorization, WideDeep

FIELDS = [0, 2, 1, 0, 1, 2]


@pytest.mark.parametrize("kind, fields", [(WideDeep, FIELDS), (DeepFM, FIELDS), (DeepFM, None)])
def test_deep_models_are_their_formulas(rng, kind, fields):
    dense = (rng.normal(size=(4, 6)) * (rng.random((4, 6)) < 0.6)).astype(np.float32)
    dense[:, 3] = 0
    net = kind(2, fields, hidden=(5,), activation="tanh")
    net.initialize()
    x = nd.sparse.csr_matrix(dense)
    net(x)
    values = {}
    for name, param in net._collect_params_with_prefix().items():
        if param.grad_req != "null":
            param.set_data(nd.array(rng.normal(size=param.shape)))
            values[name] = param.data().asnumpy()
    with autograd.record():
        out = net(x)
    out.backward()

    v, w = values["factors"], values["weight"]
    onehot = np.eye(3)[FIELDS] if fields else np.ones((6, 1))
    inputs = np.einsum("bi,if,ik->bfk", dense, onehot, v).reshape(4, -1)
    inner, last = (f"network.{i}" for i in (0, 1))
    hidden = np.tanh(inputs @ values[f"{inner}.weight"].T + values[f"{inner}.bias"])
    expected = dense @ w + hidden @ values[f"{last}.weight"].T + values[f"{last}.bias"]
    if kind is DeepFM:
        for i in range(6):
            for j in range(i):
                expected[:, 0] += v[i] @ v[j] * dense[:, i] * dense[:, j]
    np.testing.assert_allclose(out.asnumpy(), expected, rtol=1e-4, atol=1e-5)
    for table in (net.weight, net.factors):
        assert table.grad().indices.asnumpy().tolist() == [0, 1, 2, 4, 5]
    np.testing.assert_allclose(
        net.weight.grad().asnumpy(), dense.sum(axis=0)[:, None], rtol=1e-5, atol=1e-6
    )


def test_matrix_factorization_is_its_formula(rng):
    net = MatrixFactorization(7, 5, 3)
    net.initialize()
    assert repr(net) == "MatrixFactorization(7 x 5, 3)"
    values = {}
    for name, param in net._reg_params.items():
        param.set_data(nd.array(rng.normal(size=param.shape)))
        values[name] = param.data().asnumpy()
    users, items = np.array([1, 6, 1, 0]), np.array([4, 4, 2, 3])
    p, q = values["user"][users], values["item"][items]
    expected = (p * q).sum(axis=1) + values["bias"]
    expected += values["user_bias"][users, 0] + values["item_bias"][items, 0]
    with autograd.record():
        out = net(nd.array(users), nd.array(items))
    out.backward()
    np.testing.assert_allclose(out.asnumpy(), expected, rtol=1e-5)
    user, item = (net._reg_params[n].grad() for n in ("user", "item_bias"))
    assert user.indices.asnumpy().tolist() == [0, 1, 6]
    np.testing.assert_allclose(user.data.asnumpy(), [q[3], q[0] + q[2], q[1]], rtol=1e-5)
    assert (item.indices.asnumpy().tolist(), item.data.asnumpy().tolist()) == (
        [2, 3, 4],
        [[1], [1], [2]],
    )
    with pytest.raises(ArgumentError, match="in_units is 3, but 6 features have fields"):
        WideDeep(2, FIELDS, in_units=3)
