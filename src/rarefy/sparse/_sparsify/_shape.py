"""Changes of shape: broadcasting, transposing, slicing, joining, and gathers and scatters."""

import math
import operator
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from rarefy.sparse import _bcoo_shapes as shapes
from rarefy.sparse import _structure
from rarefy.sparse._bcoo import BCOO
from rarefy.sparse._index import in_range, index_dtype_for
from rarefy.sparse._jaxpr import evaluate
from rarefy.sparse._sparsify._refusals import unsupported
from rarefy.sparse._sparsify._values import (
    Call,
    Filled,
    Rows,
    Rule,
    Spread,
    dtype_of,
    is_sparse,
    is_zero,
    known,
    stored,
)
from rarefy.sparse._sparsify._walk import Walk


def _spread_over(base: Any, dims: Sequence[int], rank: int) -> Any:
    """The base with its dimensions at `dims` of `rank`, size 1 elsewhere."""
    sizes = [1] * rank
    for d, size in zip(dims, np.shape(base), strict=True):
        sizes[d] = size
    number = known(base)
    return number.reshape(sizes) if number is not None else jnp.reshape(base, sizes)


def broadcast_in_dim(walk: Walk, call: Call, ins: list[Any]) -> Sequence[Any]:
    value, shape = ins[0], tuple(call.params["shape"])
    dims = tuple(call.params["broadcast_dimensions"])
    if is_sparse(value):
        mat = walk.coo(value)
        grows = any(shape[d] != s for d, s in zip(dims, mat.shape, strict=True))
        out = shapes.bcoo_broadcast_in_dim(mat, shape=shape, broadcast_dimensions=dims)
        if not grows and len(shape) == mat.ndim:
            out = mat
        return [out if isinstance(value, BCOO) else Rows(out)]
    if isinstance(value, Filled):
        if math.prod(shape) != math.prod(value.shape):
            raise unsupported(call, ins, "Reduce it first, or use sparse.todense() on x.")
        mat = shapes.bcoo_broadcast_in_dim(
            walk.coo(value.mat), shape=shape, broadcast_dimensions=dims
        )
        mat = BCOO._trusted(mat.data, mat.indices, mat.shape, False, True)
        base = _spread_over(value.base, dims, len(shape))
        return [Filled(mat, base, shape, value.refusal)]
    base = value.base if isinstance(value, Spread) else value
    if math.prod(np.shape(base)) == math.prod(shape) or call.params.get("sharding") is not None:
        return evaluate(call, [walk.dense(value)])
    return [Spread(_spread_over(base, dims, len(shape)), shape)]


def transpose(walk: Walk, call: Call, ins: list[Any]) -> Sequence[Any]:
    (value,), permutation = ins, tuple(call.params["permutation"])
    if is_sparse(value):
        mat = walk.coo(value)
        stays = permutation[: mat.n_batch + mat.n_sparse]
        if stays == tuple(range(mat.n_batch + mat.n_sparse)):
            # Entries stay where they are, and share their indices with the operand's.
            back = [p - mat.n_sparse + 1 for p in permutation[len(stays) :]]
            data = mat.data.transpose(*range(mat.n_batch + 1), *back)
            shape = tuple(mat.shape[p] for p in permutation)
            out = mat._with_buffers(data, mat.indices, shape=shape)
        else:
            out = _flat_unless(mat._keeps_kinds(permutation), mat).transpose(permutation)
        return [out if isinstance(value, BCOO) else Rows(out)]
    if isinstance(value, Filled):
        (mat,) = transpose(walk, call, [value.mat])
        base = value.base.transpose(permutation)
        return [Filled(mat, base, stored(mat).shape, value.refusal)]
    shape = tuple(value.shape[p] for p in permutation)
    return [Spread(value.base.transpose(permutation), shape)]


def _flat_unless(fits: bool, mat: BCOO) -> BCOO:
    """The array with sparse dimensions only, for changes that mix dimensions of different kinds.

    Raises:
      SparseEfficiencyError: that stores much more.
    """
    return mat if fits else mat.update_layout(n_batch=0, n_dense=0)


def _same_background(name: str, rule: Rule) -> Rule:
    """The rule, also for operands on a background that is the same everywhere."""

    def either(walk: Walk, call: Call, ins: list[Any]) -> Sequence[Any]:
        value = ins[0]
        if isinstance(value, Filled):
            if math.prod(value.base.shape) != 1:
                raise unsupported(call, ins)
            merged = walk.coo(value.mat)
            outs = rule(walk, call, [merged, *ins[1:]])
            found = []
            for out in outs:
                out = BCOO._trusted(out.data, out.indices, out.shape, False, True)
                base = value.base.reshape((1,) * out.ndim)
                found.append(Filled(out, base, out.shape, value.refusal))
            return found
        if not is_sparse(value):
            raise unsupported(call, ins)
        return rule(walk, call, ins)

    either.__name__ = name
    return either


def _reshape(walk: Walk, call: Call, ins: list[Any]) -> Sequence[Any]:
    (mat,), new = ins, call.params["new_sizes"]
    dims = call.params.get("dimensions")
    bounds = (0, mat.n_batch, mat.n_batch + mat.n_sparse, mat.ndim)
    batch, sparse, dense = (math.prod(mat.shape[i:j]) for i, j in pairwise(bounds))
    keeps = dims is None or mat._keeps_kinds(tuple(dims))
    fits = keeps and _structure.split_sizes((batch, sparse, dense), tuple(new)) is not None
    return [shapes.bcoo_reshape(_flat_unless(fits, mat), new_sizes=new, dimensions=dims)]


def _squeeze(walk: Walk, call: Call, ins: list[Any]) -> Sequence[Any]:
    return [shapes.bcoo_squeeze(ins[0], dimensions=call.params["dimensions"])]


def _rev(walk: Walk, call: Call, ins: list[Any]) -> Sequence[Any]:
    return [shapes.bcoo_rev(ins[0], dimensions=call.params["dimensions"])]


def _slice(walk: Walk, call: Call, ins: list[Any]) -> Sequence[Any]:
    return [shapes.bcoo_slice(ins[0], **call.params)]


def _dynamic_slice(walk: Walk, call: Call, ins: list[Any]) -> Sequence[Any]:
    if any(is_sparse(x) for x in ins[1:]):
        raise unsupported(call, ins, "Use sparse.todense() on the starts.")
    starts = [walk.dense(x) for x in ins[1:]]
    return [shapes.bcoo_dynamic_slice(ins[0], starts, call.params["slice_sizes"])]


def _as_parts(walk: Walk, call: Call, ins: list[Any]) -> list[BCOO]:
    """The operands of a join as BCOO of one layout; zeros become arrays that store nothing."""
    first = next((x for x in ins if is_sparse(x)), None)
    if first is None or not all(is_zero(x) for x in ins):
        raise unsupported(
            call, ins, "All operands must be sparse or zero; make them BCOO, or dense."
        )
    like = stored(first)

    def part(value: Any) -> BCOO:
        if is_sparse(value):
            return walk.coo(value)
        counts = {"n_batch": like.n_batch, "n_dense": like.n_dense}
        return BCOO._empty(value.shape, dtype=dtype_of(value), **counts)

    return [part(x) for x in ins]


def _concatenate(walk: Walk, call: Call, ins: list[Any]) -> Sequence[Any]:
    parts = _as_parts(walk, call, ins)
    return [shapes.bcoo_concatenate(parts, dimension=call.params["dimension"])]


def _stack(walk: Walk, call: Call, ins: list[Any]) -> Sequence[Any]:
    axis = call.params["axis"]
    raised = []
    for mat in _as_parts(walk, call, ins):
        shape = (*mat.shape[:axis], 1, *mat.shape[axis:])
        dims = [d + (d >= axis) for d in range(mat.ndim)]
        raised.append(shapes.bcoo_broadcast_in_dim(mat, shape=shape, broadcast_dimensions=dims))
    return [shapes.bcoo_concatenate(raised, dimension=axis)]


def _tile(walk: Walk, call: Call, ins: list[Any]) -> Sequence[Any]:
    mat = ins[0]
    for d, times in enumerate(call.params["reps"]):
        if times != 1:
            mat = shapes.bcoo_concatenate([mat] * int(times), dimension=d)
    return [mat]


def _split(walk: Walk, call: Call, ins: list[Any]) -> Sequence[Any]:
    mat, axis = ins[0], call.params["axis"]
    outs, at = [], 0
    for size in map(operator.index, call.params["sizes"]):
        starts, limits = [0] * mat.ndim, list(mat.shape)
        starts[axis], limits[axis] = at, at + size
        outs.append(shapes.bcoo_slice(mat, start_indices=starts, limit_indices=limits))
        at += size
    return outs


def _pad(walk: Walk, call: Call, ins: list[Any]) -> Sequence[Any]:
    mat, fill = ins
    config = [(int(lo), int(hi), int(gap)) for lo, hi, gap in call.params["padding_config"]]
    if isinstance(mat, Filled) or not is_zero(fill):
        raise unsupported(call, ins, "A sparse array is padded with a constant zero.")
    shape = tuple(
        lo + hi + s + max(s - 1, 0) * gap
        for (lo, hi, gap), s in zip(config, mat.shape, strict=True)
    )
    n_batch, n_sparse = mat.n_batch, mat.n_sparse
    batch, sparse = config[:n_batch], config[n_batch : n_batch + n_sparse]
    dense = config[n_batch + n_sparse :]
    data, indices = mat.data, mat.indices
    if any(c != (0, 0, 0) for c in batch):
        data, indices = _structure.whole_batch(data, indices, mat.shape)
    sizes = shape[n_batch : n_batch + n_sparse]
    indices = indices.astype(np.promote_types(indices.dtype, index_dtype_for(*sizes)))
    real = in_range(indices, mat.shape[n_batch : n_batch + n_sparse])
    steps = np.asarray([gap + 1 for _, _, gap in sparse], indices.dtype)
    moved = indices * steps + np.asarray([lo for lo, _, _ in sparse], indices.dtype)
    inside = in_range(moved, sizes) & real
    outside = np.asarray(sizes, indices.dtype)
    indices = jnp.where(inside[..., None], moved, outside)
    if any(c != (0, 0, 0) for c in (*batch, *dense)):
        zero = jnp.zeros((), data.dtype)
        data = lax.pad(data, zero, [*batch, (0, 0, 0), *dense])
    if any(c != (0, 0, 0) for c in batch):
        there = lax.pad(jnp.ones(indices.shape, bool), False, [*batch, (0, 0, 0), (0, 0, 0)])
        zero = jnp.zeros((), indices.dtype)
        indices = lax.pad(indices, zero, [*batch, (0, 0, 0), (0, 0, 0)])
        indices = jnp.where(there, indices, outside)
    flags = (False, mat.unique_indices)
    return [BCOO._trusted(data, indices, shape, *flags)]


def _gather(walk: Walk, call: Call, ins: list[Any]) -> Sequence[Any]:
    operand, starts = ins
    if is_sparse(starts) or isinstance(operand, Filled):
        raise unsupported(call, ins, "Indices must be dense.")
    params = dict(call.params)
    numbers, sizes = params.pop("dimension_numbers"), params.pop("slice_sizes")
    return [shapes.bcoo_gather(operand, walk.dense(starts), numbers, sizes, **params)]


def _scatter_add(walk: Walk, call: Call, ins: list[Any]) -> Sequence[Any]:
    """A segment sum of rows: each stored row number becomes the number of its segment."""
    target, ids, updates = ins
    numbers = call.params["dimension_numbers"]
    wanted = (
        "To add to cells of a sparse array, add a sparse array that holds them; to add up its rows "
        "by number, use jax.ops.segment_sum over the first axis."
    )
    if not is_sparse(updates) or is_sparse(ids) or isinstance(target, Filled):
        raise unsupported(call, ins, wanted)
    rank = updates.ndim
    by_rows = (
        tuple(numbers.update_window_dims) == tuple(range(1, rank))
        and tuple(numbers.inserted_window_dims) == (0,)
        and tuple(numbers.scatter_dims_to_operand_dims) == (0,)
        and not getattr(numbers, "operand_batching_dims", ())
        and tuple(target.shape[1:]) == tuple(updates.shape[1:])
    )
    if not by_rows or updates.n_dense == rank:
        raise unsupported(call, ins, wanted)
    mat = updates.update_layout(n_batch=0) if updates.n_batch else updates
    ids = jnp.reshape(walk.dense(ids), (updates.shape[0],))
    rows, n_rows = mat.indices[:, 0], target.shape[0]
    real = in_range(mat.indices, mat.shape[: mat.n_sparse])
    segment = ids.at[rows].get(mode="fill", fill_value=n_rows)
    if call.params["mode"] == lax.GatherScatterMode.CLIP:
        segment = jnp.clip(segment, 0, n_rows - 1)
    real &= (segment >= 0) & (segment < n_rows)
    sizes = (n_rows, *mat.shape[1 : mat.n_sparse])
    dtype = np.promote_types(mat.indices.dtype, index_dtype_for(*sizes))
    moved = mat.indices.astype(dtype).at[:, 0].set(segment.astype(dtype))
    indices = jnp.where(real[:, None], moved, np.asarray(sizes, dtype))
    out = BCOO._trusted(mat.data, indices, (n_rows, *mat.shape[1:]))
    if is_zero(target) and not is_sparse(target):
        return [out]
    if is_sparse(target):
        return [target + out]
    return [walk.dense(target) + out.todense()]


def _todense(walk: Walk, call: Call, ins: list[Any]) -> Sequence[Any]:
    return [walk.dense(ins[0])]


def _barrier(walk: Walk, call: Call, ins: list[Any]) -> Sequence[Any]:
    """What orders or places values and does not change them."""
    leaves, structure = jax.tree.flatten(ins)
    if call.primitive.multiple_results:
        return jax.tree.unflatten(structure, evaluate(call, leaves))
    return ins


NATIVE: dict[str, Rule] = {
    "broadcast_in_dim": broadcast_in_dim,
    "transpose": transpose,
    "todense": _todense,
    "optimization_barrier": _barrier,
    "sharding_constraint": _barrier,
}

RULES: dict[str, Rule] = {
    "reshape": _same_background("reshape", _reshape),
    "squeeze": _same_background("squeeze", _squeeze),
    "rev": _same_background("rev", _rev),
    "slice": _same_background("slice", _slice),
    "dynamic_slice": _same_background("dynamic_slice", _dynamic_slice),
    "tile": _same_background("tile", _tile),
    "split": _same_background("split", _split),
    "concatenate": _concatenate,
    "stack": _stack,
    "pad": _pad,
    "gather": _gather,
    "scatter-add": _scatter_add,
    "scatter_add": _scatter_add,
}
