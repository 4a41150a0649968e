"""Updates that scale a step by the norm of the whole weight: LAMB, and the coefficients of LARS."""

import jax
import jax.numpy as jnp

from rarefy._ops.defs.rule_update import rest
from rarefy._ops.opdef import Scalar, operator


def _direction(weight, grad, mean, var, wd, n) -> tuple[jax.Array, jax.Array, jax.Array]:
    """The step before it is scaled, in at least float32, and the new moments in their own dtype."""
    acc = jnp.promote_types(weight.dtype, jnp.float32)
    beta1, beta2, epsilon, wd, scale, bound = (
        jnp.asarray(x, acc)
        for x in (n["beta1"], n["beta2"], n["epsilon"], wd, n["rescale_grad"], n["clip_gradient"])
    )
    g = scale * grad.astype(acc)
    g = jnp.where(bound < 0, g, jnp.clip(g, -bound, bound))
    m = beta1 * mean.astype(acc) + (1 - beta1) * g
    v = beta2 * var.astype(acc) + (1 - beta2) * g * g
    if n["bias_correction"]:
        rest1, rest2 = (rest(n[b], n["t"]).astype(acc) for b in ("beta1", "beta2"))
        step = m / rest1 / (jnp.sqrt(v / rest2) + epsilon)
    else:
        step = m / (jnp.sqrt(v) + epsilon)
    return step + wd * weight.astype(acc), m.astype(mean.dtype), v.astype(var.dtype)


def _norm(x: jax.Array) -> jax.Array:
    return jnp.sqrt(jnp.sum(jnp.square(x.astype(jnp.promote_types(x.dtype, jnp.float32)))))


def _scaled(weight, step, r1, r2, lr, lower_bound, upper_bound) -> jax.Array:
    """The weight after a step of the length that its norm allows."""
    acc = jnp.promote_types(weight.dtype, jnp.float32)
    r1, r2, lr = (jnp.asarray(x, acc).reshape(()) for x in (r1, r2, lr))
    r1 = jnp.where(lower_bound >= 0, jnp.maximum(r1, lower_bound), r1)
    r1 = jnp.where(upper_bound >= 0, jnp.minimum(r1, upper_bound), r1)
    ratio = jnp.where((r1 == 0) | (r2 == 0), 1, r1 / jnp.where(r2 == 0, 1, r2)).astype(acc)
    return (weight.astype(acc) - lr * ratio * step.astype(acc)).astype(weight.dtype)


@operator("lamb_update_phase1", updates=("weight", "mean", "var"), results=3, differentiable=False)
def lamb_update_phase1(
    weight,
    grad,
    mean,
    var,
    *,
    beta1: Scalar = 0.9,
    beta2: Scalar = 0.999,
    epsilon: Scalar = 1e-6,
    t: Scalar,
    bias_correction: bool = True,
    wd: Scalar,
    rescale_grad: Scalar = 1.0,
    clip_gradient: Scalar = -1.0,
):
    """First part of an update of LAMB (You and others, 2020): the step before it is scaled.

    g = clip(rescale_grad * grad)
    mean = beta1 * mean + (1 - beta1) * g
    var = beta2 * var + (1 - beta2) * g**2
    step = mean' / (sqrt(var') + epsilon) + wd * weight

    with `mean' = mean / (1 - beta1**t)` and `var' = var / (1 - beta2**t)`.

    Args:
      weight: `(n, *d)`, floating; not changed.
      grad: of the weight's shape.
      mean: of the weight's shape; updated in place.
      var: as `mean`.
      beta1: how much of the mean is kept.
      beta2: how much of the variance is kept.
      epsilon: added to the root of the variance.
      t: number of this update, from 1 on.
      bias_correction: whether the moments are divided by what they make up; without, `mean' = mean`.
      wd: weight decay.
      rescale_grad: factor on the gradient, applied before it is clipped.
      clip_gradient: bound on the absolute value of each element of the gradient; negative: none.

    Returns:
      The step, of the weight's shape and dtype.
    """
    numbers = {"beta1": beta1, "beta2": beta2, "epsilon": epsilon, "t": t}
    numbers |= {"rescale_grad": rescale_grad, "clip_gradient": clip_gradient}
    numbers["bias_correction"] = bias_correction
    step, mean, var = _direction(weight, grad, mean, var, wd, numbers)
    return step.astype(weight.dtype), mean, var


@operator(
    "mp_lamb_update_phase1", updates=("weight32", "mean", "var"), results=3, differentiable=False
)
def mp_lamb_update_phase1(
    weight,
    grad,
    mean,
    var,
    weight32,
    *,
    beta1: Scalar = 0.9,
    beta2: Scalar = 0.999,
    epsilon: Scalar = 1e-6,
    t: Scalar,
    bias_correction: bool = True,
    wd: Scalar,
    rescale_grad: Scalar = 1.0,
    clip_gradient: Scalar = -1.0,
):
    """`lamb_update_phase1` of a float32 copy of the weight; the step is float32."""
    numbers = {"beta1": beta1, "beta2": beta2, "epsilon": epsilon, "t": t}
    numbers |= {"rescale_grad": rescale_grad, "clip_gradient": clip_gradient}
    return lamb_update_phase1.fn(
        weight32, grad, mean, var, wd=wd, bias_correction=bias_correction, **numbers
    )


@operator("lamb_update_phase2", updates=("weight",), differentiable=False)
def lamb_update_phase2(
    weight, g, r1, r2, *, lr: Scalar, lower_bound: Scalar = -1.0, upper_bound: Scalar = -1.0
):
    """Second part of an update of LAMB: a step of the length that the weight's norm allows.

    weight = weight - lr * r1 / r2 * g, with r1 between its bounds; without `r1 / r2` where r1 or r2
    is zero.

    Args:
      weight: floating. Pass it as `out` too, and it is updated in place.
      g: the step that `lamb_update_phase1` returned.
      r1: norm of the weight, one element.
      r2: norm of the step, one element.
      lr: learning rate.
      lower_bound: of r1; negative: none.
      upper_bound: of r1; negative: none.

    Returns:
      The new weight.
    """
    return _scaled(weight, g, r1, r2, lr, lower_bound, upper_bound)


@operator("mp_lamb_update_phase2", updates=("weight", "weight32"), results=2, differentiable=False)
def mp_lamb_update_phase2(
    weight,
    g,
    r1,
    r2,
    weight32,
    *,
    lr: Scalar,
    lower_bound: Scalar = -1.0,
    upper_bound: Scalar = -1.0,
):
    """`lamb_update_phase2` of a float32 copy of the weight, which is updated; the weight is rounded
    from it."""
    copy = _scaled(weight32, g, r1, r2, lr, lower_bound, upper_bound)
    return copy.astype(weight.dtype), copy


@operator(
    "_lamb_update",
    updates=("weight", "mean", "var"),
    results=3,
    differentiable=False,
    visible="internal",
)
def lamb_update(
    weight,
    grad,
    mean,
    var,
    *,
    lr: Scalar,
    wd: Scalar,
    t: Scalar,
    beta1: Scalar = 0.9,
    beta2: Scalar = 0.999,
    epsilon: Scalar = 1e-6,
    rescale_grad: Scalar = 1.0,
    clip_gradient: Scalar = -1.0,
    lower_bound: Scalar = -1.0,
    upper_bound: Scalar = -1.0,
    bias_correction: bool = True,
):
    """Both parts of an update of LAMB."""
    numbers = {"beta1": beta1, "beta2": beta2, "epsilon": epsilon, "t": t}
    numbers |= {"rescale_grad": rescale_grad, "clip_gradient": clip_gradient}
    numbers["bias_correction"] = bias_correction
    step, mean, var = _direction(weight, grad, mean, var, wd, numbers)
    bounds = lower_bound, upper_bound
    return _scaled(weight, step, _norm(weight), _norm(step), lr, *bounds), mean, var


@operator(
    "_mp_lamb_update",
    updates=("weight", "mean", "var", "weight32"),
    results=4,
    differentiable=False,
    visible="internal",
)
def mp_lamb_update(
    weight,
    grad,
    mean,
    var,
    weight32,
    *,
    lr: Scalar,
    wd: Scalar,
    t: Scalar,
    beta1: Scalar = 0.9,
    beta2: Scalar = 0.999,
    epsilon: Scalar = 1e-6,
    rescale_grad: Scalar = 1.0,
    clip_gradient: Scalar = -1.0,
    lower_bound: Scalar = -1.0,
    upper_bound: Scalar = -1.0,
    bias_correction: bool = True,
):
    """Both parts of an update of LAMB, of a float32 copy that the weight is rounded from."""
    numbers = {"beta1": beta1, "beta2": beta2, "epsilon": epsilon, "t": t, "lr": lr, "wd": wd}
    numbers |= {"rescale_grad": rescale_grad, "clip_gradient": clip_gradient}
    numbers |= {"lower_bound": lower_bound, "upper_bound": upper_bound}
    copy, mean, var = lamb_update.fn(
        weight32, grad, mean, var, bias_correction=bias_correction, **numbers
    )
    return copy.astype(weight.dtype), mean, var, copy


@operator("multi_lars", differentiable=False)
def multi_lars(
    lrs, weights_sum_sq, grads_sum_sq, wds, *, eta: Scalar, eps: Scalar, rescale_grad: Scalar = 1.0
):
    """Learning rates of LARS (You and others, 2017) from the squares of norms.

    lr * eta * |w| / (|g| + wd * |w| + eps) with g rescaled; lr where |w| or |g| is zero.

    Args:
      lrs: `(k,)`, a learning rate for each weight.
      weights_sum_sq: `(k,)`, the sum of the squares of each weight.
      grads_sum_sq: `(k,)`, the same of each gradient.
      wds: `(k,)`, weight decays.
      eta: coefficient.
      eps: added to the divisor.
      rescale_grad: factor on the gradients.

    Returns:
      `(k,)`, of the dtype of `lrs`.
    """
    weights, grads = jnp.sqrt(weights_sum_sq), jnp.sqrt(grads_sum_sq) * rescale_grad
    scaled = lrs * eta * weights / (grads + wds * weights + eps)
    return jnp.where((weights > 0) & (grads > 0), scaled, lrs).astype(lrs.dtype)
