"""What MXNet 1.9.1 makes of float16 weights under `multi_precision`.

    python tests/oracles/mxnet_multi_precision.py       # with MXNet installed

runs the optimizers of `RUNS` and writes the weights after each step to
tests/optimizer/mxnet_multi_precision.json. The steps are smaller than half a unit in the last place
of most weights, so that weights without a float32 copy stay where they are.
"""

import json
from pathlib import Path

import numpy as np

FILE = Path(__file__).parents[1] / "optimizer/mxnet_multi_precision.json"
START = [[1.0, -1.0], [0.5, 2.0], [-0.25, 0.75], [1.5, -0.5]]
STEPS = 12
RUNS = [
    {"optimizer": "sgd", "learning_rate": 1e-3},
    {"optimizer": "sgd", "learning_rate": 1e-4, "momentum": 0.9, "wd": 0.1},
    {"optimizer": "adam", "learning_rate": 1e-4, "wd": 0.01},
    {"optimizer": "adagrad", "learning_rate": 1e-4},
    {"optimizer": "ftrl", "learning_rate": 0.1, "lamda1": 0.05, "wd": 0.01},
]


def gradients() -> np.ndarray:
    """`(STEPS, 4, 2)`, exact in float16; in each step one row is zero."""
    found = np.random.default_rng(5).integers(-8, 9, (STEPS, 4, 2)) / 16
    found[np.arange(STEPS), np.arange(STEPS) % 4] = 0
    return found


def record() -> None:
    """Runs MXNet and writes the file."""
    import mxnet as mx

    runs = []
    for run in RUNS:
        params = {name: value for name, value in run.items() if name != "optimizer"}
        made = mx.optimizer.create(run["optimizer"], multi_precision=True, **params)
        weight = mx.nd.array(START, dtype="float16")
        state = made.create_state_multi_precision(0, weight)
        weights = []
        for gradient in gradients():
            made.update_multi_precision(0, weight, mx.nd.array(gradient, dtype="float16"), state)
            weights.append(weight.asnumpy().astype(float).tolist())
        runs.append({**run, "weights": weights})
    lines = ",\n".join(json.dumps(run) for run in runs)
    FILE.write_text(f'{{"source": "MXNet 1.9.1, CPU", "runs": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    record()
