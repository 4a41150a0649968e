"""LibSVM text from arrays."""

import bz2
import gzip
import lzma
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from rarefy._atomic import replacing
from rarefy._primitives._text import write_rows
from rarefy.io._batch import LabelLists
from rarefy.io._options import check_at_least, default_threads

_ENTRIES_AT_ONCE = 1 << 20
_PACKERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def save_libsvm(
    target: str | os.PathLike | BinaryIO,
    X: Any,
    y: Any = None,
    *,
    index_base: int = 0,
    qid: Any = None,
    weights: Any = None,
    keep_zeros: bool = False,
    n_threads: int | None = None,
) -> None:
    """Writes rows as LibSVM text that reads back bit for bit.

    Numbers get the shortest decimals that read back as the same number of their type: read a file
    written from float64 with `dtype=float64`. Columns are sorted; repeated ones are summed.

    Args:
      target: a path, which is replaced when all is written (`.gz`, `.bz2` and `.xz` are packed), or
        a binary file object, which stays open.
      X: `(rows, columns)`: a SciPy sparse matrix or array, anything with `to_scipy`,
        `to_scipy_sparse` or `asscipy`, or a dense array. Integer, bool and float types; 16-bit
        floats are written as float32.
      y: `(rows,)` numbers; `LabelLists` or a sequence of sequences of integers for lists of labels;
        `None` for rows without labels.
      index_base: the index of the first column, 0 or 1.
      qid: `(rows,)` integers.
      weights: `(rows,)` numbers, written as `label:weight`.
      keep_zeros: writes stored zeros, too.
      n_threads: by default as many as there are cores.

    Raises:
      ValueError: lengths differ; a number is not finite; a row would make an empty line, which no
        reader takes for a row.
      TypeError: an array is of another kind.
      OSError: the file cannot be written.
    """
    if index_base not in (0, 1) or isinstance(index_base, bool):
        raise ValueError(f"index_base: {index_base!r} is not 0 or 1")
    if n_threads is not None:
        check_at_least("n_threads", n_threads, 1)
    matrix = _canonical(X)
    columns = _Columns(matrix, y, qid, weights, keep_zeros)
    options = {
        "base": int(index_base),
        "keep_zeros": keep_zeros,
        "threads": n_threads or default_threads(),
    }
    pieces = (piece for part in columns.parts() for piece in write_rows(**part, **options))
    if hasattr(target, "write"):
        for piece in pieces:
            target.write(piece.tobytes())  # type: ignore[union-attr]
        return
    with replacing(target) as file:  # type: ignore[arg-type]
        pack = _PACKERS.get(Path(os.fsdecode(target)).suffix.lower())  # type: ignore[arg-type]
        if pack is None:
            file.writelines(pieces)
        else:
            with pack(file, "wb") as packed:
                packed.writelines(pieces)


class _Columns:
    """What stands on the lines, checked and in types that can be written."""

    def __init__(self, matrix: Any, y: Any, qid: Any, weights: Any, keep_zeros: bool):
        rows = matrix.shape[0]
        self._indptr = matrix.indptr.astype(np.int64, copy=False)
        self._indices, self._data = matrix.indices, _numbers("X", matrix.data)
        self._lists: LabelLists | None = None
        self._labels: np.ndarray | None = None
        if isinstance(y, LabelLists) or _has_sequences(y):
            self._lists = y if isinstance(y, LabelLists) else _label_lists(y)
            _check_rows("y", len(self._lists), rows)
        elif y is not None:
            self._labels = _vector("y", y, rows)
        self._weights = None if weights is None else _vector("weights", weights, rows)
        if self._weights is not None:
            self._refuse_missing_labels()
        self._qid = None if qid is None else _vector("qid", qid, rows)
        if self._qid is not None and self._qid.dtype.kind != "i":
            raise TypeError(f"qid: {self._qid.dtype} is not an integer type")
        self._refuse_empty_lines(keep_zeros)

    def _refuse_missing_labels(self) -> None:
        """A weight stands behind a label."""
        if self._labels is None and self._lists is None:
            raise ValueError("weights: they stand behind labels, so they need y")
        if self._lists is not None and (np.diff(self._lists.indptr) == 0).any():
            row = int(np.flatnonzero(np.diff(self._lists.indptr) == 0)[0])
            raise ValueError(f"weights: row {row} has no label to stand behind")

    def _refuse_empty_lines(self, keep_zeros: bool) -> None:
        """A line that only blanks would stand on is no row to any reader."""
        if self._labels is not None or self._qid is not None:
            return
        written = np.ones(len(self._data), np.int64) if keep_zeros else self._data != 0
        before = np.concatenate([[0], np.cumsum(written)])
        empty = np.diff(before[self._indptr]) == 0
        if self._lists is not None:
            empty &= np.diff(self._lists.indptr) == 0
        if empty.any():
            row = int(np.flatnonzero(empty)[0])
            what = "label" if self._lists is not None else "labels (y=None)"
            raise ValueError(
                f"X: row {row} has no entry and no {what}, and an empty line is not a row; give it "
                "a label or a query id, or leave it out"
            )

    def parts(self) -> Iterator[dict[str, Any]]:
        """The arguments of `write_rows` for some rows at a time."""
        start, rows = 0, len(self._indptr) - 1
        while start < rows:
            most = self._indptr[start] + _ENTRIES_AT_ONCE
            stop = int(np.searchsorted(self._indptr, most, side="right")) - 1
            stop = min(max(stop, start + 1), start + _ENTRIES_AT_ONCE, rows)
            yield self._part(start, stop)
            start = stop

    def _part(self, start: int, stop: int) -> dict[str, Any]:
        def rows_of(array):
            return None if array is None else array[start:stop]

        lists = self._lists
        return {
            "indptr": self._indptr[start : stop + 1],
            "indices": self._indices,
            "data": self._data,
            "labels": rows_of(self._labels),
            "label_indptr": None if lists is None else lists.indptr[start : stop + 1],
            "label_ids": None if lists is None else lists.ids,
            "weights": rows_of(self._weights),
            "qid": rows_of(self._qid),
        }


def _canonical(X: Any) -> Any:
    """`X` as a SciPy csr array with sorted, unique columns; a copy unless it is one."""
    from scipy import sparse

    for name in ("to_scipy", "to_scipy_sparse", "asscipy"):
        if hasattr(X, name):
            X = getattr(X, name)()
            break
    if not sparse.issparse(X):
        X = X.asnumpy() if hasattr(X, "asnumpy") else np.asarray(X)
        if X.dtype.itemsize == 2 and np.can_cast(X.dtype, np.float32):  # float16 and bfloat16
            X = X.astype(np.float32)
        if X.dtype.kind not in "biuf":
            raise TypeError(f"X: {X.dtype} is not a type of numbers that can be written")
    if X.ndim != 2:
        raise ValueError(f"X: has {X.ndim} dimensions, a table of rows has 2")
    matrix = sparse.csr_array(X)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def _numbers(name: str, array: np.ndarray) -> np.ndarray:
    """`array` in a type that can be written, without changing a number."""
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "f":
        if size > 8:
            raise TypeError(f"{name}: {array.dtype} has more digits than can be read back")
        if not np.isfinite(array).all():
            at = int(np.flatnonzero(~np.isfinite(array))[0])
            raise ValueError(
                f"{name}: element {at} is {array[at]}; only finite numbers are written"
            )
        return np.ascontiguousarray(array, np.float32 if size < 8 else np.float64)
    if kind == "b" or (kind in "iu" and (size < 8 or kind == "i")):
        return np.ascontiguousarray(array, np.int64)
    if kind == "u":
        if array.max(initial=0) > np.iinfo(np.int64).max:
            raise ValueError(f"{name}: a number is beyond 64-bit integers")
        return np.ascontiguousarray(array, np.int64)
    raise TypeError(f"{name}: {array.dtype} is not a type of numbers that can be written")


def _vector(name: str, values: Any, rows: int) -> np.ndarray:
    array = values.asnumpy() if hasattr(values, "asnumpy") else np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name}: has shape {array.shape}, expected ({rows},)")
    _check_rows(name, len(array), rows)
    return _numbers(name, array)


def _check_rows(name: str, length: int, rows: int) -> None:
    if length != rows:
        raise ValueError(f"{name}: has {length} elements, X has {rows} rows")


def _has_sequences(y: Any) -> bool:
    """Whether `y` is a sequence of sequences, as lists of labels are."""
    if y is None or isinstance(y, np.ndarray) or not isinstance(y, Iterable):
        return False
    return any(isinstance(labels, list | tuple | set | np.ndarray) for labels in y)


def _label_lists(y: Iterable[Iterable[int]]) -> LabelLists:
    lists = [np.unique(np.asarray(list(labels), np.int64)) for labels in y]
    indptr = np.concatenate([[0], np.cumsum([len(ids) for ids in lists])]).astype(np.int64)
    return LabelLists(indptr, np.concatenate([np.empty(0, np.int64), *lists]))
