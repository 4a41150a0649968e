"""What a model is, apart from its numbers: the JSON header beside them."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rarefy._version import __version__
from rarefy.models._files import ModelFileError, read_json, take, write_json

FORMAT = "rarefy-model"
VERSION = 1

KINDS = ("linear", "fm", "widedeep", "deepfm", "mf")
DEEP = ("widedeep", "deepfm")
NAMES = {
    "linear": "a linear model",
    "fm": "a factorization machine",
    "widedeep": "a wide & deep model",
    "deepfm": "a DeepFM",
    "mf": "a matrix factorization",
}
LOSSES = ("squared", "logistic", "softmax")
NORMS = ("none", "l2")
DTYPES = ("float32",)

Setting = str | int | float | bool | None


@dataclass(frozen=True)
class ModelHeader:
    """What must be known to use a model, and how it came about.

    Attributes:
      kind: 'linear', 'fm' (factorization machine), 'widedeep' (wide & deep), 'deepfm' or 'mf' (matrix
        factorization).
      loss: 'squared', 'logistic' or 'softmax'; says what the scores mean.
      width: number of features; column ids run from `index_base` to `width - 1 + index_base`.
      index_base: the id of the first column in files, 0 or 1.
      classes: the labels in ascending order, two for 'logistic', at least two for 'softmax'; None
        for 'squared'. Score k of 'softmax' belongs to class k, the score of 'logistic' to class 1.
      factors: length of the factor vector of a feature; 0 for a linear model.
      hidden: units of the hidden layers of 'widedeep' and 'deepfm'; empty for the others.
      users: for 'mf', how many columns are users; those after them are items. 0 for the others.
      normalize: 'l2' if each row is divided by its Euclidean norm before use, else 'none'.
      dtype: element type of the numbers.
      run: a random name that the files of one run share, so that none is taken for another's.
      settings: all settings of the training, defaults included.
      data: what is known about the training data: path, rows, bytes ...
    """

    kind: str
    loss: str
    width: int
    index_base: int
    classes: tuple[int | float, ...] | None
    factors: int = 0
    hidden: tuple[int, ...] = ()
    users: int = 0
    normalize: str = "none"
    dtype: str = "float32"
    run: str = ""
    settings: Mapping[str, Setting] = field(default_factory=dict)
    data: Mapping[str, Setting] = field(default_factory=dict)

    @property
    def outputs(self) -> int:
        """Number of scores of a row."""
        return len(self.classes) if self.loss == "softmax" and self.classes else 1

    def save(self, path: Path) -> None:
        """Writes the header as JSON, in one stroke."""
        write_json(path, self.as_dict())

    def as_dict(self) -> dict[str, Any]:
        """The header as JSON-able values."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "rarefy": __version__,
            "kind": self.kind,
            "loss": self.loss,
            "width": self.width,
            "index_base": self.index_base,
            "classes": None if self.classes is None else list(self.classes),
            "factors": self.factors,
            **({"hidden": list(self.hidden)} if self.kind in DEEP else {}),
            **({"users": self.users} if self.kind == "mf" else {}),
            "normalize": self.normalize,
            "dtype": self.dtype,
            "run": self.run,
            "settings": dict(self.settings),
            "data": dict(self.data),
        }

    @classmethod
    def load(cls, path: Path) -> "ModelHeader":
        """Reads a header.

        Raises:
          ModelFileError: the file is absent, damaged, of another kind or of a newer format, or a
            field is missing or makes no sense.
        """
        return cls.from_dict(path, read_json(path))

    @classmethod
    def from_dict(cls, path: Path, found: Mapping[str, Any]) -> "ModelHeader":
        """The header in a JSON object that was found in `path`."""
        if found.get("format") != FORMAT:
            raise ModelFileError(path, f"is no model header: its format is {found.get('format')!r}")
        version = take(path, found, "version", int, lambda v: v > 0, "a positive integer")
        if version > VERSION:
            raise ModelFileError(
                path,
                f"has format version {version}; this rarefy {__version__} reads up to "
                f"{VERSION}. Use rarefy {found.get('rarefy')}, which wrote it, or a newer one",
            )
        loss = _choice(path, found, "loss", LOSSES)
        kind = _choice(path, found, "kind", KINDS)
        width = take(
            path, found, "width", int, lambda v: 0 < v < 2**63, "an integer from 1 to 2^63 - 1"
        )
        header = cls(
            kind=kind,
            loss=loss,
            width=width,
            index_base=take(path, found, "index_base", int, lambda v: v in (0, 1), "0 or 1"),
            classes=_classes(path, found, loss),
            factors=take(
                path,
                found,
                "factors",
                int,
                lambda v: v == 0 if kind == "linear" else 0 < v <= 1 << 16,
                "from 1 to 65536 for a factorization machine and 0 for a linear model",
            ),
            hidden=_hidden(path, found) if kind in DEEP else (),
            users=_users(path, found, width) if kind == "mf" else 0,
            normalize=_choice(path, found, "normalize", NORMS),
            dtype=_choice(path, found, "dtype", DTYPES),
            run=take(path, found, "run", str, lambda v: len(v) <= 64, "a short text"),
            settings=_settings(path, found, "settings"),
            data=_settings(path, found, "data"),
        )
        if kind != "linear" and header.outputs > 1:
            raise ModelFileError(path, f"{NAMES[kind]} has one score, so no loss 'softmax'")
        return header


def _choice(path: Path, found: Mapping[str, Any], name: str, choices: tuple[str, ...]) -> str:
    return take(path, found, name, str, lambda v: v in choices, f"one of {', '.join(choices)}")


def _hidden(path: Path, found: Mapping[str, Any]) -> tuple[int, ...]:
    sizes = take(path, found, "hidden", list, lambda v: 0 < len(v) <= 100, "a list of sizes")
    for units in sizes:
        say = "a list of sizes from 1 to 65536"
        take(path, {"hidden": units}, "hidden", int, lambda v: 0 < v <= 1 << 16, say)
    return tuple(sizes)


def _users(path: Path, found: Mapping[str, Any], width: int) -> int:
    return take(path, found, "users", int, lambda v: 0 < v < width, f"from 1 to {width - 1}")


def _classes(path: Path, found: Mapping[str, Any], loss: str) -> tuple[int | float, ...] | None:
    classes = take(
        path,
        found,
        "classes",
        (list, type(None)),
        lambda v: (v is None) == (loss == "squared"),
        f"null for the loss 'squared' and a list of labels otherwise (the loss is {loss!r})",
    )
    if classes is None:
        return None
    count = "two" if loss == "logistic" else "at least two"
    if len(classes) < 2 or (loss == "logistic" and len(classes) != 2):
        raise ModelFileError(
            path, f"field 'classes' has {len(classes)} labels; {loss} needs {count}"
        )
    for label in classes:
        take(path, {"classes": label}, "classes", (int, float), lambda v: True, "a list of numbers")
    if any(a >= b for a, b in itertools.pairwise(classes)):
        raise ModelFileError(path, "field 'classes' must be in ascending order, each label once")
    return tuple(classes)


def _settings(path: Path, found: Mapping[str, Any], name: str) -> dict[str, Setting]:
    table = take(path, found, name, dict, lambda v: True, "an object")
    for key in table:
        take(
            path,
            table,
            key,
            (str, int, float, bool, type(None)),
            lambda v: True,
            "text, a number, true, false or null",
        )
    return table
