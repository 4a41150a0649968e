"""Layers."""

from rarefy.gluon.block import Block, HybridBlock
from rarefy.gluon.nn import activations, basic_layers
from rarefy.gluon.nn._interactions import (
    CrossNetwork,
    FactorizationMachine,
    FieldAwareFactorizationMachine,
)
from rarefy.gluon.nn._sequential import HybridSequential, Sequential
from rarefy.gluon.nn._sparse_layers import EmbeddingBag, SparseDense
from rarefy.gluon.nn.activations import (
    ELU,
    GELU,
    SELU,
    Activation,
    LeakyReLU,
    PReLU,
    SiLU,
    Swish,
)
from rarefy.gluon.nn.basic_layers import (
    BatchNorm,
    BatchNormReLU,
    Dense,
    Dropout,
    Embedding,
    Flatten,
    GroupNorm,
    HybridLambda,
    InstanceNorm,
    Lambda,
    LayerNorm,
)

__all__ = [
    "ELU",
    "GELU",
    "SELU",
    "Activation",
    "BatchNorm",
    "BatchNormReLU",
    "Block",
    "CrossNetwork",
    "Dense",
    "Dropout",
    "Embedding",
    "EmbeddingBag",
    "FactorizationMachine",
    "FieldAwareFactorizationMachine",
    "Flatten",
    "GroupNorm",
    "HybridBlock",
    "HybridLambda",
    "HybridSequential",
    "InstanceNorm",
    "Lambda",
    "LayerNorm",
    "LeakyReLU",
    "PReLU",
    "Sequential",
    "SiLU",
    "SparseDense",
    "Swish",
    "activations",
    "basic_layers",
]
