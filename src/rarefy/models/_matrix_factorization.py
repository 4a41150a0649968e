"""Scores of pairs of a user and an item."""

from typing import Any

from rarefy.gluon import HybridBlock
from rarefy.gluon.nn._sparse_layers import grad_stype
from rarefy.initializer import Normal


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
