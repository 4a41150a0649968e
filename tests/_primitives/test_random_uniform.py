import jax
import ml_dtypes
import numpy as np
import pytest
import scipy.special
import scipy.stats
from jax import numpy as jnp

from oracles import philox as oracle
from rarefy._primitives.random_uniform import philox, random_normal, random_uniform

FORMS = ("kernel", "xla")
KEY = np.array([0x12345678, 0x9ABCDEF0], np.uint32)


# The known answers that come with the authors' library (Random123, kat_vectors).
@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [
        ((0,) * 4, (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        (
            (0xFFFFFFFF,) * 4,
            (0xFFFFFFFF,) * 2,
            (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
        ),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_oracle_gives_the_known_answers(counter, key, words):
    assert tuple(oracle.block(counter, key)) == words


def test_words_are_those_of_the_oracle():
    words = philox(*KEY, np.array([0, 1, 2**31, 2**32 - 1], np.uint32))
    for i, counter in enumerate((0, 1, 2**31, 2**32 - 1)):
        assert [int(w[i]) for w in words] == oracle.block((counter, 0, 0, 0), KEY.tolist())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", [(), (5,), (128,), (3, 100), (0, 4)])
def test_float32_numbers_are_those_of_the_oracle(shape, form):
    out = random_uniform(KEY, shape=shape, dtype=np.float32, form=form)
    assert out.shape == shape
    assert out.dtype == np.float32
    np.testing.assert_array_equal(out.reshape(-1), oracle.uniform(KEY.tolist(), out.size))


@pytest.mark.parametrize("form", FORMS)
def test_float64_numbers_have_53_bits(form):
    with jax.enable_x64(True):
        out = random_uniform(KEY, shape=(150,), dtype=np.float64, form=form)
    np.testing.assert_array_equal(out, oracle.uniform(KEY.tolist(), 150, double=True))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_numbers_lie_between_the_bounds(dtype, form):
    # 1000 and the next number are 2^-14 apart in float32, 0.5 in float16, 4 in bfloat16.
    out = np.asarray(random_uniform(KEY, 1000, 1008, shape=(4000,), dtype=dtype, form=form))
    assert out.dtype == dtype
    out = out.astype(np.float32)
    assert 1000 <= out.min() < 1002
    assert 1003 < out.max() < 1008


def test_both_forms_give_the_same_numbers():
    a, b = (random_uniform(KEY, -1, 3, shape=(999,), dtype=np.float32, form=f) for f in FORMS)
    np.testing.assert_array_equal(a, b)
    a, b = (random_uniform(KEY, -0.07, 0.05, shape=(9,), dtype=np.float32, form=f) for f in FORMS)
    # Where one form contracts the multiplication and the addition, the last bit may differ.
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-8)


def test_an_element_depends_on_key_and_place_only():
    whole = np.asarray(random_uniform(KEY, shape=(300_000,), dtype=np.float32, form="kernel"))
    part = np.asarray(random_uniform(KEY, shape=(70,), dtype=np.float32, form="kernel"))
    np.testing.assert_array_equal(part, whole[:70])  # the whole ran on several threads
    assert len(np.unique(whole)) > 290_000  # of 2^24 values, some 2,700 come twice
    assert abs(whole.mean() - 0.5) < 3e-3
    other = random_uniform(KEY + np.uint32(1), shape=(70,), dtype=np.float32)
    assert (np.asarray(other) != part).all()


def test_every_kind_of_key_is_taken():
    for key in (jax.random.key(1), jax.random.key(1, impl="rbg"), jax.random.PRNGKey(1)):
        out = random_uniform(key, shape=(9,), dtype=np.float32)
        assert len(np.unique(out)) == 9


def test_new_bounds_compile_nothing():
    traces = []

    @jax.jit
    def draw(low, high):
        traces.append(1)
        return random_uniform(KEY, low, high, shape=(9,), dtype=jnp.float32)

    for high in (1.0, 2.0, 4.0):
        np.testing.assert_allclose(draw(0.0, high), draw(0.0, 1.0) * high, rtol=1e-6)
    assert len(traces) == 1


def test_vmap_over_keys():
    keys = np.stack([KEY, KEY[::-1]])
    out = jax.vmap(lambda k: random_uniform(k, shape=(5,), dtype=np.float32))(keys)
    for key, row in zip(keys, out, strict=True):
        np.testing.assert_array_equal(row, oracle.uniform(key.tolist(), 5))


def test_wrong_operands_are_refused():
    with pytest.raises(ValueError, match="key must be"):
        random_uniform(np.zeros(3, np.uint32), shape=(2,), dtype=np.float32)
    with pytest.raises(TypeError, match="float of 16 to 64 bits"):
        random_uniform(KEY, shape=(2,), dtype=np.int32)
    with pytest.raises(ValueError, match="2\\*\\*34"):
        random_uniform(KEY, shape=(2**17, 2**17), dtype=np.float32)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_normal_numbers_are_the_quantiles_of_the_uniform_ones(dtype, form):
    double = dtype is np.float64
    with jax.enable_x64(True):
        out = np.asarray(random_normal(KEY, shape=(1000,), dtype=dtype, form=form))
    u = 2 * oracle.uniform(KEY.tolist(), 1000, double=double).astype(np.float64) - 1
    want = scipy.special.ndtri((u + 1) / 2)
    np.testing.assert_allclose(out, want, rtol=2e-4 if not double else 1e-6, atol=1e-6)


def test_normal_numbers_follow_the_normal_distribution():
    out = np.asarray(random_normal(KEY, shape=(200_000,), dtype=np.float32))
    assert np.isfinite(out).all()
    assert scipy.stats.kstest(out[:50_000], "norm").pvalue > 0.01
    assert abs(out).max() > 4
