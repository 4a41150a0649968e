"""The operators that have no place in a public namespace: `x + 2` is `_internal._plus_scalar(x, 2)`."""

from rarefy._ops.defs import OPERATORS as _OPERATORS
from rarefy._ops.render import render as _render
from rarefy.nd._invoke import invoke as _invoke

globals().update(
    {
        name: _render(op, name, _invoke, module="rarefy.nd._internal")
        for name, op in _OPERATORS.items()
        if name.startswith("_")
    }
)
