"""Linear classification by `Module`, beside MXNet's where that is installed.

Each library runs `linear_module.py` in its own interpreter; what that prints is in the report's extra
information.
"""

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
LIBRARIES = {
    "rarefy": Path(sys.executable),
    "mxnet": HERE.parent / ".peers" / "mx" / "bin" / "python",
}


@pytest.mark.parametrize("optimizer", ["sgd", "adagrad"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_1000000_features_1024_rows(benchmark, library, optimizer):
    if not LIBRARIES[library].exists():
        pytest.skip(f"{library} is not installed beside")

    def run():
        command = [LIBRARIES[library], HERE / "linear_module.py", "--opt", optimizer]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    lines = benchmark.pedantic(run, rounds=1).splitlines()
    benchmark.extra_info["lines"] = lines
    print(*lines, sep="\n")
