"""`jax.experimental.sparse.transform` under its name: `sparsify`, and arrays as references."""

from rarefy.sparse._sparsify import SparseTrace as SparseTrace
from rarefy.sparse._sparsify import SparseTracer as SparseTracer
from rarefy.sparse._sparsify import SparsifyEnv as SparsifyEnv
from rarefy.sparse._sparsify import SparsifyValue as SparsifyValue
from rarefy.sparse._sparsify import arrays_to_spvalues as arrays_to_spvalues
from rarefy.sparse._sparsify import sparsify as sparsify
from rarefy.sparse._sparsify import sparsify_raw as sparsify_raw
from rarefy.sparse._sparsify import spvalues_to_arrays as spvalues_to_arrays
from rarefy.sparse._sparsify import spvalues_to_avals as spvalues_to_avals
