"""Gradients against central differences, for operators that no other table of answers covers."""

import numpy as np
import pytest

from rarefy import nd
from rarefy.test_utils import check_numeric_gradient


def numbers(*shape):
    """Numbers between 0.2 and 1.8 in no order, no two of them close."""
    count = int(np.prod(shape))
    return (0.2 + 1.6 * (np.arange(count) * 7 % count + 0.5) / count).reshape(shape)


A, B, V = numbers(2, 3), 2.1 - numbers(2, 3)[::-1], numbers(3)
ROW, COLUMN = numbers(1, 3), 2.1 - numbers(2, 1)

CASES = {
    "Flatten": (lambda x: nd.Flatten(x), numbers(2, 2, 2)),
    "reshape_like": (lambda x, y: nd.reshape_like(x, y), A, numbers(3, 2)),
    "expand_dims": (lambda x: nd.expand_dims(x, axis=1), A),
    "squeeze": (lambda x: nd.squeeze(x, axis=0), ROW),
    "SwapAxis": (lambda x: nd.SwapAxis(x, dim1=0, dim2=2), numbers(2, 3, 2)),
    "SliceChannel": (lambda x: nd.SliceChannel(x, num_outputs=3, axis=1), A),
    "_split_v2": (lambda x: nd.split_v2(x, (1,), axis=1), A),
    "tile": (lambda x: nd.tile(x, reps=(2, 1, 2)), A),
    "Pad": (
        lambda x: nd.Pad(x, mode="edge", pad_width=(0, 0, 0, 0, 1, 2, 2, 0)),
        numbers(1, 1, 2, 2),
    ),
    "Pad reflect": (
        lambda x: nd.Pad(x, mode="reflect", pad_width=(0, 0, 0, 0, 1, 0, 2, 1)),
        numbers(1, 1, 2, 3),
    ),
    "reverse": (lambda x: nd.reverse(x, axis=1), A),
    "broadcast_to": (lambda x: nd.broadcast_to(x, shape=(2, 3)), ROW),
    "broadcast_axis": (lambda x: nd.broadcast_axis(x, axis=1, size=3), COLUMN),
    "broadcast_like": (lambda x, y: nd.broadcast_like(x, y), COLUMN, A),
    "diag": (lambda x: nd.diag(x, k=1), A),
    "diag of a vector": (lambda x: nd.diag(x, k=-1), V),
    "slice_like": (lambda x, y: nd.slice_like(x, y, axes=(1,)), A, numbers(2, 2)),
    "_slice_assign": (
        lambda x, y: nd._internal._slice_assign(x, y, begin=(0, 1), end=(2, 3)),
        A,
        numbers(2, 2),
    ),
    "_slice_assign_scalar": (
        lambda x: nd._internal._slice_assign_scalar(x, scalar=2.0, begin=(0, 1), end=(1, 3)),
        A,
    ),
    "elemwise": (lambda x, y: (x - y) * nd.elemwise_div(x, nd.elemwise_mul(y, y)), A, B),
    "broadcast": (
        lambda x, y: nd.broadcast_add(x, y) * nd.broadcast_sub(x, y) / nd.broadcast_div(y, x),
        ROW,
        COLUMN,
    ),
    "broadcast_mod": (lambda x, y: nd.broadcast_mod(x * 2.3, y), ROW, COLUMN),
    "broadcast_power": (lambda x, y: nd.broadcast_power(x, y), ROW, COLUMN),
    "broadcast_maximum": (lambda x, y: nd.broadcast_maximum(x, y), ROW, COLUMN),
    "broadcast_minimum": (lambda x, y: nd.broadcast_minimum(x, y), ROW, COLUMN),
    "broadcast_hypot": (lambda x, y: nd.broadcast_hypot(x, y), ROW, COLUMN),
    "equal shapes": (
        lambda x, y: nd.maximum(x, y) * nd.minimum(x, y) * nd.power(x, y) + nd.modulo(x * 2.3, y),
        A,
        B,
    ),
    "erfinv": (lambda x: nd.erfinv(x - 1), A),
    "gamma": (lambda x: nd.gamma(x) * nd.gammaln(x + 1), A),
    "identity": (lambda x: nd.identity(x) + nd.amp_cast(x, dtype="float64"), A),
    "ones_like": (lambda x: nd.ones_like(x) * x, A),
    "batch_dot": (lambda x, y: nd.batch_dot(x, y), numbers(2, 2, 3), numbers(2, 3, 1)),
    "batch_dot, both turned": (
        lambda x, y: nd.batch_dot(x, y, transpose_a=True, transpose_b=True),
        numbers(2, 3, 2),
        numbers(2, 1, 3),
    ),
    "batch_take": (lambda x: nd.batch_take(x, nd.array([2, 0])), A),
    "gather_nd": (lambda x: nd.gather_nd(x, nd.array([[0, 1, 0], [2, 0, 2]])), A),
    "scatter_nd": (
        lambda x: nd.scatter_nd(x, nd.array([[0, 1, 1], [2, 0, 1]]), shape=(2, 3)),
        V,
    ),
    "index": (lambda x: x[[1, 0, 1], [2, 2, 2]] + x[1] * x[:, 1:][0, 0], A),
    "cumsum": (lambda x: nd.cumsum(x, axis=0), A),
    "nansum": (lambda x: nd.nansum(x, axis=1), A),
    "nanprod": (lambda x: nd.nanprod(x, axis=0), A),
    "_square_sum": (lambda x: nd._internal._square_sum(x, axis=1), A),
    "numbers": (lambda x: ((2 - (x + 1) * 3 - 0.5) / 4) % 0.7 + 7 % (x + 0.31) + 2 / x, A),
    "powers": (lambda x: x**2.5 + 2**x, A),
    "extremes of numbers": (lambda x: nd.maximum(x, 0.9) * nd.minimum(x, 1.1), A),
    "hypot with a number": (lambda x: nd._internal._hypot_scalar(x, scalar=1.5), A),
    "gelqf": (lambda x: nd.linalg.gelqf(x), A),
    "set all": (lambda x: _set_all(x) * x, A),
    "copy": (lambda x: x.copyto(nd.zeros((2, 3), dtype="float64")) * x, A),
}


def _set_all(x):
    y = nd.zeros((2, 2, 3), dtype="float64")
    y[:] = x
    return y


@pytest.mark.parametrize("name", CASES)
def test_gradient(name):
    function, *arrays = CASES[name]
    check_numeric_gradient(
        function, arrays, numeric_eps=1e-5, rtol=1e-5, atol=1e-7, dtype=np.float64
    )
