"""The places that either of two CSR matrices has, or both."""

from typing import NamedTuple

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp
from jax.interpreters import batching

from rarefy._primitives._batching import one_by_one
from rarefy._primitives._define import Form, bind, define, like, public
from rarefy._primitives._entries import check_csr, rows_of_entries


class CsrMerged(NamedTuple):
    """Merged places; the docstring of `csr_merge` says what the fields hold."""

    indices: jax.Array
    indptr: jax.Array
    from_a: jax.Array
    from_b: jax.Array
    count: jax.Array  # pyright: ignore[reportIncompatibleMethodOverride]


@public("n_cols", "nse", "both")
def csr_merge(
    a_indices,
    a_indptr,
    b_indices,
    b_indptr,
    *,
    n_cols: int,
    nse: int,
    both: bool = False,
    form: Form = "auto",
) -> CsrMerged:
    """Finds the places that either of two CSR matrices of one shape has, or those that both have.

    Args:
      a_indices: `(a_nse,)`, int32 or int64; a_indptr: `(m + 1,)`, the same type: a matrix whose
        columns ascend in each row without repeats. A column outside `[0, n_cols)` is padding, and
        so are entries from `a_indptr[-1]` on.
      b_indices: `(b_nse,)`; b_indptr: `(m + 1,)`: the other one, likewise.
      n_cols: number of columns.
      nse: how many places to make room for.
      both: whether a place must be in both.
      form: which implementation to use.

    Returns:
      indices `(nse,)` and indptr `(m + 1,)`, dtype of the operands: columns ascend in each row
      without repeats; padding, of column `n_cols`, comes last. Where there are more places than
      `nse`, the last are left out.
      from_a, from_b: `(nse,)`, int32: which entry of a and of b is in each place; `a_nse` and
      `b_nse` where none is.
      count: `()`, int32: the number of places, also beyond `nse`.

    Raises:
      ValueError, TypeError: the operands do not fit together.

    Cost: O(a_nse + b_nse + m + nse).
    """
    operands = a_indices, a_indptr, b_indices, b_indptr
    return CsrMerged(*bind("csr_merge", *operands, n_cols=n_cols, nse=nse, both=both, form=form))


def _csr_merge_xla(a_indices, a_indptr, b_indices, b_indptr, *, n_cols, nse, both):
    m, dtype = a_indptr.shape[0] - 1, a_indices.dtype
    a_nse, b_nse = a_indices.shape[0], b_indices.shape[0]
    rows = [rows_of_entries(p, n) for p, n in ((a_indptr, a_nse), (b_indptr, b_nse))]
    row, column = jnp.concatenate(rows).astype(dtype), jnp.concatenate([a_indices, b_indices])
    real = (row >= 0) & (row < m) & (column >= 0) & (column < n_cols)
    row, column = jnp.where(real, row, m), jnp.where(real, column, n_cols)
    entry = lax.iota(jnp.int32, a_nse + b_nse)
    row, column, entry = lax.sort((row, column, entry), num_keys=2, is_stable=True)
    real, more = row < m, a_nse + b_nse > 1
    same = (row[1:] == row[:-1]) & (column[1:] == column[:-1]) & real[1:]
    no = jnp.zeros(1 if more or a_nse + b_nse else 0, bool)
    is_second = jnp.concatenate([no, same])  # b's entry of a place that a's entry before it has too
    has_second = jnp.concatenate([same, no])
    chosen = has_second if both else real & ~is_second
    rank = jnp.cumsum(chosen, dtype=jnp.int32)
    slot = jnp.where(chosen, rank - 1, nse)
    next_entry = jnp.concatenate([entry[1:], entry[:1]])
    of_a = jnp.where(entry < a_nse, entry, a_nse)
    of_b = jnp.where(has_second, next_entry, entry) - a_nse
    of_b = jnp.where(of_b < 0, b_nse, of_b)
    count = chosen.sum(dtype=jnp.int32)

    def put(fill, values):
        return jnp.full(nse, fill, values.dtype).at[slot].set(values, mode="drop")

    starts = jnp.zeros(m + 1, jnp.int32).at[jnp.where(chosen, row + 1, m + 1)].add(1, mode="drop")
    indptr = jnp.minimum(jnp.cumsum(starts, dtype=jnp.int32), nse).astype(dtype)
    return put(n_cols, column), indptr, put(a_nse, of_a), put(b_nse, of_b), count


def _csr_merge_abstract(a_indices, a_indptr, b_indices, b_indptr, *, n_cols, nse, both):
    check_csr("csr_merge", a_indices, a_indptr)
    check_csr("csr_merge", b_indices, b_indptr)
    if a_indices.dtype != b_indices.dtype:
        raise TypeError(
            f"csr_merge: indices must be of one type, got {a_indices.dtype} and {b_indices.dtype}"
        )
    if a_indptr.shape != b_indptr.shape:
        raise ValueError(
            f"csr_merge: the matrices must have equally many rows, got indptr {a_indptr.shape} and "
            f"{b_indptr.shape}"
        )
    if not 0 <= n_cols <= jnp.iinfo(a_indices.dtype).max or not 0 <= nse < 2**31:
        raise ValueError(f"csr_merge: n_cols={n_cols} and nse={nse} must fit the indices")
    int32 = np.dtype(np.int32)
    return (
        like(a_indices, (nse,), a_indices.dtype),
        like(a_indices, a_indptr.shape, a_indices.dtype),
        like(a_indices, (nse,), int32),
        like(a_indices, (nse,), int32),
        like(a_indices, (), int32),
    )


csr_merge_p = define(
    "csr_merge",
    abstract=_csr_merge_abstract,
    xla=_csr_merge_xla,
    multiple_results=True,
    attributes=("n_cols", "both"),
)
batching.primitive_batchers[csr_merge_p] = one_by_one(csr_merge_p)
