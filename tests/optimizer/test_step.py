"""The compiled step against the same steps done by hand, one operator at a time."""

import threading

import jax
import numpy as np
import pytest
import scipy.sparse as sp

from rarefy import autograd, nd
from rarefy import optimizer as opt
from rarefy.optimizer import TrainStep

FEATURES = 50

OPTIMIZERS = {
    "sgd": lambda: opt.SGD(learning_rate=0.1),
    "momentum": lambda: opt.SGD(learning_rate=0.1, momentum=0.9, wd=0.01),
    "adam": lambda: opt.Adam(learning_rate=0.1),
    "adagrad": lambda: opt.AdaGrad(learning_rate=0.1),
    "ftrl": lambda: opt.Ftrl(learning_rate=0.1, lamda1=0.01),
    "adam, all rows": lambda: opt.Adam(learning_rate=0.1, lazy_update=False),
}


def batches(n, rows=8, *, seed=0):
    rng = np.random.default_rng(seed)
    for i in range(n):
        density = rng.uniform(0.02, 0.4)
        x = sp.random(rows, FEATURES, density, format="csr", dtype=np.float32, random_state=i)
        yield x, rng.integers(0, 2, (rows, 1)).astype(np.float32)


def model(stype="row_sparse", seed=3):
    rng = np.random.default_rng(seed)
    params = {
        "table": nd.array(rng.standard_normal((FEATURES, 4)).astype(np.float32)),
        "bias": nd.zeros((4,)),
        "out": nd.array(rng.standard_normal((4, 1)).astype(np.float32)),
    }
    params["table"].attach_grad(stype=stype)
    params["bias"].attach_grad()
    params["out"].attach_grad()

    def loss(x, y):
        hidden = nd.sigmoid(nd.dot(x, params["table"]) + params["bias"])
        z = nd.dot(hidden, params["out"])
        return (nd.log(1 + nd.exp(z)) - z * y).mean()

    return params, loss


def csr(x):
    return nd.sparse.csr_matrix((x.data, x.indices, x.indptr), shape=x.shape)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_step_equals_eager_training(name):
    params, loss = model()
    step = TrainStep(loss, params, OPTIMIZERS[name]())
    eager, eager_loss = model()
    rule = OPTIMIZERS[name]()
    states = [rule.create_state(i, p) for i, p in enumerate(eager.values())]
    for x, y in batches(6):
        got = step(csr(x), nd.array(y))
        with autograd.record():
            want = eager_loss(csr(x), nd.array(y))
        want.backward()
        for i, p in enumerate(eager.values()):
            rule.update(i, p, p.grad, states[i])
        np.testing.assert_allclose(got.asnumpy(), want.asnumpy(), rtol=1e-5)
    for key, p in params.items():
        np.testing.assert_allclose(p.asnumpy(), eager[key].asnumpy(), rtol=2e-5, atol=1e-6)


def test_loss_and_gradient_equal_jax_on_dense_arrays():
    params, loss = model()
    before = {k: p.asnumpy() for k, p in params.items()}
    step = TrainStep(loss, params, opt.SGD(learning_rate=0.5))
    x, y = next(batches(1))

    def dense_loss(p):
        z = jax.nn.sigmoid(x.toarray() @ p["table"] + p["bias"]) @ p["out"]
        return (jax.numpy.logaddexp(z, 0) - z * y).mean()

    value, gradient = jax.value_and_grad(dense_loss)(before)
    np.testing.assert_allclose(step(csr(x), nd.array(y)).asnumpy().item(), value, rtol=1e-5)
    for key, p in params.items():
        want = before[key] - 0.5 * np.asarray(gradient[key])
        np.testing.assert_allclose(p.asnumpy(), want, rtol=1e-5, atol=1e-6)


def test_rows_that_the_batch_does_not_name_keep_their_bits():
    params, loss = model()
    before = params["table"].asnumpy()
    step = TrainStep(loss, params, opt.SGD(learning_rate=0.1, momentum=0.9, wd=0.1))
    x, y = next(batches(1))
    step(csr(x), nd.array(y))
    absent = np.setdiff1d(np.arange(FEATURES), x.indices)
    assert absent.size
    np.testing.assert_array_equal(params["table"].asnumpy()[absent], before[absent])
    assert (params["table"].asnumpy()[np.unique(x.indices)] != before[np.unique(x.indices)]).any()


def test_any_mix_of_nnz_compiles_a_handful_of_programs():
    params, loss = model()
    step = TrainStep(loss, params, opt.AdaGrad(learning_rate=0.1))
    seen = set()
    for x, y in batches(40):
        seen.add(x.nnz)
        step(csr(x), nd.array(y))
    assert len(seen) > 20
    assert step.compilations <= 5


def test_a_changing_learning_rate_compiles_nothing():
    params, loss = model()
    rule = opt.SGD(learning_rate=0.1)
    step = TrainStep(loss, params, rule)
    x, y = next(batches(1))
    for i in range(4):
        rule.set_learning_rate(0.1 / (i + 1))
        step(csr(x), nd.array(y))
    assert step.compilations == 1


def test_tables_are_updated_in_place():
    params, loss = model()
    step = TrainStep(loss, params, opt.Adam(learning_rate=0.1))
    x, y = next(batches(1))
    step(csr(x), nd.array(y))

    def where():
        tables = [params["table"], *step.states["table"]]
        return [t._value.unsafe_buffer_pointer() for t in tables]

    before = where()
    step(csr(x), nd.array(y))
    assert where() == before


def test_a_batch_without_entries_is_a_legal_step():
    params, loss = model()
    before = params["table"].asnumpy()
    step = TrainStep(loss, params, opt.Adam(learning_rate=0.1))
    empty = sp.csr_matrix((8, FEATURES), dtype=np.float32)
    value = step(csr(empty), nd.array(np.ones((8, 1), np.float32)))
    assert np.isfinite(value.asnumpy()).all()
    np.testing.assert_array_equal(params["table"].asnumpy(), before)
    assert (params["out"].asnumpy() != model()[0]["out"].asnumpy()).any()


def test_a_parameter_that_the_loss_does_not_use_stays():
    params, loss = model()
    params["unused"] = nd.ones((3,))
    params["unused"].attach_grad()
    step = TrainStep(loss, params, opt.SGD(learning_rate=0.1))
    x, y = next(batches(1))
    step(csr(x), nd.array(y))
    np.testing.assert_array_equal(params["unused"].asnumpy(), np.ones(3))


def test_further_outputs_are_returned():
    params, loss = model()

    def with_mean(x, y):
        return loss(x, y), y.mean()

    step = TrainStep(with_mean, params, opt.SGD(learning_rate=0.1))
    x, y = next(batches(1))
    value, mean = step(csr(x), nd.array(y))
    assert value.shape in ((), (1,))
    np.testing.assert_allclose(mean.asnumpy().item(), y.mean(), rtol=1e-6)


def test_state_goes_on_where_it_was_saved():
    saved_params, saved_loss = model()
    first = TrainStep(saved_loss, saved_params, opt.Adam(learning_rate=0.1))
    data = list(batches(6))
    for x, y in data[:3]:
        first(csr(x), nd.array(y))
    saved = first.state_dict()
    weights = {k: p.asnumpy() for k, p in saved_params.items()}
    for x, y in data[3:]:
        first(csr(x), nd.array(y))

    params, loss = model(seed=9)
    for key, p in params.items():
        p[:] = weights[key]
    second = TrainStep(loss, params, opt.Adam(learning_rate=0.1))
    second.load_state_dict(saved)
    for x, y in data[3:]:
        second(csr(x), nd.array(y))
    for key, p in params.items():
        np.testing.assert_array_equal(p.asnumpy(), saved_params[key].asnumpy())


def test_state_of_another_model_is_refused():
    params, loss = model()
    step = TrainStep(loss, params, opt.Adam(learning_rate=0.1))
    saved = step.state_dict()
    saved["states"]["table.0"] = np.zeros((3, 4), np.float32)
    with pytest.raises(ValueError, match=r"state 0 of table.*\(3, 4\).*\(50, 4\)"):
        step.load_state_dict(saved)


def test_parameters_without_a_gradient_are_refused():
    params, loss = model()
    params["late"] = nd.ones((3,))
    with pytest.raises(ValueError, match="late has no gradient"):
        TrainStep(loss, params, opt.SGD())


def test_an_array_under_two_names_is_refused():
    params, loss = model()
    params["again"] = params["bias"]
    with pytest.raises(ValueError, match="two names"):
        TrainStep(loss, params, opt.SGD())


def test_writing_an_outside_array_in_the_step_is_refused():
    params, loss = model()
    seen = nd.zeros((1,))

    def leaking(x, y):
        value = loss(x, y)
        seen[:] = y.mean()
        return value

    step = TrainStep(leaking, params, opt.SGD(learning_rate=0.1))
    x, y = next(batches(1))
    before = {k: p.asnumpy() for k, p in params.items()}
    with pytest.raises(RuntimeError, match="compiled function"):
        step(csr(x), nd.array(y))
    for key, p in params.items():
        np.testing.assert_array_equal(p.asnumpy(), before[key])


@pytest.mark.parametrize("rows", [[2, 7, 8, 30], []], ids=["some rows", "no rows"])
def test_a_gradient_row_that_a_weight_lacks_is_an_error(rows):
    """In the compiled step as in an eager update; the other rows have moved."""
    data = np.ones((len(rows), 2), np.float32)
    weight = nd.sparse.row_sparse_array((data, np.array(rows, int)), shape=(FEATURES, 2))
    weight.attach_grad(stype="row_sparse")

    def loss(x):
        return nd.dot(x, weight).sum()

    step = TrainStep(loss, {"table": weight}, opt.SGD(learning_rate=0.5))

    def one_hot(*columns):
        parts = (np.ones(len(columns), np.float32), columns, np.arange(len(columns) + 1))
        return nd.sparse.csr_matrix(parts, shape=(len(columns), FEATURES))

    if rows:
        step(one_hot(7, 30))
        assert weight.asnumpy()[[2, 7, 30, 31], 0].tolist() == [1, 0.5, 0.5, 0]
    missing = 9 if rows else 2
    said = f"table is row_sparse and stores {len(rows)} of 50.*has row {missing},"
    with pytest.raises(ValueError, match=said):
        step(one_hot(2, 9, 49))
    assert weight.asnumpy()[[2, 9, 49], 0].tolist() == [0.5 if rows else 0, 0, 0]
    step(one_hot(*rows[:1]))
    assert weight.asnumpy()[2, 0] == 0


def test_a_dense_gradient_of_a_weight_without_some_rows_is_refused():
    weight = nd.sparse.row_sparse_array((np.ones((1, 2), np.float32), [3]), shape=(9, 2))
    weight.attach_grad(stype="default")
    with pytest.raises(ValueError, match="parameter w is row_sparse without some"):
        TrainStep(lambda x: nd.dot(x, weight).sum(), {"w": weight}, opt.SGD())


def program_texts(step):
    """A list that gets the compiled program of each following call."""
    program, texts = step._program, []

    def seen(*arguments):
        with jax.enable_x64(True):
            texts.append(program.lower(*arguments).compile().as_text())
        return program(*arguments)

    step._program = seen
    return texts


@pytest.mark.parametrize(("width", "uses", "fused"), [(4, 1, True), (2, 2, False), (64, 1, False)])
def test_a_narrow_table_is_moved_without_its_gradient(width, uses, fused):
    """Only where nobody else needs the gradient, as a sum of two does."""
    weight = nd.array(np.random.default_rng(0).standard_normal((FEATURES, width)), dtype="float64")
    weight.attach_grad(stype="row_sparse")

    def loss(x, y):
        return (sum(nd.dot(x, weight) for _ in range(uses)) - y).square().sum()

    step = TrainStep(loss, {"weight": weight}, opt.AdaGrad(learning_rate=0.1, wd=0.01))
    texts = program_texts(step)
    x, y = (part.astype(np.float64) for part in next(batches(1)))
    before = weight.asnumpy()
    data = nd.sparse.csr_matrix((x.data, x.indices, x.indptr), shape=x.shape, dtype="float64")
    step(data, nd.array(y, dtype="float64"))
    calls = {name for name in ("csr_t_update_adagrad", "group_rows") if name in texts[0]}
    assert calls == ({"csr_t_update_adagrad"} if fused else {"group_rows"})
    grad = x.T @ (2 * uses * (uses * (x @ before) - y))
    history = grad**2
    expected = before - 0.1 * (grad / np.sqrt(history + 1e-7) + 0.01 * before)
    named = np.isin(np.arange(FEATURES), x.indices)
    expected[~named] = before[~named]
    np.testing.assert_allclose(weight.asnumpy(), expected, rtol=1e-9)


def test_a_narrow_embedding_is_moved_without_its_gradient():
    weight = nd.array(np.random.default_rng(0).standard_normal((FEATURES, 2)), dtype="float64")
    weight.attach_grad(stype="row_sparse")

    def loss(ids, y):
        rows = nd.Embedding(ids, weight, FEATURES, 2, dtype="float64", sparse_grad=True)
        return (rows * y).sum()

    step = TrainStep(loss, {"weight": weight}, opt.SGD(learning_rate=0.1, wd=0.5))
    texts = program_texts(step)
    ids, y = np.array([[3, 7], [3, 49]]), np.arange(8.0).reshape(2, 2, 2)
    before = weight.asnumpy()
    step(nd.array(ids), nd.array(y, dtype="float64"))
    assert "csr_t_update_sgd" in texts[0] and "group_rows" not in texts[0]
    expected = before.copy()
    for row, grad in ((3, y[0, 0] + y[1, 0]), (7, y[0, 1]), (49, y[1, 1])):
        expected[row] = (1 - 0.1 * 0.5) * before[row] - 0.1 * grad
    np.testing.assert_allclose(weight.asnumpy(), expected, rtol=1e-12)


def test_steps_of_several_threads_are_steps_of_their_own():
    """They draw from one random state, which a trace holds and no program may take over."""
    found, errors = {}, []

    def train(key, rule):
        try:
            params, loss = model(seed=3)
            step = TrainStep(loss, params, OPTIMIZERS[rule]())
            for x, y in batches(8, seed=1):
                step(csr(x), nd.array(y))
            found[key] = params["table"].asnumpy()
        except Exception as error:
            errors.append(error)

    for rule in ("momentum", "adam"):
        train((rule, "alone"), rule)
    jobs = [((rule, i), rule) for rule in ("momentum", "adam") for i in range(2)]
    threads = [threading.Thread(target=train, args=job) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    for (rule, _), table in found.items():
        np.testing.assert_array_equal(table, found[rule, "alone"])


def test_a_batch_of_the_host_may_be_written_into_after_the_call():
    weight = nd.ones((2,))
    weight.attach_grad()
    step = TrainStep(
        lambda x: nd.dot(x, weight).max(), {"weight": weight}, opt.SGD(learning_rate=0.0)
    )
    for _ in range(3):
        batch = np.ones((4_000_000, 2), np.float32)
        result = step(batch)
        batch[:] = 5
        assert result.asscalar() == 2


def test_factors_of_zeros_nothing_and_what_is_no_number():
    """A stored zero is a row of the gradient, NaN stays and is not clipped, an empty batch is none."""
    numbers = ([0.0, 2.0, np.nan], [3, 4, 5], [0, 1, 3])
    for rule, expected in (
        (opt.SGD(learning_rate=0.5, wd=0.5), {3: 0.75, 4: 0.75 - 0.5 * 2, 5: np.nan}),
        (opt.SGD(learning_rate=0.5, clip_gradient=0.5), {3: 1, 4: 1 - 0.5 * 0.5, 5: np.nan}),
        (opt.SGD(learning_rate=0.5, momentum=0.9), {3: 1, 4: 0, 5: np.nan}),
    ):
        weight = nd.ones((FEATURES, 1))
        weight.attach_grad(stype="row_sparse")
        step = TrainStep(lambda x, w=weight: nd.dot(x, w).sum(), {"weight": weight}, rule)
        for arrays in (([], [], [0, 0, 0]), numbers, ([], [], [0, 0, 0])):
            step(nd.sparse.csr_matrix(arrays, shape=(2, FEATURES)))
        table = np.ones((FEATURES, 1))
        for row, x in expected.items():
            table[row] = x
        np.testing.assert_allclose(weight.asnumpy(), table, rtol=1e-6)


@pytest.mark.filterwarnings("error")
def test_a_sum_of_row_sparse_gradients_grows_from_step_to_step():
    weight, bias = nd.ones((FEATURES, 2)), nd.zeros((2,))
    weight.attach_grad(grad_req="add", stype="row_sparse")
    bias.attach_grad(grad_req="add")

    def loss(x):
        return (nd.dot(x, weight) + bias).sum()

    step = TrainStep(loss, {"weight": weight, "bias": bias}, opt.SGD(learning_rate=0.1))
    total, moved = np.zeros((FEATURES, 1)), np.ones((FEATURES, 1))
    for i, (x, _) in enumerate(batches(3)):
        step(csr(x))
        total += np.asarray(x.sum(axis=0)).T
        moved -= 0.1 * total
        np.testing.assert_allclose(weight.grad.asnumpy(), np.tile(total, 2), atol=1e-5)
        np.testing.assert_allclose(bias.grad.asnumpy(), 2 * [8 * (i + 1)])
        np.testing.assert_allclose(weight.asnumpy(), np.tile(moved, 2), atol=1e-5)
