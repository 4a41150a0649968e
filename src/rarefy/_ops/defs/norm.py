"""Layers that bring their input to a mean and a spread."""

from typing import Literal

import jax
import jax.numpy as jnp

from rarefy._ops.defs._numbers import require_same_dtype
from rarefy._ops.opdef import operator


def _wide(x):
    """16-bit floats as float32, in which sums are computed."""
    return x.astype(jnp.promote_types(x.dtype, jnp.float32))


def _along(vector, ndim: int, axis: int):
    """A vector that varies along one axis of an array of `ndim` axes."""
    shape = [1] * ndim
    shape[axis] = -1
    return vector.reshape(shape)


def _axis(axis: int, ndim: int) -> int:
    if not -ndim <= axis < ndim:
        raise ValueError(f"axis {axis} is out of range for {ndim} dimensions")
    return axis % ndim


def _require_vectors(n: int, **vectors) -> None:
    for name, vector in vectors.items():
        if tuple(vector.shape) != (n,):
            raise ValueError(f"{name} must have shape {(n,)}; got {tuple(vector.shape)}")


def _mean_and_variance(x, axes):
    mean = jnp.mean(x, axis=axes, keepdims=True)
    return mean, jnp.mean(jnp.square(x - mean), axis=axes, keepdims=True)


def _visible(output_mean_var: bool, hidden: int = 0) -> int:
    return (3 if output_mean_var else 1) + hidden


@operator(
    "BatchNorm",
    aux=("moving_mean", "moving_var"),
    needs_training=True,
    results=lambda output_mean_var, **_: _visible(output_mean_var, 2),
)
def batch_norm(
    data,
    gamma,
    beta,
    moving_mean,
    moving_var,
    *,
    eps: float = 1e-3,
    momentum: float = 0.9,
    fix_gamma: bool = True,
    use_global_stats: bool = False,
    output_mean_var: bool = False,
    axis: int = 1,
    cudnn_off: bool = False,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    training: bool = False,
):
    """Normalises each channel by mean and variance over the batch, then scales and shifts it.

    In training, mean and variance are those of the batch, and `moving_mean` and `moving_var` move
    towards them: `moving = momentum * moving + (1 - momentum) * batch`. Elsewhere the moving ones are
    used.

    Args:
      data: any shape with at least two axes, floating; sparse arrays go dense.
      gamma, beta: `(channels,)`: scale and shift; float32 where `data` is float16.
      moving_mean, moving_var: `(channels,)`, as `gamma`; changed in training.
      eps: added to the variance.
      momentum: how much of the moving mean and variance stays.
      fix_gamma: whether the scale is 1 and gets a gradient of zero, whatever `gamma` holds.
      use_global_stats: whether the moving mean and variance are used in training too.
      output_mean_var: whether the mean and `1 / sqrt(variance + eps)` are returned as well.
      axis: the axis of the channels.
      cudnn_off, min_calib_range, max_calib_range: accepted for MXNet's sake.

    Returns:
      Shape and dtype of `data`, dense; with output_mean_var also two arrays `(channels,)` through
      which no gradient goes.

    Raises:
      MXNetError: shapes or dtypes do not fit, or the axis does not exist.

    Source: Ioffe and Szegedy, Batch Normalization (2015).
    """
    axis = _axis(axis, data.ndim)
    _require_vectors(
        data.shape[axis], gamma=gamma, beta=beta, moving_mean=moving_mean, moving_var=moving_var
    )
    require_same_dtype(gamma, beta, moving_mean, moving_var)
    if gamma.dtype != (jnp.float32 if data.dtype.itemsize == 2 else data.dtype):
        raise TypeError(f"gamma is {gamma.dtype}, which does not go with data of {data.dtype}")
    x = _wide(data)
    if training and not use_global_stats:
        axes = tuple(a for a in range(data.ndim) if a != axis)
        mean, variance = (s.reshape(-1) for s in _mean_and_variance(x, axes))
    else:
        mean, variance = moving_mean, moving_var
    spread = jax.lax.rsqrt(variance + jnp.asarray(eps, variance.dtype))
    scale = jnp.ones_like(gamma) if fix_gamma else gamma
    out = (x - _along(mean, x.ndim, axis)) * _along(spread * scale, x.ndim, axis)
    out = (out + _along(beta, x.ndim, axis)).astype(data.dtype)
    mean, variance, spread = map(jax.lax.stop_gradient, (mean, variance, spread))
    moved = (_moved(moving_mean, mean, momentum), _moved(moving_var, variance, momentum))
    return (out, *((mean, spread) if output_mean_var else ()), *moved)


def _moved(moving, batch, momentum: float):
    """The moving average; itself where `batch` is the moving average."""
    return moving if batch is moving else moving * momentum + batch * (1 - momentum)


@operator("LayerNorm", results=lambda output_mean_var, **_: _visible(output_mean_var))
def layer_norm(
    data, gamma, beta, *, axis: int = -1, eps: float = 1e-5, output_mean_var: bool = False
):
    """Normalises along an axis, then scales and shifts.

    Args:
      data: any shape, floating; sparse arrays go dense.
      gamma, beta: `(data.shape[axis],)`, dtype of `data`: scale and shift.
      axis: the axis.
      eps: added to the variance.
      output_mean_var: whether the mean and `sqrt(variance + eps)` are returned as well.

    Returns:
      Shape and dtype of `data`, dense; with output_mean_var also two arrays with size 1 along the axis.

    Raises:
      MXNetError: shapes or dtypes do not fit, or the axis does not exist.

    Source: Ba, Kiros and Hinton, Layer Normalization (2016).
    """
    axis = _axis(axis, data.ndim)
    _require_vectors(data.shape[axis], gamma=gamma, beta=beta)
    require_same_dtype(data, gamma, beta)
    x = _wide(data)
    mean, variance = _mean_and_variance(x, axis)
    spread = jnp.sqrt(variance + jnp.asarray(eps, x.dtype))
    out = (x - mean) / spread * _along(gamma, x.ndim, axis) + _along(beta, x.ndim, axis)
    results = (out, mean, spread) if output_mean_var else (out,)
    return tuple(r.astype(data.dtype) for r in results)


@operator("InstanceNorm")
def instance_norm(data, gamma, beta, *, eps: float = 1e-3):
    """Normalises each channel of each example over its places, then scales and shifts it.

    Args:
      data: `(n, channels, *d)`, floating; sparse arrays go dense.
      gamma, beta: `(channels,)`, dtype of `data`: scale and shift.
      eps: added to the variance.

    Returns:
      Shape and dtype of `data`, dense.

    Raises:
      MXNetError: shapes or dtypes do not fit.

    Source: Ulyanov, Vedaldi and Lempitsky, Instance Normalization (2016).
    """
    if data.ndim < 3:
        raise ValueError(f"data must have at least three axes; got {data.shape}")
    _require_vectors(data.shape[1], gamma=gamma, beta=beta)
    require_same_dtype(data, gamma, beta)
    x = _wide(data)
    mean, variance = _mean_and_variance(x, tuple(range(2, x.ndim)))
    out = (x - mean) * jax.lax.rsqrt(variance + jnp.asarray(eps, x.dtype))
    return (out * _along(gamma, x.ndim, 1) + _along(beta, x.ndim, 1)).astype(data.dtype)


@operator("GroupNorm", results=lambda output_mean_var, **_: _visible(output_mean_var))
def group_norm(
    data, gamma, beta, *, num_groups: int = 1, eps: float = 1e-5, output_mean_var: bool = False
):
    """Normalises groups of channels of each example, then scales and shifts each group.

    Args:
      data: `(n, channels, *d)`, floating; sparse arrays go dense.
      gamma, beta: `(num_groups,)`, dtype of `data`: scale and shift.
      num_groups: how many groups; they divide the channels.
      eps: added to the variance.
      output_mean_var: whether the mean and `sqrt(variance + eps)` are returned as well.

    Returns:
      Shape and dtype of `data`, dense; with output_mean_var also two arrays `(n, num_groups)`.

    Raises:
      MXNetError: shapes or dtypes do not fit, or the groups do not divide the channels.

    Source: Wu and He, Group Normalization (2018); MXNet scales groups, not channels.
    """
    if data.ndim < 3:
        raise ValueError(f"data must have at least three axes; got {data.shape}")
    if num_groups < 1 or data.shape[1] % num_groups:
        raise ValueError(f"num_groups {num_groups} does not divide {data.shape[1]} channels")
    _require_vectors(num_groups, gamma=gamma, beta=beta)
    require_same_dtype(data, gamma, beta)
    x = _wide(data).reshape(data.shape[0], num_groups, -1)
    mean, variance = _mean_and_variance(x, 2)
    spread = jnp.sqrt(variance + jnp.asarray(eps, x.dtype))
    out = (x - mean) / spread * _along(gamma, 3, 1) + _along(beta, 3, 1)
    results = (out.reshape(data.shape),)
    if output_mean_var:
        results += (mean[:, :, 0], spread[:, :, 0])
    return tuple(r.astype(data.dtype) for r in results)


NormMode = Literal["instance", "channel", "spatial"]


@operator("L2Normalization")
def l2_normalization(data, *, eps: float = 1e-10, mode: NormMode = "instance"):
    """Divides by the root of the sum of squares.

    Args:
      data: `(n, *d)`, or `(n, channels, *d)`, floating; sparse arrays go dense.
      eps: added to the sum.
      mode: what the sum runs over: all of an example ('instance'), its channels ('channel'), or the
        places of a channel ('spatial').

    Returns:
      Shape and dtype of `data`, dense.

    Raises:
      MXNetError: the mode is unknown, or `data` has too few axes for it.
    """
    axes = {"instance": range(1, data.ndim), "channel": (1,), "spatial": range(2, data.ndim)}
    if mode not in axes:
        raise ValueError(f"mode must be one of {', '.join(axes)}; got {mode!r}")
    if data.ndim < (2 if mode == "instance" else 3):
        raise ValueError(f"data of shape {data.shape} has too few axes for mode {mode!r}")
    x = _wide(data)
    total = jnp.sum(jnp.square(x), axis=tuple(axes[mode]), keepdims=True)
    return (x * jax.lax.rsqrt(total + jnp.asarray(eps, x.dtype))).astype(data.dtype)


@operator("LRN")
def lrn(data, *, alpha: float = 1e-4, beta: float = 0.75, knorm: float = 2.0, nsize: int):
    """Divides by a power of the sum of squares over neighbouring channels.

    Args:
      data: `(n, channels, h, w)`, floating; sparse arrays go dense.
      alpha, beta, knorm: of `data / (knorm + alpha / nsize * sum)^beta`.
      nsize: how many channels the sum runs over; odd.

    Returns:
      Shape and dtype of `data`, dense.

    Raises:
      MXNetError: `data` has not four axes, or nsize is even.

    Source: Krizhevsky, Sutskever and Hinton, ImageNet Classification (2012).
    """
    if data.ndim != 4 or nsize % 2 == 0:
        raise ValueError(f"data {data.shape} must have four axes and nsize {nsize} be odd")
    x = _wide(data)
    half = nsize // 2
    padded = jnp.pad(jnp.square(x), ((0, 0), (half, half), (0, 0), (0, 0)))
    total = sum(padded[:, i : i + x.shape[1]] for i in range(nsize))
    return (x * (knorm + alpha / nsize * total) ** -beta).astype(data.dtype)
