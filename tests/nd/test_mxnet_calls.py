"""Every recorded call gives MXNet's answer, but for the differences listed here."""

import builtins
import math

import numpy as np
import pytest
from oracles.mxnet_calls import answers, evaluate

import rarefy as mx

# Where we answer differently on purpose: a call, or a part of it, with the reason.
DIFFERENT: dict[str, str] = {}

ANSWERS = answers()


def differences(call: str, theirs: dict, ours: dict) -> list[str]:
    """What is not equal in two answers, in words."""
    if "raises" in theirs or "raises" in ours:
        return compare_errors(theirs, ours)
    if "list" in theirs:
        pairs = zip(theirs["list"], ours["list"], strict=True)
        return [d for a, b in pairs for d in differences(call, a, b)]
    found = [
        f"{key}: {theirs[key]} and {ours.get(key)}"
        for key in theirs
        if key not in ("values", "number") and theirs[key] != ours.get(key)
    ]
    for key in ("values", "number"):
        if key in theirs and not np.allclose(
            theirs[key], ours.get(key, math.nan), rtol=2e-5, atol=2e-6, equal_nan=True
        ):
            found.append(f"{key}: {theirs[key]} and {ours.get(key)}")
    return found


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


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", [c for c in ANSWERS if c not in DIFFERENT])
def test_call(call):
    ours = evaluate(call, mx)
    assert differences(call, ANSWERS[call], ours) == [], f"{call}: {ours}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", DIFFERENT)
def test_difference_is_still_one(call):
    assert differences(call, ANSWERS[call], evaluate(call, mx)) != [], "remove it from DIFFERENT"
