"""Checkpoints, by themselves and by callbacks."""

import logging

import numpy as np
import pytest

import rarefy as mx
from rarefy import nd

NET = mx.sym.FullyConnected(mx.sym.Variable("x"), num_hidden=2, name="fc")
ARGS = {"fc_weight": nd.ones((2, 3)).tostype("row_sparse"), "fc_bias": nd.array([1, 2])}
AUX = {"mean": nd.array([3])}


def test_a_checkpoint_comes_back(tmp_path, caplog):
    prefix = str(tmp_path / "m")
    with caplog.at_level(logging.INFO):
        mx.model.save_checkpoint(prefix, 3, NET, ARGS, AUX)
    assert caplog.messages == [f'Saved checkpoint to "{prefix}-0003.params"']
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m-0003.params", "m-symbol.json"]
    assert sorted(nd.load(f"{prefix}-0003.params")) == ["arg:fc_bias", "arg:fc_weight", "aux:mean"]
    net, args, aux = mx.model.load_checkpoint(prefix, 3)
    assert net.tojson() == NET.tojson()
    assert args["fc_weight"].stype == "row_sparse"
    for found, given in ((args, ARGS), (aux, AUX)):
        assert found.keys() == given.keys()
        for name in given:
            np.testing.assert_array_equal(found[name].asnumpy(), given[name].asnumpy())
    mx.model.save_checkpoint(tmp_path / "n", 12345, None, ARGS, {})
    assert mx.model.load_params(tmp_path / "n", 12345)[1] == {}
    assert not (tmp_path / "n-symbol.json").exists()


def test_what_is_no_checkpoint(tmp_path, caplog):
    nd.save(str(tmp_path / "a-0000.params"), {"w": ARGS["fc_bias"]})
    nd.save(str(tmp_path / "b-0000.params"), [ARGS["fc_bias"]])
    for name in "ab":
        with pytest.raises(mx.MXNetError, match=f"{name}-0000.params.*'arg:'"):
            mx.model.load_params(tmp_path / name, 0)
    nd.save(str(tmp_path / "c-0000.params"), {})
    assert mx.model.load_params(tmp_path / "c", 0) == ({}, {})
    assert "is empty" in caplog.text
    for load in (mx.model.load_checkpoint, mx.model.load_params):
        with pytest.raises((mx.MXNetError, OSError), match="none-"):
            load(tmp_path / "none", 1)


def test_callbacks_save_every_second_epoch(tmp_path):
    saved = []

    class Module:
        def save_checkpoint(self, *args):
            saved.append(args)

    by_symbol = mx.callback.do_checkpoint(str(tmp_path / "s"), 2)
    by_module = mx.callback.module_checkpoint(Module(), "m", 2, save_optimizer_states=True)
    for epoch in range(5):
        by_symbol(epoch, NET, ARGS, AUX)
        by_module(epoch)
    assert saved == [("m", 2, True), ("m", 4, True)]
    names = sorted(p.name for p in tmp_path.iterdir())
    assert names == ["s-0002.params", "s-0004.params", "s-symbol.json"]
