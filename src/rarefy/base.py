"""The exceptions of the MXNet-style layer."""


class MXNetError(RuntimeError):
    """What MXNet programs catch; the base of the errors of operators and arrays."""


class NotImplementedForSymbol(MXNetError):
    """A method of arrays that symbols do not have."""


class NotSupportedForSparseNDArray(MXNetError):
    """A method of dense arrays that sparse ones do not have.

    Args:
      function: the method, or its name.
      alias: the operator through which it was called, if any.
      *args: what it was called with.
    """

    def __init__(self, function, alias=None, *args):
        super().__init__()
        self.function = getattr(function, "__name__", str(function))
        self.alias = alias
        self.args = (*[str(type(a)) for a in args],)

    def __str__(self):
        called = f"{self.function}" + (f" (as {self.alias})" if self.alias else "")
        given = f" with {', '.join(self.args)}" if self.args else ""
        return f"{called} is not supported for sparse arrays{given}; use tostype('default') first"
