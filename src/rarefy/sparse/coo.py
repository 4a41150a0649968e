"""`jax.experimental.sparse.coo` under its name."""

from rarefy.sparse._coo import COO as COO
from rarefy.sparse._coo import _coo_fromdense as _coo_fromdense
from rarefy.sparse._coo import _coo_matmat as _coo_matmat
from rarefy.sparse._coo import _coo_matvec as _coo_matvec
from rarefy.sparse._coo import _coo_todense as _coo_todense
from rarefy.sparse._coo import coo_fromdense as coo_fromdense
from rarefy.sparse._coo import coo_fromdense_p as coo_fromdense_p
from rarefy.sparse._coo import coo_matmat as coo_matmat
from rarefy.sparse._coo import coo_matmat_p as coo_matmat_p
from rarefy.sparse._coo import coo_matvec as coo_matvec
from rarefy.sparse._coo import coo_matvec_p as coo_matvec_p
from rarefy.sparse._coo import coo_todense as coo_todense
from rarefy.sparse._coo import coo_todense_p as coo_todense_p
from rarefy.sparse._info import COOInfo as COOInfo
from rarefy.sparse._info import CuSparseEfficiencyWarning as CuSparseEfficiencyWarning
