"""Layers give MXNet's values, gradients, names and reprs."""

import json

import numpy as np
import pytest

import rarefy as mx
from oracles.gluon_layers import FILE, LAYERS, layer
from rarefy import autograd, nd
from rarefy.base import ArgumentError
from rarefy.gluon import contrib, nn

RECORD = json.loads(FILE.read_text())["layers"]
COMPILED = 5  # one of them compiled will do: a BatchNorm


def agree(found, expected, case):
    """Numbers to a tolerance, everything else exactly."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), case
        for key in expected:
            agree(found[key], expected[key], (*case, key))
    elif isinstance(expected, list) and not is_numbers(expected):
        for ours, theirs in zip(found, expected, strict=True):
            agree(ours, theirs, case)
    elif isinstance(expected, list):
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-5, err_msg=str(case))
    else:
        assert found == expected, case


def is_numbers(nested):
    return all(is_numbers(e) if isinstance(e, list) else isinstance(e, float) for e in nested)


def test_layers_are_mxnets():
    for i, (case, expected) in enumerate(zip(LAYERS, RECORD, strict=True)):
        for hybrid in (False, True) if i == COMPILED else (False,):
            found, theirs = layer(mx, *case, hybrid=hybrid), expected
            if case[0] == "SELU":
                check_selu(found, theirs)
                found, theirs = ({**r, "x": None} for r in (found, theirs))
            agree(found, theirs, (*case, hybrid))


def check_selu(found, expected):
    """Below zero MXNet's slope is `scale * (alpha + y)`, which is not the derivative."""
    out, ours, theirs = (np.array(r) for r in (found["out"], found["x"], expected["x"]))
    alpha, scale, low = 1.6732632, 1.0507009, out < 0
    by = theirs[low] / (scale * (alpha + out[low]))
    np.testing.assert_allclose(ours[low], by * (scale * alpha + out[low]), rtol=1e-4)
    np.testing.assert_allclose(ours[~low], theirs[~low], rtol=1e-5)


def test_batch_norm_relu_is_both_and_casts_as_float32(rng):
    x = nd.array(rng.normal(size=(6, 3)))
    both, norm = nn.BatchNormReLU(in_channels=3), nn.BatchNorm()
    for block in (both, norm):
        block.initialize()
    with autograd.record():
        out, expected = both(x), norm(x)
    np.testing.assert_allclose(out.asnumpy(), np.maximum(expected.asnumpy(), 0), atol=1e-6)
    both.cast("float16")
    assert np.dtype(both.gamma.dtype) == np.dtype(both.running_mean.dtype) == np.float32
    assert both(x.astype("float16")).dtype == np.float16


def test_contrib_layers():
    x = nd.array([[1.0, -2.0]])
    for container in (contrib.nn.Concurrent(axis=1), contrib.nn.HybridConcurrent(axis=1)):
        container.add(contrib.nn.Identity(), nn.Activation("relu"))
        assert container(x).asnumpy().tolist() == [[1, -2, 1, 0]]
    table = contrib.nn.SparseEmbedding(5, 2)
    table.initialize(mx.init.Constant(0.5))
    ids = nd.array([[3, 1, 3]])
    with autograd.record():
        total = table(ids).sum()
    total.backward()
    assert total.asscalar() == 3
    assert (table.weight.stype, table.weight.grad().stype) == ("row_sparse", "row_sparse")
    assert table.weight.grad().indices.asnumpy().tolist() == [1, 3]
    assert table.weight.grad().data.asnumpy().tolist() == [[1, 1], [2, 2]]


def test_what_cannot_be_is_refused():
    x = nd.ones((2, 3))
    for kind, message, call in (
        (ArgumentError, "no operator 'nope'", lambda: nn.Lambda("nope")),
        (ValueError, "got 3 of type", lambda: nn.HybridLambda(3)),
        (AssertionError, "must not be negative", lambda: nn.LeakyReLU(-1)),
        (mx.MXNetError, r"p must lie in \[0, 1\)", lambda: nn.Dropout(1.5)(x)),
        (mx.MXNetError, "act_type must be one of", lambda: nn.Activation("nope")(x)),
    ):
        with pytest.raises(kind, match=message):
            call()
