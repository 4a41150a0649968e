"""BCSR: buffers, checks, conversions and operators."""

import copy
import pickle

import jax
import numpy as np
import pytest
from jax import numpy as jnp
from jax.experimental import sparse as jsparse
from numpy.testing import assert_allclose, assert_array_equal

from cases.awkward import csr_cases
from cases.entries import awkward_entries
from rarefy.sparse import BCOO, BCSR, nnz, todense

M = np.array([[0.0, 1.0, 0.0, 2.0], [3.0, 0.0, 0.0, 0.0], [0.0, 0.0, 4.0, 0.0]], np.float32)
ONE_TYPE = (np.dtype("float32"),), (np.dtype("int32"),)
CASES = [c for c in csr_cases(*ONE_TYPE) if "big" not in c.tags and c.indices.dtype == np.int32]
MESS = next(c for c in CASES if c.name == "everything at once")
HOLES = next(c for c in CASES if c.name == "padding inside rows")


def bcsr(case) -> BCSR:
    buffers = map(jnp.asarray, (case.data, case.indices, case.indptr))
    return BCSR._trusted(*buffers, case.shape)


each_case = pytest.mark.parametrize("case", CASES, ids=str)


def test_repr_and_properties_are_jaxs():
    for shape, n_batch, n_dense in [((3, 4), 0, 0), ((2, 3, 4), 1, 0), ((2, 3, 4, 5), 1, 1)]:
        dense = np.ones(shape, np.float32)
        ours = BCSR.fromdense(dense, n_batch=n_batch, n_dense=n_dense)
        theirs = jsparse.BCSR.fromdense(jnp.asarray(dense), n_batch=n_batch, n_dense=n_dense)
        assert repr(ours) == repr(theirs)
        for name in ("shape", "dtype", "ndim", "size", "nse", "n_batch", "n_sparse", "n_dense"):
            assert getattr(ours, name) == getattr(theirs, name), name
        for mine, other in zip(
            ours._bufs, (theirs.data, theirs.indices, theirs.indptr), strict=True
        ):
            assert_array_equal(mine, other)


@each_case
def test_todense_and_back(case):
    x = bcsr(case)
    assert_array_equal(x.todense(), case.dense)
    assert_array_equal(x.to_scipy_sparse().toarray(), case.dense)
    back = BCSR.fromdense(case.dense)
    assert nnz(back) == np.count_nonzero(case.dense)
    assert_array_equal(back.to_scipy_sparse().toarray(), case.dense)


@pytest.mark.parametrize("case", csr_cases(), ids=str)
def test_nnz_counts_stored_elements(case):
    columns = case.indices[: case.indptr[-1]].astype(np.int64)
    with jax.enable_x64(True):
        assert nnz(bcsr(case)) == ((columns >= 0) & (columns < case.shape[1])).sum()


def test_dtypes_of_values_and_indices():
    types = {(d, i) for d, i in (("float16", "int64"), ("bfloat16", "int32"), ("float64", "int64"))}
    for case in csr_cases():
        if (
            case.name == "everything at once"
            and (case.data.dtype.name, case.indices.dtype) in types
        ):
            with jax.enable_x64(True):
                x = bcsr(case)
                assert (x.dtype, x.indices.dtype) == (case.data.dtype, case.indices.dtype)
                dense, transposed = jax.jit(lambda m: (m.todense(), m.T.todense()))(x)
                assert_array_equal(dense, case.dense)
                assert_array_equal(transposed, case.dense.T)


def test_transpose_is_sorted_and_keeps_what_is_stored():
    for case in (MESS, HOLES):
        t = bcsr(case).T
        assert t.shape == case.shape[::-1]
        assert_array_equal(t.todense(), case.dense.T)
        assert_array_equal(t.T.todense(), case.dense)
        rows = np.repeat(np.arange(t.shape[0]), np.diff(t.indptr))
        order = list(zip(rows, np.asarray(t.indices[: len(rows)]), strict=True))
        assert order == sorted(order)
        assert_array_equal(jax.jit(lambda m: m.T)(bcsr(case)).indices, t.indices)


def test_transpose_of_batched_and_blocked():
    dense = np.arange(24, dtype=np.float32).reshape(2, 3, 4) % 5
    x = BCSR.fromdense(dense, n_batch=1)
    assert_array_equal(x.transpose((0, 2, 1)).todense(), dense.transpose(0, 2, 1))
    y = BCSR.fromdense(dense, n_dense=1)
    assert_array_equal(y.transpose((1, 0, 2)).todense(), dense.transpose(1, 0, 2))
    with pytest.raises(NotImplementedError, match="batch axes"):
        x.T.todense()
    with pytest.raises(TypeError, match="permutation"):
        y.transpose((0, 0, 1))


def test_sort_and_sum_duplicates():
    for case in (MESS, HOLES):
        x = bcsr(case)
        assert_array_equal(x.sort_indices().todense(), case.dense)
        merged = x.sum_duplicates()
        assert_array_equal(merged.todense(), case.dense)
        kept = x.sum_duplicates(remove_zeros=False)
        real = case.indices[: case.indptr[-1]]
        rows = np.repeat(np.arange(case.shape[0]), np.diff(case.indptr))
        pairs = {(r, c) for r, c in zip(rows, real, strict=True) if 0 <= c < case.shape[1]}
        assert nnz(kept) == len(pairs)
        assert kept.unique_indices


BAD = {
    "falls": ([1.0] * 3, [0, 1, 2], [0, 2, 1, 3], "indptr\\[1\\] is 2 and indptr\\[2\\] is 1"),
    "begin": ([1.0] * 3, [0, 1, 2], [1, 1, 2, 3], "begin with 0"),
    "end": ([1.0] * 3, [0, 1, 2], [0, 1, 2, 4], "ends with 4, more than the 3 entries"),
    "length": ([1.0] * 3, [0, 1, 2], [0, 1, 3], "indptr shape must match the matrix shape plus 1"),
    "column": ([1.0] * 3, [0, 5, 2], [0, 1, 2, 3], "indices\\[1\\] is 5, expected 0 to 3"),
    "negative": ([1.0] * 3, [0, 1, -2], [0, 1, 2, 3], "indices\\[2\\] is -2"),
    "data": ([1.0] * 2, [0, 1, 2], [0, 1, 2, 3], "Invalid data.shape=\\(2,\\) for nse=3"),
}


@pytest.mark.parametrize("data, indices, indptr, message", BAD.values(), ids=BAD.keys())
def test_constructor_refuses(data, indices, indptr, message):
    with pytest.raises(ValueError, match=message):
        BCSR((np.asarray(data), np.asarray(indices), np.asarray(indptr)), shape=(3, 4))


def test_constructor_refuses_kinds_and_ranks():
    with pytest.raises(TypeError, match="indptr must be integers"):
        BCSR((np.ones(1), np.zeros(1, int), np.zeros(4)), shape=(3, 4))
    with pytest.raises(ValueError, match="fewer than"):
        BCSR((np.ones(1), np.zeros(1, int), np.zeros(4, int)), shape=(3,))
    with pytest.raises(ValueError, match=r"Invalid data\.shape"):
        BCSR((np.ones(1), np.zeros(1, int), np.array([0, 1])), shape=(1, 2, 2))
    with pytest.raises(ValueError, match=r"in batch \(1,\)"):
        BCSR(
            (np.ones((2, 1)), np.zeros((2, 1), int), np.array([[0, 1, 1], [0, 1, 0]])),
            shape=(2, 2, 2),
        )


def test_constructor_takes_lists_padding_and_mixed_index_types():
    x = BCSR(([1.0, 2.0, 0.0], [0, 1, 2], [0, 1, 2]), shape=(2, 2))
    assert_array_equal(x.todense(), [[1, 0], [0, 2]])
    with jax.enable_x64(True):
        wide = np.array([0, 1, 2], np.int64)
        x = BCSR((np.ones(3, np.float32), wide.astype(np.int32), wide), shape=(2, 2))
        assert_array_equal(x @ np.ones(2, np.float32), [1, 1])


def test_wide_matrices_cost_what_they_store():
    for case in csr_cases():
        if "big" in case.tags:
            with jax.enable_x64(True):
                x = bcsr(case)
                total = x.sum_duplicates().sum_duplicates()
                assert nnz(total) == nnz(x)
                assert_allclose(x.sum(), case.data.sum())
                there = x.T if case.shape[1] < 10**8 else x
                assert nnz(there) == nnz(x)


def test_pytree_pickle_and_placeholders():
    x = BCSR.fromdense(M)
    for y in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), jax.tree.map(lambda leaf: leaf, x)):
        assert repr(y) == repr(x)
        assert_array_equal(y.todense(), M)
    paths = jax.tree_util.tree_flatten_with_path(x)[0]
    assert [jax.tree_util.keystr(p) for p, _ in paths] == [".data", ".indices", ".indptr"]
    held = jax.tree.unflatten(jax.tree.structure(x), [object()] * 3)
    assert repr(held) == "BCSR(<invalid>)"
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)


def test_from_bcoo_sorts_if_need_be():
    entries = awkward_entries((5, 6))
    x = BCOO((entries.data, entries.indices), shape=entries.shape)
    assert_array_equal(BCSR.from_bcoo(x).todense(), entries.dense)
    batched = awkward_entries((2, 5, 6), n_batch=1)
    y = BCOO((batched.data, batched.indices), shape=batched.shape)
    assert_array_equal(BCSR.from_bcoo(y).todense(), batched.dense)
    assert_array_equal(BCSR.from_bcoo(y).to_bcoo().todense(), batched.dense)
    assert BCSR.fromdense(entries.dense).to_bcoo().indices_sorted
    with pytest.raises(NotImplementedError, match="two sparse dimensions"):
        BCSR.from_bcoo(BCOO.fromdense(np.ones(3)))


def test_operators_of_every_kind():
    x, dense = bcsr(MESS), MESS.dense
    factor = np.arange(1, dense.size + 1, dtype=np.float32).reshape(dense.shape)
    cases = {
        "scalar": (lambda m: m * 2, dense * 2),
        "left scalar": (lambda m: 2 * m, dense * 2),
        "neg": (lambda m: -m, -dense),
        "divide": (lambda m: m / 4, dense / 4),
        "dense": (lambda m: factor * m, dense * factor),
        "row": (lambda m: m * factor[:1], dense * factor[:1]),
        "column": (lambda m: m / factor[:, :1], dense / factor[:, :1]),
        "abs": (lambda m: abs(m), abs(dense)),
        "power": (lambda m: m**2, dense**2),
        "same pattern": (lambda m: m + m * 2, dense * 3),
        "sparse": (lambda m: m + BCSR.fromdense(factor), dense + factor),
        "minus": (lambda m: m - BCSR.fromdense(factor), dense - factor),
        "bcoo": (lambda m: m + m.to_bcoo(), 2 * dense),
        "bcoo from the left": (lambda m: m.to_bcoo() - m, 0 * dense),
        "plus dense": (lambda m: m + factor, dense + factor),
        "dense minus": (lambda m: factor - m, factor - dense),
        "astype": (lambda m: m.astype(jnp.int32), dense.astype(np.int32)),
        "sum": (lambda m: m.sum(), dense.sum()),
        "sum 0": (lambda m: m.sum(0), dense.sum(0)),
        "sum 1": (lambda m: m.sum(axis=1), dense.sum(1)),
        "rows": (lambda m: m[2:6], dense[2:6]),
        "steps": (lambda m: m[::-2, 1:], dense[::-2, 1:]),
        "row one": (lambda m: m[3], dense[3]),
        "column one": (lambda m: m[:, 6], dense[:, 6]),
    }
    found = jax.jit(lambda m: [todense(f(m)) for f, _ in cases.values()])(x)
    for (name, (_, expected)), value in zip(cases.items(), found, strict=True):
        assert_allclose(value, expected, rtol=1e-6, err_msg=name)
    assert isinstance(x + x.sum_duplicates(), BCSR)
    assert (x + x).nse == x.nse
    assert isinstance(x[2:5], BCSR)
    for row, expected in zip(x, dense, strict=True):
        assert_array_equal(row.todense(), expected)


def test_operators_that_would_be_dense_are_refused():
    x = BCSR.fromdense(M)
    for act in (lambda: 2 / x, lambda: x + 1, lambda: x**-1, lambda: 2**x, lambda: x / x):
        with pytest.raises(NotImplementedError, match="dense"):
            act()


def test_fromdense_in_every_layout_and_under_jit():
    dense = np.arange(48, dtype=np.float32).reshape(2, 3, 4, 2) % 3
    for n_batch, n_dense in ((1, 1), (0, 2), (2, 0)):
        x = BCSR.fromdense(dense, n_batch=n_batch, n_dense=n_dense)
        assert (x.n_batch, x.n_dense) == (n_batch, n_dense)
        assert_array_equal(x.todense(), dense)
    traced = jax.jit(lambda d: BCSR.fromdense(d, nse=9))(M)
    assert traced.nse == 9
    assert_array_equal(traced.todense(), M)
    with pytest.raises(jax.errors.ConcretizationTypeError, match="nse"):
        jax.jit(BCSR.fromdense)(M)
    with pytest.raises(ValueError, match="two sparse dimensions"):
        BCSR.fromdense(dense)


def test_a_product_with_a_transpose_does_not_transpose(rng):
    dense = rng.integers(-2, 3, (4, 5)).astype(np.float32)
    x, v = BCSR.fromdense(dense), np.arange(4, dtype=np.float32)
    turned = x.T
    assert_array_equal(turned @ v, dense.T @ v)
    assert_array_equal(v @ turned.T, v @ dense)
    assert_array_equal(np.ones((2, 5), np.float32) @ turned, np.ones((2, 5)) @ dense.T)
    assert "data" not in vars(turned)  # nothing has asked for its buffers
    inside = jax.jit(lambda v: (turned.data * 1, turned @ v))
    assert_array_equal(inside(v)[1], dense.T @ v)
    assert_array_equal(turned.todense(), dense.T)  # and what a trace asked for is no tracer
    lowered = jax.jit(lambda x, v: x.T @ v).lower(x, v).compile().as_text()
    assert "csr_t_dot_dense" in lowered
    assert "rarefy_csr_transpose" not in lowered
    gradient = jax.grad(lambda d: (x._with_data(d).T @ v).sum())(x.data)
    assert_array_equal(gradient, v[np.nonzero(dense)[0]])
    with pytest.raises(AttributeError, match="no attribute 'row'"):
        turned.row  # noqa: B018
