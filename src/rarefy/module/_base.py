"""What all modules can do: train, score and predict over iterators."""

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from tqdm import tqdm

from rarefy import metric as metrics
from rarefy.callback import ProgressBar, Speedometer
from rarefy.context import cpu
from rarefy.initializer import Uniform
from rarefy.io import DataBatch, DataIter
from rarefy.model import BatchEndParam
from rarefy.module._names import require
from rarefy.nd import NDArray, concat
from rarefy.nd import array as nd_array
from rarefy.nd import load as load_arrays
from rarefy.nd import save as save_arrays

Callbacks = Callable[..., Any] | list[Callable[..., Any]] | None
Results = list[tuple[str, Any]]


class BaseModule:
    """A computation with parameters, that is bound to shapes, given parameters and an optimizer, and
    then trained.

    Attributes:
      binded: whether shapes are known and arrays are there.
      for_training: whether it was bound for training.
      inputs_need_grad: whether data has gradients.
      params_initialized: whether there are parameters.
      optimizer_initialized: whether there is an optimizer.
      logger: what it logs to.
    """

    def __init__(self, logger: Any = logging):
        self.logger = logger
        self.binded = False
        self.for_training = False
        self.inputs_need_grad = False
        self.params_initialized = False
        self.optimizer_initialized = False
        self._symbol: Any = None

    # What a kind of module has to be able to do.

    @property
    def data_names(self) -> list[str]:
        """The names of the data."""
        raise NotImplementedError

    @property
    def output_names(self) -> list[str]:
        """The names of the results."""
        raise NotImplementedError

    @property
    def data_shapes(self) -> Any:
        """Descriptions of the data."""
        raise NotImplementedError

    @property
    def label_shapes(self) -> Any:
        """Descriptions of the labels; None without."""
        raise NotImplementedError

    @property
    def output_shapes(self) -> Any:
        """Name and shape of each result."""
        raise NotImplementedError

    @property
    def symbol(self) -> Any:
        """The graph, where there is one."""
        return self._symbol

    def get_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        """Parameters and auxiliary states by name, on the host."""
        raise NotImplementedError

    def init_params(
        self,
        initializer: Any = None,
        arg_params: Mapping[str, Any] | None = None,
        aux_params: Mapping[str, Any] | None = None,
        allow_missing: bool = False,
        force_init: bool = False,
        allow_extra: bool = False,
    ) -> None:
        """Gives the parameters their first numbers."""
        raise NotImplementedError

    def bind(
        self,
        data_shapes: Any,
        label_shapes: Any = None,
        for_training: bool = True,
        inputs_need_grad: bool = False,
        force_rebind: bool = False,
        shared_module: Any = None,
        grad_req: Any = "write",
    ) -> None:
        """Makes arrays and executors for inputs of given shapes."""
        raise NotImplementedError

    def init_optimizer(
        self,
        kvstore: Any = "local",
        optimizer: Any = "sgd",
        optimizer_params: Any = (("learning_rate", 0.01),),
        force_init: bool = False,
    ) -> None:
        """Makes an optimizer for the parameters."""
        raise NotImplementedError

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Computes the results of a batch."""
        raise NotImplementedError

    def backward(self, out_grads: Any = None) -> None:
        """Computes the gradients."""
        raise NotImplementedError

    def update(self) -> None:
        """Updates the parameters."""
        raise NotImplementedError

    def get_outputs(self, merge_multi_context: bool = True) -> list[Any]:
        """The results of the last forward pass."""
        raise NotImplementedError

    def get_input_grads(self, merge_multi_context: bool = True) -> list[Any]:
        """The gradients of the data."""
        raise NotImplementedError

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Takes labels and the last results into a metric."""
        raise NotImplementedError

    def _has_several_copies(self) -> bool:
        """Whether parameters may have become different on several devices, or lie somewhere else."""
        return True

    def _metric_later(self, labels: Any, pre_sliced: bool) -> Callable[[Any], None] | None:
        """What takes labels and the last results into a metric, later; None where that cannot wait."""
        return None

    def install_monitor(self, mon: Any) -> None:
        """Lets a monitor look at what is computed."""
        raise NotImplementedError

    def get_states(self, merge_multi_context: bool = True) -> list[Any]:
        """What is kept from batch to batch: nothing, unless a kind of module keeps something."""
        require(self.binded and self.params_initialized, "call bind and init_params first")
        return []

    def set_states(self, states: Any = None, value: Any = None) -> None:
        """Sets what is kept from batch to batch."""
        require(self.binded and self.params_initialized, "call bind and init_params first")
        require(not states and not value, "this module keeps no states")

    def prepare(self, data_batch: Any, sparse_row_id_fn: Callable[..., Any] | None = None) -> None:
        """Gets ready for a batch, such as by fetching the rows of parameters that it needs."""

    # What follows from that.

    def set_params(
        self,
        arg_params: Mapping[str, Any] | None,
        aux_params: Mapping[str, Any] | None,
        allow_missing: bool = False,
        force_init: bool = True,
        allow_extra: bool = False,
    ) -> None:
        """Sets parameters and auxiliary states.

        Args:
          arg_params, aux_params: arrays by name.
          allow_missing: whether some may be missing.
          force_init: whether to set them where there are some already.
          allow_extra: whether names that the module does not have are passed over.
        """
        self.init_params(
            initializer=None,
            arg_params=arg_params,
            aux_params=aux_params,
            allow_missing=allow_missing,
            force_init=force_init,
            allow_extra=allow_extra,
        )

    def save_params(self, fname: str) -> None:
        """Saves parameters and auxiliary states to a file."""
        args, states = self.get_params()
        arrays = {f"arg:{name}": array.as_in_context(cpu()) for name, array in args.items()}
        arrays |= {f"aux:{name}": array.as_in_context(cpu()) for name, array in states.items()}
        save_arrays(fname, arrays)

    def load_params(self, fname: str) -> None:
        """Sets parameters and auxiliary states from a file.

        Raises:
          ValueError: the file has other arrays.
        """
        found: dict[str, dict[str, NDArray]] = {"arg": {}, "aux": {}}
        arrays = load_arrays(fname)
        for name, array in arrays.items() if isinstance(arrays, dict) else [("", None)]:
            kind, _, own = name.partition(":")
            if kind not in found or array is None:
                raise ValueError(f"Invalid param file {fname}")
            found[kind][own] = array
        self.set_params(found["arg"], found["aux"])

    def forward_backward(self, data_batch: Any) -> None:
        """Computes results and gradients of a batch."""
        self.forward(data_batch, is_train=True)
        self.backward()

    def score(
        self,
        eval_data: Any,
        eval_metric: Any,
        num_batch: int | None = None,
        batch_end_callback: Callbacks = None,
        score_end_callback: Callbacks = None,
        reset: bool = True,
        epoch: int = 0,
        sparse_row_id_fn: Callable[..., Any] | None = None,
    ) -> Results:
        """Computes metrics over an iterator.

        Args:
          eval_data: the iterator.
          eval_metric: a metric, or what `metric.create` takes.
          num_batch: how many batches at most.
          batch_end_callback, score_end_callback: called with a `BatchEndParam` after each batch and at
            the end; a function or a list of them.
          reset: whether the iterator goes back to its begin first.
          epoch: what the callbacks get to see.
          sparse_row_id_fn: as of `prepare`.

        Returns:
          Pairs of name and value.
        """
        require(self.binded and self.params_initialized, "call bind and init_params before score")
        if not isinstance(eval_metric, metrics.EvalMetric):
            eval_metric = metrics.create(eval_metric)
        eval_metric.reset()
        count = 0
        for nbatch, batch in self._run(eval_data, num_batch, reset, sparse_row_id_fn):
            self._update_metric(eval_metric, batch)
            _call(batch_end_callback, BatchEndParam(epoch, nbatch, eval_metric, locals()))
            count = nbatch + 1
        _call(score_end_callback, BatchEndParam(epoch, count, eval_metric, locals()))
        return eval_metric.get_name_value()

    def _run(
        self, data: Any, num_batch: int | None, reset: bool, rows: Callable[..., Any] | None
    ) -> Iterator[tuple[int, Any]]:
        """Runs forward over an iterator."""
        if reset:
            data.reset()
        for nbatch, batch in enumerate(data):
            if nbatch == num_batch:
                return
            self.prepare(batch, sparse_row_id_fn=rows)
            self.forward(batch, is_train=False)
            yield nbatch, batch

    def _update_metric(self, eval_metric: Any, batch: Any) -> None:
        if isinstance(batch, list):
            self.update_metric(eval_metric, [part.label for part in batch], pre_sliced=True)
        else:
            self.update_metric(eval_metric, batch.label)

    def iter_predict(
        self,
        eval_data: Any,
        num_batch: int | None = None,
        reset: bool = True,
        sparse_row_id_fn: Callable[..., Any] | None = None,
    ) -> Iterator[tuple[list[NDArray], int, Any]]:
        """Yields the results of each batch of an iterator without those of padding, the batch's number
        and the batch."""
        require(self.binded and self.params_initialized, "call bind and init_params first")
        for nbatch, batch in self._run(eval_data, num_batch, reset, sparse_row_id_fn):
            yield self._unpadded(batch), nbatch, batch

    def _unpadded(self, batch: Any) -> list[NDArray]:
        return [out[: out.shape[0] - (batch.pad or 0)] for out in self.get_outputs()]

    def predict(
        self,
        eval_data: Any,
        num_batch: int | None = None,
        merge_batches: bool = True,
        reset: bool = True,
        always_output_list: bool = False,
        sparse_row_id_fn: Callable[..., Any] | None = None,
    ) -> Any:
        """Computes results over an iterator.

        Args:
          eval_data: the iterator, or an array of data for one batch.
          num_batch: how many batches at most.
          merge_batches: whether the results of all batches are joined; otherwise they are a list with a
            list for each batch.
          reset: whether the iterator goes back to its begin first.
          always_output_list: whether a single result comes in a list too.
          sparse_row_id_fn: as of `prepare`.

        Returns:
          The results without those of padding: a list of arrays, or the array if there is one.

        Raises:
          ValueError: `eval_data` is of another kind.
          ArgumentError: batches have different numbers of results and are to be joined.
        """
        require(self.binded and self.params_initialized, "call bind and init_params first")
        if isinstance(eval_data, NDArray | np.ndarray):
            given = nd_array(eval_data) if isinstance(eval_data, np.ndarray) else eval_data
            self.forward(DataBatch([given]))
            return self.get_outputs()[0]
        if not isinstance(eval_data, DataIter):
            raise ValueError("eval_data must be of type NDArray or DataIter")
        batches = [
            [out.copy() for out in self._unpadded(batch)]
            for _, batch in self._run(eval_data, num_batch, reset, sparse_row_id_fn)
        ]
        if not batches or not merge_batches:
            return batches
        require(
            len({len(outputs) for outputs in batches}) == 1,
            "batches have different numbers of results; pass merge_batches=False",
        )
        joined = [
            parts[0] if len(parts) == 1 else concat(*parts, dim=0)
            for parts in zip(*batches, strict=True)
        ]
        return joined[0] if len(joined) == 1 and not always_output_list else joined

    def fit(
        self,
        train_data: Any,
        eval_data: Any = None,
        eval_metric: Any = "acc",
        epoch_end_callback: Callbacks = None,
        batch_end_callback: Callbacks = None,
        kvstore: Any = "local",
        optimizer: Any = "sgd",
        optimizer_params: Any = (("learning_rate", 0.01),),
        eval_end_callback: Callbacks = None,
        eval_batch_end_callback: Callbacks = None,
        initializer: Any = None,
        arg_params: Mapping[str, Any] | None = None,
        aux_params: Mapping[str, Any] | None = None,
        allow_missing: bool = False,
        force_rebind: bool = False,
        force_init: bool = False,
        begin_epoch: int = 0,
        num_epoch: int | None = None,
        validation_metric: Any = None,
        monitor: Any = None,
        sparse_row_id_fn: Callable[..., Any] | None = None,
        *,
        progress: bool = False,
    ) -> None:
        """Trains over an iterator.

        Binds, makes parameters and an optimizer, where that has not been done yet.

        Args:
          train_data: the iterator.
          eval_data: an iterator to score after each epoch.
          eval_metric: of training; a metric, or what `metric.create` takes.
          epoch_end_callback: called after each epoch with its number, the symbol, the parameters and the
            auxiliary states; a function or a list of them, as all callbacks.
          batch_end_callback: called after each batch with a `BatchEndParam`.
          kvstore: a store, its name, or None.
          optimizer: an optimizer or its name.
          optimizer_params: its arguments, a dict or pairs.
          eval_end_callback, eval_batch_end_callback: called after and while scoring.
          initializer: of parameters that are given no numbers; `Uniform(0.01)` by default.
          arg_params, aux_params: parameters to begin with.
          allow_missing: whether some of them may be missing.
          force_rebind: whether to bind again.
          force_init: whether to make parameters anew.
          begin_epoch: the number of the first epoch, of a training that goes on.
          num_epoch: the number of the last one, and one more.
          validation_metric: of scoring; that of training by default.
          monitor: looks at each batch.
          sparse_row_id_fn: as of `prepare`.
          progress: whether a bar on stderr shows how far each epoch is, and the metrics.

        Raises:
          ArgumentError: `num_epoch` is missing.
          ValueError: an epoch has no batch.
        """
        require(num_epoch is not None, "please specify number of epochs: num_epoch=")
        assert num_epoch is not None
        self.bind(
            data_shapes=train_data.provide_data,
            label_shapes=train_data.provide_label,
            for_training=True,
            force_rebind=force_rebind,
        )
        if monitor is not None:
            self.install_monitor(monitor)
        self.init_params(
            initializer=Uniform(0.01) if initializer is None else initializer,
            arg_params=arg_params,
            aux_params=aux_params,
            allow_missing=allow_missing,
            force_init=force_init,
        )
        self.init_optimizer(kvstore=kvstore, optimizer=optimizer, optimizer_params=optimizer_params)
        if validation_metric is None:
            validation_metric = eval_metric
        if not isinstance(eval_metric, metrics.EvalMetric):
            eval_metric = metrics.create(eval_metric)
        batches = None  # in an epoch, known after the first
        for epoch in range(begin_epoch, num_epoch):
            began = time.time()
            with tqdm(
                desc=f"Epoch[{epoch}]", total=batches, unit="batch", disable=not progress
            ) as bar:
                batches = self._fit_epoch(
                    epoch,
                    train_data,
                    eval_metric,
                    batch_end_callback,
                    monitor,
                    sparse_row_id_fn,
                    bar,
                )
            self.logger.info("Epoch[%d] Time cost=%.3f", epoch, time.time() - began)
            spread = self._has_several_copies()
            if spread or epoch_end_callback is not None:  # else nobody needs a copy
                arg_params, aux_params = self.get_params()
                if spread:
                    self.set_params(arg_params, aux_params)  # the same on all devices
                _call(epoch_end_callback, epoch, self.symbol, arg_params, aux_params)
            if eval_data is not None:
                found = self.score(
                    eval_data,
                    validation_metric,
                    score_end_callback=eval_end_callback,
                    batch_end_callback=eval_batch_end_callback,
                    epoch=epoch,
                )
                for name, value in found:
                    self.logger.info("Epoch[%d] Validation-%s=%f", epoch, name, value)
            train_data.reset()

    def _fit_epoch(
        self,
        epoch: int,
        train_data: Any,
        eval_metric: Any,
        batch_end_callback: Callbacks,
        monitor: Any,
        sparse_row_id_fn: Callable[..., Any] | None,
        bar: Any,
    ) -> int:
        """Trains over an epoch; returns its number of batches."""
        eval_metric.reset()
        results = _Results(self, eval_metric)
        try:
            return self._fit_batches(
                epoch, train_data, results, batch_end_callback, monitor, sparse_row_id_fn, bar
            )
        finally:  # also where the iterator or a callback ends the epoch
            results.settle()

    def _fit_batches(
        self,
        epoch: int,
        train_data: Any,
        results: "_Results",
        batch_end_callback: Callbacks,
        monitor: Any,
        sparse_row_id_fn: Callable[..., Any] | None,
        bar: Any,
    ) -> int:
        eval_metric = results.metric
        batches = iter(train_data)
        data_batch, nbatch = next(batches, None), 0
        if data_batch is None:
            raise ValueError(
                f"fit: train_data gives no batch in epoch {epoch}; it has no rows (or none but a rest "
                "that is discarded), or it is at its end and needs reset()"
            )
        totals: Results = []
        while data_batch is not None:
            if monitor is not None:
                monitor.tic()
            self._fit_step(data_batch)
            results.settle()  # those of the batch before, which are there by now
            results.take(data_batch)
            if monitor is not None or _reads_metric(batch_end_callback, nbatch):
                results.settle()
            following = next(batches, None)
            if following is not None:
                self.prepare(following, sparse_row_id_fn=sparse_row_id_fn)
            if monitor is not None:
                monitor.toc_print()
            if following is None:  # before a callback resets what came since the last one
                results.settle()
                totals = eval_metric.get_global_name_value()
            if bar.update() or (following is None and not bar.disable):
                results.settle()
                bar.set_postfix(eval_metric.get_name_value())
            _call(batch_end_callback, BatchEndParam(epoch, nbatch, eval_metric, locals()))
            data_batch, nbatch = following, nbatch + 1
        for name, value in totals:
            self.logger.info("Epoch[%d] Train-%s=%f", epoch, name, value)
        return nbatch

    def _fit_step(self, data_batch: Any) -> None:
        """Computes results and gradients of a batch and updates the parameters."""
        self.forward_backward(data_batch)
        self.update()


class _Results:
    """Takes the results of batches into a metric: each when the next batch is under way, as a metric
    waits for its numbers; at once where a kind of module, or a metric of one's own, might notice."""

    def __init__(self, module: BaseModule, metric: Any):
        self._module, self.metric = module, metric
        self._may_wait = _is_of_library(metric)
        self._left: Callable[[Any], None] | None = None

    def take(self, batch: Any) -> None:
        """Keeps the results of a batch."""
        if self._may_wait:
            sliced = isinstance(batch, list)
            labels = [part.label for part in batch] if sliced else batch.label
            self._left = self._module._metric_later(labels, sliced)
        if self._left is None:
            self._module._update_metric(self.metric, batch)

    def settle(self) -> None:
        """Takes in what was kept."""
        update, self._left = self._left, None
        if update is not None:
            update(self.metric)


def _is_of_library(metric: Any) -> bool:
    """Whether nobody's own code sees when a metric is updated."""
    if isinstance(metric, metrics.CustomMetric):
        return False
    parts = metric.metrics if isinstance(metric, metrics.CompositeEvalMetric) else []
    return type(metric).__module__.startswith(metrics.__name__) and all(map(_is_of_library, parts))


def _reads_metric(callbacks: Callbacks, nbatch: int) -> bool:
    """Whether a callback is going to look at the metric after a batch, as far as is known."""
    if callbacks is None:
        return False
    for each in callbacks if isinstance(callbacks, list | tuple) else [callbacks]:
        if type(each) not in (Speedometer, ProgressBar):  # a subclass may do otherwise
            return True
        if isinstance(each, Speedometer) and nbatch % each.frequent == 0:
            return True
    return False


def _call(callbacks: Callbacks, *args: Any) -> None:
    if callbacks is None:
        return
    for each in callbacks if isinstance(callbacks, list | tuple) else [callbacks]:
        each(*args)
