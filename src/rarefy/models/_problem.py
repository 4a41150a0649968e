"""What kind of problem a set of labels poses, and labels as numbers to train on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

MOST_CLASSES = 20
"""More whole-numbered labels than this are taken for measurements, not for classes."""


@dataclass(frozen=True)
class Problem:
    """A loss and what labels mean under it.

    Attributes:
      loss: 'squared', 'logistic' or 'softmax'.
      classes: the labels in ascending order; None for 'squared'.
      reason: why this loss, for people.
      center: for 'squared', what is subtracted from labels before training; else 0.
      scale: for 'squared', what labels are then divided by; else 1.
    """

    loss: str
    classes: tuple[int | float, ...] | None
    reason: str
    center: float = 0.0
    scale: float = 1.0

    @property
    def outputs(self) -> int:
        """Number of scores of a row."""
        return len(self.classes) if self.loss == "softmax" and self.classes else 1

    def encode(self, labels: np.ndarray, first_row: int = 0, source: str = "") -> np.ndarray:
        """Labels as the loss takes them.

        Args:
          labels: `(rows,)` floating, as in the file.
          first_row: how many rows came before, for the message.
          source: where the rows come from, for the message.

        Returns:
          `(rows,)` float32: 0 or 1, the position of the class, or the standardized target.

        Raises:
          ValueError: a label is no class. Says which, and in which row, counted from 1.
        """
        if self.classes is None:
            return ((labels - self.center) / self.scale).astype(np.float32)
        index = class_index(self.classes, labels)
        if (index < 0).any():
            row = int(np.argmax(index < 0))
            place = f"{source}: " if source else ""
            raise ValueError(
                f"{place}row {first_row + row + 1} has the label {labels[row]:g}, which is none of the "
                f"classes {shown(self.classes)}"
            )
        return index.astype(np.float32)


def class_index(classes: Sequence[float], labels: np.ndarray) -> np.ndarray:
    """Positions of labels in the ascending `classes`, int64; -1 for a label that is none."""
    known = np.asarray(classes, np.float64)
    at = np.searchsorted(known, labels).clip(max=len(known) - 1)
    return np.where(known[at] == labels, at, -1)


def pose(counts: Mapping[float, int] | None, loss: str | None = None) -> Problem:
    """Finds the problem that labels pose.

    Two different labels are two classes; 3 to 20 different whole numbers are as many classes;
    anything else is a measurement.

    Args:
      counts: how often each label occurs; None if there are too many different ones to count.
      loss: the loss to use whatever the labels look like; None to choose.

    Returns:
      The problem, for 'squared' with center 0 and scale 1; see `standardized`.

    Raises:
      ValueError: no rows, all labels equal, or labels that the given loss cannot take.
    """
    if counts is not None and not counts:
        raise ValueError("there are no rows to learn from")
    if counts is not None and len(counts) == 1 and loss != "squared":
        raise ValueError(
            f"all labels are {next(iter(counts)):g}, so there is nothing to tell apart; "
            "check the file, or pass --loss squared to learn the number itself"
        )
    chosen, reason = _choose(counts)
    if loss is not None:
        chosen, reason = loss, "as asked for"
    if chosen == "squared":
        return Problem("squared", None, reason)
    if counts is None or (chosen == "logistic" and len(counts) != 2):
        found = "more than can be counted" if counts is None else f"{len(counts)}: {shown(counts)}"
        needs = "two different labels" if chosen == "logistic" else "a countable set of labels"
        raise ValueError(
            f"the loss {chosen} needs {needs}; found {found}. Pass --loss squared for numbers"
            + (" or --loss softmax for classes" if chosen == "logistic" and counts else "")
        )
    return Problem(chosen, tuple(plain(label) for label in sorted(counts)), reason)


def _choose(counts: Mapping[float, int] | None) -> tuple[str, str]:
    if counts is None:
        return "squared", "many different labels"
    if len(counts) == 2:
        return "logistic", f"two labels, {shown(counts)}"
    whole = all(float(label).is_integer() for label in counts)
    if whole and len(counts) <= MOST_CLASSES:
        return "softmax", f"{len(counts)} whole-numbered labels, {shown(counts)}"
    kind = "whole-numbered labels" if whole else "labels, not all whole numbers"
    return "squared", f"{len(counts)} different {kind}"


def plain(label: float) -> int | float:
    """A label as people write it: 1, not 1.0."""
    return int(label) if float(label).is_integer() and abs(label) < 2**53 else float(label)


def shown(labels) -> str:
    """Labels for a message: all, or the first and last few."""
    texts = [str(plain(label)) for label in sorted(labels)]
    return ", ".join(texts if len(texts) <= 8 else [*texts[:4], "...", *texts[-2:]])
