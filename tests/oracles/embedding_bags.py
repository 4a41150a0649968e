"""What PyTorch's embedding_bag makes of given bags, gradients included.

    python tests/oracles/embedding_bags.py      # with torch installed

writes tests/gluon/torch_embedding_bags.json.
"""

import json
from pathlib import Path

import numpy as np

FILE = Path(__file__).parents[1] / "gluon" / "torch_embedding_bags.json"
IDS, OFFSETS, PADDING = [3, 1, 1, 6, 0, 3, 2, 5], [0, 3, 3, 7], 4
PADDED = [[3, 1, 1, 4], [4, 4, 4, 4], [6, 0, 3, 2], [5, 4, 4, 4]]
CASES = [("sum", False), ("sum", True), ("mean", False), ("max", False)]


def arrays():
    """The table, a weight for each id, and the cotangent of the result."""
    rng = np.random.default_rng(2)
    shapes = ((7, 3), 8, (4, 3))
    return tuple(rng.normal(1, 1, shape).astype(np.float32).round(3) for shape in shapes)


def main():
    import torch
    from torch.nn.functional import embedding_bag

    record = []
    for mode, weighted in CASES:
        table, weights, cotangent = map(torch.tensor, arrays())
        table.requires_grad_(), weights.requires_grad_()
        given = weights if weighted else None
        out = embedding_bag(
            torch.tensor(IDS), table, torch.tensor(OFFSETS), mode=mode, per_sample_weights=given
        )
        (out * cotangent).sum().backward()
        padded = embedding_bag(torch.tensor(PADDED), table, mode=mode, padding_idx=PADDING)
        record.append(
            {
                "out": out.tolist(),
                "table": table.grad.tolist(),
                "weights": weights.grad.tolist() if weighted else None,
                "padded": padded.tolist(),
            }
        )
    FILE.write_text("[\n" + ",\n".join(map(json.dumps, record)) + "\n]\n")


if __name__ == "__main__":
    main()
