"""Sorting, the largest elements, and running sums."""

from typing import Literal

import jax.numpy as jnp

from rarefy._ops.opdef import operator


def _flat(data, axis):
    return (data.reshape(-1), 0) if axis is None else (data, axis)


@operator("sort")
def sort(data, *, axis: int | None = -1, is_ascend: bool = True):
    """Sorts along an axis.

    Args:
      data: any shape; sparse arrays go dense.
      axis: the axis; None for the flat array.
      is_ascend: whether the smallest come first.

    Returns:
      dtype of `data`, dense.
    """
    data, axis = _flat(data, axis)
    ordered = jnp.sort(data, axis=axis)
    return ordered if is_ascend else jnp.flip(ordered, axis)


@operator("argsort", differentiable=False)
def argsort(data, *, axis: int | None = -1, is_ascend: bool = True, dtype: str = "float32"):
    """Finds the order that sorts along an axis; equal elements keep theirs.

    Args:
      data: any shape; sparse arrays go dense.
      axis: the axis; None for the flat array.
      is_ascend: whether the smallest come first.
      dtype: dtype of the result.

    Returns:
      Shape of `data`, dense.
    """
    data, axis = _flat(data, axis)
    return jnp.argsort(data, axis=axis, stable=True, descending=not is_ascend).astype(dtype)


@operator("topk", results=lambda ret_typ, **_: 2 if ret_typ == "both" else 1)
def topk(
    data,
    *,
    axis: int | None = -1,
    k: int = 1,
    ret_typ: Literal["indices", "value", "both", "mask"] = "indices",
    is_ascend: bool = False,
    dtype: str = "float32",
):
    """Finds the k largest elements along an axis.

    Args:
      data: any shape; sparse arrays go dense.
      axis: the axis; None for the flat array.
      k: how many; 0 or less for all.
      ret_typ: 'indices', 'value', 'both', or 'mask' (1 where an element is one of them).
      is_ascend: whether the smallest are meant.
      dtype: dtype of the indices.

    Returns:
      Dense; for 'both' the values and the indices.
    """
    data, axis = _flat(data, axis)
    k = k if k > 0 else data.shape[axis]
    if k > data.shape[axis]:
        raise ValueError(f"k is {k}, but axis {axis} has {data.shape[axis]} elements")
    order = jnp.argsort(data, axis=axis, stable=True, descending=not is_ascend)
    places = jnp.take(order, jnp.arange(k), axis=axis)
    if ret_typ == "mask":
        hit = jnp.zeros_like(data)
        return jnp.put_along_axis(hit, places, jnp.ones((), data.dtype), axis, inplace=False)
    values = jnp.take_along_axis(data, places, axis=axis)
    indices = places.astype(dtype)
    return {"indices": indices, "value": values, "both": (values, indices)}[ret_typ]


@operator("cumsum")
def cumsum(a, *, axis: int | None = None, dtype: str | None = None):
    """Computes running sums along an axis.

    Args:
      a: any shape; sparse arrays go dense.
      axis: the axis; None for the flat array.
      dtype: dtype of the result; None for that of `a`.

    Returns:
      Dense.
    """
    return jnp.cumsum(a, axis=axis, dtype=dtype or a.dtype)
