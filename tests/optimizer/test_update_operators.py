"""The update operators: MXNet 1.9.1's results, rows that stay, buffers that are kept, errors."""

import json

import numpy as np
import pytest

from oracles.mxnet_updates import ARRAYS, CALLS, FILE, run
from rarefy import MXNetError, nd
from rarefy._ops.defs import OPERATORS
from rarefy._ops.defs._update_rules import ROW_RULES

RECORD = json.loads(FILE.read_text())["calls"]


def test_results_and_states_are_mxnets():
    for call, expected in zip(CALLS, RECORD, strict=True):
        assert [call[0], call[1]] == expected["call"]
        result, made = run(nd, call)
        if call[0] == "mp_lamb_update_phase1":
            assert result[0].dtype == np.float32
        np_close = {"rtol": 1e-5, "atol": 1e-6}
        for found, values in zip(result, expected["result"], strict=True):
            close = np_close if found.dtype == np.float32 else {"rtol": 1e-3}
            np.testing.assert_allclose(found.asnumpy(), values, err_msg=str(call), **close)
        for word, values in expected["arrays"].items():
            if "adamw" in call[0] and word in ("g", "c"):
                values = ARRAYS[word]  # MXNet leaves the rescaled gradient in its place
            found, close = made[word].asnumpy(), np_close if "16" not in word else {"rtol": 1e-3}
            np.testing.assert_allclose(found, values, err_msg=f"{call} {word}", **close)


def own(name):
    """The internal operator of a rule, and numbers that it takes."""
    op = OPERATORS.get(f"{name}_update") or OPERATORS.get(f"_{name}_update")
    op = op or OPERATORS[f"_contrib_{name}_update"]
    numbers = {"t": 3.0, "clip_grad": 0.7, "clip_gradient": 0.7, "clip_weights": 5.0, "lr": 0.1}
    return op, {n: numbers.get(n, 0.3) for n in op.parameters if n != "lazy_update"}


@pytest.mark.parametrize("name", ROW_RULES)
def test_a_lazy_update_is_the_update_of_its_rows(name):
    """Rows of the gradient move as in a table of just these rows, and others keep their bits."""
    op, numbers = own(name)
    update = getattr(nd._internal, op.name, None) or getattr(nd, op.name)
    rng = np.random.default_rng(1)
    rows, shape = [1, 2, 4], (6, 3)
    count = len(ROW_RULES[name].states)
    width = (6, 1) if ROW_RULES[name].one_a_row else shape
    tables = [rng.normal(size=shape), *(1 + abs(rng.normal(size=width)) for _ in range(count))]
    grad = rng.normal(size=(3, 3))
    arrays = [nd.array(t) for t in tables]
    stored = nd.sparse.row_sparse_array((grad.astype("float32"), rows), shape=shape)
    before = [a._value.unsafe_buffer_pointer() for a in arrays]
    update(arrays[0], stored, *arrays[1:], **numbers, lazy_update=True, out=arrays[0])
    assert [a._value.unsafe_buffer_pointer() for a in arrays] == before
    small = [nd.array(t[rows]) for t in tables]
    update(small[0], nd.array(grad), *small[1:], **numbers, lazy_update=True, out=small[0])
    for array, part, table in zip(arrays, small, tables, strict=True):
        np.testing.assert_allclose(array.asnumpy()[rows], part.asnumpy(), rtol=1e-6)
        rest = np.setdiff1d(range(6), rows)
        np.testing.assert_array_equal(array.asnumpy()[rest], table[rest].astype("float32"))
        assert (array.asnumpy()[rows] != table[rows].astype("float32")).any()


def test_a_row_sparse_weight_and_states_without_all_rows():
    weight = nd.sparse.row_sparse_array((np.ones((3, 2), "float32"), [0, 2, 5]), shape=(6, 2))
    n = nd.sparse.row_sparse_array((np.full((1, 2), 4, "float32"), [2]), shape=(6, 2))
    grad = nd.sparse.row_sparse_array((np.ones((2, 2), "float32"), [2, 5]), shape=(6, 2))
    nd.rmsprop_update(weight, grad, n, lr=1.0, gamma1=0.5, lazy_update=True, out=weight)
    expected = np.zeros((6, 2))
    expected[0], expected[2], expected[5] = 1, 1 - 1 / np.sqrt(2.5), 1 - 1 / np.sqrt(0.5)
    assert (weight.stype, n.stype) == ("row_sparse", "row_sparse")
    np.testing.assert_allclose(weight.asnumpy(), expected, rtol=1e-6)
    np.testing.assert_allclose(n.asnumpy()[[0, 2, 5], 0], [0, 2.5, 0.5], rtol=1e-6)


def test_several_weights_return_new_ones_without_out_and_refuse_other_counts():
    w, g = nd.ones((2, 2)), nd.ones((2, 2))
    new = nd.multi_sgd_update(w, g, w.copy(), g, lrs=(0.5, 0.25), wds=(0, 0), num_weights=2)
    assert [a.asnumpy()[0, 0] for a in new] == [0.5, 0.75]
    np.testing.assert_array_equal(w.asnumpy(), 1)
    assert nd.multi_sgd_update(w, g, lrs=(0.5,), wds=(0,), num_weights=1, out=w) is w
    with pytest.raises(MXNetError, match="needs 4"):
        nd.multi_sgd_update(w, g, w, lrs=(0.5, 0.5), wds=(0, 0), num_weights=2)
    with pytest.raises(MXNetError, match="lrs has 1 numbers"):
        nd.multi_sgd_update(w, g, w, g, lrs=(0.5,), wds=(0, 0), num_weights=2)
    with pytest.raises(MXNetError, match="out has 1 arrays for 2"):
        nd.multi_sgd_update(w, g, w, g, lrs=(1, 1), wds=(0, 0), num_weights=2, out=[w])
    with pytest.raises(TypeError, match="no parameter clip"):
        nd.contrib.multi_lamb_update([w], [g], [g], [g], [1], lrs=[1], wds=[0], clip=3)


def test_updates_through_a_copy_are_those_of_the_copy():
    """What MXNet 1.9.1 cannot say: its `mp_lamb_update_phase2` forgets to update the copy."""
    numbers = {"lrs": [0.1], "wds": [0.2]}
    lrs, wds = nd.array([0.1]), nd.array([0.2])
    cases = [
        (
            lambda w, g, m, v, out: nd.lamb_update_phase2(
                w, g, m[0, :1], v[0, :1], lr=0.1, out=out
            ),
            lambda w, g, m, v, c, out: nd.mp_lamb_update_phase2(
                w, g, m[0, :1], v[0, :1], c, lr=0.1, out=out
            ),
        ),
        (
            lambda w, g, m, v, out: nd.sgd_mom_update(
                w, g, m, lr=0.1, wd=0.2, momentum=0.9, out=out
            ),
            lambda w, g, m, v, c, out: nd.preloaded_multi_mp_sgd_mom_update(
                w, g, m, c, lrs, wds, momentum=0.9, out=out
            ),
        ),
        (
            lambda w, g, m, v, out: nd.contrib.adamw_update(
                w, g, m, v, 0.5, lr=0.1, wd=0.2, eta=0.5, out=out
            ),
            lambda w, g, m, v, c, out: nd.contrib.multi_mp_adamw_update(
                [w], [g], [m], [v], [c], 0.5, **numbers, etas=[0.5], out=out
            ),
        ),
        (
            lambda w, g, m, v, out: nd.contrib.multi_lamb_update(
                [w], [g], [m], [v], [2], **numbers, out=out
            ),
            lambda w, g, m, v, c, out: nd.contrib.multi_mp_lamb_update(
                [w], [g], [m], [v], [c], [2], **numbers, out=out
            ),
        ),
    ]
    for plain, through_copy in cases:
        alone = [nd.array(ARRAYS[n]) for n in "wgab"]
        plain(*alone, out=alone[0])
        weight, grad = (nd.array(ARRAYS[n], dtype="float16") for n in "wg")
        mean, var, copy = (nd.array(ARRAYS[n]) for n in "abw")
        through_copy(weight, grad, mean, var, copy, out=weight)
        for found, expected in zip((copy, mean, var), (alone[0], *alone[2:]), strict=True):
            np.testing.assert_allclose(found.asnumpy(), expected.asnumpy(), rtol=1e-6)
        np.testing.assert_array_equal(weight.asnumpy(), copy.asnumpy().astype("float16"))
        assert (copy.asnumpy() != ARRAYS["w"]).any()
