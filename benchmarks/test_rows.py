"""Rows of tables: grouping ids, gathering, summing by group, updating in place; new tables."""

from functools import partial
from itertools import cycle

import jax
import numpy as np
import pytest
from jax import numpy as jnp

from rarefy._primitives.csr_t_dot_rows import csr_t_dot_rows
from rarefy._primitives.csr_t_update import csr_t_update
from rarefy._primitives.group_rows import group_rows
from rarefy._primitives.random_uniform import random_uniform
from rarefy._primitives.rows_update import RULES, rows_update
from rarefy._primitives.segment_rows import segment_rows
from rarefy._primitives.take_rows import take_rows
from rarefy._primitives.zeros import zeros

form = pytest.mark.parametrize("form", ["kernel", "xla"])
GROUPS = {
    "100-of-1000000": (100, 1_000_000, False),
    "10240-of-1000000": (10_240, 1_000_000, False),
    "40960-of-1000000-skewed": (40_960, 1_000_000, True),
    "1000000-of-100000": (1_000_000, 100_000, False),
}
group_size = pytest.mark.parametrize("size", GROUPS.values(), ids=GROUPS)
SIZES = {"10240x1": (10_240, 1), "10240x128": (10_240, 128), "40960x16": (40_960, 16)}
size_of_rows = pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
N_ROWS = 1_000_000


def random_ids(count, n_rows, *, skewed=True, seed=0):
    """Ids; skewed as a click log has them: some come often, most are rare, all scattered."""
    rng = np.random.default_rng(seed)
    ids = (n_rows * rng.random(count) ** (3 if skewed else 1)).astype(np.int64)
    return jnp.asarray((ids * 7919 % n_rows).astype(np.int32))


@group_size
@form
def test_group_rows(measure, form, size):
    count, n_rows, skewed = size
    if form == "xla" and count > 100_000:
        pytest.skip("more than a second a call")
    ids = random_ids(count, n_rows, skewed=skewed)
    f = jax.jit(partial(group_rows, n_rows=n_rows, capacity=min(count, n_rows), form=form))
    groups = measure(f, ids)
    np.testing.assert_array_equal(groups.rows[: int(groups.count)], np.unique(ids))


@group_size
def test_group_rows_numpy(measure, size):
    count, n_rows, skewed = size
    ids = np.asarray(random_ids(count, n_rows, skewed=skewed))
    assert len(measure(lambda: np.unique(ids, return_inverse=True))) == 2


@size_of_rows
@form
def test_take_rows(measure, form, size):
    count, width = size
    table, ids = jnp.ones((N_ROWS, width)), random_ids(count, N_ROWS)
    assert measure(jax.jit(partial(take_rows, form=form)), table, ids).shape == (count, width)


@size_of_rows
def test_take_rows_numpy(measure, size):
    count, width = size
    table, ids = np.ones((N_ROWS, width), np.float32), np.asarray(random_ids(count, N_ROWS))
    assert measure(lambda: table[ids]).shape == (count, width)


@size_of_rows
@form
def test_segment_rows(measure, form, size):
    count, width = size
    groups = group_rows(random_ids(count, N_ROWS), n_rows=N_ROWS, capacity=count)
    values = jnp.ones((count, width))
    f = jax.jit(partial(segment_rows, form=form))
    sums = measure(f, groups.order, groups.starts, values)
    assert float(sums.sum()) == count * width


@pytest.mark.parametrize(
    ("n_rows", "width"), [(1_000_000, 128), (100_000, 16), (10_000_000, 16)], ids=str
)
@pytest.mark.parametrize("rule", RULES)
@form
def test_rows_update(measure, form, rule, n_rows, width):
    """1,000 rows in place, other ones each time; the height of the table must not matter."""
    count = 1000
    rows = cycle(
        jnp.asarray(np.sort(np.random.default_rng(seed).choice(n_rows, count, replace=False)))
        for seed in range(64)
    )
    grad = jnp.ones((count, width))
    hyper = jnp.full(len(RULES[rule].hyper), 0.01)
    f = jax.jit(partial(rows_update, rule, form=form), donate_argnums=0)
    held = [tuple(jnp.ones((n_rows, width)) for _ in range(1 + len(RULES[rule].states)))]

    def step():
        held[0] = f(held[0], next(rows), grad, hyper)
        return held[0]

    address = held[0][0].unsafe_buffer_pointer()
    measure(step)
    assert held[0][0].unsafe_buffer_pointer() == address


@pytest.mark.parametrize("how", ["in one", "grouped, summed, moved"])
@pytest.mark.parametrize("width", [1, 2, 4, 8])
@pytest.mark.parametrize("rule", ["sgd", "adagrad", "adam"])
def test_csr_t_update(measure, rule, width, how):
    """A linear model's update: 1024 rows of 40 entries over 1,000,000 columns."""
    ids, m = random_ids(40_960, N_ROWS), 1024
    data, indptr = jnp.ones(40_960), jnp.arange(m + 1, dtype=jnp.int32) * 40
    dense, hyper = jnp.ones((m, width)), jnp.full(len(RULES[rule].hyper), 0.1)

    @partial(jax.jit, donate_argnums=0)
    def update(tables):
        if how == "in one":
            return csr_t_update(rule, tables, data, ids, indptr, dense, hyper)
        groups = group_rows(ids, n_rows=N_ROWS, capacity=40_960)
        grad = csr_t_dot_rows(data, indptr, groups.order, groups.starts, dense)
        return rows_update(rule, tables, groups.rows, grad, hyper)

    tables = [tuple(jnp.ones((N_ROWS, width)) for _ in range(1 + len(RULES[rule].states)))]

    def step():
        tables[0] = update(tables[0])
        return tables[0]

    assert len(measure(step)) == 1 + len(RULES[rule].states)


@form
def test_zeros(measure, form):
    assert measure(lambda: zeros(shape=(N_ROWS, 128), dtype=np.float32, form=form)).nbytes > 5e8


@form
def test_random_uniform(measure, form):
    key = jax.random.key(0)
    draw = partial(random_uniform, key, shape=(N_ROWS, 128), dtype=np.float32, form=form)
    assert float(measure(draw)[-1, -1]) < 1


def test_random_uniform_jax(measure):
    key = jax.random.key(0)
    assert float(measure(lambda: jax.random.uniform(key, (N_ROWS, 128)))[-1, -1]) < 1
