"""Nodes of a graph: a variable, or an operator with its parameters and inputs."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rarefy._ops.custom import CustomOperator
from rarefy._ops.opdef import Operator
from rarefy._ops.shapes import needed_arrays

HIDDEN = ("ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage", "profiler_scope")
"""Attributes that are stored as `__name__` and may be asked for as `name`."""

_DEVIATION = ("output", "mean", "std")
OUTPUT_NAMES = {"BatchNorm": ("output", "mean", "var")} | {
    "LayerNorm": _DEVIATION,
    "GroupNorm": _DEVIATION,
}
"""How the results of an operator are called where it has several; else output0, output1, ..."""

_NUMBERED = ("sort", "SliceChannel", "_split_v2")
"""Operators whose result has a number also where it is the only one."""


class Node:
    """A variable or an operator in a graph.

    Attributes:
      op: the operator; None for a variable.
      name: its name.
      attrs: its parameters, as they were given, and its attributes: strings.
      params: all parameters of the operator by name.
      inputs: what it reads: an entry for each array, None for an optional one that is absent.
    """

    __slots__ = ("attrs", "inputs", "name", "op", "params")

    def __init__(
        self,
        op: Operator | None,
        name: str,
        attrs: dict[str, str],
        params: dict[str, Any] | None = None,
        inputs: "Sequence[Entry | None]" = (),
    ):
        self.op = op
        self.name = name
        self.attrs = attrs
        self.params = params or {}
        self.inputs: list[Entry | None] = list(inputs)

    @property
    def arrays(self) -> tuple[str, ...]:
        """The name of each array that it reads, in order."""
        assert self.op is not None
        if self.op.variadic:
            return tuple(f"arg{i}" for i in range(len(self.inputs)))
        return self.op.arrays

    @property
    def n_outputs(self) -> int:
        """How many results it has that may be read."""
        op = self.op
        if op is None:
            return 1
        return op.n_returned(self.params) if op.updates else op.n_results(self.params) - len(op.aux)

    def given(self) -> "list[Entry]":
        """What it reads, without what is absent."""
        return [entry for entry in self.inputs if entry is not None]

    def output_names(self) -> list[str]:
        """The name of each result."""
        if self.op is None:
            return [self.name]
        if isinstance(self.op, CustomOperator):
            return [f"{self.name}_{name}" for name in self.op.prop.list_outputs()]
        count = self.n_outputs
        numbered = self.op.name in _NUMBERED or self.params.get("ret_typ") == "value"
        if count == 1 and not numbered:
            return [f"{self.name}_output"]
        names = OUTPUT_NAMES.get(self.op.name, [f"output{i}" for i in range(count)])
        return [f"{self.name}_{name}" for name in names[:count]]

    def states(self) -> "Iterator[Entry]":
        """The inputs that are auxiliary states."""
        if self.op is not None:
            for name in self.op.aux:
                entry = self.inputs[self.op.arrays.index(name)]
                if entry is not None:
                    yield entry


@dataclass(frozen=True)
class Entry:
    """One result of a node."""

    node: Node
    index: int = 0

    @property
    def name(self) -> str:
        return self.node.output_names()[self.index]


def in_order(entries: Iterable[Entry]) -> list[Node]:
    """The nodes that the entries depend on, each after those it reads, in MXNet's order."""
    found: list[Node] = []
    seen: set[int] = set()
    stack: list[tuple[Node, Iterator[Entry]]] = []
    for start in entries:
        if id(start.node) in seen:
            continue
        seen.add(id(start.node))
        stack.append((start.node, iter(start.node.given())))
        while stack:
            node, rest = stack[-1]
            for entry in rest:
                if id(entry.node) not in seen:
                    seen.add(id(entry.node))
                    stack.append((entry.node, iter(entry.node.given())))
                    break
            else:
                stack.pop()
                found.append(node)
    return found


def replaced(entries: Sequence[Entry], instead: dict[str, Entry]) -> list[Entry]:
    """Copies of entries whose graphs have other entries in the place of some variables.

    Args:
      entries: results of a graph, which is left as it is.
      instead: what stands for a variable, by its name.
    """
    copies: dict[int, Entry] = {}
    for node in in_order(entries):
        if node.op is None and node.name in instead:
            copies[id(node)] = instead[node.name]
            continue
        inputs = [e and Entry(copies[id(e.node)].node, _index(copies, e)) for e in node.inputs]
        copy = Node(node.op, node.name, dict(node.attrs), node.params, inputs)
        copies[id(node)] = Entry(copy)
    return [Entry(copies[id(e.node)].node, _index(copies, e)) for e in entries]


def _index(copies: dict[int, Entry], entry: Entry) -> int:
    # A variable is replaced by one result of a node, which need not be its first.
    return copies[id(entry.node)].index if entry.node.op is None else entry.index


def complete(node: Node) -> None:
    """Makes variables of the arrays that an operator needs and is not given: `fc_weight`.

    They get its attributes, as in MXNet.
    """
    op = node.op
    assert op is not None
    needed = node.arrays if op.variadic else needed_arrays(op, node.params)
    for i, name in enumerate(node.arrays):
        if i < len(node.inputs) and node.inputs[i] is None and name in needed:
            variable = Node(None, f"{node.name}_{name}", dict(node.attrs))
            node.inputs[i] = Entry(variable)
    for position, text in _INITIAL.get(op.name, {}).items():
        entry = node.inputs[position]
        if entry is not None and entry.node.op is None:
            entry.node.attrs.setdefault("__init__", text)


_INITIAL = {
    "BatchNorm": {3: '["zero", {}]', 4: '["one", {}]'},
    "LeakyReLU": {1: '["Constant", {"value": 0.25}]'},
}
"""How the variables of an operator begin, by their position."""
