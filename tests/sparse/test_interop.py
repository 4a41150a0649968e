"""Conversions to and from SciPy and JAX's own sparse arrays, and the module's small functions."""

import jax
import numpy as np
import pytest
import scipy.sparse
from jax import numpy as jnp
from jax.experimental import sparse as jsparse
from numpy.testing import assert_array_equal

from cases.entries import awkward_entries
from rarefy import sparse
from rarefy.sparse import BCOO, BCSR

M = np.array([[0.0, 1.0, 0.0, 2.0], [3.0, 0.0, 0.0, 0.0], [0.0, 0.0, 4.0, 0.0]], np.float32)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
@pytest.mark.parametrize("container", [scipy.sparse.csr_array, scipy.sparse.csr_matrix])
def test_scipy_round_trip(kind, container):
    theirs = container(M).asformat(kind)
    for layout in (BCOO, BCSR):
        x = layout.from_scipy_sparse(theirs)
        assert x.indices.dtype == np.int32
        assert sparse.nnz(x) == 4 or kind in ("bsr", "dia")
        assert_array_equal(x.todense(), M)
        assert_array_equal(x.to_scipy_sparse().toarray(), M)


def test_scipy_keeps_order_repeats_and_flags():
    theirs = scipy.sparse.coo_array(([1.0, 2.0, 3.0], ([2, 0, 2], [1, 1, 1])), shape=(3, 2))
    x = BCOO.from_scipy_sparse(theirs)
    assert_array_equal(x.indices, [[2, 1], [0, 1], [2, 1]])
    assert (x.indices_sorted, x.unique_indices) == (False, False)
    assert_array_equal(x.todense(), theirs.toarray())
    canonical = BCSR.from_scipy_sparse(scipy.sparse.csr_array(M))
    assert (canonical.indices_sorted, canonical.unique_indices) == (True, True)
    with jax.enable_x64(True):
        wide = scipy.sparse.coo_array(([1.0], ([2**32], [5])), shape=(2**33, 6))
        y = BCOO.from_scipy_sparse(wide)
        assert y.indices.dtype == np.int64
        assert y.to_scipy_sparse().coords[0][0] == 2**32
    for layout in (BCOO, BCSR):
        with pytest.raises(NotImplementedError, match="n_dense/n_batch"):
            layout.from_scipy_sparse(theirs, n_batch=1)
    with pytest.raises(ValueError, match="batch or dense"):
        BCSR.fromdense(np.ones((2, 3, 4)), n_dense=1).to_scipy_sparse()
    with pytest.raises(ValueError, match="batch or dense"):
        BCOO.fromdense(np.ones((2, 3)), n_dense=1).to_scipy_sparse()


def test_scipy_may_work_in_place():
    for layout in (BCOO, BCSR):
        x = layout.fromdense(M)
        theirs = x.to_scipy_sparse()
        theirs.data[:] = 7
        assert_array_equal(x.todense(), M)


def test_scipy_padding_is_left_behind():
    entries = awkward_entries((5, 6))
    x = BCOO((entries.data, entries.indices), shape=entries.shape)
    assert x.to_scipy_sparse().nnz == sparse.nnz(x)
    assert_array_equal(x.to_scipy_sparse().toarray(), entries.dense)


@pytest.mark.parametrize("kind", ["BCOO", "BCSR", "COO", "CSR", "CSC"])
def test_jax_sparse_arrays_are_taken_over(kind):
    theirs = getattr(jsparse, kind).fromdense(jnp.asarray(M))
    for layout in (BCOO, BCSR):
        x = layout.from_jax(theirs)
        assert_array_equal(x.todense(), M)
        assert_array_equal(x @ np.ones(4, np.float32), M.sum(1))
        back = x.to_jax()
        assert isinstance(back, getattr(jsparse, layout.__name__))
        assert_array_equal(back.todense(), M)
        assert back.data is x.data


def test_jax_layouts_and_flags_are_kept():
    entries = awkward_entries((2, 4, 5), n_batch=1)
    theirs = jsparse.BCOO(
        (jnp.asarray(entries.data), jnp.asarray(entries.indices)), shape=(2, 4, 5)
    )
    x = BCOO.from_jax(theirs)
    assert repr(x) == repr(theirs)
    assert_array_equal(x.todense(), entries.dense)
    assert BCOO.from_jax(jsparse.BCOO.fromdense(jnp.asarray(M))).indices_sorted
    with pytest.raises(TypeError, match="expected a sparse array of JAX"):
        BCOO.from_jax(M)


def test_todense_and_empty():
    assert_array_equal(sparse.todense(BCOO.fromdense(M)), M)
    assert sparse.todense(M) is M
    for options in (
        {"shape": (3, 4)},
        {"shape": (3, 4), "nse": 3},
        {"shape": (3, 4), "sparse_format": "bcsr"},
        {"shape": (2, 3, 4), "n_batch": 1, "dtype": np.int32},
        {"shape": (3, 4, 2), "n_dense": 1, "index_dtype": "int16"},
    ):
        x = sparse.empty(**options)
        assert repr(x) == repr(jsparse.empty(**options))
        assert_array_equal(x.todense(), np.zeros(options["shape"]))
    assert sparse.empty((2, 3), sparse_format="bcsr", nse=4).nse == 4
    with pytest.raises(ValueError, match="sparse_format"):
        sparse.empty((3, 4), sparse_format="ell")
    with pytest.raises(ValueError, match="do not fit"):
        sparse.empty((3, 4), nse=-1)
    with pytest.raises(TypeError, match="unexpected"):
        sparse.empty((3, 4), n_bach=1)


@pytest.mark.parametrize("n, m, k", [(3, None, 0), (3, 4, 1), (4, 3, -2), (2, 2, 5), (0, 3, 0)])
def test_eye(n, m, k):
    for options in ({}, {"n_batch": 1}, {"n_dense": 1}, {"sparse_format": "bcsr"}):
        x = sparse.eye(n, m, k, dtype=np.int32, **options)
        assert_array_equal(x.todense(), np.eye(n, m, k))
        if not options:
            assert repr(x) == repr(jsparse.eye(n, m, k, dtype=np.int32))
    with pytest.raises(ValueError, match="negative"):
        sparse.eye(-1)


def test_functions_are_the_methods():
    entries = awkward_entries((5, 6))
    x = BCOO((entries.data, entries.indices), shape=entries.shape)
    assert_array_equal(sparse.bcoo_todense(x), entries.dense)
    assert_array_equal(sparse.bcoo_fromdense(M).todense(), M)
    assert sparse.bcoo_sort_indices(x).indices_sorted
    assert sparse.bcoo_sum_duplicates(x, nse=7).unique_indices
    assert_array_equal(sparse.bcoo_transpose(x, permutation=(1, 0)).todense(), entries.dense.T)
    total = sparse.bcoo_reduce_sum(x, axes=(0, 1))
    assert repr(total) == "BCOO(float32[], nse=7)"
    assert total.todense() == entries.dense.sum()
    assert sparse.bcoo_update_layout(x, n_dense=1, on_inefficient=None).n_dense == 1
    found = x._with_buffers(sparse.bcoo_multiply_dense(x, 2 * np.ones((5, 6))), x.indices)
    assert_array_equal(found.todense(), 2 * entries.dense)
    r = sparse.bcsr_fromdense(M)
    assert_array_equal(sparse.bcsr_todense(r), M)
    assert sparse.bcsr_sum_duplicates(r).unique_indices
    assert_array_equal(sparse.bcsr_extract(r.indices, r.indptr, 5 * M), 5 * r.data)
    with pytest.raises(TypeError, match="bcoo_todense: expected a BCOO, got BCSR"):
        sparse.bcoo_todense(r)


def test_extract_gives_repeated_cells_once_and_padding_nothing():
    entries = awkward_entries((5, 6))
    x = BCOO((entries.data, entries.indices), shape=entries.shape)
    dense = np.arange(1, 31, dtype=np.float32).reshape(5, 6)
    found = sparse.bcoo_extract(x, dense)
    stored = np.zeros((5, 6), bool)
    real = (entries.indices < (5, 6)).all(axis=1)
    stored[tuple(entries.indices[real].T)] = True
    assert_array_equal(found.todense(), dense * stored)
    assert_array_equal(found.data[~real], 0)
    every = sparse.bcoo_extract(x, dense, assume_unique=True)
    assert_array_equal(every.data[real], dense[tuple(entries.indices[real].T)])
    with pytest.raises(ValueError, match="shapes differ"):
        sparse.bcoo_extract(x, dense[0])


def test_numpy_does_not_take_a_sparse_array_apart():
    for x in (BCOO.fromdense(M), BCSR.fromdense(M)):
        with pytest.raises(TypeError, match="todense"):
            np.asarray(x)
        assert np.shape(x) == (3, 4)
        assert_array_equal((x @ x.T).todense(), M @ M.T)
        assert_array_equal((x * x).todense(), M * M)
