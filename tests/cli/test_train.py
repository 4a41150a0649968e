"""`rarefy train` on small made-up files, and what it leaves in the folder of the run."""

import csv
import json
import re

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array

from rarefy.io import save_libsvm
from rarefy.models import Model, Reading, Training, make_plan

PNG = b"\x89PNG\r\n\x1a\n"


def train(rarefy, *arguments):
    status, out, err = rarefy("train", *arguments)
    assert status == 0, err
    return out


def metric(rarefy, run, file, name):
    status, out, err = rarefy("eval", run, file, "--json")
    assert status == 0, err
    return json.loads(out)[name]


def test_run_holds_model_history_curves_and_checkpoint(rarefy, clicks, more_clicks, tmp_path):
    out = train(rarefy, clicks, "--valid", more_clicks, "--epochs", 3, "--out", "run")
    assert sorted(p.name for p in (tmp_path / "run").iterdir()) == [
        "checkpoint.safetensors",
        "curves.png",
        "history.csv",
        "model.json",
        "model.safetensors",
    ]
    assert (tmp_path / "run/curves.png").read_bytes().startswith(PNG)
    with open(tmp_path / "run/history.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["epoch"] for row in rows] == ["1", "2", "3"]
    assert {row["rows"] for row in rows} == {"1000"}
    assert list(rows[0])[3:] == [
        f"{part}_{name}" for part in ("train", "valid") for name in ("log_loss", "auc", "accuracy")
    ]
    assert float(rows[2]["valid_auc"]) > 0.95
    assert len(re.findall(r"^epoch [123]/3  train  log_loss .* rows/s$", out, re.M)) == 3
    header = json.loads((tmp_path / "run/model.json").read_text())
    assert header["format"] == "rarefy-model" and header["version"] == 1
    assert (header["kind"], header["loss"], header["classes"]) == ("linear", "logistic", [-1, 1])
    assert (header["width"], header["index_base"]) == (40, 1)
    assert header["data"]["rows"] == 1000
    # Every setting is stored, printed, and marked where it was not given.
    for name, value in header["settings"].items():
        option = {"patience": "early-stop"}.get(name, name.replace("_", "-"))
        if name.startswith(("factor", "hidden", "dropout")):
            continue
        star = "" if name == "epochs" else r"\*"
        shown = {"True": "yes", "False": "no"}.get(str(value), str(value).removesuffix(".0"))
        assert re.search(rf"\b{option} {shown}{star}", out), (name, value)


def test_same_seed_gives_the_same_bits_and_another_seed_other_ones(rarefy, clicks, tmp_path):
    for run, seed in (("a", 1), ("b", 1), ("c", 2)):
        options = ["--shuffle", "--seed", seed, "--model", "fm", "--epochs", 2, "--out", run]
        train(rarefy, clicks, *options)
    a, b, c = (Model.load(tmp_path / run) for run in "abc")
    np.testing.assert_array_equal(a.weight, b.weight)
    np.testing.assert_array_equal(a.factors, b.factors)
    assert (a.weight != c.weight).any()


def test_file_order_and_shuffled_order_differ(rarefy, clicks, tmp_path):
    for run, order in (("a", "--shuffle"), ("b", "--no-shuffle")):
        train(rarefy, clicks, order, "--epochs", 1, "--out", run)
    a, b = (Model.load(tmp_path / run) for run in "ab")
    assert (a.weight != b.weight).any()


def test_sorted_labels_are_shuffled_without_being_told(rarefy, clicks, more_clicks, tmp_path):
    lines = sorted(clicks.read_text().splitlines(keepends=True))
    (tmp_path / "sorted.svm").write_text("".join(lines))
    assert "shuffle no*" in train(rarefy, clicks, "--epochs", 1, "--out", "a")
    assert "shuffle yes*" in train(rarefy, "sorted.svm", "--out", "b")
    assert "shuffle no," in train(rarefy, "sorted.svm", "--no-shuffle", "--out", "c")
    assert metric(rarefy, "b", more_clicks, "log_loss") < 0.25
    assert metric(rarefy, "b", more_clicks, "auc") > 0.95


def test_default_folder_is_numbered_and_given_one_is_kept(rarefy, clicks, tmp_path):
    for name in ("clicks.svm.run", "clicks.svm.run-2", "clicks.svm.run-3"):
        assert f"saved  {name} " in train(rarefy, clicks, "--epochs", 1)
        assert (tmp_path / name / "model.json").exists()
    before = (tmp_path / "clicks.svm.run/model.json").read_text()
    status, _, err = rarefy("train", clicks, "--out", "clicks.svm.run")
    assert status == 2
    assert "--resume" in err and "--overwrite" in err
    assert (tmp_path / "clicks.svm.run/model.json").read_text() == before
    train(rarefy, clicks, "--epochs", 1, "--out", "clicks.svm.run", "--overwrite")
    assert (tmp_path / "clicks.svm.run/model.json").read_text() != before


@pytest.mark.parametrize("optimizer", ["adagrad", "sgd", "adam", "ftrl"])
def test_every_optimizer_learns_with_its_defaults(rarefy, clicks, more_clicks, optimizer):
    train(rarefy, clicks, "--optimizer", optimizer, "--out", "run")
    assert metric(rarefy, "run", more_clicks, "auc") > 0.97
    assert metric(rarefy, "run", more_clicks, "log_loss") < 0.25


def test_three_classes_are_learned_by_softmax(rarefy, tmp_path):
    rng = np.random.default_rng(0)
    x = (rng.random((900, 30)) < 0.2).astype(np.float32)
    y = (x @ rng.normal(size=(30, 3)) * 3).argmax(axis=1)
    labels = np.array([2, 5, 9])[y]
    save_libsvm("train.svm", csr_array(x[:700]), labels[:700])
    save_libsvm("test.svm", csr_array(x[700:]), labels[700:])
    out = train(rarefy, "train.svm", "--out", "run")
    assert "loss      softmax (3 whole-numbered labels, 2, 5, 9)" in out
    assert metric(rarefy, "run", "test.svm", "accuracy") > 0.9
    predicted = rarefy("predict", "run", "test.svm", "--what", "class")[1].split()
    assert np.mean(np.array(predicted, int) == labels[700:]) > 0.9
    lines = rarefy("predict", "run", "test.svm")[1].splitlines()
    probabilities = np.array([line.split() for line in lines], float)
    assert probabilities.shape == (200, 3)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-6)


def test_ill_conditioned_regression_comes_within_2_percent_of_least_squares(rarefy, tmp_path):
    """Dense, large, strongly correlated columns beside one-hot ones, targets far from zero."""
    rng = np.random.default_rng(0)
    size = rng.normal(50, 8, 3000)
    dense = np.stack([size * k + rng.normal(0, 3, 3000) for k in (1, 0.8, 0.2, 2.5)], axis=1)
    hot = np.eye(3)[rng.integers(0, 3, 3000)]
    x = np.concatenate([hot, dense], axis=1).astype(np.float32)
    y = 1000 + x @ np.array([5, -3, 0, 2, -4, 9, 1.5]) + rng.normal(0, 10, 3000)
    y = np.round(y, 2)
    save_libsvm("train.svm", csr_array(x[:2500]), y[:2500])
    save_libsvm("test.svm", csr_array(x[2500:]), y[2500:])
    out = train(rarefy, "train.svm", "--out", "run")
    assert "loss      squared" in out
    design = np.c_[x, np.ones(3000)].astype(float)
    solution = np.linalg.lstsq(design[:2500], y[:2500], rcond=None)[0]
    best = np.sqrt(np.mean((design[2500:] @ solution - y[2500:]) ** 2))
    assert metric(rarefy, "run", "test.svm", "rmse") < 1.02 * best
    values = np.array(rarefy("predict", "run", "test.svm")[1].split(), float)
    assert np.sqrt(np.mean((values - y[2500:]) ** 2)) < 1.02 * best


def interactions(rows, seed):
    """Two categorical columns of 12 ids; the label depends on the pair only."""
    rng = np.random.default_rng(seed)
    table = np.random.default_rng(5).normal(size=(12, 3)) @ np.random.default_rng(6).normal(
        size=(3, 12)
    )
    a, b = rng.integers(0, 12, (2, rows))
    x = np.zeros((rows, 24), np.float32)
    x[np.arange(rows), a] = 1
    x[np.arange(rows), 12 + b] = 1
    return csr_array(x), (table[a, b] + rng.normal(0, 0.3, rows) > 0).astype(int)


@pytest.mark.parametrize("optimizer", ["adagrad", "ftrl"])
def test_factorization_machine_learns_pairs_that_a_linear_model_cannot(rarefy, optimizer):
    for name, rows, seed in (("train.svm", 3000, 1), ("test.svm", 1000, 2)):
        save_libsvm(name, *interactions(rows, seed))
    options = ["--optimizer", optimizer, "--out"]
    train(rarefy, "train.svm", *options, "linear")
    train(rarefy, "train.svm", "--model", "fm", *options, "fm")
    linear, fm = (metric(rarefy, run, "test.svm", "auc") for run in ("linear", "fm"))
    assert linear < 0.85
    assert fm > 0.97


def test_networks_and_matrix_factorization_learn_pairs_too(rarefy, tmp_path):
    for name, rows, seed in (("train.svm", 3000, 1), ("test.svm", 1000, 2)):
        save_libsvm(name, *interactions(rows, seed), index_base=1)
    for model, *options in (
        ("widedeep", "--hidden", "16", "--factor-lr", 1, "--factor-std", 0.3),
        ("mf", "--valid", "test.svm", "--early-stop", 2, "--items", 14),
    ):
        options += ["--epochs", 12, "--out", model]
        out = train(rarefy, "train.svm", "--model", model, *options)
        assert ("hidden 16," in out) == (model == "widedeep")
        assert metric(rarefy, model, "test.svm", "auc") > 0.97
        header = json.loads((tmp_path / model / "model.json").read_text())
        assert (header["kind"], header.get("users")) == (model, 12 if model == "mf" else None)
    (tmp_path / "bad.svm").write_text("1 1:1 13:1\n1 1:1 2:1\n")
    for command in ("eval", "predict"):
        status, _, err = rarefy(command, "mf", "bad.svm")
        assert status == 2
        assert "bad.svm: row 2 has the columns 1 and 2" in err and err.count("\n") == 1
    # Items that no row had: their bias is zero and their vector is small.
    (tmp_path / "new.svm").write_text("3:1 25:1\n3:1 26:1\n")
    status, out, _ = rarefy("predict", "mf", "new.svm", "--what", "score")
    numbers = Model.load(tmp_path / "mf").numbers
    alone = numbers["bias"] + numbers["user_bias"][2]
    assert status == 0 and out.count("\n") == 2
    for score, vector in zip(map(float, out.split()), numbers["item"][12:], strict=True):
        assert 0 < abs(vector).max() < 0.1
        assert score == pytest.approx((alone + numbers["user"][2] @ vector).item(), abs=1e-5)
    (tmp_path / "new.svm").write_text("3:1 26:1\n3:1 27:1\n")
    status, _, err = rarefy("predict", "mf", "new.svm")
    assert status == 2 and "new.svm:2:5: found '27:1'" in err and "26 columns" in err


def logistic_optimum(x, y, l2, steps=100):
    """The minimum of mean log loss plus l2/2 |w|^2 by Newton's method; the bias is free."""
    design = np.c_[x, np.ones(len(x))]
    penalty = np.diag([*[l2] * x.shape[1], 0])
    w = np.zeros(design.shape[1])
    for _ in range(steps):
        p = 1 / (1 + np.exp(-design @ w))
        gradient = design.T @ (p - y) / len(y) + penalty @ w
        hessian = (design.T * (p * (1 - p))) @ design / len(y) + penalty
        w -= np.linalg.solve(hessian, gradient)
    return w


def objective(x, y, w, l2):
    z = x @ w[:-1] + w[-1]
    return np.mean(np.logaddexp(0, z) - y * z) + l2 / 2 * w[:-1] @ w[:-1]


@pytest.mark.parametrize("optimizer", ["adagrad", "sgd", "adam", "ftrl"])
def test_l2_meets_the_optimum_of_the_objective_to_three_digits(rarefy, tmp_path, optimizer):
    """Rare columns and one that is scaled: the lazy penalty must still be the exact one."""
    rng = np.random.default_rng(0)
    chance = np.array([0.5, 0.3, 0.1, 0.05, 0.02, 0.01, 0.95, 0.4])
    x = (rng.random((1000, 8)) < chance) * np.array([1, 1, 1, 1, 1, 1, 1, 20.0])
    weight = np.array([1, -2, 2, 1, -1, 2, 1, 0.1])
    y = (x @ weight - 0.5 + rng.logistic(size=1000) > 0).astype(int)
    save_libsvm("train.svm", csr_array(x.astype(np.float32)), y, index_base=1)
    l2 = 0.01
    options = ["--l2", l2, "--epochs", 60, "--optimizer", optimizer, "--shuffle"]
    train(rarefy, "train.svm", *options, "--out", "run")
    model = Model.load(tmp_path / "run")
    found = np.concatenate([model.weight[:, 0], model.bias]).astype(float)
    best = objective(x, y, logistic_optimum(x, y, l2), l2)
    assert objective(x, y, found, l2) == pytest.approx(best, rel=1e-3)


def l1_optimum(x, y, l1, l2):
    """The minimum of mean log loss plus l1 |w| plus l2/2 |w|^2: w is a difference of two positive
    parts, in which the objective is smooth. Weights below 1e-6 are zero. The bias is free."""
    width = x.shape[1]

    def smooth(parts):
        w = np.append(parts[:width] - parts[width:-1], parts[-1])
        residual = (1 / (1 + np.exp(-(x @ w[:-1] + w[-1]))) - y) / len(y)
        gradient = x.T @ residual + l2 * w[:-1]
        value = objective(x, y, w, l2) + l1 * parts[:-1].sum()
        return value, np.concatenate([l1 + gradient, l1 - gradient, [residual.sum()]])

    bounds = [(0, None)] * (2 * width) + [(None, None)]
    options = {"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-15, "gtol": 1e-9}
    first = np.zeros(2 * width + 1)
    found = minimize(smooth, first, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    w = np.append(found.x[:width] - found.x[width:-1], found.x[-1])
    return np.where(np.abs(w) < 1e-6, 0, w)


TO_SCALE = np.array([1, 1, 5, 20, 0.1, *[1] * 25])


# A batch of 4096 is larger than the file: the strength of L1 must follow from the rows and not from
# the batch size. Columns are scaled for the training, but the penalty is that of unscaled ones.
@pytest.mark.parametrize(
    ("options", "l2", "scale"),
    [
        ([], 0.0, 1),
        (["--shuffle", "--epochs", 30], 0.0, 1),
        (["--batch-size", 4096], 0.0, 1),
        ([], 0.01, 1),
        ([], 0.005, TO_SCALE),
        (["--model", "fm", "--factor-std", 0], 0.0, 1),
    ],
)
def test_l1_with_ftrl_meets_its_optimum_and_makes_zeros(rarefy, tmp_path, options, l2, scale):
    rng = np.random.default_rng(0)
    x = (rng.random((2000, 30)) < 0.3).astype(np.float32)
    y = (x[:, :3] @ np.array([2, -2, 1.5]) - 0.4 + rng.logistic(size=2000) > 0).astype(int)
    x = x * scale
    save_libsvm("train.svm", csr_array(x.astype(np.float32)), y, index_base=1)
    l1 = 0.02
    penalties = ["--l1", l1, "--l2", l2]
    train(
        rarefy, "train.svm", "--optimizer", "ftrl", *penalties, "--epochs", 100, *options,
        "--out", "run",
    )  # fmt: skip
    model = Model.load(tmp_path / "run")
    found = np.concatenate([model.weight[:, 0], model.bias]).astype(float)
    best = l1_optimum(x, y, l1, l2)
    assert 3 <= np.count_nonzero(best[:-1]) <= 5
    np.testing.assert_array_equal(found[:-1] == 0, best[:-1] == 0)

    def penalized(w):
        return objective(x, y, w, l2) + l1 * np.abs(w[:-1]).sum()

    assert penalized(found) == pytest.approx(penalized(best), rel=3e-6)


def test_early_stop_keeps_the_best_model(rarefy, tmp_path):
    rng = np.random.default_rng(0)
    x = (rng.random((240, 200)) < 0.1).astype(np.float32)
    y = rng.integers(0, 2, 240)  # nothing to learn: the validation loss rises soon
    save_libsvm("train.svm", csr_array(x[:120]), y[:120])
    save_libsvm("valid.svm", csr_array(x[120:]), y[120:])
    out = train(
        rarefy, "train.svm", "--valid", "valid.svm", "--early-stop", 2, "--epochs", 30, "--lr", 0.5,
        "--out", "run",
    )  # fmt: skip
    with open(tmp_path / "run/history.csv", newline="") as file:
        losses = [float(row["valid_log_loss"]) for row in csv.DictReader(file)]
    best = int(np.argmin(losses))
    assert len(losses) == best + 3 < 30
    assert f"no better since epoch {best + 1}" in out
    assert "valid was best" not in out
    options = ["--valid", "valid.svm", "--epochs", best + 5, "--lr", 0.5, "--out", "all"]
    assert "valid was best after epoch" in train(rarefy, "train.svm", *options)
    assert metric(rarefy, "run", "valid.svm", "log_loss") == pytest.approx(losses[best], rel=1e-5)


def test_divergence_is_an_error_with_a_way_out(rarefy, clicks):
    status, _, err = rarefy(
        "train", clicks, "--optimizer", "sgd", "--lr", 1e30, "--loss", "squared", "--out", "run"
    )
    assert status == 2
    assert "diverged in epoch 1" in err and "smaller learning rate" in err


def test_bad_lines_are_counted_and_left_out(rarefy, clicks, tmp_path):
    lines = clicks.read_text().splitlines(keepends=True)
    (tmp_path / "bad.svm").write_text("".join([*lines[:500], "1 x:1\n", *lines[500:]]))
    assert rarefy("train", "bad.svm", "--out", "a")[0] == 2
    out = train(rarefy, "bad.svm", "--skip-bad-lines", "--epochs", 2, "--out", "a")
    assert "bad lines  1 left out, the first: bad.svm:501:3" in out.replace(f"{tmp_path}/", "")
    train(rarefy, clicks, "--epochs", 2, "--out", "b")
    a, b = (Model.load(tmp_path / run) for run in "ab")
    np.testing.assert_array_equal(a.weight, b.weight)


def test_weights_count_as_repeated_rows(rarefy, tmp_path):
    (tmp_path / "weights.svm").write_text("1:3 0:1\n0:1 0:1\n0:2 1:1\n1:2 1:1\n")
    (tmp_path / "repeats.svm").write_text("1 0:1\n" * 3 + "0 0:1\n" + "0 1:1\n1 1:1\n" * 2)
    options = ["--epochs", 200, "--optimizer", "sgd", "--lr", 1, "--batch-size", 16, "--out"]
    train(rarefy, "weights.svm", "--weights", *options, "weights")
    train(rarefy, "repeats.svm", *options, "repeats")
    weights, repeats = (
        np.array(rarefy("predict", run, "repeats.svm")[1].split(), float)
        for run in ("weights", "repeats")
    )
    np.testing.assert_allclose(weights, [0.75] * 4 + [0.5] * 4, atol=0.02)
    np.testing.assert_allclose(weights, repeats, atol=0.02)


def test_rows_without_features_get_the_bias(rarefy, tmp_path):
    (tmp_path / "x.svm").write_text("1 1:1\n0\n1 1:1\n0\n0 2:1\n1 2:1\n" * 20)
    train(rarefy, "x.svm", "--out", "run")
    model = Model.load(tmp_path / "run")
    (tmp_path / "bare.svm").write_text("0\n")
    probability = float(rarefy("predict", "run", "bare.svm")[1])
    assert probability == pytest.approx(1 / (1 + np.exp(-model.bias[0])), rel=1e-6)
    assert probability < 0.2


def test_declared_width_and_base_are_kept_and_enforced(rarefy, tmp_path):
    (tmp_path / "x.svm").write_text("1 1:1\n0 2:1\n" * 30)
    train(rarefy, "x.svm", "--features", 9, "--index-base", 0, "--out", "run")
    model = Model.load(tmp_path / "run")
    assert model.weight.shape == (9, 1)
    assert model.header.index_base == 0
    (tmp_path / "wide.svm").write_text("1 8:1\n1 9:1\n")
    status, _, err = rarefy("predict", "run", "wide.svm")
    assert status == 2
    assert "wide.svm:2:3" in err


def test_normalized_rows_score_alike_at_any_length(rarefy, clicks, tmp_path):
    train(rarefy, clicks, "--normalize", "l2", "--epochs", 3, "--out", "run")
    (tmp_path / "x.svm").write_text("1 1:1 2:2\n1 1:10 2:20\n")
    first, second = rarefy("predict", "run", "x.svm")[1].split()
    assert float(first) == pytest.approx(float(second), rel=1e-6)
    assert json.loads((tmp_path / "run/model.json").read_text())["normalize"] == "l2"


def test_train_compiles_a_handful_of_programs(rarefy, tmp_path):
    rng = np.random.default_rng(0)
    with open("ragged.svm", "w") as file:
        for _ in range(2000):
            ids = np.flatnonzero(rng.random(300) < rng.choice([0.001, 0.01, 0.1]))
            file.write(f"{rng.integers(0, 2)} {' '.join(f'{i}:1' for i in ids)}\n")
    reading = Reading("ragged.svm")
    plan, reader = make_plan(reading, reading.scan(), epochs=2, batch_size=16)
    training = Training(plan, reader, tmp_path / "run")

    class Silent:
        begin_epoch = learned = end_epoch = lambda self, *arguments: None

    assert training.run(Silent())
    assert training.compilations <= 6


def test_loss_squared_on_one_label_learns_it(rarefy, tmp_path):
    (tmp_path / "x.svm").write_text("5 1:1\n" * 40)
    train(rarefy, "x.svm", "--loss", "squared", "--out", "run")
    assert float(rarefy("predict", "run", "x.svm")[1].split()[0]) == pytest.approx(5, abs=1e-3)
