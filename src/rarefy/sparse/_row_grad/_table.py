"""The two values that the walk knows besides arrays: a table's tangent, and a read of its rows."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import jax
import numpy as np

RowView = Callable[[jax.Array], jax.Array]
"""`(m, *d)` to `(m, *e)`: what was done to each row of a table on its own."""


@dataclass(frozen=True, eq=False)
class Table:
    """The tangent of a marked table; it stands for an array that is never made.

    Attributes:
      leaf: which of the marked leaves it is the tangent of.
      shape: `(n, *e)`, after the views.
      source: `(n, *d)`, of the marked leaf.
      dtype: of the marked leaf.
      views: what has been done to the rows, first to last.
      summed_over: mesh axes over which JAX sums the gradient of this use.
    """

    leaf: int
    shape: tuple[int, ...]
    source: tuple[int, ...]
    dtype: np.dtype
    views: tuple[RowView, ...] = ()
    summed_over: tuple[str, ...] = ()

    def seen_as(self, view: RowView, shape: tuple[int, ...]) -> "Table":
        """The table after one more change of its rows."""
        return replace(self, views=(*self.views, view), shape=tuple(shape))

    def summed(self, axes: tuple[str, ...]) -> "Table":
        """The table where each device along `axes` uses it on its own."""
        return replace(self, summed_over=(*self.summed_over, *axes))

    def rows(self, tangents: jax.Array) -> jax.Array:
        """Brings `(m, *d)` rows of the marked leaf to the `(m, *e)` that a read of this sees."""
        for view in self.views:
            tangents = view(tangents)
        return tangents

    def same_as(self, other: Any) -> bool:
        """Whether `other` stands for the same array."""
        return (
            isinstance(other, Table)
            and self.leaf == other.leaf
            and self.views == other.views
            and self.summed_over == other.summed_over
        )


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Site:
    """One read of rows.

    Attributes:
      ids: `(m,)` integer: the rows, any order, repeats allowed; outside the table: no row. Inside a
        scan or a batch there are more axes in front.
      residuals: what the read needs besides the rows.
      leaf: which marked leaf is read.
      canonical: whether `ids` ascend and do not repeat, the padding being the table's height.
      summed_over: mesh axes over which the gradient is to be summed.
      varying: mesh axes along which the read differs.
      sharded: for each `shard_map` that the site has come out of, the outermost first, the mesh axes
        along which its arrays are sharded.
    """

    ids: jax.Array
    residuals: tuple[jax.Array, ...] = ()
    leaf: int = field(default=0, metadata={"static": True})
    canonical: bool = field(default=False, metadata={"static": True})
    summed_over: tuple[str, ...] = field(default=(), metadata={"static": True})
    varying: tuple[str, ...] = field(default=(), metadata={"static": True})
    sharded: tuple[tuple[str, ...], ...] = field(default=(), metadata={"static": True})


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Fed:
    """A site with the tangents of its rows: `(m, *d)`, with the axes in front that `ids` has."""

    site: Site
    tangents: jax.Array


def is_site(value: Any) -> bool:
    """For `is_leaf`."""
    return isinstance(value, Site | Fed)


class _Linear:
    def __repr__(self) -> str:
        return "LINEAR"


LINEAR = _Linear()
"""Stands for every value that depends on a tangent, while ids are being found: none of it is made."""


def is_array(value: Any) -> bool:
    """Whether a value of the walk is an ordinary one."""
    return value is not LINEAR and not isinstance(value, Table)
