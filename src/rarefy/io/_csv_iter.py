"""Batches of comma-separated numbers."""

import math
from collections.abc import Generator, Iterable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np

from rarefy.base import MXNetError
from rarefy.io._file_iter import Epoch, MXDataIter
from rarefy.io._iterators import DataBatch, DataDesc
from rarefy.io._options import check_at_least
from rarefy.io._prefetch import prefetched
from rarefy.io._source import Source, find_pieces
from rarefy.io._windows import Window, read_windows
from rarefy.nd._create import array as nd_array

_NO_FILE = (None, "", "NULL")
_CHUNK_BYTES = 1 << 20
_AHEAD = 2


class CSVError(MXNetError, ValueError):
    """A line that is not as it must be.

    Attributes:
      file: name of the file.
      line: number of the line in it, from 1.
      column: where in the line the fault begins, in bytes from 1.
    """

    def __init__(self, file: str, line: int, column: int, what: str):
        super().__init__(f"{file}:{line}:{column}: {what}")
        self.file, self.line, self.column, self._what = file, line, column, what

    def __reduce__(self) -> Any:
        return CSVError, (self.file, self.line, self.column, self._what)


class CSVIter(MXDataIter):
    """Reads comma-separated numbers in batches, a row a line, in bounded memory.

    Blanks around numbers and blank lines are left out; there is no header and there are no quotes.
    Every epoch begins at the first row. The last batch is filled up with rows from the begin of the
    epoch; `pad` says with how many.

    Args:
      data_csv: a file (plain, .gz, .bz2, .xz), or a folder of files.
      data_shape: the shape of a row, whose size is the number of fields in a line.
      label_csv: a file with the labels, a row for each of `data_csv`. Without it labels are zero.
      label_shape: the shape of a row of labels; `(1,)` makes `(batch_size,)` of them.
      batch_size: rows in a batch.
      round_batch: accepted for MXNet's sake, where it lets epochs run into each other.
      prefetch_buffer: 0 for reading only when asked; otherwise reading goes on in the background.
      ctx: accepted for MXNet's sake.
      dtype: of data and labels; float32 by default.
      data_name, label_name: the names.

    Raises:
      OSError: a file cannot be opened.
      ValueError: an argument is not as it must be, or, when iterating, the files differ in length.
      CSVError: when iterating: a line is wrong; it says which.
    """

    def __init__(
        self,
        data_csv: Source,
        data_shape: int | Sequence[int],
        label_csv: Source | None = None,
        label_shape: int | Sequence[int] = (1,),
        batch_size: int = 1,
        round_batch: bool = True,
        prefetch_buffer: int = 4,
        ctx: Any = None,
        dtype: Any = None,
        data_name: str = "data",
        label_name: str = "softmax_label",
    ):
        check_at_least("batch_size", batch_size, 1)
        kind = np.dtype(np.float32 if dtype is None else dtype)
        if kind.kind not in "iuf":
            raise ValueError(f"dtype: {kind} is no type of numbers")
        has_labels = not isinstance(label_csv, str | None) or label_csv not in _NO_FILE
        data = _Table("data_shape", data_csv, data_shape, kind)
        labels = _Table("label_shape", label_csv, label_shape, kind) if has_labels else None
        label_row = _shape("label_shape", label_shape)
        self.round_batch = round_batch
        batches = _Batches(data, labels, batch_size, label_row, _AHEAD if prefetch_buffer else 0)
        super().__init__(
            batch_size,
            batches.epoch,
            DataDesc(data_name, (batch_size, *data.shape), kind.type),
            DataDesc(label_name, (batch_size, *_label_row(label_row)), kind.type),
        )


@dataclass(frozen=True)
class _Batches:
    """The batches of a table with its labels."""

    data: "_Table"
    labels: "_Table | None"
    batch_size: int
    label_shape: tuple[int, ...]
    ahead: int

    def epoch(self) -> Epoch:
        """The batches of an epoch, all of `batch_size` rows."""
        size, first_row, head = self.batch_size, 0, None
        with ExitStack() as stack:
            tables = [table for table in (self.data, self.labels) if table is not None]
            data, *labels = (
                stack.enter_context(closing(prefetched(_cut(table.rows(), size), self.ahead)))
                for table in tables
            )
            found = labels[0] if labels else repeat(None)
            for X in data:
                y = next(found, None)
                if y is None and not labels:
                    y = np.zeros((len(X), *self.label_shape), X.dtype)
                if y is None or len(y) != len(X):
                    raise self._lengths_differ(
                        first_row + min(len(X), len(y) if y is not None else 0)
                    )
                head = head or (X, y)
                index = np.arange(first_row, first_row + len(X))
                first_row += len(X)
                pad = size - len(X)
                if pad:
                    again = np.arange(pad) % len(head[0])
                    X, y = (
                        np.concatenate([a, h[again]]) for a, h in zip((X, y), head, strict=True)
                    )
                    index = np.concatenate([index, again])
                y = y.reshape(size, *_label_row(self.label_shape))
                data_array, label_array = (nd_array(a, dtype=a.dtype) for a in (X, y))
                yield DataBatch([data_array], [label_array], pad, index.astype(np.uint64))
            if labels and next(found, None) is not None:
                raise self._lengths_differ(first_row)

    def _lengths_differ(self, rows: int) -> ValueError:
        assert self.labels is not None
        return ValueError(
            f"{self.data.source} and {self.labels.source} differ in length: one ends after {rows} "
            "rows; there must be a row of labels for each"
        )


class _Table:
    """Comma-separated numbers."""

    def __init__(self, name: str, source: Any, shape: int | Sequence[int], dtype: np.dtype):
        self.source = source
        self.shape = _shape(name, shape)
        self._dtype = dtype
        self._pieces = find_pieces(source)

    def rows(self) -> Generator[np.ndarray, None, None]:
        """The rows, some at a time: `(k, *shape)`.

        Raises:
          CSVError: a line is wrong; the rows before its window have come.
        """
        fields = math.prod(self.shape)
        for piece in self._pieces:
            for window in read_windows(piece, _CHUNK_BYTES):
                rows = _parsed(window, fields, self._dtype)
                if len(rows):
                    yield rows.reshape(-1, *self.shape)


def _parsed(window: Window, fields: int, dtype: np.dtype) -> np.ndarray:
    text = window.text[window.begin : window.end].tobytes().decode("latin-1")
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines:
        return np.empty((0, fields), dtype)
    try:
        rows = _numbers(lines, dtype)
    except ValueError:
        rows = None
    if rows is None or rows.shape[1] != fields:
        raise _fault(window, text, fields, dtype)
    return rows


def _numbers(lines: list[str], dtype: np.dtype) -> np.ndarray:
    return np.loadtxt(lines, dtype, comments=None, delimiter=",", ndmin=2)


def _fault(window: Window, text: str, fields: int, dtype: np.dtype) -> CSVError:
    """The first line of the window that is wrong."""
    at = window.begin
    for line in text.split("\n"):
        found = line.split(",")
        column, what = 1, None
        if line.strip() and len(found) != fields:
            what = f"found {len(found)} fields, expected {fields}, as the shape of a row has it"
        elif line.strip():
            for field in found:
                if not _is_number(field, dtype):
                    what = f"found {field.strip()!r}, expected a number of type {dtype}"
                    if window.line_number(at) == 1:
                        what += ". There must be no header"
                    break
                column += len(field) + 1
        if what is not None:
            number = window.line_number(at)
            return CSVError(window.piece.name, number, column, what)
        at += len(line) + 1
    raise AssertionError("no line is wrong")


def _is_number(field: str, dtype: np.dtype) -> bool:
    try:
        return bool(field.strip()) and _numbers([field], dtype).size == 1
    except ValueError:
        return False


def _cut(chunks: Iterable[np.ndarray], size: int) -> Generator[np.ndarray, None, None]:
    """Rows in batches of `size`; only the last may be shorter."""
    rest: list[np.ndarray] = []
    for chunk in chunks:
        rows = np.concatenate([*rest, chunk]) if rest else chunk
        whole = len(rows) // size * size
        for start in range(0, whole, size):
            yield rows[start : start + size]
        rest = [rows[whole:]] if whole < len(rows) else []
    yield from rest


def _shape(name: str, shape: int | Sequence[int]) -> tuple[int, ...]:
    sizes = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
    if not sizes or min(sizes) < 1:
        raise ValueError(f"{name} must have dimensions of at least 1; got {shape}")
    return tuple(int(size) for size in sizes)


def _label_row(shape: tuple[int, ...]) -> tuple[int, ...]:
    return () if shape == (1,) else shape
