"""Parameters and dictionaries of them."""

from rarefy.gluon._parameter import (
    Constant,
    DeferredInitializationError,
    Parameter,
    UninitializedParameterError,
)
from rarefy.gluon._parameter_dict import ParameterDict

__all__ = [
    "Constant",
    "DeferredInitializationError",
    "Parameter",
    "ParameterDict",
    "UninitializedParameterError",
]
