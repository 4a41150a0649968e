"""Iterators around other iterators: of another length, or read ahead in threads."""

from collections.abc import Generator, Mapping, Sequence
from typing import Any

from rarefy.io._iterators import DataBatch, DataDesc, DataIter
from rarefy.io._prefetch import prefetched

_AHEAD = 2  # batches that wait, beside the one in use


class _OfBatches(DataIter):
    """An iterator that holds whole batches of others."""

    current_batch: DataBatch | None = None

    def next(self) -> DataBatch:
        if not self.iter_next():
            raise StopIteration
        return self._batch

    def getdata(self) -> Any:
        return self._batch.data

    def getlabel(self) -> Any:
        return self._batch.label

    def getindex(self) -> Any:
        return self._batch.index

    def getpad(self) -> Any:
        return self._batch.pad

    @property
    def _batch(self) -> DataBatch:
        if self.current_batch is None:
            raise RuntimeError("there is no current batch; call reset() or next() first")
        return self.current_batch


class ResizeIter(_OfBatches):
    """Makes epochs of a given number of batches of another iterator, which starts anew where it ends.

    Args:
      data_iter: the iterator.
      size: batches in an epoch.
      reset_internal: whether `reset` resets `data_iter` too; otherwise it goes on where it is.

    Raises:
      ValueError: when iterating: `data_iter` has no batches.
    """

    def __init__(self, data_iter: Any, size: int, reset_internal: bool = True):
        super().__init__(data_iter.batch_size)
        self.data_iter = data_iter
        self.size = size
        self.reset_internal = reset_internal
        self.cur = 0
        self.provide_data = data_iter.provide_data
        self.provide_label = data_iter.provide_label
        if hasattr(data_iter, "default_bucket_key"):
            self.default_bucket_key = data_iter.default_bucket_key

    def reset(self) -> None:
        self.cur = 0
        if self.reset_internal:
            self.data_iter.reset()

    def iter_next(self) -> bool:
        if self.cur >= self.size:
            return False
        self.current_batch = next(self.data_iter, None)
        if self.current_batch is None:
            self.data_iter.reset()
            self.current_batch = next(self.data_iter, None)
        if self.current_batch is None:
            raise ValueError(f"ResizeIter: {type(self.data_iter).__name__} has no batches")
        self.cur += 1
        return True


class PrefetchingIter(_OfBatches):
    """Reads batches of other iterators ahead, each in a thread of its own, and joins them.

    The threads end with the epoch, with `reset`, and when the iterator is dropped.

    Args:
      iters: an iterator, or a list of them; they must give as many batches, with the same pads.
      rename_data: for each iterator a dict from the names of its data to those here; None keeps them.
      rename_label: the same for labels.

    Raises:
      ValueError: there are no iterators, or, when iterating, they do not go together.
    """

    def __init__(
        self,
        iters: Any,
        rename_data: Sequence[Mapping[str, str]] | None = None,
        rename_label: Sequence[Mapping[str, str]] | None = None,
    ):
        self.iters = list(iters) if isinstance(iters, list | tuple) else [iters]
        self.n_iter = len(self.iters)
        if not self.iters:
            raise ValueError("PrefetchingIter needs an iterator; got none")
        for name, maps in (("rename_data", rename_data), ("rename_label", rename_label)):
            if maps is not None and len(maps) != self.n_iter:
                raise ValueError(
                    f"{name} has {len(maps)} dicts for {self.n_iter} iterators; there must be one each"
                )
        self.rename_data = rename_data
        self.rename_label = rename_label
        super().__init__(self.provide_data[0].shape[0])
        self._epoch = _joined(self.iters)

    @property
    def provide_data(self) -> list[DataDesc]:
        """Descriptions of the data of all iterators."""
        return _renamed([i.provide_data for i in self.iters], self.rename_data)

    @property
    def provide_label(self) -> list[DataDesc]:
        """Descriptions of the labels of all iterators."""
        return _renamed([i.provide_label for i in self.iters], self.rename_label)

    def reset(self) -> None:
        self._epoch.close()
        for each in self.iters:
            each.reset()
        self._epoch = _joined(self.iters)
        self.current_batch = None

    def iter_next(self) -> bool:
        found = next(self._epoch, None)
        self.current_batch = None
        if found is None:
            return False
        self.current_batch = DataBatch(
            [array for batch in found for array in batch.data or ()],
            [array for batch in found for array in batch.label or ()],
            found[0].pad,
            found[0].index,
            provide_data=self.provide_data,
            provide_label=self.provide_label,
        )
        return True


def _joined(iters: list[Any]) -> Generator[list[DataBatch], None, None]:
    """Batches of all iterators side by side. It does not hold who asks for them, so that it is closed
    when that is dropped."""
    ahead = [prefetched(_batches_of(each), _AHEAD) for each in iters]
    try:
        while True:
            found = [next(each, None) for each in ahead]
            here = [batch for batch in found if batch is not None]
            if not here:
                return
            if len(here) < len(iters) or any(b.pad != here[0].pad for b in here):
                pads = ["no batch" if b is None else f"pad {b.pad}" for b in found]
                raise ValueError(
                    f"PrefetchingIter: the iterators do not go together; here they have "
                    f"{', '.join(pads)}. They need the same number of rows and batch size"
                )
            yield here
    finally:
        for each in ahead:
            each.close()


def _batches_of(each: Any) -> Generator[DataBatch, None, None]:
    while True:
        batch = next(each, None)
        if batch is None:
            return
        yield batch


def _renamed(
    described: list[list[Any]], renames: Sequence[Mapping[str, str]] | None
) -> list[DataDesc]:
    result = []
    for i, descs in enumerate(described):
        for desc in descs:
            desc = desc if isinstance(desc, DataDesc) else DataDesc(*desc)
            name = desc.name if renames is None else renames[i][desc.name]
            result.append(DataDesc(name, desc.shape, desc.dtype, desc.layout))
    return result
