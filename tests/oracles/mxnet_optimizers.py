"""What all optimizers of MXNet 1.9.1 make of a weight, of every storage type and precision.

    python tests/oracles/mxnet_optimizers.py       # with MXNet installed

runs the optimizers of `RUNS` and writes the weight after each step and the states at the end to
tests/optimizer/mxnet_optimizers.json. Where MXNet refuses a run there is an error instead.
"""

import json
import warnings
from pathlib import Path

import numpy as np

FILE = Path(__file__).parents[1] / "optimizer/mxnet_optimizers.json"
START = [[1.0, -1.0], [0.5, 2.0], [-0.25, 0.75], [1.5, -0.5]]
# Of each step the rows of the gradient; in the last one a stored row is zero.
GRADIENTS = [
    [[1, [0.5, -2.0]], [3, [1.0, 0.25]]],
    [[0, [-1.0, 0.125]], [1, [2.0, 0.75]], [2, [-0.5, 4.0]]],
    [[0, [0.25, 0.5]], [1, [-0.25, 0.5]], [2, [1.0, -1.0]], [3, [-0.75, 2.0]]],
    [[1, [-0.25, 0.5]], [3, [0.0, 0.0]]],
]
PLAIN = {"learning_rate": 0.1}
FULL = {"learning_rate": 0.05, "wd": 0.1, "rescale_grad": 0.5, "clip_gradient": 0.4}
# By name: the parameters of each run.
RUNS = {
    "nag": [PLAIN, FULL, {**PLAIN, "momentum": 0.9}, {**FULL, "momentum": 0.9}],
    "signum": [PLAIN, {**FULL, "momentum": 0.5, "wd_lh": 0.01}, {**FULL, "momentum": 0.0}],
    "ftml": [PLAIN, {**FULL, "beta1": 0.5, "beta2": 0.99, "epsilon": 1e-6}],
    "rmsprop": [
        PLAIN,
        {**FULL, "gamma1": 0.8, "clip_weights": 1.2},
        {**PLAIN, "centered": True},
        {**FULL, "centered": True, "gamma1": 0.8, "gamma2": 0.7, "clip_weights": 1.2},
    ],
    "adadelta": [{}, {**FULL, "rho": 0.8, "epsilon": 1e-4}],
    "adamax": [PLAIN, {**FULL, "beta1": 0.8, "beta2": 0.9}],
    "nadam": [PLAIN, {**FULL, "beta1": 0.8, "schedule_decay": 0.1}],
    "dcasgd": [PLAIN, {**FULL, "lamda": 0.5}],
    "lamb": [
        PLAIN,
        {**FULL, "beta1": 0.8, "bias_correction": False},
        {**FULL, "lower_bound": 2.0, "upper_bound": 3.0},
        {**FULL, "lower_bound": 20.0},
    ],
    "lars": [PLAIN, {**FULL, "momentum": 0.9, "eta": 0.5}, {**FULL, "eta": 0.5, "eps": 0.1}],
    "lbsgd": [
        {**FULL, "momentum": 0.9, "batch_scale": 2, "updates_per_epoch": 2},
        {**FULL, "batch_scale": 2, "warmup_strategy": "lars"},
    ],
    "groupadagrad": [PLAIN, {**FULL, "wd": 0.0, "eps": 1e-3}],
    "ccsgd": [{**FULL, "momentum": 0.9}],
    "test": [{"rescale_grad": 0.5}],
}
# Storage types of weight and gradient, and the dtype; the last two for the optimizers in `ALL_FORMS`,
# as the others go the same ways.
FORMS = [
    ("default", "default", "float32"),
    ("default", "row_sparse", "float32"),
    ("row_sparse", "row_sparse", "float32"),
    ("default", "default", "float16"),
]
ALL_FORMS = ("nag", "groupadagrad")


def gradient(rows) -> np.ndarray:
    """A gradient as a dense `(4, 2)` array."""
    dense = np.zeros((4, 2), np.float32)
    for row, values in rows:
        dense[row] = values
    return dense


def record() -> None:
    """Runs MXNet and writes the file."""
    import mxnet as mx

    warnings.simplefilter("ignore")
    lines = []
    for name, settings in RUNS.items():
        for params in settings:
            for weight, grad, dtype in FORMS if name in ALL_FORMS else FORMS[:2]:
                run = {"optimizer": name, "params": params}
                run |= {"weight": weight, "grad": grad, "dtype": dtype}
                try:
                    lines.append(json.dumps(run | _run(mx, run)))
                except Exception as error:  # whatever MXNet raises is the record
                    lines.append(json.dumps(run | {"raises": type(error).__name__}))
                    print(name, weight, grad, dtype, str(error).splitlines()[0])
    runs = ",\n".join(lines)
    FILE.write_text(f'{{"source": "MXNet 1.9.1, CPU", "runs": [\n{runs}\n]}}\n')


def _run(mx, run):
    dtype = run["dtype"]
    made = mx.optimizer.create(
        run["optimizer"], multi_precision=dtype == "float16", **run["params"]
    )
    weight = mx.nd.array(START, dtype=dtype).tostype(run["weight"])
    state = made.create_state_multi_precision(0, weight)
    weights = []
    for rows in GRADIENTS:
        grad = mx.nd.array(gradient(rows), dtype=dtype)
        if run["grad"] == "row_sparse":
            data = mx.nd.array([values for _, values in rows], dtype=dtype)
            ids = [row for row, _ in rows]
            grad = mx.nd.sparse.row_sparse_array((data, ids), shape=(4, 2), dtype=dtype)
        made.update_multi_precision(0, weight, grad, state)
        weights.append(_numbers(weight))
    return {"weights": weights, "state": _described(state)}


def _described(state):
    if state is None:
        return None
    if isinstance(state, tuple | list):
        return [_described(part) for part in state]
    return {"stype": state.stype, "dtype": np.dtype(state.dtype).name, "values": _numbers(state)}


def _numbers(array):
    return [[float(f"{x:.8g}") for x in row] for row in array.asnumpy().tolist()]


if __name__ == "__main__":
    record()
