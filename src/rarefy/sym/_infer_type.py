"""Dtypes through a graph, in both directions."""

from collections.abc import Mapping, Sequence

import numpy as np

from rarefy._ops.custom import CustomOperator
from rarefy._ops.dtypes import Dtype, infer_dtypes
from rarefy.base import MXNetError
from rarefy.sym._node import Entry, in_order

CODES = {"-1": None, "0": "float32", "1": "float64", "2": "float16", "3": "uint8"} | {
    "4": "int32",
    "5": "int8",
    "6": "int64",
    "7": "bool",
    "12": "bfloat16",
}
"""The numbers that stand for dtypes in the attribute `__dtype__`."""

Found = dict[tuple[int, int], Dtype]


def code_of(dtype: object) -> str:
    """The number that stands for a dtype in `__dtype__`."""
    name = np.dtype(dtype).name  # type: ignore[call-overload]
    for code, known in CODES.items():
        if known == name:
            return code
    raise MXNetError(f"arrays of dtype {name} are not known")


def infer_graph_types(
    entries: Sequence[Entry], given: Mapping[str, Dtype], *, blank: Dtype = None
) -> Found:
    """The dtypes of all results in a graph, as far as they follow from those of some variables.

    Args:
      entries: results of the graph.
      given: dtypes of variables by name.
      blank: the dtype of a variable of which nothing else is known in the end.

    Raises:
      MXNetError: an operator does not take such dtypes; it is named.
    """
    nodes = in_order(entries)
    found: Found = {}
    for node in nodes:
        for i in range(node.n_outputs):
            found[id(node), i] = None
        if node.op is None:
            declared = CODES.get(node.attrs.get("__dtype__", "-1"))
            found[id(node), 0] = given.get(node.name) or declared
    operators = [node for node in nodes if node.op is not None]
    variables = [node for node in nodes if node.op is None]
    while True:
        before = None
        while found != before:
            before = dict(found)
            for node in (*operators, *reversed(operators)):
                _visit(node, found)
        unknown = [v for v in variables if found[id(v), 0] is None]
        if blank is None or not unknown:
            return found
        found[id(unknown[0]), 0] = blank


def custom_types(op: CustomOperator, arrays: list[Dtype], results: list[Dtype]):
    """What a custom operator says of its dtypes, once that of its first array is known."""
    count = len(op.prop.list_arguments())
    if not arrays or arrays[0] is None:
        return arrays, results
    told = op.prop.infer_type([np.dtype(a or arrays[0]).type for a in arrays[:count]])
    said = [*told[0], *(told[2] if len(told) > 2 else ())]
    return [np.dtype(s).name for s in said], [np.dtype(s).name for s in told[1]]


def _visit(node, found: Found) -> None:
    keys = [e and (id(e.node), e.index) for e in node.inputs]
    outs = [(id(node), i) for i in range(node.n_outputs)]
    arrays, results = [k and found[k] for k in keys], [found[k] for k in outs]
    try:
        if isinstance(node.op, CustomOperator):
            arrays, results = custom_types(node.op, arrays, results)
        else:
            arrays, results = infer_dtypes(node.op, node.params, arrays, results)
    except ValueError as error:
        raise MXNetError(f"Error in operator {node.name}: {node.op.name}: {error}") from None
    for key, dtype in (*zip(keys, arrays, strict=True), *zip(outs, results, strict=True)):
        if key is not None and found[key] is None:
            found[key] = dtype
