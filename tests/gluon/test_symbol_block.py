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
    """What a graph's JSON says, without the numbers that names are counted by."""
    return json.loads(text)


@pytest.mark.parametrize("case", RECORDED["nets"], ids=lambda c: c["layers"])
def test_blocks_give_mxnets_graphs_and_take_its_files(case, tmp_path):
    net, x = sequential(case["layers"]), nd.array(np.array(case["x"]))
    assert net(mx.sym.var("data")).tojson() == case["before"]

    files = [str(tmp_path / f"m-{name}") for name in ("symbol.json", "0007.params")]
    Path(files[0]).write_text(case["symbol"])
    Path(files[1]).write_bytes(base64.b64decode(case["params"]))
    theirs = gluon.SymbolBlock.imports(files[0], ["data"], files[1])
    np.testing.assert_allclose(theirs(x).asnumpy(), case["out"], 1e-5, 1e-6)
    assert all(
        p.grad_req == "null" for n, p in theirs.collect_params().items() if "running" in n
    )

    net.load_parameters(files[1])
    net.hybridize()
    net(x)
    net.export(str(tmp_path / "mine"), 7)
    theirs.export(tmp_path / "again")
    for name in ("mine", "again"):
        assert (tmp_path / f"{name}-symbol.json").read_text() == case["symbol"], name
    saved, expected = nd.load(str(tmp_path / "mine-0007.params")), nd.load(files[1])
    again = nd.load(str(tmp_path / "again-0000.params"))
    assert saved.keys() == expected.keys() == again.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(saved[name].asnumpy(), array.asnumpy())
        np.testing.assert_array_equal(again[name].asnumpy(), array.asnumpy())
