"""Wide & deep on a LibSVM file: a linear model, plus a network that reads the sum of vectors.

python wide_deep.py TRAIN TEST --features N

Labels above zero are the positive class. Prints the log loss and the AUC on TEST.
"""

import argparse

import rarefy as mx


def network(features, factors, hidden):
    rows = mx.sym.Variable("data", stype="csr")
    table = {"stype": "row_sparse", "init": mx.init.Normal(0.01)}
    weight = mx.sym.Variable("wide_weight", shape=(features, 2), **table)
    vectors = mx.sym.Variable("vectors", shape=(features, factors), **table)

    wide = mx.sym.sparse.dot(rows, weight)
    deep = mx.sym.sparse.dot(rows, vectors)  # of each row, the sum of its features' vectors
    for i, units in enumerate(hidden):
        deep = mx.sym.FullyConnected(deep, num_hidden=units, name=f"hidden{i}")
        deep = mx.sym.Activation(deep, act_type="relu")
    deep = mx.sym.FullyConnected(deep, num_hidden=2, name="last")
    return mx.sym.SoftmaxOutput(wide + deep, mx.sym.Variable("label"), name="softmax")


def read(path, features, batch, shuffle=False):
    data = mx.io.load_libsvm(path, n_features=features)
    return mx.io.NDArrayIter(data.X, data.y > 0, batch, shuffle, label_name="label")


def train(
    train_path,
    test_path,
    *,
    features,
    factors=16,
    hidden=(32, 16),
    epochs=4,
    batch=512,
    rate=0.003,
):
    """Trains on one file and returns a dict of metrics on the other, and the module."""
    module = mx.mod.Module(network(features, factors, hidden), label_names=["label"])
    module.fit(
        read(train_path, features, batch, shuffle=True),
        eval_metric="log_loss",
        num_epoch=epochs,
        optimizer="adam",
        optimizer_params={"learning_rate": rate},
        initializer=mx.init.Xavier(),
    )
    test = read(test_path, features, batch)
    predicted = module.predict(test).asnumpy()[:, 1]  # without the rows that fill up the last batch
    metrics = {"log_loss": mx.metric.binary_log_loss, "auc": mx.metric.auc}
    return {name: metric(test.label[0][1], predicted) for name, metric in metrics.items()}, module


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("--features", type=int, required=True, help="columns")
    parser.add_argument("--epochs", type=int, default=4)
    args = parser.parse_args()
    found, _ = train(args.train, args.test, features=args.features, epochs=args.epochs)
    print(" ".join(f"{name} {value:.4f}" for name, value in found.items()))
