"""Batching rules that suit any primitive."""

from collections.abc import Callable
from typing import Any

import jax
from jax import lax
from jax import numpy as jnp
from jax.extend.core import Primitive


def one_by_one(primitive: Primitive) -> Callable[..., Any]:
    """Makes the batching rule that runs `primitive` once for each element of the batch.

    Right for kernels that parallelise inside a call and whose work does not fold into a wider one.
    """

    def rule(args, dims, **params):
        mapped = [jnp.moveaxis(x, d, 0) for x, d in zip(args, dims, strict=True) if d is not None]

        def one(elements):
            elements = iter(elements)
            whole = [x if d is None else next(elements) for x, d in zip(args, dims, strict=True)]
            return primitive.bind(*whole, **params)

        out = lax.map(one, mapped)
        return out, jax.tree.map(lambda _: 0, out)

    return rule
