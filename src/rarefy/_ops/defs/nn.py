"""Layers and their parts: embeddings, dense layers, activations, softmax."""

from typing import Any, Literal

import jax
import jax.numpy as jnp

from rarefy._ops.defs._ids import as_ids, require_ids
from rarefy._ops.defs._numbers import require_same_dtype
from rarefy._ops.defs.shape import flattened
from rarefy._ops.opdef import Scalar, operator
from rarefy._ops.places import rows_of
from rarefy._ops.storage import to_dense
from rarefy._primitives.group_rows import group_rows
from rarefy._primitives.segment_rows import segment_rows
from rarefy._primitives.take_rows import take_rows
from rarefy.sparse import BCOO
from rarefy.sparse._capacity import capacity
from rarefy.sparse._csr import csr_dot


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
    place = jnp.searchsorted(stored, ids.astype(stored.dtype)).astype(stored.dtype)
    found = stored.at[place].get(mode="fill", fill_value=-1) == ids
    rows = take_rows(weight.data, jnp.where(found, place, weight.nse))
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


def row_gradient(ids, rows, n: int) -> BCOO:
    """Sums rows by id, as a row_sparse value with sorted, distinct ids.

    Args:
      ids: `(k,)`, int32 or int64; ids outside `[0, n)` are left out.
      rows: `(k, *d)`.
      n: how many rows there are.
    """
    slots = capacity(min(ids.shape[0], n), n)
    groups = group_rows(ids, n_rows=n, capacity=slots)
    return BCOO._trusted(
        segment_rows(groups.order, groups.starts, rows),
        groups.rows[:, None],
        (n, *rows.shape[1:]),
        indices_sorted=True,
        unique_indices=True,
    )


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

ActType = Literal["relu", "sigmoid", "tanh", "softrelu", "softsign", "log_sigmoid", "mish"]
ACTIVATIONS = {
    "relu": jax.nn.relu,
    "sigmoid": jax.nn.sigmoid,
    "tanh": jnp.tanh,
    "softrelu": jax.nn.softplus,
    "softsign": lambda x: x / (1 + jnp.abs(x)),
    "log_sigmoid": jax.nn.log_sigmoid,
    "mish": jax.nn.mish,
}


@operator("Activation")
def activation(data, *, act_type: ActType):
    """Applies an activation function, element by element.

    Args:
      data: any shape, floating; sparse arrays go dense.
      act_type: 'relu', 'sigmoid', 'tanh', 'softrelu' (log(1 + exp(x))), 'softsign', 'log_sigmoid' or
        'mish'.

    Returns:
      Shape and dtype of `data`, dense.

    Raises:
      MXNetError: `act_type` is unknown.
    """
    if act_type not in ACTIVATIONS:
        raise ValueError(f"act_type must be one of {', '.join(ACTIVATIONS)}; got {act_type!r}")
    return ACTIVATIONS[act_type](data)


def _softmax_doc(says: str) -> str:
    return (
        f"Computes {says} along an axis.\n\n"
        "Args:\n"
        "  data: any shape, floating.\n"
        "  axis: the axis that sums to one.\n"
        "  temperature: `data` is divided by it first.\n"
        "  dtype: dtype of the result; None for that of `data`.\n"
        "  use_length: not supported.\n\n"
        "Returns:\n"
        "  Shape of `data`, dense.\n"
    )


def _softmax(name: str, fn, sign: float, says: str) -> None:
    def meaning(
        data,
        *,
        axis: int = -1,
        temperature: float | None = None,
        dtype: str | None = None,
        use_length: bool = False,
    ):
        if use_length:
            raise NotImplementedError("use_length=True is not supported; mask with where() instead")
        wide = jnp.promote_types(data.dtype, jnp.float32)
        x = sign * data.astype(wide) / (temperature or 1.0)
        return fn(x, axis=axis).astype(dtype or data.dtype)

    meaning.__doc__ = _softmax_doc(says)
    operator(name)(meaning)


_softmax("softmax", jax.nn.softmax, 1.0, "exp(x) / sum(exp(x))")
_softmax("log_softmax", jax.nn.log_softmax, 1.0, "log(softmax(x))")
_softmax("softmin", jax.nn.softmax, -1.0, "softmax(-x)")


@operator("softmax_cross_entropy")
def softmax_cross_entropy(data, label):
    """Computes the cross entropy of softmax and labels, summed over the batch.

    Args:
      data: `(b, classes)`, floating.
      label: `(b,)`: class numbers.

    Returns:
      `(1,)`, dtype of `data`.
    """
    logs = jax.nn.log_softmax(data, axis=-1)
    picked = jnp.take_along_axis(logs, label.astype(jnp.int32)[:, None], axis=-1)
    return -picked.sum(dtype=data.dtype).reshape(1)


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


@operator("LeakyReLU")
def leaky_relu(
    data,
    gamma=None,
    *,
    act_type: Literal["leaky", "elu", "selu", "gelu", "prelu"] = "leaky",
    slope: Scalar = 0.25,
    lower_bound: float = 0.125,
    upper_bound: float = 0.334,
):
    """Applies a rectifier that lets something through below zero.

    Args:
      data: any shape, floating.
      gamma: `(channels,)` or `(1,)`: the slopes of 'prelu', along axis 1.
      act_type: 'leaky', 'elu', 'selu', 'gelu' or 'prelu'.
      slope: of 'leaky' and 'elu'.
      lower_bound, upper_bound: accepted for MXNet's sake.

    Returns:
      Shape and dtype of `data`, dense.

    Raises:
      MXNetError: `act_type` is unknown, or 'prelu' has no gamma.
    """
    alpha = jnp.asarray(slope, data.dtype)
    if act_type == "leaky":
        return jnp.where(data > 0, data, alpha * data)
    if act_type == "elu":
        return jnp.where(data > 0, data, alpha * jnp.expm1(jnp.minimum(data, 0)))
    if act_type == "selu":
        return jax.nn.selu(data)
    if act_type == "gelu":
        return jax.nn.gelu(data, approximate=False)
    if act_type == "prelu":
        if gamma is None:
            raise ValueError("act_type='prelu' needs gamma")
        slopes = gamma.reshape(1, -1, *(1,) * (data.ndim - 2)) if data.ndim > 1 else gamma
        return jnp.where(data > 0, data, slopes * data)
    raise ValueError(f"act_type must be leaky, elu, selu, gelu or prelu; got {act_type!r}")
