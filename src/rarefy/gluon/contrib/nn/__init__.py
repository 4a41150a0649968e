"""More layers."""

from rarefy.gluon.contrib.nn.basic_layers import (
    Concurrent,
    HybridConcurrent,
    Identity,
    SparseEmbedding,
)

__all__ = ["Concurrent", "HybridConcurrent", "Identity", "SparseEmbedding"]
