"""What MXNet 1.9.1's losses and layers make of given arrays, gradients included.

    python tests/oracles/gluon_layers.py        # with MXNet installed

writes what `loss` and `layer` give for each of `LOSSES` and `LAYERS` to
tests/gluon/mxnet_layers.json.
"""

import json
from pathlib import Path

import numpy as np

FILE = Path(__file__).parents[1] / "gluon" / "mxnet_layers.json"
# Class, arguments, kind of labels, further inputs by name.
LOSSES = [
    ("L1Loss", {}, "numbers", ()),
    ("L1Loss", {"weight": 0.3}, "reshaped", ("sample_weight",)),
    ("L1Loss", {"batch_axis": 1}, "numbers", ()),
    ("L2Loss", {}, "numbers", ()),
    ("L2Loss", {"weight": 3}, "numbers", ("sample_weight",)),
    ("SigmoidBinaryCrossEntropyLoss", {}, "shares", ()),
    ("SigmoidBCELoss", {"weight": 2.0}, "shares", ("sample_weight", "pos_weight")),
    ("SigmoidBCELoss", {"from_sigmoid": True}, "shares", ("sample_weight",)),
    ("SigmoidBCELoss", {"from_sigmoid": True}, "shares", ("sample_weight", "pos_weight")),
    ("SoftmaxCrossEntropyLoss", {}, "classes", ()),
    ("SoftmaxCELoss", {"weight": 0.5, "axis": 1}, "classes", ("sample_weight",)),
    ("SoftmaxCELoss", {"sparse_label": False}, "shares", ()),
    ("SoftmaxCELoss", {"from_logits": True}, "classes", ()),
    ("KLDivLoss", {}, "shares", ()),
    ("KLDivLoss", {"from_logits": False, "weight": 2}, "shares", ("sample_weight",)),
    ("HuberLoss", {}, "numbers", ()),
    ("HuberLoss", {"rho": 0.4}, "numbers", ("sample_weight",)),
    ("HingeLoss", {}, "signs", ()),
    ("HingeLoss", {"margin": 2}, "signs", ("sample_weight",)),
    ("SquaredHingeLoss", {"weight": 2}, "signs", ()),
    ("LogisticLoss", {}, "signs", ()),
    ("LogisticLoss", {"label_format": "binary"}, "shares", ("sample_weight",)),
    ("TripletLoss", {}, "triplet", ()),
    ("TripletLoss", {"margin": 0.2, "weight": 2}, "triplet", ()),
    ("PoissonNLLLoss", {}, "counts", ()),
    ("PoissonNLLLoss", {"from_logits": False, "weight": 2}, "counts", ("sample_weight",)),
    ("CosineEmbeddingLoss", {}, "pairs", ()),
    ("CosineEmbeddingLoss", {"margin": 0.3, "weight": 2}, "pairs", ()),
    ("SDMLLoss", {}, "partners", ()),
    ("SDMLLoss", {"smoothing_parameter": 0.1}, "partners", ()),
]
# Class, arguments, shape of the input (an int: ids below it, else numbers).
LAYERS = [
    ("Dense", {"units": 3}, (4, 2, 3)),
    ("Dense", {"units": 3, "flatten": False, "activation": "tanh"}, (4, 2, 3)),
    ("Dense", {"units": 2, "use_bias": False, "in_units": 5}, (3, 5)),
    ("Activation", {"activation": "softsign"}, (3, 5)),
    ("BatchNorm", {}, (6, 3)),
    ("BatchNorm", {"axis": -1, "momentum": 0.7, "epsilon": 1e-3, "scale": False}, (3, 4, 2)),
    ("BatchNorm", {"center": False, "use_global_stats": True, "in_channels": 4}, (3, 4, 2)),
    ("LayerNorm", {}, (3, 4)),
    ("LayerNorm", {"axis": 1, "epsilon": 1e-2, "center": False}, (3, 4, 2)),
    ("InstanceNorm", {"scale": True}, (3, 4, 5)),
    ("InstanceNorm", {"axis": 2}, (3, 4, 5)),
    ("GroupNorm", {"num_groups": 2}, (3, 4, 5)),
    ("Embedding", {"input_dim": 5, "output_dim": 3}, 5),
    ("Embedding", {"input_dim": 5, "output_dim": 3, "sparse_grad": True}, 5),
    ("Flatten", {}, (3, 4, 5)),
    ("Dropout", {"rate": 0.0}, (3, 4)),
    ("Lambda", {"function": "tanh"}, (3, 4)),
    ("HybridLambda", {"function": "sigmoid"}, (3, 4)),
    ("LeakyReLU", {"alpha": 0.1}, (3, 4)),
    ("PReLU", {}, (3, 4)),
    ("PReLU", {"in_channels": 4}, (3, 4)),
    ("ELU", {"alpha": 0.5}, (3, 4)),
    ("SELU", {}, (3, 4)),
    ("GELU", {}, (3, 4)),
    ("Swish", {"beta": 2.0}, (3, 4)),
    ("contrib.Identity", {}, (3, 4)),
]


def inputs(kind):
    """Predictions and labels, and sample_weight and pos_weight."""
    rng = np.random.default_rng(3)
    pred = rng.normal(size=(4, 3))
    if kind == "shares":
        pred = rng.uniform(0.1, 0.9, (4, 3))
    further = {
        "sample_weight": rng.uniform(0.5, 2, (4, 1)),
        "pos_weight": rng.uniform(0.5, 2, (1, 3)),
    }
    labels = {
        "numbers": lambda: [rng.normal(size=(4, 3))],
        "reshaped": lambda: [rng.normal(size=(3, 4))],
        "shares": lambda: [rng.uniform(size=(4, 3))],
        "classes": lambda: [rng.integers(0, 3, 4)],
        "signs": lambda: [rng.choice([-1.0, 1.0], (4, 3))],
        "triplet": lambda: [rng.normal(size=(4, 3)), rng.normal(size=(4, 3))],
        "counts": lambda: [rng.poisson(2, (4, 3)) + 1],
        "pairs": lambda: [rng.normal(size=(4, 3)), np.array([1, -1, 1, -1])],
        "partners": lambda: [rng.normal(size=(4, 3))],
    }[kind]()
    return pred, labels, further


def loss(mx, name, kwargs, kind, further, hybrid=False):
    """What it shows itself as, the losses, and the gradient of the predictions."""
    pred, labels, more = inputs(kind)
    pred = mx.nd.array(pred)
    pred.attach_grad()
    block = getattr(mx.gluon.loss, name)(**kwargs)
    if hybrid:
        block.hybridize()
    args = [mx.nd.array(label) for label in labels]
    args += [mx.nd.array(more[n]) if n in further else None for n in more][: len(further) and 2]
    while args[-1] is None:
        args.pop()
    with mx.autograd.record():
        out = block(pred, *args)
    out.backward()
    return [repr(block), out.asnumpy().tolist(), pred.grad.asnumpy().tolist()]


def layer(mx, name, kwargs, shape, hybrid=False):
    """What it shows itself as, the result, and gradients of the input and the parameters.

    Last comes the result outside training, with running means that have moved.
    """
    rng = np.random.default_rng(5)
    ids = isinstance(shape, int)
    x = mx.nd.array(rng.integers(0, shape, (2, 4)) if ids else rng.normal(size=shape))
    home = mx.gluon.contrib.nn if name.startswith("contrib.") else mx.gluon.nn
    block = getattr(home, name.split(".")[-1])(**kwargs)
    before = repr(block)
    block.initialize()
    block(x)  # finds out shapes
    params = sorted(block.collect_params().items())
    for key, param in params:
        value = rng.uniform(0.2, 1.5, param.shape)
        if "Batch" in name and key.endswith("gamma") and param.grad_req == "null":
            value = np.ones(param.shape)  # what MXNet writes there
        param.set_data(mx.nd.array(value))
    if hybrid:
        block.hybridize()
    if not ids:
        x.attach_grad()
    with mx.autograd.record():
        out = block(x)
        total = (out * mx.nd.array(rng.normal(size=out.shape))).sum()
    total.backward()
    found = {"before": before, "after": repr(block), "out": out.asnumpy().tolist()}
    found["x"] = None if ids else x.grad.asnumpy().tolist()
    for key, param in params:
        learned = param.grad_req != "null"
        found[key[len(block.prefix) :]] = [
            param.data().asnumpy().tolist(),
            param.grad().asnumpy().tolist() if learned else None,
            param.grad().stype if learned else None,
        ]
    found["later"] = block(x).asnumpy().tolist()
    return found


def main():
    import mxnet as mx

    record = {
        "losses": [loss(mx, *case) for case in LOSSES],
        "layers": [layer(mx, *case) for case in LAYERS],
    }
    lines = [f'"{k}": [\n' + ",\n".join(map(json.dumps, v)) + "\n]" for k, v in record.items()]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
