"""MXNet's path `mx.optimizer.contrib`."""

from rarefy.optimizer._group_adagrad import GroupAdaGrad as GroupAdaGrad
from rarefy.optimizer._optimizer import register as register

__all__ = ["GroupAdaGrad"]
