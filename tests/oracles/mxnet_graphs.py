"""Records what MXNet makes of random graphs: results, storage types, gradients, JSON.

    .peers/mx/bin/python tests/oracles/mxnet_graphs.py > tests/executor/mxnet_graphs.json

Needs Python 3.11 with mxnet==1.9.1 and numpy==1.23.5.
"""

import json
import os
import sys

os.environ["MXNET_STORAGE_FALLBACK_LOG_VERBOSE"] = "0"
os.environ["MXNET_SUBGRAPH_BACKEND"] = "NONE"

import mxnet as mx  # pyright: ignore[reportMissingImports]
import numpy as np

UNARY = ["negative", "square", "abs", "sign", "sin", "tanh", "relu", "expm1", "_copy"]
BINARY = ["elemwise_add", "elemwise_sub", "elemwise_mul", "broadcast_add"]
SCALAR = [
    "_mul_scalar",
    "_plus_scalar",
    "_div_scalar",
    "_minus_scalar",
    "_maximum_scalar",
    "_rminus_scalar",
]
SHAPE = (3, 4)


def function(name):
    return getattr(mx.sym._internal if name.startswith("_") else mx.sym, name)


def numbers(random, shape, density):
    drawn = random.randint(-4, 5, shape) / 2.0
    return (drawn * (random.rand(*shape) < density)).astype(np.float32)


def graph(random):
    """A random symbol on a dense, a csr and a row_sparse variable and a weight."""
    stypes = {"a": "default", "c": "csr", "r": "row_sparse"}
    stypes["w"] = ["default", "row_sparse"][random.randint(2)]
    variables = {n: mx.sym.Variable(n, stype=s) for n, s in stypes.items()}
    values = [variables["a"], variables["c"], variables["r"]]
    for i in range(random.randint(3, 8)):
        kind = random.randint(5)
        pick = values[random.randint(len(values))]
        if kind == 0:
            value = function(UNARY[random.randint(len(UNARY))])(pick, name=f"n{i}")
        elif kind == 1:
            scalar = [0.0, 0.5, 2.0, -1.0][random.randint(4)] or 1.0
            value = function(SCALAR[random.randint(len(SCALAR))])(pick, scalar=scalar, name=f"n{i}")
        elif kind == 2 and random.rand() < 0.4:
            value = mx.sym.cast_storage(pick, stype="default", name=f"n{i}")
        else:
            other = values[random.randint(len(values))]
            value = function(BINARY[random.randint(len(BINARY))])(pick, other, name=f"n{i}")
        values.append(value)
    heads = [values[-1]]
    if random.rand() < 0.5:
        left = variables["c"] if random.rand() < 0.7 else values[-1]
        heads.append(mx.sym.dot(left, variables["w"], name="product"))
    return mx.sym.Group(heads), stypes


def record(seed):
    random = np.random.RandomState(seed)
    symbol, stypes = graph(random)
    names = symbol.list_arguments()
    shapes = {n: (4, 2) if n == "w" else SHAPE for n in names}
    given = {n: numbers(random, shapes[n], 0.9 if stypes[n] == "default" else 0.5) for n in names}
    # MXNet leaves the gradient of a csr array unwritten in places: it is not asked for.
    req = {n: "null" if n == "c" else "write" for n in names}
    executor = symbol.simple_bind(mx.cpu(), grad_req=req, **shapes)
    for name, array in given.items():
        mx.nd.array(array).tostype(stypes[name]).copyto(executor.arg_dict[name])
    outputs = executor.forward(is_train=True)
    heads = [numbers(random, o.shape, 1.0) for o in outputs]
    executor.backward([mx.nd.array(h) for h in heads])
    mx.nd.waitall()
    wanted = [n for n in names if req[n] == "write"]
    return {
        "seed": seed,
        "json": symbol.tojson(),
        "given": {n: [stypes[n], given[n].tolist()] for n in names},
        "heads": [h.tolist() for h in heads],
        "outputs": [[o.stype, o.asnumpy().tolist()] for o in outputs],
        "gradients": {
            n: [executor.grad_dict[n].stype, executor.grad_dict[n].asnumpy().tolist()]
            for n in wanted
        },
    }


def main():
    found, seed = [], 0
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 14
    while len(found) < count:
        try:
            found.append(record(seed))
        except (mx.MXNetError, RuntimeError) as error:  # storage types that MXNet refuses
            print(seed, str(error).splitlines()[-1], file=sys.stderr)
        seed += 1
    json.dump(found, sys.stdout, separators=(",", ":"))
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
