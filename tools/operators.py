"""Writes docs/operators.md: how the results of each operator are stored, by the storage types given.

python tools/operators.py            # writes it
python tools/operators.py --check    # only says whether it is stale; exit status 1 if so
"""

import argparse
import inspect
import itertools
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from rarefy._ops.defs import OPERATORS
from rarefy._ops.infer import infer
from rarefy._ops.opdef import Operator, Scalar, Signature

PAGE = Path(__file__).parents[1] / "docs/operators.md"
STYPES = ("default", "csr", "row_sparse")
SHORT = {"default": "dense"}
HEAD = """# Storage types of operators

Written by `tools/operators.py` from the registry of operators; do not edit.

A cell says how the result is stored. *dense* is a dense result that makes no array dense on the way;
*fallback* is one for which the sparse arrays are made dense, which is warned about once, counted in
`rarefy.config.storage_fallbacks`, and refused where `rarefy.config` says so. Where a parameter matters
the cell says for which values; *refused* raises an error. `dot` converts its result to the
`forward_stype` that it is given. Operators that are in no table have no sparse rule: with a sparse
array they fall back.
"""

# Values that a parameter is tried with, where its type does not tell.
SAMPLES: dict[str, tuple[Any, ...]] = {
    "axis": (None, 0, 1),
    "axes": ((), (1, 0), (0, 1)),
    "dim": (1, 0),
    "begin": ((0,), (0, 0)),
    "end": ((1,), (1, 1)),
    "step": ((), (2,)),
    "a_min": (-1, 1),
    "a_max": (2,),
    "ord": (2, 1),
    "stype": STYPES,
    "c": (0.0, 1.0),
}


def values_of(name: str, p: inspect.Parameter) -> tuple[Any, ...]:
    """The values that a parameter is tried with; its default first."""
    if name in SAMPLES:
        found = tuple(v for v in SAMPLES[name] if v is not None or p.default is None)
    elif p.annotation is bool:
        found = (False, True)
    elif p.annotation is Scalar:
        found = (2.0, 0.0, -2.0)
    elif choices := [
        a for a in (p.annotation, *get_args(p.annotation)) if get_origin(a) is Literal
    ]:
        found = get_args(choices[0])
    else:
        found = (1,)
    if p.default is p.empty:
        return found
    return (p.default, *(v for v in found if v != p.default))


def outcome(op: Operator, signature: Signature, params: dict[str, Any]) -> str:
    plan = infer(op, signature, params)
    if plan.fallback:
        return "fallback"
    if plan.rule and plan.rule.refuses:
        return "refused"
    return ", ".join(SHORT.get(s, s) for s in dict.fromkeys(plan.out))


def outcomes(op: Operator, signature: Signature) -> str:
    """The text of a cell: what the defaults give, then each change of one parameter that matters."""
    tried = {n: (None,) if n == op.hint else values_of(n, p) for n, p in op.parameters.items()}
    usual = {n: v[0] for n, v in tried.items()}
    # Slices have as many limits as they have axes.
    changes = [{n: v} for n, vs in tried.items() if n not in ("begin", "end") for v in vs[1:]]
    if {"begin", "end"} <= tried.keys() and isinstance(usual["begin"], tuple):
        changes.append({"begin": (0, 0), "end": (1, 1)})
    first = outcome(op, signature, usual)
    others: dict[str, list[str]] = defaultdict(list)
    for change in changes:
        found = outcome(op, signature, {**usual, **change})
        if found != first:
            others[found].append(", ".join(f"{n}={v!r}" for n, v in change.items()))
    if not others:
        return first
    needed = [f"{n}={usual[n]!r}" for n, p in op.parameters.items() if p.default is p.empty]
    text = first + (f" ({', '.join(needed)})" if needed else "")
    return "; ".join([text, *(f"{s}: `{'`, `'.join(c)}`" for s, c in others.items())])


def operators(test) -> list[Operator]:
    """The operators with a sparse rule that pass a test, by name."""
    distinct = {id(op): op for op in OPERATORS.values() if op.is_sparse}
    return sorted((op for op in distinct.values() if test(op)), key=lambda op: op.name)


def table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def grouped(ops: list[Operator], signatures: list[Signature]) -> list[list[str]]:
    """A row for each set of operators with the same cells."""
    found: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for op in ops:
        found[tuple(outcomes(op, s) for s in signatures)].append(f"`{op.name}`")
    rows = [[", ".join(names), *cells] for cells, names in found.items()]
    return sorted(rows, key=lambda row: row[0])


def of_one() -> str:
    ops = operators(lambda op: len(op.arrays) == 1 and not op.updates)
    rows = grouped(ops, [("csr",), ("row_sparse",)])
    return table(["operator", "of csr", "of row_sparse"], rows)


PAIRS: list[Signature] = [p for p in itertools.product(STYPES, STYPES) if p != ("default",) * 2]


def of_two() -> str:
    ops = operators(lambda op: len(op.arrays) == 2 and not op.optional and not op.updates)
    rows = [
        [f"`{op.name}`", " · ".join(SHORT.get(s or "", s or "") for s in pair), cell]
        for op in ops
        for pair in PAIRS
        if (cell := outcomes(op, pair)) != "fallback"
    ]
    return table(["operator", "of", "result"], rows)


def of_more() -> str:
    ops = operators(lambda op: len(op.arrays) > 2 and not op.updates)
    rows = [
        [
            f"`{op.name}`",
            ", ".join(f"{a} {s}" for a, s in zip(op.arrays, signature, strict=True) if s),
            outcomes(op, signature),
        ]
        for op in ops
        for signature in op.rules
    ]
    return table(["operator", "of", "result"], rows)


def of_updates() -> str:
    """Updates keep the storage of what they update; any of their arrays may be row_sparse."""
    rows = []
    for op in operators(lambda op: bool(op.updates)):
        sparse = [
            name
            for i, name in enumerate(op.arrays)
            if any(len(s) > i and s[i] == "row_sparse" for s in op.rules)
        ]
        rows.append([f"`{op.name}`", ", ".join(sparse)])
    return table(["operator", "arrays that may be row_sparse, in any mixture"], rows)


def page() -> str:
    """The text of the page."""
    parts = [
        HEAD,
        "## One array\n",
        of_one(),
        "## Two arrays\n\nWhat is left out falls back.\n",
        of_two(),
        "## More arrays\n\nWhat is left out falls back.\n",
        of_more(),
        "## Updates\n\nA result has the storage type of the array that it replaces.\n",
        of_updates(),
    ]
    return "\n".join(parts)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    arguments = parser.parse_args()
    text = page()
    stale = not PAGE.exists() or PAGE.read_text() != text
    if stale:
        print(f"{'stale' if arguments.check else 'wrote'} {PAGE}")
        if not arguments.check:
            PAGE.write_text(text)
    return 1 if stale and arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
