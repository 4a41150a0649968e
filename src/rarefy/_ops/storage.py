"""Storage types of values: reading them, making values dense, converting between them."""

from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from rarefy._ops.precision import wide
from rarefy._primitives.dense_places import dense_places
from rarefy._primitives.from_host import filled
from rarefy.sparse import BCOO, BCSR
from rarefy.sparse._capacity import (
    capacity,
    pad_csr,
    pad_row_sparse,
    trim_csr,
    trim_row_sparse,
)
from rarefy.sparse._csr import canonical_csr, csr_from_dense
from rarefy.sparse._index import index_dtype_for
from rarefy.sparse._row_sparse import merge_rows, occupied_rows, row_sparse_from_dense

SType = Literal["default", "csr", "row_sparse"]
Value = jax.Array | BCSR | BCOO
"""What a cell holds and an operator works on: a dense array, a csr or a row_sparse value."""

_PLAIN = type(jnp.zeros(0))  # what arrays with known numbers are

STYPES: tuple[SType, ...] = ("default", "csr", "row_sparse")
SPARSE: tuple[SType, ...] = ("csr", "row_sparse")


def stype_of(value: Value) -> SType:
    """The storage type of a value, read off its layout.

    Raises:
      TypeError: the layout is none of the three (a BCSR with batch or dense dimensions, a BCOO with
        `n_sparse != 1`).
    """
    if type(value) is _PLAIN:
        return "default"
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
        return csr_from_dense(dense, _slots(dense))
    if stype == "row_sparse":
        if dense.ndim == 0:
            raise ValueError("row_sparse needs at least one dimension; the array is a scalar")
        if isinstance(dense, Tracer):
            return row_sparse_from_dense(dense, dense.shape[0])
        occupied, count = occupied_rows(dense)
        return row_sparse_from_dense(
            dense, capacity(int(np.asarray(count)), dense.shape[0]), occupied
        )
    if stype == "default":
        return dense
    raise ValueError(f"stype must be one of {', '.join(STYPES)}; got {stype!r}")


def _slots(dense: jax.Array) -> int:
    """How many slots hold the non-zero elements of a matrix."""
    if isinstance(dense, Tracer):
        return dense.size
    return capacity(int(np.asarray(dense_places(dense, nse=0).count)), dense.size)


def is_traced(value: Value) -> bool:
    """Whether the numbers of a value are not known yet."""
    if type(value) is _PLAIN:
        return False
    return isinstance(getattr(value, "data", value), Tracer | jax.ShapeDtypeStruct)


def is_on_host(value: Value) -> bool:
    """Whether the numbers of a value are known and can be read without a transfer."""
    data = getattr(value, "data", value)
    if isinstance(data, jax.Array) and not isinstance(data, Tracer):
        return all(d.platform == "cpu" for d in data.devices())
    return isinstance(data, np.ndarray)


def count_stored(value: BCSR | BCOO) -> int:
    """How many slots of a concrete csr or row_sparse value are no padding; waits for its indices."""
    if isinstance(value, BCSR):
        return int(np.asarray(value.indptr)[-1])
    rows, n = np.asarray(value.indices)[:, 0], value.shape[0]
    if value.indices_sorted:
        return int(np.searchsorted(rows, n))
    return int(np.count_nonzero(rows < n))


def fit(value: Any, count: int | None = None) -> Any:
    """Gives a concrete value without repeats the lowest rung of the capacity ladder that holds what it
    stores, whatever padding it came with. Under a trace the value is returned as it is.

    `count` is how much it stores, where that is known; else it is counted.
    """
    if is_traced(value):
        return value
    count = count_stored(value) if count is None else count
    if isinstance(value, BCSR):
        slots = capacity(count)
        return trim_csr(value, slots) if slots <= value.nse else pad_csr(value, slots)
    slots = capacity(count, value.shape[0])
    return trim_row_sparse(value, slots) if slots <= value.nse else pad_row_sparse(value, slots)


def canonical(value: Any) -> Any:
    """A sparse value in order and without repeats, which operators may rely on; it costs something
    only where a user gave the parts otherwise."""
    if type(value) is _PLAIN or not isinstance(value, BCSR | BCOO):
        return value
    if value.indices_sorted and value.unique_indices:
        return value
    with wide():  # int64 indices stay so
        if isinstance(value, BCSR):
            return canonical_csr(value)
        return merge_rows(value.indices[:, 0], value.data, value.shape[0])


def empty_row_sparse(shape: tuple[int, ...], dtype) -> BCOO:
    """A row_sparse value that stores nothing."""
    index = index_dtype_for(shape[0])
    slots = capacity(0, shape[0])
    return BCOO._trusted(
        filled((slots, *shape[1:]), 0, dtype),
        filled((slots, 1), shape[0], index),
        tuple(shape),
        indices_sorted=True,
        unique_indices=True,
    )


def empty_csr(shape: tuple[int, int], dtype) -> BCSR:
    """A csr value that stores nothing."""
    index = index_dtype_for(*shape)
    slots = capacity(0, shape[0] * shape[1])
    return BCSR._trusted(
        filled((slots,), 0, dtype),
        filled((slots,), shape[1], index),
        filled((shape[0] + 1,), 0, index),
        tuple(shape),
        indices_sorted=True,
        unique_indices=True,
    )


def zeros_of(shape: tuple[int, ...], dtype: Any, stype: SType) -> Value:
    """Zeros of a storage type; a sparse value stores nothing."""
    if stype == "csr":
        if len(shape) != 2:
            raise ValueError(f"csr holds two dimensions; the array has shape {shape}")
        return empty_csr((shape[0], shape[1]), dtype)
    if stype == "row_sparse":
        if not shape:
            raise ValueError("row_sparse needs at least one dimension; the array is a scalar")
        return empty_row_sparse(shape, dtype)
    return filled(shape, 0, dtype)


def nbytes_dense(value: Value) -> int:
    """Bytes that the value takes when it is dense."""
    return int(np.prod(value.shape, dtype=object)) * np.dtype(value.dtype).itemsize
