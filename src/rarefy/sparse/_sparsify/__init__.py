"""The transformation `sparsify`: a walk through a program with sparse values."""

from rarefy.sparse._sparsify._api import sparsify
from rarefy.sparse._sparsify._env import (
    SparsifyEnv,
    SparsifyValue,
    arrays_to_spvalues,
    sparsify_raw,
    spvalues_to_arrays,
    spvalues_to_avals,
)
from rarefy.sparse._sparsify._tracer import SparseTrace, SparseTracer
