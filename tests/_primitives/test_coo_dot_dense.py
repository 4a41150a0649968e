"""coo @ dense: both forms and every path of the kernel against an oracle, and transformations."""

from itertools import product as combinations

import jax
import ml_dtypes
import numpy as np
import pytest
import scipy.sparse
from jax import numpy as jnp
from jax.test_util import check_grads

from oracles import products as oracle
from rarefy._primitives import coo_dot_dense

FLOATS = (np.float32, np.float64, np.float16, ml_dtypes.bfloat16)
# Relative to the sum of the magnitudes of what is added: half of the last place for the rounding of
# the result, or some places of the type that sums are kept in.
TOLERANCE = {"float32": 5e-7, "float64": 1e-15, "float16": 5e-4, "bfloat16": 4e-3}

M, N = 6, 5
# Repeats, empty rows in front, between and behind, padding by row, by column and by both, of which
# some falls on a row that has no entry; rows ascend.
SORTED = np.array(
    [(-1, 2), (1, 4), (1, 0), (1, 4), (1, 5), (2, 9),
     (3, -1), (3, 2), (4, 1), (6, 0), (6, 5), (7, 1)],
    np.int32,
)  # fmt: skip
SHUFFLED = SORTED[[7, 1, 10, 4, 8, 0, 2, 11, 3, 6, 9, 5]]
# What may be asked of each: the coordinates, how many rows and columns, options.
PATHS = {
    "in order": (SORTED, M, N, {"in_order": True}),
    "in order by the second": (SORTED[:, ::-1], M, N, {"in_order": True, "row_axis": 1}),
    "any order": (SHUFFLED, M, N, {}),
    "transposed": (SHUFFLED, N, M, {"row_axis": 1}),
    "none in order": (SORTED[:0], M, N, {"in_order": True}),
    "none": (SORTED[:0], M, N, {}),
    "no rows": (SHUFFLED, 0, N, {}),
    "no columns": (SORTED, M, 0, {"in_order": True}),
}


def quarters(rng, shape, dtype):
    """Multiples of 1/4, so that sums of their products are exact in float32."""
    return (rng.integers(-8, 9, shape) / 4).astype(dtype)


@pytest.mark.parametrize("dtype", FLOATS)
def test_every_path_and_width_is_exact(rng, dtype):
    index = np.int64 if dtype == np.float64 else np.int32
    widths = (1, 2, 3, 4, 5, 6, 7, 8, 9, 17) if dtype in FLOATS[:2] else (1, 2, 9)
    calls, expected = {}, {}
    for (name, (indices, m, n, options)), k in combinations(PATHS.items(), widths):
        if name not in ("in order", "transposed") and k not in (1, 3, 9):
            continue
        row, column = (indices[:, d] for d in (options.get("row_axis", 0) ^ np.array([0, 1])))
        real = (row >= 0) & (row < m) & (column >= 0) & (column < n)
        data, dense = quarters(rng, len(indices), dtype), quarters(rng, (n, k), dtype)
        dense = dense if k > 1 else dense[:, 0]
        expected[name, k] = oracle.coo_dot_dense(data, indices, dense, n_rows=m, **options)
        data[~real] = np.nan  # what padding holds does not matter
        calls[name, k] = (data, indices.astype(index), dense), {"n_rows": m, **options}

    @jax.jit
    def run(operands):
        return {
            (key, form): coo_dot_dense(*operands[key], **calls[key][1], form=form)
            for key in operands
            for form in ("kernel", "xla")
            if form == "kernel" or key[1] in (1, 3)
        }

    with jax.enable_x64(True):
        found = run({key: operands for key, (operands, _) in calls.items()})
    for (key, form), out in found.items():
        assert out.dtype == dtype
        np.testing.assert_array_equal(out, expected[key].astype(dtype), err_msg=f"{key}, {form}")


# Rows that begin and end in the middle of chunks of 4,096 entries, or fill several; products that
# fall into several tables, and into one.
@pytest.mark.parametrize("dtype", FLOATS)
def test_many_entries_agree_with_scipy(rng, dtype):
    nse = 40_000
    spread = np.sort(rng.integers(-3, 5000, nse))
    few = np.repeat([0, 2, 3, 7, 9], [4096, 13_000, 1, 4095, 18_808])
    with jax.enable_x64(True):
        for rows, m in ((spread, 4990), (few, 10), (np.full(nse, 1), 3)):
            columns, data = rng.integers(-1, 301, nse), rng.standard_normal(nse).astype(dtype)
            real = (rows >= 0) & (rows < m) & (columns >= 0) & (columns < 300)
            places, wide = (rows[real], columns[real]), data.astype(np.float64)[real]
            matrix = scipy.sparse.coo_array((wide, places), (m, 300))
            sizes = scipy.sparse.coo_array((np.abs(wide), places), (m, 300))
            indices = np.stack([rows, columns], axis=1).astype(np.int32)
            shuffle = rng.permutation(nse)
            for k in (1, 3, 16):
                dense = rng.standard_normal((300, k)).astype(dtype)
                left = rng.standard_normal((m, k)).astype(dtype)
                by_order = {"n_rows": m, "in_order": True}
                found = (
                    (coo_dot_dense(data, indices, dense, **by_order), matrix, sizes, dense),
                    (
                        coo_dot_dense(data[shuffle], indices[shuffle], dense, n_rows=m),
                        matrix,
                        sizes,
                        dense,
                    ),
                    (
                        coo_dot_dense(data, indices, left, n_rows=300, row_axis=1),
                        matrix.T,
                        sizes.T,
                        left,
                    ),
                )
                for number, (out, a, magnitudes, b) in enumerate(found):
                    b = b.astype(np.float64)
                    error = np.abs(np.asarray(out, np.float64) - a @ b)
                    bound = TOLERANCE[str(out.dtype)] * (magnitudes @ np.abs(b))
                    assert (error <= bound).all(), f"{m} rows, {k} columns, call {number}"


def as_dense(data, indices, m, n, row_axis=0, **_):
    """The matrix of coordinates, differentiable."""
    row, column = indices[:, row_axis], indices[:, 1 - row_axis]
    real = (row >= 0) & (row < m) & (column >= 0) & (column < n)
    out = jnp.zeros((m, n), data.dtype)
    return out.at[row, column].add(
        jnp.where(real, data, 0), mode="drop", wrap_negative_indices=False
    )


@pytest.mark.parametrize("name", list(PATHS)[:4])
def test_derivatives_equal_the_dense_ones(rng, name):
    indices, m, n, options = PATHS[name]
    data, dense = rng.standard_normal(len(indices)), rng.standard_normal((n, 2))

    def product(data, dense):
        return jnp.sin(coo_dot_dense(data, indices, dense, n_rows=m, **options))

    def by_hand(data, dense):
        return jnp.sin(as_dense(data, indices, m, n, **options) @ dense)

    with jax.enable_x64(True):
        args = jnp.asarray(data), jnp.asarray(dense)
        check_grads(jax.jit(product), args, order=2, modes=("fwd", "rev"))
        for argument in (0, 1):
            found, expected = (
                jax.jit(jax.grad(lambda *a, f=f: (f(*a) ** 2).sum(), argument))(*args)
                for f in (product, by_hand)
            )
            np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("nse", [12, 600])  # written out as one product, or one after another
@pytest.mark.parametrize("name", ["in order", "transposed"])
def test_batches_are_one_product_after_another(rng, name, nse):
    _, m, n, options = PATHS[name]
    axis, size = options.get("row_axis", 0), 3
    indices = rng.integers(-1, max(m, n) + 1, (size, nse, 2)).astype(np.int32)
    if options.get("in_order"):
        indices[..., axis] = np.sort(indices[..., axis])
    data = rng.standard_normal((size, nse)).astype(np.float32)
    dense = rng.standard_normal((size, n, 2)).astype(np.float32)
    expected = {
        mapped: np.stack(
            [
                oracle.coo_dot_dense(
                    *(
                        x[i if b else 1]
                        for x, b in zip((data, indices, dense), mapped, strict=True)
                    ),
                    n_rows=m,
                    **options,
                )
                for i in range(size)
            ]
        )
        for mapped in combinations((False, True), repeat=3)
        if any(mapped)
    }

    @jax.jit
    def run(data, indices, dense):
        found = {}
        for mapped in expected:
            args = [x if b else x[1] for x, b in zip((data, indices, dense), mapped, strict=True)]
            args = [jnp.moveaxis(x, 0, 1) if b else x for x, b in zip(args, mapped, strict=True)]
            call = jax.vmap(
                lambda *a: coo_dot_dense(*a, n_rows=m, **options),
                [1 if b else None for b in mapped],
            )
            found[mapped] = call(*args)
        wide = jnp.moveaxis(jnp.tile(dense, (9, 1, 1)), 0, 2)
        wide = jax.vmap(lambda d: coo_dot_dense(data[1], indices[1], d, n_rows=m, **options), 2)(
            wide
        )
        return found, wide

    found, wide = run(data, indices, dense)
    for mapped, out in found.items():
        np.testing.assert_allclose(out, expected[mapped], atol=1e-4, err_msg=str(mapped))
    np.testing.assert_allclose(wide, np.tile(expected[False, False, True], (9, 1, 1)), atol=1e-4)


def test_other_types_use_the_xla_form(rng):
    for dtype in (np.int32, np.complex64):
        data, dense = (rng.integers(-3, 4, s).astype(dtype) for s in (len(SORTED), (N, 2)))
        out = coo_dot_dense(data, SHUFFLED, dense, n_rows=M)
        assert out.dtype == dtype
        expected = oracle.coo_dot_dense(data.real, SHUFFLED, dense.real, n_rows=M)
        np.testing.assert_array_equal(out, expected)


def test_operands_that_do_not_fit_are_refused():
    data, dense = np.ones(len(SORTED), np.float32), np.ones((N, 2), np.float32)
    for args, n_rows, error, message in (
        ((data[:3], SORTED, dense), M, ValueError, r"\(nse, 2\).*\(3,\) and \(12, 2\)"),
        ((data, SORTED[:, :1], dense), M, ValueError, r"\(nse, 2\)"),
        ((data, SORTED.astype(np.int16), dense), M, TypeError, "int32 or int64, got int16"),
        ((data, SORTED, dense.astype(np.int32)), M, TypeError, "of one dtype"),
        ((data, SORTED, np.float32(1)), M, ValueError, "got a scalar"),
        ((data, SORTED, dense), -1, ValueError, "-1 rows"),
    ):
        with pytest.raises(error, match=f"coo_dot_dense.*{message}"):
            coo_dot_dense(*args, n_rows=n_rows)
