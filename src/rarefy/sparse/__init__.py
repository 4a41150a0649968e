"""Immutable sparse arrays with the names and conventions of `jax.experimental.sparse`."""

from rarefy.sparse import ad, api, bcoo, bcsr, coo, csr, linalg, random, transform, util
from rarefy.sparse._base import JAXSparse
from rarefy.sparse._bcoo import BCOO
from rarefy.sparse._bcoo_conv import bcoo_conv_general_dilated
from rarefy.sparse._bcoo_functions import (
    bcoo_dot_general,
    bcoo_dot_general_sampled,
    bcoo_extract,
    bcoo_fromdense,
    bcoo_multiply_dense,
    bcoo_multiply_sparse,
    bcoo_reduce_sum,
    bcoo_sort_indices,
    bcoo_sum_duplicates,
    bcoo_todense,
    bcoo_transpose,
    bcoo_update_layout,
)
from rarefy.sparse._bcoo_shapes import (
    bcoo_broadcast_in_dim,
    bcoo_concatenate,
    bcoo_dynamic_slice,
    bcoo_gather,
    bcoo_reshape,
    bcoo_rev,
    bcoo_slice,
    bcoo_squeeze,
)
from rarefy.sparse._bcsr import BCSR
from rarefy.sparse._bcsr_functions import (
    bcsr_broadcast_in_dim,
    bcsr_concatenate,
    bcsr_dot_general,
    bcsr_extract,
    bcsr_fromdense,
    bcsr_sum_duplicates,
    bcsr_todense,
)
from rarefy.sparse._capacity import (
    capacity,
    pad_csr,
    pad_row_sparse,
    trim_csr,
    trim_row_sparse,
)
from rarefy.sparse._coo import (
    COO,
    coo_fromdense,
    coo_fromdense_p,
    coo_matmat,
    coo_matmat_p,
    coo_matvec,
    coo_matvec_p,
    coo_todense,
    coo_todense_p,
)
from rarefy.sparse._create import empty, eye, todense
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
from rarefy.sparse._csr_classes import (
    CSC,
    CSR,
    csr_fromdense,
    csr_fromdense_p,
    csr_matmat,
    csr_matmat_p,
    csr_matvec,
    csr_matvec_p,
    csr_todense,
    csr_todense_p,
)
from rarefy.sparse._grad import grad, jacfwd, jacobian, jacrev, value_and_grad
from rarefy.sparse._info import (
    CuSparseEfficiencyWarning,
    SparseEfficiencyError,
    SparseEfficiencyWarning,
)
from rarefy.sparse._primitive import todense_p
from rarefy.sparse._random import random_bcoo
from rarefy.sparse._row_grad import DenseUseError
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
from rarefy.sparse._sparsify import SparseTracer, sparsify
from rarefy.sparse.bcoo import (
    bcoo_dot_general_p,
    bcoo_dot_general_sampled_p,
    bcoo_extract_p,
    bcoo_fromdense_p,
    bcoo_sort_indices_p,
    bcoo_spdot_general_p,
    bcoo_sum_duplicates_p,
    bcoo_todense_p,
    bcoo_transpose_p,
)
from rarefy.sparse.bcsr import (
    bcsr_dot_general_p,
    bcsr_extract_p,
    bcsr_fromdense_p,
    bcsr_todense_p,
)
