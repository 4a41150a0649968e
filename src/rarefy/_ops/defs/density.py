"""Densities of distributions, with parameters that are arrays."""

from collections.abc import Callable

import jax.numpy as jnp
from jax.lax import stop_gradient
from jax.scipy.special import gammaln, xlog1py, xlogy

from rarefy._ops.defs._numbers import require_same_dtype
from rarefy._ops.defs._signature import described
from rarefy._ops.opdef import operator


def _uniform(x, low, high):
    inside = (x >= low) & (x <= high)
    return jnp.where(inside, -jnp.log(high - low), -jnp.inf)


def _normal(x, mu, sigma):
    scaled = (x - mu) / sigma
    return -0.5 * scaled * scaled - jnp.log(sigma) - 0.5 * jnp.log(2 * jnp.pi)


def _gamma(x, alpha, beta):
    """The shape alpha and the rate beta: MXNet draws with a scale, but takes a rate here."""
    return xlogy(alpha, beta) + xlogy(alpha - 1, x) - beta * x - gammaln(alpha)


def _exponential(x, lam):
    return jnp.log(lam) - lam * x


def _poisson(x, lam):
    x = stop_gradient(x)  # a whole number
    return xlogy(x, lam) - gammaln(x + 1) - lam


def _negative_binomial(x, k, p):
    x = stop_gradient(x)  # a whole number
    return gammaln(x + k) - gammaln(x + 1) - gammaln(k) + xlogy(k, p) + xlog1py(x, -p)


def _generalized_negative_binomial(x, mu, alpha):
    return _negative_binomial(x, 1 / alpha, 1 / (mu * alpha + 1))


def _dirichlet(x, alpha):
    spread = gammaln(alpha).sum(-1) - gammaln(alpha.sum(-1))
    return xlogy(alpha - 1, x).sum(-1) - spread


def _aligned(parameter, sample, vectors: bool):
    """A parameter with axes of size 1 for the draws of each of its distributions."""
    lead = parameter.ndim - vectors
    require_same_dtype(sample, parameter)
    if sample.ndim < parameter.ndim or sample.shape[:lead] != parameter.shape[:lead]:
        raise ValueError(
            f"sample {sample.shape} must begin with the shape of the parameters, {parameter.shape}"
        )
    draws = sample.ndim - parameter.ndim
    return parameter.reshape(*parameter.shape[:lead], *(1,) * draws, *parameter.shape[lead:])


def _density(name: str, log_density: Callable, *parameters: str, vectors: bool = False) -> None:
    """Registers the density of a distribution with one or two parameters."""

    def meaning(sample, *given, is_log):
        out = log_density(sample, *(_aligned(p, sample, vectors) for p in given))
        return (out if is_log else jnp.exp(out)).astype(sample.dtype)

    axes, own = ("(*s, *k, n)", "(*s, n)") if vectors else ("(*s, *k)", "(*s,)")
    doc = (
        f"Computes the density of the {name.replace('_', ' ')} distribution.\n\n"
        "Args:\n"
        f"  sample: `{axes}`, floating: k draws for each distribution.\n"
        f"  {', '.join(parameters)}: `{own}`, dtype of `sample`: the parameters.\n"
        "  is_log: whether the logarithm is returned.\n\n"
        "Returns:\n"
        "  `(*s, *k)`, dtype of `sample`, dense.\n\n"
        "Raises:\n"
        "  MXNetError: shapes or dtypes do not fit.\n"
    )
    fn = described(meaning, doc, ("sample", *parameters), is_log=(bool, False))
    operator(f"_random_pdf_{name}", aliases=(f"random_pdf_{name}",))(fn)


_density("uniform", _uniform, "low", "high")
_density("normal", _normal, "mu", "sigma")
_density("gamma", _gamma, "alpha", "beta")
_density("exponential", _exponential, "lam")
_density("poisson", _poisson, "lam")
_density("negative_binomial", _negative_binomial, "k", "p")
_density("generalized_negative_binomial", _generalized_negative_binomial, "mu", "alpha")
_density("dirichlet", _dirichlet, "alpha", vectors=True)
