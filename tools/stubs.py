"""Writes the type stubs of the namespaces that are generated from the registry of operators.

    python tools/stubs.py            # writes src/rarefy/nd/*.pyi and src/rarefy/sym/*.pyi
    python tools/stubs.py --check    # only says which are stale; exit status 1 if any

A stub repeats what its module imports by name, then gives every operator a signature.
"""

import argparse
import ast
import importlib
import inspect
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from rarefy._ops.defs import OPERATORS
from rarefy._ops.methods import METHODS
from rarefy._ops.opdef import Operator
from rarefy._ops.render import operators_of, public_operators, signature

SOURCE = Path(__file__).parents[1] / "src/rarefy"
HEADER = "# Written by tools/stubs.py; do not edit.\n"
UNSORTED = "# ruff: noqa: I001\n"
PRIVATE = ("_from_batch",)
WIDTH = 100


@dataclass(frozen=True)
class Package:
    """A package of namespaces.

    Attributes:
      name: its name.
      array: the class of what its operators work on, and the module that it comes from.
    """

    name: str
    array: str
    home: str

    @property
    def folder(self) -> Path:
        return SOURCE / self.name


ND = Package("nd", "NDArray", "rarefy.nd._ndarray")
SYM = Package("sym", "Symbol", "rarefy.sym._symbol")


def stubs() -> dict[Path, str]:
    """The text of every stub by its path."""
    found = {}
    for package in (ND, SYM):
        namespaces = {
            "__init__": public_operators(),
            "op": public_operators(),
            "sparse": public_operators(sparse=True),
            "linalg": operators_of("_linalg_"),
            "contrib": operators_of("_contrib_"),
            "_internal": internal_operators(),
        }
        for module, operators in namespaces.items():
            found[package.folder / f"{module}.pyi"] = namespace(package, module, operators)
        found[package.folder / "_fluent.pyi"] = fluent(package)
    return found


def internal_operators() -> dict[str, Operator]:
    return {name: op for name, op in sorted(OPERATORS.items()) if name.startswith("_")}


def namespace(package: Package, module: str, operators: dict[str, Operator]) -> str:
    """The stub of a module that is filled with operators."""
    imports, renamed, handwritten, taken = [], [], [], set()
    for node in tree_of(package, module).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rarefy."):
            near = (node.module or "").startswith(f"rarefy.{package.name}")
            for alias in node.names:
                name = alias.asname or alias.name
                if name in PRIVATE:
                    renamed.append(f"{name} = {alias.name}\n")
                    imports.append(f"from {node.module} import {alias.name}\n")
                elif near and (not name.startswith("_") or name == alias.name):
                    imports.append(f"from {node.module} import {alias.name} as {name}\n")
                    taken.add(name)
        elif isinstance(node, ast.FunctionDef):
            taken.add(node.name)
            handwritten.append(f"def {node.name}({ast.unparse(node.args)}) -> Any: ...\n")
    functions, again = [], []
    elsewhere = set() if module == "__init__" else given_names(package, operators)
    for name, op in operators.items():
        if name in elsewhere - taken:
            again.append(imported(f"rarefy.{package.name}", name))
        elif name not in taken:
            functions.append(function(package, name, op))
    body = "".join([*renamed, *handwritten, *functions])
    if package.array not in taken and re.search(rf"\b{package.array}\b", body):
        imports.append(f"from {package.home} import {package.array}\n")
    head = [HEADER, UNSORTED if again else "", "\n", typing_of(body)]
    return "".join([*head, *again, *sorted(imports), "\n" if body else "", body])


def imported(module: str, name: str) -> str:
    """A name that a stub has from another module, on several lines where it is too long for one."""
    line = f"from {module} import {name} as {name}\n"
    if len(line) <= WIDTH + 1:
        return line
    return f"from {module} import (\n    {name} as {name},\n)\n"


def tree_of(package: Package, module: str) -> ast.Module:
    return ast.parse((package.folder / f"{module}.py").read_text())


def given_names(package: Package, operators: dict[str, Operator]) -> set[str]:
    """The names that mean the same operator in the package itself, where it does not rename one."""
    other = {
        alias.asname or alias.name
        for node in tree_of(package, "__init__").body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    public = public_operators()
    return {n for n, op in operators.items() if public.get(n) is op and n not in other}


def typing_of(body: str) -> str:
    names = [n for n in ("Any", "Literal") if re.search(rf"\b{n}\b", body)]
    return f"from typing import {', '.join(names)}\n\n" if names else ""


def fluent(package: Package) -> str:
    """The stub of the class of methods that come from operators."""
    methods = "".join(method(package, name, OPERATORS[name]) for name in METHODS)
    return "".join(
        [
            HEADER,
            "\n",
            typing_of(methods),
            f"from {package.home} import {package.array}\n\n",
            "class Fluent:\n",
            methods,
            *(f"    def {name}(self, *args: Any) -> Any: ...\n" for name in refused(package)),
        ]
    )


def refused(package: Package) -> list[str]:
    """Methods that only say that symbols have no such method."""
    module = importlib.import_module(f"rarefy.{package.name}._fluent")
    return sorted(n for n in vars(module.Fluent) if n[0] != "_" and n not in METHODS)


def function(package: Package, name: str, op: Operator) -> str:
    return definition(name, parameters(package, op), result(package, op), "")


def method(package: Package, name: str, op: Operator) -> str:
    own = parameters(package, op)[1:]
    return definition(name, ["self", *own], result(package, op), "    ")


def definition(name: str, parts: list[str], returns: str, indent: str) -> str:
    """A function definition, on several lines where it is too long for one."""
    line = f"{indent}def {name}({', '.join(parts)}) -> {returns}: ...\n"
    if len(line) <= WIDTH + 1:
        return line
    inner = "".join(f"{indent}    {wrapped(part, indent)},\n" for part in parts)
    return f"{indent}def {name}(\n{inner}{indent}) -> {returns}: ...\n"


def wrapped(part: str, indent: str) -> str:
    """A parameter, with what its type holds on a line of its own where it is too long for one."""
    if len(indent) + len(part) + 5 <= WIDTH:
        return part
    head, rest = part.split("[", 1)
    inner, tail = rest.rsplit("]", 1)
    return f"{head}[\n{indent}        {inner}\n{indent}    ]{tail}"


def parameters(package: Package, op: Operator) -> list[str]:
    """The parameters of an operator's function, as source."""
    parts, keyword_only = [], False
    found = [p for p in signature(op).parameters.values() if package is ND or p.name != "out"]
    # A symbol's arrays and, behind one that is left out, its parameters may all be missing.
    optional = package is SYM and bool(op.arrays) and not op.variadic
    for p in found:
        if p.kind is p.VAR_POSITIONAL:
            parts.append(f"*{p.name}: Any")
            keyword_only = True
            continue
        if p.kind is p.KEYWORD_ONLY and not keyword_only:
            parts.append("*")
            keyword_only = True
        text = f"{p.name}: {annotation(package, op, p)}"
        value = p.default
        if value is p.empty and optional and not keyword_only:
            value = None if p.name in op.arrays else ...
        parts.append(text if value is p.empty else f"{text} = {default(value)}")
    return [*parts, "**kwargs: Any"] if package is SYM else parts


def annotation(package: Package, op: Operator, p: inspect.Parameter) -> str:
    if p.name in op.arrays:
        may_miss = p.name in op.optional or package is SYM
        return f"{package.array} | None" if may_miss else package.array
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


def result(package: Package, op: Operator) -> str:
    if package is SYM:
        return "Symbol"
    if callable(op.results):
        return "Any"
    return "NDArray" if op.results == 1 or op.updates else "list[NDArray]"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
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
