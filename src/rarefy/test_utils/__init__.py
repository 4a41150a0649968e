"""Helpers for tests, by MXNet's names: random arrays, comparisons, gradient checks.

Where MXNet's take a symbol, a function of arrays does as well.
"""

from rarefy.test_utils._arrays import _get_powerlaw_dataset_csr as _get_powerlaw_dataset_csr
from rarefy.test_utils._arrays import _get_uniform_dataset_csr as _get_uniform_dataset_csr
from rarefy.test_utils._arrays import (
    assign_each,
    assign_each2,
    collapse_sum_like,
    create_2d_tensor,
    create_sparse_array,
    create_sparse_array_zd,
    create_vector,
    np_reduce,
    rand_coord_2d,
    rand_ndarray,
    rand_shape_2d,
    rand_shape_3d,
    rand_shape_nd,
    rand_sparse_ndarray,
    random_arrays,
    random_sample,
    random_uniform_arrays,
    shuffle_csr_column_indices,
)
from rarefy.test_utils._checks import (
    check_numeric_gradient,
    check_symbolic_backward,
    check_symbolic_forward,
    numeric_grad,
    simple_forward,
)
from rarefy.test_utils._compare import (
    almost_equal,
    assert_allclose,
    assert_almost_equal,
    assert_almost_equal_ignore_nan,
    assert_almost_equal_with_err,
    assert_exception,
    checkShapes,
    compare_ndarray_tuple,
    same,
    same_array,
)
from rarefy.test_utils._data import get_bz2_data
from rarefy.test_utils._environment import discard_stderr, environment, retry
from rarefy.test_utils._generators import (
    chi_square_check,
    gen_buckets_probs_with_ppf,
    mean_check,
    var_check,
    verify_generator,
)
from rarefy.test_utils._imports import logging, mx, np, npt, os, rnd, sys, time
from rarefy.test_utils._iterators import DummyIter
from rarefy.test_utils._optimizers import compare_optimizer
from rarefy.test_utils._symbols import check_consistency, check_speed, same_symbol_structure
from rarefy.test_utils._tolerance import (
    default_atols,
    default_context,
    default_dtype,
    default_numeric_eps,
    default_rtols,
    effective_dtype,
    get_atol,
    get_etol,
    get_rtol,
    get_tolerance,
    get_tols,
    list_gpus,
    set_default_context,
)
