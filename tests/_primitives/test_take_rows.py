import jax
import ml_dtypes
import numpy as np
import pytest
from jax import numpy as jnp
from jax.test_util import check_grads

from oracles import rows as oracle
from rarefy._primitives.take_rows import take_rows

FORMS = ("kernel", "xla")
FLOATS = (np.float32, np.float64, np.float16, ml_dtypes.bfloat16)
ROWS = np.array([3, -1, 5, 0, 3, 7, -(2**31), 2**31 - 1, 4], np.int32)  # n = 5: four are outside


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("d", [(), (1,), (3,), (16,), (2, 5), (33,)])
def test_rows_are_copied_and_those_outside_are_zero(rng, d, dtype, form):
    table = rng.standard_normal((5, *d)).astype(dtype)
    for index in (np.int32, np.int64):
        with jax.enable_x64(True):
            out = take_rows(table, ROWS.astype(index), form=form)
        assert out.dtype == dtype
        np.testing.assert_array_equal(out, oracle.take_rows(table, ROWS))


@pytest.mark.parametrize("d", [1, 2, 4, 5, 31, 32, 100, 128, 700])
def test_kernel_copies_rows_of_any_width(rng, d):
    table = rng.standard_normal((50, d)).astype(np.float16)
    rows = rng.integers(-3, 53, 200).astype(np.int32)
    out = take_rows(table, rows, form="kernel")
    np.testing.assert_array_equal(out, oracle.take_rows(table, rows))


def test_entries_enough_for_several_threads(rng):
    table = rng.standard_normal((1000, 64)).astype(np.float32)
    rows = rng.integers(0, 1000, 30_000).astype(np.int32)
    np.testing.assert_array_equal(take_rows(table, rows, form="kernel"), table[rows])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("n", "k", "d"), [(0, 3, 2), (4, 0, 2), (4, 3, 0), (0, 0, 0)])
def test_empty_operands(n, k, d, form):
    out = take_rows(np.ones((n, d), np.float32), np.zeros(k, np.int32), form=form)
    np.testing.assert_array_equal(out, np.ones((k, d)) if n else np.zeros((k, d)))


@pytest.mark.parametrize("form", FORMS)
def test_nan_and_inf_do_not_leak_into_rows_outside(form):
    table = np.array([[np.nan, np.inf]], np.float32)
    out = take_rows(table, np.array([1, 0, -1], np.int32), form=form)
    np.testing.assert_array_equal(out, [[0, 0], [np.nan, np.inf], [0, 0]])


def test_derivatives_of_first_and_second_order(rng):
    table = rng.standard_normal((5, 2))
    with jax.enable_x64(True):
        check_grads(lambda t: jnp.sin(take_rows(t, ROWS)), (table,), order=2)


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
def test_gradient_sums_the_cotangents_of_a_row(dtype):
    rows = np.concatenate([np.full(1000, 2), [-1, 5, 0]]).astype(np.int32)
    # Sums of ones past 256 have no bfloat16 of their own on the way.
    grad = jax.grad(lambda t: take_rows(t, rows).sum(dtype=np.float32))(jnp.zeros((5, 1), dtype))
    np.testing.assert_array_equal(grad[:, 0], [1, 0, 1000, 0, 0])
    assert grad.dtype == dtype


@pytest.mark.parametrize("form", FORMS)
def test_vmap_over_table_rows_or_both(rng, form):
    tables = rng.standard_normal((3, 5, 2)).astype(np.float32)
    lists = np.stack([ROWS, ROWS[::-1], ROWS * 0 + 1])

    def take(table, rows):
        return take_rows(table, rows, form=form)

    for out, which in (
        (jax.vmap(take)(tables, lists), lambda b: (tables[b], lists[b])),
        (jax.vmap(take, (0, None))(tables, ROWS), lambda b: (tables[b], ROWS)),
        (jax.vmap(take, (None, 1))(tables[0], lists.T), lambda b: (tables[0], lists[b])),
    ):
        for b in range(3):
            np.testing.assert_array_equal(out[b], oracle.take_rows(*which(b)))


def test_vmap_of_grad():
    tables, rows = np.ones((3, 5, 2), np.float32), np.array([4, 4, 9], np.int32)
    out = jax.vmap(jax.grad(lambda t: (take_rows(t, rows) ** 2).sum()))(tables)
    np.testing.assert_array_equal(out[:, 4], np.full((3, 2), 4))
    assert out.sum() == 24


def test_wrong_operands_are_refused():
    table = np.ones((3, 2), np.float32)
    for bad in (
        (table, np.zeros(2, np.float32)),
        (table, np.zeros((1, 1), int)),
        (table[0, 0], [1]),
    ):
        with pytest.raises(ValueError, match="take_rows"):
            take_rows(bad[0], np.asarray(bad[1]))
