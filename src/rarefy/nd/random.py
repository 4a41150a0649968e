"""Random arrays."""

from typing import Any

from rarefy._ops.defs import OPERATORS
from rarefy._ops.render import normal as _normal
from rarefy.context import Context
from rarefy.nd._create import as_shape, at
from rarefy.nd._invoke import invoke
from rarefy.nd._ndarray import NDArray


def _drawn(name: str, shape: Any, dtype: Any, ctx: Context | None, out: Any, **params) -> NDArray:
    if out is not None and shape is None:
        shape = out.shape
    dtype = dtype or (out.dtype if out is not None else "float32")
    params |= {"shape": as_shape(1 if shape is None else shape), "dtype": _normal("dtype", dtype)}
    drawn = invoke(OPERATORS[name], (), params, out)
    return drawn if out is not None or ctx is None else at(ctx, drawn._value)


def _spread(name: str, scales, shape: Any, dtype: Any, ctx: Context | None, out: Any) -> NDArray:
    """Draws with parameters that are arrays: a standard draw for each, scaled by `scales`."""
    first = next(s for s in scales.values() if isinstance(s, NDArray))
    extra = () if shape is None else as_shape(shape)
    whole = (*first.shape, *extra)
    standard = _drawn(name, whole, dtype or first.dtype, ctx, None, **_STANDARD[name])

    def aligned(p):
        if not isinstance(p, NDArray):
            return p
        return p.reshape((*p.shape, *(1,) * len(extra)))

    low, high = (aligned(p) for p in scales.values())
    span = high - low if name == "_random_uniform" else high
    result = standard * span + low
    if out is not None:
        out[:] = result
        return out
    return result


_STANDARD = {
    "_random_uniform": {"low": 0.0, "high": 1.0},
    "_random_normal": {"loc": 0.0, "scale": 1.0},
}


def uniform(
    low: Any = 0, high: Any = 1, shape=None, dtype=None, ctx=None, out=None, **kwargs
) -> NDArray:
    """Draws from the uniform distribution over `[low, high)`.

    Args:
      low, high: the interval; numbers or arrays.
      shape: shape of the result, or of the draws for each element of `low` and `high`.
      dtype: a floating dtype; float32 by default.
      ctx: where it lives; the current context by default.
      out: an array to fill.
      **kwargs: accepted for MXNet's sake.
    """
    if isinstance(low, NDArray) or isinstance(high, NDArray):
        return _spread("_random_uniform", {"low": low, "high": high}, shape, dtype, ctx, out)
    return _drawn("_random_uniform", shape, dtype, ctx, out, low=float(low), high=float(high))


def normal(
    loc: Any = 0, scale: Any = 1, shape=None, dtype=None, ctx=None, out=None, **kwargs
) -> NDArray:
    """Draws from the normal distribution.

    Args:
      loc: the mean; a number or an array.
      scale: the standard deviation; likewise.
      shape: shape of the result, or of the draws for each element of `loc` and `scale`.
      dtype: a floating dtype; float32 by default.
      ctx: where it lives; the current context by default.
      out: an array to fill.
      **kwargs: accepted for MXNet's sake.
    """
    if isinstance(loc, NDArray) or isinstance(scale, NDArray):
        return _spread("_random_normal", {"loc": loc, "scale": scale}, shape, dtype, ctx, out)
    return _drawn("_random_normal", shape, dtype, ctx, out, loc=float(loc), scale=float(scale))


def randn(*shape, loc=0.0, scale=1.0, dtype=None, ctx=None, **kwargs) -> NDArray:
    """Draws from the normal distribution; the shape is given as separate sizes."""
    return normal(loc, scale, shape or None, dtype, ctx, kwargs.get("out"))


def randint(low, high, shape=None, dtype=None, ctx=None, out=None, **kwargs) -> NDArray:
    """Draws integers from `[low, high)`, each equally likely; int32 by default."""
    dtype = dtype or (out.dtype if out is not None else "int32")
    return _drawn("_random_randint", shape, dtype, ctx, out, low=int(low), high=int(high))


def exponential(scale=1, shape=None, dtype=None, ctx=None, out=None, **kwargs) -> NDArray:
    """Draws from the exponential distribution of mean `scale`."""
    return _drawn("_random_exponential", shape, dtype, ctx, out, lam=1.0 / float(scale))


def gamma(alpha=1, beta=1, shape=None, dtype=None, ctx=None, out=None, **kwargs) -> NDArray:
    """Draws from the gamma distribution of shape `alpha` and scale `beta`."""
    return _drawn("_random_gamma", shape, dtype, ctx, out, alpha=float(alpha), beta=float(beta))


def poisson(lam=1, shape=None, dtype=None, ctx=None, out=None, **kwargs) -> NDArray:
    """Draws from the Poisson distribution of mean `lam`."""
    return _drawn("_random_poisson", shape, dtype, ctx, out, lam=float(lam))


def multinomial(data, shape=None, get_prob=False, out=None, dtype="int32", **kwargs) -> NDArray:
    """Draws class numbers with the probabilities in the last axis of `data`."""
    params = {
        "shape": () if shape is None else as_shape(shape),
        "get_prob": get_prob,
        "dtype": _normal("dtype", dtype),
    }
    return invoke(OPERATORS["_sample_multinomial"], (data,), params, out)


def shuffle(data, **kwargs) -> NDArray:
    """Permutes the rows of an array at random."""
    return invoke(OPERATORS["_shuffle"], (data,), {}, kwargs.get("out"))
