"""From the registry to namespaces: functions with real signatures and documentation, and stubs."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np

from rarefy._ops.opdef import OPERATORS, Operator
from rarefy.base import ParameterError

Invoke = Callable[[Operator, Sequence[Any], dict[str, Any], Any], Any]


def public_operators(*, sparse: bool = False) -> dict[str, Operator]:
    """The operators of a namespace by name; the sparse namespace has those with a sparse rule."""
    return {
        name: op
        for name, op in sorted(OPERATORS.items())
        if op.visible == "public" and (op.is_sparse or not sparse)
    }


def operators_of(prefix: str) -> dict[str, Operator]:
    """The operators of a namespace that their names begin with, by the rest of their names."""
    return {
        name.removeprefix(prefix): op
        for name, op in sorted(OPERATORS.items())
        if name.startswith(prefix)
    }


def render(op: Operator, name: str, invoke: Invoke, *, module: str) -> Callable[..., Any]:
    """The function of an operator in a namespace.

    It takes the operator's arrays, then its parameters, by position or by name, then `out` and `name`.
    One that makes an array of nothing takes `ctx` before `dtype`, where the array is to live.
    """
    order = argument_order(op)
    known = {*order, "out", "name"}
    defaults = {
        n: p.default for n, p in op.parameters.items() if p.default is not inspect.Parameter.empty
    }
    n_arrays = len(op.arrays)
    tuples = [n for n, p in op.parameters.items() if p.annotation in (tuple, tuple[int, ...])]

    choices = {n: c for n, p in op.parameters.items() if (c := _choices(p.annotation))}
    flags = [n for n, p in op.parameters.items() if p.annotation is bool]

    # What a call with arrays only has to do: the rest of the function costs half of what a small
    # operator does.
    brief = not op.variadic and not tuples and len(defaults) == len(op.parameters)
    brief = brief and all(type(defaults[k]) is bool for k in flags)

    def function(*args, **kwargs):
        if brief and not kwargs and len(args) == n_arrays:
            return invoke(op, args, defaults.copy(), None)
        out = kwargs.pop("out", None)
        kwargs.pop("name", None)
        if op.variadic:
            arrays = list(args[0]) if len(args) == 1 and isinstance(args[0], list | tuple) else args
            given = kwargs
        else:
            if len(args) > len(order):
                raise TypeError(f"{name}() takes at most {len(order)} arguments; got {len(args)}")
            given = dict(zip(order, args, strict=False))
            for key in kwargs.keys() & given.keys():
                raise TypeError(f"{name}() got two values for {key}")
            given.update(kwargs)
            arrays = [given.pop(a, None) for a in order[:n_arrays]]
        unknown = given.keys() - known
        if unknown:
            raise ParameterError(
                f"{name}() has no argument {', '.join(sorted(unknown))}; it takes {', '.join(order)}"
            )
        params = {**defaults, **{k: normal(k, v) for k, v in given.items()}}
        for k in tuples:  # MXNet takes a number for a tuple of one
            if isinstance(params.get(k), int):
                params[k] = (params[k],)
        ctx = params.pop("ctx", None) if "ctx" not in op.parameters else None
        missing = [p for p in op.parameters if p not in params]
        if missing:
            raise ParameterError(f"{name}() needs {', '.join(missing)}")
        for k in flags:
            if params[k].__class__ is not bool:
                params[k] = _flag(name, k, params[k])
        for k in given.keys() & choices.keys():
            if params[k] not in choices[k]:
                raise ParameterError(
                    f"{name}: {k} must be one of {', '.join(map(repr, choices[k]))}; "
                    f"got {params[k]!r}"
                )
        made = invoke(op, arrays, params, out)
        return made if ctx is None or out is not None else made.as_in_context(ctx)

    function.__name__ = function.__qualname__ = name
    function.__module__ = module
    function.__doc__ = op.fn.__doc__
    function.__signature__ = signature(op)
    return function


def argument_order(op: Operator) -> tuple[str, ...]:
    """The arguments of an operator's function: arrays, then parameters."""
    order = [*op.arrays, *op.parameters]
    if not op.arrays and "dtype" in order and "ctx" not in order:
        order.insert(order.index("dtype"), "ctx")
    return tuple(order)


def _choices(annotation: Any) -> tuple[Any, ...]:
    """The values that a parameter may have, where its annotation lists them; else nothing."""
    parts = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    if not all(p is NoneType or get_origin(p) is Literal for p in parts):
        return ()
    return tuple(v for p in parts for v in ((None,) if p is NoneType else get_args(p)))


_FLAGS = {"True": True, "true": True, "1": True, "False": False, "false": False, "0": False}
"""The words for truth values: MXNet's operators take their parameters as text."""


def _flag(operator: str, name: str, value: Any) -> bool:
    if isinstance(value, int | float) or value is None:
        return bool(value)
    if value in _FLAGS:
        return _FLAGS[value]
    raise ParameterError(f"{operator}: {name} must be True or False; got {value!r}")


def normal(name: str, value: Any) -> Any:
    """A parameter's value as a hashable Python object: lists as tuples, dtypes as their names."""
    if name == "dtype" and value is not None:
        return np.dtype(value).name
    if isinstance(value, list | tuple):
        return tuple(normal("", v) for v in value)
    return value.item() if isinstance(value, np.generic) else value


def signature(op: Operator) -> inspect.Signature:
    """The signature of an operator's function in a namespace."""
    kind = inspect.Parameter
    parts = []
    if op.variadic:
        parts.append(kind(op.arrays[-1], kind.VAR_POSITIONAL))
        style = kind.KEYWORD_ONLY
    else:
        style = kind.POSITIONAL_OR_KEYWORD
        parts += [
            kind(a, style, default=None if a in op.optional else kind.empty) for a in op.arrays
        ]
    defaulted = any(p.default is not kind.empty for p in parts)
    for name in argument_order(op)[len(op.arrays) :]:
        if name not in op.parameters:  # ctx
            parts.append(kind("ctx", style, default=None, annotation=Any))
            continue
        p = op.parameters[name]
        # After an array that may be left out, Python wants a default for every later parameter.
        needs = defaulted and p.default is kind.empty and style is kind.POSITIONAL_OR_KEYWORD
        defaulted = defaulted or p.default is not kind.empty
        parts.append(p.replace(kind=style, default=... if needs else p.default))
    parts += [
        kind("out", kind.KEYWORD_ONLY, default=None),
        kind("name", kind.KEYWORD_ONLY, default=None),
    ]
    return inspect.Signature(parts)


def namespace(
    invoke: Invoke, *, module: str, sparse: bool = False, prefix: str = ""
) -> Mapping[str, Callable[..., Any]]:
    """All functions of a namespace by name: of the public operators, or of those with a prefix."""
    operators = operators_of(prefix) if prefix else public_operators(sparse=sparse)
    return {name: render(op, name, invoke, module=module) for name, op in operators.items()}
