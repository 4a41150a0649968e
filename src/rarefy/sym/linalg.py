"""Linear algebra: `linalg.gemm2(a, b)` is `sym.linalg_gemm2(a, b)`."""

from rarefy._ops import defs as _defs  # noqa: F401 - fills the registry
from rarefy.sym._render import namespace as _namespace

globals().update(_namespace(module="rarefy.sym.linalg", prefix="_linalg_"))
