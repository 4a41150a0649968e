"""The layers hold: imports point down, nothing is imported in secret, files stay small."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# From the bottom up; units of one row may import each other as long as no cycle appears.
LAYERS = (
    {"_version", "_config", "_atomic", "_watch", "base", "registry", "attribute", "name"},
    {"_primitives"},
    {"sparse"},
    {"_ops"},
    {"_cell", "_key", "_later"},
    {"autograd", "_key", "context", "engine", "util"},
    {"nd", "sym"},
    {"optimizer", "optim", "gluon", "io", "kvstore", "module", "models"}
    | {"metric", "initializer", "lr_scheduler", "callback", "random", "test_utils", "ndarray"}
    | {"executor", "visualization"}
    | {"operator", "model", "monitor", "profiler"},
    {"cli"},
    {"rarefy"},
)
RANK = {unit: rank for rank, units in enumerate(LAYERS) for unit in units}
STRANGERS = ({"nd", "sym"},)
NATIVE, NATIVE_IMPORTERS = "rarefy._primitives._native", ("_primitives._ffi", "_primitives._text")
FORBIDDEN = ("jax._src", "jax.experimental.sparse")
LINES = 800
# Modules that users of JAX and MXNet import by these names.
THEIR_NAMES = {"src/rarefy/sparse/util.py", "src/rarefy/util.py", "src/rarefy/gluon/utils.py"}


def unit_of(module: str) -> str:
    return module.split(".")[1] if "." in module else module


def imports_of(tree: ast.AST, package: str, modules) -> list[tuple[ast.AST, str]]:
    """Each import in `tree` as (node, dotted name of the module)."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(node, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            up = (
                package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            )
            base = ".".join([*up, *([node.module] if node.module else [])])
            for alias in node.names:
                name = f"{base}.{alias.name}"
                known = name in modules or name == NATIVE or name.startswith(FORBIDDEN)
                found.append((node, name if known else base))
    return found


def layering(src: Path) -> list[str]:
    """What breaks the rules in the package folder `src`, a line each."""
    files = {}
    for path in sorted(src.rglob("*.py")):
        parts = path.relative_to(src).with_suffix("").parts
        module = ".".join(("rarefy", *(p for p in parts if p != "__init__")))
        files[module] = path
    wrong, edges, unit_edges = [], {m: set() for m in files}, {}
    for module, path in files.items():
        tree, is_init = ast.parse(path.read_text()), path.name == "__init__.py"
        package, unit = module if is_init else module.rpartition(".")[0], unit_of(module)
        inner = {
            n for f in ast.walk(tree) if isinstance(f, FUNCTIONS) for n in ast.walk(f) if n is not f
        }
        if unit not in RANK:
            wrong.append(f"{module}: give {unit} a place in LAYERS")
            continue
        if is_init and not all(map(only_lists_names, tree.body)):
            wrong.append(f"{module}: an __init__ only imports and lists names")
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(DYNAMIC):
                wrong.append(f"{module}:{node.lineno}: import by an import statement")
        for node, name in imports_of(tree, package, files):
            where = f"{module}:{node.lineno}"
            if name.startswith(FORBIDDEN):
                wrong.append(f"{where}: {name} is off limits")
            if name == NATIVE and module.removeprefix("rarefy.") not in NATIVE_IMPORTERS:
                wrong.append(
                    f"{where}: only {' and '.join(NATIVE_IMPORTERS)} import the compiled module"
                )
            if name.split(".")[0] != "rarefy":
                continue
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                wrong.append(f"{where}: star import of {name}")
            if node in inner:
                wrong.append(f"{where}: {name} is imported inside a function")
            other = unit_of(name)
            if RANK.get(other, -1) > RANK[unit]:
                wrong.append(f"{where}: {unit} lies below {other} and must not import {name}")
            if any({unit, other} == pair for pair in STRANGERS):
                wrong.append(f"{where}: {unit} and {other} do not know each other")
            if other != unit:
                unit_edges.setdefault(unit, set()).add(other)
            edges[module].add(name)
    wrong += [f"import cycle: {' -> '.join(c)}" for g in (edges, unit_edges) for c in cycles(g)]
    return wrong


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
DYNAMIC = ("import_module", "__import__")


def only_lists_names(statement: ast.stmt) -> bool:
    match statement:
        case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case ast.Expr(value=ast.Call(func=f)) if ast.unparse(f) == "globals().update":
            return True  # the functions of a namespace that the registry generates
        case ast.If(test=ast.Name(id="TYPE_CHECKING"), body=body, orelse=[]):
            return all(map(only_lists_names, body))
    return False


def cycles(edges: dict[str, set[str]]) -> list[list[str]]:
    """A cycle for each strongly connected place in the graph (one is enough to make it red)."""
    done, found = set(), []

    def visit(node, trail):
        if node in trail:
            found.append([*trail[trail.index(node) :], node])
        elif node not in done:
            for other in sorted(edges.get(node, ())):
                visit(other, [*trail, node])
            done.add(node)

    for node in sorted(edges):
        visit(node, [])
    return found


def oversized(root: Path) -> list[str]:
    """Files of `root` that are too long or named after nothing."""
    wrong = []
    for folder in ("src", "csrc", "tests", "benchmarks", "tutorials", "tools"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in {".py", ".cc", ".h"} or not path.is_file():
                continue
            count = len(path.read_text().splitlines())
            if count > LINES:
                wrong.append(f"{path.relative_to(root)}: {count} lines; what two ideas live in it?")
            if str(path.relative_to(root)) in THEIR_NAMES:
                continue
            if path.stem.strip("_") in {"utils", "util", "helpers", "misc"}:
                wrong.append(f"{path.relative_to(root)}: name it after what it holds")
    return wrong


def test_imports_point_down_the_layers():
    assert layering(ROOT / "src/rarefy") == []


def test_files_keep_to_their_budget():
    assert oversized(ROOT) == []


def test_oracles_do_not_import_rarefy():
    for path in (ROOT / "tests/oracles").rglob("*.py"):
        names = [name for _, name in imports_of(ast.parse(path.read_text()), "oracles", ())]
        assert not [n for n in names if n.split(".")[0] == "rarefy"], path.name


VIOLATIONS = {
    "upward": ({"sparse/a.py": "from rarefy.nd import b", "nd/b.py": ""}, "lies below nd"),
    "upward to the package": (
        {"sparse/a.py": "import rarefy", "__init__.py": ""},
        "lies below rarefy",
    ),
    "upward by a dot": ({"sparse/a.py": "from ..nd import b", "nd/b.py": ""}, "lies below nd"),
    "upward for types": (
        {"sparse/a.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n  import rarefy.nd"},
        "lies below nd",
    ),
    "tape imports nd": ({"autograd/a.py": "import rarefy.nd"}, "autograd lies below nd"),
    "strangers": ({"nd/a.py": "import rarefy.sym.b", "sym/b.py": ""}, "do not know each other"),
    "cycle": (
        {"nd/a.py": "from rarefy.nd.b import x", "nd/b.py": "from rarefy.nd import a"},
        "import cycle: rarefy.nd.a -> rarefy.nd.b -> rarefy.nd.a",
    ),
    "cycle of packages": (
        {
            "io/a.py": "import rarefy.models.b",
            "models/b.py": "",
            "models/c.py": "import rarefy.io.d",
            "io/d.py": "",
        },
        "import cycle: io -> models -> io",
    ),
    "through __init__": (
        {"nd/__init__.py": "from rarefy.nd.a import x", "nd/a.py": "from rarefy.nd import y"},
        "import cycle",
    ),
    "star": ({"nd/a.py": "from rarefy.sparse import *"}, "star import of rarefy.sparse"),
    "in a function": ({"nd/a.py": "def f():\n  import rarefy.sparse"}, "inside a function"),
    "in a method": (
        {"nd/a.py": "class A:\n  def f(self):\n    if 1:\n      from rarefy import sparse"},
        "inside a function",
    ),
    "by name": ({"nd/a.py": "import importlib\nimportlib.import_module('x')"}, "import statement"),
    "native": (
        {"sparse/a.py": "from rarefy._primitives import _native"},
        "import the compiled module",
    ),
    "native by path": (
        {"io/a.py": "import rarefy._primitives._native"},
        "import the compiled module",
    ),
    "private jax": ({"sparse/a.py": "from jax._src import core"}, "off limits"),
    "jax sparse": ({"sparse/a.py": "from jax.experimental import sparse"}, "off limits"),
    "unknown unit": ({"extras.py": ""}, "give extras a place"),
    "busy init": ({"nd/__init__.py": "x = 1"}, "only imports and lists names"),
}


@pytest.mark.parametrize("files, message", VIOLATIONS.values(), ids=VIOLATIONS.keys())
def test_a_violation_is_found(tmp_path, files, message):
    found = layering(written(tmp_path, files))
    assert any(message in line for line in found), found


def test_a_sound_tree_is_left_alone(tmp_path):
    files = {
        "__init__.py": '"""Doc."""\nfrom rarefy import nd\nfrom rarefy._version import __version__',
        "_version.py": "__version__ = '1'",
        "_primitives/__init__.py": "from rarefy._primitives._ffi import TARGETS as TARGETS",
        "_primitives/_ffi.py": "from rarefy._primitives import _native",
        "nd/__init__.py": "from rarefy.nd._array import A\n__all__ = ['A']",
        "nd/_array.py": "import jax\nfrom rarefy.autograd import tape\nfrom rarefy.nd import _view",
        "nd/_view.py": "def f():\n  import tqdm",
        "autograd/tape.py": "from rarefy._ops.opdef import Op",
        "_ops/opdef.py": "",
    }
    assert layering(written(tmp_path, files)) == []


def test_a_long_file_and_a_nameless_one_are_found(tmp_path):
    written(tmp_path / "src", {"a.py": "x = 1\n" * (LINES + 1), "b.py": "x = 1\n" * LINES})
    written(tmp_path / "csrc", {"utils.h": "", "nd_utils.h": ""})
    found = oversized(tmp_path)
    assert [line.split(":")[0] for line in found] == ["src/a.py", "csrc/utils.h"]


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder
