"""Rules of optimizers that have no kernel of their own: formulas for whole rows of a table.

They complete `rarefy._primitives.rows_update.RULES`; XLA makes one loop of each.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from jax import numpy as jnp

from rarefy._primitives.rows_update import COMMON


class RowRule(NamedTuple):
    """An optimizer's formula for some rows.

    Attributes:
      states: names of the states.
      hyper: names of the numbers, in the order in which `apply` takes them.
      apply: from gradient, weight, states and numbers to the new weight and states.
      one_a_row: whether a state holds one number for each row of the weight, as `(n, 1)`.
    """

    states: tuple[str, ...]
    hyper: tuple[str, ...]
    apply: Callable[..., tuple[Any, ...]]
    one_a_row: bool = False


def _clip(grad, bound):
    return jnp.where(bound < 0, grad, jnp.clip(grad, -bound, bound))


def _nag_mom(grad, weight, mom, lr, wd, rescale_grad, clip_gradient, momentum):
    grad = _clip(rescale_grad * grad, clip_gradient)
    step = lr * (grad + wd * weight)
    weight = weight + momentum * (momentum * mom - step) - step
    # As MXNet does in place: the momentum decays by the weight that has just moved.
    return weight, momentum * mom - lr * (grad + wd * weight)


def _signsgd(grad, weight, lr, wd, rescale_grad, clip_gradient):
    return ((1 - lr * wd) * weight - lr * jnp.sign(_clip(rescale_grad * grad, clip_gradient)),)


def _signum(grad, weight, mom, lr, wd, rescale_grad, clip_gradient, momentum, wd_lh):
    grad = _clip(rescale_grad * grad, clip_gradient)
    mom = momentum * mom - (1 - momentum) * (grad + wd * weight)
    return (1 - lr * wd_lh) * weight + lr * jnp.sign(mom), mom


def _ftml(
    grad, weight, d, v, z, lr, wd, rescale_grad, clip_gradient, beta1, beta2, epsilon, rest1, rest2
):
    grad = _clip(rescale_grad * grad + wd * weight, clip_gradient)
    v = beta2 * v + (1 - beta2) * grad * grad
    d_new = rest1 / lr * (jnp.sqrt(v / rest2) + epsilon)
    z = beta1 * z + (1 - beta1) * grad - (d_new - beta1 * d) * weight
    return -z / d_new, d_new, v, z


def _rmsprop(grad, weight, n, lr, wd, rescale_grad, clip_gradient, gamma1, epsilon, clip_weights):
    grad = _clip(rescale_grad * grad + wd * weight, clip_gradient)
    n = gamma1 * n + (1 - gamma1) * grad * grad
    return _clip(weight - lr * grad / jnp.sqrt(n + epsilon), clip_weights), n


def _rmspropalex(
    grad, weight, n, g, delta,
    lr, wd, rescale_grad, clip_gradient, gamma1, gamma2, epsilon, clip_weights,
):  # fmt: skip
    grad = _clip(rescale_grad * grad + wd * weight, clip_gradient)
    n = gamma1 * n + (1 - gamma1) * grad * grad
    g = gamma1 * g + (1 - gamma1) * grad
    delta = gamma2 * delta - lr * grad / jnp.sqrt(n - g * g + epsilon)
    return _clip(weight + delta, clip_weights), n, g, delta


def _adamw(
    grad, weight, mean, var, lr, wd, rescale_grad, clip_gradient, beta1, beta2, epsilon, eta
):
    # A factor of zero says that the gradient is to be skipped, whatever it holds.
    grad = jnp.where(rescale_grad == 0, 0, _clip(rescale_grad * grad, clip_gradient))
    mean = beta1 * mean + (1 - beta1) * grad
    var = beta2 * var + (1 - beta2) * grad * grad
    return weight - eta * (lr * mean / (jnp.sqrt(var) + epsilon) + wd * weight), mean, var


def _adadelta(grad, weight, acc_g, acc_delta, lr, wd, rescale_grad, clip_gradient, rho, epsilon):
    grad = _clip(rescale_grad * grad, clip_gradient)
    acc_g = rho * acc_g + (1 - rho) * grad * grad
    delta = jnp.sqrt(acc_delta + epsilon) / jnp.sqrt(acc_g + epsilon) * grad
    acc_delta = rho * acc_delta + (1 - rho) * delta * delta
    return weight - (delta + wd * weight), acc_g, acc_delta


def _adamax(grad, weight, mean, largest, lr, wd, rescale_grad, clip_gradient, beta1, beta2):
    grad = _clip(rescale_grad * grad + wd * weight, clip_gradient)
    mean = beta1 * mean + (1 - beta1) * grad
    largest = jnp.maximum(beta2 * largest, jnp.abs(grad))
    # Without any gradient so far both are zero, and the weight stays.
    return weight - lr * mean / jnp.where(largest == 0, 1, largest), mean, largest


def _nadam(
    grad, weight, mean, var,
    lr, wd, rescale_grad, clip_gradient, beta1, beta2, epsilon, of_grad, of_mean, rest2,
):  # fmt: skip
    grad = _clip(rescale_grad * grad + wd * weight, clip_gradient)
    mean = beta1 * mean + (1 - beta1) * grad
    var = beta2 * var + (1 - beta2) * grad * grad
    step = of_grad * grad + of_mean * mean
    return weight - lr * step / (jnp.sqrt(var / rest2) + epsilon), mean, var


def _compensated(grad, weight, previous, lr, wd, rescale_grad, clip_gradient, lamda):
    grad = _clip(rescale_grad * grad, clip_gradient)
    return lr * (grad + wd * weight + lamda * grad * grad * (weight - previous))


def _dcasgd(grad, weight, previous, *hyper):
    return weight - _compensated(grad, weight, previous, *hyper), weight


def _dcasgd_mom(grad, weight, mom, previous, *hyper):
    mom = hyper[-1] * mom - _compensated(grad, weight, previous, *hyper[:-1])
    return weight + mom, mom, weight


def _group_adagrad(grad, weight, history, lr, wd, rescale_grad, clip_gradient, epsilon):
    grad = _clip(rescale_grad * grad, clip_gradient)
    axes = tuple(range(1, grad.ndim))
    history = history + jnp.mean(grad * grad, axis=axes, keepdims=True)
    return weight - lr * (grad / jnp.sqrt(history + epsilon) + wd * weight), history


def _test(grad, weight, copy, lr, wd, rescale_grad, clip_gradient):
    weight = weight + rescale_grad * grad
    return weight, weight


_ADAM = ("beta1", "beta2", "epsilon")

ROW_RULES: dict[str, RowRule] = {
    "nag_mom": RowRule(("mom",), (*COMMON, "momentum"), _nag_mom),
    "signsgd": RowRule((), COMMON, _signsgd),
    "signum": RowRule(("mom",), (*COMMON, "momentum", "wd_lh"), _signum),
    "ftml": RowRule(("d", "v", "z"), (*COMMON, *_ADAM, "rest1", "rest2"), _ftml),
    "rmsprop": RowRule(("n",), (*COMMON, "gamma1", "epsilon", "clip_weights"), _rmsprop),
    "rmspropalex": RowRule(
        ("n", "g", "delta"),
        (*COMMON, "gamma1", "gamma2", "epsilon", "clip_weights"),
        _rmspropalex,
    ),
    "adamw": RowRule(("mean", "var"), (*COMMON, *_ADAM, "eta"), _adamw),
    "adadelta": RowRule(("acc_g", "acc_delta"), (*COMMON, "rho", "epsilon"), _adadelta),
    "adamax": RowRule(("mean", "largest"), (*COMMON, "beta1", "beta2"), _adamax),
    "nadam": RowRule(("mean", "var"), (*COMMON, *_ADAM, "of_grad", "of_mean", "rest2"), _nadam),
    "dcasgd": RowRule(("previous",), (*COMMON, "lamda"), _dcasgd),
    "dcasgd_mom": RowRule(("mom", "previous"), (*COMMON, "lamda", "momentum"), _dcasgd_mom),
    "group_adagrad": RowRule(("history",), (*COMMON, "epsilon"), _group_adagrad, True),
    "test": RowRule(("copy",), COMMON, _test),
}
"""The rules by name. `rest1` and `rest2` are `1 - beta1**t` and `1 - beta2**t` at update t."""
