"""Batches of a dataset, prepared ahead by threads."""

import multiprocessing
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

import numpy as np

from rarefy import nd
from rarefy.base import ArgumentError
from rarefy.context import Context, cpu_pinned
from rarefy.gluon.data._batchify import default_batchify_fn, default_mp_batchify_fn
from rarefy.gluon.data._rows import is_sparse
from rarefy.gluon.data.dataset import SimpleDataset, batch_of, item
from rarefy.gluon.data.sampler import BatchSampler, LastBatch, RandomSampler, SequentialSampler

__all__ = ["DataLoader", "WorkerTimeoutError", "default_batchify_fn", "default_mp_batchify_fn"]

_JOIN_SECONDS = 5.0


class WorkerTimeoutError(multiprocessing.TimeoutError, TimeoutError):
    """A batch took longer than the `timeout` of its DataLoader."""


class DataLoader:
    """Goes over a dataset in batches, any number of times.

    Args:
      dataset: has `len()` and `[]`: a Dataset, a list, an array, csr included, or a SciPy matrix.
      batch_size: items in a batch.
      shuffle: whether each epoch has its own random order.
      sampler: gives the numbers of the items, instead of `shuffle`.
      last_batch: what becomes of items that do not fill a batch: 'keep' (by default), 'discard' or
        'rollover' (to the next epoch).
      batch_sampler: gives lists of numbers of items; then none of the above but the dataset.
      batchify_fn: makes a batch of a list of items; `default_batchify_fn` by default, in which csr
        rows stay csr. By default rows of arrays are gathered at once.
      num_workers: how many threads make batches; 0 for none.
      pin_memory: whether batches are put into the context `cpu_pinned`.
      pin_device_id: the number of that context.
      prefetch: how many batches the threads work ahead; twice their number by default.
      thread_pool: accepted for MXNet's sake; workers are threads in any case.
      timeout: seconds to wait for a batch of a worker.
      auto_reload: whether the workers begin the next epoch when one ends.
      seed: what the orders of `shuffle` follow from; by default NumPy's global random state.

    Iterating gives batches in the order of the sampler, whatever the number of workers. What a worker
    raises comes at the place of its batch, with a note that says which items it was made of.

    Raises:
      ValueError: arguments contradict one another, `batch_size` is missing or below 1, or
        `last_batch` is unknown.
      ArgumentError: `timeout` is not positive.
      WorkerTimeoutError: while iterating, a batch took too long.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = None,
        shuffle: bool = False,
        sampler: Any = None,
        last_batch: LastBatch | None = None,
        batch_sampler: Any = None,
        batchify_fn: Callable[[Sequence[Any]], Any] | None = None,
        num_workers: int = 0,
        pin_memory: bool = False,
        pin_device_id: int = 0,
        prefetch: int | None = None,
        thread_pool: bool = False,
        timeout: float = 120,
        auto_reload: bool = False,
        *,
        seed: int | None = None,
    ):
        if timeout <= 0:
            raise ArgumentError(f"timeout must be positive; got {timeout}")
        if isinstance(dataset, nd.NDArray | np.ndarray) or is_sparse(dataset):
            dataset = SimpleDataset(dataset)
        self._dataset = dataset
        if batch_sampler is None:
            if batch_size is None:
                raise ValueError("batch_size is needed where there is no batch_sampler")
            if sampler is None:
                n = len(dataset)
                sampler = RandomSampler(n, seed) if shuffle else SequentialSampler(n)
            elif shuffle:
                raise ValueError("sampler decides the order; shuffle must not be given with it")
            batch_sampler = BatchSampler(sampler, batch_size, last_batch or "keep")
        elif batch_size is not None or shuffle or sampler is not None or last_batch is not None:
            raise ValueError(
                "batch_sampler decides on batches; batch_size, shuffle, sampler and last_batch must "
                "not be given with it"
            )
        self._batch_sampler = batch_sampler
        self._batchify_fn = batchify_fn
        self._num_workers = max(0, num_workers)
        self._context = cpu_pinned(pin_device_id) if pin_memory else None
        self._prefetch = 2 * self._num_workers if prefetch is None else max(0, int(prefetch))
        self._timeout = timeout
        self.auto_reload = auto_reload
        self._ahead: Any = None
        if auto_reload:
            self.refresh()

    def __len__(self) -> int:
        """The number of batches."""
        return len(self._batch_sampler)

    def __iter__(self) -> Iterator[Any]:
        epoch, self._ahead = self._ahead or self._epoch(), None
        try:
            yield from epoch
        finally:
            epoch.close()
        if self.auto_reload:
            self.refresh()

    def refresh(self) -> None:
        """Begins the next epoch now; the workers start."""
        self.clean()
        self._ahead = self._epoch()

    def clean(self) -> None:
        """Gives up an epoch that was begun by `refresh`."""
        if self._ahead is not None:
            self._ahead.close()
            self._ahead = None

    def _epoch(self) -> Any:
        make = _Maker(self._dataset, self._batchify_fn, self._context)
        if self._num_workers == 0:
            return (make(number, keys) for number, keys in enumerate(self._batch_sampler))
        pool = _Pool(self._num_workers)
        return _Epoch(pool, make, self._batch_sampler, self._prefetch, self._timeout)


class _Maker:
    """Makes batches of keys."""

    def __init__(self, dataset: Any, batchify_fn: Any, context: Context | None):
        self._dataset = dataset
        self._batchify_fn = batchify_fn
        self._context = context

    def __call__(self, number: int, keys: Sequence[Any]) -> Any:
        try:
            return _in_context(self._batch(keys), self._context)
        except Exception as error:
            some = ", ".join(map(repr, keys[:8])) + (" ..." if len(keys) > 8 else "")
            error.add_note(f"while a DataLoader made batch {number} of items {some}")
            raise

    def _batch(self, keys: Sequence[Any]) -> Any:
        if self._batchify_fn in (None, default_batchify_fn):
            return batch_of(self._dataset, keys)
        return self._batchify_fn([item(self._dataset, key) for key in keys])


def _in_context(batch: Any, context: Context | None) -> Any:
    if context is None:
        return batch
    if isinstance(batch, nd.NDArray):
        return batch.as_in_context(context)
    if isinstance(batch, list | tuple):
        return [_in_context(part, context) for part in batch]
    if isinstance(batch, Mapping):
        return {key: _in_context(part, context) for key, part in batch.items()}
    return batch


class _Epoch:
    """The batches of one pass, some of which are being made ahead."""

    def __init__(self, pool: "_Pool", make: _Maker, keys: Any, prefetch: int, timeout: float):
        self._pool = pool
        self._make = make
        self._keys = iter(enumerate(keys))
        self._timeout = timeout
        self._waiting: deque[Future[Any]] = deque()
        for _ in range(prefetch):
            self._push()

    def _push(self) -> None:
        try:
            pair = next(self._keys, None)
        except Exception as error:  # of the sampler; the batches before it come first
            failed: Future[Any] = Future()
            failed.set_exception(error)
            self._waiting.append(failed)
        else:
            if pair is not None:
                self._waiting.append(self._pool.submit(self._make, *pair))

    def __iter__(self) -> "_Epoch":
        return self

    def __next__(self) -> Any:
        self._push()
        if not self._waiting:
            self.close()
            raise StopIteration
        future = self._waiting.popleft()
        try:
            return future.result(self._timeout)
        except TimeoutError:
            self._pool.abandon()
            if future.done():  # it was the dataset that ran out of time
                raise
            raise WorkerTimeoutError(
                f"a worker of a DataLoader took longer than {self._timeout} seconds for a batch; "
                "make items or transforms faster, or raise timeout"
            ) from None

    def close(self) -> None:
        """Ends the threads after what they are working on."""
        for future in self._waiting:
            future.cancel()
        self._waiting.clear()
        self._pool.close()

    __del__ = close


class _Pool:
    """Threads that work tasks off in order. They are no reason for the program to stay alive."""

    def __init__(self, size: int):
        self._tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=_work, args=(self._tasks,), name="rarefy-loader", daemon=True)
            for _ in range(size)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, fn: Callable[..., Any], *args: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._tasks.put((future, fn, args))
        return future

    def abandon(self) -> None:
        """Ends the threads without waiting for them."""
        for _ in self._threads:
            self._tasks.put(None)
        self._threads = []

    def close(self) -> None:
        threads = self._threads
        self.abandon()
        for thread in threads:
            if thread is not threading.current_thread():  # garbage may be collected in any thread
                thread.join(_JOIN_SECONDS)


def _work(tasks: "queue.SimpleQueue[Any]") -> None:
    while (task := tasks.get()) is not None:
        future, fn, args = task
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(fn(*args))
            except BaseException as error:
                future.set_exception(error)
        del task, future, fn, args
