"""Embeddings of bags: rows of a table, added up, averaged or maximised for each example."""

from typing import Any, Literal, NamedTuple

import jax.numpy as jnp
import numpy as np

from rarefy._ops.defs._ids import as_ids, require_ids
from rarefy._ops.defs._numbers import require_same_dtype
from rarefy._ops.defs.nn import row_gradient
from rarefy._ops.opdef import operator
from rarefy._ops.places import rows_of, with_stored
from rarefy._ops.storage import is_traced, to_dense
from rarefy._primitives.csr_dot_dense import csr_dot_dense
from rarefy._primitives.csr_sample_dot import csr_sample_dot
from rarefy._primitives.csr_t_dot_dense import csr_t_dot_dense
from rarefy._primitives.take_rows import take_rows
from rarefy.sparse import BCOO, BCSR
from rarefy.sparse._capacity import capacity
from rarefy.sparse._index import row_of_entry
from rarefy.sparse._row_sparse import csr_transpose_dot, stored_places

Mode = Literal["sum", "mean", "max"]
MODES = ("sum", "mean", "max")


class Bags(NamedTuple):
    """Bags of rows of a table with `n` rows.

    Attributes:
      weights: `(nse,)`, of each entry.
      ids: `(nse,)`, of each entry; `n` for one that does not count.
      indptr: `(b + 1,)`, dtype of `ids`: bag i has the entries from `indptr[i]` to before
        `indptr[i + 1]`.
    """

    weights: Any
    ids: Any
    indptr: Any

    def totals(self, n: int) -> Any:
        """The sum of the weights of each bag, `(b,)`."""
        inside = jnp.where((self.ids >= 0) & (self.ids < n), 0, 1).astype(self.ids.dtype)
        return csr_dot_dense(self.weights, inside, self.indptr, jnp.ones(1, self.weights.dtype))

    def rows(self) -> Any:
        """The bag of each entry; `b` behind the last."""
        return row_of_entry(self.indptr, self.ids.shape[0])


def _stored(bags: Bags, weight) -> tuple[Any, Any]:
    """The rows that a table stores, and for each entry the position of its row among them; one that
    does not exist for rows that are not stored, which are zeros."""
    if not isinstance(weight, BCOO):
        return weight, bags.ids
    rows = rows_of(weight)
    places = stored_places(rows, bags.ids.astype(rows.dtype), weight.shape[0])
    return weight.data, places.astype(bags.ids.dtype)


def _divisor(bags: Bags, n: int) -> Any:
    totals = bags.totals(n)
    return jnp.where(totals == 0, jnp.ones((), totals.dtype), totals)


def _check_mode(mode: str) -> None:
    if mode not in MODES:
        raise ValueError(f"mode must be one of {', '.join(MODES)}; got {mode!r}")


def _of_bags(bags: Bags, weight, mode: Mode):
    _check_mode(mode)
    n = weight.shape[0]
    if mode == "max":
        return _largest(bags, weight)[0]
    stored, places = _stored(bags, weight)
    total = csr_dot_dense(bags.weights, places, bags.indptr, stored)
    return total if mode == "sum" else total / _divisor(bags, n)[:, None]


def _largest(bags: Bags, weight):
    """The largest number of each column in each bag, and the entry that it comes from."""
    n, k = weight.shape
    row, b = bags.rows(), bags.indptr.shape[0] - 1
    nse = bags.ids.shape[0]
    counts = (bags.ids >= 0) & (bags.ids < n) & (bags.weights != 0)
    row = jnp.where(counts, row, b)
    values = take_rows(*_stored(bags, weight))
    best = jnp.full((b + 1, k), -jnp.inf, weight.dtype).at[row].max(values)
    entry = jnp.arange(nse, dtype=jnp.int32)[:, None]
    is_best = values == best[row]
    first = jnp.full((b + 1, k), nse, jnp.int32).at[row].min(jnp.where(is_best, entry, nse))
    filled = jnp.zeros(b + 1, bool).at[row].set(True)[:b, None]
    return jnp.where(filled, best[:b], jnp.zeros((), best.dtype)), first[:b]


def _gradients(want_weights: bool, want_table, bags: Bags, weight, output, g, mode: Mode):
    """Cotangents of the weights of the entries, `(nse,)`, and of the table."""
    n = weight.shape[0]
    if mode == "max":
        table = None if want_table is None else _gradient_of_largest(want_table, bags, weight, g)
        return (jnp.zeros_like(bags.weights) if want_weights else None), table
    if mode == "mean":
        g = g / _divisor(bags, n)[:, None]
    own = table = None
    if want_table == "row_sparse":
        rows = BCSR._trusted(bags.weights, bags.ids, bags.indptr, (g.shape[0], n))
        table = csr_transpose_dot(rows, g, capacity=capacity(min(rows.nse, n), n))
    elif want_table is not None:
        table = csr_t_dot_dense(*bags, g, n_cols=n)
    if want_weights:
        stored, places = _stored(bags, weight)
        own = csr_sample_dot(places, bags.indptr, g, stored)
        if mode == "mean":
            # A weight also counts in the divisor.
            own = own - take_rows(_through_divisor(bags, n, output, g), _real_rows(bags, n))
    return own, table


def _through_divisor(bags: Bags, n: int, output, g):
    """What a weight of each bag takes away by making the divisor larger, `(b,)`."""
    return jnp.where(bags.totals(n) == 0, 0, (g * output).sum(axis=1)).astype(g.dtype)


def _real_rows(bags: Bags, n: int):
    """The bag of each entry that counts; one that does not exist for the others."""
    real = (bags.ids >= 0) & (bags.ids < n)
    return jnp.where(real, bags.rows(), bags.indptr.shape[0] - 1).astype(bags.ids.dtype)


def _gradient_of_largest(want, bags: Bags, weight, g):
    n, k = weight.shape
    b, nse = bags.indptr.shape[0] - 1, bags.ids.shape[0]
    _, first = _largest(bags, weight)
    row = jnp.minimum(bags.rows(), max(b - 1, 0))
    if not (b and nse):
        rows = jnp.zeros((nse, k), g.dtype)
    else:
        won = first[row] == jnp.arange(nse, dtype=jnp.int32)[:, None]
        rows = jnp.where(won, g[row], jnp.zeros((), g.dtype))
    ids = jnp.where(bags.weights != 0, bags.ids, n)
    ids = jnp.where(jnp.arange(nse) < bags.indptr[-1], ids, n)
    table = row_gradient(ids, rows, n)
    return table if want == "row_sparse" else to_dense(table)


@operator("embedding_bag")
def embedding_bag(data, weight, *, mode: Mode = "sum"):
    """Combines rows of a table: those whose numbers are the columns that an example has.

    Args:
      data: csr `(b, n)`, floating (dense works too): the weight of each row of the table.
      weight: `(n, k)`, dtype of `data`, dense or row_sparse: the table.
      mode: 'sum' of the weighted rows; their 'mean', which is the sum divided by that of the weights
        (where it is not zero); or 'max', the largest number of each column in the rows whose weight is
        not zero.

    Returns:
      `(b, k)`, dense; zeros for an example without columns. The gradient of `weight` is row_sparse
      where that is asked for. That of 'max' goes to the first of the rows that are largest.

    Raises:
      MXNetError: shapes or dtypes do not fit, or the mode is unknown.

    Cost: O(nnz * k + b * k), forward and backward; the dense gradient costs the table.
    """
    _check_table(data, weight)
    _check_mode(mode)
    if mode == "max":
        present = (data != 0)[:, :, None]
        best = jnp.where(present, weight[None], -jnp.inf).max(axis=1, initial=-jnp.inf)
        return jnp.where(present.any(axis=1), best, 0).astype(weight.dtype)
    total = data @ weight
    if mode == "sum":
        return total
    weights = data.sum(axis=1, keepdims=True)
    return total / jnp.where(weights == 0, jnp.ones((), weights.dtype), weights)


def _check_table(data, weight) -> None:
    require_same_dtype(data, weight)
    if len(data.shape) != 2 or weight.ndim != 2 or data.shape[1] != weight.shape[0]:
        raise ValueError(
            f"data must be (b, n) and weight (n, k); got {tuple(data.shape)} and "
            f"{tuple(weight.shape)}"
        )


def _bags_of(data: BCSR) -> Bags:
    return Bags(data.data, data.indices, data.indptr.astype(data.indices.dtype))


@embedding_bag.rule("csr", "row_sparse", out="default")
@embedding_bag.rule("csr", "default", out="default")
def _(data, weight, *, mode):
    _check_table(data, weight)
    return _of_bags(_bags_of(data), weight, mode)


@embedding_bag.gradient("csr", "row_sparse")
@embedding_bag.gradient("csr", "default")
def _(want, inputs, output, cotangent, *, mode):
    data, weight = inputs
    g = to_dense(cotangent)
    bags = _bags_of(data)
    own, table = _gradients(want[0] == "csr", want[1], bags, weight, output, g, mode)
    if own is not None:
        return with_stored(data, own), table
    if want[0] is not None:
        own = _dense_data_gradient(data, to_dense(weight), output, g, mode)
    return own, table


def _dense_data_gradient(data: BCSR, weight, output, g, mode: Mode):
    if mode == "max":
        return jnp.zeros(data.shape, data.dtype)
    if mode == "sum":
        return g @ weight.T
    g = g / _divisor(_bags_of(data), weight.shape[0])[:, None]
    return g @ weight.T - _through_divisor(_bags_of(data), weight.shape[0], output, g)[:, None]


def _check_ids(values, params) -> None:
    data, weight, offsets, _ = values
    if not is_traced(data):
        ids = np.asarray(data)
        ids = np.where(ids == params["padding_idx"], 0, ids) if weight.shape[0] else ids
        require_ids("data", ids, weight.shape[0], "rows of weight")
    if offsets is None or is_traced(offsets):
        return
    starts, k = np.asarray(offsets), data.shape[0]
    if starts.ndim != 1 or (starts.size and starts[0] != 0):
        raise ValueError(f"offsets must be a vector that begins with 0; got {starts[:3]}")
    falls = np.flatnonzero(starts[1:] < starts[:-1])
    if falls.size:
        i = int(falls[0])
        raise ValueError(
            f"offsets must not fall, but offsets[{i}] is {starts[i]:g} and "
            f"offsets[{i + 1}] is {starts[i + 1]:g}"
        )
    if starts.size and starts[-1] > k:
        raise ValueError(f"offsets[{starts.size - 1}] is {starts[-1]:g}, beyond the {k} ids")


@operator("embedding_bag_of_ids", check=_check_ids)
def embedding_bag_of_ids(
    data,
    weight,
    offsets: Any = None,
    per_sample_weights: Any = None,
    *,
    mode: Mode = "sum",
    padding_idx: int = -1,
    include_last_offset: bool = False,
):
    """Combines rows of a table: those whose numbers each bag has.

    Args:
      data: row numbers, any numeric dtype: `(b, l)`, a bag in each row, or `(k,)` with offsets.
      weight: `(n, d)`, floating, dense or row_sparse: the table.
      offsets: `(b,)`: where in `data` each bag begins; ascending, the first is 0.
      per_sample_weights: shape of `data`, dtype of `weight`: what each row is multiplied by; ones by
        default. Not with 'max'.
      mode: 'sum' of the weighted rows; their 'mean', which is the sum divided by that of the weights
        (where it is not zero); or 'max', the largest number of each column.
      padding_idx: a number in `data` that stands for no row.
      include_last_offset: whether `offsets` has one more element, the number of ids.

    Returns:
      `(b, d)`, dense; zeros for an empty bag. The gradient of `weight` is row_sparse where that is
      asked for. That of 'max' goes to the first of the rows that are largest.

    Raises:
      MXNetError: a number is outside the table (in a compiled step, where numbers are not known, the
        result of its bag is NaN), offsets fall or are out of range, shapes do not fit, or the mode is
        unknown.

    Cost: O(data.size * d + b * d), forward and backward; the dense gradient costs the table.
    """
    bags, bad = _bags_of_ids(
        data, weight, offsets, per_sample_weights, mode, padding_idx, include_last_offset
    )
    out = _of_bags(bags, weight, mode)
    return jnp.where(bad[:, None], jnp.asarray(jnp.nan, out.dtype), out)


def _bags_of_ids(data, weight, offsets, weights, mode, padding_idx, include_last_offset):
    """The bags, and in which of them is a number outside the table."""
    if weight.ndim != 2:
        raise ValueError(f"weight must be (n, d); got {weight.shape}")
    if data.ndim != (2 if offsets is None else 1):
        raise ValueError(
            "data must be (b, l) without offsets and (k,) with them; got "
            f"{data.shape} {'without' if offsets is None else 'with'} offsets"
        )
    if weights is not None:
        if mode == "max":
            raise ValueError("per_sample_weights do not go with mode 'max'")
        require_same_dtype(weight, weights)
        if weights.shape != data.shape:
            raise ValueError(
                f"per_sample_weights must have the shape {data.shape} of data; got {weights.shape}"
            )
    n = weight.shape[0]
    padding = (data == padding_idx).reshape(-1)
    ids = as_ids(data, n).reshape(-1)
    if weights is None:
        weights = jnp.ones(ids.shape, weight.dtype)
    if offsets is None:
        indptr = jnp.arange(data.shape[0] + 1, dtype=ids.dtype) * data.shape[1]
    else:
        indptr = offsets.astype(ids.dtype)
        if not include_last_offset:
            indptr = jnp.append(indptr, jnp.asarray(data.shape[0], ids.dtype))
    outside = ~padding & ~((data >= 0) & (data < n)).reshape(-1)
    ids = jnp.where(padding | outside, n, ids)
    bags = Bags(weights.reshape(-1), ids, indptr)
    wrong = Bags(outside.astype(jnp.float32), jnp.zeros_like(ids), indptr).totals(1) > 0
    return bags, wrong


def _gradient_of_ids(want, inputs, output, cotangent, *, mode, padding_idx, include_last_offset):
    data, weight, offsets, weights = inputs
    bags, _ = _bags_of_ids(data, weight, offsets, weights, mode, padding_idx, include_last_offset)
    g = to_dense(cotangent)
    own, table = _gradients(want[3] is not None, want[1], bags, weight, output, g, mode)
    return None, table, None, (None if own is None else own.reshape(data.shape))


for _offsets in (None, "default"):
    for _weights in (None, "default"):
        for _table in ("default", "row_sparse"):
            _signature = ("default", _table, _offsets, _weights)
            embedding_bag_of_ids.gradient(*_signature)(_gradient_of_ids)
        embedding_bag_of_ids.rule(*_signature, out="default")(embedding_bag_of_ids.fn)
