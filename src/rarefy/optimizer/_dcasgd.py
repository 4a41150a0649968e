"""Delay-compensated asynchronous SGD."""

from typing import Any

import jax
import jax.numpy as jnp

from rarefy._ops.defs.rule_update import dcasgd_mom_update, dcasgd_update
from rarefy._ops.precision import wide
from rarefy._ops.storage import stype_of
from rarefy.nd._handle import Handle
from rarefy.optimizer._optimizer import Hyper, Optimizer, State, register, run_update, zeros_like


@register
class DCASGD(Optimizer):
    """Stochastic gradient descent that compensates for delay (Zheng and others, 2017).

    With `g = clip(rescale_grad * grad)`

        step = lr * (g + wd * weight + lamda * g**2 * (weight - previous))
        mom = momentum * mom - step
        previous = weight;  weight = weight + mom

    Args:
      momentum: how much of the last step is kept.
      lamda: strength of the compensation.
      lazy_update: whether a row_sparse gradient moves only the rows that it stores.
      **kwargs: of `Optimizer`.
    """

    def __init__(
        self, momentum: float = 0.0, lamda: float = 0.04, lazy_update: bool = False, **kwargs: Any
    ):
        super().__init__(**kwargs)
        self.momentum = momentum
        self.lamda = lamda
        self.lazy_update = lazy_update

    def create_state(self, index: Any, weight: Handle) -> State:
        """The momentum, or None without momentum, and the previous weight."""
        with wide():
            previous = Handle._wrap(jax.tree.map(jnp.copy, weight._value))
        if self.momentum == 0.0:
            return None, previous
        stype = stype_of(weight._value) if self.lazy_update else "default"
        return zeros_like(weight, stype), previous

    def hyper(self, index: Any) -> dict[str, float]:
        own = {"lamda": float(self.lamda), "momentum": float(self.momentum)}
        return {**super().hyper(index), **own}

    def apply(self, index: Any, weight: Handle, grad: Handle, state: State, hyper: Hyper) -> None:
        mom, previous = state
        if mom is not None:
            run_update(dcasgd_mom_update, weight, grad, state, hyper, self.lazy_update)
            return
        numbers = {name: value for name, value in hyper.items() if name != "momentum"}
        run_update(dcasgd_update, weight, grad, (previous,), numbers, self.lazy_update)
