"""Every recorded call gives MXNet's answer, but for the differences listed here."""

from cases.answers import replay
from oracles.mxnet_calls import CALLS

SPARSE = "MXNet makes the arrays dense; a sparse answer exists"
PLACES = "the cotangent of a sparse array lives in the places that it stores"
EMPTY = "an array without elements is an array"
MORE = "MXNet has no such method or form; NumPy and SciPy users expect it"

# Where we answer differently on purpose, and why.
DIFFERENT: dict[str, str] = {
    "float(f[0])": MORE,
    "int(f[0])": MORE,
    "a@a.T": MORE,
    "nd.sign(z)": "the sign of NaN is NaN, as in NumPy",
    "i*1e10": "a number beyond int32 wraps; in C it is undefined",
    "(c/d).stype": "raised at the call, not when the result is read",
    "nd.broadcast_add(c,c).stype": SPARSE,
    "nd.add(c,c)": SPARSE,
    "nd.add_n(c,c)": SPARSE,
    "nd.add_n(c,c).stype": SPARSE,
    "nd.broadcast_mul(c,c).stype": SPARSE,
    "nd.maximum(c,c).stype": SPARSE,
    "nd.dot(r,d,transpose_b=True).stype": SPARSE,
    "c[[0,1]]": MORE,
    "c[nd.array([0])]": MORE,
    "nd.concat(c,c,dim=1).stype": SPARSE,
    "nd.transpose(c).stype": SPARSE,
    "c.T.stype": SPARSE,
    "c.T": SPARSE,
    "nd.slice_axis(c,axis=0,begin=0,end=1).stype": SPARSE,
    "nd.slice_axis(c,axis=1,begin=0,end=1).stype": SPARSE,
    "nd.dot(c,c.T)": SPARSE,
    "nd.dot(c,c,transpose_b=True).stype": SPARSE,
    "nd.dot(c,c,transpose_b=True)": SPARSE,
    "nd.dot(c,c,transpose_a=True)": SPARSE,
    "nd.dot(c.T.tostype('csr'),c)": SPARSE,
    "gr(lambda x: nd.dot(x,c,transpose_b=True), c.copy(), 'default')": SPARSE,
    "gr(lambda x: nd.dot(c,x,transpose_b=True), c.copy(), 'default')": SPARSE,
    "gr(lambda x: nd.dot(x,c,transpose_b=True), c.copy(), 'csr')": PLACES,
    "gr(lambda x: nd.dot(c,x,transpose_a=True), c.copy(), 'csr')": PLACES,
    "gr(lambda x: nd.dot(x,w), c.copy(), 'csr')": PLACES,
    "gr(lambda x: x*2, r.copy(), 'row_sparse')": PLACES,
    "gr(lambda x: nd.dot(x,w), c.copy(), 'default')": "MXNet leaves this gradient unwritten",
    "a[np.array([True,False,True])]": "a mask of bool chooses; MXNet takes it for row numbers",
    "c[5]": "IndexError, as for dense arrays",
    "c[1:1]": EMPTY,
    "nd.arange(0)": EMPTY,
    "nd.zeros(0)": EMPTY,
    "nd.zeros((0,3))": EMPTY,
    "nd.zeros(())": EMPTY,
    'nd.sparse.csr_matrix(sp.eye(2,format="coo"))': MORE,
    'nd.sparse.csr_matrix(sp.eye(2,format="csc"))': MORE,
    'nd.sparse.array(sp.eye(2,format="coo"))': MORE,
    'nd.array(sp.eye(2,format="coo"))': MORE,
    "nd.sparse.csr_matrix(([1.,2],[0,1]))": "ValueError: what is wrong is the length",
    "!o=nd.sparse.retain(r,nd.array([0]),out=r)": "out may be an argument",
    '!o=nd.dot(c,nd.ones((3,2)),out=nd.sparse.zeros("row_sparse",(2,2)))': "out keeps its stype",
    "gr(lambda x: nd.dot(c,x,transpose_a=False), w, 'row_sparse', 'add')": "grad_req 'add' works",
    "gr(lambda x: nd.prod(x,axis=1), x)": "no NaN where an element is zero",
    "gr(lambda x: nd.FullyConnected(d,nd.ones((4,3)),x,num_hidden=4), nd.ones((4,)))": (
        "MXNet loses the gradient of the bias where nothing else needs one"
    ),
    "gr(lambda x: nd.sort(x), x, og=d)": "sort has a gradient",
    "!x.attach_grad('null');ag.set_recording(True);y=x*2;y.backward();o=x.grad": (
        "a variable without gradient is no error"
    ),
    "nd.reshape(a,(5,))": "MXNet drops the elements that do not fit",
    "(c-c).data": "zeros that cancel are dropped, also from data",
    "(c*c).indices": "columns ascend",
    "nd.dot(i,i)": "integers multiply too",
    "nd.dot(h,h)": "16-bit floats multiply too",
}

test_call, test_difference_is_still_one = replay(CALLS, DIFFERENT)
