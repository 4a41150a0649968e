"""Where sparse values store their elements, and dense or sparse values read in these places."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from rarefy.sparse import BCOO, BCSR
from rarefy.sparse._csr import canonical_csr
from rarefy.sparse._index import row_of_entry as _row_of_entry


def row_of_entry(value: BCSR) -> jax.Array:
    """The row of each slot of a csr value, `(nse,)`; the number of rows for padding."""
    return _row_of_entry(value.indptr, value.nse)


def rows_of(value: BCOO) -> jax.Array:
    """The row ids of a row_sparse value, `(nse,)`; the number of rows for padding."""
    return value.indices[:, 0]


def is_real(value: BCSR | BCOO) -> jax.Array:
    """Which slots are no padding: `(nse,)` for csr, `(nse, 1, ...)` for row_sparse."""
    if isinstance(value, BCSR):
        return lax.iota(value.indptr.dtype, value.nse) < value.indptr[-1]
    real = rows_of(value) < value.shape[0]
    return real.reshape(-1, *(1,) * (value.data.ndim - 1))


def with_data(value: Any, data: jax.Array) -> Any:
    """The value with other stored numbers in the same places; a dense value becomes `data`."""
    if isinstance(value, BCSR):
        return BCSR._trusted(
            data,
            value.indices,
            value.indptr,
            value.shape,
            indices_sorted=value.indices_sorted,
            unique_indices=value.unique_indices,
        )
    if isinstance(value, BCOO):
        return BCOO._trusted(
            data,
            value.indices,
            value.shape,
            indices_sorted=value.indices_sorted,
            unique_indices=value.unique_indices,
        )
    return data


def with_stored(value: Any, data: jax.Array) -> Any:
    """`with_data` with zero in the padding slots."""
    if not isinstance(value, BCSR | BCOO):
        return data
    return with_data(value, jnp.where(is_real(value), data, jnp.zeros((), data.dtype)))


def sample(value: BCSR | BCOO, source: Any) -> jax.Array:
    """Reads a value in the places that another stores.

    Args:
      value: csr `(m, n)`, or row_sparse `(n, *d)`.
      source: dense, csr or row_sparse, of the shape of `value`. Of a dense one an axis may be 1 or
        missing in front, and stands for all.

    Returns:
      Of the shape of `value.data`, dtype of `source`; zero for padding and for what a sparse `source`
      does not store.

    Cost: O(nse), with a logarithmic factor where `source` is sparse.
    """
    if isinstance(source, BCSR | BCOO):
        if isinstance(value, BCSR) and isinstance(source, BCSR):
            return _csr_at(source, value)
        if isinstance(value, BCOO) and isinstance(source, BCOO):
            return rows_at(source, rows_of(value))
        source = source.todense()
    if source.size == 0:  # XLA gathers nothing from an axis without elements
        return jnp.zeros(value.data.shape, source.dtype)
    if source.ndim < len(value.shape):
        source = source.reshape(*(1,) * (len(value.shape) - source.ndim), *source.shape)
    if isinstance(value, BCSR):
        row = row_of_entry(value) if source.shape[0] != 1 else 0
        column = value.indices if source.shape[1] != 1 else 0
        found = source.at[row, column].get(mode="fill", fill_value=0)
    else:
        row = rows_of(value) if source.shape[0] != 1 else jnp.zeros(value.nse, jnp.int32)
        found = source.at[row].get(mode="fill", fill_value=0)
    found = jnp.broadcast_to(found, value.data.shape)
    return jnp.where(is_real(value), found, jnp.zeros((), source.dtype))


def _csr_at(source: BCSR, value: BCSR) -> jax.Array:
    """Elements of a csr value in the places of another: a search among its cells, in row order."""
    if source.indices is value.indices and source.indptr is value.indptr:
        return source.data
    if source.nse == 0:
        return jnp.zeros(value.nse, source.dtype)
    if not (source.indices_sorted and source.unique_indices):
        source = canonical_csr(source)
    wanted, cells = (_cells(v) for v in (value, source))
    at = jnp.searchsorted(cells, wanted)
    found = cells.at[at].get(mode="clip") == wanted
    data = source.data.at[at].get(mode="clip")
    return jnp.where(found & is_real(value), data, jnp.zeros((), data.dtype))


def _cells(value: BCSR) -> jax.Array:
    """The row-major numbers of the stored cells, ascending with padding last where sorted."""
    m, n = value.shape
    dtype = jnp.int32 if m * n + n < 2**31 else jnp.int64
    cell = row_of_entry(value).astype(dtype) * n + value.indices.astype(dtype)
    return jnp.where(is_real(value), cell, jnp.asarray(m * n, dtype))


def rows_at(source: Any, rows: jax.Array) -> jax.Array:
    """Rows of a dense or row_sparse value by number; zero where absent or out of range.

    Args:
      source: `(n, *d)`.
      rows: `(k,)`, integer, not negative.

    Returns:
      `(k, *d)`.
    """
    if not isinstance(source, BCOO):
        dense = source.todense() if isinstance(source, BCSR) else source
        if dense.shape[0] == 0:  # XLA gathers nothing from an axis without elements
            return jnp.zeros((*rows.shape, *dense.shape[1:]), dense.dtype)
        return dense.at[rows].get(mode="fill", fill_value=0)
    stored = rows_of(source)
    if stored is rows or source.nse == 0:
        return (
            source.data
            if stored is rows
            else jnp.zeros((*rows.shape, *source.shape[1:]), source.dtype)
        )
    place = jnp.searchsorted(stored, rows.astype(stored.dtype))
    found = (stored.at[place].get(mode="clip") == rows) & (rows < source.shape[0])
    data = source.data.at[place].get(mode="clip")
    found = found.reshape(-1, *(1,) * (data.ndim - 1))
    return jnp.where(found, data, jnp.zeros((), data.dtype))


def put(base: jax.Array, value: BCSR | BCOO) -> jax.Array:
    """A dense array with the stored elements (for row_sparse: rows) of a value set in it."""
    if isinstance(value, BCSR):
        return base.at[row_of_entry(value), value.indices].set(value.data, mode="drop")
    return base.at[rows_of(value)].set(value.data, mode="drop")


def add_to(base: jax.Array, value: BCSR | BCOO) -> jax.Array:
    """A dense array with the stored elements of a value added."""
    if isinstance(value, BCSR):
        return base.at[row_of_entry(value), value.indices].add(value.data, mode="drop")
    return base.at[rows_of(value)].add(value.data, mode="drop")
