"""Graphs as JSON, in the format of MXNet 1.9."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rarefy._ops.custom import custom_operator
from rarefy._ops.defs import OPERATORS
from rarefy._ops.shapes import needed_arrays
from rarefy.base import MXNetError
from rarefy.sym._node import HIDDEN, Entry, Node, complete, in_order
from rarefy.sym._params import parameters_of
from rarefy.util import is_np_shape

_VERSION = 10901


def write(entries: Sequence[Entry]) -> str:
    """The JSON of the graph of some entries."""
    order = in_order(entries)
    number = {id(node): i for i, node in enumerate(order)}
    nodes, row = [], [0]
    for node in order:
        states = {id(e.node) for e in node.states()}
        record = {"op": _text(node.op.name if node.op else "null"), "name": _text(node.name)}
        if node.attrs:
            attrs = {key: _text(value) for key, value in sorted(node.attrs.items())}
            record["attrs"] = _object(attrs, 8) if len(attrs) > 1 else _line(attrs)
        inputs = [[number[id(e.node)], e.index, int(id(e.node) in states)] for e in node.given()]
        record["inputs"] = _array(map(json.dumps, inputs), 8)
        nodes.append(_object(record, 6))
        hidden = 2 if node.op and node.op.name in _HIDES_TWO and node.n_outputs == 1 else 0
        row.append(row[-1] + node.n_outputs + hidden)
    variables = [i for i, node in enumerate(order) if node.op is None]
    heads = [[number[id(e.node)], e.index, 0] for e in entries]
    attrs = {"is_np_shape": _NUMPY_SHAPES} if is_np_shape() else {}
    attrs["mxnet_version"] = json.dumps(["int", _VERSION])
    graph = {
        "nodes": _array(nodes, 4, longest=0),
        "arg_nodes": _array(map(str, variables), 4),
        "node_row_ptr": _array(map(str, row), 4),
        "heads": _array(map(json.dumps, heads), 4),
        "attrs": _object(attrs, 4) if len(attrs) > 1 else _line(attrs),
    }
    return _object(graph, 2)


def _array(parts: Iterable[str], indent: int, longest: int = 10) -> str:
    """The JSON of an array, laid out as MXNet does it, from that of its elements."""
    parts = list(parts)
    if len(parts) <= longest:
        return f"[{', '.join(parts)}]"
    lines = f", \n{' ' * indent}".join(parts)
    return "[\n" + " " * indent + lines + "\n" + " " * (indent - 2) + "]"


def _object(parts: Mapping[str, str], indent: int) -> str:
    """The JSON of an object, laid out as MXNet does it, from that of its values."""
    lines = f", \n{' ' * indent}".join(f"{_text(k)}: {v}" for k, v in parts.items())
    return "{\n" + " " * indent + lines + "\n" + " " * (indent - 2) + "}"


_NUMPY_SHAPES = '["int", 1]'


def _line(parts: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{_text(k)}: {v}" for k, v in parts.items()) + "}"


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


_HIDES_TWO = ("BatchNorm", "LayerNorm", "GroupNorm")
"""Operators that have a mean and a deviation as results, in MXNet also where nobody may read them."""


def read(text: str) -> list[Entry]:
    """The entries of a graph from its JSON.

    Raises:
      MXNetError: the text is no such JSON, or an operator is not known.
      TypeError: it is no string.
    """
    if not isinstance(text, str):
        raise TypeError("fname need to be string")
    try:
        graph = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MXNetError(f"the graph is not JSON: {error}") from None
    records = _part(graph, "nodes", list, "the graph")
    nodes: list[Node] = []
    for i, record in enumerate(records):
        try:
            nodes.append(_node(record, nodes, i))
        except RecursionError:
            raise MXNetError(f"node {i} is nested too deeply") from None
    heads = _part(graph, "heads", list, "the graph")
    if not heads:
        raise MXNetError("the graph has no heads")
    return [_entry(head, nodes, f"head {i}") for i, head in enumerate(heads)]


def _node(record: Any, nodes: list[Node], i: int) -> Node:
    where = f"node {i}"
    kind = _part(record, "op", str, where)
    name = _part(record, "name", str, where)
    where = f"node {i} ({name!r})"
    attrs: dict[str, str] = {}
    for key in ("param", "attr", "attrs"):  # earlier versions of the format
        for k, v in (_part(record, key, dict, where) if key in record else {}).items():
            if not isinstance(v, str):
                raise MXNetError(f"{where}: attribute {k!r} must be a string; got {v!r}")
            attrs[f"__{k}__" if k in HIDDEN else k] = v
    inputs = [
        _entry(entry, nodes, f"{where}, input {k}")
        for k, entry in enumerate(_part(record, "inputs", list, where))
    ]
    if kind == "null":
        if inputs:
            raise MXNetError(f"{where}: a variable reads nothing, but it has {len(inputs)} inputs")
        return Node(None, name, attrs)
    op = custom_operator(attrs) if kind == "Custom" else OPERATORS.get(kind)
    if op is None:
        raise MXNetError(f"{where}: there is no operator {kind!r}")
    of_inputs = {
        key: attrs.pop(key) for key in set(attrs) - set(op.parameters) if _of_an_input(key)
    }
    params = parameters_of(op, attrs, name)
    if op.variadic:
        return Node(op, name, attrs, params, inputs)
    needed = needed_arrays(op, params)
    for key, value in of_inputs.items():
        _give_to_input(key, value, dict(zip(needed, inputs, strict=False)))
    if not len(needed) - len(op.aux) <= len(inputs) <= len(op.arrays):
        raise MXNetError(
            f"{where}: {op.name} reads {', '.join(needed)}; it has {len(inputs)} inputs"
        )
    names = needed if len(needed) >= len(inputs) else op.arrays
    given = dict(zip(names, inputs, strict=False))
    node = Node(op, name, attrs, params, [given.get(a) for a in op.arrays])
    if len(inputs) < len(needed):  # graphs of MXNet 0.8 do not list auxiliary states
        complete(node)
    return node


def _of_an_input(key: str) -> str | None:
    """Which hidden attribute of an input, such as `weight_lr_mult`, a key stands for."""
    return next((h for h in HIDDEN if key.endswith(f"_{h}") and key != f"_{h}"), None)


def _give_to_input(key: str, value: str, inputs: Mapping[str, Entry]) -> None:
    """Moves what graphs of MXNet 0.8 say of an input at the operator to the variable itself."""
    hidden = _of_an_input(key)
    entry = inputs.get(key.removesuffix(f"_{hidden}"))
    if entry is not None and entry.node.op is None:
        entry.node.attrs[f"__{hidden}__"] = value


def _entry(found: Any, nodes: list[Node], where: str) -> Entry:
    if not (
        isinstance(found, list)
        and len(found) in (2, 3)
        and all(isinstance(n, int) and not isinstance(n, bool) for n in found)
    ):
        raise MXNetError(f"{where} must be [node, result, version]; got {found!r}")
    node, index = found[:2]
    if not 0 <= node < len(nodes):
        raise MXNetError(f"{where}: node {node} is not one of the {len(nodes)} before it")
    if not 0 <= index < nodes[node].n_outputs:
        raise MXNetError(f"{where}: node {node} has no result {index}")
    return Entry(nodes[node], index)


def _part(record: Any, key: str, kind: type, where: str) -> Any:
    if not isinstance(record, dict) or not isinstance(record.get(key), kind):
        raise MXNetError(f"{where} must have {key!r}, a {kind.__name__}")
    return record[key]


def save(fname: str | os.PathLike[str], text: str) -> None:
    """Writes the JSON of a graph to a file."""
    if not isinstance(fname, str | os.PathLike):
        raise TypeError("fname need to be string")
    with open(fname, "w", encoding="utf-8") as file:
        file.write(text)


def load(fname: str | os.PathLike[str]) -> list[Entry]:
    """The entries of a graph from a file that holds its JSON."""
    if not isinstance(fname, str | os.PathLike):
        raise TypeError("fname need to be string")
    try:
        with open(fname, encoding="utf-8") as file:
            return read(file.read())
    except (OSError, UnicodeDecodeError, MXNetError) as error:
        raise MXNetError(f"{os.fspath(fname)}: {error}") from error
