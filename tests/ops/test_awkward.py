"""Every sparse rule of every operator on awkward arrays: values, padding and gradients."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from cases.awkward import CsrCase
from cases.handles import (
    assert_close,
    csr_array,
    csr_structures,
    few_csr,
    few_row_sparse,
    row_sparse_array,
    row_sparse_structures,
)
from cases.sparse_operators import USES, Use, numbers
from rarefy import autograd, config, nd
from rarefy._ops.defs import OPERATORS

# Shuffled, repeated and padded, with stored zeros and empty first, middle and last rows.
FIRST = "everything at once"
# What else there is. Operators whose uses are not deep have a test of their own on everything.
MORE = ("nothing stored", "only stored zeros", "stored zero rows", "1x1 repeated", "no rows")
MORE += ("one row many times", "no columns", "no rows and no columns", "padding only")
MORE += ("padded without columns", "padded without rows")
FLOAT64 = np.dtype("float64")


@pytest.fixture(autouse=True)
def _no_fallback(monkeypatch):
    monkeypatch.setattr(config, "storage_fallback", "error")


def test_every_rule_has_a_use():
    reached = {(u.op, u.stypes[:1] if OPERATORS[u.op].variadic else u.stypes) for u in USES}
    rules = {(op.name, s) for op in OPERATORS.values() for s in op.rules if not op.updates}
    dense = {("cast_storage", ("default",))}  # tests/nd/test_storage.py
    assert rules - dense == reached, "add it to USES in tests/cases/sparse_operators.py"


def kind_of(use: Use) -> str:
    """The storage type of the awkward array."""
    stype = use.stypes[use.arrays.index(None)]
    assert stype is not None
    return stype


def cases_of(use: Use) -> list:
    """The awkward arrays that a use is run on."""
    every = csr_structures() if kind_of(use) == "csr" else row_sparse_structures()
    return [
        c for c in every if use.fits(c.shape) and (c.name == FIRST or (use.deep and c.name in MORE))
    ]


def into(use: Use, case):
    """The case with its numbers where the operator is tested; sums of three stay there."""
    if (use.low, use.high) == (-8, 8):
        return case
    data = case.data.astype(FLOAT64) / 8.03
    if use.low < 0:
        data = data * min(-use.low, use.high) / 3
    else:
        data = use.low + abs(data) * (use.high - use.low) / 3
        data[padding(case)] = 0
    data = data.astype(case.data.dtype)
    dense = np.zeros(case.shape, FLOAT64)
    places = (case.rows,) if not isinstance(case, CsrCase) else (rows_of(case), case.indices)
    real = ~padding(case)
    np.add.at(dense, tuple(p[real] for p in places), data[real].astype(FLOAT64))
    return replace(case, data=data, dense=dense)


def rows_of(case: CsrCase) -> np.ndarray:
    count = np.diff(case.indptr)
    rows = np.repeat(np.arange(case.shape[0]), count)
    return np.concatenate([rows, np.full(len(case.data) - len(rows), case.shape[0])])


def padding(case) -> np.ndarray:
    """Which slots of a case are padding."""
    if isinstance(case, CsrCase):
        return np.arange(len(case.data)) >= case.indptr[-1]
    return case.rows >= case.shape[0]


def stored(case) -> np.ndarray:
    """Where a case stores something, zeros too."""
    out, real = np.zeros(case.shape, bool), ~padding(case)
    if isinstance(case, CsrCase):
        out[rows_of(case)[real], case.indices[real]] = True
    else:
        out[case.rows[real]] = True
    return out


def made(use: Use, case):
    """The arrays of a call, the same in dense float64, and where each stores something."""
    case = into(use, case)
    arrays, dense, places = [], [], []
    for i, (make, stype) in enumerate(zip(use.arrays, use.stypes, strict=True)):
        if stype is None:
            arrays.append(None)
            continue
        if make is None:
            arrays.append(csr_array(case) if stype == "csr" else row_sparse_array(case))
            dense.append(case.dense.astype(FLOAT64))
            places.append(stored(case))
            continue
        numeric = make(case.shape)
        if not isinstance(numeric, np.ndarray):
            numeric = numbers(numeric, i)
        if numeric.dtype == FLOAT64:
            numeric = numeric.astype(case.data.dtype)
        array = nd.array(numeric, dtype=numeric.dtype).tostype(stype)
        arrays.append(array)
        dense.append(numeric if np.issubdtype(numeric.dtype, np.integer) else np.float64(numeric))
        places.append(occupied(numeric, stype))
    return arrays, dense, places


def occupied(dense: np.ndarray, stype: str) -> np.ndarray:
    """Where a storage type stores something of a dense array."""
    if stype == "csr":
        return dense != 0
    if stype == "row_sparse":
        rows = (dense != 0).any(axis=tuple(range(1, dense.ndim)), keepdims=True)
        return np.broadcast_to(rows, dense.shape)
    return np.ones_like(dense, bool)


def params_of(use: Use, case) -> dict:
    return {k: v(case.shape) if callable(v) else v for k, v in use.params.items()}


def call(use: Use, arrays, params):
    namespace = nd if hasattr(nd, use.op) else nd._internal
    return getattr(namespace, use.op)(*arrays, **params)


def expected(use: Use, dense, params):
    with np.errstate(all="ignore"):
        return use.fn(*dense, **params)


def check_padding(array) -> None:
    """Slots beyond what is stored hold zeros at a place out of range, and come last."""
    if array.stype == "default":
        return
    array.check_format()
    value = array._value
    data, indices = np.asarray(value.data), np.asarray(value.indices)
    unused = indices[array.nnz :]
    limit = value.shape[1] if array.stype == "csr" else value.shape[0]
    assert (unused >= limit).all()
    assert not np.float64(data[array.nnz :]).any(), "padding must be zero"


def check_result(use: Use, case, result, want) -> None:
    """The result has the storage type, dtype, shape and numbers that it should."""
    assert result.stype == use.out, case
    assert np.dtype(result.dtype) == np.dtype(use.dtype or case.data.dtype), case
    assert result.shape == want.shape, case
    try:
        assert_close(result.asnumpy(), want, case.data.dtype, scale=20)
        check_padding(result)
    except AssertionError as error:
        raise AssertionError(f"{use} on {case}: {error}") from None


def has_slope(use: Use) -> bool:
    return use.slope and OPERATORS[use.op].differentiable


# Those whose gradients are tested are computed there.
@pytest.mark.parametrize("use", [u for u in USES if u.deep or not has_slope(u)], ids=str)
def test_values(use):
    for case in cases_of(use):
        params = params_of(use, case)
        arrays, dense, _ = made(use, case)
        check_result(use, case, call(use, arrays, params), expected(use, dense, params))


@pytest.mark.parametrize("types", [("float16", "int32"), ("float64", "int64")], ids="-".join)
@pytest.mark.parametrize("use", [u for u in USES if u.deep], ids=str)
def test_other_types(use, types):
    few = few_csr() if kind_of(use) == "csr" else few_row_sparse()
    (case,) = (c for c in few if c.name == FIRST and types_of(c) == types)
    params = params_of(use, case)
    arrays, dense, _ = made(use, case)
    check_result(use, case, call(use, arrays, params), expected(use, dense, params))


def types_of(case) -> tuple[str, str]:
    index = case.indices if isinstance(case, CsrCase) else case.rows
    return str(case.data.dtype), str(index.dtype)


def whole(use: Use, array) -> bool:
    """Whether a gradient has rows that its array lacks: that of a table has all that were used."""
    tables = ("dot", "Embedding", "_sparse_retain", "take", "factorization_machine")
    tables += ("field_aware_factorization_machine", "field_embedding")
    tables += ("embedding_bag", "embedding_bag_of_ids")
    return use.op in tables and array.stype == "row_sparse"


STEP = 1e-6
WITH_SLOPE = [u for u in USES if has_slope(u)]
# Dense gradients of the others are tested with their operators.
GRADIENTS = [(u, "own") for u in WITH_SLOPE]
GRADIENTS += [(u, "default") for u in WITH_SLOPE if u.deep or "scalar" in u.op]


@pytest.mark.parametrize(("use", "wanted"), GRADIENTS, ids=str)
def test_values_and_gradients_by_finite_differences(use, wanted):
    for case in float64_cases(use):
        params = params_of(use, case)
        arrays, dense, places = made(use, case)
        present = [a for a in arrays if a is not None]
        moved = [np.issubdtype(d.dtype, np.floating) for d in dense]
        for array, moves in zip(present, moved, strict=True):
            if moves:
                array.attach_grad(stype=None if wanted == "own" else "default")
        with autograd.record():
            result = call(use, arrays, params)
        check_result(use, case, result, expected(use, dense, params))
        rng = np.random.default_rng(5)
        head = rng.normal(size=result.shape)
        result.backward(nd.array(head, dtype="float64"))
        # A direction in which every formula is smooth: zeros stay where they are.
        along = [
            rng.normal(size=d.shape) * (d != 0) if moves else np.zeros_like(d)
            for d, moves in zip(dense, moved, strict=True)
        ]
        up, down = (
            expected(
                use,
                [d + s * v if v.any() else d for d, v in zip(dense, along, strict=True)],
                params,
            )
            for s in (STEP, -STEP)
        )
        rises = np.where(np.isfinite(up), up, 0) - np.where(np.isfinite(down), down, 0)
        numeric = float((head * rises).sum() / (2 * STEP))
        exact = 0.0
        for array, v, place, moves in zip(present, along, places, moved, strict=True):
            if not moves:
                continue
            assert array.grad.stype == (array.stype if wanted == "own" else "default"), case
            check_padding(array.grad)
            gradient = array.grad.asnumpy()
            if wanted == "own" and not whole(use, array):
                assert not gradient[~place].any(), case
            exact += float((gradient * v)[v != 0].sum())
        assert exact == pytest.approx(numeric, rel=1e-6, abs=1e-6), f"{use} on {case}"


@cache
def _in_float64(kind: str):
    every = csr_structures() if kind == "csr" else row_sparse_structures()
    return [replace(c, data=c.data.astype(FLOAT64), dense=c.dense.astype(FLOAT64)) for c in every]


def float64_cases(use: Use):
    names = (FIRST, "no rows", "no columns")
    chosen = names if use.deep else names[:1]
    return [c for c in _in_float64(kind_of(use)) if c.name in chosen and use.fits(c.shape)]
