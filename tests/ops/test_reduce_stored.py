"""Reductions and strided slices of sparse arrays stay sparse and agree with dense NumPy."""

import numpy as np
import pytest

from rarefy import autograd, config, nd

# All of one shape, as compiling is what takes time here.
MATRICES = (
    [[0, -1, -2, 0], [0, 0, 3, 0], [3, -1, -1, -4], [-1, -1, -5, -2]],
    [[2, 1, 4, 2]] * 4,
    [[0] * 4] * 4,
    [[-3, 0, -3, -3], [0, 0, 0, 0], [5, 5, 0, -1], [-1, -3, -2, -2]],
)
NAN = [[np.nan, 0, 2, 1], [0, 0, 0, 0], [1, np.nan, 4, 2], [2, 2, 2, 2]]
CALLS = {
    "csr": {
        "nansum": (0,),
        "prod": (0, None),
        "nanprod": (1,),
        "argmax": (0, 1, None),
        "argmin": (None,),
    },
    "row_sparse": {
        "max": (0, None),
        "min": (1,),
        "nansum": (1,),
        "argmax": (None, 0),
        "argmin": (1,),
    },
}


@pytest.fixture(autouse=True)
def refuse_dense_copies():
    before = config.storage_fallback
    config.storage_fallback = "error"
    yield
    config.storage_fallback = before


def made(matrix, stype):
    """The array, with a zero stored where there is one in the last row that holds something."""
    x = nd.array(np.array(matrix, np.float32)).tostype(stype)
    return x + x * 0 if stype == "csr" else x


def as_numpy(name, a, axis, keepdims):
    out = getattr(np, name)(a, axis=axis, keepdims=keepdims)
    return np.asarray(out, np.float32)


def norm(a, axis, keepdims, order):
    total = (abs(a) ** order).sum(axis=axis, keepdims=keepdims)
    return total if order == 1 else np.sqrt(total)


@pytest.mark.parametrize("stype", ["csr", "row_sparse"])
def test_values_are_those_of_numpy(stype):
    for matrix in (*MATRICES, NAN):
        a, x = np.array(matrix, np.float32), made(matrix, stype)
        for name, axes in CALLS[stype].items():
            if matrix is NAN and name in ("prod", "max", "min"):
                continue
            for axis in axes:
                keepdims = axis == 0
                found = getattr(nd, name)(x, axis=axis, keepdims=keepdims)
                expected = as_numpy(name, a, axis, keepdims)
                shape = expected.shape or (1,)
                note = f"{name} {stype} {matrix} {axis=}"
                assert found.stype == "default", note
                np.testing.assert_array_equal(
                    found.asnumpy(), expected.reshape(shape), err_msg=note
                )
        if stype == "row_sparse":
            for axis, order in ((0, 1), (1, 2)):
                found = nd.norm(x, ord=order, axis=axis).asnumpy()
                np.testing.assert_allclose(found, norm(a, axis, False, order), rtol=1e-6)


def test_rows_with_more_dimensions():
    a = np.zeros((5, 2, 3), np.float32)
    a[1] = [[1, -2, 3], [0, -1, -1]]
    a[3] = -2
    x = nd.array(a).tostype("row_sparse")
    for axis, name in ((0, "max"), (2, "min"), ((0, 2), "min"), (1, "max")):
        found = getattr(nd, name)(x, axis=axis)
        np.testing.assert_array_equal(found.asnumpy(), as_numpy(name, a, axis, False))
        if isinstance(axis, int):
            found = getattr(nd, "arg" + name)(x, axis=axis)
            expected = as_numpy("arg" + name, a, axis, False)
            np.testing.assert_array_equal(found.asnumpy(), expected, err_msg=f"{name} {axis}")
    assert nd.argmin(x).asscalar() == a.argmin()


@pytest.mark.parametrize("stype", ["csr", "row_sparse"])
def test_gradients_are_those_of_dense_arrays_where_something_is_stored(stype):
    calls = [("max", 1), ("min", None)]
    calls += [("prod", 0), ("nanprod", 1), ("nansum", 1)] if stype == "csr" else []
    for matrix in MATRICES:
        a = np.array(matrix, np.float32)
        for name, axis in calls:
            grads = []
            for kind in ("default", stype):
                x = nd.array(a) if kind == "default" else made(matrix, stype)
                x.attach_grad(stype=None if kind == "default" else stype)
                with autograd.record():
                    y = getattr(nd, name)(x, axis=axis) * 3
                y.backward()
                grads.append(x.grad.asnumpy())
            stored = a != 0 if stype == "csr" else (a != 0).any(axis=1, keepdims=True)
            note = f"{name} {stype} {matrix} {axis=}"
            np.testing.assert_allclose(grads[1], grads[0] * stored, rtol=1e-6, err_msg=note)


def test_csr_slices_with_steps(rng):
    a = (rng.random((9, 11)) * (rng.random((9, 11)) < 0.5)).astype(np.float32)
    x = nd.sparse.csr_matrix(a)
    for begin, end, step in (
        ((1,), (8,), (2,)),
        ((8, 10), (0, None), (-3, -2)),
    ):
        key = tuple(slice(b, e, s) for b, e, s in zip(begin, end, step, strict=True))
        x.attach_grad(stype="csr")
        with autograd.record():
            y = nd.slice(x, begin=begin, end=end, step=step)
        weights = rng.random(y.shape).astype(np.float32)
        y.backward(nd.array(weights))
        assert y.stype == "csr"
        y.check_format()
        np.testing.assert_array_equal(y.asnumpy(), a[key])
        expected = np.zeros_like(a)
        expected[key] = weights
        np.testing.assert_array_equal(x.grad.asnumpy(), expected * (a != 0))
