"""Matrix factorization of a CSV of ratings, `user,item,rating,...` with a header.

python matrix_factorization.py RATINGS

Every fifth rating is kept for the test. Prints the root mean squared error on it.
"""

import argparse

import numpy as np

import rarefy as mx


def network(users, items, factors, mean):
    """A rating is the mean, plus how generous the user is, how good the item, and how they agree."""
    ids = {"user": mx.sym.Variable("user"), "item": mx.sym.Variable("item")}
    sizes = {"user": users, "item": items}

    def rows(of, columns, init):
        """What a table has on the users or items of a batch; its gradient has just these rows."""
        shape, name = (sizes[of], columns), f"{of}_{'bias' if columns == 1 else 'vectors'}"
        # Decay is for names that end in `_weight`, unless a variable asks for it.
        table = mx.sym.Variable(name, shape=shape, stype="row_sparse", init=init, wd_mult=1)
        return mx.sym.sparse.Embedding(
            ids[of], table, input_dim=shape[0], output_dim=columns, sparse_grad=True
        )

    near = mx.init.Normal(0.01)
    score = mx.sym.sum(rows("user", factors, near) * rows("item", factors, near), axis=1)
    for of in ids:
        score = score + mx.sym.sum(rows(of, 1, mx.init.Zero()), axis=1)
    score = mx.sym.broadcast_add(
        score, mx.sym.Variable("mean", shape=(1,), init=mx.init.Constant(mean))
    )
    return mx.sym.LinearRegressionOutput(score, mx.sym.Variable("rating"), name="out")


def read(path):
    """Users and items, numbered from 0 on, and ratings."""
    user, item, rating = np.loadtxt(path, delimiter=",", skiprows=1, usecols=(0, 1, 2)).T
    ids = {"user": user, "item": item}
    return {
        name: np.unique(column, return_inverse=True)[1].astype(np.float32)
        for name, column in ids.items()
    }, rating.astype(np.float32)


def train(path, *, factors=8, epochs=10, batch=250, rate=0.003, decay=3e-4):
    """Trains on four of five ratings and returns a dict with the metric on the rest, and the module."""
    ids, ratings = read(path)
    sizes = [int(ids[name].max()) + 1 for name in ("user", "item")]
    is_test = np.arange(len(ratings)) % 5 == 4

    def part(rows, shuffle=False):
        data = {name: column[rows] for name, column in ids.items()}
        return mx.io.NDArrayIter(data, ratings[rows], batch, shuffle, label_name="rating")

    module = mx.mod.Module(
        network(*sizes, factors, ratings[~is_test].mean()), ["user", "item"], ["rating"]
    )
    module.fit(
        part(~is_test, shuffle=True),
        eval_metric="rmse",
        num_epoch=epochs,
        optimizer="adam",
        optimizer_params={"learning_rate": rate, "wd": decay},
    )
    # The metric of `score` is the mean of those of the batches; here it is that of all rows.
    predicted = module.predict(part(is_test)).asnumpy()
    return {"rmse": mx.metric.rmse(ratings[is_test], predicted)}, module


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("ratings")
    parser.add_argument("--epochs", type=int, default=10)
    args = parser.parse_args()
    found, _ = train(args.ratings, epochs=args.epochs)
    print(" ".join(f"{name} {value:.4f}" for name, value in found.items()))
