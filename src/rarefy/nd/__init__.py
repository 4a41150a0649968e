"""Arrays and the operators on them, in MXNet's style."""

from rarefy._ops import defs as _defs
from rarefy._ops.render import namespace as _namespace
from rarefy.nd import _internal, contrib, linalg, ndarray, op, random, sparse
from rarefy.nd._arithmetic import (
    add,
    divide,
    equal,
    greater,
    greater_equal,
    lesser,
    lesser_equal,
    logical_and,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    modulo,
    multiply,
    not_equal,
    power,
    subtract,
    true_divide,
)
from rarefy.nd._create import (
    arange,
    array,
    concatenate,
    empty,
    eye,
    full,
    histogram,
    linspace,
    moveaxis,
    onehot_encode,
    ones,
    split_v2,
    waitall,
    zeros,
)
from rarefy.nd._custom import Custom
from rarefy.nd._file import load, load_frombuffer, save
from rarefy.nd._functions import reset_arrays
from rarefy.nd._interchange import (
    from_dlpack,
    from_numpy,
    to_dlpack_for_read,
    to_dlpack_for_write,
)
from rarefy.nd._invoke import invoke as _invoke
from rarefy.nd._ndarray import NDArray
from rarefy.nd._sparse_array import BaseSparseNDArray, CSRNDArray, RowSparseNDArray

globals().update(
    {
        name: function
        for name, function in _namespace(_invoke, module="rarefy.nd").items()
        if name not in globals()
    }
)
