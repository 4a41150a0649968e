"""Linear algebra with sparse matrices: `jax.experimental.sparse.linalg` under its name, and more."""

from rarefy.sparse._lobpcg import lobpcg_standard as lobpcg_standard
from rarefy.sparse._solve import bicgstab as bicgstab
from rarefy.sparse._solve import cg as cg
from rarefy.sparse._solve import gmres as gmres
from rarefy.sparse._solve import spsolve as spsolve
