"""Whether a monitored metric has become better."""

import math
import warnings
from typing import Any

from rarefy.metric import EvalMetric

# In 'auto', a metric whose name has one of these gets better as it grows.
_GROWING = ("acc", "f1", "auc", "mcc", "pearson", "precision", "recall")


class Improvement:
    """The best value of a metric so far.

    Args:
      monitor: the metric.
      mode: 'min', 'max', or 'auto': by the metric's name.
      min_delta: by how much a value must be better to count.
      baseline: what the first value must beat; by default nothing.
      whose: the handler's name, for messages.

    Raises:
      ValueError: `monitor` is no metric.
    """

    def __init__(
        self,
        monitor: Any,
        mode: str,
        min_delta: float = 0.0,
        baseline: float | None = None,
        whose: str = "",
    ):
        if not isinstance(monitor, EvalMetric):
            raise ValueError(
                f"{whose}: monitor must be one of the metrics in estimator.train_metrics and "
                f"estimator.val_metrics; got {monitor!r}"
            )
        name = str(monitor.get()[0])
        if mode not in ("auto", "min", "max"):
            warnings.warn(
                f"{whose}: mode must be 'auto', 'min' or 'max'; got {mode!r}, 'auto' is used",
                stacklevel=4,
            )
            mode = "auto"
        if mode == "auto":
            mode = "max" if any(word in name.lower() for word in _GROWING) else "min"
            warnings.warn(
                f"{whose}: taken to improve as {name} {'grows' if mode == 'max' else 'falls'}; pass "
                f"mode='{mode}' to say so, mode='{'min' if mode == 'max' else 'max'}' otherwise",
                stacklevel=4,
            )
        self.monitor = monitor
        self._sign = 1.0 if mode == "max" else -1.0
        self._min_delta = abs(min_delta)
        self._baseline = baseline
        self.restart()

    def restart(self) -> None:
        """Forgets the values so far."""
        self.best = -self._sign * math.inf if self._baseline is None else self._baseline

    def seen(self, value: float) -> bool:
        """Takes the value of now; whether it is better than all before. NaN is not."""
        better = self._sign * (value - self.best) > self._min_delta
        if better:
            self.best = value
        return better

    def value(self) -> tuple[str, float]:
        """Name and value of the metric now.

        Raises:
          ValueError: it has several, as a composite one has.
        """
        name, value = self.monitor.get()
        if isinstance(value, list | tuple):
            raise ValueError(f"monitor must have one value; {name} are several")
        return str(name), float(value)
