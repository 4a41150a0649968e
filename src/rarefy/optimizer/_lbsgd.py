"""SGD with batches that are made of several."""

import math
from typing import Any

import numpy as np

from rarefy._ops.storage import canonical
from rarefy.nd._handle import Handle
from rarefy.optimizer._optimizer import Hyper, Optimizer, State, register
from rarefy.optimizer._sgd import SGD


@register
class LBSGD(SGD):
    """`SGD` with large batches: gradients of `batch_scale` updates are averaged before a step.

    The learning rate of a step is multiplied by a factor that rises from 1 to `batch_scale` during
    the warm-up, or, with the strategy 'lars', by `sqrt(|w|**2 / (|g|**2 + wd * |w|**2))` between 0.01
    and 100. There is no compiled update, as the gradients are kept here.

    Args:
      momentum: how much of the last step is kept.
      multi_precision: of `Optimizer`.
      warmup_strategy: 'linear', 'power2', 'sqrt' or 'lars'; with another one the factor is 1 during
        the warm-up.
      warmup_epochs: length of the warm-up.
      batch_scale: how many gradients make a step.
      updates_per_epoch: how many updates an epoch has.
      begin_epoch: the epoch that training begins with.
      num_epochs: not used; there for MXNet programs.
      **kwargs: of `Optimizer`.
    """

    def __init__(
        self,
        momentum: float = 0.0,
        multi_precision: bool = False,
        warmup_strategy: str = "linear",
        warmup_epochs: int = 5,
        batch_scale: int = 1,
        updates_per_epoch: int = 32,
        begin_epoch: int = 0,
        num_epochs: int = 60,
        **kwargs: Any,
    ):
        super().__init__(momentum=momentum, multi_precision=multi_precision, **kwargs)
        self.warmup_strategy = warmup_strategy
        self.warmup_epochs = warmup_epochs
        self.batch_scale = batch_scale
        self.updates_per_epoch = updates_per_epoch
        self.init_updates = begin_epoch * updates_per_epoch
        self.num_epochs = num_epochs
        # By index: the sum of the gradients since the last step, and how many came in all.
        self._sums: dict[Any, tuple[Any, int]] = {}

    _join = Optimizer._join
    _split = Optimizer._split

    def apply(self, index: Any, weight: Handle, grad: Handle, state: State, hyper: Hyper) -> None:
        raise NotImplementedError("LBSGD has no compiled update; use an Updater or update()")

    def update(self, index: Any, weight: Any, grad: Any, state: State) -> None:
        """Takes in a gradient, and does a step at every `batch_scale`-th one."""
        if isinstance(index, list | tuple):
            for one in zip(index, weight, grad, state, strict=True):
                self.update(*one)
            return
        self._check_update(index, weight, grad)
        lr = self._get_lr(index)  # before counting, as in MXNet
        numbers = {**self.hyper(index), "lr": lr}
        total, count = self._sums.get(index, (None, self.init_updates))
        total, count = grad.copy() if total is None else total + grad, count + 1
        self._sums[index] = (total, count)
        if count % self.batch_scale:
            return
        self._sums[index] = (None, count)
        grad = total / self.batch_scale
        if self.warmup_strategy == "lars":
            numbers["lr"] *= self._trust(weight, grad, numbers["wd"])
        else:
            numbers["lr"] *= self._warmup(count)
        super().apply(index, weight, grad, state, numbers)

    def _warmup(self, count: int) -> float:
        """The factor on the learning rate after `count` gradients."""
        whole = self.warmup_epochs * self.updates_per_epoch
        if count >= whole:
            return float(self.batch_scale)
        part = count / whole if whole > 1 else 0.0
        shapes = {"linear": part, "power2": part * part, "sqrt": math.sqrt(part)}
        return 1.0 + (self.batch_scale - 1) * shapes.get(self.warmup_strategy, 0.0)

    def _trust(self, weight: Any, grad: Any, wd: float) -> float:
        weights, grads = (float(np.sum(np.square(_stored(a), dtype=float))) for a in (weight, grad))
        return min(max(math.sqrt(weights / (grads + wd * weights + 1e-18)), 0.01), 100.0)


def _stored(array: Handle) -> np.ndarray:
    value = canonical(array._value)
    return np.asarray(getattr(value, "data", value), np.float32)
