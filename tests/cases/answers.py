"""Comparing the answers of MXNet and of this library to one call (`oracles.mxnet_calls`)."""

import builtins
import math

import numpy as np


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
