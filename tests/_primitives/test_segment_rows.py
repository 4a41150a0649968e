import jax
import ml_dtypes
import numpy as np
import pytest
from jax import numpy as jnp
from jax.test_util import check_grads

from oracles import rows as oracle
from rarefy._primitives.group_rows import group_rows
from rarefy._primitives.segment_rows import segment_rows

FORMS = ("kernel", "xla")
# Values are quarters below 8 and groups are small, so that sums are exact in every type.
FLOATS = (np.float32, np.float64, np.float16, ml_dtypes.bfloat16)


def _groups(rng, nse, n_rows, capacity):
    ids = rng.integers(-1, n_rows + 1, nse).astype(np.int32)
    _, _, order, starts, _ = oracle.group_rows(ids, nse, n_rows=n_rows, capacity=capacity)
    return order, starts


def _quarters(rng, *shape):
    return rng.integers(-31, 32, shape) / 4


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("d", [(), (1,), (3,), (2, 5), (33,)])
def test_rows_of_a_group_are_summed(rng, d, dtype, form):
    order, starts = _groups(rng, 23, 7, 9)
    values = _quarters(rng, 23, *d).astype(dtype)
    with jax.enable_x64(True):
        out = segment_rows(order, starts, values, form=form)
    assert out.dtype == dtype
    np.testing.assert_array_equal(out, oracle.segment_rows(order, starts, values).astype(dtype))


@pytest.mark.parametrize("form", FORMS)
def test_groups_beyond_the_capacity_are_left_out(rng, form):
    order, starts = _groups(rng, 30, 12, 4)
    values = _quarters(rng, 30, 2).astype(np.float32)
    out = segment_rows(order, starts, values, form=form)
    np.testing.assert_array_equal(out, oracle.segment_rows(order, starts, values))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("nse", "capacity", "d"), [(0, 3, 2), (4, 0, 2), (4, 2, 0), (0, 0, 1)])
def test_empty_operands(nse, capacity, d, form):
    starts = np.zeros(capacity + 1, np.int32)
    values = np.ones((nse, d), np.float32)
    out = segment_rows(np.arange(nse, dtype=np.int32), starts, values, form=form)
    np.testing.assert_array_equal(out, np.zeros((capacity, d)))


@pytest.mark.parametrize("form", FORMS)
def test_16_bit_sums_are_kept_in_float32(form):
    n = 3000  # past 256 a bfloat16 sum of ones would stand still
    starts = np.array([0, n], np.int32)
    values = np.ones((n, 2), ml_dtypes.bfloat16)
    out = segment_rows(np.arange(n, dtype=np.int32), starts, values, form=form)
    np.testing.assert_array_equal(out, np.asarray([[n, n]], ml_dtypes.bfloat16))


def test_bits_do_not_depend_on_the_number_of_threads(rng):
    nse, n_rows, d = 60_000, 3000, 24
    ids = (n_rows * rng.random(nse) ** 4).astype(np.int32)  # one group is summed by several threads
    values = rng.standard_normal((nse, d)).astype(np.float32)
    groups = group_rows(ids, n_rows=n_rows, capacity=n_rows)
    order, starts = np.asarray(groups.order), np.asarray(groups.starts)
    whole = segment_rows(order, starts, values, form="kernel")
    np.testing.assert_allclose(
        whole, oracle.segment_rows(order, starts, values), rtol=1e-5, atol=1e-4
    )
    for i in range(1, n_rows, 250):  # a group alone is too little work for a second thread
        alone = np.array([0, starts[i + 1] - starts[i]], np.int32)
        row = segment_rows(np.roll(order, -starts[i]), alone, values, form="kernel")
        np.testing.assert_array_equal(row[0], whole[i])


def test_derivatives_of_first_and_second_order(rng):
    order, starts = _groups(rng, 9, 4, 3)
    with jax.enable_x64(True):
        check_grads(
            lambda v: jnp.sin(segment_rows(order, starts, v)),
            (rng.standard_normal((9, 2)),),
            order=2,
        )


@pytest.mark.parametrize("form", FORMS)
def test_gradient_is_a_gather_by_group(form):
    order, starts = np.array([3, 1, 0, 2], np.int32), np.array([0, 2, 2, 3], np.int32)
    weights = np.array([[1.0], [10.0], [100.0]], np.float32)
    grad = jax.grad(lambda v: (segment_rows(order, starts, v, form=form) * weights).sum())
    np.testing.assert_array_equal(grad(jnp.ones((4, 1)))[:, 0], [100, 1, 0, 1])


@pytest.mark.parametrize("form", FORMS)
def test_vmap_over_values_or_groups(rng, form):
    pairs = [_groups(rng, 9, 4, 3) for _ in range(2)]
    order, starts = (np.stack(x) for x in zip(*pairs, strict=True))
    values = _quarters(rng, 9, 2, 2).astype(np.float32)

    def sums(order, starts, values):
        return segment_rows(order, starts, values, form=form)

    shared = jax.vmap(sums, (None, None, 1))(order[0], starts[0], values)
    own = jax.vmap(sums, (0, 0, 1))(order, starts, values)
    for b in range(2):
        expected = oracle.segment_rows(order[0], starts[0], values[:, b])
        np.testing.assert_array_equal(shared[b], expected)
        np.testing.assert_array_equal(
            own[b], oracle.segment_rows(order[b], starts[b], values[:, b])
        )


def test_wrong_operands_are_refused():
    order, starts, values = np.zeros(3, np.int32), np.zeros(2, np.int32), np.ones((3, 2))
    for bad in (
        (order[:2], starts, values),
        (order, starts[:0], values),
        (order, starts[0], values),
    ):
        with pytest.raises(ValueError, match="segment_rows"):
            segment_rows(*bad)
