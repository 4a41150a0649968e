"""Random arrays."""

from typing import Any

from rarefy._ops.defs import OPERATORS
from rarefy._ops.render import normal as _normal
from rarefy._ops.render import render as _render
from rarefy.context import Context
from rarefy.nd._create import as_shape, full, placed
from rarefy.nd._invoke import invoke
from rarefy.nd._ndarray import NDArray


def _drawn(name: str, shape: Any, dtype: Any, ctx: Context | None, out: Any, **params) -> NDArray:
    if out is not None and shape is None:
        shape = out.shape
    dtype = dtype or (out.dtype if out is not None else "float32")
    params |= {"shape": as_shape(1 if shape is None else shape), "dtype": _normal("dtype", dtype)}
    drawn = invoke(OPERATORS[name], (), params, out)
    return placed(drawn, ctx, out)


def _of(name: str, given: dict[str, Any], shape, dtype, ctx, out) -> NDArray:
    """Draws from one distribution, or where a parameter is an array, from one for each element."""
    arrays = [p for p in given.values() if isinstance(p, NDArray)]
    if not arrays:
        return _drawn(
            f"_random_{name}", shape, dtype, ctx, out, **{n: float(p) for n, p in given.items()}
        )
    first = arrays[0]
    every = [
        p if isinstance(p, NDArray) else full(first.shape, p, dtype=first.dtype)
        for p in given.values()
    ]
    dtype = dtype or (out.dtype if out is not None else None)
    params = {
        "shape": () if shape is None else as_shape(shape),
        "dtype": dtype and _normal("dtype", dtype),
    }
    return invoke(OPERATORS[f"_sample_{name}"], every, params, out)


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
    return _of("uniform", {"low": low, "high": high}, shape, dtype, ctx, out)


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
    return _of("normal", {"loc": loc, "scale": scale}, shape, dtype, ctx, out)


def randn(*shape, loc=0.0, scale=1.0, dtype=None, ctx=None, **kwargs) -> NDArray:
    """Draws from the normal distribution; the shape is given as separate sizes."""
    return normal(loc, scale, shape or None, dtype, ctx, kwargs.get("out"))


def randint(low, high, shape=None, dtype=None, ctx=None, out=None, **kwargs) -> NDArray:
    """Draws integers from `[low, high)`, each equally likely; int32 by default."""
    dtype = dtype or (out.dtype if out is not None else "int32")
    return _drawn("_random_randint", shape, dtype, ctx, out, low=int(low), high=int(high))


def exponential(scale=1, shape=None, dtype=None, ctx=None, out=None, **kwargs) -> NDArray:
    """Draws from the exponential distribution of mean `scale`."""
    return _of("exponential", {"lam": 1.0 / scale}, shape, dtype, ctx, out)


def gamma(alpha=1, beta=1, shape=None, dtype=None, ctx=None, out=None, **kwargs) -> NDArray:
    """Draws from the gamma distribution of shape `alpha` and scale `beta`."""
    return _of("gamma", {"alpha": alpha, "beta": beta}, shape, dtype, ctx, out)


def poisson(lam=1, shape=None, dtype=None, ctx=None, out=None, **kwargs) -> NDArray:
    """Draws from the Poisson distribution of mean `lam`."""
    return _of("poisson", {"lam": lam}, shape, dtype, ctx, out)


def negative_binomial(k=1, p=1, shape=None, dtype=None, ctx=None, out=None, **kwargs) -> NDArray:
    """Draws how many failures come before the k-th success, each of probability `p`."""
    return _of("negative_binomial", {"k": k, "p": p}, shape, dtype, ctx, out)


def generalized_negative_binomial(
    mu=1, alpha=1, shape=None, dtype=None, ctx=None, out=None, **kwargs
) -> NDArray:
    """Draws from the negative binomial distribution of mean `mu` and variance `mu + alpha mu^2`."""
    given = {"mu": mu, "alpha": alpha}
    return _of("generalized_negative_binomial", given, shape, dtype, ctx, out)


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


def _like(name: str):
    """The function that draws an array like another: `uniform_like(x, low=0, high=1)`."""
    return _render(OPERATORS[f"_random_{name}"], name, invoke, module="rarefy.nd.random")


uniform_like = _like("uniform_like")
normal_like = _like("normal_like")
exponential_like = _like("exponential_like")
gamma_like = _like("gamma_like")
poisson_like = _like("poisson_like")
negative_binomial_like = _like("negative_binomial_like")
generalized_negative_binomial_like = _like("generalized_negative_binomial_like")
