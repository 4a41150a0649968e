"""Operators that look elements up."""

from typing import Literal

import jax.numpy as jnp
import numpy as np

from rarefy._ops.defs._ids import as_ids, require_ids
from rarefy._ops.defs._numbers import require_same_dtype
from rarefy._ops.defs.nn import row_gradient
from rarefy._ops.gradient import cotangent_like, pull_back
from rarefy._ops.opdef import operator
from rarefy._ops.places import put, rows_at, sample, with_data
from rarefy._ops.storage import is_on_host, is_traced, to_dense
from rarefy.sparse import BCSR
from rarefy.sparse._capacity import capacity
from rarefy.sparse._csr import take_csr_rows, take_csr_rows_known

Mode = Literal["clip", "wrap", "raise"]
Shape = tuple[int, ...]


def _bounded(ids, n: int, mode: Mode):
    """Ids brought into `[0, n)`."""
    ids = as_ids(ids, n)
    return jnp.mod(ids, n) if mode == "wrap" else jnp.clip(ids, 0, n - 1)


def _check_take(values, params) -> None:
    from_ = values[0]
    if params["mode"] == "raise":
        axis = params["axis"]
        require_ids("indices", values[1], from_.shape[axis], f"elements of axis {axis}")


@operator("take", check=_check_take)
def take(a, indices, *, axis: int = 0, mode: Mode = "clip"):
    """Takes elements along an axis.

    Args:
      a: any shape with at least one axis.
      indices: any shape, any numeric dtype.
      axis: the axis.
      mode: what becomes of an index outside the axis: 'clip', 'wrap' or 'raise'.

    Returns:
      The axis replaced by the shape of `indices`; rows of a csr array taken by a vector of ids are
      csr, others dense. Where `a` wants a row_sparse gradient and the
      axis is 0, it gets one with the rows that were taken.

    Raises:
      MXNetError: with mode 'raise', an index is outside.
    """
    return jnp.take(a, _bounded(indices, a.shape[axis], mode), axis=axis)


@take.gradient("default", "default")
def _(want, inputs, output, cotangent, *, axis, mode):
    a, indices = inputs
    if want[0] is None:
        return None, None
    ids = _bounded(indices, a.shape[axis], mode)
    g = to_dense(cotangent)
    if want[0] == "row_sparse" and axis in (0, -a.ndim):
        return row_gradient(ids.reshape(-1), g.reshape(ids.size, *a.shape[1:]), a.shape[0]), None
    return *pull_back(lambda x: (jnp.take(x, ids, axis=axis),), (a,), (g,), ("default",)), None


def _taken_rows(axis, mode):
    return "csr" if axis in (0, -2) else None


def _slots_of_rows(a: BCSR, ids) -> int:
    """How many slots the rows `ids` need; under a trace as many as can be proved enough."""
    if is_traced(a) or is_traced(ids):
        return a.nse * ids.size
    lengths = np.diff(np.asarray(a.indptr))
    return capacity(int(lengths[np.asarray(ids)].sum()))


@take.rule("csr", "default", out=_taken_rows, eager=True)
def _(a, indices, *, axis, mode):
    ids = _bounded(indices, a.shape[0], mode)
    if ids.ndim != 1:
        raise ValueError(f"rows of a csr array are taken by a vector of ids; got {indices.shape}")
    if is_on_host(a) and is_on_host(ids):
        return take_csr_rows_known(a, np.asarray(ids))
    return take_csr_rows(a, ids, _slots_of_rows(a, ids))


@take.gradient("csr", "default")
def _(want, inputs, output, cotangent, *, axis, mode):
    a, indices = inputs
    ids = _bounded(indices, a.shape[0], mode)

    def rows(value, _):
        return (take_csr_rows(value, ids, output.nse),)

    return pull_back(rows, inputs, (cotangent_like(cotangent, output),), (want[0], None))


@take.rule("row_sparse", "default", out=lambda axis, mode: "default" if axis == 0 else None)
def _(a, indices, *, axis, mode):
    ids = _bounded(indices, a.shape[0], mode)
    return rows_at(a, ids.reshape(-1)).reshape(*ids.shape, *a.shape[1:])


@take.gradient("row_sparse", "default")
def _(want, inputs, output, cotangent, *, axis, mode):
    """The rows that were taken get their cotangents, also those that the table does not store."""
    a, indices = inputs
    if want[0] is None:
        return None, None
    ids = _bounded(indices, a.shape[0], mode).reshape(-1)
    g = to_dense(cotangent).reshape(ids.size, *a.shape[1:])
    rows = row_gradient(ids, g, a.shape[0])
    return (to_dense(rows) if want[0] == "default" else rows), None


@operator("batch_take")
def batch_take(a, indices):
    """Takes one element of each row.

    Args:
      a: `(n, m)`.
      indices: `(n,)`, integer: a column for each row.

    Returns:
      `(n,)`, dense.
    """
    return pick.fn(a, indices, axis=-1, keepdims=False, mode="clip")


@operator("pick", aliases=("choose_element_0index",))
def pick(
    data,
    index,
    *,
    axis: int | None = -1,
    keepdims: bool = False,
    mode: Literal["clip", "wrap"] = "clip",
):
    """Picks one element along an axis for every place of the others.

    Args:
      data: any shape; sparse arrays go dense.
      index: the shape of `data` without the axis (or with size 1 there), any numeric dtype.
      axis: the axis; None for the flat array.
      keepdims: whether the axis stays, with size 1.
      mode: what becomes of an index outside the axis: 'clip' or 'wrap'.

    Returns:
      dtype of `data`, dense.
    """
    if axis is None:
        data, axis = data.reshape(-1), 0
    n = data.shape[axis]
    ids = _bounded(index, n, mode)
    if ids.ndim == data.ndim - 1:
        ids = jnp.expand_dims(ids, axis)
    out = jnp.take_along_axis(data, ids, axis=axis)
    out = out if keepdims else jnp.squeeze(out, axis)
    return out.reshape(1) if out.ndim == 0 else out


@operator("one_hot", differentiable=False)
def one_hot(
    indices, *, depth: int, on_value: float = 1.0, off_value: float = 0.0, dtype: str = "float32"
):
    """Makes a row with a one in the named place for each index.

    Args:
      indices: any shape, any numeric dtype.
      depth: the length of a row.
      on_value: the number in the named place.
      off_value: the number elsewhere; everywhere for an index outside `[0, depth)`.
      dtype: dtype of the result.

    Returns:
      `(*indices.shape, depth)`, dense.
    """
    if depth < 0:
        raise ValueError(f"depth must not be negative; got {depth}")
    hit = indices.astype(jnp.int64)[..., None] == jnp.arange(depth, dtype=jnp.int64)
    return jnp.where(hit, jnp.asarray(on_value, dtype), jnp.asarray(off_value, dtype))


@operator("where")
def where(condition, x, y):
    """Chooses elements of one array or another.

    Args:
      condition: the shape of `x`, or `(n,)` to choose rows; not zero takes `x`.
      x: any shape.
      y: shape and dtype of `x`.

    Returns:
      Shape and dtype of `x`, dense.

    Raises:
      MXNetError: shapes or dtypes differ.
    """
    require_same_dtype(x, y)
    if x.shape != y.shape:
        raise ValueError(f"x {x.shape} and y {y.shape} must have one shape")
    if condition.shape != x.shape:
        if condition.ndim != 1 or condition.shape[0] != x.shape[0]:
            raise ValueError(f"condition {condition.shape} must have the shape of x, {x.shape}")
        condition = condition.reshape(-1, *(1,) * (x.ndim - 1))
    return jnp.where(condition != 0, x, y)


@where.rule("csr", "default", "default", out="default")
def _(condition, x, y):
    """Only the places that the condition stores can take `x`."""
    require_same_dtype(x, y)
    if not condition.shape == x.shape == y.shape:
        raise ValueError(
            f"condition {condition.shape}, x {x.shape} and y {y.shape} must have one shape"
        )
    chosen = jnp.where(condition.data != 0, sample(condition, x), sample(condition, y))
    return put(y, with_data(condition, chosen))


def _require_places(shape: Shape, indices) -> None:
    """Refuses known places outside an array; negative ones count from the end."""
    if is_traced(indices) or indices.ndim < 2:
        return
    for axis, (n, row) in enumerate(zip(shape, np.asarray(indices), strict=False)):
        whole = np.trunc(row)  # as when it becomes an integer
        outside = ~((whole >= -n) & (whole < n))
        if outside.any():
            bad = row[outside].reshape(-1)[0]
            raise IndexError(f"index {bad:g} is out of bounds for axis {axis} with size {n}")


def _check_gathered(values, params) -> None:
    _require_places(values[0].shape, values[1])


def _check_scattered(values, params) -> None:
    _require_places(params["shape"], values[-1])


@operator("gather_nd", check=_check_gathered)
def gather_nd(data, indices):
    """Takes elements at given places.

    Args:
      data: any shape; sparse arrays go dense.
      indices: `(m, *k)`, any numeric dtype: `indices[:, i]` names a place on the first m axes;
        negative numbers count from the end.

    Returns:
      `(*k, *data.shape[m:])`, dense.

    Raises:
      MXNetError, IndexError: a place is outside `data`.
    """
    if indices.ndim < 2:
        raise ValueError(f"indices must be (m, *k) with at least two axes; got {indices.shape}")
    places = (as_ids(indices[i], data.shape[i]) for i in range(indices.shape[0]))
    return data.at[tuple(places)].get(mode="clip")


@operator("scatter_nd", check=_check_scattered)
def scatter_nd(data, indices, *, shape: Shape):
    """Puts elements at given places of an array of zeros.

    Args:
      data: `(*k, *shape[m:])`.
      indices: `(m, *k)`, any numeric dtype: `indices[:, i]` names a place on the first m axes;
        negative numbers count from the end.
      shape: the shape of the result.

    Returns:
      `shape`, dense; of repeated places one wins.

    Raises:
      MXNetError, IndexError: a place is outside `shape` (in a compiled step, where places are not
        known, its element is left out).
    """
    places = tuple(as_ids(indices[i], shape[i]) for i in range(indices.shape[0]))
    return jnp.zeros(shape, data.dtype).at[places].set(data, mode="drop")


@operator("_scatter_set_nd", visible="internal", check=_check_scattered)
def scatter_set_nd(lhs, rhs, indices, *, shape: Shape):
    """Replaces elements at given places.

    Args:
      lhs: any shape.
      rhs: `(*k, *lhs.shape[m:])`, dtype of `lhs`.
      indices: `(m, *k)`, any numeric dtype: `indices[:, i]` names a place on the first m axes;
        negative numbers count from the end.
      shape: the shape of `lhs`.

    Returns:
      Shape and dtype of `lhs`, dense; of repeated places one wins.

    Raises:
      MXNetError, IndexError: a place is outside `lhs`.
    """
    require_same_dtype(lhs, rhs)
    places = tuple(as_ids(indices[i], lhs.shape[i]) for i in range(indices.shape[0]))
    return lhs.at[places].set(rhs, mode="drop")


@operator("_index", visible="internal")
def index(data, *arrays, spec: tuple):
    """Takes single elements, as NumPy's advanced indexing does.

    Args:
      data: any shape.
      arrays: integer arrays.
      spec: for each part of the key 'array', None, or ('slice', start, stop, step).

    Returns:
      dtype of `data`, dense.
    """
    places = iter(arrays)
    key = tuple(
        part if part is None else next(places) if part == "array" else slice(*part[1:])
        for part in spec
    )
    out = data[key]
    return out.reshape(1) if out.ndim == 0 else out
