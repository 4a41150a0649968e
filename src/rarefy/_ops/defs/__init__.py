"""All operators, a family in each file. Importing this package fills the registry.

`OPERATORS` taken from here is complete.
"""

from rarefy._ops.defs import (
    activation,
    bags,
    blocks,
    broadcast,
    contrib,
    density,
    dot,
    elementwise,
    factorization,
    indexing,
    init,
    lamb_update,
    linalg,
    loss,
    multi_update,
    nn,
    norm,
    optimizer_update,
    order,
    positions,
    random,
    reduce,
    reduce_stored,
    rule_update,
    sampling,
    scalar,
    sequence,
    shape,
    sparse_storage,
    statistics,
)
from rarefy._ops.opdef import OPERATORS
