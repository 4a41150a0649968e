"""Nadam."""

from collections.abc import Mapping
from typing import Any

from rarefy._ops.defs.rule_update import nadam_update
from rarefy.optimizer._optimizer import register
from rarefy.optimizer._rule_optimizer import RuleOptimizer


@register
class Nadam(RuleOptimizer):
    """Adam with Nesterov's momentum (Dozat, 2016).

    With `g = clip(rescale_grad * grad + wd * weight)`, at update t of a parameter

        mean = beta1 * mean + (1 - beta1) * g
        var = beta2 * var + (1 - beta2) * g**2
        step = (1 - m) * g / (1 - p) + m' * mean / (1 - p * m')
        weight = weight - lr * step / (sqrt(var / (1 - beta2**t)) + epsilon)

    where `m = beta1 * (1 - 0.96**(t * schedule_decay) / 2)`, m' is that of `t + 1`, and p is the
    product of all m so far: those of all parameters, as in MXNet.

    Args:
      learning_rate: 0.001 by default.
      beta1: how much of the mean is kept.
      beta2: how much of the variance is kept.
      epsilon: added to the root of the variance.
      schedule_decay: how fast the momentum rises.
      lazy_update: whether a row_sparse gradient moves only the rows that it stores.
      **kwargs: of `Optimizer`.

    Attributes:
      m_schedule: the product.
    """

    operator = nadam_update
    numbers = ("beta1", "beta2", "epsilon")

    counted = ("num_update", "m_schedule")

    def __init__(
        self,
        learning_rate: float | None = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        schedule_decay: float = 0.004,
        **kwargs: Any,
    ):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.schedule_decay = schedule_decay
        self.m_schedule = 1.0

    def hyper(self, index: Any) -> dict[str, float]:
        numbers = super().hyper(index)
        t = self._index_update_count[index]
        now, after = (
            self.beta1 * (1.0 - 0.5 * 0.96 ** (k * self.schedule_decay)) for k in (t, t + 1)
        )
        self.m_schedule *= now
        return {
            **numbers,
            "of_grad": (1.0 - now) / (1.0 - self.m_schedule),
            "of_mean": after / (1.0 - self.m_schedule * after),
            "rest2": 1.0 - self.beta2**t,
        }

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "m_schedule": self.m_schedule}

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        super().load_state_dict(saved)
        self.m_schedule = saved["m_schedule"]
