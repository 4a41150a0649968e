"""Small files to run the command on."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from rarefy.cli._main import run
from rarefy.io import save_libsvm


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path, monkeypatch):
    """Each test has a working folder of its own."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def rarefy(capfd):
    """Runs the command in this process: `status, out, err = rarefy("train", "x.svm")`."""

    def call(*arguments):
        capfd.readouterr()
        status = run([str(a) for a in arguments])
        out, err = capfd.readouterr()
        return status, out, err

    return call


@pytest.fixture
def spawn():
    """Starts the command as a process of its own: `spawn("train", "x.svm", **popen)`."""
    started = []

    def start(*arguments, **options):
        command = [sys.executable, "-m", "rarefy.cli", *map(str, arguments)]
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        process = subprocess.Popen(command, env=environment, text=True, **options)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


def binary_rows(rows: int, width: int = 40, seed: int = 0, noise: float = 0.5):
    """Sparse rows of ones and labels from a planted linear model: `(x, y)`."""
    rng = np.random.default_rng(seed)
    x = (rng.random((rows, width)) < 0.15).astype(np.float32)
    weight = np.random.default_rng(99).normal(size=width) * 2
    y = (x @ weight + rng.normal(0, noise, rows) > 0).astype(np.float32)
    return csr_array(x), y


@pytest.fixture
def clicks(tmp_path) -> Path:
    """1,000 rows of 40 columns, counted from 1, labels -1 and 1."""
    x, y = binary_rows(1000)
    save_libsvm(tmp_path / "clicks.svm", x, 2 * y - 1, index_base=1)
    return tmp_path / "clicks.svm"


@pytest.fixture
def more_clicks(tmp_path) -> Path:
    """300 more rows of the same kind."""
    x, y = binary_rows(300, seed=1)
    save_libsvm(tmp_path / "more.svm", x, 2 * y - 1, index_base=1)
    return tmp_path / "more.svm"
