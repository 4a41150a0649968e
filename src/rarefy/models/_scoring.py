"""Metrics that fit a loss, and models held against rows with labels."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from rarefy.io import RowBatch
from rarefy.metric import (
    Running,
    RunningAUC,
    RunningCoarseAUC,
    RunningMean,
    RunningRMSE,
    accuracy,
    logistic_loss,
    mae,
    softmax_loss,
)
from rarefy.models._model import Model
from rarefy.models._problem import Problem

MAIN_METRIC = {"squared": "rmse", "logistic": "log_loss", "softmax": "log_loss"}
"""By loss: what says how good a model is. Smaller is better."""

_MAKERS: dict[str, dict[str, Any]] = {
    "squared": {"rmse": RunningRMSE, "mae": lambda: RunningMean(mae)},
    "logistic": {
        "log_loss": lambda: RunningMean(logistic_loss),
        "auc": RunningAUC,
        "accuracy": lambda: RunningMean(accuracy),
    },
    "softmax": {
        "log_loss": lambda: RunningMean(softmax_loss),
        "accuracy": lambda: RunningMean(accuracy),
    },
}


def metric_names(loss: str) -> list[str]:
    """The metrics that fit a loss, the main one first."""
    return list(_MAKERS[loss])


def running_metrics(loss: str, *, coarse: bool = False) -> dict[str, Running]:
    """Accumulators of the metrics that fit a loss.

    Args:
      loss: 'squared', 'logistic' or 'softmax'.
      coarse: whether the AUC may be rounded to keep its memory constant.
    """
    made = {name: make() for name, make in _MAKERS[loss].items()}
    if coarse and "auc" in made:
        made["auc"] = RunningCoarseAUC()
    return made


def evaluate(model: Model, batches: Iterable[RowBatch], source: str = "") -> dict[str, float]:
    """Holds a model against rows with labels.

    Args:
      model: the model.
      batches: rows of its width.
      source: where they come from, for messages.

    Returns:
      The number of rows and the metrics that fit the loss.

    Raises:
      ValueError: a label is none of the model's classes, the rows have none, or a row is not one that
        the model is made for.
    """
    problem = Problem(model.header.loss, model.header.classes, "")
    metrics = running_metrics(problem.loss)
    rows = 0
    for batch in batches:
        labels = labels_of(batch)
        if problem.classes is not None:
            labels = problem.encode(labels, batch.first_row, source)
        scores = model.scores(batch.to_scipy(), batch.first_row, source)
        for metric in metrics.values():
            metric.update(labels, scores, batch.weights)
        rows += batch.rows
    return {"rows": rows, **{name: metric.value() for name, metric in metrics.items()}}


def labels_of(batch: RowBatch) -> np.ndarray:
    """The labels of a batch, one a row; raises ValueError without."""
    if batch.labels is None:
        raise ValueError("the rows have no labels, or lists of labels; one label a row is needed")
    return batch.labels
