"""Functions on BCOO under JAX's names that change its shape or take parts of it."""

import operator
from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from rarefy.sparse import _operators, _slicing, _structure, _window
from rarefy.sparse._bcoo import BCOO
from rarefy.sparse._bcoo_functions import expect_bcoo
from rarefy.sparse._slicing import Plan, Span

Shape = tuple[int, ...]


def bcoo_broadcast_in_dim(
    mat: BCOO, *, shape: Sequence[int], broadcast_dimensions: Sequence[int], sharding: Any = None
) -> BCOO:
    """`jax.lax.broadcast_in_dim` of a BCOO.

    New dimensions in front of the first sparse one are batch dimensions. Those between sparse ones,
    and behind them where there are no dense ones, are sparse; growing a sparse dimension repeats its
    entries.

    Raises:
      ValueError: the dimensions do not fit, or batch, sparse and dense ones would mix.
    """
    del sharding
    mat = expect_bcoo("bcoo_broadcast_in_dim", mat)
    shape = tuple(map(operator.index, shape))
    dims = tuple(map(operator.index, broadcast_dimensions))
    if len(dims) != mat.ndim:
        raise ValueError(
            f"mat.shape={mat.shape} and broadcast_dimensions={dims} must have the same length"
        )
    n_batch, n_stored = mat.n_batch, mat.n_batch + mat.n_sparse
    batch, sparse, dense = dims[:n_batch], dims[n_batch:n_stored], dims[n_stored:]
    if max(batch, default=0) > min(sparse, default=len(shape)):
        raise ValueError("Cannot mix batch and sparse dimensions during broadcast_in_dim")
    if max(sparse, default=0) > min(dense, default=len(shape)):
        raise ValueError("Cannot mix sparse and dense dimensions during broadcast_in_dim")
    _check(lax.broadcast_in_dim, mat, shape=shape, broadcast_dimensions=dims)
    data, indices = _structure.broadcast_in_dim(
        mat.data, mat.indices, shape=mat.shape, out=shape, dimensions=dims
    )
    return BCOO._trusted(data, indices, shape)


def _check(function: Any, mat: BCOO, *args: Any, **static: Any) -> Any:
    """Raises what a function of `jax.lax` raises for a dense array of that shape."""
    dense = jax.ShapeDtypeStruct(mat.shape, mat.dtype)
    return jax.eval_shape(lambda x, *a: function(x, *a, **static), dense, *args)


def bcoo_concatenate(operands: Sequence[BCOO], *, dimension: int) -> BCOO:
    """`jax.lax.concatenate` of BCOO, along any dimension.

    Arrays that differ in batch or dense dimensions are given as many as the one with fewest; an
    array of one row that was made by `x[None]` is made to fit the others.

    Raises:
      ValueError: an operand is no BCOO, or the layouts cannot be aligned.
    """
    dimension = operator.index(dimension)
    if not operands or not all(isinstance(op, BCOO) for op in operands):
        raise ValueError(
            f"bcoo_concatenate: expected operands to be a sequence of BCOO arrays. Got {operands}"
        )
    dense = [jax.ShapeDtypeStruct(op.shape, op.dtype) for op in operands]
    out = jax.eval_shape(partial(lax.concatenate, dimension=dimension), dense)
    if len({op.n_dense for op in operands}) > 1:
        raise ValueError("bcoo_concatenate requires inputs to have matching nse dimensions.")
    operands = _align_batches(list(operands))
    data, indices = _structure.concatenate(
        [op.data for op in operands],
        [op.indices for op in operands],
        shapes=tuple(op.shape for op in operands),
        dimension=dimension,
    )
    return BCOO._trusted(data, indices, out.shape)


def _align_batches(operands: list[BCOO]) -> list[BCOO]:
    counts = {op.n_batch for op in operands}
    if len(counts) == 1:
        return operands
    if max(counts) == 1:
        if all(op.shape[0] == 1 for op in operands if op.n_batch == 0):
            return [op.update_layout(n_batch=1) for op in operands]
        if all(op.shape[0] == 1 for op in operands if op.n_batch == 1):
            return [op.update_layout(n_batch=0) for op in operands]
    raise ValueError("bcoo_concatenate requires inputs to have matching batch dimensions.")


def bcoo_reshape(
    mat: BCOO,
    *,
    new_sizes: Sequence[int],
    dimensions: Sequence[int] | None = None,
    sharding: Any = None,
) -> BCOO:
    """`jax.lax.reshape` of a BCOO.

    Args:
      mat: any layout.
      new_sizes: the new shape, whose leading dimensions hold the batch cells and whose trailing
        ones the dense cells.
      dimensions: the order in which dimensions are read, a permutation within each kind.
      sharding: without effect.

    Raises:
      ValueError: cells of batch, sparse and dense dimensions would mix.
    """
    del sharding
    return _operators.reshape(expect_bcoo("bcoo_reshape", mat), new_sizes, dimensions)


def bcoo_rev(operand: BCOO, dimensions: Sequence[int]) -> BCOO:
    """`jax.lax.rev` of a BCOO: reverses dimensions."""
    operand = expect_bcoo("bcoo_rev", operand)
    dims = tuple(map(operator.index, dimensions))
    _check(lax.rev, operand, dimensions=dims)
    whole = [Span(0, 1, s) for s in operand.shape]
    parts = [Span(s.size - 1, -1, s.size) if d in dims else s for d, s in enumerate(whole)]
    data, indices = _slicing.take_parts(
        operand.data, operand.indices, shape=operand.shape, plan=Plan(tuple(parts), ())
    )
    return BCOO._trusted(data, indices, operand.shape)


def bcoo_squeeze(arr: BCOO, *, dimensions: Sequence[int]) -> BCOO:
    """`jax.lax.squeeze` of a BCOO: drops dimensions of size 1.

    Raises:
      ValueError: a dimension has another size, or is out of range.
    """
    arr = expect_bcoo("bcoo_squeeze", arr)
    dims = []
    for d in map(operator.index, dimensions):
        if not -arr.ndim <= d < arr.ndim:
            raise ValueError(f"axis {d} is out of bounds for array of dimension {arr.ndim}")
        dims.append(d % arr.ndim)
    if any(arr.shape[d] != 1 for d in dims):
        raise ValueError(
            f"cannot select an axis to squeeze out which has size not equal to one, got "
            f"shape={arr.shape} and dimensions={tuple(dims)}"
        )
    data, indices = _structure.squeeze(
        arr.data, arr.indices, shape=arr.shape, dimensions=tuple(sorted(set(dims)))
    )
    shape = tuple(s for d, s in enumerate(arr.shape) if d not in dims)
    return BCOO._trusted(data, indices, shape, arr.indices_sorted, arr.unique_indices)


def bcoo_slice(
    mat: BCOO,
    *,
    start_indices: Sequence[int],
    limit_indices: Sequence[int],
    strides: Sequence[int] | None = None,
) -> BCOO:
    """`jax.lax.slice` of a BCOO; there are fewer slots only where there are more than cells.

    Raises:
      TypeError: `mat` is no BCOO.
      ValueError: there is not an index for each dimension, or one is out of range.
    """
    mat = expect_bcoo("bcoo_slice", mat)
    starts, limits = (tuple(map(operator.index, i)) for i in (start_indices, limit_indices))
    steps = (1,) * mat.ndim if strides is None else tuple(map(operator.index, strides))
    if not len(starts) == len(limits) == len(steps) == mat.ndim:
        raise ValueError(
            f"bcoo_slice: indices must have size mat.ndim={mat.ndim}, got {starts}, {limits} and "
            f"{steps}"
        )
    if any(s <= 0 for s in steps):
        raise ValueError(f"strides must be a sequence of positive integers; got {steps}")
    if not all(0 <= a <= b <= s for a, b, s in zip(starts, limits, mat.shape, strict=True)):
        raise ValueError(
            f"bcoo_slice: invalid indices. Got start_indices={starts}, limit_indices={limits} and "
            f"shape={mat.shape}"
        )
    spans = zip(starts, limits, steps, strict=True)
    plan = Plan(tuple(Span(a, step, len(range(a, b, step))) for a, b, step in spans), ())
    data, indices, shape = _slicing.take(mat.data, mat.indices, shape=mat.shape, plan=plan)
    return BCOO._trusted(data, indices, shape)


def bcoo_dynamic_slice(mat: BCOO, start_indices: Sequence[Any], slice_sizes: Sequence[int]) -> BCOO:
    """`jax.lax.dynamic_slice` of a BCOO: a window of fixed size at a place that may be traced.

    Raises:
      TypeError: `mat` is no BCOO, or the indices do not fit it.
    """
    mat = expect_bcoo("bcoo_dynamic_slice", mat)
    sizes = tuple(map(operator.index, slice_sizes))
    starts = [jnp.asarray(i) for i in start_indices]
    _check(lambda x, *s: lax.dynamic_slice(x, s, sizes), mat, *starts)
    data, indices = _window.dynamic_slice(
        mat.data, mat.indices, starts, shape=mat.shape, sizes=sizes
    )
    return BCOO._trusted(data, indices, sizes)


def bcoo_gather(
    operand: BCOO,
    start_indices: Any,
    dimension_numbers: Any,
    slice_sizes: Sequence[int],
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: Any = None,
    fill_value: Any = None,
) -> BCOO:
    """`jax.lax.gather` of a BCOO.

    Args:
      operand: any layout.
      start_indices: integer, as `jax.lax.gather` takes them.
      dimension_numbers: `jax.lax.GatherDimensionNumbers`, without batching dimensions.
      slice_sizes: the size of each window.
      mode: what happens out of bounds: None or "promise_in_bounds", "clip" (windows are moved
        inside), or "fill" with zeros.
      fill_value: only None or zero.

    Returns:
      BCOO whose dimensions are in the order that `dimension_numbers` gives.
    """
    operand = expect_bcoo("bcoo_gather", operand)
    start_indices = jnp.asarray(start_indices)
    mode = lax.GatherScatterMode.from_any(mode) if mode is not None else None
    if fill_value not in (None, 0):
        raise NotImplementedError(f"bcoo_gather: fill_value={fill_value} would be a dense result")
    if getattr(dimension_numbers, "operand_batching_dims", ()):
        raise NotImplementedError("bcoo_gather: operand_batching_dims")
    sizes = tuple(map(operator.index, slice_sizes))
    options = {"dimension_numbers": dimension_numbers, "slice_sizes": sizes, "mode": mode}
    out = _check(
        lambda x, i: lax.gather(x, i, **options, unique_indices=unique_indices),
        operand,
        start_indices,
    )
    del indices_are_sorted
    lead = start_indices.shape[:-1]
    count = int(np.prod(lead, dtype=np.int64))
    flat = start_indices.reshape(count, start_indices.shape[-1])
    result = _windows(operand, flat, dimension_numbers, sizes, mode)
    result = _operators.reshape(result, (*lead, *result.shape[1:]))
    offset = tuple(dimension_numbers.offset_dims)
    batch = [d for d in range(len(out.shape)) if d not in offset]
    permutation = [0] * len(out.shape)
    for source, place in enumerate((*batch, *offset)):
        permutation[place] = source
    if permutation != list(range(len(permutation))):
        if not result._keeps_kinds(tuple(permutation)):
            result = result.update_layout(n_batch=0, n_dense=0)
        result = result.transpose(permutation)
    return result


def _windows(operand: BCOO, starts: Any, numbers: Any, sizes: Shape, mode: Any) -> BCOO:
    """The windows that `starts` `(count, dims)` name, one after another in a new batch dimension."""
    collapsed = tuple(numbers.collapsed_slice_dims)
    places = tuple(numbers.start_index_map)
    first = operand.n_batch
    rest = (*operand.shape[:first], *operand.shape[first + 1 :])
    fills = mode == lax.GatherScatterMode.FILL_OR_DROP
    if (
        places == collapsed == (first,)
        and operand.n_sparse
        and (*sizes[:first], *sizes[first + 1 :]) == rest
        and not first
        and not fills
    ):
        ids = jnp.clip(starts[:, 0], 0, max(operand.shape[first] - 1, 0))
        return _operators.take(operand, ids, first)

    def window(start):
        full = [jnp.zeros((), start.dtype)] * operand.ndim
        for i, d in enumerate(places):
            full[d] = jnp.maximum(start[i], 0)
        found = bcoo_dynamic_slice(operand, full, sizes)
        if fills:
            limits = jnp.asarray([operand.shape[d] - sizes[d] for d in places], start.dtype)
            inside = jnp.all((start >= 0) & (start <= limits))
            found = found._with_buffers(
                jnp.where(inside, found.data, jnp.zeros((), found.dtype)), found.indices
            )
        return bcoo_squeeze(found, dimensions=collapsed)

    return jax.vmap(window)(starts)
