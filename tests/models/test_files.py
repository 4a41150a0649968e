"""Files of a run: whole or refused."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from rarefy.models._files import (
    ModelFileError,
    read_json,
    read_tensors,
    sweep,
    take,
    write_json,
    write_tensors,
)

TENSORS = {
    "a": np.arange(12, dtype=np.float32).reshape(3, 4).T,
    "b": np.array([1, -(2**40)], np.int64),
    "c": np.zeros((0, 5), np.float64),
    "d": np.array(3.5),
    "e": np.array([True, False, True]),
    "f": np.arange(3, dtype=np.uint32),
    "g": np.arange(7, dtype=np.int32)[::2],
}


def test_tensors_come_back_bit_for_bit(tmp_path):
    path = tmp_path / "x.safetensors"
    write_tensors(path, TENSORS, {"format": "test", "n": 3, "text": "ä"})
    tensors, about = read_tensors(path, "test")
    assert about == {"format": "test", "n": 3, "text": "ä"}
    for source in (tensors, load_file(path)):  # the second with safetensors alone
        assert source.keys() == TENSORS.keys()
        for name, array in TENSORS.items():
            assert source[name].dtype == array.dtype
            np.testing.assert_array_equal(source[name], array)
    assert os.listdir(tmp_path) == ["x.safetensors"]


def damage(path, at, change):
    content = bytearray(path.read_bytes())
    content[at] = change(content[at])
    path.write_bytes(content)


def test_every_flipped_bit_of_the_numbers_is_noticed(tmp_path):
    path = tmp_path / "x"
    write_tensors(path, {"a": np.arange(8, dtype=np.float32)}, {"format": "test"})
    good = path.read_bytes()
    for at in range(len(good) - 32, len(good)):
        path.write_bytes(good)
        damage(path, at, lambda byte: byte ^ 4)
        with pytest.raises(ModelFileError, match="'a' does not match its checksum"):
            read_tensors(path, "test")


def test_files_cut_anywhere_are_refused(tmp_path):
    path = tmp_path / "x"
    write_tensors(path, {"a": np.arange(8, dtype=np.float32)}, {"format": "test"})
    good = path.read_bytes()
    for length in range(0, len(good), 7):
        path.write_bytes(good[:length])
        with pytest.raises(ModelFileError):
            read_tensors(path, "test")


HEADERS = [
    (b"", "damaged"),
    (b"\xff" * 64, "damaged"),
    ((2**62).to_bytes(8, "little") + b"{}", "damaged"),
    (json.dumps({"a": {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 4]}}), "damaged"),
    (json.dumps({"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}), "damaged"),
    (json.dumps({"__metadata__": {"about": "[1]", "crc32": "{}"}}), "JSON object"),
    (json.dumps({"__metadata__": {"about": "[" * 100_000, "crc32": "{}"}}), "JSON"),
    (json.dumps({"__metadata__": {"about": '{"format": NaN}', "crc32": "{}"}}), "NaN"),
    (json.dumps({"__metadata__": {"about": '{"format": "other"}', "crc32": "{}"}}), "'other'"),
    (json.dumps({"__metadata__": {"about": '{"format": "test"}', "crc32": "7"}}), "JSON object"),
    (
        json.dumps({"__metadata__": {"about": '{"format": "test"}', "crc32": '{"gone": 1}'}}),
        "'gone' is missing",
    ),
    (json.dumps({"__metadata__": {"format": "pt"}}), "not one of rarefy's"),
    (json.dumps({}), "not one of rarefy's"),
]


@pytest.mark.parametrize(("header", "message"), HEADERS)
def test_hostile_headers_are_refused(tmp_path, header, message):
    path = tmp_path / "x"
    if isinstance(header, str):
        text = header.encode()
        header = len(text).to_bytes(8, "little") + text
    path.write_bytes(header)
    with pytest.raises(ModelFileError) as error:
        read_tensors(path, "test")
    assert message in str(error.value)
    assert str(path) in str(error.value)


def test_foreign_and_absent_files_are_named(tmp_path):
    with pytest.raises(ModelFileError, match="no such file"):
        read_tensors(tmp_path / "x", "test")
    save_file({"a": np.zeros(2)}, tmp_path / "y")
    with pytest.raises(ModelFileError, match="not one of rarefy's"):
        read_tensors(tmp_path / "y", "test")


JSON = [
    (b"", "not valid JSON"),
    (b"{", "not valid JSON"),
    (b"[1]", "found list"),
    (b'{"a": NaN}', "NaN"),
    (b'{"a": -Infinity}', "Infinity"),
    (b"\xff\xfe", "UTF-8"),
    (b'{"a":' * 50_000, "not valid JSON"),
]


@pytest.mark.parametrize(("content", "message"), JSON)
def test_bad_json_is_refused(tmp_path, content, message):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(ModelFileError, match=message):
        read_json(tmp_path / "x")


def test_json_comes_back(tmp_path):
    value = {"a": [1, 2.5, None, True, "ä"], "b": {}}
    write_json(tmp_path / "x", value)
    assert read_json(tmp_path / "x") == value
    with pytest.raises(ValueError):
        write_json(tmp_path / "x", {"a": float("nan")})
    assert read_json(tmp_path / "x") == value


@pytest.mark.parametrize("value", [True, "1", 1.5, None, 7, [1]])
def test_take_refuses_wrong_types_and_values(tmp_path, value):
    with pytest.raises(ModelFileError, match="'n' must be 0 or 1"):
        take(tmp_path, {"n": value}, "n", int, lambda v: v in (0, 1), "0 or 1")
    with pytest.raises(ModelFileError, match="'n' is missing"):
        take(tmp_path, {}, "n", int, lambda v: True, "0 or 1")


def test_take_refuses_numbers_that_overflow(tmp_path):
    where = json.loads('{"n": 1e999}')
    with pytest.raises(ModelFileError, match="'n' must be finite"):
        take(tmp_path, where, "n", (int, float), lambda v: True, "finite")


def test_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "x"
    write_tensors(path, {"a": np.zeros(3)}, {"format": "test"})
    with pytest.raises(KeyError):
        write_tensors(path, {"a": np.zeros(3, np.float16)}, {"format": "test"})
    assert read_tensors(path, "test")[0]["a"].tolist() == [0, 0, 0]
    assert os.listdir(tmp_path) == ["x"]


WRITER = """
import sys, itertools, pathlib
import numpy as np
from rarefy.models._files import write_tensors
path = pathlib.Path(sys.argv[1])
for i in itertools.count():
    write_tensors(path, {"a": np.full(200_000, i)}, {"format": "test", "i": i})
    if i == 0: print("begun", flush=True)
"""


def test_killed_writer_leaves_a_whole_file(tmp_path):
    path = tmp_path / "x"
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "begun\n"
        for _ in range(5):
            time.sleep(0.01)
            tensors, about = read_tensors(path, "test")
            assert (tensors["a"] == about["i"]).all()
        process.send_signal(signal.SIGKILL)
    tensors, about = read_tensors(path, "test")
    assert (tensors["a"] == about["i"]).all()
    (tmp_path / ".x.abc").touch()
    sweep(tmp_path, "x")
    assert os.listdir(tmp_path) == ["x"]
