"""Models over sparse rows: recommenders as blocks; training from files, model folders, scoring."""

from rarefy.models._checkpoint import CHECKPOINT, Checkpoint, Position
from rarefy.models._deep import DeepFM, WideDeep
from rarefy.models._files import ModelFileError
from rarefy.models._header import KINDS, ModelHeader
from rarefy.models._history import CURVES, HISTORY
from rarefy.models._matrix_factorization import MatrixFactorization
from rarefy.models._model import HEADER, TENSORS, Model
from rarefy.models._plan import Plan, Reading, make_plan
from rarefy.models._problem import Problem, pose
from rarefy.models._scoring import MAIN_METRIC, evaluate, metric_names
from rarefy.models._settings import Settings, settings
from rarefy.models._training import Reporter, Training

__all__ = [
    "CHECKPOINT",
    "CURVES",
    "HEADER",
    "HISTORY",
    "KINDS",
    "MAIN_METRIC",
    "TENSORS",
    "Checkpoint",
    "DeepFM",
    "MatrixFactorization",
    "Model",
    "ModelFileError",
    "ModelHeader",
    "Plan",
    "Position",
    "Problem",
    "Reading",
    "Reporter",
    "Settings",
    "Training",
    "WideDeep",
    "evaluate",
    "make_plan",
    "metric_names",
    "pose",
    "settings",
]
