"""Arrays of 3,000,000 rows and columns that store ten elements go through every structural operator.

Nothing of the size of their dense form may come up: it would take 36 TB. What is alive after a call is
counted, and dense copies of more than a hundred megabytes are refused.
"""

import jax
import numpy as np
import pytest
from scipy.sparse import csr_matrix

from rarefy import autograd, config, nd
from rarefy._ops.fallback import StorageFallbackError

SIDE = 3_000_000
# Row pointers and dense vectors are as long as a side; a handful of them is what an operator may use.
MOST = 40 * SIDE
ROWS = np.array([0, 1, 7, 999_999, 1_500_000, 2_000_001, 2_999_998, *[SIDE - 1] * 3])
COLUMNS = np.array([11, 7930, 55_444, SIDE - 1, 0, 1, 2, 0, 1_234_567, SIDE - 1])
VALUES = np.arange(1, 11, dtype=np.float32)
MATRIX = csr_matrix((VALUES, (ROWS, COLUMNS)), shape=(SIDE, SIDE))
STORED = np.array([2, 500_000, SIDE - 1])
TABLE = np.arange(1, 7, dtype=np.float32).reshape(3, 2)


@pytest.fixture(autouse=True)
def _little_room(monkeypatch):
    monkeypatch.setattr(config, "storage_fallback_bytes", 100 << 20)
    monkeypatch.setattr(config, "storage_fallback", "error")


def csr():
    parts = (MATRIX.data, MATRIX.indices, MATRIX.indptr)
    return nd.sparse.csr_matrix(parts, shape=MATRIX.shape)


def table():
    return nd.sparse.row_sparse_array((TABLE, STORED), shape=(SIDE, 2))


def bytes_alive() -> int:
    return sum(array.nbytes for array in jax.live_arrays())


def same(result, expected) -> None:
    """Compares a csr array with a SciPy matrix without making either dense."""
    assert result.stype == "csr"
    assert result.shape == expected.shape
    difference = result.asscipy() - expected
    assert abs(difference).sum() == 0


CSR = {
    "+": (lambda x: x + x, lambda m: m + m),
    "-": (lambda x: x - x * 0.5, lambda m: m - m * 0.5),
    "*": (lambda x: x * x, lambda m: m.multiply(m)),
    "maximum": (lambda x: nd.broadcast_maximum(x, -x), lambda m: m),
    "square": (nd.square, lambda m: m.multiply(m)),
    "rows": (lambda x: x[999_999:], lambda m: m[999_999:]),
    "block": (
        lambda x: nd.slice(x, begin=(5, 2), end=(SIDE, 2_000_000)),
        lambda m: m[5:, 2:2_000_000],
    ),
    "take": (lambda x: x[[SIDE - 1, 7, 7, 5]], lambda m: m[[SIDE - 1, 7, 7, 5]]),
    "T": (lambda x: x.T, lambda m: m.T),
    "dot": (lambda x: nd.dot(x, x), lambda m: m @ m),
}


@pytest.mark.parametrize("name", CSR)
def test_csr(name):
    call, oracle = CSR[name]
    array = csr()
    before = bytes_alive()
    result = call(array)
    assert bytes_alive() - before < MOST
    same(result, csr_matrix(oracle(MATRIX)))


def test_csr_sums_products_and_joins():
    array = csr()
    assert nd.sum(array).asscalar() == 55
    by_row = nd.sum(array, axis=1).asnumpy()
    assert by_row[[0, 7, SIDE - 1]].tolist() == [1, 3, 27]
    assert nd.max(array, axis=0).asnumpy()[[0, 2, 3]].tolist() == [8, 7, 0]
    assert nd.norm(array).asscalar() == pytest.approx(385**0.5)
    ones = nd.ones((SIDE, 1))
    assert nd.dot(array, ones).asnumpy().sum() == 55
    assert nd.dot(array, ones, transpose_a=True).nnz == 8
    both = nd.concat(array, array, dim=0)
    assert both.shape == (2 * SIDE, SIDE) and both.nnz == 20
    with pytest.raises(StorageFallbackError, match=r"softmax\(csr\).*3000000, 3000000"):
        nd.softmax(array)


def test_row_sparse():
    array = table()
    before = bytes_alive()
    results = {
        "+": (array + array, STORED, 2 * TABLE),
        "*": (array * array, STORED, TABLE * TABLE),
        "square": (nd.square(array), STORED, TABLE * TABLE),
        "retain": (array.retain(nd.array([2, 500_000], dtype="int64")), STORED[:2], TABLE[:2]),
        "slice": (nd.slice(array, begin=(3,), end=(SIDE,)), STORED[1:] - 3, TABLE[1:]),
        "concat": (nd.concat(array, array, dim=0), [*STORED, *(STORED + SIDE)], [*TABLE, *TABLE]),
        "dot": (nd.dot(array, nd.ones((2, 3))), STORED, TABLE.sum(1, keepdims=True) * np.ones(3)),
    }
    assert bytes_alive() - before < 1 << 20
    for name, (result, rows, data) in results.items():
        assert result.stype == "row_sparse", name
        assert result.indices.asnumpy().tolist() == list(rows), name
        np.testing.assert_array_equal(result.data.asnumpy(), data, err_msg=name)
    assert nd.sum(array, axis=0).asnumpy().tolist() == [9, 12]
    assert nd.take(array, nd.array([2, 3], dtype="int64")).asnumpy().tolist() == [[1, 2], [0, 0]]


WIDE = 2_000_000_000


@pytest.mark.parametrize(
    ("name", "width", "tail", "params"),
    [
        ("embedding_bag", WIDE, (3,), {"mode": "mean"}),
        ("embedding_bag", WIDE, (3,), {"mode": "max"}),
        ("field_aware_factorization_machine", SIDE, (2, 5000), {}),
        ("field_embedding", SIDE, (10_000,), {"n_fields": 2}),
    ],
)
def test_tables_are_read_by_the_rows_they_store(name, width, tail, params):
    """As with a small dense table of the columns that occur, one of which the large one lacks."""
    places = np.array([3, 1_000, width - 2, width - 1])
    small = np.arange(1, 13, dtype=np.float32).reshape(3, 4) % 5
    rows = np.random.default_rng(0).normal(size=(4, *tail)).astype(np.float32)
    rows[1] = 0
    by_width = {}
    for n, columns, stored in ((4, np.arange(4), None), (width, places, places[[0, 2, 3]])):
        at = (np.repeat(np.arange(3), 4), np.tile(columns, 3))
        x = nd.sparse.csr_matrix((small.ravel(), at), shape=(3, n))
        table = nd.array(rows)
        if stored is not None:
            table = nd.sparse.row_sparse_array((rows[[0, 2, 3]], stored), shape=(n, *tail))
        arrays = [x, table]
        if name.startswith("field"):
            fields = np.zeros(n, np.int32)
            fields[columns[2:]] = 1
            arrays.append(nd.array(fields, dtype="int32"))
        x.attach_grad(stype="csr")
        table.attach_grad(stype="row_sparse")
        with autograd.record():
            result = getattr(nd, name)(*arrays, **params)
        result.backward(nd.ones(result.shape) * 2)
        assert table.grad.indices.asnumpy().tolist() == columns.tolist()
        by_width[n] = result.asnumpy(), table.grad.data.asnumpy(), x.grad.data.asnumpy()
    for found, expected in zip(by_width[width], by_width[4], strict=True):
        np.testing.assert_allclose(found, expected, 1e-5, 1e-5)
