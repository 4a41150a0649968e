"""Random arrays. Each draws a key from the random state and moves it on."""

import jax
import jax.numpy as jnp

from rarefy._ops.defs._numbers import require_numbers
from rarefy._ops.opdef import Scalar, operator
from rarefy._ops.storage import is_traced
from rarefy._primitives import random_normal as draw_normal
from rarefy._primitives import random_uniform as draw_uniform

Shape = tuple[int, ...]


def _draw_dtype(dtype: str):
    """The float type that numbers are drawn in: 16-bit ones are drawn wider and rounded."""
    return jnp.promote_types(jnp.dtype(dtype), jnp.float32)


def _check_interval(values, params) -> None:
    low, high = params["low"], params["high"]
    if not (is_traced(low) or is_traced(high) or low <= high):
        raise ValueError(f"low must not exceed high, got {low} and {high}")


@operator(
    "_random_uniform",
    aliases=("random_uniform", "uniform"),
    needs_key=True,
    differentiable=False,
    check=_check_interval,
)
def random_uniform(
    *, low: Scalar = 0.0, high: Scalar = 1.0, shape: Shape = (1,), dtype: str = "float32", key=None
):
    """Draws from the uniform distribution over `[low, high)`.

    Args:
      low, high: the interval.
      shape: shape of the result.
      dtype: a floating dtype.

    Returns:
      `shape`, dense.
    """
    return draw_uniform(key, low, high, shape=shape, dtype=dtype)


@operator(
    "_random_normal",
    aliases=("random_normal", "normal"),
    needs_key=True,
    differentiable=False,
    check=require_numbers(scale=(">=", 0)),
)
def random_normal(
    *, loc: Scalar = 0.0, scale: Scalar = 1.0, shape: Shape = (1,), dtype: str = "float32", key=None
):
    """Draws from the normal distribution.

    Args:
      loc: the mean.
      scale: the standard deviation.
      shape: shape of the result.
      dtype: a floating dtype.

    Returns:
      `shape`, dense.
    """
    wide = _draw_dtype(dtype)
    mean, spread = jnp.asarray(loc).astype(wide), jnp.asarray(scale).astype(wide)
    return (mean + spread * draw_normal(key, shape=shape, dtype=wide)).astype(dtype)


@operator(
    "_random_randint",
    aliases=("random_randint",),
    needs_key=True,
    differentiable=False,
    check=_check_interval,
)
def random_randint(*, low: int, high: int, shape: Shape = (1,), dtype: str = "int32", key=None):
    """Draws integers from `[low, high)`, each equally likely.

    Args:
      low, high: the interval.
      shape: shape of the result.
      dtype: an integer dtype.

    Returns:
      `shape`, dense.
    """
    return jax.random.randint(_key(key), shape, low, high, dtype)


@operator(
    "_random_exponential",
    aliases=("random_exponential",),
    needs_key=True,
    differentiable=False,
    check=require_numbers(lam=(">", 0)),
)
def random_exponential(*, lam: Scalar = 1.0, shape: Shape = (1,), dtype: str = "float32", key=None):
    """Draws from the exponential distribution of rate `lam`.

    Args:
      lam: the rate.
      shape: shape of the result.
      dtype: a floating dtype.

    Returns:
      `shape`, dense.
    """
    wide = _draw_dtype(dtype)
    rate = jnp.asarray(lam).astype(wide)
    return (jax.random.exponential(_key(key), shape, wide) / rate).astype(dtype)


@operator(
    "_random_gamma",
    aliases=("random_gamma",),
    needs_key=True,
    differentiable=False,
    check=require_numbers(alpha=(">", 0), beta=(">", 0)),
)
def random_gamma(
    *,
    alpha: Scalar = 1.0,
    beta: Scalar = 1.0,
    shape: Shape = (1,),
    dtype: str = "float32",
    key=None,
):
    """Draws from the gamma distribution of shape `alpha` and scale `beta`.

    Args:
      alpha: the shape parameter.
      beta: the scale; the mean is alpha * beta.
      shape: shape of the result.
      dtype: a floating dtype.

    Returns:
      `shape`, dense.
    """
    wide = _draw_dtype(dtype)
    form, factor = jnp.asarray(alpha).astype(wide), jnp.asarray(beta).astype(wide)
    return (factor * jax.random.gamma(_key(key), form, shape, wide)).astype(dtype)


@operator(
    "_random_poisson",
    aliases=("random_poisson",),
    needs_key=True,
    differentiable=False,
    check=require_numbers(lam=(">=", 0)),
)
def random_poisson(*, lam: Scalar = 1.0, shape: Shape = (1,), dtype: str = "float32", key=None):
    """Draws from the Poisson distribution of mean `lam`.

    Args:
      lam: the mean.
      shape: shape of the result.
      dtype: the dtype.

    Returns:
      `shape`, dense.
    """
    return jax.random.poisson(_key(key), lam, shape).astype(dtype)


@operator(
    "_sample_multinomial",
    aliases=("sample_multinomial",),
    needs_key=True,
    results=lambda get_prob, **_: 2 if get_prob else 1,
)
def sample_multinomial(
    data, *, shape: Shape = (), get_prob: bool = False, dtype: str = "int32", key=None
):
    """Draws class numbers with given probabilities.

    Args:
      data: `(*b, classes)`: probabilities that sum to one along the last axis.
      shape: how many draws for each row.
      get_prob: whether the logarithms of the probabilities of what was drawn are returned as well;
        gradients go through them.
      dtype: dtype of the class numbers.

    Returns:
      `(*b, *shape)`, dense; with get_prob two such arrays, the second of the dtype of `data`.
    """
    batch = data.shape[:-1]
    logits = jnp.log(data).reshape(*batch, *(1,) * len(shape), data.shape[-1])
    drawn = jax.random.categorical(_key(key), logits, axis=-1, shape=(*batch, *shape))
    numbers = drawn.astype(dtype).reshape(drawn.shape or (1,))
    if not get_prob:
        return numbers
    return numbers, _picked(logits, drawn).reshape(numbers.shape)


def _picked(rows, drawn):
    """The elements of rows `(*b, 1, ..., classes)` that `(*b, *shape)` names."""
    rows = jnp.broadcast_to(rows, (*drawn.shape, rows.shape[-1]))
    return jnp.take_along_axis(rows, drawn[..., None], axis=-1)[..., 0]


@sample_multinomial.gradient("default")
def _(want, inputs, output, cotangent, *, shape, get_prob, dtype, key):
    (data,) = inputs
    if not get_prob or cotangent[1] is None:
        return (jnp.zeros_like(data),)
    batch = data.shape[:-1]
    drawn = output[0].astype(jnp.int32).reshape(*batch, *shape)

    def picked(p):
        return _picked(p.reshape(*batch, *(1,) * len(shape), p.shape[-1]), drawn)

    found, back = jax.vjp(picked, data)  # not of the logarithm of all: some may be zero
    return back(cotangent[1].reshape(drawn.shape) / found)


@operator("_shuffle", aliases=("shuffle",), needs_key=True, differentiable=False)
def shuffle(data, *, key=None):
    """Permutes the rows at random.

    Args:
      data: `(n, *d)`.

    Returns:
      Shape and dtype of `data`, dense.
    """
    return jax.random.permutation(_key(key), data)


def _key(key):
    """The random key of raw key data; traced shapes are evaluated without one."""
    return jax.random.wrap_key_data(key)
