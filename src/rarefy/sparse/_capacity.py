"""The capacity ladder: how many slots a sparse value holds, so that few shapes are compiled."""

from functools import partial

import jax
import numpy as np

from rarefy.sparse._bcoo import BCOO
from rarefy.sparse._bcsr import BCSR
from rarefy.sparse._index import index_dtype_for, pad_leading, trim_leading
from rarefy.sparse._ladder import capacity as capacity


def host_csr(
    data, indices, indptr, shape: tuple[int, int], *, in_order=True, distinct=True, slots: int = 0
) -> BCSR:
    """A csr matrix of checked arrays on the host, padded up to the capacity ladder, still on the
    host: a compiled function takes it to the device faster than one array after another goes.

    Args:
      data: `(nnz,)`.
      indices: `(nnz,)`, integers in range.
      indptr: `(rows + 1,)`, or fewer rows than `shape` has: the missing ones are empty.
      shape: `(rows, columns)`.
      in_order: whether the columns of each row ascend.
      distinct: whether they are distinct.
      slots: the least capacity. With that of a full batch a shorter last one compiles nothing.

    Returns:
      BCSR of NumPy arrays: padding has column `shape[1]` and value zero.

    Cost: one copy.
    """
    rows, columns = (int(n) for n in shape)
    nse = len(data)
    slots = capacity(max(nse, slots))
    dtype = index_dtype_for(rows, columns, slots)
    values, places = np.zeros(slots, data.dtype), np.full(slots, columns, dtype)
    starts = np.full(rows + 1, indptr[-1], dtype)
    values[:nse], places[:nse], starts[: len(indptr)] = data, indices, indptr
    return BCSR._trusted(
        values,
        places,
        starts,
        (rows, columns),
        indices_sorted=in_order,
        unique_indices=distinct,
    )


def pad_csr(value: BCSR, nse: int) -> BCSR:
    """Gives a csr matrix room for `nse` entries; the new slots are padding.

    Args:
      value: BCSR of shape `(m, n)` without batch or dense dimensions.
      nse: the new number of slots, at least `value.nse`.

    Returns:
      BCSR of the same shape and order: padding has column `n` and value zero.

    Raises:
      ValueError: `nse < value.nse`.
    """
    _require_csr("pad_csr", value)
    if nse < value.nse:
        raise ValueError(f"pad_csr: nse {nse} is less than the {value.nse} slots there are")
    return BCSR._trusted(
        pad_leading(value.data, nse, 0),
        pad_leading(value.indices, nse, value.shape[1]),
        value.indptr,
        value.shape,
        indices_sorted=value.indices_sorted,
        unique_indices=value.unique_indices,
    )


def trim_csr(value: BCSR, nse: int) -> BCSR:
    """Keeps the first `nse` slots of a csr matrix, of which `indptr[-1]` must not need more.

    Args:
      value: BCSR of shape `(m, n)` without batch or dense dimensions.
      nse: the new number of slots, at most `value.nse`. That no element is lost is the caller's
        business: it depends on values, which may be traced.

    Raises:
      ValueError: `nse > value.nse`.
    """
    _require_csr("trim_csr", value)
    if nse > value.nse:
        raise ValueError(f"trim_csr: nse {nse} exceeds the {value.nse} slots there are")
    data, indices = _trimmed(value.data, value.indices, nse=nse)
    return BCSR._trusted(
        data,
        indices,
        value.indptr,
        value.shape,
        indices_sorted=value.indices_sorted,
        unique_indices=value.unique_indices,
    )


def pad_row_sparse(value: BCOO, nse: int) -> BCOO:
    """Gives a row_sparse value room for `nse` rows; the new slots are padding.

    Args:
      value: BCOO of shape `(n, *d)` with one sparse dimension, rows sorted and unique.
      nse: the new number of slots, at least `value.nse`.

    Returns:
      BCOO of the same shape and order: padding has row `n` and zero data.

    Raises:
      ValueError: `nse < value.nse`.
    """
    _require_row_sparse("pad_row_sparse", value)
    if nse < value.nse:
        raise ValueError(f"pad_row_sparse: nse {nse} is less than the {value.nse} slots there are")
    return BCOO._trusted(
        pad_leading(value.data, nse, 0),
        pad_leading(value.indices, nse, value.shape[0]),
        value.shape,
        indices_sorted=value.indices_sorted,
        unique_indices=value.unique_indices,
    )


def trim_row_sparse(value: BCOO, nse: int) -> BCOO:
    """Keeps the first `nse` slots of a row_sparse value; the rest must be padding.

    Args:
      value: BCOO of shape `(n, *d)` with one sparse dimension, rows sorted and unique.
      nse: the new number of slots, at most `value.nse`. That no row is lost is the caller's
        business.

    Raises:
      ValueError: `nse > value.nse`.
    """
    _require_row_sparse("trim_row_sparse", value)
    if nse > value.nse:
        raise ValueError(f"trim_row_sparse: nse {nse} exceeds the {value.nse} slots there are")
    data, indices = _trimmed(value.data, value.indices, nse=nse)
    return BCOO._trusted(
        data,
        indices,
        value.shape,
        indices_sorted=value.indices_sorted,
        unique_indices=value.unique_indices,
    )


def _trimmed(data, indices, *, nse: int):
    return (data, indices) if data.shape[0] == nse else _trim(data, indices, nse=nse)


@partial(jax.jit, static_argnames="nse", inline=True)
def _trim(data, indices, *, nse):
    return trim_leading(data, nse), trim_leading(indices, nse)


def _require_csr(name: str, value: BCSR) -> None:
    if not isinstance(value, BCSR) or value.n_batch or value.n_dense:
        raise TypeError(f"{name}: expected a BCSR without batch or dense dimensions, got {value!r}")


def _require_row_sparse(name: str, value: BCOO) -> None:
    if not isinstance(value, BCOO) or value.n_batch or value.n_sparse != 1:
        raise TypeError(f"{name}: expected a BCOO with one sparse dimension, got {value!r}")
