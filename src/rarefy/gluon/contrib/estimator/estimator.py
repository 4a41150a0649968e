"""Training and evaluating a network."""

import copy
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

from rarefy import metric as metrics
from rarefy.context import Context, current_context
from rarefy.gluon.block import HybridBlock
from rarefy.gluon.contrib.estimator.batch_processor import BatchProcessor, parts_of
from rarefy.gluon.contrib.estimator.event_handler import (
    BatchBegin,
    BatchEnd,
    EpochBegin,
    EpochEnd,
    EventHandler,
    GradientUpdateHandler,
    LoggingHandler,
    MetricHandler,
    StoppingHandler,
    TrainBegin,
    TrainEnd,
    ValidationHandler,
    metrics_of,
    printing_logger,
)
from rarefy.gluon.data import DataLoader
from rarefy.gluon.loss import Loss, SoftmaxCrossEntropyLoss
from rarefy.gluon.train_step import TrainStep
from rarefy.gluon.trainer import Trainer
from rarefy.initializer import Initializer, Uniform

Handlers = EventHandler | Sequence[EventHandler] | None

# What is called for an event, in the order of a training.
_EVENTS = {
    "train_begin": TrainBegin,
    "epoch_begin": EpochBegin,
    "batch_begin": BatchBegin,
    "batch_end": BatchEnd,
    "epoch_end": EpochEnd,
    "train_end": TrainEnd,
}


class Estimator:
    """Trains a network on batches, with handlers of what happens on the way.

    Where nothing needs the gradients themselves (one device, the batch processor and the update
    handler that are there by default) a batch is one compiled step, `gluon.TrainStep`.

    Args:
      net: a `Block`.
      loss: a `gluon.loss.Loss`.
      train_metrics: a metric or several; by default accuracy for `SoftmaxCrossEntropyLoss`. The mean
        of the loss is always there.
      val_metrics: the same of evaluations; by default copies of the others.
      initializer: of parameters that have no value yet; `Uniform` by default.
      trainer: a `gluon.Trainer`; by default SGD with learning rate 0.001, and a warning.
      context: a device or several; the current one by default.
      val_net: evaluated in place of `net`.
      val_loss: of evaluations, in place of `loss`.
      batch_processor: what is done with a batch.

    Attributes:
      logger: a `logging.Logger` that prints; change its handlers or level as you like.
      max_epoch, max_batch: how long the training that runs will last.
      batches_of_epoch: how many there are, None where the data does not say.

    Raises:
      ValueError: an argument is not of its kind.
    """

    def __init__(
        self,
        net: Any,
        loss: Loss,
        train_metrics: Any = None,
        val_metrics: Any = None,
        initializer: Initializer | None = None,
        trainer: Trainer | None = None,
        context: Context | Sequence[Context] | None = None,
        val_net: Any = None,
        val_loss: Loss | None = None,
        batch_processor: BatchProcessor | None = None,
    ):
        self.net = net
        self.loss = _of_kind("loss", loss, Loss, "a gluon.loss.Loss")
        self.val_net = net if val_net is None else val_net
        self.val_loss = (
            self.loss
            if val_loss is None
            else _of_kind("val_loss", val_loss, Loss, "a gluon.loss.Loss")
        )
        self.batch_processor = _of_kind(
            "batch_processor",
            BatchProcessor() if batch_processor is None else batch_processor,
            BatchProcessor,
            "a BatchProcessor",
        )
        self.logger = printing_logger()
        self.context = _contexts(context)
        self._initialize(initializer)
        self.trainer = self._trainer(trainer)
        self._train_metrics: list[metrics.EvalMetric] = metrics_of(train_metrics)
        if not self._train_metrics and isinstance(loss, SoftmaxCrossEntropyLoss):
            self._train_metrics = [metrics.Accuracy()]
        self._val_metrics = metrics_of(val_metrics)
        if not self._val_metrics:
            self._val_metrics = [copy.deepcopy(m) for m in self._train_metrics]
        self._train_metrics.append(metrics.Loss(_name_of(self.loss)))
        self._val_metrics.append(metrics.Loss(_name_of(self.val_loss)))
        for kind, group in (("training", self._train_metrics), ("validation", self._val_metrics)):
            for metric in group:
                if not metric.name.startswith(("training ", "validation ")):
                    metric.name = f"{kind} {metric.name}"
        self.max_epoch: int | None = None
        self.max_batch: int | None = None
        self.batch_axis = 0
        self.batches_of_epoch: int | None = None
        self.has_updated = False
        self._step: TrainStep | None = None

    @property
    def train_metrics(self) -> list[metrics.EvalMetric]:
        """The metrics of the training."""
        return self._train_metrics

    @property
    def val_metrics(self) -> list[metrics.EvalMetric]:
        """The metrics of evaluations."""
        return self._val_metrics

    def fit(
        self,
        train_data: Any,
        val_data: Any = None,
        epochs: int | None = None,
        event_handlers: Handlers = None,
        batches: int | None = None,
        batch_axis: int = 0,
    ) -> None:
        """Trains.

        Args:
          train_data: a `DataLoader`, a `DataIter`, or anything to iterate over anew for each epoch
            that yields pairs of data and label.
          val_data: the same to evaluate on after each epoch.
          epochs: how many, or
          batches: how many; one of the two.
          event_handlers: handlers besides those for stopping, updates, metrics, validation and
            logging, which are there unless one of their kind is given.
          batch_axis: the axis of rows.

        Raises:
          ValueError: not one of `epochs` and `batches` is given, or data or handlers are not of
            their kind.
        """
        if (epochs is None) == (batches is None):
            raise ValueError(
                f"fit: give epochs or batches, one of them; got epochs={epochs}, batches={batches}"
            )
        _require_data("train_data", train_data)
        if val_data is not None:
            _require_data("val_data", val_data)
        self.max_epoch, self.max_batch, self.batch_axis = epochs, batches, batch_axis
        self.batches_of_epoch = len(train_data) if hasattr(train_data, "__len__") else None
        handlers = self._with_defaults(event_handlers, val_data)
        self._step = self._compiled(handlers)
        call = _Calls(self, handlers)
        call("train_begin")
        over = self.max_epoch == 0 or self.max_batch == 0
        while not over:
            call("epoch_begin")
            count = 0
            for batch in _epoch(train_data):
                count += 1
                call("batch_begin", batch=batch)
                _, label, pred, loss = self._fit_batch(batch)
                over = call("batch_end", batch=batch, pred=pred, label=label, loss=loss)
                if over:
                    break
            if not count:
                raise ValueError(
                    "fit: train_data yields no batch; data that can be iterated over once, as a "
                    "generator, is at its end after one epoch"
                )
            over = call("epoch_end") or over
        call("train_end")

    def evaluate(
        self, val_data: Iterable[Any], batch_axis: int = 0, event_handlers: Handlers = None
    ) -> None:
        """Evaluates; the results are in `val_metrics`.

        Args:
          val_data: as `train_data` of `fit`.
          batch_axis: the axis of rows.
          event_handlers: handlers besides those for metrics and logging.

        Raises:
          ValueError: data or handlers are not of their kind.
        """
        _require_data("val_data", val_data)
        handlers = _handlers_of(event_handlers)
        if not any(isinstance(h, MetricHandler) for h in handlers):
            handlers.append(MetricHandler(self.val_metrics))
        self.batch_axis = batch_axis
        call = _Calls(self, handlers)
        call("epoch_begin")
        for batch in _epoch(val_data):
            call("batch_begin", batch=batch)
            _, label, pred, loss = self.batch_processor.evaluate_batch(self, batch, batch_axis)
            call("batch_end", batch=batch, pred=pred, label=label, loss=loss)
        call("epoch_end")

    def _fit_batch(self, batch: Any) -> tuple:
        self.has_updated = self._step is not None
        if self._step is None:
            return self.batch_processor.fit_batch(self, batch, self.batch_axis)
        data, label = parts_of(batch)
        loss, pred = self._step(data, label)
        return [data], [label], [pred], [loss]

    def _compiled(self, handlers: Sequence[EventHandler]) -> TrainStep | None:
        """The compiled step, where a batch can be one."""
        updates = [h for h in handlers if isinstance(h, GradientUpdateHandler)]
        plain = (
            type(self.batch_processor) is BatchProcessor
            and [type(h) for h in updates] == [GradientUpdateHandler]
            and len(self.context) == 1
            and self.batch_axis == 0
            and isinstance(self.net, HybridBlock)
        )
        if not plain:
            return None
        return self._step or TrainStep(self.net, self.loss, self.trainer, return_outputs=True)

    def _with_defaults(self, event_handlers: Handlers, val_data: Any) -> list[EventHandler]:
        handlers = _handlers_of(event_handlers)

        def lacks(kind: type) -> bool:
            return not any(isinstance(h, kind) for h in handlers)

        if lacks(StoppingHandler):
            handlers.append(StoppingHandler(self.max_epoch, self.max_batch))
        if lacks(GradientUpdateHandler):
            handlers.append(GradientUpdateHandler())
        if lacks(MetricHandler):
            handlers.append(MetricHandler(self.train_metrics))
        if val_data is not None and lacks(ValidationHandler):
            handlers.append(ValidationHandler(val_data, self.evaluate))
        if lacks(LoggingHandler):
            shown = [*self.train_metrics, *(self.val_metrics if val_data is not None else [])]
            handlers.append(LoggingHandler(metrics=shown))
        self._check_monitored(handlers)
        return handlers

    def _check_monitored(self, handlers: Sequence[EventHandler]) -> None:
        """A handler may read only metrics that move on."""
        known = [
            m for h in handlers if isinstance(h, MetricHandler | LoggingHandler) for m in h.metrics
        ]
        known += [*self.train_metrics, *self.val_metrics]
        for handler in handlers:
            monitor = getattr(handler, "monitor", None)
            if monitor is not None and not any(monitor is m for m in known):
                raise ValueError(
                    f"{type(handler).__name__}: monitor {monitor!s} is none of this estimator's "
                    "metrics and would never move on; take one of estimator.train_metrics or "
                    "estimator.val_metrics"
                )

    def _initialize(self, initializer: Initializer | None) -> None:
        params = self.net.collect_params()
        waiting = [p for p in params.values() if not p._is_ready()]
        if waiting:
            self.net.initialize(initializer or Uniform(), ctx=self.context)
        elif initializer is not None:
            warnings.warn(
                "the network is initialized already and keeps its values; call "
                "net.initialize(init, force_reinit=True) for new ones",
                stacklevel=3,
            )

    def _trainer(self, trainer: Trainer | None) -> Trainer:
        if trainer is None:
            warnings.warn("no trainer is given: SGD with learning rate 0.001 is used", stacklevel=3)
            return Trainer(self.net.collect_params(), "sgd", {"learning_rate": 0.001})
        return _of_kind("trainer", trainer, Trainer, "a gluon.Trainer")


class _Calls:
    """Calls the handlers of an event in their order."""

    def __init__(self, estimator: Estimator, handlers: Sequence[EventHandler]):
        self._estimator = estimator
        ordered = sorted(handlers, key=lambda h: getattr(h, "priority", 0))
        self._handlers = {
            event: [h for h in ordered if isinstance(h, kind)] for event, kind in _EVENTS.items()
        }

    def __call__(self, event: str, **what: Any) -> bool:
        """Whether one of them ends the training."""
        answers = [getattr(h, event)(self._estimator, **what) for h in self._handlers[event]]
        return any(answer is True for answer in answers)


def _of_kind(name: str, value: Any, kind: type, text: str) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"{name} must be {text}; got {type(value).__name__}")
    return value


def _contexts(context: Any) -> list[Context]:
    listed = list(context) if isinstance(context, list | tuple) else [context]
    listed = [current_context() if c is None else c for c in listed]
    for each in listed:
        if not isinstance(each, Context):
            raise ValueError(
                f"context must be a Context or a list of them, as mx.cpu(); got {each!r}"
            )
    return listed


def _name_of(loss: Loss) -> str:
    name = getattr(loss, "name", "") or type(loss).__name__
    return name.rstrip("0123456789").rstrip("_") or name


def _require_data(name: str, data: Any) -> None:
    if isinstance(data, DataLoader) or hasattr(data, "reset"):
        return
    if not isinstance(data, Iterable) or isinstance(data, str | bytes | dict):
        raise ValueError(
            f"{name} must be a gluon.data.DataLoader, a DataIter or an iterable of pairs of data and "
            f"label; got {type(data).__name__}"
        )


def _handlers_of(event_handlers: Handlers) -> list[EventHandler]:
    if event_handlers is None:
        return []
    listed: list[Any] = (
        list(event_handlers) if isinstance(event_handlers, list | tuple) else [event_handlers]
    )
    for each in listed:
        if not isinstance(each, EventHandler):
            raise ValueError(f"event_handlers must be EventHandler or a list of them; got {each!r}")
    return listed


def _epoch(data: Any) -> Any:
    """An epoch of batches: a `DataIter` starts anew."""
    if hasattr(data, "reset"):
        data.reset()
    return data
