"""Updates by the factors of a gradient, which is never made."""

import jax
import numpy as np
import pytest
from jax import numpy as jnp

from cases.rules import hyper_of, tables_of
from oracles import rows as oracle
from rarefy._primitives import csr_t_update
from rarefy._primitives.rows_update import RULES

FORMS = ("kernel", "xla")


def _batch(rng, m, n, per_row, columns, dtype=np.float32, index=np.int32):
    """Entries with repeats, a hot column, columns out of range, empty rows and slots to spare."""
    sizes = rng.integers(0, 2 * per_row + 1, m)
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(index)
    nse = int(indptr[-1]) + 5
    indices = np.where(rng.random(nse) < 0.2, n // 2, rng.integers(-2, n + 3, nse)).astype(index)
    data = rng.standard_normal(nse).astype(dtype)
    return data, indices, indptr, rng.standard_normal((m, *columns)).astype(dtype)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rule", RULES)
def test_rows_that_entries_name_follow_the_formula_and_others_keep_their_bits(rng, rule, form):
    for columns in ((), (1,), (2,), (3,), (2, 2), (8,)):
        tables = tables_of(rng, rule, (40, *columns))
        batch = _batch(rng, 12, 40, 2, columns)
        out = csr_t_update(rule, tables, *batch, hyper_of(rule), form=form)
        expected = oracle.csr_t_update(rule, tables, *batch, hyper_of(rule))
        named = np.isin(np.arange(40), batch[1][: batch[2][-1]])
        assert 0 < named.sum() < 40
        for old, new, right in zip(tables, out, expected, strict=True):
            np.testing.assert_allclose(new, right, rtol=2e-5, atol=2e-5)
            np.testing.assert_array_equal(np.asarray(new)[~named], old[~named])


@pytest.mark.parametrize("rule", RULES)
def test_float64_and_64_bit_columns(rng, rule):
    tables = tables_of(rng, rule, (30, 2), np.float64)
    batch = _batch(rng, 9, 30, 3, (2,), np.float64, np.int64)
    hyper = hyper_of(rule, np.float64)
    expected = oracle.csr_t_update(rule, tables, *batch, hyper)
    for form in FORMS:
        with jax.enable_x64(True):
            out = csr_t_update(rule, tables, *batch, hyper, form=form)
        for new, right in zip(out, expected, strict=True):
            assert new.dtype == np.float64
            np.testing.assert_allclose(new, right, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n", [7, 5_000, 300_000])
def test_many_entries_in_many_buckets(rng, n):
    """Few columns that are named often, as many as entries, and hardly ever the same; in parts."""
    m, columns = 3_000, (2,)
    batch = _batch(rng, m, n, 12, columns)
    data, indices, indptr, dense = batch
    real = np.arange(len(data)) < indptr[-1]
    entries = np.flatnonzero(real & (indices >= 0) & (indices < n))
    row = np.searchsorted(indptr, entries, side="right") - 1
    grad = np.zeros((n, 2))
    np.add.at(grad, indices[entries], data[entries, None].astype(np.float64) * dense[row])
    tables = tables_of(rng, "sgd_mom", (n, 2))
    hyper = hyper_of("sgd_mom", wd=0.0, clip_gradient=-1.0)
    weight, momentum = csr_t_update("sgd_mom", tables, *batch, hyper, form="kernel")
    named = np.isin(np.arange(n), indices[entries])
    expected = np.where(named[:, None], 0.9 * tables[1] - 0.05 * grad, tables[1])
    np.testing.assert_allclose(momentum, expected, rtol=1e-4, atol=1e-4)
    moved = np.where(named[:, None], tables[0] + expected, tables[0])
    np.testing.assert_allclose(weight, moved, rtol=1e-4, atol=1e-4)
    again = csr_t_update("sgd_mom", tables, *batch, hyper, form="kernel")
    np.testing.assert_array_equal(again[0], weight)


@pytest.mark.parametrize("form", FORMS)
def test_nothing_to_do(form):
    none = np.zeros(0, np.float32), np.zeros(0, np.int32)
    for n, k, m in ((4, 2, 0), (4, 2, 3), (4, 0, 3), (0, 2, 3)):
        table = np.ones((n, k), np.float32)
        batch = (*none, np.zeros(m + 1, np.int32), np.ones((m, k), np.float32))
        (out,) = csr_t_update("sgd", (table,), *batch, hyper_of("sgd"), form=form)
        np.testing.assert_array_equal(out, table)


def test_the_tables_are_updated_in_place_when_donated(rng):
    step = jax.jit(csr_t_update, static_argnums=0, donate_argnums=1)
    tables = tuple(jnp.asarray(t) for t in tables_of(rng, "adam", (2000, 2)))
    batch = _batch(rng, 4, 2000, 3, (2,))
    size = 3 * tables[0].nbytes
    memory = step.lower("adam", tables, *batch, hyper_of("adam")).compile().memory_analysis()
    assert memory.alias_size_in_bytes == size
    assert memory.temp_size_in_bytes < 1000
    kept = [np.array(t) for t in tables]
    jax.block_until_ready(csr_t_update("adam", tables, *batch, hyper_of("adam")))
    for table, copy in zip(tables, kept, strict=True):
        np.testing.assert_array_equal(table, copy)


def test_operands_that_do_not_fit_are_refused(rng):
    (table,), batch = tables_of(rng, "sgd", (6, 2)), _batch(rng, 3, 6, 2, (2,))
    for rule, tables, operands, said in (
        ("none", (table,), batch, "no rule 'none'; there are sgd"),
        ("adam", (table,), batch, "tables must be (weight, mean, var), got 1"),
        ("sgd", (table.astype(np.float16),), batch, "weight must be float32 or float64, got"),
        ("sgd", (table,), (*batch[:3], batch[3][:, :1]), "dense must be float32[3, 2], got"),
        ("sgd", (table,), (batch[0][1:], *batch[1:]), "indices must be int32["),
        ("sgd", (table,), (batch[0], *batch[1:2], batch[2].astype(np.int16), batch[3]), "indptr"),
    ):
        with pytest.raises(ValueError) as refused:
            csr_t_update(rule, tables, *operands, hyper_of("sgd"))
        assert said in str(refused.value)


def test_derivatives_and_batches_are_those_of_the_parts(rng):
    (table,), batch = tables_of(rng, "sgd", (6, 2)), _batch(rng, 3, 6, 2, (2,))
    data, indices, indptr, dense = batch
    hyper = hyper_of("sgd", clip_gradient=-1.0, wd=0.0)

    def weight(data, dense):
        return csr_t_update("sgd", (table,), data, indices, indptr, dense, hyper)[0]

    step = rng.standard_normal(data.shape).astype(np.float32)
    moved, tangent = jax.jvp(weight, (data, dense), (step, np.zeros_like(dense)))
    expected = oracle.csr_t_update("sgd", (np.zeros_like(table),), step, *batch[1:], hyper)[0]
    np.testing.assert_allclose(tangent, expected, atol=1e-5)
    both = jax.vmap(weight, in_axes=(None, 0))(data, np.stack([dense, 2 * dense]))
    np.testing.assert_allclose(both[0], moved, atol=1e-6)
    np.testing.assert_allclose(both[1] - table, 2 * (moved - table), atol=1e-5)
