"""What MXNet 1.9.1 answers to the calls in the files mxnet_*.json of tests/cases.

    python tests/oracles/mxnet_calls.py FILE ["another call" ...]          # with MXNet installed

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

CASES = Path(__file__).parents[1] / "cases"
ARRAYS = CASES / "mxnet_arrays.json"
CALLS = CASES / "mxnet_calls.json"
OPERATORS = CASES / "mxnet_operators.json"
REFUSALS = CASES / "mxnet_refusals.json"
SYMBOLS = CASES / "mxnet_symbols.json"


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

    def numbers(*shape, low=-2, dtype="float32"):
        """Numbers between `low` and `low + 5`, in no order."""
        found = np.arange(np.prod(shape)) * 7 % 11 / 2 + low
        return nd.array(found.reshape(shape), dtype=dtype)

    def grs(function, *xs, og=None):
        """The results of a function, and the gradients of all that it takes."""
        for x in xs:
            x.attach_grad()
        with autograd.record():
            y = function(*xs)
        ys = y if isinstance(y, list) else [y]
        ys[0].backward(og) if og is not None else ys[0].backward()
        return [*ys, *(x.grad for x in xs)]

    return {
        "mx": mx,
        "nd": nd,
        "ag": autograd,
        "np": np,
        "sp": sp,
        "gr": gr,
        "grs": grs,
        "R": numbers,
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
        "m": nd.arange(6).reshape((2, 3)),
        "t": nd.arange(24).reshape((2, 3, 4)),
        "v": nd.arange(4),
        **symbols(mx),
    }


def symbols(mx) -> dict:
    """Variables of graphs, and helpers for them."""

    def told(symbol):
        """What a graph says of itself, apart from the order of its attributes."""
        attrs = {name: sorted(found.items()) for name, found in symbol.attr_dict().items()}
        return [symbol.name, symbol.list_arguments(), symbol.list_outputs(), sorted(attrs.items())]

    def run(symbol, heads=None, req="write", **arrays):
        """The results of a graph on arrays, and the gradients of its arguments."""
        grads = {name: mx.nd.zeros(array.shape) for name, array in arrays.items()}
        executor = symbol.bind(mx.cpu(), arrays, grads, req)
        outputs = executor.forward(is_train=True)
        executor.backward(heads)
        return [*outputs, *executor.grad_arrays]

    def stored(symbol, **options):
        """How `simple_bind` stores arrays and gradients."""
        executor = symbol.simple_bind(mx.cpu(), **options)
        grads = {k: g if g is None else g.stype for k, g in executor.grad_dict.items()}
        return [sorted((k, a.stype) for k, a in executor.arg_dict.items()), sorted(grads.items())]

    return {
        "sym": mx.sym,
        "A": mx.sym.Variable("a"),
        "B": mx.sym.Variable("b"),
        "X": mx.sym.Variable("x", stype="csr"),
        "W": mx.sym.Variable("w"),
        "Q": mx.sym.Variable("q", stype="row_sparse"),
        "FC": mx.sym.FullyConnected(mx.sym.Variable("a"), num_hidden=3, name="fc"),
        "told": told,
        "run": run,
        "stored": stored,
    }


def evaluate(call: str, mx):
    """The answer of a library to one call, as JSON would hold it."""
    known = names(mx)
    mx.autograd.set_recording(False)
    try:
        with mx.name.NameManager():
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
    if isinstance(answer, list) or any(hasattr(part, "asnumpy") for part in _parts(answer)):
        return {"list": [plain(part) for part in answer]}
    if isinstance(answer, float | np.floating):
        return {"number": round(float(answer), 5)}
    if isinstance(answer, int | np.integer):
        return {"number": int(answer)}
    return {"repr": repr(answer)}


def _parts(answer) -> tuple:
    return answer if isinstance(answer, tuple) else ()


def answers(file: Path) -> dict:
    """MXNet's answer to each call."""
    return json.loads(file.read_text())


def record(file: Path, calls) -> None:
    """Asks MXNet each call in a process of its own, as some of them end it."""
    warnings.filterwarnings("ignore")
    import mxnet as mx

    found = {}
    for call in dict.fromkeys(calls):
        with tempfile.NamedTemporaryFile("r") as answer:
            child = os.fork()
            if child == 0:
                os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                Path(answer.name).write_text(json.dumps(evaluate(call, mx)))
                os._exit(0)
            os.waitpid(child, 0)
            found[call] = json.loads(answer.read() or '{"ends": "the process"}')
    lines = (f"{json.dumps(call)}: {json.dumps(answer)}" for call, answer in found.items())
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    file = Path(sys.argv[1])
    record(file, [*answers(file), *sys.argv[2:]])
