"""The programs under tutorials/programs: what they print, and the same models by Gluon.

On data made here they must find what was planted. `RAREFY_DATA` names a folder with `a9a`, `a9a.t` and
`ml-latest-small-ratings.csv`; there they must meet the references of scikit-learn 1.9.1, and Gluon
models must be as good. Without it that part is skipped.
"""

import os
import runpy
from pathlib import Path

import numpy as np
import pytest

import rarefy as mx
from rarefy import gluon, metric
from rarefy.gluon.loss import L2Loss, SigmoidBCELoss, SoftmaxCELoss
from rarefy.gluon.nn import FactorizationMachine, SparseDense
from rarefy.models import MatrixFactorization, WideDeep

PROGRAMS = Path(__file__).parents[1] / "tutorials/programs"
DATA = Path(os.environ.get("RAREFY_DATA", ""))
RATINGS = "ml-latest-small-ratings.csv"


@pytest.fixture
def printed(monkeypatch, capsys, tmp_path):
    """Runs a program in an empty folder and returns the metrics that it prints."""
    monkeypatch.chdir(tmp_path)
    mx.random.seed(0)
    np.random.seed(0)

    def run(name, *args):
        monkeypatch.setattr("sys.argv", [name, *map(str, args)])
        runpy.run_path(str(PROGRAMS / name), run_name="__main__")
        words = capsys.readouterr().out.split()
        return dict(zip(words[::2], map(float, words[1::2]), strict=True))

    return run


def write_libsvm(path, labels, columns):
    rows = (
        f"{y:g} " + " ".join(f"{c}:1" for c in sorted(row))
        for y, row in zip(labels, columns, strict=True)
    )
    Path(path).write_text("\n".join(rows) + "\n")


def test_programs_find_what_is_planted(printed, rng):
    features, rows = 40, 3000
    columns = [rng.choice(features, 5, replace=False) for _ in range(rows)]
    linear, vectors = rng.normal(size=features), rng.normal(size=(features, 2))
    pairs = [0.5 * ((v.sum(0) ** 2) - (v**2).sum(0)).sum() for v in (vectors[c] for c in columns)]
    parts = {"train": slice(2400), "test": slice(2400, None)}
    score = np.array([linear[c].sum() for c in columns])
    for name, part in parts.items():
        write_libsvm(f"linear.{name}", np.sign(score)[part], columns[part])
        write_libsvm(f"pairs.{name}", np.sign(pairs)[part], columns[part])
    of_line, of_pairs = (
        (f"{kind}.train", f"{kind}.test", "--features", features) for kind in ("linear", "pairs")
    )
    found = printed("linear_classification.py", *of_line, "--epochs", 20)
    assert found["accuracy"] > 0.95 and found["log_loss"] < 0.2
    by_pairs = printed("factorization_machine.py", *of_pairs, "--epochs", 30)
    deep = printed("wide_deep.py", *of_pairs, "--epochs", 30)
    assert by_pairs["auc"] > 0.95
    assert deep["auc"] > 0.9 and deep["log_loss"] < 0.3


def test_gradients_of_tables_have_the_rows_of_a_batch():
    features = {"features": 50, "factors": 4}
    options = {
        "linear_classification": {"features": 50, "positive_weight": 1.0},
        "factorization_machine": {**features, "loss": "squared", "mean": 0.0},
        "wide_deep": {**features, "hidden": (4,)},
        "matrix_factorization": {"users": 50, "items": 50, "factors": 4, "mean": 0.0},
    }
    for name, arguments in options.items():
        net = runpy.run_path(str(PROGRAMS / f"{name}.py"))["network"](**arguments)
        pair = dict.fromkeys(("user", "item"), (8,))
        shapes = pair if "users" in arguments else {"data": (8, 50)}
        executor = net.simple_bind(mx.cpu(), **shapes)
        tables = [n for n, array in executor.arg_dict.items() if len(array) == 50]
        assert tables and {executor.grad_dict[n].stype for n in tables} == {"row_sparse"}, name


def test_a_weight_makes_up_for_a_rare_class(printed):
    """A quarter of rows that are all alike is positive: at three times the weight it is as good as half
    of them, and the loss is that of a coin."""
    for name in ("train", "test"):
        write_libsvm(name, [1, -1, -1, -1] * 256, [[0]] * 1024)
    options = ("train", "test", "--features", 1, "--epochs", 30, "--positive-weight", 3)
    assert printed("linear_classification.py", *options)["log_loss"] == pytest.approx(
        np.log(2), 1e-3
    )


def test_ratings_of_low_rank(printed, rng):
    users, items = np.divmod(rng.permutation(60 * 50), 50)
    own, other = rng.normal(size=(60, 2)), rng.normal(size=(50, 2))
    ratings = 3 + (own[users] * other[items]).sum(axis=1)
    # Ids with gaps, as in real files.
    lines = [
        f"{7 * u},{1000 - i},{r:.3f},0\n" for u, i, r in zip(users, items, ratings, strict=True)
    ]
    Path("ratings.csv").write_text("userId,movieId,rating,timestamp\n" + "".join(lines))
    found = printed("matrix_factorization.py", "ratings.csv", "--epochs", 60)
    assert found["rmse"] < 0.3 * ratings.std()


def trained(net, loss, data, optimizer, settings, epochs, batch):
    """A Gluon model after some epochs of compiled steps over shuffled rows."""
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), optimizer, settings)
    step = gluon.TrainStep(net, loss, trainer)
    rows = gluon.data.ArrayDataset(*data)
    for _ in range(epochs):
        for *inputs, y in gluon.data.DataLoader(rows, batch, shuffle=True):
            step(inputs, y)
    return net


on_real_data = pytest.mark.skipif("RAREFY_DATA" not in os.environ, reason="RAREFY_DATA is not set")


@on_real_data
@pytest.mark.parametrize("name", ["linear_classification", "factorization_machine", "wide_deep"])
def test_on_a9a(printed, name):
    """Logistic regression at its optimum has a log loss of 0.3241 and an AUC of 0.9022."""
    found = printed(f"{name}.py", DATA / "a9a", DATA / "a9a.t", "--features", 124)
    train, test = (mx.io.load_libsvm(DATA / part, n_features=124) for part in ("a9a", "a9a.t"))
    labels, expected = ((part.y > 0).astype("float32") for part in (train, test))
    x = mx.nd.sparse.csr_matrix(test.X)
    if name == "linear_classification":
        net = SparseDense(2, weight_initializer="zeros")
        net = trained(
            net, SoftmaxCELoss(), (train.X, labels), "adagrad", {"learning_rate": 0.1}, 5, 512
        )
        p = mx.nd.softmax(net(x)).asnumpy()[:, 1]
    else:
        deep = name == "wide_deep"
        net = WideDeep(16, hidden=(32, 16)) if deep else FactorizationMachine(8)
        settings = {"learning_rate": 0.003, "wd": 0 if deep else 3e-4}
        epochs, batch = (4, 512) if deep else (10, 250)
        net = trained(net, SigmoidBCELoss(), (train.X, labels), "adam", settings, epochs, batch)
        p = mx.nd.sigmoid(net(x)).asnumpy()[:, 0]
    of_gluon = {"auc": metric.auc(expected, p), "log_loss": metric.binary_log_loss(expected, p)}
    if "auc" in found:
        assert found["auc"] >= 0.9015 and found["auc"] == pytest.approx(of_gluon["auc"], abs=2e-3)
    if "log_loss" in found:
        assert found["log_loss"] <= 0.3255
        assert found["log_loss"] == pytest.approx(of_gluon["log_loss"], rel=0.01)


@on_real_data
def test_on_ratings(printed):
    """Ridge regression on users and items has an RMSE of 0.8599, with factors of rank 8 0.8479."""
    found = printed("matrix_factorization.py", DATA / RATINGS)
    user, item, rating = np.loadtxt(DATA / RATINGS, delimiter=",", skiprows=1, usecols=(0, 1, 2)).T
    user, item = (np.unique(ids, return_inverse=True)[1] for ids in (user, item))
    users, items = int(user.max()) + 1, int(item.max()) + 1
    is_test = np.arange(len(rating)) % 5 == 4
    for name, rows in (("train", ~is_test), ("test", is_test)):
        write_libsvm(name, rating[rows], np.stack([user[rows], users + item[rows]], axis=1))
    by_machine = printed(
        "factorization_machine.py",
        "train",
        "test",
        "--features",
        users + items,
        "--loss",
        "squared",
    )
    mean = float(rating[~is_test].mean())
    centred = (rating - mean).astype("float32")
    settings = {"learning_rate": 0.003, "wd": 3e-4}
    pairs = tuple(np.asarray(v, np.int32) for v in (user, item))
    data = (*(v[~is_test] for v in pairs), centred[~is_test])
    net = MatrixFactorization(users, items, 8, factor_initializer=mx.init.Normal(0.01))
    net = trained(net, L2Loss(), data, "adam", settings, 10, 250)
    scores = net(*(mx.nd.array(v[is_test], dtype="int32") for v in pairs)).asnumpy()
    of_gluon = [metric.rmse(centred[is_test], scores)]
    train, test = (mx.io.load_libsvm(part, n_features=users + items) for part in ("train", "test"))
    net = trained(
        FactorizationMachine(8), L2Loss(), (train.X, train.y - mean), "adam", settings, 10, 250
    )
    scores = net(mx.nd.sparse.csr_matrix(test.X)).asnumpy()[:, 0]
    of_gluon.append(metric.rmse(test.y - mean, scores))
    for rmse, other in zip((found["rmse"], by_machine["rmse"]), of_gluon, strict=True):
        assert rmse <= 0.855 and rmse == pytest.approx(other, rel=0.01)
