"""Sparse arrays and the operators that have a rule for them."""

from rarefy._ops.defs import OPERATORS as _OPERATORS
from rarefy._ops.render import namespace as _namespace
from rarefy.nd._arithmetic import ADD as _ADD
from rarefy.nd._arithmetic import DIVIDE as _DIVIDE
from rarefy.nd._arithmetic import MULTIPLY as _MULTIPLY
from rarefy.nd._arithmetic import SUBTRACT as _SUBTRACT
from rarefy.nd._create_sparse import ArrayFormatError as ArrayFormatError
from rarefy.nd._create_sparse import array as array
from rarefy.nd._create_sparse import csr_matrix as csr_matrix
from rarefy.nd._create_sparse import empty as empty
from rarefy.nd._create_sparse import row_sparse_array as row_sparse_array
from rarefy.nd._create_sparse import zeros as zeros
from rarefy.nd._invoke import invoke as _invoke
from rarefy.nd._sparse_array import BaseSparseNDArray as BaseSparseNDArray
from rarefy.nd._sparse_array import CSRNDArray as CSRNDArray
from rarefy.nd._sparse_array import RowSparseNDArray as RowSparseNDArray


def add(lhs, rhs):
    """lhs + rhs: csr or row_sparse where both arrays are so, of arrays or numbers."""
    return _ADD.sparse(lhs, rhs)


def subtract(lhs, rhs):
    """lhs - rhs: csr or row_sparse where both arrays are so, of arrays or numbers."""
    return _SUBTRACT.sparse(lhs, rhs)


def multiply(lhs, rhs):
    """lhs * rhs, element by element: sparse where an array is so, of arrays or numbers."""
    return _MULTIPLY.sparse(lhs, rhs)


def divide(lhs, rhs):
    """lhs / rhs, element by element: csr where `lhs` is so and `rhs` is a vector or a number."""
    return _DIVIDE.sparse(lhs, rhs)


def elemwise_div(lhs, rhs):
    """lhs / rhs, element by element; dense, and NaN where neither array stores anything."""
    return _invoke(_OPERATORS["elemwise_div"], (lhs, rhs), {})


globals().update(_namespace(_invoke, module="rarefy.nd.sparse", sparse=True))
