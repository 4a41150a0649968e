"""How good predictions are: log loss, AUC, accuracy and errors of regression, in NumPy.

There is a function for arrays that are at hand, and a `Running...` accumulator for rows that come
in batches. Labels of a binary problem are 0 and 1, those of a problem with `K` classes 0 to `K - 1`.
*Scores* are what a model computes before the link: the log-odds of a binary problem, `(rows, K)`
logits of a multi-class one. Losses taken from scores neither overflow nor lose digits, whatever the
size of a score. Weights are those of rows, non-negative; without them each row counts once.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

_EMPTY = float("nan")


def binary_log_loss(labels: ArrayLike, probabilities: ArrayLike, weights: ArrayLike | None = None):
    """Mean of `-log` of the probability given to what happened.

    Args:
      labels: `(rows,)`, 0 or 1.
      probabilities: `(rows,)`, that of the label 1.
      weights: `(rows,)`, optional.

    Returns:
      float; infinite where a label had the probability 0, NaN without rows.

    Raises:
      ValueError: lengths differ, a label is neither 0 nor 1, or a probability is outside [0, 1].
    """
    p = _vector("probabilities", probabilities)
    if not np.all((p >= 0) & (p <= 1)):
        raise ValueError(f"probabilities must lie in [0, 1]; got {p[~((p >= 0) & (p <= 1))][0]}")
    y = _binary(labels, len(p))
    with np.errstate(divide="ignore"):
        loss = -np.where(y, np.log(p), np.log1p(-p))
    return _mean(loss, weights)


def logistic_loss(labels: ArrayLike, scores: ArrayLike, weights: ArrayLike | None = None) -> float:
    """Mean log loss of binary labels under log-odds.

    Args:
      labels: `(rows,)`, 0 or 1.
      scores: `(rows,)`, log-odds of the label 1.
      weights: `(rows,)`, optional.

    Returns:
      float; NaN without rows.

    Raises:
      ValueError: lengths differ, or a label is neither 0 nor 1.
    """
    z = _vector("scores", scores)
    return _mean(_logistic_terms(_binary(labels, len(z)), z), weights)


def softmax_loss(labels: ArrayLike, scores: ArrayLike, weights: ArrayLike | None = None) -> float:
    """Mean log loss of class labels under logits.

    Args:
      labels: `(rows,)`, integers from 0 to `classes - 1`.
      scores: `(rows, classes)` logits.
      weights: `(rows,)`, optional.

    Returns:
      float; NaN without rows.

    Raises:
      ValueError: shapes do not agree, or a label is no class.
    """
    z = _matrix(scores)
    return _mean(_softmax_terms(_classes(labels, z), z), weights)


def auc(labels: ArrayLike, scores: ArrayLike, weights: ArrayLike | None = None) -> float:
    """Area under the ROC curve: how often a positive row scores above a negative one.

    Equal scores count half, so the value does not depend on the order of rows. Any increasing
    function of the scores (probabilities, say) gives the same value.

    Args:
      labels: `(rows,)`, 0 or 1.
      scores: `(rows,)`, no NaN.
      weights: `(rows,)`, optional: a pair counts with the product of its weights.

    Returns:
      float; NaN where one of the two classes is absent.

    Raises:
      ValueError: lengths differ, a label is neither 0 nor 1, or a score is NaN.

    Cost: O(rows log rows).
    """
    z = _vector("scores", scores)
    y = _binary(labels, len(z))
    if np.isnan(z).any():
        raise ValueError(f"scores must not be NaN; row {int(np.argmax(np.isnan(z)))} is")
    w = _weights(weights, len(z))
    order = np.argsort(z, kind="stable")
    z = z[order]
    first = np.flatnonzero(np.concatenate([[True], z[1:] != z[:-1]])) if len(z) else []
    positive = np.where(y, w, 0.0)[order]
    negative = np.where(y, 0.0, w)[order]
    return _area(np.add.reduceat(positive, first), np.add.reduceat(negative, first))


def accuracy(labels: ArrayLike, scores: ArrayLike, weights: ArrayLike | None = None) -> float:
    """Share of rows whose class is predicted.

    Args:
      labels: `(rows,)`, 0 or 1, or integers from 0 to `classes - 1`.
      scores: `(rows,)` log-odds (a positive one predicts 1) or `(rows, classes)` logits, of which
        the largest predicts; the first of several equal ones.
      weights: `(rows,)`, optional.

    Returns:
      float; NaN without rows.

    Raises:
      ValueError: shapes do not agree, or a label is no class.
    """
    z = np.asarray(scores)
    if z.ndim == 1:
        return _mean((z > 0) == _binary(labels, len(z)), weights)
    z = _matrix(z)
    return _mean(z.argmax(axis=1) == _classes(labels, z), weights)


def mse(labels: ArrayLike, predictions: ArrayLike, weights: ArrayLike | None = None) -> float:
    """Mean of the squares of `predictions - labels`, both `(rows,)`; NaN without rows."""
    return _mean(_difference(labels, predictions) ** 2, weights)


def rmse(labels: ArrayLike, predictions: ArrayLike, weights: ArrayLike | None = None) -> float:
    """Square root of `mse`."""
    return float(np.sqrt(mse(labels, predictions, weights)))


def mae(labels: ArrayLike, predictions: ArrayLike, weights: ArrayLike | None = None) -> float:
    """Mean of the absolute values of `predictions - labels`, both `(rows,)`; NaN without rows."""
    return _mean(np.abs(_difference(labels, predictions)), weights)


class Running(Protocol):
    """What all accumulators have in common."""

    def update(
        self, labels: ArrayLike, scores: ArrayLike, weights: ArrayLike | None = None
    ) -> None: ...

    def value(self) -> float: ...

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state: dict[str, Any]) -> None: ...


class RunningMean:
    """The mean, over all rows seen, of one of the functions of this module that are means.

    Args:
      function: `logistic_loss`, `softmax_loss`, `accuracy`, `mse` or `mae`.

    >>> accurate = RunningMean(accuracy)
    >>> accurate.update([1, 0], [2.5, -1.0])
    >>> accurate.update([1, 1], [0.3, -0.2])
    >>> accurate.value()
    0.75
    """

    def __init__(self, function):
        self._function = function
        self._total = 0.0
        self._weight = 0.0

    def update(self, labels, scores, weights=None) -> None:
        """Takes in a batch; the arguments are those of the function."""
        weight = float(len(np.asarray(scores)) if weights is None else np.sum(weights))
        if weight:
            self._total += self._function(labels, scores, weights) * weight
            self._weight += weight

    def value(self) -> float:
        """The mean so far; NaN before the first row."""
        return self._total / self._weight if self._weight else _EMPTY

    def state_dict(self) -> dict[str, float]:
        """Two numbers, from which `load_state_dict` goes on exactly."""
        return {"total": self._total, "weight": self._weight}

    def load_state_dict(self, state: dict[str, float]) -> None:
        self._total, self._weight = float(state["total"]), float(state["weight"])


class RunningRMSE(RunningMean):
    """The root of the mean squared error over all rows seen."""

    def __init__(self):
        super().__init__(mse)

    def value(self) -> float:
        return float(np.sqrt(super().value()))


class RunningAUC:
    """AUC over all rows seen, exactly: the scores are kept, 9 bytes a row (17 with weights)."""

    def __init__(self):
        self._rows: list[tuple[np.ndarray, np.ndarray, np.ndarray | None]] = []

    def update(self, labels, scores, weights=None) -> None:
        """Takes in a batch; the arguments are those of `auc`."""
        z = np.array(_vector("scores", scores))
        w = None if weights is None else np.array(_weights(weights, len(z)))
        self._rows.append((_binary(labels, len(z)), z, w))

    def value(self) -> float:
        """AUC so far; NaN while one of the classes is absent."""
        if not self._rows:
            return _EMPTY
        y = np.concatenate([y for y, _, _ in self._rows])
        z = np.concatenate([z for _, z, _ in self._rows])
        if all(w is None for _, _, w in self._rows):
            return auc(y, z)
        return auc(y, z, np.concatenate([_weights(w, len(y)) for y, _, w in self._rows]))

    def state_dict(self) -> dict[str, Any]:
        """All rows; for a state of bounded size see `RunningCoarseAUC`."""
        return {"rows": list(self._rows)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._rows = list(state["rows"])


class RunningCoarseAUC:
    """AUC over all rows seen, in constant memory: scores are rounded to 16-bit floats.

    Scores that round to the same number count as equal. With 10 bits of mantissa that moves the AUC
    of a spread-out score by less than 1e-4, but the scores of a model that has learned nothing, all
    but equal, count half. The state is 1 MB at most and small while few scores differ.
    """

    _BINS = 1 << 16

    def __init__(self):
        self._positive = np.zeros(self._BINS)
        self._negative = np.zeros(self._BINS)

    def update(self, labels, scores, weights=None) -> None:
        """Takes in a batch; the arguments are those of `auc`."""
        z = _vector("scores", scores)
        y = _binary(labels, len(z))
        w = _weights(weights, len(z))
        if np.isnan(z).any():
            raise ValueError(f"scores must not be NaN; row {int(np.argmax(np.isnan(z)))} is")
        bins = self._bin(z)
        self._positive += np.bincount(bins, np.where(y, w, 0.0), self._BINS)
        self._negative += np.bincount(bins, np.where(y, 0.0, w), self._BINS)

    @staticmethod
    def _bin(scores: np.ndarray) -> np.ndarray:
        """Numbers in the order of the scores: the bits of a float, negative ones turned round."""
        with np.errstate(over="ignore"):
            half = scores.astype(np.float16) + np.float16(0)  # -0 and 0 are the same score
        bits = half.view(np.uint16).astype(np.int64)
        return np.where(bits & 0x8000, 0xFFFF - bits, bits | 0x8000)

    def value(self) -> float:
        """AUC so far; NaN while one of the classes is absent."""
        return _area(self._positive, self._negative)

    def state_dict(self) -> dict[str, Any]:
        """The numbers of rows at each score that occurred."""
        bins = np.flatnonzero(self._positive + self._negative)
        return {
            "bins": bins.astype(np.int32),
            "positive": self._positive[bins],
            "negative": self._negative[bins],
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.__init__()
        self._positive[state["bins"]] = state["positive"]
        self._negative[state["bins"]] = state["negative"]


def _logistic_terms(y: np.ndarray, z: np.ndarray) -> np.ndarray:
    # log(1 + exp(-m)) of the margin m: a small loss is not the difference of two large numbers.
    return np.logaddexp(0.0, np.where(y, -z, z))


def _softmax_terms(y: np.ndarray, z: np.ndarray) -> np.ndarray:
    z = z - z.max(axis=1, keepdims=True, initial=-np.inf)
    return np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(y)), y]


def _area(positive: np.ndarray, negative: np.ndarray) -> float:
    """AUC from the weights of both classes at each distinct score, in ascending order."""
    pairs = float(positive.sum()) * float(negative.sum())
    if not pairs:
        return _EMPTY
    below = np.cumsum(negative) - negative
    return float(np.dot(positive, below + 0.5 * negative)) / pairs


def _mean(terms: np.ndarray, weights: ArrayLike | None) -> float:
    if weights is None:
        return float(np.mean(terms, dtype=np.float64)) if len(terms) else _EMPTY
    w = _weights(weights, len(terms))
    total = float(w.sum())
    return float(np.dot(w, terms)) / total if total else _EMPTY


def _vector(name: str, values: ArrayLike) -> np.ndarray:
    array = np.asarray(values, np.float64)
    if array.ndim != 1:
        raise ValueError(f"{name} must be a vector, one number a row; got shape {array.shape}")
    return array


def _matrix(scores: ArrayLike) -> np.ndarray:
    array = np.asarray(scores, np.float64)
    if array.ndim != 2:
        raise ValueError(f"scores must be (rows, classes); got shape {array.shape}")
    return array


def _binary(labels: ArrayLike, rows: int) -> np.ndarray:
    y = np.asarray(labels)
    if y.shape != (rows,):
        raise ValueError(f"labels {y.shape} and scores ({rows},) must have one number a row each")
    positive = y == 1
    if not np.all(positive | (y == 0)):
        raise ValueError(f"labels must be 0 or 1; got {y[~(positive | (y == 0))][0]}")
    return positive


def _classes(labels: ArrayLike, scores: np.ndarray) -> np.ndarray:
    y = np.asarray(labels)
    if y.shape != scores.shape[:1]:
        raise ValueError(f"labels {y.shape} and scores {scores.shape} must have the same rows")
    index = y.astype(np.int64)
    wrong = (index != y) | (index < 0) | (index >= scores.shape[1])
    if wrong.any():
        raise ValueError(
            f"labels must be integers from 0 to {scores.shape[1] - 1}; got {y[wrong][0]}"
        )
    return index


def _weights(weights: ArrayLike | None, rows: int) -> np.ndarray:
    if weights is None:
        return np.ones(rows)
    w = np.asarray(weights, np.float64)
    if w.shape != (rows,):
        raise ValueError(f"weights {w.shape} must have one number for each of the {rows} rows")
    if not np.all(w >= 0):
        raise ValueError(f"weights must not be negative; got {w[~(w >= 0)][0]}")
    return w


def _difference(labels: ArrayLike, predictions: ArrayLike) -> np.ndarray:
    z = _vector("predictions", predictions)
    y = np.asarray(labels, np.float64)
    if y.shape != z.shape:
        raise ValueError(f"labels {y.shape} and predictions {z.shape} must have the same shape")
    return z - y
