"""Products without a stored entry, whose result has rows all the same."""

import jax
import numpy as np
import pytest

from rarefy._primitives import csr_dot_dense, csr_sample_dot, csr_t_dot_dense, csr_t_dot_rows

FORMS = ("kernel", "xla")
NONE, NO_INDEX = np.zeros(0, np.float32), np.zeros(0, np.int32)
INDPTR, DENSE = np.zeros(4, np.int32), np.ones((3, 2), np.float32)


@pytest.mark.parametrize("form", FORMS)
def test_the_result_is_zero(form):
    results = [
        csr_dot_dense(NONE, NO_INDEX, INDPTR, DENSE, form=form),
        csr_t_dot_dense(NONE, NO_INDEX, INDPTR, DENSE, n_cols=3, form=form),
        csr_t_dot_rows(NONE, INDPTR, NO_INDEX, INDPTR, DENSE, form=form),
    ]
    for result in results:
        np.testing.assert_array_equal(result, np.zeros((3, 2)))
    assert csr_sample_dot(NO_INDEX, INDPTR, DENSE, DENSE, form=form).shape == (0,)


@pytest.mark.parametrize("form", FORMS)
def test_batches_of_them(form):
    lhs = np.ones((4, 3, 2), np.float32)
    sampled = jax.vmap(lambda x: csr_sample_dot(NO_INDEX, INDPTR, x, DENSE, form=form))(lhs)
    assert sampled.shape == (4, 0)
    products = jax.vmap(lambda x: csr_dot_dense(NONE, NO_INDEX, INDPTR, x, form=form))(lhs)
    np.testing.assert_array_equal(products, np.zeros((4, 3, 2)))
