"""Writes what MXNet makes of blocks as graphs: JSON, exported parameters, results, into a JSON file.

MXNet 1.9.1:

    python tests/oracles/mxnet_exports.py tests/gluon/mxnet_exports.json
"""

import base64
import json
import sys
import tempfile
import warnings
from pathlib import Path

import mxnet as mx
import numpy as np
from mxnet.gluon import nn

# Made inside the name scope of a HybridSequential 'net_'; then called with an array of this shape.
NETS = {
    "nn.Dense(3, activation='tanh'), nn.Dense(1, use_bias=False)": (2, 4),
    "nn.BatchNorm(), nn.Dense(2, flatten=False), nn.LayerNorm()": (3, 2),
    "nn.Embedding(4, 2), nn.Flatten(), nn.Dropout(0.5), nn.Dense(2)": (2, 3),
    "nn.PReLU(), nn.SELU(), nn.GELU(), nn.LeakyReLU(0.1), nn.ELU()": (2, 2),
    "nn.Swish(), nn.InstanceNorm(), nn.GroupNorm(2)": (1, 2, 2),
    "nn.HybridLambda('exp'), nn.HybridLambda(lambda F, x: F.sum(x, axis=1) * 2 - 1)": (2, 2),
}


def exported(block, *inputs):
    """The files of a block and its results on inputs."""
    block.hybridize()
    out = block(*inputs)
    with tempfile.TemporaryDirectory() as folder:
        block.export(f"{folder}/a", 7)
        return {
            "symbol": Path(folder, "a-symbol.json").read_text(),
            "params": base64.b64encode(Path(folder, "a-0007.params").read_bytes()).decode(),
            "out": out.asnumpy().tolist(),
        }


def main(path):
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(5)
    nets = []
    for text, shape in NETS.items():
        net = nn.HybridSequential(prefix="net_")
        with net.name_scope():
            net.add(*eval(f"({text},)", {"nn": nn}))
        net.initialize(mx.init.Uniform(0.7))
        x = rng.integers(0, 4, shape).astype("f4")
        before = net(mx.sym.var("data")).tojson()  # shapes are not known yet
        net(mx.nd.array(x))
        for name, param in net.collect_params().items():
            if name.endswith("running_var"):
                param.set_data(mx.nd.ones(param.shape) * 2)
        found = exported(net, mx.nd.array(x))
        nets.append({"layers": text, "x": x.tolist(), "before": before, **found})
    Path(path).write_text(json.dumps(nets, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
