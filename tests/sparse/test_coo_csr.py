"""COO, CSR and CSC, and the functions on them, against dense arrays and JAX's own."""

import jax
import numpy as np
import pytest
import scipy.sparse
from jax import numpy as jnp
from jax.experimental import sparse as jsparse
from numpy.testing import assert_allclose, assert_array_equal

from rarefy import sparse
from rarefy.sparse import BCOO, BCSR, COO, CSC, CSR
from rarefy.sparse import coo as coo_module
from rarefy.sparse import csr as csr_module

M = np.array([[0, 1, 0, 2], [3, 0, 0, 0], [0, 0, 4, 0]], np.float32)
KINDS = [COO, CSR, CSC]
each_kind = pytest.mark.parametrize("kind", KINDS)


@each_kind
def test_buffers_properties_and_repr_are_those_of_jax(kind):
    ours, theirs = kind.fromdense(M), getattr(jsparse, kind.__name__).fromdense(jnp.asarray(M))
    assert repr(ours) == repr(theirs)
    for name in ("shape", "dtype", "ndim", "size", "nse"):
        assert getattr(ours, name) == getattr(theirs, name), name
    for x, y in zip(ours.tree_flatten()[0], theirs.tree_flatten()[0], strict=True):
        assert_array_equal(x, y)
    assert ours.tree_flatten()[1] == theirs.tree_flatten()[1]
    assert ours.block_until_ready() is ours
    assert_array_equal(ours.todense(), M)


@each_kind
def test_products_and_transposes(kind):
    x = kind.fromdense(M)
    wide = np.arange(8, dtype=np.float32).reshape(4, 2)
    found = jax.jit(lambda x: (x @ wide[:, 0], x @ wide, x.T @ M, M.T[:, :3] @ x, x.T.todense()))(x)
    expected = (M @ wide[:, 0], M @ wide, M.T @ M, M.T @ M, M.T)
    for a, b in zip(found, expected, strict=True):
        assert_allclose(a, b)
    assert type(x.T) is {COO: COO, CSR: CSC, CSC: CSR}[kind]
    with pytest.raises(NotImplementedError, match="axes"):
        x.transpose((1, 0))
    assert_array_equal(sparse.todense(x @ x.T), M @ M.T)


@each_kind
def test_empty_and_eye(kind):
    name = kind.__name__.lower()
    none = sparse.empty((3, 4), sparse_format=name)
    assert isinstance(none, kind)
    assert none.nse == 0
    assert_array_equal(none.todense(), np.zeros((3, 4)))
    for n, m, k in ((3, 3, 0), (3, 5, 2), (4, 3, -1), (2, 2, 7)):
        assert_array_equal(sparse.eye(n, m, k, sparse_format=name).todense(), np.eye(n, m, k))
    with pytest.raises(ValueError, match="must have ndim=2"):
        sparse.empty((3, 4, 5), sparse_format=name)


def test_an_unknown_format_is_refused_with_the_known_ones():
    message = r"sparse_format='dia' not recognized; must be one of \['bcsr', 'bcoo', 'coo', 'csr', "
    with pytest.raises(ValueError, match=message):
        sparse.empty((3, 4), sparse_format="dia")


def test_functions_on_objects_and_on_buffers():
    v, w, wide = np.arange(4.0, dtype=np.float32), np.arange(3.0, dtype=np.float32), M.T.copy()
    coo, csr = sparse.coo_fromdense(M), sparse.csr_fromdense(M, nse=6)
    assert csr.nse == 6  # padded
    for mat, name in ((coo, "coo"), (csr, "csr")):
        functions = [getattr(sparse, f"{name}_{f}") for f in ("todense", "matvec", "matmat")]
        assert_array_equal(functions[0](mat), M)
        assert_allclose(functions[1](mat, v), M @ v)
        assert_allclose(functions[1](mat, w, transpose=True), M.T @ w)
        assert_allclose(functions[2](mat, wide), M @ wide)
        assert_allclose(functions[2](mat, M, transpose=True), M.T @ M)
        with pytest.raises(ValueError, match="1 dimensions"):
            functions[1](mat, M)
    info = coo_module.COOInfo(M.shape)
    buffers = coo_module._coo_fromdense(M, nse=4)
    assert_array_equal(coo_module._coo_todense(*buffers, spinfo=info), M)
    assert_allclose(coo_module._coo_matvec(*buffers, v, spinfo=info), M @ v)
    buffers = csr_module._csr_fromdense(M, nse=4)
    assert_array_equal(csr_module._csr_todense(*buffers, shape=M.shape), M)
    assert_allclose(csr_module._csr_matmat(*buffers, wide, shape=M.shape), M @ wide)
    reference = scipy.sparse.csr_array(M)
    for x, y in zip(buffers, (reference.data, reference.indices, reference.indptr), strict=True):
        assert_array_equal(x, y)
    row, col = csr_module._csr_to_coo(*buffers[1:])
    assert_array_equal(np.stack([row, col]), np.stack(M.nonzero()))


def test_gradients_of_values_and_of_the_dense_side():
    x, v = COO.fromdense(M), np.arange(4.0, dtype=np.float32)
    gx = sparse.grad(lambda x, v: ((x @ v) ** 2).sum())(x, v)
    assert_allclose(gx.data, 2 * (M @ v)[np.asarray(x.row)] * v[np.asarray(x.col)])
    g = jax.grad(lambda v: ((CSC.fromdense(M) @ v) ** 2).sum())(v)
    assert_allclose(g, 2 * M.T @ M @ v)


def test_sorting_and_conversions():
    x = COO(([1.0, 2, 3], [2, 0, 1], [0, 3, 3]), shape=(3, 4))
    assert x._sort_indices().row.tolist() == [0, 1, 2]
    assert_array_equal(x.to_bcoo().todense(), x.todense())
    assert_array_equal(CSC.fromdense(M).to_bcsr().todense(), M)
    assert isinstance(CSR.fromdense(M).to_bcsr(), BCSR)
    assert isinstance(BCOO.from_jax(jsparse.CSC.fromdense(M)), BCOO)
    v = np.arange(4.0, dtype=np.float32)
    # The hints of sorted rows and columns make products faster, never different.
    assert_allclose(COO.fromdense(M).T.T @ v, M @ v)
    assert_allclose(COO.fromdense(M).T @ np.ones(3, np.float32), M.sum(0))


@pytest.mark.parametrize(
    "make, kind, message",
    [
        (lambda: COO(([1.0], [3], [0]), shape=(3, 4)), None, ""),  # padding
        (
            lambda: COO(([1.0], [4], [0]), shape=(3, 4)),
            ValueError,
            r"row\[0\] is 4, expected 0 to 2",
        ),
        (lambda: COO(([1.0], [0], [-1]), shape=(3, 4)), ValueError, r"col\[0\] is -1"),
        (lambda: COO(([1.0], [0.0], [1]), shape=(3, 4)), TypeError, "row must be integers"),
        (lambda: COO(([1.0, 2.0], [0], [1]), shape=(3, 4)), ValueError, r"must be \(nse,\)"),
        (lambda: COO(([1.0], [0], [1]), shape=(3,)), ValueError, "ndim=2"),
        (lambda: CSR(([1.0], [9], [0, 1]), shape=(1, 4)), ValueError, "is 9, expected 0 to 3"),
        (lambda: CSC(([1.0], [0], [0, 1]), shape=(1, 4)), ValueError, "indptr"),
        (lambda: COO.tree_unflatten({"shape": (1, 1)}, (1, 2, 3)), ValueError, "invalid aux_data"),
    ],
)
def test_bad_buffers_are_refused(make, kind, message):
    if kind is None:
        assert make().todense().sum() == 0
    else:
        with pytest.raises(kind, match=message):
            make()
