"""Checkpoints: those of former releases, and those that make no sense."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from rarefy.models import CHECKPOINT, Checkpoint, ModelFileError, Training
from rarefy.models._files import read_tensors, write_tensors

GOLDEN = Path(__file__).parent / "golden/v1-training"


class Silent:
    def begin_epoch(self, epoch, row):
        pass

    def learned(self, rows, loss):
        pass

    def end_epoch(self, record):
        pass


@pytest.fixture
def run(tmp_path):
    """A copy of a training that was stopped in its second epoch, written once and never again."""
    shutil.copytree(GOLDEN / "run", tmp_path / "run")
    return tmp_path / "run"


def test_training_of_format_version_1_goes_on(run):
    training = Training.resumed(run, train=str(GOLDEN / "train.svm"))
    assert (training.position.epoch, training.position.row) == (1, 24)
    assert training.run(Silent())
    expected = json.loads((GOLDEN / "expected.json").read_text())
    model = training.model()
    # Another processor may add up in another order, so not to the bit.
    np.testing.assert_allclose(model.weight[:, 0], expected["weight"], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(model.bias, expected["bias"], rtol=1e-4)
    np.testing.assert_allclose(model.factors, expected["factors"], rtol=1e-4, atol=1e-6)
    assert [record["epoch"] for record in training.position.history] == [1, 2, 3]


def test_checkpoint_comes_back(run, tmp_path):
    first = Checkpoint.load(run)
    (tmp_path / "copy").mkdir()
    first.save(tmp_path / "copy")
    second = Checkpoint.load(tmp_path / "copy")
    assert second.plan.header == first.plan.header
    assert second.plan.settings == first.plan.settings
    assert second.plan.problem == first.plan.problem
    assert second.position == first.position
    assert second.counts == first.counts
    for name, array in first.arrays.items():
        np.testing.assert_array_equal(second.arrays[name], array)


def set_at(value, path, new):
    *folders, name = path
    for folder in folders:
        value = value[folder]
    value[name] = new


CHANGES = [
    (["version"], 2, "format version 2"),
    (["version"], None, "'version'"),
    (["rows"], 0, "'rows'"),
    (["rows"], "60", "'rows'"),
    (["fingerprint"], 7, "'fingerprint'"),
    (["header", "width"], 5, r"float32\[6\]; expected float32\[5\]"),
    (["header", "settings", "optimizer"], "magic", "optimizer must be one of"),
    (["header", "settings", "lr"], "fast", "'lr' must be a float"),
    (["header", "settings"], {}, "is missing"),
    (["header", "data"], {}, "settings that make no sense"),
    (["position", "epoch"], 4, "from 0 to 3"),
    (["position", "epoch"], -1, "from 0 to 3"),
    (["position", "row"], 61, "from 0 to 60"),
    (["position", "history"], [1], "list of objects"),
    (["position", "trace"], [[1]], "pairs of numbers"),
    (["position", "finished"], 0, "true or false"),
    (["problem", "scale"], 0, "positive number"),
    (["counts"], [], "'counts' must be an object"),
    (["counts"], {}, "optimizer's state makes no sense"),
    (["metrics"], {}, "state of the metrics makes no sense"),
    (["metrics", "log_loss"], {}, "state of the metrics makes no sense"),
]


@pytest.mark.parametrize(("path", "value", "message"), CHANGES)
def test_checkpoints_that_make_no_sense_are_refused(run, path, value, message):
    tensors, about = read_tensors(run / CHECKPOINT, "rarefy-checkpoint")
    set_at(about, path, value)
    write_tensors(run / CHECKPOINT, tensors, about)
    with pytest.raises(ModelFileError, match=message):
        Training.resumed(run, train=str(GOLDEN / "train.svm"))


ARRAYS = [
    ("network/param.weight", None, "'param.weight' is missing"),
    ("network/param.weight", np.zeros((6, 2), np.float32), r"expected float32\[6, 1\]"),
    ("network/state.factors.0", np.full((6, 2), np.nan, np.float32), "not finite"),
    ("random", np.zeros(3, np.int32), r"int32\[3\]; expected uint32\[3\]"),
    ("scaling/dense", np.array([6]), "ascending column numbers"),
    ("scaling/dense", np.array([-1]), "ascending column numbers"),
    ("scaling/center", np.zeros(2, np.float32), r"expected float32\[1\]"),
    ("scaling/scale", np.zeros(6, np.float32), "must be positive"),
]


@pytest.mark.parametrize(("name", "array", "message"), ARRAYS)
def test_arrays_that_make_no_sense_are_refused(run, name, array, message):
    tensors, about = read_tensors(run / CHECKPOINT, "rarefy-checkpoint")
    if array is None:
        del tensors[name]
    else:
        tensors[name] = array
    write_tensors(run / CHECKPOINT, tensors, about)
    with pytest.raises(ModelFileError, match=message):
        Training.resumed(run, train=str(GOLDEN / "train.svm"))
