"""Every recorded call of an operator gives MXNet's results and gradients, but for these differences."""

from cases.answers import replay
from oracles.mxnet_calls import OPERATORS

# Where we answer differently on purpose, and why.
OUT_GRAD = "multiplied by the gradient of the result, as documented; MXNet takes the result"
DIFFERENT: dict[str, str] = {
    "nd.BatchNorm(R(4,3,2),R(2),R(2),R(2),R(2))": "raised; MXNet reads stray memory",
    "grs(lambda x: nd.LeakyReLU(x,act_type='selu'), R(2,3), og=R(2,3))": (
        "the slope; MXNet's lacks a factor below zero"
    ),
    "nd.LeakyReLU(R(2,3),act_type='rrelu')": "MXNet returns the slopes too",
    "grs(lambda x,l: nd.SoftmaxOutput(x,l,normalization='batch',out_grad=True), R(2,3), "
    "nd.array([2,5]), og=R(2,3))": OUT_GRAD,
    "grs(lambda x,l: nd.SoftmaxOutput(x,l,out_grad=True), R(2,3), "
    "nd.array([[0,0,1.],[.5,.5,0]]), og=R(2,3))": OUT_GRAD,
    "grs(lambda x,l: nd.SoftmaxOutput(x,l,multi_output=True,normalization='batch',out_grad=True), "
    "R(2,3,2), nd.array([[2,0],[1,1]]), og=R(2,3,2))": OUT_GRAD,
    "nd.unravel_index(nd.array([[8,10],[4,3]],dtype='int32'),shape=(2,3,5))": "of any shape",
    "nd.histogram(R(3,4),bins=4)": "counts are integers, whoever found the range",
    "grs(nd.random_pdf_uniform, R(2,3), nd.array([-2,0]), nd.array([1,3]), og=R(2,3))": (
        "zero outside of the interval"
    ),
}

test_call, test_difference_is_still_one = replay(OPERATORS, DIFFERENT)
