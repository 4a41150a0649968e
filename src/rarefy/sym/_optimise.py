"""Rewriting a graph so that less is computed: casts that undo one another, rows that are not kept."""

from collections import Counter
from collections.abc import Mapping, Sequence

from rarefy._ops.defs import OPERATORS
from rarefy.sym._infer_storage import Stored
from rarefy.sym._node import Entry, Node, in_order

_ROW_BY_ROW = frozenset(
    (
        *("_copy", "_div_scalar", "_mul_scalar", "abs", "cbrt", "ceil", "expm1", "fix", "floor"),
        *("log1p", "negative", "relu", "rint", "round", "sign", "sin", "sinh", "sqrt", "square"),
        *("tan", "tanh", "trunc", "elemwise_add", "elemwise_sub"),
    )
)
"""Operators on row_sparse arrays whose rows come each from the rows of that number."""

REMOVED, MOVED = "removed", "on kept rows"

_RETAIN = OPERATORS["_sparse_retain"]


def optimise(
    entries: Sequence[Entry], stored: Mapping[int, Stored]
) -> tuple[list[Entry], dict[int, str]]:
    """A graph that gives the same results with less work.

    A `cast_storage` that changes nothing, or takes back what the one before it did, is left out. A
    `retain` of rows of an elementwise result is done on the arrays that the result is computed from, so
    that only rows that are kept are computed.

    Args:
      entries: results of the graph, which is left as it is.
      stored: how its nodes are stored, from `infer_graph_storage`.

    Returns:
      The entries of the new graph; and what has become of nodes of the old one, by identity.
    """
    rewriting = _Rewriting(entries, stored)
    return [rewriting.new(e) for e in entries], rewriting.notes


class _Rewriting:
    def __init__(self, entries: Sequence[Entry], stored: Mapping[int, Stored]):
        self.notes: dict[int, str] = {}
        self._stored = stored
        order = in_order(entries)
        self._readers = Counter((id(e.node), e.index) for n in order for e in n.given())
        self._readers.update((id(e.node), e.index) for e in entries)
        self._new: dict[tuple[int, int], Entry] = {}
        for node in order:
            for i, entry in enumerate(self._rewritten(node)):
                self._new[id(node), i] = entry

    def new(self, entry: Entry) -> Entry:
        """What stands for a result of the old graph in the new one."""
        return self._new[id(entry.node), entry.index]

    def _rewritten(self, node: Node) -> list[Entry]:
        op = node.op
        if op is None:
            return [Entry(node)]
        if op.name == "cast_storage":
            source = self._before_casts(node)
            if source is not None:
                self.notes[id(node)] = REMOVED
                return [self.new(source)]
        if op is _RETAIN:
            rows, ids = node.given()
            if self._is_row_by_row(rows):
                self.notes[id(node)] = REMOVED
                return [self._retained(rows, self.new(ids), node)]
        inputs = [e and self.new(e) for e in node.inputs]
        if inputs == node.inputs:
            return [Entry(node, i) for i in range(node.n_outputs)]
        copy = Node(op, node.name, node.attrs, node.params, inputs)
        return [Entry(copy, i) for i in range(node.n_outputs)]

    def _before_casts(self, node: Node) -> Entry | None:
        """An array that is already what a cast makes of it, from before the casts that lead here."""
        (source,) = node.given()
        wanted = node.params["stype"]
        while self._stype(source) != wanted:
            before = source.node
            if before.op is None or before.op.name != "cast_storage":
                return None
            (source,) = before.given()
        return source

    def _is_row_by_row(self, entry: Entry) -> bool:
        """Whether a result that nothing else reads may be computed for some rows alone."""
        op = entry.node.op
        if op is None or op.name not in _ROW_BY_ROW or self._readers[id(entry.node), 0] > 1:
            return False
        kinds = {self._stype(entry), *map(self._stype, entry.node.given())}
        return kinds == {"row_sparse"}

    def _retained(self, entry: Entry, ids: Entry, retain: Node) -> Entry:
        """The rows `ids` of an old result, computed from such rows as early as may be."""
        node = entry.node
        if not self._is_row_by_row(entry):
            name = f"{retain.name}_{node.name}"
            return Entry(Node(_RETAIN, name, retain.attrs, retain.params, [self.new(entry), ids]))
        self.notes[id(node)] = MOVED
        inputs = [self._retained(e, ids, retain) for e in node.given()]
        return Entry(Node(node.op, node.name, node.attrs, node.params, inputs))

    def _stype(self, entry: Entry) -> str:
        return self._stored[id(entry.node)].outputs[entry.index]
