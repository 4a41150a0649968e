"""Operators about places in arrays: their numbers, and what stands there."""

from typing import Any, Literal

import jax.numpy as jnp
import numpy as np

from rarefy._ops.defs._ids import as_ids, require_ids
from rarefy._ops.opdef import operator
from rarefy._ops.places import row_of_entry
from rarefy._ops.storage import is_traced
from rarefy.sparse import BCSR

Shape = tuple[int, ...]


def _strides(shape: Shape) -> list[int]:
    """How many cells one step along each axis is; the first size does not matter."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= n
    return strides[::-1]


@operator("_ravel_multi_index", aliases=("ravel_multi_index",), differentiable=False)
def ravel_multi_index(data, *, shape: Shape):
    """Numbers the cells of an array, row by row.

    Args:
      data: `(len(shape), *k)`: an index for each axis.
      shape: of the array; the first size may be -1.

    Returns:
      `(*k,)`, dtype of `data`.

    Raises:
      MXNetError: the first axis of `data` is not as long as `shape`.
    """
    if data.shape[0] != len(shape):
        raise ValueError(f"data has {data.shape[0]} rows, shape {shape} has {len(shape)} axes")
    steps = jnp.asarray(_strides(shape)).astype(data.dtype)
    return (data * steps.reshape(-1, *(1,) * (data.ndim - 1))).sum(0, dtype=data.dtype)


@operator("_unravel_index", aliases=("unravel_index",), differentiable=False)
def unravel_index(data, *, shape: Shape):
    """Finds the indices of numbered cells, the inverse of `ravel_multi_index`.

    Args:
      data: `(*k,)`: numbers of cells.
      shape: of the array; the first size may be -1.

    Returns:
      `(len(shape), *k)`, dtype of `data`.
    """
    left, parts = data.astype(jnp.int64), []
    for n, step in zip(shape, _strides(shape), strict=True):
        part = left // step
        parts.append(part % n if parts else part)
    return jnp.stack(parts).astype(data.dtype)


@operator("_contrib_index_array", visible="internal", differentiable=False)
def index_array(data, *, axes: Shape | None = None):
    """The indices of each element.

    Args:
      data: any shape.
      axes: the axes whose indices are wanted; None for all.

    Returns:
      `(*data.shape, len(axes))`, int64.
    """
    places = np.indices(data.shape, np.int64)
    chosen = range(data.ndim) if axes is None else axes
    return jnp.stack([jnp.asarray(places[a]) for a in chosen], axis=-1)


@operator("_contrib_arange_like", visible="internal", differentiable=False)
def arange_like(
    data,
    *,
    start: float = 0.0,
    step: float = 1.0,
    repeat: int = 1,
    ctx: str = "",
    axis: int | None = None,
):
    """Numbers at equal distances, as many as an array has elements or an axis is long.

    Args:
      data: any shape.
      start: the first number.
      step: their distance.
      repeat: how often each stands.
      ctx: accepted for MXNet's sake.
      axis: the axis; None for all elements.

    Returns:
      Shape of `data`, or `(data.shape[axis],)`; dtype of `data`.
    """
    count = data.size if axis is None else data.shape[axis]
    numbers = start + step * (np.arange(count) // repeat)
    out = jnp.asarray(numbers.astype(np.dtype(data.dtype)))
    return out.reshape(data.shape) if axis is None else out


def _check_index_copy(values, params) -> None:
    old, index, _ = values
    require_ids("index_vector", index, old.shape[0], "rows of old_tensor")


@operator("_contrib_index_copy", visible="internal", check=_check_index_copy)
def index_copy(old_tensor, index_vector, new_tensor):
    """Replaces rows.

    Args:
      old_tensor: `(n, *d)`.
      index_vector: `(k,)`, any numeric dtype: row numbers.
      new_tensor: `(k, *d)`, dtype of `old_tensor`.

    Returns:
      Shape and dtype of `old_tensor`, dense.

    Raises:
      MXNetError: shapes do not fit, or a row does not exist.
    """
    if new_tensor.shape != (*index_vector.shape, *old_tensor.shape[1:]) or index_vector.ndim != 1:
        raise ValueError(
            f"old_tensor {old_tensor.shape}, index_vector {index_vector.shape} and new_tensor "
            f"{new_tensor.shape} do not fit"
        )
    return old_tensor.at[as_ids(index_vector, old_tensor.shape[0])].set(new_tensor)


@operator("_contrib_boolean_mask", visible="internal", eager=True)
def boolean_mask(data, index, *, axis: int = 0):
    """Takes the rows whose mask is not zero.

    Args:
      data: `(n, *d)`; sparse arrays go dense.
      index: `(n,)`, any numeric dtype: the mask.
      axis: 0.

    Returns:
      `(k, *d)`, dense; k may be 0.

    Raises:
      MXNetError: shapes do not fit, or the axis is not 0.
      NotImplementedError: in a compiled step, where k is not known.
    """
    if axis != 0 or index.shape != data.shape[:1]:
        raise ValueError(f"index {index.shape} must mask the rows of data {data.shape}; axis is 0")
    return data[_chosen(index)]


def _chosen(index) -> np.ndarray:
    if is_traced(index):
        raise NotImplementedError(
            "boolean_mask has a result whose size depends on the mask, which is not known in a "
            "compiled step; use where() instead"
        )
    return np.flatnonzero(np.asarray(index))


@boolean_mask.gradient("default", "default")
def _(want, inputs, output, cotangent, *, axis):
    data, index = inputs
    return jnp.zeros_like(data).at[_chosen(index)].set(cotangent), jnp.zeros_like(index)


@operator("fill_element_0index", differentiable=False)
def fill_element_0index(lhs, mhs, rhs):
    """Replaces one element of each row.

    Args:
      lhs: `(n, m)`.
      mhs: `(n,)`: the new elements.
      rhs: `(n,)`: a column for each row.

    Returns:
      Shape and dtype of `lhs`, dense.
    """
    rows = jnp.arange(lhs.shape[0])
    return lhs.at[rows, as_ids(rhs, lhs.shape[1])].set(mhs.astype(lhs.dtype), mode="drop")


@operator("_contrib_edge_id", visible="internal", differentiable=False)
def edge_id(data, u, v):
    """Reads elements of a csr array: the numbers of the edges of a graph.

    Args:
      data: csr `(n, m)`.
      u: `(k,)`: rows.
      v: `(k,)`: columns.

    Returns:
      `(k,)`, dtype of `data`; -1 where nothing is stored.

    Raises:
      MXNetError: `data` is not csr.
    """
    raise TypeError("edge_id takes a csr array; convert with tostype('csr')")


@edge_id.rule("csr", "default", "default", out="default")
def _(data, u, v):
    if data.nse == 0:  # XLA gathers nothing from an axis without elements
        return jnp.full(u.shape, -1, data.dtype)
    n, m = data.shape
    rows, columns = row_of_entry(data).astype(jnp.int64), data.indices.astype(jnp.int64)
    cells, wanted = rows * m + columns, u.astype(jnp.int64) * m + v.astype(jnp.int64)
    cells = jnp.where(rows < n, cells, n * m)
    place = jnp.clip(jnp.searchsorted(cells, wanted), 0, data.nse - 1)
    found = (cells[place] == wanted) & (u >= 0) & (u < n) & (v >= 0) & (v < m)
    return jnp.where(found, data.data[place], jnp.asarray(-1).astype(data.dtype))


@operator("_contrib_getnnz", visible="internal", differentiable=False)
def getnnz(data, *, axis: Literal[0, 1] | None = None):
    """Counts the stored elements of a csr array.

    Args:
      data: csr `(n, m)`; stored zeros count.
      axis: None for the whole, 0 for each column, 1 for each row.

    Returns:
      `(1,)`, `(m,)` or `(n,)`, int64.

    Raises:
      MXNetError: `data` is not csr, or the axis is none of these.
    """
    raise TypeError("getnnz takes a csr array; convert with tostype('csr')")


@getnnz.rule("csr", out="default")
def _(data: BCSR, *, axis: Any):
    counts = jnp.diff(data.indptr).astype(jnp.int64)
    if axis is None:
        return data.indptr[-1:].astype(jnp.int64)
    if axis == 1:
        return counts
    if axis != 0:
        raise ValueError(f"axis must be None, 0 or 1; got {axis}")
    real = (row_of_entry(data) < data.shape[0]).astype(jnp.int64)
    return jnp.zeros(data.shape[1], jnp.int64).at[data.indices].add(real, mode="drop")
