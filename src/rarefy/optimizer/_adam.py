"""Adam."""

import math
from typing import Any

from rarefy._ops.defs.optimizer_update import adam_update
from rarefy._ops.storage import stype_of
from rarefy.nd._handle import Handle
from rarefy.optimizer._optimizer import Hyper, Optimizer, State, register, run_update, zeros_like


@register
class Adam(Optimizer):
    """Adam (Kingma and Ba, 2015), with weight decay as part of the gradient.

    At update t of a parameter

        g = clip(rescale_grad * grad + wd * weight)
        mean = beta1 * mean + (1 - beta1) * g
        var = beta2 * var + (1 - beta2) * g**2
        weight = weight - lr * sqrt(1 - beta2**t) / (1 - beta1**t) * mean / (sqrt(var) + epsilon)

    Args:
      learning_rate: 0.001 by default.
      beta1: how much of the mean is kept.
      beta2: how much of the variance is kept.
      epsilon: added to the root of the variance.
      lazy_update: whether a row_sparse gradient moves only the rows that it stores: other rows keep
        their weight, mean and variance. t counts updates of the parameter either way.
      **kwargs: of `Optimizer`.
    """

    def __init__(
        self,
        learning_rate: float | None = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        lazy_update: bool = True,
        **kwargs: Any,
    ):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.lazy_update = lazy_update

    def create_state(self, index: Any, weight: Handle) -> State:
        """Mean and variance; row_sparse for a row_sparse weight if lazy."""
        stype = stype_of(weight._value) if self.lazy_update else "default"
        return zeros_like(weight, stype), zeros_like(weight, stype)

    def hyper(self, index: Any) -> dict[str, float]:
        numbers = super().hyper(index)
        t = self._index_update_count[index]
        numbers["lr"] *= math.sqrt(1.0 - self.beta2**t) / (1.0 - self.beta1**t)
        return {
            **numbers,
            "beta1": float(self.beta1),
            "beta2": float(self.beta2),
            "epsilon": float(self.epsilon),
        }

    def apply(self, index: Any, weight: Handle, grad: Handle, state: State, hyper: Hyper) -> None:
        run_update(adam_update, weight, grad, state, hyper, self.lazy_update)
