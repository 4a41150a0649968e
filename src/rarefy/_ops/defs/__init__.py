"""All operators, a family in each file. Importing this package fills the registry."""

from rarefy._ops.defs import (
    broadcast,
    dot,
    elementwise,
    factorization,
    indexing,
    init,
    nn,
    order,
    random,
    reduce,
    scalar,
    shape,
    sparse_storage,
)
