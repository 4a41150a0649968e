"""Rows of sparse matrices as items of datasets, and single rows put together to batches."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rarefy._ops.storage import canonical, count_stored
from rarefy.nd._create_sparse import csr_on_host, is_scipy, row_sparse_array
from rarefy.nd._sparse_array import BaseSparseNDArray, CSRNDArray, RowSparseNDArray


class CsrRows:
    """The rows of a csr matrix, held on the host.

    Args:
      matrix: `(rows, columns)`: a csr array, a SciPy matrix or array of any format.

    An item is a row, csr `(1, columns)`; several items are csr as well.
    """

    def __init__(self, matrix: Any):
        if isinstance(matrix, CSRNDArray):
            value = canonical(matrix._known())
            n = count_stored(value)
            parts = (np.asarray(part) for part in (value.data, value.indices, value.indptr))
            self._data, self._indices, self._indptr = parts
            self._data, self._indices = self._data[:n], self._indices[:n]
        else:
            matrix = matrix.tocsr()
            if not matrix.has_canonical_format:
                matrix = matrix.copy()
                matrix.sum_duplicates()
            self._data, self._indices, self._indptr = matrix.data, matrix.indices, matrix.indptr
        self.shape = (int(matrix.shape[0]), int(matrix.shape[1]))

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> CSRNDArray:
        return self.take(numbers(key, len(self)))

    def take(self, ids: np.ndarray) -> CSRNDArray:
        """Rows by number, `(len(ids), columns)`."""
        lengths = self._indptr[ids + 1] - self._indptr[ids]
        starts = np.zeros(ids.size + 1, np.int64)
        np.cumsum(lengths, out=starts[1:])
        entries = np.repeat(self._indptr[ids] - starts[:-1], lengths) + np.arange(starts[-1])
        shape = (ids.size, self.shape[1])
        return csr_on_host(self._data[entries], self._indices[entries], starts, shape)


class RowSparseRows:
    """The rows of a row_sparse array, held on the host.

    An item is row_sparse `(1, *d)`, with nothing in it where the row is not stored; several items
    are row_sparse as well.
    """

    def __init__(self, array: RowSparseNDArray):
        value = canonical(array._known())
        n = count_stored(value)
        self._data, self._rows = np.asarray(value.data)[:n], np.asarray(value.indices)[:n, 0]
        self.shape: tuple[int, ...] = array.shape

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> RowSparseNDArray:
        return self.take(numbers(key, len(self)))

    def take(self, ids: np.ndarray) -> RowSparseNDArray:
        """Rows by number, `(len(ids), *d)`."""
        places = np.searchsorted(self._rows, ids)
        found = places < self._rows.size
        found[found] = self._rows[places[found]] == ids[found]
        shape = (ids.size, *self.shape[1:])
        return row_sparse_array((self._data[places[found]], np.flatnonzero(found)), shape=shape)


def numbers(key: Any, length: int) -> np.ndarray:
    """The row numbers that a key (a number, a slice, an array of numbers or bools) stands for."""
    return np.atleast_1d(np.arange(length)[key])


def is_sparse(value: Any) -> bool:
    """Whether a value is a sparse array of this library or of SciPy."""
    return isinstance(value, BaseSparseNDArray) or is_scipy(value)


def stacked(rows: Sequence[Any]) -> BaseSparseNDArray:
    """Puts sparse rows below one another.

    Args:
      rows: csr arrays or SciPy matrices `(1, n)`, or row_sparse arrays `(1, *d)`; all of one kind.

    Returns:
      csr `(len(rows), n)`, or row_sparse `(len(rows), *d)`.

    Raises:
      ValueError: their shapes differ, or they are no single rows.
      TypeError: their kinds or dtypes differ.
    """
    is_row_sparse = isinstance(rows[0], RowSparseNDArray)
    shape, dtype = tuple(rows[0].shape), np.dtype(rows[0].dtype)
    if shape[0] != 1:
        raise ValueError(
            f"an item is a sparse array of shape {shape}; batches are made of single rows, (1, n). "
            "Give a batchify_fn that does what you mean"
        )
    for i, row in enumerate(rows):
        if not is_sparse(row) or isinstance(row, RowSparseNDArray) != is_row_sparse:
            raise TypeError(f"item 0 of a batch is a {type(rows[0])}, item {i} a {type(row)}")
        if tuple(row.shape) != shape or row.dtype != dtype:
            raise (ValueError if tuple(row.shape) != shape else TypeError)(
                f"item 0 of a batch is {dtype} {shape}, item {i} {np.dtype(row.dtype)} "
                f"{tuple(row.shape)}"
            )
    if is_row_sparse:
        return _stacked_row_sparse([RowSparseRows(row) for row in rows])
    return _stacked_csr([CsrRows(row) for row in rows])


def _stacked_csr(rows: Sequence[CsrRows]) -> CSRNDArray:
    starts = np.cumsum([0, *(row._data.size for row in rows)])
    data, indices = (np.concatenate([getattr(r, n) for r in rows]) for n in ("_data", "_indices"))
    return csr_on_host(data, indices, starts, (len(rows), rows[0].shape[1]))


def _stacked_row_sparse(rows: Sequence[RowSparseRows]) -> RowSparseNDArray:
    data = np.concatenate([row._data for row in rows])
    stored = np.flatnonzero([len(row._data) for row in rows])
    return row_sparse_array((data, stored), shape=(len(rows), *rows[0].shape[1:]))
