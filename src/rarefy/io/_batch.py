"""The rows of one batch, as every reader yields them."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array

INT32_MAX = int(np.iinfo(np.int32).max)


def index_dtype(n_cols: int, nnz: int) -> np.dtype:
    """The narrowest index type for a matrix with so many columns and stored elements.

    int32 where both fit (the width itself too, as it serves as padding), otherwise int64.
    """
    return np.dtype(np.int32 if max(n_cols, nnz) <= INT32_MAX else np.int64)


@dataclass(frozen=True, eq=False)
class LabelLists:
    """Lists of labels, one a row.

    Attributes:
      indptr: `(rows + 1,)`, int64: row i has labels `ids[indptr[i]:indptr[i + 1]]`.
      ids: int64, ascending and unique within a row.
    """

    indptr: np.ndarray
    ids: np.ndarray

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        ids = self.ids.tolist()
        bounds = self.indptr.tolist()
        return (tuple(ids[p:q]) for p, q in pairwise(bounds))

    def to_indicator(self, n_labels: int | None = None) -> "csr_array":
        """`(rows, n_labels)`, float32: 1 where a row has a label.

        Args:
          n_labels: number of labels; by default one more than the largest id.

        Raises:
          ValueError: an id is negative or not below `n_labels`.
        """
        from scipy.sparse import csr_array

        largest = int(self.ids.max(initial=-1))
        if n_labels is None:
            n_labels = largest + 1
        if int(self.ids.min(initial=0)) < 0 or largest >= n_labels:
            raise ValueError(f"to_indicator: label ids must lie in [0, {n_labels})")
        dtype = index_dtype(n_labels, len(self.ids))
        ones = np.ones(len(self.ids), np.float32)
        parts = (ones, self.ids.astype(dtype), self.indptr.astype(dtype))
        return csr_array(parts, shape=(len(self), n_labels))


@dataclass(frozen=True, eq=False)
class RowBatch:
    """Some rows of an input, as a csr matrix and what stands beside it. Arrays are read-only.

    Attributes:
      data: `(nnz,)`, float32 or float64.
      indices: `(nnz,)`, int32 or int64: columns from 0, ascending and unique within a row.
      indptr: `(rows + 1,)`, dtype of `indices`.
      labels: `(rows,)`, dtype of `data`; `None` without labels or with lists of them.
      label_lists: the lists of labels, `None` unless the input has lists.
      qid: `(rows,)`, int64: the query ids, `None` if the input has none.
      weights: `(rows,)`, dtype of `data`, `None` unless asked for.
      first_row: how many rows came before in this pass over the input.
      n_cols: number of columns.
    """

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    labels: np.ndarray | None
    label_lists: LabelLists | None
    qid: np.ndarray | None
    weights: np.ndarray | None
    first_row: int
    n_cols: int

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.indptr) - 1

    @property
    def nnz(self) -> int:
        """Number of stored elements, zeros among them."""
        return len(self.data)

    def to_scipy(self) -> "csr_array":
        """The rows as a SciPy array `(rows, n_cols)` that shares their memory."""
        from scipy.sparse import csr_array

        parts = (self.data, self.indices, self.indptr)
        return csr_array(parts, shape=(self.rows, self.n_cols))
