"""Gluon programs against what MXNet 1.9.1 made of them (tests/oracles/mxnet_gluon.py)."""

import base64
import json
from pathlib import Path

import numpy as np
import pytest

import rarefy as mx
from oracles import mxnet_gluon as programs

RECORDED = json.loads((Path(__file__).parent / "mxnet_gluon.json").read_text())
TOLERANCE = {"rtol": 2e-4, "atol": 2e-5}


def compiled_step(mx, net, loss, trainer):
    return mx.gluon.TrainStep(net, loss, trainer)


def agree(got, wanted):
    assert got.keys() == wanted.keys()
    for name, values in wanted.items():
        np.testing.assert_allclose(got[name], values, err_msg=name, **TOLERANCE)


def test_names_and_what_is_printed():
    got = programs.names(mx)
    for key, wanted in RECORDED["names"].items():
        assert got[key] == wanted, key


def test_summary():
    assert programs.summary(mx) == RECORDED["summary"]


def test_kinds_of_errors():
    got = programs.errors(mx)
    wrong = {
        call: (wanted, got[call])
        for call, wanted in RECORDED["errors"].items()
        if wanted[:1] != [kind for kind in got[call] if kind in wanted[:1]]
    }
    assert not wrong
    assert len(got) == len(RECORDED["errors"])


WAYS = {
    "eager": {},
    "hybridized": {"hybridize": True},
    "one program": {"make_step": compiled_step},
}


@pytest.mark.parametrize("name", programs.OPTIMIZERS)
def test_training(name):
    wanted = RECORDED["training"][name]
    for way, settings in WAYS.items():
        if way == "hybridized" and name != "adam":
            continue  # one will do: the update is the same
        got, _, _, _ = programs.train(mx, name, **settings)
        for mine, theirs in zip(got["losses"], wanted["losses"], strict=True):
            np.testing.assert_allclose(mine, theirs, err_msg=way, **TOLERANCE)
        agree(got["params"], wanted["params"])


def test_files_of_mxnet_are_read_and_written(tmp_path):
    """Parameters by path and by name, and the states of a trainer; then both train on."""
    recorded = RECORDED["files"]
    for make_step in (programs.eager_step, compiled_step):
        net = programs.sparse_net(mx)
        trainer = mx.gluon.Trainer(net.collect_params(), "adam", dict(programs.OPTIMIZERS["adam"]))
        step = make_step(mx, net, mx.gluon.loss.L2Loss(), trainer)
        for kind in ("parameters", "full names", "without prefix"):
            theirs = base64.b64decode(recorded[kind])
            path = tmp_path / kind
            path.write_bytes(theirs)
            net.load_parameters(str(path))
            agree(programs.values_of(net), recorded["values"])
            if kind == "parameters":
                net.save_parameters(str(path))
            else:
                prefix = "" if kind == "full names" else net.prefix
                net.collect_params().save(str(path), strip_prefix=prefix)
            assert path.read_bytes() == theirs
        (tmp_path / "states").write_bytes(base64.b64decode(recorded["states"]))
        trainer.load_states(str(tmp_path / "states"))
        for x, y in programs.batches(mx):
            step(x, y)
        agree(programs.values_of(net), recorded["further"])
