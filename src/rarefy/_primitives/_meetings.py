"""The pairs of entries that meet in the product of two csr matrices, a piece at a time, in XLA.

How many pairs there are depends on values, so no array can hold them all: they are numbered, and a
loop works through as many numbers at a time as there are entries.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
from jax import lax
from jax import numpy as jnp

from rarefy._primitives._entries import rows_of_entries


class Pairs(NamedTuple):
    """Pairs with the same number of the arrays are one; those that are not real are none."""

    a: jax.Array  # which entry of a
    b: jax.Array  # which entry of b
    row: jax.Array  # of the product, ascending; m where not real
    column: jax.Array  # of the product; n_cols where not real
    real: jax.Array


def over_pairs(places, n_cols: int, step: Callable[[Pairs, Any], Any], state: Any) -> Any:
    """Applies `step` to the pairs in the order of a's entries, a piece at a time.

    Args:
      places: a_indices, a_indptr, b_indices, b_indptr; both with entries.
      n_cols: number of columns of b.
      step: `(pairs, state)` to the next state.
      state: the first one.

    Cost: O(pairs * log of a's entries), and memory for as many pairs as there are entries.
    """
    a_indices, a_indptr, b_indices, b_indptr = places
    a_nse, b_nse = a_indices.shape[0], b_indices.shape[0]
    m, k = a_indptr.shape[0] - 1, b_indptr.shape[0] - 1
    if k == 0:
        return state
    row = rows_of_entries(a_indptr, a_nse)
    real = (row >= 0) & (row < m) & (a_indices >= 0) & (a_indices < k)
    inner = jnp.clip(a_indices, 0, k - 1)
    starts, ends = (jnp.clip(b_indptr[inner + d], 0, b_nse) for d in (0, 1))
    lengths = jnp.where(real, ends - starts, 0)
    bounds = jnp.cumsum(lengths)
    total, size = bounds[-1], a_nse + b_nse

    def piece(carry):
        first, state = carry
        number = first + lax.iota(bounds.dtype, size)
        a = jnp.searchsorted(bounds, number, side="right", method="scan_unrolled")
        a = jnp.minimum(a, a_nse - 1)
        b = jnp.clip(starts[a] + number - (bounds[a] - lengths[a]), 0, b_nse - 1)
        column = b_indices[b]
        real = (number < total) & (column >= 0) & (column < n_cols)
        pairs = Pairs(a, b, jnp.where(real, row[a], m), jnp.where(real, column, n_cols), real)
        return first + size, step(pairs, state)

    return lax.while_loop(lambda c: c[0] < total, piece, (jnp.zeros_like(total), state))[1]
