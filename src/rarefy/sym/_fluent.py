"""The methods that symbols have because operators exist: `x.sum(axis=0)` is `sym.sum(x, axis=0)`."""

from typing import Any

from rarefy._ops.defs import OPERATORS
from rarefy._ops.methods import METHODS
from rarefy._ops.render import signature
from rarefy.base import NotImplementedForSymbol
from rarefy.sym._apply import called


class Fluent:
    """The methods that symbols have because operators exist, and those that only arrays have."""

    __slots__ = ()


def _method(name: str) -> Any:
    op = OPERATORS[name]

    def call(self, *args, **kwargs):
        kwargs.pop("inplace", None)
        return type(self)(called(op, name, (self, *args), kwargs))

    method: Any = call
    method.__name__, method.__qualname__ = name, f"Symbol.{name}"
    method.__doc__, method.__signature__ = op.fn.__doc__, signature(op)
    return method


def _refused(name: str) -> Any:
    def call(self, *args, **kwargs):
        raise NotImplementedForSymbol(getattr(self, name), None, *args)

    method: Any = call
    method.__name__, method.__doc__ = name, "Only arrays have this method."
    return method


for _name in METHODS:
    setattr(Fluent, _name, _method(_name))
for _name in ("wait_to_read", "asnumpy", "asscalar", "copy", "as_in_context", "detach", "backward"):
    setattr(Fluent, _name, _refused(_name))
