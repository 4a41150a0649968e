"""Every recorded call on symbols and executors gives MXNet's answer, but for these differences."""

from cases.answers import replay
from oracles.mxnet_calls import SYMBOLS

# Where we answer differently on purpose, and why.
DIFFERENT: dict[str, str] = {
    "FC.infer_shape((2,5))": "given by position, as documented; MXNet cannot on this Python",
    "FC.infer_type('float64')": "likewise",
    "run(sym.SoftmaxOutput(A,B,out_grad=True),a=R(2,3),b=nd.array([0,2]))": (
        "multiplied by the gradient of the result; MXNet takes the result"
    ),
    "!e=(A*A).bind(mx.cpu(),[nd.array([1,2])],[nd.zeros(2)]); e.forward(is_train=True); "
    "e.arg_dict['a'][:]=nd.array([5,6]); e.backward(nd.ones(2)); o=e.grad_arrays+e.outputs; "
    "e.forward(); o+=e.outputs": "the gradient where forward was; results have arrays of their own",
}

test_call, test_difference_is_still_one = replay(SYMBOLS, DIFFERENT)
