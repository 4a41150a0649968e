"""Modules made of modules, and the rest of Module, answer calls as MXNet does."""

import json

import pytest

import rarefy as mx
from oracles.mxnet_modules import FILE, TOPICS, answer
from oracles.mxnet_training import alike

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
