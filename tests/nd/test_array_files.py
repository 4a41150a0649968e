"""Files of arrays are MXNet's, bit for bit; damaged ones are refused with the place of the damage."""

import json
import os
import random
import struct
import threading
import tracemalloc

import numpy as np
import pytest

import rarefy as mx
from oracles.array_files import CASES, FILE, NUMPY_SHAPES, content, listed, made
from rarefy import MXNetError, nd

WRITTEN = {name: bytes.fromhex(text) for name, text in json.loads(FILE.read_text()).items()}


def head(count=1):
    return struct.pack("<QQQ", 0x112, 0, count)


def shape(*sizes):
    return struct.pack(f"<i{len(sizes)}q", len(sizes), *sizes)


CPU = struct.pack("<ii", 1, 0)
F32, I32, I64 = (struct.pack("<i", code) for code in (0, 4, 6))
V1, V2, V3 = (struct.pack("<I", 0xF993FAC8 + i) for i in range(3))
DENSE, CSR = struct.pack("<i", 0), struct.pack("<i", 2)
NUMBERS = np.array([1, 2], "f4").tobytes()
NO_NAMES = struct.pack("<Q", 0)


def test_files_are_mxnets_bit_for_bit(tmp_path):
    for name, theirs in WRITTEN.items():
        with mx.util.np_shape(name in NUMPY_SHAPES):
            arrays = made(mx, name)
            nd.save(tmp_path / "file", arrays)
            assert (tmp_path / "file").read_bytes() == theirs, name
            assert content(nd.load(str(tmp_path / "file"))) == content(listed(arrays)), name
        assert content(nd.load_frombuffer(theirs)) == content(listed(arrays)), name
    assert WRITTEN.keys() == CASES.keys() | NUMPY_SHAPES.keys()


def test_records_of_older_releases_and_other_types_are_read(tmp_path):
    # Each of these bytes MXNet reads as the same array, but for int16 and bfloat16.
    vector, two = shape(2) + CPU + F32 + NUMBERS, struct.pack("<II", 1, 2) + CPU + F32 + NUMBERS
    gpu = struct.pack("<ii", 2, 9)
    for record in (
        V1 + vector,
        two,
        V2 + DENSE + shape(2) + gpu + F32 + NUMBERS,
        V3 + DENSE + vector,
    ):
        (array,) = nd.load_frombuffer(head() + record + NO_NAMES)
        assert (array.asnumpy().tolist(), array.context) == ([1, 2], mx.cpu())
    csr32 = shape(2) + shape(1, 3) + CPU + F32 + I32 + shape(2) + I32 + shape(2)
    csr32 += NUMBERS + np.array([0, 2, 0, 2], "i4").tobytes()
    for stored in (2, 0):  # 0 where MXNet wrote a matrix that was still being computed
        record = V2 + CSR + csr32.replace(shape(2), shape(stored), 1)
        (array,) = nd.load_frombuffer(head() + record + NO_NAMES)
        assert array.asnumpy().tolist() == [[1, 0, 2]]
    # csr - csr of MXNet: room, with anything in it, behind what the row pointers cover
    record = csr32[:-16] + np.array([0, 1, 0, 2**30], "i4").tobytes()
    (array,) = nd.load_frombuffer(head() + V2 + CSR + record + NO_NAMES)
    assert (array.data.asnumpy().tolist(), array.indices.asnumpy().tolist()) == ([1], [0])
    for dtype in ("int16", "uint32", "bfloat16"):
        array = nd.array([1, 2], dtype=dtype)
        (back,) = nd.load_frombuffer(saved([array], tmp_path))
        assert back.dtype == array.dtype and (back == array).asnumpy().all()


def saved(arrays, folder) -> bytes:
    nd.save(folder / "file", arrays)
    return (folder / "file").read_bytes()


def test_unsorted_and_repeated_places_survive(tmp_path):
    csr = nd.sparse.csr_matrix(([1, 2, 3], [2, 0, 0], [0, 3]), shape=(1, 3))
    rows = nd.sparse.row_sparse_array(([[1], [2]], [3, 1]), shape=(4, 1))
    for array, back in zip(
        (csr, rows), nd.load_frombuffer(saved([csr, rows], tmp_path)), strict=True
    ):
        assert content(back) == content(array)
        assert back.asnumpy().tolist() == array.asnumpy().tolist()
        with pytest.raises(MXNetError):
            back.check_format()


def test_a_cut_file_is_refused_at_every_length():
    for name in ("dict", "csr", "row_sparse 3d"):
        for end in range(len(WRITTEN[name])):
            with pytest.raises(MXNetError, match=r"byte \d+"):
                nd.load_frombuffer(WRITTEN[name][:end])


@pytest.mark.filterwarnings("ignore:.*after the last array")
def test_damage_is_refused_or_gives_other_arrays():
    generator = random.Random(5)
    refused = []
    for name in ("dict", "csr", "row_sparse"):
        whole = WRITTEN[name]
        for place in range(len(whole)):
            damaged = bytearray(whole)
            damaged[place] ^= 1 << generator.randrange(8)
            if place % 3 == 0:
                damaged[place : place + 8] = struct.pack("<q", 2 ** generator.randrange(20, 63))
            try:
                nd.load_frombuffer(bytes(damaged))
            except MXNetError as error:
                refused.append(str(error))
    assert len(refused) > 200
    assert [message for message in refused if "byte " not in message] == []


WRONG = {
    "magic": (b"PK\3\4" + bytes(40), r"byte 0: .*0x4034b50"),
    "count": (head(2**60) + bytes(40), r"byte 16: .*1152921504606846976 arrays"),
    "record": (head() + b"\xff" * 40, r"byte 24: array 0: no array begins with 0xffffffff"),
    "storage type": (head() + V2 + b"\7" + bytes(40), r"byte 28: .*storage type 7"),
    "dimensions": (head() + V2 + DENSE + b"\x21" + bytes(40), r"byte 32: .*33 dimensions"),
    "huge": (head() + V2 + DENSE + shape(2**40, 2**40) + CPU + F32, r"byte 64: .*truncated"),
    "negative": (head() + V2 + DENSE + shape(-1) + CPU + F32, r"byte 32: .*negative"),
    "dtype": (head() + V2 + DENSE + shape(2) + CPU + b"\x63" + bytes(40), r"byte 52: .*dtype 99"),
    "no value": (head() + V2 + DENSE + shape() + NO_NAMES, r"byte 24: .*without ever"),
    "names": (head(0) + struct.pack("<Q", 3), r"byte 24: the names: 3 names for 0 arrays"),
    "name": (
        head() + V2 + DENSE + shape(2) + CPU + F32 + NUMBERS + struct.pack("<QQ", 1, 2) + b"a\xff",
        r"byte 81: name 0: not UTF-8",
    ),
    "column": (WRITTEN["csr"].replace(struct.pack("<qqq", 0, 2, 1), struct.pack("<qqq", 0, 9, 1)),
               r"byte 160: array 0: column 9 lies outside the 4 columns"),
    "row pointers": (
        WRITTEN["csr"].replace(struct.pack("<qq", 2, 2), struct.pack("<qq", 9, 2)),
        r"byte 120: .*must not fall",
    ),
    "row": (WRITTEN["row_sparse"].replace(struct.pack("<qq", 1, 4), struct.pack("<qq", 1, -4)),
            r"row -4 lies outside the 6 rows"),
}  # fmt: skip


def test_what_is_wrong_is_said_with_its_place():
    for name, (content_, message) in WRONG.items():
        tracemalloc.start()
        with pytest.raises(MXNetError, match=message):
            nd.load_frombuffer(content_)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20, name
        tracemalloc.stop()
    with pytest.warns(UserWarning, match="3 bytes after the last array"):
        nd.load_frombuffer(WRITTEN["list"] + b"xyz")


def test_wide_rows_take_no_room_that_nobody_asked_for():
    empty = (
        V2 + struct.pack("<i", 1) + shape(0, 2**40) + shape(9, 2**40) + CPU + F32 + I64 + shape(0)
    )
    (array,) = nd.load_frombuffer(head() + empty + NO_NAMES)
    assert array.shape == (9, 2**40) and array.data.shape == (0, 2**40)


def test_names_and_arguments(tmp_path):
    for wrong, kind in ((5, ValueError), ((nd.ones(1),), ValueError), ([1], TypeError)):
        with pytest.raises(kind):
            nd.save(tmp_path / "file", wrong)
    for wrong in ({"a": 1}, {1: nd.ones(1)}, [nd.ones(1), None]):
        with pytest.raises(TypeError, match="save only accept"):
            nd.save(tmp_path / "file", wrong)
    for wrong in (5, None):
        with pytest.raises(TypeError, match="fname"):
            nd.save(wrong, nd.ones(1))
        with pytest.raises(TypeError, match="fname"):
            nd.load(wrong)
    with pytest.raises(TypeError, match="string or bytes"):
        nd.load_frombuffer(bytearray(8))
    for call in (lambda p: nd.save(p, nd.ones(1)), nd.load):
        with pytest.raises(MXNetError, match="No such file"):
            call(tmp_path / "none" / "file")
    assert os.listdir(tmp_path) == []


def test_a_failed_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    nd.save(path, [nd.ones(1)])
    before = path.read_bytes()
    complex_array = nd.ones(2)
    complex_array._cell.value = np.ones(2, "complex64")  # a dtype that the format lacks
    with pytest.raises(MXNetError, match="no complex64"):
        nd.save(path, [nd.ones(3), complex_array])
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["file"]


def test_a_pipe_is_read_and_written(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(WRITTEN["list"],))
    writer.start()
    assert content(nd.load(pipe)) == content(made(mx, "list"))
    writer.join()
    found = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    nd.save(pipe, made(mx, "list"))
    reader.join()
    assert found == [WRITTEN["list"]] and os.listdir(tmp_path) == ["pipe"]
