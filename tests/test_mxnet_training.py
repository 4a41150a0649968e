"""Stores, iterators, metrics, logs and modules answer calls as MXNet does."""

import json

import numpy as np
import pytest

import rarefy as mx
from oracles.mxnet_training import FILE, TOPICS, answer

RECORD = json.loads(FILE.read_text())


@pytest.mark.parametrize("topic", TOPICS)
def test_answers_are_mxnets(topic):
    assert len(TOPICS[topic]) == len(RECORD[topic])
    for call, expected in zip(TOPICS[topic], RECORD[topic], strict=True):
        found = json.loads(json.dumps(answer(mx, call)))
        assert alike(found["noted"], expected["noted"]), (call, found, expected)
        assert found["lines"] == expected["lines"], call
        assert (found["kinds"] is None) == (expected["kinds"] is None), (call, found)
        if expected["kinds"]:
            assert expected["kinds"][0] in found["kinds"], call


def alike(found, expected):
    """Whether two answers are equal, floats to four places, as they were rounded."""
    if isinstance(found, list) and isinstance(expected, list):
        same = len(found) == len(expected)
        return same and all(alike(f, e) for f, e in zip(found, expected, strict=True))
    if isinstance(found, float) and isinstance(expected, float):
        return np.isclose(found, expected, rtol=1e-4, atol=2e-4, equal_nan=True)
    return found == expected
