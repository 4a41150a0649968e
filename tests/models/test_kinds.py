"""Kinds of models that are blocks: what they score, for plain rows and in training, and files."""

import json

import numpy as np
import pytest
from scipy.sparse import csr_array

from rarefy.models import HEADER, TENSORS, Model, ModelFileError, ModelHeader, settings
from rarefy.models._columns import ColumnScaling
from rarefy.models._files import write_tensors
from rarefy.models._kinds import kind_of

WIDTH, USERS = 7, 3
KINDS = ("widedeep", "deepfm", "mf")


def header(kind, **more):
    own = {"users": USERS} if kind == "mf" else {"hidden": (5, 4)}
    return ModelHeader(kind, "squared", WIDTH, 1, None, factors=2, run="abc", **{**own, **more})


def numbers(kind, rng):
    shapes = kind_of(header(kind)).shapes()
    return {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def rows(kind, rng):
    if kind == "mf":
        x = np.zeros((6, WIDTH))
        x[np.arange(6), rng.integers(0, USERS, 6)] = 1
        x[np.arange(6), rng.integers(USERS, WIDTH, 6)] = 1
        return x
    x = rng.normal(size=(6, WIDTH)) * (rng.random((6, WIDTH)) < 0.6)
    x[:, 2] = rng.normal(size=6)
    return x


def by_definition(kind, v, x):
    v = {name: array.astype(float) for name, array in v.items()}
    if kind == "mf":
        user, item = x[:, :USERS].argmax(axis=1), x[:, USERS:].argmax(axis=1)
        products = (v["user"][user] * v["item"][item]).sum(axis=1)
        return v["bias"] + v["user_bias"][user, 0] + v["item_bias"][item, 0] + products
    hidden = x @ v["factors"]
    for i in range(2):
        hidden = np.maximum(hidden @ v[f"layer{i}.weight"].T + v[f"layer{i}.bias"], 0)
    z = (x @ v["weight"] + hidden @ v["layer2.weight"].T + v["layer2.bias"])[:, 0]
    if kind == "deepfm":
        for i in range(WIDTH):
            for j in range(i):
                z += v["factors"][i] @ v["factors"][j] * x[:, i] * x[:, j]
    return z


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_those_of_the_definition_also_for_plain_rows(kind, rng):
    """A model trained on scaled, centered columns and standardized targets is one for plain rows."""
    x, trained = rows(kind, rng), numbers(kind, rng)
    scaling, prepared = ColumnScaling.none(), x
    if kind != "mf":
        scale = np.array([1, 2, 0.5, 1, 3, 1, 1], np.float32)
        scaling = ColumnScaling(scale, np.array([2]), np.array([0.7], np.float32))
        prepared = x / scale - 0.7 * (np.arange(WIDTH) == 2)
    expected = 10 + 3 * by_definition(kind, trained, prepared)
    plain = kind_of(header(kind)).plain(trained, scaling, 10.0, 3.0)
    model = Model(header(kind), plain)
    sparse = csr_array(x.astype(np.float32))
    np.testing.assert_allclose(model.scores(sparse), expected, rtol=2e-4, atol=1e-3)
    np.testing.assert_allclose(by_definition(kind, plain, x), expected, rtol=2e-4, atol=1e-3)
    order = np.lexsort((-sparse.indices, sparse.tocoo().row))
    backwards = csr_array((sparse.data[order], sparse.indices[order], sparse.indptr), sparse.shape)
    np.testing.assert_array_equal(model.scores(backwards), model.scores(sparse))
    assert model.scores(csr_array((0, WIDTH), dtype=np.float32)).shape == (0,)


@pytest.mark.parametrize("kind", KINDS)
def test_model_comes_back_bit_for_bit_and_starts_from_its_seed(kind, rng, tmp_path):
    model = Model(header(kind), numbers(kind, rng))
    model.save(tmp_path)
    loaded = Model.load(tmp_path)
    assert loaded.header == model.header
    for name, array in model.numbers.items():
        np.testing.assert_array_equal(loaded.numbers[name], array)
    options = {} if kind == "mf" else {"hidden": "5,4"}
    first, again, other = (
        kind_of(model.header).first(
            settings(10, "squared", 1.0, model=kind, factors=2, seed=seed, **options),
            np.float32([0.5]),
        )
        for seed in (1, 1, 2)
    )
    table = "user" if kind == "mf" else "layer0.weight"
    np.testing.assert_array_equal(first[table], again[table])
    assert (first[table] != other[table]).all()
    assert {name: array.shape for name, array in first.items()} == kind_of(model.header).shapes()
    model = Model(model.header, {**first, **{n: 0 * a for n, a in first.items() if n == table}})
    if kind == "mf":  # the scores of rows that nothing is known about are the bias
        np.testing.assert_array_equal(model.scores(csr_array(rows(kind, rng))), np.full(6, 0.5))


HEADERS = [
    ("widedeep", {"hidden": []}, "'hidden' must be a list of sizes"),
    ("widedeep", {"hidden": [5, 0]}, "sizes from 1 to 65536"),
    ("deepfm", {"hidden": [5, 1 << 20]}, "sizes from 1 to 65536"),
    ("deepfm", {"hidden": [5, 5]}, r"float32\[4, 5\]; expected float32\[5, 5\]"),
    ("deepfm", {"hidden": None}, "'hidden'"),
    ("deepfm", {"loss": "softmax", "classes": [0, 1, 2]}, "DeepFM has one score"),
    ("mf", {"users": 0}, "'users' must be from 1 to 6"),
    ("mf", {"users": 7}, "'users' must be from 1 to 6"),
    ("mf", {"users": 4}, r"expected float32\[4, 2\]"),
    ("mf", {"factors": 0}, "'factors'"),
]


def test_headers_that_make_no_sense_are_refused(rng, tmp_path):
    for kind, changes, message in HEADERS:
        Model(header(kind), numbers(kind, rng)).save(tmp_path)
        found = json.loads((tmp_path / HEADER).read_text())
        (tmp_path / HEADER).write_text(json.dumps(found | changes))
        with pytest.raises(ModelFileError, match=message):
            Model.load(tmp_path)
    write_tensors(tmp_path / TENSORS, {}, {"format": "rarefy-model-tensors", "run": "abc"})
    Model(header("mf"), {}).header.save(tmp_path / HEADER)
    with pytest.raises(ModelFileError, match="'user' is missing"):
        Model.load(tmp_path)


def test_rows_that_are_no_pairs_are_refused(rng):
    model = Model(header("mf"), numbers("mf", rng))
    good = [1, 0, 0, 1, 0, 0, 0]
    for bad, message in (
        ([1, 0, 0, 0, 0, 0, 0], "x.svm: row 102 has 1 column;"),
        ([1, 1, 0, 0, 0, 0, 1], "x.svm: row 102 has 3 columns"),
        ([1, 0, 0, 2, 0, 0, 0], "x.svm: row 102 has the value 2"),
        ([1, 0, 1, 0, 0, 0, 0], "row 102 has the columns 1 and 3; .* user's column, up to 3"),
        ([0, 0, 0, 0, 1, 0, 1], "row 102 has the columns 5 and 7"),
    ):
        with pytest.raises(ValueError, match=message):
            model.scores(csr_array(np.float32([good, bad])), first_row=100, source="x.svm")
