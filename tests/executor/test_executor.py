"""Executors: programs that are compiled once, states, random numbers, monitors, bad calls."""

import logging

import numpy as np
import pytest

import rarefy as mx
from rarefy import nd, sym
from rarefy.autograd import _tape

A, B = sym.Variable("a"), sym.Variable("b")


def bound(symbol, grad_req="write", **arrays):
    arrays = {name: nd.array(value) for name, value in arrays.items()}
    grads = {name: nd.zeros(array.shape) for name, array in arrays.items()}
    return symbol.bind(mx.cpu(), arrays, grads, grad_req)


def test_forward_and_backward_are_a_program_each_however_often_they_run():
    x, w = sym.Variable("x", stype="csr"), sym.Variable("w", stype="row_sparse")
    net = sym.SoftmaxOutput(sym.dot(x, w), sym.Variable("label"), name="softmax")
    run = net.simple_bind(mx.cpu(), grad_req={"w": "write"}, x=(4, 50), w=(50, 3))
    rng = np.random.default_rng(0)
    nd.array(rng.normal(size=(50, 3))).tostype("row_sparse").copyto(run.arg_dict["w"])
    for stored in (9, 12, 16, 10):  # one rung of the ladder
        x_value = np.zeros(200)
        x_value[rng.choice(200, stored, replace=False)] = 1
        run.arg_dict["x"][:] = nd.array(x_value.reshape(4, 50)).tostype("csr")
        run.forward(is_train=True, label=np.array([0, 1, 2, 0]))
        run.backward()
        gradient = run.grad_dict["w"]
        assert gradient.stype == "row_sparse"
        columns = np.flatnonzero(x_value.reshape(4, 50).any(0))
        np.testing.assert_array_equal(gradient.indices.asnumpy(), columns)
        slope = run.outputs[0].asnumpy() - np.eye(3)[[0, 1, 2, 0]]
        wanted = (x_value.reshape(4, 50).T @ slope)[columns]
        np.testing.assert_allclose(gradient.data.asnumpy(), wanted, 1e-5, 1e-6)
    assert run.compilations == 2
    run.forward()
    run.forward()
    assert run.compilations == 3  # outside training it is another program


def test_arrays_of_the_user_are_left_as_they_are():
    a = nd.array([1, 2])
    a.attach_grad()
    with mx.autograd.record():
        loss = a * 3
    executor = (A * A).bind(mx.cpu(), [a], [nd.zeros(2)])
    executor.forward(is_train=True)
    executor.backward(nd.ones(2))
    loss.backward()
    np.testing.assert_array_equal(a.grad.asnumpy(), [3, 3])
    np.testing.assert_array_equal(executor.grad_arrays[0].asnumpy(), [2, 4])


def test_backward_without_a_training_pass_is_that_of_prediction():
    net = sym.Dropout(A * 2, p=0.5)
    run = bound(net, a=np.ones(50))
    run.forward()
    run.backward(nd.ones(50))
    np.testing.assert_array_equal(run.grad_dict["a"].asnumpy(), np.full(50, 2))
    np.testing.assert_array_equal(run.outputs[0].asnumpy(), np.full(50, 2))


def test_random_operators_draw_anew_and_go_back_through_what_they_drew():
    run = bound(sym.Dropout(A, p=0.5), a=np.ones(400))
    mx.random.seed(1)
    first = run.forward(is_train=True)[0].asnumpy()
    second = run.forward(is_train=True)[0].asnumpy()
    run.backward(nd.ones(400))
    np.testing.assert_array_equal(run.grad_dict["a"].asnumpy(), second)
    assert (first != second).any()
    mx.random.seed(1)
    np.testing.assert_array_equal(run.forward(is_train=True)[0].asnumpy(), first)


def test_a_graph_whose_sizes_depend_on_numbers_runs_node_by_node():
    run = bound(sym.contrib.boolean_mask(A, B), {"a": "write"}, a=np.ones((3, 2)), b=[1, 0, 1])
    for mask, kept in (([1, 0, 1], 2), ([0, 0, 1], 1)):
        run.forward(is_train=True, b=np.array(mask))
        assert run.outputs[0].shape == (kept, 2)
        run.backward(nd.ones((kept, 2)))
        np.testing.assert_array_equal(run.grad_dict["a"].asnumpy()[:, 0], mask)


def test_a_row_sparse_gradient_is_added_up():
    x, w = sym.Variable("x", stype="csr"), sym.Variable("w")
    run = sym.dot(x, w).simple_bind(mx.cpu(), grad_req={"w": "add"}, x=(2, 5), w=(5, 1))
    for column in (1, 3):
        value = np.zeros((2, 5))
        value[0, column] = 2
        run.arg_dict["x"][:] = nd.array(value).tostype("csr")
        run.forward(is_train=True)
        run.backward(nd.ones((2, 1)))
    assert run.grad_dict["w"].stype == "row_sparse"
    np.testing.assert_array_equal(run.grad_dict["w"].asnumpy().ravel(), [0, 2, 0, 2, 0])


def test_a_monitor_sees_every_node_in_order():
    net = sym.FullyConnected(sym.exp(A, name="e"), num_hidden=2, name="fc")
    run = net.simple_bind(mx.cpu(), a=(2, 3))
    seen = []
    run.set_monitor_callback(lambda name, array: seen.append((name, array.shape)))
    run.forward(is_train=True)
    assert seen == [("e_output", (2, 3)), ("fc_output", (2, 2))]
    run.backward(nd.ones((2, 2)))
    np.testing.assert_array_equal(run.grad_dict["fc_bias"].asnumpy(), [2, 2])
    seen.clear()
    run.set_monitor_callback(lambda name, _: seen.append(name), monitor_all=True)
    run.forward()
    assert seen == ["a", "e_data", "e_output", "fc_data"] + [
        name for name in ("fc_weight", "fc_bias") for _ in range(2)
    ] + ["fc_output"]
    run.set_monitor_callback(None)
    run.forward()
    assert len(seen) == 9


def test_how_nodes_are_stored_is_logged(monkeypatch, caplog):
    monkeypatch.setenv("MXNET_INFER_STORAGE_TYPE_VERBOSE_LOGGING", "1")
    run = sym.sin(sym.Variable("x", stype="csr") * 2).simple_bind(mx.cpu(), x=(2, 3))
    caplog.clear()
    with caplog.at_level(logging.INFO, "rarefy.storage"):
        run.forward()
    logged = [record.message.splitlines()[0] for record in caplog.records]
    assert logged == ["_mul_scalar: fcompute_ex", "sin: fcompute_ex"]


def test_a_reshaped_executor_shares_weights_states_and_programs():
    net = sym.BatchNorm(sym.FullyConnected(A, num_hidden=2, name="fc"), name="bn")
    run = net.simple_bind(mx.cpu(), a=(4, 3))
    small = run.reshape(a=(2, 3))
    assert small.arg_dict["fc_weight"] is run.arg_dict["fc_weight"]
    assert small.grad_dict["fc_weight"] is run.grad_dict["fc_weight"]
    run.arg_dict["a"][:] = 1
    run.arg_dict["fc_weight"][:] = 2
    run.forward(is_train=True)
    np.testing.assert_allclose(small.aux_dict["bn_moving_mean"].asnumpy(), 0.6, 1e-6)
    small.forward(is_train=True)
    run.forward(is_train=True)
    assert run.compilations == small.compilations == 2  # a program for each shape


def test_bad_calls_say_what_was_expected():
    run = bound(A * 2, a=[1.0, 2])
    run.forward(is_train=True)
    with pytest.raises(mx.MXNetError, match=r"_output has shape \(3,\), it must be \(2,\)"):
        run.backward(nd.ones(3))
    with pytest.raises(RuntimeError, match=r"simple_bind error[\s\S]*b: None"):
        (A + sym.dot(A, B)).simple_bind(mx.cpu(), a=(2, 2))
    with pytest.raises(RuntimeError, match="coo"):
        (A * 1).simple_bind(mx.cpu(), a=(2,), stype_dict={"a": "coo"})
    twins = (A - sym.Variable("a")).bind(mx.cpu(), [nd.array([5]), nd.array([3])])
    assert twins.forward()[0].asnumpy() == [2]
    with pytest.raises(ValueError, match="Duplicate names"):
        _ = twins.arg_dict


def test_casts_that_undo_one_another_are_left_out_and_rows_are_kept_early(monkeypatch):
    x, r, ids = sym.Variable("x", stype="csr"), sym.Variable("r", stype="row_sparse"), A
    there = sym.cast_storage(x * 2, stype="default", name="there")
    back = sym.cast_storage(there, stype="csr", name="back")
    same = sym.cast_storage(back, stype="csr", name="same")
    kept = sym.sparse.retain(
        sym.elemwise_add(sym.square(r, name="sq"), r, name="sum"), ids, name="kept"
    )
    net = sym.Group([same, kept, sym.cast_storage(r, stype="default", name="full")])
    marks = {line.split()[0]: line.split()[-1] for line in net.storage_plan().splitlines()}
    assert [marks[n] for n in ("back", "same", "sum", "sq", "kept", "full")] == [
        *("removed", "removed", "rows", "rows", "removed", "default")
    ]
    given = {
        "x": nd.array([[0, 1], [2, 0]]).tostype("csr"),
        "r": nd.array([[1, 2], [0, 0], [3, 4]]).tostype("row_sparse"),
        "a": nd.array([1, 2]),
    }
    fast = net.bind(mx.cpu(), given)
    operators = [n.op.name for n in fast.get_optimized_symbol()._nodes if n.op]
    assert operators == [
        *(
            "_mul_scalar",
            "_sparse_retain",
            "square",
            "_sparse_retain",
            "elemwise_add",
            "cast_storage",
        )
    ]
    monkeypatch.setattr(mx.config, "optimise_graphs", False)
    assert "removed" not in net.storage_plan()
    plain = net.bind(mx.cpu(), given)
    assert plain.get_optimized_symbol() is net
    for ours, wanted in zip(fast.forward(), plain.forward(), strict=True):
        assert ours.stype == wanted.stype
        np.testing.assert_array_equal(ours.asnumpy(), wanted.asnumpy())
    np.testing.assert_array_equal(fast.outputs[1].asnumpy(), [[0, 0], [0, 0], [12, 20]])
    np.testing.assert_array_equal(fast.outputs[1].indices.asnumpy(), [1, 2])


def test_records_of_earlier_passes_do_not_pile_up():
    x, w = mx.sym.Variable("x"), mx.sym.Variable("w")
    executor = mx.sym.dot(x, w).simple_bind(mx.cpu(), x=(2, 3), w=(3, 1))
    counts = []
    for _ in range(4):
        executor.forward(is_train=True)
        executor.backward([mx.nd.ones((2, 1))])
        executor.backward([mx.nd.ones((2, 1))])  # the last record is kept
        counts.append(sum(1 for held in _tape.all_held() if list(held)))
    assert len(set(counts)) == 1
