"""Datasets: items by number."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rarefy import nd
from rarefy.base import ArgumentError
from rarefy.gluon.data._batchify import default_batchify_fn
from rarefy.gluon.data._rows import CsrRows, RowSparseRows
from rarefy.gluon.data.sampler import FilterSampler, Sampler, SequentialSampler
from rarefy.nd._create_sparse import is_scipy
from rarefy.nd._sparse_array import CSRNDArray, RowSparseNDArray


class Dataset:
    """Items by number: the base of all datasets.

    A dataset has `__getitem__` and `__len__`.
    """

    def __getitem__(self, idx: Any) -> Any:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def filter(self, fn: Callable[[Any], Any]) -> "Dataset":
        """The items for which `fn(item)` is true; looks at each item once, now."""
        return _SampledDataset(self, FilterSampler(fn, self))

    def shard(self, num_shards: int, index: int) -> "Dataset":
        """Part `index` of `num_shards` parts, whose sizes differ by at most one.

        Raises:
          ArgumentError: there is no such part.
        """
        if not 0 <= index < num_shards:
            raise ArgumentError(
                f"index must lie in [0, num_shards) and num_shards be at least 1; got shard {index} "
                f"of {num_shards}"
            )
        size, rest = divmod(len(self), num_shards)
        start = size * index + min(index, rest)
        return _SampledDataset(self, SequentialSampler(size + (index < rest), start))

    def take(self, count: int | None) -> "Dataset":
        """The first `count` items; all of them where it is None or more than there are."""
        size = len(self) if count is None else min(count, len(self))
        return _SampledDataset(self, SequentialSampler(size))

    def sample(self, sampler: Sampler) -> "Dataset":
        """The items whose numbers the sampler gives, in its order.

        Raises:
          TypeError: it is no sampler.
        """
        if not isinstance(sampler, Sampler):
            raise TypeError(f"sampler must be a gluon.data.Sampler; got {type(sampler)}")
        return _SampledDataset(self, sampler)

    def transform(self, fn: Callable[..., Any], lazy: bool = True) -> "Dataset":
        """`fn(item)` for each item; `fn(*item)` for one that is a tuple.

        Args:
          fn: the function.
          lazy: whether it is called each time an item is asked for; otherwise once, now.
        """
        changed = _TransformedDataset(self, fn)
        return changed if lazy else SimpleDataset([changed[i] for i in range(len(changed))])

    def transform_first(self, fn: Callable[[Any], Any], lazy: bool = True) -> "Dataset":
        """Items whose first part is `fn(first part)` and whose other parts stay."""
        return self.transform(_OfFirst(fn), lazy)


class SimpleDataset(Dataset):
    """Items of anything that has `len()` and `[]`.

    Args:
      data: a list, a NumPy array, a dense, csr or row_sparse array, a SciPy matrix ...
    """

    def __init__(self, data: Any):
        self._data = _source(data)

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, idx: Any) -> Any:
        return self._data[idx]


class ArrayDataset(Dataset):
    """Items with a part of each of several arrays.

    Args:
      *args: arrays of one length, or anything else that has `len()` and `[]`. Rows of csr arrays and
        SciPy matrices are csr `(1, n)`, those of row_sparse arrays row_sparse; both are read from
        what the arrays hold now. Elements of a dense array with one axis are NumPy's numbers.

    Raises:
      ArgumentError: there is none, or their lengths differ.

    An item is a tuple, or with one array its element.
    """

    def __init__(self, *args: Any):
        if not args:
            raise ArgumentError("ArrayDataset needs at least one array")
        self._data = [_source(data) for data in args]
        for i, data in enumerate(self._data):
            if len(data) != len(self._data[0]):
                raise ArgumentError(
                    "all arrays must have one length; array 0 has "
                    f"{len(self._data[0])}, array {i} has {len(data)}"
                )

    def __len__(self) -> int:
        return len(self._data[0])

    def __getitem__(self, idx: Any) -> Any:
        if len(self._data) == 1:
            return self._data[0][idx]
        return tuple(data[idx] for data in self._data)


class _TransformedDataset(Dataset):
    def __init__(self, dataset: Any, fn: Callable[..., Any]):
        self._dataset = dataset
        self._fn = fn

    def __len__(self) -> int:
        return len(self._dataset)

    def __getitem__(self, idx: Any) -> Any:
        item = self._dataset[idx]
        return self._fn(*item) if isinstance(item, tuple) else self._fn(item)


class _OfFirst:
    def __init__(self, fn: Callable[[Any], Any]):
        self._fn = fn

    def __call__(self, first: Any, *others: Any) -> Any:
        return (self._fn(first), *others) if others else self._fn(first)


class _SampledDataset(Dataset):
    def __init__(self, dataset: Any, sampler: Sampler):
        self._dataset = dataset
        self._indices = list(sampler)

    def __len__(self) -> int:
        return len(self._indices)

    def __getitem__(self, idx: Any) -> Any:
        return self._dataset[self._indices[idx]]


def _source(data: Any) -> Any:
    """What items are taken from."""
    if isinstance(data, RowSparseNDArray):
        return RowSparseRows(data)
    if isinstance(data, CSRNDArray) or is_scipy(data):
        return CsrRows(data)
    if isinstance(data, nd.NDArray) and data.ndim == 1:
        return data.asnumpy()
    return data


def batch_of(dataset: Any, keys: Sequence[Any]) -> Any:
    """What `default_batchify_fn` makes of the items `keys`.

    Rows of arrays are gathered at once, not one by one and put together again.
    """
    while type(dataset) is _SampledDataset:
        keys, dataset = [dataset._indices[key] for key in keys], dataset._dataset
    # A class of the user's that is derived from these may have items of its own.
    if type(dataset) is SimpleDataset:
        return _gathered(dataset._data, keys)
    if type(dataset) is ArrayDataset:
        batches = [_gathered(data, keys) for data in dataset._data]
        return batches if len(batches) > 1 else batches[0]
    return default_batchify_fn([item(dataset, key) for key in keys])


def item(dataset: Any, key: Any) -> Any:
    """The item; an error says which one it was."""
    try:
        return dataset[key]
    except Exception as error:
        error.add_note(f"raised by item {key!r} of a dataset of {type(dataset).__name__}")
        raise


def _gathered(data: Any, keys: Sequence[Any]) -> Any:
    ids = np.asarray(keys)
    if not isinstance(data, _ROWS) or ids.ndim != 1 or ids.dtype.kind not in "iu":
        return default_batchify_fn([item(data, key) for key in keys])
    outside = np.flatnonzero((ids < -len(data)) | (ids >= len(data)))
    if outside.size:
        raise IndexError(f"item {ids[outside[0]]} of a dataset of {len(data)} items")
    ids = ids % len(data)
    if isinstance(data, np.ndarray):
        return nd.array(data[ids], dtype=data.dtype)
    if isinstance(data, nd.NDArray):
        return nd.take(data, nd.array(ids, dtype="int64"))
    return data.take(ids)


_ROWS = (np.ndarray, nd.NDArray, CsrRows, RowSparseRows)
