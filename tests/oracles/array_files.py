"""The files that MXNet 1.9.1 writes for the arrays of `CASES`, in tests/nd/mxnet_array_files.json.

    python tests/oracles/array_files.py            # with MXNet installed: writes them anew
    python tests/oracles/array_files.py FOLDER     # loads files of the same names from a folder, and
                                                   # fails unless they hold the arrays of `CASES`

The tests load the files with rarefy, and save the same arrays, which must give the same bytes.
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np

FILE = Path(__file__).parents[1] / "nd/mxnet_array_files.json"
DTYPES = ("float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool")
# Expressions of what is saved; `nd` is MXNet's or rarefy's, `np` NumPy.
CASES = {
    **{d: f"nd.array([[0, 1, 2], [1, 0, 1]], dtype={d!r})" for d in DTYPES},
    "list": "[nd.arange(3), nd.array([7], dtype='int32'), nd.arange(24).reshape((2, 3, 2, 2))]",
    "dict": "{'weight': nd.array([[1.5, -2]]), 'arg:naïve name': nd.array([0], dtype='uint8')}",
    "no arrays": "[]",
    "no names": "{}",
    "no elements": "nd.array(np.zeros((2, 0)))",
    "view": "nd.arange(12).reshape((3, 4))[1:3]",
    "numbers": "nd.array([float('nan'), float('inf'), -0.0, 1e-45])",
    "elsewhere": "nd.ones((2,), ctx=mx.cpu(1))",
    "csr": "nd.sparse.csr_matrix(([1, 2, 3], [0, 2, 1], [0, 2, 2, 3]), shape=(3, 4))",
    "csr float64": "nd.sparse.csr_matrix(np.eye(2, 3))",
    "csr empty": "nd.sparse.csr_matrix((2, 3))",
    "csr zero stored": "nd.sparse.csr_matrix(([0], [1], [0, 1, 1]), shape=(2, 3))",
    "row_sparse": "nd.sparse.row_sparse_array(([[1, 2], [3, 4]], [1, 4]), shape=(6, 2))",
    "row_sparse 3d": "nd.sparse.row_sparse_array((np.ones((1, 2, 2), 'int32'), [2]), shape=(4, 2, 2))",
    "row_sparse empty": "nd.sparse.zeros('row_sparse', (4, 2))",
    "mixed": "{'d': nd.ones((1,)), 'c': nd.ones((1, 2)).tostype('csr'), "
    "'r': nd.ones((1, 2)).tostype('row_sparse')}",
}
# The same under `mx.util.np_shape(True)`.
NUMPY_SHAPES = {
    "numpy vector": "nd.array([1, 2])",
    "numpy scalar": "nd.array(np.array(2.5))",
    "numpy no elements": "nd.array(np.zeros((0, 3)))",
}


def made(mx, name: str):
    """The arrays of a case."""
    known = {"mx": mx, "nd": mx.nd, "np": np}
    return eval((CASES | NUMPY_SHAPES)[name], known)


def content(arrays):
    """What a file holds, for comparing: names, storage types, dtypes, index arrays and elements."""
    if isinstance(arrays, dict):
        return {k: content(v) for k, v in arrays.items()}
    if isinstance(arrays, list):
        return [content(v) for v in arrays]
    parts = [arrays.data, arrays.indices] if arrays.stype != "default" else [arrays]
    parts += [arrays.indptr] if arrays.stype == "csr" else []
    numbers = [repr(p.asnumpy().tolist()) for p in parts]
    return [arrays.stype, np.dtype(arrays.dtype).name, list(arrays.shape), *numbers]


def listed(arrays):
    return (
        arrays
        if isinstance(arrays, dict) and arrays
        else [*arrays]
        if isinstance(arrays, list | dict)
        else [arrays]
    )


def main() -> None:
    import mxnet as mx

    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    written = {}
    for name in CASES | NUMPY_SHAPES:
        with mx.util.np_shape(name in NUMPY_SHAPES):
            arrays = made(mx, name)
            mx.nd.waitall()  # a csr matrix still being computed is written with a wrong shape
            if folder:
                found = mx.nd.load(str(folder / name))
                assert content(found) == content(listed(arrays)), name
                continue
            with tempfile.TemporaryDirectory() as temporary:
                mx.nd.save(f"{temporary}/file", arrays)
                written[name] = Path(temporary, "file").read_bytes().hex()
    if not folder:
        FILE.write_text(json.dumps(written, indent=1) + "\n")


if __name__ == "__main__":
    main()
