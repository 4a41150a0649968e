"""Sorted unique cells of a matrix, with the way back to the entries that named them."""

from typing import NamedTuple

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp
from jax.interpreters import batching

from rarefy._primitives._batching import one_by_one
from rarefy._primitives._define import Form, bind, define, like, public


class CellGroups(NamedTuple):
    """What `group_cells` finds; its docstring says what the fields hold."""

    cells: jax.Array
    inverse: jax.Array
    order: jax.Array
    starts: jax.Array
    count: jax.Array  # pyright: ignore[reportIncompatibleMethodOverride]


@public("shape", "capacity")
def group_cells(cells, *, shape: tuple[int, int], capacity: int, form: Form = "auto") -> CellGroups:
    """Finds the distinct cells that `cells` names and groups the entries by cell.

    As `group_rows`, of pairs of numbers: no integer type needs to hold the number of a cell.

    Args:
      cells: `(nse, 2)`, int32 or int64, any order, repeats allowed. An entry with a coordinate out
        of range is padding.
      shape: number of rows and of columns; less than 2**63 cells.
      capacity: how many distinct cells to make room for.
      form: which implementation to use.

    Returns:
      cells: `(capacity, 2)`, dtype of `cells`: the distinct ones, in row-major order, then `shape`
        as padding.
      inverse: `(nse,)`, int32: the position of each entry's cell among those; `capacity` for padding.
      order: `(nse,)`, int32: the stable permutation that sorts the entries, padding last.
      starts: `(capacity + 1,)`, int32: the entries of cell `i` are
        `order[starts[i]:starts[i + 1]]`; padding has none.
      count: `()`, int32: the number of distinct cells. Where it exceeds `capacity`, the last ones are
        left out, and their entries have `inverse == capacity`.

    Raises:
      ValueError: `cells` is not `(nse, 2)` or has 2**31 or more entries, a size is negative or does
        not fit the dtype, or there are too many cells.

    Cost: O(nse + capacity); the kernel passes over the entries once for about every eleven bits of
    the number of cells, and but once where they are one or two ascending runs.
    """
    if cells.ndim != 2 or cells.shape[1] != 2 or cells.shape[0] >= 2**31:
        raise ValueError(f"group_cells: cells must be (nse, 2), nse < 2**31, got {cells.shape}")
    if cells.dtype not in (np.int32, np.int64):
        raise ValueError(f"group_cells: cells must be int32 or int64, got {cells.dtype}")
    if min(*shape, capacity) < 0 or max(shape) > jnp.iinfo(cells.dtype).max:
        raise ValueError(
            f"group_cells: shape {shape} and capacity {capacity} must not be negative and must fit "
            f"{cells.dtype}"
        )
    if shape[0] * shape[1] >= 2**63:
        raise ValueError(f"group_cells: shape {shape} has 2**63 cells or more")
    options = {"n_rows": shape[0], "n_cols": shape[1], "capacity": capacity}
    return CellGroups(*bind("group_cells", cells, **options, form=form))


def _group_cells_xla(cells, *, n_rows, n_cols, capacity):
    nse = cells.shape[0]
    position = lax.iota(jnp.int32, nse)
    row, column = cells[:, 0], cells[:, 1]
    real = (row >= 0) & (row < n_rows) & (column >= 0) & (column < n_cols)
    keys = jnp.where(real, row, n_rows), jnp.where(real, column, n_cols)
    row, column, order = lax.sort((*keys, position), num_keys=2, is_stable=True)
    changed = (row[1:] != row[:-1]) | (column[1:] != column[:-1])
    sorted_real = position < real.sum(dtype=jnp.int32)
    new = jnp.concatenate([jnp.ones(min(nse, 1), bool), changed]) & sorted_real
    group = jnp.cumsum(new, dtype=jnp.int32) - 1
    kept = sorted_real & (group < capacity)
    slot = jnp.where(kept, group, capacity)
    head = jnp.where(new & kept, group, capacity + 1)
    padding = jnp.broadcast_to(np.asarray((n_rows, n_cols), cells.dtype), (capacity, 2))
    found = padding.at[head].set(jnp.stack([row, column], axis=1), mode="drop")
    starts = jnp.full(capacity + 1, kept.sum(dtype=jnp.int32)).at[head].set(position, mode="drop")
    inverse = jnp.zeros(nse, jnp.int32).at[order].set(slot, unique_indices=True)
    return found, inverse, order, starts, new.sum(dtype=jnp.int32)


def _group_cells_abstract(cells, *, n_rows, n_cols, capacity):
    int32 = np.dtype(np.int32)
    (nse, _) = cells.shape
    return (
        like(cells, (capacity, 2), cells.dtype),
        like(cells, (nse,), int32),
        like(cells, (nse,), int32),
        like(cells, (capacity + 1,), int32),
        like(cells, (), int32),
    )


group_cells_p = define(
    "group_cells",
    abstract=_group_cells_abstract,
    xla=_group_cells_xla,
    multiple_results=True,
    attributes=("n_rows", "n_cols", "capacity"),
)
batching.primitive_batchers[group_cells_p] = one_by_one(group_cells_p)
