"""Cotangents of sparse values: derived pullbacks, conversion and addition."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from rarefy._ops.places import rows_at, rows_of, sample, with_data, with_stored
from rarefy._ops.storage import SType, Value, convert, fit, is_traced, stype_of, to_dense
from rarefy.sparse import BCOO, BCSR
from rarefy.sparse._index import pad_leading
from rarefy.sparse._row_sparse import add_row_sparse


def is_floating(value: Value) -> bool:
    return bool(jnp.issubdtype(value.dtype, jnp.floating))


def cotangent_like(cotangent: Value, value: Value) -> Value:
    """Brings a cotangent to the structure of the value it belongs to.

    The cotangent of a sparse value lives on the places that the value stores; what it holds elsewhere
    has nothing to act on.

    Args:
      cotangent: of the shape of `value`, any storage type.
      value: a dense array, a csr or a row_sparse value.

    Returns:
      A dense array for a dense value, else a value with the indices of `value`.
    """
    if isinstance(value, BCSR):
        return with_data(value, sample(value, cotangent))
    if isinstance(value, BCOO):
        return with_data(value, rows_at(cotangent, rows_of(value)))
    return to_dense(cotangent)


def pull_back(
    fn: Callable[..., tuple[Value, ...]],
    inputs: Sequence[Value | None],
    cotangents: tuple[Value, ...],
    want: Sequence[str | None],
) -> tuple[Value | None, ...]:
    """The pullback that JAX derives, differentiating sparse values by what they store.

    Args:
      fn: takes the inputs, returns a tuple of values.
      inputs: values; an absent array is None.
      cotangents: one for each result, of its structure.
      want: for each input a storage type, or None where no cotangent is needed.

    The cotangent of integers is computed as if they were float64, and cut to integers, as MXNet's are.
    """
    wanted = [v for v, w in zip(inputs, want, strict=True) if v is not None and w is not None]
    if any(jnp.issubdtype(v.dtype, jnp.integer) for v in wanted):
        return _pull_back_integers(fn, inputs, cotangents, want)
    leaves = [
        None if s is None or v is None else getattr(v, "data", v)
        for v, s in zip(inputs, want, strict=True)
    ]
    needed = [i for i, leaf in enumerate(leaves) if leaf is not None and is_floating(leaf)]

    def through(*data):
        values = list(inputs)
        for i, d in zip(needed, data, strict=True):
            values[i] = with_data(values[i], d)
        return tuple(getattr(r, "data", r) for r in fn(*values))

    out_data: tuple[Any, ...] = tuple(getattr(c, "data", c) for c in cotangents)
    primals, vjp = jax.vjp(through, *(leaves[i] for i in needed))
    out_data = tuple(
        c.astype(p.dtype).reshape(p.shape) for c, p in zip(out_data, primals, strict=True)
    )
    results: list[Value | None] = [None] * len(inputs)
    for i, g in zip(needed, vjp(out_data), strict=True):
        # Zero times the slope at zero is NaN for some: padding has to be cleared.
        results[i] = with_stored(inputs[i], g)
    return tuple(results)


def _pull_back_integers(
    fn: Any, inputs: Sequence[Any], cotangents: Any, want: Any
) -> tuple[Any, ...]:
    def as_float(value: Any) -> Any:
        if value is None or not jnp.issubdtype(value.dtype, jnp.integer):
            return value
        return value.astype(jnp.float64)

    found: Any = pull_back(fn, [as_float(v) for v in inputs], cotangents, want)
    return tuple(
        c if c is None or v is None else c.astype(v.dtype)
        for c, v in zip(found, inputs, strict=True)
    )


def add(a: Value | None, b: Value | None) -> Value | None:
    """The sum of two cotangents; None is zero. Equal storage types keep theirs, mixed ones go dense."""
    if a is None or b is None:
        return b if a is None else a
    if isinstance(a, BCOO) and isinstance(b, BCOO):
        return _add_rows(a, b)
    if isinstance(a, BCSR) and isinstance(b, BCSR) and a.indices is b.indices:
        return with_data(a, a.data + b.data)
    return to_dense(a) + to_dense(b)


def _add_rows(a: BCOO, b: BCOO) -> BCOO:
    """The sum of two row_sparse values; nothing is sorted where they store the same rows, as the
    cotangents of a table do that was read twice by one batch."""
    if (a.nse, a.dtype, a.indices.dtype) != (b.nse, b.dtype, b.indices.dtype):
        return fit(add_row_sparse(a, b))
    if not is_traced(a) and not is_traced(b):
        if a.indices is b.indices or np.array_equal(a.indices, b.indices):
            return with_data(a, a.data + b.data)
        return fit(add_row_sparse(a, b))
    n, slots = a.shape[0], min(2 * a.nse, a.shape[0])

    def paired():
        data = pad_leading(a.data + b.data, slots, 0)
        return data, pad_leading(a.indices, slots, n)

    def merged():
        both = add_row_sparse(a, b)
        return both.data, both.indices

    # Which rows they are is not known yet; to compare them costs little beside sorting both.
    data, indices = jax.lax.cond((a.indices == b.indices).all(), paired, merged)
    return BCOO._trusted(data, indices, a.shape, indices_sorted=True, unique_indices=True)


def as_stype(cotangent: Value, stype: SType) -> Value:
    """Converts a cotangent to the storage type of the buffer it goes to."""
    return cotangent if stype_of(cotangent) == stype else convert(cotangent, stype)
