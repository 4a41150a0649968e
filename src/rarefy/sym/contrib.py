"""MXNet's `contrib`: operators that are not in the main namespace."""

from rarefy._ops import defs as _defs  # noqa: F401 - fills the registry
from rarefy.sym._render import namespace as _namespace

globals().update(_namespace(module="rarefy.sym.contrib", prefix="_contrib_"))
