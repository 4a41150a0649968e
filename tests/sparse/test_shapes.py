"""Changes of shape, windows, rows by number: in every layout, against dense arrays."""

import math
from functools import partial

import jax
import numpy as np
import pytest
from jax import lax
from jax import numpy as jnp
from numpy.testing import assert_array_equal

from cases.agreement import agrees, drawn, layouts
from rarefy import sparse
from rarefy.sparse import BCOO, BCSR, SparseEfficiencyError

EACH = [(s, *layout) for s in ((6,), (3, 4)) for layout in layouts(s)]
EACH += [((2, 3, 4), *layout) for layout in ((0, 0), (1, 0), (1, 1), (0, 2), (2, 0))]
each_layout = pytest.mark.parametrize("shape, n_batch, n_dense", EACH, ids=str)


def checker(shape, n_batch, n_dense):
    """Checks functions of one array; Jacobians and the compiled form once, as they take the time."""
    x = drawn(shape, n_batch, n_dense, seed=1)
    seen = []

    def check(run, dense, value=x, label=""):
        first = not seen and value is x and len(shape) < 3
        seen.append(label)
        agrees(run, dense, value, compiled=len(seen) < 3, gradients=first, label=label)

    return x, check


@each_layout
def test_broadcast_in_dim(shape, n_batch, n_dense):
    _, check = checker(shape, n_batch, n_dense)
    ndim = len(shape)
    for axis in range(ndim + 1):
        for size in (1, 3):
            options = {
                "shape": (*shape[:axis], size, *shape[axis:]),
                "broadcast_dimensions": tuple(d for d in range(ndim + 1) if d != axis),
            }
            run = partial(sparse.bcoo_broadcast_in_dim, **options)
            check(run, partial(lax.broadcast_in_dim, **options), label=options)


@each_layout
def test_concatenate_along_every_dimension(shape, n_batch, n_dense):
    x = drawn(shape, n_batch, n_dense, seed=1)
    y = drawn(shape, n_batch, n_dense, seed=2, nse=5)
    for d in range(len(shape)):
        agrees(
            lambda *xs, d=d: sparse.bcoo_concatenate(xs, dimension=d),
            lambda *xs, d=d: lax.concatenate(xs, d),
            x,
            y,
            gradients=d == 0 and len(shape) < 3,
            label=d,
        )


@each_layout
def test_reverse_squeeze_and_reshape(shape, n_batch, n_dense):
    x, check = checker(shape, n_batch, n_dense)
    for d in range(len(shape)):
        check(lambda m, d=d: sparse.bcoo_rev(m, (d,)), lambda m, d=d: lax.rev(m, (d,)), label=d)
        one = (*shape[:d], 1, *shape[d:])
        run = partial(sparse.bcoo_squeeze, dimensions=(d,))
        check(run, partial(lax.squeeze, dimensions=(d,)), drawn(one, n_batch, n_dense), label=one)
    kinds = (shape[:n_batch], shape[n_batch : len(shape) - n_dense], shape[len(shape) - n_dense :])
    for new in (
        tuple(math.prod(k) for k in kinds if k),
        tuple(s for k in kinds if k for s in (math.prod(k), 1)),
        tuple(s for k in kinds for s in k),
    ):
        check(lambda m, new=new: m.reshape(new), lambda m, new=new: m.reshape(new), label=new)
    if n_batch + n_dense == 0:
        assert x.reshape(-1, order="C").shape == (x.size,)


@each_layout
def test_slices_and_windows(shape, n_batch, n_dense):
    _, check = checker(shape, n_batch, n_dense)
    for d in range(len(shape)):
        for start, limit, step in ((1, shape[d], 2), (1, 2, 1)):
            options = {
                "start_indices": [start * (k == d) for k in range(len(shape))],
                "limit_indices": [limit if k == d else s for k, s in enumerate(shape)],
                "strides": [step if k == d else 1 for k in range(len(shape))],
            }
            run = partial(sparse.bcoo_slice, **options)
            check(run, partial(lax.slice, **options), label=options)
        sizes = [max(s - 1, 1) if k == d else s for k, s in enumerate(shape)]
        for start in (-1, 100):
            starts = [start * (k == d) for k in range(len(shape))]
            check(
                lambda m, a=starts, b=sizes: sparse.bcoo_dynamic_slice(m, a, b),
                lambda m, a=starts, b=sizes: lax.dynamic_slice(m, a, b),
                label=(starts, sizes),
            )


ITEMS = [
    (0,),
    (Ellipsis, 1),
    (slice(1, 3),),
    (None, slice(None, None, -1)),
    (Ellipsis, None),
    ([1, 0, 1],),
    (np.array([[0, 1], [1, 1]]),),
    (Ellipsis, [0, -1, 1, 1]),
]


@each_layout
def test_indexing(shape, n_batch, n_dense):
    _, check = checker(shape, n_batch, n_dense)
    for item in ITEMS:
        dense_item = tuple(np.asarray(i) if isinstance(i, list) else i for i in item)
        check(lambda m, i=item: m[i], lambda m, i=dense_item: m[i], label=item)


def test_rows_by_number_cost_what_they_store():
    rng = np.random.default_rng(0)
    dense = rng.standard_normal((300, 400)) * (rng.random((300, 400)) < 0.02)
    dense = dense.astype(np.float32)
    ids = rng.integers(0, 300, 50)
    x = BCOO.fromdense(dense)
    out = x[ids]
    assert out.n_batch == 1
    assert out.nse <= 32  # the longest row, rounded up
    assert_array_equal(out.todense(), dense[ids])
    assert_array_equal(jax.jit(lambda x: x[ids])(x[:, :40]).todense(), dense[:, :40][ids])
    rows = BCSR.fromdense(dense)[ids]
    assert_array_equal(rows.todense(), dense[ids])
    assert_array_equal(x[dense.sum(1) > 0].todense(), dense[dense.sum(1) > 0])
    traced = jax.jit(lambda x, i: x[i])(x[:20, :30], jnp.array([3, -1]))
    assert_array_equal(traced.todense(), dense[:20, :30][[3, -1]])
    with pytest.raises(TypeError, match="integers or bools"):
        x[np.array([0.5])]
    with pytest.raises(IndexError, match="mask"):
        x[np.ones(3, bool)]


@each_layout
def test_gather(shape, n_batch, n_dense):
    _, check = checker(shape, n_batch, n_dense)
    starts = jnp.array([[0], [1], [1]])
    for axis in range(min(len(shape), 2)):
        others = tuple(d for d in range(len(shape)) if d != axis)
        places = tuple(range(axis)) + tuple(range(axis + 1, len(shape)))
        numbers = lax.GatherDimensionNumbers(
            offset_dims=places if axis else others,
            collapsed_slice_dims=(axis,),
            start_index_map=(axis,),
        )
        sizes = tuple(1 if d == axis else s for d, s in enumerate(shape))
        for mode in (None, "clip", "fill"):
            options = {"fill_value": 0} if mode == "fill" else {}
            check(
                lambda m, n=numbers, s=sizes, k=mode: sparse.bcoo_gather(m, starts, n, s, mode=k),
                lambda m, n=numbers, s=sizes, k=mode, o=options: lax.gather(
                    m, starts, n, s, mode=k or "clip", **o
                ),
                label=(axis, mode),
            )


def test_padding_stays_padding():
    """A padding index must not become a real cell of a longer array."""
    x = BCOO(([1.0, 9.0], [[1], [3]]), shape=(3,))
    y = BCOO(([2.0], [[0]]), shape=(2,))
    assert sparse.bcoo_concatenate([x, y], dimension=0).todense().tolist() == [0, 1, 0, 2, 0]
    pair = sparse.bcoo_concatenate([x[None], x.reshape(1, 3)], dimension=0)
    assert pair.todense().tolist() == [[0, 1, 0], [0, 1, 0]]
    assert sparse.bcoo_rev(x, (0,)).todense().tolist() == [0, 1, 0]
    wide = sparse.bcoo_broadcast_in_dim(x, shape=(3, 2), broadcast_dimensions=(0,))
    assert wide.todense().tolist() == [[0, 0], [1, 1], [0, 0]]


def test_reshape_of_more_cells_than_an_integer_counts():
    n = 2**30
    x = BCOO(([1.0, 2.0], [[3, n - 1, 5, 7], [0, 1, 2, 3]]), shape=(8, n, n, 8))
    out = x.reshape(4, 2, n, n, 2, 4)
    assert out.indices.tolist() == [[1, 1, n - 1, 5, 1, 3], [0, 0, 1, 2, 0, 3]]
    with pytest.raises(ValueError, match="enable_x64"):
        x.reshape(8, n // 2, n * 2, 8)
    with jax.enable_x64(True):
        wide = x.reshape(8, n // 2, n * 2, 8)
        assert wide.indices[0].tolist() == [3, n // 2 - 1, n + 5, 7]


def test_what_is_refused_says_why():
    x = BCOO.fromdense(np.ones((2, 3, 4), np.float32), n_batch=1)
    with pytest.raises(ValueError, match="cannot mix batch and sparse"):
        x.reshape(3, 8)
    with pytest.raises(ValueError, match="cannot mix sparse and dense"):
        BCOO.fromdense(np.ones((2, 3, 4)), n_dense=1).reshape(2, 4, 3)
    with pytest.raises(TypeError, match="cannot reshape"):
        x.reshape(5)
    with pytest.raises(ValueError, match="total size"):
        sparse.bcoo_reshape(x, new_sizes=(5,))
    with pytest.raises(ValueError, match="not equal to one"):
        sparse.bcoo_squeeze(x, dimensions=(1,))
    with pytest.raises(ValueError, match="invalid indices"):
        sparse.bcoo_slice(x, start_indices=[0, 0, 0], limit_indices=[2, 3, 5])
    with pytest.raises(ValueError, match="positive integers"):
        sparse.bcoo_slice(x, start_indices=[0, 0, 0], limit_indices=[2, 3, 4], strides=[1, 0, 1])
    with pytest.raises(TypeError, match="expected a BCOO, got ndarray"):
        sparse.bcoo_slice(np.ones(3), start_indices=[0], limit_indices=[1])
    with pytest.raises(ValueError, match="Cannot mix batch and sparse"):
        sparse.bcoo_broadcast_in_dim(x, shape=(3, 2, 4), broadcast_dimensions=(1, 0, 2))
    with pytest.raises(ValueError, match="same length"):
        sparse.bcoo_broadcast_in_dim(x, shape=(3, 2, 4), broadcast_dimensions=(1, 0))
    with pytest.raises(ValueError, match="sequence of BCOO"):
        sparse.bcoo_concatenate([x, x.todense()], dimension=0)
    with pytest.raises(ValueError, match="matching batch"):
        sparse.bcoo_concatenate([x, x.update_layout(n_batch=0)], dimension=0)


def test_layouts_of_ones_are_never_inefficient():
    x = BCOO.fromdense(np.ones((1, 3, 1), np.float32))
    out = x.update_layout(n_batch=1, n_dense=1)
    assert (out.n_batch, out.n_sparse, out.n_dense) == (1, 1, 1)
    assert_array_equal(out.todense(), x.todense())
    with pytest.raises(SparseEfficiencyError, match="bcoo_update_layout"):
        x.update_layout(n_batch=2)


def test_bcsr_shapes():
    dense = np.arange(24, dtype=np.float32).reshape(2, 3, 4) % 5
    x = BCSR.fromdense(dense, n_batch=1)
    wide = sparse.bcsr_broadcast_in_dim(x, shape=(5, 2, 3, 4), broadcast_dimensions=(1, 2, 3))
    assert_array_equal(wide.todense(), np.broadcast_to(dense, (5, 2, 3, 4)))
    for d in range(3):
        out = sparse.bcsr_concatenate([x, x], dimension=d)
        assert isinstance(out, BCSR)
        assert_array_equal(out.todense(), np.concatenate([dense, dense], d))
    with pytest.raises(ValueError, match="sequence of BCSR"):
        sparse.bcsr_concatenate([x, x.to_bcoo()], dimension=0)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int32, np.float16, np.float32, np.complex64])
def test_sums_have_the_dtype_that_numpy_functions_of_jax_give(dtype):
    dense = (np.arange(12).reshape(3, 4) % 3).astype(dtype)
    x = BCOO.fromdense(dense)
    for axis in (None, 0, 1, (0, 1), -1):
        for keepdims in (False, True):
            expected = jnp.asarray(dense).sum(axis, keepdims=keepdims)
            found = sparse.todense(x.sum(axis, keepdims=keepdims))
            assert found.dtype == expected.dtype
            assert_array_equal(found, expected)
    assert x.sum(0, dtype=np.complex64).dtype == np.complex64
