"""What stands between the brackets of a dense array.

A basic key (integers, slices, `...`, new axes) names a block; a block that is contiguous in memory is
a view. An advanced key (arrays, lists, masks) names single elements; its result is a copy.
"""

import math
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from rarefy._ops.defs.shape import take_block
from rarefy._ops.storage import is_traced

Shape = tuple[int, ...]


class Block(NamedTuple):
    """A basic key, read against a shape.

    Attributes:
      starts, sizes, steps: what is taken of each axis.
      shape: the shape of the result: integers have dropped axes, None has added some.
    """

    starts: Shape
    sizes: Shape
    steps: Shape
    shape: Shape


class Elements(NamedTuple):
    """An advanced key: `arrays` go where the static `spec` says 'array'."""

    spec: tuple[Any, ...]
    arrays: tuple[Any, ...]


def read_key(key: Any, shape: Shape) -> Block | Elements:
    """Reads a key against the shape of an array.

    Raises:
      IndexError: an integer is out of range, or there are too many indices.
      ValueError: the key holds something else than integers, slices, None, `...` and arrays.
    """
    items = key if isinstance(key, tuple) else (key,)
    if any(_is_array(i) for i in items):
        return _read_elements(items, shape)
    return _read_block(key, items, shape)


def is_whole(key: Any, ndim: int) -> bool:
    """Whether a key is `...` or full slices of some of the axes: it names all elements."""
    items = key if isinstance(key, tuple) else (key,)
    if key is Ellipsis or len(items) > ndim:
        return key is Ellipsis
    return all(isinstance(item, slice) and item == slice(None) for item in items)


def leading_rows(key: Any, shape: Shape) -> tuple[int, Shape] | None:
    """What the two commonest keys name, read faster than `read_key` does.

    Returns:
      Where in memory the elements begin and their shape, for an integer and for a slice in steps of one
      that is not empty; None for any other key.
    """
    if not shape:
        return None
    n = shape[0]
    if type(key) is int:
        if not -n <= key < n:
            return None
        return (key + n if key < 0 else key) * math.prod(shape[1:]), shape[1:] or (1,)
    if type(key) is slice and key.step in (None, 1):
        begin, end, _ = key.indices(n)
        if begin < end:
            return begin * math.prod(shape[1:]), (end - begin, *shape[1:])
    return None


def _is_array(item: Any) -> bool:
    if isinstance(item, list | np.ndarray) or hasattr(item, "_cell"):
        return True
    return isinstance(item, jax.Array) and item.ndim > 0


def _as_integer(item: Any) -> int | None:
    if isinstance(item, int | np.integer):
        return int(item)
    return None


def _expand(items: tuple, ndim: int) -> list:
    """Replaces `...` (or what is missing at the end) by full slices."""
    used = sum(i is not None and i is not Ellipsis for i in items)
    if sum(i is Ellipsis for i in items) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if used > ndim:
        raise IndexError(f"too many indices: {used} for an array of {ndim} dimensions")
    missing = [slice(None)] * (ndim - used)
    if Ellipsis not in [i if i is Ellipsis else None for i in items]:
        return [*items, *missing]
    at = next(i for i, item in enumerate(items) if item is Ellipsis)
    return [*items[:at], *missing, *items[at + 1 :]]


def _read_block(key: Any, items: tuple, shape: Shape) -> Block:
    starts, sizes, steps, out = [], [], [], []
    for item in _expand(items, len(shape)):
        if item is None:
            out.append(1)
            continue
        axis = len(starts)
        n = shape[axis]
        if isinstance(item, slice):
            where = range(*item.indices(n))
            starts.append(where.start if len(where) else 0)
            sizes.append(len(where))
            steps.append(where.step)
            out.append(len(where))
            continue
        index = _as_integer(item)
        if index is None:
            raise ValueError(
                f"an array does not support slicing with key {key!r} of type {type(key)}"
            )
        if not -n <= index < n:
            raise IndexError(f"index {index} is out of bounds for axis {axis} with size {n}")
        starts.append(index % n)
        sizes.append(1)
        steps.append(1)
    # MXNet has no arrays without dimensions: a single element has shape (1,).
    return Block(
        tuple(starts), tuple(sizes), tuple(steps), tuple(out) if out or not shape else (1,)
    )


def _read_elements(items: tuple, shape: Shape) -> Elements:
    arrays: list[np.ndarray | jax.Array] = []
    spec: list[Any] = []
    axis = 0
    widened: list[Any] = []
    for item in items:
        if _is_array(item):
            array = _index_array(item)
            # A mask stands for the places where it is true, on as many axes as it has.
            widened += np.nonzero(array) if array.dtype == bool else [array]
        else:
            widened.append(item)
    for item in _expand(tuple(widened), len(shape)):
        if item is None:
            spec.append(None)
            continue
        if isinstance(item, slice):
            spec.append(("slice", item.start, item.stop, item.step))
        elif isinstance(item, np.ndarray | jax.Array):
            _check_bounds(item, axis, shape[axis])
            spec.append("array")
            arrays.append(item)
        else:
            index = _as_integer(item)
            if index is None:
                raise ValueError(f"an array does not support slicing with {item!r}")
            _check_bounds(np.asarray(index), axis, shape[axis])
            spec.append("array")
            arrays.append(np.asarray(index, np.int64))
        axis += 1
    return Elements(tuple(spec), tuple(arrays))


def _index_array(item: Any) -> Any:
    value = getattr(item, "_value", item)
    if is_traced(value):
        return value.astype(jnp.int64)
    array = np.asarray(value)
    if array.dtype == bool or np.issubdtype(array.dtype, np.integer):
        return array
    if array.size == 0 or np.issubdtype(array.dtype, np.floating):
        return array.astype(np.int64)
    raise ValueError(f"an array does not support slicing with an array of {array.dtype}")


def _check_bounds(array: Any, axis: int, n: int) -> None:
    if is_traced(array) or array.size == 0:
        return
    low, high = int(array.min()), int(array.max())
    if low < -n or high >= n:
        bad = low if low < -n else high
        raise IndexError(f"index {bad} is out of bounds for axis {axis} with size {n}")


def as_numpy_key(spec: tuple[Any, ...], arrays) -> tuple[Any, ...]:
    """The key of NumPy and JAX that a spec and its arrays stand for."""
    arrays = iter(arrays)
    key = []
    for part in spec:
        if part is None:
            key.append(None)
        elif part == "array":
            key.append(next(arrays))
        else:
            key.append(slice(*part[1:]))
    return tuple(key)


def flat_start(block: Block, shape: Shape) -> int | None:
    """Where in memory a block begins, or None where it is not contiguous."""
    if 0 in block.sizes:
        return None
    offset, stride, whole = 0, 1, True
    for axis in range(len(shape) - 1, -1, -1):
        n, start, count = shape[axis], block.starts[axis], block.sizes[axis]
        step = block.steps[axis]
        if count > 1 and (not whole or step != 1):
            return None
        offset += start * stride
        stride *= n
        whole = whole and count == n
    return offset


@partial(jax.jit, static_argnames="shape")
def read_window(base, offset, *, shape: Shape):
    """The elements of `base` from `offset` on in memory order, as `shape`."""
    size = math.prod(shape)
    return lax.dynamic_slice(base.reshape(-1), (offset,), (size,)).reshape(shape)


@jax.jit
def write_window(base, offset, value):
    """`base` with the elements from `offset` on in memory order replaced by those of `value`."""
    flat = lax.dynamic_update_slice(base.reshape(-1), value.reshape(-1), (offset,))
    return flat.reshape(base.shape)


def read_block(base, block: Block):
    """The elements of a block, as a new array."""
    starts = np.asarray(block.starts, np.int64)
    return take_block(base, starts, sizes=block.sizes, steps=block.steps).reshape(block.shape)


def write_block(base, block: Block, value):
    """`base` with the elements of a block replaced by `value`, which has the block's shape."""
    places = [
        np.arange(n, dtype=np.int64) * step + start
        for start, n, step in zip(block.starts, block.sizes, block.steps, strict=True)
    ]
    return _write_grid(base, places, value.reshape(block.sizes))


@jax.jit
def _write_grid(base, places, value):
    grid = [p.reshape((-1,) + (1,) * (len(places) - 1 - i)) for i, p in enumerate(places)]
    return base.at[tuple(grid)].set(value)


@partial(jax.jit, static_argnames="spec")
def write_elements(base, arrays, value, *, spec):
    """`base` with single elements replaced by `value`, which is broadcast."""
    return base.at[as_numpy_key(spec, arrays)].set(value)
