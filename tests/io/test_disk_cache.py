"""Parsed rows on disk: the same batches, made anew when stale or damaged, whole under races."""

import json
import os
import warnings
import zlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rarefy.io import LibSVMIter, LibSVMReader, _disk_cache

TEXT = (
    "".join(f"{i % 3} qid:{i // 4} {i % 7}:{i + 0.5} {7 + i % 5}:-1\n" for i in range(50))
    + "1 qid:9\n"
)


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "data.svm"
    path.write_text(TEXT)
    return path


def read(reader, seed=None):
    """All that the batches hold."""
    found = []
    for b in reader.epoch(seed):
        parts = (b.data, b.indices, b.indptr, b.labels, b.qid, b.weights)
        lists = None if b.label_lists is None else list(b.label_lists)
        found.append(
            [None if a is None else (a.dtype.str, a.tolist()) for a in parts] + [lists, b.n_cols]
        )
    return found


def parses(monkeypatch):
    """How often text is parsed from now on."""
    calls = []
    original = LibSVMReader._parsed

    def counted(self, *args, **kwargs):
        calls.append(self)
        return original(self, *args, **kwargs)

    monkeypatch.setattr(LibSVMReader, "_parsed", counted)
    return calls


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"index_base": 0, "n_features": 99},
        {"dtype": "float64", "chunk_bytes": 64},
        {"part_index": 1, "num_parts": 3, "n_features": 1 << 40},
        {"window_bytes": 100},
    ],
    ids=str,
)
def test_batches_are_those_of_the_text(text, tmp_path, monkeypatch, options):
    plain = LibSVMReader(text, batch_size=8, cache="never", **options)
    expected, width = read(plain), plain.n_features
    cache = tmp_path / "rows.cache"
    first = LibSVMReader(text, batch_size=8, cache_file=cache, **options)
    assert read(first) == read(first) == expected
    calls = parses(monkeypatch)
    again = LibSVMReader(text, batch_size=8, cache_file=cache, **options)
    assert (again.n_features, again.index_base) == (width, plain.index_base)
    assert read(again) == expected and calls == []
    # However small the window, rows in a cache are mixed as a whole, as those in memory are.
    memory = LibSVMReader(text, batch_size=8, **{**options, "window_bytes": 1 << 20})
    assert read(again, 5) == read(memory, 5) and again.shuffle_kind == "full"
    assert [p.name for p in tmp_path.iterdir() if "part" in p.name] == (
        ["rows.cache.part1-of-3"] if "num_parts" in options else []
    )


def test_lists_weights_and_bad_lines_are_kept(tmp_path):
    (tmp_path / "a").write_text("3,1 0:1\n 2:1\n2,2 1:1\n7 3:1\n")
    (tmp_path / "b").write_text("1:0.5 3:1\nx 1:1\n0 1:2\n")
    for name, options in (("a", {"multilabel": True}), ("b", {"weights": True})):
        made = {"batch_size": 2, "bad_lines": "skip", **options}
        plain = LibSVMReader(tmp_path / name, **made)
        expected = read(plain)
        for _ in range(2):
            cached = LibSVMReader(tmp_path / name, cache_file=tmp_path / f"{name}.cache", **made)
            assert read(cached) == expected
            assert cached.bad_lines.count == plain.bad_lines.count == 1
            assert str(cached.bad_lines.reports[0]) == str(plain.bad_lines.reports[0])


def test_no_rows(tmp_path):
    (tmp_path / "none").write_text("# nothing\n")
    for _ in range(2):
        assert read(LibSVMReader(tmp_path / "none", batch_size=2, cache_file=tmp_path / "c")) == []


def test_a_stale_cache_is_made_anew(text, tmp_path, monkeypatch):
    cache = tmp_path / "rows.cache"

    def rows(**options):
        return read(LibSVMReader(text, batch_size=100, cache_file=cache, **options))

    first = rows()
    calls = parses(monkeypatch)
    assert rows() == first and rows(n_threads=1, chunk_bytes=99) == first and calls == []
    assert rows(n_features=99)[0][-1] == 99 and len(calls) == 1  # other arguments
    assert rows() == first and len(calls) == 2
    stamp = os.stat(text)
    text.write_text(TEXT.replace("0 qid:0 0:0.5", "0 qid:0 0:9.5"))
    os.utime(text, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert rows() != first and len(calls) == 3  # same size, same time, other content
    text.write_text(TEXT)
    os.utime(text, ns=(0, 0))
    assert rows() == first and len(calls) == 4
    monkeypatch.setattr(_disk_cache, "_MAGIC", b"RFYROWS9")  # another version of the format
    with pytest.warns(UserWarning, match="not one of this version"):
        assert rows() == first
    assert len(calls) == 5


def changed_at(place):
    def damage(content):
        content[place] ^= 1
        return content

    return damage


def with_indices_out_of_range(content):
    """As someone writes it who knows the format."""
    length = int.from_bytes(content[8:16], "little")
    head = json.loads(content[24 : 24 + length])
    at, kept = 24 + length, []
    for name, (dtype, count, _) in head["arrays"].items():
        at += -at % 64
        array = np.frombuffer(bytes(content), dtype, count, at).copy()
        at += array.nbytes
        if name == "indices":
            array[3] = 99
        head["arrays"][name][2] = zlib.crc32(array)
        kept.append(array.tobytes())
    text = json.dumps(head).encode()
    made = (
        content[:8]
        + len(text).to_bytes(8, "little")
        + zlib.crc32(text).to_bytes(8, "little")
        + text
    )
    for array in kept:
        made += bytes(-len(made) % 64) + array
    return made


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda c: c[:0], "it is empty"),
        (lambda c: c[:20], "not one of this version"),
        (lambda c: c[:-200], "it is cut off"),
        (changed_at(3), "not one of this version"),
        (changed_at(12), "its header is damaged"),
        (changed_at(40), "its header is damaged"),
        (changed_at(-5), "is damaged"),
        (with_indices_out_of_range, "its rows do not fit together"),
    ],
    ids=["empty", "head only", "cut", "magic", "length", "header", "array", "forged"],
)
def test_a_damaged_cache_is_made_anew(text, tmp_path, damage, message):
    cache = tmp_path / "rows.cache"
    expected = read(LibSVMReader(text, batch_size=9, cache_file=cache))
    sound = cache.read_bytes()
    cache.write_bytes(damage(bytearray(sound)))
    with pytest.warns(UserWarning, match=f"rows.cache: the cache is made anew, as .*{message}"):
        assert read(LibSVMReader(text, batch_size=9, cache_file=cache)) == expected
    assert cache.read_bytes() == sound


def test_makers_at_once_leave_one_whole_cache(text, tmp_path):
    """Two of each of two kinds, that take the file from each other; threads share no lock, so they
    stand for processes."""

    def make(width):
        rounds = [LibSVMReader(text, batch_size=3, cache_file=tmp_path / "c", n_features=width)] * 2
        rounds += [LibSVMReader(text, batch_size=3, cache_file=tmp_path / "c", n_features=width)]
        return [[b[-1] for b in read(r)] == [width] * 17 for r in rounds]

    with ThreadPoolExecutor(4) as pool, warnings.catch_warnings():
        warnings.simplefilter("error")
        assert all(ok for found in pool.map(make, [20, 30] * 10) for ok in found)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["c", "data.svm"]


def test_a_bad_line_leaves_no_cache(text, tmp_path):
    text.write_text(TEXT + "1 qid:3 x\n")
    with pytest.raises(ValueError, match=r"data\.svm:52:9"):
        read(
            LibSVMReader(text, batch_size=4, n_features=12, index_base=0, cache_file=tmp_path / "c")
        )
    assert [p.name for p in tmp_path.iterdir()] == ["data.svm"]


def test_streams_have_no_cache(text, tmp_path):
    with open(text, "rb") as file, pytest.raises(ValueError, match="only files can have a cache"):
        LibSVMReader(file, batch_size=4, cache_file=tmp_path / "c")


def test_the_iterator_takes_a_cache_behind_a_number_sign(text, tmp_path, monkeypatch):
    def batches(**options):
        it = LibSVMIter(data_shape=12, batch_size=20, **options)
        return [(b.data[0].asnumpy().tolist(), b.label[0].asnumpy().tolist(), b.pad) for b in it]

    expected = batches(data_libsvm=text)
    cache = tmp_path / "rows"
    assert batches(data_libsvm=f"{text}#{cache}") == expected and cache.exists()
    calls = parses(monkeypatch)
    assert (
        batches(data_libsvm=f"{text}#{cache}")
        == batches(data_libsvm=text, cache_file=cache)
        == expected
    )
    assert calls == []
    named = tmp_path / "a#b"
    named.write_text(TEXT)
    assert batches(data_libsvm=str(named)) == expected  # a file of that name goes first
    assert not (tmp_path / "b").exists()
