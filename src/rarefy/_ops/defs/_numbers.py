"""Number types in operators: MXNet's arithmetic keeps the type of its arrays."""

import operator
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax

from rarefy._ops.storage import is_traced


def require_numbers(**limits: tuple[str, float]) -> Callable[..., None]:
    """Makes the check of an operator that takes numbers: `alpha=(">", 0)`, for example.

    The check raises ValueError where a number that is known is outside its limit, or is NaN.
    """
    holds = {">": operator.gt, ">=": operator.ge, "<=": operator.le}

    def check(values, params) -> None:
        for name, (relation, limit) in limits.items():
            number = params[name]
            if not is_traced(number) and not holds[relation](number, limit):
                raise ValueError(f"{name} must be {relation} {limit}, got {number}")

    return check


def require_same_dtype(*arrays) -> None:
    """Refuses arrays of different dtypes, as MXNet does.

    Raises:
      TypeError: the dtypes differ.
    """
    dtypes = [a.dtype for a in arrays]
    if any(d != dtypes[0] for d in dtypes):
        found = ", ".join(map(str, dtypes))
        raise TypeError(f"arrays must have one dtype, got {found}; convert with .astype(...)")


def require_same_shape(lhs, rhs) -> None:
    """Refuses arrays of different shapes.

    Raises:
      ValueError: the shapes differ.
    """
    if lhs.shape != rhs.shape:
        raise ValueError(
            f"shapes {lhs.shape} and {rhs.shape} differ; use the broadcast_* form of the operator"
        )


def is_floating(array) -> bool:
    return bool(jnp.issubdtype(array.dtype, jnp.floating))


def scalar_like(scalar, array) -> jax.Array:
    """A scalar operand in the dtype of an array; cut towards zero where that is an integer."""
    scalar = jnp.asarray(scalar)
    if is_floating(array) or is_floating(scalar):
        wide = scalar if is_floating(array) else scalar.astype(jnp.int64)
        return wide.astype(array.dtype)
    return scalar.astype(array.dtype)


def converted(array, dtype) -> jax.Array:
    """An array in another dtype; floats beyond a narrow integer type wrap, as in C."""
    narrow = jnp.issubdtype(dtype, jnp.integer) and jnp.dtype(dtype).itemsize < 4
    if is_floating(array) and narrow:
        array = array.astype(jnp.int64)
    return array.astype(dtype)


def in_float(fn: Callable[..., jax.Array]) -> Callable[..., jax.Array]:
    """Makes a function of floats work on integers: computed as floats, cut back to integers."""

    def wrapped(*arrays):
        dtype = arrays[0].dtype
        if is_floating(arrays[0]):
            return fn(*arrays)
        wide = jnp.float64 if dtype.itemsize > 2 else jnp.float32
        return fn(*(a.astype(wide) for a in arrays)).astype(dtype)

    return wrapped


def divide(a, b):
    """`a / b`; integers are cut towards zero, as in C."""
    return a / b if is_floating(a) else lax.div(*jnp.broadcast_arrays(a, b))


def modulo(a, b):
    """`a % b` with the sign of `b`; zero where `b` is zero."""
    safe = jnp.where(b == 0, jnp.ones_like(b), b)
    return jnp.where(b == 0, jnp.zeros_like(a), jnp.mod(a, safe))


def logical(a):
    """Whether a number is not zero, as bool."""
    return a != 0


def larger(a, b):
    """The larger of two, NaN if one is; the gradient of equal ones goes to the first."""
    return jnp.where((a >= b) | (a != a), a, b)


def smaller(a, b):
    """The smaller of two, NaN if one is; the gradient of equal ones goes to the first."""
    return jnp.where((a <= b) | (a != a), a, b)
