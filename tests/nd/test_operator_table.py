"""The committed table of storage types is what the registry gives today."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]


def page() -> str:
    spec = importlib.util.spec_from_file_location("operators", ROOT / "tools/operators.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.page()


def test_the_table_is_fresh_and_says_what_mxnet_measured():
    text = (ROOT / "docs/operators.md").read_text()
    assert page() == text, "run tools/operators.py"
    for line in (
        "| `elemwise_add` | csr · csr | csr |",
        "| `elemwise_mul` | dense · csr | csr |",
        "| `dot` | csr · dense | dense; row_sparse: `transpose_a=True` |",
        "| `_greater_scalar` | csr (scalar=2.0); dense: `scalar=-2.0` |",
        "| `_sparse_retain` | row_sparse · dense | row_sparse |",
    ):
        assert line in text, line
