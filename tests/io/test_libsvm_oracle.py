"""The reader against a slow parser that shares no code with it, on text from hypothesis."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import libsvm as oracle
from rarefy.io import LibSVMError, load_libsvm, scan_libsvm

DIGITS = st.text("0123456789", min_size=1, max_size=4)
NUMBERS = st.one_of(
    st.sampled_from(["0", "1", "-1", "0.5", "+.5", "1.", "1e3", "2E-4", "-0.0"]),
    st.integers(-(10**6), 10**6).map(str),
    st.floats(allow_nan=False, allow_infinity=False, width=32).map(str),
    st.builds("{}.{}e{}".format, DIGITS, st.text("0123456789", max_size=25), st.integers(-30, 20)),
)
INDICES = st.one_of(st.integers(0, 9), st.integers(0, 2**31 + 5), st.integers(0, 2**63)).map(str)
BLANKS = st.sampled_from([" ", " ", " ", "\t", "  "])
JUNK = st.sampled_from(["x", "1", "3:", ":1", "-3:1", "1:2:3", "qid:3", "1:nan", "1:1e99", "\x01"])
ENDS = st.sampled_from(["", "", "", " ", "#c 1:1", " # 2:2", "\r", " \r"])


# How archives and UTF-16 begin.
OTHER_FORMATS = (b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"PK\x03\x04")
OTHER_FORMATS += (b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf\x27\x1c", b"\x04\x22\x4d\x18")


def features(junk):
    feature = st.builds("{}:{}".format, INDICES, NUMBERS)
    return st.lists(st.one_of(*[feature] * 12, *([JUNK] if junk else [])), max_size=6)


@st.composite
def lines(draw, form, junk):
    if draw(st.integers(0, 7)) == 0:
        return draw(st.sampled_from(["", " ", "\r", "# note", "\t# 1 1:1"]))
    head = []
    if form["labelled"]:
        if form["multilabel"]:
            ids = draw(st.lists(st.integers(-3, 12).map(str), max_size=4, unique=True))
            label = ",".join(ids)
        else:
            label = draw(NUMBERS)
        if form["weights"] and label and draw(st.booleans()):
            label += ":" + draw(NUMBERS)
        head.append(label)
    if form["qid"]:
        head.append(f"qid:{draw(st.integers(-(2**63), 2**63 - 1))}")
    tokens = head + draw(features(junk))
    if junk and tokens and draw(st.integers(0, 9)) == 0:
        tokens[draw(st.integers(0, len(tokens) - 1))] = draw(JUNK)
    text = "".join(token + draw(BLANKS) for token in tokens[:-1]) + "".join(tokens[-1:])
    return text + draw(ENDS)


@st.composite
def texts(draw, junk):
    form = draw(
        st.fixed_dictionaries(
            {k: st.booleans() for k in ("labelled", "multilabel", "weights", "qid")}
        )
    )
    form["multilabel"] &= form["labelled"]
    form["weights"] &= form["labelled"]
    rest = draw(st.lists(lines(form, junk), max_size=8))
    # The first row shows whether there are query ids, so it is always there and sound.
    first = ("1" if form["labelled"] else "") + (" qid:1" if form["qid"] else "") + " 2:1"
    text = "\n".join([first.strip() if not form["labelled"] else first, *rest])
    return form, text.encode() + draw(st.sampled_from([b"", b"\n", b"\r\n"]))


OPTIONS = st.fixed_dictionaries(
    {
        "dtype": st.sampled_from([np.float32, np.float64]),
        "base": st.integers(0, 1),
        "width": st.sampled_from([None, 9, 2**31, 2**40]),
        "sum_repeats": st.booleans(),
        "allow_nonfinite": st.booleans(),
    }
)
CUTS = st.fixed_dictionaries(
    {"chunk_bytes": st.sampled_from([1, 7, 64, 4096]), "n_threads": st.integers(1, 3)}
)


def load(text, form, options, **more):
    return load_libsvm(
        io.BytesIO(text),
        labels="required" if form["labelled"] else "none",
        multilabel=form["multilabel"],
        weights=form["weights"],
        dtype=options["dtype"],
        index_base=options["base"],
        n_features=options["width"],
        duplicates="sum" if options["sum_repeats"] else "error",
        allow_nonfinite=options["allow_nonfinite"],
        **more,
    )


def same(a, b):
    return np.array_equal(a, b, equal_nan=True) and np.array_equal(np.signbit(a), np.signbit(b))


def check(data, rows, form, options):
    dtype = options["dtype"]
    assert data.X.shape[0] == len(rows)
    assert data.X.dtype == dtype and data.X.indices.dtype == data.X.indptr.dtype
    columns = [column for row in rows for column, _ in row.entries]
    assert data.X.indices.tolist() == columns
    assert same(data.X.data, np.array([v for row in rows for _, v in row.entries], dtype))
    assert np.diff(data.X.indptr).tolist() == [len(row.entries) for row in rows]
    width = max(columns, default=-1) + 1 if options["width"] is None else options["width"]
    assert data.X.shape[1] == data.n_features == width
    if form["multilabel"]:
        assert [list(ids) for ids in data.y] == [row.labels for row in rows]
    elif form["labelled"]:
        assert same(data.y, np.array([row.labels[0] for row in rows], dtype))
    else:
        assert data.y is None
    if form["weights"]:
        assert same(data.weights, np.array([row.weight for row in rows], dtype))
    assert (data.qid.tolist() if form["qid"] else data.qid) == (
        [row.qid for row in rows] if form["qid"] else None
    )


@given(texts(junk=False), OPTIONS, CUTS)
def test_rows_are_those_of_the_oracle(made, options, cuts):
    form, text = made
    rows, bad = oracle.parse(text, **form, **options, skip=True)
    if not bad:
        check(load(text, form, options, **cuts), rows, form, options)
        return
    with pytest.raises(LibSVMError) as caught:
        load(text, form, options, **cuts)
    assert (caught.value.line, caught.value.column) == bad[0]


@given(texts(junk=True), OPTIONS, CUTS)
def test_bad_lines_are_those_of_the_oracle(made, options, cuts):
    form, text = made
    rows, bad = oracle.parse(text, **form, **options, skip=True)
    data = load(text, form, options, bad_lines="skip", **cuts)
    check(data, rows, form, options)
    assert data.bad_lines.count == len(bad)
    assert [(e.line, e.column) for e in data.bad_lines.reports] == bad[:10]
    if bad:
        with pytest.raises(LibSVMError) as caught:
            load(text, form, options, **cuts)
        assert (caught.value.line, caught.value.column) == bad[0]


@given(st.binary(max_size=60), CUTS)
def test_any_bytes_are_rows_or_an_error(text, cuts):
    form = {"labelled": True, "multilabel": False, "weights": False, "qid": False}
    options = {"base": 0, "width": None, "sum_repeats": False, "allow_nonfinite": False}
    options["dtype"] = np.float32
    if text.startswith(OTHER_FORMATS) or b"qid:" in text:
        return
    rows, bad = oracle.parse(text, **form, **options, skip=True)
    data = load(text, form, options, bad_lines="skip", **cuts)
    check(data, rows, form, options)
    assert data.bad_lines.count == len(bad)


@given(texts(junk=True), CUTS)
def test_a_scan_counts_what_the_oracle_finds(made, cuts):
    form, text = made
    rows, bad = oracle.parse(text, **form, dtype=np.float64, skip=True)
    scan = scan_libsvm(
        io.BytesIO(text),
        labels="required" if form["labelled"] else "none",
        multilabel=form["multilabel"],
        weights=form["weights"],
        bad_lines="skip",
        **cuts,
    )
    columns = [column for row in rows for column, _ in row.entries]
    sizes = [len(row.entries) for row in rows]
    assert (scan.rows, scan.nnz, scan.bad_lines.count) == (len(rows), len(columns), len(bad))
    assert (scan.min_index, scan.max_index) == (
        (min(columns), max(columns)) if columns else (None, None)
    )
    assert scan.zeros == sum(value == 0 for row in rows for _, value in row.entries)
    assert scan.nnz_per_row == (min(sizes), sum(sizes) / len(sizes), max(sizes))
    assert sum(n for _, _, n in scan.histogram) == len(rows)
    for low, high, n in scan.histogram:
        assert n == sum(low <= size <= high for size in sizes)
    labels = [label for row in rows for label in row.labels]
    assert scan.labels == {label: labels.count(label) for label in sorted(set(labels))}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(
    st.one_of(
        st.floats(allow_nan=False, allow_infinity=False).map(repr),
        st.floats(allow_nan=False, allow_infinity=False, width=32).map(str),
        st.builds("{}.{}".format, DIGITS, st.text("0123456789", max_size=30)),
        st.builds("{}e{}".format, st.integers(0, 10**25), st.integers(-70, 40)),
        # a decimal in the middle between two floats, and its neighbours
        st.builds(
            "{}.5{}".format,
            st.integers(2**23, 2**24 - 1),
            st.sampled_from(["", "0", "0" * 20 + "1", "1"]),
        ),
    )
)
def test_numbers_are_the_nearest(dtype, text):
    expected = oracle.nearest(text, dtype)
    data = load_libsvm(
        io.BytesIO(f"1 1:{text}\n".encode()), index_base=0, dtype=dtype, allow_nonfinite=True
    )
    assert same(data.X.data, np.array([expected], dtype))
    if dtype is np.float64:
        assert expected == float(text)
