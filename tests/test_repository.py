"""What the files of the repository promise: version, licence, no leftovers."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import rarefy

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
TEXT = {".py", ".pyi", ".cc", ".h", ".md", ".toml", ".txt", ".sh", ".yml"}
FOLDERS = ("src", "csrc", "tests", "benchmarks", "tutorials", "docs", "tools", ".ci")


def project_files() -> list[Path]:
    top = [p for p in ROOT.iterdir() if p.is_file()]
    inner = [p for folder in FOLDERS for p in (ROOT / folder).rglob("*") if p.is_file()]
    named = {"Makefile", "run", "LICENSE"}
    return [p for p in top + inner if p.suffix in TEXT or p.name in named]


def lines_that_match(pattern: str) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in project_files()
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if path != Path(__file__) and re.search(pattern, line)
    ]


def test_version_is_the_same_everywhere():
    assert rarefy.__version__ == PROJECT["version"]
    headings = re.findall(r"^## \[?(\d[^\s\]]*)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == PROJECT["version"], "the newest entry of CHANGELOG.md is not this version"


def test_licence_is_apache_2():
    assert PROJECT["license"] == "Apache-2.0"
    text = (ROOT / "LICENSE").read_text()
    assert "Apache License" in text and "Version 2.0" in text


def test_no_file_names_a_place_of_one_machine():
    # Paths that only one person's machine or account has.
    assert lines_that_match(r"(?<![\w.])/(home|Users|work|farm)/\w|\.\./shared|C:\\\\Users") == []


def test_every_todo_says_what_is_missing():
    assert lines_that_match(r"\b(FIXME|XXX)\b") == []
    todos = lines_that_match(r"\bTODO\b")
    assert [t for t in todos if not re.search(r"TODO(\([^)]+\))?: \w+ \w+", t)] == []


def test_links_of_the_documents_lead_somewhere():
    broken = []
    for page in (p for p in project_files() if p.suffix == ".md"):
        text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            path = target.split("#")[0]
            if path and "://" not in target and not (page.parent / path).exists():
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert broken == []


def test_documentation_index_names_every_page():
    index = (ROOT / "docs/index.md").read_text()
    pages = (p.relative_to(ROOT / "docs").as_posix() for p in (ROOT / "docs").rglob("*.md"))
    assert [page for page in pages if page != "index.md" and f"({page})" not in index] == []


def test_page_on_primitives_names_every_one():
    page = (ROOT / "docs/design/primitives.md").read_text()
    files = (ROOT / "src/rarefy/_primitives").glob("[a-z]*.py")
    assert [f.stem for f in files if f"| `{f.stem}` |" not in page] == []


def test_importing_rarefy_changes_no_jax_setting():
    program = (
        "import jax; names = [n for n in dir(jax.config) if n.startswith('jax_')];"
        "read = lambda: {n: getattr(jax.config, n) for n in names};"
        "before = read(); import rarefy; after = read();"
        "print([n for n in names if after[n] != before[n]], len(names) > 20)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[] True"


def test_benchmarks_can_be_collected():
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-q",
        "-p",
        "no:xdist",
        "benchmarks",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode in (0, 5), done.stdout + done.stderr  # 5: there are none yet
