"""AdaGrad."""

from typing import Any

from rarefy._ops.defs.optimizer_update import adagrad_update
from rarefy._ops.storage import stype_of
from rarefy.nd._handle import Handle
from rarefy.optimizer._optimizer import Hyper, Optimizer, State, register, run_update, zeros_like


@register
class AdaGrad(Optimizer):
    """AdaGrad (Duchi, Hazan and Singer, 2011).

    With `g = clip(rescale_grad * grad)`

        history = history + g**2
        weight = weight - lr * (g / sqrt(history + eps) + wd * weight)

    Args:
      eps: added to the history under the root.
      lazy_update: whether a row_sparse gradient moves only the rows that it stores. Without weight
        decay there is no difference, as a row without gradient does not move.
      **kwargs: of `Optimizer`.
    """

    def __init__(self, eps: float = 1e-7, lazy_update: bool = True, **kwargs: Any):
        super().__init__(**kwargs)
        self.float_stable_eps = eps
        self.lazy_update = lazy_update

    def create_state(self, index: Any, weight: Handle) -> State:
        """The history, in the weight's storage type."""
        return zeros_like(weight, stype_of(weight._value))

    def hyper(self, index: Any) -> dict[str, float]:
        return {**super().hyper(index), "epsilon": float(self.float_stable_eps)}

    def apply(self, index: Any, weight: Handle, grad: Handle, state: State, hyper: Hyper) -> None:
        run_update(adagrad_update, weight, grad, (state,), hyper, self.lazy_update)
