"""What the README, the tutorials and the documents show really runs.

A page is run as one program in an empty folder: its ```python blocks in order, its ```sh blocks
between them. Blocks of another kind (```text, ```console) are only to be read. A tutorial may also
be a Python script.
"""

import doctest
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

import rarefy

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHELL = "__import__('subprocess').run({command!r}, shell=True, check=True)"


def program_of(page: Path) -> str:
    """The blocks of a page as a Python program in which each line keeps its number."""
    text = page.read_text()
    if page.suffix == ".py":
        return text
    lines = [""] * (text.count("\n") + 1)
    for block in BLOCK.finditer(text):
        language, body = block.groups()
        first = text.count("\n", 0, block.start()) + 1
        if language == "sh":
            body = SHELL.format(command="set -e\n" + body)
        lines[first : first + body.count("\n") + 1] = body.split("\n")[: body.count("\n") + 1]
    return "\n".join(lines)


def pages() -> list[Path]:
    found = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    found += [p for p in (ROOT / "tutorials").iterdir() if p.suffix in {".md", ".py"}]
    return sorted(p for p in found if program_of(p).strip())


def run(page: Path, folder: Path) -> subprocess.CompletedProcess:
    program = (
        "import sys; exec(compile(sys.stdin.read(), sys.argv[1], 'exec'), {'__name__': '__main__'})"
    )
    bin_folder = os.path.dirname(sys.executable)  # where the command `rarefy` lies
    env = {
        **os.environ,
        "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
        "MPLBACKEND": "Agg",
    }
    return subprocess.run(
        [sys.executable, "-c", program, str(page)],
        input=program_of(page),
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.parametrize("page", pages(), ids=lambda p: p.relative_to(ROOT).as_posix())
def test_page_runs(page, tmp_path):
    done = run(page, tmp_path)
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"


def test_blocks_run_in_order_and_share_names(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# Page\n\n```python\nx = 2\n```\ntext\n```sh\necho 40 > number.txt\n```\n"
        "```console\n$ no\n```\n"
        "```python\nprint(x + int(open('number.txt').read()))\nraise ValueError('here')\n```\n"
    )
    done = run(page, tmp_path)
    assert done.stdout == "42\n"
    assert "page.md" in done.stderr
    assert "line 15, in <module>" in done.stderr
    assert done.returncode == 1


def test_a_failing_command_fails_the_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```sh\nfalse\ntrue\n```\n")
    assert run(page, tmp_path).returncode == 1


def modules_with_examples() -> list[str]:
    """Modules of the package with `>>>` examples in their docstrings."""
    src = ROOT / "src"
    files = [p for p in (src / "rarefy").rglob("*.py") if ">>> " in p.read_text()]
    return [".".join(p.relative_to(src).with_suffix("").parts) for p in sorted(files)]


@pytest.mark.parametrize("module", modules_with_examples())
def test_examples_in_docstrings_run(module):
    names = {"jax": jax, "jnp": jax.numpy, "np": np, "rf": rarefy}
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    name = module.removesuffix(".__init__")
    result = doctest.testmod(importlib.import_module(name), extraglobs=names, optionflags=options)
    assert result.failed == 0
    assert result.attempted > 0
