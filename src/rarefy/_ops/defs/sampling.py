"""Random arrays whose distributions have parameters that are arrays, or that take a shape from one."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from rarefy._ops.defs._numbers import (
    is_floating,
    require_numbers,
    require_same_dtype,
    require_same_shape,
)
from rarefy._ops.defs._signature import described
from rarefy._ops.opdef import Scalar, operator
from rarefy._primitives import random_normal as draw_normal
from rarefy._primitives import random_uniform as draw_uniform

Shape = tuple[int, ...]


def _key(key):
    """The random key of raw key data."""
    return jax.random.wrap_key_data(key)


def _two(key):
    """Two keys from one, as raw key data."""
    return jax.random.key_data(jax.random.split(_key(key)))


def _uniform(key, shape, low, high):
    return low + (high - low) * draw_uniform(key, 0.0, 1.0, shape=shape, dtype=low.dtype)


def _normal(key, shape, mu, sigma):
    return mu + sigma * draw_normal(key, shape=shape, dtype=mu.dtype)


def _gamma(key, shape, alpha, beta):
    return beta * jax.random.gamma(_key(key), jnp.broadcast_to(alpha, shape), shape, alpha.dtype)


def _exponential(key, shape, lam):
    return jax.random.exponential(_key(key), shape, lam.dtype) / lam


def _poisson(key, shape, lam):
    return jax.random.poisson(_key(key), jnp.broadcast_to(lam, shape), shape).astype(lam.dtype)


def _negative_binomial(key, shape, k, p):
    """Failures before the k-th success: a Poisson distribution whose mean is gamma distributed."""
    first, second = _two(key)
    return _poisson(second, shape, _gamma(first, shape, k, (1 - p) / p))


def _generalized_negative_binomial(key, shape, mu, alpha):
    """A Poisson distribution whose mean is gamma distributed with mean mu and variance alpha mu^2."""
    first, second = _two(key)
    safe = jnp.where(alpha == 0, jnp.ones_like(alpha), alpha)
    mean = jnp.where(alpha == 0, mu, _gamma(first, shape, 1 / safe, mu * safe))
    return _poisson(second, shape, mean)


def _check_trials(values, params) -> None:
    require_numbers(k=(">=", 0), p=(">=", 0))(values, params)
    require_numbers(p=("<=", 1))(values, params)


def _sampler(name: str, draw: Callable, *parameters: str) -> None:
    """Registers an operator that draws for each element of its parameters."""

    def meaning(*given, shape, dtype, key=None):
        for other in given[1:]:
            require_same_dtype(given[0], other)
            require_same_shape(given[0], other)
        kind = dtype if dtype not in (None, "None") else given[0].dtype
        kind = kind if jnp.issubdtype(kind, jnp.floating) else jnp.float32
        wide = jnp.promote_types(kind, jnp.float32)
        whole = (*given[0].shape, *shape)
        aligned = (p.astype(wide).reshape(*p.shape, *(1,) * len(shape)) for p in given)
        return draw(key, whole, *aligned).astype(kind)

    doc = (
        f"Draws from {name.replace('_', ' ')} distributions, one for each element of the parameters."
        "\n\n"
        "Args:\n"
        f"  {', '.join(parameters)}: `(*s,)`, of one dtype: the parameters.\n"
        "  shape: how many draws for each.\n"
        "  dtype: a floating dtype; None for that of the parameters.\n\n"
        "Returns:\n"
        "  `(*s, *shape)`, dense.\n\n"
        "Raises:\n"
        "  MXNetError: shapes or dtypes differ.\n"
    )
    fn = described(meaning, doc, parameters, shape=(Shape, ()), dtype=(str | None, None))
    options: dict[str, Any] = {"needs_key": True, "differentiable": False}
    operator(f"_sample_{name}", aliases=(f"sample_{name}",), **options)(fn)


def _like(name: str, draw: Callable, **defaults: float) -> None:
    """Registers an operator that draws an array of the shape and dtype of another."""

    def meaning(data, *, key=None, **given):
        if not is_floating(data):
            raise TypeError(f"data must be floating; got {data.dtype}")
        wide = jnp.promote_types(data.dtype, jnp.float32)
        numbers = (jnp.asarray(given[p]).astype(wide) for p in defaults)
        return draw(key, data.shape, *numbers).astype(data.dtype)

    doc = (
        f"Draws from the {name.replace('_', ' ')} distribution as many numbers as an array has.\n\n"
        "Args:\n"
        "  data: any shape, floating.\n"
        f"  {', '.join(defaults)}: the parameters.\n\n"
        "Returns:\n"
        "  Shape and dtype of `data`, dense.\n"
    )
    parameters: Any = {p: (Scalar, default) for p, default in defaults.items()}
    fn = described(meaning, doc, ("data",), **parameters)
    options: dict[str, Any] = {"needs_key": True, "differentiable": False, "visible": "internal"}
    operator(f"_random_{name}_like", **options)(fn)


def _numbers(name: str, draw: Callable, check: Callable, **defaults: float) -> None:
    """Registers an operator that draws from one distribution."""

    def meaning(*, shape, dtype, key=None, **given):
        wide = jnp.promote_types(jnp.dtype(dtype), jnp.float32)
        numbers = (jnp.asarray(given[p]).astype(wide) for p in defaults)
        return draw(key, shape, *numbers).astype(dtype)

    doc = (
        f"Draws from the {name.replace('_', ' ')} distribution.\n\n"
        "Args:\n"
        f"  {', '.join(defaults)}: the parameters.\n"
        "  shape: shape of the result.\n"
        "  dtype: a floating dtype.\n\n"
        "Returns:\n"
        "  `shape`, dense.\n"
    )
    parameters: Any = {p: (Scalar, default) for p, default in defaults.items()}
    parameters |= {"shape": (Shape, (1,)), "dtype": (str, "float32")}
    fn = described(meaning, doc, (), **parameters)
    options: dict[str, Any] = {"needs_key": True, "differentiable": False, "check": check}
    operator(f"_random_{name}", aliases=(f"random_{name}",), **options)(fn)


_sampler("uniform", _uniform, "low", "high")
_sampler("normal", _normal, "mu", "sigma")
_sampler("gamma", _gamma, "alpha", "beta")
_sampler("exponential", _exponential, "lam")
_sampler("poisson", _poisson, "lam")
_sampler("negative_binomial", _negative_binomial, "k", "p")
_sampler("generalized_negative_binomial", _generalized_negative_binomial, "mu", "alpha")

_like("uniform", _uniform, low=0.0, high=1.0)
_like("normal", _normal, loc=0.0, scale=1.0)
_like("gamma", _gamma, alpha=1.0, beta=1.0)
_like("exponential", _exponential, lam=1.0)
_like("poisson", _poisson, lam=1.0)
_like("negative_binomial", _negative_binomial, k=1.0, p=1.0)
_like("generalized_negative_binomial", _generalized_negative_binomial, mu=1.0, alpha=1.0)

_numbers("negative_binomial", _negative_binomial, _check_trials, k=1.0, p=1.0)
_numbers(
    "generalized_negative_binomial",
    _generalized_negative_binomial,
    require_numbers(mu=(">=", 0), alpha=(">=", 0)),
    mu=1.0,
    alpha=1.0,
)
