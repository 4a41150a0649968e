"""AdaMax."""

from typing import Any

from rarefy._ops.defs.rule_update import adamax_update
from rarefy.optimizer._optimizer import register
from rarefy.optimizer._rule_optimizer import RuleOptimizer


@register
class Adamax(RuleOptimizer):
    """AdaMax (Kingma and Ba, 2015, section 7): Adam by the largest gradient.

    With `g = clip(rescale_grad * grad + wd * weight)`, at update t of a parameter

        mean = beta1 * mean + (1 - beta1) * g
        largest = max(beta2 * largest, |g|)
        weight = weight - lr / (1 - beta1**t) * mean / largest

    An element that has had no gradient yet stays where it is.

    Args:
      learning_rate: 0.002 by default.
      beta1: how much of the mean is kept.
      beta2: how much of the largest gradient is kept.
      lazy_update: whether a row_sparse gradient moves only the rows that it stores.
      **kwargs: of `Optimizer`.
    """

    operator = adamax_update
    numbers = ("beta1", "beta2")

    def __init__(
        self,
        learning_rate: float | None = 0.002,
        beta1: float = 0.9,
        beta2: float = 0.999,
        **kwargs: Any,
    ):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2

    def hyper(self, index: Any) -> dict[str, float]:
        numbers = super().hyper(index)
        numbers["lr"] /= 1.0 - self.beta1 ** self._index_update_count[index]
        return numbers
