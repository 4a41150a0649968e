"""Optimizer states as MXNet 1.9.1 pickles them.

    python tests/oracles/mxnet_states.py       # with MXNet installed

writes to tests/optimizer/mxnet_states.json, for each optimizer of `RUNS`, what `Updater.get_states`
returns after two updates of a default and a row_sparse weight, and what the weights are after a third.
"""

import base64
import json
from pathlib import Path

FILE = Path(__file__).parents[1] / "optimizer/mxnet_states.json"
RUNS = {
    "adam": {"learning_rate": 0.1},
    "sgd": {"learning_rate": 0.1, "momentum": 0.9, "multi_precision": True},
    "nadam": {"learning_rate": 0.1},
}


def weights(nd):
    """A default float16 weight and a row_sparse float32 one."""
    return [
        nd.array([[1.0, 2.0], [3.0, 4.0]], dtype="float16"),
        nd.array([[1.0, -1.0], [2.0, 0.5]]).tostype("row_sparse"),
    ]


def step(nd, updater, arrays) -> None:
    """An update of both."""
    dense = nd.array([[0.5, -1.0], [0.25, 2.0]], dtype="float16")
    rows = nd.array([[1.0, -0.5], [0.5, 0.25]]).tostype("row_sparse")
    for index, grad in zip((0, "table"), (dense, rows), strict=True):
        updater(index, grad, arrays[0 if index == 0 else 1])


def record() -> None:
    """Runs MXNet and writes the file."""
    import mxnet as mx

    runs = {}
    for name, params in RUNS.items():
        updater, arrays = (
            mx.optimizer.get_updater(mx.optimizer.create(name, **params)),
            weights(mx.nd),
        )
        for _ in range(2):
            step(mx.nd, updater, arrays)
        pickled = [updater.get_states(dump_optimizer=own) for own in (False, True)]
        before = [a.asnumpy().tolist() for a in arrays]
        step(mx.nd, updater, arrays)
        runs[name] = {
            "states": [base64.b64encode(p).decode() for p in pickled],
            "before": before,
            "after": [a.asnumpy().tolist() for a in arrays],
        }
    FILE.write_text(json.dumps({"source": "MXNet 1.9.1, CPU", "runs": runs}, indent=1) + "\n")


if __name__ == "__main__":
    record()
