"""Forms that many operators on sparse values share."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from rarefy._ops.gradient import cotangent_like
from rarefy._ops.places import is_real, put, rows_of, with_data
from rarefy._ops.storage import Value, count_stored, fit, is_traced, stype_of, to_dense
from rarefy.sparse import BCOO, BCSR
from rarefy.sparse._capacity import capacity, trim_csr
from rarefy.sparse._csr import canonical_csr, take_csr_rows, take_csr_rows_known


def densified(fn: Callable[[jax.Array], jax.Array], value: BCSR | BCOO) -> jax.Array:
    """`fn`, element by element, of the dense form of a value: `fn(0)` and what is stored over it."""
    background = fn(jnp.zeros((), value.data.dtype))
    results = fn(value.data)
    return put(jnp.full(value.shape, background, results.dtype), with_data(value, results))


def negated(value: Value) -> Any:
    return with_data(value, -value.data) if isinstance(value, BCSR | BCOO) else -value


def toward(want: str | None, value: Value, cotangent: Value) -> Value | None:
    """A cotangent that passes through unchanged, as its input wants it.

    Where a sparse cotangent is wanted of a sparse value and this one is dense, it is read in the
    places that the value stores.
    """
    if want is None:
        return None
    dense = not isinstance(cotangent, BCSR | BCOO)
    if dense and want != "default" and stype_of(value) == want:
        return cotangent_like(cotangent, value)
    return cotangent


def unbroadcast(cotangent: Value, shape: tuple[int, ...]) -> Value:
    """Sums a cotangent over the axes along which an array of `shape` was broadcast."""
    if cotangent.shape == shape:
        return cotangent
    dense = to_dense(cotangent)
    extra = dense.ndim - len(shape)
    axes = tuple(range(extra)) + tuple(
        extra + i for i, n in enumerate(shape) if n == 1 and dense.shape[extra + i] != 1
    )
    return dense.sum(axis=axes, keepdims=True, dtype=dense.dtype).reshape(shape)


def csr_of_columns(value: BCOO) -> BCSR:
    """The transpose of a row_sparse value, as csr: every row stores the columns that have a row.

    Args:
      value: row_sparse `(n, m)`, rows sorted and unique.

    Returns:
      csr `(m, n)`. Under a trace it has room for all slots of `value` in every row.
    """
    n, m = value.shape
    rows = rows_of(value)
    if is_traced(value):
        count, slots = (rows < n).sum().astype(rows.dtype), m * value.nse
    else:
        count = count_stored(value)
        slots = capacity(m * count)
    return _csr_of_columns(value.data, rows, count, n=n, slots=slots)


@partial(jax.jit, static_argnames=("n", "slots"))
def _csr_of_columns(data, rows, count, *, n, slots):
    m = data.shape[1]
    dtype = np.int64 if slots > np.iinfo(np.int32).max else rows.dtype
    place = lax.iota(dtype, slots)
    count = jnp.asarray(count).astype(dtype)
    safe = jnp.maximum(count, 1)
    row, column = place // safe, place % safe
    real = row < jnp.where(count > 0, m, 0)
    if data.size == 0:  # XLA gathers nothing from an axis without elements
        values, columns = jnp.zeros(slots, data.dtype), jnp.full(slots, n, dtype)
    else:
        values = data.at[column, row].get(mode="fill", fill_value=0)
        columns = rows.at[column].get(mode="fill", fill_value=n).astype(dtype)
    return BCSR._trusted(
        jnp.where(real, values, jnp.zeros((), data.dtype)),
        jnp.where(real, columns, jnp.asarray(n, dtype)),
        lax.iota(dtype, m + 1) * count,
        (m, n),
        indices_sorted=True,
        unique_indices=True,
    )


def csr_columns(value: BCSR, begin: int, count: int) -> BCSR:
    """The columns from `begin` on of a csr value, with as many slots as it has.

    Cost: O(nse).
    """
    data, indices, indptr = _csr_columns(
        value.data, value.indices, value.indptr, np.asarray(begin, value.indices.dtype), count=count
    )
    return BCSR._trusted(
        data,
        indices,
        indptr,
        (value.shape[0], count),
        indices_sorted=value.indices_sorted,
        unique_indices=value.unique_indices,
    )


def csr_strided(
    value: BCSR,
    starts: tuple[int, ...],
    sizes: tuple[int, ...],
    steps: tuple[int, ...],
    nse: int | None = None,
) -> BCSR:
    """The rows and columns `starts + i * steps` for `i < sizes` of a csr value without repeats.

    Args:
      nse: slots of the result; None: as many as the capacity ladder has for what it stores, or under
        a trace as many as `value` has.

    Cost: O(entries of the rows + sizes[0]).
    """
    ids = starts[0] + steps[0] * np.arange(sizes[0])
    known = nse is None and not is_traced(value)
    rows = take_csr_rows_known(value, ids) if known else take_csr_rows(value, ids, value.nse)
    if steps[1] == 1 and sizes[1] == value.shape[1]:
        return rows if nse is None else trim_csr(rows, nse)
    column = (rows.indices - starts[1]) // steps[1]
    inside = (column * steps[1] + starts[1] == rows.indices) & (column >= 0) & (column < sizes[1])
    inside &= is_real(rows)
    block = BCSR._trusted(
        jnp.where(inside, rows.data, jnp.zeros((), rows.dtype)),
        jnp.where(inside, column, jnp.asarray(sizes[1], column.dtype)),
        rows.indptr,
        (sizes[0], sizes[1]),
        indices_sorted=False,
        unique_indices=False,
    )
    return fit(canonical_csr(block)) if known else canonical_csr(block, nse=nse)


@partial(jax.jit, static_argnames="count")
def _csr_columns(data, indices, indptr, begin, *, count):
    (nse,) = data.shape
    kept = (indices >= begin) & (indices < begin + count)
    kept &= lax.iota(indptr.dtype, nse) < indptr[-1]
    before = jnp.concatenate([jnp.zeros(1, indptr.dtype), jnp.cumsum(kept, dtype=indptr.dtype)])
    place = jnp.where(kept, before[:-1], nse)
    columns = jnp.full(nse, count, indices.dtype).at[place].set(indices - begin, mode="drop")
    return jnp.zeros(nse, data.dtype).at[place].set(data, mode="drop"), columns, before[indptr]
