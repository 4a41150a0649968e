"""What the public constructors check: shapes always, values where they are concrete."""

import operator
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp
from jax.core import Tracer

from rarefy._primitives.from_host import from_host
from rarefy.sparse._index import INT32_MAX, has_int64

Shape = tuple[int, ...]


def as_shape(name: str, shape: Any) -> Shape:
    """Makes a tuple of Python integers of a shape, or says what is wrong with it."""
    try:
        sizes = tuple(operator.index(s) for s in shape)
    except TypeError:
        raise TypeError(f"{name}: shape must be a sequence of integers, got {shape!r}") from None
    if any(s < 0 for s in sizes):
        raise ValueError(f"{name}: shape must not have negative sizes, got {sizes}")
    return sizes


def is_concrete(array: Any) -> bool:
    """Whether the values of `array` can be looked at now without leaving a trace."""
    return isinstance(array, np.ndarray) or (
        isinstance(array, jax.Array) and not isinstance(array, Tracer)
    )


def as_data(name: str, data: Any) -> jax.Array:
    """Makes an array of the stored values."""
    if isinstance(data, np.ndarray):
        return from_host(data)
    return data if isinstance(data, jax.Array) else jnp.asarray(data)


def as_indices(name: str, argument: str, indices: Any, sizes: Sequence[int]) -> jax.Array:
    """Makes an integer array of `indices`; 64-bit input becomes 32-bit where 64 bits are disabled.

    The range is checked before that happens, so that a wide value is not cut to a wrong narrow one.

    Args:
      name: the constructor, for messages.
      argument: the argument, for messages.
      indices: array-like.
      sizes: for each position along the last axis the size of the indexed dimension; or one size
        for all of them. An index equal to the size is padding.

    Raises:
      TypeError: the indices are not integers.
      ValueError: an index is negative or exceeds its size, or needs 64 bits where they are
        disabled.
    """
    if not hasattr(indices, "dtype"):
        indices = np.asarray(indices)
    if not jnp.issubdtype(indices.dtype, jnp.integer):
        raise TypeError(
            f"{name}: {argument} must be integers, got dtype {indices.dtype}; "
            f"convert them with .astype('int32')"
        )
    if max(sizes, default=0) > INT32_MAX and not has_int64():
        raise ValueError(
            f"{name}: {argument} of a dimension of size {max(sizes)} need int64, which is "
            f"disabled; run under jax.enable_x64(True)"
        )
    if is_concrete(indices):
        _check_range(name, argument, np.asarray(indices), sizes)
    return indices if isinstance(indices, jax.Array) else _to_jax(indices)


def _to_jax(indices: np.ndarray) -> jax.Array:
    if indices.dtype.itemsize == 8 and not has_int64():
        indices = indices.astype(np.int32)
    return from_host(indices)


def _check_range(name: str, argument: str, indices: np.ndarray, sizes: Sequence[int]) -> None:
    if indices.size == 0 or not sizes:
        return
    limit = sizes[0] if len(set(sizes)) == 1 else np.asarray(sizes, np.int64)
    if len(set(sizes)) == 1:
        if indices.min() >= 0 and indices.max() <= limit:
            return
        bad = (indices < 0) | (indices > limit)
    else:
        bad = (indices < 0) | (indices > limit)
        if not bad.any():
            return
    place = tuple(int(i) for i in np.argwhere(bad)[0])
    size = sizes[0] if len(set(sizes)) == 1 else sizes[place[-1]]
    where = f"{argument}[{', '.join(map(str, place))}]"
    raise ValueError(
        f"{name}: {where} is {indices[place]}, expected 0 to {size - 1}, or {size} for padding; "
        f"drop the entry or enlarge shape"
    )


def check_bcoo(name: str, data: jax.Array, indices: jax.Array, shape: Shape) -> None:
    """Checks that the buffers of a BCOO agree with its shape.

    Args:
      name: the constructor, for messages.
      data: `(*batch, nse, *dense)`; a batch axis may be 1.
      indices: `(*batch, nse, n_sparse)`; a batch axis may be 1.
      shape: the array's shape, `(*batch, *sparse, *dense)`.

    Raises:
      ValueError: they do not agree.
    """
    if indices.ndim < 2:
        raise ValueError(
            f"{name}: indices must be (*batch, nse, n_sparse), got shape {indices.shape}; "
            f"for a vector pass indices of shape (nse, 1)"
        )
    n_batch, n_sparse = indices.ndim - 2, indices.shape[-1]
    n_dense = len(shape) - n_batch - n_sparse
    if n_dense < 0:
        raise ValueError(
            f"{name}: shape {shape} has {len(shape)} dimensions, fewer than the {n_batch} batch "
            f"and {n_sparse} sparse ones of indices {indices.shape}"
        )
    batch, dense = shape[:n_batch], shape[n_batch + n_sparse :]
    _check_batch(name, "indices", indices.shape[:n_batch], batch)
    nse = indices.shape[n_batch]
    if data.ndim != n_batch + 1 + n_dense or data.shape[n_batch:] != (nse, *dense):
        raise ValueError(
            f"{name}: Invalid data.shape={tuple(data.shape)} for nse={nse}, n_batch={n_batch}, "
            f"n_dense={n_dense}; expected {(*batch, nse, *dense)}"
        )
    _check_batch(name, "data", data.shape[:n_batch], batch)


def check_bcsr(name: str, data: Any, indices: jax.Array, indptr: jax.Array, shape: Shape) -> None:
    """Checks that the buffers of a BCSR agree with its shape and that a concrete `indptr` is sound.

    Args:
      name: the constructor, for messages.
      data: `(*batch, nse, *dense)`; a batch axis may be 1.
      indices: `(*batch, nse)`; a batch axis may be 1.
      indptr: `(*batch, m + 1)`; a batch axis may be 1.
      shape: the array's shape, `(*batch, m, n, *dense)`.

    Raises:
      ValueError: they do not agree, or `indptr` does not ascend from 0 to at most nse.
    """
    if indices.ndim < 1:
        raise ValueError(f"{name}: indices must be (*batch, nse), got a scalar")
    n_batch = indices.ndim - 1
    n_dense = len(shape) - n_batch - 2
    if n_dense < 0:
        raise ValueError(
            f"{name}: shape {shape} has {len(shape)} dimensions, fewer than the {n_batch} batch "
            f"and 2 sparse ones of indices {indices.shape}"
        )
    batch, dense = shape[:n_batch], shape[n_batch + 2 :]
    nse, m = indices.shape[-1], shape[n_batch]
    _check_batch(name, "indices", indices.shape[:n_batch], batch)
    if data.ndim != n_batch + 1 + n_dense or data.shape[n_batch:] != (nse, *dense):
        raise ValueError(
            f"{name}: Invalid data.shape={tuple(data.shape)} for nse={nse}, n_batch={n_batch}, "
            f"n_dense={n_dense}; expected {(*batch, nse, *dense)}"
        )
    _check_batch(name, "data", data.shape[:n_batch], batch)
    if indptr.ndim != n_batch + 1 or indptr.shape[-1] != m + 1:
        raise ValueError(
            f"{name}: indptr shape must match the matrix shape plus 1: expected "
            f"{(*batch, m + 1)} for shape {shape}, got {tuple(indptr.shape)}"
        )
    _check_batch(name, "indptr", indptr.shape[:n_batch], batch)
    if is_concrete(indptr):
        _check_indptr(name, np.asarray(indptr), nse)


def _check_indptr(name: str, indptr: np.ndarray, nse: int) -> None:
    if indptr.size == 0:
        return
    if (indptr[..., 0] != 0).any():
        raise ValueError(f"{name}: indptr must begin with 0, got {indptr[..., 0]}")
    falls = indptr[..., 1:] < indptr[..., :-1]
    if falls.any():
        *batch, row = (int(i) for i in np.argwhere(falls)[0])
        line = indptr[tuple(batch)]
        raise ValueError(
            f"{name}: indptr must not decrease, but indptr[{row}] is {line[row]} and "
            f"indptr[{row + 1}] is {line[row + 1]}{f' in batch {tuple(batch)}' if batch else ''}"
        )
    if (indptr[..., -1] > nse).any():
        raise ValueError(
            f"{name}: indptr ends with {indptr[..., -1].max()}, more than the {nse} entries of data"
        )


def _check_batch(name: str, argument: str, found: Shape, batch: Shape) -> None:
    if len(found) != len(batch) or any(f not in (1, b) for f, b in zip(found, batch, strict=True)):
        raise ValueError(
            f"{name}: the batch dimensions of {argument} are {tuple(found)}, but shape begins with "
            f"{tuple(batch)}; each must be equal or 1"
        )
