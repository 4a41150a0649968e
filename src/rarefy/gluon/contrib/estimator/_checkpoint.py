"""Saving a training from time to time, and going on from there."""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from rarefy._atomic import replacing
from rarefy.gluon.block import HybridBlock
from rarefy.gluon.contrib.estimator._improvement import Improvement
from rarefy.gluon.contrib.estimator.event_handler import BatchEnd, EpochEnd, TrainBegin
from rarefy.metric import EvalMetric


class _Saved(NamedTuple):
    """A checkpoint: the epochs that are over, the batches in all, the name of its files."""

    epochs: int
    batches: int
    name: str


class CheckpointHandler(TrainBegin, BatchEnd, EpochEnd):
    """Saves parameters and trainer states, `PREFIX-epochEbatchB.params` and `.states`, as it goes.

    After the first batch the graph of a hybridized model is written to `PREFIX-symbol.json`.
    `PREFIX-checkpoints.json` says how far each of them had come. Epochs and batches in the names are
    counted from 0 and from 1; the best model is in `PREFIX-best.params` and `.states`.

    Args:
      model_dir: the folder; it is made.
      model_prefix: of all names.
      monitor: the metric that says which model is best.
      verbose: 1 to log what is saved.
      save_best: whether the best model is kept besides.
      mode: 'min', 'max' or 'auto': how `monitor` improves.
      epoch_period: after so many epochs; None for never.
      batch_period: after so many batches; None for never.
      max_checkpoints: older ones than that are removed; the best does not count.
      resume_from_checkpoint: whether to go on from the last one in the folder. An epoch that was
        not over is begun anew.

    Raises:
      ValueError: `save_best` without a metric to monitor.
    """

    def __init__(
        self,
        model_dir: str,
        model_prefix: str = "model",
        monitor: EvalMetric | None = None,
        verbose: int = 0,
        save_best: bool = False,
        mode: str = "auto",
        epoch_period: int | None = 1,
        batch_period: int | None = None,
        max_checkpoints: int = 5,
        resume_from_checkpoint: bool = False,
    ):
        self.model_dir = model_dir
        self.model_prefix = model_prefix
        self.verbose = verbose
        self.save_best = save_best
        self.epoch_period = epoch_period
        self.batch_period = batch_period
        self.max_checkpoints = max_checkpoints
        self.resume_from_checkpoint = resume_from_checkpoint
        self.current_batch = self.current_epoch = self.trained_epoch = 0
        self.saved_checkpoints: list[str] = []
        self._saved: list[_Saved] = []
        self._begins = True
        self._best: Improvement | None = None
        if save_best:
            self._best = Improvement(monitor, mode, whose=type(self).__name__)

    @property
    def best(self) -> float | None:
        """The best value of the monitored metric so far."""
        return self._best.best if self._best else None

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Makes the folder, and goes on from what is in it if that is wanted."""
        Path(self.model_dir).mkdir(parents=True, exist_ok=True)
        self.current_batch = self.current_epoch = 0
        self.saved_checkpoints, self._saved = [], []
        self._begins = True
        if self._best:
            self._best.restart()
        if self.resume_from_checkpoint:
            self._resume(estimator)

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Saves where the period is over."""
        if self._begins:
            self._save_symbol(estimator)
            self._begins = False
        self.current_batch += 1
        if self.batch_period and self.current_batch % self.batch_period == 0:
            self._save(estimator, epochs=self.current_epoch)
        return False

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Saves where the period is over."""
        if self.epoch_period and (self.current_epoch + 1) % self.epoch_period == 0:
            self._save(estimator, epochs=self.current_epoch + 1)
        self.current_epoch += 1
        return False

    def _save_symbol(self, estimator: Any) -> None:
        path, net = self._path("symbol.json"), estimator.net
        try:
            if not isinstance(net, HybridBlock):
                raise TypeError("it is no HybridBlock")
            net._exported().save(str(path))
        except Exception as reason:  # a model may do what graphs cannot
            estimator.logger.info(
                "Model architecture(symbol file) is not saved, please use HybridBlock to construct "
                "your model, and call net.hybridize() before passing to Estimator in order to save "
                "model architecture as %s. (%s)",
                path,
                reason,
            )

    def _path(self, name: str) -> Path:
        return Path(self.model_dir) / f"{self.model_prefix}-{name}"

    def _save(self, estimator: Any, epochs: int) -> None:
        name = f"epoch{self.current_epoch}batch{self.current_batch}"
        if self.verbose:
            estimator.logger.info(
                "[Epoch %d] CheckpointHandler: trained total %d batches, saving model at %s with "
                "prefix: %s-%s",
                self.current_epoch,
                self.current_batch,
                self.model_dir,
                self.model_prefix,
                name,
            )
        self._write(estimator, name)
        self._saved = [s for s in self._saved if s.name != name]
        self._saved.append(_Saved(epochs, self.current_batch, name))
        dropped, self._saved = (
            self._saved[: -self.max_checkpoints],
            self._saved[-self.max_checkpoints :],
        )
        if self._best is not None:
            _, value = self._best.value()
            if self._best.seen(value):
                self._write(estimator, "best")
        self._list()
        for old in dropped:
            for kind in ("params", "states"):
                self._path(f"{old.name}.{kind}").unlink(missing_ok=True)

    def _write(self, estimator: Any, name: str) -> None:
        estimator.net.save_parameters(str(self._path(f"{name}.params")))
        estimator.trainer.save_states(str(self._path(f"{name}.states")))

    def _list(self) -> None:
        self.saved_checkpoints = [f"{self.model_prefix}-{s.name}" for s in self._saved]
        listed = {"checkpoints": [s._asdict() for s in self._saved], "best": self.best}
        with replacing(self._path("checkpoints.json")) as file:
            file.write(json.dumps(listed, indent=1).encode())

    def _resume(self, estimator: Any) -> None:
        self._saved, best = self._found()
        if not self._saved:
            estimator.logger.info(
                "CheckpointHandler: no checkpoint of %s in %s, training from the beginning",
                self.model_prefix,
                self.model_dir,
            )
            return
        last = self._saved[-1]
        estimator.net.load_parameters(str(self._path(f"{last.name}.params")), ctx=estimator.context)
        estimator.trainer.load_states(str(self._path(f"{last.name}.states")))
        if self._best is not None and best is not None:
            self._best.best = best
        self.saved_checkpoints = [f"{self.model_prefix}-{s.name}" for s in self._saved]
        self.trained_epoch = self.current_epoch = last.epochs
        self.current_batch = last.batches
        if estimator.max_epoch is not None:
            estimator.max_epoch = max(0, estimator.max_epoch - last.epochs)
            left = f"{estimator.max_epoch} epochs"
        else:
            estimator.max_batch = max(0, estimator.max_batch - last.batches)
            left = f"{estimator.max_batch} batches"
        estimator.logger.info(
            "CheckpointHandler: Checkpoint resumed from epoch %d batch %d, continue to train for %s",
            last.epochs,
            last.batches,
            left,
        )

    def _found(self) -> tuple[list[_Saved], float | None]:
        """The checkpoints in the folder that have all their files, and the best value."""
        best, found = None, []
        listing = self._path("checkpoints.json")
        if listing.exists():
            listed = json.loads(listing.read_text())
            best = listed["best"]
            found = [_Saved(s["epochs"], s["batches"], s["name"]) for s in listed["checkpoints"]]
        else:  # a folder of MXNet's: what its names say, taken as the ends of epochs
            name = re.compile(re.escape(self.model_prefix) + r"-(epoch(\d+)batch(\d+))\.params")
            matches = filter(None, (name.fullmatch(p.name) for p in Path(self.model_dir).iterdir()))
            found = sorted(_Saved(int(m[2]) + 1, int(m[3]), m[1]) for m in matches)
        kinds = ("params", "states")
        return [
            s for s in found if all(self._path(f"{s.name}.{kind}").exists() for kind in kinds)
        ], best
