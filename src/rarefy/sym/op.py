"""The operators alone, without the functions that only `rarefy.sym` has."""

from rarefy._ops import defs as _defs  # noqa: F401 - fills the registry
from rarefy.sym._render import namespace as _namespace

globals().update(_namespace(module="rarefy.sym.op"))
