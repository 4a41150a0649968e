"""Metrics of classes: which are predicted, and with what probability."""

import math
from typing import Any

import numpy as np

from rarefy.base import ArgumentError
from rarefy.metric._metric import (
    EvalMetric,
    Names,
    alias,
    check_label_shapes,
    pairs,
    register,
)


@register
@alias("acc")
class Accuracy(EvalMetric):
    """Share of labels that are predicted.

    Args:
      axis: axis of the classes, where a prediction has one more than its label; otherwise it is a
        class.
      name, output_names, label_names: of `EvalMetric`.
    """

    def __init__(
        self,
        axis: int = 1,
        name: str = "accuracy",
        output_names: Names = None,
        label_names: Names = None,
    ):
        super().__init__(name, output_names, label_names, axis=axis, has_global_stats=True)
        self.axis = axis

    def update(self, labels: Any, preds: Any) -> None:
        for label, pred in pairs(labels, preds):
            classes = pred if pred.shape == label.shape else pred.argmax(axis=self.axis)
            found, wanted = classes.astype(np.int32).ravel(), label.astype(np.int32).ravel()
            check_label_shapes(wanted, found)
            self._add(int((found == wanted).sum()), len(found))


@register
@alias("top_k_accuracy", "top_k_acc")
class TopKAccuracy(EvalMetric):
    """Share of labels that are among the `top_k` most probable classes.

    Args:
      top_k: at least 2.
      name: `_` and the number are added.
      output_names, label_names: of `EvalMetric`.

    Raises:
      ArgumentError: `top_k` is below 2.
      ValueError: when updated, a prediction has more than two dimensions.
    """

    def __init__(
        self,
        top_k: int = 1,
        name: str = "top_k_accuracy",
        output_names: Names = None,
        label_names: Names = None,
    ):
        if top_k < 2:
            raise ArgumentError(f"top_k must be at least 2; got {top_k}. Use Accuracy for 1")
        super().__init__(name, output_names, label_names, top_k=top_k, has_global_stats=True)
        self.top_k = top_k
        self.name = f"{self.name}_{top_k}"

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        return {**config, "name": self.name.removesuffix(f"_{self.top_k}")}

    def update(self, labels: Any, preds: Any) -> None:
        for label, pred in pairs(labels, preds):
            if pred.ndim > 2:
                raise ValueError(f"predictions have at most two dimensions; got shape {pred.shape}")
            wanted = label.astype(np.int32).ravel()
            check_label_shapes(wanted, pred)
            if pred.ndim == 1:
                found = pred.astype(np.int32)[:, None]
            else:
                k = min(self.top_k, pred.shape[1])
                found = np.argpartition(pred.astype(np.float32), -k)[:, -k:]
            self._add(int((found == wanted[:, None]).sum()), len(wanted))


class _Binary(EvalMetric):
    """A score of the counts of a binary problem: `counts[label, prediction]`."""

    def __init__(self, name: str, output_names: Names, label_names: Names, average: str):
        self.average = average
        super().__init__(name, output_names, label_names, average=average, has_global_stats=True)

    def _score(self, counts: np.ndarray) -> float:
        raise NotImplementedError

    def update(self, labels: Any, preds: Any) -> None:
        batch = np.zeros((2, 2), np.int64)
        for label, pred in pairs(labels, preds):
            wanted = label.astype(np.int32)
            if len(np.unique(wanted)) > 2:
                raise ValueError(f"{type(self).__name__} is for binary labels; use PCC for more")
            check_label_shapes(wanted, pred)
            found = pred.argmax(axis=1) == 1
            np.add.at(batch, ((wanted.ravel() == 1).astype(int), found.ravel().astype(int)), 1)
        if self.average == "macro":
            self._add(self._score(batch), 1)
            return
        self._counts += batch
        self._global_counts += batch
        self.num_inst, self.global_num_inst = (
            int(c.sum()) for c in (self._counts, self._global_counts)
        )
        self.sum_metric = self._score(self._counts) * self.num_inst
        self.global_sum_metric = self._score(self._global_counts) * self.global_num_inst

    def reset(self) -> None:
        super().reset()
        self._global_counts = np.zeros((2, 2), np.int64)

    def reset_local(self) -> None:
        super().reset_local()
        self._counts = np.zeros((2, 2), np.int64)


@register
class F1(_Binary):
    """Harmonic mean of precision and recall of the class 1 of two; 0 where both are.

    Args:
      name, output_names, label_names: of `EvalMetric`.
      average: 'macro' for the mean of the scores of all updates, 'micro' for the score of all rows.
    """

    def __init__(
        self,
        name: str = "f1",
        output_names: Names = None,
        label_names: Names = None,
        average: str = "macro",
    ):
        super().__init__(name, output_names, label_names, average)

    def _score(self, counts: np.ndarray) -> float:
        true, wrong = int(counts[1, 1]), int(counts[0, 1] + counts[1, 0])
        return 2 * true / (2 * true + wrong) if true else 0.0


@register
class MCC(_Binary):
    """Matthews' correlation coefficient of two classes.

    (TP * TN - FP * FN) / sqrt((TP + FP) (TP + FN) (TN + FP) (TN + FN)), where a factor of 0 counts 1.

    Args:
      name, output_names, label_names: of `EvalMetric`.
      average: 'macro' for the mean of the scores of all updates, 'micro' for the score of all rows.
    """

    def __init__(
        self,
        name: str = "mcc",
        output_names: Names = None,
        label_names: Names = None,
        average: str = "macro",
    ):
        super().__init__(name, output_names, label_names, average)

    def _score(self, counts: np.ndarray) -> float:
        factors = [float(s) or 1.0 for s in (*counts.sum(axis=0), *counts.sum(axis=1))]
        diagonal = float(counts[0, 0]) * float(counts[1, 1])
        return (diagonal - float(counts[0, 1]) * float(counts[1, 0])) / math.sqrt(
            math.prod(factors)
        )


@register
class PCC(EvalMetric):
    """Matthews' correlation coefficient of any number of classes: Pearson's of the confusion matrix.

    NaN while only one class has occurred among labels or among predictions.

    Args:
      name, output_names, label_names, has_global_stats: of `EvalMetric`.

    Attributes:
      lcm, gcm: the confusion matrix since the last reset and since `reset`, a row for each class that
        is predicted.
    """

    def __init__(
        self,
        name: str = "pcc",
        output_names: Names = None,
        label_names: Names = None,
        has_global_stats: bool = True,
    ):
        super().__init__(name, output_names, label_names, has_global_stats=has_global_stats)

    def update(self, labels: Any, preds: Any) -> None:
        for label, pred in pairs(labels, preds):
            wanted = label.astype(np.int32).ravel()
            found = pred if pred.shape == label.shape else pred.argmax(axis=1)
            found = found.astype(np.int32).ravel()
            check_label_shapes(wanted, found)
            k = 1 + max(wanted.max(initial=0), found.max(initial=0), len(self.gcm) - 1)
            more = np.zeros((k, k))
            np.add.at(more, (found, wanted), 1)
            self.lcm, self.gcm = (
                np.pad(counts, (0, k - len(counts))) + more for counts in (self.lcm, self.gcm)
            )
        self.num_inst += 1
        self.global_num_inst += 1

    def get(self) -> tuple[str, float]:
        return self.name, _correlation(self.lcm) if self.num_inst else float("nan")

    def get_global(self) -> tuple[str, float]:
        return self.name, _correlation(self.gcm) if self.global_num_inst else float("nan")

    def reset(self) -> None:
        super().reset()
        self.gcm = np.zeros((2, 2))

    def reset_local(self) -> None:
        super().reset_local()
        self.lcm = np.zeros((2, 2))


def _correlation(counts: np.ndarray) -> float:
    n, found, wanted = counts.sum(), counts.sum(axis=1), counts.sum(axis=0)
    spread = (found * (n - found)).sum() * (wanted * (n - wanted)).sum()
    return float((counts.diagonal() * n - found * wanted).sum() / spread**0.5) if spread else np.nan


class _LogLoss(EvalMetric):
    """Mean of `-log(p + eps)` of the probability p given to each label."""

    def __init__(self, eps: float, name: str, output_names: Names, label_names: Names):
        super().__init__(name, output_names, label_names, eps=eps, has_global_stats=True)
        self.eps = eps

    def update(self, labels: Any, preds: Any) -> None:
        for label, pred in pairs(labels, preds):
            wanted = label.ravel().astype(np.int64)
            check_label_shapes(wanted, pred)
            loss = -np.log(pred[np.arange(len(wanted)), wanted] + self.eps)
            self._add(loss.sum(), len(wanted))


@register
@alias("ce")
class CrossEntropy(_LogLoss):
    """Mean of `-log(p + eps)` of the probability p given to each label.

    Args:
      eps: added to probabilities.
      name, output_names, label_names: of `EvalMetric`.
    """

    def __init__(
        self,
        eps: float = 1e-12,
        name: str = "cross-entropy",
        output_names: Names = None,
        label_names: Names = None,
    ):
        super().__init__(eps, name, output_names, label_names)


@register
@alias("nll_loss")
class NegativeLogLikelihood(_LogLoss):
    """`CrossEntropy` under its other name."""

    def __init__(
        self,
        eps: float = 1e-12,
        name: str = "nll-loss",
        output_names: Names = None,
        label_names: Names = None,
    ):
        super().__init__(eps, name, output_names, label_names)


@register
class Perplexity(EvalMetric):
    """e to the mean of `-log(max(p, 1e-10))` of the probability p given to each label.

    Args:
      ignore_label: a label that does not count; None for none.
      axis: axis of the classes in predictions.
      name, output_names, label_names: of `EvalMetric`.
    """

    def __init__(
        self,
        ignore_label: int | None,
        axis: int = -1,
        name: str = "perplexity",
        output_names: Names = None,
        label_names: Names = None,
    ):
        super().__init__(
            name,
            output_names,
            label_names,
            ignore_label=ignore_label,
            axis=axis,
            has_global_stats=True,
        )
        self.ignore_label = ignore_label
        self.axis = axis

    def update(self, labels: Any, preds: Any) -> None:
        for label, pred in pairs(labels, preds):
            classes = np.moveaxis(pred, self.axis, -1)
            if label.size * classes.shape[-1] != pred.size:
                raise ValueError(
                    f"labels {label.shape} and predictions {pred.shape} do not agree; there must be a "
                    f"label for each place beside axis {self.axis}"
                )
            wanted = label.ravel().astype(np.int64)
            rows = classes.reshape(len(wanted), -1)
            p = rows[np.arange(len(wanted)), np.clip(wanted, 0, rows.shape[1] - 1)]
            if self.ignore_label is not None:
                p = p[label.ravel() != self.ignore_label]
            self._add(-float(np.log(np.maximum(p, 1e-10)).sum(dtype=np.float64)), len(p))

    def _value(self, total: Any, count: Any) -> float:
        return math.exp(total / count) if count else float("nan")
