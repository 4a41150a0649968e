"""The exceptions of the MXNet-style layer, and the names of kinds that programs for it use."""

from typing import Any

import numpy as np

numeric_types = (float, int, np.generic)
integer_types = (int, np.int32, np.int64)
string_types = (str,)
mx_real_t = np.float32
"""The dtype of arrays that are given none."""


def py_str(text: bytes) -> str:
    """Bytes as text."""
    return text.decode()


class MXNetError(RuntimeError):
    """What MXNet programs catch; the base of the errors of operators and arrays."""


class ParameterError(MXNetError, TypeError):
    """A parameter of an operator is missing, or has a name or a value that no parameter has."""


class ArgumentTypeError(TypeError, AssertionError):
    """An argument of a wrong kind. MXNet asserts in such places."""


class NotAnArrayError(ArgumentTypeError):
    """Something else was given for an array."""


class ShapeError(MXNetError, ValueError):
    """A shape that an array cannot take. MXNet's kind depends on the place; so this is both."""


class PlaceError(MXNetError, IndexError):
    """A place outside an array."""


class ChoiceError(ValueError, KeyError):
    """A word that is none of those to choose from. MXNet looks it up in a table, hence a KeyError."""

    __str__ = ValueError.__str__


class ArgumentError(ValueError, AssertionError):
    """An argument that cannot be. MXNet asserts in such places; so this is both kinds of error."""


class _NotSupported(MXNetError):
    """Of a method that some kind of array lacks.

    Args:
      function: the method, or its name.
      alias: the operator through which it was called, if any.
      *args: what it was called with.
    """

    _where = ""

    def __init__(self, function: Any, alias: str | None = None, *args: Any):
        super().__init__()
        self.function = getattr(function, "__name__", str(function))
        self.alias = alias
        self.args = (*[str(type(a)) for a in args],)

    def __str__(self):
        called = f"{self.function}" + (f" (as {self.alias})" if self.alias else "")
        given = f" with {', '.join(self.args)}" if self.args else ""
        return f"{called} is not supported for {self._where.format(given)}"


class NotImplementedForSymbol(_NotSupported):
    """A method of arrays that symbols do not have."""

    _where = "symbols{}; it works on arrays (mx.nd)"


class NotSupportedForSparseNDArray(_NotSupported):
    """A method of dense arrays that sparse ones do not have."""

    _where = "sparse arrays{}; use tostype('default') first"
