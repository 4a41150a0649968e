"""First values of parameters."""

import json
import logging
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np

from rarefy._key import next_key
from rarefy._ops.precision import wide
from rarefy._ops.storage import stype_of
from rarefy._primitives import random_normal, random_uniform
from rarefy._primitives.from_host import filled, from_host
from rarefy.base import ArgumentError
from rarefy.nd._file import load
from rarefy.nd._handle import Handle
from rarefy.nd._ndarray import NDArray
from rarefy.registry import get_alias_func, get_create_func, get_register_func
from rarefy.sparse import BCOO
from rarefy.sparse._row_sparse import row_sparse


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


# What a name ends in, and the method for it; the first that fits. A name in the second table begins
# with the one and ends in the other.
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
    "min": "_init_zero",
    "max": "_init_one",
}
_BY_BOTH_ENDS = {
    ("upsampling", ""): "_init_bilinear",
    ("stn_loc", "weight"): "_init_zero",
    ("stn_loc", "bias"): "_init_loc_bias",
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
        self._verbose = False
        self._print_func: Callable[[Any], str] | None = None

    def set_verbosity(
        self, verbose: bool = False, print_func: Callable[[Any], str] | None = None
    ) -> "Initializer":
        """Chooses whether each array that gets its first values is logged.

        Args:
          verbose: whether.
          print_func: what is logged of an array; the root of the mean of squares by default.

        Returns:
          The initializer.
        """
        self._verbose = verbose
        self._print_func = print_func or _magnitude
        return self

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
        if isinstance(desc, InitDesc) and desc.global_init is None:
            desc.global_init = self
        own = getattr(desc, "attrs", {}).get("__init__")
        if own:
            create(own)._init_weight(desc, arr)
        else:
            getattr(self, _method_for(desc))(desc, arr)
        if self._verbose and self._print_func:
            logging.info("initialized %s as %s: %s", desc, own or self, self._print_func(arr))

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

    def _init_bilinear(self, name: str, arr: Any) -> None:
        fill(arr, _bilinear(arr._value.shape))

    def _init_loc_bias(self, name: str, arr: Any) -> None:
        fill(arr, [1.0, 0.0, 0.0, 0.0, 1.0, 0.0])

    def _init_default(self, name: str, arr: Any) -> None:
        raise ValueError(
            f"no first values are known for {str(name)!r}: its name ends in none of "
            f"{', '.join(_BY_SUFFIX)}. Give the parameter an initializer of its own (init=...)"
        )


def _method_for(name: str) -> str:
    for (begin, end), method in _BY_BOTH_ENDS.items():
        if name.startswith(begin) and name.endswith(end):
            return method
    for suffix, method in _BY_SUFFIX.items():
        if name.endswith(suffix):
            return method
    return "_init_default"


def _magnitude(arr: Handle) -> str:
    value = arr._value
    stored = np.asarray(getattr(value, "data", value), np.float64)
    return str(float(np.sqrt(np.sum(np.square(stored)) / max(math.prod(value.shape), 1))))


def _bilinear(shape: tuple[int, ...]) -> np.ndarray:
    """The weight of a bilinear upsampling, `(..., height, width)`, all channels equal."""
    if len(shape) < 2:
        raise ValueError(f"bilinear values need a height and a width; the array has shape {shape}")
    height, width = shape[-2:]
    factor = math.ceil(width / 2)
    centre = (2 * factor - 1 - factor % 2) / (2 * factor)
    x, y = (1 - np.abs(np.arange(n) / factor - centre) for n in (width, height))
    return np.broadcast_to(np.outer(y, x), shape)


register = get_register_func(Initializer, "initializer")
alias = get_alias_func(Initializer, "initializer")
create = get_create_func(Initializer, "initializer")


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
        if isinstance(value, int | float):
            new = filled(old.shape, value, old.dtype)
        else:
            numbers = from_host(value) if isinstance(value, np.ndarray) else jnp.asarray(value)
            new = jnp.broadcast_to(numbers, old.shape).astype(old.dtype)
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
@alias("zeros")
class Zero(Initializer):
    """Zeros."""

    def __init__(self):
        super().__init__()

    def _init_weight(self, name: str, arr: Any) -> None:
        fill(arr, 0.0)


@register
@alias("ones")
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


@register
class MSRAPrelu(Xavier):
    """`Xavier` for layers before a leaky rectifier (He and others, 2015): gaussian, with the magnitude
    `2 / (1 + slope**2)`.

    Args:
      factor_type: 'avg', 'in' or 'out'.
      slope: of the rectifier below zero.
    """

    def __init__(self, factor_type: str = "avg", slope: float = 0.25):
        super().__init__("gaussian", factor_type, 2.0 / (1 + slope**2))
        self._kwargs = {"factor_type": factor_type, "slope": slope}


@register
class Orthogonal(Initializer):
    """A matrix with orthogonal rows or columns, whichever are fewer (Saxe and others, 2014).

    Args:
      scale: length of each of them.
      rand_type: 'uniform' or 'normal', the distribution that directions come from.

    Raises:
      ValueError: `rand_type` is neither.
    """

    def __init__(self, scale: float = 1.414, rand_type: str = "uniform"):
        super().__init__(scale=scale, rand_type=rand_type)
        if rand_type not in ("uniform", "normal"):
            raise ValueError(f"rand_type must be uniform or normal; got {rand_type!r}")
        self.scale = scale
        self.rand_type = rand_type

    def _init_weight(self, name: str, arr: Any) -> None:
        shape = arr._value.shape
        flat = (shape[0], math.prod(shape[1:]))
        with wide():
            dtype = np.dtype(np.float32)
            drawn = _draw(next_key(), 1.0, kind=self.rand_type, shape=flat, dtype=dtype)
        u, _, v = np.linalg.svd(np.asarray(drawn), full_matrices=False)
        fill(arr, self.scale * (u if u.shape == flat else v).reshape(shape))


@register
class Bilinear(Initializer):
    """The weight of a bilinear upsampling."""

    def __init__(self):
        super().__init__()

    def _init_weight(self, name: str, arr: Any) -> None:
        fill(arr, _bilinear(arr._value.shape))


@register
class LSTMBias(Initializer):
    """The bias of an LSTM cell: zero, but for the forget gate, the second of the four.

    Args:
      forget_bias: value of the forget gate.
    """

    def __init__(self, forget_bias: float = 1.0):
        super().__init__(forget_bias=forget_bias)
        self.forget_bias = forget_bias

    def _init_weight(self, name: str, arr: Any) -> None:
        values = np.zeros(arr._value.shape)
        gate = len(values) // 4
        values[gate : 2 * gate] = self.forget_bias
        fill(arr, values)


class Load:
    """Takes first values from arrays by name.

    Args:
      param: arrays by name, or the file that holds them; `arg:` and `aux:` before a name are dropped.
      default_init: initializer of the names that are not there.
      verbose: whether the source of each array is logged.

    Raises:
      ValueError: when called, the array has another shape, or is not there and there is no default.
    """

    def __init__(
        self,
        param: str | Mapping[str, NDArray],
        default_init: Callable[[str, Any], None] | None = None,
        verbose: bool = False,
    ):
        arrays = load(param) if isinstance(param, str) else param
        if not isinstance(arrays, Mapping):
            raise TypeError(f"param must hold arrays by name; got {type(arrays).__name__}")
        self.param = {re.sub("^(arg|aux):", "", name): array for name, array in arrays.items()}
        self.default_init = default_init
        self.verbose = verbose

    def __call__(self, name: str, arr: Any) -> None:
        """Gives an array its first values."""
        known = self.param.get(name)
        if known is not None:
            if known.shape != arr.shape:
                raise ArgumentError(f"{name} has shape {arr.shape}, the loaded one {known.shape}")
            fill(arr, known.asnumpy())
        elif self.default_init is not None:
            self.default_init(name, arr)
        else:
            raise ArgumentError(
                f"{name} is not among the loaded arrays, and there is no default_init"
            )
        if self.verbose:
            source = "by loading" if known is not None else "by default"
            logging.info("initialized %s %s", name, source)


class Mixed:
    """Chooses an initializer by the name.

    Args:
      patterns: regular expressions that names begin with; the first that fits is used.
      initializers: one for each.

    Raises:
      ValueError: there are not as many of both; when called, no pattern fits.
    """

    def __init__(self, patterns: Sequence[str], initializers: Sequence[Callable[[str, Any], None]]):
        if len(patterns) != len(initializers):
            raise ArgumentError(f"{len(patterns)} patterns for {len(initializers)} initializers")
        compiled = [re.compile(pattern) for pattern in patterns]
        self.map = list(zip(compiled, initializers, strict=True))

    def __call__(self, name: str, arr: Any) -> None:
        """Gives an array its first values."""
        for pattern, init in self.map:
            if pattern.match(name):
                init(name, arr)
                return
        known = ", ".join(pattern.pattern for pattern, _ in self.map)
        raise ValueError(f"{name} fits none of {known}; add '.*' with a default initializer")
