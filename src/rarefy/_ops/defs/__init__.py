"""All operators, a family in each file. Importing this package fills the registry.

`OPERATORS` taken from here is complete.
"""

from rarefy._ops.defs import (
    broadcast,
    dot,
    elementwise,
    factorization,
    indexing,
    init,
    nn,
    optimizer_update,
    order,
    random,
    reduce,
    scalar,
    shape,
    sparse_storage,
)
from rarefy._ops.opdef import OPERATORS
