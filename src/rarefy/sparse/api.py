"""`jax.experimental.sparse.api` under its name."""

from rarefy.sparse._base import JAXSparse as JAXSparse
from rarefy.sparse._bcoo import BCOO as BCOO
from rarefy.sparse._bcsr import BCSR as BCSR
from rarefy.sparse._coo import COO as COO
from rarefy.sparse._create import empty as empty
from rarefy.sparse._create import eye as eye
from rarefy.sparse._create import todense as todense
from rarefy.sparse._csr_classes import CSC as CSC
from rarefy.sparse._csr_classes import CSR as CSR
from rarefy.sparse._primitive import todense_p as todense_p
