"""Iterators that measure."""

from typing import Any

from rarefy.io import DataBatch, DataIter


class DummyIter(DataIter):
    """Gives the first batch of an iterator without end, so that reading takes no time.

    Args:
      real_iter: the iterator.
    """

    def __init__(self, real_iter: Any):
        super().__init__(real_iter.batch_size)
        self.real_iter = real_iter
        self.provide_data = real_iter.provide_data
        self.provide_label = real_iter.provide_label
        self.the_batch = next(real_iter)

    def next(self) -> DataBatch:
        """The batch."""
        return self.the_batch
