"""Optimizers: how weights move by their gradients, lazily by rows or as a whole."""

from rarefy.optimizer._adagrad import AdaGrad
from rarefy.optimizer._adam import Adam
from rarefy.optimizer._ftrl import Ftrl
from rarefy.optimizer._optimizer import Optimizer, create, register
from rarefy.optimizer._sgd import SGD
from rarefy.optimizer._step import TrainStep
from rarefy.optimizer._updater import Updater, get_updater
