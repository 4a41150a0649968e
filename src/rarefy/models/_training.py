"""The loop: epochs over a file, with metrics, checkpoints and a model in a folder."""

import dataclasses
import math
import os
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from rarefy import random
from rarefy.io import LibSVMReader
from rarefy.models._checkpoint import CHECKPOINT, Checkpoint, Position
from rarefy.models._files import ModelFileError, sweep, take_array
from rarefy.models._history import (
    CURVES,
    HISTORY,
    Record,
    add_to_trace,
    draw_curves,
    write_history,
)
from rarefy.models._kinds import kind_of
from rarefy.models._model import HEADER, TENSORS, Model
from rarefy.models._network import Network
from rarefy.models._optimizers import l2_strengths
from rarefy.models._plan import Plan
from rarefy.models._scoring import MAIN_METRIC, evaluate, labels_of, running_metrics

# Scores are fetched when so many rows or steps wait: steps then run without pauses between them.
_FETCH_ROWS = 8192
_FETCH_STEPS = 256


# The end of an epoch is saved if the last save is longer ago: epochs over a small file take less.
_EPOCH_SAVE_SECONDS = 1.0

_FILES = (HEADER, TENSORS, CHECKPOINT, HISTORY, CURVES)

# So many rows are normalized, scaled and encoded at a time.
_PREPARED_ROWS = 4096


class _Batch(NamedTuple):
    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    labels: np.ndarray
    weights: np.ndarray | None


class Reporter(Protocol):
    """Is told how a training goes."""

    def begin_epoch(self, epoch: int, row: int) -> None:
        """Epoch `epoch` (from 1) begins, or goes on at `row`."""

    def learned(self, rows: int, loss: float) -> None:
        """So many more rows have been learned from; the main metric of the epoch so far."""

    def end_epoch(self, record: Record) -> None:
        """An epoch has ended."""


class Training:
    """Learns a model from a file, in a folder.

    The folder gets `model.json` at once; `checkpoint.safetensors`, `model.safetensors` and
    `history.csv` from time to time and at the end of every epoch that takes a second or more; and
    `curves.png` at the end. All are replaced in one stroke, so that after a kill at any moment
    `resumed` goes on from the last checkpoint; the weights at the end are exactly those of a
    training that was never stopped.

    Args:
      plan: what to do.
      reader: of the training rows.
      folder: the run.
      checkpoint: where to go on; by default from the start.

    Attributes:
      position: how far the training has come.
    """

    def __init__(
        self, plan: Plan, reader: LibSVMReader, folder: Path, checkpoint: Checkpoint | None = None
    ):
        self.plan = plan
        self.position = Position() if checkpoint is None else checkpoint.position
        self._reader = reader
        self._folder = folder
        self._valid = plan.reading.valid_reader(plan.header.width, plan.header.index_base)
        self._network = _network(plan, checkpoint, folder)
        self._pending: list[tuple[Any, np.ndarray, np.ndarray | None]] = []
        self._pending_rows = 0
        self._unsaved: Model | None = None
        self._saved_at = 0.0
        self._metrics = running_metrics(plan.problem.loss, coarse=True)
        self._check_valid()
        if checkpoint is None:
            if plan.settings.dropout:
                random.seed(plan.settings.seed)
            self._start()
        else:
            random.set_state(checkpoint.random)
            self._restore_metrics(checkpoint)
        self._clock = time.monotonic() - self.position.seconds

    @classmethod
    def resumed(cls, folder: Path, train: str | None = None) -> "Training":
        """Goes on where the last checkpoint of a run stands.

        Args:
          folder: the run.
          train: where the training rows are now; by default where they were.

        Raises:
          ModelFileError: there is no checkpoint, or it is damaged.
          ValueError: the training rows have changed.
          OSError: the training rows cannot be read.
        """
        checkpoint = Checkpoint.load(folder)
        plan = checkpoint.plan
        if train is not None:
            moved = dataclasses.replace(plan.reading, train=os.path.abspath(train))
            plan = checkpoint.plan = dataclasses.replace(plan, reading=moved)
        found = plan.reading.scan()
        if found.fingerprint != plan.fingerprint:
            raise ValueError(
                f"{plan.reading.train} has changed since the training began; it can go on with the "
                "same rows only. Put them back, or start anew in another folder"
            )
        header = plan.header
        reader = plan.reading.reader(header.width, header.index_base, plan.settings.batch_size)
        training = cls(plan, reader, folder, checkpoint)
        sweep(folder, *_FILES)
        return training

    @property
    def compilations(self) -> int:
        """How often the step has been compiled."""
        return self._network.step.compilations

    def run(
        self,
        reporter: Reporter,
        *,
        checkpoint_seconds: float = 30.0,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Trains until all is done.

        Args:
          reporter: is told how it goes.
          checkpoint_seconds: the longest time without a checkpoint within an epoch.
          should_stop: asked after every step; True saves a checkpoint and ends the run.

        Returns:
          Whether the training is finished.

        Raises:
          ValueError: the training diverged, or a row is not as it must be.
        """
        self._saved_at = time.monotonic()
        while not self.position.finished:
            reporter.begin_epoch(self.position.epoch + 1, self.position.row)
            with closing(self._batches()) as batches:
                for batch in batches:
                    self._learn(batch)
                    self.position.row += len(batch.labels)
                    if self._is_due():
                        self._fetch(reporter)
                    stop = should_stop()
                    if stop or self._is_unsaved_for(checkpoint_seconds):
                        self._fetch(reporter)
                        self.save()
                    if stop:
                        return False
            self._fetch(reporter)
            record = self._end_epoch()
            least = min(checkpoint_seconds, _EPOCH_SAVE_SECONDS)
            if self.position.finished or self._is_unsaved_for(least):
                self.save()
            reporter.end_epoch(record)
        return True

    def _is_unsaved_for(self, seconds: float) -> bool:
        return time.monotonic() - self._saved_at >= seconds

    def model(self) -> Model:
        """The model as it is now, for rows as they stand in files."""
        plan, problem = self.plan, self.plan.problem
        numbers = kind_of(plan.header).plain(
            self._network.numbers(), plan.scaling, problem.center, problem.scale
        )
        return Model(plan.header, numbers)

    def save(self) -> None:
        """Writes a checkpoint, and before it the model of the last epoch (of the best one, with
        patience), so that a kill between the two repeats the epoch and writes the same model."""
        if self._unsaved is not None:
            self._unsaved.save_numbers(self._folder)
            self._unsaved = None
        self.position.seconds = time.monotonic() - self._clock
        arrays, counts = self._network.state()
        Checkpoint(
            plan=self.plan,
            position=self.position,
            arrays=arrays,
            counts=counts,
            random=random.get_state(),
            metrics={name: metric.state_dict() for name, metric in self._metrics.items()},
        ).save(self._folder)
        if self.position.history:
            write_history(self._folder, self.position.history)
        self._saved_at = time.monotonic()

    def draw(self, best: Mapping[str, float] | None = None) -> Path | None:
        """Draws `curves.png`.

        Args:
          best: by metric, the best value that can be reached, if it is known.

        Returns:
          The path; None before the end of the first epoch.
        """
        if not self.position.history:
            return None
        header = self.plan.header
        title = f"{Path(str(header.data['train'])).name}: {header.kind}, {header.loss}"
        position = self.position
        draw_curves(self._folder, title, position.history, position.trace, best or {})
        return self._folder / CURVES

    def _start(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        # The old checkpoint goes first: without it nothing takes the rest for a run of today.
        for name in (CHECKPOINT, TENSORS, HISTORY, CURVES):
            (self._folder / name).unlink(missing_ok=True)
        sweep(self._folder, *_FILES)
        self.plan.header.save(self._folder / HEADER)

    def _check_valid(self) -> None:
        """Looks at the validation rows, so that what is wrong with them shows before an epoch."""
        if self._valid is None:
            return
        source, rows, kind = str(self.plan.reading.valid), 0, kind_of(self.plan.header)
        for batch in self._valid.epoch():
            self.plan.problem.encode(labels_of(batch), batch.first_row, source)
            kind.check(batch.to_scipy(), batch.first_row, source)
            rows += batch.rows
        if not rows:
            raise ValueError(f"{source}: there are no rows")

    def _batches(self) -> Generator[_Batch]:
        """The rest of the epoch, cut into batches. Rows are prepared by thousands, as that costs
        less than batch by batch."""
        settings = self.plan.settings
        size = settings.batch_size
        # Seeds of different trainings and of different epochs never coincide.
        seed = settings.seed * 1_000_003 + self.position.epoch if settings.shuffle else None
        self._reader.batch_size = size * max(1, _PREPARED_ROWS // size)
        for rows in self._reader.epoch(seed, start_row=self.position.row):
            labels = self.plan.problem.encode(labels_of(rows), rows.first_row)
            x = self.plan.prepare(rows.to_scipy())
            for start in range(0, rows.rows, size):
                stop = min(start + size, rows.rows)
                first, last = x.indptr[start], x.indptr[stop]
                yield _Batch(
                    data=x.data[first:last],
                    indices=x.indices[first:last],
                    indptr=x.indptr[start : stop + 1] - first,
                    labels=labels[start:stop],
                    weights=None if rows.weights is None else rows.weights[start:stop],
                )

    def _learn(self, batch: _Batch) -> None:
        scores = self._network.learn(batch, batch.labels, batch.weights)
        self._pending.append((scores, batch.labels, batch.weights))
        self._pending_rows += len(batch.labels)

    def _is_due(self) -> bool:
        return self._pending_rows >= _FETCH_ROWS or len(self._pending) >= _FETCH_STEPS

    def _fetch(self, reporter: Reporter) -> None:
        """Brings the scores of the last steps into the metrics."""
        if not self._pending:
            return
        scores = np.concatenate([np.asarray(s.asnumpy())[: len(y)] for s, y, _ in self._pending])
        labels = np.concatenate([y for _, y, _ in self._pending])
        weights = None
        if self._pending[0][2] is not None:
            weights = np.concatenate([w for _, _, w in self._pending if w is not None])
        rows, self._pending, self._pending_rows = self._pending_rows, [], 0
        if not np.isfinite(scores).all():
            raise ValueError(
                f"the training diverged in epoch {self.position.epoch + 1}: scores are no longer "
                "finite numbers. Take a smaller learning rate"
            )
        problem = self.plan.problem
        if problem.loss == "squared":
            scores, labels = (a * problem.scale + problem.center for a in (scores, labels))
        for metric in self._metrics.values():
            metric.update(labels, scores, weights)
        name = MAIN_METRIC[problem.loss]
        reporter.learned(rows, self._metrics[name].value())
        window = running_metrics(problem.loss, coarse=True)[name]
        window.update(labels, scores, weights)
        if math.isfinite(window.value()):
            epochs = self.position.epoch + self.position.row / self.plan.rows
            add_to_trace(self.position.trace, round(epochs, 4), window.value())

    def _end_epoch(self) -> Record:
        """Takes stock: metrics, model, history."""
        position, settings = self.position, self.plan.settings
        model = self.model()
        record: Record = {
            "epoch": position.epoch + 1,
            "rows": position.row,
            "seconds": round(time.monotonic() - self._clock, 3),
        }
        record |= {f"train_{name}": metric.value() for name, metric in self._metrics.items()}
        improved = True
        if self._valid is not None:
            found = evaluate(model, self._valid.epoch(), str(self.plan.reading.valid))
            found.pop("rows")
            record |= {f"valid_{name}": value for name, value in found.items()}
            improved = self._note_best(found[MAIN_METRIC[self.plan.problem.loss]])
        position.epoch += 1
        position.row = 0
        position.history.append(record)
        waited = position.epoch - position.best_epoch
        out_of_patience = settings.patience and self._valid is not None
        position.finished = position.epoch >= settings.epochs or bool(
            out_of_patience and waited >= settings.patience
        )
        self._metrics = running_metrics(self.plan.problem.loss, coarse=True)
        if improved or not settings.patience:
            self._unsaved = model
        return record

    def _note_best(self, value: float) -> bool:
        position = self.position
        improved = position.best is None or value < position.best
        if improved and math.isfinite(value):
            position.best, position.best_epoch = value, position.epoch + 1
        return improved

    def _restore_metrics(self, checkpoint: Checkpoint) -> None:
        try:
            for name, metric in self._metrics.items():
                metric.load_state_dict(checkpoint.metrics[name])
        except (KeyError, TypeError, ValueError, IndexError):
            raise ModelFileError(
                self._folder / CHECKPOINT, "the state of the metrics makes no sense"
            ) from None


def _network(plan: Plan, checkpoint: Checkpoint | None, folder: Path) -> Network:
    settings, header = plan.settings, plan.header
    strengths = None
    if settings.l2:
        # A checkpoint has them among the states.
        counts = np.zeros(header.width) if plan.counts is None else plan.counts.copy()
        counts[plan.scaling.dense] = plan.rows  # centered columns are stored in all rows
        scale = plan.scaling.scale
        strengths = l2_strengths(settings.l2, counts, plan.rows, settings.batch_size, scale)
    steps = settings.epochs * plan.batches
    rows_a_step = plan.rows / plan.batches
    # A batch larger than the file would be padding for the most part.
    settings = dataclasses.replace(settings, batch_size=min(settings.batch_size, plan.rows))
    kind = kind_of(header)
    network = Network(
        kind.formula(kind.first(settings, plan.bias), settings.dropout),
        header.loss,
        settings,
        steps,
        strengths,
        rows_a_step,
        plan.scaling.scale,
    )
    if checkpoint is not None:
        path = folder / CHECKPOINT
        arrays = {
            name: take_array(path, checkpoint.arrays, name, shape, np.float32)
            for name, shape in network.array_shapes().items()
        }
        try:
            network.load_state(arrays, checkpoint.counts)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(path, f"the optimizer's state makes no sense: {error}") from None
    return network
