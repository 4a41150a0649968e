"""Every primitive has its three implementations, and they agree."""

import jax
import numpy as np
import pytest

from oracles import philox, products, rows
from rarefy._primitives import PRIMITIVES
from rarefy._primitives._ffi import TARGETS

DATA = np.array([1, -2, 0.5, 3, 4, 9, 9], np.float32)
INDICES = np.array([4, 0, 4, 5, 1, 0, 0], np.int32)  # a repeat, and a column out of range
INDPTR = np.array([0, 3, 3, 5], np.int32)  # an empty row, and two entries of padding
DENSE = (np.arange(10, dtype=np.float32) - 4).reshape(5, 2)
LHS = (np.arange(6, dtype=np.float32) - 2).reshape(3, 2)
COLUMNS, ORDER, STARTS = products.groups_of(INDICES, INDPTR, 5)
ROWS, GRAD = np.array([0, 3, 4, 5], np.int32), np.ones((4, 2), np.float32)
KEY, BOUNDS = np.array([1, 2], np.uint32), np.array([0, 1, 1 - 2**-24], np.float32)
FACTORS = DATA, INDICES, INDPTR, LHS
HYPER = np.array([0.1, 0.01, 0.5, 2, 0.9, 0.99, 1e-3], np.float32)

# A right side of five rows with an empty one, a repeat, a column out of range and a slot to spare.
B_DATA = np.array([2, -1, 3, 0.5, 4, 7], np.float32)
B_INDICES = np.array([3, 0, 3, 4, 1, 2], np.int32)
B_INDPTR = np.array([0, 2, 3, 3, 4, 5], np.int32)
PLACES = (INDICES, INDPTR, B_INDICES, B_INDPTR)
C = products.csr_dot_csr_places(*PLACES, n_cols=4, nse=5)
C_PLACES = (C[0].astype(np.int32), C[1].astype(np.int32))

COORDINATES = np.array([(0, 4), (0, 5), (1, 0), (1, 1), (3, 5)], np.int32)
# Two matrices in order, with padding in a row and behind the last.
SORTED = np.array([1, 4, 5, 0, 2, 0, 0], np.int32), np.array([0, 3, 3, 5], np.int32)
OTHER = np.array([1, 3, 0, 2, 3], np.int32), np.array([0, 2, 3, 5], np.int32)

# The operands and parameters of one call for each primitive.
CALLS = {
    "coo_dot_dense": (
        (DATA[:5], COORDINATES, DENSE),
        {"n_rows": 3, "row_axis": 0, "in_order": True},
    ),
    "coo_to_csr": ((COORDINATES,), {"n_rows": 3, "n_cols": 5, "row_axis": 0}),
    "csr_to_coo": ((INDICES, INDPTR), {"n_cols": 5}),
    "csr_transpose": ((INDICES, INDPTR), {"n_cols": 5}),
    "csr_merge": ((*SORTED, *OTHER), {"n_cols": 5, "nse": 7, "both": False}),
    "csr_combine": (
        (DATA, B_DATA[:5], *SORTED, *OTHER),
        {"n_cols": 5, "nse": 7, "product": False, "drop_zeros": True},
    ),
    "csr_sum_rows": ((DATA, INDICES, INDPTR), {"n_cols": 5}),
    "csr_turn": ((DATA, INDICES, INDPTR), {"n_cols": 5}),
    "csr_matmul": (
        (DATA, B_DATA, *PLACES, C[3].astype(np.int32)),
        {"n_cols": 4, "nse": 5, "coordinates": True},
    ),
    "dense_places": ((DENSE,), {"nse": 8, "index_dtype": np.dtype(np.int32)}),
    "csr_dot_csr_places": (PLACES, {"n_cols": 4, "nse": 5}),
    "csr_dot_csr": ((DATA, B_DATA, *PLACES, *C_PLACES), {"n_cols": 4, "wanted": 2}),
    "csr_dot_dense": ((DATA, INDICES, INDPTR, DENSE), {}),
    "csr_t_dot_dense": ((DATA, INDICES, INDPTR, LHS), {"n_cols": 5}),
    "csr_sample_dot": ((INDICES, INDPTR, LHS, DENSE), {}),
    "csr_t_dot_rows": ((DATA, INDPTR, ORDER, STARTS, LHS), {}),
    "group_cells": ((COORDINATES[::-1],), {"n_rows": 3, "n_cols": 5, "capacity": 2}),
    "group_rows": ((INDICES, np.int32(5)), {"n_rows": 5, "capacity": 4}),
    "take_rows": ((DENSE, INDICES), {}),
    "segment_rows": ((ORDER, STARTS, np.ones((7, 2), np.float32)), {}),
    "rows_update_sgd": ((DENSE, ROWS, GRAD, HYPER[:4]), {}),
    "rows_update_sgd_mom": ((DENSE, DENSE, ROWS, GRAD, HYPER[:5]), {}),
    "rows_update_adam": ((DENSE, DENSE, DENSE**2, ROWS, GRAD, HYPER), {}),
    "rows_update_adagrad": ((DENSE, DENSE**2, ROWS, GRAD, HYPER[:5]), {}),
    "rows_update_ftrl": ((DENSE, DENSE, DENSE**2, ROWS, GRAD, HYPER[:6]), {}),
    "csr_t_update_sgd": ((DENSE, *FACTORS, HYPER[:4]), {}),
    "csr_t_update_sgd_mom": ((DENSE, DENSE, *FACTORS, HYPER[:5]), {}),
    "csr_t_update_adam": ((DENSE, DENSE, DENSE**2, *FACTORS, HYPER), {}),
    "csr_t_update_adagrad": ((DENSE, DENSE**2, *FACTORS, HYPER[:5]), {}),
    "csr_t_update_ftrl": ((DENSE, DENSE, DENSE**2, *FACTORS, HYPER[:6]), {}),
    "random_uniform": ((KEY, BOUNDS), {"shape": (3, 50), "dtype": np.dtype(np.float32)}),
    "zeros": ((), {"shape": (3, 2), "dtype": np.dtype(np.float32)}),
}


def oracle_of(name):
    """The oracle of a primitive: the function of its name, or of its family and the rule."""
    for module in (products, rows, philox, np):
        if hasattr(module, name):
            return getattr(module, name)
    if name.startswith("rows_update_"):
        rule = name.removeprefix("rows_update_")
        return lambda *args: rows.rows_update(rule, args[:-3], *args[-3:])
    if name.startswith("csr_t_update_"):
        rule = name.removeprefix("csr_t_update_")
        return lambda *args: rows.csr_t_update(rule, args[:-5], *args[-5:])
    return None


def test_every_primitive_has_a_call_and_an_oracle_here():
    assert set(PRIMITIVES) == set(CALLS), "add a call to CALLS"
    without = [name for name in PRIMITIVES if oracle_of(name) is None]
    assert not without, "write an oracle in tests/oracles"


@pytest.mark.parametrize("form", ["kernel", "xla"])
@pytest.mark.parametrize("name", PRIMITIVES)
def test_each_form_agrees_with_the_oracle(name, form):
    operands, params = CALLS[name]
    primitive = PRIMITIVES[name]
    out = primitive.bind(*map(jax.numpy.array, operands), form=form, **params)
    expected = oracle_of(name)(*operands, **params)
    for o, e in zip(jax.tree.leaves(out), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(
            o, e, rtol=1e-5, atol=2e-7
        )  # one is a difference of numbers near 1


@pytest.mark.parametrize("name", PRIMITIVES)
def test_kernel_form_calls_the_kernel_and_xla_form_does_not(name):
    operands, params = CALLS[name]
    target = f"rarefy_{name}"
    assert target in TARGETS
    for form, expected in (("kernel", True), ("auto", True), ("xla", False)):
        call = jax.jit(lambda *args, form=form: PRIMITIVES[name].bind(*args, form=form, **params))
        assert (target in call.lower(*operands).as_text()) == expected, form


@pytest.mark.parametrize("platform", ["cuda", "tpu"])
@pytest.mark.parametrize("name", PRIMITIVES)
def test_other_platforms_get_the_xla_form(name, platform):
    operands, params = CALLS[name]
    traced = jax.jit(lambda *args: PRIMITIVES[name].bind(*args, form="auto", **params)).trace(
        *operands
    )
    assert "rarefy_" not in traced.lower(lowering_platforms=(platform,)).as_text()
