"""Signum and signSGD."""

from typing import Any

from rarefy._ops.defs.rule_update import signsgd_update, signum_update
from rarefy.nd._handle import Handle
from rarefy.optimizer._optimizer import Hyper, State, register, run_update
from rarefy.optimizer._rule_optimizer import RuleOptimizer


@register
class Signum(RuleOptimizer):
    """Steps of one size in the direction of the momentum's sign (Bernstein and others, 2018).

    With `g = clip(rescale_grad * grad)`

        mom = momentum * mom - (1 - momentum) * (g + wd * weight)
        weight = (1 - lr * wd_lh) * weight + lr * sign(mom)

    and without momentum (signSGD) `weight = (1 - lr * wd) * weight - lr * sign(g)`.

    Args:
      learning_rate: 0.01 by default.
      momentum: how much of the momentum is kept.
      wd_lh: weight decay that does not go through the momentum.
      lazy_update: whether a row_sparse gradient moves only the rows that it stores.
      **kwargs: of `Optimizer`.
    """

    operator = signum_update
    numbers = ("momentum", "wd_lh")
    keeps_stype = True

    def __init__(
        self,
        learning_rate: float | None = 0.01,
        momentum: float = 0.9,
        wd_lh: float = 0.0,
        **kwargs: Any,
    ):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.momentum = momentum
        self.wd_lh = wd_lh

    def create_state(self, index: Any, weight: Handle) -> State:
        """The momentum, or None without momentum."""
        return None if self.momentum == 0.0 else super().create_state(index, weight)[0]

    def apply(self, index: Any, weight: Handle, grad: Handle, state: State, hyper: Hyper) -> None:
        if state is not None:
            super().apply(index, weight, grad, state, hyper)
            return
        numbers = {name: value for name, value in hyper.items() if name not in self.numbers}
        run_update(signsgd_update, weight, grad, (), numbers, self.lazy_update)
