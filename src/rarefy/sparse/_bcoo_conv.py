"""Convolution of sparse arrays."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from rarefy.sparse import _entries
from rarefy.sparse._bcoo import BCOO
from rarefy.sparse._index import along_last, as_kernel_index, in_range, index_dtype_for

Shape = tuple[int, ...]


def bcoo_conv_general_dilated(
    lhs: Any,
    rhs: Any,
    *,
    window_strides: Sequence[int],
    padding: Any,
    lhs_dilation: Any = None,
    rhs_dilation: Any = None,
    dimension_numbers: Any = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> BCOO:
    """`jax.lax.conv_general_dilated` of one batch and one channel, BCOO with BCOO or dense.

    Args:
      lhs, rhs: `(1, 1, *spatial)`, BCOO or dense, of one dtype.
      window_strides, lhs_dilation, rhs_dilation, feature_group_count, batch_group_count: only ones.
      padding: "SAME", "VALID", or a pair of numbers for each spatial dimension.
      dimension_numbers: only the default, batch and channel first.
      precision, preferred_element_type, out_sharding: as there; the first is without effect.

    Returns:
      BCOO `(1, 1, *spatial)` with two batch dimensions; repeated entries add up. It has a slot for
      each pair of entries, or as many as there are cells where that is less.

    Raises:
      NotImplementedError: an argument is outside what is listed here.
    """
    full = partial(
        lax.conv_general_dilated,
        window_strides=window_strides,
        padding=padding,
        lhs_dilation=lhs_dilation,
        rhs_dilation=rhs_dilation,
        dimension_numbers=dimension_numbers,
        feature_group_count=feature_group_count,
        batch_group_count=batch_group_count,
        precision=precision,
        preferred_element_type=preferred_element_type,
        out_sharding=out_sharding,
    )
    out = jax.eval_shape(full, *(jax.ShapeDtypeStruct(x.shape, x.dtype) for x in (lhs, rhs)))
    n = lhs.ndim - 2
    for name, value in (
        ("lhs_dilation", lhs_dilation),
        ("rhs_dilation", rhs_dilation),
        ("non-unit window_strides", window_strides),
    ):
        if value is not None and any(v != 1 for v in value):
            raise NotImplementedError(f"bcoo convolution with {name}.")
    if batch_group_count != 1 or feature_group_count != 1:
        raise NotImplementedError("bcoo convolution with non-unit group counts.")
    numbers = lax.conv_dimension_numbers(lhs.shape, rhs.shape, dimension_numbers)
    if any(spec != tuple(range(n + 2)) for spec in numbers):
        raise NotImplementedError("bcoo convolution with other than the default dimension_numbers.")
    if lhs.shape[:2] != (1, 1) or rhs.shape[:2] != (1, 1):
        raise NotImplementedError("bcoo convolution with leading dimensions other than (1, 1)")
    if isinstance(padding, str):
        padding = lax.padtype_to_pads(lhs.shape[2:], rhs.shape[2:], window_strides, padding)
    before = tuple(int(low) for low, _ in padding)
    data, indices = _convolve(
        *_spatial(lhs), *_spatial(rhs), shapes=(lhs.shape, rhs.shape, out.shape), before=before
    )
    return BCOO._trusted(data.astype(out.dtype), indices, out.shape)


def _spatial(mat: Any) -> tuple[jax.Array, jax.Array]:
    """Entries of a `(1, 1, *spatial)` array, without batch dimensions."""
    if isinstance(mat, BCOO):
        mat = mat.update_layout(n_batch=2, n_dense=0)
        return mat.data[0, 0], mat.indices[0, 0]
    sizes = mat.shape[2:]
    dtype = index_dtype_for(*sizes)
    places = np.indices(sizes).reshape(len(sizes), math.prod(sizes)).T
    return jnp.asarray(mat).reshape(-1), jnp.asarray(places.astype(dtype))


@partial(jax.jit, static_argnames=("shapes", "before"), inline=True)
def _convolve(lhs_data, lhs_indices, rhs_data, rhs_indices, *, shapes, before):
    lhs_shape, rhs_shape, out = (s[2:] for s in shapes)
    lhs_indices, rhs_indices = as_kernel_index(lhs_indices, rhs_indices)
    real = in_range(lhs_indices, lhs_shape)[:, None] & in_range(rhs_indices, rhs_shape)[None, :]
    # Cell i of the result is the sum over the kernel's cells j of lhs[i + j - before] * rhs[j].
    places = lhs_indices[:, None] - (rhs_indices - along_last(before, rhs_indices))[None, :]
    real &= in_range(places, out)
    data = jnp.where(real, lhs_data[:, None] * rhs_data[None, :], 0).reshape(-1)
    places = jnp.where(real[..., None], places, along_last(out, places)).reshape(-1, len(out))
    cells = math.prod(out)
    if data.shape[0] > cells:
        data, places, _ = _entries.sum_duplicates(
            data, places, shape=out, nse=cells, remove_zeros=False
        )
    return data[None, None], places[None, None]
