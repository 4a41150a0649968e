"""Metrics of probabilities of two classes: the area under the curve, and the log loss."""

from typing import Any

import numpy as np

from rarefy.metric._metric import EvalMetric, Names, alias, pairs, register
from rarefy.metric._scores import RunningAUC


@register
@alias("roc_auc")
class AUC(EvalMetric):
    """Area under the ROC curve: how often an example of the class 1 scores above one of the class 0,
    ties counting half. Exact: scores are kept, some bytes an example.

    Labels are 0 and 1. Predictions are scores `(rows,)` or `(rows, 1)`, or of both classes `(rows, 2)`.
    NaN while a class is absent.

    Args:
      name, output_names, label_names: of `EvalMetric`.
    """

    def __init__(self, name: str = "auc", output_names: Names = None, label_names: Names = None):
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def reset(self) -> None:
        super().reset()
        self._all = RunningAUC()

    def reset_local(self) -> None:
        super().reset_local()
        self._since = RunningAUC()

    def update(self, labels: Any, preds: Any) -> None:
        for label, pred in pairs(labels, preds):
            label, score = label.reshape(-1), _of_class_one(pred, "AUC")
            self._since.update(label, score)
            self._all.update(label, score)
            self.num_inst += len(label)
            self.global_num_inst += len(label)

    def get(self) -> tuple[str, float]:
        return self.name, self._since.value()

    def get_global(self) -> tuple[str, float]:
        return self.name, self._all.value()


@register
@alias("log_loss", "binary_log_loss")
class LogLoss(EvalMetric):
    """Mean of `-log` of the probability given to what happened, of two classes.

    Labels are 0 and 1. Predictions are probabilities of the class 1, `(rows,)` or `(rows, 1)`, or of
    both classes, `(rows, 2)`.

    Args:
      eps: probabilities are kept within `[eps, 1 - eps]`, so that one mistake is not infinitely bad.
      name, output_names, label_names: of `EvalMetric`.
    """

    def __init__(
        self,
        eps: float = 1e-12,
        name: str = "log_loss",
        output_names: Names = None,
        label_names: Names = None,
    ):
        super().__init__(name, output_names, label_names, eps=eps, has_global_stats=True)
        self.eps = eps

    def update(self, labels: Any, preds: Any) -> None:
        for label, pred in pairs(labels, preds):
            label = label.reshape(-1)
            p = np.clip(_of_class_one(pred, "LogLoss").astype(np.float64), self.eps, 1 - self.eps)
            if label.shape != p.shape or not np.isin(label, (0, 1)).all():
                raise ValueError(
                    f"LogLoss: there must be a label, 0 or 1, for each of the {len(p)} predictions; "
                    f"got {label.shape[0]} labels from {label.min()} to {label.max()}"
                )
            losses = np.where(label == 1, -np.log(p), -np.log1p(-p))
            self._add(float(losses.sum()), len(losses))


def _of_class_one(pred: np.ndarray, name: str) -> np.ndarray:
    if pred.ndim == 2 and pred.shape[1] <= 2:
        return pred[:, -1]
    if pred.ndim != 1:
        raise ValueError(
            f"{name}: predictions must be (rows,), (rows, 1) or (rows, 2); got {pred.shape}"
        )
    return pred
