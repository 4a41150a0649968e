import jax
import ml_dtypes
import numpy as np
import pytest
from jax import numpy as jnp

from cases.rules import hyper_of, tables_of
from oracles import rows as oracle
from rarefy._primitives.rows_update import COMMON, RULES, dense_update, rows_update

FORMS = ("kernel", "xla")
# float16 has 11 bits, bfloat16 8; inputs, states and results are each rounded once.
TOLERANCE = {np.float32: 2e-5, np.float64: 1e-12, np.float16: 2e-3, ml_dtypes.bfloat16: 1.6e-2}


def _bits(x):
    return np.asarray(x).view(f"u{x.dtype.itemsize}")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("rule", RULES)
def test_named_rows_follow_the_formula_and_others_keep_their_bits(rng, rule, dtype, form):
    n, rows = 12, np.array([0, 3, 4, 11, 12, 12], np.int32)
    tables = tables_of(rng, rule, (n, 3), dtype)
    grad = (3 * rng.standard_normal((6, 3))).astype(dtype)
    with jax.enable_x64(dtype == np.float64):
        hyper = hyper_of(rule, np.float64 if dtype == np.float64 else np.float32)
        out = rows_update(rule, tables, rows, grad, hyper, form=form)
    expected = oracle.rows_update(rule, tables, rows, grad, hyper)
    for old, new, right in zip(tables, out, expected, strict=True):
        assert new.dtype == dtype
        tolerance = TOLERANCE[dtype]
        np.testing.assert_allclose(
            np.asarray(new, np.float64), right, rtol=tolerance, atol=tolerance
        )
        np.testing.assert_array_equal(
            _bits(new)[[1, 2, 5, 6, 7, 8, 9, 10]], _bits(old)[[1, 2, 5, 6, 7, 8, 9, 10]]
        )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("clip", [-1.0, 0.0, 0.25])
def test_clipping(rng, rule, clip, form):
    tables = tables_of(rng, rule, (4, 5))
    rows, grad = np.arange(4, dtype=np.int32), rng.standard_normal((4, 5)).astype(np.float32)
    hyper = hyper_of(rule, clip_gradient=clip)
    out = rows_update(rule, tables, rows, grad, hyper, form=form)
    expected = oracle.rows_update(rule, tables, rows, grad, hyper)
    for new, right in zip(out, expected, strict=True):
        np.testing.assert_allclose(new, right, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("d", [(), (1,), (2, 3), (16,), (37,)])
@pytest.mark.parametrize("rule", RULES)
def test_rows_of_any_shape_and_64_bit_ids(rng, rule, d):
    tables = tables_of(rng, rule, (9, *d))
    grad = rng.standard_normal((3, *d)).astype(np.float32)
    rows = np.array([2, 8, 9], np.int64)
    with jax.enable_x64(True):
        out = rows_update(rule, tables, rows, grad, hyper_of(rule), form="kernel")
    expected = oracle.rows_update(rule, tables, rows, grad, hyper_of(rule))
    for new, right in zip(out, expected, strict=True):
        np.testing.assert_allclose(new, right, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("n", "k", "d"), [(0, 0, 2), (0, 3, 2), (4, 0, 2), (4, 3, 0)])
def test_empty_operands(n, k, d, form):
    tables = (np.ones((n, d), np.float32),) * 2
    rows, grad = np.full(k, n, np.int32), np.ones((k, d), np.float32)
    out = rows_update("sgd_mom", tables, rows, grad, hyper_of("sgd_mom"), form=form)
    for x in out:
        np.testing.assert_array_equal(x, tables[0])


def test_nan_gradient_is_not_clipped_away():
    for form in FORMS:
        (w,) = rows_update(
            "sgd",
            (np.ones((2, 3), np.float32),),
            np.array([1], np.int32),
            np.array([[np.nan, np.inf, -np.inf]], np.float32),
            hyper_of("sgd", wd=0),
            form=form,
        )
        np.testing.assert_allclose(w[1], [np.nan, 0.9, 1.1], rtol=1e-6)


@pytest.mark.parametrize("rule", RULES)
def test_donated_tables_are_updated_in_place(rng, rule):
    step = jax.jit(rows_update, static_argnums=0, donate_argnums=1)
    rows, grad = np.array([1, 5], np.int32), np.ones((2, 8), np.float32)
    tables = tuple(jnp.asarray(t) for t in tables_of(rng, rule, (6, 8)))
    for _ in range(2):
        before = [t.unsafe_buffer_pointer() for t in tables]
        tables = step(rule, tables, rows, grad, hyper_of(rule))
        assert [t.unsafe_buffer_pointer() for t in tables] == before


def test_memory_is_that_of_the_rows_when_donated_and_one_copy_when_not(rng):
    tables = tables_of(rng, "adam", (1000, 8))
    operands = (tables, np.arange(3, dtype=np.int32), np.ones((3, 8), np.float32), hyper_of("adam"))
    size = 3 * tables[0].nbytes
    for donated in ((), 1):
        step = jax.jit(rows_update, static_argnums=0, donate_argnums=donated)
        memory = step.lower("adam", *operands).compile().memory_analysis()
        assert memory.alias_size_in_bytes == (size if donated else 0)
        assert memory.output_size_in_bytes - memory.alias_size_in_bytes < (
            99 if donated else size + 99
        )
        assert memory.temp_size_in_bytes < 1000


def test_a_loop_carries_the_tables_without_a_copy(rng):
    def epoch(tables, batches):
        def step(tables, rows):
            return rows_update("adam", tables, rows, jnp.ones((3, 8)), hyper_of("adam")), rows[0]

        return jax.lax.scan(step, tables, batches)

    tables, batches = tables_of(rng, "adam", (1000, 8)), np.zeros((5, 3), np.int32)
    memory = jax.jit(epoch, donate_argnums=0).lower(tables, batches).compile().memory_analysis()
    assert memory.temp_size_in_bytes < tables[0].nbytes / 2


def test_operands_that_were_not_donated_are_kept(rng):
    tables = tuple(jnp.asarray(t) for t in tables_of(rng, "adagrad", (6, 8)))
    copies = [np.array(t) for t in tables]
    rows, grad = np.array([1, 5], np.int32), np.ones((2, 8), np.float32)
    jax.block_until_ready(rows_update("adagrad", tables, rows, grad, hyper_of("adagrad")))
    for table, copy in zip(tables, copies, strict=True):
        np.testing.assert_array_equal(table, copy)


@pytest.mark.parametrize("form", FORMS)
def test_new_hyper_parameters_and_rows_compile_nothing(rng, form):
    traces = []

    @jax.jit
    def step(tables, rows, grad, hyper):
        traces.append(1)
        return rows_update("sgd_mom", tables, rows, grad, hyper, form=form)

    tables = tables_of(rng, "sgd_mom", (6, 2))
    for i in range(4):
        rows, grad = np.array([i, i + 1, 6], np.int32), np.full((3, 2), i, np.float32)
        hyper = hyper_of("sgd_mom", lr=0.1 / (i + 1), clip_gradient=i - 1.0)
        out = step(tables, rows, grad, hyper)
        for new, right in zip(
            out, oracle.rows_update("sgd_mom", tables, rows, grad, hyper), strict=True
        ):
            np.testing.assert_allclose(new, right, rtol=1e-5, atol=1e-6)
    assert len(traces) == 1


@pytest.mark.parametrize("rule", RULES)
def test_bits_do_not_depend_on_the_number_of_threads(rng, rule):
    n, d = 4000, 24
    tables = tables_of(rng, rule, (n, d))
    rows = np.sort(rng.permutation(n)[:3000]).astype(np.int32)
    grad = rng.standard_normal((3000, d)).astype(np.float32)
    whole = rows_update(rule, tables, rows, grad, hyper_of(rule), form="kernel")
    for i in range(0, 3000, 750):  # a few rows are too little work for a second thread
        alone = rows_update(
            rule, tables, rows[i : i + 9], grad[i : i + 9], hyper_of(rule), form="kernel"
        )
        for a, b in zip(whole, alone, strict=True):
            named = rows[i : i + 9]
            np.testing.assert_array_equal(_bits(a)[named], _bits(b)[named])


@pytest.mark.parametrize("form", FORMS)
def test_vmap_updates_each_table_by_itself(rng, form):
    tables = tuple(
        np.stack(x) for x in zip(*(tables_of(rng, "adam", (5, 2)) for _ in range(3)), strict=True)
    )
    rows = np.array([[0, 4], [1, 5], [5, 5]], np.int32)
    grad = rng.standard_normal((3, 2, 2)).astype(np.float32)
    hyper = hyper_of("adam")
    out = jax.vmap(lambda t, r, g: rows_update("adam", t, r, g, hyper, form=form))(
        tables, rows, grad
    )
    for b in range(3):
        expected = oracle.rows_update("adam", [t[b] for t in tables], rows[b], grad[b], hyper)
        for new, right in zip(out, expected, strict=True):
            np.testing.assert_allclose(new[b], right, rtol=2e-5, atol=2e-6)


def test_derivative_with_respect_to_gradient_and_learning_rate(rng):
    tables, rows = tables_of(rng, "sgd", (3, 2)), np.array([2, 3], np.int32)
    grad = rng.standard_normal((2, 2)).astype(np.float32)
    hyper = hyper_of("sgd", clip_gradient=-1, wd=0)
    by_grad, by_hyper = jax.grad(
        lambda g, h: rows_update("sgd", tables, rows, g, h)[0].sum(), argnums=(0, 1)
    )(grad, hyper)
    np.testing.assert_allclose(by_grad, [[-0.05, -0.05], [0, 0]], rtol=1e-6)  # -lr * rescale_grad
    np.testing.assert_allclose(by_hyper[0], -0.5 * grad[0].sum(), rtol=1e-5)


def test_rules_begin_with_the_common_hyper_parameters():
    for rule in RULES.values():
        assert rule.hyper[:4] == COMMON


WEIGHT = np.ones((4, 2), np.float32)
WRONG = [
    ("sgdd", (WEIGHT,), [0], WEIGHT[:1], np.ones(4, np.float32), "no rule"),
    ("adam", (WEIGHT,), [0], WEIGHT[:1], np.ones(7, np.float32), "weight, mean, var"),
    ("sgd", (WEIGHT,), [0], WEIGHT[:1, :1], np.ones(4, np.float32), "grad must be float32"),
    ("sgd", (WEIGHT,), [0], WEIGHT[:1], np.ones(5, np.float32), "hyper must be float32"),
    ("sgd", (WEIGHT,), [0.0], WEIGHT[:1], np.ones(4, np.float32), "rows must be"),
    ("sgd", (WEIGHT.astype(np.int32),), [0], WEIGHT[:1], np.ones(4, np.float32), "floating"),
    ("sgd_mom", (WEIGHT, WEIGHT[:2]), [0], WEIGHT[:1], np.ones(5, np.float32), "mom must be"),
    ("sgd", (WEIGHT,), [0], WEIGHT[:1].astype(np.float16), np.ones(4, np.float32), "grad must be"),
]


@pytest.mark.parametrize(("rule", "tables", "rows", "grad", "hyper", "what"), WRONG)
def test_wrong_operands_are_refused(rule, tables, rows, grad, hyper, what):
    with pytest.raises(ValueError, match=what):
        rows_update(
            rule, tables, np.array(rows, np.float32 if "rows" in what else np.int32), grad, hyper
        )


# What MXNet 1.9.1 makes of these with the hyper-parameters of _hyper: nd.sgd_update and so on, and
# optimizer.AdaGrad. nd.sparse.*_update(lazy_update=True) gave the same for the rows it was given.
W = [[0.5, -1.0], [2.0, 0.25], [-0.75, 1.5], [0.0, -0.125]]
S1 = [[0.25, 0.5], [1.0, 0.125], [0.75, 2.0], [0.0, 0.0]]
S2 = [[0.5, 0.25], [0.0625, 1.0], [4.0, 0.5], [0.0, 0.0]]
GRAD = [[1.0, -2.0], [3.0, -0.25], [0.5, 0.0], [0.0, -8.0]]
MXNET = {
    ("sgd", 1.0): [
        [0.44949999, -0.89899999, 1.898, 0.26225001, -0.77424997, 1.4985, 0.0, -0.024875],
    ],
    ("sgd_mom", 1.0): [
        [0.67449999, -0.449, 2.7979999, 0.37475002, -0.099250019, 3.2985001, 0.0, -0.024875],
        [0.1745, 0.551, 0.79799998, 0.12475, 0.65074998, 1.7984999, 0.0, 0.100125],
    ],
    ("adam", 1.0): [
        [0.46094817, -1.0689595, 1.6271371, 0.23992628, -0.78513426, 1.2439829, 0.0, -0.025099829],
        [0.2755, 0.34999996, 1.0, 0.10024999, 0.69924998, 1.8015, 0.0, -0.10000002],
        [0.49755025, 0.25749999, 0.071874991, 0.99015009, 3.9605882, 0.49500224, 0.0, 0.0099999905],
    ],
    ("adagrad", 1.0): [
        [0.42879638, -0.91735303, 1.927291, 0.28307149, -0.77698332, 1.4985, 0.0, -0.024879992],
        [0.5, 1.5, 2.0, 0.140625, 0.8125, 2.0, 0.0, 1.0],
    ],
    ("ftrl", 1.0): [
        [-0.0, -0.33231789, 0.8692866, -0.0, -0.032454297, -0.14071605, 0.0, 0.0],
        [-0.044593096, 5.6803398, -13.615527, -0.019455552, 1.1167333, 2.0, 0.0, 0.25],
        [0.75, 1.25, 1.0625, 1.015625, 4.0625, 0.5, 0.0, 1.0],
    ],
    ("sgd", -1.0): [
        [0.44949999, -0.89899999, 1.848, 0.26225001, -0.77424997, 1.4985, 0.0, 0.275125],
    ],
    ("sgd_mom", -1.0): [
        [0.67449999, -0.449, 2.7480001, 0.37475002, -0.099250019, 3.2985001, 0.0, 0.275125],
        [0.1745, 0.551, 0.74800003, 0.12475, 0.65074998, 1.7984999, 0.0, 0.400125],
    ],
    ("adam", -1.0): [
        [0.46094817, -1.0687356, 1.639246, 0.23992628, -0.78513426, 1.2439829, 0.0, -0.025024906],
        [0.2755, 0.34899998, 1.052, 0.10024999, 0.69924998, 1.8015, 0.0, -0.40012509],
        [0.49755025, 0.25770098, 0.084978975, 0.99015009, 3.9605882, 0.49500224, 0.0, 0.16009985],
    ],
    ("adagrad", -1.0): [
        [0.42879638, -0.91735303, 1.9147962, 0.28307149, -0.77698332, 1.4985, 0.0, -0.024875306],
        [0.5, 1.5, 3.25, 0.140625, 0.8125, 2.0, 0.0, 16.0],
    ],
    ("ftrl", -1.0): [
        [-0.0, -0.33231789, 1.1185595, -0.0, -0.032454297, -0.14071605, 0.0, -0.0155521],
        [-0.044593096, 5.6803398, -22.913813, -0.019455552, 1.1167333, 2.0, 0.0, 1.0],
        [0.75, 1.25, 2.3125, 1.015625, 4.0625, 0.5, 0.0, 16.0],
    ],
}
MXNET_LAZY_ADAGRAD = {  # without weight decay, which it refuses; rows 1 and 3
    1.0: [[1.9292911, 0.2833215, 0.0, -0.02500499], [2.0, 0.140625, 0.0, 1.0]],
    -1.0: [[1.9167962, 0.2833215, 0.0, -0.025000311], [3.25, 0.140625, 0.0, 16.0]],
}


def _mxnet_operands(rule):
    tables = [np.array(x, np.float32) for x in (W, S1, S2)][: 1 + len(RULES[rule].states)]
    return tables, np.array(GRAD, np.float32)


@pytest.mark.parametrize(("rule", "clip"), MXNET)
def test_dense_rule_gives_the_numbers_of_mxnet(rule, clip):
    tables, grad = _mxnet_operands(rule)
    out = dense_update(rule, tables, grad, hyper_of(rule, clip_gradient=clip))
    for new, right in zip(out, MXNET[rule, clip], strict=True):
        np.testing.assert_allclose(new.reshape(-1), right, rtol=2e-6, atol=2e-7)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("rule", "clip"), MXNET)
def test_lazy_rule_gives_the_numbers_of_mxnet(rule, clip, form):
    tables, grad = _mxnet_operands(rule)
    rows = np.array([1, 3], np.int32)
    out = rows_update(rule, tables, rows, grad[rows], hyper_of(rule, clip_gradient=clip), form=form)
    for old, new, right in zip(tables, out, MXNET[rule, clip], strict=True):
        right = np.reshape(right, (4, 2))
        np.testing.assert_allclose(new[rows], right[rows], rtol=2e-6, atol=2e-7)
        np.testing.assert_array_equal(new[::2], old[::2])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("clip", MXNET_LAZY_ADAGRAD)
def test_lazy_adagrad_gives_the_numbers_of_mxnet(clip, form):
    tables, grad = _mxnet_operands("adagrad")
    rows = np.array([1, 3], np.int32)
    hyper = hyper_of("adagrad", clip_gradient=clip, wd=0)
    out = rows_update("adagrad", tables, rows, grad[rows], hyper, form=form)
    for new, right in zip(out, MXNET_LAZY_ADAGRAD[clip], strict=True):
        np.testing.assert_allclose(new[rows].reshape(-1), right, rtol=2e-6, atol=2e-7)
