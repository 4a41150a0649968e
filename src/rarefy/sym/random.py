"""Random symbols: they draw anew each time the graph runs."""

from typing import Any

from rarefy._ops.defs import OPERATORS
from rarefy.sym._apply import called
from rarefy.sym._render import render as _render
from rarefy.sym._symbol import Symbol


def _of(name: str, given: dict[str, Any], shape: Any, dtype: Any, kwargs: dict) -> Symbol:
    """Draws from one distribution, or where a parameter is a symbol, from one for each element."""
    options = {k: v for k, v in (("shape", shape), ("dtype", dtype)) if v is not None}
    symbols = [p for p in given.values() if isinstance(p, Symbol)]
    if not symbols:
        options.setdefault("shape", (1,))
        return _called(f"_random_{name}", (), {**given, **options, **kwargs})
    if len(symbols) < len(given):
        raise ValueError(f"Distribution parameters of {name} must all be symbols or all be numbers")
    return _called(f"_sample_{name}", symbols, {**options, **kwargs})


def _called(name: str, args: Any, kwargs: dict[str, Any]) -> Symbol:
    kwargs.pop("ctx", None)
    return Symbol(called(OPERATORS[name], name, args, kwargs))


def uniform(low: Any = 0, high: Any = 1, shape=None, dtype=None, **kwargs) -> Symbol:
    """Draws from the uniform distribution over `[low, high)`; numbers or symbols."""
    return _of("uniform", {"low": low, "high": high}, shape, dtype, kwargs)


def normal(loc: Any = 0, scale: Any = 1, shape=None, dtype=None, **kwargs) -> Symbol:
    """Draws from the normal distribution of mean `loc` and deviation `scale`; numbers or symbols."""
    return _of("normal", {"loc": loc, "scale": scale}, shape, dtype, kwargs)


def randn(*shape: int, loc: Any = 0, scale: Any = 1, dtype=None, **kwargs) -> Symbol:
    """Draws from the normal distribution; the shape is given as separate sizes."""
    return normal(loc, scale, shape or None, dtype, **kwargs)


def exponential(scale: float = 1, shape=None, dtype=None, **kwargs) -> Symbol:
    """Draws from the exponential distribution of mean `scale`."""
    return _of("exponential", {"lam": 1.0 / scale}, shape, dtype, kwargs)


def gamma(alpha: Any = 1, beta: Any = 1, shape=None, dtype=None, **kwargs) -> Symbol:
    """Draws from the gamma distribution of shape `alpha` and scale `beta`; numbers or symbols."""
    return _of("gamma", {"alpha": alpha, "beta": beta}, shape, dtype, kwargs)


def poisson(lam: Any = 1, shape=None, dtype=None, **kwargs) -> Symbol:
    """Draws from the Poisson distribution of mean `lam`, a number or a symbol."""
    return _of("poisson", {"lam": lam}, shape, dtype, kwargs)


def negative_binomial(k: Any = 1, p: Any = 1, shape=None, dtype=None, **kwargs) -> Symbol:
    """Draws how many failures come before the k-th success, each of probability `p`."""
    return _of("negative_binomial", {"k": k, "p": p}, shape, dtype, kwargs)


def generalized_negative_binomial(
    mu: Any = 1, alpha: Any = 1, shape=None, dtype=None, **kwargs
) -> Symbol:
    """Draws from the negative binomial distribution of mean `mu` and variance `mu + alpha mu^2`."""
    given = {"mu": mu, "alpha": alpha}
    return _of("generalized_negative_binomial", given, shape, dtype, kwargs)


def randint(low: int, high: int, shape=None, dtype=None, **kwargs) -> Symbol:
    """Draws integers from `[low, high)`, each equally likely; int32 by default."""
    given = {"low": int(low), "high": int(high), "dtype": dtype or "int32"}
    return _called("_random_randint", (), {**given, "shape": shape or (1,), **kwargs})


def multinomial(data: Symbol, shape=None, get_prob=True, dtype="int32", **kwargs) -> Symbol:
    """Draws class numbers with the probabilities in the last axis of `data`."""
    given = {"get_prob": get_prob, "dtype": dtype, **({} if shape is None else {"shape": shape})}
    return _called("_sample_multinomial", (data,), {**given, **kwargs})


def shuffle(data: Symbol, **kwargs) -> Symbol:
    """Permutes the rows of an array at random."""
    return _called("_shuffle", (data,), kwargs)


def _like(name: str):
    """The function that draws an array like another: `uniform_like(x, low=0, high=1)`."""
    return _render(OPERATORS[f"_random_{name}"], name, module="rarefy.sym.random")


uniform_like = _like("uniform_like")
normal_like = _like("normal_like")
exponential_like = _like("exponential_like")
gamma_like = _like("gamma_like")
poisson_like = _like("poisson_like")
negative_binomial_like = _like("negative_binomial_like")
generalized_negative_binomial_like = _like("generalized_negative_binomial_like")
