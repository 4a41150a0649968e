"""Sums of rows by group: the gradient of a gather of rows."""

import jax
from jax import numpy as jnp
from jax.interpreters import ad, batching

from rarefy._primitives._batching import one_by_one
from rarefy._primitives._define import Form, bind, define, like, public
from rarefy._primitives._entries import accumulator, sum_rows, take_or_zero
from rarefy._primitives.take_rows import take_rows


@public()
def segment_rows(order, starts, values, *, form: Form = "auto") -> jax.Array:
    """Sums the rows of each group that `group_rows` found.

    Args:
      order: `(nse,)`, int32: entries sorted by group, each at most once.
      starts: `(capacity + 1,)`, int32, non-decreasing, from 0 to at most `nse`: the entries of
        group `i` are `order[starts[i]:starts[i + 1]]`.
      values: `(nse, *d)`, floating: a row for each entry.
      form: which implementation to use.

    Returns:
      `(capacity, *d)`, dtype of `values`: the sum of `values[e]` over the entries `e` of each
      group; zeros for an empty group. 16-bit floats are summed in float32. The bits of the kernel
      are the same for any number of threads.

    Raises:
      ValueError: `order`, `starts` and `values` do not fit together.

    Cost: O((starts[-1] + capacity) * prod(d)).
    """
    if (
        order.ndim != 1
        or starts.ndim != 1
        or starts.shape[0] == 0
        or values.ndim == 0
        or values.shape[0] != order.shape[0]
    ):
        raise ValueError(
            f"segment_rows: order must be (nse,), starts (capacity + 1,) and values (nse, *d), got "
            f"{jax.typeof(order)}, {jax.typeof(starts)} and {jax.typeof(values)}"
        )
    return bind("segment_rows", order, starts, values, form=form)


def group_of_position(starts, nse: int) -> jax.Array:
    """Tells to which group each position of `order` belongs.

    Args:
      starts: `(capacity + 1,)`, int32, as `group_rows` gives it.
      nse: length of `order`.

    Returns:
      `(nse,)`, int32: the group, ascending; `capacity` for positions from `starts[-1]` on.

    Cost: O(nse + capacity).
    """
    ends = jnp.zeros(nse, jnp.int32).at[starts[1:]].add(1, mode="drop", indices_are_sorted=True)
    return jnp.cumsum(ends, dtype=jnp.int32)


def _segment_rows_xla(order, starts, values):
    (nse,), capacity = order.shape, starts.shape[0] - 1
    taken = take_or_zero(values, order, (order >= 0) & (order < nse))
    group = group_of_position(starts, nse)
    wide = taken.astype(accumulator(values.dtype))
    return sum_rows(wide, group, group < capacity, capacity, values.dtype)


def _segment_rows_abstract(order, starts, values):
    return like(values, (starts.shape[0] - 1, *values.shape[1:]), values.dtype)


def _segment_rows_jvp(tangent, order, starts, values, *, form):
    return bind("segment_rows", order, starts, tangent, form=form)


def _segment_rows_transpose(cotangent, order, starts, values, *, form):
    if type(cotangent) is ad.Zero:
        return None, None, ad.Zero(values.aval)
    (nse,), capacity = order.shape, starts.shape[0] - 1
    group = group_of_position(starts, nse)
    inverse = jnp.full(nse, capacity, jnp.int32).at[order].set(group, mode="drop")
    return None, None, take_rows(cotangent, inverse, form=form)


def _segment_rows_batch(args, dims, *, form):
    (order, starts, values), (order_dim, starts_dim, values_dim) = args, dims
    if order_dim is None and starts_dim is None:  # the batch becomes part of each row
        values = jnp.moveaxis(values, values_dim, 1)
        return bind("segment_rows", order, starts, values, form=form), 1
    return one_by_one(segment_rows_p)(args, dims, form=form)


segment_rows_p = define("segment_rows", abstract=_segment_rows_abstract, xla=_segment_rows_xla)
ad.defjvp(segment_rows_p, None, None, _segment_rows_jvp)
ad.primitive_transposes[segment_rows_p] = _segment_rows_transpose
batching.primitive_batchers[segment_rows_p] = _segment_rows_batch
