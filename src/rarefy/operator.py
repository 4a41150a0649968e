"""Operators written in Python, in MXNet's style: `CustomOp`, `CustomOpProp` and `register`."""

from rarefy.nd._custom import (
    CustomOp,
    CustomOpProp,
    get_all_registered_operators,
    register,
)

__all__ = ["CustomOp", "CustomOpProp", "get_all_registered_operators", "register"]
