"""Gradients: their rows, their storage, what is kept and what adds up."""

import jax
import numpy as np
import pytest

from cases.handles import assert_close
from rarefy import autograd, nd
from rarefy._ops.precision import wide
from rarefy.base import MXNetError
from rarefy.nd._handle import Handle

X = np.array([[1, 0, 2, 0, 0], [0, 0, 0, 0, 0], [0, 3, 0, 0, -1]], np.float32)
W = np.arange(10, dtype=np.float32).reshape(5, 2) / 4
HEAD = np.array([[1, -1], [0.5, 2], [-2, 0.25]], np.float32)


def variable(array, stype=None, grad_req="write", of="default"):
    made = nd.array(array, dtype=np.asarray(array).dtype).tostype(of)
    made.attach_grad(grad_req, stype=stype)
    return made


def rows(array):
    return array.indices.asnumpy().tolist()


# Rows


@pytest.mark.parametrize("seed", range(3))
def test_a_gradient_has_exactly_the_rows_that_were_used(seed):
    rng = np.random.default_rng(seed)
    n, batch = 1_000_000, 40
    places = rng.integers(0, batch, 300), rng.integers(0, n, 300)
    x = nd.sparse.csr_matrix((np.ones(300, np.float32), places), shape=(batch, n))
    w = nd.sparse.zeros("row_sparse", (n, 8))
    w.attach_grad(stype="row_sparse")
    with autograd.record():
        y = nd.dot(x, w)
    y.backward()
    used, counts = np.unique(places[1], return_counts=True)
    np.testing.assert_array_equal(w.grad.indices.asnumpy(), used)
    np.testing.assert_array_equal(w.grad.data.asnumpy(), np.repeat(counts[:, None], 8, axis=1))


def test_memory_of_a_gradient_follows_its_rows():
    n = 1 << 40  # a dense gradient would take 16 TB
    w = nd.sparse.zeros("row_sparse", (n, 4))
    w.attach_grad()
    x = nd.sparse.csr_matrix(([1.0, 2.0, 3.0], [7, n - 1, 7], [0, 2, 3]), shape=(2, n))
    with autograd.record():
        y = nd.dot(x, w)
    y.backward()
    assert rows(w.grad) == [7, n - 1]
    assert w.grad.data.asnumpy().tolist() == [[4] * 4, [2] * 4]
    assert sum(b.nbytes for b in jax.tree.leaves(w.grad._value)) <= 16 * (4 * 4 + 8)


def test_stored_zeros_count_as_used_and_empty_columns_do_not():
    x = nd.sparse.csr_matrix(([0.0, 2.0], [1, 3], [0, 2, 2]), shape=(2, 5))
    w = variable(W, "row_sparse")
    with autograd.record():
        y = nd.dot(x, w)
    y.backward()
    assert rows(w.grad) == [1, 3]
    assert w.grad.data.asnumpy().tolist() == [[0, 0], [2, 2]]


def test_a_batch_without_entries_gives_a_gradient_without_rows():
    w = variable(W, "row_sparse")
    with autograd.record():
        y = nd.dot(nd.sparse.zeros("csr", (3, 5)), w)
    y.backward()
    assert (w.grad.stype, rows(w.grad)) == ("row_sparse", [])


def test_rows_of_the_batch_before_are_gone():
    w = variable(W, "row_sparse")
    for ids in ([0, 4], [2]):
        with autograd.record():
            y = nd.Embedding(nd.array(ids), w, input_dim=5, output_dim=2, sparse_grad=True)
        y.backward()
        assert rows(w.grad) == ids


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("ids", [[3], [3, 3, 3], [4, 0, 4, 1], [[2, 0], [0, 2]], []], ids=str)
def test_embedding_rows_are_sorted_distinct_and_summed(ids, dtype):
    w = variable(W.astype(dtype), "row_sparse")
    given = nd.array(np.array(ids), dtype="int64")
    head = np.random.default_rng(0).integers(-4, 5, (*given.shape, 2)) / 4
    with autograd.record():
        y = nd.Embedding(given, w, input_dim=5, output_dim=2, sparse_grad=True)
    y.backward(nd.array(head, dtype=dtype))
    expected = np.zeros((5, 2))
    np.add.at(expected, np.array(ids, int).reshape(-1), head.reshape(-1, 2))
    assert rows(w.grad) == sorted({*np.array(ids, int).reshape(-1).tolist()})
    assert np.dtype(w.grad.dtype) == dtype
    np.testing.assert_array_equal(w.grad.asnumpy(), expected.astype(dtype))


def test_taken_rows_of_a_csr_array():
    x = variable(X, of="csr")
    with autograd.record():
        y = nd.take(x, nd.array([2, 0, 2]))
    y.backward()
    assert x.grad.stype == "csr"
    np.testing.assert_array_equal(x.grad.asnumpy(), (X != 0) * np.array([[1], [0], [2]]))


# Storage types


@pytest.mark.parametrize("stype", ["default", "row_sparse", "csr"])
def test_the_gradient_has_the_storage_type_asked_for(stype):
    w = variable(W, stype)
    assert w.grad.stype == stype
    with autograd.record():
        y = nd.dot(nd.array(X).tostype("csr"), w)
    y.backward(nd.array(HEAD))
    assert w.grad.stype == stype
    np.testing.assert_array_equal(w.grad.asnumpy(), X.T @ HEAD)


@pytest.mark.parametrize("stype", ["row_sparse", "csr"])
def test_a_dense_gradient_is_converted(stype):
    w = variable(W, stype)
    mask = np.zeros_like(W)
    mask[[1, 3], 0] = 1
    with autograd.record():
        y = w * nd.array(mask)
    y.backward()
    assert w.grad.stype == stype
    np.testing.assert_array_equal(w.grad.asnumpy(), mask)
    assert w.grad.nnz == 2


@pytest.mark.parametrize("of", ["csr", "row_sparse"])
def test_the_gradient_of_a_sparse_array_is_of_its_type_unless_asked(of):
    x = variable(X, of=of)
    with autograd.record():
        y = nd.square(x) * 3
    y.backward()
    assert x.grad.stype == of
    np.testing.assert_array_equal(x.grad.asnumpy(), 6 * X)
    x.attach_grad(stype="default")
    with autograd.record():
        y = nd.square(x) * 3
    y.backward()
    assert x.grad.stype == "default"
    np.testing.assert_array_equal(x.grad.asnumpy(), 6 * X)


def test_a_table_used_sparsely_and_densely():
    w = variable(W, "row_sparse")
    with autograd.record():
        used = nd.Embedding(nd.array([1, 1]), w, input_dim=5, output_dim=2, sparse_grad=True)
        y = used.sum() + (w * w).sum()
    y.backward()
    expected = 2 * W
    expected[1] += 2
    assert w.grad.stype == "row_sparse"
    np.testing.assert_array_equal(w.grad.asnumpy(), expected)


@pytest.mark.parametrize("second", [[3, 1], [1, 3], [0, 3]])
def test_a_table_read_twice(second, monkeypatch):
    """Rows that are the same need not be sorted again, neither eagerly nor in a compiled step."""

    def gradient(w, first, second):
        w = Handle._wrap(w)
        w.attach_grad(stype="row_sparse")
        with autograd.record():
            read = [
                nd.Embedding(Handle._wrap(ids), w, input_dim=5, output_dim=2, sparse_grad=True)
                for ids in (first, second)
            ]
            loss = (read[0] * read[0]).sum() + 3 * read[1].sum()
        loss.backward()
        return w.grad._value

    values = [nd.array(a)._value for a in (W, [1, 3], second)]
    expected = np.zeros_like(W)
    expected[[1, 3]] = 2 * W[[1, 3]]
    expected[second] += 3
    with wide():
        traced = jax.jit(gradient)(*values)
    if set(second) == {1, 3}:
        monkeypatch.setattr("rarefy._ops.gradient.add_row_sparse", None)
    for found in map(Handle._wrap, (traced, gradient(*values))):
        assert rows(found) == sorted({1, 3, *second})
        found.check_format()
        np.testing.assert_array_equal(found.asnumpy(), expected)


@pytest.mark.parametrize("head", ["default", "row_sparse"])
def test_head_gradients_of_any_storage_type(head):
    x = variable(W)
    with autograd.record():
        y = x * x
    y.backward(nd.array(W).tostype(head))
    np.testing.assert_array_equal(x.grad.asnumpy(), 2 * W * W)


# What adds up


@pytest.mark.parametrize("stype", ["default", "row_sparse"])
def test_grad_req_add(stype):
    w = variable(W, stype, "add")
    for ids in ([4, 1], [1], []):
        with autograd.record():
            y = nd.Embedding(nd.array(ids), w, input_dim=5, output_dim=2, sparse_grad=True)
        y.backward()
    expected = np.array([[0, 0], [2, 2], [0, 0], [0, 0], [1, 1]])
    np.testing.assert_array_equal(w.grad.asnumpy(), expected)
    if stype == "row_sparse":
        assert rows(w.grad) == [1, 4]


def test_adding_up_many_batches_does_not_grow():
    w = variable(np.zeros((100, 2), np.float32), "row_sparse", "add")
    for i in range(40):
        with autograd.record():
            y = nd.Embedding(nd.array([i % 5]), w, input_dim=100, output_dim=2, sparse_grad=True)
        y.backward()
    assert rows(w.grad) == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal(w.grad.data.asnumpy(), 8)
    assert w.grad._value.nse == 16


def test_a_head_named_twice_counts_twice():
    x = variable(W)
    with autograd.record():
        y = x * x
    autograd.backward([y, y], [nd.array(W), nd.ones((5, 2))])
    np.testing.assert_array_equal(x.grad.asnumpy(), 2 * W * (W + 1))


def test_grad_req_null_computes_no_gradient():
    x, y = variable(W, grad_req="null"), variable(W)
    with autograd.record():
        z = x * y
    z.backward()
    np.testing.assert_array_equal(y.grad.asnumpy(), W)
    assert not x.grad.asnumpy().any()


# What is kept


def test_the_record_keeps_the_values_that_were_used():
    x = variable(W)
    with autograd.record():
        y = x * x
    x[:] = 100
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), 2 * W)


def test_backward_lets_saved_values_go():
    def large():
        return sum(a.nbytes > 2_000_000 for a in jax.live_arrays())

    x = variable(np.ones((1000, 1000), np.float32))
    before = large()
    with autograd.record():
        y = nd.tanh(nd.tanh(nd.tanh(x))).sum()
    assert large() > before
    y.backward()
    assert large() == before


def test_a_long_record_needs_no_deep_stack():
    x = variable(np.ones(3, np.float32))
    with autograd.record():
        y = x
        for _ in range(3000):
            y = y + x
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), 3001)


def test_views_write_through_between_recordings():
    x = variable(W)
    for value in (3, -1):
        x[1:3] = value
        x[0][:] = 2 * value
        with autograd.record():
            y = x * x
        y.backward()
        expected = W.copy()
        expected[1:3], expected[0] = value, 2 * value
        np.testing.assert_array_equal(x.grad.asnumpy(), 2 * expected)


@pytest.mark.parametrize(
    "key", [1, slice(1, 4), (slice(None), 1), (slice(None, None, 2),), (2, 0), [0, 3, 3]], ids=str
)
def test_gradient_of_a_recorded_slice(key):
    x = variable(W)
    with autograd.record():
        y = x[key] * 3
    y.backward()
    expected = np.zeros_like(W)
    np.add.at(expected, key, 3)
    np.testing.assert_array_equal(x.grad.asnumpy(), expected)


# The same tape on values that are not known yet


def loss_of(x, w, b):
    return (nd.sigmoid(nd.dot(x, w) + b) ** 2).sum()


@pytest.mark.parametrize("stype", ["default", "row_sparse"])
def test_a_traced_tape_gives_what_an_eager_one_gives(stype):
    def gradients(x, w, b):
        x, w, b = map(Handle._wrap, (x, w, b))
        w.attach_grad(stype=stype)
        b.attach_grad()
        with autograd.record():
            loss = loss_of(x, w, b)
        loss.backward()
        return loss._value, w.grad._value, b.grad._value

    given = nd.array(X).tostype("csr"), nd.array(W), nd.ones((1, 2))
    with wide():
        traced = jax.jit(gradients)(*(a._value for a in given))
    eager = gradients(*(a._value for a in given))
    for ours, theirs in zip(map(Handle._wrap, traced), map(Handle._wrap, eager), strict=True):
        assert ours.stype == theirs.stype
        assert_close(ours.asnumpy(), theirs.asnumpy())
        if ours.stype == "row_sparse":
            assert rows(ours) == rows(theirs) == [0, 1, 2, 4]
    # By hand: the slope of s(z)^2 is 2 s(z)^2 (1 - s(z)).
    s = 1 / (1 + np.exp(-(X.astype(float) @ W + 1)))
    slope = 2 * s * s * (1 - s)
    assert_close(Handle._wrap(traced[1]).asnumpy(), X.T @ slope)
    assert_close(traced[2], slope.sum(axis=0, keepdims=True))


def test_a_second_batch_compiles_nothing_new():
    compiled = []

    def heard(event, duration, **known):
        if event == "/jax/core/compile/backend_compile_duration":
            compiled.append(known.get("fun_name"))

    def step(seed):
        rng = np.random.default_rng(seed)
        nnz = int(rng.integers(1, 16))
        places = rng.integers(0, 3, nnz), rng.integers(0, 5, nnz)
        x = nd.sparse.csr_matrix((np.ones(nnz, np.float32), places), shape=(3, 5))
        with autograd.record():
            loss = loss_of(x, w, b)
        loss.backward()

    w, b = variable(W, "row_sparse"), variable(np.ones((1, 2), np.float32))
    step(0)
    jax.monitoring.register_event_duration_secs_listener(heard)
    try:
        for seed in range(1, 12):
            step(seed)
    finally:
        jax.monitoring.unregister_event_duration_listener(heard)
    assert not compiled


@pytest.mark.parametrize("stype", ["default", "csr", "row_sparse"])
def test_setting_all_elements_is_recorded(stype):
    x = nd.array([[0, 1, 2], [0, 0, 0]]).tostype(stype)
    x.attach_grad()
    y = nd.zeros((2, 3), stype=stype)
    ways = [lambda: x.copyto(y)]
    if stype == "default":
        ways += [lambda: y.__setitem__(..., x), lambda: y.__setitem__((slice(None),) * 2, x)]
    ways.append(lambda: y.__setitem__(slice(None), x))
    for way in ways:  # a backward pass frees y, so that it can be set again
        with autograd.record():
            way()
            z = nd.square(y)
        z.backward()
        assert x.grad.asnumpy().tolist() == [[0, 2, 4], [0, 0, 0]]
    with autograd.record():
        y[:] = x
        with pytest.raises(MXNetError, match="in place"):
            y[:] = x


def test_setting_all_elements_from_a_row_is_recorded():
    x = nd.array([[1, 2, 3]])
    x.attach_grad()
    y = nd.zeros((2, 3), dtype="float64")
    with autograd.record():
        y[:] = x
        z = (y * nd.array([[1, 2, 3], [4, 5, 6]], dtype="float64")).sum()
    z.backward()
    assert x.grad.asnumpy().tolist() == [[5, 7, 9]]


@pytest.mark.parametrize("stored", [[], [1]])
def test_the_gradient_of_retain_is_in_the_named_rows(stored):
    x = nd.sparse.row_sparse_array((np.ones((len(stored), 2), "f"), stored), shape=(4, 2))
    x.attach_grad()
    with autograd.record():
        kept = nd.sparse.retain(x, nd.array([3, 1]))
    kept.backward(nd.arange(8).reshape((4, 2)))
    assert x.grad.indices.asnumpy().tolist() == [1, 3]
    assert x.grad.data.asnumpy().tolist() == [[2, 3], [6, 7]]
