"""Orders in which the items of a dataset are visited."""

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import numpy as np

from rarefy.base import ArgumentError

LastBatch = Literal["keep", "discard", "rollover"]
LAST_BATCH = ("keep", "discard", "rollover")


class Sampler:
    """Goes over keys of a dataset: the base of all samplers."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError


class SequentialSampler(Sampler):
    """Gives `start, start + 1, ...`, `length` numbers."""

    def __init__(self, length: int, start: int = 0):
        self._range = range(start, start + length)

    def __iter__(self) -> Iterator[int]:
        return iter(self._range)

    def __len__(self) -> int:
        return len(self._range)


class RandomSampler(Sampler):
    """Gives the numbers below `length` in random order, another one each time.

    Args:
      length: how many there are.
      seed: what the orders follow from; by default NumPy's global random state, so that
        `np.random.seed` decides.
    """

    def __init__(self, length: int, seed: int | None = None):
        self._length = length
        self._shuffle = np.random.shuffle if seed is None else np.random.default_rng(seed).shuffle

    def __iter__(self) -> Iterator[int]:
        order = np.arange(self._length)
        self._shuffle(order)
        return iter(order.tolist())

    def __len__(self) -> int:
        return self._length


class FilterSampler(Sampler):
    """Gives the numbers of the items of `dataset` for which `fn(item)` is true."""

    def __init__(self, fn: Any, dataset: Any):
        self._indices = [i for i in range(len(dataset)) if fn(dataset[i])]

    def __iter__(self) -> Iterator[int]:
        return iter(self._indices)

    def __len__(self) -> int:
        return len(self._indices)


class IntervalSampler(Sampler):
    """Gives `0, interval, 2 * interval, ...`, and then those that it passed over.

    Args:
      length: all numbers are below it.
      interval: the step; at most `length`.
      rollover: whether to go on with `1, interval + 1, ...` until all numbers were there.

    Raises:
      ArgumentError: the interval is too long.
    """

    def __init__(self, length: int, interval: int, rollover: bool = True):
        if not 1 <= interval <= length:
            raise ArgumentError(f"interval must be 1 to {length} (the length); got {interval}")
        self._length = length
        self._interval = interval
        self._rollover = rollover

    def __iter__(self) -> Iterator[int]:
        for first in range(self._interval if self._rollover else 1):
            yield from range(first, self._length, self._interval)

    def __len__(self) -> int:
        return self._length if self._rollover else -(-self._length // self._interval)


class BatchSampler(Sampler):
    """Gives lists of `batch_size` keys of another sampler.

    Args:
      sampler: gives keys one by one.
      batch_size: how many make a list.
      last_batch: what becomes of keys that do not fill one: 'keep' gives a shorter list, 'discard'
        leaves them out, 'rollover' puts them first when the sampler is gone over again.

    Raises:
      ValueError: `batch_size` is below 1, or `last_batch` unknown.
    """

    def __init__(self, sampler: Iterable[Any], batch_size: int, last_batch: LastBatch = "keep"):
        if batch_size < 1:
            raise ValueError(f"batch_size must be at least 1; got {batch_size}")
        if last_batch not in LAST_BATCH:
            raise ValueError(
                f"last_batch must be one of {', '.join(map(repr, LAST_BATCH))}; got {last_batch!r}"
            )
        self._sampler: Any = sampler
        self._batch_size = batch_size
        self._last_batch = last_batch
        self._left_over: list[Any] = []

    def __iter__(self) -> Iterator[list[Any]]:
        batch, self._left_over = self._left_over, []
        for key in self._sampler:
            batch.append(key)
            if len(batch) == self._batch_size:
                yield batch
                batch = []
        if batch and self._last_batch == "keep":
            yield batch
        elif self._last_batch == "rollover":
            self._left_over = batch

    def __len__(self) -> int:
        keys = len(self._sampler) + len(self._left_over)
        return (
            -(-keys // self._batch_size) if self._last_batch == "keep" else keys // self._batch_size
        )
