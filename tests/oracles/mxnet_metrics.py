"""What MXNet 1.9.1's metrics make of given batches.

    python tests/oracles/mxnet_metrics.py       # with MXNet installed

writes, for each of `RUNS`, the values after each batch and after `reset_local` and another batch, to
tests/mxnet_metrics.json.
"""

import json
import warnings
from pathlib import Path

import numpy as np

FILE = Path(__file__).parents[1] / "mxnet_metrics.json"
RUNS = [
    ("acc", {}, "classes"),
    ("accuracy", {"axis": 1}, "decided"),
    ("top_k_acc", {"top_k": 2}, "classes"),
    ("topkaccuracy", {"top_k": 3}, "classes"),
    ("f1", {}, "binary"),
    ("f1", {"average": "micro"}, "binary"),
    ("mcc", {}, "binary"),
    ("mcc", {"average": "micro"}, "binary"),
    ("pcc", {}, "classes"),
    ("pcc", {}, "binary"),
    ("mae", {}, "numbers"),
    ("mse", {}, "numbers"),
    ("rmse", {}, "numbers"),
    ("ce", {}, "classes"),
    ("nll_loss", {"eps": 1e-3}, "classes"),
    ("perplexity", {"ignore_label": None}, "classes"),
    ("perplexity", {"ignore_label": 1}, "classes"),
    ("pearsonr", {}, "numbers"),
    ("pearsonr", {"average": "micro"}, "numbers"),
    ("loss", {}, "numbers"),
    ("torch", {}, "classes"),
]


def batches(kind):
    """Three batches of a kind: labels and predictions."""
    rng = np.random.default_rng(7)
    for rows in (5, 3, 6):
        if kind == "numbers":
            yield rng.normal(size=rows).round(3), rng.normal(size=rows).round(3)
            continue
        count = 2 if kind == "binary" else 4
        scores = rng.random((rows, count)).round(3)
        scores /= scores.sum(axis=1, keepdims=True)
        labels = rng.integers(0, count, rows)
        yield labels, rng.integers(0, count, rows) if kind == "decided" else scores


def run(mx, name, params, kind):
    """Local and global values after each step."""
    metric, found = mx.metric.create(name, **params), []
    for i, (label, pred) in enumerate(batches(kind)):
        if i == 2:
            metric.reset_local()
        metric.update([mx.nd.array(label)], [mx.nd.array(pred)])
        found.append([metric.get(), metric.get_global()])
    metric.reset()
    found.append([metric.get(), metric.get_global()])
    return [[[n, float(v)] for n, v in pair] for pair in found]


def record() -> None:
    """Runs MXNet and writes the file."""
    import mxnet as mx

    warnings.simplefilter("ignore")
    runs = ",\n".join(json.dumps(run(mx, *case)) for case in RUNS)
    FILE.write_text(f'{{"source": "MXNet 1.9.1, CPU", "runs": [\n{runs}\n]}}\n')


if __name__ == "__main__":
    record()
