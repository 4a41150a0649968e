"""Metrics of numbers: errors, correlation, and losses that are only averaged."""

from typing import Any

import numpy as np

from rarefy.metric._metric import (
    EvalMetric,
    Names,
    alias,
    check_label_shapes,
    host,
    pairs,
    register,
)
from rarefy.nd._handle import Handle


class _Error(EvalMetric):
    """The mean over batches of an error of each batch."""

    def __init__(self, name: str, output_names: Names, label_names: Names):
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def _error(self, difference: np.ndarray) -> Any:
        raise NotImplementedError

    def update(self, labels: Any, preds: Any) -> None:
        for label, pred in pairs(labels, preds):
            label, pred = (x.reshape(len(x), 1) if x.ndim == 1 else x for x in (label, pred))
            self._add(self._error(label - pred), 1)


@register
class MAE(_Error):
    """Mean of `|label - prediction|` of each batch, averaged over batches.

    Args:
      name, output_names, label_names: of `EvalMetric`.
    """

    def __init__(self, name: str = "mae", output_names: Names = None, label_names: Names = None):
        super().__init__(name, output_names, label_names)

    def _error(self, difference: np.ndarray) -> Any:
        return np.abs(difference).mean()


@register
class MSE(_Error):
    """Mean of `(label - prediction)**2` of each batch, averaged over batches.

    Args:
      name, output_names, label_names: of `EvalMetric`.
    """

    def __init__(self, name: str = "mse", output_names: Names = None, label_names: Names = None):
        super().__init__(name, output_names, label_names)

    def _error(self, difference: np.ndarray) -> Any:
        return (difference**2.0).mean()


@register
class RMSE(_Error):
    """Root of the mean of `(label - prediction)**2` of each batch, averaged over batches.

    This is MXNet's measure, in `score` and `fit` too: it depends on how the rows fall into batches.
    `RunningRMSE` is the root of the mean over all rows.

    Args:
      name, output_names, label_names: of `EvalMetric`.
    """

    def __init__(self, name: str = "rmse", output_names: Names = None, label_names: Names = None):
        super().__init__(name, output_names, label_names)

    def _error(self, difference: np.ndarray) -> Any:
        return np.sqrt((difference**2.0).mean())


@register
@alias("pearsonr")
class PearsonCorrelation(EvalMetric):
    """Pearson's correlation of labels and predictions.

    Args:
      name, output_names, label_names: of `EvalMetric`.
      average: 'macro' for the mean over batches, 'micro' for the correlation of all elements.
    """

    def __init__(
        self,
        name: str = "pearsonr",
        output_names: Names = None,
        label_names: Names = None,
        average: str = "macro",
    ):
        self.average = average
        super().__init__(name, output_names, label_names, average=average, has_global_stats=True)

    def update(self, labels: Any, preds: Any) -> None:
        for label, pred in pairs(labels, preds):
            check_label_shapes(label, pred, shape=True)
            both = np.stack([label.ravel(), pred.ravel()]).astype(np.float64)
            if self.average == "macro":
                self._add(np.asarray(np.corrcoef(both))[0, 1], 1)
                continue
            self._moments, self._global_moments = (
                _joined(m, both) for m in (self._moments, self._global_moments)
            )
            self.num_inst += 1
            self.global_num_inst += 1

    def get(self) -> tuple[str, Any]:
        return super().get() if self.average == "macro" else (self.name, _pearson(self._moments))

    def get_global(self) -> tuple[str, Any]:
        if self.average == "macro":
            return super().get_global()
        return self.name, _pearson(self._global_moments)

    def reset(self) -> None:
        super().reset()
        self._global_moments: _Moments = _NOTHING

    def reset_local(self) -> None:
        super().reset_local()
        self._moments: _Moments = _NOTHING


_Moments = tuple[int, np.ndarray, np.ndarray]
"""Count, means `(2,)` and sums of products of deviations `(2, 2)` of pairs of numbers."""

_NOTHING: _Moments = (0, np.zeros(2), np.zeros((2, 2)))


def _joined(before: _Moments, pairs: np.ndarray) -> _Moments:
    """The moments with further pairs `(2, n)`, joined without cancellation (Chan and others, 1983)."""
    n, mean, products = before
    more = pairs.shape[1]
    if not more:
        return before
    new = pairs.mean(axis=1)
    away, step = pairs - new[:, None], new - mean
    total = n + more
    products = products + away @ away.T + np.outer(step, step) * (n * more / total)
    return total, mean + step * (more / total), products


def _pearson(moments: _Moments) -> float:
    _, _, products = moments
    spread = np.sqrt(products[0, 0] * products[1, 1])
    return float(products[0, 1] / spread) if spread else float("nan")


@register
class Loss(EvalMetric):
    """Mean of all elements of the predictions, which are losses.

    Args:
      name, output_names, label_names: of `EvalMetric`.
    """

    def __init__(self, name: str = "loss", output_names: Names = None, label_names: Names = None):
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def update(self, labels: Any, preds: Any) -> None:
        for pred in [preds] if isinstance(preds, Handle) else preds:
            values = host(pred)
            self._add(values.sum(), values.size)


@register
class Torch(Loss):
    """`Loss` under another name."""

    def __init__(self, name: str = "torch", output_names: Names = None, label_names: Names = None):
        super().__init__(name, output_names, label_names)


@register
class Caffe(Loss):
    """`Loss` under another name."""

    def __init__(self, name: str = "caffe", output_names: Names = None, label_names: Names = None):
        super().__init__(name, output_names, label_names)
