"""The functions of the namespaces: from the registry of operators to functions of symbols."""

from collections.abc import Callable, Mapping

from rarefy._ops.opdef import OPERATORS, Operator
from rarefy._ops.render import operators_of, public_operators, signature
from rarefy.sym._apply import called
from rarefy.sym._symbol import Symbol


def render(op: Operator, name: str, *, module: str) -> Callable[..., Symbol]:
    """The function of an operator in a namespace.

    It takes the operator's arrays, as symbols, then its parameters, by position or by name, then `name`
    and `attr`. Arrays that it needs and is not given become variables.
    """
    hint = name.lower()

    def function(*args, **kwargs) -> Symbol:
        return Symbol(called(op, hint, args, kwargs))

    function.__name__ = function.__qualname__ = name
    function.__module__ = module
    function.__doc__ = op.fn.__doc__
    function.__signature__ = signature(op)  # type: ignore[attr-defined]
    return function


def namespace(
    *, module: str, sparse: bool = False, prefix: str = ""
) -> Mapping[str, Callable[..., Symbol]]:
    """All functions of a namespace by name: of the public operators, or of those with a prefix."""
    operators = operators_of(prefix) if prefix else public_operators(sparse=sparse)
    return {name: render(op, name, module=module) for name, op in operators.items()}


def internal(*, module: str) -> Mapping[str, Callable[..., Symbol]]:
    """The functions of the operators that have no place in a public namespace."""
    return {
        name: render(op, name, module=module)
        for name, op in OPERATORS.items()
        if name.startswith("_")
    }
