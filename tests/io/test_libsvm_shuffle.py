"""Random orders: complete, the same for the same seed, and as thorough as memory allows."""

import gzip
import hashlib
import io

import numpy as np
import pytest

from rarefy._primitives._text import gather_segments, permutation
from rarefy.io import LibSVMReader

ROWS = 20_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shuffle")
    lines = [f"{i} {i % 7}:{i} {i % 7 + 10}:1\n".encode() for i in range(ROWS)]
    (folder / "plain.svm").write_bytes(b"".join(lines))
    (folder / "packed.svm.gz").write_bytes(gzip.compress(b"".join(lines), 1))
    (folder / "parts").mkdir()
    for k in range(3):
        (folder / f"parts/{k}").write_bytes(
            b"".join(lines[k * 5000 : (k + 1) * 5000 + 5000 * (k == 2)])
        )
    return folder


def reader(source, **options):
    return LibSVMReader(source, **{"batch_size": 512, "n_features": 20, "index_base": 0, **options})


def order_of(made, seed, **options):
    rows = []
    for batch in made.epoch(seed, **options):
        assert batch.first_row == options.get("start_row", 0) + len(rows)
        labels = batch.labels.astype(int)
        # Every row still has its own entries.
        assert np.array_equal(np.diff(batch.indptr), np.full(batch.rows, 2))
        assert np.array_equal(batch.indices[::2], labels % 7)
        assert np.array_equal(batch.data[::2], labels)
        rows += labels.tolist()
    return rows


# 20 bytes or so a row once parsed: 700 kB together, so 100 kB are about a seventh.
KINDS = [
    ("plain.svm", 1 << 28, "full"),
    ("packed.svm.gz", 1 << 28, "full"),
    ("parts", 1 << 28, "full"),
    ("plain.svm", 100_000, "chunks"),
    ("parts", 100_000, "chunks"),
    ("packed.svm.gz", 100_000, "window"),
]


@pytest.mark.parametrize("name, window_bytes, kind", KINDS, ids=[f"{k[0]}-{k[2]}" for k in KINDS])
def test_an_order_is_complete_and_repeatable(folder, name, window_bytes, kind):
    options = {"window_bytes": window_bytes, "chunk_bytes": 20_000}
    made = reader(folder / name, **options)
    assert made.shuffle_kind is None
    first = order_of(made, 1)
    assert made.shuffle_kind == kind
    assert sorted(first) == list(range(ROWS)) and first != sorted(first)
    assert order_of(made, 1) == first
    assert order_of(made, 2) != first
    # Another reader, threads, batches, no look-ahead, no cache: the same order.
    other = reader(folder / name, **options, n_threads=1, prefetch=0, cache="never", batch_size=300)
    assert order_of(other, 1) == first
    assert order_of(other, 1, start_row=12_345) == first[12_345:]
    # Passes in the order of the file in between change nothing.
    assert order_of(other, None) == list(range(ROWS))
    assert order_of(other, 1) == first


def test_rows_move_as_far_as_memory_allows(folder):
    options = {"window_bytes": 100_000, "chunk_bytes": 20_000}
    chunks = np.array(order_of(reader(folder / "plain.svm", **options), 1))
    window = np.array(order_of(reader(folder / "packed.svm.gz", **options), 1))
    full = np.array(order_of(reader(folder / "plain.svm"), 1))

    def mean_move(order):
        return np.abs(order - np.arange(ROWS)).mean() / ROWS

    assert mean_move(full) == pytest.approx(1 / 3, abs=0.01)
    assert mean_move(chunks) > 0.15
    assert 0.01 < mean_move(window) < 0.1
    # Of neighbours in the file, only the full order keeps almost none together.
    assert (np.abs(np.diff(full)) == 1).mean() < 0.001
    assert (np.abs(np.diff(chunks)) == 1).mean() < 0.01


@pytest.mark.parametrize("name", ["plain.svm", "packed.svm.gz"])
@pytest.mark.parametrize("window_bytes", [1 << 28, 60_000])
def test_parts_are_shuffled_for_themselves(folder, name, window_bytes):
    rows = []
    for k in range(3):
        part = reader(folder / name, part_index=k, num_parts=3, window_bytes=window_bytes)
        in_order = order_of(part, None)
        shuffled = order_of(part, 9)
        assert shuffled != in_order and sorted(shuffled) == in_order
        rows += shuffled
    assert sorted(rows) == list(range(ROWS))


def test_a_stream_is_shuffled_too():
    class OneWay(io.RawIOBase):
        def __init__(self):
            self._content = io.BytesIO(b"".join(b"%d %d:%d 1:1\n" % (i, 0, i) for i in range(500)))

        def readinto(self, buffer):
            return self._content.readinto(buffer)

    made = reader(OneWay())
    first = [y for b in made.epoch(1) for y in b.labels.tolist()]
    assert sorted(first) == list(range(500)) and made.shuffle_kind == "full"
    assert [y for b in made.epoch(1) for y in b.labels.tolist()] == first
    made = reader(OneWay(), window_bytes=3000, chunk_bytes=1000)
    rows = [y for b in made.epoch(1) for y in b.labels.tolist()]
    assert sorted(rows) == list(range(500)) and made.shuffle_kind == "window"


def test_everything_moves_with_its_row(tmp_path):
    file = tmp_path / "data.svm"
    file.write_text("".join(f"{i},{i + 1}:{i}.5 qid:{i} {i}:1\n" for i in range(50)))
    made = LibSVMReader(file, batch_size=50, multilabel=True, weights=True)
    (batch,) = made.epoch(4)
    order = batch.qid.tolist()
    assert sorted(order) == list(range(50)) != order
    assert list(batch.label_lists) == [(i, i + 1) for i in order]
    assert batch.weights.tolist() == [i + 0.5 for i in order]
    assert batch.indices.tolist() == order


def test_an_empty_input_is_shuffled(tmp_path):
    (tmp_path / "empty").write_bytes(b"\n# nothing\n")
    made = reader(tmp_path / "empty")
    assert list(made.epoch(1)) == [] and made.shuffle_kind == "full"
    assert list(made.epoch(2)) == []


def expected_permutation(count, seed):
    """SplitMix64 and Fisher-Yates, word by word."""
    mask = (1 << 64) - 1

    def draw():
        nonlocal seed
        seed = z = (seed + 0x9E3779B97F4A7C15) & mask
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    order = list(range(count))
    for i in range(count, 1, -1):
        random = draw()
        while random < (1 << 64) % i:
            random = draw()
        j = random % i
        order[i - 1], order[j] = order[j], order[i - 1]
    return order


@pytest.mark.parametrize("count", [0, 1, 2, 10, 1000])
@pytest.mark.parametrize("seed", [0, 42, 2**64 - 1])
def test_permutations_are_those_of_all_time(count, seed):
    assert permutation(count, seed).tolist() == expected_permutation(count, seed)


def test_permutations_are_evenly_spread():
    counts = {}
    for seed in range(6000):
        order = tuple(permutation(3, seed).tolist())
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 6 and max(abs(n - 1000) for n in counts.values()) < 120


def test_the_order_of_a_file_is_pinned(tmp_path):
    # A resumed training must find its rows again, also with a later version.
    (tmp_path / "data.svm").write_text("".join(f"{i} 0:1\n" for i in range(20)))
    digest = hashlib.blake2b(b"7/0", digest_size=8).digest()
    expected = expected_permutation(20, int.from_bytes(digest, "little"))
    rows = [y for b in reader(tmp_path / "data.svm").epoch(7) for y in b.labels.astype(int)]
    assert rows == expected


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
def test_segments_are_gathered(dtype, rng):
    lengths = rng.integers(0, 5, 40)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    values = np.arange(starts[-1]).astype(dtype)
    order = rng.integers(0, 40, 100)
    indptr, out = gather_segments(starts, values, order)
    expected = [values[starts[i] : starts[i + 1]] for i in order]
    assert np.array_equal(out, np.concatenate(expected)) and out.dtype == dtype
    assert np.array_equal(np.diff(indptr), [len(x) for x in expected])


def test_segments_out_of_range_are_refused():
    starts, values = np.array([0, 2, 3]), np.zeros(3, np.float32)
    for order in ([2], [-1]):
        with pytest.raises(IndexError):
            gather_segments(starts, values, np.array(order))
    with pytest.raises(ValueError):
        gather_segments(np.array([0, 5]), values, np.array([0]))
    with pytest.raises(TypeError):
        gather_segments(starts, values.astype(np.float16), np.array([0]))
