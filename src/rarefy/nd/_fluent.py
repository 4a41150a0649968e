"""The methods that arrays have because operators exist: `x.sum(axis=0)` is `nd.sum(x, axis=0)`."""

from typing import Any

from rarefy._ops.defs import OPERATORS
from rarefy._ops.render import render
from rarefy.nd._invoke import invoke

METHODS = (
    *("abs", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "cbrt", "ceil", "clip"),
    *("cos", "cosh", "degrees", "exp", "expm1", "fix", "floor", "log", "log10", "log1p", "log2"),
    *("radians", "rcbrt", "reciprocal", "relu", "rint", "round", "rsqrt", "sigmoid", "sign", "sin"),
    *("sinh", "sqrt", "square", "tan", "tanh", "trunc", "zeros_like", "ones_like"),
    *("sum", "mean", "prod", "nansum", "nanprod", "max", "min", "norm", "argmax", "argmin"),
    *("argmax_channel", "sort", "argsort", "topk", "softmax", "log_softmax", "softmin"),
    *("broadcast_axes", "broadcast_like", "broadcast_to", "diag", "expand_dims", "flatten", "flip"),
    *("one_hot", "pad", "pick", "repeat", "reshape_like", "shape_array", "size_array", "slice"),
    *("depth_to_space", "space_to_depth"),
    *("slice_axis", "slice_like", "split", "squeeze", "swapaxes", "take", "tile", "transpose"),
)
"""Operators that are methods too. `reshape`, `astype`, `copy` and the like are written by hand."""


class Fluent:
    """The methods that arrays have because operators exist."""

    __slots__ = ()


def _method(name: str) -> Any:
    function: Any = render(OPERATORS[name], name, invoke, module="rarefy.nd")

    def call(self, *args, **kwargs):
        return function(self, *args, **kwargs)

    method: Any = call
    method.__name__ = name
    method.__qualname__ = f"NDArray.{name}"
    method.__doc__ = function.__doc__
    method.__signature__ = function.__signature__
    return method


for _name in METHODS:
    setattr(Fluent, _name, _method(_name))
