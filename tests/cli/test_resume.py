"""A training that is killed or stopped, and goes on, ends with the weights of one that was not."""

import csv
import signal
import subprocess
import time

import numpy as np
import pytest

from rarefy.models import CHECKPOINT, Model, Reading, Training, make_plan
from rarefy.models._files import read_tensors


class Silent:
    """A reporter that counts what it is told."""

    def __init__(self):
        self.rows = 0

    def begin_epoch(self, epoch, row):
        pass

    def learned(self, rows, loss):
        self.rows += rows

    def end_epoch(self, record):
        pass


class After:
    """Asks a training to stop after so many steps."""

    def __init__(self, steps):
        self.left = steps

    def __call__(self):
        self.left -= 1
        return self.left <= 0


def trained(file, folder, stops=(), valid=None, **settings):
    """A training that is stopped after each of `stops` steps and taken up again by a new object."""
    reading = Reading(str(file), None if valid is None else str(valid))
    plan, reader = make_plan(reading, reading.scan(), **settings)
    training = Training(plan, reader, folder)
    for steps in stops:
        assert not training.run(Silent(), should_stop=After(steps))
        training = Training.resumed(folder)
    assert training.run(Silent())
    return training


def history(folder):
    """The table without the times."""
    with open(folder / "history.csv", newline="") as file:
        return [
            {name: value for name, value in row.items() if name != "seconds"}
            for row in csv.DictReader(file)
        ]


def assert_same_runs(a, b):
    first, second = Model.load(a), Model.load(b)
    assert first.numbers.keys() == second.numbers.keys()
    for name, array in first.numbers.items():
        np.testing.assert_array_equal(array, second.numbers[name], err_msg=name)
    assert history(a) == history(b)


SETTINGS = {
    "adagrad": {},
    "sgd": {"optimizer": "sgd", "shuffle": True},
    "adam": {"optimizer": "adam"},
    "ftrl with l1": {"optimizer": "ftrl", "l1": 0.01, "shuffle": True},
    "l2": {"l2": 0.01, "shuffle": True},
    "adam with l2": {"optimizer": "adam", "l2": 0.01},
    "fm": {"model": "fm", "factors": 3, "shuffle": True, "seed": 3},
    "fm with l2": {"model": "fm", "factors": 3, "l2": 0.01},
    "squared": {"loss": "squared"},
    "softmax": {"loss": "softmax"},
    "normalized": {"normalize": "l2"},
    "constant rate": {"schedule": "constant"},
    "patience": {"patience": 1, "lr": 3.0},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS.keys())
def test_stopped_training_goes_on_exactly(clicks, more_clicks, tmp_path, settings):
    settings = {"epochs": 3, "batch_size": 32, "valid": more_clicks, **settings}
    trained(clicks, tmp_path / "whole", **settings)
    trained(clicks, tmp_path / "pieces", stops=(1, 30, 1, 40), **settings)  # 32 steps an epoch
    assert_same_runs(tmp_path / "whole", tmp_path / "pieces")


def test_stopped_training_of_a_network_goes_on_exactly(clicks, more_clicks, tmp_path):
    """What dropout drops goes on too."""
    settings = {"model": "deepfm", "hidden": "6", "dropout": 0.3, "l2": 0.01, "seed": 3}
    settings |= {"epochs": 2, "batch_size": 64, "valid": more_clicks}
    trained(clicks, tmp_path / "whole", **settings)
    trained(clicks, tmp_path / "pieces", stops=(20,), **settings)  # 16 steps an epoch
    assert_same_runs(tmp_path / "whole", tmp_path / "pieces")


def test_dense_large_columns_go_on_exactly(tmp_path):
    """The scaling of the columns is kept, not found again."""
    rng = np.random.default_rng(0)
    with open(tmp_path / "x.svm", "w") as file:
        for a, b, c in rng.normal(size=(400, 3)):
            file.write(f"{a + b:.3f} 1:{100 + 5 * a:.3f} 2:{b:.3f} {'3:30' if c > 1 else ''}\n")
    trained(tmp_path / "x.svm", tmp_path / "whole", epochs=2)
    trained(tmp_path / "x.svm", tmp_path / "pieces", stops=(5, 9), epochs=2)
    assert_same_runs(tmp_path / "whole", tmp_path / "pieces")


def test_rows_beyond_memory_go_on_exactly(clicks, tmp_path):
    """Shuffled through a window that is smaller than the file: rows are read again and skipped."""
    lines = clicks.read_text() * 160  # 5 MB; text is parsed 4 MiB at a time
    (tmp_path / "large.svm").write_text(lines)
    for folder, stops in (("whole", ()), ("pieces", (100, 450))):
        reading = Reading(str(tmp_path / "large.svm"), window_mib=1)
        plan, reader = make_plan(reading, reading.scan(), epochs=1, batch_size=256, shuffle=True)
        training = Training(plan, reader, tmp_path / folder)
        for steps in stops:
            assert not training.run(Silent(), should_stop=After(steps))
            training = Training.resumed(tmp_path / folder)
        assert training.run(Silent())
        assert reader.shuffle_kind == "chunks"
    assert_same_runs(tmp_path / "whole", tmp_path / "pieces")


def wait_for(condition, process, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, "the process has ended"
        assert time.monotonic() < end, "nothing happens"
        time.sleep(0.01)


# Slow enough to be killed in the middle: a checkpoint after every step, 800 of them.
SLOW = ["--batch-size", 10, "--epochs", 8, "--shuffle", "--model", "fm", "--l2", 0.001]


def test_killed_training_goes_on_exactly(spawn, rarefy, clicks, tmp_path):
    """SIGKILL at moments that nobody chose, again and again."""
    status, _, err = rarefy("train", clicks, *SLOW, "--out", "whole")
    assert status == 0, err
    checkpoint = tmp_path / "run" / CHECKPOINT
    arguments = ["train", clicks, *SLOW, "--out", "run", "--checkpoint-every", 0, "--resume"]
    seen = []
    for pause in (0.05, 0.2, 0.5):
        process = spawn(*arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        before = checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0
        wait_for(
            lambda t=before: checkpoint.exists() and checkpoint.stat().st_mtime_ns > t, process
        )
        time.sleep(pause)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        _, about = read_tensors(checkpoint, "rarefy-checkpoint")  # whole, whatever the moment
        seen.append((about["position"]["epoch"], about["position"]["row"]))
    assert seen == sorted(seen)
    assert seen[-1] > seen[0]
    assert seen[-1] < (8, 0), "the process was too fast to be killed"
    status, out, err = rarefy("train", "--out", "run", "--resume")
    assert status == 0, err
    assert "going on in run after" in out
    assert_same_runs(tmp_path / "whole", tmp_path / "run")
    assert not list((tmp_path / "run").glob(".*")), "half-written files are left"


def test_killed_before_the_first_checkpoint_starts_anew(rarefy, clicks, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".checkpoint.safetensors.abc").write_bytes(b"half")
    status, _, err = rarefy("train", clicks, "--epochs", 1, "--out", "run", "--resume")
    assert status == 0, err
    rarefy("train", clicks, "--epochs", 1, "--out", "whole")
    assert_same_runs(tmp_path / "whole", tmp_path / "run")
    assert not list((tmp_path / "run").glob(".*"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stop_signal_saves_and_says_how_to_go_on(spawn, rarefy, clicks, tmp_path, number):
    process = spawn(
        "train", clicks, *SLOW, "--out", "run", "--checkpoint-every", 0,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    wait_for((tmp_path / "run" / CHECKPOINT).exists, process)
    process.send_signal(number)
    _, err = process.communicate()
    assert process.returncode == 128 + number
    assert "rarefy train --out run --resume" in err
    assert "Traceback" not in err
    status, _, err = rarefy("train", "--out", "run", "--resume")
    assert status == 0, err
    rarefy("train", clicks, *SLOW, "--out", "whole")
    assert_same_runs(tmp_path / "whole", tmp_path / "run")


@pytest.fixture
def stopped(clicks, tmp_path):
    """A run that was stopped in its first epoch."""
    reading = Reading(str(clicks))
    plan, reader = make_plan(reading, reading.scan(), epochs=2, batch_size=64)
    Training(plan, reader, tmp_path / "run").run(Silent(), should_stop=After(3))
    return tmp_path / "run"


CHANGES = [
    (["--epochs", 3], "--epochs 3: the run in run has 2"),
    (["--lr", 0.1], "--lr 0.1: the run in run has 0.5"),
    (["--optimizer", "sgd"], "--optimizer sgd"),
    (["--features", 41], "--features 41: the run in run has 40"),
    (["--index-base", 0], "--index-base 0: the run in run has 1"),
    (["--shuffle"], "--shuffle True: the run in run has False"),
]


@pytest.mark.parametrize(("options", "message"), CHANGES)
def test_other_options_are_refused(rarefy, stopped, clicks, options, message):
    status, _, err = rarefy("train", clicks, "--out", "run", "--resume", *options)
    assert status == 2
    assert message in err


def test_the_same_options_are_taken(rarefy, stopped, clicks):
    status, _, err = rarefy(
        "train", clicks, "--out", "run", "--resume", "--epochs", 2, "--index-base", "auto"
    )
    assert status == 0, err


def test_other_rows_are_refused_and_moved_ones_taken(rarefy, stopped, clicks, tmp_path):
    text = clicks.read_text()
    clicks.write_text(text.replace("1", "2", 1))
    status, _, err = rarefy("train", "--out", "run", "--resume")
    assert status == 2
    assert "clicks.svm has changed" in err
    clicks.unlink()
    status, _, err = rarefy("train", "--out", "run", "--resume")
    assert status == 2
    assert "clicks.svm: No such file" in err
    (tmp_path / "moved.svm").write_text(text)
    status, _, err = rarefy("train", "moved.svm", "--out", "run", "--resume")
    assert status == 0, err


def test_finished_run_has_nothing_left_to_do(rarefy, clicks, tmp_path):
    rarefy("train", clicks, "--epochs", 1, "--out", "run")
    before = (tmp_path / "run" / "model.safetensors").read_bytes()
    status, out, err = rarefy("train", "--out", "run", "--resume")
    assert status == 0, err
    assert "finished already" in out
    assert (tmp_path / "run" / "model.safetensors").read_bytes() == before


def test_damaged_checkpoint_is_one_clear_error(rarefy, stopped):
    path = stopped / CHECKPOINT
    good = path.read_bytes()
    for bad in (good[:-1], good[: len(good) // 2], b"", good[:-4] + b"\x00\x00\xff\xff"):
        path.write_bytes(bad)
        status, _, err = rarefy("train", "--out", "run", "--resume")
        assert status == 2
        assert err.startswith("rarefy: error: run/checkpoint.safetensors: ")
        assert err.count("\n") == 1


def test_running_metrics_and_history_go_on(stopped):
    """The loss of an epoch that was interrupted is that of all its rows."""
    training = Training.resumed(stopped)
    reporter = Silent()
    assert training.run(reporter)
    assert reporter.rows == 2 * 1000 - 3 * 64
    assert [record["rows"] for record in training.position.history] == [1000, 1000]
