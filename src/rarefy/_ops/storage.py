"""Storage types of values: reading them, making values dense, converting between them."""

from typing import Literal

import jax
import numpy as np

from rarefy.sparse import BCOO, BCSR
from rarefy.sparse._csr import csr_from_dense
from rarefy.sparse._row_sparse import row_sparse_from_dense

SType = Literal["default", "csr", "row_sparse"]
Value = jax.Array | BCSR | BCOO
"""What a cell holds and an operator works on: a dense array, a csr or a row_sparse value."""

STYPES: tuple[SType, ...] = ("default", "csr", "row_sparse")


def stype_of(value: Value) -> SType:
    """The storage type of a value, read off its layout.

    Raises:
      TypeError: the layout is none of the three (a BCSR with batch or dense dimensions, a BCOO with
        `n_sparse != 1`).
    """
    if isinstance(value, BCSR):
        if value.n_batch == 0 and value.n_dense == 0:
            return "csr"
    elif isinstance(value, BCOO):
        if value.n_batch == 0 and value.n_sparse == 1:
            return "row_sparse"
    elif isinstance(value, jax.Array | np.ndarray):
        return "default"
    raise TypeError(f"{value!r} is neither a dense array nor csr nor row_sparse")


def to_dense(value: Value) -> jax.Array:
    """The dense array of a value; a dense value is returned as it is."""
    return value.todense() if isinstance(value, BCSR | BCOO) else value


def convert(value: Value, stype: SType) -> Value:
    """Converts a value to a storage type, through dense where the two are both sparse.

    Stored zeros and padding are dropped when a dense array becomes sparse; how many slots the result
    has is chosen on the host for concrete values and is the largest possible number under a trace.

    Raises:
      ValueError: a csr value that is not two-dimensional is asked for, or row_sparse of a scalar.
    """
    have = stype_of(value)
    if have == stype:
        return value
    dense = to_dense(value)
    if stype == "csr":
        if dense.ndim != 2:
            raise ValueError(f"csr holds two dimensions; the array has shape {dense.shape}")
        return csr_from_dense(dense)
    if stype == "row_sparse":
        if dense.ndim == 0:
            raise ValueError("row_sparse needs at least one dimension; the array is a scalar")
        return row_sparse_from_dense(dense)
    if stype == "default":
        return dense
    raise ValueError(f"stype must be one of {', '.join(STYPES)}; got {stype!r}")


def nbytes_dense(value: Value) -> int:
    """Bytes that the value takes when it is dense."""
    return int(np.prod(value.shape, dtype=object)) * np.dtype(value.dtype).itemsize
