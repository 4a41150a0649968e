"""The operators that have a rule for sparse storage."""

from rarefy._ops.defs import OPERATORS as _OPERATORS
from rarefy.sym._render import namespace as _namespace
from rarefy.sym._render import render as _render

elemwise_div = _render(_OPERATORS["elemwise_div"], "elemwise_div", module="rarefy.sym.sparse")

globals().update(_namespace(module="rarefy.sym.sparse", sparse=True))
