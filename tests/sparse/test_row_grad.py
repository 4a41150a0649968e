"""Gradients by rows of a table: which reads they know, and that they are the dense gradient."""

import jax
import numpy as np
import pytest
from jax import numpy as jnp
from jax.lax import GatherDimensionNumbers
from numpy.testing import assert_allclose, assert_array_equal

from rarefy.sparse import BCOO, BCSR, grad, value_and_grad

N, D = 40, 4
TABLE = np.random.default_rng(7).normal(size=(N, D)).astype(np.float32)
WEIGHT = np.random.default_rng(8).normal(size=(D,)).astype(np.float32)
IDS = np.array([3, 7, 3, 39, 0], np.int32)
SQUARE = np.array([[1, 5, 1], [39, 0, 5]], np.int64)
WILD = np.array([[3, -1], [60, -60]], np.int32)  # the last two are out of range either way


def dense_csr():
    dense = np.zeros((5, N), np.float32)
    dense[[0, 0, 1, 3, 4], [2, 9, 9, 31, 2]] = [1.0, -2.0, 3.0, 0.5, 4.0]
    return dense


def csr(padding=0):
    """`dense_csr()` with a stored zero in column 20 and `padding` slots."""
    indptr = np.array([0, 3, 4, 4, 5, 6], np.int32)
    columns = np.array([9, 2, 20, 9, 31, 2] + [N] * padding, np.int32)
    data = np.array([-2.0, 1.0, 0.0, 3.0, 0.5, 4.0] + [7.0] * padding, np.float32)
    return BCSR((jnp.asarray(data), jnp.asarray(columns), jnp.asarray(indptr)), shape=(5, N))


def windows(t):
    """Windows of two rows and two columns, through `lax.gather` itself."""
    numbers = GatherDimensionNumbers(
        offset_dims=(0, 2), collapsed_slice_dims=(), start_index_map=(0, 1)
    )
    starts = jnp.array([[3, 1], [37, 0], [38, 2], [39, 0]])
    return jax.lax.gather(t, starts, numbers, slice_sizes=(2, 2), mode="clip")


# The function's rows of the table, and which rows those are.
READS = {
    "ids": (lambda t: t[IDS], [0, 3, 7, 39]),
    "two axes": (lambda t: t[SQUARE], [0, 1, 5, 39]),
    "all columns": (lambda t: t[IDS, :], [0, 3, 7, 39]),
    "some columns": (lambda t: t[IDS, 1:3], [0, 3, 7, 39]),
    "columns after": (lambda t: t[IDS][..., :2], [0, 3, 7, 39]),
    "columns before": (lambda t: t[:, 1:3][IDS], [0, 3, 7, 39]),
    "column reversed": (lambda t: t[IDS, ::-2], [0, 3, 7, 39]),
    "one column": (lambda t: t[IDS, 2], [0, 3, 7, 39]),
    "a column each": (lambda t: t[IDS, np.arange(5) % D], [0, 3, 7, 39]),
    "columns across": (lambda t: t[IDS[:, None], np.array([[0, 3]])], [0, 3, 7, 39]),
    "a new axis": (lambda t: t[IDS, None], [0, 3, 7, 39]),
    "a new axis before": (lambda t: t[:, None][IDS], [0, 3, 7, 39]),
    "negative": (lambda t: t[np.array([-1, 2, -40])], [0, 2, 39]),
    "scalar": (lambda t: t[7], [7]),
    "negative scalar": (lambda t: t[-1], [39]),
    "traced scalar": (lambda t: t[jnp.asarray(IDS)[1]], [7]),
    "one number": (lambda t: t[7, 2], [7]),
    "slice": (lambda t: t[10:13], [10, 11, 12]),
    "slice with step": (lambda t: t[30:2:-9], [3, 12, 21, 30]),
    "dynamic slice": (lambda t: jax.lax.dynamic_slice(t, (38, 1), (3, 2)), [37, 38, 39]),
    "windows": (windows, [3, 4, 37, 38, 39]),
    "unsigned ids": (lambda t: t[IDS.astype(np.uint8)], [0, 3, 7, 39]),
    "a list": (lambda t: t[jnp.array([1, 1, 1])], [1]),
    "no ids": (lambda t: t[np.zeros(0, np.int32)], []),
    "take": (lambda t: jnp.take(t, IDS, axis=0), [0, 3, 7, 39]),
    "take fill": (lambda t: jnp.nan_to_num(jnp.take(t, WILD, axis=0, mode="fill")), [3, 39]),
    "take fill value": (lambda t: jnp.take(t, WILD, axis=0, mode="fill", fill_value=2), [3, 39]),
    "take clip": (lambda t: jnp.take(t, WILD, axis=0, mode="clip"), [0, 3, 39]),
    "take wrap": (lambda t: jnp.take(t, WILD, axis=0, mode="wrap"), [3, 20, 39]),
    "get": (lambda t: t.at[IDS].get(), [0, 3, 7, 39]),
    "get fill": (lambda t: t.at[WILD].get(mode="fill", fill_value=1), [3, 39]),
    "get clip": (lambda t: t.at[WILD].get(mode="clip"), [0, 3, 39]),
    "get drop": (lambda t: t.at[WILD].get(mode="drop", fill_value=0), [3, 39]),
    "get promised": (lambda t: t.at[WILD].get(mode="promise_in_bounds"), [3, 39]),
    "mask": (lambda t: t[np.arange(N) % 15 == 2], [2, 17, 32]),
    "twice": (lambda t: jnp.concatenate([t[IDS], t[SQUARE].reshape(-1, D)]), [0, 1, 3, 5, 7, 39]),
    "reshaped": (lambda t: t.reshape(N, 2, 2)[IDS], [0, 3, 7, 39]),
    "turned": (lambda t: t.reshape(N, 2, 2).transpose(0, 2, 1)[IDS, 1], [0, 3, 7, 39]),
    "csr @ table": (lambda t: csr() @ t, [2, 9, 20, 31]),
    "padded csr @ table": (lambda t: csr(3) @ t, [2, 9, 20, 31]),
    "csr @ column": (lambda t: csr() @ t[:, 1], [2, 9, 20, 31]),
    "bcoo @ table": (lambda t: csr().to_bcoo() @ t, [2, 9, 20, 31]),
    "bcoo.T @ table": (lambda t: csr().to_bcoo().T.T @ t, [2, 9, 20, 31]),
    "bag": (
        lambda t: jax.ops.segment_sum(t[IDS], np.array([0, 0, 1, 1, 1]), num_segments=2),
        [0, 3, 7, 39],
    ),
}


def rows_of(gradient):
    """The rows that a gradient has, after checking that it is laid out as promised."""
    assert isinstance(gradient, BCOO)
    assert gradient.n_sparse == 1 and gradient.n_batch == 0
    assert gradient.indices_sorted and gradient.unique_indices
    rows = np.asarray(gradient.indices[:, 0])
    n = gradient.shape[0]
    real = rows[rows < n]
    assert_array_equal(real, np.unique(rows[rows < n]))  # unique, ascending
    assert_array_equal(rows, [*real, *[n] * (len(rows) - len(real))])  # padding last
    assert_array_equal(np.asarray(gradient.data)[len(real) :], 0)
    return real.tolist()


def objective(read):
    def loss(table):
        rows = read(table).astype(jnp.float32)
        return (jnp.sin(rows) * (1 + jnp.arange(rows.size).reshape(rows.shape))).sum()

    return loss


@pytest.mark.parametrize("read, rows", READS.values(), ids=READS.keys())
def test_a_read_gives_the_dense_gradient_on_its_rows(read, rows):
    loss, table = objective(read), jnp.asarray(TABLE)
    value, gradient = value_and_grad(loss, row_sparse=True)(table)
    expected_value, expected = jax.value_and_grad(loss)(table)
    assert rows_of(gradient) == rows
    assert gradient.dtype == expected.dtype and gradient.shape == expected.shape
    assert_allclose(value, expected_value, rtol=1e-6)
    assert_allclose(gradient.todense(), expected, rtol=2e-5, atol=1e-6)


def test_a_product_with_a_transpose_reads_the_rows_with_entries():
    dense = np.zeros((N, 3), np.float32)
    dense[[2, 9, 9], [0, 1, 2]] = [1.0, 2.0, 3.0]
    for matrix in (BCSR.fromdense(dense), BCOO.fromdense(dense)):
        loss = lambda t, m=matrix: ((m.T @ t) ** 2).sum()  # noqa: E731
        gradient = grad(loss, row_sparse=True)(jnp.asarray(TABLE))
        assert rows_of(gradient) == [2, 9]
        assert_allclose(gradient.todense(), 2 * dense @ (dense.T @ TABLE), rtol=1e-5)


def test_values_of_the_matrix_and_rows_of_the_table_together():
    data = csr().data

    def loss(data, table):
        return ((BCSR((data, csr().indices, csr().indptr), shape=(5, N)) @ table) ** 2).sum()

    by_data, by_rows = grad(loss, (0, 1), row_sparse=1)(data, jnp.asarray(TABLE))
    out = dense_csr() @ TABLE
    assert_allclose(by_rows.todense(), 2 * dense_csr().T @ out, rtol=1e-5)
    of_entry = np.repeat(np.arange(5), np.diff(csr().indptr))
    expected = 2 * (out[of_entry] * TABLE[np.asarray(csr().indices)]).sum(1)
    assert_allclose(by_data, expected, rtol=1e-5)


def test_capacity_is_what_is_read_and_at_most_the_height():
    few = grad(lambda t: t[np.array([2, 2, 2])].sum(), row_sparse=True)(jnp.ones((9, 2)))
    many = grad(lambda t: t[np.arange(30) % 5].sum(), row_sparse=True)(jnp.ones((9, 2)))
    assert few.nse == 3 and few.indices[:, 0].tolist() == [2, 9, 9]
    assert many.nse == 9 and many.data[:, 0].tolist() == [6, 6, 6, 6, 6, 0, 0, 0, 0]


def test_a_table_that_is_not_read_has_a_gradient_without_rows():
    value, gradient = value_and_grad(lambda t: jnp.float32(2), row_sparse=True)(jnp.ones((9, 2)))
    assert value == 2 and gradient.shape == (9, 2) and rows_of(gradient) == []


def test_a_row_read_with_weight_zero_is_stored():
    gradient = grad(lambda t: (0 * t[np.array([4])]).sum(), row_sparse=True)(jnp.ones((9, 2)))
    assert rows_of(gradient) == [4]


@pytest.mark.parametrize("shape", [(9,), (9, 2, 3), (1, 3)], ids=str)
def test_tables_of_other_ranks(shape):
    table = jnp.sin(jnp.arange(np.prod(shape), dtype=jnp.float32)).reshape(shape)
    loss = lambda t: (t[np.array([0, 0, -1])] ** 2).sum() + t[0].sum()  # noqa: E731
    gradient = grad(loss, row_sparse=True)(table)
    assert rows_of(gradient) == sorted({0, shape[0] - 1})
    assert_allclose(gradient.todense(), jax.grad(loss)(table), rtol=1e-6)


def test_a_table_without_columns():
    gradient = grad(lambda t: t[np.array([0, 8])].sum(), row_sparse=True)(jnp.zeros((9, 0)))
    assert gradient.shape == (9, 0) and set(rows_of(gradient)) <= {0, 8}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_dtypes(dtype):
    with jax.enable_x64(True):
        table = jnp.asarray(TABLE).astype(dtype)
        loss = lambda t: (t[IDS].astype(jnp.float64) ** 2).sum()  # noqa: E731
        gradient = jax.jit(grad(loss, row_sparse=True))(table)
        expected = jax.grad(loss)(table)
        assert gradient.dtype == np.dtype(dtype)
        assert_allclose(
            gradient.todense().astype(float),
            expected.astype(float),
            rtol=float(jnp.finfo(dtype).eps),
        )


def test_half_precision_sums_repeats_in_float32():
    table = jnp.ones((3, 1), jnp.float16)
    loss = lambda t: t[np.zeros(5000, np.int32)].sum(dtype=jnp.float32)  # noqa: E731
    gradient = grad(loss, row_sparse=True)(table)
    assert gradient.data[0, 0] == 5000  # one by one, float16 stays at 2048


def test_a_table_cast_before_it_is_read():
    # Each row's cotangent is rounded, as where the rows are cast; the dense gradient sums in bfloat16.
    before = objective(lambda t: t.astype(jnp.bfloat16)[IDS])
    after = objective(lambda t: t[IDS].astype(jnp.bfloat16))
    gradient = jax.jit(grad(before, row_sparse=True))(jnp.asarray(TABLE))
    assert gradient.dtype == jnp.float32 and rows_of(gradient) == [0, 3, 7, 39]
    assert_allclose(gradient.todense(), jax.grad(after)(jnp.asarray(TABLE)), rtol=1e-6)


def test_complex_table_under_holomorphic():
    table = (TABLE + 1j * TABLE[::-1]).astype(np.complex64)
    loss = lambda t: (t[IDS] ** 2).sum()  # noqa: E731
    gradient = grad(loss, row_sparse=True, holomorphic=True)(table)
    assert rows_of(gradient) == [0, 3, 7, 39]
    assert_allclose(gradient.todense(), jax.grad(loss, holomorphic=True)(table), rtol=1e-6)


def test_an_id_beyond_32_bits_of_cells():
    table = jnp.zeros((3_000_000, 1), jnp.float32)
    gradient = grad(lambda t: t[np.array([2_999_999, -3_000_000])].sum(), row_sparse=True)(table)
    assert rows_of(gradient) == [0, 2_999_999]


def test_aux_and_several_arguments():
    def loss(t, w, scale):
        rows = t[IDS]
        return scale * (rows @ w).sum(), {"rows": rows, "name": "aux"}

    args = jnp.asarray(TABLE), jnp.asarray(WEIGHT), 2.0
    for argnums, marks in (((0, 1), 0), ((0, 1), (0,)), ((0, 1), (True, False)), ((0, 1), -3)):
        (value, aux), (by_table, by_weight) = value_and_grad(
            loss, argnums, has_aux=True, row_sparse=marks
        )(*args)
        assert aux["name"] == "aux"
        assert_allclose(aux["rows"], TABLE[IDS])
        assert_allclose(value, 2 * (TABLE[IDS] @ WEIGHT).sum(), rtol=1e-5)
        assert rows_of(by_table) == [0, 3, 7, 39]
        assert_allclose(by_weight, 2 * TABLE[IDS].sum(0), rtol=1e-5)
    gradient, aux = grad(loss, has_aux=True, row_sparse=True)(*args)
    assert rows_of(gradient) == [0, 3, 7, 39] and aux["name"] == "aux"


def test_keywords_reach_the_function():
    loss = lambda t, *, ids, power=1: (t[ids] ** power).sum()  # noqa: E731
    gradient = grad(loss, row_sparse=True)(jnp.asarray(TABLE), ids=IDS, power=2)
    assert_allclose(gradient.todense()[7], 2 * TABLE[7], rtol=1e-6)


PARAMS = {"emb": {"users": TABLE, "items": TABLE[::-1] + 1}, "w": WEIGHT, "b": np.float32(0.5)}
MARKS = {
    "partial dict": {"emb": True},
    "full dict": {"emb": {"users": True, "items": True}, "w": False, "b": False},
    "path": lambda path, leaf: path.startswith("['emb']"),
    "leaf": lambda path, leaf: leaf.ndim == 2,
}


@pytest.mark.parametrize("marks", MARKS.values(), ids=MARKS.keys())
def test_a_dict_of_parameters_with_two_tables_one_of_them_tied(marks):
    def loss(params):
        users, items = params["emb"]["users"], params["emb"]["items"]
        scores = ((users[IDS] * items[IDS + 1 - 40]) @ params["w"]) + params["b"]
        return (scores**2).sum() + (items[SQUARE] @ items[5]).sum()  # items is used on both sides

    params = jax.tree.map(jnp.asarray, PARAMS)
    value, gradient = jax.jit(value_and_grad(loss, row_sparse=marks))(params)
    expected_value, expected = jax.value_and_grad(loss)(params)
    assert_allclose(value, expected_value, rtol=1e-5)
    assert rows_of(gradient["emb"]["users"]) == [0, 3, 7, 39]
    assert rows_of(gradient["emb"]["items"]) == [0, 1, 4, 5, 8, 39]
    dense = jax.tree.map(
        lambda g: g.todense() if isinstance(g, BCOO) else g,
        gradient,
        is_leaf=lambda g: isinstance(g, BCOO),
    )
    jax.tree.map(lambda a, b: assert_allclose(a, b, rtol=1e-4, atol=1e-5), dense, expected)


def test_only_marked_leaves_become_sparse():
    loss = lambda p: (p["a"][IDS] * p["b"][IDS]).sum()  # noqa: E731
    params = {"a": jnp.asarray(TABLE), "b": jnp.asarray(TABLE)}
    gradient = grad(loss, row_sparse={"b": True})(params)
    assert isinstance(gradient["a"], jax.Array) and isinstance(gradient["b"], BCOO)
    assert_allclose(gradient["b"].todense(), gradient["a"], rtol=1e-6)


def test_integers_beside_a_table():
    loss = lambda p: p["t"][p["ids"]].sum()  # noqa: E731
    params = {"t": jnp.asarray(TABLE), "ids": IDS}
    gradient = grad(loss, row_sparse={"t": True}, allow_int=True)(params)
    assert rows_of(gradient["t"]) == [0, 3, 7, 39]
    assert gradient["ids"].dtype == jax.dtypes.float0 and gradient["ids"].shape == (5,)
    with pytest.raises(TypeError, match=r"argument 0\['ids'\] is int32"):
        grad(loss, row_sparse={"t": True})(params)


@pytest.mark.parametrize("height", [1_000, 3_000_000])
def test_no_array_of_the_table_is_allocated(height):
    ids = jnp.arange(64, dtype=jnp.int32) * (height // 64)

    def loss(t, w, ids):
        def step(c, i):
            return c + jnp.tanh(t[i] @ w), None

        looped, _ = jax.lax.scan(step, 0.0, ids)
        again = jax.checkpoint(lambda t: jnp.sin(t[ids] * 2).sum())(t)
        chosen = jax.lax.cond(looped > 0, lambda t: t[ids[0]].sum(), lambda t: t[3].sum(), t)
        columns = jnp.where(ids < height, ids, height)
        matrix = BCSR._trusted(jnp.ones(64), columns, jnp.arange(0, 65, 8), (8, height))
        return jnp.sum(t[ids] @ w) + looped + again + chosen + ((matrix @ t) ** 2).sum()

    shapes = (
        jax.ShapeDtypeStruct((height, 16), jnp.float32),
        jax.ShapeDtypeStruct((16,), jnp.float32),
        jax.ShapeDtypeStruct(ids.shape, ids.dtype),
    )
    compiled = jax.jit(value_and_grad(loss, (0, 1), row_sparse=0)).lower(*shapes).compile()
    memory = compiled.memory_analysis()
    assert memory.temp_size_in_bytes < 300_000  # a table of 3,000,000 rows has 192,000,000 bytes
    assert memory.output_size_in_bytes < 50_000


def test_one_program_for_all_ids():
    traces = []

    @jax.jit
    def step(t, ids):
        traces.append(1)
        return grad(lambda t: t[ids].sum(), row_sparse=True)(t)

    for seed in range(3):
        step(jnp.asarray(TABLE), np.random.default_rng(seed).integers(0, N, 8))
    assert len(traces) == 1
