"""The committed type stubs are what the registry gives today."""

import importlib.util
from pathlib import Path

from rarefy._ops.defs import OPERATORS

ROOT = Path(__file__).parents[2]


def stub_files() -> dict[Path, str]:
    spec = importlib.util.spec_from_file_location("stubs", ROOT / "tools/stubs.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.stubs()


def test_stubs_are_fresh():
    stale = [p.name for p, text in stub_files().items() if p.read_text() != text]
    assert not stale, "run tools/stubs.py"


def test_every_operator_is_in_a_stub():
    text = "".join(stub_files().values())
    assert not [name for name in OPERATORS if f"def {name}(" not in text]
