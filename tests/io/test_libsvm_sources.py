"""Where text may come from, and its division into parts."""

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from rarefy.io import LibSVMError, LibSVMReader, load_libsvm, scan_libsvm

TEXT = b"1 1:0.5 3:-2\n-1 0:1\n# a comment\n\n2 7:7\r\n0\n3 2:2 9:1"
LABELS = [1, -1, 2, 0, 3]
PACK = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def labels_of(source, **options):
    return load_libsvm(source, index_base=0, n_features=10, **options).y.tolist()


@pytest.mark.parametrize("suffix", ["", *PACK])
@pytest.mark.parametrize("chunk_bytes", [1, 4096])
def test_a_file_is_read_whatever_its_packing(tmp_path, suffix, chunk_bytes):
    path = tmp_path / f"data.svm{suffix}"
    path.write_bytes(PACK.get(suffix, bytes)(TEXT))
    assert labels_of(path, chunk_bytes=chunk_bytes) == LABELS
    assert labels_of(str(path)) == LABELS


@pytest.mark.parametrize("suffix", PACK)
def test_packing_is_known_by_its_first_bytes(tmp_path, suffix):
    path = tmp_path / "data.svm"
    path.write_bytes(PACK[suffix](TEXT))
    assert labels_of(path) == LABELS
    assert labels_of(io.BytesIO(PACK[suffix](TEXT))) == LABELS


def test_archives_of_several_members_are_read_to_their_end(tmp_path):
    path = tmp_path / "data.gz"
    path.write_bytes(gzip.compress(TEXT[:20]) + gzip.compress(TEXT[20:]))
    assert labels_of(path) == LABELS


def test_a_name_that_promises_an_archive_is_held_to_it(tmp_path):
    path = tmp_path / "data.gz"
    path.write_bytes(TEXT)
    with pytest.raises(ValueError, match="promises gzip"):
        load_libsvm(path)
    path.write_bytes(b"")
    assert load_libsvm(path).X.shape == (0, 0)


@pytest.mark.parametrize(
    "magic, name", [(b"\x28\xb5\x2f\xfd", "zstd"), (b"PK\x03\x04", "zip")], ids=lambda x: str(x)
)
def test_an_archive_of_another_kind_is_named(tmp_path, magic, name):
    path = tmp_path / "data.svm"
    path.write_bytes(magic + b"rest")
    with pytest.raises(ValueError, match=name):
        load_libsvm(path)


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("kind", ["file", "stream"])
def test_a_cut_off_archive_is_an_error(tmp_path, suffix, kind):
    lines = b"".join(b"%d 1:%d\n" % (i, i * i) for i in range(5000))
    path = tmp_path / f"data.svm{suffix}"
    path.write_bytes(PACK[suffix](lines)[:-20])
    for read in (load_libsvm, scan_libsvm):
        source = path if kind == "file" else io.BytesIO(path.read_bytes())
        with pytest.raises(LibSVMError, match="cut off") as caught:
            read(source)
        assert caught.value.kind == "archive" and caught.value.found == "end of file"
        assert caught.value.file == (str(path) if kind == "file" else "<stream>")


@pytest.mark.parametrize("suffix", PACK)
def test_a_damaged_archive_is_an_error(tmp_path, suffix):
    content = bytearray(PACK[suffix](os.urandom(40_000).hex().encode()))
    content[len(content) // 2] ^= 0xFF
    path = tmp_path / f"data{suffix}"
    path.write_bytes(content)
    with pytest.raises(LibSVMError) as caught:
        load_libsvm(path, bad_lines="skip")
    assert caught.value.kind == "archive"


def test_utf16_is_an_error(tmp_path):
    path = tmp_path / "data.svm"
    path.write_bytes("1 1:1\n".encode("utf-16"))
    with pytest.raises(LibSVMError, match="UTF-16"):
        load_libsvm(path)


def test_files_are_not_glued_together(tmp_path):
    (tmp_path / "p0").write_bytes(b"1 1:1")
    (tmp_path / "p1").write_bytes(b"2 2:1\n")
    (tmp_path / "p2").write_bytes(gzip.compress(b"\xef\xbb\xbf3 3:1"))
    (tmp_path / "_SUCCESS").write_bytes(b"")
    (tmp_path / ".hidden").write_bytes(b"junk")
    for chunk_bytes in (1, 4096):
        assert labels_of(tmp_path, chunk_bytes=chunk_bytes) == [1, 2, 3]
    assert labels_of([tmp_path / "p1", str(tmp_path / "p0")]) == [2, 1]


def test_a_folder_is_read_by_name(tmp_path):
    for name in ("b", "a", "c"):
        (tmp_path / name).write_text(f"{ord(name)} 1:1\n")
    assert labels_of(tmp_path) == [97, 98, 99]


def test_the_base_is_one_for_all_files(tmp_path):
    (tmp_path / "a.svm").write_text("1 0:5 3:1\n")
    (tmp_path / "b.svm").write_text("0 1:2 3:4\n")  # never uses column 0
    both = load_libsvm(tmp_path)
    assert both.index_base == 0 and both.X.shape == (2, 4) and both.X[1, 1] == 2
    alone = load_libsvm(tmp_path / "b.svm")
    assert alone.index_base == 1 and alone.X.shape == (1, 3)
    with pytest.raises(LibSVMError, match=r"a\.svm:1:3: found '0:5'"):
        load_libsvm(tmp_path, index_base=1)


def test_an_error_names_the_file_and_its_own_line(tmp_path):
    (tmp_path / "a").write_text("1 1:1\n" * 50)
    (tmp_path / "b").write_text("1 1:1\n" * 20 + "x\n")
    for chunk_bytes in (1, 64, 4096):
        with pytest.raises(LibSVMError) as caught:
            load_libsvm(tmp_path, chunk_bytes=chunk_bytes)
        error = caught.value
        assert (error.file, error.line, error.column) == (str(tmp_path / "b"), 21, 1)


SOURCES = [
    ("missing", FileNotFoundError, None),
    ("empty folder", FileNotFoundError, "no files"),
    ("nested folder", ValueError, "holds the folder"),
    ("empty list", ValueError, "empty"),
    ("number", TypeError, "int"),
    ("text file", TypeError, "binary"),
]


@pytest.mark.parametrize("name, kind, words", SOURCES, ids=[s[0] for s in SOURCES])
def test_sources_that_are_none(tmp_path, name, kind, words):
    (tmp_path / "full/inner").mkdir(parents=True)
    (tmp_path / "empty").mkdir()
    source = {
        "missing": tmp_path / "missing",
        "empty folder": tmp_path / "empty",
        "nested folder": tmp_path / "full",
        "empty list": [],
        "number": 7,
        "text file": io.StringIO("1 1:1"),
    }[name]
    with pytest.raises(kind, match=words):
        load_libsvm(source)


def test_standard_input():
    program = (
        "from rarefy.io import load_libsvm; d = load_libsvm('-'); print(d.y.tolist(), d.index_base)"
    )
    done = subprocess.run([sys.executable, "-c", program], input=TEXT, capture_output=True)
    assert done.stdout.split() == b"[1.0, -1.0, 2.0, 0.0, 3.0] 0".split(), done.stderr


class OneWay(io.RawIOBase):
    """A stream that cannot seek and gives a few bytes at a time."""

    def __init__(self, content, step):
        self._content, self._step = io.BytesIO(content), step

    def readable(self):
        return True

    def readinto(self, buffer):
        return self._content.readinto(memoryview(buffer)[: self._step])


@pytest.mark.parametrize("step", [1, 3, 1000])
@pytest.mark.parametrize("suffix", ["", *PACK])
def test_streams_that_cannot_seek(suffix, step):
    content = PACK.get(suffix, bytes)(TEXT)
    assert labels_of(OneWay(content, step)) == LABELS
    data = load_libsvm(OneWay(content, step))
    assert data.index_base == 0 and data.X.shape == (5, 10)


class ReadOnly:
    """A stream that has nothing but `read`."""

    def __init__(self, content):
        self._content = io.BytesIO(content)

    def read(self, count):
        return self._content.read(min(count, 5))


def test_streams_that_only_read():
    assert labels_of(ReadOnly(TEXT)) == LABELS
    assert labels_of(ReadOnly(gzip.compress(TEXT))) == LABELS


def test_a_stream_is_looked_at_as_a_whole_if_need_be():
    loaded = load_libsvm(OneWay(b"1 4:1\n1 9:1\n", 2), nrows=1)
    assert loaded.X.shape == (1, 9) and loaded.X.indices.tolist() == [3]
    assert load_libsvm(OneWay(b"1 4:1\n", 2), n_features=4).X.indices.tolist() == [3]
    with pytest.raises(LibSVMError, match=":2:3: found '4:1', expected an index of at most 3"):
        load_libsvm(OneWay(b"1 0:1\n1 4:1\n", 2), n_features=4)


def test_a_pipe_in_the_file_system(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(TEXT,))
    writer.start()
    assert labels_of(path) == LABELS
    writer.join()


def test_a_seekable_stream_is_read_from_where_it_stands():
    stream = io.BytesIO(b"junk\n" + TEXT)
    stream.seek(5)
    reader = LibSVMReader(stream, batch_size=2, cache="never")
    for _ in range(2):
        assert [y for batch in reader for y in batch.labels.tolist()] == LABELS


def test_a_scan_leaves_a_seekable_stream_where_it_was():
    stream = io.BytesIO(b"junk\n" + gzip.compress(TEXT))
    stream.seek(5)
    assert scan_libsvm(stream).rows == 5 and stream.tell() == 5
    assert labels_of(stream) == LABELS


def test_a_stream_is_read_once(tmp_path):
    with pytest.raises(ValueError, match=r"index_base=0 or 1 and n_features="):
        LibSVMReader(OneWay(TEXT, 9), batch_size=2).epoch()
    reader = LibSVMReader(OneWay(TEXT, 9), batch_size=2, index_base=0, n_features=10, cache="never")
    assert [y for batch in reader for y in batch.labels.tolist()] == LABELS
    with pytest.raises(ValueError, match="read only once"):
        list(reader)


def test_a_stream_whose_rows_are_kept_is_read_again():
    reader = LibSVMReader(OneWay(TEXT, 9), batch_size=2, index_base=0, n_features=10)
    for _ in range(2):
        assert [y for batch in reader for y in batch.labels.tolist()] == LABELS


# Texts that are cut everywhere: line ends, a mark, blank lines, no final newline, no line at all.
CUTS = [
    b"1 1:1\n2 2:2\n3 3:3\n",
    b"1 1:1\r\n\r\n2 2:2\n# c\n\n3 3:333333333",
    b"\xef\xbb\xbf1 1:1\n2\n",
    b"\n\n1 1:1\n",
    b"1",
    b"",
]


@pytest.mark.parametrize("text", CUTS, ids=range(len(CUTS)))
def test_every_row_is_in_exactly_one_part_of_a_file(tmp_path, text):
    path = tmp_path / "data.svm"
    path.write_bytes(text)
    whole = labels_of(path)
    starts = [i for i in range(len(text)) if i == 0 or text[i - 1 : i] == b"\n"]
    for num_parts in range(1, len(text) + 3):
        parts = []
        for k in range(num_parts):
            for chunk_bytes in (1, 4096):
                part = labels_of(path, part_index=k, num_parts=num_parts, chunk_bytes=chunk_bytes)
            parts.append(part)
            # A row belongs where its first byte lies.
            low, high = (len(text) * i // num_parts for i in (k, k + 1))
            lines = [text[s:].split(b"\n")[0] for s in starts if low <= s < high]
            rows = [x.lstrip(b"\xef\xbb\xbf") for x in lines if x.strip()]
            assert part == [float(x.split()[0]) for x in rows if not x.startswith(b"#")]
        assert [y for part in parts for y in part] == whole


@pytest.mark.parametrize("packed", [False, True])
def test_every_row_is_in_exactly_one_part_of_a_folder(tmp_path, packed):
    number = 0
    for name, rows in (("a", 700), ("b", 0), ("c", 3), ("d", 1200)):
        text = b"".join(b"%d 1:%d\n" % (number + i, i) for i in range(rows))
        number += rows
        last = packed and name == "d"
        (tmp_path / name).write_bytes(gzip.compress(text) if last else text.rstrip(b"\n"))
    for num_parts in (1, 2, 3, 7):
        parts = [
            labels_of(tmp_path, part_index=k, num_parts=num_parts, chunk_bytes=chunk)
            for k, chunk in zip(range(num_parts), [1 << 20, 300, 4096] * 3, strict=False)
        ]
        assert sorted(y for part in parts for y in part) == list(range(number))
        if packed:  # turns of 256 rows
            for k, part in enumerate(parts):
                assert part == [i for i in range(number) if i // 256 % num_parts == k]
        else:
            assert [y for part in parts for y in part] == list(range(number))
            assert min(map(len, parts)) > 1500 // num_parts  # about as many bytes each


def test_parts_with_label_lists_weights_and_query_ids(tmp_path):
    path = tmp_path / "data.svm.gz"
    rows = range(1000)
    text = "".join(f"{i},{i + 1}:{i + 0.5} qid:{i * 3} {i}:1 1000:{i}\n" for i in rows)
    path.write_bytes(gzip.compress(text.encode()))
    part = load_libsvm(path, multilabel=True, weights=True, part_index=1, num_parts=3)
    kept = [i for i in rows if i // 256 % 3 == 1]
    assert list(part.y) == [(i, i + 1) for i in kept]
    assert part.weights.tolist() == [i + 0.5 for i in kept]
    assert part.qid.tolist() == [3 * i for i in kept]
    # The part that holds row 0, and with it index 0, decides the base of all.
    assert part.index_base == 0 and part.X.shape == (256, 1001)
    expected = np.zeros((256, 1001), np.float32)
    expected[np.arange(256), kept] = 1
    expected[:, 1000] = kept
    assert np.array_equal(part.X.toarray(), expected)


def test_lines_of_a_part_are_numbered_from_the_beginning_of_the_file(tmp_path):
    path = tmp_path / "data.svm"
    path.write_bytes(b"1 1:1\n" * 1000 + b"1 x\n" + b"1 1:1\n" * 1000)
    for num_parts in (1, 2, 5, 100):
        errors = []
        for k in range(num_parts):
            try:
                labels_of(path, part_index=k, num_parts=num_parts, chunk_bytes=100)
            except LibSVMError as error:
                errors.append((error.line, error.column))
        assert errors == [(1001, 3)]
