"""How `jax.vmap` maps over a sparse value: over its batch axes, as one leaf."""

from typing import Any

from jax.interpreters import batching


def register(layout: type) -> None:
    """Makes `jax.vmap` take values of `layout` as leaves whose axes are batch axes."""
    batching.register_vmappable(layout, int, int, _element, _collect, None)


def _element(continuation, _get_index, value, axis: int | None):
    """Takes one element of a batched value: the buffers lose `axis`."""
    if axis is None:
        return value
    axis = axis + value.ndim if axis < 0 else axis
    if not 0 <= axis < value.n_batch:
        name = type(value).__name__
        raise ValueError(
            f"Cannot map in_axis={axis} for {name} array with n_batch={value.n_batch}. in_axes for "
            f"batched {name} operations must correspond to a batch dimension."
        )
    shape = (*value.shape[:axis], *value.shape[axis + 1 :])
    size = value.shape[axis]
    buffers = [_map_buffer(continuation, b, axis, size) for b in value._bufs]
    return value._with_buffers(*buffers, shape=shape)


def _map_buffer(continuation, buffer: Any, axis: int, size: int):
    if buffer.shape[axis] == size:
        return continuation(buffer, axis)
    return continuation(buffer.squeeze(axis), None)  # one for the whole batch


def _collect(continuation, axis_size: int, value, axis: int | None):
    """Makes a batched value of the elements: the buffers gain `axis`."""
    if axis is None:
        buffers = [continuation(axis_size, b, None) for b in value._bufs]
        return value._with_buffers(*buffers, shape=value.shape)
    axis = axis + value.ndim + 1 if axis < 0 else axis
    if not 0 <= axis <= value.n_batch:
        name = type(value).__name__
        raise ValueError(
            f"{name}: cannot add out_axis={axis} for {name} array with n_batch={value.n_batch}. "
            f"{name} batch axes must be a contiguous block of leading dimensions."
        )
    buffers = [continuation(axis_size, b, axis) for b in value._bufs]
    shape = (*value.shape[:axis], axis_size, *value.shape[axis:])
    return value._with_buffers(*buffers, shape=shape)
