"""`rarefy predict` and `rarefy eval` on a model whose numbers are known."""

import gzip
import json
import math

import numpy as np
import pytest

from rarefy.models import Model, ModelHeader


def save_model(folder, loss, weight, bias, classes=None, **more):
    weight = np.array(weight, np.float32)
    header = ModelHeader(
        kind="fm" if "factors" in more else "linear",
        loss=loss,
        width=len(weight),
        index_base=1,
        classes=classes,
        run="test",
        factors=len(more["factors"][0]) if "factors" in more else 0,
    )
    numbers = {"weight": weight, "bias": bias, **more}
    Model(header, {name: np.array(v, np.float32) for name, v in numbers.items()}).save(folder)


@pytest.fixture
def model(tmp_path):
    """Log-odds `x1 - 2 x2 + 0.5`, classes -1 and 3."""
    save_model(tmp_path / "run", "logistic", [[1.0], [-2.0], [0.0]], [0.5], (-1, 3))


ROWS = "3 1:1\n-1 2:1\n3\n-1 1:2 2:0.25 3:7\n"
SCORES = [1.5, -1.5, 0.5, 2.0]


def sigmoid(z):
    return 1 / (1 + math.exp(-z))


def numbers(out):
    return [float(text) for text in out.split()]


def test_scores_probabilities_and_classes(rarefy, model, tmp_path):
    (tmp_path / "x").write_text(ROWS)
    assert numbers(rarefy("predict", "run", "x", "--what", "score")[1]) == SCORES
    probabilities = [sigmoid(z) for z in SCORES]
    assert numbers(rarefy("predict", "run", "x")[1]) == pytest.approx(probabilities, rel=1e-6)
    assert rarefy("predict", "run", "x", "--what", "class")[1] == "3\n-1\n3\n3\n"


def test_large_scores_do_not_overflow(rarefy, model, tmp_path):
    (tmp_path / "x").write_text("3 1:1000\n3 1:-1000\n")
    status, out, err = rarefy("predict", "run", "x")
    assert (status, err) == (0, "")
    assert numbers(out) == [1.0, 0.0]


def test_eval_is_worked_out_by_hand(rarefy, model, tmp_path):
    (tmp_path / "x").write_text(ROWS)
    found = json.loads(rarefy("eval", "run", "x", "--json")[1])
    losses = [
        -math.log(sigmoid(z if y > 0 else -z)) for z, y in zip(SCORES, (1, 0, 1, 0), strict=True)
    ]
    # Of the 4 pairs, 1.5 and 0.5 above -1.5 are right and 2.0 above both is wrong.
    assert found == {
        "rows": 4,
        "log_loss": pytest.approx(np.mean(losses), rel=1e-6),
        "auc": 0.5,
        "accuracy": 0.75,
    }
    out = rarefy("eval", "run", "x")[1]
    assert "rows      4\n" in out and "auc       0.500000\n" in out


def test_eval_with_weights_counts_rows_so_often(rarefy, model, tmp_path):
    (tmp_path / "x").write_text("3:3 1:1\n-1:1 1:1\n")
    found = json.loads(rarefy("eval", "run", "x", "--weights", "--json")[1])
    assert found["accuracy"] == 0.75


def test_eval_without_rows_or_labels_or_with_strange_ones(rarefy, model, tmp_path):
    (tmp_path / "none").write_text("# nothing\n")
    (tmp_path / "bare").write_text("1:1\n")
    (tmp_path / "strange").write_text("3 1:1\n0 1:1\n")
    for name, message in (
        ("none", "none: there are no rows"),
        ("bare", "bare:1:1: found '1:1', expected a label"),
        ("strange", "strange: row 2 has the label 0, which is none of the classes -1, 3"),
    ):
        status, _, err = rarefy("eval", "run", name)
        assert status == 2
        assert message in err


def test_auc_of_one_class_is_null_in_json(rarefy, model, tmp_path):
    (tmp_path / "x").write_text("3 1:1\n")
    assert json.loads(rarefy("eval", "run", "x", "--json")[1])["auc"] is None


def test_rows_without_labels_are_predicted(rarefy, model, tmp_path):
    (tmp_path / "x").write_text("1:1\n2:1\n")
    assert numbers(rarefy("predict", "run", "x", "--what", "score")[1]) == [1.5, -1.5]
    (tmp_path / "y").write_text("2:1\n")
    out = rarefy("predict", "run", "y", "--labels", "none", "--what", "score")[1]
    assert numbers(out) == [-1.5]


def test_as_many_lines_as_rows(rarefy, model, tmp_path):
    (tmp_path / "x").write_bytes(b"\n3 1:1\r\n\n\r\n# x\n-1 2:1 # y\n\n")
    assert len(rarefy("predict", "run", "x")[1].splitlines()) == 2


def test_predictions_of_many_rows_keep_their_order(rarefy, model, tmp_path):
    values = np.arange(20_001) / 8
    (tmp_path / "x").write_text("".join(f"3 1:{v}\n" for v in values))
    found = numbers(rarefy("predict", "run", "x", "--what", "score")[1])
    np.testing.assert_allclose(found, values + 0.5, rtol=1e-6)


def test_stream_archive_and_file_predict_alike(rarefy, model, spawn, tmp_path):
    (tmp_path / "x").write_text(ROWS)
    (tmp_path / "x.gz").write_bytes(gzip.compress(ROWS.encode()))
    expected = rarefy("predict", "run", "x")[1]
    assert rarefy("predict", "run", "x.gz")[1] == expected
    process = spawn("predict", "run", "-", stdin=-1, stdout=-1)
    assert process.communicate(ROWS)[0] == expected


def test_out_is_written_whole_or_not_at_all(rarefy, model, tmp_path):
    (tmp_path / "x").write_text(ROWS)
    (tmp_path / "bad").write_text(ROWS + "3 1:\n")
    assert rarefy("predict", "run", "x", "--out", "p")[1] == ""
    expected = (tmp_path / "p").read_text()
    assert expected == rarefy("predict", "run", "x")[1]
    status, _, err = rarefy("predict", "run", "bad", "--out", "p")
    assert status == 2
    assert "bad:5:3" in err
    assert (tmp_path / "p").read_text() == expected


def test_out_that_cannot_be_written_is_named(rarefy, model, tmp_path):
    (tmp_path / "x").write_text(ROWS)
    (tmp_path / "folder").mkdir()
    for out, message in (
        ("nowhere/p", f"{tmp_path}/nowhere/p: No such file or directory"),
        ("x/p", f"{tmp_path}/x/p: Not a directory"),
        ("folder", f"{tmp_path}/folder: Is a directory"),
    ):
        assert rarefy("predict", "run", "x", "--out", out) == (2, "", f"rarefy: error: {message}\n")
    assert not list((tmp_path / "folder").iterdir())


def test_columns_that_the_model_has_not_are_refused_with_their_place(rarefy, model, tmp_path):
    for text, place in (("3 4:1\n", "x:1:3: found '4:1'"), ("3 0:1\n", "x:1:3: found '0:1'")):
        (tmp_path / "x").write_text(text)
        for command in ("predict", "eval"):
            status, _, err = rarefy(command, "run", "x")
            assert status == 2
            assert place in err


def test_model_of_numbers_predicts_numbers(rarefy, tmp_path):
    save_model(tmp_path / "run", "squared", [[2.0], [0.5]], [1.0])
    (tmp_path / "x").write_text("4 1:1\n2 2:1\n")
    assert numbers(rarefy("predict", "run", "x")[1]) == [3.0, 1.5]
    found = json.loads(rarefy("eval", "run", "x", "--json")[1])
    assert found["rmse"] == pytest.approx(math.sqrt((1 + 0.25) / 2))
    assert found["mae"] == pytest.approx(0.75)
    for what in ("class", "probability"):
        status, _, err = rarefy("predict", "run", "x", "--what", what)
        assert status == 2
        assert "has no classes" in err


def test_classes_have_a_probability_each(rarefy, tmp_path):
    save_model(tmp_path / "run", "softmax", [[1.0, 0, -1]], [0.0, 0.5, 0.0], (2, 5, 9.5))
    (tmp_path / "x").write_text("2 1:1\n9.5 1:-3\n5\n")
    z = np.array([[1, 0.5, -1], [-3, 0.5, 3], [0, 0.5, 0]])
    expected = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    out = rarefy("predict", "run", "x")[1]
    found = np.array([line.split() for line in out.splitlines()], float)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert rarefy("predict", "run", "x", "--what", "class")[1] == "2\n9.5\n5\n"
    found = json.loads(rarefy("eval", "run", "x", "--json")[1])
    assert found["accuracy"] == 1.0
    assert found["log_loss"] == pytest.approx(
        -np.log(expected[[0, 1, 2], [0, 2, 1]]).mean(), rel=1e-6
    )


def test_factorization_machine_adds_pairs(rarefy, tmp_path):
    factors = [[1.0, 0], [0.5, 2], [0, 1]]
    save_model(tmp_path / "run", "squared", [[1.0], [0], [0]], [0.25], factors=factors)
    (tmp_path / "x").write_text("0 1:1 2:2 3:3\n0 2:1\n")
    # 0.25 + 1 + <v1,v2> 1 2 + <v1,v3> 1 3 + <v2,v3> 2 3 = 1.25 + 1 + 0 + 12
    assert numbers(rarefy("predict", "run", "x")[1]) == [14.25, 0.25]
