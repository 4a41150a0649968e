"""Batches: how they are cut, kept, resumed, parsed ahead; and how little memory that takes."""

import gzip
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from rarefy.io import LibSVMError, LibSVMReader, load_libsvm


@pytest.fixture
def path(tmp_path):
    """10 rows with labels 0 to 9; row i has column i and column 10."""
    file = tmp_path / "ten.svm"
    file.write_text("".join(f"{i} {i}:{i + 0.5} 10:1\n" for i in range(10)))
    return file


def reader(source, batch_size=4, **options):
    options = {"n_features": 11, "index_base": 0, **options}
    return LibSVMReader(source, batch_size=batch_size, **options)


def labels_of(batches):
    return [batch.labels.tolist() for batch in batches]


def prefetch_threads():
    return [t for t in threading.enumerate() if t.name == "rarefy-prefetch"]


def test_batches_have_their_size_and_the_last_is_shorter(path):
    batches = list(reader(path))
    assert labels_of(batches) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert [b.first_row for b in batches] == [0, 4, 8]
    assert [b.rows for b in batches] == [4, 4, 2] and [b.nnz for b in batches] == [8, 8, 4]
    expected = load_libsvm(path, index_base=0).X
    for batch in batches:
        assert batch.n_cols == 11 and batch.indices.dtype == batch.indptr.dtype == np.int32
        rows = slice(batch.first_row, batch.first_row + batch.rows)
        assert (batch.to_scipy() != expected[rows]).nnz == 0


@pytest.mark.parametrize("batch_size", [1, 3, 10, 11])
@pytest.mark.parametrize("chunk_bytes", [1, 7, 64, 4096])
@pytest.mark.parametrize("prefetch", [0, 1, 3])
def test_batches_do_not_depend_on_how_they_are_made(path, batch_size, chunk_bytes, prefetch):
    rows = list(range(10))
    expected = [rows[i : i + batch_size] for i in range(0, 10, batch_size)]
    made = reader(path, batch_size, chunk_bytes=chunk_bytes, prefetch=prefetch, n_threads=2)
    for _ in range(2):
        assert labels_of(made) == expected


@pytest.mark.parametrize("start_row", [0, 1, 4, 9, 10, 50])
@pytest.mark.parametrize("chunk_bytes", [1, 30, 4096])
@pytest.mark.parametrize("cache", ["auto", "never"])
@pytest.mark.parametrize("seed", [None, 3])
def test_a_pass_goes_on_at_any_row(path, start_row, chunk_bytes, cache, seed):
    made = reader(path, cache=cache, chunk_bytes=chunk_bytes)
    whole = [y for batch in labels_of(made.epoch(seed)) for y in batch]
    again = list(made.epoch(seed, start_row=start_row))
    assert [y for batch in labels_of(again) for y in batch] == whole[start_row:]
    assert [b.first_row for b in again] == list(range(start_row, 10, 4))
    fresh = reader(path, cache=cache, start_row=start_row, shuffle_seed=seed)
    assert labels_of(fresh) == labels_of(again)


def test_a_pass_goes_on_behind_blank_and_bad_lines(tmp_path):
    file = tmp_path / "data.svm"
    file.write_text("# c\n\n" + "".join(f"{i} 1:1\n\nbad\n" for i in range(10)))
    for chunk_bytes in (1, 20, 4096):
        made = reader(file, bad_lines="skip", chunk_bytes=chunk_bytes, cache="never")
        assert labels_of(made.epoch(start_row=7)) == [[7, 8, 9]]
        assert made.bad_lines.count == 10


def test_a_pass_over_a_part_of_an_archive_goes_on(tmp_path):
    file = tmp_path / "data.svm.gz"
    file.write_bytes(gzip.compress(b"".join(b"%d 1:1\n" % i for i in range(2000))))
    mine = [i for i in range(2000) if i // 256 % 2 == 1]
    made = reader(file, 1000, part_index=1, num_parts=2, cache="never", chunk_bytes=3000)
    assert labels_of(made.epoch(start_row=300)) == [mine[300:]]


def test_base_and_width_are_found_by_a_look_at_all_of_it(tmp_path):
    file = tmp_path / "data.svm"
    file.write_text("1 3:1\n" * 3 + "1 7:1\n")
    made = LibSVMReader(file, batch_size=2)
    assert (made.index_base, made.n_features) == (1, 7)
    assert [b.indices.tolist() for b in made] == [[2, 2], [2, 6]]
    part = LibSVMReader(file, batch_size=2, part_index=0, num_parts=2)
    assert (part.index_base, part.n_features) == (1, 7)
    assert LibSVMReader(file, batch_size=2, index_base=0).n_features == 8
    assert LibSVMReader(file, batch_size=2, n_features=20).index_base == 1
    with pytest.raises(LibSVMError, match="at most 6"):
        list(LibSVMReader(file, batch_size=2, n_features=6))


def test_an_input_without_entries_has_no_width(tmp_path):
    file = tmp_path / "data.svm"
    file.write_text("1\n0\n")
    made = LibSVMReader(file, batch_size=5)
    assert (made.index_base, made.n_features) == (1, 0)
    assert [(b.rows, b.nnz, b.n_cols) for b in made] == [(2, 0, 0)]
    file.write_text("")
    assert list(LibSVMReader(file, batch_size=5)) == []


def test_whole_batches_come_before_an_error(tmp_path):
    file = tmp_path / "data.svm"
    file.write_text("".join(f"{i} 1:1\n" for i in range(10)) + "x\n" + "1 1:1\n" * 5)
    for chunk_bytes in (1, 33, 4096):
        for prefetch in (0, 2):
            batches = iter(reader(file, 3, chunk_bytes=chunk_bytes, prefetch=prefetch))
            got = [next(batches).labels.tolist() for _ in range(3)]
            assert got == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
            with pytest.raises(LibSVMError, match=":11:1: found 'x'"):
                next(batches)
            assert prefetch_threads() == []


def test_bad_lines_of_the_last_pass_are_reported(tmp_path):
    file = tmp_path / "data.svm"
    file.write_text("1 1:1\nx\n" * 30)
    made = reader(file, 7, bad_lines="skip", chunk_bytes=50)
    for _ in range(2):
        assert sum(b.rows for b in made) == 30
        assert made.bad_lines.count == 30
        assert [e.line for e in made.bad_lines.reports] == list(range(2, 21, 2))


def test_rows_that_fit_are_parsed_once(path):
    made = reader(path)
    first = labels_of(made)
    path.write_text("9 1:1\n")
    assert labels_of(made) == first
    made = reader(path, cache="never")
    labels_of(made)
    path.write_text("8 1:1\n")
    assert labels_of(made) == [[8]]


def test_a_pass_that_was_left_keeps_nothing(path):
    made = reader(path, 1, chunk_bytes=20)
    next(iter(made))
    path.write_text("7 1:1\n")
    assert labels_of(made) == [[7]]


def test_rows_that_do_not_fit_are_parsed_again(path):
    made = reader(path, window_bytes=100, chunk_bytes=20)
    labels_of(made)
    path.write_text("7 1:1\n")
    assert labels_of(made) == [[7]]


def test_arrays_are_read_only(path):
    batch = next(iter(reader(path)))
    for array in (batch.data, batch.indices, batch.indptr, batch.labels):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_batches_outlive_their_reader(path):
    batches = list(reader(path, 3, cache="never", chunk_bytes=10))
    before = [b.to_scipy().toarray() for b in batches]
    for _ in range(5):
        list(reader(path, 3, cache="never", chunk_bytes=10))
    assert all((b.to_scipy().toarray() == x).all() for b, x in zip(batches, before, strict=True))


def test_label_lists_are_cut_into_batches(tmp_path):
    file = tmp_path / "data.svm"
    file.write_text("1,2 1:1\n 1:1\n3 qid:x\n0 1:1\n4,5,6\n".replace(" qid:x", ""))
    for chunk_bytes in (1, 4096):
        batches = list(reader(file, 2, multilabel=True, chunk_bytes=chunk_bytes))
        assert [list(b.label_lists) for b in batches] == [[(1, 2), ()], [(3,), (0,)], [(4, 5, 6)]]
        assert all(b.labels is None for b in batches)


def test_query_ids_and_weights_are_cut_into_batches(tmp_path):
    file = tmp_path / "data.svm"
    file.write_text("".join(f"{i}:{i / 2} qid:{i // 2} 1:1\n" for i in range(5)))
    made = reader(file, 2, weights=True)
    assert made.has_qid and made.labelled
    batches = list(made)
    assert [b.qid.tolist() for b in batches] == [[0, 0], [1, 1], [2]]
    assert [b.weights.tolist() for b in batches] == [[0, 0.5], [1, 1.5], [2]]


def test_a_reader_can_be_read_twice_at_the_same_time(path):
    made = reader(path, 3, cache="never")
    a, b = iter(made), iter(made)
    assert [next(x).labels.tolist() for x in (a, b, a, b)] == [[0, 1, 2]] * 2 + [[3, 4, 5]] * 2


def test_leaving_early_leaves_no_thread(path):
    for take in (1, 2):
        batches = iter(reader(path, 1, chunk_bytes=1, prefetch=2))
        for _ in range(take):
            next(batches)
        assert len(prefetch_threads()) == 1
        batches.close()
        assert prefetch_threads() == []
    for _batch in reader(path, 1, chunk_bytes=1):
        break
    assert prefetch_threads() == []


def test_at_most_a_few_chunks_are_parsed_ahead(tmp_path):
    file = tmp_path / "data.svm"
    file.write_text("1 1:1\n" * 1000)
    with open(file, "rb") as stream:
        made = reader(stream, 1, chunk_bytes=60, prefetch=2)
        batches = iter(made)
        next(batches)
        time.sleep(0.2)
        # 10 rows a chunk: one in use, two waiting, one that finds no room, and the buffer.
        assert stream.tell() <= 6 * 60
        batches.close()


@pytest.mark.parametrize(
    "options, kind",
    [
        ({"batch_size": 0}, ValueError),
        ({"batch_size": 2.5}, TypeError),
        ({"prefetch": -1}, ValueError),
        ({"start_row": -1}, ValueError),
        ({"part_index": 1}, ValueError),
        ({"cache": "always"}, ValueError),
        ({"window_bytes": 0}, ValueError),
    ],
    ids=str,
)
def test_options_are_checked(path, options, kind):
    with pytest.raises(kind, match=next(iter(options))):
        reader(path, **{"batch_size": 4, **options})


def test_seeds_are_integers(path):
    with pytest.raises(TypeError, match="seed"):
        reader(path).epoch(0.5)
    with pytest.raises(ValueError, match="start_row"):
        reader(path).epoch(start_row=-1)


STREAMING = """
import resource, sys
from rarefy.io import LibSVMReader
path, seed = sys.argv[1], None if sys.argv[2] == "None" else int(sys.argv[2])
reader = LibSVMReader(path, batch_size=500, n_features=1000, index_base=0, chunk_bytes=1 << 18,
                      window_bytes=1 << 20)
rows = 0
for number, batch in enumerate(reader.epoch(seed)):
    rows += batch.rows
    if number == 100:
        warm = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - warm)
"""


@pytest.mark.parametrize("seed", [None, 5])
def test_memory_does_not_grow_with_the_file(tmp_path, seed):
    file = tmp_path / "large.svm"
    line = "1 " + " ".join(f"{i}:0.{i}" for i in range(100, 160)) + "\n"
    file.write_text(line * 60_000)  # 35 MB, 43 MB parsed
    command = [sys.executable, "-c", STREAMING, str(file), str(seed)]
    done = subprocess.run(command, capture_output=True, text=True)
    rows, grown_kilobytes = map(int, done.stdout.split())
    assert rows == 60_000
    assert grown_kilobytes < 8_000
