"""Activation functions and softmax."""

from typing import Any, Literal, get_args

import jax
import jax.numpy as jnp

from rarefy._ops.defs._numbers import is_floating
from rarefy._ops.opdef import Scalar, operator

ActType = Literal["relu", "sigmoid", "tanh", "softrelu", "softsign", "log_sigmoid", "mish"]
ACTIVATIONS = {
    "relu": jax.nn.relu,
    "sigmoid": jax.nn.sigmoid,
    "tanh": jnp.tanh,
    "softrelu": jax.nn.softplus,
    "softsign": lambda x: x / (1 + jnp.abs(x)),
    "log_sigmoid": jax.nn.log_sigmoid,
    "mish": jax.nn.mish,
}


@operator("Activation")
def activation(data, *, act_type: ActType):
    """Applies an activation function, element by element.

    Args:
      data: any shape, floating; sparse arrays go dense.
      act_type: 'relu', 'sigmoid', 'tanh', 'softrelu' (log(1 + exp(x))), 'softsign', 'log_sigmoid' or
        'mish'.

    Returns:
      Shape and dtype of `data`, dense.

    Raises:
      MXNetError: `act_type` is unknown.
    """
    if act_type not in ACTIVATIONS:
        raise ValueError(f"act_type must be one of {', '.join(ACTIVATIONS)}; got {act_type!r}")
    return ACTIVATIONS[act_type](data)


def _softmax(
    data, axis: int, temperature: float | None, dtype: str | None, *, log: bool = False, sign=1
):
    """The softmax, or its logarithm, of `sign * data / temperature`."""
    if not is_floating(data):
        raise TypeError(f"softmax takes floats; got {data.dtype}")
    out = dtype if dtype not in (None, "None") else data.dtype
    wide = jnp.promote_types(data.dtype, jnp.float32)
    x = data.astype(wide) if sign == 1 else -data.astype(wide)
    if temperature is not None:
        x = x / jnp.asarray(temperature, wide)
    fn = jax.nn.log_softmax if log else jax.nn.softmax
    return fn(x, axis=axis).astype(out)


def _refuse_length(use_length: bool) -> None:
    if use_length:
        raise NotImplementedError("use_length is an option of softmax; there is no length here")


@operator("softmax")
def softmax(
    data,
    length: Any = None,
    *,
    axis: int = -1,
    temperature: float | None = None,
    dtype: str | None = None,
    use_length: bool = False,
):
    """Computes exp(x) / sum(exp(x)) along an axis.

    Args:
      data: any shape, floating; sparse arrays go dense.
      length: `data` without the axis, integer: how many elements of the axis take part; the others
        become zero.
      axis: the axis that sums to one.
      temperature: `data` is divided by it first.
      dtype: dtype of the result; None for that of `data`.
      use_length: whether there is `length`.

    Returns:
      Shape of `data`, dense.

    Raises:
      MXNetError: dtypes or shapes do not fit, or `use_length` does not say whether there is a length.
    """
    if bool(use_length) != (length is not None):
        raise ValueError("length and use_length=True belong together; there is only one of them")
    if length is None:
        return _softmax(data, axis, temperature, dtype)
    if not jnp.issubdtype(length.dtype, jnp.integer):
        raise TypeError(f"length must hold integers; got {length.dtype}")
    axis = axis % data.ndim
    shape = (*data.shape[:axis], *data.shape[axis + 1 :])
    if tuple(length.shape) != shape:
        raise ValueError(
            f"length must have shape {shape} for data {data.shape}; got {length.shape}"
        )
    steps = jnp.arange(data.shape[axis]).reshape(-1, *(1,) * (data.ndim - 1 - axis))
    inside = steps < jnp.expand_dims(length, axis)
    low = jnp.where(inside, data, jnp.asarray(-jnp.inf, data.dtype))
    some = jnp.where(jnp.any(inside, axis=axis, keepdims=True), low, jnp.zeros((), data.dtype))
    out = _softmax(some, axis, temperature, dtype)
    return jnp.where(inside, out, jnp.zeros((), out.dtype))


@operator("log_softmax")
def log_softmax(
    data,
    *,
    axis: int = -1,
    temperature: float | None = None,
    dtype: str | None = None,
    use_length: bool = False,
):
    """Computes log(softmax(x)) along an axis.

    Args:
      data: any shape, floating; sparse arrays go dense.
      axis: the axis.
      temperature: `data` is divided by it first.
      dtype: dtype of the result; None for that of `data`.
      use_length: False.

    Returns:
      Shape of `data`, dense.
    """
    _refuse_length(use_length)
    return _softmax(data, axis, temperature, dtype, log=True)


@operator("softmin")
def softmin(
    data,
    *,
    axis: int = -1,
    temperature: float | None = None,
    dtype: str | None = None,
    use_length: bool = False,
):
    """Computes softmax(-x) along an axis.

    Args:
      data: any shape, floating; sparse arrays go dense.
      axis: the axis that sums to one.
      temperature: `data` is divided by it first.
      dtype: dtype of the result; None for that of `data`.
      use_length: False.

    Returns:
      Shape of `data`, dense.
    """
    _refuse_length(use_length)
    return _softmax(data, axis, temperature, dtype, sign=-1)


@operator("SoftmaxActivation")
def softmax_activation(data, *, mode: Literal["instance", "channel"] = "instance"):
    """Computes the softmax over the last axis, or over the channels.

    Args:
      data: `(n, *d)`, or `(n, channels, *d)`, floating; sparse arrays go dense.
      mode: 'instance' (over the last axis) or 'channel' (over axis 1).

    Returns:
      Shape and dtype of `data`, dense.

    Raises:
      MXNetError: the mode is unknown.
    """
    if mode == "instance":
        return _softmax(data, -1, None, None)
    if mode == "channel":
        return _softmax(data, 1, None, None)
    raise ValueError(f"mode must be 'instance' or 'channel'; got {mode!r}")


@operator("softmax_cross_entropy")
def softmax_cross_entropy(data, label):
    """Computes the cross entropy of softmax and labels, summed over the batch.

    Args:
      data: `(b, classes)`, floating.
      label: `(b,)`: class numbers.

    Returns:
      `(1,)`, dtype of `data`.
    """
    logs = jax.nn.log_softmax(data, axis=-1)
    picked = jnp.take_along_axis(logs, label.astype(jnp.int32)[:, None], axis=-1)
    return -picked.sum(dtype=data.dtype).reshape(1)


ReluType = Literal["leaky", "elu", "selu", "gelu", "prelu", "rrelu"]


def _is_random(act_type: str, **_) -> bool:
    return act_type == "rrelu"


@operator("LeakyReLU", needs_key=_is_random, needs_training=True)
def leaky_relu(
    data,
    gamma=None,
    *,
    act_type: ReluType = "leaky",
    slope: Scalar = 0.25,
    lower_bound: float = 0.125,
    upper_bound: float = 0.334,
    key: Any = None,
    training: bool = False,
):
    """Applies a rectifier that lets something through below zero.

    Args:
      data: any shape, floating.
      gamma: `(channels,)` or `(1,)`: the slopes of 'prelu', along axis 1.
      act_type: 'leaky', 'elu', 'selu', 'gelu', 'prelu' or 'rrelu'.
      slope: of 'leaky' and 'elu'.
      lower_bound, upper_bound: between them lie the random slopes of 'rrelu' in training; elsewhere
        the slope is their mean.

    Returns:
      Shape and dtype of `data`, dense.

    Raises:
      MXNetError: `act_type` is unknown, or 'prelu' has no gamma.
    """
    alpha = jnp.asarray(slope, data.dtype)
    if act_type == "leaky":
        return jnp.where(data > 0, data, alpha * data)
    if act_type == "elu":
        return jnp.where(data > 0, data, alpha * jnp.expm1(jnp.minimum(data, 0)))
    if act_type == "selu":
        return jax.nn.selu(data)
    if act_type == "gelu":
        return jax.nn.gelu(data, approximate=False)
    if act_type == "prelu":
        if gamma is None:
            raise ValueError("act_type='prelu' needs gamma")
        slopes = gamma.reshape(1, -1, *(1,) * (data.ndim - 2)) if data.ndim > 1 else gamma
        return jnp.where(data > 0, data, slopes * data)
    if act_type == "rrelu":
        slopes = jnp.asarray((lower_bound + upper_bound) / 2, data.dtype)
        if training:
            key = jax.random.wrap_key_data(key)
            slopes = jax.random.uniform(
                key, data.shape, data.dtype, minval=lower_bound, maxval=upper_bound
            )
        return jnp.where(data > 0, data, slopes * data)
    raise ValueError(f"act_type must be one of {', '.join(get_args(ReluType))}; got {act_type!r}")
