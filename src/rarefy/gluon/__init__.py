"""Models out of layers, in MXNet's style."""

from rarefy.gluon import block, contrib, data, loss, nn, parameter, trainer, utils
from rarefy.gluon.block import Block, HybridBlock, SymbolBlock
from rarefy.gluon.parameter import (
    Constant,
    DeferredInitializationError,
    Parameter,
    ParameterDict,
    UninitializedParameterError,
)
from rarefy.gluon.train_step import TrainStep
from rarefy.gluon.trainer import Trainer
