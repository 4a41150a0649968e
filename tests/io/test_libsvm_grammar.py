"""What LibSVM text means, case by case, and what is said about text that means nothing."""

import io

import numpy as np
import pytest

from rarefy.io import LibSVMError, load_libsvm


def load(text, **options):
    options.setdefault("index_base", 0)
    return load_libsvm(io.BytesIO(text if isinstance(text, bytes) else text.encode()), **options)


def rows_of(data):
    """Each row as a list of (column, value)."""
    X = data.X
    return [
        list(zip(X.indices[p:q].tolist(), X.data[p:q].tolist(), strict=True))
        for p, q in zip(X.indptr[:-1], X.indptr[1:], strict=True)
    ]


# text, labels, rows
SOUND = {
    "plain": ("1 1:0.5 3:-2\n-1 0:1\n", [1, -1], [[(1, 0.5), (3, -2)], [(0, 1)]]),
    "no final newline": ("1 1:12\n0 2:345", [1, 0], [[(1, 12)], [(2, 345)]]),
    "crlf": ("1 1:1\r\n0 2:1 \r\n", [1, 0], [[(1, 1)], [(2, 1)]]),
    "final return": ("1 1:1\r\n0 2:1\r", [1, 0], [[(1, 1)], [(2, 1)]]),
    "several returns": ("1 1:1\r\r\n2 2:1 \r \n", [1, 2], [[(1, 1)], [(2, 1)]]),
    "spellings": ("+1\t3:.5   7:1.  9:+2e0 \n", [1], [[(3, 0.5), (7, 1), (9, 2)]]),
    "exponents": ("1e0 1:125e-3 2:1E3 3:-2.5e+1\n", [1], [[(1, 0.125), (2, 1000), (3, -25)]]),
    "leading zeros": ("1 007:0001\n", [1], [[(7, 1)]]),
    "comments": ("# header\n2 1:0.5 4:1 # doc=17\n3 1:1#x\n4#\n", [2, 3, 4], None),
    "label only": ("0 3:1\n1\n1 1:2\n", [0, 1, 1], [[(3, 1)], [], [(1, 2)]]),
    "blank lines": ("1 1:1\n\n\r\n \t \n# x\n0 2:1\n\n", [1, 0], [[(1, 1)], [(2, 1)]]),
    "mark": (b"\xef\xbb\xbf1 1:1\n2 2:2\n", [1, 2], [[(1, 1)], [(2, 2)]]),
    "unsorted": ("1 5:1 3:2 4:3\n", [1], [[(3, 2), (4, 3), (5, 1)]]),
    "stored zeros": ("1 1:0 2:-0.0 3:0e5\n", [1], [[(1, 0), (2, 0), (3, 0)]]),
    "leading blanks": ("  1 1:1\n\t2 2:1\n", [1, 2], [[(1, 1)], [(2, 1)]]),
    "long digits": ("1 123456789:1 1234567890:2\n", [1], [[(123456789, 1), (1234567890, 2)]]),
    "empty": ("", [], []),
    "nothing but comments": ("# a\n\n#b", [], []),
}


@pytest.mark.parametrize("text, labels, rows", SOUND.values(), ids=SOUND.keys())
@pytest.mark.parametrize("chunk_bytes", [1, 7, 64, 4096])
def test_sound_text(text, labels, rows, chunk_bytes):
    data = load(text, chunk_bytes=chunk_bytes)
    assert data.y.tolist() == labels
    if rows is not None:
        assert rows_of(data) == rows
    assert data.X.has_canonical_format


def test_values_keep_their_sign_of_zero():
    assert np.signbit(load("1 1:-0.0 2:-0 3:-1e-400\n").X.data).tolist() == [True, True, True]


def test_comments_end_rows():
    data = load("2 qid:7 1:0.5 4:1 # doc=17\n# header only\n")
    assert data.X.shape[0] == 1 and data.X.nnz == 2 and data.qid.tolist() == [7]


def test_query_ids_are_exact():
    data = load("0 qid:72057594037927937 1:1\n1 qid:-9223372036854775808\n")
    assert data.qid.dtype == np.int64
    assert data.qid.tolist() == [72057594037927937, -(2**63)]


def test_weights_stand_behind_labels():
    data = load("1:0.5 3:1\n-1 2:1\n0.5:2e1\n", weights=True)
    assert data.y.tolist() == [1, -1, 0.5]
    assert data.weights.tolist() == [0.5, 1, 20]
    assert load("1 3:1\n").weights is None


def test_label_lists():
    data = load("3,6,7 1:1 2:0.5\n 1:0.3 4:1\n5\n-2,+1\n", multilabel=True)
    assert list(data.y) == [(3, 6, 7), (), (5,), (-2, 1)]
    assert [len(row) for row in rows_of(data)] == [2, 2, 0, 0]


def test_label_lists_as_a_matrix():
    data = load("2,0 1:1\n 1:1\n1 1:1\n", multilabel=True)
    assert data.y.to_indicator().toarray().tolist() == [[1, 0, 1], [0, 0, 0], [0, 1, 0]]
    assert data.y.to_indicator(5).shape == (3, 5)
    with pytest.raises(ValueError, match=r"\[0, 2\)"):
        data.y.to_indicator(2)


def test_label_lists_with_weights_and_query_ids():
    data = load("1,2:3 qid:4 1:1\n qid:5 2:1\n", multilabel=True, weights=True)
    assert list(data.y) == [(1, 2), ()]
    assert data.weights.tolist() == [3, 1] and data.qid.tolist() == [4, 5]


def test_unlabelled_rows():
    for labels in ("none", "auto"):
        data = load("3:1 8:2\n1:1\n", labels=labels)
        assert data.y is None and data.X.shape == (2, 9)
    assert load("1 3:1\n", labels="auto").y.tolist() == [1]
    assert load("qid:4 3:1\n", labels="auto").qid.tolist() == [4]
    assert load(" 3:1\n", labels="auto").y is None


def test_base_one():
    data = load("1 1:1 4:2\n", index_base=1)
    assert data.X.shape == (1, 4) and data.X.indices.tolist() == [0, 3] and data.index_base == 1


def test_repeats_are_summed_on_request():
    data = load("1 3:1 1:2 3:0.5 3:-4\n", duplicates="sum")
    assert rows_of(data) == [[(1, 2), (3, -2.5)]]


def test_repeats_are_summed_in_double_precision():
    # In float32 each single addition would vanish.
    text = "1 0:100000000" + " 0:1" * 1000
    assert load(text, duplicates="sum").X.data.tolist() == [100_001_000]


def test_nonfinite_values_on_request():
    data = load("nan 1:nan 2:-inf 3:Infinity 4:1e39\n", allow_nonfinite=True)
    assert np.array_equal(data.X.data, [np.nan, -np.inf, np.inf, np.inf], equal_nan=True)
    assert np.isnan(data.y[0])


def test_types_of_values():
    assert load("0.1 1:0.1\n").X.dtype == np.float32
    data = load("0.1 1:0.1\n", dtype="float64")
    assert data.X.dtype == data.y.dtype == np.float64
    assert data.X.data[0] == data.y[0] == 0.1


def test_labels_beyond_float32_keep_their_digits_in_float64():
    assert load("16777217 1:1\n", dtype=np.float64).y.tolist() == [16777217]


def test_wide_indices():
    assert load("1 2147483646:1\n").X.indices.dtype == np.int32
    data = load("1 5:1\n1 2147483647:1 9223372036854775806:2\n2 1:1\n")
    assert data.X.indices.dtype == np.int64 and data.X.shape == (3, 2**63 - 1)
    assert data.X.indices.tolist() == [5, 2147483647, 9223372036854775806, 1]
    assert load("1 5:1\n", n_features=2**40).X.indices.dtype == np.int64
    skipped = load("x\n1 2147483647:1\n", bad_lines="skip")
    assert skipped.X.indices.tolist() == [2147483647] and skipped.bad_lines.count == 1


# text, options, line, column, found, part of what is expected
BROKEN = {
    "glued tokens": ("1 1:1\n0 2:6.5e-014:8.7\n", {}, 2, 3, "2:6.5e-014:8.7", "a number"),
    "junk": ("1 1:1\n\n1 3:x\n", {}, 3, 3, "3:x", "a number behind the colon"),
    "junk index": ("1 a:1\n", {}, 1, 3, "a:1", "digits before the colon"),
    "empty index": ("1 :1\n", {}, 1, 3, ":1", "digits before the colon"),
    "plus index": ("1 +3:1\n", {}, 1, 3, "+3:1", "digits before the colon"),
    "bare index": ("1 4:1 7\n", {}, 1, 7, "7", "a feature 'index:value'"),
    "blank behind the colon": ("1 63: .50\n", {}, 1, 3, "63:", "a number right behind"),
    "no value": ("1 3:\n", {}, 1, 3, "3:", "a number right behind the colon"),
    "negative index": ("1 -3:1\n", {}, 1, 3, "-3:1", "an index of 0 or more"),
    "below the base": ("1 0:1\n", {"index_base": 1}, 1, 3, "0:1", "counts its columns from 1"),
    "beyond the width": ("1 4:1\n", {"n_features": 4}, 1, 3, "4:1", "at most 3"),
    "beyond the width, base 1": (
        "1 5:1\n",
        {"n_features": 4, "index_base": 1},
        1,
        3,
        "5:1",
        "at most 4",
    ),
    "beyond int64": ("1 18446744073709551557:1 7:2\n", {}, 1, 3, "18446744073709551557:1", "hash"),
    "one beyond int64": (
        "1 9223372036854775807:1\n",
        {},
        1,
        3,
        "9223372036854775807:1",
        "9223372036854775806",
    ),
    "repeat": ("1 3:1 4:1 3:1\n", {}, 1, 11, "3:1", "duplicates='sum'"),
    "not finite": ("1 1:nan\n", {}, 1, 3, "1:nan", "allow_nonfinite"),
    "beyond float32": ("1 1:1e39\n", {}, 1, 3, "1:1e39", "float32"),
    "beyond float64": ("1 1:1e309\n", {"dtype": "float64"}, 1, 3, "1:1e309", "float64"),
    "sum beyond float32": (
        "1 1:3e38 2:1 1:3e38\n",
        {"duplicates": "sum"},
        1,
        14,
        "1:3e38",
        "finite",
    ),
    "label junk": ("x 1:1\n", {}, 1, 1, "x", "a number as label"),
    "label not finite": ("inf 1:1\n", {}, 1, 1, "inf", "a finite label"),
    "no label": (" 1:0.3 4:1\n", {}, 1, 2, "1:0.3", "a label"),
    "unexpected weight": ("1:0.5 4:1\n", {}, 1, 1, "1:0.5", "weights=True"),
    "unexpected list": ("3,6 4:1\n", {}, 1, 1, "3,6", "multilabel=True"),
    "unexpected label": ("1 3:1\n", {"labels": "none"}, 1, 1, "1", "no labels"),
    "list junk": ("3,x 4:1\n", {"multilabel": True}, 1, 1, "3,x", "integer labels"),
    "open list": ("3, 4:1\n", {"multilabel": True}, 1, 1, "3,", "integer labels"),
    "repeated label": ("3,1,3 4:1\n", {"multilabel": True}, 1, 1, "3,1,3", "every label once"),
    "list without blank": ("1:0.3 4:1\n", {"multilabel": True}, 1, 1, "1:0.3", "a label"),
    "weight junk": ("1:x 4:1\n", {"weights": True}, 1, 1, "1:x", "a number as weight"),
    "weight not finite": ("1:nan 4:1\n", {"weights": True}, 1, 1, "1:nan", "a finite weight"),
    "query id missing": ("1 qid:1 1:1\n1 1:1\n", {}, 2, 3, "1:1", "as in the first row"),
    "query id unexpected": ("1 1:1\n1 qid:1 1:1\n", {}, 2, 3, "qid:1", "the first row has none"),
    "query id late": ("1 qid:1 1:1 qid:2\n", {}, 1, 13, "qid:2", "once and before"),
    "query id junk": ("1 qid:1.5 1:1\n", {}, 1, 3, "qid:1.5", "an integer"),
    "query id beyond": ("1 qid:9223372036854775808\n", {}, 1, 3, "qid:9223372036854775808", "64"),
    "return inside": ("1 1:1\r2 2:1\n", {}, 1, 6, "\r", "only at the end"),
    "control character": ("1 1:1 \x01\n", {}, 1, 7, "\x01", "a feature"),
    "nul": (b"1 1:1 2\x00:5\n", {}, 1, 7, "2", "a feature"),
    "not ascii": ("1 ü:1\n", {}, 1, 3, "ü:1", "digits"),
    "underscore": ("1 1:1_000\n", {}, 1, 3, "1:1_000", "a number"),
    "hexadecimal": ("1 1:0x1p3\n", {}, 1, 3, "1:0x1p3", "a number"),
    "leftmost": ("1 9:1 1: x\n", {"n_features": 5}, 1, 3, "9:1", "at most 4"),
    "with a mark": (b"\xef\xbb\xbf1 x\n", {}, 1, 3, "x", "a feature"),
}


@pytest.mark.parametrize(
    "text, options, line, column, found, expected", BROKEN.values(), ids=BROKEN.keys()
)
@pytest.mark.parametrize("chunk_bytes", [1, 4096])
def test_broken_text_is_an_error_with_its_place(
    text, options, line, column, found, expected, chunk_bytes
):
    with pytest.raises(LibSVMError) as caught:
        load(text, chunk_bytes=chunk_bytes, **options)
    error = caught.value
    assert (error.line, error.column, error.found) == (line, column, found)
    assert expected in error.expected
    assert str(error).startswith(f"<stream>:{line}:{column}: found {found!r}, expected ")


# text, part of the hint
LOOK_ALIKES = {
    "table": ("1 1\n0 0\n", "plain table"),
    "csv": ("1,0.5,2\n", "CSV"),
    "csv with a header": ("label,age\n", "CSV"),
    "libffm": ("1 2:17:0.5 3:9:1\n", "LibFFM"),
    "vowpal wabbit": ("1 |f 3:1\n", "Vowpal Wabbit"),
    "json": ('{"a": 1}\n', "JSON"),
    "matrix market": ("%%MatrixMarket matrix coordinate\n", "Matrix Market"),
    "arff": ("@relation x\n", "ARFF"),
    "query id without colon": ("1 qid 7 1:1\n", "qid:7"),
    "blank behind a colon": ("1 63: .50\n", "no blank behind the colon"),
    "old line ends": ("1 1:1\r0 2:1\r", "Macintosh"),
}


@pytest.mark.parametrize("text, hint", LOOK_ALIKES.values(), ids=LOOK_ALIKES.keys())
def test_another_format_is_named(text, hint):
    with pytest.raises(LibSVMError, match=hint) as caught:
        load(text)
    assert hint in caught.value.hint


def test_a_long_token_is_shortened():
    with pytest.raises(LibSVMError) as caught:
        load("1 1:" + "9" * 500 + "x\n")
    assert len(caught.value.found) == 60 and caught.value.found.endswith("…")


def test_an_error_survives_pickling():
    import pickle

    with pytest.raises(LibSVMError) as caught:
        load("1 1\n")
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.line == 1 and again.kind == "colon_missing"


def test_every_kind_of_error_has_words():
    from rarefy._primitives._text import ERROR_KINDS
    from rarefy.io._errors import expectation

    for kind in range(1, len(ERROR_KINDS)):
        assert expectation(kind, base=1, width=7, dtype="float32")


def test_bad_lines_are_skipped_and_counted():
    text = "x 1:1\n" + "1 1:1\n1 1\n" * 20 + "0 qid:1\n"
    data = load(text, bad_lines="skip")
    assert data.y.tolist() == [1] * 20
    assert data.bad_lines.count == 22
    assert [(e.line, e.column) for e in data.bad_lines.reports[:3]] == [(1, 1), (3, 3), (5, 3)]
    assert len(data.bad_lines.reports) == 10
    assert load("1 1:1\n", bad_lines="skip").bad_lines.count == 0


def test_the_form_is_that_of_the_first_sound_row():
    data = load("junk\n1 qid:3 1:1\n1 1:1\n", bad_lines="skip")
    assert data.qid.tolist() == [3] and data.bad_lines.count == 2


OPTIONS = [
    ({"dtype": "int32"}, ValueError, "dtype"),
    ({"index_base": 2}, ValueError, "index_base"),
    ({"index_base": True}, ValueError, "index_base"),
    ({"labels": "some"}, ValueError, "labels"),
    ({"duplicates": "keep"}, ValueError, "duplicates"),
    ({"bad_lines": "ignore"}, ValueError, "bad_lines"),
    ({"weights": True, "labels": "auto"}, ValueError, "weights"),
    ({"multilabel": True, "labels": "none"}, ValueError, "multilabel"),
    ({"n_features": -1}, ValueError, "n_features"),
    ({"n_features": 2**63 - 1}, ValueError, "n_features"),
    ({"n_features": 1.5}, TypeError, "n_features"),
    ({"nrows": -1}, ValueError, "nrows"),
    ({"num_parts": 2, "part_index": 2}, ValueError, "part_index"),
    ({"n_threads": 0}, ValueError, "n_threads"),
    ({"chunk_bytes": 0}, ValueError, "chunk_bytes"),
]


@pytest.mark.parametrize("options, kind, name", OPTIONS, ids=lambda x: str(x)[:40])
def test_options_are_checked(options, kind, name):
    with pytest.raises(kind, match=name):
        load("1 1:1\n", **options)
