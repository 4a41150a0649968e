"""Immutable sparse arrays with the names and conventions of `jax.experimental.sparse`."""

from rarefy.sparse._base import JAXSparse
from rarefy.sparse._bcoo import BCOO
from rarefy.sparse._bcsr import BCSR
from rarefy.sparse._capacity import (
    capacity,
    pad_csr,
    pad_row_sparse,
    trim_csr,
    trim_row_sparse,
)
from rarefy.sparse._csr import (
    canonical_csr,
    check_csr,
    concat_rows,
    csr_add,
    csr_dot,
    csr_from_dense,
    csr_multiply,
    csr_sum,
    csr_t_dot,
    csr_to_dense,
    is_csr,
    nnz,
    rows_nnz,
    slice_rows,
    take_csr_rows,
)
from rarefy.sparse._functions import (
    bcoo_dot_general,
    bcoo_extract,
    bcoo_fromdense,
    bcoo_multiply_dense,
    bcoo_reduce_sum,
    bcoo_sort_indices,
    bcoo_sum_duplicates,
    bcoo_todense,
    bcoo_transpose,
    bcoo_update_layout,
    bcsr_dot_general,
    bcsr_extract,
    bcsr_fromdense,
    bcsr_sum_duplicates,
    bcsr_todense,
    empty,
    eye,
    todense,
)
from rarefy.sparse._layout import SparseEfficiencyError, SparseEfficiencyWarning
from rarefy.sparse._random import random_bcoo
from rarefy.sparse._row_sparse import (
    add_row_sparse,
    add_to_dense,
    check_row_sparse,
    concat_row_sparse,
    csr_dot_row_sparse,
    csr_transpose_dot,
    is_row_sparse,
    merge_rows,
    multiply_row_sparse,
    retain,
    row_sparse,
    row_sparse_from_dense,
    row_sparse_rows,
    row_sparse_to_dense,
)
