"""A file is replaced as a whole or stays as it was."""

import os
import stat

import pytest

from rarefy.io import replacing


def test_the_new_content_appears_at_the_end(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with replacing(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["file"]


def test_the_old_content_stays_after_an_exception(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(TypeError), replacing(path) as file:
        file.write("not bytes")
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["file"]


def test_permissions_are_those_of_the_old_file_or_of_any_new_one(tmp_path):
    path = tmp_path / "file"
    before = os.umask(0o027)
    try:
        with replacing(path) as file:
            file.write(b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o600)
    with replacing(path) as file:
        file.write(b"y")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with replacing(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "target").read_text() == "new"


def test_a_missing_folder_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError), replacing(tmp_path / "none/file"):
        pass
