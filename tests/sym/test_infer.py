"""Shapes, dtypes and storage types through graphs, beyond what MXNet answers to."""

import pytest

import rarefy as mx

sym = mx.sym
A, B = sym.Variable("a"), sym.Variable("b")
X, Q = sym.Variable("x", stype="csr"), sym.Variable("q", stype="row_sparse")


def test_what_is_known_of_a_result_tells_what_is_not_known_of_an_array():
    joined = sym.concat(A, B, dim=1) + sym.Variable("c", shape=(2, 7))
    assert joined.infer_shape(a=(2, 3))[0] == [(2, 3), (2, 4), (2, 7)]
    shared = sym.Variable("w")
    twice = sym.FullyConnected(A, shared, num_hidden=5, no_bias=True) + sym.dot(
        B, shared, transpose_b=True
    )
    assert twice.infer_shape(a=(2, 3), b=(2, 3))[0] == [(2, 3), (5, 3), (2, 3)]
    chain = A
    for i in range(12):
        chain = sym.FullyConnected(chain, num_hidden=i + 1, name=f"l{i}")
    assert chain.infer_shape(a=(2, 3))[0][-2:] == [(12, 11), (12,)]


def test_a_batch_size_may_stay_open():
    net = sym.Reshape(sym.FullyConnected(sym.Flatten(A), num_hidden=6), shape=(0, 2, 3))
    assert net.infer_shape_partial(a=(0, 4, 5))[1] == [(0, 2, 3)]
    assert sym.broadcast_add(A, B).infer_shape_partial(a=(0, 4), b=(4,))[1] == [(0, 4)]
    assert sym.sum(A, axis=0).infer_shape_partial(a=(0, 4))[1] == [(4,)]


def test_errors_name_the_node():
    with pytest.raises(mx.MXNetError, match=r"operator here: .*dot"):
        sym.dot(A, B, name="here").infer_shape(a=(2, 3), b=(2, 3))
    with pytest.raises(mx.MXNetError, match=r"operator sum: .*float64, float32"):
        sym.elemwise_add(A, B, name="sum").infer_type(a="float64", b="float32")
    with pytest.warns(UserWarning, match=r"b: \(\)"):
        assert sym.dot(A, B).infer_shape(a=(2, 3)) == (None, None, None)


def test_storage_types_follow_the_rules_of_arrays():
    cases = {
        sym.elemwise_add(X, X).infer_storage_type()[1][0]: "csr",
        sym.elemwise_add(X, Q).infer_storage_type()[1][0]: "default",
        (Q * 2).infer_storage_type()[1][0]: "row_sparse",
    }
    assert all(found == wanted for found, wanted in cases.items())
    assert sym.dot(X, A).infer_storage_type(x="default", a="csr")[0] == ["default", "csr"]
    hinted = sym.dot(A, B, forward_stype="csr")
    assert hinted.infer_storage_type(a="csr")[1] == ["csr"]
    with pytest.raises(mx.MXNetError, match="coo"):
        (A + B).infer_storage_type(a="coo")


def test_the_plan_marks_what_goes_dense():
    nodes = [sym.log(X, name="full"), sym.elemwise_add(X, Q, name="sum"), sym.dot(X, Q, name="dot")]
    lines = [line.split() for line in sym.Group(nodes).storage_plan().splitlines()]
    assert lines == [
        ["node", "operator", "inputs", "outputs"],
        ["x", "variable", "csr"],
        ["full", "log", "csr", "default", "dense"],
        ["q", "variable", "row_sparse"],
        ["sum", "elemwise_add", "csr,", "row_sparse", "default", "fallback"],
        ["dot", "dot", "csr,", "row_sparse", "default"],
    ]
    assert "fallback" not in sym.Group(nodes).storage_plan(x="default", q="default")


def test_the_plan_shows_the_gradients_and_who_makes_them_dense():
    w, table, full = sym.Variable("w"), sym.Variable("t"), sym.Variable("f", stype="row_sparse")
    product = sym.dot(X, w, name="dot")
    read = sym.Embedding(A, table, input_dim=5, output_dim=2, sparse_grad=True, name="read")
    whole = sym.sin(sym.square(full, name="keeps"), name="sin")
    stays = sym.sum(sym.elemwise_add(Q, Q, name="twice"), name="sum")
    fallen = sym.broadcast_maximum(X, B, name="fell")
    heads = sym.Group([product, read, sym.tanh(table, name="all"), whole, stays, fallen])
    reqs = dict.fromkeys(heads.list_arguments(), "write") | {"a": "null", "w": "add"}
    forward, gradients = heads.storage_plan(grad_req=reqs).split("\n\n")
    assert forward == heads.storage_plan()
    assert [line.split() for line in gradients.splitlines()] == [
        ["argument", "grad_req", "gradient"],
        ["x", "write", "default", "fallback", "at", "fell,", "dot"],
        ["w", "add", "row_sparse"],
        ["a", "null"],
        ["t", "write", "default", "dense", "at", "all"],
        ["f", "write", "default", "dense", "at", "sin"],
        ["q", "write", "default", "dense", "at", "sum"],
        ["b", "write", "default", "fallback", "at", "fell"],
    ]
    bound = heads.simple_bind(
        mx.cpu(), grad_req=reqs, x=(3, 5), a=(2,), f=(4, 2), q=(4, 2), b=(1, 5), w=(5, 2)
    )
    found = {n: g.stype for n, g in bound.grad_dict.items() if g is not None}
    assert found == {n: "row_sparse" if n == "w" else "default" for n in "xwtfqb"}
    with pytest.raises(ValueError, match="provided 1"):
        heads.storage_plan(grad_req=["write"])
    with pytest.raises(ValueError, match="grad_req names nobody; the arguments are"):
        heads.storage_plan(grad_req={"nobody": "write"})
