"""Where the product of two csr matrices has elements."""

from typing import NamedTuple

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp
from jax.interpreters import batching

from rarefy._primitives._batching import one_by_one
from rarefy._primitives._define import Form, bind, define, like, public
from rarefy._primitives._entries import check_csr, rows_of_entries


class CsrPlaces(NamedTuple):
    """Places of a csr matrix; the docstring of `csr_dot_csr_places` says what the fields hold."""

    indices: jax.Array
    indptr: jax.Array
    count: jax.Array  # pyright: ignore[reportIncompatibleMethodOverride]


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

    Raises:
      ValueError, TypeError: the operands do not fit together.

    Cost: O(pairs that meet + m + n_cols); working memory of a row for each thread. The XLA form
    takes O(a_nse * b_nse).
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


def meeting_pairs(a_indices, a_indptr, b_indices, b_indptr, n_cols: int):
    """Compares every entry of a with every one of b.

    Returns:
      `(a_nse, b_nse)` bool: which pairs meet; `(a_nse,)`: the row of each entry of a.
    """
    m, k = a_indptr.shape[0] - 1, b_indptr.shape[0] - 1
    row = rows_of_entries(a_indptr, a_indices.shape[0])
    inner = rows_of_entries(b_indptr, b_indices.shape[0])
    left = (row >= 0) & (row < m) & (a_indices >= 0) & (a_indices < k)
    right = (inner >= 0) & (inner < k) & (b_indices >= 0) & (b_indices < n_cols)
    meet = (a_indices[:, None] == inner[None, :]) & left[:, None] & right[None, :]
    return meet, row


def _csr_dot_csr_places_xla(a_indices, a_indptr, b_indices, b_indptr, *, n_cols, nse):
    m, dtype = a_indptr.shape[0] - 1, a_indices.dtype
    meet, row = meeting_pairs(a_indices, a_indptr, b_indices, b_indptr, n_cols)
    row = jnp.where(meet, row[:, None], m)
    column = jnp.where(meet, b_indices[None, :], n_cols)
    taken = jnp.zeros((m, n_cols), bool).at[row, column].set(True, mode="drop")
    rank = jnp.cumsum(taken.reshape(-1), dtype=jnp.int32).reshape(m, n_cols)
    slot = jnp.where(taken, rank - 1, nse)
    columns = jnp.broadcast_to(lax.iota(dtype, n_cols), (m, n_cols))
    indices = jnp.full(nse, n_cols, dtype).at[slot].set(columns, mode="drop")
    counts = jnp.cumsum(taken.sum(axis=1, dtype=jnp.int32), dtype=jnp.int32)
    indptr = jnp.concatenate([jnp.zeros(1, jnp.int32), jnp.minimum(counts, nse)])
    return indices, indptr.astype(dtype), taken.sum(dtype=jnp.int32)


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
    )


csr_dot_csr_places_p = define(
    "csr_dot_csr_places",
    abstract=_csr_dot_csr_places_abstract,
    xla=_csr_dot_csr_places_xla,
    multiple_results=True,
    attributes=("n_cols",),
)
batching.primitive_batchers[csr_dot_csr_places_p] = one_by_one(csr_dot_csr_places_p)
