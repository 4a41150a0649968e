"""`jax.experimental.sparse.ad` under its name."""

from rarefy.sparse._grad import grad as grad
from rarefy.sparse._grad import is_sparse as is_sparse
from rarefy.sparse._grad import jacfwd as jacfwd
from rarefy.sparse._grad import jacobian as jacobian
from rarefy.sparse._grad import jacrev as jacrev
from rarefy.sparse._grad import value_and_grad as value_and_grad
