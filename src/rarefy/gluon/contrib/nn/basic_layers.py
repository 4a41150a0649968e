"""Containers whose children all get the same input, and a table that is stored by rows."""

from typing import Any

from rarefy import nd
from rarefy.gluon.block import HybridBlock
from rarefy.gluon.nn import Embedding, HybridSequential, Sequential

__all__ = ["Concurrent", "HybridConcurrent", "Identity", "SparseEmbedding"]


class Concurrent(Sequential):
    """Gives its input to all children and puts their results side by side.

    Args:
      axis: the axis along which they are put together.
      prefix, params: of Block.
    """

    def __init__(self, axis: int = -1, prefix: str | None = None, params: Any = None):
        super().__init__(prefix=prefix, params=params)
        self.axis = axis

    def forward(self, x: Any, *args: Any) -> Any:
        return nd.concat(*(block(x, *args) for block in self._children.values()), dim=self.axis)


class HybridConcurrent(HybridSequential):
    """Gives its input to all children and puts their results side by side; can be compiled.

    Args:
      axis: the axis along which they are put together.
      prefix, params: of HybridBlock.
    """

    def __init__(self, axis: int = -1, prefix: str | None = None, params: Any = None):
        super().__init__(prefix=prefix, params=params)
        self.axis = axis

    def hybrid_forward(self, F: Any, x: Any, *args: Any) -> Any:
        return F.concat(*(block(x, *args) for block in self._children.values()), dim=self.axis)


class Identity(HybridBlock):
    """Returns its input."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return x


class SparseEmbedding(Embedding):
    """Looks up rows of a table; storage and gradient of the table are row_sparse.

    Args:
      input_dim: rows of the table.
      output_dim: columns.
      dtype: of the table.
      weight_initializer: of the table; None for that of the model.
      **kwargs: of HybridBlock.

    Called with numbers of any shape; returns `(*x.shape, output_dim)`. Parameter: `weight`,
    `(input_dim, output_dim)`. `nn.Embedding` with sparse_grad, whose table is dense, is faster.
    """

    _table_stype = "row_sparse"

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        dtype: Any = "float32",
        weight_initializer: Any = None,
        **kwargs: Any,
    ):
        super().__init__(
            input_dim, output_dim, dtype, weight_initializer, sparse_grad=True, **kwargs
        )
