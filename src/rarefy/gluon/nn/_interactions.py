"""Layers of products of features."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rarefy import nd
from rarefy.base import ArgumentError
from rarefy.gluon.block import HybridBlock
from rarefy.gluon.nn._sparse_layers import grad_stype
from rarefy.initializer import Normal


class _Machine(HybridBlock):
    """A linear model plus a term for pairs of features.

    Args:
      shape: of the vectors of the features.
      use_linear, use_bias: whether there are a linear term, a bias.
      dtype: of the parameters.
      weight_initializer, bias_initializer, factor_initializer: of the linear term, the bias, the
        vectors.
      sparse_grad: whether the gradients of tables are row_sparse.
      **kwargs: of HybridBlock.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        use_linear: bool,
        use_bias: bool,
        dtype: Any,
        weight_initializer: Any,
        bias_initializer: Any,
        factor_initializer: Any,
        sparse_grad: bool,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        table = {
            "dtype": dtype,
            "allow_deferred_init": True,
            "grad_stype": grad_stype(sparse_grad),
        }
        self.factors = self.params.get("factors", shape=shape, init=factor_initializer, **table)
        self.weight = self.bias = None
        if use_linear:
            self.weight = self.params.get(
                "weight", shape=(shape[0], 1), init=weight_initializer, **table
            )
        if use_bias:
            self.bias = self.params.get("bias", shape=(1,), init=bias_initializer, dtype=dtype)

    def __repr__(self) -> str:
        inputs, *others = self.factors.shape or (0,)
        return f"{type(self).__name__}({inputs or None} -> {' x '.join(map(str, others))})"

    def _with_linear(self, F: Any, pairs: Any, x: Any, weight: Any, bias: Any) -> Any:
        if weight is not None:
            pairs = pairs + F.dot(x, weight)
        return pairs if bias is None else F.broadcast_add(pairs, bias)


class FactorizationMachine(_Machine):
    """`bias + x @ weight` plus, for each pair of features, the product of their vectors.

    For a row it is `bias + sum_i w[i] x[i] + sum_{i < j} (v[i] . v[j]) x[i] x[j]`.

    Args:
      factors: the length of the vectors.
      in_units: columns of `x`; 0 to find them out from the first batch.
      use_linear, use_bias: whether there are a linear term, a bias.
      dtype: of the parameters.
      weight_initializer: of `weight`; None for that of the model.
      bias_initializer: of `bias`.
      factor_initializer: of `factors`. Zeros would stay zeros.
      sparse_grad: whether the gradients of the tables are row_sparse, with the columns that occur.
      **kwargs: of HybridBlock.

    Called with `x`, csr `(b, in_units)` (dense works too); returns `(b, 1)`. Parameters: `factors`,
    `(in_units, factors)`, `weight`, `(in_units, 1)`, and `bias`, `(1,)`. Cost: O(nnz * factors).

    Source: Rendle, Factorization Machines (2010).
    """

    def __init__(
        self,
        factors: int,
        in_units: int = 0,
        use_linear: bool = True,
        use_bias: bool = True,
        dtype: Any = "float32",
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        factor_initializer: Any = Normal(0.01),  # noqa: B008 - initializers do not change
        sparse_grad: bool = True,
        **kwargs: Any,
    ):
        super().__init__(
            (in_units, factors),
            use_linear,
            use_bias,
            dtype,
            weight_initializer,
            bias_initializer,
            factor_initializer,
            sparse_grad,
            **kwargs,
        )

    def hybrid_forward(
        self, F: Any, x: Any, factors: Any, weight: Any = None, bias: Any = None
    ) -> Any:
        return self._with_linear(F, F.factorization_machine(x, factors), x, weight, bias)


class FieldAwareFactorizationMachine(_Machine):
    """A factorization machine whose features have a vector for each field of their partners.

    For a row it is `bias + sum_i w[i] x[i] + sum_{i < j} (v[i, f[j]] . v[j, f[i]]) x[i] x[j]`, where
    `f[i]` is the field of feature i.

    Args:
      factors: the length of the vectors.
      field_of_feature: `(in_units,)`: the field of each column of `x`, from 0 on.
      n_fields: how many fields; by default one more than the largest.
      use_linear, use_bias: whether there are a linear term, a bias.
      dtype: of the parameters.
      weight_initializer: of `weight`; None for that of the model.
      bias_initializer: of `bias`.
      factor_initializer: of `factors`. Zeros would stay zeros.
      sparse_grad: whether the gradients of the tables are row_sparse, with the columns that occur.
      **kwargs: of HybridBlock.

    Called with `x`, csr `(b, in_units)` (dense works too); returns `(b, 1)`. Parameters: `factors`,
    `(in_units, n_fields, factors)`, `weight`, `(in_units, 1)`, `bias`, `(1,)`, and the constant
    `field`, `(in_units,)`. Cost: O(nnz * n_fields * factors + b * n_fields^2 * factors).

    Raises:
      ArgumentError: `field_of_feature` is no vector of whole numbers, or a field is out of range.

    Source: Juan, Zhuang, Chin and Lin, Field-aware Factorization Machines for CTR Prediction (2016).
    """

    def __init__(
        self,
        factors: int,
        field_of_feature: Sequence[int] | Any,
        n_fields: int | None = None,
        use_linear: bool = True,
        use_bias: bool = True,
        dtype: Any = "float32",
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        factor_initializer: Any = Normal(0.01),  # noqa: B008 - initializers do not change
        sparse_grad: bool = True,
        **kwargs: Any,
    ):
        field = fields_of(field_of_feature)
        if n_fields is None:
            n_fields = int(field.max()) + 1
        outside = np.flatnonzero((field < 0) | (field >= n_fields))
        if outside.size:
            raise ArgumentError(
                f"field_of_feature[{outside[0]}] is {field[outside[0]]}, outside the {n_fields} fields"
            )
        super().__init__(
            (field.size, n_fields, factors),
            use_linear,
            use_bias,
            dtype,
            weight_initializer,
            bias_initializer,
            factor_initializer,
            sparse_grad,
            **kwargs,
        )
        self.field = self.params.get_constant("field", nd.array(field, dtype="int32"))

    def hybrid_forward(
        self,
        F: Any,
        x: Any,
        factors: Any,
        field: Any,
        weight: Any = None,
        bias: Any = None,
    ) -> Any:
        pairs = F.field_aware_factorization_machine(x, factors, field)
        return self._with_linear(F, pairs, x, weight, bias)


def fields_of(given: Any) -> np.ndarray:
    """The field of each feature, checked, int64.

    Raises:
      ArgumentError: it is no vector of whole numbers.
    """
    field = np.asarray(given.asnumpy() if isinstance(given, nd.NDArray) else given)
    if field.ndim != 1 or field.size == 0 or (field != np.round(field)).any():
        raise ArgumentError(
            "field_of_feature must be a vector with a whole number for each feature; got shape "
            f"{field.shape}, dtype {field.dtype}"
        )
    return field.astype(np.int64)


class CrossNetwork(HybridBlock):
    """Products of features of growing degree: `x' = x0 * (x . w) + b + x`, layer after layer.

    Args:
      num_layers: how many layers; the result has products of up to `num_layers + 1` features.
      in_units: columns of `x`; 0 to find them out from the first batch.
      matrix: whether there is a matrix in place of the vector `w`: `x' = x0 * (W x + b) + x`.
      dtype: of the parameters.
      weight_initializer, bias_initializer: None for that of the model.
      **kwargs: of HybridBlock.

    Called with `x`, dense `(b, in_units)`; returns the same shape. Parameters, for each layer i:
    `weight{i}`, `(in_units, 1)`, with `matrix` `(in_units, in_units)`, and `bias{i}`, `(in_units,)`.

    Raises:
      ArgumentError: there is no layer.

    Source: Wang, Fu, Fu and Wang, Deep & Cross Network for Ad Click Predictions (2017); with `matrix`
    Wang et al., DCN V2 (2021).
    """

    def __init__(
        self,
        num_layers: int,
        in_units: int = 0,
        matrix: bool = False,
        dtype: Any = "float32",
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        **kwargs: Any,
    ):
        if num_layers < 1:
            raise ArgumentError(f"num_layers must be at least 1; got {num_layers}")
        super().__init__(**kwargs)
        self._num_layers = num_layers
        self._matrix = matrix
        for i in range(num_layers):
            for name, shape, init in (
                (f"weight{i}", (in_units, in_units if matrix else 1), weight_initializer),
                (f"bias{i}", (in_units,), bias_initializer),
            ):
                parameter = self.params.get(
                    name, shape=shape, init=init, dtype=dtype, allow_deferred_init=True
                )
                setattr(self, name, parameter)

    def __repr__(self) -> str:
        kind = "matrix" if self._matrix else "vector"
        return f"{type(self).__name__}({self._num_layers} layers, {kind})"

    def hybrid_forward(self, F: Any, x: Any, **params: Any) -> Any:
        first = x
        for i in range(self._num_layers):
            weight, bias = params[f"weight{i}"], params[f"bias{i}"]
            if self._matrix:
                units = first.shape[1]
                layer = F.FullyConnected(x, weight, bias, num_hidden=units)
                x = first * layer + x
            else:
                product = F.broadcast_mul(first, F.dot(x, weight))
                x = F.broadcast_add(product, bias) + x
        return x
