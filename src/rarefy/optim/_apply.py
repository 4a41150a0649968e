"""Updates are added to parameters."""

from typing import Any

import jax
from jax import numpy as jnp

from rarefy._primitives.take_rows import take_rows
from rarefy.optim._rule import set_rows
from rarefy.optim._transformation import Tree, canonical, is_sparse
from rarefy.sparse import BCOO, row_sparse_rows


def apply_updates(params: Tree, updates: Tree) -> Tree:
    """Adds updates to parameters: a row_sparse update to the rows that it stores.

    Inside a `jax.jit` to which the parameters are donated a table is updated in place, at the cost of
    the rows; without donation it is copied.

    Args:
      params: arrays.
      updates: a tree of the same structure: an array or row_sparse BCOO of the parameter's shape, or
        None for no update.

    Returns:
      The new parameters, each in its own dtype. Rows not in an update keep their bits.

    Raises:
      ValueError: a row_sparse update has another shape than its parameter.

    >>> from functools import partial
    >>> from rarefy import sparse
    >>> from rarefy import optim
    >>> optimizer = optim.sgd(0.5)
    >>> @partial(jax.jit, donate_argnums=(0, 1))
    ... def step(params, state, ids):
    ...     loss = lambda p: (p["table"][ids] ** 2).sum()
    ...     gradient = sparse.grad(loss, row_sparse={"table": True})(params)
    ...     updates, state = optimizer.update(gradient, state, params)
    ...     return optim.apply_updates(params, updates), state
    >>> params = {"table": jnp.ones((1000000, 1))}
    >>> params, _ = step(params, optimizer.init(params), jnp.array([5, 2]))
    >>> params["table"][1:6, 0].tolist()
    [1.0, 0.0, 1.0, 1.0, 0.0]
    """
    return jax.tree.map(_add, updates, params, is_leaf=lambda u: u is None or is_sparse(u))


def _add(update: Any, param: Any) -> Any:
    if update is None:
        return param
    param = jnp.asarray(param)
    if not is_sparse(update):
        return (param + update).astype(param.dtype)
    return _add_rows(param, update)


def _add_rows(param: jax.Array, update: BCOO) -> jax.Array:
    if update.shape != param.shape:
        raise ValueError(
            f"apply_updates: an update of shape {update.shape} for a parameter of shape {param.shape}"
        )
    update = canonical(update)
    rows = row_sparse_rows(update)
    return set_rows(param, rows, take_rows(param, rows) + update.data)
