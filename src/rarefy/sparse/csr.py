"""`jax.experimental.sparse.csr` under its name."""

from rarefy.sparse._csr_classes import CSC as CSC
from rarefy.sparse._csr_classes import CSR as CSR
from rarefy.sparse._csr_classes import _csr_fromdense as _csr_fromdense
from rarefy.sparse._csr_classes import _csr_matmat as _csr_matmat
from rarefy.sparse._csr_classes import _csr_matvec as _csr_matvec
from rarefy.sparse._csr_classes import _csr_todense as _csr_todense
from rarefy.sparse._csr_classes import csr_fromdense as csr_fromdense
from rarefy.sparse._csr_classes import csr_fromdense_p as csr_fromdense_p
from rarefy.sparse._csr_classes import csr_matmat as csr_matmat
from rarefy.sparse._csr_classes import csr_matmat_p as csr_matmat_p
from rarefy.sparse._csr_classes import csr_matvec as csr_matvec
from rarefy.sparse._csr_classes import csr_matvec_p as csr_matvec_p
from rarefy.sparse._csr_classes import csr_todense as csr_todense
from rarefy.sparse._csr_classes import csr_todense_p as csr_todense_p
from rarefy.sparse.util import _csr_extract as _csr_extract
from rarefy.sparse.util import _csr_to_coo as _csr_to_coo
