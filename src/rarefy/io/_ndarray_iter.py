"""Batches of arrays in memory."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import scipy.sparse

from rarefy.io._iterators import DataDesc, DataIter
from rarefy.nd._create import array as nd_array
from rarefy.nd._create_sparse import csr_matrix
from rarefy.nd._handle import Handle
from rarefy.sparse import BCOO, BCSR

LAST_BATCH = ("pad", "discard", "roll_over")

Source = Any
"""Where rows are taken from: a NumPy array or a SciPy csr matrix."""


class NDArrayIter(DataIter):
    """Goes over arrays in batches; csr and SciPy matrices stay csr.

    Args:
      data: `(rows, *d)`: a NumPy array, a dense or csr array of this library, a SciPy matrix; a
        list of them, or a dict from names to them (its names in alphabetical order). NumPy arrays
        become float32; the rest keep their dtype.
      label: as `data`, or None.
      batch_size: rows in a batch.
      shuffle: whether each epoch has its own order, drawn from NumPy's global random state.
      last_batch_handle: what happens to rows that do not fill a batch: 'pad' fills it up from the
        begin of the epoch, 'discard' leaves them out, 'roll_over' puts them first in the next
        epoch.
      data_name, label_name: the names; several arrays without names get `_0_data`, `_1_data` and so
        on.
      layout: a letter for each dimension, for the descriptions.

    Attributes:
      num_data: rows in `data`.

    Raises:
      TypeError: an array of an unknown kind.
      ValueError: arrays of different length, no data, a `batch_size` below 1, or an unknown
        `last_batch_handle`.
    """

    def __init__(
        self,
        data: Any,
        label: Any = None,
        batch_size: int = 1,
        shuffle: bool = False,
        last_batch_handle: Literal["pad", "discard", "roll_over"] = "pad",
        data_name: str = "data",
        label_name: str = "softmax_label",
        layout: str = "NCHW",
    ):
        super().__init__(batch_size)
        if batch_size < 1:
            raise ValueError(f"batch_size must be at least 1; got {batch_size}")
        if last_batch_handle not in LAST_BATCH:
            raise ValueError(
                f"last_batch_handle must be one of {', '.join(LAST_BATCH)}; got "
                f"{last_batch_handle!r}"
            )
        self.data = _named_sources(data, data_name)
        self.label = _named_sources(label, label_name)
        if not self.data:
            raise ValueError("NDArrayIter needs data; got none")
        self.num_data = self.data[0][1].shape[0]
        for name, source in self.data + self.label:
            if source.shape[0] != self.num_data:
                raise ValueError(
                    f"{name} has {source.shape[0]} rows, {self.data[0][0]} {self.num_data}; they "
                    "must be equal"
                )
        self.shuffle = shuffle
        self.last_batch_handle = last_batch_handle
        self.layout = layout
        self.idx = np.arange(self.num_data)
        self._all_rows = np.arange(self.num_data)
        self._left_over = self._all_rows[:0]
        self.hard_reset()

    @property
    def provide_data(self) -> list[DataDesc]:
        """Name, shape, dtype and layout of each array of data in a batch."""
        return self._describe(self.data)

    @property
    def provide_label(self) -> list[DataDesc]:
        """Name, shape, dtype and layout of each array of labels in a batch."""
        return self._describe(self.label)

    def _describe(self, sources: list[tuple[str, Source]]) -> list[DataDesc]:
        return [
            DataDesc(name, (self.batch_size, *source.shape[1:]), source.dtype.type, self.layout)
            for name, source in sources
        ]

    def hard_reset(self) -> None:
        """Goes back to the begin and forgets rows that would roll over."""
        self._left_over = self._left_over[:0]
        self._begin()

    def reset(self) -> None:
        """Begins the next epoch, with the rows that the last one left over when it was finished."""
        keep = self.last_batch_handle == "roll_over" and self._finished
        first = len(self._order) // self.batch_size * self.batch_size if keep else len(self._order)
        self._left_over = self._order[first:]
        self._begin()

    def _begin(self) -> None:
        if self.shuffle:
            # MXNet permutes what it has permuted before; so do we, for the same orders by one seed.
            np.random.shuffle(self.idx)
            self._all_rows = self._all_rows[self.idx]
        self._order = np.concatenate([self._left_over, self._all_rows])
        self._finished = False
        self._rows: np.ndarray | None = None
        self.cursor = -self.batch_size

    def iter_next(self) -> bool:
        self._rows = None
        begin, end = self.cursor + self.batch_size, self.cursor + 2 * self.batch_size
        if end <= len(self._order):
            self._rows = self._order[begin:end]
        elif begin < len(self._order) and self.last_batch_handle == "pad":
            self._rows = np.take(self._order, np.arange(begin, end), mode="wrap")
        else:
            self._finished = True
            return False
        self.cursor = begin
        return True

    def getdata(self) -> list[Any]:
        return self._take(self.data)

    def getlabel(self) -> list[Any]:
        return self._take(self.label)

    def getpad(self) -> int:
        """How many rows fill up the last batch; with 'roll_over' how many rows at the begin of the
        first batch come from the epoch before."""
        if self.last_batch_handle == "roll_over":
            return len(self._left_over) if self.cursor == 0 else 0
        return max(0, self.cursor + self.batch_size - len(self._order))

    def _take(self, sources: list[tuple[str, Source]]) -> list[Any]:
        if self._rows is None:
            raise RuntimeError("there is no current batch; call reset() or next() first")
        return [_rows_of(source, self._rows) for _, source in sources]


def _named_sources(arrays: Any, default_name: str) -> list[tuple[str, Source]]:
    """Names and sources from an array, a list or a dict of them, or None."""
    if arrays is None:
        return []
    if isinstance(arrays, Mapping):
        named = sorted(arrays.items())
    elif isinstance(arrays, list | tuple):
        many = len(arrays) > 1
        named = [
            (f"_{i}_{default_name}" if many else default_name, a) for i, a in enumerate(arrays)
        ]
    else:
        named = [(default_name, arrays)]
    return [(name, _source(name, array)) for name, array in named]


def _source(name: str, array: Any) -> Source:
    value = array._value if isinstance(array, Handle) else array
    if isinstance(value, BCSR):
        return value.to_scipy_sparse()
    if scipy.sparse.issparse(value):
        return scipy.sparse.csr_matrix(value)
    if isinstance(value, BCOO) or isinstance(array, str | bytes):
        kind = "row_sparse array" if isinstance(value, BCOO) else type(array).__name__
        raise TypeError(
            f"{name} is a {kind}; NDArrayIter takes NumPy, dense and csr arrays, SciPy matrices, "
            "lists and dicts of them. Convert with tostype('default')"
        )
    dense = np.asarray(value)
    if dense.ndim == 0 or (dense.dtype.kind not in "biuf" and dense.dtype.name != "bfloat16"):
        raise TypeError(
            f"{name} is {type(array).__name__} of shape {dense.shape}, dtype {dense.dtype}; "
            "NDArrayIter takes arrays of numbers with the rows as first dimension"
        )
    return dense if isinstance(array, Handle) else dense.astype(np.float32, copy=False)


def _rows_of(source: Source, rows: np.ndarray) -> Any:
    """The given rows as an array of this library."""
    contiguous = len(rows) > 0 and bool(np.all(np.diff(rows) == 1))
    chosen = source[rows[0] : rows[-1] + 1] if contiguous else source[rows]
    if isinstance(chosen, np.ndarray):
        return nd_array(chosen, dtype=chosen.dtype)
    return csr_matrix(
        (chosen.data, chosen.indices, chosen.indptr), shape=chosen.shape, dtype=chosen.dtype
    )
