"""The C++ tests and the fuzz loop, under address and undefined behaviour sanitizers."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from rarefy._primitives import _text

CSRC = Path(__file__).parents[2] / "csrc"
COMPILER = os.environ.get("CXX", "g++")


@pytest.fixture(scope="module")
def programs(request):
    """The folder of the programs, built unless the sources are as they were the last time."""
    if shutil.which(COMPILER) is None or shutil.which("sh") is None:
        pytest.skip(f"there is no compiler {COMPILER}")
    sources = sorted(p for f in ("text", "kernels", "tests", "fuzz") for p in (CSRC / f).glob("*"))
    key = hashlib.blake2b(b"".join(p.read_bytes() for p in sources), digest_size=8).hexdigest()
    folder = request.config.cache.mkdir(f"text_sanitized_{key}")
    if not (folder / "libsvm_fuzz").exists():
        command = ["sh", str(CSRC / "tests/build.sh"), str(folder)]
        done = subprocess.run(command, capture_output=True, text=True)
        if "-fsanitize" in done.stderr or "asan" in done.stderr:
            pytest.skip(f"{COMPILER} has no sanitizers: {done.stderr[-300:]}")
        assert done.returncode == 0, done.stderr
        assert "warning" not in done.stderr, done.stderr
    return folder


def run(program, *arguments, cwd):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, cwd=cwd)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-4000:]}"
    return done.stdout


def test_the_cpp_tests_hold(programs, tmp_path):
    assert "all hold" in run(programs / "text_test", cwd=tmp_path)


def test_the_row_kernels_hold(programs, tmp_path):
    assert run(programs / "rows_test", cwd=tmp_path) == ""


@pytest.mark.parametrize("seed", [1, 2])
def test_fuzzing_finds_nothing(programs, tmp_path, seed):
    (tmp_path / "corpus").write_bytes(b"1 1:0.5 3:-2 # c\r\n\n" * 10)
    assert "nothing found" in run(programs / "libsvm_fuzz", 2000, seed, "corpus", cwd=tmp_path)


def test_ranges_are_checked_at_the_border():
    text = np.zeros(100 + _text.PADDING, np.uint8)
    text[9] = ord("\n")
    rows, native, plan = _text.Rows(float64=False, int64=False), _text.Format(), _text.Plan()
    assert rows.parse(text, 0, 0, native, plan) == (0, 0, [])
    for begin, end in ((-1, 5), (5, 4), (0, 101), (0, 5)):
        with pytest.raises(ValueError):
            rows.parse(text, begin, end, native, plan)
    for begin, end in ((-1, 5), (5, 4), (0, len(text) + 1)):
        with pytest.raises(ValueError):
            _text.count_newlines(text, begin, end)
    with pytest.raises(TypeError):
        rows.parse(text.astype(np.int32), 0, 0, native, plan)


def test_written_arrays_are_checked_at_the_border():
    indptr, indices, data = np.array([0, 2]), np.array([0, 1], np.int32), np.ones(2, np.float32)
    more = {"labels": None, "label_indptr": None, "label_ids": None, "weights": None, "qid": None}
    more |= {"base": 0, "keep_zeros": False, "threads": 1}
    assert [x.tobytes() for x in _text.write_rows(indptr, indices, data, **more)] == [b"0:1 1:1\n"]
    for bad in ([0, 3], [2, 0], [-1, 2], []):
        with pytest.raises(ValueError):
            _text.write_rows(np.array(bad, np.int64), indices, data, **more)
    for name in ("labels", "weights", "qid"):
        with pytest.raises(ValueError):
            _text.write_rows(indptr, indices, data, **{**more, name: np.ones(2)})
    lists = {"label_indptr": np.array([0, 3]), "label_ids": np.array([1])}
    with pytest.raises(ValueError):
        _text.write_rows(indptr, indices, data, **{**more, **lists})
    with pytest.raises(TypeError):
        _text.write_rows(indptr, indices, data.astype(np.float16), **more)
