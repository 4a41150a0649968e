"""Small programs that go wrong easily: out of range, empty, huge, shared, changed too early."""

import copy
import pickle
import threading
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import rarefy as mx
from rarefy import autograd, gluon, nd, optimizer
from rarefy.nd import sparse

D = np.array([[0, 1, 0], [2, 0, 0], [0, 0, 3.5]], np.float32)
NAN, INF = float("nan"), float("inf")


def csr(data, indices, indptr, shape, dtype="float32"):
    return sparse.csr_matrix((np.array(data, dtype), indices, indptr), shape=shape)


def rows(data, ids, shape, dtype="float32"):
    return sparse.row_sparse_array((np.array(data, dtype), ids), shape=shape)


def gradients(fn, *arrays) -> list[Any]:
    for a in arrays:
        a.attach_grad()
    with autograd.record():
        y = fn(*arrays)
    y.backward()
    return [a.grad for a in arrays]


ONE = rows([[3]], [1], (2, 1))
ROW = nd.array([1.0, 2])
TWO = ([5, 7], [0, 1], [0, 1, 2], (2, 2))
# A program, the storage type of its result, and the result: by hand, and as MXNet 1.9.1 has it.
VALUES = [
    (lambda: csr(*TWO, "int32") / 2, "csr", [[2, 0], [0, 3]]),
    (lambda: csr(*TWO) * NAN, "csr", [[NAN, 0], [0, NAN]]),
    (lambda: csr([0, 7], *TWO[1:]) * INF, "csr", [[NAN, 0], [0, INF]]),
    (lambda: csr([5, -7], *TWO[1:]) / 0, "csr", [[INF, 0], [0, -INF]]),
    (lambda: sparse.sqrt(csr([-1, 4], *TWO[1:])), "csr", [[NAN, 0], [0, 2]]),
    (lambda: sparse.zeros("csr", (2, 2)) * sparse.zeros("csr", (2, 2)), "csr", np.zeros((2, 2))),
    (lambda: sparse.csr_matrix(D)[1:10], "csr", D[1:]),
    (lambda: sparse.csr_matrix(D)[-1], "csr", D[2:]),
    (lambda: csr(*TWO) / nd.array([[0.0, 2]]), "csr", [[INF, 0], [0, 3.5]]),
    (lambda: sparse.retain(ONE, nd.array([1.0, 0, 1])), "row_sparse", [[0], [3]]),
    (lambda: sparse.retain(sparse.zeros("row_sparse", (2, 1)), nd.array([1])), "row_sparse", [[0], [0]]),
    (lambda: sparse.retain(ONE, nd.array(np.zeros(0))), "row_sparse", [[0], [0]]),
    (lambda: nd.sum(nd.array([100, 100], dtype="int8")), "default", [-56]),
    (lambda: nd.array([1], dtype="uint8") - 2, "default", [255]),
    (lambda: nd.array([3], dtype="int32") * 2.7, "default", [6]),
    (lambda: nd.array([5.0, -5]) % 0, "default", [0, 0]),
    (lambda: nd.array(np.zeros((0, 3))).sum(axis=0), "default", [0, 0, 0]),
    (lambda: nd.take(nd.array(D), nd.array([7, -1])), "default", D[[2, 0]]),
    (lambda: nd.one_hot(nd.array([5, -1, 1]), 3), "default", [[0, 0, 0], [0, 0, 0], [0, 1, 0]]),
    (lambda: nd.gather_nd(nd.array(D), nd.array([[-1, 1.7], [2, 0]])), "default", [3.5, 2]),
    (lambda: nd.scatter_nd(ROW, nd.array([[0, 1], [1, 0]]), shape=(2, 2)), "default", [[0, 1], [2, 0]]),
    (lambda: pickle.loads(pickle.dumps(sparse.csr_matrix(D))), "csr", D),
    (lambda: nd.concat(csr(*TWO), csr(*TWO), dim=0), "csr", [[5, 0], [0, 7]] * 2),
]  # fmt: skip

# A program, and the kinds of its exception: MXNet's where it raises one.
REFUSALS = [
    (lambda: csr(*TWO) + csr(*TWO, "float64"), mx.MXNetError),
    (lambda: sparse.elemwise_add(csr(*TWO), sparse.zeros("csr", (2, 3))), mx.MXNetError),
    (lambda: nd.dot(csr(*TWO), nd.ones((2,))), mx.MXNetError),
    (lambda: nd.dot(csr(*TWO), nd.ones((3, 1))), mx.MXNetError),
    (lambda: sparse.csr_matrix(D)[::2], ValueError),
    (lambda: sparse.csr_matrix(D).__setitem__(0, 1), TypeError),
    (lambda: sparse.retain(ONE, nd.array([-1, 1], dtype="int64")), mx.MXNetError),
    (lambda: sparse.retain(ONE, nd.array([2], dtype="int32")), mx.MXNetError),
    (lambda: sparse.retain(ONE, nd.array([NAN])), mx.MXNetError),
    (lambda: nd.gather_nd(nd.array(D), nd.array([[3], [0]])), (mx.MXNetError, IndexError)),
    (lambda: nd.gather_nd(nd.array(D), nd.array([[0], [-4]])), (mx.MXNetError, IndexError)),
    (lambda: nd.scatter_nd(ROW, nd.array([[0, 3]]), shape=(3,)), (mx.MXNetError, IndexError)),
    (lambda: nd.scatter_nd(ROW, nd.array([[0, 1], [2, -4]]), shape=(3, 3)), (mx.MXNetError, IndexError)),
    (lambda: nd._internal._scatter_set_nd(ROW, ROW, nd.array([[0, 2]]), shape=(2,)), IndexError),
    (lambda: nd.elemwise_add(nd.array(D), nd.array(D), out=nd.zeros((2, 2))), mx.MXNetError),
    (lambda: nd.array(D).reshape((2, 2)), ValueError),
    (lambda: nd.load_frombuffer(b""), mx.MXNetError),
    (lambda: bool(nd.array(D)), ValueError),
    (lambda: nd.sum(D), AssertionError),
    (lambda: nd.array(D).tostype("coo"), mx.MXNetError),
    (lambda: optimizer.create("nope"), ValueError),
]  # fmt: skip


def test_awkward_numbers_and_shapes():
    for i, (program, stype, expected) in enumerate(VALUES):
        found = program()
        assert found.stype == stype, i
        assert_array_equal(found.asnumpy(), np.array(expected, found.dtype), err_msg=f"program {i}")


def test_refusals_have_the_kinds_that_programs_catch():
    for i, (program, kinds) in enumerate(REFUSALS):
        for kind in kinds if isinstance(kinds, tuple) else (kinds,):
            try:
                program()
            except kind:
                continue
            pytest.fail(f"program {i} runs")


def test_huge_shapes_and_rows_beyond_31_bits():
    n, far = 3_000_000, 2**31 + 5
    indptr = np.full(n + 1, 2)
    indptr[:3] = 0, 1, 1
    a = csr([1, 2], [n - 1, 5], indptr, (n, n))
    assert (a + a).data.asnumpy().tolist() == (a * 2).data.asnumpy().tolist() == [2, 4]
    assert a[2:9].indices.asnumpy().tolist() == [5]
    b = rows([[1.0]], [far], (far + 10, 1))
    kept = sparse.retain(b, nd.array([far, 3], dtype="int64"))
    assert kept.indices.asnumpy().tolist() == [3, far]
    assert kept.data.asnumpy().tolist() == [[0], [1]]
    with pytest.raises(mx.MXNetError, match="outside"):
        sparse.retain(b, nd.array([far + 10], dtype="int64"))


def test_products_larger_than_their_factors():
    """The result is first given the room of a factor."""
    rng = np.random.default_rng(0)
    for m, k in ((64, 1), (5, 40), (3, 0)):
        x, y = rng.integers(-3, 4, (m, k)), rng.integers(-3, 4, (k, m))
        product = nd.dot(*(nd.array(v).tostype("csr") for v in (x, y)))
        assert product.stype == "csr"
        assert_array_equal(product.asnumpy(), x @ y)


def test_many_arrays_of_one_shape_share_nothing():
    made = [nd.full((2, 3), k % 3) for k in range(130)]
    made[127][:] = 9
    assert [float(a.asnumpy().max()) for a in made[125:]] == [2, 0, 9, 2, 0]
    assert {nd.zeros((2, 3), dtype="int8").dtype for _ in range(130)} == {np.int8}


def test_copies_and_views_when_a_weight_is_updated_in_place():
    grad, sgd = rows([[1, 1, 1]], [1], (3, 3)), optimizer.SGD(learning_rate=0.5)
    new = D - np.array([[0], [0.5], [0]], np.float32)
    for other, expected in (
        (lambda w: w.copy(), D),
        (lambda w: copy.deepcopy(w), D),
        (lambda w: w.astype("float32"), D),
        (lambda w: w.T.T, D),
        (lambda w: w.detach(), new),
        (lambda w: w.reshape((9,)).reshape((3, 3)), new),
        (lambda w: w[:], new),
    ):
        w = nd.array(D)
        v = other(w)
        sgd.update(0, w, grad, None)
        assert_array_equal(w.asnumpy(), new)
        assert_array_equal(v.asnumpy(), expected)


def test_going_back_after_an_update_is_at_the_recorded_weights():
    """Two losses of one forward pass, as in adversarial training: the update spares what the second
    record still reads."""
    w: Any = nd.array(D)
    (first,) = gradients(lambda w: w * w, w)
    assert_array_equal(first.asnumpy(), 2 * D)
    with autograd.record():
        a, b = (w * w).sum(), nd.exp(w * w).sum()
    a.backward()
    optimizer.Adam(learning_rate=0.5).update(0, w, w.grad, (nd.zeros((3, 3)), nd.zeros((3, 3))))
    assert abs(w.asnumpy() - D).max() > 0.1
    b.backward()
    assert_allclose(w.grad.asnumpy(), 2 * D * np.exp(D * D), rtol=1e-5)

    for hybrid in (False, True):
        net = gluon.nn.Dense(1, in_units=2, use_bias=False)
        net.initialize(mx.init.One())
        net.hybridize(hybrid)
        trainer = gluon.Trainer(
            net.collect_params(), "sgd", {"learning_rate": 0.5, "momentum": 0.9}
        )
        for _ in range(3):
            weight = net.weight.data().asnumpy()
            with autograd.record():
                a, b = net(nd.array([[1.0, 2]])).sum(), (net(nd.array([[1.0, 2]])) ** 2).sum()
            a.backward()
            trainer.step(1)
            b.backward()
            assert_allclose(
                net.weight.grad().asnumpy(), 2 * (weight @ [[1], [2]]) * [[1, 2]], rtol=1e-5
            )
            trainer.step(1)


def test_integers_have_gradients():
    def ints(values, dtype="int32"):
        return nd.array(values, dtype=dtype)

    for fn, arrays, expected in (
        (lambda a: a * a, [ints([1, 2])], [[2, 4]]),
        (lambda a: (a * 3).sum(), [ints([1, 2], "int8")], [[3, 3]]),
        (nd.dot, [ints([[1, 2]]), ints([[3], [4]])], [[[3, 4]], [[1], [2]]]),
        (lambda a: nd.take(a, nd.array([1, 1])), [ints([1, 2], "int64")], [[0, 2]]),
        (nd.square, [ints([[3, 0]]).tostype("csr")], [[[6, 0]]]),
    ):
        found = gradients(fn, *arrays)
        assert [g.asnumpy().tolist() for g in found] == expected
        assert [g.dtype for g in found] == [a.dtype for a in arrays]


def test_a_recorded_result_is_no_silent_part_of_another_array():
    x, z = nd.array([1.0, 2]), nd.zeros((3,))
    x.attach_grad()
    for key in (slice(0, 2), nd.array([0, 1]), [0, 1]):
        with autograd.record(), pytest.raises(mx.MXNetError, match="part of another array"):
            z[key] = x * 2
    z[0:2] = x * 2
    assert z.asnumpy().tolist() == [2, 4, 0]


def test_sparse_updates_of_several_weights_move_the_rows_of_their_gradients():
    w = np.arange(10, dtype=np.float32).reshape(5, 2)
    g = [np.array([[1, 2], [3, 4]]), np.array([[5, 6]])]
    grads = [rows(g[0], [1, 3], (5, 2)), rows(g[1], [0], (5, 2))]
    lrs, wds, ids = (0.1, 0.2), (0.5, 0.0), ([1, 3], [0])
    for name, momentum in (("multi_sgd_update", 0), ("multi_sgd_mom_update", 0.9)):
        weights = [nd.array(w), nd.array(w + 1).tostype("row_sparse")]
        moms = [nd.ones((5, 2)), nd.ones((5, 2))] if momentum else [None, None]
        data = [x for each in zip(weights, grads, moms, strict=True) for x in each if x is not None]
        extra = {"momentum": momentum} if momentum else {}
        getattr(nd, name)(*data, lrs=lrs, wds=wds, num_weights=2, out=weights, **extra)
        for k, at in enumerate(ids):
            before = w + k
            expected, mom = before.copy(), np.ones((5, 2), np.float32)
            step = -lrs[k] * (wds[k] * before[at] + g[k])
            mom[at] = momentum * mom[at] + step
            expected[at] += mom[at] if momentum else step
            assert weights[k].stype == ("default", "row_sparse")[k]
            assert_allclose(weights[k].asnumpy(), expected, rtol=1e-5, atol=1e-6)
            if momentum:
                assert_allclose(moms[k].asnumpy(), mom, rtol=1e-5)


def test_penalty_on_active_units():
    x = np.array([[0.2, 0.7], [0.4, 0.9], [0.1, 0.5]], np.float32)
    mean = np.array([0.3, 0.5])
    data: Any
    data, average = nd.array(x), nd.array(mean)
    data.attach_grad()
    for _ in range(2):
        with autograd.record():
            y = nd.IdentityAttachKLSparseReg(
                data, average, sparseness_target=0.2, penalty=0.01, momentum=0.8
            )
        y.backward(nd.ones((3, 2)) * 2)
        mean = 0.8 * mean + 0.2 * x.mean(axis=0)
        expected = 2 + 0.01 * (0.8 / (1 - mean) - 0.2 / mean)
        assert_array_equal(y.asnumpy(), x)
        assert_allclose(average.asnumpy(), mean, rtol=1e-6)
        assert_allclose(data.grad.asnumpy(), np.tile(expected, (3, 1)), rtol=1e-6)
    nd.IdentityAttachKLSparseReg(data, average)
    assert_allclose(average.asnumpy(), mean, rtol=1e-6)
    with pytest.raises(mx.MXNetError, match="for each column"):
        nd.IdentityAttachKLSparseReg(data, nd.zeros((3,)))


def test_custom_operators_on_csr_say_what_they_lack():
    class Twice(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            self.assign(out_data[0], req[0], in_data[0] * 2)

        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            self.assign(in_grad[0], req[0], out_grad[0] * 3)

    @mx.operator.register("misuse_twice")
    class Forward(mx.operator.CustomOpProp):
        def create_operator(self, ctx, in_shapes, in_dtypes):
            return Twice()

        def infer_storage_type(self, in_stype):
            return in_stype, [in_stype[0]], []

    @mx.operator.register("misuse_both")
    class Both(Forward):  # pyright: ignore[reportUnusedClass]
        def infer_storage_type_backward(
            self, ograd_stype, in_stype, out_stype, igrad_stype, aux_stype
        ):
            return in_stype, in_stype, out_stype, in_stype, aux_stype

    # As MXNet has it: the forward pass alone runs, going back needs the second method.
    (found,) = gradients(lambda x: nd.Custom(x, op_type="misuse_both"), sparse.csr_matrix(D))
    assert found.stype == "csr" and set(found.data.asnumpy()) == {3.0}
    with pytest.raises(mx.MXNetError, match="infer_storage_type_backward"):
        gradients(lambda x: nd.Custom(x, op_type="misuse_twice"), sparse.csr_matrix(D))


def test_threads_record_apart():
    found = {}

    def work(k):
        (grad,) = gradients(lambda a: (a * k).sum(), nd.array(D))
        found[k] = grad.asnumpy().sum()

    threads = [threading.Thread(target=work, args=(k,)) for k in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {k: 9.0 * k for k in (1, 2, 3)}
    assert not autograd.is_recording()
