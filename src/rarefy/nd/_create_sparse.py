"""Making sparse arrays: everything a user gives is checked here, once, on the host."""

import math
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from rarefy._ops.precision import wide
from rarefy._ops.storage import SType, empty_csr, empty_row_sparse
from rarefy._primitives.from_host import filled, from_host
from rarefy.base import ArgumentError, MXNetError
from rarefy.context import Context, current_context
from rarefy.nd._handle import Handle
from rarefy.nd._ndarray import NDArray
from rarefy.nd._sparse_array import BaseSparseNDArray, CSRNDArray, RowSparseNDArray
from rarefy.sparse import BCOO, BCSR
from rarefy.sparse._capacity import capacity, host_csr
from rarefy.sparse._index import index_dtype_for

WIDE_PADDING = 1 << 20
"""Bytes that the empty slots of a row_sparse array may take, whatever it stores."""


class ArrayFormatError(MXNetError, ValueError):
    """The parts that a sparse array is to be made of do not make one."""


def is_scipy(value: Any) -> bool:
    """Whether a value is a sparse matrix or array of SciPy; without importing it."""
    kind = type(value)
    return kind.__module__.startswith("scipy.sparse") and hasattr(value, "tocsr")


def csr_matrix(
    arg1: Any, shape: Any = None, ctx: Context | None = None, dtype: Any = None
) -> CSRNDArray:
    """Makes a csr matrix.

    | `arg1` | the matrix |
    |---|---|
    | `(data, indices, indptr)` | row i has `data[indptr[i]:indptr[i + 1]]` in columns `indices[...]` |
    | `(data, (row, col))` | coordinates in any order; repeated ones are added up |
    | `(rows, columns)` | nothing stored |
    | a csr array, a SciPy matrix or array | the same |
    | a dense array, a NumPy array, nested lists | its elements that are not zero |

    Args:
      arg1: see above. The columns of a row may stand in any order and repeat (repeats add up);
        `check_format` reports both. Those of a SciPy matrix are put in order and repeats added up.
      shape: `(rows, columns)`; found from the indices by default.
      ctx: where it lives; the current context by default.
      dtype: its dtype; by default that of an array given, float32 for lists (coordinates: NumPy's
        dtype for the list).

    Returns:
      A csr array. What is given is copied.

    Raises:
      ValueError: shapes do not agree, row pointers do not ascend, or an index is out of range.
      TypeError: `arg1` is none of the above.
    """
    if isinstance(arg1, tuple):
        return _csr_of_tuple(arg1, shape, ctx, dtype)
    if isinstance(arg1, RowSparseNDArray):
        raise ValueError("Unexpected input type: RowSparseNDArray; convert with tostype('default')")
    if isinstance(arg1, CSRNDArray):
        _require_shape(shape, arg1.shape)
        return array(arg1, ctx=ctx, dtype=dtype)
    if is_scipy(arg1):
        _require_shape(shape, arg1.shape)
        return _csr_of_scipy(arg1, ctx, dtype)
    dense = _dense_host(arg1, dtype)
    if dense.ndim != 2:
        raise ValueError(
            f"To convert to a CSR, the NDArray should be 2 Dimensional. Current shape is {dense.shape}"
        )
    _require_shape(shape, dense.shape)
    rows, columns = np.nonzero(dense)
    indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(dense, axis=1))])
    return _made(_csr(dense[rows, columns], columns, indptr, dense.shape, True, True), ctx)


def _csr_of_tuple(parts: tuple, shape: Any, ctx: Context | None, dtype: Any) -> CSRNDArray:
    if len(parts) == 3:
        data, indices, indptr = parts
        return _csr_of_parts(data, indices, indptr, shape, ctx, dtype)
    if len(parts) != 2:
        raise ValueError(f"Unexpected length of input tuple: {len(parts)}; expected 2 or 3")
    if isinstance(parts[1], tuple | list) and len(parts[1]) == 2:
        data, (row, column) = parts
        return _csr_of_coordinates(data, row, column, shape, ctx, dtype)
    try:
        sizes = tuple(int(np.asarray(n).item()) for n in parts)
    except (TypeError, ValueError):
        raise TypeError(
            "csr_matrix takes (data, indices, indptr), (data, (row, col)) or (rows, columns); got a "
            f"pair of {type(parts[0]).__name__} and {type(parts[1]).__name__}"
        ) from None
    _require_shape(shape, sizes)
    return zeros("csr", sizes, ctx=ctx, dtype=dtype)


def _csr_of_parts(data, indices, indptr, shape, ctx, dtype) -> CSRNDArray:
    values = _values(data, dtype)
    columns, starts = _integers("indices", indices), _integers("indptr", indptr)
    if not values.ndim == columns.ndim == starts.ndim == 1 or not starts.size:
        raise ArrayFormatError(
            "csr_matrix: data, indices and indptr must have one dimension and indptr an element; got "
            f"shapes {values.shape}, {columns.shape} and {starts.shape}"
        )
    if values.size != columns.size:
        raise ArrayFormatError(
            f"csr_matrix: {values.size} values but {columns.size} indices; there must be one for each"
        )
    if shape is None:
        if not columns.size:
            raise ArrayFormatError("csr_matrix: without any index, shape is needed")
        sizes = (starts.size - 1, int(columns.max()) + 1)
    else:
        sizes = _matrix_shape(shape)
    return csr_of_stored(values, columns, starts, sizes, ctx)


def csr_of_stored(values, columns, starts, shape, ctx: Context | None = None) -> CSRNDArray:
    """A csr array of host arrays, once they are checked; see `csr_on_host`."""
    value = _checked_csr(values, columns, starts, shape)
    with wide():
        return _made(jax.tree.map(_own, value), ctx)


def csr_on_host(values, columns, starts, shape) -> CSRNDArray:
    """A csr array of host arrays, once they are checked. Its buffers stay on the host until something
    is computed of it: a compiled call takes them to the device faster than they go one by one.

    Args:
      values: `(nnz,)`.
      columns: `(nnz,)`, int64.
      starts: `(rows + 1,)`, int64.
      shape: `(rows, columns)`.

    Raises:
      ArrayFormatError: they do not make a matrix.
    """
    value = _checked_csr(values, columns, starts, shape)
    for part in (value.data, value.indices, value.indptr):
        np.asarray(part).flags.writeable = False  # as those of JAX; the array itself, no copy
    return Handle._wrap(value)


def _checked_csr(values, columns, starts, shape) -> BCSR:
    _check_indptr(starts, shape[0], values.size)
    _check_range("csr_matrix: indices", columns, shape[1], "columns", starts)
    in_order, distinct = _order(columns, starts)
    return host_csr(values, columns, starts, shape, in_order=in_order, distinct=distinct)


def _check_indptr(starts: np.ndarray, rows: int, stored: int) -> None:
    if starts.size != rows + 1:
        raise ArrayFormatError(
            f"csr_matrix: indptr has {starts.size} elements; {rows} rows need {rows + 1}"
        )
    if starts[0] != 0:
        raise ArrayFormatError(f"csr_matrix: indptr must begin with 0; it begins with {starts[0]}")
    falls = np.flatnonzero(starts[1:] < starts[:-1])
    if falls.size:
        i = int(falls[0])
        raise ArrayFormatError(
            f"csr_matrix: indptr must not fall, but indptr[{i}] is {starts[i]} and indptr[{i + 1}] is "
            f"{starts[i + 1]}"
        )
    if starts[-1] != stored:
        raise ArrayFormatError(
            f"csr_matrix: indptr ends with {starts[-1]}, but there are {stored} indices"
        )


def _check_range(name: str, ids: np.ndarray, limit: int, of: str, starts=None) -> None:
    if not ids.size or (ids.min() >= 0 and ids.max() < limit):
        return
    first = int(np.argmax((ids < 0) | (ids >= limit)))
    place = ""
    if starts is not None:
        place = f" (row {int(np.searchsorted(starts, first, side='right')) - 1})"
    raise ArrayFormatError(
        f"{name}[{first}]{place} is {ids[first]}, outside the {limit} {of}; enlarge shape, or correct "
        "the index"
    )


def _order(columns: np.ndarray, starts: np.ndarray) -> tuple[bool, bool]:
    """Whether the columns of each row ascend, and whether they are distinct."""
    if columns.size < 2:
        return True, True
    within = np.ones(columns.size - 1, bool)
    within[starts[(starts > 0) & (starts < columns.size)] - 1] = False
    step = np.diff(columns)
    in_order = not (within & (step < 0)).any()
    if in_order:
        return True, not (within & (step == 0)).any()
    rows = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    order = np.lexsort((columns, rows))
    same = (np.diff(rows[order]) == 0) & (np.diff(columns[order]) == 0)
    return False, not same.any()


def _csr_of_coordinates(data, row, column, shape, ctx, dtype) -> CSRNDArray:
    values = np.asarray(_host(data))
    values = values if dtype is None else values.astype(np.dtype(dtype))
    rows, columns = _integers("row", row), _integers("col", column)
    if not values.ndim == rows.ndim == columns.ndim == 1 or not (
        values.size == rows.size == columns.size
    ):
        raise ArrayFormatError(
            "csr_matrix: data, row and col must be of one length; got shapes "
            f"{values.shape}, {rows.shape} and {columns.shape}"
        )
    if shape is None:
        if not rows.size:
            raise ArrayFormatError("csr_matrix: without any coordinate, shape is needed")
        sizes = (int(rows.max()) + 1, int(columns.max()) + 1)
    else:
        sizes = _matrix_shape(shape)
    _check_range("csr_matrix: row", rows, sizes[0], "rows")
    _check_range("csr_matrix: col", columns, sizes[1], "columns")
    order = np.lexsort((columns, rows))
    values, rows, columns = values[order], rows[order], columns[order]
    new = np.ones(rows.size, bool)
    new[1:] = (np.diff(rows) != 0) | (np.diff(columns) != 0)
    if rows.size and not new.all():
        values = np.add.reduceat(values, np.flatnonzero(new), dtype=values.dtype)
        rows, columns = rows[new], columns[new]
    indptr = np.searchsorted(rows, np.arange(sizes[0] + 1))
    return _made(_csr(values, columns, indptr, sizes, True, True), ctx)


def _csr_of_scipy(matrix: Any, ctx: Context | None, dtype: Any) -> CSRNDArray:
    matrix = matrix.tocsr()
    columns, starts = matrix.indices[: int(matrix.indptr[-1])], matrix.indptr
    _check_range("csr_matrix: indices", columns, matrix.shape[1], "columns", starts)
    if not all(_order(columns, starts)):  # in order, and repeats added up, as in MXNet
        matrix = matrix.copy()
        matrix.has_canonical_format = False
        matrix.sum_duplicates()
    n = int(matrix.indptr[-1])
    columns, starts = matrix.indices[:n], matrix.indptr
    values = matrix.data[:n] if dtype is None else matrix.data[:n].astype(np.dtype(dtype))
    return _made(_csr(values, columns, starts, matrix.shape, True, True), ctx)


def csr_of_checked(data, indices, indptr, shape: tuple[int, int], dtype: Any) -> CSRNDArray:
    """A csr array of NumPy arrays that are known to be right, columns ascending in each row."""
    data = data.astype(np.dtype(dtype), copy=False)
    return _made(_csr(data, indices, indptr, shape, True, True), None)


def row_sparse_array(
    arg1: Any, shape: Any = None, ctx: Context | None = None, dtype: Any = None
) -> RowSparseNDArray:
    """Makes a row_sparse array.

    | `arg1` | the array |
    |---|---|
    | `(data, indices)` | row `indices[i]` is `data[i]`; other rows are zero |
    | a shape, such as `(rows, columns)` | nothing stored |
    | a row_sparse array | the same |
    | a dense array, a NumPy array, nested lists | its rows that are not zero |

    Args:
      arg1: see above. Indices may stand in any order and repeat (repeats add up); `check_format`
        reports both.
      shape: the shape; found from data and indices by default.
      ctx: where it lives; the current context by default.
      dtype: its dtype; by default that of an array given, float32 for lists.

    Returns:
      A row_sparse array. What is given is copied.

    Raises:
      ValueError: shapes do not agree or an index is out of range.
      TypeError: `arg1` is none of the above.
    """
    if isinstance(arg1, tuple):
        if len(arg1) < 2:
            raise ValueError(f"Unexpected length of input tuple: {len(arg1)}")
        if all(isinstance(n, int | np.integer) for n in arg1):
            _require_shape(shape, arg1)
            return zeros("row_sparse", arg1, ctx=ctx, dtype=dtype)
        if len(arg1) == 2:
            return _row_sparse_of_parts(*arg1, shape, ctx, dtype)
        raise ValueError(f"Unexpected length of input tuple: {len(arg1)}; expected (data, indices)")
    if isinstance(arg1, CSRNDArray):
        raise ValueError("Unexpected input type: CSRNDArray; convert with tostype('default')")
    if isinstance(arg1, RowSparseNDArray):
        _require_shape(shape, arg1.shape)
        return array(arg1, ctx=ctx, dtype=dtype)
    dense = _dense_host(arg1, dtype)
    if dense.ndim == 0:
        raise ValueError("row_sparse needs at least one dimension; the array is a scalar")
    _require_shape(shape, dense.shape)
    rows = np.flatnonzero((dense != 0).any(axis=tuple(range(1, dense.ndim))))
    return _made(_row_sparse(dense[rows], rows, dense.shape, True, True), ctx)


def _row_sparse_of_parts(data, indices, shape, ctx, dtype) -> RowSparseNDArray:
    values, rows = _values(data, dtype), _integers("indices", indices)
    if rows.ndim != 1 or values.ndim < 1 or values.shape[0] != rows.size:
        raise ArrayFormatError(
            "row_sparse_array: indices must have one dimension and as many elements as data has rows; "
            f"got data {values.shape} and indices {rows.shape}"
        )
    if shape is None:
        if not rows.size:
            raise ArrayFormatError("row_sparse_array: without any index, shape is needed")
        sizes = (int(rows.max()) + 1, *values.shape[1:])
    else:
        sizes = tuple(int(n) for n in shape)
    if rows.size == 0 and values.shape[1:] != sizes[1:]:
        values = np.zeros((0, *sizes[1:]), values.dtype)
    if not sizes or values.shape[1:] != sizes[1:]:
        raise ArrayFormatError(
            f"row_sparse_array: rows of data have shape {values.shape[1:]}, those of shape {sizes} have "
            f"{sizes[1:]}"
        )
    return row_sparse_of_stored(values, rows, sizes, ctx)


def row_sparse_of_stored(values, rows, shape, ctx: Context | None = None) -> RowSparseNDArray:
    """A row_sparse array of host arrays, once the row numbers are checked.

    Args:
      values: `(k, *shape[1:])`.
      rows: `(k,)`, int64, in any order.
      shape: the shape.

    Raises:
      ArrayFormatError: a row number is out of range.
    """
    _check_range("row_sparse_array: indices", rows, shape[0], "rows")
    step = np.diff(rows)
    in_order = not (step < 0).any()
    distinct = not (step == 0).any() if in_order else np.unique(rows).size == rows.size
    return _made(_row_sparse(values, rows, shape, in_order, bool(distinct)), ctx)


def zeros(stype: SType, shape: Any, ctx: Context | None = None, dtype: Any = None, **kwargs) -> Any:
    """An array of zeros of a storage type; a sparse one stores nothing.

    Args:
      stype: 'default', 'csr' or 'row_sparse'.
      shape: the shape.
      ctx: where it lives; the current context by default.
      dtype: the dtype; float32 by default.
      **kwargs: `out` is not supported.

    Raises:
      ValueError: the storage type is unknown, or csr is asked for with other than two dimensions.
    """
    sizes = tuple(int(n) for n in ((shape,) if isinstance(shape, int) else shape))
    dtype = np.dtype(dtype or np.float32)
    with wide():
        if stype == "csr":
            return _made(empty_csr(_matrix_shape(sizes), dtype), ctx)
        if stype == "row_sparse":
            if not sizes or any(n < 0 for n in sizes):
                raise ValueError(f"row_sparse needs a shape with a dimension; got {sizes}")
            return _made(empty_row_sparse(sizes, dtype), ctx)
        if stype == "default":
            return _made(filled(sizes, 0, dtype), ctx)
    raise ValueError(f"unknown storage type {stype!r}; use 'default', 'csr' or 'row_sparse'")


def empty(stype: SType, shape: Any, ctx: Context | None = None, dtype: Any = None) -> Any:
    """An array of a storage type that stores nothing; see `zeros`."""
    return zeros(stype, shape, ctx=ctx, dtype=dtype)


def array(source_array: Any, ctx: Context | None = None, dtype: Any = None) -> Any:
    """Makes a sparse array of another sparse array or of a SciPy matrix; what it holds is copied.

    Args:
      source_array: a csr or row_sparse array, or a sparse matrix or array of SciPy (becomes csr).
      ctx: where it lives; the current context by default.
      dtype: its dtype; that of `source_array` by default.

    Raises:
      ValueError: it is something else.
    """
    if is_scipy(source_array):
        return _csr_of_scipy(source_array, ctx, dtype)
    if isinstance(source_array, BaseSparseNDArray):
        value: Any = source_array._value
        with wide():
            copied = jax.tree.map(lambda leaf: jnp.array(leaf, copy=True), value)
            if dtype is not None:
                copied = copied.astype(np.dtype(dtype))
        return _made(copied, ctx)
    if isinstance(source_array, NDArray):
        raise ArgumentError(
            "use tostype('csr') or tostype('row_sparse') to make a dense array sparse"
        )
    raise ValueError(
        f"Unexpected source_array type: {type(source_array)}; use nd.array for dense arrays, "
        "csr_matrix or row_sparse_array to make sparse ones"
    )


def _host(value: Any) -> Any:
    return value.asnumpy() if isinstance(value, NDArray) else value


def _values(data: Any, dtype: Any) -> np.ndarray:
    """Values as an array of the dtype asked for: an array's own, float32 for a list."""
    given = _host(data)
    if dtype is None:
        dtype = given.dtype if isinstance(given, np.ndarray | jax.Array) else np.float32
    try:
        return np.asarray(given, dtype=np.dtype(dtype))
    except (TypeError, ValueError) as error:
        raise TypeError(f"data must be numbers: {error}") from error


def _dense_host(source: Any, dtype: Any) -> np.ndarray:
    if isinstance(source, BaseSparseNDArray):
        raise ValueError(f"Unexpected input type: {type(source).__name__}")
    return _values(source, dtype)


def _integers(name: str, ids: Any) -> np.ndarray:
    """Indices as integers; floats are taken where they are whole numbers.

    Raises:
      TypeError: they are no whole numbers.
    """
    given = np.asarray(_host(ids))
    if given.size == 0:
        return given.astype(np.int64)
    if np.issubdtype(given.dtype, np.floating):
        whole = given.astype(np.int64)
        if not (whole == given).all():
            raise TypeError(f"{name} must be whole numbers; {given[whole != given][0]} is none")
        return whole
    if not np.issubdtype(given.dtype, np.integer):
        raise TypeError(f"{name} must be integers; got dtype {given.dtype}")
    if given.dtype == np.uint64 and given.max() > np.iinfo(np.int64).max:
        raise ArrayFormatError(f"{name} must fit in int64; got {given.max()}")
    return given.astype(np.int64, copy=False)


def _matrix_shape(shape: Any) -> tuple[int, int]:
    sizes = tuple(int(n) for n in ((shape,) if isinstance(shape, int) else shape))
    if len(sizes) != 2 or min(sizes) < 0:
        raise ValueError(f"invalid shape {sizes}: a csr matrix has two dimensions")
    return sizes[0], sizes[1]


def _require_shape(shape: Any, found: Any) -> None:
    if shape is not None and tuple(shape) != tuple(found):
        raise ValueError(f"shape is {tuple(shape)}, but the array has shape {tuple(found)}")


def _csr(values, columns, starts, shape, in_order: bool, distinct: bool) -> BCSR:
    """A csr value of checked host arrays, padded up to the capacity ladder."""
    value = host_csr(values, columns, starts, shape, in_order=in_order, distinct=distinct)
    with wide():
        return jax.tree.map(_own, value)


def _row_sparse(values, rows, shape, in_order: bool, distinct: bool) -> BCOO:
    """A row_sparse value of checked host arrays, padded up to the capacity ladder."""
    n = int(shape[0])
    slots = capacity(rows.size, max(n, rows.size))
    if (slots - rows.size) * math.prod(values.shape[1:]) * values.itemsize > max(
        values.nbytes, WIDE_PADDING
    ):
        slots = rows.size  # rows so wide that room for more of them would cost more than a compile
    dtype = index_dtype_for(n)
    data = np.zeros((slots, *values.shape[1:]), values.dtype)
    indices = np.full((slots, 1), n, dtype)
    data[: rows.size], indices[: rows.size, 0] = values, rows
    with wide():
        return BCOO._trusted(
            _own(data),
            _own(indices),
            tuple(int(k) for k in shape),
            indices_sorted=in_order,
            unique_indices=distinct,
        )


_own = partial(from_host, owned=True)


def _made(value: Any, ctx: Context | None) -> Any:
    handle = Handle._wrap(value)
    return handle.as_in_context(current_context() if ctx is None else ctx)
