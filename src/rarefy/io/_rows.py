"""Parsed rows in memory: what batches are cut from."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np

from rarefy._primitives._text import gather_segments
from rarefy.io._batch import LabelLists, RowBatch, index_dtype


@dataclass(frozen=True, eq=False)
class RowBlock:
    """Rows of an input, as many as happened to be parsed together.

    Attributes:
      indptr: `(rows + 1,)`, int64, begins with 0.
      indices, data: `(nnz,)`.
      labels, weights: `(rows,)`, dtype of `data`, or `None`.
      label_indptr, label_ids: int64, or `None`.
      qid: `(rows,)`, int64, or `None`.
    """

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    labels: np.ndarray | None = None
    label_indptr: np.ndarray | None = None
    label_ids: np.ndarray | None = None
    qid: np.ndarray | None = None
    weights: np.ndarray | None = None

    def __post_init__(self) -> None:
        for part in fields(self):
            array = getattr(self, part.name)
            if array is not None:
                array.flags.writeable = False

    @property
    def rows(self) -> int:
        return len(self.indptr) - 1

    @property
    def nbytes(self) -> int:
        arrays = (getattr(self, part.name) for part in fields(self))
        return sum(array.nbytes for array in arrays if array is not None)

    def slice(self, start: int, stop: int) -> "RowBlock":
        """Rows `[start, stop)`; shares memory but for the row bounds."""
        if start == 0 and stop == self.rows:
            return self
        indptr, indices, data = _slice(self.indptr, start, stop, self.indices, self.data)
        label_indptr, label_ids = self.label_indptr, self.label_ids
        if label_indptr is not None:
            label_indptr, label_ids = _slice(label_indptr, start, stop, label_ids)
        return RowBlock(
            indptr,
            indices,
            data,
            labels=None if self.labels is None else self.labels[start:stop],
            label_indptr=label_indptr,
            label_ids=label_ids,
            qid=None if self.qid is None else self.qid[start:stop],
            weights=None if self.weights is None else self.weights[start:stop],
        )

    def take(self, order: np.ndarray) -> "RowBlock":
        """The rows `order` (int64, in range), copied in that order."""
        indptr, indices = gather_segments(self.indptr, self.indices, order)
        _, data = gather_segments(self.indptr, self.data, order)
        label_indptr, label_ids = self.label_indptr, self.label_ids
        if label_indptr is not None:
            label_indptr, label_ids = gather_segments(label_indptr, label_ids, order)
        return RowBlock(
            indptr,
            indices,
            data,
            labels=None if self.labels is None else self.labels[order],
            label_indptr=label_indptr,
            label_ids=label_ids,
            qid=None if self.qid is None else self.qid[order],
            weights=None if self.weights is None else self.weights[order],
        )

    def batch(self, first_row: int, n_cols: int) -> RowBatch:
        """All rows as a batch; `first_row` of them came before."""
        dtype = np.promote_types(self.indices.dtype, index_dtype(0, len(self.data)))
        lists = None
        if self.label_indptr is not None and self.label_ids is not None:
            lists = LabelLists(self.label_indptr, self.label_ids)
        indptr = self.indptr.astype(dtype)
        indptr.flags.writeable = False
        return RowBatch(
            data=self.data,
            indices=self.indices.astype(dtype, copy=False),
            indptr=indptr,
            labels=self.labels,
            label_lists=lists,
            qid=self.qid,
            weights=self.weights,
            first_row=first_row,
            n_cols=n_cols,
        )


def concatenate(blocks: Sequence[RowBlock]) -> RowBlock:
    """The rows of one or more blocks of the same kind, one after the other."""
    if len(blocks) == 1:
        return blocks[0]
    joined: dict[str, np.ndarray | None] = {}
    for part in fields(RowBlock):
        arrays = [getattr(block, part.name) for block in blocks]
        if arrays[0] is None:
            joined[part.name] = None
        elif part.name.endswith("indptr"):
            joined[part.name] = _join_bounds(arrays)
        else:
            joined[part.name] = np.concatenate(arrays)
    return RowBlock(**joined)  # type: ignore[arg-type]


def batches(
    blocks: Iterable[RowBlock], batch_size: int, first_row: int, n_cols: int
) -> Iterator[RowBatch]:
    """Cuts rows into batches of exactly `batch_size`; only the last may be shorter."""
    pending: list[RowBlock] = []
    waiting = 0
    for block in blocks:
        start = 0
        while waiting + block.rows - start >= batch_size:
            stop = start + batch_size - waiting
            pending.append(block.slice(start, stop))
            yield concatenate(pending).batch(first_row, n_cols)
            first_row += batch_size
            pending, waiting, start = [], 0, stop
        if start < block.rows:
            pending.append(block.slice(start, block.rows))
            waiting += block.rows - start
    if pending:
        yield concatenate(pending).batch(first_row, n_cols)


def _slice(indptr, start, stop, *values):
    bounds = indptr[start : stop + 1]
    first, last = bounds[0], bounds[-1]
    return bounds - first, *(array[first:last] for array in values)


def _join_bounds(arrays: list[np.ndarray]) -> np.ndarray:
    shift, bounds = 0, [arrays[0][:1]]
    for array in arrays:
        bounds.append(array[1:] + shift)
        shift += int(array[-1])
    return np.concatenate(bounds)
