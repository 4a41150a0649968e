"""What a training shows while it runs, and how it is stopped."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import click

from rarefy.cli._format import metrics_text
from rarefy.models import MAIN_METRIC, Plan


class Progress:
    """A bar with rows per second and the loss so far, and a line for each epoch.

    The bar is on standard error and only where that is a terminal; the lines are on standard output.

    Args:
      plan: of the training.
      quiet: shows nothing.
    """

    def __init__(self, plan: Plan, *, quiet: bool = False):
        self._rows = plan.rows
        self._epochs = plan.settings.epochs
        self._metric = MAIN_METRIC[plan.problem.loss]
        self._quiet = quiet
        self._bar: Any = None
        self._began = (0.0, 0)
        self.rows_per_second = 0.0

    def begin_epoch(self, epoch: int, row: int) -> None:
        self._began = (time.monotonic(), row)
        if self._quiet:
            return
        from tqdm import tqdm

        self._bar = tqdm(
            desc=f"epoch {epoch}/{self._epochs}",
            total=self._rows,
            initial=row,
            unit=" rows",
            unit_scale=True,
            leave=False,
            dynamic_ncols=True,
            disable=None,  # no bar where standard error is no terminal
        )

    def learned(self, rows: int, loss: float) -> None:
        if self._bar is not None:
            self._bar.set_postfix_str(f"{self._metric} {loss:.4f}", refresh=False)
            self._bar.update(rows)

    def end_epoch(self, record: dict[str, float | int]) -> None:
        self.close()
        began, row = self._began
        seconds = max(time.monotonic() - began, 1e-9)
        self.rows_per_second = (int(record["rows"]) - row) / seconds
        if self._quiet:
            return
        parts = []
        for part in ("train", "valid"):
            prefix = f"{part}_"
            found = {k.removeprefix(prefix): v for k, v in record.items() if k.startswith(prefix)}
            if found:
                parts.append(f"{part}  {metrics_text(found)}")
        width = len(str(self._epochs))
        number = f"{int(record['epoch']):>{width}}/{self._epochs}"
        parts.append(f"{self.rows_per_second:,.0f} rows/s")
        click.echo(f"epoch {number}  " + "  |  ".join(parts))

    def close(self) -> None:
        """Removes the bar."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class Stop:
    """Whether Ctrl-C (or SIGTERM) asks a training to end; called after each step."""

    def __init__(self):
        self.signal: int | None = None

    def __call__(self) -> bool:
        return self.signal is not None

    @contextmanager
    def listening(self) -> Iterator["Stop"]:
        """Takes the two signals for the length of a block. A second Ctrl-C ends the process."""
        before = {s: signal.signal(s, self._note) for s in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield self
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.signal is not None:
            raise KeyboardInterrupt
        self.signal = number
        click.echo("\nstopping after this step; once more to stop at once", err=True)
