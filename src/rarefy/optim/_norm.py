"""The global norm of gradients, dense and row_sparse, and clipping by it."""

from typing import Any

import jax
from jax import numpy as jnp

from rarefy.optim._transformation import (
    GradientTransformation,
    Tree,
    canonical,
    is_sparse,
    with_rows,
)


def global_norm(updates: Tree) -> jax.Array:
    """The root of the sum of squares over all elements of a tree.

    That of a row_sparse leaf is over what it stores, repeated rows added up first: the norm is that of
    the dense gradients. Use it where `optax.global_norm` would take row numbers for values.

    Args:
      updates: arrays and BCOO with `n_sparse=1`.

    Returns:
      `()`, float32 or wider.
    """
    leaves = jax.tree.leaves(updates, is_leaf=is_sparse)
    arrays = [canonical(g).data if is_sparse(g) else jnp.asarray(g) for g in leaves]
    if not arrays:
        return jnp.zeros((), jnp.float32)
    dtype = jnp.promote_types(jnp.result_type(*arrays), jnp.float32)
    # The squares of float16 overflow at 256.
    squares = [jnp.sum(jnp.square(jnp.abs(a.astype(dtype)))) for a in arrays]
    return jnp.sqrt(jnp.sum(jnp.stack(squares)))


def clip_by_global_norm(max_norm: float | jax.Array) -> GradientTransformation:
    """Scales updates down together, where their `global_norm` is more than `max_norm`.

    As `optax.clip_by_global_norm`, over dense and row_sparse leaves alike.
    """

    def init(params: Tree) -> tuple[()]:
        return ()

    def update(updates: Tree, state: tuple[()], params: Tree = None) -> tuple[Tree, tuple[()]]:
        updates = jax.tree.map(
            lambda g: canonical(g) if is_sparse(g) else g, updates, is_leaf=is_sparse
        )
        norm = global_norm(updates)

        def clipped(array: Any) -> jax.Array:
            scaled = array.astype(norm.dtype) / norm * max_norm
            return jnp.where(norm < max_norm, array, scaled.astype(array.dtype))

        def one(g: Any) -> Any:
            return with_rows(g, clipped(g.data)) if is_sparse(g) else clipped(jnp.asarray(g))

        return jax.tree.map(one, updates, is_leaf=is_sparse), state

    return GradientTransformation(init, update)
