"""Random arrays for tests: storage, density and distribution as asked for."""

import numpy as np
import pytest

from rarefy import test_utils as tu


@pytest.fixture(autouse=True)
def _seed():
    np.random.seed(3)


@pytest.mark.parametrize("stype", ["default", "csr", "row_sparse"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32"])
def test_rand_ndarray_has_the_storage_type_and_dtype_asked_for(stype, dtype):
    made = tu.rand_ndarray((5, 4), stype, dtype=dtype)
    assert (made.stype, made.shape, np.dtype(made.dtype)) == (stype, (5, 4), np.dtype(dtype))
    if stype != "default":
        made.check_format()


def test_density_is_that_of_the_places_stored():
    csr, (indptr, indices, data) = tu.rand_sparse_ndarray((100, 200), "csr", density=0.1)
    assert csr.nnz == len(indices) == len(data) == int(indptr.asnumpy()[-1])
    assert abs(csr.nnz - 2000) < 6 * np.sqrt(20000 * 0.1 * 0.9)
    rows, (values, ids) = tu.rand_sparse_ndarray((1000, 3), "row_sparse", density=0.3)
    assert values.shape == (len(ids), 3)
    assert abs(len(ids) - 300) < 6 * np.sqrt(1000 * 0.3 * 0.7)
    np.testing.assert_array_equal(rows.indices.asnumpy(), ids)


@pytest.mark.parametrize(("density", "csr", "rows"), [(0, 0, 0), (1, 20, 5)])
def test_the_ends_of_density(density, csr, rows):
    assert tu.rand_ndarray((5, 4), "csr", density).nnz == csr
    assert len(tu.rand_ndarray((5, 4), "row_sparse", density).indices) == rows


# What MXNet 1.9.1 makes: the elements of each row.
@pytest.mark.parametrize(
    ("shape", "density", "counts"),
    [
        ((5, 5), 0.5, [2, 4, 4, 1, 1]),
        ((8, 32), 0.125, [2, 4, 8, 14, 1, 1, 1, 1]),
        ((32, 32), 0.125, [2, 4, 8, 16, 32, 32, 9] + [1] * 25),
    ],
)
def test_powerlaw_rows_double(shape, density, counts):
    made, _ = tu.rand_sparse_ndarray(shape, "csr", density=density, distribution="powerlaw")
    np.testing.assert_array_equal(np.diff(made.indptr.asnumpy()), counts)
    wanted = np.concatenate([np.arange(count) for count in counts])
    np.testing.assert_array_equal(made.indices.asnumpy(), wanted)
    assert made.data.asnumpy().all()


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (((32, 8), "csr", 0.125, None, "powerlaw"), ValueError, "not supported for this density"),
        (((16, 16), "csr", 1.0, None, "powerlaw"), ValueError, "not supported for this density"),
        (((5, 5), "csr", 2.0), ValueError, "between 0 and 1"),
        (((0, 5), "csr", 0.5), ValueError, "greater than 0"),
        (((5, 5), "row_sparse", 0.5, None, "powerlaw"), AssertionError, "row_sparse"),
        (((5, 5), "csr", 0.5, None, "normal"), AssertionError, "normal"),
        (((5, 5), "dense"), AssertionError, "unknown storage type"),
        (((5,), "csr", 0.5), AssertionError, "two dimensions"),
    ],
)
def test_what_cannot_be_made_says_so(call, error, text):
    with pytest.raises(error, match=text):
        tu.rand_sparse_ndarray(*call)


def test_values_rows_and_order_as_asked_for():
    rows = tu.create_sparse_array((4, 3), "row_sparse", data_init=2, rsp_indices=[3, 1])
    np.testing.assert_array_equal(rows.asnumpy(), np.array([[0], [2], [0], [2]]) * np.ones((1, 3)))
    scaled = tu.create_sparse_array(
        (2, 3), "row_sparse", 1, density=1.0, modifier_func=lambda v: v * 3
    )
    np.testing.assert_array_equal(scaled.asnumpy(), np.full((2, 3), 3))
    empty = tu.create_sparse_array_zd((4, 3), "row_sparse", 0.5, rsp_indices=[])
    assert empty.shape == (4, 3)
    assert len(empty.indices) == 0
    csr = tu.rand_ndarray((3, 40), "csr", 1, shuffle_csr_indices=True)
    columns = csr.indices.asnumpy().reshape(3, 40)
    assert (columns != np.arange(40)).any()
    np.testing.assert_array_equal(np.sort(columns), np.tile(np.arange(40), (3, 1)))


def test_shapes_and_samples_stay_in_range():
    for _ in range(50):
        assert all(1 <= n <= m for n, m in zip(tu.rand_shape_2d(3, 4), (3, 4), strict=True))
        assert all(1 <= n <= 2 for n in tu.rand_shape_nd(4, 2))
        x, y = tu.rand_coord_2d(1, 3, 2, 5)
        assert 1 <= x < 3
        assert 2 <= y < 5
    shapes = {tu.rand_shape_3d(1, 1, 1, allow_zero_size=True) for _ in range(200)}
    assert len(shapes) == 8
    assert tu.random_sample("abc", 3) == ["a", "b", "c"]
    one, many = tu.random_arrays((2, 3)), tu.random_arrays((), (4,))
    assert one.shape == (2, 3)
    assert [a.shape for a in many] == [(), (4,)]


def test_reductions_over_several_axes():
    a = np.arange(24.0).reshape(2, 3, 4)
    for axis, keepdims in [(None, True), ((0, 2), True), (1, False), (-1, True)]:
        np.testing.assert_array_equal(
            tu.np_reduce(a, axis, keepdims, np.sum), a.sum(axis=axis, keepdims=keepdims)
        )
    np.testing.assert_array_equal(tu.collapse_sum_like(a, (3, 1)), a.sum(axis=(0, 2)).reshape(3, 1))
    np.testing.assert_array_equal(tu.assign_each(a, lambda v: v + 1), a + 1)
    np.testing.assert_array_equal(tu.assign_each2(a, a, lambda v, w: v * w), a * a)
