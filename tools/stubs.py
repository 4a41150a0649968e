"""Writes the type stubs of the namespaces that are generated from the registry of operators.

    python tools/stubs.py            # writes src/rarefy/nd/*.pyi
    python tools/stubs.py --check    # only says which are stale; exit status 1 if any

A stub repeats what its module imports by name, then gives every operator a signature.
"""

import argparse
import ast
import inspect
import re
import sys
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from rarefy._ops.defs import OPERATORS
from rarefy._ops.methods import METHODS
from rarefy._ops.opdef import Operator
from rarefy._ops.render import operators_of, public_operators, signature

FOLDER = Path(__file__).parents[1] / "src/rarefy/nd"
HEADER = "# Written by tools/stubs.py; do not edit.\n"
PRIVATE = ("_from_batch",)
WIDTH = 100


def stubs() -> dict[Path, str]:
    """The text of every stub by its path."""
    return {
        FOLDER / "__init__.pyi": namespace("__init__", public_operators()),
        FOLDER / "sparse.pyi": namespace("sparse", public_operators(sparse=True)),
        FOLDER / "op.pyi": namespace("op", public_operators()),
        FOLDER / "linalg.pyi": namespace("linalg", operators_of("_linalg_")),
        FOLDER / "contrib.pyi": namespace("contrib", operators_of("_contrib_")),
        FOLDER / "_internal.pyi": namespace("_internal", internal_operators()),
        FOLDER / "_fluent.pyi": fluent(),
    }


def internal_operators() -> dict[str, Operator]:
    return {name: op for name, op in sorted(OPERATORS.items()) if name.startswith("_")}


def namespace(module: str, operators: dict[str, Operator]) -> str:
    """The stub of a module that is filled with operators."""
    tree = ast.parse((FOLDER / f"{module}.py").read_text())
    imports, renamed, taken = [], [], set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rarefy.nd"):
            for alias in node.names:
                name = alias.asname or alias.name
                if name in PRIVATE:
                    renamed.append(f"{name} = {alias.name}\n")
                    imports.append(f"from {node.module} import {alias.name}\n")
                elif not name.startswith("_") or name == alias.name:
                    imports.append(f"from {node.module} import {alias.name} as {name}\n")
                    taken.add(name)
        elif isinstance(node, ast.FunctionDef):
            taken.add(node.name)
    handwritten = [
        f"def {node.name}({ast.unparse(node.args)}) -> Any: ...\n"
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
    ]
    if "NDArray" not in taken:
        imports.append("from rarefy.nd._ndarray import NDArray\n")
    functions = [function(name, op) for name, op in operators.items() if name not in taken]
    body = "".join([*renamed, *handwritten, *functions])
    return "".join([HEADER, "\n", typing_of(body), "\n", *sorted(imports), "\n", body])


def typing_of(body: str) -> str:
    names = [n for n in ("Any", "Literal") if re.search(rf"\b{n}\b", body)]
    return f"from typing import {', '.join(names)}\n"


def fluent() -> str:
    """The stub of the class of methods that come from operators."""
    methods = "".join(method(name, OPERATORS[name]) for name in METHODS)
    return "".join(
        [
            HEADER,
            "\n",
            typing_of(methods),
            "\nfrom rarefy.nd._ndarray import NDArray\n\nMETHODS: tuple[str, ...]\n\n",
            "class Fluent:\n",
            methods,
        ]
    )


def function(name: str, op: Operator) -> str:
    return definition(name, parameters(op), result(op), "")


def method(name: str, op: Operator) -> str:
    own = parameters(op)[1:]
    return definition(name, ["self", *own], result(op), "    ")


def definition(name: str, parts: list[str], returns: str, indent: str) -> str:
    """A function definition, on several lines where it is too long for one."""
    line = f"{indent}def {name}({', '.join(parts)}) -> {returns}: ...\n"
    if len(line) <= WIDTH + 1:
        return line
    inner = "".join(f"{indent}    {part},\n" for part in parts)
    return f"{indent}def {name}(\n{inner}{indent}) -> {returns}: ...\n"


def parameters(op: Operator) -> list[str]:
    """The parameters of an operator's function, as source."""
    parts, keyword_only = [], False
    for p in signature(op).parameters.values():
        if p.kind is p.VAR_POSITIONAL:
            parts.append(f"*{p.name}: Any")
            keyword_only = True
            continue
        if p.kind is p.KEYWORD_ONLY and not keyword_only:
            parts.append("*")
            keyword_only = True
        text = f"{p.name}: {annotation(op, p)}"
        parts.append(text if p.default is p.empty else f"{text} = {default(p.default)}")
    return parts


def annotation(op: Operator, p: inspect.Parameter) -> str:
    if p.name in op.arrays:
        return "NDArray | None" if p.name in op.optional else "NDArray"
    if p.name in ("out", "name"):
        return "Any"
    return type_text(p.annotation)


def type_text(kind: Any) -> str:
    """A type as source."""
    if get_origin(kind) in (Union, UnionType):
        return " | ".join(map(type_text, get_args(kind)))
    if kind is NoneType:
        return "None"
    if get_origin(kind) is Annotated:
        return type_text(get_args(kind)[0])
    return inspect.formatannotation(kind).replace("typing.", "").replace("'", '"')


def default(value: Any) -> str:
    return "..." if value is ... else repr(value).replace("'", '"')


def result(op: Operator) -> str:
    if callable(op.results):
        return "Any"
    return "NDArray" if op.results == 1 or op.updates else "list[NDArray]"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    arguments = parser.parse_args()
    stale = [p for p, text in stubs().items() if not p.exists() or p.read_text() != text]
    for path in stale:
        print(f"{'stale' if arguments.check else 'wrote'} {path}")
        if not arguments.check:
            path.write_text(stubs()[path])
    return 1 if stale and arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
