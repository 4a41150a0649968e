"""FTRL-proximal."""

from typing import Any

from rarefy._ops.defs.optimizer_update import ftrl_update, ftrl_warm_start
from rarefy._ops.storage import stype_of
from rarefy.nd._handle import Handle
from rarefy.nd._invoke import invoke
from rarefy.optimizer._optimizer import Hyper, Optimizer, State, register, run_update, zeros_like


@register
class Ftrl(Optimizer):
    """FTRL-proximal (McMahan and others, 2013): sparse models by L1, with L2.

    With `g = clip(rescale_grad * grad)`

        z = z + g - (sqrt(n + g**2) - sqrt(n)) * weight / lr
        n = n + g**2
        weight = (sign(z) * lamda1 - z) / ((beta + sqrt(n)) / lr + wd) where |z| > lamda1, else 0

    The weight is a function of the state. A weight that does not start at zero is therefore lost at
    its first update, as the state starts at zero; `warm_start` makes a state that means the given
    weight.

    Args:
      lamda1: L1 coefficient.
      learning_rate: alpha in the paper.
      beta: as in the paper.
      lazy_update: whether a row_sparse gradient moves only the rows that it stores. Otherwise every
        row is computed anew from its state at each update.
      warm_start: whether `create_state` makes z from the weight: `z = -weight * (beta / lr + wd) -
        sign(weight) * lamda1`. Exact for the learning rate at that moment; a row whose first update
        comes at another rate is scaled by the ratio of the two where beta / lr is large against wd.
      **kwargs: of `Optimizer`; `wd` is the L2 coefficient (lambda2 in the paper).
    """

    def __init__(
        self,
        lamda1: float = 0.01,
        learning_rate: float | None = 0.1,
        beta: float = 1,
        lazy_update: bool = True,
        warm_start: bool = False,
        **kwargs: Any,
    ):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.lamda1 = lamda1
        self.beta = beta
        self.lazy_update = lazy_update
        self.warm_start = warm_start

    def create_state(self, index: Any, weight: Handle) -> State:
        """z and n, in the weight's storage type."""
        stype = stype_of(weight._value)
        n = zeros_like(weight, stype)
        if not self.warm_start:
            return zeros_like(weight, stype), n
        numbers = {
            "lr": float(self._get_lr(index)),
            "lamda1": float(self.lamda1),
            "beta": float(self.beta),
            "wd": float(self._get_wd(index)),
        }
        return invoke(ftrl_warm_start, [weight], numbers), n

    def hyper(self, index: Any) -> dict[str, float]:
        return {
            **super().hyper(index),
            "lamda1": float(self.lamda1),
            "beta": float(self.beta),
        }

    def apply(self, index: Any, weight: Handle, grad: Handle, state: State, hyper: Hyper) -> None:
        run_update(ftrl_update, weight, grad, state, hyper, self.lazy_update)
