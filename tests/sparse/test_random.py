"""Random sparse arrays: layout, distinct cells, an even spread, and no work beyond what is stored."""

import jax
import numpy as np
import pytest
from jax.experimental import sparse as jsparse

from rarefy.sparse import random_bcoo

KEY = jax.random.key(3)
OPTIONS = [
    {"shape": (6, 8), "nse": 5},
    {"shape": (6, 8), "nse": 0.3},
    {"shape": (2, 6, 8), "nse": 4, "n_batch": 1},
    {"shape": (6, 8, 2), "nse": 4, "n_dense": 1, "sorted_indices": True},
    {"shape": (2, 5, 3), "nse": 2, "n_batch": 1, "n_dense": 1},
    {"shape": (6, 8), "nse": 30, "unique_indices": False},
    {"shape": (7,), "nse": 7},
    {"shape": (6, 8), "nse": 0},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_layout_is_jaxs(options):
    x = random_bcoo(KEY, dtype=np.float32, **options)
    if options["nse"] != 7:  # JAX leaves at least one cell free
        theirs = jsparse.random_bcoo(KEY, dtype=np.float32, **options)
        assert repr(x) == repr(theirs)
        assert x.data.shape == theirs.data.shape
    indices = np.asarray(x.indices)
    assert (indices >= 0).all()
    assert (indices < x.shape[x.n_batch : x.n_batch + x.n_sparse]).all()
    if options.get("unique_indices", True):
        for batch in indices.reshape(int(np.prod(x.shape[: x.n_batch])), x.nse, x.n_sparse):
            assert len({tuple(i) for i in batch}) == x.nse
    if options.get("sorted_indices"):
        assert x.indices_sorted
        assert [tuple(i) for i in indices] == sorted(tuple(i) for i in indices)


@pytest.mark.parametrize("shape", [(2000, 3000), (3, 1_000_003), (1, 500_009), (70_001,)], ids=str)
def test_few_of_many_cells_are_distinct_and_even(shape):
    x = random_bcoo(KEY, shape, nse=4000, dtype=np.float32)
    indices = np.asarray(x.indices)
    assert len({tuple(i) for i in indices}) == 4000
    for d, size in enumerate(shape):
        bins = min(size, 8)
        count = np.bincount(indices[:, d].astype(np.int64) * bins // size, minlength=bins)
        expected = 4000 / bins
        # Chi-squared with 7 degrees of freedom exceeds 24.3 once in a thousand.
        assert ((count - expected) ** 2 / expected).sum() < 24.3, (d, count)
    cells = np.sort(np.ravel_multi_index(indices.T, shape))
    gaps = np.diff(cells)
    # Gaps of random cells are nearly geometric: as wide as their spread, a share 1/e beyond the mean.
    assert abs(gaps.std() / gaps.mean() - 1) < 0.1
    assert abs((gaps > gaps.mean()).mean() - np.exp(-1)) < 0.05


def test_keys_matter():
    first, second = (random_bcoo(jax.random.key(k), (1000, 1000), nse=50) for k in (0, 1))
    assert len({map(tuple, np.asarray(m.indices)) for m in (first, second)}) == 2
    assert not (np.asarray(first.indices) == np.asarray(second.indices)).all()


def test_huge_shapes_cost_what_they_store():
    side = 3_000_000
    x = random_bcoo(KEY, (side, side), nse=100, sorted_indices=True)
    assert x.indices.dtype == np.int32
    assert len({tuple(i) for i in np.asarray(x.indices)}) == 100
    assert 0.3 < np.asarray(x.indices).mean() / side < 0.7


def test_works_under_jit_and_with_other_generators():
    x = jax.jit(lambda k: random_bcoo(k, (5, 6), nse=0.5, generator=jax.random.normal))(KEY)
    assert repr(x) == "BCOO(float32[5, 6], nse=15)"
    ones = random_bcoo(
        KEY, (5, 6), generator=lambda key, shape, dtype: jax.numpy.ones(shape, dtype)
    )
    assert ones.todense().sum() == ones.nse


def test_refuses():
    with pytest.raises(ValueError, match="nse=31 distinct cells of 30"):
        random_bcoo(KEY, (5, 6), nse=31)
    with pytest.raises(ValueError, match="negative"):
        random_bcoo(KEY, (5, 6), nse=-1)
    with pytest.raises(ValueError, match="n_batch=2"):
        random_bcoo(KEY, (5, 6), n_batch=2, n_dense=1)
