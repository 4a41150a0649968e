"""Which results of a graph need a gradient to go back from."""

from collections.abc import Set
from typing import Any

from rarefy._ops.custom import CustomOperator
from rarefy.sym import Symbol
from rarefy.sym._node import Node

_LOSSES = frozenset(
    (
        "SoftmaxOutput",
        "LinearRegressionOutput",
        "LogisticRegressionOutput",
        "MAERegressionOutput",
        "SVMOutput",
        "MakeLoss",
        "make_loss",
    )
)


def is_loss(node: Node) -> bool:
    """Whether an operator needs no gradient of its result to go back from."""
    if isinstance(node.op, CustomOperator):
        return not node.op.prop.need_top_grad_
    return node.op is not None and node.op.name in _LOSSES


def heads_that_need_gradients(symbol: Symbol, wanted: Set[str]) -> list[bool | None]:
    """For each result whether it needs a gradient: None if no gradient that is wanted depends on it.

    Args:
      symbol: the graph.
      wanted: the names of the variables whose gradients are wanted.
    """
    reaches: dict[int, Any] = {}
    for node in symbol._nodes:
        if node.op is None:
            reaches[id(node)] = node.name in wanted
        else:
            stops = not node.op.differentiable or node.op.name == "BlockGrad"
            reaches[id(node)] = not stops and any(reaches[id(e.node)] for e in node.given())
    return [not is_loss(e.node) if reaches[id(e.node)] else None for e in symbol._entries]
