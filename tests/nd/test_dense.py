"""Dense arrays: indexing as in NumPy, views as in MXNet, creation and the operators behind them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import basic_indices

from rarefy import MXNetError, nd

SHAPE = (3, 4, 2)
A = np.arange(24, dtype=np.float32).reshape(SHAPE)


def array():
    return nd.array(A)


def as_mxnet(found: np.ndarray) -> np.ndarray:
    """What NumPy answers; a single element has shape (1,)."""
    return np.asarray(found).reshape(np.shape(found) or (1,))


KEYS = basic_indices(SHAPE, allow_newaxis=False, allow_ellipsis=True)


@given(KEYS)
def test_reading_by_any_basic_key(key):
    np.testing.assert_array_equal(array()[key].asnumpy(), as_mxnet(A[key]))


@given(KEYS, st.booleans())
def test_writing_by_any_basic_key(key, whole):
    ours, theirs = array(), A.copy()
    shape = as_mxnet(A[key]).shape
    value = -np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape) if whole else 7
    ours[key] = value
    theirs[key] = value if np.shape(theirs[key]) else np.asarray(value).reshape(())
    np.testing.assert_array_equal(ours.asnumpy(), theirs)


@pytest.mark.parametrize(
    "key",
    [
        [0, 2],
        [2, 0, 0],
        ([0, 2], [3, 1]),
        (slice(None), [0, 3]),
        ([1, 2], slice(1, 3)),
        ([[0, 1], [2, 0]],),
        (1, [0, 2], 1),
        ([0, 1], slice(None), [1, 0]),
        A[:, 0, 0] > 5,
        A > 11,
        (slice(None), np.array([True, False, True, True])),
        [],
    ],
    ids=str,
)
def test_reading_and_writing_elements(key):
    np.testing.assert_array_equal(array()[key].asnumpy(), A[key])
    ours, theirs = array(), A.copy()
    ours[key], theirs[key] = -1, -1
    np.testing.assert_array_equal(ours.asnumpy(), theirs)


@pytest.mark.parametrize("key", [1, slice(1, 3), (2, 1), (1, slice(1, 3)), (0, 0, 0)], ids=str)
def test_a_contiguous_block_is_a_view(key):
    ours, theirs = array(), A.copy()
    view = ours[key]
    view[:] = 5
    theirs[key] = 5
    np.testing.assert_array_equal(ours.asnumpy(), theirs)
    ours[:] = 9
    np.testing.assert_array_equal(view.asnumpy(), 9)
    view += 1
    theirs[:], theirs[key] = 9, 10
    np.testing.assert_array_equal(ours.asnumpy(), theirs)


@pytest.mark.parametrize("key", [(slice(None), 1), slice(None, None, 2), [0, 1], (..., 0)], ids=str)
def test_other_parts_are_copies(key):
    ours = array()
    ours[key][:] = 5
    np.testing.assert_array_equal(ours.asnumpy(), A)


def test_views_of_views_and_of_other_shapes():
    ours, theirs = array(), A.copy()
    ours[1].reshape((2, 4))[1][2:4] = -1
    theirs[1].reshape(2, 4)[1][2:4] = -1
    np.testing.assert_array_equal(ours.asnumpy(), theirs)
    row = ours[0][1]
    ours.reshape((-1,))[2] = 50
    assert row.asnumpy()[0] == 50
    assert row.shape == (2,)


def test_two_views_of_one_place():
    ours = array()
    a, b = ours[1], ours[1:2]
    a[:] = 1
    b += 2
    assert (a.asnumpy() == 3).all()
    assert (ours.asnumpy()[1] == 3).all()


@pytest.mark.parametrize(
    ("key", "error", "message"),
    [
        (3, IndexError, "index 3 is out of bounds for axis 0 with size 3"),
        ((0, -5), IndexError, "index -5 is out of bounds for axis 1 with size 4"),
        ((0, 0, 0, 0), IndexError, "too many indices: 4 for an array of 3 dimensions"),
        ([0, 3], IndexError, "index 3 is out of bounds for axis 0"),
        ((..., ...), IndexError, "single ellipsis"),
        ("x", ValueError, "does not support slicing with key 'x'"),
        (1.5, ValueError, "does not support slicing"),
    ],
    ids=str,
)
def test_keys_that_are_none(key, error, message):
    with pytest.raises(error, match=message):
        array()[key]
    with pytest.raises(error, match=message):
        array()[key] = 1


@pytest.mark.parametrize("value", [np.ones(3), np.ones((5, 1)), nd.ones((3,)), [1, 2, 3]], ids=str)
def test_what_does_not_broadcast_is_refused(value):
    ours = array()
    for key in (slice(None), 1, (slice(None), 1), [0, 1]):
        with pytest.raises(ValueError, match="does not broadcast"):
            ours[key] = value
    np.testing.assert_array_equal(ours.asnumpy(), A)


def test_what_is_no_array_is_refused():
    for value in (None, "x", object(), {1: 2}):
        with pytest.raises(TypeError, match="cannot assign"):
            array()[:] = value


@pytest.mark.parametrize("dtype", ["float16", "float64", "int8", "int64", "uint8", "bool"])
def test_dtypes(dtype):
    made = nd.array(A % 2, dtype=dtype)
    assert np.dtype(made.dtype) == dtype
    assert made.asnumpy().dtype == dtype
    np.testing.assert_array_equal(made.asnumpy(), (A % 2).astype(dtype))
    made[0] = nd.ones((4, 2))
    assert np.dtype(made.dtype) == dtype
    for other in (nd.zeros(SHAPE, dtype=dtype), nd.ones(SHAPE, dtype=dtype), nd.zeros_like(made)):
        assert np.dtype(other.dtype) == dtype


CREATED = {
    "zeros": (lambda: nd.zeros((2, 3)), np.zeros((2, 3))),
    "ones": (lambda: nd.ones(3), np.ones(3)),
    "full": (lambda: nd.full((2, 2), -1.5), np.full((2, 2), -1.5)),
    "arange": (lambda: nd.arange(1, 2, 0.25), np.arange(1, 2, 0.25)),
    "arange down": (lambda: nd.arange(5, 0, -2), np.arange(5, 0, -2)),
    "arange repeat": (lambda: nd.arange(3, repeat=2), np.repeat(np.arange(3), 2)),
    "linspace": (lambda: nd.linspace(0, 1, 5), np.linspace(0, 1, 5)),
    "linspace open": (lambda: nd.linspace(0, 1, 4, endpoint=False), np.linspace(0, 0.75, 4)),
    "eye": (lambda: nd.eye(2, 4, 1), np.eye(2, 4, 1)),
    "_zeros": (lambda: nd._internal._zeros(shape=(2,)), np.zeros(2)),
    "_ones": (lambda: nd._internal._ones(shape=(2,)), np.ones(2)),
    "_full": (lambda: nd._internal._full(shape=(2,), value=3.0), np.full(2, 3)),
    "_arange": (lambda: nd._internal._arange(start=3), np.arange(3)),
    "_linspace": (lambda: nd._internal._linspace(start=0, stop=2, num=3), np.arange(3)),
    "_eye": (lambda: nd._internal._eye(N=2), np.eye(2)),
}


@pytest.mark.parametrize("name", CREATED)
def test_created(name):
    make, expected = CREATED[name]
    assert make().dtype == np.float32
    np.testing.assert_array_equal(make().asnumpy(), expected.astype(np.float32))


def test_large_arrays_of_one_number_are_made_in_place():
    out = nd.ones((4,))
    assert nd.zeros((4,), out=out) is out
    assert not out.asnumpy().any()


COMPARISONS = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "lesser": np.less,
    "lesser_equal": np.less_equal,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
}


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_of_one_shape(name):
    a, b = np.array([0, 1, 2, np.nan, 0], np.float32), np.array([0, 2, 1, 1, np.nan], np.float32)
    for compare in (getattr(nd, name), getattr(nd._internal, f"_{name}")):
        result = compare(nd.array(a), nd.array(b))
        assert result.dtype == np.float32
        np.testing.assert_array_equal(result.asnumpy(), COMPARISONS[name](a, b))
    with pytest.raises(MXNetError, match=r"\(5,\)"):
        getattr(nd._internal, f"_{name}")(nd.array(a), nd.ones((1,)))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0, 2)])
def test_arrays_without_elements_flatten(shape):
    flat = (shape[0], int(np.prod(shape[1:])))
    assert nd.flatten(nd.zeros(shape)).shape == flat
    dense = nd.FullyConnected(nd.zeros(shape), nd.zeros((2, flat[1])), num_hidden=2, no_bias=True)
    assert dense.shape == (shape[0], 2)


def test_len_bool_and_scalars():
    assert len(array()) == 3
    assert float(nd.array([2.5])) == 2.5
    assert int(nd.array([2.5])) == 2
    assert [10, 11][nd.array([1], dtype="int64")] == 11
    assert not nd.zeros((1,))
    assert not nd.zeros((0,))
    with pytest.raises(ValueError, match="ambiguous"):
        bool(array())
    with pytest.raises(ValueError, match="not a scalar"):
        array().asscalar()
    with pytest.raises(TypeError, match="only arrays of one integer"):
        [10, 11][nd.array([1.0])]
