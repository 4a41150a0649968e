"""Random calls give what the MXNet that is installed gives, but for the differences listed here.

Runs where `RAREFY_MXNET_PYTHON` names an interpreter that has MXNet 1.9.1; `RAREFY_MXNET_CALLS` and
`RAREFY_MXNET_SEED` say how many calls and which.
"""

import os
import re

import pytest

import rarefy as mx
from cases.answers import differences
from oracles.random_calls import answer, as_text, ask, calls

PYTHON = os.environ.get("RAREFY_MXNET_PYTHON")
COUNT = int(os.environ.get("RAREFY_MXNET_CALLS", "400"))
SEED = int(os.environ.get("RAREFY_MXNET_SEED", "2"))

SPARSE = "MXNet makes the arrays dense; a sparse answer exists"
MORE = "MXNet has no such method or form, or refuses it for no reason"

# What differs on purpose: a pattern of calls, what of the answer, and why.
DIFFERENT: list[tuple[str, str, str]] = [
    (r"nd\.dot\(.* with x: (csr|row_sparse) ", "class|stype", SPARSE),
    (r"nd\.dot\(.*'default'.* with x: csr .*; y: row_sparse", "raises", MORE),
    (r"(x\.T|nd\.transpose).* with x: csr", "class|stype", SPARSE),
    (r"(nd|x)\.slice(_axis)?\(.* with x: (csr|row_sparse)", "class|stype", SPARSE),
    (r"slice_axis\(1, 1, [01]\)", "raises", "an array without elements is an array"),
    (r"nd\.(sparse\.)?(concat|concatenate|add_n)\(.* with x: (csr|row_s)", "class|stype", SPARSE),
    (r"(nd|x)\.take.* with x: csr", "class|stype", SPARSE),
    (r"nd\.(broadcast_)?(add|subtract|sub|multiply|mul)\(", "class|stype", SPARSE),
    (r"nd\.(broadcast_)?(maximum|minimum|hypot)\(", "class|stype", SPARSE),
    (r"_(logical_(and|or)|hypot|maximum|minimum)_scalar", "class|stype", SPARSE),
    (r"nd\.(softsign|erf|smooth_l1|identity)\(", "class|stype", SPARSE),
    (r"_square_sum.* with x: (csr|default)", "raises", MORE),
    (r"nd\.broadcast_.* with .*(csr|row_sparse)", "raises: \\['MXNet", MORE),
    (r"nd\.concatenate\(.* with ", "raises: \\['TypeError", MORE),
    (r"(csr int32 .*: default int32|default int32 .*: csr int32)", "raises: \\['MXNet", MORE),
    (r"Embedding\(.* with x: csr", "raises: \\['MXNet", MORE),
    (r"nd\.L2Normalization.*int32", "raises: \\['MXNet", MORE),
    (r"nd\.sparse\.array\(x\)", "raises: \\['Assertion", "ValueError instead"),
    (r"x\.nnz", "raises", MORE),
    (r"nd\.FullyConnected.*w: row_sparse", "raises: \\['MXNet", "a weight may lack rows"),
    (r"x\.retain\(", "repr", "MXNet returns a tuple"),
    (
        r"(nd\.(broadcast_mul|multiply|broadcast_div)\(x, y\)|x [*/] y).* with x: csr .*\(1, ",
        "values",
        "MXNet's product of csr of one row and a vector of one row takes the wrong elements",
    ),
]


def is_known(text: str, found: list[str]) -> bool:
    return all(
        any(re.search(call, text) and re.match(what, part) for call, what, _ in DIFFERENT)
        for part in found
    )


@pytest.mark.skipif(not PYTHON, reason="RAREFY_MXNET_PYTHON names no interpreter with MXNet")
@pytest.mark.filterwarnings("ignore")
def test_random_calls_give_mxnets_answers():
    assert PYTHON is not None
    asked = list(calls(COUNT, SEED))
    unknown = {}
    for call, theirs in zip(asked, ask(PYTHON, asked), strict=True):
        ours = answer(call, mx)
        text = as_text(call)
        found = ["ends"] if "ends" in theirs else differences(text, theirs, ours)
        if found and not is_known(text, found):
            unknown[text] = found
    assert not unknown, "\n".join(f"{text}: {found}" for text, found in unknown.items())


def test_calls_are_the_same_wherever_they_are_made():
    assert list(calls(50, 1)) == list(calls(50, 1))
    texts = "".join(map(as_text, calls(400, 2)))
    for part in ("csr", "row_sparse", "nd.dot", "nd.sum", "nd.concat", "retain", "x / y"):
        assert part in texts


@pytest.mark.parametrize("stype", ["default", "csr", "row_sparse"])
def test_an_array_is_described_in_full(stype):
    how = {"shape": (4, 3), "dtype": "float64", "seed": 3}
    made = answer({"call": "x", "arrays": {"x": {**how, "stype": stype}}}, mx)
    assert made["stype"] == stype and made["shape"] == [4, 3] and made["dtype"] == "float64"
