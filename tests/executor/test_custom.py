"""Operators written in Python as nodes of a graph."""

import numpy as np
import pytest

import rarefy as mx
from rarefy import nd, sym


class Scaled(mx.operator.CustomOp):
    def __init__(self, factor):
        self.factor = factor

    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] * self.factor + in_data[1])
        self.assign(out_data[1], req[1], aux[0] * 1)
        if is_train:
            aux[0][:] = aux[0] + 1

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] * self.factor)
        self.assign(in_grad[1], req[1], out_grad[0].sum(axis=0))


@mx.operator.register("scaled_in_a_graph")
class ScaledProp(mx.operator.CustomOpProp):
    def __init__(self, factor="2"):
        super().__init__(need_top_grad=True)
        self.factor = float(factor)

    def list_arguments(self):
        return ["data", "offset"]

    def list_outputs(self):
        return ["scaled", "calls"]

    def list_auxiliary_states(self):
        return ["count"]

    def infer_shape(self, in_shape):
        return [in_shape[0], in_shape[0][1:]], [in_shape[0], (1,)], [(1,)]

    def infer_type(self, in_type):
        return [in_type[0]] * 2, [in_type[0], "int32"], ["int32"]

    def create_operator(self, ctx, shapes, dtypes):
        return Scaled(self.factor)


def test_a_custom_operator_runs_in_a_compiled_graph():
    net = sym.Custom(sym.Variable("a") * 2, op_type="scaled_in_a_graph", factor=3, name="c")
    assert net.list_arguments() == ["a", "c_offset"]
    assert net.list_outputs() == ["c_scaled", "c_calls"]
    assert net.list_auxiliary_states() == ["c_count"]
    net = sym.load_json(net.tojson())
    assert net.infer_shape(a=(2, 3)) == ([(2, 3), (3,)], [(2, 3), (1,)], [(1,)])
    assert net.infer_type(a="float64")[1:] == ([np.float64, np.int32], [np.int32])
    run = net.simple_bind(mx.cpu(), a=(2, 3))
    run.arg_dict["c_offset"][:] = nd.array([1, 2, 3])
    for _ in range(2):
        outputs = run.forward(is_train=True, a=np.ones((2, 3)))
    np.testing.assert_array_equal(outputs[0].asnumpy(), [[7, 8, 9]] * 2)
    assert outputs[1].asnumpy().tolist() == [1]
    assert run.aux_dict["c_count"].asnumpy().tolist() == [2]
    run.backward([nd.ones((2, 3)), nd.zeros((1,), dtype="int32")])
    np.testing.assert_array_equal(run.grad_dict["a"].asnumpy(), np.full((2, 3), 6))
    np.testing.assert_array_equal(run.grad_dict["c_offset"].asnumpy(), [2, 2, 2])


def test_one_that_is_not_registered_is_refused():
    with pytest.raises(mx.MXNetError, match="'nowhere' is not registered"):
        sym.Custom(sym.Variable("a"), op_type="nowhere")
    text = sym.Custom(sym.Variable("a"), op_type="scaled_in_a_graph").tojson()
    with pytest.raises(mx.MXNetError, match="'other' is not registered"):
        sym.load_json(text.replace('"scaled_in_a_graph"', '"other"'))
