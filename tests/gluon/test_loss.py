"""Losses: MXNet's values and gradients, csr labels, and what MXNet cannot."""

import json

import numpy as np
import pytest

import rarefy as mx
from oracles.gluon_layers import FILE, LOSSES, loss
from rarefy import autograd, config, nd
from rarefy.base import ArgumentError
from rarefy.gluon import loss as losses

RECORD = json.loads(FILE.read_text())["losses"]
COMPILED = 6  # one of them compiled will do: one with both weights


def test_losses_are_mxnets():
    for i, (case, expected) in enumerate(zip(LOSSES, RECORD, strict=True)):
        for hybrid in (False, True) if i == COMPILED else (False,):
            shown, *numbers = loss(mx, *case, hybrid=hybrid)
            assert shown == expected[0], case
            for ours, theirs in zip(numbers, expected[1:], strict=True):
                # MXNet's log_softmax has gradients whose sum is off by 1e-5.
                np.testing.assert_allclose(
                    ours, theirs, rtol=2e-5, atol=2e-5, err_msg=str((*case, hybrid))
                )


def test_csr_labels_stay_csr(rng):
    pred = nd.array(rng.normal(size=(4, 6)))
    labels = (rng.random((4, 6)) < 0.3).astype(np.float32)
    pred.attach_grad()
    found = []
    before = dict(config.storage_fallbacks)
    for label in (nd.array(labels), nd.sparse.csr_matrix(labels)):
        with autograd.record():
            out = losses.SigmoidBCELoss()(pred, label)
        out.backward()
        found.append((out.asnumpy().tolist(), pred.grad.asnumpy().tolist()))
    assert found[0] == found[1]
    assert dict(config.storage_fallbacks) == before


def test_poisson_with_stirlings_term_is_finite_for_no_counts():
    pred, counts = np.log([[0.5, 2.0, 3.0]]).astype(np.float32), np.array([[0, 1, 4]])
    n = 4
    stirling = n * np.log(n) - n + 0.5 * np.log(2 * np.pi * n)
    expected = (np.exp(pred) - counts * pred).mean() + stirling / 3
    block = losses.PoissonNLLLoss(compute_full=True)
    np.testing.assert_allclose(
        block(nd.array(pred), nd.array(counts)).asnumpy(), [expected], rtol=1e-6
    )


def test_what_cannot_be_is_refused():
    x = nd.ones((2, 3))
    for kind, message, call in (
        (ArgumentError, "weight must be a number", lambda: losses.L1Loss("a")(x, x)),
        (AssertionError, "weight must be a number", lambda: losses.TripletLoss(1, x)(x, x, x)),
        (ValueError, "'signed' or 'binary'", lambda: losses.LogisticLoss(label_format="both")),
        (ArgumentError, "one shape", lambda: losses.SDMLLoss()(x, nd.ones((2, 4)))),
        (mx.MXNetError, "reshape", lambda: losses.L2Loss()(x, nd.ones((2, 2)))),
    ):
        with pytest.raises(kind, match=message):
            call()
