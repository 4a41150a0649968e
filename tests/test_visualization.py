"""Graphs as tables and pictures."""

import sys
import types

import numpy as np
import pytest

import rarefy as mx

X, W = mx.sym.Variable("data", stype="csr"), mx.sym.Variable("w", shape=(10, 4))


def net() -> mx.sym.Symbol:
    twice = mx.sym._internal._mul_scalar(X, scalar=2, name="twice")
    hidden = mx.sym.Activation(mx.sym.dot(twice, W, name="dot"), act_type="relu", name="act")
    hidden = mx.sym.FullyConnected(hidden, num_hidden=3, name="fc")
    return mx.sym.SoftmaxOutput(mx.sym.BatchNorm(hidden, name="bn"), name="softmax")


def test_the_table_has_shapes_storage_types_and_counts(capsys):
    mx.viz.print_summary(net(), shape={"data": (5, 10)})
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if line[0] not in "_="]
    assert rows == [
        ["Layer", "(type)", "Output", "Shape", "Param", "#", "Previous", "Layer"],
        ["data(null)", "10", "csr", "0"],
        ["twice(_mul_scalar)", "10", "csr", "0", "data"],
        ["dot(dot)", "4", "40", "twice"],
        ["act(Activation)", "4", "0", "dot"],
        ["fc(FullyConnected)", "3", "15", "act"],
        ["bn(BatchNorm)", "3", "6", "fc"],
        ["softmax(SoftmaxOutput)", "3", "0", "bn"],
        ["Total", "params:", "61"],
    ]
    with pytest.raises(TypeError, match="symbol"):
        mx.viz.print_summary("net")


def test_the_picture_has_nodes_edges_and_storage_types(monkeypatch):
    class Digraph:
        def __init__(self, name, format):
            self.nodes, self.edges = {}, {}

        def node(self, name, label, **attrs):
            self.nodes[name] = label

        def edge(self, tail_name, head_name, label, **attrs):
            self.edges[tail_name, head_name] = label

    monkeypatch.setitem(sys.modules, "graphviz", types.SimpleNamespace(Digraph=Digraph))
    drawn = mx.viz.plot_network(net(), shape={"data": (5, 10)}, dtype={"data": np.float32})
    assert set(drawn.nodes) == {
        *("data", "w", "twice", "dot", "act", "fc", "bn", "softmax", "softmax_label")
    }
    assert drawn.nodes["fc"] == "FullyConnected\n3"
    assert drawn.edges["twice", "data"] == "10 (float32) csr"
    assert drawn.edges["fc", "act"] == "4 (float32)"
    assert ("fc", "fc_weight") not in drawn.edges
    shown = mx.viz.plot_network(net(), hide_weights=False)
    assert ("fc", "fc_weight") in shown.edges
    with pytest.warns(RuntimeWarning, match="same name"):
        mx.viz.plot_network(X + mx.sym.Variable("data"))


def test_without_graphviz_the_picture_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "graphviz", None)
    with pytest.raises(ImportError, match="pip install graphviz"):
        mx.viz.plot_network(net())
