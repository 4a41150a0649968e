"""Operator by operator, hybridized, or as one compiled step: the same weights.

Each optimizer, each loss and each layer is in at least one row of the table.
"""

import warnings
from collections.abc import Callable

import numpy as np
import pytest

import rarefy as mx
from rarefy import autograd, gluon, nd
from rarefy.gluon import loss as losses
from rarefy.gluon import nn

ROWS, COLUMNS, HIDDEN, OUT = 4, 7, 6, 3
STEPS = 3


class Folded(gluon.HybridBlock):
    """A layer for three axes, between two."""

    def __init__(self, layer):
        super().__init__()
        with self.name_scope():
            self.layer = layer

    def hybrid_forward(self, F, x):
        return F.Flatten(self.layer(F.reshape(x, shape=(0, 3, -1))))


def field_aware():
    return nn.FieldAwareFactorizationMachine(2, np.arange(COLUMNS) % 3)


# The first layer, from csr rows; the one after it; the loss; the optimizer.
TABLE: list[tuple[Callable, Callable, str, str]] = [
    (lambda: nn.SparseDense(HIDDEN), lambda: nn.Dense(HIDDEN, activation="tanh"), "L2Loss", "sgd"),
    (lambda: nn.SparseDense(HIDDEN), lambda: nn.BatchNorm(), "L1Loss", "nag"),
    (lambda: nn.EmbeddingBag(COLUMNS, HIDDEN), lambda: nn.LayerNorm(), "HuberLoss", "adam"),
    (lambda: nn.FactorizationMachine(4), nn.Flatten, "LogisticLoss", "adagrad"),
    (field_aware, lambda: nn.HybridLambda("tanh"), "HingeLoss", "adadelta"),
    (lambda: nn.SparseDense(HIDDEN), lambda: nn.Dropout(0.5), "SquaredHingeLoss", "rmsprop"),
    (lambda: nn.SparseDense(HIDDEN), nn.PReLU, "SigmoidBinaryCrossEntropyLoss", "ftrl"),
    (lambda: nn.SparseDense(HIDDEN), lambda: nn.ELU(0.5), "SoftmaxCrossEntropyLoss", "ftml"),
    (lambda: nn.SparseDense(HIDDEN), nn.SELU, "KLDivLoss", "signum"),
    (lambda: nn.SparseDense(HIDDEN), nn.GELU, "TripletLoss", "adamw"),
    (lambda: nn.EmbeddingBag(COLUMNS, HIDDEN, mode="mean"), nn.Swish, "PoissonNLLLoss", "adamax"),
    (
        lambda: nn.SparseDense(HIDDEN),
        lambda: nn.CrossNetwork(2, in_units=HIDDEN),
        "CosineEmbeddingLoss",
        "nadam",
    ),
    (lambda: nn.SparseDense(HIDDEN), lambda: nn.LeakyReLU(0.1), "SDMLLoss", "dcasgd"),
    (lambda: nn.SparseDense(HIDDEN), lambda: nn.HybridLambda("sigmoid"), "L2Loss", "lars"),
    (lambda: nn.SparseDense(HIDDEN), lambda: nn.Activation("softsign"), "L2Loss", "lamb"),
    (
        lambda: nn.EmbeddingBag(COLUMNS, HIDDEN, mode="max"),
        lambda: Folded(nn.InstanceNorm(scale=True)),
        "L2Loss",
        "sgd",
    ),
    (lambda: nn.SparseDense(HIDDEN), lambda: Folded(nn.GroupNorm(3)), "L2Loss", "adam"),
]

RNG = np.random.default_rng(11)
DENSE = RNG.normal(size=(STEPS, ROWS, COLUMNS)) * (RNG.random((STEPS, ROWS, COLUMNS)) < 0.5)


def labels_of(loss, width):
    rng = np.random.default_rng(4)
    shape = (ROWS, width) if width > 1 else (ROWS,)
    if loss == "SoftmaxCrossEntropyLoss":
        return [nd.array(rng.integers(0, width, ROWS))]
    if loss in ("HingeLoss", "SquaredHingeLoss", "LogisticLoss"):
        return [nd.array(rng.choice([-1.0, 1.0], shape))]
    if loss == "TripletLoss":
        return [nd.array(rng.normal(size=shape)) for _ in range(2)]
    if loss == "CosineEmbeddingLoss":
        return [nd.array(rng.normal(size=shape)), nd.array(rng.choice([-1.0, 1.0], ROWS))]
    if loss == "PoissonNLLLoss":
        return [nd.array(rng.integers(0, 4, shape))]
    return [nd.array(rng.uniform(size=shape))]


def train(way, first, middle, loss, optimizer):
    mx.random.seed(7)
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        head = first()
        net.add(head)
        if isinstance(head, nn.FactorizationMachine | nn.FieldAwareFactorizationMachine):
            width = 1
            net.add(middle())
        else:
            width = OUT
            net.add(middle(), nn.Dense(OUT))
    net.initialize(mx.init.Normal(0.3))
    criterion = getattr(losses, loss)()
    trainer = gluon.Trainer(net.collect_params(), optimizer, {"learning_rate": 0.02})
    labels = labels_of(loss, width)
    if way == "hybridized":
        net.hybridize()
        criterion.hybridize()
    step = gluon.TrainStep(net, criterion, trainer)
    for dense in DENSE:
        x = nd.array(dense).tostype("csr")
        if way == "not at all":
            net(x)  # the shapes of the first batch
            break
        if way == "one program":
            step(x, *labels)
            continue
        with autograd.record():
            found = criterion(net(x), *labels)
        found.backward()
        trainer.step(ROWS)
    assert step.compilations == (way == "one program")
    return {name: p.data().asnumpy() for name, p in net.collect_params().items()}


@pytest.mark.parametrize("row", TABLE, ids=lambda row: "-".join(row[2:]))
def test_weights_are_the_same(row):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # lamb makes the gradient dense
        expected = train("eager", *row)
        for way in ("hybridized", "one program"):
            found = train(way, *row)
            assert found.keys() == expected.keys()
            for name, weight in expected.items():
                np.testing.assert_allclose(
                    found[name], weight, rtol=2e-4, atol=2e-6, err_msg=f"{way}: {name}"
                )
        moved = train("not at all", *row)
    assert all(
        np.abs(expected[name] - moved[name]).max() > 1e-6 for name in expected if "weight" in name
    )


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "adagrad"])
def test_gradients_by_rows_and_dense_ones_train_the_same_model(optimizer):
    found = []
    settings = {"learning_rate": 0.1} | (
        {} if optimizer == "adagrad" else {"lazy_update": False, "wd": 0.01}
    )
    for sparse in (True, False):
        mx.random.seed(3)
        net = nn.SparseDense(OUT, in_units=COLUMNS, sparse_grad=sparse, prefix="net_")
        net.initialize(mx.init.Normal(0.3))
        trainer = gluon.Trainer(net.collect_params(), optimizer, settings)
        step = gluon.TrainStep(net, losses.L2Loss(), trainer)
        for dense in DENSE:
            step(nd.array(dense).tostype("csr"), labels_of("L2Loss", OUT)[0])
        found.append(net.weight.data().asnumpy())
        assert net.weight.grad_stype == ("row_sparse" if sparse else "default")
    np.testing.assert_allclose(*found, rtol=1e-5, atol=1e-7)
