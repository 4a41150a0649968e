"""Models: what they compute, how they are kept, what is refused."""

import dataclasses
import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from rarefy.models import HEADER, TENSORS, Model, ModelFileError, ModelHeader
from rarefy.models._files import write_tensors
from rarefy.models._model import link, unit_rows

GOLDEN = Path(__file__).parent / "golden"


def make(kind="linear", loss="logistic", width=5, outputs=1, k=2, seed=0, **more):
    rng = np.random.default_rng(seed)
    classes = {"logistic": (0, 1), "softmax": tuple(range(outputs)), "squared": None}[loss]
    factors = k if kind == "fm" else 0
    header = ModelHeader(kind, loss, width, 1, classes, factors=factors, run="abc", **more)
    shapes = {"weight": (width, outputs), "bias": (outputs,)}
    shapes |= {"factors": (width, k)} if factors else {}
    numbers = {name: rng.normal(size=s).astype(np.float32) for name, s in shapes.items()}
    return Model(header, numbers)


def by_definition(model, x):
    z = x @ model.weight.astype(float) + model.bias
    if model.factors is not None:
        v = model.factors.astype(float)
        for i in range(x.shape[1]):
            for j in range(i + 1, x.shape[1]):
                z[:, 0] += v[i] @ v[j] * x[:, i] * x[:, j]
    return z[:, 0] if z.shape[1] == 1 else z


MODELS = [
    {"kind": "linear", "loss": "squared"},
    {"kind": "linear", "loss": "logistic"},
    {"kind": "linear", "loss": "softmax", "outputs": 3},
    {"kind": "fm", "loss": "logistic"},
    {"kind": "fm", "loss": "squared", "k": 4},
]


@pytest.mark.parametrize("what", MODELS)
def test_scores_are_those_of_the_definition(what, rng):
    model = make(**what)
    x = rng.normal(size=(7, 5)) * (rng.random((7, 5)) < 0.6)
    x[3] = 0
    np.testing.assert_allclose(
        model.scores(csr_array(x.astype(np.float32))), by_definition(model, x), rtol=2e-5, atol=1e-5
    )


def test_unsorted_rows_score_like_sorted_ones():
    model = make("fm")
    shuffled = csr_array(([3.0, 1.0, 2.0], [4, 0, 2], [0, 3]), shape=(1, 5))
    x = np.array([[1.0, 0, 2, 0, 3]])
    np.testing.assert_allclose(model.scores(shuffled), by_definition(model, x), rtol=1e-5)


def test_no_rows_give_no_scores():
    assert make().scores(csr_array((0, 5), dtype=np.float32)).shape == (0,)
    assert make(loss="softmax", outputs=3).predict(csr_array((0, 5))).shape == (0, 3)


def test_another_width_is_refused():
    with pytest.raises(ValueError, match="4 columns, and the model has 5 features"):
        make().scores(csr_array(np.ones((2, 4))))


def test_normalizing_model_divides_rows_by_their_norm():
    model = make(normalize="l2")
    x = np.array([[3.0, 0, 4, 0, 0], [0, 0, 0, 0, 0]])
    unit = np.array([[0.6, 0, 0.8, 0, 0], [0, 0, 0, 0, 0]])
    np.testing.assert_allclose(model.scores(csr_array(x)), by_definition(model, unit), rtol=1e-6)
    norms = np.linalg.norm(unit_rows(csr_array(x)).toarray(), axis=1)
    np.testing.assert_allclose(norms, [1, 0])


def test_link_of_large_scores_is_finite():
    np.testing.assert_array_equal(link("logistic", np.array([-1e4, 0, 1e4])), [0, 0.5, 1])
    np.testing.assert_array_equal(
        link("softmax", np.array([[1e4, 0], [0, 0]])), [[1, 0], [0.5] * 2]
    )
    assert link("logistic", np.array([2.0]))[0] == pytest.approx(1 / (1 + math.exp(-2)))
    np.testing.assert_array_equal(link("squared", np.array([3.0])), [3])


@pytest.mark.parametrize("what", MODELS)
def test_saved_model_comes_back_bit_for_bit(tmp_path, what, rng):
    model = make(**what, settings={"lr": 0.5, "shuffle": True, "valid": None}, data={"rows": 7})
    model.save(tmp_path / "run")
    loaded = Model.load(tmp_path / "run")
    assert loaded.header == model.header
    x = csr_array(rng.normal(size=(4, 5)).astype(np.float32))
    np.testing.assert_array_equal(loaded.scores(x), model.scores(x))
    assert sorted(p.name for p in (tmp_path / "run").iterdir()) == [HEADER, TENSORS]


def test_models_of_format_version_1_can_be_read():
    """Written once and never again: a later release must give the same predictions.

    A model that this test can no longer read belongs to somebody.
    """
    folders = sorted((GOLDEN / "v1").iterdir())
    assert len(folders) == 4
    for folder in folders:
        expected = json.loads((folder / "expected.json").read_text())
        model = Model.load(folder)
        x = np.zeros((len(expected["rows"]), model.header.width), np.float32)
        for i, row in enumerate(expected["rows"]):
            for column, value in row:
                x[i, column - model.header.index_base] = value
        found = model.predict(csr_array(x))
        np.testing.assert_allclose(found, expected["predictions"], rtol=1e-5, err_msg=folder.name)


@pytest.fixture
def saved(tmp_path):
    make("fm").save(tmp_path)
    return tmp_path


def test_files_of_two_runs_are_not_mixed(saved, tmp_path):
    other = make("fm", seed=1)
    dataclasses.replace(other, header=dataclasses.replace(other.header, run="def")).save_numbers(
        saved
    )
    with pytest.raises(ModelFileError, match="another run"):
        Model.load(saved)


ARRAYS = [
    ({"weight": None}, "'weight' is missing"),
    ({"factors": None}, "'factors' is missing"),
    ({"weight": np.zeros((4, 1), np.float32)}, r"float32\[4, 1\]; expected float32\[5, 1\]"),
    ({"bias": np.zeros(1)}, r"float64\[1\]; expected float32\[1\]"),
    ({"bias": np.array([np.nan], np.float32)}, "not finite"),
    ({"factors": np.full((5, 2), np.inf, np.float32)}, "not finite"),
]


@pytest.mark.parametrize(("changes", "message"), ARRAYS)
def test_numbers_that_do_not_fit_the_header_are_refused(saved, changes, message):
    numbers = {**make("fm").numbers, **changes}
    tensors = {name: array for name, array in numbers.items() if array is not None}
    write_tensors(saved / TENSORS, tensors, {"format": "rarefy-model-tensors", "run": "abc"})
    with pytest.raises(ModelFileError, match=message):
        Model.load(saved)


HEADERS = [
    ({"format": "other"}, "no model header"),
    ({"format": None}, "no model header"),
    ({"version": 2, "rarefy": "9.9"}, "format version 2; .* Use rarefy 9.9"),
    ({"version": 0}, "'version'"),
    ({"version": "1"}, "'version'"),
    ({"kind": "tree"}, "'kind' must be one of linear, fm"),
    ({"loss": "hinge"}, "'loss'"),
    ({"width": 0}, "'width'"),
    ({"width": -5}, "'width'"),
    ({"width": 5.0}, "'width'"),
    ({"width": 2**70}, "'width'"),
    ({"width": True}, "'width'"),
    ({"width": 2**40}, "expected float32"),
    ({"index_base": 2}, "'index_base' must be 0 or 1"),
    ({"classes": None}, "'classes' must be"),
    ({"classes": [1, 0]}, "ascending"),
    ({"classes": [0, 0]}, "ascending"),
    ({"classes": [0, 1, 2]}, "3 labels; logistic needs two"),
    ({"classes": ["a", "b"]}, "list of numbers"),
    ({"classes": [0, True]}, "list of numbers"),
    ({"loss": "squared"}, "'classes' must be null"),
    ({"loss": "softmax"}, "no loss 'softmax'"),
    ({"factors": 0}, "'factors'"),
    ({"factors": 10**9}, "'factors'"),
    ({"kind": "linear"}, "0 for a linear model"),
    ({"normalize": "l1"}, "'normalize'"),
    ({"dtype": "float16"}, "'dtype'"),
    ({"run": 7}, "'run'"),
    ({"settings": []}, "'settings' must be an object"),
    ({"settings": {"lr": [1]}}, "'lr' must be"),
    ({"data": {"rows": {}}}, "'rows' must be"),
]


@pytest.mark.parametrize(("changes", "message"), HEADERS)
def test_headers_that_make_no_sense_are_refused(saved, changes, message):
    header = json.loads((saved / HEADER).read_text())
    (saved / HEADER).write_text(json.dumps(header | changes))
    with pytest.raises(ModelFileError, match=message):
        Model.load(saved)


@pytest.mark.parametrize(
    "field", ["version", "kind", "loss", "width", "index_base", "classes", "factors", "settings"]
)
def test_headers_without_a_field_are_refused(saved, field):
    header = json.loads((saved / HEADER).read_text())
    del header[field]
    (saved / HEADER).write_text(json.dumps(header))
    with pytest.raises(ModelFileError, match=f"{field!r} is missing"):
        Model.load(saved)


def test_file_in_place_of_a_folder_is_an_error(tmp_path):
    (tmp_path / "x").write_text("")
    with pytest.raises(OSError):
        Model.load(tmp_path / "x")
