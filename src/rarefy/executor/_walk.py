"""Running a graph on arrays, node by node."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rarefy._ops.custom import CustomOperator
from rarefy._ops.opdef import Operator
from rarefy.nd import Custom, NDArray, zeros_like
from rarefy.nd._invoke import invoke
from rarefy.sym import Symbol
from rarefy.sym._node import Node

Seen = Callable[[str, NDArray], None]


class Walk:
    """The nodes of a graph in an order that they can be run in.

    Args:
      symbol: the graph.

    Attributes:
      symbol: the graph.
      variables: its variables, in the order that `run` takes their arrays.
    """

    def __init__(self, symbol: Symbol):
        self.symbol = symbol
        nodes = symbol._nodes
        places: dict[tuple[int, int], int] = {}
        for node in nodes:
            for i in range(node.n_outputs):
                places[id(node), i] = len(places)
        self.variables = [node for node in nodes if node.op is None]
        self._inputs = [places[id(node), 0] for node in nodes if node.op is None]
        self._steps = [_Step(node, places) for node in nodes if node.op is not None]
        self._heads = [places[id(e.node), e.index] for e in symbol._entries]
        self._count = len(places)

    def run(self, arrays: Sequence[NDArray], seen: Seen | None = None, inputs: bool = False):
        """The results on arrays.

        Args:
          arrays: one for each variable.
          seen: is told the name and the array of each operator's results.
          inputs: whether it is told those of what operators read as well.

        Returns:
          A list of arrays.
        """
        values: list[Any] = [None] * self._count
        for place, array in zip(self._inputs, arrays, strict=True):
            values[place] = array
        for step in self._steps:
            if seen is not None and inputs:
                step.show_inputs(values, seen)
            given = [None if p is None else values[p] for p in step.inputs]
            results = step.run(given)
            results = results if isinstance(results, list) else [results]
            for place, result in zip(step.outputs, results, strict=True):
                values[place] = result
            if seen is not None:
                for name, result in zip(step.names, results, strict=True):
                    seen(name, result)
                step.show_gradients(given, results, seen)
        return [values[p] for p in self._heads]


class _Shown:
    """A recorded operator that tells of the gradients of its arrays when it is gone back through.

    Args:
      node: the operator on the tape.
      names: what the gradient of each array is called, by its position.
      arrays: the arrays.
      seen: is told name and gradient; a gradient that nobody asked for is zero.
    """

    def __init__(
        self, node: Any, names: Mapping[int, str], arrays: Sequence[NDArray | None], seen: Seen
    ):
        self.number, self.inputs, self.outputs = node.number, node.inputs, node.outputs
        self.differentiable = node.differentiable
        self.held, self.release = node.held, node.release
        self._pull_back, self._names, self._seen = node.pull_back, names, seen
        self._arrays = arrays

    def pull_back(self, cotangents: Sequence[Any]) -> tuple[Any, ...]:
        """Cotangents of the inputs from those of the outputs."""
        found = self._pull_back(cotangents)
        for i, name in self._names.items():
            array = self._arrays[i]
            assert array is not None
            gradient = zeros_like(array) if found[i] is None else NDArray._wrap(found[i])
            gradient._ctx = array.context
            self._seen(name, gradient)
        return found


class _Step:
    """One operator of a graph, with the places of what it reads and writes."""

    def __init__(self, node: Node, places: Mapping[tuple[int, int], int]):
        assert node.op is not None
        self.op: Operator = node.op
        self.params = node.params
        self.inputs = [e and places[id(e.node), e.index] for e in node.inputs]
        self.outputs = [places[id(node), i] for i in range(node.n_outputs)]
        self.names = node.output_names()
        read = [
            i
            for i, (entry, name) in enumerate(zip(node.inputs, node.arrays, strict=True))
            if entry is not None and name not in node.op.aux
        ]
        called = f"{node.name}_backward_output"
        self._gradients = {
            i: f"{called}{k}" if len(read) > 1 else called for k, i in enumerate(read)
        }
        self._reads = [
            (
                e.name if e.node.op is None else None,
                f"{node.name}_{array}",
                places[id(e.node), e.index],
            )
            for e, array in zip(node.inputs, node.arrays, strict=True)
            if e is not None
        ]

    def show_gradients(self, arrays: Sequence[Any], results: Sequence[NDArray], seen: Seen) -> None:
        """Has `seen` told of the gradients of what the operator reads, once they are computed."""
        node = next((r._slot.node for r in results if r._slot is not None), None)
        if node is None:  # not recorded
            return
        shown = _Shown(node, self._gradients, arrays, seen)
        for slot in node.outputs:
            slot.node = shown

    def run(self, arrays: Sequence[Any]) -> Any:
        """The results of the operator on arrays."""
        op = self.op
        if isinstance(op, CustomOperator):
            return Custom(*arrays, op_type=op.op_type, **op.options)
        return invoke(op, arrays, self.params)

    def show_inputs(self, values: Sequence[Any], seen: Seen) -> None:
        for variable, name, place in self._reads:
            if variable is not None:
                seen(variable, values[place])
            seen(name, values[place])
