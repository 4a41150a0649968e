"""The methods that arrays have because operators exist: `x.sum(axis=0)` is `nd.sum(x, axis=0)`."""

from typing import Any

from rarefy._ops.defs import OPERATORS
from rarefy._ops.methods import METHODS
from rarefy._ops.render import render
from rarefy.nd._invoke import invoke


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
