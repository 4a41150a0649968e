"""Where the product of two csr matrices has elements."""

from typing import NamedTuple

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp
from jax.interpreters import batching

from rarefy._primitives._batching import one_by_one
from rarefy._primitives._define import Form, bind, define, like, public
from rarefy._primitives._entries import check_csr
from rarefy._primitives._meetings import over_pairs


class CsrPlaces(NamedTuple):
    """Places of a csr matrix; the docstring of `csr_dot_csr_places` says what the fields hold."""

    indices: jax.Array
    indptr: jax.Array
    count: jax.Array  # pyright: ignore[reportIncompatibleMethodOverride]
    sizes: jax.Array


@public("n_cols", "nse")
def csr_dot_csr_places(
    a_indices, a_indptr, b_indices, b_indptr, *, n_cols: int, nse: int, form: Form = "auto"
) -> CsrPlaces:
    """Finds the places where the product of two CSR matrices has elements.

    Args:
      a_indices: `(a_nse,)`, int32 or int64; a_indptr: `(m + 1,)`, the same type: the left matrix.
        Order in a row is free, repeats are allowed. A column outside `[0, k)` is padding, and so
        are entries from `a_indptr[-1]` on.
      b_indices: `(b_nse,)`; b_indptr: `(k + 1,)`: the right matrix, likewise; its width is
        `n_cols`.
      n_cols: number of columns of the product.
      nse: how many places to make room for.
      form: which implementation to use.

    Returns:
      indices `(nse,)` and indptr `(m + 1,)`, dtype of the operands: columns ascending in each row
      without repeats; padding, of column `n_cols`, comes last. Where there are more places than
      `nse`, the last are left out. A place counts if two entries meet in it, whatever their values.
      count: `()`, int32: the number of places, also beyond `nse`.
      sizes: `(m,)`, dtype of the operands: the number of places in each row, also beyond `nse`.

    Raises:
      ValueError, TypeError: the operands do not fit together.

    Cost: O(pairs that meet + m + n_cols); working memory of a row for each thread. The XLA form
    sorts the pairs and the places: times their logarithm.
    Source: Gustavson, Two Fast Algorithms for Sparse Matrices (1978).
    """
    out = bind(
        "csr_dot_csr_places",
        a_indices,
        a_indptr,
        b_indices,
        b_indptr,
        n_cols=n_cols,
        nse=nse,
        form=form,
    )
    return CsrPlaces(*out)


def _csr_dot_csr_places_xla(a_indices, a_indptr, b_indices, b_indptr, *, n_cols, nse):
    m, dtype = a_indptr.shape[0] - 1, a_indices.dtype
    room = nse + n_cols  # whole rows, up to the one that goes beyond nse
    state = (
        jnp.full(n_cols, -1, dtype),  # the last row that had each column
        jnp.full(room, m, dtype),
        jnp.full(room, n_cols, dtype),
        jnp.zeros(m, jnp.int32),
        jnp.zeros((), jnp.int32),
    )

    def step(pairs, state):
        seen, rows, columns, counts, total = state
        row, column = pairs.row.astype(dtype), pairs.column
        row, column = lax.sort((row, column), num_keys=2)
        begins = (row[1:] != row[:-1]) | (column[1:] != column[:-1])
        new = jnp.concatenate([jnp.ones(1, bool), begins]) & (row < m)
        new &= seen.at[column].get(mode="fill", fill_value=-1) != row
        seen = seen.at[jnp.where(new, column, n_cols)].max(row, mode="drop")
        slot = jnp.where(new, total + jnp.cumsum(new, dtype=jnp.int32) - 1, room)
        rows = rows.at[slot].set(row, mode="drop")
        columns = columns.at[slot].set(column, mode="drop")
        counts = counts.at[row].add(new.astype(jnp.int32), mode="drop")
        return seen, rows, columns, counts, total + new.sum(dtype=jnp.int32)

    if a_indices.shape[0] and b_indices.shape[0] and n_cols:
        places = a_indices, a_indptr, b_indices, b_indptr
        state = over_pairs(places, n_cols, step, state)
    _, rows, columns, counts, total = state
    _, indices = lax.sort((rows, columns), num_keys=2)
    ends = jnp.minimum(jnp.cumsum(counts, dtype=jnp.int32), nse)
    indptr = jnp.concatenate([jnp.zeros(1, jnp.int32), ends]).astype(dtype)
    kept = lax.iota(jnp.int32, nse) < total
    return jnp.where(kept, indices[:nse], n_cols), indptr, total, counts.astype(dtype)


def _csr_dot_csr_places_abstract(a_indices, a_indptr, b_indices, b_indptr, *, n_cols, nse):
    check_csr("csr_dot_csr_places", a_indices, a_indptr)
    check_csr("csr_dot_csr_places", b_indices, b_indptr)
    if a_indices.dtype != b_indices.dtype:
        raise TypeError(
            f"csr_dot_csr_places: indices must be of one type, got {a_indices.dtype} and "
            f"{b_indices.dtype}"
        )
    most = jnp.iinfo(a_indices.dtype).max
    if not 0 <= n_cols < most or not 0 <= nse <= most:
        raise ValueError(f"csr_dot_csr_places: n_cols={n_cols} and nse={nse} must be 0 to {most}")
    return (
        like(a_indices, (nse,), a_indices.dtype),
        like(a_indices, a_indptr.shape, a_indices.dtype),
        like(a_indices, (), np.dtype(np.int32)),
        like(a_indices, (a_indptr.shape[0] - 1,), a_indices.dtype),
    )


csr_dot_csr_places_p = define(
    "csr_dot_csr_places",
    abstract=_csr_dot_csr_places_abstract,
    xla=_csr_dot_csr_places_xla,
    multiple_results=True,
    attributes=("n_cols",),
)
batching.primitive_batchers[csr_dot_csr_places_p] = one_by_one(csr_dot_csr_places_p)
