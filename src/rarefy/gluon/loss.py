"""Losses: blocks from predictions and labels to a number for each example."""

import math
from typing import Any, Literal

from rarefy import nd
from rarefy.base import ArgumentError, numeric_types
from rarefy.gluon.block import HybridBlock

__all__ = [
    "CosineEmbeddingLoss",
    "HingeLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "L2Loss",
    "LogisticLoss",
    "Loss",
    "PoissonNLLLoss",
    "SDMLLoss",
    "SigmoidBCELoss",
    "SigmoidBinaryCrossEntropyLoss",
    "SoftmaxCELoss",
    "SoftmaxCrossEntropyLoss",
    "SquaredHingeLoss",
    "TripletLoss",
]


class Loss(HybridBlock):
    """The base of losses.

    Args:
      weight: a number that the loss is multiplied by; None for 1.
      batch_axis: the axis of the examples. The mean is over the others.
      **kwargs: of HybridBlock.

    A loss is called with predictions and labels; where their shapes differ, the labels are reshaped
    to that of the predictions. Most take `sample_weight`, which broadcasts to the shape of the
    predictions, `(b, 1, ...)` for a weight for each example.

    Raises:
      ArgumentError: when called, if `weight` is no number.
    """

    def __init__(self, weight: float | None, batch_axis: int, **kwargs: Any):
        super().__init__(**kwargs)
        self._weight = weight
        self._batch_axis = batch_axis

    def __repr__(self) -> str:
        return f"{type(self).__name__}(batch_axis={self._batch_axis}, w={self._weight})"

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def _mean(self, F: Any, loss: Any, sample_weight: Any) -> Any:
        """The weighted mean of each example."""
        weighted = _weighted(F, loss, self._weight, sample_weight)
        return F.mean(weighted, axis=self._batch_axis, exclude=True)


def _weighted(F: Any, loss: Any, weight: Any, sample_weight: Any) -> Any:
    if sample_weight is not None:
        loss = F.broadcast_mul(loss, sample_weight)
    if weight is None:
        return loss
    if not isinstance(weight, numeric_types):
        raise ArgumentError(f"weight must be a number; got {type(weight)}. See sample_weight")
    return loss * weight


def _shaped(F: Any, label: Any, pred: Any) -> Any:
    """Labels in the shape of predictions; csr ones of that shape stay csr."""
    if isinstance(label, nd.NDArray) and label.shape == pred.shape:
        return label
    return F.reshape_like(label, pred)


def _softplus(F: Any, x: Any) -> Any:
    return F.Activation(x, act_type="softrelu")


def _cross_entropy(F: Any, pred: Any, label: Any) -> Any:
    """-label log(sigmoid(pred)) - (1 - label) log(1 - sigmoid(pred)), without overflow."""
    return F.relu(pred) - label * pred + _softplus(F, -F.abs(pred))


class L2Loss(Loss):
    """`weight / 2 * (label - pred)^2`, the mean over each example.

    Args:
      weight: multiplies the loss.
      batch_axis: the axis of the examples.

    Called with `pred` and `label` of equal sizes, and `sample_weight`; returns `(b,)`.
    """

    def __init__(self, weight: float | None = 1.0, batch_axis: int = 0, **kwargs: Any):
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        loss = 0.5 * F.square(_shaped(F, label, pred) - pred)
        return self._mean(F, loss, sample_weight)


class L1Loss(Loss):
    """`|label - pred|`, the mean over each example.

    Args:
      weight: multiplies the loss.
      batch_axis: the axis of the examples.

    Called with `pred` and `label` of equal sizes, and `sample_weight`; returns `(b,)`.
    """

    def __init__(self, weight: float | None = None, batch_axis: int = 0, **kwargs: Any):
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        return self._mean(F, F.abs(_shaped(F, label, pred) - pred), sample_weight)


class SigmoidBinaryCrossEntropyLoss(Loss):
    """The cross entropy of labels and the sigmoid of predictions, the mean over each example.

    Args:
      from_sigmoid: whether predictions are probabilities already.
      weight: multiplies the loss.
      batch_axis: the axis of the examples.

    Called with `pred`, any shape, and `label`, 0 to 1, of equal size (csr as well), `sample_weight`,
    and `pos_weight`, which broadcasts to `pred` and multiplies the part of positive labels; returns
    `(b,)`.
    """

    def __init__(
        self,
        from_sigmoid: bool = False,
        weight: float | None = None,
        batch_axis: int = 0,
        **kwargs: Any,
    ):
        super().__init__(weight, batch_axis, **kwargs)
        self._from_sigmoid = from_sigmoid

    def hybrid_forward(
        self, F: Any, pred: Any, label: Any, sample_weight: Any = None, pos_weight: Any = None
    ) -> Any:
        label = _shaped(F, label, pred)
        if self._from_sigmoid:
            eps = 1e-12
            positive = F.log(pred + eps) * label
            if pos_weight is not None:
                positive = F.broadcast_mul(positive, pos_weight)
            loss = -(positive + F.log(1.0 - pred + eps) * (1.0 - label))
        elif pos_weight is None:
            loss = _cross_entropy(F, pred, label)
        else:
            share = 1 + F.broadcast_mul(label, pos_weight - 1)
            logs = _softplus(F, -F.abs(pred)) + F.relu(-pred)
            loss = pred - pred * label + share * logs
        return self._mean(F, loss, sample_weight)


SigmoidBCELoss = SigmoidBinaryCrossEntropyLoss


class SoftmaxCrossEntropyLoss(Loss):
    """The cross entropy of labels and the softmax of predictions, the mean over each example.

    Args:
      axis: the axis of the classes.
      sparse_label: whether labels are class numbers; otherwise they are a distribution, shaped as
        the predictions.
      from_logits: whether predictions are logarithms of probabilities already.
      weight: multiplies the loss.
      batch_axis: the axis of the examples.

    Called with `pred`, `label`, and `sample_weight`, which broadcasts to `pred` with size 1 along the
    axis of the classes; returns `(b,)`.
    """

    def __init__(
        self,
        axis: int = -1,
        sparse_label: bool = True,
        from_logits: bool = False,
        weight: float | None = None,
        batch_axis: int = 0,
        **kwargs: Any,
    ):
        super().__init__(weight, batch_axis, **kwargs)
        self._axis = axis
        self._sparse_label = sparse_label
        self._from_logits = from_logits

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        if not self._from_logits:
            pred = F.log_softmax(pred, axis=self._axis)
        if self._sparse_label:
            loss = -F.pick(pred, label, axis=self._axis, keepdims=True)
        else:
            loss = -F.sum(pred * _shaped(F, label, pred), axis=self._axis, keepdims=True)
        return self._mean(F, loss, sample_weight)


SoftmaxCELoss = SoftmaxCrossEntropyLoss


class KLDivLoss(Loss):
    """The divergence of Kullback and Leibler of labels from predictions, summed over each example.

    Args:
      from_logits: whether predictions are logarithms of probabilities; otherwise their log_softmax
        is taken.
      axis: the axis of that.
      weight: multiplies the loss.
      batch_axis: the axis of the examples.

    Called with `pred`, `label`, a distribution, and `sample_weight`; returns `(b,)`.
    """

    def __init__(
        self,
        from_logits: bool = True,
        axis: int = -1,
        weight: float | None = None,
        batch_axis: int = 0,
        **kwargs: Any,
    ):
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits = from_logits
        self._axis = axis

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        if not self._from_logits:
            pred = F.log_softmax(pred, axis=self._axis)
        loss = label * (F.log(label + 1e-12) - pred)
        weighted = _weighted(F, loss, self._weight, sample_weight)
        return F.sum(weighted, axis=self._batch_axis, exclude=True)


class HuberLoss(Loss):
    """The squared error near zero, the absolute error beyond; the mean over each example.

    With e = |label - pred| it is `e^2 / (2 rho)` where e <= rho, `e - rho / 2` elsewhere.

    Args:
      rho: where one goes over into the other.
      weight: multiplies the loss.
      batch_axis: the axis of the examples.

    Called with `pred` and `label` of equal sizes, and `sample_weight`; returns `(b,)`.
    """

    def __init__(
        self, rho: float = 1, weight: float | None = None, batch_axis: int = 0, **kwargs: Any
    ):
        super().__init__(weight, batch_axis, **kwargs)
        self._rho = rho

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        error = F.abs(_shaped(F, label, pred) - pred)
        square = 0.5 / self._rho * F.square(error)
        loss = F.where(error > self._rho, error - 0.5 * self._rho, square)
        return self._mean(F, loss, sample_weight)


class HingeLoss(Loss):
    """`max(0, margin - pred * label)`, the mean over each example.

    Args:
      margin: the margin.
      weight: multiplies the loss.
      batch_axis: the axis of the examples.

    Called with `pred`, `label`, -1 or 1, of equal sizes, and `sample_weight`; returns `(b,)`.
    """

    def __init__(
        self, margin: float = 1, weight: float | None = None, batch_axis: int = 0, **kwargs: Any
    ):
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def _hinge(self, F: Any, pred: Any, label: Any) -> Any:
        return F.relu(self._margin - pred * _shaped(F, label, pred))

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        return self._mean(F, self._hinge(F, pred, label), sample_weight)


class SquaredHingeLoss(HingeLoss):
    """`max(0, margin - pred * label)^2`, the mean over each example.

    Args:
      margin: the margin.
      weight: multiplies the loss.
      batch_axis: the axis of the examples.

    Called with `pred`, `label`, -1 or 1, of equal sizes, and `sample_weight`; returns `(b,)`.
    """

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        return self._mean(F, F.square(self._hinge(F, pred, label)), sample_weight)


class LogisticLoss(Loss):
    """`log(1 + exp(-pred * label))` for labels -1 and 1, the mean over each example.

    Args:
      weight: multiplies the loss.
      batch_axis: the axis of the examples.
      label_format: 'signed' for labels -1 and 1, 'binary' for 0 and 1.

    Called with `pred` and `label` of equal sizes, and `sample_weight`; returns `(b,)`.

    Raises:
      ValueError: an unknown `label_format`.
    """

    def __init__(
        self,
        weight: float | None = None,
        batch_axis: int = 0,
        label_format: Literal["signed", "binary"] = "signed",
        **kwargs: Any,
    ):
        super().__init__(weight, batch_axis, **kwargs)
        if label_format not in ("signed", "binary"):
            raise ValueError(f"label_format must be 'signed' or 'binary'; got {label_format!r}")
        self._label_format = label_format

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        label = _shaped(F, label, pred)
        if self._label_format == "signed":
            label = (label + 1.0) / 2.0
        return self._mean(F, _cross_entropy(F, pred, label), sample_weight)


class TripletLoss(Loss):
    """`max(0, |positive - pred|^2 - |negative - pred|^2 + margin)` of each example.

    Args:
      margin: how much closer the positive should be.
      weight: multiplies the loss.
      batch_axis: the axis of the examples.

    Called with `pred`, `positive` and `negative` of equal sizes; returns `(b,)`.
    """

    def __init__(
        self, margin: float = 1, weight: float | None = None, batch_axis: int = 0, **kwargs: Any
    ):
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F: Any, pred: Any, positive: Any, negative: Any) -> Any:
        near = F.square(_shaped(F, positive, pred) - pred)
        far = F.square(_shaped(F, negative, pred) - pred)
        loss = F.relu(F.sum(near - far, axis=self._batch_axis, exclude=True) + self._margin)
        return _weighted(F, loss, self._weight, None)


class PoissonNLLLoss(Loss):
    """The negative log likelihood of counts under Poisson's distribution, the mean of all.

    Args:
      weight: multiplies the loss.
      from_logits: whether predictions are logarithms of the rate.
      batch_axis: accepted for MXNet's sake.
      compute_full: whether Stirling's approximation of `log(target!)` is added for targets above 1.

    Called with `pred` and `target` of equal sizes, `sample_weight`, and `epsilon`, which keeps the
    logarithm of a rate of zero finite; returns `(1,)`.
    """

    def __init__(
        self,
        weight: float | None = None,
        from_logits: bool = True,
        batch_axis: int = 0,
        compute_full: bool = False,
        **kwargs: Any,
    ):
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits = from_logits
        self._compute_full = compute_full

    def hybrid_forward(
        self,
        F: Any,
        pred: Any,
        target: Any,
        sample_weight: Any = None,
        epsilon: float = 1e-8,
    ) -> Any:
        target = _shaped(F, target, pred)
        if self._from_logits:
            loss = F.exp(pred) - target * pred
        else:
            loss = pred - target * F.log(pred + epsilon)
        if self._compute_full:
            # Not the logarithm of zero, which times zero is no number.
            n = F.maximum(target, 1.0)
            stirling = n * F.log(n) - n + 0.5 * F.log(2 * math.pi * n)
            loss = loss + stirling * (target > 1)
        return F.mean(_weighted(F, loss, self._weight, sample_weight))


class CosineEmbeddingLoss(Loss):
    """Draws vectors together or apart, by the cosine of their angle.

    For label 1 it is `1 - cos`, for label -1 `max(0, cos - margin)`.

    Args:
      weight: multiplies the loss.
      batch_axis: accepted for MXNet's sake.
      margin: the cosine below which vectors are apart; -1 to 1.

    Called with `input1` and `input2`, `(b, d)`, `label`, `(b,)`, and `sample_weight`, which broadcasts
    to `(b, 1)`; returns `(b, 1)`.
    """

    def __init__(
        self, weight: float | None = None, batch_axis: int = 0, margin: float = 0, **kwargs: Any
    ):
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(
        self, F: Any, input1: Any, input2: Any, label: Any, sample_weight: Any = None
    ) -> Any:
        input1 = _shaped(F, input1, input2)
        label = F.reshape(label, shape=(-1, 1))
        product = F.sum(input1 * input2, axis=-1, keepdims=True)
        norms = F.norm(input1, axis=-1, keepdims=True) * F.norm(input2, axis=-1, keepdims=True)
        cosine = F.reshape(product / F.maximum(norms, 1e-12), shape=(-1, 1))
        apart = F.relu((label == -1) * (cosine - self._margin))
        loss = (label == 1) * (1 - cosine) + apart
        return _weighted(F, loss, self._weight, sample_weight)


class SDMLLoss(Loss):
    """Smoothed deep metric learning: each vector should be nearest to its partner in the batch.

    Args:
      smoothing_parameter: the probability that is spread over those that are no partners.
      weight, batch_axis: accepted for MXNet's sake.

    Called with `x1` and `x2`, `(b, d)`, partners in the same row; returns `(b,)`.

    Source: Bonadiman, Kumar and Mittal, Large Scale Question Paraphrase Retrieval with Smoothed Deep
    Metric Learning (2019).
    """

    def __init__(
        self,
        smoothing_parameter: float = 0.3,
        weight: float | None = 1.0,
        batch_axis: int = 0,
        **kwargs: Any,
    ):
        super().__init__(weight, batch_axis, **kwargs)
        self.kl_loss = KLDivLoss(from_logits=True)
        self.smoothing_parameter = smoothing_parameter

    def hybrid_forward(self, F: Any, x1: Any, x2: Any) -> Any:
        if x1.shape != x2.shape:
            raise ArgumentError(f"x1 and x2 must have one shape; got {x1.shape} and {x2.shape}")
        n = x1.shape[0]
        between = F.broadcast_sub(F.expand_dims(x1, axis=1), F.expand_dims(x2, axis=0))
        distances = F.sum(F.square(between), axis=2)
        partners = F.eye(n, dtype=x1.dtype, ctx=x1.context)
        share = self.smoothing_parameter / (n - 1)
        labels = partners * (1 - self.smoothing_parameter - share) + share
        return self.kl_loss(F.log_softmax(-distances, axis=1), labels)
