"""AdaGrad with one history for each row."""

from typing import Any

from rarefy._ops.defs.rule_update import group_adagrad_update
from rarefy._ops.storage import stype_of
from rarefy.nd._handle import Handle
from rarefy.optimizer._optimizer import State, register, zeros_like
from rarefy.optimizer._rule_optimizer import RuleOptimizer


@register
class GroupAdaGrad(RuleOptimizer):
    """AdaGrad with one learning rate for each row.

    With `g = clip(rescale_grad * grad)`

        history = history + mean(g**2) over each row
        weight = weight - lr * g / sqrt(history + eps)

    Args:
      eps: added to the history under the root.
      lazy_update: whether a row_sparse gradient moves only the rows that it stores; as a row without
        gradient does not move, there is no difference.
      **kwargs: of `Optimizer`; without `wd`.

    Raises:
      ValueError: when a parameter with weight decay is updated.
    """

    operator = group_adagrad_update

    def __init__(self, eps: float = 1e-5, lazy_update: bool = True, **kwargs: Any):
        super().__init__(lazy_update=lazy_update, **kwargs)
        self.float_stable_eps = eps

    def create_state(self, index: Any, weight: Handle) -> State:
        """The history `(n, 1)`, in the weight's storage type."""
        shape = weight._value.shape
        if len(shape) != 2:
            raise ValueError(f"GroupAdaGrad updates matrices; parameter {index} has shape {shape}")
        return zeros_like(weight, stype_of(weight._value), (shape[0], 1))

    def hyper(self, index: Any) -> dict[str, float]:
        numbers = super().hyper(index)
        decay = numbers.pop("wd")
        if decay:
            raise ValueError(
                f"GroupAdaGrad has no weight decay; parameter {index} has wd {decay}. Set wd_mult to 0"
            )
        return {**numbers, "epsilon": float(self.float_stable_eps)}
