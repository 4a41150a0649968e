"""Nesterov's accelerated gradient."""

from typing import Any

from rarefy._ops.defs.optimizer_update import sgd_update
from rarefy._ops.defs.rule_update import nag_mom_update
from rarefy.nd._handle import Handle
from rarefy.optimizer._optimizer import Hyper, State, register, run_update
from rarefy.optimizer._rule_optimizer import RuleOptimizer


@register
class NAG(RuleOptimizer):
    """Stochastic gradient descent with Nesterov's momentum.

    With `g = clip(rescale_grad * grad)`

        step = lr * (g + wd * weight)
        weight = weight + momentum * (momentum * mom - step) - step
        mom = momentum * mom - lr * (g + wd * weight)

    where the last line has the new weight, as in MXNet. Without momentum it is `SGD`.

    Args:
      momentum: how much of the last step is kept.
      lazy_update: whether a row_sparse gradient moves only the rows that it stores, with momentum.
        Without, it always does so.
      **kwargs: of `Optimizer`.
    """

    operator = nag_mom_update
    numbers = ("momentum",)

    def __init__(self, momentum: float = 0.0, lazy_update: bool = False, **kwargs: Any):
        super().__init__(lazy_update=lazy_update or momentum == 0.0, **kwargs)
        self.momentum = momentum

    def create_state(self, index: Any, weight: Handle) -> State:
        """The momentum, or None without momentum."""
        return None if self.momentum == 0.0 else super().create_state(index, weight)[0]

    def apply(self, index: Any, weight: Handle, grad: Handle, state: State, hyper: Hyper) -> None:
        if state is not None:
            super().apply(index, weight, grad, state, hyper)
            return
        numbers = {name: value for name, value in hyper.items() if name != "momentum"}
        run_update(sgd_update, weight, grad, (), numbers, self.lazy_update)

    def _join(self, copy: Handle, state: State) -> State:  # the other way round, as in MXNet
        return (state, copy)

    def _split(self, state: State) -> tuple[Handle, State]:
        return state[1], state[0]
