"""The functions under JAX's names beside `jax.experimental.sparse`, on buffers of every kind."""

import jax
import numpy as np
import pytest
from jax import lax
from jax import numpy as jnp
from jax.experimental import sparse as oracle
from numpy.testing import assert_array_equal

from rarefy import sparse

SHAPE = (2, 3, 4)
LAYOUTS = [(0, 0), (1, 1)]
DTYPES = ["int8"]


def entries(n_batch, n_dense, dtype="float32", seed=0, nse=5, shape=SHAPE):
    """Buffers with repeats, in no order, with padding."""
    rng = np.random.default_rng(seed)
    stored = len(shape) - n_dense
    batch = shape[:n_batch]
    places = [rng.integers(0, s + 1, (*batch, nse)) for s in shape[n_batch:stored]]
    data = rng.integers(0, 4, (*batch, nse, *shape[stored:]))
    places = np.stack(places, -1) if places else np.zeros((*batch, nse, 0))
    return jnp.asarray(data, dtype), jnp.asarray(places, jnp.int32)


def layout(x):
    if not hasattr(x, "todense"):
        return x.shape, x.dtype, x.weak_type
    indices = x.indices.dtype
    return x.shape, x.dtype, indices, x.n_batch, x.n_dense, x.nse, x.data.weak_type


# Where JAX keeps every layout of (2, 3, 4) and its padding in place.
FUNCTIONS = {
    "transpose": lambda m, x: m.bcoo_transpose(x, permutation=_reversed_within(x)),
    "sort": lambda m, x: m.bcoo_sort_indices(x),
    "merge": lambda m, x: m.bcoo_sum_duplicates(x),
    "merge_and_cut": lambda m, x: m.bcoo_sum_duplicates(x, nse=2),
    "reduce_sum": lambda m, x: m.bcoo_reduce_sum(x, axes=(1,)),
    "reverse": lambda m, x: m.bcoo_rev(x, dimensions=(0, 2)),
    "slice": lambda m, x: m.bcoo_slice(
        x, start_indices=(0, 1, 0), limit_indices=(2, 3, 4), strides=(1, 1, 2)
    ),
    "window": lambda m, x: m.bcoo_dynamic_slice(x, (jnp.int32(1), 0, 1), (1, 3, 2)),
    "broadcast": lambda m, x: m.bcoo_broadcast_in_dim(
        x, shape=(1, *SHAPE), broadcast_dimensions=(1, 2, 3)
    ),
    "fromdense_and_cut": lambda m, x: m.BCOO.fromdense(
        _dense(x), nse=2, n_batch=x.n_batch, n_dense=x.n_dense, index_dtype="int16"
    ),
    "product": lambda m, x: m.bcoo_dot_general(
        x,
        jnp.arange(3).astype(x.dtype),
        dimension_numbers=(((1,), (0,)), ((), ())),
        preferred_element_type="float32" if x.dtype.kind in "iu" else None,
    ),
    "scalar": lambda m, x: x * 2,
    "extract": lambda m, x: m.bcoo_extract(x, _dense(x)),
}


def _dense(x):
    return jnp.arange(24).reshape(SHAPE).astype(x.dtype)


def _reversed_within(x):
    first, last = x.n_batch, x.n_batch + x.n_sparse
    return (*range(first)[::-1], *range(first, last)[::-1], *range(last, 3)[::-1])


def run(function, module, given):
    found = function(module, module.BCOO(given, shape=SHAPE))
    return found, found.todense() if hasattr(found, "todense") else found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_types_and_layouts_are_those_of_jax(name):
    function = FUNCTIONS[name]
    cases = [(*kind, "float32") for kind in LAYOUTS] + [(0, 0, dtype) for dtype in DTYPES]
    for n_batch, n_dense, dtype in cases:
        given = entries(n_batch, n_dense, dtype)
        label = f"{n_batch=} {n_dense=} {dtype}"
        try:
            expected, expected_dense = run(function, oracle, given)
        except (NotImplementedError, ValueError):
            continue  # what JAX lacks, or fails to compile, for dense dimensions
        found, dense = run(function, sparse, given)
        assert layout(found) == layout(expected), label
        assert_array_equal(dense, expected_dense, err_msg=label)


def test_products_are_summed_in_the_type_that_is_preferred():
    numbers = (((1,), (0,)), ((), ()))
    for dtype, preferred, value in (
        ("int8", "int32", 100),
        ("bool", "int32", True),
        ("bfloat16", "float32", 1.0078125),
    ):
        mat, v = jnp.full((2, 3), value, dtype), jnp.full(3, value, dtype)
        options = {"dimension_numbers": numbers, "preferred_element_type": preferred}
        expected = lax.dot_general(mat, v, **options)
        for x in (sparse.BCOO.fromdense(mat), sparse.BCOO.fromdense(mat, n_batch=1)):
            found = sparse.bcoo_dot_general(x, v, **options)
            assert_array_equal(found, expected, err_msg=dtype, strict=True)
        found = sparse.bcsr_dot_general(sparse.BCSR.fromdense(mat), v, **options)
        assert_array_equal(found, expected, err_msg=dtype, strict=True)


ARRAYS = {
    "two": np.index_exp[np.array([1, 0]), np.array([-1, 2])],
    "apart": np.index_exp[np.array([1, 0]), :, np.array([3, 1])],
    "behind": np.index_exp[:, np.array([1, 0]), np.array([3, 1])],
    "three": np.index_exp[np.array([1, 0]), np.array([2, 2]), np.array([3, 1])],
    "broadcast": np.index_exp[np.array([[1], [0]]), np.array([2, 0, 1])],
    "integer_and_array": np.index_exp[1, :, np.array([3, 1])],
    "new_axis": np.index_exp[np.array([1, 0]), None, np.array([2, 1])],
    "mask": np.index_exp[np.array([[True, False, True], [False, True, False]])],
    "ellipsis": np.index_exp[np.array([1, 0]), ..., np.array([2, 1])],
    "none": np.index_exp[np.zeros(0, int), np.zeros(0, int)],
    "out_of_range": np.index_exp[np.array([1, 7]), np.array([-9, 2])],
    "integer_out_of_range": np.index_exp[7],
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_between_brackets_are_those_of_dense_arrays(name):
    index = ARRAYS[name]
    for n_batch, n_dense in [(0, 0), (3, 0)] if name == "three" else LAYOUTS:
        x = sparse.BCOO(entries(n_batch, n_dense), shape=SHAPE)
        found = x[index]
        label = f"{n_batch=} {n_dense=}"
        assert_array_equal(found.todense(), x.todense()[index], err_msg=label, strict=True)
        if n_batch == 0 and name == "two":
            expected = oracle.BCOO(entries(n_batch, n_dense), shape=SHAPE)[index]
            assert layout(found) == layout(expected), label


def test_traced_numbers_between_brackets():
    x = sparse.BCOO(entries(0, 0), shape=SHAPE)
    i, j = jnp.array([1, 0]), jnp.array([-3, 0])
    found = jax.jit(lambda x, i, j: x[i, j])(x, i, j)
    assert_array_equal(found.todense(), x.todense()[i, j])
    slope = jax.grad(lambda d: (sparse.BCOO((d, x.indices), shape=SHAPE)[i, j].data ** 2).sum())
    dense = jax.grad(
        lambda d: (sparse.BCOO((d, x.indices), shape=SHAPE).todense()[i, j] ** 2).sum()
    )
    assert_array_equal(slope(x.data), dense(x.data))


def test_no_function_needs_promotion_of_ranks_or_types():
    a = jnp.arange(24.0).reshape(SHAPE)
    with jax.numpy_rank_promotion("raise"), jax.numpy_dtype_promotion("strict"):
        mixed = sparse.BCOO.fromdense(a[0].astype("int8"))
        numbers = (((1,), (0,)), ((), ()))
        found = sparse.bcoo_dot_general(mixed, jnp.ones(4), dimension_numbers=numbers)
        assert_array_equal(found, a[0] @ jnp.ones(4), strict=True)
        for n_batch, n_dense in LAYOUTS:
            x = sparse.BCOO.fromdense(a, n_batch=n_batch, n_dense=n_dense)
            assert_array_equal(x.astype("int32").todense(), a)
            assert_array_equal(x[1:, ::2].todense(), a[1:, ::2])
            assert_array_equal(x.sum(1).todense(), a.sum(1))
            assert_array_equal((x * x).todense(), a * a)
            assert_array_equal(x.sum_duplicates(nse=24).todense(), a)
            for new in LAYOUTS:
                options = {"n_batch": new[0], "n_dense": new[1], "on_inefficient": None}
                assert_array_equal(x.update_layout(**options).todense(), a)
            window = sparse.bcoo_dynamic_slice(x, [1, 0, 1], [1, 3, 2])
            assert_array_equal(window.todense(), a[1:2, :, 1:3])
            if not n_dense:
                assert_array_equal(x @ jnp.ones(4), a @ jnp.ones(4))
        x, rows = sparse.BCOO.fromdense(a[0]), sparse.BCSR.fromdense(a, n_batch=1)
        assert_array_equal((x @ x.T).todense(), a[0] @ a[0].T)
        assert_array_equal(x[np.array([2, 0])].todense(), a[0][np.array([2, 0])])
        assert_array_equal(rows @ jnp.ones(4), a @ jnp.ones(4))
        line = sparse.BCOO.fromdense(a[:1, :1], n_batch=2)
        kernel = sparse.BCOO.fromdense(jnp.ones((1, 1, 2)), n_batch=2)
        found = sparse.bcoo_conv_general_dilated(line, kernel, window_strides=(1,), padding="VALID")
        assert_array_equal(found.todense()[0, 0], [1, 3, 5])


def test_narrow_indices_stay_narrow():
    def made(module, kind, dtype):
        make = getattr(module, kind).fromdense
        return jax.jit(lambda d: make(d, nse=4, index_dtype=dtype))(jnp.eye(3))

    for kind in ("BCOO", "BCSR", "CSR", "CSC", "COO"):
        for dtype in ("int16", "uint8"):
            found, expected = made(sparse, kind, dtype), made(oracle, kind, dtype)
            types = [[b.dtype for b in jax.tree.leaves(x)] for x in (found, expected)]
            assert types[0] == types[1], (kind, dtype)
            assert_array_equal(found.todense(), jnp.eye(3))
            assert_array_equal(found @ jnp.ones(3), jnp.ones(3))


def test_indices_that_batches_share_stay_shared():
    data, indices = entries(1, 0)
    x = sparse.BCOO((data, indices[:1]), shape=SHAPE)
    found = x.sort_indices()
    assert found.indices.shape == x.indices.shape
    assert_array_equal(found.todense(), x.todense())


def test_a_transpose_of_batches_stays_sorted():
    x = sparse.BCOO.fromdense(jnp.ones((2, 3, 4, 5)), n_batch=2)
    assert x.transpose((1, 0, 2, 3)).indices_sorted
    assert not x.transpose((1, 0, 3, 2)).indices_sorted


def test_layouts_of_users_and_static_data_of_others():
    class Diagonal(sparse.JAXSparse):
        def __init__(self, values, *, shape):
            super().__init__((values,), shape=shape)
            self.data = values

        @property
        def nse(self):
            return self.data.size

        @property
        def dtype(self):
            return self.data.dtype

        def tree_flatten(self):
            return (self.data,), {}

        @classmethod
        def tree_unflatten(cls, aux, children):
            return cls(*children, shape=(2, 2))

        def todense(self):
            return jnp.diag(self.data)

        def transpose(self, axes=None):
            return self

    x = Diagonal(jnp.ones(2), shape=[2, 2])
    assert (x.shape, x.size, x.ndim, len(x)) == ((2, 2), 4, 2, 2)
    assert repr(x) == "Diagonal(float32[2, 2], nse=2)"
    for kind, count in ((sparse.BCOO, 2), (sparse.BCSR, 3)):
        with pytest.raises(ValueError, match="invalid aux_data"):
            kind.tree_unflatten({"shape": (2, 2)}, [None] * count)
