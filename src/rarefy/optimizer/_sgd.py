"""Stochastic gradient descent, with momentum."""

import os
from typing import Any

from rarefy._ops.defs.optimizer_update import sgd_mom_update, sgd_update
from rarefy._ops.storage import stype_of
from rarefy.nd._handle import Handle
from rarefy.optimizer._optimizer import Hyper, Optimizer, State, register, run_update, zeros_like


@register
class SGD(Optimizer):
    """Stochastic gradient descent.

    With `g = clip(rescale_grad * grad)`

        weight = (1 - lr * wd) * weight - lr * g

    and, where `momentum` is not zero,

        mom = momentum * mom - lr * wd * weight - lr * g
        weight = weight + mom

    Args:
      momentum: how much of the last step is kept.
      lazy_update: whether a row_sparse gradient moves only the rows that it stores: other rows keep
        their weight, without decay, and their momentum.
      **kwargs: of `Optimizer`.
    """

    def __init__(self, momentum: float = 0.0, lazy_update: bool = True, **kwargs: Any):
        super().__init__(**kwargs)
        self.momentum = momentum
        self.aggregate_num = int(os.getenv("MXNET_OPTIMIZER_AGGREGATION_SIZE", "4"))
        self.lazy_update = lazy_update

    def create_state(self, index: Any, weight: Handle) -> State:
        """The momentum, or None without momentum; row_sparse for a row_sparse weight if lazy."""
        if self.momentum == 0.0:
            return None
        return zeros_like(weight, stype_of(weight._value) if self.lazy_update else "default")

    def hyper(self, index: Any) -> dict[str, float]:
        numbers = super().hyper(index)
        numbers["momentum"] = float(self.momentum)
        return numbers

    def apply(self, index: Any, weight: Handle, grad: Handle, state: State, hyper: Hyper) -> None:
        if state is None:
            numbers = {name: value for name, value in hyper.items() if name != "momentum"}
            run_update(sgd_update, weight, grad, (), numbers, self.lazy_update)
        else:
            run_update(sgd_mom_update, weight, grad, (state,), hyper, self.lazy_update)

    def _join(self, copy: Handle, state: State) -> State:  # the other way round, as in MXNet
        return (state, copy)

    def _split(self, state: State) -> tuple[Handle, State]:
        return state[1], state[0]


@register
class ccSGD(SGD):
    """`SGD` under an older name."""
