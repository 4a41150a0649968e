"""Updates happen in place, cost their rows, and compile once."""

import warnings
from contextlib import contextmanager

import jax
import numpy as np
import pytest

from rarefy import nd, optimizer
from rarefy._ops.defs.optimizer_update import adam_update
from rarefy._ops.precision import wide
from rarefy.optimizer import SGD, AdaGrad, Adam, Ftrl
from rarefy.sparse._row_sparse import row_sparse

MAKERS = {
    "sgd": lambda **k: SGD(**k),
    "momentum": lambda **k: SGD(momentum=0.9, **k),
    "adam": lambda **k: Adam(**k),
    "adagrad": lambda **k: AdaGrad(**k),
    "ftrl": lambda **k: Ftrl(**k),
}
EACH = pytest.mark.parametrize("name", MAKERS)


def listed(state):
    if state is None:
        return []
    return list(state) if isinstance(state, tuple) else [state]


def address(array):
    value = array._value
    return getattr(value, "data", value).unsafe_buffer_pointer()


@pytest.fixture
def compiled():
    """A context that gives the names of the programs compiled in it."""
    names = []

    def heard(event, duration, **known):
        if event == "/jax/core/compile/backend_compile_duration":
            names.append(known.get("fun_name", ""))

    @contextmanager
    def listening():
        names.clear()
        yield names

    jax.monitoring.register_event_duration_secs_listener(heard)
    yield listening
    jax.monitoring.unregister_event_duration_listener(heard)


def gradient(rows, shape, rng):
    return nd.sparse.row_sparse_array(
        (rng.normal(size=(len(rows), *shape[1:])).astype("float32"), rows), shape=shape
    )


@EACH
@pytest.mark.parametrize("stype", ["default", "row_sparse"])
def test_weight_and_states_keep_their_memory(name, stype, rng):
    shape = (1000, 4)
    weight, opt = nd.ones(shape).tostype(stype), MAKERS[name]()
    state = opt.create_state(0, weight)
    opt.update(0, weight, gradient([3], shape, rng), state)  # row_sparse states get their rows
    arrays = [weight, *listed(state)]
    before = [address(a) for a in arrays]
    for rows in ([1, 5], [999], [0, 1, 2, 3]):
        opt.update(0, weight, gradient(rows, shape, rng), state)
    assert [address(a) for a in arrays] == before


@EACH
def test_dense_updates_keep_their_memory(name, rng):
    weight, opt = nd.ones((1000, 4)), MAKERS[name]()
    state = opt.create_state(0, weight)
    before = [address(a) for a in (weight, *listed(state))]
    for _ in range(2):
        opt.update(0, weight, nd.array(rng.normal(size=(1000, 4))), state)
    assert sorted(address(a) for a in (weight, *listed(state))) == sorted(before)


def test_a_copy_is_not_updated(rng):
    weight = nd.ones((10, 2))
    copy, view, opt = weight.copy(), weight[2:4], SGD(learning_rate=1.0)
    opt.update(0, weight, gradient([2], (10, 2), rng), None)
    np.testing.assert_array_equal(copy.asnumpy(), 1)
    np.testing.assert_array_equal(view.asnumpy(), weight.asnumpy()[2:4])
    assert (view.asnumpy()[0] != 1).all()


@EACH
@pytest.mark.parametrize("lazy", [True, False])
def test_other_numbers_compile_nothing(name, lazy, rng, compiled):
    shape = (100, 3)
    weight, opt = nd.ones(shape), MAKERS[name](lazy_update=lazy, learning_rate=0.5)
    state = opt.create_state(0, weight)
    grad = gradient([3, 4], shape, rng)
    opt.update(0, weight, grad, state)
    with compiled() as names:
        for step in range(1, 5):
            opt.set_learning_rate(0.5 / step)
            opt.wd = 0.1 * step
            opt.rescale_grad = 1 / step
            opt.clip_gradient = None if step % 2 else 1.0
            for number in ("momentum", "beta1", "lamda1"):
                if getattr(opt, number, 0):
                    setattr(opt, number, 0.5 / step)
            opt.update(0, weight, grad, state)
    assert names == []


@EACH
def test_any_number_of_rows_compiles_a_handful(name, rng, compiled):
    shape = (3000, 2)
    weight, opt = nd.ones(shape), MAKERS[name]()
    state = opt.create_state(0, weight)
    with compiled() as names:
        for count in range(1, 400, 7):
            rows = np.sort(rng.choice(shape[0], count, replace=False))
            opt.update(0, weight, gradient(rows, shape, rng), state)
    # Powers of two from 16 to 512 hold 1 to 400 rows.
    assert sum("program" in n for n in names) <= 6


def test_lazy_updates_need_no_memory_beside_their_rows():
    rows, d = 16, 8
    used = []
    with wide():
        ids = np.arange(rows, dtype=np.int32)
        for n in (1_000, 1_000_000):
            table = jax.ShapeDtypeStruct((n, d), np.float32)
            grad = row_sparse(np.zeros((rows, d), np.float32), ids, (n, d))

            def step(tables, grad):
                weight, mean, var = tables
                numbers = {"lr": 0.1, "wd": 0.1, "rescale_grad": 1.0, "clip_gradient": -1.0}
                return adam_update.fn(weight, grad, mean, var, **numbers)

            program = jax.jit(step, donate_argnums=0).lower((table, table, table), grad).compile()
            used.append(program.memory_analysis().temp_size_in_bytes)
    assert used[0] == used[1] < 100_000


def test_updater_makes_each_state_once(rng):
    updater = optimizer.get_updater(Adam())
    weight = nd.ones((10, 2))
    updater(3, gradient([1], (10, 2), rng), weight)
    before = [address(s) for s in updater.states[3]]
    updater(3, gradient([2], (10, 2), rng), weight)
    assert [address(s) for s in updater.states[3]] == before


@pytest.mark.parametrize("stype", ["default", "row_sparse"])
def test_a_state_with_other_slots_than_the_weight_is_not_donated(stype, rng):
    """JAX would warn that it cannot use the buffers, as the state comes back with other ones."""
    shape = (100, 2)
    empty = row_sparse(np.zeros((0, 2), np.float32), np.zeros(0, np.int32), shape)
    few = nd.sparse.row_sparse_array((np.full((1, 2), 4, np.float32), [7]), shape=shape)
    zeros = nd.sparse.zeros("row_sparse", shape)
    for mom, before in ((nd.NDArray._wrap(empty), 0), (zeros, 0), (few, 4)):
        weight, grad = nd.ones(shape).tostype(stype), gradient([3, 7], shape, rng)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            nd.sgd_mom_update(weight, grad, mom, out=weight, lr=0.5, momentum=0.5)
        expected = np.zeros(shape)
        expected[7] = 0.5 * before
        expected -= 0.5 * grad.asnumpy()
        assert mom.stype == "row_sparse"
        np.testing.assert_allclose(mom.asnumpy(), expected, rtol=1e-6)
        np.testing.assert_allclose(weight.asnumpy(), 1 + expected, rtol=1e-6)


@pytest.mark.filterwarnings("ignore::rarefy._ops.fallback.StorageFallbackWarning")
def test_updated_arrays_keep_their_storage_type_where_the_update_runs_dense():
    eye = np.eye(3, dtype=np.float32)
    weight, mom = nd.array(eye).tostype("csr"), nd.array(2 * eye).tostype("csr")
    nd.sgd_mom_update(weight, nd.array(eye), mom, out=weight, lr=0.5, momentum=0.5)
    for array, expected in ((mom, 0.5 * eye), (weight, 1.5 * eye)):
        assert array.stype == "csr"
        assert array.nnz == 3
        np.testing.assert_array_equal(array.asnumpy(), expected)
    other = nd.zeros((3, 3)).tostype("row_sparse")
    nd.sgd_update(weight, nd.array(eye), out=other, lr=0.5)
    assert other.stype == "row_sparse"
    np.testing.assert_array_equal(other.asnumpy(), eye)
    np.testing.assert_array_equal(weight.asnumpy(), 1.5 * eye)
