"""Meanings of operators that a table makes: their signature and documentation, given as data."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

_KIND = inspect.Parameter


def described(
    fn: Callable[..., Any], doc: str, arrays: Sequence[str], **parameters: tuple[Any, Any]
) -> Callable[..., Any]:
    """Gives a function of any arrays and parameters the signature of one operator.

    Args:
      fn: takes the arrays by position, the parameters by name.
      doc: its documentation.
      arrays: names of the arrays.
      **parameters: for each its annotation and default.
    """
    named: Any = fn
    named.__doc__ = doc
    named.__signature__ = inspect.Signature(
        [_KIND(a, _KIND.POSITIONAL_OR_KEYWORD) for a in arrays]
        + [
            _KIND(name, _KIND.KEYWORD_ONLY, annotation=kind, default=default)
            for name, (kind, default) in parameters.items()
        ]
    )
    return named
