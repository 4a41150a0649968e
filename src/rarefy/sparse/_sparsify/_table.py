"""The table of rules, family by family."""

from rarefy.sparse._sparsify import (
    _calls,
    _custom,
    _elementwise,
    _loops,
    _product,
    _reduce,
    _shape,
)
from rarefy.sparse._sparsify._values import Rule
from rarefy.sparse._sparsify._walk import Walk

RULES: dict[str, Rule] = {**_shape.RULES, **_reduce.RULES, **_product.RULES}
"""Rules for BCOO and dense operands, which a BCSR comes to as BCOO."""

NATIVE: dict[str, Rule] = {
    **_elementwise.NATIVE,
    **_shape.NATIVE,
    **_product.NATIVE,
    **_calls.NATIVE,
    **_custom.NATIVE,
    **_loops.NATIVE,
}
"""Rules that take operands of any kind."""


def new_walk(*, only_compiled: bool = False) -> Walk:
    """A walk with all rules."""
    return Walk(RULES, NATIVE, only_compiled=only_compiled)
