"""Products of csr matrices with dense ones: the kernel, its XLA form, and SciPy."""

from functools import partial

import jax
import numpy as np
import pytest
from jax import numpy as jnp

from cases.matrices import random_csr
from rarefy._primitives.coo_dot_dense import coo_dot_dense
from rarefy._primitives.csr_dot_dense import csr_dot_dense
from rarefy._primitives.csr_sample_dot import csr_sample_dot
from rarefy._primitives.csr_t_dot_dense import csr_t_dot_dense
from rarefy._primitives.csr_t_dot_rows import csr_t_dot_rows
from rarefy._primitives.group_rows import group_rows

# rows, columns, entries a row, columns of the dense matrix (1: a vector)
SIZES = {
    "20000x100000-50-64": (20_000, 100_000, 50, 64),
    "200000x1000000-40-1": (200_000, 1_000_000, 40, 1),
    "1024x1000000-40-16": (1024, 1_000_000, 40, 16),
}
size = pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
form = pytest.mark.parametrize("form", ["kernel", "xla"])


def operands(rows, columns, per_row, width, *, transposed=False):
    matrix = random_csr(rows, columns, per_row)
    shape = (rows if transposed else columns, *([width] if width > 1 else []))
    dense = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    return matrix, dense


def buffers(matrix):
    return jnp.asarray(matrix.data), jnp.asarray(matrix.indices), jnp.asarray(matrix.indptr)


@size
@form
def test_csr_dot_dense(measure, form, size):
    matrix, dense = operands(*size)
    out = measure(jax.jit(partial(csr_dot_dense, form=form)), *buffers(matrix), jnp.asarray(dense))
    np.testing.assert_allclose(out, matrix @ dense, rtol=1e-3, atol=1e-3)


@size
def test_csr_dot_dense_scipy(measure, size):
    matrix, dense = operands(*size)
    assert measure(lambda: matrix @ dense).shape[0] == size[0]


@pytest.mark.parametrize("order", ["in order", "any order", "transposed"])
@form
def test_coo_dot_dense(measure, form, order):
    """8,000,000 coordinates and a vector."""
    matrix, dense = operands(*SIZES["200000x1000000-40-1"], transposed=order == "transposed")
    coordinates = matrix.tocoo()
    indices, data = np.stack([coordinates.row, coordinates.col], axis=1), coordinates.data
    options = {"n_rows": matrix.shape[0], "in_order": order == "in order"}
    if order == "transposed":
        options = {"n_rows": matrix.shape[1], "row_axis": 1}
    elif order == "any order":
        shuffled = np.random.default_rng(2).permutation(len(data))
        indices, data = indices[shuffled], data[shuffled]
    f = jax.jit(partial(coo_dot_dense, form=form, **options))
    out = measure(f, jnp.asarray(data), jnp.asarray(indices, jnp.int32), jnp.asarray(dense))
    want = (matrix.T if order == "transposed" else matrix) @ dense
    np.testing.assert_allclose(out, want, rtol=1e-3, atol=1e-3)


@size
@form
def test_csr_t_dot_dense(measure, form, size):
    matrix, dense = operands(*size, transposed=True)
    f = jax.jit(partial(csr_t_dot_dense, form=form, n_cols=size[1]))
    out = measure(f, *buffers(matrix), jnp.asarray(dense))
    np.testing.assert_allclose(out, matrix.T @ dense, rtol=1e-3, atol=1e-3)


@size
@form
def test_csr_t_dot_rows_with_grouping(measure, form, size):
    """The gradient of a linear layer as rows: grouping the columns, then summing."""
    matrix, dense = operands(*size, transposed=True)
    capacity = min(size[1], matrix.nnz)

    @jax.jit
    def f(data, indices, indptr, dense):
        groups = group_rows(indices, n_rows=size[1], capacity=capacity, form=form)
        data = csr_t_dot_rows(data, indptr, groups.order, groups.starts, dense, form=form)
        return groups.rows, data

    rows, data = measure(f, *buffers(matrix), jnp.asarray(dense))
    real = np.asarray(rows) < size[1]
    want = (matrix.T @ dense)[np.asarray(rows)[real]]
    np.testing.assert_allclose(np.asarray(data)[real], want, rtol=1e-3, atol=1e-3)


@size
def test_csr_t_dot_scipy(measure, size):
    matrix, dense = operands(*size, transposed=True)
    assert measure(lambda: matrix.T @ dense).shape[0] == size[1]


@size
@form
def test_csr_sample_dot(measure, form, size):
    matrix, rhs = operands(*size)
    lhs = np.random.default_rng(2).standard_normal((size[0], *rhs.shape[1:])).astype(np.float32)
    _, indices, indptr = buffers(matrix)
    f = jax.jit(partial(csr_sample_dot, form=form))
    out = measure(f, indices, indptr, jnp.asarray(lhs), jnp.asarray(rhs))
    row = np.repeat(np.arange(size[0]), size[2])[:1000]
    want = (lhs[row] * rhs[matrix.indices[:1000]]).reshape(1000, -1).sum(axis=1)
    np.testing.assert_allclose(out[:1000], want, rtol=1e-3, atol=1e-3)
