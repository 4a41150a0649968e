"""LAMB."""

import os
from typing import Any

from rarefy._ops.defs.lamb_update import lamb_update
from rarefy._ops.storage import stype_of
from rarefy.nd._handle import Handle
from rarefy.nd._invoke import invoke
from rarefy.optimizer._optimizer import Hyper, Optimizer, State, register, zeros_like


@register
class LAMB(Optimizer):
    """LAMB (You and others, 2020): Adam whose step is as long as the weight's norm allows.

    With `g = clip(rescale_grad * grad)`, at update t of a parameter

        mean = beta1 * mean + (1 - beta1) * g
        var = beta2 * var + (1 - beta2) * g**2
        step = mean' / (sqrt(var') + epsilon) + wd * weight
        weight = weight - lr * |weight| / |step| * step

    where mean' and var' are corrected for bias. A row_sparse gradient is made dense.

    Args:
      learning_rate: 0.001 by default.
      beta1: how much of the mean is kept.
      beta2: how much of the variance is kept.
      epsilon: added to the root of the variance.
      lower_bound: of the weight's norm; None for none.
      upper_bound: of the weight's norm; None for none.
      bias_correction: whether the moments are corrected for bias.
      **kwargs: of `Optimizer`.
    """

    def __init__(
        self,
        learning_rate: float | None = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-6,
        lower_bound: float | None = None,
        upper_bound: float | None = None,
        bias_correction: bool = True,
        **kwargs: Any,
    ):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound
        self.bias_correction = bias_correction
        size = int(os.getenv("MXNET_OPTIMIZER_AGGREGATION_SIZE", "45"))
        self.aggregate_num = max(1, min(45, size))

    def create_state(self, index: Any, weight: Handle) -> State:
        """Mean and variance, in the weight's storage type."""
        stype = stype_of(weight._value)
        return zeros_like(weight, stype), zeros_like(weight, stype)

    def hyper(self, index: Any) -> dict[str, float]:
        return {
            **super().hyper(index),
            "beta1": float(self.beta1),
            "beta2": float(self.beta2),
            "epsilon": float(self.epsilon),
            "lower_bound": float(self.lower_bound) if self.lower_bound else -1.0,
            "upper_bound": float(self.upper_bound) if self.upper_bound else -1.0,
            "t": float(self._index_update_count[index]),
        }

    def apply(self, index: Any, weight: Handle, grad: Handle, state: State, hyper: Hyper) -> None:
        params = {**hyper, "bias_correction": self.bias_correction}
        invoke(lamb_update, [weight, grad, *state], params, out=weight)
