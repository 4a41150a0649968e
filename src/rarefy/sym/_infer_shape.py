"""Shapes through a graph, in both directions."""

import ast
from collections.abc import Mapping, Sequence

from rarefy._ops.custom import CustomOperator
from rarefy._ops.shapes import Shape, infer_shapes, is_known, merged, result_shapes
from rarefy.base import MXNetError
from rarefy.sym._node import Entry, Node, in_order
from rarefy.util import is_np_shape

_ROUNDS = 8  # what one pass in both directions leaves open is rarely more than the next one's

Found = dict[tuple[int, int], Shape]
"""The shape of each result, by the identity of its node and its number."""


def infer_graph_shapes(entries: Sequence[Entry], given: Mapping[str, Shape]) -> Found:
    """The shapes of all results in a graph, as far as they follow from those of some variables.

    Args:
      entries: results of the graph.
      given: shapes of variables by name; -1 for a size that is not known.

    Raises:
      MXNetError: an operator does not take such shapes; it is named.
    """
    nodes = in_order(entries)
    found: Found = {}
    for node in nodes:
        for i in range(node.n_outputs):
            found[id(node), i] = None
        if node.op is None:
            found[id(node), 0] = _declared(node, given)
    open_ = [node for node in nodes if node.op is not None]
    for _ in range(_ROUNDS):
        before = dict(found)
        for _direction in "forward", "backward":
            open_ = [node for node in open_ if not _settle(node, found)][::-1]
        if found == before or not open_:
            break
    return found


def _declared(node: Node, given: Mapping[str, Shape]) -> Shape:
    shape, text = given.get(node.name), node.attrs.get("__shape__")
    if text is None or is_known(shape):  # what a caller says in full counts
        return shape
    try:
        return merged(shape, declared_shape(text, node.name))
    except ValueError as error:
        raise MXNetError(f"Error in variable {node.name}: {error}") from None


def declared_shape(text: str, name: str) -> Shape:
    """The shape in a variable's attribute; sizes of 0 are not known."""
    try:
        shape = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        shape = None
    if isinstance(shape, int):
        shape = (shape,)
    if not isinstance(shape, list | tuple) or not all(isinstance(n, int) for n in shape):
        raise MXNetError(f"variable {name}: __shape__ must be a tuple of sizes; got {text[:80]!r}")
    return from_user(shape)


def from_user(shape: Sequence[int]) -> Shape:
    """A shape as MXNet's users give it: 0 and -1 are sizes that are not known, () nothing.

    With NumPy's shapes switched on only -1 is.
    """
    if is_np_shape():
        return tuple(max(n, -1) for n in shape)
    return tuple(n if n > 0 else -1 for n in shape) or None


def for_user(shape: Shape) -> tuple[int, ...] | None:
    """A shape as MXNet's users get it."""
    if is_np_shape():
        return shape
    return () if shape is None else tuple(max(n, 0) for n in shape)


def custom_shapes(op: CustomOperator, arrays: list[Shape], results: list[Shape]):
    """What a custom operator says of its shapes, once that of its first array is known."""
    count = len(op.prop.list_arguments())
    if not arrays or not is_known(arrays[0]):
        return arrays, results
    told = op.prop.infer_shape([list(a) if a else [] for a in arrays[:count]])
    said = [*told[0], *(told[2] if len(told) > 2 else ())]
    arrays = [merged(a, from_user(s)) for a, s in zip(arrays, said, strict=True)]
    return arrays, [merged(r, tuple(s)) for r, s in zip(results, told[1], strict=True)]


def _settle(node: Node, found: Found) -> bool:
    """Fills in what follows about a node's arrays and results; whether all is known and checked."""
    op = node.op
    assert op is not None
    keys = [e and (id(e.node), e.index) for e in node.inputs]
    outs = [(id(node), i) for i in range(node.n_outputs)]
    arrays, results = [k and found[k] for k in keys], [found[k] for k in outs]
    given = [k is not None for k in keys]
    try:
        if isinstance(op, CustomOperator):
            arrays, results = custom_shapes(op, arrays, results)
        else:
            arrays, results = infer_shapes(op, node.params, arrays, results)
        certain = all(is_known(a) for a, g in zip(arrays, given, strict=True) if g)
        traced = result_shapes(op, node.params, arrays, given)
        if traced is not None:
            results = [merged(r, t) for r, t in zip(results, traced, strict=False)]
        for key, shape in (*zip(keys, arrays, strict=True), *zip(outs, results, strict=False)):
            if key is not None:
                found[key] = merged(found[key], shape)
    except (TypeError, ValueError, AssertionError, IndexError) as error:
        raise MXNetError(f"Error in operator {node.name}: {op.name}: {error}") from None
    return certain
