"""Batches of a LibSVM file as arrays."""

import os
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from rarefy.io._batch import RowBatch
from rarefy.io._file_iter import Epoch, MXDataIter
from rarefy.io._iterators import DataBatch, DataDesc
from rarefy.io._libsvm_reader import LibSVMReader
from rarefy.io._options import check_part
from rarefy.io._scan import scan_libsvm
from rarefy.nd._create import array as nd_array
from rarefy.nd._create_sparse import csr_matrix, csr_of_checked

Path = str | os.PathLike

_NO_FILE = (None, "", "NULL")


class LibSVMIter(MXDataIter):
    """Reads LibSVM text in batches with csr data, in bounded memory.

    Columns count from 0. Every epoch begins at the first row.

    Args:
      data_libsvm: a file (plain, .gz, .bz2, .xz) or a folder of files; `path#cache` is the same as
        `cache_file='cache'`, unless there is a file of this name.
      data_shape: `(columns,)`, or the number.
      label_libsvm: a file whose features are the labels, as csr; the labels in `data_libsvm` are
        then ignored. By default those are the labels. May have a `#cache` too.
      label_shape: `(columns,)` of `label_libsvm`.
      num_parts: into how many parts the rows are divided.
      part_index: which part is read. Every row is in exactly one part; parts may differ in size.
      batch_size: rows in a batch.
      round_batch: whether the last batch is filled up with rows from the begin of the epoch; `pad`
        says with how many. Otherwise it is shorter.
      prefetch_buffer: 0 for reading only when asked; otherwise reading goes on in the background.
      ctx: accepted for MXNet's sake.
      dtype: of data and labels; float32 by default.
      data_name, label_name: the names.
      cache_file: where to keep the parsed rows of `data_libsvm`, as of `LibSVMReader`.

    Raises:
      OSError: a file cannot be opened.
      ValueError: an argument is not as it must be.
      LibSVMError: when iterating: a line is wrong, for instance with a column out of range; it says
        which.
    """

    def __init__(
        self,
        data_libsvm: Path,
        data_shape: int | Sequence[int],
        label_libsvm: Path | None = None,
        label_shape: int | Sequence[int] = (1,),
        num_parts: int = 1,
        part_index: int = 0,
        batch_size: int = 1,
        round_batch: bool = True,
        prefetch_buffer: int = 4,
        ctx: Any = None,
        dtype: Any = None,
        data_name: str = "data",
        label_name: str = "softmax_label",
        *,
        cache_file: Path | None = None,
    ):
        check_part(part_index, num_parts)
        columns = _columns("data_shape", data_shape)
        label_columns = _columns("label_shape", label_shape)
        kind = np.dtype(np.float32 if dtype is None else dtype)
        with_file = label_libsvm not in _NO_FILE
        if not with_file and label_columns != 1:
            raise ValueError(
                f"label_shape is ({label_columns},), but {data_libsvm} has one label a row; pass "
                "label_shape=(1,), or label_libsvm= with the labels"
            )
        # Two files cut by bytes would not be cut at the same row.
        part = (0, 1) if with_file else (part_index, num_parts)
        options: dict[str, Any] = {
            "batch_size": batch_size,
            "index_base": 0,
            "dtype": np.float64 if kind == np.float64 else np.float32,
            "prefetch": 2 if prefetch_buffer else 0,
        }
        path, cache = _with_cache(data_libsvm)
        data = LibSVMReader(
            path,
            n_features=columns,
            part_index=part[0],
            num_parts=part[1],
            cache_file=cache_file or cache,
            **options,
        )
        labels, rows = None, (0, None)
        if with_file:
            assert label_libsvm is not None
            label_path, cache = _with_cache(label_libsvm)
            labels = LibSVMReader(label_path, n_features=label_columns, cache_file=cache, **options)
            if num_parts > 1:
                total = scan_libsvm(path, fingerprint=False).rows
                rows = (total * part_index // num_parts, total * (part_index + 1) // num_parts)
        label_size = (batch_size, label_columns) if with_file else (batch_size,)
        self.round_batch = round_batch
        batches = _Batches(
            data, labels, rows, (data_libsvm, label_libsvm), batch_size, round_batch, kind
        )
        super().__init__(
            batch_size,
            batches.epoch,
            DataDesc(data_name, (batch_size, columns), kind.type),
            DataDesc(label_name, label_size, kind.type),
        )


@dataclass(frozen=True)
class _Batches:
    """The batches of one or two readers.

    Attributes:
      data, labels: the readers; without the second the labels are those of the first.
      rows: first and one past the last row to read, None for the end.
      names: how messages call the inputs.
    """

    data: LibSVMReader
    labels: LibSVMReader | None
    rows: tuple[int, int | None]
    names: tuple[Any, Any]
    batch_size: int
    round_batch: bool
    dtype: np.dtype

    def epoch(self) -> Epoch:
        """The batches of an epoch, all of `batch_size` rows if they are to be round."""
        first_row, head = 0, None
        for data, label in self._read():
            rows = _height(data)
            head = head or (data, label)
            index = np.arange(first_row, first_row + rows)
            first_row += rows
            pad = self.batch_size - rows if self.round_batch else 0
            if pad:
                again = np.arange(pad) % _height(head[0])
                data = _append(_scipy(data), _scipy(head[0])[again])
                label = _append(label, head[1][again])
                index = np.concatenate([index, again])
            yield DataBatch([self._array(data)], [self._array(label)], pad, index.astype(np.uint64))

    def _read(self) -> Generator[tuple[Any, Any], None, None]:
        """Data as read or as SciPy rows, labels as SciPy rows or as an array."""
        start, stop = self.rows
        data = self.data.epoch(start_row=start)
        labels = self.labels.epoch(start_row=start) if self.labels else None
        left = None if stop is None else stop - start
        for batch in data:
            X: Any = batch
            label: Any = batch.labels
            if labels is not None:
                label = self._label_rows(next(labels, None), batch)
            if left is not None:
                if left < batch.rows:
                    X, label = _scipy(batch)[:left], label[:left]
                left -= _height(X)
            if _height(X):
                yield X, label
            if left == 0:
                return
        if labels is not None and next(labels, None) is not None:
            raise ValueError(f"{self.names[1]} has more rows than {self.names[0]}")

    def _label_rows(self, found: RowBatch | None, batch: RowBatch) -> Any:
        if found is None or found.rows < batch.rows:
            have = batch.first_row + (found.rows if found else 0)
            raise ValueError(
                f"{self.names[1]} has {have} rows, {self.names[0]} has more; there must be a row "
                "of labels for each"
            )
        return found.to_scipy()

    def _array(self, rows: Any) -> Any:
        if isinstance(rows, np.ndarray):
            return nd_array(rows, dtype=self.dtype)
        if isinstance(rows, RowBatch):
            parts = (rows.data, rows.indices, rows.indptr)
            return csr_of_checked(*parts, (rows.rows, rows.n_cols), self.dtype)
        return csr_matrix(rows, dtype=self.dtype)


def _scipy(rows: Any) -> Any:
    return rows.to_scipy() if isinstance(rows, RowBatch) else rows


def _height(rows: Any) -> int:
    return rows.rows if isinstance(rows, RowBatch) else rows.shape[0]


def _append(rows: Any, more: Any) -> Any:
    if isinstance(rows, np.ndarray):
        return np.concatenate([rows, more])
    return scipy.sparse.vstack([rows, more], format="csr")


def _with_cache(path: Path) -> tuple[Path, str | None]:
    """The path and the cache file, of `path#cache`."""
    name = os.fspath(path)
    if "#" not in name or os.path.exists(name):
        return path, None
    name, _, cache = name.rpartition("#")
    return name, cache


def _columns(name: str, shape: int | Sequence[int]) -> int:
    sizes = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
    if len(sizes) != 1 or sizes[0] < 1:
        raise ValueError(f"{name} must have one dimension of at least 1; got {shape}")
    return int(sizes[0])
