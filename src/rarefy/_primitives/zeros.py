"""A table of zeros."""

import jax
from jax import numpy as jnp
from jax.core import ShapedArray

from rarefy._primitives._define import PRIMITIVES, Form, define, public


@public("shape", "dtype")
def zeros(*, shape: tuple[int, ...], dtype, form: Form = "auto") -> jax.Array:
    """Makes an array of zeros: `jax.numpy.zeros` for large tables.

    The kernel fills fresh memory with several threads and asks for huge pages, which takes about a
    fifth of the time for a table of some hundred megabytes; reading single rows is faster later.

    Args:
      shape: of the result.
      dtype: of the result.
      form: which implementation to use.

    Returns:
      `shape`, `dtype`.

    Cost: O(size).
    """
    return PRIMITIVES["zeros"].bind(shape=shape, dtype=jnp.dtype(dtype), form=form)


def _zeros_xla(*, shape, dtype):
    return jnp.zeros(shape, dtype)


def _zeros_abstract(*, shape, dtype):
    return ShapedArray(shape, dtype)


zeros_p = define("zeros", abstract=_zeros_abstract, xla=_zeros_xla)
