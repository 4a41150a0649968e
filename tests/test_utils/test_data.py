"""Fetching data sets, from files of this machine."""

import bz2

import pytest

from rarefy.test_utils import get_bz2_data


def test_a_packed_file_is_fetched_once_and_unpacked(tmp_path):
    source, folder = tmp_path / "served.bz2", tmp_path / "data"
    source.write_bytes(bz2.compress(b"1 0:2\n"))
    for _ in range(2):
        get_bz2_data(str(folder), "rows.svm", source.as_uri(), "rows.bz2")
        assert [(p.name, p.read_bytes()) for p in folder.iterdir()] == [("rows.svm", b"1 0:2\n")]
        source.unlink(missing_ok=True)  # the second time nothing is fetched


def test_what_is_not_packed_or_not_there_leaves_no_file(tmp_path):
    source, folder = tmp_path / "served.bz2", tmp_path / "data"
    source.write_bytes(b"no bz2 at all")
    for _ in range(2):
        with pytest.raises(OSError):
            get_bz2_data(str(folder), "rows.svm", source.as_uri(), "rows.bz2")
        assert list(folder.iterdir()) == []
        source.unlink(missing_ok=True)
