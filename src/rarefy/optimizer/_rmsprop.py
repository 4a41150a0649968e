"""RMSProp."""

from typing import Any

from rarefy._ops.defs.rule_update import rmsprop_update, rmspropalex_update
from rarefy._ops.storage import stype_of
from rarefy.nd._handle import Handle
from rarefy.optimizer._optimizer import Hyper, State, register, run_update, zeros_like
from rarefy.optimizer._rule_optimizer import RuleOptimizer


@register
class RMSProp(RuleOptimizer):
    """RMSProp (Tieleman and Hinton, 2012), or its centered form (Graves, 2013).

    With `g = clip(rescale_grad * grad + wd * weight)`

        n = gamma1 * n + (1 - gamma1) * g**2
        weight = weight - lr * g / sqrt(n + epsilon)

    and, centered,

        mean = gamma1 * mean + (1 - gamma1) * g
        delta = gamma2 * delta - lr * g / sqrt(n - mean**2 + epsilon)
        weight = weight + delta

    Args:
      learning_rate: 0.001 by default.
      gamma1: how much of the averages is kept.
      gamma2: how much of the last step is kept; used if centered.
      epsilon: added under the root.
      centered: which form.
      clip_weights: bound on the absolute value of each element of the weight; None or 0 for none.
      lazy_update: whether a row_sparse gradient moves only the rows that it stores.
      **kwargs: of `Optimizer`.
    """

    operator = rmsprop_update
    numbers = ("gamma1", "epsilon")
    keeps_stype = True

    def __init__(
        self,
        learning_rate: float | None = 0.001,
        gamma1: float = 0.9,
        gamma2: float = 0.9,
        epsilon: float = 1e-8,
        centered: bool = False,
        clip_weights: float | None = None,
        **kwargs: Any,
    ):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.gamma1 = gamma1
        self.gamma2 = gamma2
        self.centered = centered
        self.epsilon = epsilon
        self.clip_weights = clip_weights

    def create_state(self, index: Any, weight: Handle) -> State:
        """`(n,)`, or centered `(n, mean, delta)`, in the weight's storage type."""
        stype = stype_of(weight._value)
        return tuple(zeros_like(weight, stype) for _ in range(3 if self.centered else 1))

    def hyper(self, index: Any) -> dict[str, float]:
        bound = float(self.clip_weights) if self.clip_weights else -1.0
        centered = {"gamma2": float(self.gamma2)} if self.centered else {}
        return {**super().hyper(index), **centered, "clip_weights": bound}

    def apply(self, index: Any, weight: Handle, grad: Handle, state: State, hyper: Hyper) -> None:
        op = rmspropalex_update if self.centered else rmsprop_update
        run_update(op, weight, grad, state, hyper, self.lazy_update)
