import jax
import numpy as np
import pytest

from oracles import rows as oracle
from rarefy._primitives.group_cells import group_cells

BIG = 2**31 - 1
# (entries, shape, capacity)
CASES = [
    (0, (4, 5), 3),
    (1, (1, 1), 1),
    (9, (0, 5), 2),
    (60, (4, 5), 20),
    (60, (4, 5), 7),
    (3000, (70_000, 70_000), 3000),
    (500, (BIG, BIG), 600),
]


def _cells(rng, nse, shape, dtype):
    cells = np.stack([rng.integers(-1, n + 1, nse) for n in shape], axis=1)
    cells[nse // 2 :: 3] = cells[nse // 3 : nse // 3 + 1]  # repeats
    return cells.clip(max=np.iinfo(dtype).max).astype(dtype)


def _check(found, cells, shape, capacity):
    expected = oracle.group_cells(cells, n_rows=shape[0], n_cols=shape[1], capacity=capacity)
    for name, a, b in zip(found._fields, found, expected, strict=True):
        assert a.dtype == b.dtype, name
        np.testing.assert_array_equal(a, b, err_msg=name)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_groups_are_those_of_the_oracle(rng, dtype):
    for nse, shape, capacity in CASES:
        cells = _cells(rng, nse, shape, dtype)
        with jax.enable_x64(True):
            found = group_cells(cells, shape=shape, capacity=capacity, form="kernel")
        _check(found, cells, shape, capacity)
    for nse, shape, capacity in (CASES[0], CASES[4], CASES[6]):  # each compiles for long
        cells = _cells(rng, nse, shape, np.int32)
        _check(
            group_cells(cells, shape=shape, capacity=capacity, form="xla"), cells, shape, capacity
        )


def test_one_or_two_sorted_runs_and_threads(rng):
    shape = (1_000_000, 1_000_000)
    cells = _cells(rng, 300_000, shape, np.int32)
    one = cells[np.lexsort(cells.T[::-1])]
    two = np.concatenate([one[::2], one[1::3]])
    for given in (cells, one, two):
        found = group_cells(given, shape=shape, capacity=300_000, form="kernel")
        real = ((given >= 0) & (given < 1_000_000)).all(axis=1)
        key = np.where(real, given[:, 0] * np.int64(1_000_000) + given[:, 1], 10**12)
        distinct, first = np.unique(key[real], return_index=True)
        assert found.count == len(distinct)
        np.testing.assert_array_equal(found.cells[: len(distinct)], given[real][first])
        np.testing.assert_array_equal(found.order, np.argsort(key, kind="stable"))
        places = np.searchsorted(distinct, key)
        np.testing.assert_array_equal(found.inverse, np.where(real, places, 300_000))


def test_vmap_groups_each_list_by_itself(rng):
    cells = np.stack([_cells(rng, 20, (3, 4), np.int32) for _ in range(3)])
    found = jax.vmap(lambda c: group_cells(c, shape=(3, 4), capacity=6))(cells)
    for b in range(3):
        _check(type(found)(*(x[b] for x in found)), cells[b], (3, 4), 6)


@pytest.mark.parametrize(
    ("cells", "shape", "what"),
    [
        (np.zeros(2, np.int32), (3, 3), r"\(nse, 2\)"),
        (np.zeros((2, 2), np.int16), (3, 3), "int32 or int64"),
        (np.zeros((2, 2), np.int32), (3, -1), "negative"),
        (np.zeros((2, 2), np.int32), (3, 2**31), "fit"),
    ],
)
def test_wrong_operands_are_refused(cells, shape, what):
    with pytest.raises(ValueError, match=what):
        group_cells(cells, shape=shape, capacity=1)
