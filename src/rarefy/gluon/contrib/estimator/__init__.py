"""A training loop with handlers of its events."""

from rarefy.gluon.contrib.estimator import batch_processor, estimator, event_handler
from rarefy.gluon.contrib.estimator._checkpoint import CheckpointHandler
from rarefy.gluon.contrib.estimator.batch_processor import BatchProcessor
from rarefy.gluon.contrib.estimator.estimator import Estimator
from rarefy.gluon.contrib.estimator.event_handler import (
    BatchBegin,
    BatchEnd,
    EarlyStoppingHandler,
    EpochBegin,
    EpochEnd,
    EventHandler,
    GradientUpdateHandler,
    LoggingHandler,
    MetricHandler,
    ProgressBarHandler,
    StoppingHandler,
    TrainBegin,
    TrainEnd,
    ValidationHandler,
)

__all__ = [
    "BatchBegin",
    "BatchEnd",
    "BatchProcessor",
    "CheckpointHandler",
    "EarlyStoppingHandler",
    "EpochBegin",
    "EpochEnd",
    "Estimator",
    "EventHandler",
    "GradientUpdateHandler",
    "LoggingHandler",
    "MetricHandler",
    "ProgressBarHandler",
    "StoppingHandler",
    "TrainBegin",
    "TrainEnd",
    "ValidationHandler",
    "batch_processor",
    "estimator",
    "event_handler",
]
