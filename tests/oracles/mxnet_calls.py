"""What MXNet 1.9.1 answers to the calls in tests/cases/mxnet_calls.json.

    python tests/oracles/mxnet_calls.py ["another call" ...]               # with MXNet installed

asks again and writes the answers; the tests replay the calls on rarefy and compare. A call is an
expression, or statements behind a `!`, whose answer is then `o` (or `a`). Names are those of `names`.
"""

import json
import os
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

FILE = Path(__file__).parents[1] / "cases/mxnet_calls.json"


def names(mx) -> dict:
    """Fresh arrays and helpers for one call."""
    nd, autograd = mx.nd, mx.autograd

    def gr(function, x, stype=None, req="write", og=None):
        """The result of a function of x, the gradient of x, and its rows where it is row_sparse."""
        x.attach_grad(req, stype=stype) if stype else x.attach_grad(req)
        with autograd.record():
            y = function(x)
        y.backward(og) if og is not None else y.backward()
        return [y, x.grad] + ([x.grad.indices] if x.grad.stype == "row_sparse" else [])

    return {
        "mx": mx,
        "nd": nd,
        "ag": autograd,
        "np": np,
        "sp": sp,
        "gr": gr,
        "i": nd.array([1, 2, 3], dtype="int32"),
        "f": nd.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]),
        "z": nd.array([1, -0.0, 0, float("nan")]),
        "c": nd.array([[1, 0, 2], [0, 3, 0]]).tostype("csr"),
        "r": nd.array([[1, 0, 2], [0, 0, 0]]).tostype("row_sparse"),
        "d": nd.ones((2, 3)),
        "a": nd.arange(12).reshape((3, 4)),
        "h": nd.array([1.5, 2, 3], dtype="float16"),
        "u": nd.array([1, 2, 200], dtype="uint8"),
        "w": nd.array([[1, 2], [3, 4], [5, 6]]),
        "ids": nd.array([1, 1, 2]),
        "x": nd.array([[0.5, -1, 2], [1.5, 0, -0.25]]),
    }


def evaluate(call: str, mx):
    """The answer of a library to one call, as JSON would hold it."""
    known = names(mx)
    mx.autograd.set_recording(False)
    try:
        if call.startswith("!"):
            exec(call[1:], known)
            answer = known.get("o", known["a"])
        else:
            answer = eval(call, known)
        return plain(answer)
    except Exception as error:
        return {"raises": [kind.__name__ for kind in type(error).__mro__[:-2]]}
    finally:
        mx.autograd.set_recording(False)


def plain(answer):
    """An answer as JSON would hold it."""
    if hasattr(answer, "asnumpy"):
        values = np.asarray(answer.asnumpy()).astype("float64")
        return {
            "class": type(answer).__name__,
            "stype": answer.stype,
            "shape": list(answer.shape),
            "dtype": np.dtype(answer.dtype).name,
            "values": np.round(values, 6).ravel().tolist(),
        }
    if isinstance(answer, list):
        return {"list": [plain(part) for part in answer]}
    if isinstance(answer, float | np.floating):
        return {"number": round(float(answer), 5)}
    if isinstance(answer, int | np.integer):
        return {"number": int(answer)}
    return {"repr": repr(answer)}


def answers() -> dict:
    """MXNet's answer to each call."""
    return json.loads(FILE.read_text())


def record() -> None:
    """Asks MXNet each call in a process of its own, as some of them end it."""
    warnings.filterwarnings("ignore")
    import mxnet as mx

    found = {}
    for call in dict.fromkeys([*answers(), *sys.argv[1:]]):
        with tempfile.NamedTemporaryFile("r") as file:
            child = os.fork()
            if child == 0:
                os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                Path(file.name).write_text(json.dumps(evaluate(call, mx)))
                os._exit(0)
            os.waitpid(child, 0)
            found[call] = json.loads(file.read() or '{"ends": "the process"}')
    lines = (f"{json.dumps(call)}: {json.dumps(answer)}" for call, answer in found.items())
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    record()
