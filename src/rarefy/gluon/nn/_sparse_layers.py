"""Layers whose tables have gradients by rows: for csr input and for bags of ids."""

from typing import Any, Literal

from rarefy.base import ArgumentError
from rarefy.gluon.block import HybridBlock
from rarefy.gluon.nn.activations import Activation


class SparseDense(HybridBlock):
    """`activation(x @ weight + bias)` for csr input of many columns.

    Args:
      units: columns of the result.
      activation: the name of an activation function, or None.
      use_bias: whether there is a bias.
      dtype: of the parameters.
      weight_initializer, bias_initializer: None for that of the model.
      in_units: columns of `x`; 0 to find them out from the first batch.
      sparse_grad: whether the gradient of `weight` is row_sparse, with the columns that occur in the
        batch; otherwise it is as large as `weight`.
      **kwargs: of HybridBlock.

    Called with `x`, csr `(b, in_units)` (dense works too); returns `(b, units)`, dense. Parameters:
    `weight`, `(in_units, units)`, and `bias`, `(units,)`. Cost: O(nnz * units), forward and backward.
    """

    def __init__(
        self,
        units: int,
        activation: str | None = None,
        use_bias: bool = True,
        dtype: Any = "float32",
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_units: int = 0,
        sparse_grad: bool = True,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        with self.name_scope():
            self.weight = self.params.get(
                "weight",
                shape=(in_units, units),
                init=weight_initializer,
                dtype=dtype,
                allow_deferred_init=True,
                grad_stype=grad_stype(sparse_grad),
            )
            self.bias = None
            if use_bias:
                self.bias = self.params.get(
                    "bias", shape=(units,), init=bias_initializer, dtype=dtype
                )
            self.act = None
            if activation is not None:
                self.act = Activation(activation, prefix=f"{activation}_")

    def __repr__(self) -> str:
        inputs, units = self.weight.shape or (0, 0)
        return f"{type(self).__name__}({inputs or None} -> {units}, {self.act or 'linear'})"

    def hybrid_forward(self, F: Any, x: Any, weight: Any, bias: Any = None) -> Any:
        out = F.dot(x, weight, name="fwd")
        if bias is not None:
            out = F.broadcast_add(out, bias)
        return out if self.act is None else self.act(out)


def grad_stype(sparse_grad: bool) -> Literal["default", "row_sparse"]:
    return "row_sparse" if sparse_grad else "default"


class EmbeddingBag(HybridBlock):
    """Rows of a table, combined for each bag of row numbers, without the rows as an array.

    Args:
      input_dim: rows of the table; 0 to find them out from the columns of csr input.
      output_dim: columns.
      mode: 'sum' of the rows, each times its weight; their 'mean', which is the sum divided by that of
        the weights; or 'max', the largest number of each column.
      dtype: of the table.
      weight_initializer: of the table; None for that of the model.
      sparse_grad: whether the gradient of the table is row_sparse, with the rows that occur.
      padding_idx: a number that stands for no row.
      include_last_offset: whether `offsets` has one more element, the number of ids.
      **kwargs: of HybridBlock.

    Called with one of these; each returns `(b, output_dim)`, zeros for an empty bag:

    | | |
    |---|---|
    | `bag(x)` | `x` csr `(b, input_dim)`: columns are row numbers, values are weights |
    | `bag(ids)` | `(b, l)`, a bag in each row, filled up with `padding_idx` |
    | `bag(ids, offsets)` | `(k,)`, and `(b,)`: where each bag begins, the first at 0 |

    After them may come `per_sample_weights`, of the shape of `ids`: `bag(ids, None, weights)`. With
    'max' weights do not count, but for a csr value of 0, which is no entry.

    Parameter: `weight`, `(input_dim, output_dim)`. A compiled block is compiled again for another
    number of ids; csr input and `(b, l)` have few shapes.

    Raises:
      ArgumentError: csr input comes with offsets or weights.
      MXNetError: a number is outside the table (in a compiled step the result of its bag is NaN),
        offsets fall or are out of range, shapes do not fit, or the mode is unknown.
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        mode: Literal["sum", "mean", "max"] = "sum",
        dtype: Any = "float32",
        weight_initializer: Any = None,
        sparse_grad: bool = True,
        padding_idx: int = -1,
        include_last_offset: bool = False,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self._mode = mode
        self._options = {"padding_idx": padding_idx, "include_last_offset": include_last_offset}
        self.weight = self.params.get(
            "weight",
            shape=(input_dim, output_dim),
            init=weight_initializer,
            dtype=dtype,
            allow_deferred_init=True,
            grad_stype=grad_stype(sparse_grad),
        )

    def __repr__(self) -> str:
        inputs, outputs = self.weight.shape or (0, 0)
        return f"{type(self).__name__}({inputs or None} -> {outputs}, {self._mode})"

    def hybrid_forward(
        self,
        F: Any,
        x: Any,
        offsets: Any = None,
        per_sample_weights: Any = None,
        *,
        weight: Any,
    ) -> Any:
        if getattr(x, "stype", "default") == "csr":
            if offsets is not None or per_sample_weights is not None:
                raise ArgumentError(
                    "csr input says itself where bags begin and what their weights are; give it "
                    "without offsets and per_sample_weights"
                )
            return F.embedding_bag(x, weight, mode=self._mode)
        return F.embedding_bag_of_ids(
            x, weight, offsets, per_sample_weights, mode=self._mode, **self._options
        )
