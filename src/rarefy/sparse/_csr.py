"""csr matrices: BCSR without batch or dense dimensions, and what a matrix library needs of them.

Every function here costs O(nse) and may be compiled: the slots of a result follow from shapes and
static arguments alone. Where a result is canonical its columns ascend in each row without repeats
and its padding comes last.
"""

import operator
from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from rarefy._primitives.csr_sum_rows import csr_sum_rows
from rarefy.sparse import _dot, _entries, _layout, _rows, _spdot
from rarefy.sparse._bcoo import BCOO
from rarefy.sparse._bcsr import BCSR
from rarefy.sparse._capacity import capacity, trim_csr
from rarefy.sparse._check import check_bcsr, is_concrete
from rarefy.sparse._index import as_kernel_index, index_dtype_for, row_of_entry
from rarefy.sparse._ladder import FEW_SLOTS


def is_csr(value: Any) -> bool:
    """Whether `value` is a BCSR without batch and dense dimensions."""
    return isinstance(value, BCSR) and value.n_batch == 0 and value.n_dense == 0


def nnz(value: BCSR | BCOO) -> int:
    """Counts the stored elements of a value, padding apart; waits for its indices.

    Raises:
      jax.errors.ConcretizationTypeError: the value is traced.
    """
    if isinstance(value, BCSR) and value.n_batch == 0:
        indices, indptr = np.asarray(value.indices), np.asarray(value.indptr)
        real = indices[: indptr[-1]] if indptr.size else indices[:0]
        return int(np.count_nonzero((real >= 0) & (real < value.shape[1])))
    bcoo = value.to_bcoo() if isinstance(value, BCSR) else value
    sizes = np.asarray(bcoo.shape[bcoo.n_batch : bcoo.n_batch + bcoo.n_sparse])
    indices = np.asarray(bcoo.indices)
    real = ((indices >= 0) & (indices < sizes)).all(axis=-1)
    return int(np.broadcast_to(real, (*bcoo.shape[: bcoo.n_batch], bcoo.nse)).sum())


def csr_dot(csr: BCSR, dense: Any) -> jax.Array:
    """Multiplies a csr matrix `(m, n)` by a dense `(n, *k)`, giving a dense `(m, *k)`."""
    dense = jnp.asarray(dense)
    _check_align("csr_dot", csr, dense, 1)
    return _dot.csr_dot(*csr._bufs, dense, shape=csr.shape)


def csr_t_dot(csr: BCSR, dense: Any) -> jax.Array:
    """Multiplies the transpose of a csr matrix `(m, n)` by a dense `(m, *k)`: dense `(n, *k)`."""
    dense = jnp.asarray(dense)
    _check_align("csr_t_dot", csr, dense, 0)
    return _dot.csr_t_dot(*csr._bufs, dense, shape=csr.shape)


def _check_align(name: str, csr: BCSR, dense: jax.Array, axis: int) -> None:
    if dense.ndim == 0 or dense.shape[0] != csr.shape[axis]:
        side = "columns" if axis else "rows"
        raise ValueError(
            f"{name}: csr {csr.shape} and dense {dense.shape} do not align; the {side} of csr "
            f"({csr.shape[axis]}) must equal the rows of dense"
        )


def csr_from_dense(dense: Any, capacity: int) -> BCSR:
    """Stores the non-zero cells of a dense matrix.

    Args:
      dense: `(m, n)`.
      capacity: slots of the result; cells beyond it are left out, so it must be at least the number
        of non-zero cells.

    Returns:
      Canonical csr.

    Cost: O(m * n).
    """
    dense = jnp.asarray(dense)
    dtype = index_dtype_for(*dense.shape, capacity)
    data, columns, indptr = _rows.fromdense(dense, nse=capacity, index_dtype=dtype)
    return BCSR._trusted(data, columns, indptr, dense.shape, True, True)


def csr_to_dense(csr: BCSR) -> jax.Array:
    """Makes the dense matrix `(m, n)`; repeats add up."""
    return csr.todense()


def canonical_csr(csr: BCSR, *, drop_zeros: bool = False, nse: int | None = None) -> BCSR:
    """Sorts the columns of each row, adds up repeats and moves padding to the end.

    Args:
      csr: any order, repeats and padding allowed.
      drop_zeros: whether to drop elements whose sum is zero.
      nse: slots of the result; None: as many as `csr` has. Must be enough.

    Returns:
      Canonical csr.
    """
    nse = csr.nse if nse is None else nse
    coordinates = _layout.csr_coordinates(csr.indices, csr.indptr, shape=csr.shape)
    data, columns, indptr = _merge(
        csr.data, coordinates, shape=csr.shape, nse=nse, drop_zeros=drop_zeros
    )
    return BCSR._trusted(data, columns, indptr, csr.shape, True, True)


def csr_add(
    a: BCSR, b: BCSR, *, minus: bool = False, drop_zeros: bool = False, nse: int | None = None
) -> BCSR:
    """Adds two csr matrices.

    Args:
      a, b: csr of one shape, any order, repeats and padding allowed.
      minus: whether to subtract instead.
      drop_zeros: whether to drop elements whose sum is zero, as MXNet and SciPy do.
      nse: slots of the result; None: `a.nse + b.nse`. Must be enough.

    Returns:
      Canonical csr with the elements of either.
    """
    _check_same_shape("csr_add", a, b)
    a, b = _in_order(a), _in_order(b)
    options = {"nse": nse, "minus": minus, "drop_zeros": drop_zeros}
    data, columns, indptr = _rows.add(a._bufs, b._bufs, shape=a.shape, **options)
    return BCSR._trusted(data, columns, indptr, a.shape, True, True)


def csr_combine(a: BCSR, b: BCSR, fn) -> tuple[BCSR, int]:
    """Combines two csr matrices whose numbers are known, and drops what is zero.

    Args:
      a, b: csr of one shape, any order, repeats and padding allowed.
      fn: of two arrays, element by element; 0 of two zeros. A function of a module: what is compiled
        is kept by it.

    Returns:
      Canonical csr of `a.nse + b.nse` slots, and how many elements it stores. Waits for them.
    """
    _check_same_shape("csr_combine", a, b)
    a, b = _in_order(a), _in_order(b)
    data, columns, indptr, facts = _rows.combine(a._bufs, b._bufs, fn, shape=a.shape)
    count, zero = (int(f) for f in np.asarray(facts))
    if zero:
        data, columns, indptr = _rows.without_zeros(data, columns, indptr, n_columns=a.shape[1])
        count = int(np.asarray(indptr)[-1])
    return BCSR._trusted(data, columns, indptr, a.shape, True, True), count


@partial(jax.jit, static_argnames=("shape", "nse", "drop_zeros"), inline=True)
def _merge(data, coordinates, *, shape, nse, drop_zeros):
    data, coordinates, _ = _entries.sum_duplicates(
        data, coordinates, shape=shape, nse=nse, remove_zeros=False
    )
    if drop_zeros:
        data, coordinates = _compact(data, coordinates, data != 0, shape=shape, nse=nse)
    columns, indptr = _rows.compress(coordinates, shape=shape)
    return data, columns, indptr


def _compact(data, coordinates, keep, *, shape, nse: int):
    """Moves the kept entries to the front in their order; the rest is padding."""
    slot = jnp.where(keep, jnp.cumsum(keep, dtype=jnp.int32) - 1, nse)
    limit = np.asarray(shape, coordinates.dtype)
    out = jnp.broadcast_to(limit, (nse, 2)).at[slot].set(coordinates, mode="drop")
    return jnp.zeros(nse, data.dtype).at[slot].set(data, mode="drop"), out


def csr_multiply(a: BCSR, b: BCSR) -> BCSR:
    """Multiplies two csr matrices elementwise.

    Args:
      a, b: csr of one shape, any order, repeats and padding allowed.

    Returns:
      Canonical csr with the elements that both store, of `min(a.nse, b.nse)` slots.
    """
    _check_same_shape("csr_multiply", a, b)
    a, b = _in_order(a), _in_order(b)
    data, columns, indptr, _ = _rows.multiply(a._bufs, b._bufs, shape=a.shape)
    return BCSR._trusted(data, columns, indptr, a.shape, True, True)


def csr_multiply_known(a: BCSR, b: BCSR) -> BCSR:
    """`csr_multiply` of matrices whose numbers are known, in as many slots as the capacity ladder has
    for the elements, or, where that are few, as either matrix has."""
    if a.shape != b.shape:
        _check_same_shape("csr_multiply", a, b)
    a, b = _in_order(a), _in_order(b)
    most = min(a.nse, b.nse)
    # Matrices that have little to do with each other have few elements in common.
    nse = most if most <= FEW_SLOTS else capacity(most // 8)
    while True:
        data, columns, indptr, count = _rows.multiply(a._bufs, b._bufs, shape=a.shape, nse=nse)
        out = BCSR._trusted(data, columns, indptr, a.shape, True, True)
        if nse <= FEW_SLOTS and nse == most:
            return out
        needed = capacity(int(np.asarray(count)))
        if needed <= nse:
            return trim_csr(out, needed)
        nse = needed


def _in_order(csr: BCSR) -> BCSR:
    return csr if csr.indices_sorted and csr.unique_indices else canonical_csr(csr)


def _check_same_shape(name: str, a: BCSR, b: BCSR) -> None:
    for value in (a, b):
        if not is_csr(value):
            raise TypeError(f"{name}: expected csr matrices, got {value!r}")
    if a.shape != b.shape:
        raise ValueError(f"{name}: shapes differ: {a.shape} and {b.shape}")


def csr_matmul(a: BCSR, b: BCSR, *, nse: int, sizes: jax.Array | None = None) -> BCSR:
    """Multiplies two csr matrices `(m, k)` and `(k, n)`.

    Args:
      a, b: any order, repeats and padding allowed.
      nse: slots of the result, at least `csr_matmul_nnz(a, b)`; elements beyond are left out.
      sizes: `(m,)`, how many elements each row of the result has, where that is known.

    Returns:
      Canonical csr `(m, n)`.

    Cost: O(products of elements + nse).
    """
    shape = (a.shape[0], b.shape[1])
    places = a.indices, a.indptr, b.indices, b.indptr
    if _spdot.few_rows(a.shape, b.shape, a.nse + b.nse):
        out = _spdot.csr_spdot(a.data, b.data, *places, sizes, n_cols=shape[1], nse=nse)
        data, indices, indptr, _ = out
    else:
        product, (left, right) = _as_bcoo_product(a, b)
        sides = (a.data, left, b.data, right)
        data, coordinates = _spdot.spdot(*sides, product=product, nse=nse)
        indices, indptr = _rows.compress(coordinates, shape=shape)
    return BCSR._trusted(data, indices, indptr, shape, True, True)


def csr_matmul_nnz(a: BCSR, b: BCSR) -> int:
    """Counts the elements of the product of two csr matrices; waits for their indices."""
    return _matmul_sizes(a, b)[0]


def csr_matmul_known(a: BCSR, b: BCSR) -> BCSR:
    """`csr_matmul` of matrices whose indices are known, in as many slots as the capacity ladder has for
    the elements, or, where these are few, as the larger of the two has; waits for the indices."""
    guess = capacity(max(a.nse, b.nse))
    if guess <= FEW_SLOTS and _spdot.few_rows(a.shape, b.shape, a.nse + b.nse):
        # To count first takes longer than a product that now and then turns out too large.
        places = a.indices, a.indptr, b.indices, b.indptr
        out = _spdot.csr_spdot(a.data, b.data, *places, n_cols=b.shape[1], nse=guess)
        data, indices, indptr, count = out
        if int(np.asarray(count)) <= guess:
            return BCSR._trusted(data, indices, indptr, (a.shape[0], b.shape[1]), True, True)
    count, sizes = _matmul_sizes(a, b)
    return csr_matmul(a, b, nse=capacity(count), sizes=sizes)


def _matmul_sizes(a: BCSR, b: BCSR) -> tuple[int, jax.Array | None]:
    """The number of elements, and those of each row where a matrix is made by rows."""
    if _spdot.few_rows(a.shape, b.shape, a.nse + b.nse):
        places = a.indices, a.indptr, b.indices, b.indptr
        count, sizes = _spdot.csr_sizes(*places, n_cols=b.shape[1])
        return int(np.asarray(count)), sizes
    product, indices = _as_bcoo_product(a, b)
    return int(_spdot.count(*indices, product=product)), None


def _as_bcoo_product(a: BCSR, b: BCSR):
    indices = [_layout.csr_coordinates(v.indices, v.indptr, shape=v.shape) for v in (a, b)]
    numbers = (((1,), (0,)), ((), ()))
    sides = (a.shape, indices[0].shape, b.shape, indices[1].shape)
    return _spdot.plan(*sides, numbers), indices


def csr_sum(csr: BCSR, axis: int) -> jax.Array:
    """Sums a csr matrix `(m, n)` over `axis` 0 or 1, giving a dense `(n,)` or `(m,)`."""
    axis = operator.index(axis) % 2
    if axis == 1 and csr.dtype != bool:
        return _sum_rows(*csr._bufs, n_cols=csr.shape[1])
    ones = jnp.ones(csr.shape[axis], csr.dtype)
    return csr_dot(csr, ones) if axis == 1 else csr_t_dot(csr, ones)


@partial(jax.jit, static_argnames="n_cols", inline=True)
def _sum_rows(data, indices, indptr, *, n_cols):
    indices, indptr = as_kernel_index(indices, indptr)
    return csr_sum_rows(data, indices, indptr, n_cols=n_cols)


def rows_nnz(csr: BCSR, begin: int, end: int) -> int:
    """Counts the slots that rows `begin` to `end` occupy; waits for indptr."""
    indptr = np.asarray(csr.indptr)
    return int(indptr[end] - indptr[begin])


def slice_rows(csr: BCSR, begin: int, end: int, *, nse: int | None = None) -> BCSR:
    """Takes the rows from `begin` to `end`.

    Args:
      csr: `(m, n)`.
      begin, end: `0 <= begin <= end <= m`, Python integers.
      nse: slots of the result, at least `rows_nnz(csr, begin, end)`; None: as many as `csr` has.

    Returns:
      csr of shape `(end - begin, n)` with its entries in their order.

    Raises:
      ValueError: the bounds are out of range.

    Cost: O(nse + end - begin) for the `nse` of the result.
    """
    begin, end = operator.index(begin), operator.index(end)
    if not 0 <= begin <= end <= csr.shape[0]:
        raise ValueError(f"slice_rows: rows {begin} to {end} are not within 0 to {csr.shape[0]}")
    nse = csr.nse if nse is None else min(nse, csr.nse)
    shape = (end - begin, csr.shape[1])
    inside = is_concrete(csr.indptr) and int(np.asarray(csr.indptr)[begin]) + nse <= csr.nse
    data, indices, indptr = _rows.slice_rows(
        *csr._bufs,
        np.asarray(begin, csr.indptr.dtype),
        n_rows=shape[0],
        nse=nse,
        n_columns=shape[1],
        inside=inside,
    )
    return BCSR._trusted(data, indices, indptr, shape, csr.indices_sorted, csr.unique_indices)


def take_csr_rows(csr: BCSR, ids: Any, nse: int) -> BCSR:
    """Takes rows of a csr matrix by number.

    Args:
      csr: `(m, n)`.
      ids: `(k,)`, integer, within `[0, m)`; any order, repeats allowed. An id out of range gives an
        empty row.
      nse: slots of the result; entries beyond it are left out.

    Returns:
      csr of shape `(k, n)`.

    Cost: O(nse + k).
    """
    ids = jnp.asarray(ids)
    data, indices, indptr = _take_rows(*csr._bufs, ids, nse=nse, n_columns=csr.shape[1])
    shape = (ids.shape[0], csr.shape[1])
    return BCSR._trusted(data, indices, indptr, shape, csr.indices_sorted, csr.unique_indices)


@partial(jax.jit, static_argnames=("nse", "n_columns"), inline=True)
def _take_rows(data, indices, indptr, ids, *, nse, n_columns):
    indices, indptr, ids = as_kernel_index(indices, indptr, ids)
    m = indptr.shape[0] - 1
    if not (data.shape[0] and ids.shape[0]):  # XLA gathers nothing from an axis without elements
        columns = jnp.full(nse, n_columns, indices.dtype)
        return jnp.zeros(nse, data.dtype), columns, jnp.zeros(ids.shape[0] + 1, indptr.dtype)
    known = (ids >= 0) & (ids < m)
    starts = jnp.where(known, indptr.at[ids].get(mode="clip"), 0)
    ends = jnp.where(known, indptr.at[ids + 1].get(mode="clip"), 0)
    out_indptr = jnp.concatenate([jnp.zeros(1, indptr.dtype), jnp.cumsum(ends - starts)])
    out_indptr = jnp.minimum(out_indptr, nse).astype(indptr.dtype)
    row = row_of_entry(out_indptr, nse)
    slot = lax.iota(indptr.dtype, nse)
    source = slot + (starts - out_indptr[:-1]).at[row].get(mode="clip")
    source = jnp.where(slot < out_indptr[-1], source, data.shape[0])
    columns = indices.at[source].get(mode="fill", fill_value=n_columns)
    return data.at[source].get(mode="fill", fill_value=0), columns, out_indptr


def take_csr_rows_known(csr: BCSR, ids: np.ndarray) -> BCSR:
    """`take_csr_rows` of concrete ids within `[0, m)` from a concrete matrix, in as many slots as the
    capacity ladder has for what the rows store."""
    indptr = np.asarray(csr.indptr)
    starts, lengths = indptr[ids], indptr[ids + 1] - indptr[ids]
    ends = _starts_of(lengths)
    order = np.repeat(starts - ends[:-1], lengths) + np.arange(ends[-1], dtype=indptr.dtype)
    return _pick(csr, order, ends, (ids.shape[0], csr.shape[1]), 0)


def csr_block_known(csr: BCSR, rows: tuple[int, int], columns: tuple[int, int]) -> BCSR:
    """Takes the rows and columns from the first to before the second number of each pair.

    Args:
      csr: `(m, n)`, concrete; any order, repeats and padding allowed.

    Returns:
      csr in as many slots as the capacity ladder has for what the block stores.

    Cost: O(entries of the rows).
    """
    indptr = np.asarray(csr.indptr)[rows[0] : rows[1] + 1]
    within = np.asarray(csr.indices)[indptr[0] : indptr[-1]]
    order = np.flatnonzero((within >= columns[0]) & (within < columns[1])).astype(indptr.dtype)
    ends = np.searchsorted(order, indptr - indptr[0]).astype(indptr.dtype)
    shape = (rows[1] - rows[0], columns[1] - columns[0])
    return _pick(csr, order + indptr[0], ends, shape, columns[0])


def _starts_of(lengths: np.ndarray) -> np.ndarray:
    starts = np.zeros(lengths.size + 1, lengths.dtype)
    np.cumsum(lengths, out=starts[1:])
    return starts


def _pick(csr: BCSR, order: np.ndarray, indptr: np.ndarray, shape, first: int) -> BCSR:
    """The entries `order` of a csr matrix as one of `shape`, whose column 0 was `first`."""
    picked = np.full(capacity(order.size), csr.nse, order.dtype)
    picked[: order.size] = order
    offset = np.asarray(first, csr.indices.dtype)
    data, indices = _entries_at(csr.data, csr.indices, picked, offset, n_columns=shape[1])
    return BCSR._trusted(
        data, indices, jnp.asarray(indptr), shape, csr.indices_sorted, csr.unique_indices
    )


@partial(jax.jit, static_argnames="n_columns", inline=True)
def _entries_at(data, indices, order, offset, *, n_columns):
    if data.shape[0] == 0:  # XLA gathers nothing from an axis without elements
        return jnp.zeros(order.shape, data.dtype), jnp.full(order.shape, n_columns, indices.dtype)
    columns = indices.at[order].get(mode="fill", fill_value=0) - offset
    columns = jnp.where(order < data.shape[0], columns, jnp.asarray(n_columns, indices.dtype))
    return data.at[order].get(mode="fill", fill_value=0), columns


def concat_rows(values: Sequence[BCSR]) -> BCSR:
    """Puts csr matrices below one another.

    Args:
      values: csr matrices with equally many columns; at least one.

    Returns:
      csr with as many slots as all together, padding last.
    """
    if not values or any(not is_csr(v) for v in values):
        raise TypeError(f"concat_rows: expected csr matrices, got {list(values)!r}")
    n_columns = values[0].shape[1]
    if any(v.shape[1] != n_columns for v in values):
        raise ValueError(f"concat_rows: widths differ: {[v.shape for v in values]}")
    data, indices, indptr = _concat_rows([v._bufs for v in values], n_columns=n_columns)
    return BCSR._trusted(
        data,
        indices,
        indptr,
        (sum(v.shape[0] for v in values), n_columns),
        all(v.indices_sorted for v in values),
        all(v.unique_indices for v in values),
    )


@partial(jax.jit, static_argnames="n_columns", inline=True)
def _concat_rows(values, *, n_columns):
    dtype = jnp.result_type(*(data for data, _, _ in values))
    index = as_kernel_index(*(i for _, indices, indptr in values for i in (indices, indptr)))
    total = sum(data.shape[0] for data, _, _ in values)
    data = jnp.zeros(total, dtype)
    columns = jnp.full(total, n_columns, index[0].dtype)
    first = jnp.zeros((), index[0].dtype)
    indptr = [first[None]]
    # Each part is written over the padding of the one before it.
    for k, (part, _, _) in enumerate(values):
        part_indices, part_indptr = index[2 * k], index[2 * k + 1]
        real = lax.iota(part_indptr.dtype, part.shape[0]) < part_indptr[-1]
        part = jnp.where(real, part, 0).astype(dtype)
        data = lax.dynamic_update_slice_in_dim(data, part, first, 0)
        part_columns = jnp.where(real, part_indices, n_columns)
        columns = lax.dynamic_update_slice_in_dim(columns, part_columns, first, 0)
        indptr.append(part_indptr[1:] + first)
        first = first + part_indptr[-1]
    return data, columns, jnp.concatenate(indptr)


def check_csr(value: BCSR, full: bool = True) -> None:
    """Checks the buffers of a csr matrix; waits for their values.

    Args:
      value: BCSR without batch or dense dimensions.
      full: whether to check that columns ascend without repeats in each row, not only shapes,
        indptr and range.

    Raises:
      ValueError: names the first violation with its place.
    """
    if not is_csr(value):
        raise ValueError(f"check_csr: {value!r} is not a csr matrix")
    check_bcsr("check_csr", *value._bufs, value.shape)
    indptr, n = np.asarray(value.indptr), value.shape[1]
    columns = np.asarray(value.indices)[: indptr[-1]]
    bad = np.flatnonzero((columns < 0) | (columns >= n))
    if bad.size:
        i = int(bad[0])
        row = int(np.searchsorted(indptr, i, side="right")) - 1
        raise ValueError(
            f"check_csr: indices[{i}] (row {row}) is {columns[i]}, expected 0 to {n - 1}"
        )
    if not full or columns.size < 2:
        return
    begins = np.zeros(columns.size + 1, bool)
    begins[indptr] = True
    bad = np.flatnonzero((columns[1:] <= columns[:-1]) & ~begins[1:-1])
    if bad.size:
        i = int(bad[0])
        row = int(np.searchsorted(indptr, i, side="right")) - 1
        what = "repeats" if columns[i] == columns[i + 1] else "falls"
        raise ValueError(
            f"check_csr: columns of row {row} must ascend, but indices {what} at position {i + 1}: "
            f"{columns[i]}, {columns[i + 1]}; sum_duplicates() sorts and adds up"
        )
