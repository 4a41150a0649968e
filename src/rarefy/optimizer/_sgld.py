"""Stochastic gradient Langevin dynamics."""

from typing import Any

from rarefy._ops.defs.optimizer_update import sgld_update
from rarefy.nd._handle import Handle
from rarefy.nd._invoke import invoke
from rarefy.optimizer._optimizer import Hyper, Optimizer, State, register


@register
class SGLD(Optimizer):
    """Half a step of gradient descent and normal noise (Patterson and Teh, 2013).

    With `g = clip(rescale_grad * grad)`

        weight = weight - lr / 2 * (g + wd * weight) + normal(0, sqrt(lr))

    All elements of the weight get noise, whatever the storage type of the gradient.

    Args:
      **kwargs: of `Optimizer`.
    """

    def apply(self, index: Any, weight: Handle, grad: Handle, state: State, hyper: Hyper) -> None:
        invoke(sgld_update, [weight, grad], dict(hyper), out=weight)
