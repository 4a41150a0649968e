"""Applying an operator to symbols: a call becomes a node."""

from collections.abc import Mapping, Sequence
from typing import Any

from rarefy import attribute
from rarefy import name as naming
from rarefy._ops.opdef import Operator
from rarefy._ops.render import argument_order
from rarefy.base import MXNetError
from rarefy.sym._graph import Graph, single, stored_attributes
from rarefy.sym._node import Entry, Node, complete
from rarefy.sym._params import as_text, parameters_of


def called(op: Operator, hint: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Entry]:
    """The results of a call of an operator's function.

    Args:
      op: the operator.
      hint: what its name begins with if it is given none.
      args: arrays (symbols), then parameters.
      kwargs: the same by name; also `name`, `attr` (a dict of attributes) and attributes.

    Raises:
      AssertionError: an array is no symbol.
      MXNetError: a parameter is missing, unknown or not of its type; a symbol has several results.
      TypeError: there are too many arguments.
    """
    given = dict(kwargs)
    name, attr = given.pop("name", None), given.pop("attr", None)
    given.pop("out", None)
    attrs = stored_attributes(attribute.current().get(attr))
    if op.variadic:
        inputs = _several(args, given)
        attrs["num_args"] = str(len(inputs))
    else:
        inputs = _named(op, args, given)
    for key, value in given.items():
        if value is ... or (key == "dtype" and value is None):
            continue
        attrs.update(stored_attributes({key: as_text(key, value)}))
    return applied(op, hint, inputs, attrs, name)


def applied(
    op: Operator,
    hint: str,
    inputs: Sequence[Entry | None],
    attrs: dict[str, str],
    name: str | None = None,
) -> list[Entry]:
    """The results of an operator on entries.

    Args:
      op: the operator.
      hint: what its name begins with if it is given none.
      inputs: for each array an entry, or None where it is left out.
      attrs: parameters and attributes as strings.
      name: its name.
    """
    params = parameters_of(op, attrs, name or "")
    node = Node(op, naming.current().get(name, hint), attrs, params, inputs)
    complete(node)
    return [Entry(node, i) for i in range(node.n_outputs)]


def _several(args: Sequence[Any], given: dict[str, Any]) -> list[Entry | None]:
    for value in args:
        if not isinstance(value, Graph):
            raise AssertionError(f"Positional arguments must be Symbol instances, but got {value}")
    inputs: list[Entry | None] = [single(value, f"{i}") for i, value in enumerate(args)]
    named = {k: given.pop(k) for k, v in list(given.items()) if isinstance(v, Graph)}
    inputs += [single(named[k], k) for k in sorted(named)]
    count = int(given.pop("num_args", len(inputs)))
    if not inputs and count < 1:
        raise MXNetError("value 0 for Parameter num_args should be greater equal to 1")
    return inputs + [None] * (count - len(inputs))


def _named(op: Operator, args: Sequence[Any], given: dict[str, Any]) -> list[Entry | None]:
    order = argument_order(op)
    if len(args) > len(order):
        raise TypeError(f"{op.name} takes at most {len(order)} arguments; got {len(args)}")
    for key, value in zip(order, args, strict=False):
        if given.get(key) is not None:
            raise TypeError(f"{op.name} got two values for {key}")
        given[key] = value
    inputs: list[Entry | None] = []
    for key in op.arrays:
        value = given.pop(key, None)
        if value is not None and not isinstance(value, Graph):
            raise AssertionError(f"Argument {key} must be Symbol instances, but got {value}")
        inputs.append(None if value is None else single(value, key))
    for key, value in given.items():
        if isinstance(value, Graph):
            raise MXNetError(f"{op.name}: Keyword argument name {key} not found; it takes {order}")
    return inputs
