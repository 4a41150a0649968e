"""Sparse arrays and the operators that have a rule for them."""

from rarefy._ops import defs as _defs
from rarefy._ops.render import namespace
from rarefy.nd._arithmetic import ADD, DIVIDE, MULTIPLY, SUBTRACT
from rarefy.nd._create_sparse import (
    ArrayFormatError,
    array,
    csr_matrix,
    csr_of_batch,
    empty,
    row_sparse_array,
    zeros,
)
from rarefy.nd._invoke import invoke
from rarefy.nd._sparse_array import BaseSparseNDArray, CSRNDArray, RowSparseNDArray


def add(lhs, rhs):
    """lhs + rhs: csr or row_sparse where both arrays are so, of arrays or numbers."""
    return ADD.sparse(lhs, rhs)


def subtract(lhs, rhs):
    """lhs - rhs: csr or row_sparse where both arrays are so, of arrays or numbers."""
    return SUBTRACT.sparse(lhs, rhs)


def multiply(lhs, rhs):
    """lhs * rhs, element by element: sparse where an array is so, of arrays or numbers."""
    return MULTIPLY.sparse(lhs, rhs)


def divide(lhs, rhs):
    """lhs / rhs, element by element: csr where `lhs` is so and `rhs` is a vector or a number."""
    return DIVIDE.sparse(lhs, rhs)


globals().update(namespace(invoke, module="rarefy.nd.sparse", sparse=True))
