import jax
import ml_dtypes
import numpy as np
import pytest
import scipy.sparse
from jax import numpy as jnp

from cases.awkward import csr_cases
from oracles import products as oracle
from rarefy._primitives import (
    csr_dot_dense,
    csr_sample_dot,
    csr_t_dot_dense,
    csr_t_dot_rows,
)

FORMS = ("kernel", "xla")
FLOATS = (np.float32, np.float64, np.float16, ml_dtypes.bfloat16)
# Relative to the largest value: a few hundred products of standard normals are summed.
TOLERANCE = {"float32": 2e-6, "float64": 1e-14, "float16": 1e-3, "bfloat16": 8e-3}


def quarters(rng, shape, dtype):
    """Multiples of 1/4, so that sums of their products are exact in float32."""
    return (rng.integers(-8, 9, shape) / 4).astype(dtype)


def small(cases):
    return [c for c in cases if c.shape[0] * c.shape[1] < 10**6]


@pytest.mark.parametrize("case", small(csr_cases(without=())), ids=str)
def test_products_of_awkward_matrices_are_exact(rng, case):
    (m, n), dtype = case.shape, case.data.dtype
    _, order, starts = oracle.groups_of(case.indices, case.indptr, n)
    right, left = quarters(rng, (n, 3), dtype), quarters(rng, (m, 3), dtype)

    def products(data, indices, indptr, order, starts, left, right, form):
        return (
            csr_dot_dense(data, indices, indptr, right, form=form),
            csr_t_dot_dense(data, indices, indptr, left, n_cols=n, form=form),
            csr_sample_dot(indices, indptr, left, right, form=form),
            csr_t_dot_rows(data, indptr, order, starts, left, form=form),
        )

    # Matrices in both forms and vectors, which are another kernel, in one compilation.
    @jax.jit
    def all_products(*csr_and_groups, left, right):
        matrices = {form: products(*csr_and_groups, left, right, form) for form in FORMS}
        return {**matrices, "vector": products(*csr_and_groups, left[:, 0], right[:, 0], "kernel")}

    csr = (case.data, case.indices, case.indptr)
    with jax.enable_x64(True):
        out = all_products(*csr, order, starts, left=left, right=right)
    for form, results in out.items():
        lhs, rhs = (left[:, 0], right[:, 0]) if form == "vector" else (left, right)
        expected = (
            oracle.csr_dot_dense(*csr, rhs),
            oracle.csr_t_dot_dense(*csr, lhs, n_cols=n),
            oracle.csr_sample_dot(case.indices, case.indptr, lhs, rhs),
            oracle.csr_t_dot_rows(case.data, case.indptr, order, starts, lhs),
        )
        for number, (o, e) in enumerate(zip(results, expected, strict=True)):
            assert o.dtype == dtype
            np.testing.assert_array_equal(o, e.astype(dtype), err_msg=f"{form}, product {number}")


def random_csr(rng, m, n, nse, dtype=np.float32, index=np.int32):
    """Ragged rows of unsorted columns with repeats, some of them out of range; the last three
    entries are padding with a column in range."""
    indptr = np.sort(rng.integers(0, nse - 2, m + 1)).astype(index)
    indptr[0], indptr[-1] = 0, nse - 3
    return rng.standard_normal(nse).astype(dtype), rng.integers(-2, n + 2, nse, index), indptr


def close(out, expected):
    tolerance = TOLERANCE[str(out.dtype)]
    scale = np.abs(expected).max(initial=1)
    np.testing.assert_allclose(np.asarray(out, np.float64), expected, atol=tolerance * scale)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    "k", [0, 2, 4, 5, 7, 8, 9, 12, 16, 23, 24, 32, 40, 41, 48, 56, 64, 65, 131]
)
def test_kernels_take_any_number_of_columns(rng, k, dtype):
    m, n = 13, 17
    data, indices, indptr = random_csr(rng, m, n, 150, dtype, np.int64)
    _, order, starts = oracle.groups_of(indices, indptr, n)
    left = rng.standard_normal((m, k)).astype(dtype)
    right = rng.standard_normal((n, k)).astype(dtype)

    @jax.jit
    def products(data, indices, indptr, order, starts, left, right):
        return (
            csr_dot_dense(data, indices, indptr, right, form="kernel"),
            csr_t_dot_dense(data, indices, indptr, left, n_cols=n, form="kernel"),
            csr_sample_dot(indices, indptr, left, right, form="kernel"),
            csr_t_dot_rows(data, indptr, order, starts, left, form="kernel"),
        )

    with jax.enable_x64(True):
        out = products(data, indices, indptr, order, starts, left, right)
    close(out[0], oracle.csr_dot_dense(data, indices, indptr, right))
    close(out[1], oracle.csr_t_dot_dense(data, indices, indptr, left, n_cols=n))
    close(out[2], oracle.csr_sample_dot(indices, indptr, left, right))
    close(out[3], oracle.csr_t_dot_rows(data, indptr, order, starts, left))


@pytest.mark.parametrize("form", FORMS)
def test_several_trailing_dimensions_are_one_product(rng, form):
    data, indices, indptr = random_csr(rng, 5, 7, 40)
    left = rng.standard_normal((5, 2, 1, 3)).astype(np.float32)
    right = rng.standard_normal((7, 2, 1, 3)).astype(np.float32)
    out = csr_dot_dense(data, indices, indptr, right, form=form)
    close(out, oracle.csr_dot_dense(data, indices, indptr, right))
    out = csr_t_dot_dense(data, indices, indptr, left, n_cols=7, form=form)
    close(out, oracle.csr_t_dot_dense(data, indices, indptr, left, n_cols=7))
    out = csr_sample_dot(indices, indptr, left, right, form=form)
    close(out, oracle.csr_sample_dot(indices, indptr, left, right))


# Rows of more than 4,096 entries are summed in segments, products of more than some 100,000
# operations sort their entries by column, long ones add up in several tables.
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("k", [1, 3, 16])
@pytest.mark.parametrize(("m", "n", "nse"), [(3, 50, 30_000), (2000, 300, 40_000)])
def test_large_products_agree_with_scipy(rng, m, n, nse, k, dtype):
    data, indices, indptr = random_csr(rng, m, n, nse, dtype)
    left = rng.standard_normal((m, k)).astype(dtype)
    right = rng.standard_normal((n, k)).astype(dtype)
    wide = data.astype(np.float64)
    real = (indices >= 0) & (indices < n) & (np.arange(nse) < indptr[-1])
    row = np.searchsorted(indptr, np.arange(nse), side="right") - 1
    dense = scipy.sparse.coo_array((wide[real], (row[real], indices[real])), (m, n)).toarray()
    order = np.argsort(np.where(real, indices, n), kind="stable").astype(np.int32)
    starts = np.searchsorted(np.where(real, indices, n)[order], np.arange(n + 1)).astype(np.int32)

    with jax.enable_x64(True):
        dot = csr_dot_dense(data, indices, indptr, right, form="kernel")
        t_dot = csr_t_dot_dense(data, indices, indptr, left, n_cols=n, form="kernel")
        t_rows = csr_t_dot_rows(data, indptr, order, starts, left, form="kernel")
        sample = csr_sample_dot(indices, indptr, left, right, form="kernel")
    left, right = left.astype(np.float64), right.astype(np.float64)
    close(dot, dense @ right)
    close(t_dot, dense.T @ left)
    close(t_rows, dense.T @ left)
    expected = np.zeros(nse)
    expected[real] = (left[row[real]] * right[indices[real]]).sum(1)
    close(sample, expected)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.int32, np.int8, bool, np.complex64])
def test_other_types_use_the_xla_form(rng, dtype, form):
    _, indices, indptr = random_csr(rng, 5, 7, 40)
    cast = (lambda x: x % 2 == 0) if dtype is bool else (lambda x: x.astype(dtype))
    data = cast(rng.integers(-2, 3, 40))
    left, right = cast(rng.integers(-2, 3, (5, 2))), cast(rng.integers(-2, 3, (7, 2)))
    calls = (
        (csr_dot_dense, oracle.csr_dot_dense, (data, indices, indptr, right), {}),
        (csr_t_dot_dense, oracle.csr_t_dot_dense, (data, indices, indptr, left), {"n_cols": 7}),
        (csr_sample_dot, oracle.csr_sample_dot, (indices, indptr, left, right), {}),
    )
    for function, expected, args, params in calls:
        if form == "kernel":
            with pytest.raises(NotImplementedError, match="form='xla'"):
                function(*args, **params, form=form)
            continue
        out = function(*args, **params)
        assert out.dtype == dtype
        plain = [x.real.astype(np.int64) if x.dtype == np.complex64 else x for x in args]
        np.testing.assert_array_equal(out, expected(*plain, **params).astype(dtype))


@pytest.mark.parametrize("form", FORMS)
def test_padding_hides_nan_and_inf(form):
    nan, inf = np.float32("nan"), np.float32("inf")
    data = np.array([1, nan, 2, nan, inf], np.float32)
    indices = np.array([1, 3, -1, 0, 0], np.int32)  # only the first entry is real
    indptr = np.array([0, 1, 3], np.int32)
    right = np.array([[nan, inf], [5, inf], [nan, nan]], np.float32)
    left = np.array([[2, nan], [inf, inf]], np.float32)
    order, starts = np.array([0, 3, 9, -1, 1], np.int32), np.array([0, 4, 4], np.int32)
    np.testing.assert_array_equal(
        csr_dot_dense(data, indices, indptr, right, form=form), [[5, inf], [0, 0]]
    )
    np.testing.assert_array_equal(
        csr_t_dot_dense(data, indices, indptr, left, n_cols=3, form=form),
        [[0, 0], [2, nan], [0, 0]],
    )
    np.testing.assert_array_equal(
        csr_sample_dot(indices, indptr, left[:, 0], right[:, 0], form=form), [10, 0, 0, 0, 0]
    )
    np.testing.assert_array_equal(
        csr_t_dot_rows(data, indptr, order, starts, left, form=form), [[2, nan], [0, 0]]
    )


@pytest.mark.parametrize("form", FORMS)
def test_stored_zero_times_inf_is_nan(form):
    data, index, indptr = np.zeros(1, np.float32), np.zeros(1, np.int32), np.array([0, 1], np.int32)
    inf = np.full((1, 2), np.inf, np.float32)
    assert np.isnan(csr_dot_dense(data, index, indptr, inf, form=form)).all()
    assert np.isnan(csr_t_dot_dense(data, index, indptr, inf, n_cols=1, form=form)).all()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_16_bit_values_are_summed_in_float32(dtype, form):
    # 1 + 4096 * 2**-12 is 2; in 16 bits the sum would stay at 1 or stop early.
    data = np.concatenate([[1], np.full(4096, 2.0**-12)]).astype(dtype)
    ones, indices = np.ones((1, 3), dtype), np.zeros(4097, np.int32)
    indptr = np.array([0, 4097], np.int32)
    assert (csr_dot_dense(data, indices, indptr, ones, form=form) == 2).all()
    assert (csr_t_dot_dense(data, indices, indptr, ones, n_cols=1, form=form) == 2).all()


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_every_16_bit_value_is_read_and_rounded_exactly(dtype):
    values = np.arange(2**16, dtype=np.uint16).view(dtype)
    # XLA's threads take subnormal float32, as the smallest bfloat16 are, for zero.
    with np.errstate(all="ignore"):
        size = np.abs(values.astype(np.float32))
    values = values[(size == 0) | (size >= np.finfo(np.float32).tiny) & (size < np.inf)]
    n = len(values)
    indices, indptr = np.arange(n, dtype=np.int32), np.arange(n + 1, dtype=np.int32)
    # Scalars, then vectors; times 1 is exact, times 1.25 may fall between two values.
    for k in (1, 8):
        for factor in (1, 1.25):
            dense = np.repeat(values[:, None], k, 1)
            data = np.full(n, factor, dtype)
            out = csr_dot_dense(data, indices, indptr, dense, form="kernel")
            expected = (values.astype(np.float32) * np.float32(factor)).astype(dtype)
            np.testing.assert_array_equal(out, np.repeat(expected[:, None], k, 1))


def test_row_has_the_same_bits_in_any_matrix(rng):
    data, indices, indptr = random_csr(rng, 300, 2000, 90_000)
    dense = rng.standard_normal((2000, 20)).astype(np.float32)
    whole = np.asarray(csr_dot_dense(data, indices, indptr, dense))
    for row in (0, 17, 299):
        part = slice(indptr[row], indptr[row + 1])
        alone = np.array([0, indptr[row + 1] - indptr[row]], np.int32)
        out = csr_dot_dense(data[part], indices[part], alone, dense)
        np.testing.assert_array_equal(out[0], whole[row])


def test_transposed_rows_have_the_bits_of_the_transposed_matrix(rng):
    data, indices, indptr = random_csr(rng, 400, 90, 9000)
    left = rng.standard_normal((400, 33)).astype(np.float32)
    _columns, order, starts = oracle.groups_of(indices, indptr, 90)
    row = oracle.rows_of(indptr, 9000).astype(np.int32)
    transposed = csr_dot_dense(data[order], row[order], starts, left)
    out = csr_t_dot_rows(data, indptr, order, starts, left)
    np.testing.assert_array_equal(out, transposed)


def test_second_call_of_the_same_shapes_does_not_compile(rng):
    data, indices, indptr = random_csr(rng, 6, 7, 40)
    right = rng.standard_normal((7, 3)).astype(np.float32)
    csr_dot_dense(data, indices, indptr, right)
    before = csr_dot_dense._cache_size()
    csr_dot_dense(-data, indices, indptr, right)
    assert csr_dot_dense._cache_size() == before


WRONG = {
    "data longer than indices": (ValueError, {"data": np.ones(5, np.float32)}),
    "indices of two dimensions": (ValueError, {"indices": np.zeros((4, 1), np.int32)}),
    "no indptr": (ValueError, {"indptr": np.zeros(0, np.int32)}),
    "indptr of another type": (TypeError, {"indptr": np.zeros(3, np.int16)}),
    "indices of floats": (TypeError, {"indices": np.zeros(4, np.float32)}),
    "dense of another type": (TypeError, {"dense": np.ones((2, 2), np.float16)}),
    "scalar dense": (ValueError, {"dense": np.float32(1)}),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_operands_that_do_not_agree_are_refused(wrong):
    error, change = WRONG[wrong]
    args = {
        "data": np.ones(4, np.float32),
        "indices": np.zeros(4, np.int32),
        "indptr": np.array([0, 1, 4], np.int32),
        "dense": np.ones((2, 2), np.float32),
    }
    a = {**args, **change}
    with pytest.raises(error, match="csr_dot_dense"):
        csr_dot_dense(a["data"], a["indices"], a["indptr"], a["dense"])
    with pytest.raises(error, match="csr_t_dot_dense"):
        csr_t_dot_dense(a["data"], a["indices"], a["indptr"], a["dense"], n_cols=3)
    if "data" not in change:
        with pytest.raises(error, match="csr_sample_dot"):
            csr_sample_dot(a["indices"], a["indptr"], args["dense"], a["dense"])


def test_dense_of_another_height_is_refused():
    csr = (np.ones(2, np.float32), np.zeros(2, np.int32), np.array([0, 1, 2], np.int32))
    tall = np.ones((3, 2), np.float32)
    with pytest.raises(ValueError, match="must have 2 rows"):
        csr_t_dot_dense(*csr, tall, n_cols=3)
    with pytest.raises(ValueError, match="must have 2 rows"):
        csr_sample_dot(*csr[1:], tall, tall)
    with pytest.raises(ValueError, match="agree in k"):
        csr_sample_dot(*csr[1:], tall[:2], tall[:, 0])
    with pytest.raises(ValueError, match="must have 2 rows"):
        csr_t_dot_rows(csr[0], csr[2], csr[1], np.array([0, 2], np.int32), tall)
    with pytest.raises(TypeError, match="must be int32"), jax.enable_x64(True):
        csr_t_dot_rows(csr[0], csr[2], jnp.zeros(2, jnp.int64), csr[2], tall[:2])
    with pytest.raises(ValueError, match="negative"):
        csr_t_dot_dense(*csr, tall[:2], n_cols=-1)


def test_indptr_beyond_the_buffers_is_cut(rng):
    # Under jit nothing can check values: a kernel must not read what is not there.
    data, indices = rng.standard_normal(8).astype(np.float32), np.zeros(8, np.int32)
    indptr = np.array([-5, 3, 1_000_000_000], np.int32)
    ones = np.ones((2, 4), np.float32)
    out = csr_dot_dense(data, indices, indptr, ones, form="kernel")
    close(out, np.repeat([[data[:3].sum()], [data[3:].sum()]], 4, 1))
    out = csr_t_dot_dense(data, indices, indptr, ones, n_cols=1, form="kernel")
    close(out, np.full((1, 4), data.sum()))
    order, starts = (
        np.array([7, 99, -1, 0, 0, 0, 0, 0], np.int32),
        np.array([-3, 2, 2**30], np.int32),
    )
    out = csr_t_dot_rows(data, indptr, order, starts, ones, form="kernel")
    close(out, np.repeat([[data[7]], [5 * data[0]]], 4, 1))
