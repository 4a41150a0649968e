"""Sorted unique row ids, with the way back to the entries that named them."""

from typing import NamedTuple

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp
from jax.interpreters import batching

from rarefy._primitives._batching import one_by_one
from rarefy._primitives._define import Form, bind, define, like, public


class RowGroups(NamedTuple):
    """What `group_rows` finds; its docstring says what the fields hold."""

    rows: jax.Array
    inverse: jax.Array
    order: jax.Array
    starts: jax.Array
    count: jax.Array  # pyright: ignore[reportIncompatibleMethodOverride]


@public("n_rows", "capacity")
def group_rows(ids, limit=None, *, n_rows: int, capacity: int, form: Form = "auto") -> RowGroups:
    """Finds the distinct rows that `ids` names and groups the entries by row.

    Args:
      ids: `(nse,)`, int32 or int64, any order, repeats allowed. An id outside `[0, n_rows)` is
        padding.
      limit: integer scalar; entries at positions `>= limit` are padding too. None: no limit.
      n_rows: how many rows there are.
      capacity: how many distinct rows to make room for; `min(nse, n_rows)` always suffices.
      form: which implementation to use.

    Returns:
      rows: `(capacity,)`, dtype of `ids`: the distinct ids, ascending, then `n_rows` as padding.
      inverse: `(nse,)`, int32: the position of each entry's id in `rows`; `capacity` for padding.
      order: `(nse,)`, int32: the stable permutation that sorts the entries by id, padding last.
      starts: `(capacity + 1,)`, int32: the entries of `rows[i]` are
        `order[starts[i]:starts[i + 1]]`; padding rows have none.
      count: `()`, int32: the number of distinct ids. Where it exceeds `capacity`, the largest ids
        are left out of `rows` and `starts`, and their entries have `inverse == capacity`.

    Raises:
      ValueError: `ids` has not one dimension or 2**31 or more entries, a size is negative, or
        `n_rows` does not fit the dtype of `ids`.

    Cost: O(nse + capacity) time and memory for a bounded width of id, whatever `n_rows`; the kernel
    passes over the entries once for about every eleven bits of `n_rows`.
    Source: least-significant-digit radix sort (Knuth, The Art of Computer Programming 3, 5.2.5).
    """
    if ids.ndim != 1 or not jnp.issubdtype(ids.dtype, jnp.signedinteger):
        raise ValueError(f"group_rows: ids must be (nse,) signed integers, got {jax.typeof(ids)}")
    if ids.shape[0] >= 2**31:
        raise ValueError(f"group_rows: at most 2**31 - 1 entries, got {ids.shape[0]}")
    if n_rows < 0 or capacity < 0:
        raise ValueError(
            f"group_rows: n_rows {n_rows} and capacity {capacity} must not be negative"
        )
    if n_rows > jnp.iinfo(ids.dtype).max:
        raise ValueError(
            f"group_rows: n_rows {n_rows} does not fit ids of {ids.dtype}; pass int64 ids"
        )
    limit = ids.shape[0] if limit is None else jnp.clip(limit, 0, ids.shape[0])
    limit = jnp.asarray(limit, jnp.int32)
    return RowGroups(*bind("group_rows", ids, limit, n_rows=n_rows, capacity=capacity, form=form))


def _group_rows_xla(ids, limit, *, n_rows, capacity):
    (nse,) = ids.shape
    position = lax.iota(jnp.int32, nse)
    real = (position < limit) & (ids >= 0) & (ids < n_rows)
    key, order = lax.sort((jnp.where(real, ids, n_rows), position), num_keys=1, is_stable=True)
    new = jnp.concatenate([jnp.ones(min(nse, 1), bool), key[1:] != key[:-1]]) & (key < n_rows)
    group = jnp.cumsum(new, dtype=jnp.int32) - 1
    kept = (key < n_rows) & (group < capacity)
    slot = jnp.where(kept, group, capacity)
    head = jnp.where(new & kept, group, capacity + 1)
    rows = jnp.full(capacity, n_rows, ids.dtype).at[head].set(key, mode="drop")
    starts = jnp.full(capacity + 1, kept.sum(dtype=jnp.int32)).at[head].set(position, mode="drop")
    inverse = jnp.zeros(nse, jnp.int32).at[order].set(slot, unique_indices=True)
    return rows, inverse, order, starts, new.sum(dtype=jnp.int32)


def _group_rows_abstract(ids, limit, *, n_rows, capacity):
    int32 = np.dtype(np.int32)
    return (
        like(ids, (capacity,), ids.dtype),
        like(ids, ids.shape, int32),
        like(ids, ids.shape, int32),
        like(ids, (capacity + 1,), int32),
        like(ids, (), int32),
    )


group_rows_p = define(
    "group_rows",
    abstract=_group_rows_abstract,
    xla=_group_rows_xla,
    multiple_results=True,
    attributes=("n_rows", "capacity"),
)
batching.primitive_batchers[group_rows_p] = one_by_one(group_rows_p)
