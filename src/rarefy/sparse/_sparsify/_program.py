"""A function's program: its jaxpr, as if all its arguments were dense."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp

from rarefy.sparse._sparsify._values import dtype_of, is_dense, shape_of, stored


def abstract(value: Any) -> jax.ShapeDtypeStruct:
    """The dense array that a value stands for.

    Raises:
      TypeError: it is no array or number.
    """
    if is_dense(value):
        if isinstance(value, jax.Array | np.ndarray | np.generic | int | float | complex):
            aval = jax.typeof(value)
        else:
            aval = jax.typeof(jnp.asarray(value))
    else:
        aval = jax.typeof(stored(value).data)
    weak = bool(getattr(aval, "weak_type", False))
    return jax.ShapeDtypeStruct(shape_of(value), dtype_of(value), weak_type=weak)


def traced(function: Callable[..., Any], values: Sequence[Any]) -> tuple[Any, Any]:
    """Traces a function of arrays.

    Args:
      function: takes as many arrays as there are values, gives a tree of arrays.
      values: dense or sparse.

    Returns:
      The closed jaxpr, and the structure of the result.
    """
    structures: list[Any] = []

    def flat(*dense):
        leaves, structure = jax.tree.flatten(function(*dense))
        structures[:] = [structure]
        return [jnp.asarray(x) for x in leaves]

    program = jax.make_jaxpr(flat)(*map(abstract, values))
    return program, structures[0]
