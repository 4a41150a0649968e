"""First values of parameters."""

import json
import math
from functools import partial
from typing import Any, Literal, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from rarefy._key import next_key
from rarefy._ops.precision import wide
from rarefy._ops.storage import stype_of
from rarefy._primitives import random_normal, random_uniform
from rarefy.nd._handle import Handle
from rarefy.sparse import BCOO
from rarefy.sparse._row_sparse import row_sparse

T = TypeVar("T", bound=type)

_REGISTRY: dict[str, type["Initializer"]] = {}


def register(klass: T) -> T:
    """Registers an initializer under its name in lower case, for `create`; also a decorator."""
    _REGISTRY[klass.__name__.lower()] = klass
    return klass


def create(initializer: "str | Initializer", **kwargs: Any) -> "Initializer":
    """Makes an initializer by its name, in any case, or from what `Initializer.dumps` wrote.

    Raises:
      ValueError: there is no initializer of this name.
    """
    if isinstance(initializer, Initializer):
        return initializer
    name = initializer
    if name.startswith("["):
        name, kwargs = json.loads(name)
    try:
        klass = _REGISTRY[name.lower()]
    except KeyError:
        known = ", ".join(sorted(_REGISTRY))
        raise ValueError(f"there is no initializer {name!r}; there are {known}") from None
    return klass(**kwargs)


class InitDesc(str):
    """The name of a parameter and what else is known about it.

    Args:
      name: the name.
      attrs: attributes of the variable; `__init__` is an initializer that goes before all others.
      global_init: the initializer of the model.
    """

    attrs: dict[str, str]
    global_init: "Initializer | None"

    def __new__(
        cls,
        name: str,
        attrs: dict[str, str] | None = None,
        global_init: "Initializer | None" = None,
    ) -> "InitDesc":
        self = super().__new__(cls, name)
        self.attrs = attrs or {}
        self.global_init = global_init
        return self


# What a name ends in, and the method for it.
_BY_SUFFIX = {
    "weight": "_init_weight",
    "bias": "_init_bias",
    "gamma": "_init_gamma",
    "beta": "_init_beta",
    "moving_mean": "_init_zero",
    "running_mean": "_init_zero",
    "moving_avg": "_init_zero",
    "moving_inv_var": "_init_zero",
    "moving_var": "_init_one",
    "running_var": "_init_one",
}


class Initializer:
    """Base of the initializers: chooses by a parameter's name what it starts with.

    A name that ends in `weight` gets the values of the initializer's own kind; `bias`, `beta`,
    means start with zero, `gamma` and variances with one. One's own initializer overrides
    `_init_weight`, which writes into its array (`arr[:] = ...`).

    Args:
      **kwargs: what `dumps` writes, so that `create` can make the same initializer again.
    """

    def __init__(self, **kwargs: Any):
        self._kwargs = kwargs

    def dumps(self) -> str:
        """The initializer as JSON: its name and its parameters."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __repr__(self) -> str:
        given = ", ".join(f"{k}={v!r}" for k, v in self._kwargs.items())
        return f"{type(self).__name__}({given})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Initializer):
            return NotImplemented
        return type(self) is type(other) and self._kwargs == other._kwargs

    def __hash__(self) -> int:
        return hash(self.dumps())

    def __call__(self, desc: str, arr: Any) -> None:
        """Gives an array its first values.

        Args:
          desc: its name.
          arr: the array, default or row_sparse; a row_sparse one comes to store every row.

        Raises:
          TypeError: `desc` is no string.
          ValueError: the name ends in nothing known.
        """
        if not isinstance(desc, str):
            raise TypeError(f"the name must be a string; got {desc!r}")
        own = getattr(desc, "attrs", {}).get("__init__")
        if own:
            create(own)._init_weight(desc, arr)
            return
        for suffix, method in _BY_SUFFIX.items():
            if desc.endswith(suffix):
                getattr(self, method)(desc, arr)
                return
        self._init_default(desc, arr)

    def _init_weight(self, name: str, arr: Any) -> None:
        raise NotImplementedError(f"{type(self).__name__} must override _init_weight")

    def _init_bias(self, name: str, arr: Any) -> None:
        fill(arr, 0.0)

    def _init_beta(self, name: str, arr: Any) -> None:
        fill(arr, 0.0)

    def _init_gamma(self, name: str, arr: Any) -> None:
        fill(arr, 1.0)

    def _init_zero(self, name: str, arr: Any) -> None:
        fill(arr, 0.0)

    def _init_one(self, name: str, arr: Any) -> None:
        fill(arr, 1.0)

    def _init_default(self, name: str, arr: Any) -> None:
        raise ValueError(
            f"no first values are known for {str(name)!r}: its name ends in none of "
            f"{', '.join(_BY_SUFFIX)}. Give the parameter an initializer of its own (init=...)"
        )


def fill(arr: Handle, value: Any) -> None:
    """Replaces all values of an array, in its own dtype.

    Args:
      arr: `(n, *d)`, default or row_sparse; a row_sparse one comes to store every row.
      value: a number, or an array of the same shape.

    Raises:
      TypeError: the array is csr.
    """
    old = arr._value
    if stype_of(old) == "csr":
        raise TypeError("parameters are default or row_sparse; a csr array has no first values")
    with wide():
        new = jnp.broadcast_to(jnp.asarray(value), old.shape).astype(old.dtype)
        if isinstance(old, BCOO):
            rows = jnp.arange(old.shape[0], dtype=old.indices.dtype)
            new = row_sparse(new, rows, old.shape)
        arr._store(new)


@partial(jax.jit, static_argnames=("kind", "shape", "dtype"))
def _draw(key, scale, *, kind, shape, dtype):
    if kind == "uniform":
        return random_uniform(key, -scale, scale, shape=shape, dtype=dtype)
    wide_dtype = jnp.promote_types(dtype, jnp.float32)
    return (scale * random_normal(key, shape=shape, dtype=wide_dtype)).astype(dtype)


def _fill_random(arr: Handle, kind: Literal["uniform", "normal"], scale: float) -> None:
    value = arr._value
    with wide():
        dtype = np.dtype(value.dtype)
        fill(arr, _draw(next_key(), float(scale), kind=kind, shape=value.shape, dtype=dtype))


@register
class Zero(Initializer):
    """Zeros."""

    def __init__(self):
        super().__init__()

    def _init_weight(self, name: str, arr: Any) -> None:
        fill(arr, 0.0)


@register
class One(Initializer):
    """Ones."""

    def __init__(self):
        super().__init__()

    def _init_weight(self, name: str, arr: Any) -> None:
        fill(arr, 1.0)


@register
class Constant(Initializer):
    """One value everywhere, or an array of the parameter's shape.

    Args:
      value: a number, a NumPy array or an array of this library.
    """

    def __init__(self, value: Any):
        super().__init__(value=value)
        self.value = value

    def _init_weight(self, name: str, arr: Any) -> None:
        fill(arr, self.value._value if isinstance(self.value, Handle) else self.value)

    def dumps(self) -> str:
        value = self.value
        if isinstance(value, Handle):
            value = value._value
        return json.dumps(["constant", {"value": np.asarray(value).tolist()}])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Constant):
            return NotImplemented
        return self.dumps() == other.dumps()

    def __hash__(self) -> int:
        return hash(self.dumps())


@register
class Uniform(Initializer):
    """Uniform in `[-scale, scale)`."""

    def __init__(self, scale: float = 0.07):
        super().__init__(scale=scale)
        self.scale = scale

    def _init_weight(self, name: str, arr: Any) -> None:
        _fill_random(arr, "uniform", self.scale)


@register
class Normal(Initializer):
    """Normal with mean zero and standard deviation `sigma`."""

    def __init__(self, sigma: float = 0.01):
        super().__init__(sigma=sigma)
        self.sigma = sigma

    def _init_weight(self, name: str, arr: Any) -> None:
        _fill_random(arr, "normal", self.sigma)


@register
class Xavier(Initializer):
    """Scaled so that signals keep their size through a layer (Glorot and Bengio, 2010).

    With the fan-in and fan-out of a weight `(out, in, *kernel)` and their mean, in or out as
    `factor`, uniform in `[-s, s)` or normal with deviation `s`, where `s = sqrt(magnitude /
    factor)`.

    Args:
      rnd_type: 'uniform' or 'gaussian'.
      factor_type: 'avg', 'in' or 'out'.
      magnitude: as in the formula.

    Raises:
      ValueError: an unknown `rnd_type` or `factor_type`; when called, an array of one dimension.
    """

    def __init__(self, rnd_type: str = "uniform", factor_type: str = "avg", magnitude: float = 3):
        super().__init__(rnd_type=rnd_type, factor_type=factor_type, magnitude=magnitude)
        if rnd_type not in ("uniform", "gaussian"):
            raise ValueError(f"rnd_type must be uniform or gaussian; got {rnd_type!r}")
        if factor_type not in ("avg", "in", "out"):
            raise ValueError(f"factor_type must be avg, in or out; got {factor_type!r}")
        self.rnd_type = rnd_type
        self.factor_type = factor_type
        self.magnitude = float(magnitude)

    def _init_weight(self, name: str, arr: Any) -> None:
        shape = arr._value.shape
        if len(shape) < 2:
            raise ValueError(
                f"Xavier needs at least two dimensions; {str(name)!r} has shape {shape}"
            )
        kernel = math.prod(shape[2:])
        fan_in, fan_out = shape[1] * kernel, shape[0] * kernel
        factors = {"avg": (fan_in + fan_out) / 2, "in": fan_in, "out": fan_out}
        scale = math.sqrt(self.magnitude / factors[self.factor_type])
        _fill_random(arr, "uniform" if self.rnd_type == "uniform" else "normal", scale)


# Names that gluon uses for the two constants.
_REGISTRY["zeros"] = Zero
_REGISTRY["ones"] = One
