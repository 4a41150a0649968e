"""A factorization machine on a LibSVM file in memory: pairs of features count, not just features.

python factorization_machine.py TRAIN TEST --loss logistic|squared

`logistic` is for two classes (labels above zero are the positive one), `squared` for labels that are
numbers. Prints the AUC on TEST, or the root mean squared error.
"""

import argparse

import rarefy as mx

LOSSES = {
    "logistic": (mx.sym.LogisticRegressionOutput, mx.metric.auc),
    "squared": (mx.sym.LinearRegressionOutput, mx.metric.rmse),
}


def network(features, factors, loss, mean):
    """Half of (square of the sum - sum of the squares) of a row's vectors, plus a linear model."""
    rows = mx.sym.Variable("data", stype="csr")
    # Decay is for names that end in `_weight`, unless a variable asks for it.
    table = {"stype": "row_sparse", "init": mx.init.Normal(0.01), "wd_mult": 1}
    vectors = mx.sym.Variable("vectors", shape=(features, factors), **table)
    weight = mx.sym.Variable("weight", shape=(features, 1), **table)
    bias = mx.sym.Variable("bias", shape=(1,), init=mx.init.Constant(mean))

    # Costs what a batch stores. Written out with dot and square it would square all of the table.
    pairs = mx.sym.factorization_machine(rows, vectors)
    score = mx.sym.broadcast_add(pairs + mx.sym.sparse.dot(rows, weight), bias)
    score = mx.sym.Reshape(score, shape=(-1,))
    return LOSSES[loss][0](score, mx.sym.Variable("label"), name="out")


def read(path, features, loss, batch, shuffle=False):
    data = mx.io.load_libsvm(path, n_features=features)
    labels = (data.y > 0).astype("float32") if loss == "logistic" else data.y
    return mx.io.NDArrayIter(data.X, labels, batch, shuffle, label_name="label")


def train(
    train_path,
    test_path,
    *,
    features,
    loss="logistic",
    factors=8,
    epochs=10,
    batch=250,
    rate=0.003,
    decay=3e-4,
):
    """Trains on one file and returns a dict with the metric on the other, and the module."""
    batches = read(train_path, features, loss, batch, shuffle=True)
    mean = float(batches.label[0][1].mean()) if loss == "squared" else 0.0
    module = mx.mod.Module(network(features, factors, loss, mean), label_names=["label"])
    module.fit(
        batches,
        eval_metric="mse",
        num_epoch=epochs,
        optimizer="adam",
        optimizer_params={"learning_rate": rate, "wd": decay},
    )
    test = read(test_path, features, loss, batch)
    predicted = module.predict(test).asnumpy()  # without the rows that fill up the last batch
    metric = LOSSES[loss][1]
    return {metric.__name__: metric(test.label[0][1], predicted)}, module


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("--features", type=int, required=True, help="columns")
    parser.add_argument("--loss", choices=LOSSES, default="logistic")
    parser.add_argument("--epochs", type=int, default=10)
    args = parser.parse_args()
    options = {"features": args.features, "loss": args.loss, "epochs": args.epochs}
    found, _ = train(args.train, args.test, **options)
    print(" ".join(f"{name} {value:.4f}" for name, value in found.items()))
