"""All settings of a training, and defaults that suit the data."""

import dataclasses
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, get_type_hints

from rarefy.models._header import DEEP, KINDS, NAMES, NORMS

OPTIMIZERS = ("adagrad", "sgd", "adam", "ftrl")
SCHEDULES = ("linear", "constant")
SCALINGS = ("auto", "none")

# Rows that a training with default epochs sees, and the most epochs that it takes over them.
_ROWS_SEEN = 300_000
_MOST_EPOCHS = 30


@dataclass(frozen=True)
class Settings:
    """What a training does. Everything that changes the result stands here.

    The objective is the mean loss over the rows plus `l1 * |w| + l2 / 2 * |w|^2`, the sums over all
    weights and factors (not the bias) of unscaled features.

    Attributes:
      model: 'linear', 'fm', 'widedeep', 'deepfm' or 'mf'.
      optimizer: 'adagrad', 'sgd', 'adam' or 'ftrl'.
      lr: the learning rate at the beginning; that of factors is `factor_lr` times it.
      schedule: 'linear' lets the steps fall to zero over all epochs, 'constant' keeps the rate.
      l1: strength of L1; needs 'ftrl'.
      l2: strength of L2.
      batch_size: rows a step.
      epochs: passes over the rows, at most.
      patience: how many epochs without a better validation loss end the training; 0 for all epochs.
      shuffle: whether rows come in random order, another one in each epoch.
      seed: of the order of rows and of the first factors.
      normalize: 'l2' divides each row by its norm, also when predicting; 'none' does not.
      scaling: 'auto' trains on scaled columns where that helps (`ColumnScaling`), 'none' never.
      factors: length of factor vectors; 0 for 'linear'.
      factor_lr: see `lr`.
      factor_std: standard deviation of the first factors.
      hidden: units of the hidden layers of 'widedeep' and 'deepfm', as in '64,32'; else empty.
      dropout: the share of hidden units that is dropped in training.
    """

    model: str
    optimizer: str
    lr: float
    schedule: str
    l1: float
    l2: float
    batch_size: int
    epochs: int
    patience: int
    shuffle: bool
    seed: int
    normalize: str
    scaling: str
    factors: int
    factor_lr: float
    factor_std: float
    # With defaults, as checkpoints of the first release are without them.
    hidden: str = ""
    dropout: float = 0.0

    @property
    def layers(self) -> tuple[int, ...]:
        """Units of the hidden layers."""
        return tuple(map(int, self.hidden.split(","))) if self.hidden else ()

    def concerns(self, name: str) -> bool:
        """Whether a setting means anything for the model."""
        if name.startswith("factor"):
            return self.model != "linear"
        return self.model in DEEP or name not in ("hidden", "dropout")

    def __post_init__(self):
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise ValueError(
                    f"{name} must be one of {', '.join(choices)}; got {getattr(self, name)!r}"
                )
        for name, (least, strict) in _BOUNDS.items():
            value = getattr(self, name)
            if not math.isfinite(value) or value < least or (strict and value == least):
                bound = f"more than {least}" if strict else f"{least} or more"
                raise ValueError(f"{name} must be finite and {bound}; got {value!r}")
        if self.l1 and self.optimizer != "ftrl":
            raise ValueError(
                f"l1 makes weights exactly zero with the optimizer ftrl only; got {self.optimizer}"
            )
        if (self.model != "linear") != (self.factors > 0):
            raise ValueError(
                "factors must be positive for a factorization machine and 0 for a linear model; "
                f"got {self.factors} for {self.model}"
            )
        self._check_network()

    def _check_network(self) -> None:
        if self.optimizer == "ftrl" and self.model not in ("linear", "fm"):
            raise ValueError(
                f"{NAMES[self.model]} is trained by adagrad, adam or sgd; ftrl is for linear models "
                "and factorization machines"
            )
        if self.model == "mf" and self.normalize != "none":
            raise ValueError(
                "rows of a matrix factorization are pairs; there is nothing to normalize"
            )
        if self.model not in DEEP:
            if self.hidden or self.dropout:
                raise ValueError(
                    f"hidden and dropout are of models with a network ({', '.join(DEEP)}); the model "
                    f"is {self.model}"
                )
            return
        if not re.fullmatch(r"[1-9]\d*(,[1-9]\d*)*", self.hidden, re.ASCII):
            raise ValueError(f"hidden must be sizes of layers, as in 64,32; got {self.hidden!r}")
        if len(self.layers) > 100 or max(self.layers) > 1 << 16:
            raise ValueError(
                f"hidden must be up to 100 layers of up to 65,536 units; got {self.hidden}"
            )
        if self.dropout >= 1:
            raise ValueError(f"dropout must be less than 1; got {self.dropout}")

    def as_dict(self) -> dict[str, Any]:
        """The settings by name, as a header keeps them."""
        return asdict(self)

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> "Settings":
        """The settings that `as_dict` returned.

        Raises:
          ValueError: one is missing, unknown or not as it must be.
        """
        names = get_type_hints(cls)
        defaults = {
            f.name: f.default
            for f in dataclasses.fields(cls)
            if f.default is not dataclasses.MISSING
        }
        found = {**defaults, **found}
        for name in names.keys() ^ found.keys():
            raise ValueError(f"setting {name!r} is {'missing' if name in names else 'unknown'}")
        for name, kind in names.items():
            value = found[name]
            if kind is float and type(value) is int:
                value = float(value)
            if type(value) is not kind:
                raise ValueError(f"setting {name!r} must be a {kind.__name__}; got {value!r}")
        return cls(**found)


_CHOICES = {
    "model": KINDS,
    "optimizer": OPTIMIZERS,
    "schedule": SCHEDULES,
    "normalize": NORMS,
    "scaling": SCALINGS,
}
_BOUNDS = {
    "lr": (0, True),
    "l1": (0, False),
    "l2": (0, False),
    "batch_size": (1, False),
    "epochs": (1, False),
    "patience": (0, False),
    "factors": (0, False),
    "factor_lr": (0, True),
    "factor_std": (0, False),
    "dropout": (0, False),
}


def settings(rows: int, loss: str, squared_norm: float, **given: Any) -> Settings:
    """Fills in what is not given.

    Found by trying on real sets of 800 to 40,000 rows and on planted click logs of 200,000: AdaGrad
    whose squares start at 1 (see `make_optimizer`) and whose rate falls to zero, over 300,000 rows
    in all, with a batch that grows as the root of the rows.

    Args:
      rows: number of training rows.
      loss: 'squared', 'logistic' or 'softmax'.
      squared_norm: mean of the squared norms of the rows as they are trained on.
      **given: settings by name; None is as not given.

    Returns:
      The settings, checked.

    Raises:
      ValueError: one is not as it must be, or two do not go together.
    """
    chosen = {name: value for name, value in given.items() if value is not None}
    model = chosen.setdefault("model", "linear")
    optimizer = chosen.setdefault("optimizer", "adagrad")
    defaults = {
        "lr": _rate(optimizer, rows, _CURVATURE[loss] * (1.0 + squared_norm)),
        "schedule": "linear",
        "l1": 0.0,
        "l2": 0.0,
        "batch_size": _batch_size(rows),
        "epochs": min(max(math.ceil(_ROWS_SEEN / max(rows, 1)), 1), _MOST_EPOCHS),
        "patience": 0,
        "shuffle": False,
        "seed": 0,
        "normalize": "none",
        "scaling": "auto",
        "factors": 0 if model == "linear" else 8,
        "factor_lr": 0.3,
        "factor_std": 0.02,
        "hidden": "64,32" if model in DEEP else "",
        "dropout": 0.0,
    }
    return Settings(**{**defaults, **chosen})


def _batch_size(rows: int) -> int:
    """A power of two near a third of the root of the number of rows, from 16 to 1024."""
    return 2 ** min(max(round(math.log2(math.sqrt(max(rows, 1)) / 3)), 4), 10)


_CURVATURE = {"squared": 1.0, "logistic": 0.25, "softmax": 0.5}
"""Upper bounds on the second derivative of a loss by a score."""


def _rate(optimizer: str, rows: int, curvature: float) -> float:
    """A learning rate.

    SGD needs one below twice the inverse of the largest curvature, of which the mean one (the trace)
    is an upper bound. The others scale each coordinate by themselves; theirs are smaller for many
    rows, or features that occur once would be learned by heart.
    """
    if optimizer == "sgd":
        return float(f"{1.0 / curvature:.2g}")
    if optimizer == "adam":
        return 0.01
    return round(min(max(0.5 * math.sqrt(50_000 / max(rows, 1)), 0.1), 0.5), 3)
