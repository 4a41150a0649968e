"""What iterators over files have in common."""

from collections.abc import Callable, Generator
from typing import Any

from rarefy.io._iterators import DataBatch, DataDesc, DataIter

Epoch = Generator[DataBatch, None, None]


class MXDataIter(DataIter):
    """Base of the iterators over files: batches of one array of data and one of labels.

    `getdata` and `getlabel` return the array itself, as in MXNet; a batch of `next` has lists.

    Args:
      batch_size: rows in a batch.
      begin: begins an epoch: returns its batches. It must not hold the iterator itself, so that a
        dropped iterator ends its epoch, and with it the thread that reads ahead.
      data, label: descriptions of the arrays.

    Attributes:
      provide_data, provide_label: descriptions of data and labels.
    """

    def __init__(
        self, batch_size: int, begin: Callable[[], Epoch], data: DataDesc, label: DataDesc
    ):
        super().__init__(batch_size)
        self.provide_data = [data]
        self.provide_label = [label]
        self._begin = begin
        self._epoch = begin()
        self._current: DataBatch | None = None

    def reset(self) -> None:
        self._epoch.close()
        self._epoch = self._begin()
        self._current = None

    def iter_next(self) -> bool:
        self._current = next(self._epoch, None)
        return self._current is not None

    def next(self) -> DataBatch:
        if not self.iter_next():
            raise StopIteration
        return self._batch

    def getdata(self) -> Any:
        """The data of the current batch, an array."""
        return _only(self._batch.data)

    def getlabel(self) -> Any:
        """The labels of the current batch, an array."""
        return _only(self._batch.label)

    def getindex(self) -> Any:
        return self._batch.index

    def getpad(self) -> int:
        return self._batch.pad or 0

    @property
    def _batch(self) -> DataBatch:
        if self._current is None:
            raise RuntimeError("there is no current batch; call reset() or next() first")
        return self._current


def _only(arrays: Any) -> Any:
    (array,) = arrays
    return array
