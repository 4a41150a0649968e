"""First and second derivatives against differences, on entries without order, repeated and padded."""

import jax
import numpy as np
import pytest
from jax import numpy as jnp
from jax.test_util import check_grads
from numpy.testing import assert_array_equal

from cases.entries import awkward_entries
from rarefy.sparse import BCOO, BCSR, bcoo_dot_general_sampled

A, B = awkward_entries((5, 6), nse=9, seed=3), awkward_entries((6, 4), nse=7, seed=4)
PLACES = A.indices
REAL = (A.indices < np.array(A.shape)).all(1)
NUMBERS = (((1,), (0,)), ((), ()))


def coo(entries, data):
    return BCOO((data, entries.indices), shape=entries.shape)


def csr(data):
    """The entries of A by rows, each row in no order; the padding stands behind the last."""
    order = np.argsort(np.where(REAL, PLACES[:, 0], 5), kind="stable")
    real = REAL[order]
    indptr = np.searchsorted(np.where(real, PLACES[order, 0], 5), np.arange(6)).astype(np.int32)
    columns = np.where(real, PLACES[order, 1], 6).astype(np.int32)
    return BCSR._trusted(data[order], jnp.asarray(columns), jnp.asarray(indptr), (5, 6))


def waves(*shape):
    return np.sin(np.arange(1.0, 1 + np.prod(shape))).reshape(shape)


# Functions of the stored values and dense arrays, and what they are called with.
FUNCTIONS = {
    "bcoo @ dense": (lambda d, w: coo(A, d) @ w, (9,), (6, 2)),
    "bcoo.T @ dense": (lambda d, w: coo(A, d).T @ w, (9,), (5, 2)),
    "csr @ dense": (lambda d, w: csr(d) @ w, (9,), (6, 2)),
    "dense @ csr": (lambda d, w: w @ csr(d), (9,), (2, 5)),
    "sparse @ sparse": (lambda d, e: (coo(A, d) @ coo(B, e)).todense(), (9,), (7,)),
    "sampled": (
        lambda x, y: bcoo_dot_general_sampled(x, y, jnp.asarray(PLACES), dimension_numbers=NUMBERS),
        (5, 3),
        (3, 6),
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_are_those_of_differences(name):
    function, *shapes = FUNCTIONS[name]
    with jax.enable_x64(True):
        args = [jnp.asarray(waves(*s)) for s in shapes]
        check_grads(jax.jit(function), args, order=2, modes=("fwd", "rev"), atol=1e-5, rtol=1e-5)


def test_nan_and_inf_reach_only_their_rows():
    data = np.array([np.nan, np.inf, 1.0, 5.0], np.float32)
    places = np.array([[1, 0], [3, 2], [3, 1], [5, 3]])
    mat = BCOO((data, places), shape=(5, 3))
    weight = np.array([1.0, 2.0, -1.0], np.float32)
    for x in (mat, BCSR.from_bcoo(mat)):
        assert_array_equal(x @ weight, [0, np.nan, 0, -np.inf, 0])
        by_weight = jax.grad(lambda w, x=x: (x @ w).sum())(weight)
        assert_array_equal(by_weight, [np.nan, 1, np.inf])
        by_data = jax.grad(lambda m: (m @ weight).sum(), allow_int=True)(x).data
        assert sorted(np.asarray(by_data).tolist()) in ([-1, 0, 1, 2], [-1, 1, 2])


@pytest.mark.parametrize("side", [3_000_000, 2**31 - 2, 2**62], ids=str)
def test_more_cells_than_32_or_64_bits_count(side):
    """Values and gradients depend on what is stored, however large the shape."""
    with jax.enable_x64(side > 2**31):
        columns = np.array([[5, side - 1], [5, 0], [7, side - 1], [side, side]])
        mat = BCOO((jnp.array([1.0, 2, 3, 4]), columns), shape=(side, side))
        gradient = jax.grad(lambda d: (BCOO((d, mat.indices), shape=mat.shape).T.data ** 2).sum())
        assert_array_equal(gradient(mat.data), [2, 4, 6, 8])
        assert_array_equal(mat.sum(), 6)
        merged = (mat + mat).sum_duplicates(nse=4)
        real = np.asarray(merged.indices)[:, 0] < side
        assert_array_equal(np.asarray(merged.indices)[real], [[5, 0], [5, side - 1], [7, side - 1]])
        assert_array_equal(np.asarray(merged.data)[real], [4, 2, 6])
        product = (mat @ mat.T).sum_duplicates(nse=4)
        real = np.asarray(product.indices)[:, 0] < side
        assert_array_equal(np.asarray(product.indices)[real], [[5, 5], [5, 7], [7, 5], [7, 7]])
        assert_array_equal(np.asarray(product.data)[real], [5, 3, 3, 9])
