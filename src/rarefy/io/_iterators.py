"""What data iterators are: batches, their descriptions, the protocol."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rarefy.base import ArgumentTypeError


class _Desc(NamedTuple):
    name: str
    shape: tuple[int, ...]


class DataDesc(_Desc):
    """Name and shape of an array of a batch; also its dtype and layout.

    Compares and unpacks as the pair `(name, shape)`.

    Args:
      name: the array's name.
      shape: its shape.
      dtype: its dtype.
      layout: a letter for each dimension; N is the batch.
    """

    dtype: Any
    layout: str | None

    def __new__(
        cls, name: str, shape: Sequence[int], dtype: Any = np.float32, layout: str | None = "NCHW"
    ):
        self = super().__new__(cls, name, tuple(shape))
        self.dtype = dtype
        self.layout = layout
        return self

    def __repr__(self) -> str:
        return f"DataDesc[{self.name},{self.shape},{self.dtype},{self.layout}]"

    @staticmethod
    def get_batch_axis(layout: str | None) -> int:
        """The position of N in a layout; 0 without a layout, -1 without N."""
        return 0 if layout is None else layout.find("N")

    @staticmethod
    def get_list(
        shapes: Sequence[tuple[str, Sequence[int]]], types: Sequence[tuple[str, Any]] | None
    ) -> "list[DataDesc]":
        """Descriptions from pairs `(name, shape)` and, optionally, pairs `(name, dtype)`."""
        dtypes = dict(types or ())
        if types is None:
            return [DataDesc(name, shape) for name, shape in shapes]
        return [DataDesc(name, shape, dtypes[name]) for name, shape in shapes]


class DataBatch:
    """A batch of data.

    Args:
      data: list of arrays, each with the batch as first dimension.
      label: list of arrays, or None.
      pad: how many rows at the end only fill the batch up.
      index: numbers of the rows, or None.
      bucket_key: of a bucketing module.
      provide_data, provide_label: descriptions of the arrays, where they differ from the
        iterator's.
    """

    def __init__(
        self,
        data: list[Any] | tuple[Any, ...] | None,
        label: list[Any] | tuple[Any, ...] | None = None,
        pad: int | None = None,
        index: Any = None,
        bucket_key: Any = None,
        provide_data: list[DataDesc] | None = None,
        provide_label: list[DataDesc] | None = None,
    ):
        for what, arrays in (("data", data), ("label", label)):
            if arrays is not None and not isinstance(arrays, list | tuple):
                raise ArgumentTypeError(
                    f"{what} must be a list of arrays; got {type(arrays).__name__}"
                )
        self.data = data
        self.label = label
        self.pad = pad
        self.index = index
        self.bucket_key = bucket_key
        self.provide_data = provide_data
        self.provide_label = provide_label

    def __repr__(self) -> str:
        data = [d.shape for d in self.data or ()]
        label = [x.shape for x in self.label] if self.label is not None else None
        return f"{type(self).__name__}: data shapes: {data} label shapes: {label}"


class DataIter:
    """Base of the iterators over batches.

    An iterator is also its own Python iterator: a loop over it runs to the end of the epoch, and
    `reset` begins the next one.

    Args:
      batch_size: rows in a batch.
    """

    def __init__(self, batch_size: int = 0):
        self.batch_size = batch_size

    def __iter__(self) -> "DataIter":
        return self

    def __next__(self) -> DataBatch:
        return self.next()

    def reset(self) -> None:
        """Goes back to the begin."""

    def next(self) -> DataBatch:
        """The next batch.

        Raises:
          StopIteration: the epoch is over.
        """
        if self.iter_next():
            return DataBatch(
                data=self.getdata(), label=self.getlabel(), pad=self.getpad(), index=self.getindex()
            )
        raise StopIteration

    def iter_next(self) -> bool:
        """Moves to the next batch; False at the end of the epoch."""
        return False

    def getdata(self) -> list[Any]:
        """The data of the current batch."""
        return []

    def getlabel(self) -> list[Any]:
        """The labels of the current batch."""
        return []

    def getindex(self) -> Any:
        """Numbers of the rows of the current batch, or None."""
        return None

    def getpad(self) -> int:
        """How many rows of the current batch only fill it up."""
        return 0
