"""Layers: embeddings, dense layers, dropout."""

from typing import Any, Literal

import jax
import jax.numpy as jnp
from jax import lax

from rarefy._ops.defs._ids import as_ids, require_ids
from rarefy._ops.defs._numbers import require_same_dtype
from rarefy._ops.defs.shape import flattened
from rarefy._ops.opdef import operator
from rarefy._ops.places import rows_of
from rarefy._ops.storage import to_dense
from rarefy._primitives.group_rows import group_rows
from rarefy._primitives.segment_rows import segment_rows
from rarefy._primitives.take_rows import take_rows
from rarefy.sparse import BCOO, BCSR
from rarefy.sparse._capacity import capacity
from rarefy.sparse._csr import csr_dot
from rarefy.sparse._row_sparse import remember_factors, stored_places


def _check_embedding(values, params) -> None:
    data, weight = values
    require_ids("data", data, weight.shape[0], "rows of weight")


@operator("Embedding", check=_check_embedding)
def embedding(
    data,
    weight,
    *,
    input_dim: int,
    output_dim: int,
    dtype: str = "float32",
    sparse_grad: bool = False,
):
    """Looks up rows of a table.

    Args:
      data: any shape, any numeric dtype: row ids.
      weight: `(input_dim, output_dim)`, floating; dense or row_sparse.
      input_dim: rows of the table.
      output_dim: columns of the table.
      dtype: accepted for MXNet's sake; the result has the dtype of `weight`.
      sparse_grad: whether the gradient of `weight` is row_sparse, with sorted, distinct ids; then
        `weight` needs `attach_grad(stype="row_sparse")`.

    Returns:
      `(*data.shape, output_dim)`, dense.

    Raises:
      MXNetError: an id is outside the table (it is not clipped; in a compiled step, where ids are not
        known, its row is NaN), or `weight` has another shape.

    Cost: O(ids * output_dim), forward and backward with sparse_grad; the dense gradient costs the
    table.
    """
    _check_table(weight, input_dim, output_dim)
    rows = take_rows(weight, as_ids(data, input_dim).reshape(-1))
    return _poisoned(rows, data, input_dim).reshape(*data.shape, output_dim)


def _check_table(weight, input_dim: int, output_dim: int) -> None:
    if tuple(weight.shape) != (input_dim, output_dim):
        raise ValueError(
            f"weight has shape {tuple(weight.shape)}, but input_dim={input_dim} and "
            f"output_dim={output_dim}"
        )


def _poisoned(rows, data, n: int):
    """Makes the rows of ids outside the table NaN; concrete ids have been checked before."""
    inside = (data >= 0) & (data < n)
    return jnp.where(inside.reshape(-1, 1), rows, jnp.asarray(jnp.nan, rows.dtype))


@embedding.rule("default", "row_sparse", out="default")
def _(data, weight, *, input_dim, output_dim, dtype, sparse_grad):
    _check_table(weight, input_dim, output_dim)
    ids = as_ids(data, input_dim).reshape(-1)
    stored = rows_of(weight)
    place = stored_places(stored, ids.astype(stored.dtype), input_dim)
    rows = take_rows(weight.data, place)
    return _poisoned(rows, data, input_dim).reshape(*data.shape, output_dim)


def _embedding_gradient(
    want, inputs, output, cotangent, *, input_dim, output_dim, dtype, sparse_grad
):
    data, weight = inputs
    if want[1] is None:
        return None, None
    ids = as_ids(data, input_dim).reshape(-1)
    rows = to_dense(cotangent).reshape(ids.shape[0], output_dim)
    if want[1] == "row_sparse" or sparse_grad:
        return None, row_gradient(ids, rows, input_dim)
    wide = jnp.promote_types(rows.dtype, jnp.float32)
    total = jnp.zeros((input_dim, output_dim), wide).at[ids].add(rows.astype(wide), mode="drop")
    return None, total.astype(weight.dtype)


embedding.gradient("default", "default")(_embedding_gradient)
embedding.gradient("default", "row_sparse")(_embedding_gradient)


@operator("_contrib_SparseEmbedding", visible="internal", check=_check_embedding)
def sparse_embedding(
    data,
    weight,
    *,
    input_dim: int,
    output_dim: int,
    dtype: str = "float32",
    sparse_grad: bool = False,
):
    """Looks up rows of a table, as `Embedding` with sparse_grad, which stands in its place.

    Args:
      data: any shape, any numeric dtype: row ids.
      weight: `(input_dim, output_dim)`, floating; dense or row_sparse.
      input_dim: rows of the table.
      output_dim: columns of the table.
      dtype, sparse_grad: accepted for MXNet's sake; the gradient is row_sparse.

    Returns:
      `(*data.shape, output_dim)`, dense.

    Raises:
      MXNetError: an id is outside the table, or `weight` has another shape.
    """
    return embedding.fn(
        data,
        weight,
        input_dim=input_dim,
        output_dim=output_dim,
        dtype=dtype,
        sparse_grad=sparse_grad,
    )


def _sparse_embedding_gradient(want, inputs, output, cotangent, **params):
    params["sparse_grad"] = True
    return _embedding_gradient(want, inputs, output, cotangent, **params)


sparse_embedding.rules = embedding.rules
sparse_embedding.gradient("default", "default")(_sparse_embedding_gradient)
sparse_embedding.gradient("default", "row_sparse")(_sparse_embedding_gradient)


def row_gradient(ids, rows, n: int) -> BCOO:
    """Sums rows by id, as a row_sparse value with sorted, distinct ids.

    Args:
      ids: `(k,)`, int32 or int64; ids outside `[0, n)` are left out.
      rows: `(k, *d)`.
      n: how many rows there are.
    """
    slots = capacity(min(ids.shape[0], n), n)
    groups = group_rows(ids, n_rows=n, capacity=slots)
    sums = BCOO._trusted(
        segment_rows(groups.order, groups.starts, rows),
        groups.rows[:, None],
        (n, *rows.shape[1:]),
        indices_sorted=True,
        unique_indices=True,
    )
    k = ids.shape[0]
    one_each = BCSR._trusted(jnp.ones(k, rows.dtype), ids, lax.iota(ids.dtype, k + 1), (k, n))
    return remember_factors(sums, one_each, rows)


@operator("FullyConnected")
def fully_connected(
    data,
    weight,
    bias: Any = None,
    *,
    num_hidden: int,
    no_bias: bool = False,
    flatten: bool = True,
):
    """Applies a dense layer: `data @ weight.T + bias`.

    Args:
      data: `(b, *d)`; dense or csr.
      weight: `(num_hidden, prod(d))`, or `(num_hidden, d[-1])` without flatten; dense or row_sparse.
      bias: `(num_hidden,)`; left out with no_bias.
      num_hidden: rows of `weight`.
      no_bias: whether there is no bias.
      flatten: whether all axes but the first are taken together.

    Returns:
      `(b, num_hidden)`, or `(*data.shape[:-1], num_hidden)` without flatten; dense.

    Raises:
      MXNetError: shapes or dtypes do not fit.
    """
    x = flattened(data) if flatten else data
    _check_layer(x, weight, bias, num_hidden, no_bias)
    out = jnp.matmul(x, weight.T, preferred_element_type=x.dtype)
    return out if no_bias else out + bias


def _check_layer(x, weight, bias, num_hidden: int, no_bias: bool) -> None:
    if no_bias != (bias is None):
        raise ValueError("bias is missing" if bias is None else "no_bias=True, but there is a bias")
    require_same_dtype(x, weight, *(() if bias is None else (bias,)))
    expected = (num_hidden, x.shape[-1])
    if tuple(weight.shape) != expected:
        raise ValueError(
            f"weight must have shape {expected} for data {x.shape}; got {weight.shape}"
        )
    if bias is not None and tuple(bias.shape) != (num_hidden,):
        raise ValueError(f"bias must have shape {(num_hidden,)}; got {tuple(bias.shape)}")


def _layer_rule(*signature):
    @fully_connected.rule(*signature, out="default")
    def _(data, weight, bias: Any = None, *, num_hidden, no_bias, flatten):
        if signature[0] == "csr":
            _check_layer(data, weight, bias, num_hidden, no_bias)
            out = csr_dot(data, to_dense(weight).T)
            return out if no_bias else out + bias
        x = flattened(data) if flatten else data
        _check_layer(x, weight, bias, num_hidden, no_bias)
        stored = jnp.matmul(x, weight.data.T, preferred_element_type=x.dtype)
        out = jnp.zeros((*x.shape[:-1], num_hidden), x.dtype)
        out = out.at[..., rows_of(weight)].set(stored, mode="drop")
        return out if no_bias else out + bias


for _bias in (None, "default"):
    _layer_rule("csr", "default", _bias)
    _layer_rule("csr", "row_sparse", _bias)
    _layer_rule("default", "row_sparse", _bias)


@operator("Dropout", needs_key=True, needs_training=True)
def dropout(
    data,
    *,
    p: float = 0.5,
    mode: Literal["training", "always"] = "training",
    axes: tuple[int, ...] = (),
    key: Any = None,
    training: bool = False,
):
    """Sets random elements to zero and scales the others by 1 / (1 - p), in training.

    Args:
      data: any shape, floating.
      p: the share that becomes zero.
      mode: 'training' (only under `autograd.record()` or `train_mode()`) or 'always'.
      axes: axes along which all elements share their fate.

    Returns:
      Shape and dtype of `data`, dense.

    Raises:
      MXNetError: `p` is outside `[0, 1)`.
    """
    if not 0 <= p < 1:
        raise ValueError(f"p must lie in [0, 1); got {p}")
    if p == 0 or not (training or mode == "always"):
        return jnp.copy(data)
    shape = tuple(1 if i in axes else n for i, n in enumerate(data.shape))
    kept = jax.random.bernoulli(key, 1 - p, shape)
    return jnp.where(kept, data / (1 - p), jnp.zeros((), data.dtype)).astype(data.dtype)
