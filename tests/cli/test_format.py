"""Numbers and names for people."""

import sys

import pytest

from rarefy.cli._format import bytes_text, plural, program

SIZES = [(0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (1536, "1.5 KiB"), (5 << 40, "5 TiB")]


@pytest.mark.parametrize(("count", "text"), SIZES)
def test_bytes_have_a_unit(count, text):
    assert bytes_text(count) == text


def test_one_is_no_plural():
    assert (plural(1, "row"), plural(0, "row"), plural(2000, "row")) == (
        "1 row",
        "0 rows",
        "2,000 rows",
    )


def test_program_is_named_as_it_can_be_called(tmp_path, monkeypatch):
    for folder in ("a", "b c"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "rarefy").write_text("#!/bin/sh\n")
        (tmp_path / folder / "rarefy").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "a"))
    for called, expected in (
        ("a/rarefy", "rarefy"),  # on the path
        ("b c/rarefy", "'b c/rarefy'"),  # another one than that on the path
        ("somewhere/__main__.py", "rarefy"),  # python -m rarefy.cli
    ):
        monkeypatch.setattr(sys, "argv", [called])
        assert program() == expected
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "argv", ["a/rarefy"])
    assert program() == "a/rarefy"
