"""First values of parameters."""

import json

import numpy as np
import pytest

from rarefy import initializer, nd, random
from rarefy.initializer import Constant, InitDesc, Initializer, Normal, One, Uniform, Xavier, Zero

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
