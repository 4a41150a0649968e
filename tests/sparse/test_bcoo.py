"""BCOO: what it is made of, what its constructors refuse, and its meaning in every layout."""

import copy
import pickle

import jax
import numpy as np
import pytest
from jax import numpy as jnp
from jax.experimental import sparse as jsparse
from numpy.testing import assert_allclose, assert_array_equal

from cases.entries import LAYOUTS, awkward_entries
from rarefy.sparse import BCOO, SparseEfficiencyError, SparseEfficiencyWarning, nnz, todense

M = np.array([[0.0, 1.0, 0.0, 2.0], [3.0, 0.0, 0.0, 0.0], [0.0, 0.0, 4.0, 0.0]], np.float32)


def layouts(**options):
    return [awkward_entries(seed=k, **layout, **options) for k, layout in enumerate(LAYOUTS)]


def bcoo(entries) -> BCOO:
    return BCOO((entries.data, entries.indices), shape=entries.shape)


def oracle(entries):
    return jsparse.BCOO(
        (jnp.asarray(entries.data), jnp.asarray(entries.indices)), shape=entries.shape
    )


each_layout = pytest.mark.parametrize("entries", layouts(), ids=[str(x) for x in LAYOUTS])


@each_layout
def test_properties_and_repr_are_those_of_jax(entries):
    ours, theirs = bcoo(entries), oracle(entries)
    assert repr(ours) == repr(theirs)
    for name in ("shape", "dtype", "ndim", "size", "nse", "n_batch", "n_sparse", "n_dense"):
        assert getattr(ours, name) == getattr(theirs, name), name
    assert len(ours) == len(theirs)


def test_repr_names_dtype_and_layout_exactly():
    assert repr(BCOO.fromdense(jnp.array([1.0, 0, 2, 3, 4]))) == "BCOO(float32[5], nse=4)"
    stack = BCOO.fromdense(jnp.ones((2, 3, 4), jnp.bfloat16), n_batch=1, n_dense=1)
    assert repr(stack) == "BCOO(bfloat16[2, 3, 4], nse=3, n_batch=1, n_dense=1)"
    seen = []
    jax.make_jaxpr(lambda m: (seen.append(repr(m)), m.data)[1])(stack)
    assert seen == [f"DynamicJaxprTracer[{stack!r}]"]


@each_layout
def test_todense_adds_repeats_and_skips_padding(entries):
    assert_array_equal(bcoo(entries).todense(), entries.dense)
    assert_array_equal(jax.jit(lambda m: m.todense())(bcoo(entries)), entries.dense)


@pytest.mark.parametrize("dtype", [np.float16, np.int32, np.int8, bool, np.complex64])
def test_todense_of_other_dtypes(dtype):
    entries = awkward_entries((5, 6), dtype=dtype)
    dense = bcoo(entries).todense()
    assert dense.dtype == dtype
    assert_array_equal(dense, entries.dense)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_fromdense_is_jaxs(layout):
    dense = awkward_entries(**layout).dense
    options = {"n_batch": layout["n_batch"], "n_dense": layout["n_dense"]}
    theirs = jsparse.BCOO.fromdense(jnp.asarray(dense), **options)
    ours = BCOO.fromdense(dense, **options)
    assert_array_equal(ours.indices, theirs.indices)
    assert_array_equal(ours.data, theirs.data)
    padded = BCOO.fromdense(dense, nse=ours.nse + 3, **options)
    traced = jax.jit(lambda d: BCOO.fromdense(d, nse=ours.nse + 3, **options))(dense)
    sizes = dense.shape[ours.n_batch : dense.ndim - ours.n_dense]
    for found in (padded, traced):
        real, spare = np.split(np.asarray(found.indices), [ours.nse], axis=-2)
        assert_array_equal(real, ours.indices)
        assert_array_equal(spare, np.broadcast_to(sizes, spare.shape))
        assert_array_equal(found.todense(), dense)
        assert found.indices_sorted
        assert found.unique_indices


def test_fromdense_with_too_few_slots():
    for make in (BCOO.fromdense, jax.jit(BCOO.fromdense, static_argnames="nse")):
        cut = make(M, nse=2)
        assert_array_equal(cut.data, [1, 2])


def test_fromdense_under_jit_asks_for_nse():
    with pytest.raises(jax.errors.ConcretizationTypeError, match="nse"):
        jax.jit(BCOO.fromdense)(M)


def test_fromdense_with_index_dtype():
    assert BCOO.fromdense(M, index_dtype=np.int16).indices.dtype == np.int16
    with pytest.raises(ValueError, match="int8 cannot index"):
        BCOO.fromdense(np.ones((1, 200)), index_dtype=np.int8)
    with jax.enable_x64(True):
        wide = BCOO.fromdense(M, index_dtype=np.int64)
        assert wide.indices.dtype == np.int64
        assert_array_equal(wide @ jnp.ones(4), M.sum(1))


def test_fromdense_refuses_dimensions_that_do_not_fit():
    with pytest.raises(ValueError, match="n_batch=2 and n_dense=1"):
        BCOO.fromdense(M, n_batch=2, n_dense=1)
    with pytest.raises(ValueError, match="negative"):
        BCOO.fromdense(M, nse=-1)
    with pytest.raises(TypeError, match="nse"):
        BCOO.fromdense(M, nse=1.5)


BAD = {
    "negative": ([1.0], [[-1, 0]], (3, 4), "indices\\[0, 0\\] is -1, expected 0 to 2"),
    "too large": ([1.0, 1.0], [[0, 0], [1, 5]], (3, 4), "indices\\[1, 1\\] is 5, expected 0 to 3"),
    "too large, square": ([1.0], [[0, 5]], (4, 4), "indices\\[0, 1\\] is 5, expected 0 to 3"),
    "nse": ([1.0], [[0, 0], [1, 1]], (3, 4), "Invalid data.shape=\\(1,\\) for nse=2"),
    "dense": ([[1.0]], [[0]], (3, 4), "Invalid data.shape=\\(1, 1\\) for nse=1"),
    "rank of indices": ([1.0], [0], (3,), "indices of shape \\(nse, 1\\)"),
    "rank of shape": ([1.0], [[0, 0]], (3,), "fewer than"),
    "batch": ([[1.0]], [[[0]], [[0]], [[0]]], (2, 3), "batch dimensions of indices"),
    "shape": ([1.0], [[0]], (-3,), "negative sizes"),
}


@pytest.mark.parametrize("data, indices, shape, message", BAD.values(), ids=BAD.keys())
def test_constructor_refuses(data, indices, shape, message):
    with pytest.raises(ValueError, match=message):
        BCOO((np.asarray(data), np.asarray(indices)), shape=shape)


def test_constructor_refuses_kinds():
    with pytest.raises(TypeError, match="indices must be integers, got dtype float32"):
        BCOO((np.ones(1), np.zeros((1, 2), np.float32)), shape=(3, 4))
    with pytest.raises(TypeError, match="shape must be a sequence of integers"):
        BCOO((np.ones(1), np.zeros((1, 1), int)), shape=("a",))


def test_constructor_checks_constants_but_not_tracers_under_jit():
    indices = jnp.array([[9, 9]])
    with pytest.raises(ValueError, match="is 9"):
        jax.jit(lambda d: BCOO((d, indices), shape=(3, 4)).todense())(jnp.ones(1))
    dense = jax.jit(lambda d, i: BCOO((d, i), shape=(3, 4)).todense())(jnp.ones(1), indices)
    assert_array_equal(dense, np.zeros((3, 4)))


def test_constructor_takes_lists_and_numpy():
    x = BCOO(([1.0, 2.0], [[1, 0], [0, 1]]), shape=[2, np.int64(2)])
    assert isinstance(x.data, jax.Array)
    assert x.shape == (2, 2)
    assert_array_equal(x @ np.eye(2, dtype=np.float32), [[0, 2], [1, 0]])


def test_wide_dimensions_need_64_bits():
    with pytest.raises(ValueError, match="enable_x64"):
        BCOO((np.ones(1), np.array([[2**32]])), shape=(2**33,))
    with jax.enable_x64(True):
        x = BCOO((np.ones(2), np.array([[2**32], [5]])), shape=(2**33,))
        assert_array_equal(x.sort_indices().indices, [[5], [2**32]])
        assert_array_equal((x + x.sort_indices()).sum_duplicates().data, [2, 2])


def test_more_cells_than_int64_counts():
    side = 2**31 - 1
    indices = [[5, 1, 7], [side - 1, 0, 2], [5, 1, 3], [5, 1, 7]]
    x = BCOO((np.arange(4.0), np.array(indices)), shape=(side,) * 3)
    merged = x.sum_duplicates(remove_zeros=False)
    assert_array_equal(merged.indices, [[5, 1, 3], [5, 1, 7], [side - 1, 0, 2]])
    assert_array_equal(merged.data, [2, 3, 1])
    assert x.size == side**3


def test_equality_and_hash_are_jaxs():
    x = BCOO.fromdense(M)
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)
    for compare in (lambda: x == x, lambda: x != M, lambda: x > 0, lambda: x <= x):
        with pytest.raises(NotImplementedError, match="todense"):
            compare()


def test_pickle_and_copy_keep_everything():
    x = BCOO.fromdense(M)
    for y in (pickle.loads(pickle.dumps(x)), copy.copy(x), copy.deepcopy(x)):
        assert repr(y) == repr(x)
        assert y.tree_flatten()[1] == x.tree_flatten()[1]
        assert_array_equal(y.todense(), M)


@pytest.mark.parametrize("leaf", [None, 1, jax.ShapeDtypeStruct((3,), np.float32)], ids=repr)
def test_placeholders_are_held_without_looking(leaf):
    structure = jax.tree_util.tree_structure(BCOO.fromdense(M))
    x = jax.tree_util.tree_unflatten(structure, [leaf, leaf])
    assert x.data is leaf
    assert x.indices is leaf
    assert x.shape == (3, 4)
    assert repr(x) == "BCOO(<invalid>)"


def test_pytree_paths_name_the_buffers():
    paths = jax.tree_util.tree_flatten_with_path(BCOO.fromdense(M))[0]
    assert [jax.tree_util.keystr(p) for p, _ in paths] == [".data", ".indices"]


@each_layout
def test_sort_indices_is_jaxs(entries):
    ours = bcoo(entries).sort_indices()
    indices = np.asarray(ours.indices).reshape(-1, ours.nse, ours.n_sparse)
    for batch in indices:
        assert [tuple(i) for i in batch] == sorted(tuple(i) for i in batch)
    assert ours.indices_sorted
    assert_array_equal(ours.todense(), entries.dense)
    assert_array_equal(jax.jit(lambda m: m.sort_indices())(bcoo(entries)).indices, ours.indices)


def merged_cells(entries, remove_zeros):
    """The cells of each batch in order, by brute force."""
    n_batch = entries.indices.ndim - 2
    sparse = entries.shape[n_batch : n_batch + entries.indices.shape[-1]]
    out = []
    for batch in np.ndindex(entries.shape[:n_batch]):
        pairs = zip(entries.indices[batch], entries.data[batch], strict=True)
        stays = {tuple(i) for i, d in pairs if (i < sparse).all() and (d.any() or not remove_zeros)}
        out.append(sorted(stays))
    return out


@each_layout
@pytest.mark.parametrize("remove_zeros", [True, False])
def test_sum_duplicates_stores_each_cell_once(entries, remove_zeros):
    cells = merged_cells(entries, remove_zeros)
    merge = jax.jit(lambda m, n: m.sum_duplicates(n, remove_zeros), static_argnums=1)
    exact = bcoo(entries).sum_duplicates(remove_zeros=remove_zeros)
    assert exact.nse == max(map(len, cells))
    for found in (exact, merge(bcoo(entries), exact.nse + 2)):
        assert found.indices_sorted
        assert found.unique_indices
        assert_array_equal(found.todense(), entries.dense)
        sparse = found.shape[found.n_batch : found.n_batch + found.n_sparse]
        indices = np.asarray(found.indices).reshape(-1, found.nse, found.n_sparse)
        for batch, expected in zip(indices, cells, strict=True):
            spare = [sparse] * (found.nse - len(expected))
            assert [tuple(map(int, i)) for i in batch] == expected + spare


def test_sum_duplicates_is_jaxs():
    entries = awkward_entries((5, 6))
    theirs, ours = oracle(entries).sum_duplicates(), bcoo(entries).sum_duplicates()
    assert repr(ours) == repr(theirs)
    assert_array_equal(ours.indices, theirs.indices)
    assert_array_equal(ours.data, theirs.data)


def test_sum_duplicates_of_integers_and_bool():
    for dtype in (np.int32, bool, np.int8):
        entries = awkward_entries((4, 5), dtype=dtype, nse=9)
        merged = bcoo(entries).sum_duplicates()
        assert merged.dtype == dtype
        assert_array_equal(merged.todense(), entries.dense)


def test_sum_duplicates_with_too_few_slots():
    x = BCOO.fromdense(M)
    assert_array_equal(x.sum_duplicates(nse=2).data, [1, 2])
    with pytest.raises(ValueError, match="nse must be specified"):
        jax.jit(lambda m: m.sum_duplicates())(x)
    assert jax.jit(lambda m: m.sum_duplicates(nse=2))(x).nse == 2


@each_layout
def test_transpose_is_numpys(entries):
    x = bcoo(entries)
    b, s = x.n_batch, x.n_sparse
    groups = range(b), range(b, b + s), range(b + s, x.ndim)
    axes = [a for group in groups for a in reversed(group)]
    assert_array_equal(x.transpose(axes).todense(), entries.dense.transpose(axes))
    if len(set(map(len, groups))) and len(groups[1]) == x.ndim:
        assert_array_equal(x.T.todense(), entries.dense.T)
    if x.n_batch:
        with pytest.raises(NotImplementedError, match="batch axes with non-batch axes"):
            x.transpose(range(x.ndim)[::-1])
    with pytest.raises(TypeError, match="permutation"):
        x.transpose([0] * (x.ndim + 1))


@each_layout
def test_sum_over_every_set_of_axes(entries):
    x, dense = bcoo(entries), entries.dense
    sets = [[a for a in range(x.ndim) if bits >> a & 1] for bits in range(1, 2**x.ndim)]
    found = jax.jit(lambda m: [todense(m.sum(axes)) for axes in sets])(x)
    for axes, total in zip(sets, found, strict=True):
        assert_array_equal(total, dense.sum(axis=tuple(axes)), err_msg=str(axes))
    assert isinstance(x.sum(), jax.Array)
    assert_array_equal(todense(x.sum(-1)), dense.sum(-1))
    with pytest.raises(ValueError, match="out of range or repeated"):
        x.sum((0, 0))


@each_layout
def test_update_layout_to_every_other(entries):
    x = bcoo(entries)
    layouts = [(b, d) for b in range(x.ndim + 1) for d in range(x.ndim + 1 - b)]

    def change(m, n_batch, n_dense):
        m = m.update_layout(n_batch=n_batch, n_dense=n_dense, on_inefficient=None)
        assert (m.n_batch, m.n_dense) == (n_batch, n_dense)
        return m.todense()

    for dense in jax.jit(lambda m: [change(m, b, d) for b, d in layouts])(x):
        assert_array_equal(dense, entries.dense)
    assert_array_equal(change(x, 0, 0), entries.dense)


def test_update_layout_reports_inefficient_storage():
    x = BCOO.fromdense(M)
    with pytest.raises(SparseEfficiencyError, match="increasing n_batch from 0 to 1"):
        x.update_layout(n_batch=1)
    with pytest.warns(SparseEfficiencyWarning, match="increasing n_dense from 0 to 1"):
        x.update_layout(n_dense=1, on_inefficient="warn")
    with pytest.raises(ValueError, match="on_inefficient"):
        x.update_layout(n_batch=1, on_inefficient="perhaps")
    with pytest.raises(ValueError, match="do not fit"):
        x.update_layout(n_batch=3)


INDEXES = [
    0,
    -1,
    slice(1, 3),
    slice(None, None, -1),
    slice(4, 0, -2),
    slice(2, 2),
    ...,
    None,
    (..., 0),
    (..., None),
    (slice(None), None),
    (0, ...),
    (slice(1, None, 2), ..., slice(0, 1)),
    (..., slice(None, None, 2)),
]


def is_index_of(array, index):
    try:
        array[index]
    except IndexError:
        return False
    return True


@each_layout
def test_basic_indexing_is_numpys(entries):
    x = bcoo(entries)
    indexes = [i for i in INDEXES if is_index_of(entries.dense, i)]
    found = jax.jit(lambda m: [m[i] for i in indexes])(x)
    dense = jax.jit(lambda ms: [m.todense() for m in ms])(found)
    for index, y, z in zip(indexes, found, dense, strict=True):
        assert y.shape == z.shape
        assert_array_equal(z, entries.dense[index], err_msg=str(index))


def test_iteration_gives_the_rows():
    entries = awkward_entries((5, 6))
    for found, expected in zip(bcoo(entries), entries.dense, strict=True):
        assert_array_equal(found.todense(), expected)


def test_indexing_refuses():
    x = BCOO.fromdense(M)
    for index in ((0, 0, 0), (..., ...)):
        with pytest.raises(IndexError):
            x[index]
    with pytest.raises(TypeError, match="integer"):
        x["a"]
    with pytest.raises(IndexError, match="bool"):
        x[True]
    with pytest.raises(IndexError, match="of size 0"):
        x[:0][1]


@each_layout
def test_elementwise_with_dense_and_scalars(entries):
    x, dense = bcoo(entries), entries.dense
    factor = np.arange(dense.size, dtype=np.float32).reshape(dense.shape) + 1
    rows = [factor.max(axis=d, keepdims=True) for d in range(x.ndim)] + [factor[0]]
    cases = {
        "scalar": (lambda m, f: m * 3, dense * 3),
        "scalar from the left": (lambda m, f: jnp.float32(3) * m, dense * 3),
        "neg": (lambda m, f: -m, -dense),
        "divide": (lambda m, f: m / 2, dense / 2),
        "dense": (lambda m, f: m * f, dense * factor),
        "dense from the left": (lambda m, f: f * m, dense * factor),
        "divide by dense": (lambda m, f: m / f, dense / factor),
        "abs": (lambda m, f: abs(m), abs(dense)),
        "power": (lambda m, f: m**2, dense**2),
        "astype": (lambda m, f: m.astype(jnp.int32), dense.astype(np.int32)),
        "plus dense": (lambda m, f: m + f, dense + factor),
        "minus dense": (lambda m, f: m - f, dense - factor),
        "dense minus": (lambda m, f: f - m, factor - dense),
    }
    cases |= {f"by {r.shape}": (lambda m, f, r=r: m * r, dense * r) for r in rows}
    found = jax.jit(lambda m, f: [todense(c(m, f)) for c, _ in cases.values()])(x, factor)
    for name, (_, expected), value in zip(cases, cases.values(), found, strict=True):
        assert_allclose(value, expected, rtol=1e-6, err_msg=name)


def test_elementwise_eagerly_with_numpy():
    x = BCOO.fromdense(M)
    assert_array_equal((np.float32(3) * x).todense(), 3 * M)
    assert_array_equal((M * x).todense(), M * M)
    assert_array_equal(M - x, np.zeros_like(M))


def test_nan_and_inf_touch_stored_cells_only():
    x = BCOO(([1.0, 2.0, 3.0], [[0, 0], [1, 1], [2, 2]]), shape=(2, 2))
    factor = np.array([[np.nan, np.inf], [np.inf, 2]], np.float32)
    assert_array_equal((x * factor).todense(), [[np.nan, 0], [0, 4]])
    assert_array_equal((x / np.zeros((2, 2))).todense(), [[np.inf, 0], [0, np.inf]])
    assert_array_equal(x @ np.array([np.inf, np.nan], np.float32), [np.inf, np.nan])


def test_elementwise_refuses_to_grow_in_silence():
    x = BCOO.fromdense(M)
    with pytest.raises(NotImplementedError, match="shape of the sparse operand"):
        x * np.ones((2, 3, 4))
    with pytest.raises(NotImplementedError, match="silent densification"):
        x + 1
    with pytest.raises(NotImplementedError, match="dense"):
        2 / x
    with pytest.raises(NotImplementedError, match="dense"):
        x / x
    with pytest.raises(NotImplementedError, match="positive"):
        x**0
    with pytest.raises(NotImplementedError, match="dense"):
        2**x


@each_layout
def test_addition_of_sparse_arrays(entries):
    x, y = bcoo(entries), BCOO.fromdense(2 * entries.dense)
    found = jax.jit(lambda a, b: [(a + b).todense(), (a - b).todense()])(x, y)
    assert_array_equal(found, [3 * entries.dense, -entries.dense])
    assert (x + 2 * x).nse == x.nse, "the same pattern needs no more slots"
    assert_array_equal((x + 2 * x).todense(), 3 * entries.dense)


def test_addition_refuses_other_shapes():
    with pytest.raises(ValueError, match="shapes"):
        BCOO.fromdense(M) + BCOO.fromdense(M[:1])


def test_nnz_counts_without_padding():
    entries = awkward_entries((5, 6), nse=9)
    real = (entries.indices < (5, 6)).all(axis=1).sum()
    assert nnz(bcoo(entries)) == real
    batched = awkward_entries((2, 5, 6), n_batch=1, nse=9)
    assert nnz(bcoo(batched)) == (batched.indices < (5, 6)).all(axis=-1).sum()
