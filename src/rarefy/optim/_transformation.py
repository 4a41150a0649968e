"""What an optimizer is, and trees whose leaves may be row_sparse."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax

from rarefy.sparse import BCOO, is_row_sparse, merge_rows

Tree = Any
"""A pytree whose leaves are arrays or row_sparse BCOO."""

ScalarOrSchedule = float | jax.Array | Callable[[Any], Any]
"""A number, or a function of how many updates were done before."""


class GradientTransformation(NamedTuple):
    """A step from gradients to updates, as `optax.GradientTransformation`; chain it with those.

    Attributes:
      init: `params` to the first state.
      update: `(updates, state, params=None)` to the new updates and the new state.
    """

    init: Callable[[Tree], Any]
    update: Callable[..., tuple[Tree, Any]]


def is_sparse(leaf: Any) -> bool:
    """For `is_leaf`."""
    return isinstance(leaf, BCOO)


def canonical(gradient: BCOO) -> BCOO:
    """The gradient with rows ascending and unique, as every rule needs them.

    Raises:
      ValueError: it is not made of rows.
      TypeError: its row numbers are no integers.
    """
    if gradient.n_sparse != 1 or gradient.n_batch != 0:
        raise ValueError(
            f"a sparse gradient must have n_sparse=1 and n_batch=0, as "
            f"sparse.grad(..., row_sparse=...) gives it; got {gradient!r}"
        )
    if not jax.numpy.issubdtype(gradient.indices.dtype, jax.numpy.integer):
        raise TypeError(
            f"the row numbers of a sparse gradient have become {gradient.indices.dtype}: a "
            f"transformation before this one has taken them for values. Put it inside optim.on_rows"
        )
    if is_row_sparse(gradient):
        return gradient
    return merge_rows(gradient.indices[:, 0], gradient.data, gradient.shape[0])


def with_rows(gradient: BCOO, data: jax.Array) -> BCOO:
    """A value with the rows of `gradient` and other data in them."""
    return gradient._with_buffers(data, gradient.indices)
