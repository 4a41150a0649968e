"""Blocks as graphs: JSON byte by byte as MXNet's, and files that MXNet exported."""

import base64
import json
from pathlib import Path

import numpy as np
import pytest

import rarefy as mx
from rarefy import autograd, gluon, nd
from rarefy.gluon import nn

RECORDED = json.loads((Path(__file__).parent / "mxnet_exports.json").read_text())


def sequential(layers, prefix="net_"):
    net = nn.HybridSequential(prefix=prefix)
    with net.name_scope():
        net.add(*eval(f"({layers},)", {"nn": nn}))
    return net


def graph_of(text):
    """What a graph's JSON says, but for what only MXNet has: masks as results, settings of cuDNN, how
    often a running mean has been in a graph."""
    graph = json.loads(text)
    del graph["node_row_ptr"]
    for node in graph["nodes"]:
        node.get("attrs", {}).pop("cudnn_off", None)
        node["inputs"] = [[number, result] for number, result, _ in node["inputs"]]
    return graph


@pytest.mark.parametrize("case", RECORDED, ids=lambda c: c["layers"])
def test_blocks_give_mxnets_graphs_and_take_its_files(case, tmp_path):
    net, x = sequential(case["layers"]), nd.array(np.array(case["x"]))
    assert graph_of(net(mx.sym.var("data")).tojson()) == graph_of(case["before"])

    files = [str(tmp_path / f"m-{name}") for name in ("symbol.json", "0007.params")]
    Path(files[0]).write_text(case["symbol"])
    Path(files[1]).write_bytes(base64.b64decode(case["params"]))
    theirs = gluon.SymbolBlock.imports(files[0], ["data"], files[1])
    np.testing.assert_allclose(theirs(x).asnumpy(), case["out"], 1e-5, 1e-6)
    for name, param in theirs.collect_params().items():
        assert (param.grad_req == "null") == ("running" in name), name

    net.load_parameters(files[1])
    net.hybridize()
    net(x)
    net.export(str(tmp_path / "mine"), 7)
    theirs.export(tmp_path / "again", 7)
    expected = dict(nd.load(files[1]))
    for name in ("mine", "again"):
        assert graph_of((tmp_path / f"{name}-symbol.json").read_text()) == graph_of(case["symbol"])
        saved = dict(nd.load(str(tmp_path / f"{name}-0007.params")))
        assert saved.keys() == expected.keys()
        for key, array in expected.items():
            np.testing.assert_array_equal(saved[key].asnumpy(), array.asnumpy())


class Two(gluon.HybridBlock):
    def hybrid_forward(self, F, x, y):
        return [x + y, (x * y, F.split(x, num_outputs=2, axis=0))]


class Table(gluon.HybridBlock):
    """The documents' layer: csr input, a row_sparse gradient; the table itself may be row_sparse."""

    def __init__(self, stype, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.weight = self.params.get(
                "weight", shape=(5, 2), stype=stype, grad_stype="row_sparse", init="ones"
            )

    def hybrid_forward(self, F, x, weight):
        return F.sparse.dot(x, weight)


def test_nested_inputs_and_results(tmp_path):
    block = Two(prefix="two_")
    with pytest.raises(RuntimeError, match="hybridize"):
        block.export(tmp_path / "a")
    a, b = nd.array([1.0, 2.0]), nd.array([3.0, 5.0])
    symbols = block(*map(mx.sym.var, "ab"))
    block.hybridize()
    block(a, b)
    block.export(tmp_path / "a")
    graph = mx.sym.load(tmp_path / "a-symbol.json")
    assert graph.list_arguments() == ["data0", "data1"]
    assert graph.list_outputs() == [
        "two__plus0_output",
        "two__mul0_output",
        "two_split0_output0",
        "two_split0_output1",
    ]
    again = gluon.SymbolBlock(symbols, list(map(mx.sym.var, "ab")))
    for active in (True, False):
        again.hybridize(active)
        plus, (times, (first, second)) = again(a, b)
        got = [v.asnumpy().tolist() for v in (plus, times, first, second)]
        assert got == [[4, 7], [3, 10], [1], [2]]
    composed = again(mx.sym.var("u"), mx.sym.exp(mx.sym.var("v"), name="e"))
    assert composed[0].list_arguments() == ["u", "v"]
    assert composed[1][0].eval(u=a, v=nd.zeros(2))[0].asnumpy().tolist() == [1, 2]


@pytest.mark.parametrize("stype", ["default", "row_sparse"])
def test_tables_keep_their_storage_types(stype, tmp_path):
    block = Table(stype, prefix="t_")
    block.initialize()
    block.hybridize()
    x = nd.array([[0, 2, 0, 0, 0], [0, 0, 0, 3, 0]]).tostype("csr")
    block(x)
    block.export(tmp_path / "t")
    graph = mx.sym.load(tmp_path / "t-symbol.json")
    assert graph.attr_dict()["t_weight"]["__storage_type__"] == {"default": "0"}.get(stype, "1")
    again = gluon.SymbolBlock(graph, mx.sym.var("data", stype="csr"))
    again.load_parameters(str(tmp_path / "t-0000.params"))
    (weight,) = again.collect_params().values()
    assert (weight.stype, weight.grad_stype) == (stype, "row_sparse")
    with autograd.record():
        out = again(x)
    out.backward()
    assert out.asnumpy().tolist() == [[2, 2], [3, 3]]
    assert weight.grad().stype == "row_sparse"
    assert weight.grad().indices.asnumpy().tolist() == [1, 3]
    if stype == "default":
        gluon.Trainer(again.collect_params(), "sgd", {"learning_rate": 1.0}).step(1)
        np.testing.assert_array_equal(weight.data().asnumpy()[:, 0], [1, -1, 1, -2, 1])


def test_parameters_from_a_first_batch_or_another_block():
    net = sequential("nn.Dense(3, activation='relu'), nn.BatchNorm(), nn.Dense(2)")
    net.initialize(mx.init.Uniform(0.5))
    x = nd.array(np.arange(8.0).reshape(2, 4))
    inner = net(mx.sym.var("data")).get_internals()["net_dense0_relu_fwd_output"]
    feature = gluon.SymbolBlock(inner, mx.sym.var("data"), params=net.collect_params())
    np.testing.assert_array_equal(feature(x).asnumpy(), net[0](x).asnumpy())
    assert feature.collect_params()["net_dense0_weight"] is net[0].weight

    whole = gluon.SymbolBlock(net(mx.sym.var("data")), mx.sym.var("data"))
    whole.initialize()
    outer = nn.HybridSequential()
    outer.add(whole, nn.Dense(1))
    outer.initialize()
    outer.hybridize()
    with autograd.record():
        out = outer(x)
    out.backward()
    assert outer.collect_params()["net_dense0_weight"].shape == (3, 4)
    mean = whole.collect_params()["net_batchnorm0_running_mean"].data().asnumpy()
    first = whole.collect_params()["net_dense0_weight"].data().asnumpy()
    hidden = np.maximum(x.asnumpy() @ first.T, 0).mean(0)  # the bias begins at zero
    np.testing.assert_allclose(mean, 0.1 * hidden, 1e-5, 1e-7)

    net.infer_type(x)
    assert net[0].weight.dtype == np.float32
    with pytest.raises(mx.MXNetError, match="float16"):  # its weights say that they are float32
        net.infer_type(x.astype("float16"))
    whole.cast("float16")
    kinds = {n: np.dtype(p.dtype).name for n, p in whole.collect_params().items()}
    assert {k for n, k in kinds.items() if "batchnorm" in n} == {"float32"}
    assert {k for n, k in kinds.items() if "dense" in n} == {"float16"}


def test_hooks_on_operators_and_drawing(capsys):
    net = sequential("nn.Dense(2, activation='tanh'), nn.Dense(1)")
    net.initialize()
    net.hybridize()
    seen = []
    net.register_op_hook(lambda name, array: seen.append((name, array.shape)))
    x = nd.ones((2, 3))
    watched = net(x)
    assert seen == [
        ("net_dense0_fwd_output", (2, 2)),
        ("net_dense0_tanh_fwd_output", (2, 2)),
        ("net_dense1_fwd_output", (2, 1)),
    ]
    net.register_op_hook(None)
    np.testing.assert_allclose(net(x).asnumpy(), watched.asnumpy(), 1e-6)
    assert len(seen) == 3
    mx.viz.print_summary(net(mx.sym.var("data")), shape={"data": (2, 3)})
    assert "Total params: 11" in capsys.readouterr().out


def test_what_is_refused(tmp_path):
    net = sequential("nn.Dense(2)")
    net.initialize()
    net.hybridize()
    x, symbol = nd.ones((2, 3)), mx.sym.var("data")
    for wrong in ((x, symbol), (symbol, x)):
        with pytest.raises(ValueError, match="mixed NDArrays and Symbols"):
            net(*wrong)
    with pytest.raises(ValueError, match="one NDArray or one Symbol"):
        net(3)
    with pytest.raises(AssertionError, match="must be variable"):
        gluon.SymbolBlock(symbol, net(symbol))
    net(x)
    net.export(tmp_path / "n")
    files = [str(tmp_path / name) for name in ("n-symbol.json", "n-0000.params")]
    block = gluon.SymbolBlock.imports(files[0], "data", files[1])
    with pytest.raises(ValueError, match="argument structure"):
        block(x, x)
    with pytest.raises(AssertionError, match="Parameter 'data' is missing"):
        gluon.SymbolBlock.imports(files[0], ["other"], files[1])
    with pytest.raises(RuntimeError, match="not been initialized"):
        gluon.SymbolBlock.imports(files[0], ["data"])(x)
