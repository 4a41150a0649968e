"""A training as it stands between two steps, in one file."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rarefy.models._columns import ColumnScaling
from rarefy.models._files import ModelFileError, read_tensors, take, take_array, write_tensors
from rarefy.models._header import ModelHeader
from rarefy.models._plan import Plan, Reading
from rarefy.models._problem import Problem
from rarefy.models._settings import Settings

CHECKPOINT = "checkpoint.safetensors"
FORMAT = "rarefy-checkpoint"
VERSION = 1


@dataclass
class Position:
    """How far a training has come.

    Attributes:
      epoch: epochs that are finished.
      row: rows of the epoch after those that have been learned from.
      seconds: time spent so far.
      history: a record of each finished epoch.
      trace: `(epochs, value)`: the main metric on the rows just before each point of time, for the
        picture. Grows to a few hundred points, then neighbours are joined.
      best: smallest main metric on the validation rows so far, and the epoch it came from.
      finished: whether nothing is left to do.
    """

    epoch: int = 0
    row: int = 0
    seconds: float = 0.0
    history: list[dict[str, float | int]] = field(default_factory=list)
    trace: list[list[float]] = field(default_factory=list)
    best: float | None = None
    best_epoch: int = 0
    finished: bool = False


@dataclass
class Checkpoint:
    """A training between two steps.

    Attributes:
      plan: what it does.
      position: how far it has come.
      arrays: parameters and optimizer states by name (`Network.state`).
      counts: the optimizer's counts.
      random: `(3,)` uint32, the random state of the process.
      metrics: state of each training metric in the epoch under way.
    """

    plan: Plan
    position: Position
    arrays: dict[str, np.ndarray]
    counts: dict[str, Any]
    random: np.ndarray
    metrics: dict[str, dict[str, Any]]

    def save(self, folder: Path) -> None:
        """Writes the file in one stroke: after a kill it is the old one or this one."""
        plan, scaling = self.plan, self.plan.scaling
        tensors = {f"network/{name}": array for name, array in self.arrays.items()}
        tensors |= {
            "random": self.random,
            "bias": plan.bias,
            "scaling/dense": scaling.dense,
            "scaling/center": scaling.center,
        }
        if scaling.scale is not None:
            tensors["scaling/scale"] = scaling.scale
        metrics: dict[str, dict[str, Any]] = {}
        for name, state in self.metrics.items():
            metrics[name] = {}
            for key, value in state.items():
                if isinstance(value, np.ndarray):
                    tensors[f"metric/{name}/{key}"] = value
                else:
                    metrics[name][key] = value
        about = {
            "format": FORMAT,
            "version": VERSION,
            "header": plan.header.as_dict(),
            "problem": {
                "reason": plan.problem.reason,
                "center": plan.problem.center,
                "scale": plan.problem.scale,
            },
            "rows": plan.rows,
            "fingerprint": plan.fingerprint,
            "position": {
                **vars(self.position),
                "history": [_without_nan(record) for record in self.position.history],
            },
            "counts": self.counts,
            "metrics": metrics,
        }
        write_tensors(folder / CHECKPOINT, tensors, about)

    @classmethod
    def load(cls, folder: Path) -> "Checkpoint":
        """Reads the checkpoint of a run.

        The arrays of the network are checked by whoever builds the network.

        Raises:
          ModelFileError: the file is absent, damaged, newer than this release, or makes no sense.
        """
        path = folder / CHECKPOINT
        tensors, about = read_tensors(path, FORMAT)
        version = take(path, about, "version", int, lambda v: v > 0, "a positive integer")
        if version > VERSION:
            raise ModelFileError(
                path,
                f"has format version {version}; this release reads up to {VERSION}. Go on with the "
                "release that wrote it",
            )
        plan = _plan(path, tensors, about)
        arrays = {
            name.removeprefix("network/"): array
            for name, array in tensors.items()
            if name.startswith("network/")
        }
        counts = take(path, about, "counts", dict, lambda v: True, "an object")
        metrics = take(path, about, "metrics", dict, lambda v: True, "an object")
        for name in metrics:
            state = take(path, metrics, name, dict, lambda v: True, "an object")
            prefix = f"metric/{name}/"
            for key, array in tensors.items():
                if key.startswith(prefix):
                    state[key.removeprefix(prefix)] = array
        return cls(
            plan=plan,
            position=_position(path, about, plan),
            arrays=arrays,
            counts=counts,
            random=take_array(path, tensors, "random", (3,), np.uint32),
            metrics=metrics,
        )


def _plan(path: Path, tensors: Mapping[str, np.ndarray], about: Mapping[str, Any]) -> Plan:
    header = ModelHeader.from_dict(
        path, take(path, about, "header", dict, lambda v: True, "an object")
    )
    try:
        settings = Settings.from_dict(header.settings)
        reading = Reading(**{name: header.data[name] for name in vars(Reading("x"))})  # type: ignore[arg-type]
    except (ValueError, TypeError, KeyError) as error:
        raise ModelFileError(path, f"has settings that make no sense: {error}") from None
    found = take(path, about, "problem", dict, lambda v: True, "an object")
    number = (int, float)
    problem = Problem(
        header.loss,
        header.classes,
        take(path, found, "reason", str, lambda v: True, "text"),
        take(path, found, "center", number, lambda v: True, "a number"),
        take(path, found, "scale", number, lambda v: v > 0, "a positive number"),
    )
    return Plan(
        header=header,
        settings=settings,
        reading=reading,
        problem=problem,
        rows=take(path, about, "rows", int, lambda v: v > 0, "a positive integer"),
        fingerprint=take(path, about, "fingerprint", str, lambda v: True, "text"),
        bias=take_array(path, tensors, "bias", (header.outputs,), np.float32),
        scaling=_scaling(path, tensors, header.width),
    )


def _scaling(path: Path, tensors: Mapping[str, np.ndarray], width: int) -> ColumnScaling:
    scale = None
    if "scaling/scale" in tensors:
        scale = take_array(path, tensors, "scaling/scale", (width,), np.float32)
        if not (scale > 0).all():
            raise ModelFileError(path, "array 'scaling/scale' must be positive")
    count = tensors.get("scaling/dense", np.zeros(0)).shape
    dense = take_array(path, tensors, "scaling/dense", count, np.int64)
    if len(count) != 1 or (np.diff(dense, prepend=-1) <= 0).any() or (dense >= width).any():
        raise ModelFileError(path, "array 'scaling/dense' must hold ascending column numbers")
    return ColumnScaling(
        scale, dense, take_array(path, tensors, "scaling/center", count, np.float32)
    )


def _position(path: Path, about: Mapping[str, Any], plan: Plan) -> Position:
    found = take(path, about, "position", dict, lambda v: True, "an object")
    epochs, rows = plan.settings.epochs, plan.rows
    history = take(path, found, "history", list, lambda v: True, "a list")
    if not all(isinstance(record, dict) for record in history):
        raise ModelFileError(path, "field 'history' must be a list of objects")
    return Position(
        epoch=take(path, found, "epoch", int, lambda v: 0 <= v <= epochs, f"from 0 to {epochs}"),
        row=take(path, found, "row", int, lambda v: 0 <= v <= rows, f"from 0 to {rows}"),
        seconds=take(path, found, "seconds", (int, float), lambda v: v >= 0, "0 or more"),
        history=[
            {key: math.nan if value is None else value for key, value in record.items()}
            for record in history
        ],
        trace=_trace(path, found),
        best=take(path, found, "best", (int, float, type(None)), lambda v: True, "a number"),
        best_epoch=take(path, found, "best_epoch", int, lambda v: v >= 0, "0 or more"),
        finished=take(path, found, "finished", bool, lambda v: True, "true or false"),
    )


def _trace(path: Path, found: Mapping[str, Any]) -> list[list[float]]:
    trace = take(path, found, "trace", list, lambda v: True, "a list")
    for point in trace:
        pair = isinstance(point, list) and len(point) == 2
        if not pair or not all(isinstance(number, int | float) for number in point):
            raise ModelFileError(path, "field 'trace' must be a list of pairs of numbers")
    return trace


def _without_nan(record: Mapping[str, Any]) -> dict[str, Any]:
    """JSON has no NaN: a metric that has no value is null."""
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in record.items()
    }
