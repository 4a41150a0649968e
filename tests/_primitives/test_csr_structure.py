"""Structural primitives on csr buffers: both forms against oracles that go entry by entry."""

import jax
import numpy as np
import pytest
import scipy.sparse
from jax import numpy as jnp
from jax.test_util import check_grads
from numpy.testing import assert_allclose, assert_array_equal

from oracles import products, rows
from rarefy._primitives import (
    coo_to_csr,
    csr_combine,
    csr_dot_csr_places,
    csr_matmul,
    csr_merge,
    csr_sum_rows,
    csr_to_coo,
    csr_transpose,
    csr_turn,
    dense_places,
    group_rows,
)

FORMS = ("kernel", "xla")
SIZES = ((5, 6, 12), (1, 1, 3), (3, 70, 20), (0, 3, 4), (4, 0, 3), (3, 2, 0))
# Compiling is what takes time here: the XLA forms see fewer shapes.
RUNS = (("kernel", np.int32, SIZES), ("kernel", np.int64, SIZES[:1]), ("xla", np.int32, SIZES[:1]))
each_run = pytest.mark.parametrize("form, index, sizes", RUNS)


def shuffled(rng, m, n, nse, index):
    """Any order, repeats, padding in rows and behind the last one, perhaps before the first."""
    indices = rng.integers(-1, n + 2, nse).astype(index)
    indptr = np.sort(rng.integers(0, max(nse - 1, 1), m + 1)).astype(index)
    indptr[0] = min(1, *indptr) if m > 3 else 0
    return indices, indptr


def in_order(rng, m, n, nse, index):
    """Columns ascend in each row without repeats; padding ends a row, and what is behind the last."""
    cells = np.sort(rng.choice(m * (n + 1), min(max(nse - 2, 0), m * (n + 1)), replace=False))
    indptr = np.searchsorted(cells, np.arange(m + 1) * (n + 1)).astype(index)
    spare = rng.integers(0, n + 1, nse - len(cells))
    return np.concatenate([cells % (n + 1), spare]).astype(index), indptr


def assert_same(found, expected, message):
    for x, y in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert_array_equal(x, y, err_msg=message)


@each_run
def test_layouts_turn_into_each_other(rng, form, index, sizes):
    with jax.enable_x64(index == np.int64):
        for m, n, nse in sizes:
            places = shuffled(rng, m, n, nse, index)
            note = f"{form} {m, n, nse}"
            found = csr_to_coo(*places, n_cols=n, form=form)
            assert found.dtype == index
            assert_same(found, products.csr_to_coo(*places, n_cols=n), note)
            found = csr_transpose(*places, n_cols=n, form=form)
            assert_same(tuple(found), products.csr_transpose(*places, n_cols=n), note)
            values = rng.integers(-4, 5, nse).astype(np.float32)
            for kind in ("float32", "float16", "int8", "float64")[: 4 if form == "kernel" else 1]:
                if kind == "float64" and index != np.int64:
                    continue
                found = csr_turn(values.astype(kind), *places, n_cols=n, form=form)
                assert_same(tuple(found), products.csr_turn(values, *places, n_cols=n), note)
                if kind != "int8":
                    found = csr_sum_rows(values.astype(kind), *places, n_cols=n, form=form)
                    assert found.dtype == kind
                    assert_same(found, products.csr_sum_rows(values, *places, n_cols=n), note)
            for axis in (0, 1):
                cells = rng.integers(-1, n + 2, (nse, 2)).astype(index)
                cells[:, axis] = np.sort(rng.integers(-1, m + 2, nse))
                params = {"row_axis": axis, "form": form}
                found = coo_to_csr(cells, shape=(m, n), **params)
                oracle = products.coo_to_csr(cells, n_rows=m, n_cols=n, row_axis=axis)
                assert_same(found, oracle, f"{note} {axis=}")


@each_run
def test_merged_places_and_whole_products(rng, form, index, sizes):
    with jax.enable_x64(index == np.int64):
        for m, n, nse in sizes:
            a, b = in_order(rng, m, n, nse, index), in_order(rng, m, n, nse + 3, index)
            for both in (False, True):
                for room in (0, 3, 2 * nse + 3)[form == "xla" :]:
                    params = {"n_cols": n, "nse": room, "both": both}
                    found = csr_merge(*a, *b, **params, form=form)
                    oracle = products.csr_merge(*a, *b, **params)
                    assert_same(tuple(found), oracle, f"{form} {m, n, nse} {params}")
            values = [rng.integers(-2, 3, s).astype(np.float32) for s in (len(a[0]), len(b[0]))]
            for product, drop, room in ((0, 1, 3), (1, 0, 9), (0, 0, 3), (0, 1, 99))[
                : 2 if form == "xla" else 4
            ]:
                params = {"n_cols": n, "nse": room, "product": bool(product)}
                params["drop_zeros"] = bool(drop)
                found = csr_combine(*values, *a, *b, **params, form=form)
                oracle = products.csr_combine(*values, *a, *b, **params)
                assert_same(tuple(found), oracle, f"{form} {m, n, nse} {params}")
            places = *shuffled(rng, m, n, nse, index), *shuffled(rng, n, m, nse + 3, index)
            values = [rng.integers(-4, 5, s).astype(np.float32) for s in (nse, nse + 3)]
            for room, coordinates in ((0, False), (m * m + 1, False), (2, True))[form == "xla" :]:
                params = {"n_cols": m, "nse": room, "coordinates": coordinates}
                found = csr_matmul(*values, *places, **params, form=form)
                oracle = products.csr_matmul(*values, *places, **params)
                assert_same(tuple(found), oracle, f"{form} {m, n, nse} {params}")


@pytest.mark.parametrize("form", FORMS)
def test_cells_of_dense_matrices(rng, form):
    kinds = ("bool", "int8", "uint16", "int32", "float16", "bfloat16", "float32")
    for kind in kinds if form == "kernel" else ("float32", "complex64"):
        for m, n in ((5, 70), (0, 3), (3, 0)) if kind == "float32" else ((5, 70),):
            mat = rng.integers(-1, 2, (m, n)) * (rng.random((m, n)) < 0.2)
            mat = jnp.asarray(mat).astype(kind)
            for nse in (4, m * n + 2):
                found = dense_places(mat, nse=nse, form=form)
                oracle = products.dense_places(np.asarray(mat), nse=nse, index_dtype=None)
                assert_same(tuple(found), oracle, f"{kind} {m, n} {nse=}")
    awkward = jnp.array([[-0.0, jnp.nan, jnp.inf, 0.0]])
    assert dense_places(awkward, nse=3, form=form).indices.tolist() == [1, 2, 4]


def test_what_is_large_is_split_among_threads_and_agrees_with_scipy():
    a = scipy.sparse.random(3000, 2000, 0.03, "csr", np.float32, random_state=1)
    b = scipy.sparse.random(2000, 2500, 0.004, "csr", np.float32, random_state=2)
    a.sort_indices()
    expected = (a @ b).tocsr()
    expected.sort_indices()
    places = (a.indices, a.indptr, b.indices, b.indptr)
    for coordinates in (False, True):
        found = csr_matmul(
            a.data, b.data, *places, n_cols=2500, nse=expected.nnz + 7, coordinates=coordinates
        )
        columns = found.indices[:, 1] if coordinates else found.indices
        assert int(found.count) == expected.nnz
        assert_array_equal(columns[: expected.nnz], expected.indices)
        assert_array_equal(found.indptr, expected.indptr)
        assert_allclose(found.data[: expected.nnz], expected.data, rtol=1e-4)
        sizes = csr_dot_csr_places(*places, n_cols=2500, nse=0).sizes
        assert_array_equal(sizes, np.diff(expected.indptr))
        known = csr_matmul(
            a.data,
            b.data,
            *places,
            sizes,
            n_cols=2500,
            nse=expected.nnz + 7,
            coordinates=coordinates,
        )
        assert_same(tuple(known), tuple(found), "sizes known")
    # Rows of the product with few elements, and with so many that they are found column by column.
    few = csr_matmul(
        a.data,
        b.data[:900],
        *places[:2],
        b.indices[:900],
        np.minimum(b.indptr, 900),
        n_cols=2500,
        nse=200_000,
    )
    wanted = a[:, :2000] @ scipy.sparse.csr_matrix(
        (b.data[:900], b.indices[:900], np.minimum(b.indptr, 900)), b.shape
    )
    dense = np.zeros((3000, 2500), np.float32)
    rows = np.repeat(np.arange(3000), np.diff(few.indptr))
    n = int(few.count)
    dense[rows, np.asarray(few.indices[:n])] = few.data[:n]
    assert_allclose(dense, wanted.toarray(), rtol=1e-4, atol=1e-6)
    turned = csr_turn(a.data, a.indices, a.indptr, n_cols=2000)
    by_column = a.tocsc()
    assert_array_equal(turned.data, by_column.data)
    assert_array_equal(turned.indices, by_column.indices)
    assert_array_equal(turned.indptr, by_column.indptr)
    sums = csr_sum_rows(a.data, a.indices, a.indptr, n_cols=2000)
    assert_allclose(sums, np.asarray(a.sum(axis=1))[:, 0], rtol=1e-5)
    rest = found.data[expected.nnz :], found.indices[expected.nnz :]
    assert not rest[0].any()
    assert_array_equal(rest[1], np.broadcast_to([3000, 2500], (7, 2)))
    coo = a.tocoo()
    cells = np.stack(coo.coords, axis=1)
    assert_array_equal(csr_to_coo(a.indices, a.indptr, n_cols=2000), cells)
    columns, indptr = coo_to_csr(cells, shape=(3000, 2000))
    assert_array_equal(columns, a.indices)
    assert_array_equal(indptr, a.indptr)
    dense = dense_places(a.toarray(), nse=a.nnz)
    assert_array_equal(dense.indices, a.indices)
    assert_array_equal(dense.indptr, a.indptr)


def test_derivatives_and_batches_of_whole_products(rng):
    with jax.enable_x64(True):
        places = *shuffled(rng, 5, 6, 12, np.int32), *shuffled(rng, 6, 4, 14, np.int32)
        a, b = rng.standard_normal(12), rng.standard_normal(14)

        def product(a, b):
            options = {"n_cols": 4, "nse": 20, "coordinates": True}
            return jnp.sin(csr_matmul(a, b, *places, **options).data)

        check_grads(product, (a, b), 2)
        many = rng.standard_normal((3, 12))
        found = jax.vmap(product, (0, None))(many, b)
        assert_allclose(found, np.stack([product(x, b) for x in many]))
        left, right = in_order(rng, 3, 4, 9, np.int32), in_order(rng, 3, 4, 9, np.int32)
        x, y = rng.standard_normal((2, 9))

        def structural(x, y):
            options = {"n_cols": 4, "nse": 20}
            total = csr_combine(x, y, *left, *right, **options, drop_zeros=True).data
            common = csr_combine(x, y, *left, *right, **options, product=True).data
            turned = csr_turn(x, *left, n_cols=4).data
            sums = csr_sum_rows(x * y, *left, n_cols=4)
            return tuple(map(jnp.sin, (total, common, turned, sums)))

        check_grads(structural, (x, y), 1)
        many = rng.standard_normal((2, 9))
        found = jax.vmap(structural, (0, None))(many, y)
        one = [structural(x, y) for x in many]
        assert_same(found, jax.tree.map(lambda *parts: np.stack(parts), *one), "batch")


def test_a_product_needs_memory_for_its_result_alone():
    m, k, n, nse = 3000, 2000, 2500, 100_000
    like = jax.ShapeDtypeStruct
    values = like((20_000,), np.float32)
    columns, starts = like((20_000,), np.int32), (like((s + 1,), np.int32) for s in (m, k))
    operands = values, values, columns, next(starts), columns, next(starts)
    for coordinates, size in ((False, 8), (True, 12)):
        run = jax.jit(lambda *x, c=coordinates: csr_matmul(*x, n_cols=n, nse=nse, coordinates=c))
        memory = run.lower(*operands).compile().memory_analysis()
        assert memory.temp_size_in_bytes < 1024  # the row of a thread is its own
        assert memory.output_size_in_bytes < size * nse + 4 * (m + 1) + 1024


def test_ids_that_are_runs_are_grouped_like_others(rng):
    ascending = np.sort(rng.integers(-1, 9, 40))
    two = np.concatenate([ascending, np.sort(rng.integers(0, 12, 30))])
    for ids in (ascending, two, two[:41], ascending[::-1], np.array([3, 1]), np.zeros(0, int)):
        for limit in (len(ids), 25):
            for capacity in (0, 4, 12):
                params = {"n_rows": 9, "capacity": capacity}
                ids = ids.astype(np.int32)
                found = group_rows(ids, limit, **params, form="kernel")
                expected = rows.group_rows(ids, min(limit, len(ids)), **params)
                assert_same(tuple(found), expected, f"{ids} {limit} {params}")


def test_operands_that_do_not_fit_are_refused(rng):
    a, b = shuffled(rng, 5, 6, 12, np.int32), shuffled(rng, 6, 4, 14, np.int32)
    x, y = np.zeros(12, np.float32), np.zeros(14, np.float32)
    with pytest.raises(ValueError, match="n_cols=-1"):
        csr_matmul(x, y, *a, *b, n_cols=-1, nse=3)
    with pytest.raises(TypeError, match="one dtype"):
        csr_matmul(x, y.astype(np.int32), *a, *b, n_cols=4, nse=3)
    with pytest.raises(ValueError, match="equally many rows"):
        csr_merge(*a, *b, n_cols=4, nse=3)
    with pytest.raises(ValueError, match="equally many rows"):
        csr_combine(x, y, *a, *b, n_cols=4, nse=3)
    with pytest.raises(ValueError, match=r"sizes must be \(5,\) int32"):
        csr_matmul(x, y, *a, *b, np.zeros(3, np.int32), n_cols=4, nse=3)
    with pytest.raises(ValueError, match="must fit"):
        csr_turn(x, *a, n_cols=2**31)
    with pytest.raises(ValueError, match=r"must be \(nse, 2\)"):
        coo_to_csr(np.zeros((3, 3), np.int32), shape=(2, 2))
    with pytest.raises(ValueError, match="does not fit int32"):
        csr_to_coo(*a, n_cols=2**31)
    with pytest.raises(ValueError, match=r"must be \(m, n\)"):
        dense_places(x, nse=3)


@pytest.mark.parametrize("both", [False, True])
def test_a_merge_in_parts_is_a_merge_in_one(rng, both):
    """Enough entries that the rows are cut among threads, of very different lengths."""
    m, n = 300, 4000
    parts = []
    for _ in range(2):
        lengths = np.where(rng.random(m) < 0.3, 0, rng.integers(0, 900, m))
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        rows = [np.sort(rng.choice(n, k, replace=False)) for k in lengths]
        columns = np.concatenate([*rows, np.full(50, n)]).astype(np.int32)
        parts.append((columns, indptr))
    (a, a_ptr), (b, b_ptr) = parts
    room = min(len(a), len(b)) if both else len(a) + len(b)
    dense = [scipy.sparse.csr_matrix((np.ones(p[-1]), c[: p[-1]], p), (m, n)) for c, p in parts]
    wanted = dense[0].multiply(dense[1]) if both else dense[0] + dense[1]
    wanted = scipy.sparse.csr_matrix(wanted)
    wanted.sort_indices()
    for nse in (room, wanted.nnz):  # with the second there is no room for parts of their own
        found = csr_merge(a, a_ptr, b, b_ptr, n_cols=n, nse=nse, both=both, form="kernel")
        assert int(found.count) == wanted.nnz
        assert_array_equal(found.indptr, wanted.indptr)
        assert_array_equal(found.indices[: wanted.nnz], wanted.indices)
        assert (np.asarray(found.indices[wanted.nnz :]) == n).all()
        values = [
            np.random.default_rng(k).integers(-1, 2, len(c)) for k, (c, _) in enumerate(parts)
        ]
        x, y = (
            scipy.sparse.csr_matrix((v[: p[-1]], c[: p[-1]], p), (m, n)).astype(np.float32)
            for v, (c, p) in zip(values, parts, strict=True)
        )
        total = scipy.sparse.csr_matrix(x.multiply(y) if both else x + y)
        total.sort_indices()
        total.eliminate_zeros()
        options = {"n_cols": n, "nse": nse, "product": both, "drop_zeros": True}
        numbers = (v.astype(np.float32) for v in values)
        sums = csr_combine(*numbers, a, a_ptr, b, b_ptr, **options, form="kernel")
        assert int(sums.count) == total.nnz
        assert_array_equal(sums.indptr, total.indptr)
        assert_array_equal(sums.indices[: total.nnz], total.indices)
        assert_array_equal(sums.data[: total.nnz], total.data)
        for entries, columns in ((found.from_a, a), (found.from_b, b)):
            entries = np.asarray(entries[: wanted.nnz])
            there = entries < len(columns)
            assert_array_equal(columns[entries[there]], wanted.indices[there])
            assert there.all() or not both
