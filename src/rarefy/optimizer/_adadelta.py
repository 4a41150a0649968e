"""AdaDelta."""

from typing import Any

from rarefy._ops.defs.rule_update import adadelta_update
from rarefy.optimizer._optimizer import register
from rarefy.optimizer._rule_optimizer import RuleOptimizer


@register
class AdaDelta(RuleOptimizer):
    """AdaDelta (Zeiler, 2012); the learning rate has no effect.

    With `g = clip(rescale_grad * grad)`

        acc_g = rho * acc_g + (1 - rho) * g**2
        delta = sqrt(acc_delta + epsilon) / sqrt(acc_g + epsilon) * g
        acc_delta = rho * acc_delta + (1 - rho) * delta**2
        weight = weight - (delta + wd * weight)

    Args:
      rho: how much of the averages is kept.
      epsilon: added under the roots.
      lazy_update: whether a row_sparse gradient moves only the rows that it stores.
      **kwargs: of `Optimizer`.
    """

    operator = adadelta_update
    numbers = ("rho", "epsilon")

    def __init__(self, rho: float = 0.90, epsilon: float = 1e-5, **kwargs: Any):
        super().__init__(**kwargs)
        self.rho = rho
        self.epsilon = epsilon
