"""Operators that rearrange elements."""

import math
from functools import partial
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from rarefy._ops.defs._numbers import require_same_dtype
from rarefy._ops.defs._sparse import csr_columns, csr_strided
from rarefy._ops.gradient import cotangent_like, pull_back
from rarefy._ops.opdef import operator
from rarefy._ops.places import is_real, rows_at, rows_of, with_stored
from rarefy._ops.storage import SType, fit, is_on_host, is_traced, to_dense
from rarefy.sparse import BCOO, BCSR
from rarefy.sparse._capacity import capacity
from rarefy.sparse._csr import (
    concat_rows,
    csr_add,
    csr_block_known,
    rows_nnz,
    slice_rows,
)
from rarefy.sparse._index import index_dtype_for
from rarefy.sparse._row_sparse import concat_row_sparse

Shape = tuple[int, ...]


def reshaped(shape: Shape, spec: Shape, reverse: bool = False) -> Shape:
    """The shape that MXNet's reshape codes stand for.

    Args:
      shape: the shape there is.
      spec: sizes, or codes: 0 keeps a size; -1 is what is left; -2 keeps all the rest; -3 joins two
        sizes; -4 splits one into the two that follow, one of which may be -1.
      reverse: whether the codes are matched from the right.

    Raises:
      ValueError: the codes do not fit the shape.
    """
    if reverse:
        return reshaped(shape[::-1], _reversed_spec(spec))[::-1]
    out: list[int] = []
    at, i = 0, 0
    try:
        while i < len(spec):
            code = spec[i]
            if code > 0 or code == -1:
                out.append(code)
                at += 1
            elif code == 0:
                out.append(shape[at])
                at += 1
            elif code == -2:
                out += shape[at:]
                at = len(shape)
            elif code == -3:
                out.append(shape[at] * shape[at + 1])
                at += 2
            elif code == -4:
                left, right = spec[i + 1], spec[i + 2]
                left = shape[at] // right if left == -1 else left
                right = shape[at] // left if right == -1 else right
                if left * right != shape[at]:
                    raise ValueError
                out += (left, right)
                at, i = at + 1, i + 2
            else:
                raise ValueError
            i += 1
        size, known = int(np.prod(shape, dtype=object)), 1
        for n in out:
            known *= n if n != -1 else 1
        if out.count(-1) > 1 or (out.count(-1) == 1 and (known == 0 or size % known)):
            raise ValueError
        out = [size // known if n == -1 else n for n in out]
        if int(np.prod(out, dtype=object)) != size:
            raise ValueError
    except (ValueError, IndexError, ZeroDivisionError):
        raise ValueError(f"shape {spec} does not fit an array of shape {shape}") from None
    return tuple(out)


def _reversed_spec(spec: Shape) -> Shape:
    """The codes in the order that fits a reversed shape; -4 keeps in front of its two sizes."""
    out: list[int] = []
    i = 0
    while i < len(spec):
        if spec[i] == -4:
            out = [-4, spec[i + 2], spec[i + 1], *out] if i + 2 < len(spec) else [-4, *out]
            i += 3
        else:
            out = [spec[i], *out]
            i += 1
    return tuple(out)


@operator("Reshape", aliases=("reshape",))
def reshape(data, *, shape: Shape = (), reverse: bool = False):
    """Gives an array another shape of as many elements.

    Args:
      data: any shape; sparse arrays go dense.
      shape: sizes or codes: 0 keeps a size; -1 is what is left; -2 keeps all the rest; -3 joins two
        sizes; -4 splits one into the two that follow, one of which may be -1.
      reverse: whether the codes are matched from the right.

    Returns:
      dtype of `data`, dense.

    Raises:
      MXNetError: the codes do not fit.
    """
    return data.reshape(reshaped(data.shape, shape, reverse))


@operator("Flatten", aliases=("flatten",))
def flatten(data):
    """Joins all axes but the first.

    Args:
      data: `(n, *d)`; sparse arrays go dense.

    Returns:
      `(n, prod(d))`, dense.
    """
    return flattened(data)


def flattened(data):
    """All axes but the first joined; `-1` would be ambiguous in an array without elements."""
    return data.reshape(data.shape[0], math.prod(data.shape[1:]))


@operator("reshape_like")
def reshape_like(
    lhs,
    rhs,
    *,
    lhs_begin: int | None = None,
    lhs_end: int | None = None,
    rhs_begin: int | None = None,
    rhs_end: int | None = None,
):
    """Gives an array the shape of another, or of some axes of it.

    Args:
      lhs: the array to reshape.
      rhs: the array whose shape is taken.
      lhs_begin, lhs_end: the axes of `lhs` that are replaced; all by default.
      rhs_begin, rhs_end: the axes of `rhs` that replace them; all by default.

    Returns:
      dtype of `lhs`, dense.
    """
    first, last = slice(lhs_begin, lhs_end).indices(lhs.ndim)[:2]
    shape = (*lhs.shape[:first], *rhs.shape[rhs_begin:rhs_end], *lhs.shape[last:])
    return lhs.reshape(shape)


@operator("_identity_with_attr_like_rhs", visible="internal")
def identity_with_attr_like_rhs(lhs, rhs):
    """An array as it is; in a graph it has the shape of the other one.

    Args:
      lhs: the array.
      rhs: the shape of `lhs`; its elements do not count.

    Returns:
      dtype of `lhs`, dense.
    """
    return lhs


@operator("transpose")
def transpose(data, *, axes: Shape = ()):
    """Permutes the axes.

    Args:
      data: any shape; sparse arrays go dense.
      axes: for each axis of the result the axis of `data`; reversed by default.

    Returns:
      dtype of `data`, dense.
    """
    return jnp.transpose(data, axes or None)


@transpose.rule("csr", out=lambda axes: "csr" if axes in ((), (1, 0), (-1, -2)) else None)
def _(data, *, axes):
    return data.T


@operator("expand_dims")
def expand_dims(data, *, axis: int):
    """Adds an axis of size 1.

    Args:
      data: any shape; sparse arrays go dense.
      axis: where the new axis stands in the result.

    Returns:
      dtype of `data`, dense.
    """
    return jnp.expand_dims(data, axis)


@operator("squeeze")
def squeeze(data, *, axis: int | Shape | None = None):
    """Removes axes of size 1.

    Args:
      data: any shape; sparse arrays go dense.
      axis: which; None for all.

    Returns:
      dtype of `data`, dense; at least one axis stays.
    """
    out = jnp.squeeze(data, axis)
    return out.reshape(1) if out.ndim == 0 else out


@operator("SwapAxis", aliases=("swapaxes",))
def swapaxes(data, *, dim1: int = 0, dim2: int = 0):
    """Exchanges two axes.

    Args:
      data: any shape; sparse arrays go dense.
      dim1, dim2: the axes.

    Returns:
      dtype of `data`, dense.
    """
    return jnp.swapaxes(data, dim1, dim2)


@operator("Concat", aliases=("concat",))
def concat(*data, dim: int = 1):
    """Joins arrays along an axis.

    Args:
      data: one or more arrays of one dtype whose shapes agree but for `dim`.
      dim: the axis.

    Returns:
      csr where all arrays are so; row_sparse where they are so and `dim` is 0; else dense.

    Raises:
      MXNetError: shapes or dtypes do not fit.
    """
    require_same_dtype(*data)
    return jnp.concatenate(data, axis=dim)


@concat.rule("csr", out=lambda dim: "csr" if -2 <= dim < 2 else None, eager=True)
def _(*data, dim):
    require_same_dtype(*data)
    return fit(_concat_csr(data, dim % 2))


@concat.rule("row_sparse", out=lambda dim: "row_sparse" if dim == 0 else None, eager=True)
def _(*data, dim):
    require_same_dtype(*data)
    return fit(concat_row_sparse(list(data)))


@concat.gradient("row_sparse")
def _(want, inputs, output, cotangent, *, dim):
    """Each array gets its rows of the cotangent."""
    ends = np.cumsum([v.shape[0] for v in inputs]).tolist()
    starts = [0, *ends[:-1]]
    return tuple(
        None if w is None else _rows_back(w, v, cotangent, first)
        for w, v, first in zip(want, inputs, starts, strict=True)
    )


def _rows_back(want, value: BCOO, cotangent, first: int):
    """The rows of a cotangent from `first` on, as an array that stood there wants them."""
    n = value.shape[0]
    if want == "default":
        return lax.slice_in_dim(to_dense(cotangent), first, first + n)
    rows = jnp.where(rows_of(value) < n, rows_of(value) + first, cotangent.shape[0])
    return with_stored(value, rows_at(cotangent, rows))


def _concat_csr(values, dim: int) -> BCSR:
    if dim == 0:
        return concat_rows(values)
    rows = values[0].shape[0]
    if any(v.shape[0] != rows for v in values):
        raise ValueError(f"arrays of shapes {[v.shape for v in values]} do not have one height")
    width = sum(v.shape[1] for v in values)
    total, first = _widened(values[0], 0, width), values[0].shape[1]
    for value in values[1:]:
        total = csr_add(total, _widened(value, first, width))
        first += value.shape[1]
    return total


def _widened(value: BCSR, first: int, width: int) -> BCSR:
    """A csr value among `width` columns, beginning with the column `first`."""
    dtype = index_dtype_for(width, value.nse)
    columns = jnp.where(is_real(value), value.indices.astype(dtype) + first, width).astype(dtype)
    return BCSR._trusted(
        value.data,
        columns,
        value.indptr.astype(dtype),
        (value.shape[0], width),
        indices_sorted=value.indices_sorted,
        unique_indices=value.unique_indices,
    )


@concat.gradient("csr")
def _(want, inputs, output, cotangent, *, dim):
    return pull_back(
        lambda *values: (_concat_csr(values, dim % 2),),
        inputs,
        (cotangent_like(cotangent, _concat_csr(inputs, dim % 2)),),
        want,
    )


@operator("stack")
def stack(*data, axis: int = 0):
    """Joins arrays along a new axis.

    Args:
      data: one or more arrays of one shape and dtype.
      axis: where the new axis stands in the result.

    Returns:
      Dense: matrices give an array of three dimensions, which csr is not. To put csr matrices one
      below the other use `concat`.

    Raises:
      MXNetError: shapes or dtypes differ.
    """
    require_same_dtype(*data)
    return jnp.stack(data, axis=axis)


@operator(
    "SliceChannel",
    aliases=("split",),
    results=lambda num_outputs, **_: num_outputs,
)
def split(data, *, num_outputs: int, axis: int = 1, squeeze_axis: bool = False):
    """Cuts an array into equal parts along an axis.

    Args:
      data: any shape; sparse arrays go dense.
      num_outputs: how many parts; they divide the axis.
      axis: the axis.
      squeeze_axis: whether an axis that has become 1 disappears.

    Returns:
      The parts, dense.

    Raises:
      MXNetError: the axis does not divide evenly.
    """
    if data.shape[axis] % num_outputs:
        raise ValueError(
            f"axis {axis} of size {data.shape[axis]} does not divide into {num_outputs} equal parts"
        )
    parts = jnp.split(data, num_outputs, axis)
    return tuple(jnp.squeeze(p, axis) if squeeze_axis else p for p in parts)


@operator("tile")
def tile(data, *, reps: int | Shape):
    """Repeats an array as a whole.

    Args:
      data: any shape; sparse arrays go dense.
      reps: how often along each axis.

    Returns:
      dtype of `data`, dense.
    """
    return jnp.tile(data, reps)


@operator("repeat")
def repeat(data, *, repeats: int, axis: int | None = None):
    """Repeats each element.

    Args:
      data: any shape; sparse arrays go dense.
      repeats: how often.
      axis: along which axis; None for the flat array.

    Returns:
      dtype of `data`, dense.
    """
    return jnp.repeat(data, repeats, axis)


@operator("Pad", aliases=("pad",))
def pad(
    data,
    *,
    mode: Literal["constant", "edge", "reflect"] = "constant",
    pad_width: Shape,
    constant_value: float = 0.0,
):
    """Adds elements around an array.

    Args:
      data: any shape; sparse arrays go dense.
      mode: 'constant', 'edge' (the outermost element) or 'reflect'.
      pad_width: for each axis how many before and how many after.
      constant_value: of mode 'constant'.

    Returns:
      dtype of `data`, dense.
    """
    if len(pad_width) != 2 * data.ndim:
        raise ValueError(f"pad_width must hold {2 * data.ndim} numbers; got {len(pad_width)}")
    widths = tuple(zip(pad_width[::2], pad_width[1::2], strict=True))
    if mode == "constant":
        return jnp.pad(data, widths, constant_values=jnp.asarray(constant_value, data.dtype))
    return jnp.pad(data, widths, mode=mode)


@operator("reverse", aliases=("flip",))
def flip(data, *, axis: int | Shape):
    """Reverses the order along axes.

    Args:
      data: any shape; sparse arrays go dense.
      axis: an axis or a tuple of axes.

    Returns:
      Shape and dtype of `data`, dense.
    """
    return jnp.flip(data, axis)


@operator("broadcast_to")
def broadcast_to(data, *, shape: Shape):
    """Repeats an array along its axes of size 1.

    Args:
      data: any shape; sparse arrays go dense.
      shape: the shape of the result; 0 keeps a size.

    Returns:
      `shape`, dense.
    """
    if len(shape) == data.ndim:
        shape = tuple(n or have for n, have in zip(shape, data.shape, strict=True))
    return jnp.broadcast_to(data, shape)


@operator("broadcast_axis", aliases=("broadcast_axes",))
def broadcast_axis(data, *, axis: int | Shape = (), size: int | Shape = ()):
    """Repeats an array along given axes of size 1.

    Args:
      data: any shape; sparse arrays go dense.
      axis: an axis or a tuple of axes, of size 1.
      size: their sizes in the result.

    Returns:
      dtype of `data`, dense.
    """
    axes = axis if isinstance(axis, tuple) else (axis,)
    sizes = size if isinstance(size, tuple) else (size,)
    shape = list(data.shape)
    for a, n in zip(axes, sizes, strict=True):
        if shape[a] != 1:
            raise ValueError(f"axis {a} has size {shape[a]}; only an axis of size 1 is repeated")
        shape[a] = n
    return jnp.broadcast_to(data, shape)


@operator("broadcast_like")
def broadcast_like(lhs, rhs, *, lhs_axes: Shape | None = None, rhs_axes: Shape | None = None):
    """Repeats an array to the shape of another.

    Args:
      lhs: the array to repeat.
      rhs: the array whose shape is taken.
      lhs_axes, rhs_axes: the axes concerned; all by default.

    Returns:
      dtype of `lhs`, dense.
    """
    if lhs_axes is None or rhs_axes is None:
        return jnp.broadcast_to(lhs, rhs.shape)
    shape = list(lhs.shape)
    for a, b in zip(lhs_axes, rhs_axes, strict=True):
        shape[a] = rhs.shape[b]
    return jnp.broadcast_to(lhs, shape)


@operator("shape_array", differentiable=False)
def shape_array(data):
    """The shape of an array, as an array.

    Args:
      data: any shape.

    Returns:
      `(ndim,)`, int64.
    """
    return jnp.asarray(data.shape, jnp.int64)


@operator("size_array", differentiable=False)
def size_array(data):
    """The number of elements of an array, as an array.

    Args:
      data: any shape.

    Returns:
      `(1,)`, int64.
    """
    return jnp.asarray([data.size], jnp.int64)


@operator("diag")
def diag(data, *, k: int = 0, axis1: int = 0, axis2: int = 1):
    """The diagonal of a matrix, or the diagonal matrix of a vector.

    Args:
      data: any shape; sparse arrays go dense.
      k: which diagonal; above the main one where positive.
      axis1, axis2: the axes of the matrix.

    Returns:
      dtype of `data`, dense.
    """
    return jnp.diag(data, k) if data.ndim == 1 else jnp.diagonal(data, k, axis1, axis2)


@partial(jax.jit, static_argnames=("sizes", "steps"))
def take_block(data, starts, *, sizes: Shape, steps: Shape):
    """The elements `starts + i * steps` for `i < sizes`; starts are operands, so that a window that
    moves compiles once."""
    spans = [(n - 1) * abs(s) + 1 if n else 0 for n, s in zip(sizes, steps, strict=True)]
    lows = [
        starts[i] - (n - 1) * abs(s) if s < 0 and n else starts[i]
        for i, (n, s) in enumerate(zip(sizes, steps, strict=True))
    ]
    block = lax.dynamic_slice(data, lows, spans)
    strides = [abs(s) for s in steps]
    if any(s != 1 for s in strides):
        block = lax.slice(block, (0,) * block.ndim, block.shape, strides)
    backwards = tuple(i for i, s in enumerate(steps) if s < 0)
    return lax.rev(block, backwards) if backwards else block


@partial(jax.jit, static_argnames=("shape", "steps"))
def _block_back(cotangent, starts, *, shape: Shape, steps: Shape):
    """The transpose of `take_block`."""
    like = jax.ShapeDtypeStruct(shape, cotangent.dtype)
    take = partial(take_block, starts=starts, sizes=cotangent.shape, steps=steps)
    (out,) = jax.linear_transpose(take, like)(cotangent)
    return out


def spans_of(shape: Shape, begin, end, step=()) -> tuple[Shape, Shape, Shape]:
    """Starts, sizes and steps of a basic slice over the first axes of an array.

    Raises:
      ValueError: there are more limits than axes, or a step is zero.
    """
    if not len(begin) == len(end) <= len(shape) or (step and len(step) != len(begin)):
        raise ValueError(
            f"begin {begin}, end {end} and step {step} must be of one length, at most {len(shape)}"
        )
    starts, sizes, steps = [], [], []
    for i, n in enumerate(shape):
        b, e = (begin[i], end[i]) if i < len(begin) else (None, None)
        s = (step[i] if i < len(step) else None) or 1
        where = range(*slice(b, e, s).indices(n))
        starts.append(where.start)
        sizes.append(len(where))
        steps.append(s)
    return tuple(starts), tuple(sizes), tuple(steps)


@operator("slice", aliases=("crop",), eager=True)
def slice_(data, *, begin: tuple, end: tuple, step: tuple = ()):
    """Takes a block of an array.

    Args:
      data: any shape; csr stays csr, and row_sparse stays so where only rows are cut.
      begin: for the first axes where the block begins; None for the start, negative from the end.
      end: where it ends.
      step: how far apart its elements lie; None for 1.

    Returns:
      dtype of `data`.

    Raises:
      MXNetError: there are more limits than axes.
    """
    starts, sizes, steps = spans_of(data.shape, begin, end, step)
    return take_block(data, np.asarray(starts, np.int64), sizes=sizes, steps=steps)


@slice_.gradient("default")
def _(want, inputs, output, cotangent, *, begin, end, step):
    (data,) = inputs
    starts, _, steps = spans_of(data.shape, begin, end, step)
    starts = np.asarray(starts, np.int64)
    return (_block_back(cotangent, starts, shape=data.shape, steps=steps),)


@slice_.rule("csr", out="csr", eager=True)
def _(data, *, begin, end, step):
    starts, sizes, steps = spans_of(data.shape, begin, end, step)
    if steps == (1, 1):
        return _csr_block(data, starts, sizes, None)
    return csr_strided(data, starts, sizes, steps)


def _csr_block(data, starts: Shape, sizes: Shape, nse: int | None):
    """Rows and columns of a csr value, in `nse` slots; None: in as many as the ladder says."""
    first, last = starts[0], starts[0] + sizes[0]
    if nse is None and sizes[1] != data.shape[1] and is_on_host(data):
        return csr_block_known(data, (first, last), (starts[1], starts[1] + sizes[1]))
    if nse is None:
        used = data.nse if is_traced(data) else rows_nnz(data, first, last)
        rows = slice_rows(data, first, last, nse=min(capacity(used), data.nse))
    else:
        rows = slice_rows(data, first, last, nse=min(nse, data.nse))
    if sizes[1] == data.shape[1]:
        return rows
    return csr_columns(rows, starts[1], sizes[1])


@slice_.gradient("csr")
def _(want, inputs, output, cotangent, *, begin, end, step):
    (data,) = inputs
    starts, sizes, steps = spans_of(data.shape, begin, end, step)

    def block(value):
        if steps == (1, 1):
            return (_csr_block(value, starts, sizes, output.nse),)
        return (csr_strided(value, starts, sizes, steps, output.nse),)

    return pull_back(block, inputs, (cotangent_like(cotangent, output),), want)


def _only_rows(begin, end, step) -> SType | None:
    steps = all(s in (None, 1) for s in step)
    return "row_sparse" if len(begin) == 1 and steps else None


@slice_.rule("row_sparse", out=_only_rows, eager=True)
def _(data, *, begin, end, step):
    starts, sizes, _ = spans_of(data.shape, begin, end, step)
    return fit(_row_range(data, np.int64(starts[0]), size=sizes[0]))


@partial(jax.jit, static_argnames="size")
def _row_range(data: BCOO, first, *, size: int) -> BCOO:
    """The rows from `first` on of a row_sparse value, in as many slots."""
    rows = rows_of(data)
    begin, end = (jnp.searchsorted(rows, at).astype(jnp.int32) for at in (first, first + size))
    slot = begin + lax.iota(jnp.int32, data.nse)
    real = slot < end
    found = jnp.where(real, rows.at[slot].get(mode="fill", fill_value=0) - first, size)
    kept = data.data.at[jnp.where(real, slot, data.nse)].get(mode="fill", fill_value=0)
    shape = (size, *data.shape[1:])
    return BCOO._trusted(kept, found.astype(rows.dtype)[:, None], shape, True, True)


@slice_.gradient("row_sparse")
def _(want, inputs, output, cotangent, *, begin, end, step):
    (data,) = inputs
    starts, sizes, _ = spans_of(data.shape, begin, end, step)
    if want[0] == "default":
        out = jnp.zeros(data.shape, data.dtype)
        return (lax.dynamic_update_slice_in_dim(out, to_dense(cotangent), starts[0], 0),)
    rows = rows_of(data)
    inside = (rows >= starts[0]) & (rows < starts[0] + sizes[0])
    return (with_stored(data, rows_at(cotangent, jnp.where(inside, rows - starts[0], sizes[0]))),)


def along_axis(shape: Shape, axis: int, begin: int, end: int | None) -> tuple[tuple, tuple]:
    """The limits of `slice` for one axis."""
    axis = axis + len(shape) if axis < 0 else axis
    if not 0 <= axis < len(shape):
        raise ValueError(f"axis {axis} is out of range for {len(shape)} dimensions")
    return (*(None,) * axis, begin), (*(None,) * axis, end)


@operator("slice_axis", eager=True)
def slice_axis(data, *, axis: int, begin: int, end: int | None):
    """Takes a block along one axis.

    Args:
      data: any shape; csr stays csr.
      axis: the axis.
      begin: where the block begins; negative from the end.
      end: where it ends; None for the end of the axis.

    Returns:
      dtype of `data`.

    Raises:
      MXNetError: the axis does not exist.
    """
    first, last = along_axis(data.shape, axis, begin, end)
    return slice_.fn(data, begin=first, end=last)


@slice_axis.rule("csr", out="csr", eager=True)
def _(data, *, axis, begin, end):
    first, last = along_axis(data.shape, axis, begin, end)
    starts, sizes, _ = spans_of(data.shape, first, last)
    return _csr_block(data, starts, sizes, None)


@slice_axis.gradient("csr")
def _(want, inputs, output, cotangent, *, axis, begin, end):
    first, last = along_axis(inputs[0].shape, axis, begin, end)
    back = slice_.gradients[("csr",)]
    return back(want, inputs, output, cotangent, begin=first, end=last, step=())


@slice_axis.gradient("default")
def _(want, inputs, output, cotangent, *, axis, begin, end):
    first, last = along_axis(inputs[0].shape, axis, begin, end)
    back = slice_.gradients[("default",)]
    return back(want, inputs, output, cotangent, begin=first, end=last, step=())


@operator("slice_like")
def slice_like(data, shape_like, *, axes: Shape = ()):
    """Cuts an array to the shape of another.

    Args:
      data: any shape; sparse arrays go dense.
      shape_like: the array whose shape is taken.
      axes: the axes that are cut; all by default.

    Returns:
      dtype of `data`, dense.
    """
    cut = [a + data.ndim if a < 0 else a for a in axes] or range(data.ndim)
    if any(not 0 <= a < min(data.ndim, shape_like.ndim) for a in axes and cut):
        raise ValueError(f"axes {axes} do not exist in {data.shape} and {shape_like.shape}")
    return data[tuple(slice(shape_like.shape[a] if a in cut else None) for a in range(data.ndim))]
