"""Operators that cut arrays into parts, replace blocks of them or regroup them."""

import jax.numpy as jnp

from rarefy._ops.defs._numbers import require_same_dtype
from rarefy._ops.defs.shape import spans_of
from rarefy._ops.opdef import operator

Shape = tuple[int, ...]


def _parts(indices: Shape, sections: int = 0, **_) -> int:
    return sections or len(indices)


@operator("_split_v2", visible="internal", results=_parts)
def split_v2(
    data, *, indices: Shape = (), axis: int = 1, squeeze_axis: bool = False, sections: int = 0
):
    """Cuts an array into parts along an axis.

    Args:
      data: any shape; sparse arrays go dense.
      indices: where each part begins, 0 first.
      axis: the axis.
      squeeze_axis: whether an axis that has become 1 disappears.
      sections: the number of equal parts, instead of `indices`.

    Returns:
      The parts, dense.

    Raises:
      MXNetError: the axis does not divide evenly, or an index lies beyond its end.
    """
    n = data.shape[axis]
    if sections:
        if n % sections:
            raise ValueError(f"axis {axis} of size {n} does not divide into {sections} equal parts")
        parts = jnp.split(data, sections, axis)
    else:
        if any(not 0 <= i <= n for i in indices) or list(indices) != sorted(indices):
            raise ValueError(f"indices {indices} must ascend within axis {axis} of size {n}")
        parts = jnp.split(data, indices[1:], axis)
    return tuple(jnp.squeeze(p, axis) if squeeze_axis else p for p in parts)


def _require_images(data) -> None:
    if data.ndim != 4:
        raise ValueError(f"data must be (n, channels, height, width); got {data.shape}")


@operator("depth_to_space")
def depth_to_space(data, *, block_size: int):
    """Moves channels into blocks of places.

    Args:
      data: `(n, b * b * c, h, w)`, with the block size b; sparse arrays go dense.
      block_size: b.

    Returns:
      `(n, c, h * b, w * b)`, dtype of `data`.

    Raises:
      MXNetError: the shape does not fit.
    """
    _require_images(data)
    n, channels, h, w = data.shape
    b = block_size
    if b < 1 or channels % (b * b):
        raise ValueError(f"{channels} channels do not divide into blocks of {b} x {b}")
    x = data.reshape(n, b, b, channels // (b * b), h, w)
    return x.transpose(0, 3, 4, 1, 5, 2).reshape(n, channels // (b * b), h * b, w * b)


@operator("space_to_depth")
def space_to_depth(data, *, block_size: int):
    """Moves blocks of places into channels, the inverse of `depth_to_space`.

    Args:
      data: `(n, c, h * b, w * b)`, with the block size b; sparse arrays go dense.
      block_size: b.

    Returns:
      `(n, b * b * c, h, w)`, dtype of `data`.

    Raises:
      MXNetError: the shape does not fit.
    """
    _require_images(data)
    n, c, height, width = data.shape
    b = block_size
    if b < 1 or height % b or width % b:
        raise ValueError(f"places of {height} x {width} do not divide into blocks of {b} x {b}")
    x = data.reshape(n, c, height // b, b, width // b, b)
    return x.transpose(0, 3, 5, 1, 2, 4).reshape(n, b * b * c, height // b, width // b)


@operator("_slice_assign", aliases=("_crop_assign",), visible="internal")
def slice_assign(lhs, rhs, *, begin: tuple, end: tuple, step: tuple = ()):
    """Replaces a block of an array.

    Args:
      lhs: any shape; sparse arrays go dense.
      rhs: the shape of the block, dtype of `lhs`.
      begin, end, step: the block, as of `slice`.

    Returns:
      Shape and dtype of `lhs`, dense.
    """
    require_same_dtype(lhs, rhs)
    return lhs.at[_block_of(lhs.shape, begin, end, step)].set(rhs)


@operator("_slice_assign_scalar", aliases=("_crop_assign_scalar",), visible="internal")
def slice_assign_scalar(data, *, scalar: float = 0.0, begin: tuple, end: tuple, step: tuple = ()):
    """Replaces a block of an array by a number.

    Args:
      data: any shape; sparse arrays go dense.
      scalar: the number.
      begin, end, step: the block, as of `slice`.

    Returns:
      Shape and dtype of `data`, dense.
    """
    block = _block_of(data.shape, begin, end, step)
    return data.at[block].set(jnp.asarray(scalar).astype(data.dtype))


def _block_of(shape: Shape, begin, end, step) -> tuple[slice, ...]:
    spans_of(shape, begin, end, step)  # refuses what does not fit
    steps = step or (None,) * len(begin)
    return tuple(slice(b, e, s) for b, e, s in zip(begin, end, steps, strict=True))
