"""Operators written in Python, as arrays and graphs know them: by what their class says of them."""

from dataclasses import dataclass
from typing import Any

from rarefy._ops.opdef import Operator
from rarefy.base import MXNetError

PROPS: dict[str, type] = {}
"""The classes that describe custom operators (`rarefy.operator.CustomOpProp`), by `op_type`."""


@dataclass(eq=False)
class CustomOperator(Operator):
    """A custom operator in a graph.

    Attributes:
      op_type: the name it was registered with.
      options: what its class is made with.
      prop: an instance of its class.
    """

    op_type: str = ""
    options: Any = None
    prop: Any = None


def prop_of(op_type: str, options: dict[str, str]) -> Any:
    """An instance of the class that was registered under a name.

    Raises:
      MXNetError: there is none.
    """
    if op_type not in PROPS:
        known = ", ".join(PROPS) or "none"
        raise MXNetError(f"Custom: op_type {op_type!r} is not registered; there is {known}")
    return PROPS[op_type](**options)


def custom_operator(attrs: dict[str, str]) -> CustomOperator:
    """The operator that the attributes of a node name.

    Raises:
      MXNetError: they name none.
    """
    if "op_type" not in attrs:
        raise MXNetError("Custom: Required parameter op_type is not presented")
    options = {k: v for k, v in attrs.items() if k != "op_type" and not k.startswith("__")}
    prop = prop_of(attrs["op_type"], options)
    states = tuple(prop.list_auxiliary_states())
    return CustomOperator(
        name="Custom",
        fn=_no_meaning,
        arrays=(*prop.list_arguments(), *states),
        optional=frozenset(),
        variadic=False,
        parameters={},
        scalars=frozenset(),
        aux=states,
        results=len(prop.list_outputs()) + len(states),
        op_type=attrs["op_type"],
        options=options,
        prop=prop,
    )


def _no_meaning(*arrays: Any) -> Any:
    raise NotImplementedError("a custom operator runs on arrays, not on their values")
