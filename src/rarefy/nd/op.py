"""The operators alone, without the functions that only `rarefy.nd` has."""

from rarefy._ops import defs as _defs  # noqa: F401 - fills the registry
from rarefy._ops.render import namespace as _namespace
from rarefy.nd._invoke import invoke as _invoke

globals().update(_namespace(_invoke, module="rarefy.nd.op"))
