"""The operators that have no place in a public namespace: `x + 2` is `_internal._plus_scalar(x, 2)`."""

from rarefy._ops import defs as _defs  # noqa: F401 - fills the registry
from rarefy.sym._render import internal as _internal

globals().update(_internal(module="rarefy.sym._internal"))
