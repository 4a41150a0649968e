"""Losses and layers give MXNet's values, gradients, names and reprs, also compiled."""

import json

import numpy as np
import pytest

import rarefy as mx
from oracles.gluon_layers import FILE, LAYERS, LOSSES, layer, loss
from rarefy import autograd, gluon, nd
from rarefy.gluon import nn

RECORD = json.loads(FILE.read_text())


def agree(found, expected, case, atol):
    """Numbers to a tolerance, everything else exactly."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), case
        for key in expected:
            agree(found[key], expected[key], (*case, key), atol)
    elif isinstance(expected, list) and not is_numbers(expected):
        for ours, theirs in zip(found, expected, strict=True):
            agree(ours, theirs, case, atol)
    elif isinstance(expected, list):
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=atol, err_msg=str(case))
    else:
        assert found == expected, case


def is_numbers(nested):
    return all(is_numbers(e) if isinstance(e, list) else isinstance(e, float) for e in nested)


@pytest.mark.parametrize("hybrid", [False, True])
def test_losses_are_mxnets(hybrid):
    for case, expected in zip(LOSSES, RECORD["losses"], strict=True):
        # MXNet's log_softmax has gradients whose sum is off by 1e-5.
        agree(loss(mx, *case, hybrid=hybrid), expected, case, atol=2e-5)


@pytest.mark.parametrize("hybrid", [False, True])
def test_layers_are_mxnets(hybrid):
    for case, expected in zip(LAYERS, RECORD["layers"], strict=True):
        agree(layer(mx, *case, hybrid=hybrid), expected, case, atol=1e-5)
