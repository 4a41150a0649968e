"""Transformations that know only dense arrays, for row_sparse gradients."""

from typing import Any

import jax
from jax import numpy as jnp

from rarefy._primitives.take_rows import take_rows
from rarefy.optim._transformation import (
    GradientTransformation,
    Tree,
    canonical,
    is_sparse,
    with_rows,
)
from rarefy.sparse import row_sparse_rows


def on_rows(inner: Any) -> GradientTransformation:
    """Lets a transformation without states for each parameter work on row_sparse gradients.

    JAX sees a sparse array as its two buffers, and so does a transformation that maps over a tree: it
    would scale the row numbers too. Inside `on_rows` it sees in place of each row_sparse gradient the
    stored rows, and in place of its parameter the same rows of that.

        optax.chain(
            on_rows(optax.add_decayed_weights(1e-4)),  # decays the touched rows
            adam(1e-3),
            on_rows(optax.scale_by_schedule(schedule)),
        )

    Args:
      inner: has `init` and `update`, as `optax.scale`, `clip`, `clip_by_global_norm`, `zero_nans`,
        `scale_by_schedule`, `add_decayed_weights`.

    Returns:
      A transformation of dense and row_sparse gradients.

    Raises:
      ValueError: at `init`: `inner` keeps an array for each parameter; use the optimizers of this
        module, which update such arrays by rows.
    """

    def init(params: Tree) -> Any:
        state = inner.init(params)
        shapes = {jnp.shape(p) for p in jax.tree.leaves(params)} - {()}
        for leaf in jax.tree.leaves(state):
            if jnp.shape(leaf) in shapes and jnp.issubdtype(jnp.result_type(leaf), jnp.inexact):
                raise ValueError(
                    f"optim.on_rows: the transformation keeps an array of shape {jnp.shape(leaf)} for a "
                    f"parameter, which cannot be updated by rows; use rarefy.optim's optimizers, or "
                    f"optax.partition to give it the dense parameters only"
                )
        return state

    def update(updates: Tree, state: Any, params: Tree = None) -> tuple[Tree, Any]:
        gradients, structure = jax.tree.flatten(updates, is_leaf=is_sparse)
        gradients = [canonical(g) if is_sparse(g) else g for g in gradients]
        rows = [g.data if is_sparse(g) else g for g in gradients]
        if params is not None:
            of = structure.flatten_up_to(params)
            of = [
                take_rows(jnp.asarray(p), row_sparse_rows(g)) if is_sparse(g) else p
                for p, g in zip(of, gradients, strict=True)
            ]
            params = jax.tree.unflatten(structure, of)
        new, state = inner.update(jax.tree.unflatten(structure, rows), state, params)
        new = [
            with_rows(g, _without_padding(n, g)) if is_sparse(g) else n
            for n, g in zip(structure.flatten_up_to(new), gradients, strict=True)
        ]
        return jax.tree.unflatten(structure, new), state

    return GradientTransformation(init, update)


def _without_padding(data: jax.Array, gradient: Any) -> jax.Array:
    real = row_sparse_rows(gradient) < gradient.shape[0]
    return jnp.where(real.reshape(-1, *(1,) * (data.ndim - 1)), data, 0)
