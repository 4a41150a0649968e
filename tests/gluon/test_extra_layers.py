"""Layers of this library: against PyTorch, the formulas written out, and dense layers."""

import json

import numpy as np
import pytest
import scipy.sparse

from oracles.embedding_bags import CASES, FILE, IDS, OFFSETS, PADDED, PADDING, arrays
from rarefy import MXNetError, autograd, nd
from rarefy.base import ArgumentError
from rarefy.gluon import nn

RECORD = json.loads(FILE.read_text())
FIELDS = [0, 2, 1, 0, 1, 2, 2, 0]


def close(found, expected, case=None):
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-6, err_msg=str(case))


def batch(rng, rows=5, columns=8):
    """Rows with some columns, one without any, and a column that does not occur."""
    dense = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < 0.6)
    dense[1] = 0
    dense[:, 4] = 0
    return dense.astype(np.float32)


def differences(fn, array):
    """The gradient of a function of a float64 array, by central differences."""
    slopes, step = np.zeros_like(array), 1e-5
    for place in np.ndindex(array.shape):
        there = np.zeros_like(array)
        there[place] = step
        slopes[place] = (fn(array + there) - fn(array - there)) / (2 * step)
    return slopes


def pull(block, *args, by=None):
    """The result, and the gradients of the parameters for the cotangent `by`."""
    with autograd.record():
        out = block(*args)
        total = (out if by is None else out * by).sum()
    total.backward()
    params = {p.name[len(block.prefix) :]: p for p in block.collect_params().values()}
    return out.asnumpy(), {n: p.grad() for n, p in params.items() if p.grad_req != "null"}


def test_embedding_bag_is_torchs():
    table, weights, cotangent = arrays()
    by = nd.array(cotangent)
    matrix = scipy.sparse.csr_matrix((np.ones(8), IDS, [*OFFSETS, 8]), (4, 7), dtype=np.float32)
    weighted = scipy.sparse.csr_matrix((weights, IDS, [*OFFSETS, 8]), (4, 7), dtype=np.float32)
    for (mode, with_weights), expected in zip(CASES, RECORD, strict=True):
        case = (mode, with_weights)
        bag = nn.EmbeddingBag(7, 3, mode)
        bag.initialize()
        bag.weight.set_data(nd.array(table))
        ends = nn.EmbeddingBag(7, 3, mode, include_last_offset=True, params=bag.params)
        of_samples = nd.array(weights) if with_weights else None
        if of_samples is not None:
            of_samples.attach_grad()
        ids, offsets = nd.array(IDS), nd.array(OFFSETS)
        given = () if of_samples is None else (of_samples,)
        for hybrid in (False, True) if mode == "max" else (False,):
            bag.hybridize(hybrid)
            out, grads = pull(bag, ids, offsets, *given, by=by)
            close(out, expected["out"], case)
            assert grads["weight"].stype == "row_sparse"
            assert grads["weight"].indices.asnumpy().tolist() == sorted(set(IDS))
            close(grads["weight"].asnumpy(), expected["table"], case)
        if of_samples is not None:
            close(of_samples.grad.asnumpy(), expected["weights"], case)
        close(ends(ids, nd.array([*OFFSETS, 8]), *given).asnumpy(), expected["out"], case)
        # A repeated id is stored once there, with the sum of its weights.
        x = nd.sparse.csr_matrix(weighted if with_weights else matrix)
        out, grads = pull(bag, x, by=by)
        close(out, expected["out"], case)
        close(grads["weight"].asnumpy(), expected["table"], case)
        if not with_weights:
            padded = nn.EmbeddingBag(7, 3, mode, padding_idx=PADDING, params=bag.params)
            close(padded(nd.array(PADDED)).asnumpy(), expected["padded"], case)


def test_weights_of_a_mean_have_the_slope_of_the_quotient(rng):
    dense, table = np.abs(batch(rng)), rng.normal(size=(8, 3)).astype(np.float32)
    x, by = nd.sparse.csr_matrix(dense), rng.normal(size=(5, 3)).astype(np.float32)
    bag = nn.EmbeddingBag(0, 3, "mean")
    bag.initialize()
    bag(x)
    bag.weight.set_data(nd.array(table))
    x.attach_grad(stype="csr")
    pull(bag, x, by=nd.array(by))

    def mean(d):
        total = d.sum(axis=1, keepdims=True)
        return ((d @ table) / np.where(total == 0, 1, total) * by).sum()

    slopes = differences(mean, dense.astype(np.float64))
    close(x.grad.asnumpy(), np.where(dense != 0, slopes, 0))


@pytest.mark.parametrize("by_field", [False, True])
def test_factorization_machines_are_their_formulas(rng, by_field):
    dense = batch(rng)
    x, by = nd.sparse.csr_matrix(dense), rng.normal(size=(5, 1)).astype(np.float32)
    machine = (
        nn.FieldAwareFactorizationMachine(2, FIELDS) if by_field else nn.FactorizationMachine(2)
    )
    machine.initialize()
    machine(x)
    for param in (machine.factors, machine.weight, machine.bias):
        param.set_data(nd.array(rng.normal(size=param.shape)))
    v, w, b = (p.data().asnumpy() for p in (machine.factors, machine.weight, machine.bias))
    assert v.shape == ((8, 3, 2) if by_field else (8, 2))

    place = (lambda i, j: (i, FIELDS[j])) if by_field else (lambda i, j: (i,))
    expected, slope, by_x = dense @ w + b, np.zeros_like(v), by @ w.T
    for r, row in enumerate(dense):
        for i in range(8):
            for j in range(i):
                at, other = place(i, j), place(j, i)
                product = v[at] @ v[other]
                expected[r] += product * row[i] * row[j]
                by_x[r, [i, j]] += by[r] * product * row[[j, i]]
                slope[at] += by[r] * v[other] * row[i] * row[j]
                slope[other] += by[r] * v[at] * row[i] * row[j]
    x.attach_grad(stype="csr")
    occurring = [0, 1, 2, 3, 5, 6, 7]
    for hybrid in (False, True):
        machine.hybridize(hybrid)
        out, grads = pull(machine, x, by=nd.array(by))
        close(out, expected)
        close(grads["factors"].asnumpy(), slope)
        close(grads["weight"].asnumpy(), dense.T @ by)
        close(grads["bias"].asnumpy(), by.sum(axis=0))
        for name in ("factors", "weight"):
            assert grads[name].stype == "row_sparse"
            assert grads[name].indices.asnumpy().tolist() == occurring
    machine.hybridize(False)
    close(machine(nd.array(dense)).asnumpy(), expected)

    close(x.grad.asnumpy(), np.where(dense != 0, by_x, 0))


@pytest.mark.parametrize("matrix", [False, True])
def test_cross_network_is_its_formula(rng, matrix):
    x = batch(rng)
    net = nn.CrossNetwork(2, matrix=matrix)
    net.initialize()
    net(nd.array(x))
    values = {}
    for name, param in net._reg_params.items():
        param.set_data(nd.array(rng.normal(size=param.shape)))
        values[name] = param.data().asnumpy()
    by = rng.normal(size=x.shape).astype(np.float32)

    def cross(name, value):
        y, given = x, values | {name: value}
        for i in range(2):
            w, b = given[f"weight{i}"], given[f"bias{i}"]
            y = x * (y @ w.T + b) + y if matrix else x * (y @ w) + b + y
        return y

    out, grads = pull(net, nd.array(x), by=nd.array(by))
    np.testing.assert_allclose(out, cross("", None), rtol=1e-4, atol=1e-4)
    for name, value in values.items():
        slope = differences(lambda v, name=name: (cross(name, v) * by).sum(), value.astype("f8"))
        np.testing.assert_allclose(grads[name].asnumpy(), slope, rtol=1e-4, atol=1e-4)


def test_sparse_dense_is_a_dense_layer_with_a_gradient_by_rows(rng):
    dense = batch(rng)
    x, by = nd.sparse.csr_matrix(dense), nd.array(rng.normal(size=(5, 3)))
    for kwargs in ({}, {"activation": "tanh", "use_bias": False}):
        layer, like = nn.SparseDense(3, **kwargs), nn.Dense(3, **kwargs)
        layer.initialize()
        like.initialize()
        layer(x), like(nd.array(dense))
        like.weight.set_data(layer.weight.data().T)
        out, grads = pull(layer, x, by=by)
        expected, theirs = pull(like, nd.array(dense), by=by)
        close(out, expected)
        close(grads["weight"].asnumpy(), theirs["weight"].asnumpy().T)
        assert grads["weight"].indices.asnumpy().tolist() == [0, 1, 2, 3, 5, 6, 7]
        close(layer(nd.array(dense)).asnumpy(), expected)
    assert repr(nn.SparseDense(3, in_units=9)) == "SparseDense(9 -> 3, linear)"
    assert nn.SparseDense(3, sparse_grad=False)._reg_params["weight"].grad_stype == "default"


def test_what_cannot_be_is_refused():
    bag = nn.EmbeddingBag(4, 2, "max")
    bag.initialize()
    csr = nd.sparse.csr_matrix(np.eye(4, dtype=np.float32))
    ids, start = nd.array([0, 1]), nd.array([0])
    cases = [
        (MXNetError, r"data\[1, 0\] is 4, outside the 4 rows", lambda: bag(nd.array([[0], [4]]))),
        (MXNetError, r"data\[0, 1\] is -2", lambda: bag(nd.array([[-1, -2]]))),
        (
            MXNetError,
            r"offsets\[1\] is 2 and offsets\[2\] is 1",
            lambda: bag(ids, nd.array([0, 2, 1])),
        ),
        (MXNetError, r"offsets\[1\] is 3, beyond the 2 ids", lambda: bag(ids, nd.array([0, 3]))),
        (MXNetError, "begins with 0", lambda: bag(ids, nd.array([1]))),
        (MXNetError, "do not go with mode 'max'", lambda: bag(ids, start, nd.ones(2))),
        (MXNetError, r"\(b, l\) without offsets", lambda: bag(ids)),
        (ArgumentError, "csr input says itself", lambda: bag(csr, start)),
        (
            ArgumentError,
            r"\[1\] is 3, outside the 2",
            lambda: nn.FieldAwareFactorizationMachine(2, [0, 3], 2),
        ),
        (ArgumentError, "whole number", lambda: nn.FieldAwareFactorizationMachine(2, [0.5])),
        (ArgumentError, "at least 1", lambda: nn.CrossNetwork(0)),
    ]
    for kind, message, call in cases:
        with pytest.raises(kind, match=message):
            call()
    wrong = nn.EmbeddingBag(4, 2, "median")
    wrong.initialize()
    with pytest.raises(MXNetError, match="mode must be one of"):
        wrong(csr)
