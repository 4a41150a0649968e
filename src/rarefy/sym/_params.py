"""Parameters of operators as strings, as MXNet keeps them in graphs and files."""

import ast
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import numpy as np

from rarefy._ops.opdef import Operator, Scalar
from rarefy.base import MXNetError

NOT_OURS = frozenset(
    ("num_args", "ctx", "cudnn_off", "is_int", "infer_range", "target_shape", "keep_highest")
)
"""Parameters of MXNet's operators that change nothing here."""

_LONGEST = 1 << 20
_TRUE_FALSE = {"true": True, "false": False}


def as_text(key: str, value: Any) -> str:
    """A parameter as MXNet writes it."""
    if key == "dtype" and value is not None and not isinstance(value, str):
        return np.dtype(value).name
    return str(_plain(value))


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(map(_plain, value))
    return value.item() if isinstance(value, np.generic) else value


def parameters_of(op: Operator, attrs: dict[str, str], name: str) -> dict[str, Any]:
    """All parameters of an operator, from those that are given as strings.

    Args:
      op: the operator.
      attrs: parameters and attributes of a node.
      name: of the node, for messages.

    Raises:
      MXNetError: a parameter is missing, unknown or not of its type.
    """
    where = f"in operator {op.name}(name={name!r})"
    params = {}
    for key, parameter in op.parameters.items():
        if key in attrs:
            params[key] = _value(parameter.annotation, key, attrs[key], where)
        elif parameter.default is parameter.empty:
            raise MXNetError(f"Required parameter {key} is not presented, {where}")
        else:
            params[key] = parameter.default
    if op.parameters:
        for key in attrs:
            if key not in params and key not in NOT_OURS and not is_attribute(key):
                known = ", ".join(params)
                raise MXNetError(f"Cannot find argument '{key}', {where}; it takes {known}")
    return params


def is_attribute(key: str) -> bool:
    """Whether a key belongs to the user of a graph, not to an operator."""
    return len(key) > 4 and key.startswith("__") and key.endswith("__")


def _value(kind: Any, key: str, text: str, where: str) -> Any:
    kinds = _kinds(kind)
    if text == "None" and NoneType in kinds:
        return None
    choices = [k for k in kinds if isinstance(k, str)]
    if text in choices:
        return text
    if choices:
        raise MXNetError(
            f"Invalid Input: '{text}', valid values are: {', '.join(choices)}; {key}, {where}"
        )
    if str in kinds:
        return text
    try:
        value = _read(text)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        value = text
    found = _fitted(value, kinds, kind is Scalar)
    if found is _NOTHING:
        expected = " or ".join(getattr(k, "__name__", str(k)) for k in kinds)
        raise MXNetError(
            f"Invalid Parameter format for {key} expect {expected} but value={text[:80]!r}, {where}"
        )
    return found


def _read(text: str) -> Any:
    if len(text) > _LONGEST:
        raise ValueError("too long")
    lower = text.strip().lower()
    if lower in _TRUE_FALSE:
        return _TRUE_FALSE[lower]
    if lower.lstrip("+-") in ("inf", "infinity", "nan"):
        return float(lower)
    return ast.literal_eval(text.strip())


_NOTHING = object()


def _fitted(value: Any, kinds: list[Any], is_scalar: bool) -> Any:
    """A value as one of the kinds that a parameter takes; `_NOTHING` if it is none."""
    if bool in kinds and value in (0, 1) and isinstance(value, int):
        return bool(value)
    if isinstance(value, bool):
        return _NOTHING
    if isinstance(value, int) and (int in kinds or value in kinds or is_scalar):
        return value
    if isinstance(value, int | float) and float in kinds:
        return float(value)
    if tuple in kinds:
        if isinstance(value, int | float):
            return (value,)
        if isinstance(value, list | tuple) and all(
            v is None or (isinstance(v, int | float) and not isinstance(v, bool)) for v in value
        ):
            return tuple(value)
    return _NOTHING


def _kinds(kind: Any) -> list[Any]:
    """The types that an annotation allows, and the values of a `Literal`."""
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return [k for part in get_args(kind) for k in _kinds(part)]
    if origin is Annotated:
        return _kinds(get_args(kind)[0])
    if origin is Literal:
        return list(get_args(kind))
    return [origin or kind]
