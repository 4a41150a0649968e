"""Functions of one array, element by element."""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from rarefy._ops.defs._numbers import converted, in_float
from rarefy._ops.defs._sparse import densified
from rarefy._ops.opdef import Operator, Scalar, operator
from rarefy._ops.places import with_data
from rarefy._ops.storage import SPARSE, STYPES, SType, Value, empty_csr, empty_row_sparse


def _own_places(stype: SType) -> int | None:
    return 0 if stype == "csr" else None


def keep_zero(op: Operator) -> Operator:
    """Gives an operator of one array that maps zero to zero its sparse rules: it works on what is
    stored, in the same places."""
    for stype in SPARSE:

        @op.rule(stype, out=stype, places_of=_own_places(stype))
        def _(data, **params) -> Value:
            return with_data(data, op.fn(data.data, **params))

    return op


def move_zero(op: Operator) -> Operator:
    """Gives an operator of one array that maps zero to something else its sparse rules: the result is
    dense, and only what is stored is computed one by one."""

    for stype in SPARSE:

        @op.rule(stype, out="default", spreads=True)
        def _(data, **params):
            return densified(lambda x: op.fn(x, **params), data)

    return op


def _unary(
    name: str,
    fn: Callable[[jax.Array], jax.Array],
    says: str,
    *,
    zero: bool,
    floating: bool = True,
    aliases: tuple[str, ...] = (),
    differentiable: bool = True,
) -> Operator:
    compute = in_float(fn) if floating else fn

    def meaning(data):
        return compute(data)

    stays = (
        "A csr or row_sparse array stays so: zero stays zero."
        if zero
        else "Of a csr or row_sparse array the result is dense, as zero does not stay zero."
    )
    meaning.__doc__ = (
        f"Computes {says}, element by element.\n\n"
        "Args:\n"
        "  data: any shape and storage type.\n\n"
        "Returns:\n"
        f"  Shape and dtype of `data`. {stays}"
        + (" Integers are computed as floats and cut to integers." if floating else "")
        + "\n"
    )
    op = operator(name, aliases=aliases, differentiable=differentiable)(meaning)
    return keep_zero(op) if zero else move_zero(op)


def _abs(x):
    """The absolute value, whose gradient at zero is zero."""
    return x * jnp.sign(x) if jnp.issubdtype(x.dtype, jnp.floating) else jnp.abs(x)


def round_away(x):
    """To the nearest integer, halves away from zero, as C's `round`."""
    return jnp.trunc(x + jnp.copysign(jnp.asarray(0.5, x.dtype), x))


def _rint(x):
    """To the nearest integer, halves towards minus infinity, as MXNet's `rint`."""
    down = jnp.floor(x)
    return jnp.where(x - down <= 0.5, down, down + 1)


def _gamma(x):
    return jnp.exp(jax.lax.lgamma(x)) * _gamma_sign(x)


def _gamma_sign(x):
    below = jnp.where((x < 0) & (jnp.mod(jnp.floor(x), 2) != 0), -1, 1)
    return below.astype(x.dtype)


_unary("abs", _abs, "the absolute value", zero=True, floating=False)
_unary("sign", jnp.sign, "the sign: -1, 0 or 1", zero=True, floating=False)
_unary(
    "negative", jnp.negative, "the negative", zero=True, floating=False, aliases=("_np_negative",)
)
_unary("square", jnp.square, "the square", zero=True, floating=False)
_unary("relu", jax.nn.relu, "max(x, 0)", zero=True, floating=False)
_unary("round", round_away, "the nearest integer, halves away from zero", zero=True)
_unary("rint", _rint, "the nearest integer, halves to the one below", zero=True)
_unary("ceil", jnp.ceil, "the smallest integer that is not less", zero=True)
_unary("floor", jnp.floor, "the largest integer that is not greater", zero=True)
_unary("trunc", jnp.trunc, "the integer part", zero=True)
_unary("fix", jnp.trunc, "the integer part", zero=True)
_unary("sqrt", jnp.sqrt, "the square root", zero=True)
_unary("cbrt", jnp.cbrt, "the cube root", zero=True)
_unary("expm1", jnp.expm1, "exp(x) - 1", zero=True)
_unary("log1p", jnp.log1p, "log(1 + x)", zero=True)
_unary("sin", jnp.sin, "the sine", zero=True)
_unary("tan", jnp.tan, "the tangent", zero=True)
_unary("arcsin", jnp.arcsin, "the inverse sine", zero=True)
_unary("arctan", jnp.arctan, "the inverse tangent", zero=True)
_unary("sinh", jnp.sinh, "the hyperbolic sine", zero=True)
_unary("tanh", jnp.tanh, "the hyperbolic tangent", zero=True)
_unary("arcsinh", jnp.arcsinh, "the inverse hyperbolic sine", zero=True)
_unary("arctanh", jnp.arctanh, "the inverse hyperbolic tangent", zero=True)
_unary("degrees", jnp.degrees, "degrees from radians", zero=True)
_unary("radians", jnp.radians, "radians from degrees", zero=True)
_unary("softsign", lambda x: x / (1 + jnp.abs(x)), "x / (1 + |x|)", zero=True)
_unary("erf", jax.lax.erf, "the error function", zero=True)
_unary("erfinv", jax.lax.erf_inv, "the inverse of the error function", zero=True)

_unary("exp", jnp.exp, "exp(x)", zero=False)
_unary("log", jnp.log, "the natural logarithm", zero=False)
_unary("log10", jnp.log10, "the logarithm to base 10", zero=False)
_unary("log2", jnp.log2, "the logarithm to base 2", zero=False)
_unary("cos", jnp.cos, "the cosine", zero=False)
_unary("arccos", jnp.arccos, "the inverse cosine", zero=False)
_unary("cosh", jnp.cosh, "the hyperbolic cosine", zero=False)
_unary("arccosh", jnp.arccosh, "the inverse hyperbolic cosine", zero=False)
_unary("rsqrt", jax.lax.rsqrt, "1 / sqrt(x)", zero=False)
_unary("rcbrt", lambda x: 1 / jnp.cbrt(x), "1 / cbrt(x)", zero=False)
_unary("reciprocal", lambda x: 1 / x, "1 / x", zero=False)
_unary("gamma", _gamma, "the gamma function", zero=False)
_unary("gammaln", jax.lax.lgamma, "the logarithm of the absolute gamma function", zero=False)
_unary("sigmoid", jax.nn.sigmoid, "1 / (1 + exp(-x))", zero=False)
_unary(
    "logical_not",
    lambda x: (x == 0).astype(x.dtype),
    "1 where x is zero, else 0",
    zero=False,
    floating=False,
    differentiable=False,
)


@operator("_copy", aliases=("identity",))
def copy(data):
    """Returns the array.

    Args:
      data: any shape and storage type.

    Returns:
      The same value in the same storage type, in buffers of its own.
    """
    return jnp.copy(data)


@operator("BlockGrad", aliases=("stop_gradient",))
def block_grad(data):
    """Returns the array and stops gradients: none goes back through it.

    Args:
      data: any shape and storage type.

    Returns:
      The same value in the same storage type.
    """
    return jax.lax.stop_gradient(data)


@operator("make_loss")
def make_loss(data):
    """Returns the array as a loss: its gradient is one, whatever comes from above.

    Args:
      data: any shape and storage type.

    Returns:
      The same value in the same storage type.
    """
    return jnp.copy(data)


def _ones_back(want, inputs, output, cotangent):
    (data,) = inputs
    return (with_data(data, jnp.ones_like(getattr(data, "data", data))),)


def _nothing_back(want, inputs, output, cotangent):
    return (None,)


for _op in (copy, block_grad, make_loss):
    keep_zero(_op)
for _stype in STYPES:
    block_grad.gradient(_stype)(_nothing_back)
make_loss.gradient("default")(_ones_back)
make_loss.gradient("csr")(_ones_back)
make_loss.gradient("row_sparse")(_ones_back)


@operator("Cast", aliases=("cast",))
def cast(data, *, dtype: str):
    """Converts to another dtype.

    Args:
      data: any shape; sparse arrays go dense (`astype` keeps them sparse).
      dtype: the dtype of the result. Floats are cut towards zero where it is an integer.

    Returns:
      Shape of `data`, dense.
    """
    return converted(data, dtype)


@operator("_astype", visible="internal")
def astype(data, *, dtype: str):
    """Converts to another dtype and keeps the storage type.

    Args:
      data: any shape and storage type.
      dtype: the dtype of the result. Floats are cut towards zero where it is an integer.

    Returns:
      Shape and storage type of `data`.
    """
    return converted(data, dtype)


keep_zero(astype)


@operator("clip")
def clip(data, *, a_min: Scalar, a_max: Scalar):
    """Limits values to a range.

    Args:
      data: any shape and storage type.
      a_min: values below become it.
      a_max: values above become it.

    Returns:
      Shape, dtype and storage type of `data`.

    Raises:
      MXNetError: `data` is sparse and zero lies outside the range.
    """
    low, high = jnp.asarray(a_min).astype(data.dtype), jnp.asarray(a_max).astype(data.dtype)
    return jnp.where(data < low, low, jnp.where(data > high, high, data))


def _holds_zero(stype: SType) -> Callable[..., SType | None]:
    return lambda a_min, a_max: stype if a_min <= 0 <= a_max else None


for _stype in SPARSE:

    @clip.rule(_stype, out=_holds_zero(_stype), places_of=_own_places(_stype))
    def _(data, *, a_min, a_max):
        return with_data(data, clip.fn(data.data, a_min=a_min, a_max=a_max))

    @clip.rule(_stype, out="default", refuses=True)
    def _(data, *, a_min, a_max):
        raise ValueError(
            "the range does not hold zero, so that the zeros of a sparse array would not stay zero; "
            "convert with tostype('default')"
        )


@operator("hard_sigmoid")
def hard_sigmoid(data, *, alpha: Scalar = 0.2, beta: Scalar = 0.5):
    """Computes min(1, max(0, alpha * x + beta)), element by element.

    Args:
      data: any shape, floating.
      alpha, beta: slope and offset.

    Returns:
      Shape and dtype of `data`, dense.
    """
    slope, offset = jnp.asarray(alpha, data.dtype), jnp.asarray(beta, data.dtype)
    line = slope * data + offset
    inside = (line > 0) & (line < 1)
    return jnp.where(inside, line, (line >= 1).astype(data.dtype))


@operator("smooth_l1")
def smooth_l1(data, *, scalar: Scalar = 1.0):
    """Computes the smooth L1 loss: `0.5 (s x)^2` where `|x| < 1 / s^2`, else `|x| - 0.5 / s^2`.

    Args:
      data: any shape and storage type; integers are computed as floats and cut to integers.
      scalar: s, where the square goes over into the line.

    Returns:
      Shape, dtype and storage type of `data`.

    Source: Girshick, Fast R-CNN (2015), with the parameter of MXNet's `smooth_l1`.
    """

    def smooth(x):
        square = jnp.asarray(scalar, x.dtype) ** 2
        inside = jnp.abs(x) < 1 / square
        return jnp.where(inside, 0.5 * square * x * x, jnp.abs(x) - 0.5 / square)

    return in_float(smooth)(data)


keep_zero(smooth_l1)


@operator("zeros_like")
def zeros_like(data):
    """Zeros of the shape and dtype of an array.

    Args:
      data: any shape and storage type.

    Returns:
      Shape, dtype and storage type of `data`; a sparse result stores nothing.
    """
    return jnp.zeros_like(data)


@zeros_like.rule("csr", out="csr")
def _(data):
    return empty_csr(data.shape, data.dtype)


@zeros_like.rule("row_sparse", out="row_sparse")
def _(data):
    return empty_row_sparse(data.shape, data.dtype)


for _stype in STYPES:
    zeros_like.gradient(_stype)(_nothing_back)


@operator("ones_like")
def ones_like(data):
    """Ones of the shape and dtype of an array.

    Args:
      data: any shape and storage type.

    Returns:
      Shape and dtype of `data`, dense.
    """
    return jnp.ones_like(data)


move_zero(ones_like)
