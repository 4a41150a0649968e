"""Batches of sequences of different lengths, in arrays as long as the longest."""

from typing import Any

import jax.numpy as jnp

from rarefy._ops.opdef import operator


def _lengths(data, sequence_length, use_sequence_length: bool, axis: int):
    """The length of each sequence, shaped to stand against `data`; None where all are whole."""
    if axis not in (0, 1) or data.ndim < 2:
        raise ValueError(f"axis {axis} must be 0 or 1 and data {data.shape} have two axes")
    if use_sequence_length != (sequence_length is not None):
        raise ValueError(
            "sequence_length is missing"
            if use_sequence_length
            else "there is a sequence_length; pass use_sequence_length=True"
        )
    if sequence_length is None:
        return None
    if tuple(sequence_length.shape) != (data.shape[1 - axis],):
        raise ValueError(
            f"sequence_length must have shape {(data.shape[1 - axis],)} for data {data.shape}; got "
            f"{tuple(sequence_length.shape)}"
        )
    lengths = sequence_length.astype(jnp.int32)
    shape = (1, -1) if axis == 0 else (-1, 1)
    return lengths.reshape(*shape, *(1,) * (data.ndim - 2))


def _steps(data, axis: int):
    """The number of each step, shaped to stand against `data`."""
    shape = [1] * data.ndim
    shape[axis] = -1
    return jnp.arange(data.shape[axis], dtype=jnp.int32).reshape(shape)


@operator("SequenceMask")
def sequence_mask(
    data,
    sequence_length: Any = None,
    *,
    use_sequence_length: bool = False,
    value: float = 0.0,
    axis: int = 0,
):
    """Overwrites what lies beyond the end of each sequence.

    Args:
      data: `(steps, batch, *d)`, or `(batch, steps, *d)` with axis 1; sparse arrays go dense.
      sequence_length: `(batch,)`, any numeric dtype.
      use_sequence_length: whether there is `sequence_length`; else all sequences are whole.
      value: what is written.
      axis: the axis of the steps, 0 or 1.

    Returns:
      Shape and dtype of `data`, dense.

    Raises:
      MXNetError: shapes do not fit.
    """
    lengths = _lengths(data, sequence_length, use_sequence_length, axis)
    if lengths is None:
        return jnp.copy(data)
    return jnp.where(_steps(data, axis) < lengths, data, jnp.asarray(value).astype(data.dtype))


@operator("SequenceLast")
def sequence_last(
    data, sequence_length: Any = None, *, use_sequence_length: bool = False, axis: int = 0
):
    """Takes the last step of each sequence.

    Args:
      data: `(steps, batch, *d)`, or `(batch, steps, *d)` with axis 1; sparse arrays go dense.
      sequence_length: `(batch,)`, any numeric dtype, at least 1.
      use_sequence_length: whether there is `sequence_length`; else all sequences are whole.
      axis: the axis of the steps, 0 or 1.

    Returns:
      `(batch, *d)`, dtype of `data`, dense.

    Raises:
      MXNetError: shapes do not fit.
    """
    lengths = _lengths(data, sequence_length, use_sequence_length, axis)
    if lengths is None:
        return jnp.take(data, data.shape[axis] - 1, axis=axis)
    last = jnp.clip(lengths - 1, 0, data.shape[axis] - 1)
    return jnp.take_along_axis(data, last, axis=axis).squeeze(axis)


@operator("SequenceReverse")
def sequence_reverse(
    data, sequence_length: Any = None, *, use_sequence_length: bool = False, axis: int = 0
):
    """Reverses each sequence; what lies beyond its end stays.

    Args:
      data: `(steps, batch, *d)`; sparse arrays go dense.
      sequence_length: `(batch,)`, any numeric dtype.
      use_sequence_length: whether there is `sequence_length`; else all sequences are whole.
      axis: the axis of the steps; 0.

    Returns:
      Shape and dtype of `data`, dense.

    Raises:
      MXNetError: shapes do not fit, or the axis is not 0.
    """
    if axis != 0:
        raise ValueError(f"axis must be 0; got {axis}. Exchange the axes with swapaxes")
    lengths = _lengths(data, sequence_length, use_sequence_length, axis)
    if lengths is None:
        return jnp.flip(data, 0)
    steps = _steps(data, 0)
    source = jnp.where(steps < lengths, lengths - 1 - steps, steps)
    return jnp.take_along_axis(data, source, axis=0)
