"""`rarefy inspect`."""

import gzip
import json

import pytest

FILE = "# made up\n1 1:0.5 4:2\r\n0\n\n1 2:1 3:0\n0 x:1\n1 4:16777217\n"


def facts(rarefy, path, *options):
    status, out, err = rarefy("inspect", path, "--json", *options)
    assert (status, err) == (0, "")
    return json.loads(out)


def test_counts_of_a_small_file(rarefy, tmp_path):
    path = tmp_path / "x.svm"
    path.write_bytes(FILE.encode())
    found = facts(rarefy, path)
    expected = {
        "rows": 4,
        "columns": 4,
        "min_index": 1,
        "max_index": 4,
        "index_base": 1,
        "stored": 5,
        "stored_zeros": 1,
        "density": 0.25,
        "stored_per_row": {"least": 0, "mean": 1.25, "most": 2},
        "histogram": [[0, 0, 1], [1, 1, 1], [2, 3, 2]],
        "labels": [[0, 1], [1, 3]],
        "label_range": [0, 0.75, 1],
        "qid": False,
        "line_ending": "mixed",
        "bad_lines": 1,
        "text_bytes": len(FILE.encode()),
        "inexact_float32": 1,
        # csr: 5 values and 5 column numbers of 4 bytes, 5 row bounds. row_sparse: 3 of the 4 rows
        # with 4 values, and an 8-byte number each. dense: 16 values.
        "bytes": {"csr": 60, "row_sparse": 72, "dense": 64},
        "choose": "csr",
    }
    assert {key: found[key] for key in expected} == expected
    assert found["first_bad_lines"][0].startswith(f"{path}:6:3: found 'x:1'")


def test_text_says_the_same(rarefy, tmp_path):
    (tmp_path / "x.svm").write_bytes(FILE.encode())
    status, out, err = rarefy("inspect", "x.svm")
    assert (status, err) == (0, "")
    for part in (
        "rows          4\n",
        "columns       4 (indices 1 to 4)",
        "5, 1 of them zero",
        "25% not zero",
        "0 to 2, 1.25 on average",
        "0 (1, 25%), 1 (3, 75%)",
        "loss logistic",
        "1, as index 0 does not occur",
        "mixed",
        "1, left out of all counts here",
        "x.svm:6:3: found 'x:1'",
        "csr 60 B, row_sparse 72 B, dense 64 B",
        "csr: 25% of the elements are not zero; csr takes 93.8% of dense",
        "1 whole number changed by float32",
    ):
        assert part in out, part


CHOICES = [
    ("1 0:1 1:1 2:1\n0 0:1 1:1\n", "dense"),
    ("1 0:1 9:1\n0 1:1\n", "csr"),
    ("1 0:1 1:1 2:1\n" + "0\n" * 9, "row_sparse"),
    ("1\n0\n", "csr"),
]


@pytest.mark.parametrize(("text", "storage"), CHOICES)
def test_storage_follows_from_the_density(rarefy, tmp_path, text, storage):
    (tmp_path / "x.svm").write_text(text)
    assert facts(rarefy, "x.svm")["choose"] == storage


def test_packed_files_folders_and_streams_are_the_same(rarefy, tmp_path, spawn):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "a").write_text("1 1:1\n0 2:1")  # no newline at the end
    (tmp_path / "parts" / "b").write_text("1 3:1\n")
    whole = "1 1:1\n0 2:1\n1 3:1\n"
    (tmp_path / "x.gz").write_bytes(gzip.compress(whole.encode()))
    for source in ("parts", "x.gz"):
        found = facts(rarefy, source)
        assert (found["rows"], found["stored"], found["columns"]) == (3, 3, 3)
    process = spawn("inspect", "-", "--json", stdin=-1, stdout=-1)
    out, _ = process.communicate(whole)
    assert json.loads(out)["rows"] == 3


def test_lists_of_labels_weights_and_queries(rarefy, tmp_path):
    (tmp_path / "lists").write_text("3,6 1:1\n 1:2\n")
    assert facts(rarefy, "lists", "--multilabel")["multilabel"]
    (tmp_path / "weights").write_text("1:0.5 1:1\n0 1:2\n")
    assert facts(rarefy, "weights", "--weights")["weights"]
    (tmp_path / "queries").write_text("1 qid:7 1:1\n0 qid:7 1:2\n")
    assert facts(rarefy, "queries")["qid"]
    assert "query ids" in rarefy("inspect", "queries")[1]
    (tmp_path / "bare").write_text("1:1 2:1\n2:1\n")
    assert facts(rarefy, "bare")["labelled"] is False


def test_repeated_columns_are_bad_lines_or_summed(rarefy, tmp_path):
    (tmp_path / "x").write_text("1 1:1 1:2\n0 1:2\n")
    assert facts(rarefy, "x")["bad_lines"] == 1
    assert facts(rarefy, "x", "--duplicates", "sum")["bad_lines"] == 0


def test_many_labels_are_summed_up(rarefy, tmp_path):
    (tmp_path / "x").write_text("".join(f"{i / 7} 1:1\n" for i in range(40)))
    out = rarefy("inspect", "x")[1]
    assert "40 different, 0 to 5.57143" in out
    assert "loss squared" in out
    (tmp_path / "x").write_text("".join(f"{i} 1:1\n" for i in range(1500)))
    assert "more than 1,000 different" in rarefy("inspect", "x")[1]
    (tmp_path / "x").write_text("5 1:1\n5 1:1\n")
    assert "train would refuse: all labels are 5" in rarefy("inspect", "x")[1]


def test_empty_files_have_no_rows(rarefy, tmp_path):
    (tmp_path / "x").write_text("")
    assert facts(rarefy, "x")["rows"] == 0
    assert rarefy("inspect", "x")[0] == 0
