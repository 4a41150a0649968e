"""What one look at an input tells."""

import bz2
import io

import numpy as np
import pytest

from rarefy.io import LibSVMError, scan_libsvm


def scan(text, **options):
    return scan_libsvm(io.BytesIO(text.encode()), **options)


def test_facts_worked_out_by_hand():
    found = scan("1 3:0.5 1:0\n-1\n1 2:1 4:1 7:-0.0 9:5\n# c\n-1 9:1\n\n")
    assert (found.rows, found.nnz, found.zeros) == (4, 7, 2)
    assert (found.min_index, found.max_index) == (1, 9)
    assert found.nnz_per_row == (0, 1.75, 4)
    assert found.histogram == ((0, 0, 1), (1, 1, 1), (2, 3, 1), (4, 7, 1))
    assert found.labels == {-1: 2, 1: 2} and found.label_range == (-1, 0, 1)
    assert list(found.labels) == [-1, 1]
    assert found.labelled and not found.has_qid and not found.multilabel
    assert found.index_base == 1 and found.n_features() == 9 and found.n_features(0) == 10
    assert found.density == 5 / (4 * 9)
    assert found.text_bytes == 48 and found.bad_lines.count == 0


def test_an_empty_input():
    found = scan("# nothing\n")
    assert (found.rows, found.nnz, found.min_index, found.labels) == (0, 0, None, {})
    assert found.nnz_per_row == (0, 0.0, 0) and found.label_range is None
    assert found.n_features() == 0 and found.index_base == 1 and found.density == 0


def test_base_zero_is_seen():
    found = scan("1 0:1 5:1\n")
    assert found.index_base == 0 and found.n_features() == 6
    with pytest.raises(ValueError, match="index 0 occurs"):
        found.n_features(1)


def test_the_form_is_seen():
    assert not scan("3:1 8:2\n").labelled
    assert scan("1 qid:3 1:1\n").has_qid
    assert scan("1,2 3:1\n", multilabel=True).labels == {1: 1, 2: 1}
    assert scan("1:0.5 3:1\n", labels="required", weights=True).weights
    with pytest.raises(LibSVMError, match="multilabel=True"):
        scan("1,2 3:1\n")


def test_many_labels_are_not_told_apart():
    text = "".join(f"{i} 1:1\n" for i in range(1000))
    assert len(scan(text).labels) == 1000
    found = scan(text + "0.5 1:1\n", chunk_bytes=300)
    assert found.labels is None and found.label_range == (0, pytest.approx(499500.5 / 1001), 999)


def test_nan_labels_do_not_count():
    found = scan("nan 1:1\n2 1:1\n", allow_nonfinite=True)
    assert found.rows == 2 and found.labels == {2: 1} and found.label_range == (2, 2, 2)


@pytest.mark.parametrize(
    "text, ending",
    [
        ("1 1:1\n2 1:1\n", "lf"),
        ("1 1:1\r\n2 1:1\r\n", "crlf"),
        ("1 1:1\r\n2 1:1\n", "mixed"),
        ("1 1:1", "none"),
        ("1 1:1\r\n2 1:1", "crlf"),
    ],
)
@pytest.mark.parametrize("chunk_bytes", [1, 4096])
def test_line_ends_are_seen(text, ending, chunk_bytes):
    assert scan(text, chunk_bytes=chunk_bytes).line_ending == ending


def test_numbers_that_lose_digits_are_counted():
    found = scan(
        "1 1:16777216 2:16777217 3:16777217.5 4:1e300\n1 1:9007199254740992 2:72057594037927937\n"
    )
    # In float32: 16777217, 1e300 (a whole number, too) and 72057594037927937, which float64 rounds
    # to a power of two that float32 has; it shows in the second count.
    assert found.inexact_float32 == 2
    assert found.beyond_2_53 == 2


def test_bad_lines_are_counted_or_refused():
    text = "1 1:1\n1 1\n" * 20
    found = scan(text, bad_lines="skip")
    assert found.rows == 20 and found.bad_lines.count == 20
    assert [e.line for e in found.bad_lines.reports] == list(range(2, 21, 2))
    with pytest.raises(LibSVMError, match=":2:3: found '1'"):
        scan(text)


def test_repeats_are_refused_or_summed():
    with pytest.raises(LibSVMError, match="every column once"):
        scan("1 3:1 3:2\n")
    assert scan("1 3:1 3:2\n", duplicates="sum").nnz == 1


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("chunk_bytes", [1, 64, 1 << 20])
def test_facts_do_not_depend_on_how_they_are_found(n_threads, chunk_bytes, rng):
    lines = [
        f"{rng.integers(-2, 3)} "
        + " ".join(f"{i}:{rng.random():.3f}" for i in np.sort(rng.choice(50, 5, replace=False)))
        for _ in range(200)
    ]
    text = "\n".join(lines)
    expected = scan(text)
    found = scan(text, n_threads=n_threads, chunk_bytes=chunk_bytes)
    assert found == expected


def test_the_fingerprint_is_that_of_the_text(tmp_path):
    text = b"1 1:1\n2 2:2\n"
    (tmp_path / "a").write_bytes(text)
    (tmp_path / "a.bz2").write_bytes(bz2.compress(text))
    prints = {scan_libsvm(tmp_path / name).fingerprint for name in ("a", "a.bz2")}
    assert len(prints) == 1 and prints.pop().startswith("12-")
    (tmp_path / "b").write_bytes(text.replace(b"2:2", b"2:3"))
    (tmp_path / "half").write_bytes(text[:6])
    (tmp_path / "rest").write_bytes(text[6:])
    others = [scan_libsvm(tmp_path / "b"), scan_libsvm([tmp_path / "half", tmp_path / "rest"])]
    assert len({f.fingerprint for f in (*others, scan_libsvm(tmp_path / "a"))}) == 3
    assert scan_libsvm(tmp_path / "a", fingerprint=False).fingerprint is None


def test_a_folder_is_one_input(tmp_path):
    (tmp_path / "a").write_text("1 0:1")
    (tmp_path / "b").write_text("2 7:1")
    found = scan_libsvm(tmp_path)
    assert found.rows == 2 and found.n_features() == 8 and found.labels == {1: 1, 2: 1}
