"""What `fit` calls after batches and epochs: logs of speed and metrics, checkpoints.

A callback of a batch gets a `BatchEndParam`; one of an epoch gets the epoch's number, the symbol and
the parameters.
"""

import logging
import math
import time
from collections.abc import Callable
from typing import Any

from rarefy.model import save_checkpoint


def module_checkpoint(
    mod: Any, prefix: str, period: int = 1, save_optimizer_states: bool = False
) -> Callable[..., None]:
    """A callback of an epoch that saves a module.

    Args:
      mod: the module.
      prefix: what the names of the files begin with.
      period: how many epochs lie between two saves.
      save_optimizer_states: whether the optimizer's states are saved too.
    """
    period = max(1, int(period))

    def save(iter_no: int, sym: Any = None, arg: Any = None, aux: Any = None) -> None:
        if (iter_no + 1) % period == 0:
            mod.save_checkpoint(prefix, iter_no + 1, save_optimizer_states)

    return save


def do_checkpoint(prefix: str, period: int = 1) -> Callable[..., None]:
    """A callback of an epoch that saves the symbol and the parameters, as `model.save_checkpoint` does.

    Args:
      prefix: what the names of the files begin with.
      period: how many epochs lie between two saves.
    """
    period = max(1, int(period))

    def save(iter_no: int, sym: Any, arg: Any, aux: Any) -> None:
        if (iter_no + 1) % period == 0:
            save_checkpoint(prefix, iter_no + 1, sym, arg, aux)

    return save


def log_train_metric(period: int, auto_reset: bool = False) -> Callable[[Any], None]:
    """A callback of a batch that logs the training metric.

    Args:
      period: how many batches lie between two logs.
      auto_reset: whether the metric starts anew after each.
    """

    def log(param: Any) -> None:
        if param.nbatch % period == 0 and param.eval_metric is not None:
            for name, value in param.eval_metric.get_name_value():
                logging.info(
                    "Iter[%d] Batch[%d] Train-%s=%f", param.epoch, param.nbatch, name, value
                )
            if auto_reset:
                param.eval_metric.reset_local()

    return log


class Speedometer:
    """A callback of a batch that logs examples a second and the training metric.

    Args:
      batch_size: examples in a batch.
      frequent: how many batches lie between two logs.
      auto_reset: whether the metric starts anew after each log.
    """

    def __init__(self, batch_size: int, frequent: int = 50, auto_reset: bool = True):
        self.batch_size = batch_size
        self.frequent = frequent
        self.auto_reset = auto_reset
        self.init = False
        self.tic = 0.0
        self.last_count = 0

    def __call__(self, param: Any) -> None:
        count = param.nbatch
        if count < self.last_count:  # a new epoch
            self.init = False
        self.last_count = count
        if not self.init:
            self.init, self.tic = True, time.perf_counter()
            return
        if count % self.frequent:
            return
        took = time.perf_counter() - self.tic
        speed = self.frequent * self.batch_size / took if took else float("inf")
        if param.eval_metric is None:
            logging.info("Iter[%d] Batch [%d]\tSpeed: %.2f samples/sec", param.epoch, count, speed)
        else:
            pairs = param.eval_metric.get_name_value()
            first = count - self.frequent if self.auto_reset else 0
            if self.auto_reset:
                param.eval_metric.reset_local()
            logging.info(
                "Epoch[%d] Batch [%d-%d]\tSpeed: %.2f samples/sec" + "\t%s=%f" * len(pairs),
                param.epoch,
                first,
                count,
                speed,
                *(part for pair in pairs for part in pair),
            )
        self.tic = time.perf_counter()


class ProgressBar:
    """A callback of a batch that logs a bar of how far the epoch is.

    Args:
      total: batches in an epoch.
      length: characters in the bar.
    """

    def __init__(self, total: int, length: int = 80):
        self.total = total
        self.bar_len = length

    def __call__(self, param: Any) -> None:
        done = param.nbatch / float(self.total)
        filled = round(self.bar_len * done)
        bar = "=" * filled + "-" * (self.bar_len - filled)
        logging.info("[%s] %s%s\r", bar, math.ceil(100 * done), "%")


class LogValidationMetricsCallback:
    """A callback at the end of a validation that logs its metrics."""

    def __call__(self, param: Any) -> None:
        if not param.eval_metric:
            return
        for name, value in param.eval_metric.get_name_value():
            logging.info("Epoch[%d] Validation-%s=%f", param.epoch, name, value)
