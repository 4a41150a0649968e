"""Graphs as a table and as a picture."""

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rarefy.sym import Symbol
from rarefy.sym._infer_storage import infer_graph_storage
from rarefy.sym._node import Entry, Node

_WEIGHTS = ("_weight", "_bias", "_beta", "_gamma", "_moving_var", "_moving_mean")
_WEIGHTS += ("_running_var", "_running_mean")
_COLOURS = {
    "FullyConnected": "#fb8072",
    "dot": "#fb8072",
    "Embedding": "#fb8072",
    "Activation": "#ffffb3",
    "LeakyReLU": "#ffffb3",
    "BatchNorm": "#bebada",
    "cast_storage": "#80b1d3",
    "_sparse_retain": "#80b1d3",
    "Concat": "#fdb462",
    "Flatten": "#fdb462",
    "Reshape": "#fdb462",
    "SoftmaxOutput": "#b3de69",
}
_VARIABLE, _OTHER = "#8dd3c7", "#fccde5"


def print_summary(
    symbol: Symbol,
    shape: Mapping[str, tuple[int, ...]] | None = None,
    line_length: int = 120,
    positions: Sequence[float] = (0.44, 0.64, 0.74, 1.0),
) -> None:
    """Prints a table of the operators of a graph.

    Args:
      symbol: the graph.
      shape: shapes of variables by name; with them the table says the shape of each result, without
        its first size, and counts parameters: the elements of all variables that are neither given a
        shape here nor labels or auxiliary states.
      line_length: the width of the table.
      positions: where its columns end, as shares of the width or as numbers of characters.

    Raises:
      TypeError: `symbol` is no symbol.
      ValueError: a shape does not follow from those given.

    A result that is not stored densely has its storage type beside its shape.
    """
    if not isinstance(symbol, Symbol):
        raise TypeError("symbol must be Symbol")
    facts = _Facts(symbol, shape, None)
    ends = [int(line_length * p) if positions[-1] <= 1 else int(p) for p in positions]

    def row(*cells: object) -> None:
        line = ""
        for cell, end in zip(cells, ends, strict=True):
            line = f"{line}{cell}"[:end].ljust(end)
        print(line)

    print("_" * line_length)
    row("Layer (type)", "Output Shape", "Param #", "Previous Layer")
    print("=" * line_length)
    nodes = [n for i, n in enumerate(symbol._nodes) if n.op is not None or i == 0]
    counted: set[int] = set()
    total = 0
    for i, node in enumerate(nodes):
        before = [e.node.name for e in node.given() if e.node.op is not None or e.node is nodes[0]]
        count = _parameters(node, facts, shape, counted)
        total += count
        kind = node.op.name if node.op else "null"
        row(f"{node.name}({kind})", facts.text(Entry(node)), count, *(before[:1] or [""]))
        for name in before[1:]:
            row("", "", "", name)
        print(("_" if i + 1 < len(nodes) else "=") * line_length)
    print(f"Total params: {total}")
    print("_" * line_length)


def _parameters(node: Node, facts: "_Facts", shape: Any, counted: set[int]) -> int:
    """How many numbers a node reads that are learned and that no node before it has read."""
    states = {id(e.node) for e in node.states()}
    count = 0
    for entry in node.given():
        variable = entry.node
        known = variable.op is not None or id(variable) in counted or id(variable) in states
        if known or shape is None or variable.name in shape or variable.name.endswith("label"):
            continue
        counted.add(id(variable))
        count += math.prod(facts.shapes[entry])
    return count


def plot_network(
    symbol: Symbol,
    title: str = "plot",
    save_format: str = "pdf",
    shape: Mapping[str, tuple[int, ...]] | None = None,
    dtype: Mapping[str, Any] | None = None,
    node_attrs: Mapping[str, str] | None = None,
    hide_weights: bool = True,
) -> Any:
    """Draws a graph; needs the package `graphviz`.

    Args:
      symbol: the graph.
      title: of the drawing.
      save_format: of the file that it can be rendered to.
      shape: shapes of variables by name: shapes are written on the edges.
      dtype: dtypes of variables by name: dtypes are written on the edges.
      node_attrs: attributes of Graphviz for the nodes.
      hide_weights: whether variables whose names end as those of weights do are left out.

    Returns:
      A `graphviz.Digraph`. The edges say how arrays are stored that are not dense.

    Raises:
      ImportError: `graphviz` is not installed.
      TypeError: `symbol` is no symbol.
      ValueError: a shape or dtype does not follow from those given.
    """
    try:
        from graphviz import Digraph  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise ImportError("Draw network requires graphviz library: pip install graphviz") from None
    if not isinstance(symbol, Symbol):
        raise TypeError("symbol must be a Symbol")
    facts, nodes = _Facts(symbol, shape, dtype), symbol._nodes
    names = [node.name for node in nodes]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        warnings.warn(
            "There are multiple variables with the same name in your graph, this may result in "
            f"cyclic graph. Repeated names: {','.join(repeated)}",
            RuntimeWarning,
            stacklevel=2,
        )
    style = {"shape": "box", "fixedsize": "true", "width": "1.3", "height": "0.8034"}
    style = {**style, "style": "filled", **(node_attrs or {})}
    drawing = Digraph(name=title, format=save_format)
    hidden = set()
    for node in nodes:
        if node.op is None and node.name.endswith(_WEIGHTS):
            # Without hide_weights the edge to it draws an empty oval, as in MXNet.
            if hide_weights:
                hidden.add(node.name)
            continue
        drawing.node(name=node.name, label=_label(node), **{**style, **_look(node)})
    for node in nodes:
        for entry in node.given():
            if entry.node.name not in hidden:
                drawing.edge(
                    tail_name=node.name,
                    head_name=entry.node.name,
                    dir="back",
                    arrowtail="open",
                    label=facts.text(entry),
                )
    return drawing


def _look(node: Node) -> dict[str, str]:
    if node.op is None:
        return {"shape": "oval", "fillcolor": _VARIABLE}
    return {"fillcolor": _COLOURS.get(node.op.name, _OTHER)}


def _label(node: Node) -> str:
    if node.op is None:
        return node.name
    told = {"FullyConnected": "num_hidden", "Activation": "act_type", "LeakyReLU": "act_type"}
    key = told.get(node.op.name)
    return node.name if key is None else f"{node.op.name}\n{node.params[key]}"


class _Facts:
    """Shapes, dtypes and storage types of all results in a graph, as far as they are asked for."""

    def __init__(self, symbol: Symbol, shape: Any, dtype: Any):
        internals = symbol.get_internals()
        entries = internals._entries
        self.shapes: dict[Entry, tuple[int, ...]] = {}
        self._types: dict[Entry, str] = {}
        if shape is not None:
            _, found, _ = internals.infer_shape(**shape)
            if found is None:
                raise ValueError("Input shape is incomplete")
            self.shapes = dict(zip(entries, found, strict=True))
        if dtype is not None:
            _, found, _ = internals.infer_type(**dtype)
            if found is None:
                raise ValueError("Input type is incomplete")
            self._types = dict(zip(entries, (np.dtype(t).name for t in found), strict=True))
        self._stored = infer_graph_storage(entries, {})

    def text(self, entry: Entry) -> str:
        """Shape without its first size, dtype, and the storage type if it is not dense."""
        parts = ["x".join(map(str, self.shapes.get(entry, ())[1:]))]
        if entry in self._types:
            parts.append(f"({self._types[entry]})")
        stype = self._stored[id(entry.node)].outputs[entry.index]
        if stype != "default":
            parts.append(stype)
        return " ".join(part for part in parts if part)
