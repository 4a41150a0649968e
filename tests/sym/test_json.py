"""Graphs as JSON and in files: earlier forms are read, damaged and hostile ones refused by name."""

import copy
import json
import pickle

import pytest

import rarefy as mx


def graph() -> mx.sym.Symbol:
    data = mx.sym.Variable("data", stype="csr", shape=(0, 4))
    hidden = mx.sym.FullyConnected(data, num_hidden=3, name="fc", lr_mult=2)
    parts = mx.sym.split(mx.sym.BatchNorm(hidden, name="bn"), num_outputs=3, name="parts")
    return mx.sym.Group([mx.sym.LeakyReLU(parts[1], act_type="prelu", name="out"), parts[0]])


def test_what_is_written_is_read_again(tmp_path):
    symbol = graph()
    symbol.save(tmp_path / "net.json")
    copies = [mx.sym.load(str(tmp_path / "net.json")), pickle.loads(pickle.dumps(symbol))]
    for other in [*copies, copy.deepcopy(symbol), mx.sym.fromjson(symbol.tojson())]:
        assert other.tojson() == symbol.tojson()
        assert other.list_outputs() == ["out_output", "parts_output0"]
        assert other.list_auxiliary_states() == ["bn_moving_mean", "bn_moving_var"]
        shapes = other.infer_shape(data=(6, 4))
        assert shapes[0] == [(6, 4), (3, 4), (3,), (3,), (3,), (1,)]
        assert other.infer_storage_type()[0][0] == "csr"


def test_earlier_versions_of_the_format_are_read():
    record = json.loads(graph().tojson())
    for node in record["nodes"]:
        attrs = node.pop("attrs", {})
        node["param"] = {k: v for k, v in attrs.items() if k[0] != "_"}
        node["attr"] = {k.strip("_"): v for k, v in attrs.items() if k == "__lr_mult__"}
        node["inputs"] = [entry[:2] for entry in node["inputs"]]
    symbol = mx.sym.load_json(json.dumps(record))
    assert symbol.attr_dict()["fc"]["__lr_mult__"] == "2"
    assert symbol.infer_shape(data=(6, 4))[1] == [(6, 1), (6, 1)]


def changed(change) -> str:
    record = json.loads(graph().tojson())
    change(record)
    return json.dumps(record)


def at(node, **parts):
    return lambda record: record["nodes"][node].update(parts)


BAD = {
    "": "not JSON",
    "[" * 100_000: "not JSON",
    "[]": "must have 'nodes'",
    '{"nodes": 3}': "must have 'nodes'",
    '{"nodes": [3], "heads": []}': "node 0 must have 'op'",
    '{"nodes": [], "heads": []}': "no heads",
    '{"nodes": [], "heads": [[0, 0, 0]]}': "node 0 is not one of the 0",
    changed(at(3, op="Convolution")): r"node 3 \('fc'\): there is no operator 'Convolution'",
    changed(at(3, op="__import__('os')")): "there is no operator",
    changed(at(0, inputs=[[0, 0, 0]])): "node 0 is not one of the 0 before it",
    changed(at(3, inputs=[[9, 0, 0], [1, 0, 0], [2, 0, 0]])): "node 9 is not one",
    changed(at(3, inputs=[[0, 1, 0], [1, 0, 0], [2, 0, 0]])): "node 0 has no result 1",
    changed(at(3, inputs=[[0, -1, 0], [1, 0, 0], [2, 0, 0]])): "no result -1",
    changed(at(3, inputs=[[0, 0, 0]])): "reads data, weight, bias; it has 1",
    changed(at(3, inputs=[[True, 0, 0], [1, 0, 0], [2, 0, 0]])): "must be",
    changed(at(3, inputs="x")): "must have 'inputs'",
    changed(at(3, attrs={"num_hidden": "__import__('os').getpid()"})): "Invalid Parameter format",
    changed(at(3, attrs={"num_hidden": "9" * 5000})): "Invalid Parameter format",
    changed(at(3, attrs={"num_hidden": "(" * 5000})): "Invalid Parameter format",
    changed(at(3, attrs={"num_hidden": 3})): "must be a string",
    changed(at(3, attrs={})): "Required parameter num_hidden",
    changed(at(3, attrs={"num_hidden": "3", "foo": "1"})): "Cannot find argument 'foo'",
    changed(at(1, inputs=[[0, 0, 0]])): "a variable reads nothing",
}


def test_what_is_damaged_is_refused(tmp_path):
    file = tmp_path / "net-symbol.json"
    for text, message in BAD.items():
        with pytest.raises(mx.MXNetError, match=message):
            mx.sym.load_json(text)
        file.write_text(text)
        with pytest.raises(mx.MXNetError, match=f"net-symbol.json: .*{message}"):
            mx.sym.load(file)


def test_a_variable_with_a_damaged_shape_is_refused():
    for shape in ("x", "(2, 'a')", "(" * 5000):
        symbol = mx.sym.load_json(changed(at(0, attrs={"__shape__": shape})))
        with pytest.raises(mx.MXNetError, match="__shape__"):
            symbol.infer_shape()
