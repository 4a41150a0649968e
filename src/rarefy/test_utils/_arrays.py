"""Random arrays, shapes and numbers for tests. All draw from NumPy's global generator."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rarefy.nd import NDArray, array
from rarefy.nd.sparse import CSRNDArray, RowSparseNDArray, csr_matrix, row_sparse_array
from rarefy.test_utils._tolerance import default_dtype


def rand_shape_2d(dim0=10, dim1=10, allow_zero_size=False) -> tuple[int, int]:
    """A random shape; each dimension from 1 (0 if allowed) to the one given."""
    return rand_shape((dim0, dim1), allow_zero_size)


def rand_shape_3d(dim0=10, dim1=10, dim2=10, allow_zero_size=False) -> tuple[int, int, int]:
    """A random shape; each dimension from 1 (0 if allowed) to the one given."""
    return rand_shape((dim0, dim1, dim2), allow_zero_size)


def rand_shape_nd(num_dim, dim=10, allow_zero_size=False) -> tuple[int, ...]:
    """A random shape of `num_dim` dimensions; each from 1 (0 if allowed) to `dim`."""
    return rand_shape((dim,) * num_dim, allow_zero_size)


def rand_shape(most: Sequence[int], allow_zero_size: bool) -> Any:
    """A random shape; each dimension from 1 (0 if allowed) to that of `most`."""
    low = 0 if allow_zero_size else 1
    return tuple(int(np.random.randint(low, dim + 1)) for dim in most)


def rand_coord_2d(x_low, x_high, y_low, y_high) -> tuple[int, int]:
    """A random place; the upper ends are excluded."""
    return int(np.random.randint(x_low, x_high)), int(np.random.randint(y_low, y_high))


def random_sample(population: Sequence, k: int) -> list:
    """`k` different elements in the order of `population`."""
    chosen = np.sort(np.random.permutation(len(population))[:k])
    return [population[int(i)] for i in chosen]


def random_arrays(*shapes) -> Any:
    """float32 NumPy arrays of standard normal numbers: one, or a list for several shapes."""
    arrays = [np.array(np.random.randn(*s), dtype=default_dtype()) for s in shapes]
    return arrays if len(arrays) > 1 else arrays[0]


def random_uniform_arrays(*shapes, low=0.0, high=1.0, dtype=None) -> list[np.ndarray]:
    """NumPy arrays of uniform numbers, a list of them."""
    dtype = dtype or default_dtype()
    return [np.random.uniform(low, high, size=s).astype(dtype) for s in shapes]


def _drawn(shape, data_init, dtype: np.dtype) -> np.ndarray:
    """Values to store: all `data_init`, or uniform in [0, 1); whole numbers from 1 to 9."""
    if data_init is not None:
        return np.full(shape, data_init, dtype)
    if dtype.kind in "iub":
        return np.random.randint(1, 10, shape).astype(dtype)
    return np.random.rand(*shape).astype(dtype)


_PLACES = 1 << 22  # what may be drawn from at once


def _checked_density(density: float | None) -> float:
    density = float(np.random.rand()) if density is None else density
    if not 0 <= density <= 1:
        raise ValueError(f"density has to be between 0 and 1; got {density}")
    return density


def _check_matrix(rows: int, columns: int) -> None:
    if rows <= 0 or columns <= 0:
        raise ValueError(
            f"num_rows or num_cols should be greater than 0; got {rows} rows, {columns} columns"
        )


def _get_uniform_dataset_csr(
    num_rows, num_cols, density=0.1, dtype=None, data_init=None, shuffle_csr_indices=False
) -> CSRNDArray:
    """A csr matrix that stores a share `density` of its places.

    With the same seed of NumPy it is that of MXNet, up to `_PLACES` places.
    """
    _check_matrix(num_rows, num_cols)
    dtype, density = np.dtype(dtype or default_dtype()), _checked_density(density)
    places = num_rows * num_cols
    if places <= _PLACES:
        # As scipy.sparse.rand of SciPy 1.10 draws them: columns first, numbers in that order.
        chosen = np.random.choice(places, round(density * places), replace=False)
        columns, rows = np.divmod(chosen, num_rows)
        order = np.lexsort((columns, rows))
        data, indices = _drawn(chosen.shape, data_init, dtype)[order], columns[order]
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=num_rows))])
    else:  # row by row, so that memory follows what is stored
        counts = np.random.binomial(num_cols, density, num_rows)
        stored = [np.sort(np.random.permutation(num_cols)[:count]) for count in counts]
        indices = np.concatenate([np.empty(0, np.int64), *stored])
        indptr = np.concatenate([[0], np.cumsum(counts)])
        data = _drawn(indices.shape, data_init, dtype)
    csr = csr_matrix((data, indices, indptr), shape=(num_rows, num_cols), dtype=dtype)
    return shuffle_csr_column_indices(csr) if shuffle_csr_indices else csr


def _get_powerlaw_dataset_csr(num_rows, num_cols, density=0.1, dtype=None) -> CSRNDArray:
    """A csr matrix whose rows store 2, 4, 8, ... elements at the left, until all are spent.

    Every row stores at least one element.

    Raises:
      ValueError: so many elements do not fit in that way.
    """
    _check_matrix(num_rows, num_cols)
    dtype = np.dtype(dtype or default_dtype())
    total = int(num_rows * num_cols * _checked_density(density))
    most = np.minimum(2.0 ** np.arange(1, num_rows + 1), num_cols).astype(np.int64)
    if total < 2 * num_rows or total > most.sum():
        raise ValueError(
            f"not supported for this density: {density} for this shape ({num_rows}, {num_cols}); "
            f"{total} elements must be at least {2 * num_rows} and at most {most.sum()}"
        )
    spent = np.minimum(np.cumsum(most - 1), total - num_rows)
    counts = 1 + np.diff(np.concatenate([[0], spent]))
    indptr = np.concatenate([[0], np.cumsum(counts)])
    indices = np.arange(total) - np.repeat(indptr[:-1], counts)
    data = _drawn(indices.shape, None, dtype)
    if dtype.kind == "f":
        data += np.finfo(dtype).tiny  # a stored element is no zero
    return csr_matrix((data, indices, indptr), shape=(num_rows, num_cols), dtype=dtype)


def shuffle_csr_column_indices(csr: CSRNDArray) -> CSRNDArray:
    """The same matrix with the elements of each row in random order."""
    data, indices, indptr = (x.asnumpy() for x in (csr.data, csr.indices, csr.indptr))
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    order = np.lexsort((np.random.rand(len(rows)), rows))
    return csr_matrix((data[order], indices[order], indptr), shape=csr.shape, dtype=csr.dtype)


def rand_sparse_ndarray(
    shape,
    stype,
    density=None,
    dtype=None,
    distribution=None,
    data_init=None,
    rsp_indices=None,
    modifier_func=None,
    shuffle_csr_indices=False,
    ctx=None,
) -> tuple[Any, tuple]:
    """A random sparse array.

    Args:
      shape: its shape.
      stype: 'csr' or 'row_sparse'.
      density: the probability that a place (a row) is stored; random by default.
      dtype: its dtype; float32 by default.
      distribution: 'uniform', or for csr also 'powerlaw': rows of 2, 4, 8, ... elements.
      data_init: the value of all that is stored; uniform in [0, 1) by default.
      rsp_indices: the rows that a row_sparse array stores.
      modifier_func: applied to each stored value of a row_sparse array.
      shuffle_csr_indices: whether the columns of a csr row stand in random order.
      ctx: where it lives.

    Returns:
      The array, and `(indptr, indices, data)` of a csr array as arrays or `(data, indices)` of a
      row_sparse one as NumPy's.

    Raises:
      ValueError: `density` is no probability, or does not go with the shape ('powerlaw').
      AssertionError: the storage type or the distribution is unknown.
    """
    distribution = "uniform" if distribution is None else distribution
    if stype == "row_sparse":
        if distribution != "uniform":
            raise AssertionError(f"Distribution {distribution} not supported for row_sparse")
        made = _rand_row_sparse(shape, density, dtype, data_init, rsp_indices, modifier_func)
        data, indices = made.data.asnumpy(), made.indices.asnumpy()
        parts = (data, indices)
    elif stype == "csr":
        if len(shape) != 2:
            raise AssertionError(f"a csr array has two dimensions; got shape {tuple(shape)}")
        density = _checked_density(density)
        if distribution == "uniform":
            made = _get_uniform_dataset_csr(
                shape[0], shape[1], density, dtype, data_init, shuffle_csr_indices
            )
        elif distribution == "powerlaw":
            made = _get_powerlaw_dataset_csr(shape[0], shape[1], density, dtype)
        else:
            raise AssertionError(f"Distribution not supported: {distribution}")
        parts = (made.indptr, made.indices, made.data)
    else:
        raise AssertionError(f"unknown storage type: {stype!r}; expected 'csr' or 'row_sparse'")
    return (made if ctx is None else made.as_in_context(ctx)), parts


def _rand_row_sparse(
    shape, density, dtype, data_init, rsp_indices, modifier_func
) -> RowSparseNDArray:
    dtype = np.dtype(dtype or default_dtype())
    if rsp_indices is None:
        rows = np.flatnonzero(np.random.rand(shape[0]) < _checked_density(density))
    else:
        rows = np.asarray(rsp_indices, np.int64)
    data = _drawn((len(rows), *shape[1:]), data_init, dtype)
    if modifier_func is not None:
        data = assign_each(data, modifier_func).astype(dtype)
    return row_sparse_array((data, rows), shape=shape, dtype=dtype)


def rand_ndarray(
    shape,
    stype="default",
    density=None,
    dtype=None,
    modifier_func=None,
    shuffle_csr_indices=False,
    distribution=None,
    ctx=None,
) -> NDArray:
    """A random array of any storage type: standard normal if dense, else `rand_sparse_ndarray`."""
    if stype == "default":
        return array(random_arrays(tuple(shape)), dtype=dtype or default_dtype(), ctx=ctx)
    return rand_sparse_ndarray(
        shape,
        stype,
        density=density,
        dtype=dtype,
        modifier_func=modifier_func,
        shuffle_csr_indices=shuffle_csr_indices,
        distribution=distribution,
        ctx=ctx,
    )[0]


def create_sparse_array(
    shape,
    stype,
    data_init=None,
    rsp_indices=None,
    dtype=None,
    modifier_func=None,
    density=0.5,
    shuffle_csr_indices=False,
) -> CSRNDArray | RowSparseNDArray:
    """A random sparse array; the rows `rsp_indices` of a row_sparse one are sorted first."""
    if rsp_indices is not None:
        rsp_indices = np.sort(np.asarray(rsp_indices))
    return rand_sparse_ndarray(
        shape,
        stype,
        density=density,
        dtype=dtype,
        data_init=data_init,
        rsp_indices=rsp_indices,
        modifier_func=modifier_func,
        shuffle_csr_indices=shuffle_csr_indices,
    )[0]


def create_sparse_array_zd(
    shape,
    stype,
    density,
    data_init=None,
    rsp_indices=None,
    dtype=None,
    modifier_func=None,
    shuffle_csr_indices=False,
) -> CSRNDArray | RowSparseNDArray:
    """`create_sparse_array` that may store nothing: a density of 0, or no rows."""
    return create_sparse_array(
        shape,
        stype,
        data_init,
        rsp_indices,
        dtype,
        modifier_func,
        density,
        shuffle_csr_indices,
    )


def assign_each(the_input: np.ndarray, function: Callable | None) -> Any:
    """A NumPy array with `function` applied to each element; without a function, a copy."""
    if function is None:
        return None if the_input is None else np.array(the_input)
    return np.vectorize(function, otypes=[the_input.dtype])(the_input)


def assign_each2(input1: np.ndarray, input2: np.ndarray, function: Callable | None) -> Any:
    """A NumPy array with `function` applied to each pair; without a function, a copy of `input1`."""
    if function is None:
        return None if input1 is None else np.array(input1)
    if input1.shape != input2.shape:
        raise AssertionError(f"shapes {input1.shape} and {input2.shape} differ")
    return np.vectorize(function, otypes=[input1.dtype])(input1, input2)


def create_2d_tensor(rows, columns, dtype=np.int64) -> NDArray:
    """A dense array each row of which holds its number."""
    return array(np.repeat(np.arange(rows), columns).reshape(rows, columns), dtype=dtype)


def create_vector(size, dtype=np.int64) -> NDArray:
    """0, 1, 2, ... as a dense array."""
    return array(np.arange(size), dtype=dtype)


def np_reduce(dat: np.ndarray, axis, keepdims: bool, numpy_reduce_func: Callable) -> np.ndarray:
    """Reduces with a NumPy function that takes one axis.

    Args:
      dat: the array.
      axis: an axis, several, or None for all.
      keepdims: whether the reduced axes stay with length 1.
      numpy_reduce_func: e.g. `numpy.sum`.
    """
    axes = range(dat.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    axes = sorted({a % dat.ndim for a in axes})
    result = dat
    for a in reversed(axes):
        result = numpy_reduce_func(result, axis=a)
    shape = [1 if a in axes else n for a, n in enumerate(dat.shape)]
    return np.reshape(result, shape) if keepdims else np.asarray(result)


def collapse_sum_like(a: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Sums a NumPy array over the axes in which `shape` was broadcast to it."""
    lead = a.ndim - len(shape)
    if lead < 0:
        raise AssertionError(f"shape {shape} does not broadcast to {a.shape}")
    axes = tuple(range(lead))
    for axis, (length, wanted) in enumerate(zip(a.shape[lead:], shape, strict=True), lead):
        if wanted not in (length, 1):
            raise AssertionError(f"shape {shape} does not broadcast to {a.shape}")
        axes += (axis,) * (wanted == 1 and length != 1)
    return a.sum(axis=axes).reshape(shape)
