"""The optimizers."""

from collections.abc import Callable
from typing import Any

import jax
from jax import numpy as jnp

from rarefy._ops.defs.optimizer_update import ftrl_warm_start
from rarefy.optim._rule import RuleOf, transformation
from rarefy.optim._transformation import GradientTransformation, ScalarOrSchedule


def sgd(
    learning_rate: ScalarOrSchedule,
    momentum: float | jax.Array | None = None,
    *,
    weight_decay: float | jax.Array = 0.0,
    state_dtype: Any = None,
) -> GradientTransformation:
    """Stochastic gradient descent, with momentum.

    With `g = gradient + weight_decay * weight`

        update = -learning_rate * g

    and, where there is momentum,

        mom = momentum * mom - g
        update = learning_rate * mom

    as `optax.sgd`, whose state has the other sign. A row_sparse gradient moves only the rows that it
    stores: other rows keep their momentum and do not decay.

    Args:
      learning_rate: a number, or a schedule: a function of the number of updates before.
      momentum: how much of the last step is kept.
      weight_decay: factor of the weight in the gradient.
      state_dtype: type of `mom`; None: that of the parameter.

    Returns:
      A transformation of gradients, dense or row_sparse, to updates of the same form, for
      `apply_updates`. With `weight_decay` its `update` needs `params`.
    """
    rate, decays = _schedule(learning_rate), _is_used(weight_decay)
    if momentum is None:
        rule = RuleOf("sgd", lambda t: {"lr": rate(t), "wd": weight_decay}, (), decays)
        return transformation(rule, state_dtype)

    def hyper(count):
        # The rate is applied to the sum, so that a schedule does not enter the momentum.
        return {"lr": 1.0, "wd": weight_decay, "momentum": momentum, "rate": rate(count)}

    def step(hyper, weight, new):
        return jnp.asarray(hyper["rate"]).astype(new[1].dtype) * new[1]

    return transformation(RuleOf("sgd_mom", hyper, (_zeros,), decays, step), state_dtype)


def adam(
    learning_rate: ScalarOrSchedule,
    b1: float | jax.Array = 0.9,
    b2: float | jax.Array = 0.999,
    eps: float | jax.Array = 1e-8,
    *,
    weight_decay: float | jax.Array = 0.0,
    state_dtype: Any = None,
) -> GradientTransformation:
    """Adam (Kingma and Ba, 2015).

    At update t, with `g = gradient + weight_decay * weight`

        mean = b1 * mean + (1 - b1) * g
        var = b2 * var + (1 - b2) * g**2
        update = -learning_rate * (mean / (1 - b1**t)) / (sqrt(var / (1 - b2**t)) + eps)

    as `optax.adam`. A row_sparse gradient moves only the rows that it stores: other rows keep their
    mean and variance. t counts the updates of the transformation, not those of a row.

    Args:
      learning_rate: a number, or a schedule: a function of the number of updates before.
      b1: how much of the mean is kept.
      b2: how much of the variance is kept.
      eps: added to the root of the variance.
      weight_decay: factor of the weight in the gradient.
      state_dtype: type of `mean` and `var`; None: that of the parameter.

    Returns:
      As `sgd`.
    """
    rate = _schedule(learning_rate)

    def hyper(count):
        t = jnp.asarray(count + 1, jnp.result_type(float))
        root = jnp.sqrt(1 - b2**t)
        return {
            "lr": rate(count) * root / (1 - b1**t),
            "wd": weight_decay,
            "beta1": b1,
            "beta2": b2,
            # The rule adds it to the root before that is corrected.
            "epsilon": eps * root,
        }

    rule = RuleOf("adam", hyper, (_zeros, _zeros), _is_used(weight_decay))
    return transformation(rule, state_dtype)


def adagrad(
    learning_rate: ScalarOrSchedule,
    initial_accumulator_value: float = 0.1,
    eps: float | jax.Array = 1e-7,
    *,
    weight_decay: float | jax.Array = 0.0,
    state_dtype: Any = None,
) -> GradientTransformation:
    """AdaGrad (Duchi, Hazan and Singer, 2011).

        history = history + gradient**2
        update = -learning_rate * (gradient / sqrt(history + eps) + weight_decay * weight)

    as `optax.adagrad`. A row_sparse gradient moves only the rows that it stores. Without weight decay
    that is what the dense gradient does.

    Args:
      learning_rate: a number, or a schedule: a function of the number of updates before.
      initial_accumulator_value: where `history` starts.
      eps: added to the history under the root.
      weight_decay: factor of the weight; it does not enter the history.
      state_dtype: type of `history`; None: that of the parameter.

    Returns:
      As `sgd`.
    """
    rate = _schedule(learning_rate)

    def start(param, dtype):
        return jnp.full_like(param, initial_accumulator_value, dtype=dtype)

    def hyper(count):
        return {"lr": rate(count), "wd": weight_decay, "epsilon": eps}

    return transformation(RuleOf("adagrad", hyper, (start,), _is_used(weight_decay)), state_dtype)


def ftrl(
    learning_rate: ScalarOrSchedule,
    l1: float | jax.Array = 0.0,
    l2: float | jax.Array = 0.0,
    beta: float | jax.Array = 1.0,
    *,
    warm_start: bool = False,
    state_dtype: Any = None,
) -> GradientTransformation:
    """FTRL-proximal (McMahan and others, 2013): sparse models by L1, with L2.

        z = z + g - (sqrt(n + g**2) - sqrt(n)) * weight / learning_rate
        n = n + g**2
        weight = (sign(z) * l1 - z) / ((beta + sqrt(n)) / learning_rate + l2) if |z| > l1 else 0

    and the update is what brings the weight there. A row_sparse gradient moves only the rows that it
    stores. The weight is a function of z and n: where it does not start at zero, a row's first update
    loses it, unless there is a warm start.

    Args:
      learning_rate: alpha of the paper: a number, or a schedule.
      l1: lambda1 of the paper.
      l2: lambda2 of the paper.
      beta: as in the paper.
      warm_start: whether `init` makes z from the parameters such that the rule gives them back;
        exact for the learning rate of the first update.
      state_dtype: type of `z` and `n`; None: that of the parameter.

    Returns:
      As `sgd`; its `update` always needs `params`.
    """
    rate = _schedule(learning_rate)

    def z(param, dtype):
        if not warm_start:
            return _zeros(param, dtype)
        wide = jnp.asarray(param).astype(jnp.promote_types(dtype, jnp.float32))
        start = ftrl_warm_start.fn(wide, lr=rate(0), lamda1=l1, beta=beta, wd=l2)
        return start.astype(dtype)

    def hyper(count):
        return {"lr": rate(count), "wd": l2, "lamda1": l1, "beta": beta}

    return transformation(RuleOf("ftrl", hyper, (z, _zeros), True), state_dtype)


def _zeros(param: Any, dtype: Any) -> jax.Array:
    return jnp.zeros_like(param, dtype=dtype)


def _schedule(rate: ScalarOrSchedule) -> Callable[[Any], Any]:
    return rate if callable(rate) else lambda count: rate


def _is_used(weight_decay: Any) -> bool:
    """Whether there is decay, for all that is known now: a traced or device number may be any."""
    return not isinstance(weight_decay, int | float) or weight_decay != 0
