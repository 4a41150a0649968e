"""First values of parameters."""

import json

import numpy as np
import pytest

from rarefy import initializer, nd, random
from rarefy.initializer import (
    Constant,
    InitDesc,
    Initializer,
    MSRAPrelu,
    Normal,
    One,
    Orthogonal,
    Uniform,
    Xavier,
    Zero,
)

STYPES = pytest.mark.parametrize("stype", ["default", "row_sparse"])


def filled(init, shape, name="x_weight", dtype="float32", stype="default"):
    array = nd.zeros(shape, dtype=dtype).tostype(stype)
    init(name, array)
    assert array.stype == stype
    return array


@STYPES
@pytest.mark.parametrize(("init", "value"), [(Zero(), 0), (One(), 1), (Constant(2.5), 2.5)])
def test_constants(init, value, stype):
    array = filled(init, (4, 3), stype=stype)
    np.testing.assert_array_equal(array.asnumpy(), np.full((4, 3), value, "float32"))
    if stype == "row_sparse":  # every row is there, so that it can be updated
        np.testing.assert_array_equal(array.indices.asnumpy(), range(4))


def test_constant_arrays():
    values = np.arange(6.0).reshape(2, 3)
    for given in (values, nd.array(values), values.tolist()):
        np.testing.assert_array_equal(filled(Constant(given), (2, 3)).asnumpy(), values)
    assert Constant(values) == Constant(nd.array(values))


# Bounds and deviations as MXNet 1.9.1 draws them for a weight of 200 x 300.
@STYPES
@pytest.mark.parametrize(
    ("init", "bound", "deviation"),
    [
        (Uniform(), 0.07, 0.0404),
        (Normal(), None, 0.01),
        (Xavier(), 0.10954, 0.06324),
        (Xavier("gaussian", "in", 2), None, 0.0816),
        (Xavier(factor_type="out"), 0.12247, 0.0707),
        (Xavier(magnitude=6), 0.15492, 0.08944),
    ],
    ids=str,
)
def test_random_values(init, bound, deviation, stype):
    random.seed(3)
    values = filled(init, (200, 300), stype=stype).asnumpy()
    assert values.std() == pytest.approx(deviation, rel=0.01)
    assert abs(values.mean()) < 0.01 * deviation + 3 * deviation / 60_000**0.5
    if bound:
        assert 0.999 * bound < np.abs(values).max() <= bound * 1.0001


def test_xavier_counts_the_kernel():
    values = filled(Xavier(), (20, 30, 2, 2)).asnumpy()
    assert np.abs(values).max() == pytest.approx(np.sqrt(3 / ((30 * 4 + 20 * 4) / 2)), rel=0.01)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_dtypes(dtype):
    array = filled(Uniform(1.0), (50, 2), dtype=dtype)
    assert np.dtype(array.dtype).name == dtype
    assert len(np.unique(np.float64(array.asnumpy()))) > 30


def test_the_seed_decides():
    draws = []
    for seed in (1, 1, 2):
        random.seed(seed)
        draws.append(filled(Normal(), (5,)).asnumpy())
    np.testing.assert_array_equal(draws[0], draws[1])
    assert (draws[0] != draws[2]).any()
    assert (filled(Normal(), (5,)).asnumpy() != draws[2]).any()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("fc_bias", 0),
        ("bn_beta", 0),
        ("bn_gamma", 1),
        ("bn_moving_mean", 0),
        ("bn_moving_var", 1),
        ("bn_running_var", 1),
    ],
)
def test_names_decide(name, value):
    np.testing.assert_array_equal(filled(Uniform(), (3,), name).asnumpy(), value)


def test_an_initializer_of_the_variables_own_goes_first():
    desc = InitDesc("foo_bias", attrs={"__init__": Constant(4).dumps()})
    np.testing.assert_array_equal(filled(Zero(), (2, 2), desc).asnumpy(), 4)


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match=r"'foo'.*weight.*bias"):
        filled(One(), (2,), "foo")
    with pytest.raises(TypeError, match="string"):
        Zero()(3, nd.zeros((2,)))


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="two dimensions"):
        filled(Xavier(), (3,))
    with pytest.raises(ValueError, match="rnd_type"):
        Xavier(rnd_type="q")
    with pytest.raises(ValueError, match="factor_type"):
        Xavier(factor_type="q")
    with pytest.raises(TypeError, match="csr"):
        Zero()("x_weight", nd.sparse.zeros("csr", (2, 2)))
    with pytest.raises(ValueError, match=r"nope.*xavier"):
        initializer.create("nope")


@pytest.mark.parametrize("init", [Zero(), One(), Constant(2.0), Uniform(0.1), Normal(2), Xavier()])
def test_dumps_make_the_same_again(init):
    again = initializer.create(init.dumps())
    assert again == init
    assert hash(again) == hash(init)
    assert json.loads(init.dumps())[0] == type(init).__name__.lower()
    assert again != Uniform(0.9)


def test_names_in_any_case():
    assert initializer.create("XAVIER", magnitude=2).magnitude == 2
    assert initializer.create("zeros") == Zero()


def test_an_initializer_of_ones_own():
    @initializer.register
    class Ramp(Initializer):
        def _init_weight(self, name, arr):
            arr[:] = nd.arange(4).reshape((2, 2))

    np.testing.assert_array_equal(filled(Ramp(), (2, 2)).asnumpy(), [[0, 1], [2, 3]])
    assert isinstance(initializer.create("ramp"), Ramp)


def test_orthogonal_rows_or_columns():
    for kind in ("uniform", "normal"):
        for shape in ((3, 8), (8, 3), (4, 2, 3)):
            random.seed(2)
            values = filled(Orthogonal(scale=2.0, rand_type=kind), shape).asnumpy()
            flat = values.reshape(shape[0], -1)
            gram = flat @ flat.T if len(flat) <= flat.shape[1] else flat.T @ flat
            np.testing.assert_allclose(gram, 4 * np.eye(len(gram)), atol=1e-5)
            random.seed(2)
            again = filled(Orthogonal(scale=2.0, rand_type=kind), shape).asnumpy()
            np.testing.assert_array_equal(values, again)


def test_msra_prelu_is_a_gaussian_xavier():
    random.seed(3)
    values = filled(MSRAPrelu("in", slope=0.5), (200, 300)).asnumpy()
    assert values.std() == pytest.approx(np.sqrt(2 / 1.25 / 300), rel=0.01)
    made = MSRAPrelu(slope=0.5)
    assert made.dumps() == '["msraprelu", {"factor_type": "avg", "slope": 0.5}]'
    assert initializer.create(made.dumps()) == made


def test_bilinear_and_lstm_bias():
    # By MXNet 1.9.1.
    row = np.array([0.25, 0.75, 0.75, 0.25])
    for init in (initializer.Bilinear(), "upsampling"):
        if isinstance(init, str):
            array = nd.zeros((2, 1, 4, 4))
            Zero()("upsampling_w", array)
        else:
            array = filled(init, (2, 1, 4, 4))
        np.testing.assert_allclose(
            array.asnumpy(), np.broadcast_to(np.outer(row, row), (2, 1, 4, 4))
        )
    bias = filled(initializer.LSTMBias(2.0), (8,)).asnumpy()
    assert bias.tolist() == [0, 0, 2, 2, 0, 0, 0, 0]
    own = InitDesc("lstm_bias", attrs={"__init__": initializer.LSTMBias(3.0).dumps()})
    array = nd.ones((4,))
    Uniform()(own, array)
    assert array.asnumpy().tolist() == [0, 3, 0, 0]
    assert own.global_init == Uniform()


@STYPES
def test_patterns_and_arrays_choose(stype):
    mixed = initializer.Mixed(["fc.*bias", ".*"], [One(), Constant(2.0)])
    for name, value in (("fc1_weight", 2), ("fc1_bias", 0), ("other_weight", 2)):
        assert (filled(mixed, (2, 2), name, stype=stype).asnumpy() == value).all()
    with pytest.raises(ValueError, match="fits none"):
        initializer.Mixed(["a"], [One()])("b_weight", nd.zeros((1,)))
    with pytest.raises(ValueError, match="1 patterns for 2"):
        initializer.Mixed(["a"], [One(), Zero()])
    loaded = initializer.Load({"arg:w": nd.full((2, 2), 3.0)}, default_init=One())
    assert (filled(loaded, (2, 2), "w", stype=stype).asnumpy() == 3).all()
    assert (filled(loaded, (2, 2), "v_weight", stype=stype).asnumpy() == 1).all()
    with pytest.raises(ValueError, match="shape"):
        loaded("w", nd.zeros((3, 2)))
    with pytest.raises(ValueError, match="no default_init"):
        initializer.Load({})("w", nd.zeros((3, 2)))


def test_arrays_of_a_file(tmp_path):
    nd.save(str(tmp_path / "w.params"), {"aux:w": nd.full((2,), 4.0)})
    assert (filled(initializer.Load(str(tmp_path / "w.params")), (2,), "w").asnumpy() == 4).all()


@initializer.register
@initializer.alias("tenth", "a_tenth")
class Tenth(Initializer):
    def _init_weight(self, name, arr):
        arr[:] = 0.1

    def _init_bias(self, name, arr):
        arr[:] = 1.0


@STYPES
def test_an_initializer_of_ones_own_by_any_name(stype, caplog):
    for name in ("tenth", "A_Tenth", '["tenth", {}]', '{"initializer": "tenth"}'):
        made = initializer.create(name)
        assert isinstance(made, Tenth)
    made.set_verbosity(True)
    with caplog.at_level("INFO"):
        assert (filled(made, (2, 2), stype=stype).asnumpy() == np.float32(0.1)).all()
    assert "x_weight" in caplog.text
    assert (filled(made, (2,), "x_bias", stype=stype).asnumpy() == 1).all()
    for kind in (ValueError, AssertionError):
        with pytest.raises(kind, match="there is no initializer"):
            initializer.create("nonsense")
    with pytest.raises(ValueError, match="no first values are known"):
        made("nonsense", nd.zeros((1,)))
