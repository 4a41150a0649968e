"""Splitting batches over devices, clipping gradients, checking files."""

import hashlib
import os
import warnings
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from rarefy import nd
from rarefy._ops.places import with_data
from rarefy._ops.precision import wide
from rarefy._ops.storage import canonical
from rarefy.base import ArgumentError
from rarefy.context import Context
from rarefy.gluon._hook import HookHandle
from rarefy.nd._create_sparse import csr_matrix, is_scipy
from rarefy.nd._handle import Handle
from rarefy.nd._sparse_array import RowSparseNDArray

__all__ = ["HookHandle", "check_sha1", "clip_global_norm", "split_and_load", "split_data"]


def split_data(
    data: Any, num_slice: int, batch_axis: int = 0, even_split: bool = True
) -> list[Any]:
    """Splits an array into parts of equal size.

    Args:
      data: dense, csr or row_sparse. The parts are stored in the same way.
      num_slice: how many parts.
      batch_axis: the axis to split.
      even_split: whether unequal parts are refused; otherwise the first ones are longer by one.

    Returns:
      A list of `num_slice` arrays.

    Raises:
      ValueError: the parts would not be equal, with even_split, or `num_slice` is below 1.
    """
    size = data.shape[batch_axis]
    if num_slice < 1:
        raise ValueError(f"num_slice must be at least 1; got {num_slice}")
    if even_split and size % num_slice:
        raise ValueError(
            f"data of shape {data.shape} has no {num_slice} equal parts along axis {batch_axis}; make "
            f"its size a multiple of {num_slice}, or set even_split=False"
        )
    length, rest = divmod(size, num_slice)
    ends = np.cumsum([0] + rest * [length + 1] + (num_slice - rest) * [length]).tolist()
    return [_part(data, batch_axis, *pair) for pair in pairwise(ends)]


def _part(data: Any, axis: int, begin: int, end: int) -> Any:
    if axis:
        return nd.slice_axis(data, axis=axis, begin=begin, end=end)
    if isinstance(data, RowSparseNDArray):
        return nd.slice(data, begin=(begin,), end=(end,))
    return data[begin:end]


def split_and_load(
    data: Any, ctx_list: Sequence[Context], batch_axis: int = 0, even_split: bool = True
) -> list[Any]:
    """Splits a batch, a part for each context.

    Args:
      data: an array, a SciPy matrix, or what `nd.array` takes. csr stays csr.
      ctx_list: the contexts.
      batch_axis: the axis to split.
      even_split: whether unequal parts are refused.

    Returns:
      A list of arrays, one in each context.

    Raises:
      ValueError: the parts would not be equal, with even_split.
    """
    if is_scipy(data):
        data = csr_matrix(data, ctx=ctx_list[0])
    elif not isinstance(data, nd.NDArray):
        data = nd.array(data, ctx=ctx_list[0])
    if len(ctx_list) == 1:
        return [data.as_in_context(ctx_list[0])]
    parts = split_data(data, len(ctx_list), batch_axis, even_split)
    return [part.as_in_context(ctx) for part, ctx in zip(parts, ctx_list, strict=True)]


def clip_global_norm(arrays: Sequence[Any], max_norm: float, check_isfinite: bool = True) -> Any:
    """Scales arrays, in place, so that the norm of all of them together is at most `max_norm`.

    Args:
      arrays: dense and row_sparse arrays, mixed; what these store is what is scaled.
      max_norm: the largest norm.
      check_isfinite: whether to wait for the norm and warn where it is not finite.

    Returns:
      The norm before: a float, or without check_isfinite an array `(1,)`. 16-bit floats are summed in
      float32.

    Raises:
      ArgumentError: there is no array.
      MXNetError: operators are being recorded and an array takes part in it.

    Arrays in one context take one compiled program.
    """
    if not arrays:
        raise ArgumentError("clip_global_norm needs at least one array")
    values = [canonical(array._value) for array in arrays]
    datas = [getattr(value, "data", value) for value in values]
    limit = np.float32(max_norm)
    contexts = [array._ctx for array in arrays]
    with wide():
        if len(set(contexts)) == 1:
            norm, scaled = _clipped(datas, limit)
        else:
            # Programs on several devices meet in the first one.
            place = arrays[0].context.device
            squares = [jax.device_put(_square_norm([data]), place) for data in datas]
            norm, scale = _norm_and_scale(sum(squares), limit)
            scaled = [_scaled(d, jax.device_put(scale, _place(d))) for d in datas]
    for array, value, data in zip(arrays, values, scaled, strict=True):
        array._store(with_data(value, data))
    result = Handle._wrap(norm)
    if not check_isfinite:
        return result
    total = result.asscalar()
    if not np.isfinite(total):
        warnings.warn(
            "the norm of the arrays is nan or inf; what they are clipped to is undefined",
            UserWarning,
            stacklevel=2,
        )
    return total


def _place(data: Any) -> Any:
    return next(iter(data.devices()))


def _wider(dtype: Any) -> Any:
    return jnp.promote_types(dtype, jnp.float32)


@jax.jit
def _square_norm(datas: Sequence[jax.Array]) -> jax.Array:
    squares = [jnp.sum(jnp.square(data.astype(_wider(data.dtype)))) for data in datas]
    total = squares[0]
    for square in squares[1:]:
        total = total + square.astype(_wider(total.dtype))
    return total


@jax.jit
def _norm_and_scale(squares: jax.Array, max_norm: Any) -> tuple[jax.Array, jax.Array]:
    norm = jnp.sqrt(squares)
    return norm.reshape(1), jnp.minimum(max_norm.astype(norm.dtype) / (norm + 1e-8), 1)


@jax.jit
def _scaled(data: jax.Array, scale: jax.Array) -> jax.Array:
    return (data * scale.astype(_wider(data.dtype))).astype(data.dtype)


@jax.jit
def _clipped(datas: Sequence[jax.Array], max_norm: Any) -> tuple[jax.Array, list[jax.Array]]:
    norm, scale = _norm_and_scale(_square_norm(datas), max_norm)
    return norm, [_scaled(data, scale) for data in datas]


def check_sha1(filename: str | os.PathLike[str], sha1_hash: str) -> bool:
    """Whether the SHA-1 of a file, in hexadecimal, is the one given."""
    with open(filename, "rb") as file:
        return hashlib.file_digest(file, "sha1").hexdigest() == sha1_hash
