"""Making, indexing, assigning and copying arrays gives MXNet's recorded answers."""

import pytest

import rarefy as mx
from cases.answers import wrong_answers
from oracles.mxnet_calls import ARRAYS

MORE = "MXNet refuses it; NumPy users expect it"
MASK = "a mask of bool chooses; MXNet takes it for row numbers"

# Where we answer differently on purpose, and why.
DIFFERENT: dict[str, str] = {
    "bool(nd.zeros((0,3)))": MORE,
    "nd.zeros((2,2),dtype=np.int16)": MORE,
    "nd.array([1,2],dtype='int16')": MORE,
    "nd.array([1,2],dtype='uint32')": MORE,
    "nd.array([nd.ones(2),nd.ones(2)])": MORE,
    "m[np.array([True,False])]": MASK,
    "m[[True,False]]": MASK,
    "!m[np.array([True,False])]=0;o=m": MASK,
    "m[nd.array([1,0],dtype='bool')]": MORE,
    "m[[]]": MORE,
    "m[np.int8(1)]": MORE,
    "m[np.array(1)]": MORE,
    "m[nd.array(1.0)]": MORE,
    "!v[1:]=v[:-1];o=v": "the right side is read before anything is written",
    "!c[:]=[[1,2,3],[0,0,0]];o=c": MORE,
}


@pytest.mark.filterwarnings("ignore")
def test_every_call_is_answered_as_by_mxnet():
    assert wrong_answers(ARRAYS, DIFFERENT) == {}


def test_a_csr_array_yields_each_row_once():
    csr = mx.nd.array([[1, 0], [0, 2], [3, 4]]).tostype("csr")
    rows = list(csr)
    assert [type(r).__name__ for r in rows] == ["CSRNDArray"] * 3
    assert [r.asnumpy().tolist() for r in rows] == [[[1, 0]], [[0, 2]], [[3, 4]]]
