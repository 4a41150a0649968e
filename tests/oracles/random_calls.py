"""Random calls of operators on arrays of random storage types, and what a library answers.

    python tests/oracles/random_calls.py < CALLS        # with MXNet installed

reads calls, one JSON object a line, and writes MXNet's answers, one a line. A call holds an expression
and the arrays it uses, described by shape, storage type, dtype and seed, so that any library can make
them. An answer is that of `oracles.mxnet_calls`.
"""

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

STYPES = ("default", "csr", "row_sparse")
SPARSE = ("csr", "row_sparse")


def array_of(mx, shape, stype="default", dtype="float32", seed=0, low=-4.0, high=4.0, full=False):
    """An array of multiples of 1/4, half of them zero; a sparse one also stores some zeros."""
    rng = np.random.RandomState(seed)
    values = rng.randint(round(low * 4), round(high * 4) + 1, shape) / 4
    if np.issubdtype(dtype, np.integer):
        values = np.trunc(values)
    if stype == "csr":
        places = rng.random_sample(shape) < 0.6
        indptr = np.cumsum([0, *places.sum(1)])
        parts = values[places].astype(dtype), np.nonzero(places)[1], indptr
        return mx.nd.sparse.csr_matrix(parts, shape=tuple(shape), dtype=dtype)
    if stype == "row_sparse":
        rows = np.flatnonzero(rng.random_sample(shape[0]) < 0.6)
        parts = values[rows].astype(dtype), rows
        return mx.nd.sparse.row_sparse_array(parts, shape=tuple(shape), dtype=dtype)
    if not full:
        values = values * (rng.random_sample(shape) < 0.5)
    return mx.nd.array(values.astype(dtype), dtype=dtype)


def answer(call: dict, mx) -> dict:
    """What a library answers to a call."""
    from oracles.mxnet_calls import plain

    try:
        known = {name: array_of(mx, **how) for name, how in call["arrays"].items()}
        return plain(eval(call["call"], {"mx": mx, "nd": mx.nd, "np": np, **known}))
    except Exception as error:
        return {"raises": [kind.__name__ for kind in type(error).__mro__[:-2]]}


def ask(python: str, calls: list[dict]) -> list[dict]:
    """MXNet's answers. A call that ends the process is answered so, and those after it are asked
    again."""
    found: list[dict] = []
    while len(found) < len(calls):
        given = "".join(json.dumps(call) + "\n" for call in calls[len(found) :])
        run = subprocess.run(
            [python, __file__], input=given, capture_output=True, text=True, timeout=240
        )
        lines = [line for line in run.stdout.splitlines() if line.startswith("{")]
        found += map(json.loads, lines)
        if len(found) < len(calls):
            if not lines and "ModuleNotFoundError" in run.stderr:
                raise RuntimeError(run.stderr)
            found.append({"ends": "the process"})
    return found


def as_text(call: dict) -> str:
    """A call as a reader, and the table of differences, knows it."""
    text = [
        f"{name}: {how.get('stype', 'default')} {how.get('dtype', 'float32')} {tuple(how['shape'])}"
        for name, how in call["arrays"].items()
    ]
    return f"{call['call']}  with {'; '.join(text)}"


# The calls

ZERO = ["abs", "arcsin", "arcsinh", "arctan", "arctanh", "cbrt", "ceil", "degrees", "expm1", "fix"]
ZERO += ["floor", "log1p", "negative", "radians", "relu", "rint", "round", "sign", "sin", "sinh"]
ZERO += ["sqrt", "square", "tan", "tanh", "trunc", "make_loss", "stop_gradient", "zeros_like"]
NOT_ZERO = ["exp", "log", "log2", "cos", "cosh", "sigmoid", "gamma", "rsqrt", "arccos"]
MORE_UNARY = ["softsign", "erf", "reciprocal", "logical_not", "ones_like", "flatten", "identity"]
MORE_UNARY += ["softmax", "shape_array", "size_array", "BlockGrad", "argmax_channel"]
PAIRS = ["elemwise_add", "elemwise_sub", "elemwise_mul", "broadcast_add", "broadcast_sub"]
PAIRS += ["broadcast_mul", "broadcast_maximum", "broadcast_minimum", "broadcast_equal"]
PAIRS += ["broadcast_greater", "broadcast_hypot", "maximum", "minimum", "add", "subtract"]
PAIRS += ["multiply", "sparse.add", "sparse.subtract", "sparse.multiply", "_internal._maximum"]
PAIRS += ["_internal._minimum", "_internal._equal", "_internal._hypot", "broadcast_logical_and"]
SIGNS = ["+", "-", "*", "==", "!=", "<", "<=", ">", ">="]
SCALARS = [0, 2, -1.5, 0.5]
SHAPES = [(3, 4), (1, 5), (4, 1), (5, 3)]


class Maker:
    """Makes calls from one generator."""

    def __init__(self, seed: int):
        self.rng = np.random.RandomState(seed)

    def pick(self, among):
        return among[self.rng.randint(len(among))]

    def array(self, shape=None, stypes=STYPES, dtypes=None, **how) -> dict:
        dtypes = dtypes or ["float32"] * 6 + ["float64", "int32"]
        return {
            "shape": list(shape or self.pick(SHAPES)),
            "stype": self.pick(stypes),
            "dtype": self.pick(dtypes),
            "seed": int(self.rng.randint(1 << 30)),
            **how,
        }

    def unary(self) -> dict:
        name = self.pick(ZERO * 2 + NOT_ZERO + MORE_UNARY)
        low = {"low": 0.25} if name in ("gamma",) else {}
        x = self.array(dtypes=["float32", "float32", "float64"], **low)
        return {"call": f"nd.{name}(x)", "arrays": {"x": x}}

    def pair(self) -> dict:
        name = self.pick(PAIRS)
        x = self.array()
        shape = x["shape"]
        if "broadcast" in name and self.rng.rand() < 0.5:
            shape = self.pick([[1, shape[1]], [shape[0], 1], [1, 1]])
        y = self.array(shape, dtypes=[x["dtype"]] * 15 + ["float64"])
        return {"call": f"nd.{name}(x, y)", "arrays": {"x": x, "y": y}}

    def signs(self) -> dict:
        x, sign = self.array(), self.pick(SIGNS)
        y = self.array(x["shape"], dtypes=[x["dtype"]])
        return {"call": f"x {sign} y", "arrays": {"x": x, "y": y}}

    def quotient(self) -> dict:
        x = self.array(dtypes=["float32"])
        shape = self.pick([x["shape"], [1, x["shape"][1]], [x["shape"][0], 1]])
        y = self.array(shape, dtypes=["float32"], low=0.25, full=True)
        call = self.pick(["x / y", "nd.elemwise_div(x, y)", "nd.broadcast_div(x, y)"])
        return {"call": call, "arrays": {"x": x, "y": y}}

    def scalar(self) -> dict:
        sign = self.pick([*SIGNS, "/", "**", "%"])
        x, s = self.array(dtypes=["float32", "float64"]), self.pick(SCALARS)
        if sign in ("/", "%", "**") and s == 0:
            s = 2
        call = self.pick([f"x {sign} {s}", f"x {sign} {s}", f"{s} {sign} x"])
        return {"call": call, "arrays": {"x": x}}

    def named_scalar(self) -> dict:
        name = self.pick(["maximum", "minimum", "hypot", "logical_and", "logical_or"])
        s = self.pick(SCALARS)
        call = f"nd._internal._{name}_scalar(x, scalar={s})"
        return {"call": call, "arrays": {"x": self.array(dtypes=["float32"])}}

    def dot(self) -> dict:
        m, k, n = (self.pick([2, 3, 4]) for _ in range(3))
        a, b = self.pick([True, False]), self.pick([True, False])
        x = self.array((k, m) if a else (m, k), dtypes=["float32"] * 4 + ["float64"])
        y = self.array((n, k) if b else (k, n), dtypes=[x["dtype"]])
        params = f"transpose_a={a}, transpose_b={b}"
        if self.rng.rand() < 0.25:
            params += f", forward_stype='{self.pick(STYPES)}'"
        return {"call": f"nd.dot(x, y, {params})", "arrays": {"x": x, "y": y}}

    def reduction(self) -> dict:
        name = self.pick(["sum", "mean", "sum", "max", "min", "prod", "nansum", "sparse.sum"])
        params = [
            f"axis={self.pick([None, 0, 1, -1, (0, 1)])}",
            f"keepdims={self.rng.rand() < 0.5}",
        ]
        if self.rng.rand() < 0.2:
            params.append("exclude=True")
        x = self.array(dtypes=["float32"] * 4 + ["float64", "int32"])
        return {"call": f"nd.{name}(x, {', '.join(params)})", "arrays": {"x": x}}

    def norm(self) -> dict:
        call = self.pick(
            [
                "nd.norm(x)",
                "nd.norm(x, ord=1)",
                "x.norm()",
                "nd.norm(x, axis=1)",
                "nd._internal._square_sum(x, axis=1, keepdims=True)",
                "nd.argmax(x, axis=1)",
                "nd._internal._square_sum(x, axis=0)",
                "nd._internal._square_sum(x, axis=1)",
                "nd.argmin(x, axis=0)",
                "nd.norm(x, ord=2, axis=0, keepdims=True)",
            ]
        )
        return {"call": call, "arrays": {"x": self.array(dtypes=["float32"])}}

    def part(self) -> dict:
        x = self.array((5, 4))
        b, e = self.pick([0, 1, 2, -4]), self.pick([3, 4, 5, -1])
        call = self.pick(
            [
                f"x[{b}:{e}]",
                f"x[{b}]",
                "x[-1]",
                "x[:]",
                f"x[{b}:]",
                f"nd.slice(x, begin=({b}, 1), end=({e}, 3))",
                f"nd.slice(x, begin={b}, end={e})",
                f"nd.slice_axis(x, axis=0, begin={b}, end={e})",
                f"x.slice_axis(1, 1, {e % 4})",
                f"nd.sparse.slice(x, begin=({b}, None), end=(None, 2))",
                "nd.slice_like(x, nd.ones((2, 3)))",
                "nd.slice(x, begin=4, end=0, step=-2)",
            ]
        )
        return {"call": call, "arrays": {"x": x}}

    def rows(self) -> dict:
        x = self.array((5, 4), dtypes=["float32", "float64"])
        ids = self.pick(["[0, 3]", "[4]", "[1, 2, 4]", "[0, 1, 2, 3, 4]"])
        call = self.pick(
            [
                f"nd.sparse.retain(x, nd.array({ids}))",
                f"nd.take(x, nd.array({ids}))",
                f"x.take(nd.array({ids}))",
                f"nd.take(x, nd.array({ids}), axis=1)",
                f"nd.Embedding(nd.array({ids}), x, input_dim=5, output_dim=4)",
                f"x.retain(nd.array({ids}))",
                "nd.pick(x, nd.array([0, 1, 2, 3, 1]))",
                f"nd.sparse.Embedding(nd.array({ids}), x, 5, 4, 'float32', True)",
            ]
        )
        return {"call": call, "arrays": {"x": x}}

    def join(self) -> dict:
        call, shapes = self.pick(
            [
                ("nd.concat(x, y, dim={d})", True),
                ("nd.sparse.concat(x, y, dim={d})", True),
                ("nd.stack(x, y, axis={d})", False),
                ("nd.add_n(x, y, x)", False),
                ("nd.concatenate([x, y], axis={d})", True),
                ("nd.sparse.add_n(x, y)", False),
            ]
        )
        d = self.pick([0, 1])
        x = self.array(dtypes=["float32"])
        shape = list(x["shape"])
        if shapes:
            shape[d] = self.pick([1, 2, 3])
        stypes = [x["stype"]] * 3 + list(STYPES)
        y = self.array(shape, stypes=stypes, dtypes=["float32"])
        return {"call": call.format(d=d), "arrays": {"x": x, "y": y}}

    def storage(self) -> dict:
        to = self.pick(STYPES)
        call = self.pick(
            [
                f"nd.cast_storage(x, '{to}')",
                f"x.tostype('{to}')",
                "x.astype('float64')",
                "x.copy()",
                "nd.cast(x, dtype='int32')",
                "nd.Cast(x, 'float64')",
                "x.astype('int32')",
                f"x.copyto(nd.sparse.zeros('{to}', x.shape))",
                "x.zeros_like()",
                "x.ones_like()",
                f"nd.sparse.zeros('{to}', x.shape)",
                "nd.transpose(x)",
                "x.T",
                "x.abs().sqrt()",
                "nd.clip(x, -1, 2)",
                "nd.clip(x, 0.5, 2)",
                "x.clip(0, 1)",
                "nd.expand_dims(x, 0)",
                "nd.reshape(x, shape=(-1,))",
                "x.reshape((-1,))",
                "nd.where(x, nd.ones_like(x), x)",
                "nd.swapaxes(x, 0, 1)",
                "nd.sort(x)",
                "nd.topk(x)",
                "nd.tile(x, (1, 2))",
                "x.size",
                "nd.transpose(x, axes=(0, 1))",
                "x.asscalar()",
                "nd.flip(x, axis=1)",
                "-x",
                "abs(x)",
                "nd.split(x, num_outputs=1)",
                "nd.smooth_l1(x, scalar=1)",
                "nd.repeat(x, 2)",
                "nd.sparse.array(x)",
                "nd.array(x)",
                "nd.L2Normalization(x)",
                "x.nnz",
                "x.data",
                "x.square().sum(axis=0)",
                "x.indices",
                "x.asscipy().toarray().tolist()",
                "x == None",
            ]
        )
        return {"call": call, "arrays": {"x": self.array(dtypes=["float32", "float32", "int32"])}}

    def layer(self) -> dict:
        x = self.array((3, 4), dtypes=["float32"])
        w = self.array((2, 4), dtypes=["float32"], stypes=("default", "row_sparse"))
        label = self.array((3, 4), dtypes=["float32"], stypes=("default", "csr"))
        call = self.pick(
            [
                "nd.FullyConnected(x, w, no_bias=True, num_hidden=2)",
                "nd.FullyConnected(x, w, nd.ones(2), num_hidden=2)",
                "nd.sparse.LinearRegressionOutput(x, label)",
                "nd.LogisticRegressionOutput(x, label)",
                "nd.where(x, label, label)",
                "nd.sparse.where(x, label, nd.ones_like(label))",
            ]
        )
        return {"call": call, "arrays": {"x": x, "w": w, "label": label}}

    def inplace(self) -> dict:
        x = self.array(dtypes=["float32"])
        y = self.array(x["shape"], dtypes=["float32"])
        call = self.pick(
            [
                "x.__setitem__(slice(None), y) or x",
                "x.__setitem__(slice(None), 2) or x",
                "x.__iadd__(y)",
                "x.__isub__(y)",
                "x.__imul__(y)",
                "x.__imul__(2)",
                "x.__iadd__(1)",
                "y.copyto(x)",
                "nd.elemwise_add(x, x, out=y)",
                "nd.square(x, out=y)",
                "x.__setitem__(slice(0, 1), 2) or x",
                "x.__itruediv__(2)",
                "nd.abs(x, out=x)",
            ]
        )
        return {"call": call, "arrays": {"x": x, "y": y}}


FAMILIES = ["unary"] * 3 + ["pair"] * 4 + ["signs"] * 2 + ["quotient", "named_scalar"]
FAMILIES += ["scalar"] * 2 + ["dot"] * 3 + ["reduction"] * 3 + ["norm", "part", "part", "rows"]
FAMILIES += ["rows", "join", "join", "storage", "storage", "storage", "layer", "inplace"]


def calls(count: int, seed: int) -> Iterator[dict]:
    """Random calls; the same for a seed wherever they are made."""
    maker = Maker(seed)
    for _ in range(count):
        yield getattr(maker, maker.pick(FAMILIES))()


def main() -> None:
    warnings.filterwarnings("ignore")
    os.environ["MXNET_STORAGE_FALLBACK_LOG_VERBOSE"] = "0"
    sys.path.insert(0, str(Path(__file__).parents[1]))
    import mxnet as mx

    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line), mx)), flush=True)


if __name__ == "__main__":
    main()
