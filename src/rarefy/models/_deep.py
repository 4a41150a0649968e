"""Models with a linear part and a network over the vectors of features."""

from collections.abc import Sequence
from typing import Any

from rarefy import nd
from rarefy.base import ArgumentError
from rarefy.gluon import HybridBlock
from rarefy.gluon.nn import Dense, Dropout, HybridSequential
from rarefy.gluon.nn._interactions import fields_of
from rarefy.gluon.nn._sparse_layers import grad_stype
from rarefy.initializer import Normal


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
                inputs = self._n_fields * factors
                for units in hidden:
                    self.network.add(Dense(units, activation, dtype=dtype, in_units=inputs))
                    if dropout:
                        self.network.add(Dropout(dropout))
                    inputs = units
                self.network.add(Dense(1, dtype=dtype, in_units=inputs))

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
