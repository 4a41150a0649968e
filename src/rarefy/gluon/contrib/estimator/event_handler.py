"""What can happen while an estimator trains, and those who act on it.

A handler is of one or more of `TrainBegin`, `EpochBegin`, `BatchBegin`, `BatchEnd`, `EpochEnd` and
`TrainEnd`. It is called with the estimator and, for a batch, with `batch`, `pred`, `label` and `loss`
by name. `batch_end` and `epoch_end` may return True to end the training. Handlers of one event are
called in the order of their `priority`, the lowest first; one without is called as if it were 0.
"""

import logging
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

from tqdm import tqdm

from rarefy.gluon.contrib.estimator._improvement import Improvement
from rarefy.metric import CompositeEvalMetric, EvalMetric
from rarefy.metric import Loss as LossMetric


class EventHandler:
    """Base of all handlers."""


class TrainBegin(EventHandler):
    """Acts before the first epoch."""

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Called once."""


class TrainEnd(EventHandler):
    """Acts after the last epoch."""

    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Called once, also where a handler ended the training."""


class EpochBegin(EventHandler):
    """Acts before an epoch."""

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Called for each epoch."""


class EpochEnd(EventHandler):
    """Acts after an epoch."""

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool | None:
        """Called for each epoch. Returns True to end the training."""
        return False


class BatchBegin(EventHandler):
    """Acts before a batch."""

    def batch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Called with `batch`."""


class BatchEnd(EventHandler):
    """Acts after a batch."""

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool | None:
        """Called with `batch`, `pred`, `label`, `loss`. Returns True to end the training."""
        return False


class StoppingHandler(TrainBegin, BatchEnd, EpochEnd):
    """Ends the training after a number of epochs or of batches.

    Args:
      max_epoch: epochs; None for any number.
      max_batch: batches; None for any number.

    Attributes:
      current_batch, current_epoch: how many there were.
      stop_training: whether it is over.
    """

    def __init__(self, max_epoch: int | None = None, max_batch: int | None = None):
        self.max_epoch = max_epoch
        self.max_batch = max_batch
        self.current_batch = self.current_epoch = 0
        self.stop_training = False

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Starts to count; the estimator's own limits count where it has them."""
        self.max_epoch = estimator.max_epoch
        self.max_batch = estimator.max_batch
        self.current_batch = self.current_epoch = 0
        self.stop_training = self.max_epoch == 0 or self.max_batch == 0

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Counts a batch."""
        self.current_batch += 1
        self.stop_training |= self.current_batch == self.max_batch
        return self.stop_training

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Counts an epoch."""
        self.current_epoch += 1
        self.stop_training |= self.current_epoch == self.max_epoch
        return self.stop_training


class MetricHandler(EpochBegin, BatchEnd):
    """Moves metrics on with each batch.

    Args:
      metrics: of the training; a `metric.Loss` gets the loss.
      priority: low, so that other handlers see the new values.
    """

    def __init__(self, metrics: EvalMetric | Sequence[EvalMetric], priority: float = -1000):
        self.metrics = metrics_of(metrics)
        self.priority = priority

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Starts the metrics anew."""
        for metric in self.metrics:
            metric.reset()

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Takes a batch in."""
        for metric in self.metrics:
            if isinstance(metric, LossMetric):
                metric.update(0, kwargs["loss"])
            else:
                metric.update(kwargs["label"], kwargs["pred"])
        return False


class ValidationHandler(TrainBegin, BatchEnd, EpochEnd):
    """Evaluates on validation data from time to time.

    Args:
      val_data: what `eval_fn` takes.
      eval_fn: called with `val_data`, `batch_axis` and `event_handlers`.
      epoch_period: after so many epochs; None for never.
      batch_period: after so many batches; None for never.
      priority: low, so that other handlers see the new values.
      event_handlers: of the evaluation.
    """

    def __init__(
        self,
        val_data: Any,
        eval_fn: Callable[..., Any],
        epoch_period: int | None = 1,
        batch_period: int | None = None,
        priority: float = -1000,
        event_handlers: Any = None,
    ):
        self.val_data = val_data
        self.eval_fn = eval_fn
        self.epoch_period = epoch_period
        self.batch_period = batch_period
        self.priority = priority
        self.event_handlers = event_handlers
        self.current_batch = self.current_epoch = 0

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Starts to count."""
        self.current_batch = self.current_epoch = 0

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Evaluates where the period is over."""
        self.current_batch += 1
        if self.batch_period and self.current_batch % self.batch_period == 0:
            self._evaluate(estimator)
        return False

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Evaluates where the period is over."""
        self.current_epoch += 1
        if self.epoch_period and self.current_epoch % self.epoch_period == 0:
            self._evaluate(estimator)
        return False

    def _evaluate(self, estimator: Any) -> None:
        self.eval_fn(
            val_data=self.val_data,
            batch_axis=estimator.batch_axis,
            event_handlers=self.event_handlers,
        )


class GradientUpdateHandler(BatchEnd):
    """Lets the trainer update the parameters after each batch.

    Args:
      priority: lowest of all.
    """

    def __init__(self, priority: float = -2000):
        self.priority = priority

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Updates, unless the batch's compiled step has done so."""
        if not estimator.has_updated:
            estimator.trainer.step(rows_of(kwargs["loss"], estimator.batch_axis))
        return False


class LoggingHandler(TrainBegin, TrainEnd, EpochBegin, EpochEnd, BatchBegin, BatchEnd):
    """Logs how the training goes, by the estimator's `logger`.

    Args:
      log_interval: 'epoch', or every so many batches.
      metrics: whose values are logged.
      priority: high, so that the metrics have moved on.

    Raises:
      ValueError: `log_interval` is neither.
    """

    def __init__(
        self,
        log_interval: int | str = "epoch",
        metrics: EvalMetric | Sequence[EvalMetric] | None = None,
        priority: float = math.inf,
    ):
        if log_interval != "epoch" and (
            not isinstance(log_interval, int) or isinstance(log_interval, bool) or log_interval < 1
        ):
            raise ValueError(
                f"log_interval must be 'epoch' or a positive int; got {log_interval!r}"
            )
        self.log_interval = log_interval
        self.metrics = metrics_of(metrics)
        self.priority = priority
        self.batch_index = self.current_epoch = self.processed_samples = 0
        self._begun = self._epoch_begun = self._interval_begun = 0.0

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Logs optimizer, learning rate and length."""
        self._begun = self._interval_begun = time.monotonic()
        self.batch_index = self.current_epoch = self.processed_samples = 0
        trainer = estimator.trainer
        estimator.logger.info(
            "Training begin: using optimizer %s with current learning rate %.4f",
            type(trainer.optimizer).__name__,
            trainer.learning_rate,
        )
        if estimator.max_epoch is not None:
            estimator.logger.info("Train for %d epochs.", estimator.max_epoch)
        else:
            estimator.logger.info("Train for %d batches.", estimator.max_batch)

    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Logs the time and the metrics at the end."""
        seconds = time.monotonic() - self._begun
        text = f"Train finished using total {seconds:.0f}s with {self.current_epoch} epochs."
        estimator.logger.info("%s", " ".join([text, self._values()]).rstrip())

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Starts an epoch's clock."""
        self._epoch_begun = self._interval_begun = time.monotonic()
        self.batch_index = 0
        text = f"[Epoch {self.current_epoch}] Begin"
        if _is_training_metric(self.metrics):
            rate = estimator.trainer.learning_rate
            estimator.logger.info("%s, current learning rate: %.4f", text, rate)
        else:
            estimator.logger.info("%s", text)

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Logs an epoch's time and metrics."""
        seconds = time.monotonic() - self._epoch_begun
        parts = [f"[Epoch {self.current_epoch}] Finished in {seconds:.3f}s", self._values()]
        estimator.logger.info("%s", ", ".join(part for part in parts if part))
        self.current_epoch += 1
        self.batch_index = 0
        return False

    def batch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Nothing: the clock runs on from the last batch that was logged."""

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Logs a batch where the interval is over."""
        self.batch_index += 1
        self.processed_samples += rows_of(kwargs["loss"], estimator.batch_axis)
        if self.log_interval != "epoch" and self.batch_index % int(self.log_interval) == 0:
            now = time.monotonic()
            text = (
                f"[Epoch {self.current_epoch}][Batch {self.batch_index}][Samples "
                f"{self.processed_samples}] time/interval: {now - self._interval_begun:.3f}s"
            )
            self._interval_begun = now
            estimator.logger.info("%s", ", ".join(p for p in (text, self._values()) if p))
        return False

    def _values(self) -> str:
        return ", ".join(
            f"{name}: {value:.4f}"
            for metric in self.metrics
            for name, value in metric.get_name_value()
        )


class ProgressBarHandler(TrainBegin, EpochBegin, BatchEnd, EpochEnd, TrainEnd):
    """Shows a bar of batches with the metrics, an epoch a bar, on the standard error stream.

    Args:
      metrics: whose values are shown.
      total: batches of an epoch; by default as many as the data says it has, if it does.
      every: the metrics are read every so many batches, as reading them waits for the device.
      file: where the bar goes instead.
      priority: high, so that the metrics have moved on.
    """

    def __init__(
        self,
        metrics: EvalMetric | Sequence[EvalMetric] | None = None,
        total: int | None = None,
        every: int = 10,
        file: Any = None,
        priority: float = math.inf,
    ):
        self.metrics = metrics_of(metrics)
        self.total = total
        self.every = every
        self.file = file
        self.priority = priority
        self._epoch = 0
        self._bar: Any = None

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Starts to count epochs."""
        self._epoch = 0

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Opens a bar."""
        total = self.total if self.total is not None else estimator.batches_of_epoch
        self._bar = tqdm(
            total=total,
            desc=f"epoch {self._epoch}",
            unit="batch",
            file=self.file,
            dynamic_ncols=True,
        )

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Moves the bar on."""
        self._bar.update()
        if self._bar.n % self.every == 0:
            self._show()
        return False

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Closes the bar."""
        self._show()
        self._bar.close()
        self._epoch += 1
        return False

    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Closes a bar that an epoch cut short has left."""
        if self._bar is not None:
            self._bar.close()

    def _show(self) -> None:
        values = [pair for metric in self.metrics for pair in metric.get_name_value()]
        self._bar.set_postfix({name: f"{value:.4f}" for name, value in values}, refresh=False)


class EarlyStoppingHandler(TrainBegin, EpochEnd, TrainEnd):
    """Ends the training when a metric has stopped improving.

    Args:
      monitor: a metric of the estimator.
      min_delta: the least change that counts as an improvement.
      patience: after so many epochs in a row without one the training ends.
      mode: 'min', 'max' or 'auto', by the metric's name.
      baseline: a value that has to be beaten from the start.

    Raises:
      ValueError: `monitor` is no metric.
    """

    def __init__(
        self,
        monitor: EvalMetric,
        min_delta: float = 0,
        patience: int = 0,
        mode: str = "auto",
        baseline: float | None = None,
    ):
        self.monitor = monitor
        self.patience = patience
        self.stopped_epoch = self.wait = self.current_epoch = 0
        self.stop_training = False
        self._best = Improvement(monitor, mode, min_delta, baseline, type(self).__name__)

    @property
    def best(self) -> float:
        """The best value so far."""
        return self._best.best

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Forgets the values of an earlier training."""
        self.stopped_epoch = self.wait = self.current_epoch = 0
        self.stop_training = False
        self._best.restart()

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Looks at the metric."""
        name, value = self._best.value()
        if math.isnan(value):
            estimator.logger.warning("%s is nan: is it updated in each epoch?", name)
        if self._best.seen(value):
            self.wait = 0
        else:
            self.wait += 1
            if self.wait >= max(self.patience, 1):
                self.stopped_epoch = self.current_epoch
                self.stop_training = True
        self.current_epoch += 1
        return self.stop_training

    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Says why the training ended."""
        if self.stop_training:
            estimator.logger.info(
                "[Epoch %d] EarlyStoppingHandler: early stopping due to %s not improving",
                self.stopped_epoch,
                self.monitor.get()[0],
            )


def metrics_of(metrics: Any) -> list[EvalMetric]:
    """Metrics as a list; the parts of a composite one.

    Raises:
      ValueError: one is no metric.
    """
    if metrics is None:
        return []
    if isinstance(metrics, CompositeEvalMetric):
        return list(metrics.metrics)
    listed = list(metrics) if isinstance(metrics, list | tuple) else [metrics]
    for metric in listed:
        if not isinstance(metric, EvalMetric):
            raise ValueError(
                f"metrics must be an EvalMetric or a list of them; got {metric!r}. "
                "rarefy.metric.create('acc') makes one by name"
            )
    return listed


def printing_logger() -> logging.Logger:
    """A logger of its own that prints what it is told from level INFO on."""
    logger = logging.Logger("Estimator", logging.INFO)
    logger.addHandler(_Printing())
    return logger


class _Printing(logging.Handler):
    """Prints records; standard output is looked up each time, as it may be redirected."""

    def emit(self, record: logging.LogRecord) -> None:
        print(self.format(record), flush=True)


def _is_training_metric(metrics: Sequence[EvalMetric]) -> bool:
    return any("training" in str(metric.name) for metric in metrics)


def rows_of(loss: Any, batch_axis: int) -> int:
    """How many rows a batch has whose losses are given, an array or a list of them."""
    losses = loss if isinstance(loss, list | tuple) else [loss]
    return sum(each.shape[batch_axis] if each.shape else 1 for each in losses)
