"""AdamW."""

import math
from typing import Any

from rarefy._ops.defs.rule_update import adamw_update
from rarefy.optimizer._optimizer import register
from rarefy.optimizer._rule_optimizer import RuleOptimizer


@register
class AdamW(RuleOptimizer):
    """Adam with decoupled weight decay (Loshchilov and Hutter, 2019).

    With `g = clip(rescale_grad * grad)`, at update t of a parameter

        mean = beta1 * mean + (1 - beta1) * g
        var = beta2 * var + (1 - beta2) * g**2
        c = sqrt(1 - beta2**t) / (1 - beta1**t)
        weight = weight - lr * (c * mean / (sqrt(var) + epsilon) + wd * weight)

    Args:
      learning_rate: 0.001 by default.
      beta1: how much of the mean is kept.
      beta2: how much of the variance is kept.
      epsilon: added to the root of the variance.
      correct_bias: whether c is as above; otherwise it is 1.
      lazy_update: whether a row_sparse gradient moves only the rows that it stores.
      **kwargs: of `Optimizer`.
    """

    operator = adamw_update
    numbers = ("beta1", "beta2", "epsilon")

    def __init__(
        self,
        learning_rate: float | None = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        correct_bias: bool = True,
        lazy_update: bool = True,
        **kwargs: Any,
    ):
        super().__init__(learning_rate=learning_rate, lazy_update=lazy_update, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.correct_bias = correct_bias

    def hyper(self, index: Any) -> dict[str, float]:
        numbers = super().hyper(index)
        t = self._index_update_count[index]
        correction = math.sqrt(1.0 - self.beta2**t) / (1.0 - self.beta1**t)
        numbers["eta"] = numbers["lr"]
        numbers["lr"] = correction if self.correct_bias else 1.0
        return numbers
