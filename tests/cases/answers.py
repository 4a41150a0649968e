"""Comparing the answers of MXNet and of this library to recorded calls."""

import builtins
import json
import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

import rarefy as mx
from oracles.mxnet_calls import answers, evaluate
from oracles.mxnet_training import alike, answer


def replay(file: Path, different: Mapping[str, str]):
    """A test that each call recorded in a file has MXNet's answer, and one that others still have not.

    Args:
      file: written by `oracles.mxnet_calls`.
      different: calls that are answered differently on purpose, and why.
    """
    recorded = answers(file)

    @pytest.mark.filterwarnings("ignore")
    @pytest.mark.parametrize("call", [c for c in recorded if c not in different])
    def test_call(call):
        ours = evaluate(call, mx)
        assert not differences(call, recorded[call], ours), f"{call}: {ours}"

    @pytest.mark.filterwarnings("ignore")
    @pytest.mark.parametrize("call", different)
    def test_difference_is_still_one(call):
        assert differences(call, recorded[call], evaluate(call, mx)), "remove it from DIFFERENT"

    return test_call, test_difference_is_still_one


def wrong_answers(file: Path, different: Mapping[str, str]) -> dict[str, object]:
    """`replay` in one go: what is wrong with the calls recorded in a file, by call."""
    wrong = {}
    for call, theirs in answers(file).items():
        found = differences(call, theirs, evaluate(call, mx))
        if bool(found) != (call in different):
            wrong[call] = found or "remove it from DIFFERENT"
    return wrong


def replay_topics(file: Path, topics: Mapping[str, list[str]]):
    """A test that the calls of each topic give and log what is recorded (`oracles.mxnet_training`)."""
    recorded = json.loads(file.read_text())

    @pytest.mark.parametrize("topic", topics)
    def test_answers_are_mxnets(topic):
        assert len(topics[topic]) == len(recorded[topic])
        for call, expected in zip(topics[topic], recorded[topic], strict=True):
            found = json.loads(json.dumps(answer(mx, call)))
            assert alike(found["noted"], expected["noted"]), (call, found, expected)
            assert found["lines"] == expected["lines"], call
            assert (found["kinds"] is None) == (expected["kinds"] is None), (call, found)
            if expected["kinds"]:
                assert expected["kinds"][0] in found["kinds"], (call, found)

    return test_answers_are_mxnets


def differences(call: str, theirs: dict, ours: dict) -> list[str]:
    """What is not equal in two answers, in words."""
    if "raises" in theirs or "raises" in ours:
        return compare_errors(theirs, ours)
    if ("list" in theirs) != ("list" in ours):
        return [f"a list: {theirs} and {ours}"]
    if "list" in theirs:
        pairs = zip(theirs["list"], ours["list"], strict=True)
        return [d for a, b in pairs for d in differences(call, a, b)]
    found = [
        f"{key}: {theirs[key]} and {ours.get(key)}"
        for key in theirs
        if key not in ("values", "number") and theirs[key] != ours.get(key)
    ]
    for key in ("values", "number"):
        if key in theirs and not _close(theirs[key], ours.get(key, math.nan)):
            found.append(f"{key}: {theirs[key]} and {ours.get(key)}")
    return found


def _close(theirs, ours) -> bool:
    """Of as many numbers, too."""
    return np.shape(theirs) == np.shape(ours) and np.allclose(
        theirs, ours, rtol=2e-5, atol=2e-6, equal_nan=True
    )


def compare_errors(theirs: dict, ours: dict) -> list[str]:
    """An error must be one that a program written for MXNet catches."""
    if "raises" not in theirs or "raises" not in ours:
        return [f"raises: {theirs.get('raises')} and {ours.get('raises')}"]
    kind = theirs["raises"][0]
    if kind == "Exception" or kind in ours["raises"]:
        return []
    if not hasattr(builtins, kind) and "MXNetError" in ours["raises"]:
        return []
    return [f"raises: {theirs['raises']} and {ours['raises']}"]
