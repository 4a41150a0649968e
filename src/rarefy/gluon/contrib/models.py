"""Recommender models for csr input, built of layers."""

from collections.abc import Sequence
from typing import Any

from rarefy import nd
from rarefy.base import ArgumentError
from rarefy.gluon.block import HybridBlock
from rarefy.gluon.nn import Dense, Dropout, HybridSequential
from rarefy.gluon.nn._interactions import fields_of
from rarefy.gluon.nn._sparse_layers import grad_stype
from rarefy.initializer import Normal

__all__ = ["DeepFM", "MatrixFactorization", "WideDeep"]


class _Deep(HybridBlock):
    """A linear model plus a network over the vectors of the features that occur.

    The network reads, side by side, for each field the sum of the vectors of its features.

    Args:
      factors: the length of the vectors.
      field_of_feature: `(in_units,)`: the field of each column, from 0 on; None for one field.
      in_units: columns of the input; 0 to find them out. Known from the fields where these are given.
      hidden: units of the hidden layers.
      dropout: the share of hidden units that is dropped in training.
      activation: of the hidden layers.
      dtype: of the parameters.
      factor_initializer: of the vectors.
      sparse_grad: whether the gradients of the tables are row_sparse, with the columns that occur.
      **kwargs: of HybridBlock.

    Called with `x`, csr `(b, in_units)`; returns `(b, 1)`. Parameters: `weight`, `(in_units, 1)`,
    `factors`, `(in_units, factors)`, those of the network, whose last layer has the bias, and with
    fields the constant `field`. Cost: O(nnz * factors), and the network.
    """

    def __init__(
        self,
        factors: int,
        field_of_feature: Sequence[int] | Any = None,
        in_units: int = 0,
        hidden: Sequence[int] = (64, 32),
        dropout: float = 0.0,
        activation: str = "relu",
        dtype: Any = "float32",
        factor_initializer: Any = Normal(0.01),  # noqa: B008 - initializers do not change
        sparse_grad: bool = True,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self._n_fields = 1
        self.field = None
        if field_of_feature is not None:
            field = fields_of(field_of_feature)
            if in_units not in (0, field.size):
                raise ArgumentError(
                    f"in_units is {in_units}, but {field.size} features have fields"
                )
            in_units, self._n_fields = field.size, int(field.max()) + 1
            self.field = self.params.get_constant("field", nd.array(field, dtype="int32"))
        table: dict[str, Any] = {
            "dtype": dtype,
            "allow_deferred_init": True,
            "grad_stype": grad_stype(sparse_grad),
        }
        self.weight = self.params.get("weight", shape=(in_units, 1), init="zeros", **table)
        self.factors = self.params.get(
            "factors", shape=(in_units, factors), init=factor_initializer, **table
        )
        with self.name_scope():
            self.network = HybridSequential()
            with self.network.name_scope():
                for units in hidden:
                    self.network.add(Dense(units, activation, dtype=dtype))
                    if dropout:
                        self.network.add(Dropout(dropout))
                self.network.add(Dense(1, dtype=dtype))

    def _deep(self, F: Any, x: Any, factors: Any, field: Any) -> Any:
        if field is None:
            return self.network(F.embedding_bag(x, factors))
        return self.network(F.field_embedding(x, factors, field, n_fields=self._n_fields))


class WideDeep(_Deep):
    __doc__ = f"""{_Deep.__doc__}
    Crossed features are columns of `x` like others.

    Source: Cheng et al., Wide & Deep Learning for Recommender Systems (2016).
    """

    def hybrid_forward(self, F: Any, x: Any, weight: Any, factors: Any, field: Any = None) -> Any:
        return F.dot(x, weight) + self._deep(F, x, factors, field)


class DeepFM(_Deep):
    __doc__ = f"""{_Deep.__doc__}
    The pairwise term of a factorization machine with the same vectors is added.

    Source: Guo, Tang, Ye, Li and He, DeepFM (2017).
    """

    def hybrid_forward(self, F: Any, x: Any, weight: Any, factors: Any, field: Any = None) -> Any:
        pairs = F.factorization_machine(x, factors)
        return F.dot(x, weight) + pairs + self._deep(F, x, factors, field)


class MatrixFactorization(HybridBlock):
    """Scores of users and items: `bias + b[user] + c[item] + p[user] . q[item]`.

    Args:
      n_users: how many users there are.
      n_items: how many items.
      factors: the length of the vectors.
      use_bias: whether there are biases.
      dtype: of the parameters.
      factor_initializer: of the vectors.
      sparse_grad: whether the gradients of the tables are row_sparse, with the ids that occur.
      **kwargs: of HybridBlock.

    Called with `users` and `items`, `(b,)`, numbers from 0 on; returns `(b,)`. Parameters: `user`,
    `(n_users, factors)`, `item`, `(n_items, factors)`, `user_bias`, `(n_users, 1)`, `item_bias`,
    `(n_items, 1)`, and `bias`, `(1,)`. Cost: O(b * factors).

    Source: Koren, Bell and Volinsky, Matrix Factorization Techniques for Recommender Systems (2009).
    """

    def __init__(
        self,
        n_users: int,
        n_items: int,
        factors: int,
        use_bias: bool = True,
        dtype: Any = "float32",
        factor_initializer: Any = Normal(0.1),  # noqa: B008 - initializers do not change
        sparse_grad: bool = True,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self._sparse_grad = sparse_grad
        self._sizes = {"user": n_users, "item": n_items}
        for name, n in self._sizes.items():
            tables = [(name, factors, factor_initializer)]
            if use_bias:
                tables.append((f"{name}_bias", 1, "zeros"))
            for table, columns, init in tables:
                parameter = self.params.get(
                    table,
                    shape=(n, columns),
                    init=init,
                    dtype=dtype,
                    grad_stype=grad_stype(sparse_grad),
                )
                setattr(self, table, parameter)
        self.bias = (
            self.params.get("bias", shape=(1,), init="zeros", dtype=dtype) if use_bias else None
        )

    def __repr__(self) -> str:
        sizes = f"{self._sizes['user']} x {self._sizes['item']}"
        return f"{type(self).__name__}({sizes}, {(self._reg_params['user'].shape or (0, 0))[1]})"

    def hybrid_forward(self, F: Any, users: Any, items: Any, **params: Any) -> Any:
        def rows(ids: Any, table: str, of: str) -> Any:
            columns = self._reg_params[table].shape or (0, 0)
            return F.Embedding(
                ids,
                params[table],
                input_dim=self._sizes[of],
                output_dim=columns[1],
                sparse_grad=self._sparse_grad,
            )

        scores = F.sum(rows(users, "user", "user") * rows(items, "item", "item"), axis=-1)
        if self.bias is None:
            return scores
        for ids, of in ((users, "user"), (items, "item")):
            scores = scores + F.sum(rows(ids, f"{of}_bias", of), axis=-1)
        return F.broadcast_add(scores, params["bias"])
