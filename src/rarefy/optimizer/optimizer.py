"""MXNet's path `mx.optimizer.optimizer`."""

from rarefy.optimizer._adadelta import AdaDelta
from rarefy.optimizer._adagrad import AdaGrad
from rarefy.optimizer._adam import Adam
from rarefy.optimizer._adamax import Adamax
from rarefy.optimizer._adamw import AdamW
from rarefy.optimizer._dcasgd import DCASGD
from rarefy.optimizer._ftml import FTML
from rarefy.optimizer._ftrl import Ftrl
from rarefy.optimizer._lamb import LAMB
from rarefy.optimizer._lars import LARS
from rarefy.optimizer._lbsgd import LBSGD
from rarefy.optimizer._nadam import Nadam
from rarefy.optimizer._nag import NAG
from rarefy.optimizer._optimizer import Optimizer, create, register
from rarefy.optimizer._rmsprop import RMSProp
from rarefy.optimizer._sgd import SGD, ccSGD
from rarefy.optimizer._sgld import SGLD
from rarefy.optimizer._signum import Signum
from rarefy.optimizer._trial import Test
from rarefy.optimizer._updater import Updater, get_updater

__all__ = [
    "DCASGD",
    "FTML",
    "LAMB",
    "LARS",
    "LBSGD",
    "NAG",
    "SGD",
    "SGLD",
    "AdaDelta",
    "AdaGrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Ftrl",
    "Nadam",
    "Optimizer",
    "RMSProp",
    "Signum",
    "Test",
    "Updater",
    "ccSGD",
    "create",
    "get_updater",
    "register",
]
