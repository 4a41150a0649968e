"""Linear classification of a LibSVM file that is read batch by batch, with a weighted softmax loss.

python linear_classification.py TRAIN TEST --features N

Labels above zero are the positive class. Where it is rare, `--positive-weight` says how much more one of
its rows counts. Prints what a guess by the loss costs on TEST (log loss) and its accuracy.
"""

import argparse

import numpy as np

import rarefy as mx


def network(features, positive_weight):
    """Probabilities of the two classes, and the loss of each row."""
    rows = mx.sym.Variable("data", stype="csr")
    weight = mx.sym.Variable("weight", stype="row_sparse", shape=(features, 2))
    bias = mx.sym.Variable("bias", shape=(2,))
    positive = mx.sym.Variable("label") > 0

    scores = mx.sym.broadcast_add(mx.sym.sparse.dot(rows, weight), bias)
    row_loss = -mx.sym.pick(mx.sym.log_softmax(scores), positive)
    loss = row_loss * (1 + (positive_weight - 1) * positive)
    # Only the loss has a gradient. The probabilities are there to be looked at.
    probabilities = mx.sym.BlockGrad(mx.sym.softmax(scores), name="probabilities")
    return mx.sym.Group([probabilities, mx.sym.MakeLoss(loss, name="loss")])


def log_loss(labels, probabilities):
    """The sum over a batch, and the number of its rows: the last batch is a smaller one."""
    right = np.where(labels > 0, probabilities[:, 1], probabilities[:, 0])
    return -np.log(right).sum(), len(right)


def accuracy(labels, probabilities):
    return ((probabilities[:, 1] > 0.5) == (labels > 0)).sum(), len(labels)


def train(train_path, test_path, *, features, epochs=5, batch=512, rate=0.1, positive_weight=1.0):
    """Trains on one file and returns a dict of metrics on the other, and the module."""

    def read(path, **options):
        return mx.io.LibSVMIter(path, (features,), batch_size=batch, label_name="label", **options)

    seen = {"output_names": ["probabilities_output"], "label_names": ["label"]}
    metric = mx.metric.CompositeEvalMetric(
        [mx.metric.CustomMetric(f, f.__name__, **seen) for f in (log_loss, accuracy)]
    )
    module = mx.mod.Module(network(features, positive_weight), label_names=["label"])
    module.fit(
        read(train_path),
        eval_metric=metric,
        num_epoch=epochs,
        optimizer="adagrad",
        optimizer_params={"learning_rate": rate},
        initializer=mx.init.Zero(),
    )
    return dict(module.score(read(test_path, round_batch=False), metric)), module


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("--features", type=int, required=True, help="one more than the last column")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--positive-weight", type=float, default=1.0)
    args = parser.parse_args()
    found, _ = train(
        args.train,
        args.test,
        features=args.features,
        epochs=args.epochs,
        positive_weight=args.positive_weight,
    )
    print(" ".join(f"{name} {value:.4f}" for name, value in found.items()))
