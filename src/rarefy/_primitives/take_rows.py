"""The gather of rows from a table."""

import jax
from jax import numpy as jnp
from jax.interpreters import ad, batching

from rarefy._primitives._batching import one_by_one
from rarefy._primitives._define import Form, bind, define, like, public
from rarefy._primitives._entries import accumulator, sum_rows, take_or_zero


@public()
def take_rows(table, rows, *, form: Form = "auto") -> jax.Array:
    """Copies rows out of a dense table.

    Args:
      table: `(n, *d)`, floating.
      rows: `(k,)`, int32 or int64: any order, repeats allowed.
      form: which implementation to use.

    Returns:
      `(k, *d)`, dtype of `table`: `table[rows[i]]` at `i`; zeros where `rows[i]` is outside
      `[0, n)`. A negative id does not count from the end.

    Raises:
      ValueError: `table` is a scalar, or `rows` has not one dimension or no integers.

    Cost: O(k * prod(d)). The gradient with respect to `table` is dense, O((n + k) * prod(d));
    `segment_rows` gives it as rows.
    """
    if table.ndim == 0 or rows.ndim != 1 or not jnp.issubdtype(rows.dtype, jnp.integer):
        raise ValueError(
            f"take_rows: table must be (n, *d) and rows (k,) integers,"
            f" got {jax.typeof(table)} and {jax.typeof(rows)}"
        )
    return bind("take_rows", table, rows, form=form)


def _take_rows_xla(table, rows):
    # `.at` would count a negative id from the end.
    return take_or_zero(table, rows, rows >= 0)


def _take_rows_abstract(table, rows):
    return like(table, (*rows.shape, *table.shape[1:]), table.dtype)


def _take_rows_jvp(tangent, table, rows, *, form):
    return bind("take_rows", tangent, rows, form=form)


def _take_rows_transpose(cotangent, table, rows, *, form):
    if type(cotangent) is ad.Zero:
        return ad.Zero(table.aval), None
    (n, *_), dtype = table.aval.shape, table.aval.dtype
    return sum_rows(cotangent.astype(accumulator(dtype)), rows, rows >= 0, n, dtype), None


def _take_rows_batch(args, dims, *, form):
    (table, rows), (table_dim, rows_dim) = args, dims
    if rows_dim is None:  # the batch becomes part of each row
        return bind("take_rows", jnp.moveaxis(table, table_dim, 1), rows, form=form), 1
    if table_dim is None:  # one longer list of rows
        rows = jnp.moveaxis(rows, rows_dim, 0)
        out = bind("take_rows", table, rows.reshape(-1), form=form)
        return out.reshape(*rows.shape, *out.shape[1:]), 0
    return one_by_one(take_rows_p)(args, dims, form=form)


take_rows_p = define("take_rows", abstract=_take_rows_abstract, xla=_take_rows_xla)
ad.defjvp(take_rows_p, _take_rows_jvp, None)
ad.primitive_transposes[take_rows_p] = _take_rows_transpose
batching.primitive_batchers[take_rows_p] = _take_rows_batch
