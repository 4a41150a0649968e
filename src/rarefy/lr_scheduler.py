"""Learning-rate schedules: the learning rate as a function of the number of updates.

A schedule keeps no count of its own: the same number of updates always gives the same rate, so that
a run that is resumed goes on as if it had not stopped. (MXNet's change their `base_lr` as they go.)
"""

import itertools
import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import ClassVar

from rarefy.base import ArgumentError, ArgumentTypeError

WARMUP_MODES = ("linear", "constant")


class LRScheduler:
    """Base of the schedules, with a warm-up.

    Args:
      base_lr: the learning rate that the schedule starts from after the warm-up.
      warmup_steps: number of updates of the warm-up.
      warmup_begin_lr: learning rate at its begin.
      warmup_mode: 'linear' rises to `base_lr`, 'constant' stays at `warmup_begin_lr`.

    Raises:
      ValueError: `warmup_steps` is no integer from 0 on, `warmup_begin_lr` is above `base_lr`, or
        the mode is unknown.
    """

    follows_base_lr: ClassVar[bool] = True
    """Whether setting `base_lr` later, as an optimizer with a `learning_rate` does, has an
    effect."""

    def __init__(
        self,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ):
        if not isinstance(warmup_steps, int) or warmup_steps < 0:
            raise ArgumentError(f"warmup_steps must be an integer from 0 on; got {warmup_steps!r}")
        if warmup_begin_lr > base_lr:
            raise ValueError(
                f"warmup_begin_lr must not be above base_lr; got {warmup_begin_lr} and {base_lr}"
            )
        if warmup_mode not in WARMUP_MODES:
            raise ValueError(
                f"warmup_mode must be one of {', '.join(WARMUP_MODES)}; got {warmup_mode!r}"
            )
        self.base_lr = base_lr
        self.warmup_steps = warmup_steps
        self.warmup_begin_lr = warmup_begin_lr
        self.warmup_final_lr = base_lr
        self.warmup_mode = warmup_mode

    def get_warmup_lr(self, num_update: int) -> float:
        """The learning rate during the warm-up."""
        assert num_update < self.warmup_steps
        if self.warmup_mode == "constant":
            return self.warmup_begin_lr
        rise = self.warmup_final_lr - self.warmup_begin_lr
        return self.warmup_begin_lr + rise * num_update / self.warmup_steps

    def __call__(self, num_update: int) -> float:
        """The learning rate after `num_update` updates."""
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        return self._rate(num_update)

    def _rate(self, num_update: int) -> float:
        """The learning rate after the warm-up."""
        raise NotImplementedError(f"{type(self).__name__} has no __call__")


class FactorScheduler(LRScheduler):
    """Multiplies the learning rate by a factor after every `step` updates.

    Args:
      step: number of updates between two changes.
      factor: at most 1.
      stop_factor_lr: the learning rate is not lowered below this.
      base_lr, warmup_steps, warmup_begin_lr, warmup_mode: of `LRScheduler`. The warm-up counts.

    Raises:
      ValueError: `step` is below 1 or `factor` above 1.
    """

    def __init__(
        self,
        step: int,
        factor: float = 1,
        stop_factor_lr: float = 1e-8,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ):
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if step < 1:
            raise ValueError(f"step must be at least 1; got {step}")
        _check_factor(factor)
        self.step = step
        self.factor = factor
        self.stop_factor_lr = stop_factor_lr

    def _rate(self, num_update: int) -> float:
        changes = max(0, num_update - 1) // self.step
        if changes == 0:
            return self.base_lr
        return max(self.base_lr * self.factor**changes, self.stop_factor_lr)


class MultiFactorScheduler(LRScheduler):
    """Multiplies the learning rate by a factor after given numbers of updates.

    Args:
      step: the numbers of updates, ascending.
      factor: at most 1.
      base_lr, warmup_steps, warmup_begin_lr, warmup_mode: of `LRScheduler`. The warm-up counts.

    Raises:
      TypeError: `step` is no list.
      ValueError: `step` is empty, not ascending or begins below 1, or `factor` is above 1.
    """

    def __init__(
        self,
        step: Sequence[int],
        factor: float = 1,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ):
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if not isinstance(step, list | tuple):
            raise ArgumentTypeError(f"step must be a list of numbers of updates; got {step!r}")
        steps = list(step)
        if not steps or steps[0] < 1 or any(b <= a for a, b in itertools.pairwise(steps)):
            raise ValueError(f"step must be ascending numbers from 1 on; got {steps}")
        _check_factor(factor)
        self.step = steps
        self.factor = factor

    def _rate(self, num_update: int) -> float:
        return self.base_lr * self.factor ** bisect_left(self.step, num_update)


class _Descent(LRScheduler):
    """From `base_lr` after the warm-up down to `final_lr` at `max_update`, on a curve."""

    # Fixed when made, as in MXNet: a learning rate given to the optimizer does not move the curve.
    follows_base_lr = False

    def __init__(
        self,
        max_update: int,
        base_lr: float,
        final_lr: float,
        warmup_steps: int,
        warmup_begin_lr: float,
        warmup_mode: str,
    ):
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if not isinstance(max_update, int) or max_update < 1:
            raise ArgumentError(f"max_update must be an integer from 1 on; got {max_update!r}")
        self.base_lr_orig = base_lr
        self.max_update = max_update
        self.final_lr = final_lr
        self.max_steps = max_update - warmup_steps

    def _rate(self, num_update: int) -> float:
        if num_update >= self.max_update:
            return self.final_lr
        part = (num_update - self.warmup_steps) / self.max_steps
        return self.final_lr + (self.base_lr_orig - self.final_lr) * self._left(part)

    def _left(self, part: float) -> float:
        """How much of the way is left after a part of the updates; from 1 to 0."""
        raise NotImplementedError


class PolyScheduler(_Descent):
    """Lowers the learning rate to `final_lr` by a power of the remaining updates.

    Args:
      max_update: the number of updates at which `final_lr` is reached.
      base_lr: the learning rate after the warm-up.
      pwr: the power.
      final_lr: the learning rate from `max_update` on.
      warmup_steps, warmup_begin_lr, warmup_mode: of `LRScheduler`.

    Raises:
      ValueError: `max_update` is no integer from 1 on.
    """

    def __init__(
        self,
        max_update: int,
        base_lr: float = 0.01,
        pwr: float = 2,
        final_lr: float = 0,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ):
        super().__init__(max_update, base_lr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        self.power = pwr

    def _left(self, part: float) -> float:
        return (1 - part) ** self.power


class CosineScheduler(_Descent):
    """Lowers the learning rate to `final_lr` on half a period of a cosine.

    Args:
      max_update: the number of updates at which `final_lr` is reached.
      base_lr: the learning rate after the warm-up.
      final_lr: the learning rate from `max_update` on.
      warmup_steps, warmup_begin_lr, warmup_mode: of `LRScheduler`.

    Raises:
      ValueError: `max_update` is no integer from 1 on.
    """

    def __init__(
        self,
        max_update: int,
        base_lr: float = 0.01,
        final_lr: float = 0,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ):
        super().__init__(max_update, base_lr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode)

    def _left(self, part: float) -> float:
        return (1 + math.cos(math.pi * part)) / 2


def _check_factor(factor: float) -> None:
    if factor > 1:
        raise ValueError(f"factor must be at most 1, so that the learning rate falls; got {factor}")
