import jax
import numpy as np
import pytest

from oracles import rows as oracle
from rarefy._primitives.group_rows import group_rows

FORMS = ("kernel", "xla")
# (entries, rows, capacity, limit); None: the capacity that always suffices, or no limit
CASES = [
    (0, 5, None, None),
    (0, 0, None, None),
    (1, 1, None, None),
    (7, 0, None, None),
    (9, 20, 0, None),
    (50, 20, None, None),
    (50, 20, 5, None),
    (50, 20, 64, 30),
    (50, 20, None, 0),
    (50, 20, None, 999),
    (50, 20, 3, -4),
    (300, 1000, None, 299),
    (2000, 7, None, None),
    (3000, 1_000_000, None, None),
    (3000, 2**31 - 1, 100, None),
]
XLA_CASES = [CASES[i] for i in (0, 3, 4, 6, 7, 10)]  # each compiles for long
RUNS = [("kernel", dtype, *case) for dtype in (np.int32, np.int64) for case in CASES]
RUNS += [("xla", np.int32, *case) for case in XLA_CASES] + [("xla", np.int64, *CASES[7])]


def _ids(rng, nse, n_rows, dtype):
    ids = rng.integers(-2, n_rows + 2, nse)
    ids[: nse // 3] = n_rows * rng.random(nse // 3) ** 3  # popular rows
    return ids.clip(max=np.iinfo(dtype).max).astype(dtype)


def _check(found, ids, limit, n_rows, capacity):
    expected = oracle.group_rows(
        ids, len(ids) if limit is None else limit, n_rows=n_rows, capacity=capacity
    )
    for name, a, b in zip(found._fields, found, expected, strict=True):
        assert a.dtype == b.dtype, name
        np.testing.assert_array_equal(a, b, err_msg=name)


@pytest.mark.parametrize(("form", "dtype", "nse", "n_rows", "capacity", "limit"), RUNS)
def test_groups_are_those_of_the_oracle(rng, form, dtype, nse, n_rows, capacity, limit):
    ids = _ids(rng, nse, n_rows, dtype)
    capacity = min(nse, n_rows) if capacity is None else capacity
    with jax.enable_x64(True):
        found = group_rows(ids, limit, n_rows=n_rows, capacity=capacity, form=form)
    _check(found, ids, limit, n_rows, capacity)


@pytest.mark.parametrize("form", FORMS)
def test_ids_may_exceed_32_bits(rng, form):
    n_rows = 2**62
    ids = rng.integers(0, n_rows, 500)
    ids[::7] = ids[3]
    ids[5], ids[6], ids[8] = -1, n_rows, n_rows - 1
    with jax.enable_x64(True):
        found = group_rows(ids, n_rows=n_rows, capacity=600, form=form)
    _check(found, ids, None, n_rows, 600)


@pytest.mark.parametrize(
    "ids", [np.full(5000, 3), np.arange(5000), np.arange(5000)[::-1], np.arange(5000) % 2 * 4096]
)
def test_ids_that_skip_passes_of_the_sort(ids):
    ids = ids.astype(np.int32)
    found = group_rows(ids, n_rows=1 << 24, capacity=5000, form="kernel")
    _check(found, ids, None, 1 << 24, 5000)


@pytest.mark.parametrize("capacity", [1000, 400_000])
def test_entries_enough_for_several_threads(rng, capacity):
    n_rows, nse = 50_000, 400_000
    ids = (n_rows * rng.random(nse) ** 6).astype(np.int32)  # a few rows span several parts
    ids[::11] = n_rows
    found = group_rows(ids, nse - 5, n_rows=n_rows, capacity=capacity, form="kernel")
    key = np.where(np.arange(nse) < nse - 5, ids, n_rows)
    distinct, inverse = np.unique(key, return_inverse=True)
    distinct = distinct[:-1]
    assert found.count == len(distinct)
    kept = min(len(distinct), capacity)
    np.testing.assert_array_equal(found.rows[:kept], distinct[:kept])
    np.testing.assert_array_equal(found.rows[kept:], n_rows)
    np.testing.assert_array_equal(found.inverse, np.where(inverse < kept, inverse, capacity))
    np.testing.assert_array_equal(found.order, np.argsort(key, kind="stable"))
    ends = np.bincount(inverse).cumsum()[:kept]
    np.testing.assert_array_equal(found.starts[1 : kept + 1], ends)
    np.testing.assert_array_equal(found.starts[kept + 1 :], ends[-1])


@pytest.mark.parametrize("form", FORMS)
def test_a_new_limit_compiles_nothing(form):
    traces = []

    @jax.jit
    def f(ids, limit):
        traces.append(1)
        return group_rows(ids, limit, n_rows=9, capacity=4, form=form)

    ids = np.array([3, 1, 3, 8, 0, 5], np.int32)
    for limit in range(7):
        _check(f(ids, np.int32(limit)), ids, limit, 9, 4)
    assert len(traces) == 1


@pytest.mark.parametrize("form", FORMS)
def test_vmap_groups_each_list_by_itself(rng, form):
    ids = rng.integers(0, 6, (3, 10)).astype(np.int32)
    limits = np.array([10, 4, 0], np.int32)
    found = jax.vmap(lambda i, n: group_rows(i, n, n_rows=6, capacity=6, form=form))(ids, limits)
    for b in range(3):
        one = type(found)(*(x[b] for x in found))
        _check(one, ids[b], limits[b], 6, 6)


@pytest.mark.parametrize(
    ("ids", "sizes", "what"),
    [
        (np.zeros((2, 2), np.int32), {"n_rows": 3, "capacity": 3}, r"\(nse,\)"),
        (np.zeros(2, np.float32), {"n_rows": 3, "capacity": 3}, "integers"),
        (np.zeros(2, np.int32), {"n_rows": -1, "capacity": 3}, "negative"),
        (np.zeros(2, np.int32), {"n_rows": 2**31, "capacity": 3}, "int64"),
    ],
)
def test_wrong_operands_are_refused(ids, sizes, what):
    with pytest.raises(ValueError, match=what):
        group_rows(ids, **sizes)
