"""What MXNet refuses is refused with its kind of error, but for the differences listed here."""

import pytest

from cases.answers import wrong_answers
from oracles.mxnet_calls import REFUSALS

MORE = "MXNet has no such method or form; NumPy and SciPy users expect it"
CLEARER = "the kind of error says what is wrong; MXNet's comes from inside it"

DIFFERENT: dict[str, str] = {
    "nd.slice_axis(x,axis=0,begin=5,end=9)": "an array without elements is an array",
    "float(x)": MORE,
    "x@x": MORE,
    "c[[0,5]]": MORE,
    "c[nd.array([0])]": MORE,
    "nd.pad(x,mode='constant',pad_width=(1,1,1,1))": MORE,
    "nd.onehot_encode(nd.array([0,1],dtype='int32'),x)": MORE,
    "nd.sparse.adagrad_update(x,c,x,lr=.1)": "a csr gradient falls back to a dense one",
    "nd.sparse.csr_matrix(([1,2],[0,1]))": CLEARER,
    "nd.sparse.row_sparse_array(5)": CLEARER,
    "nd.full((2,2),'a')": CLEARER,
    "mx.autograd.set_recording('a')": "what is true records",
    "nd.from_numpy(5)": CLEARER,
    "nd.from_dlpack(5)": CLEARER,
    "nd.NDArray(5)": CLEARER,
    "nd.concatenate([x,nd.array([1.,2,3])],axis=0)": CLEARER,
    "nd.modulo(5,'a')": CLEARER,
}


@pytest.mark.filterwarnings("ignore")
def test_refusals_are_of_mxnets_kind():
    wrong = wrong_answers(REFUSALS, DIFFERENT)
    assert not wrong, "\n".join(f"{call}: {found}" for call, found in wrong.items())
