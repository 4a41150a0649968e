"""FTML."""

from typing import Any

from rarefy._ops.defs.rule_update import ftml_update
from rarefy.optimizer._optimizer import register
from rarefy.optimizer._rule_optimizer import RuleOptimizer


@register
class FTML(RuleOptimizer):
    """Follow the moving leader (Zheng and Kwok, 2017).

    With `g = clip(rescale_grad * grad + wd * weight)`, at update t of a parameter

        v = beta2 * v + (1 - beta2) * g**2
        d' = (1 - beta1**t) / lr * (sqrt(v / (1 - beta2**t)) + epsilon)
        z = beta1 * z + (1 - beta1) * g - (d' - beta1 * d) * weight
        d = d';  weight = -z / d

    Args:
      beta1: how much of the mean is kept.
      beta2: how much of the variance is kept.
      epsilon: added to the root of the variance.
      lazy_update: whether a row_sparse gradient moves only the rows that it stores.
      **kwargs: of `Optimizer`.
    """

    operator = ftml_update
    numbers = ("beta1", "beta2", "epsilon")

    def __init__(
        self, beta1: float = 0.6, beta2: float = 0.999, epsilon: float = 1e-8, **kwargs: Any
    ):
        super().__init__(**kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon

    def hyper(self, index: Any) -> dict[str, float]:
        numbers = super().hyper(index)
        numbers["clip_grad"] = numbers.pop("clip_gradient")
        return {**numbers, "t": float(self._index_update_count[index])}
