"""row_sparse values: some rows of a tall array, stored whole.

A row_sparse value is a BCOO of shape `(n, *d)` with one sparse dimension, whose rows are sorted and
unique; padding has row `n` and zero data and comes last. The functions here keep that and may be
compiled: the slots of a result follow from shapes alone.
"""

import math
from functools import partial
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from rarefy._primitives.csr_t_dot_rows import csr_t_dot_rows
from rarefy._primitives.dense_places import dense_places
from rarefy._primitives.group_rows import group_rows
from rarefy._primitives.take_rows import take_rows
from rarefy.sparse import _dot
from rarefy.sparse._bcoo import BCOO
from rarefy.sparse._bcsr import BCSR
from rarefy.sparse._check import Shape, as_data, as_indices, as_shape, is_concrete
from rarefy.sparse._entries import form_for, sum_groups
from rarefy.sparse._index import as_kernel_index, index_dtype_for, pad_leading


def row_sparse(data: Any, rows: Any, shape: Any) -> BCOO:
    """Makes a row_sparse value of stored rows and their numbers.

    Args:
      data: `(cap, *d)`.
      rows: `(cap,)`, integer, ascending, unique; `n` is padding and comes last.
      shape: `(n, *d)`.

    Returns:
      BCOO of `shape`.

    Raises:
      TypeError: rows are not integers.
      ValueError: the shapes do not agree, or concrete rows are out of range, not ascending or
        repeated.
    """
    shape = as_shape("row_sparse", shape)
    if not shape:
        raise ValueError("row_sparse: shape must have at least one dimension")
    data, rows = as_data("row_sparse", data), as_indices("row_sparse", "rows", rows, shape[:1])
    if rows.ndim != 1 or data.shape != (rows.shape[0], *shape[1:]):
        raise ValueError(
            f"row_sparse: data must be (k, *d) and rows (k,) for shape (n, *d); got data "
            f"{data.shape}, rows {rows.shape} and shape {shape}"
        )
    if is_concrete(rows):
        _check_ascending("row_sparse", np.asarray(rows), shape[0])
    return _make(data, rows[:, None], shape)


def _make(data: jax.Array, indices: jax.Array, shape: Shape) -> BCOO:
    """`indices` is `(cap, 1)`: made in the program that finds the rows, it costs no call of its own."""
    return BCOO._trusted(data, indices, shape, True, True)


def _check_ascending(name: str, rows: np.ndarray, n_rows: int) -> None:
    bad = (rows[1:] <= rows[:-1]) & ~((rows[1:] == n_rows) & (rows[:-1] == n_rows))
    if bad.any():
        i = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"{name}: rows must ascend and not repeat, but rows[{i}] is {rows[i]} and "
            f"rows[{i + 1}] is {rows[i + 1]}; use merge_rows to sort them and add up repeats"
        )


def row_sparse_rows(value: BCOO) -> jax.Array:
    """Gives the row numbers of a row_sparse value: `(cap,)`, ascending, `n` for padding."""
    return value.indices[:, 0]


def is_row_sparse(value: Any) -> bool:
    """Whether `value` is laid out as row_sparse: one sparse dimension, sorted, unique, no batch."""
    return (
        isinstance(value, BCOO)
        and value.n_batch == 0
        and value.n_sparse == 1
        and value.indices_sorted
        and value.unique_indices
    )


def merge_rows(ids: Any, values: Any, n_rows: int, *, capacity: int | None = None) -> BCOO:
    """Adds up rows that belong to the same id.

    Args:
      ids: integers of any shape; an id outside `[0, n_rows)` is padding. Any order, repeats
        allowed.
      values: `(*ids.shape, *d)`: a row for each id.
      n_rows: the height of the result.
      capacity: slots of the result; None: `min(number of ids, n_rows)`, which always suffices.
        Where it is too small the largest ids are left out.

    Returns:
      row_sparse BCOO of shape `(n_rows, *d)`, dtype of `values`. 16-bit floats are summed in
      float32.

    Cost: O(number of ids * prod(d)).
    """
    ids, values = jnp.asarray(ids), jnp.asarray(values)
    if values.shape[: ids.ndim] != ids.shape:
        raise ValueError(
            f"merge_rows: values must be (*ids.shape, *d), got ids {ids.shape}, values "
            f"{values.shape}"
        )
    d = values.shape[ids.ndim :]
    if capacity is None:
        capacity = min(ids.size, n_rows)
    data, indices = _merge(
        ids.reshape(-1), values.reshape(ids.size, *d), n_rows=n_rows, capacity=capacity
    )
    return _make(data, indices, (n_rows, *d))


@partial(jax.jit, static_argnames=("n_rows", "capacity"), inline=True)
def _merge(ids, values, *, n_rows, capacity):
    (ids,) = _as_ids(ids, n_rows=n_rows)
    groups = group_rows(ids, n_rows=n_rows, capacity=capacity)
    return sum_groups(groups.order, groups.starts, values), groups.rows[:, None]


def _as_ids(*ids: jax.Array, n_rows: int) -> tuple[jax.Array, ...]:
    dtype = index_dtype_for(n_rows)
    return as_kernel_index(*(i.astype(np.promote_types(i.dtype, dtype)) for i in ids))


def add_row_sparse(a: BCOO, b: BCOO) -> BCOO:
    """Adds two row_sparse values.

    Args:
      a, b: row_sparse of one shape `(n, *d)`.

    Returns:
      row_sparse with the rows of either; it has `min(a.nse + b.nse, n)` slots. A row whose sum is
      zero stays.

    Cost: O((a.nse + b.nse) * prod(d)).
    """
    _check_pair("add_row_sparse", a, b)
    dtype = jnp.result_type(a.dtype, b.dtype)
    rows = jnp.concatenate([row_sparse_rows(a), row_sparse_rows(b)])
    values = jnp.concatenate([a.data.astype(dtype), b.data.astype(dtype)])
    n = a.shape[0]
    return merge_rows(rows, values, n, capacity=min(a.nse + b.nse, n))


def multiply_row_sparse(a: BCOO, b: BCOO) -> BCOO:
    """Multiplies two row_sparse values elementwise; as `combine_row_sparse`, which MXNet does too."""
    return combine_row_sparse(a, b, jnp.multiply)


def combine_row_sparse(a: BCOO, b: BCOO, fn) -> BCOO:
    """Combines two row_sparse values element by element.

    Args:
      a, b: row_sparse of one shape `(n, *d)`.
      fn: of two arrays; 0 of two zeros. A function of a module: what is compiled is kept by it.

    Returns:
      row_sparse with the rows of either, of `min(a.nse + b.nse, n)` slots.

    Cost: O((a.nse + b.nse) * (log(nse) + prod(d))).
    """
    _check_pair("combine_row_sparse", a, b)
    data, indices = _combine(
        a.data, row_sparse_rows(a), b.data, row_sparse_rows(b), fn, n_rows=a.shape[0]
    )
    return _make(data, indices, a.shape)


@partial(jax.jit, static_argnames=("fn", "n_rows"), inline=True)
def _combine(a, a_rows, b, b_rows, fn, *, n_rows):
    a_rows, b_rows = _as_ids(a_rows, b_rows, n_rows=n_rows)
    both = jnp.concatenate([a_rows, b_rows])
    rows = group_rows(both, n_rows=n_rows, capacity=min(both.shape[0], n_rows)).rows
    return fn(_lookup(a, a_rows, rows, n_rows), _lookup(b, b_rows, rows, n_rows)), rows[:, None]


def _lookup(data, rows, wanted, n_rows: int):
    """Finds the data of `wanted` rows, zero where absent or padding."""
    if rows.shape[0] == 0:
        return jnp.zeros((wanted.shape[0], *data.shape[1:]), data.dtype)
    return take_rows(data, stored_places(rows, wanted, n_rows), form=form_for(data.dtype))


def retain(value: BCOO, ids: Any) -> BCOO:
    """Takes the rows named by `ids`.

    Args:
      value: row_sparse of shape `(n, *d)`.
      ids: `(k,)`, integer; any order, repeats allowed. An id outside `[0, n)` is padding.

    Returns:
      row_sparse of the same shape with `k` slots: the distinct ids, ascending. Rows that `value`
      lacks are there and zero.

    Cost: O(k * (log(value.nse) + prod(d))).
    """
    ids = jnp.asarray(ids)
    if ids.ndim != 1:
        raise ValueError(f"retain: ids must be (k,), got shape {ids.shape}")
    data, indices = _retain(value.data, row_sparse_rows(value), ids, n_rows=value.shape[0])
    return _make(data, indices, value.shape)


def retain_known(value: BCOO, ids: np.ndarray, capacity: int) -> BCOO:
    """`retain` of concrete ids that ascend without repeats within `[0, n)`, in `capacity` slots."""
    n = value.shape[0]
    wanted = np.empty(capacity, index_dtype_for(n))
    wanted[: ids.shape[0]] = ids
    wanted[ids.shape[0] :] = n
    # A value that stores all its rows has row i in slot i.
    whole = value.nse == n and n > 0 and int(np.asarray(value.indices)[-1, 0]) == n - 1
    data, indices = _take_known(value.data, value.indices, wanted, n_rows=n, whole=whole)
    return _make(data, indices, value.shape)


@partial(jax.jit, static_argnames=("n_rows", "whole"), inline=True)
def _take_known(data, indices, wanted, *, n_rows, whole):
    if whole:
        return take_rows(data, wanted, form=form_for(data.dtype)), wanted[:, None]
    (rows, wanted) = _as_ids(indices[:, 0], wanted, n_rows=n_rows)
    return _lookup(data, rows, wanted, n_rows), wanted[:, None]


@partial(jax.jit, static_argnames="n_rows", inline=True)
def _retain(data, rows, ids, *, n_rows):
    rows, ids = _as_ids(rows, ids, n_rows=n_rows)
    wanted = group_rows(ids, n_rows=n_rows, capacity=ids.shape[0]).rows
    return _lookup(data, rows, wanted, n_rows), wanted[:, None]


@jax.jit
def occupied_rows(dense) -> tuple[jax.Array, jax.Array]:
    """Finds the rows of a dense array `(n, *d)` that are not all zero.

    Returns:
      `(n,)`, bool, and how many they are, int32.

    Cost: O(n * prod(d)).
    """
    occupied = _occupied(dense)
    return occupied, occupied.sum(dtype=jnp.int32)


def _occupied(dense):
    n = dense.shape[0]
    return (dense != 0).reshape(n, math.prod(dense.shape[1:])).any(axis=1)


def row_sparse_from_dense(dense: Any, capacity: int, occupied: Any = None) -> BCOO:
    """Stores the rows of a dense array that are not all zero.

    Args:
      dense: `(n, *d)`.
      capacity: slots of the result; rows beyond it are left out, so it must be at least the number
        of non-zero rows (`n` always suffices).
      occupied: `(n,)`, bool, which rows they are, where that is known.

    Returns:
      row_sparse BCOO of the same shape.

    Cost: O(n * prod(d)); O(n + capacity * prod(d)) where `occupied` is given.
    """
    data, indices = _from_dense(jnp.asarray(dense), occupied, capacity=capacity)
    return _make(data, indices, jnp.shape(dense))


@partial(jax.jit, static_argnames="capacity", inline=True)
def _from_dense(dense, occupied, *, capacity):
    dtype = index_dtype_for(dense.shape[0])
    occupied = _occupied(lax.stop_gradient(dense)) if occupied is None else occupied
    rows = dense_places(occupied[None], nse=capacity, index_dtype=dtype).indices
    return take_rows(dense, rows, form=form_for(dense.dtype)), rows[:, None]


def row_sparse_to_dense(value: BCOO) -> jax.Array:
    """Makes the dense array `(n, *d)`; absent rows are zero."""
    return value.todense()


def add_to_dense(dense: jax.Array, value: BCOO) -> jax.Array:
    """Adds the rows of a row_sparse value to a dense array of its shape."""
    if dense.shape != value.shape:
        raise ValueError(f"add_to_dense: shapes differ: dense {dense.shape}, value {value.shape}")
    return _add_to_dense(dense, value.data, row_sparse_rows(value))


@partial(jax.jit, inline=True)
def _add_to_dense(dense, data, rows):
    dtype = jnp.result_type(dense, data)
    return (
        dense.astype(dtype)
        .at[rows]
        .add(
            data.astype(dtype),
            mode="drop",
            indices_are_sorted=True,
            wrap_negative_indices=False,
        )
    )


def csr_transpose_dot(csr: BCSR, dense: Any, *, capacity: int | None = None) -> BCOO:
    """Multiplies the transpose of a csr matrix by a dense one; absent rows are never touched.

    Args:
      csr: `(m, n)`; any order, repeats and padding allowed.
      dense: `(m, *k)`.
      capacity: slots of the result; None: `min(csr.nse, n)`, which always suffices.

    Returns:
      row_sparse BCOO of shape `(n, *k)` that has a row for each column with a stored entry, also a
      stored zero.

    Cost: O(nse * prod(k)), whatever `n`.
    """
    dense = jnp.asarray(dense)
    if dense.ndim == 0 or dense.shape[0] != csr.shape[0]:
        raise ValueError(
            f"csr_transpose_dot: csr {csr.shape} and dense {dense.shape} do not align; dense must "
            f"have as many rows as csr"
        )
    n = csr.shape[1]
    capacity = min(csr.nse, n) if capacity is None else capacity
    data, indices = _transpose_dot(*csr._bufs, dense, n_rows=n, capacity=capacity)
    product = _make(data, indices, (n, *dense.shape[1:]))
    return remember_factors(product, csr, dense) if capacity >= min(csr.nse, n) else product


def remember_factors(product: BCOO, csr: BCSR, dense: jax.Array) -> BCOO:
    """Notes on a row_sparse value that it is `csr.T @ dense`, whole, where a program is traced."""
    if not is_concrete(product.data):
        product._factors = csr, dense
    return product


def factors_of(value: BCOO) -> tuple[BCSR, jax.Array] | None:
    """The csr and the dense value of which a value is `csr.T @ dense`, if that is known.

    It is until the value goes through a transformation of JAX or becomes another one. Who can do with
    the factors spares the program the product, as what nobody uses is not computed.
    """
    return value._factors


def kernel_indices(csr: BCSR) -> tuple[jax.Array, jax.Array]:
    """Indices and indptr of a csr value in one type that holds its columns and that kernels take."""
    return _kernel_indices(csr.indices, csr.indptr, csr.shape[1])


def _kernel_indices(indices, indptr, n_cols: int) -> tuple[jax.Array, jax.Array]:
    indices, indptr = as_kernel_index(indices, indptr)
    (indices,) = _as_ids(indices, n_rows=n_cols)
    return indices, indptr.astype(indices.dtype)


@partial(jax.jit, static_argnames=("n_rows", "capacity"), inline=True)
def _transpose_dot(data, indices, indptr, dense, *, n_rows, capacity):
    dtype = jnp.result_type(data, dense)
    indices, indptr = _kernel_indices(indices, indptr, n_rows)
    groups = group_rows(indices, indptr[-1], n_rows=n_rows, capacity=capacity)
    if not jnp.issubdtype(dtype, jnp.inexact):
        whole = _dot.csr_t_dot(
            data, groups.inverse, indptr, dense, shape=(dense.shape[0], capacity)
        )
        return whole, groups.rows[:, None]
    out = csr_t_dot_rows(
        data.astype(dtype),
        indptr,
        groups.order,
        groups.starts,
        dense.astype(dtype),
        form=form_for(dtype),
    )
    return out, groups.rows[:, None]


def csr_dot_row_sparse(csr: BCSR, value: BCOO) -> jax.Array:
    """Multiplies a csr matrix by a row_sparse one without making it dense.

    Args:
      csr: `(m, n)`.
      value: row_sparse of shape `(n, *k)`.

    Returns:
      Dense `(m, *k)`.

    Cost: O(nse * (log(value.nse) + prod(k))).
    """
    if csr.shape[1] != value.shape[0]:
        raise ValueError(
            f"csr_dot_row_sparse: csr {csr.shape} and value {value.shape} do not align"
        )
    return _dot_row_sparse(*csr._bufs, value.data, row_sparse_rows(value), shape=csr.shape)


@partial(jax.jit, static_argnames="shape", inline=True)
def _dot_row_sparse(data, indices, indptr, values, rows, *, shape):
    indices, indptr, rows = as_kernel_index(indices, indptr, rows)
    n_stored = rows.shape[0]
    if n_stored == 0:
        dtype = jnp.result_type(data, values)
        return jnp.zeros((shape[0], *values.shape[1:]), dtype)
    place = stored_places(rows, indices, shape[1])
    return _dot.csr_dot(data, place, indptr, values, shape=(shape[0], n_stored))


def stored_places(rows: jax.Array, ids: jax.Array, n: int) -> jax.Array:
    """Where the rows of some ids are stored.

    Args:
      rows: `(k,)`: the rows that are stored, sorted and distinct; n is padding.
      ids: integers; those outside `[0, n)` are stored nowhere.
      n: how many rows there are.

    Returns:
      The shape and dtype of `ids`: a position in `rows`, or k where the row is not stored.
    """

    def search(ids):
        place = jnp.searchsorted(rows, ids).astype(ids.dtype)
        found = (rows.at[place].get(mode="clip") == ids) & (ids >= 0) & (ids < n)
        return jnp.where(found, place, jnp.asarray(rows.shape[0], ids.dtype))

    if rows.shape[0] == 0:
        return jnp.zeros_like(ids)
    if rows.shape[0] < n:
        return search(ids)
    # As many places as rows: where the last one is no padding they are all rows, each in its place.
    full = rows[-1] == n - 1
    return jax.lax.cond(full, lambda ids: jnp.where((ids >= 0) & (ids < n), ids, n), search, ids)


def concat_row_sparse(values: list[BCOO]) -> BCOO:
    """Puts row_sparse values below one another; all must have the same row shape."""
    if not values:
        raise ValueError("concat_row_sparse: needs at least one value")
    tail = values[0].shape[1:]
    if any(v.shape[1:] != tail for v in values):
        raise ValueError(f"concat_row_sparse: row shapes differ: {[v.shape for v in values]}")
    n = sum(v.shape[0] for v in values)
    ids, first = [], 0
    for v in values:
        rows = row_sparse_rows(v).astype(index_dtype_for(n))
        ids.append(jnp.where(rows < v.shape[0], rows + first, n))
        first += v.shape[0]
    dtype = jnp.result_type(*(v.dtype for v in values))
    data = jnp.concatenate([v.data.astype(dtype) for v in values])
    return merge_rows(jnp.concatenate(ids), data, n)


def check_row_sparse(value: BCOO, full: bool = True) -> None:
    """Checks the buffers of a row_sparse value; waits for the values.

    Args:
      value: BCOO with one sparse dimension.
      full: whether to check order and uniqueness too, not only shapes and range.

    Raises:
      ValueError: names the first violation with its place.
    """
    if not isinstance(value, BCOO) or value.n_batch or value.n_sparse != 1:
        raise ValueError(f"check_row_sparse: {value!r} is not laid out as row_sparse")
    n, (cap, *tail) = value.shape[0], value.data.shape
    if (cap, 1) != value.indices.shape or tuple(tail) != value.shape[1:]:
        raise ValueError(
            f"check_row_sparse: data {value.data.shape}, indices {value.indices.shape} and shape "
            f"{value.shape} do not agree"
        )
    rows = np.asarray(value.indices)[:, 0]
    bad = np.flatnonzero((rows < 0) | (rows > n))
    if bad.size:
        i = int(bad[0])
        raise ValueError(f"check_row_sparse: indices[{i}] is {rows[i]}, expected 0 to {n - 1}")
    if full:
        _check_ascending("check_row_sparse", rows, n)


def _check_pair(name: str, a: BCOO, b: BCOO) -> None:
    for value in (a, b):
        if not is_row_sparse(value):
            raise TypeError(f"{name}: expected row_sparse values, got {value!r}")
    if a.shape != b.shape:
        raise ValueError(f"{name}: shapes differ: {a.shape} and {b.shape}")


def pad_rows(ids: jax.Array, n_rows: int, capacity: int) -> jax.Array:
    """Lengthens a list of row ids to `capacity` with padding `n_rows`."""
    return pad_leading(ids, capacity, n_rows)
