"""Optimizer updates: a weight and its states, moved by a gradient.

Each operator is one rule of `rarefy._primitives.rows_update`, for any mix of dense and row_sparse
arrays. A dense gradient, or `lazy_update=False`, moves all rows that the weight stores; a
row_sparse gradient with `lazy_update=True` moves its own rows and reads no other.
"""

import jax.numpy as jnp

from rarefy._ops.defs._update import any_mix, update
from rarefy._ops.gradient import with_data
from rarefy._ops.opdef import Scalar, operator
from rarefy._primitives import random_normal
from rarefy._primitives.take_rows import take_rows
from rarefy.sparse import BCOO
from rarefy.sparse._row_sparse import row_sparse_rows


@operator("sgd_update", updates=("weight",), differentiable=False)
def sgd_update(
    weight,
    grad,
    *,
    lr: Scalar,
    wd: Scalar = 0.0,
    rescale_grad: Scalar = 1.0,
    clip_gradient: Scalar = -1.0,
    lazy_update: bool = True,
):
    """Update of stochastic gradient descent.

    weight = (1 - lr * wd) * weight - lr * clip(rescale_grad * grad)

    Args:
      weight: `(n, *d)`, floating, default or row_sparse. Pass it as `out` too, and it is updated in
        place. A row that a row_sparse weight does not store is not updated.
      grad: of the weight's shape and a dtype no wider, default or row_sparse.
      lr: learning rate.
      wd: weight decay.
      rescale_grad: factor on the gradient, applied before it is clipped.
      clip_gradient: bound on the absolute value of each element of the gradient; negative: none.
      lazy_update: whether a row_sparse gradient moves only the rows that it stores. Otherwise all
        rows move, as with a dense gradient that is zero elsewhere.

    Returns:
      The new weight, in the storage type of `weight`.

    Cost: O(rows of `grad`) for a row_sparse gradient with `lazy_update`, if the weight is updated
    in place; else O(rows of `weight`).
    """
    return update("sgd", lazy_update, (weight,), grad, (lr, wd, rescale_grad, clip_gradient))


@operator("sgd_mom_update", updates=("weight", "mom"), results=2, differentiable=False)
def sgd_mom_update(
    weight,
    grad,
    mom,
    *,
    lr: Scalar,
    momentum: Scalar = 0.0,
    wd: Scalar = 0.0,
    rescale_grad: Scalar = 1.0,
    clip_gradient: Scalar = -1.0,
    lazy_update: bool = True,
):
    """Update of stochastic gradient descent with momentum.

    mom = momentum * mom - lr * wd * weight - lr * clip(rescale_grad * grad)
    weight = weight + mom

    Args:
      weight: `(n, *d)`, floating, default or row_sparse. Pass it as `out` too, and it is updated in
        place.
      grad: of the weight's shape and a dtype no wider, default or row_sparse.
      mom: of the weight's shape and dtype, default or row_sparse; updated in place.
      lr: learning rate.
      momentum: how much of `mom` is kept.
      wd: weight decay.
      rescale_grad: factor on the gradient, applied before it is clipped.
      clip_gradient: bound on the absolute value of each element of the gradient; negative: none.
      lazy_update: whether a row_sparse gradient moves only the rows that it stores.

    Returns:
      The new weight, in the storage type of `weight`.
    """
    hyper = (lr, wd, rescale_grad, clip_gradient, momentum)
    return update("sgd_mom", lazy_update, (weight, mom), grad, hyper)


@operator("adam_update", updates=("weight", "mean", "var"), results=3, differentiable=False)
def adam_update(
    weight,
    grad,
    mean,
    var,
    *,
    lr: Scalar,
    beta1: Scalar = 0.9,
    beta2: Scalar = 0.999,
    epsilon: Scalar = 1e-8,
    wd: Scalar = 0.0,
    rescale_grad: Scalar = 1.0,
    clip_gradient: Scalar = -1.0,
    lazy_update: bool = True,
):
    """Update of Adam (Kingma and Ba, 2015), without the correction of bias.

    g = clip(rescale_grad * grad + wd * weight)
    mean = beta1 * mean + (1 - beta1) * g
    var = beta2 * var + (1 - beta2) * g**2
    weight = weight - lr * mean / (sqrt(var) + epsilon)

    Args:
      weight: `(n, *d)`, floating, default or row_sparse. Pass it as `out` too, and it is updated in
        place.
      grad: of the weight's shape and a dtype no wider, default or row_sparse.
      mean: of the weight's shape and dtype, default or row_sparse; updated in place.
      var: as `mean`.
      lr: learning rate, corrected for bias: lr * sqrt(1 - beta2**t) / (1 - beta1**t) at update t.
      beta1: how much of `mean` is kept.
      beta2: how much of `var` is kept.
      epsilon: added to the root of `var`.
      wd: weight decay, as part of the gradient; clipped with it.
      rescale_grad: factor on the gradient, applied before it is clipped.
      clip_gradient: bound on the absolute value of each element of the gradient; negative: none.
      lazy_update: whether a row_sparse gradient moves only the rows that it stores.

    Returns:
      The new weight, in the storage type of `weight`.
    """
    hyper = (lr, wd, rescale_grad, clip_gradient, beta1, beta2, epsilon)
    return update("adam", lazy_update, (weight, mean, var), grad, hyper)


@operator(
    "adagrad_update",
    aliases=("_sparse_adagrad_update",),
    updates=("weight", "history"),
    results=2,
    differentiable=False,
)
def adagrad_update(
    weight,
    grad,
    history,
    *,
    lr: Scalar,
    epsilon: Scalar = 1e-7,
    wd: Scalar = 0.0,
    rescale_grad: Scalar = 1.0,
    clip_gradient: Scalar = -1.0,
    lazy_update: bool = True,
):
    """Update of AdaGrad (Duchi, Hazan and Singer, 2011).

    g = clip(rescale_grad * grad)
    history = history + g**2
    weight = weight - lr * (g / sqrt(history + epsilon) + wd * weight)

    Args:
      weight: `(n, *d)`, floating, default or row_sparse. Pass it as `out` too, and it is updated in
        place.
      grad: of the weight's shape and a dtype no wider, default or row_sparse.
      history: of the weight's shape and dtype, default or row_sparse; updated in place.
      lr: learning rate.
      epsilon: added to `history` under the root.
      wd: weight decay; it does not enter `history`.
      rescale_grad: factor on the gradient, applied before it is clipped.
      clip_gradient: bound on the absolute value of each element of the gradient; negative: none.
      lazy_update: whether a row_sparse gradient moves only the rows that it stores.

    Returns:
      The new weight, in the storage type of `weight`.
    """
    hyper = (lr, wd, rescale_grad, clip_gradient, epsilon)
    return update("adagrad", lazy_update, (weight, history), grad, hyper)


@operator("ftrl_update", updates=("weight", "z", "n"), results=3, differentiable=False)
def ftrl_update(
    weight,
    grad,
    z,
    n,
    *,
    lr: Scalar,
    lamda1: Scalar = 0.01,
    beta: Scalar = 1.0,
    wd: Scalar = 0.0,
    rescale_grad: Scalar = 1.0,
    clip_gradient: Scalar = -1.0,
    lazy_update: bool = True,
):
    """Update of FTRL-proximal (McMahan and others, 2013), with L1 and L2 regularization.

    g = clip(rescale_grad * grad)
    z = z + g - (sqrt(n + g**2) - sqrt(n)) * weight / lr
    n = n + g**2
    weight = (sign(z) * lamda1 - z) / ((beta + sqrt(n)) / lr + wd) where |z| > lamda1, else 0

    The weight is a function of `z` and `n`; what it was before enters only through `z`.

    Args:
      weight: `(n, *d)`, floating, default or row_sparse. Pass it as `out` too, and it is updated in
        place.
      grad: of the weight's shape and a dtype no wider, default or row_sparse.
      z: of the weight's shape and dtype, default or row_sparse; updated in place.
      n: as `z`.
      lr: learning rate (alpha in the paper).
      lamda1: L1 coefficient.
      beta: as in the paper.
      wd: L2 coefficient (lambda2 in the paper).
      rescale_grad: factor on the gradient, applied before it is clipped.
      clip_gradient: bound on the absolute value of each element of the gradient; negative: none.
      lazy_update: whether a row_sparse gradient moves only the rows that it stores. Otherwise all
        rows are computed anew from `z` and `n`.

    Returns:
      The new weight, in the storage type of `weight`.
    """
    hyper = (lr, wd, rescale_grad, clip_gradient, lamda1, beta)
    return update("ftrl", lazy_update, (weight, z, n), grad, hyper)


@operator("_ftrl_warm_start", differentiable=False, visible="internal")
def ftrl_warm_start(weight, *, lr: Scalar, lamda1: Scalar, beta: Scalar, wd: Scalar):
    """The `z` from which, with `n` zero, `ftrl_update` computes the given weight.

    Args:
      weight: `(n, *d)`, floating, default or row_sparse.
      lr, lamda1, beta, wd: as in `ftrl_update`.

    Returns:
      `z`, in the weight's shape, dtype and storage type.
    """
    wide = weight.astype(jnp.promote_types(weight.dtype, jnp.float32))
    z = -wide * (beta / lr + wd) - jnp.sign(wide) * lamda1
    return z.astype(weight.dtype)


@ftrl_warm_start.rule("row_sparse", out="row_sparse")
def _(weight, **hyper):
    return with_data(weight, ftrl_warm_start.fn(weight.data, **hyper))


@operator("_copy_rows", updates=("weight",), differentiable=False, visible="internal")
def copy_rows(weight, source, grad, *, lazy_update: bool = True):
    """Copies into `weight`, in its own dtype, what an update by `grad` has moved in `source`.

    Args:
      weight: `(n, *d)`, floating, default or row_sparse.
      source: of the same shape, storage type and, where row_sparse, rows; any floating dtype.
      grad: the gradient that `source` was updated by.
      lazy_update: as `source` was updated.

    Returns:
      The new weight.
    """
    if isinstance(weight, BCOO) or isinstance(source, BCOO):
        if not (isinstance(weight, BCOO) and isinstance(source, BCOO)):
            raise TypeError("weight and source must have one storage type")
        return with_data(weight, source.data.astype(weight.dtype))
    if not isinstance(grad, BCOO) or not lazy_update:
        return source.astype(weight.dtype)
    rows = row_sparse_rows(grad)
    moved = take_rows(source, rows).astype(weight.dtype)
    return weight.at[rows].set(moved, mode="drop")


@operator(
    "_sgld_update", updates=("weight",), needs_key=True, differentiable=False, visible="internal"
)
def sgld_update(
    weight,
    grad,
    *,
    key,
    lr: Scalar,
    wd: Scalar = 0.0,
    rescale_grad: Scalar = 1.0,
    clip_gradient: Scalar = -1.0,
):
    """Update of stochastic gradient Langevin dynamics.

    weight = weight - lr / 2 * (clip(rescale_grad * grad) + wd * weight) + normal(0, sqrt(lr))

    Args:
      weight: floating. Pass it as `out` too, and it is updated in place.
      grad: of the weight's shape, default or row_sparse.
      key: a random key.
      lr, wd, rescale_grad, clip_gradient: as in `sgd_update`.

    Returns:
      The new weight.
    """
    half = {"lr": lr / 2, "wd": wd, "rescale_grad": rescale_grad, "clip_gradient": clip_gradient}
    (moved,) = sgd_update.fn(weight, grad, lazy_update=False, **half)
    acc = jnp.promote_types(weight.dtype, jnp.float32)
    noise = jnp.sqrt(jnp.asarray(lr, acc)) * random_normal(key, shape=weight.shape, dtype=acc)
    return moved + noise.astype(weight.dtype)


sgld_update.rule("default", "row_sparse", out="default")(sgld_update.fn)

for _op in (sgd_update, sgd_mom_update, adam_update, adagrad_update, ftrl_update, copy_rows):
    any_mix(_op)
