"""`rarefy demo`: a click log with a known answer, and how close two models come to it."""

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from rarefy.cli._click_log import N_COLUMNS, ClickLog, PlantedModel
from rarefy.cli._errors import debug_option
from rarefy.cli._format import bytes_text, percent_text, program
from rarefy.cli._progress import Progress, Stop
from rarefy.io import save_libsvm
from rarefy.metric import auc, binary_log_loss
from rarefy.models import CURVES, Reading, Training, make_plan

TRAIN, TEST = "clicks.svm", "clicks.test.svm"

# Two passes; the penalty keeps the hundreds of thousands of ids that occur once or twice in check.
SETTINGS: dict[str, dict[str, Any]] = {
    "linear": {"model": "linear", "epochs": 2, "l2": 1e-5, "batch_size": 256},
    "fm": {"model": "fm", "epochs": 2, "l2": 1e-5, "batch_size": 256, "factors": 8},
}
_NAMES = {"linear": "linear model", "fm": "factorization machine"}


@dataclass
class Outcome:
    """What came of a training.

    Attributes:
      log_loss, auc: on the test rows.
      rows_per_second: of the last epoch, reading and checkpoints included.
      touched: columns that a batch has, on average.
      numbers: trained numbers of a column.
      steps: number of steps.
    """

    log_loss: float
    auc: float
    rows_per_second: float
    touched: float
    numbers: int
    steps: int


@click.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default="demo-run",
    help="Folder for the files.  [demo-run]",
)
@click.option(
    "--rows",
    type=click.IntRange(min=1000),
    default=200_000,
    help="Rows to train on.  [200000]",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Of the made-up data.  [0]")
@debug_option
def demo(out: Path, rows: int, seed: int) -> int | None:
    """Make up a click log of 1,000,000 features whose best possible model is known, train a linear
    model and a factorization machine on it, and say how close they come."""
    began = time.monotonic()
    out.mkdir(parents=True, exist_ok=True)
    train, test = _write_logs(out, rows, seed)
    outcomes = {}
    for name in SETTINGS:
        outcome = _train(out, name, seed, test)
        if outcome is None:
            click.echo("stopped", err=True)
            return 130
        outcomes[name] = outcome
    _show(train, test, outcomes)
    click.echo(f"\npictures  {out / 'linear' / CURVES}\n          {out / 'fm' / CURVES}")
    click.echo(f"all of it took {time.monotonic() - began:.0f} s. Try it yourself:")
    click.echo(f"  {program()} inspect {out / TRAIN}")
    click.echo(f"  {program()} train {out / TRAIN} --valid {out / TEST} --model fm")
    click.echo(f"  {program()} predict {out / 'fm'} {out / TEST} | head")
    return None


def _write_logs(out: Path, rows: int, seed: int) -> tuple[ClickLog, ClickLog]:
    began = time.monotonic()
    planted = PlantedModel(seed)
    train, test = planted.draw(rows), planted.draw(max(rows // 4, 1000))
    for name, log in ((TRAIN, train), (TEST, test)):
        save_libsvm(out / name, log.x, log.y, index_base=0)
    size = sum((out / name).stat().st_size for name in (TRAIN, TEST))
    click.echo(
        f"made up {rows:,} clicks to train on and {len(test.y):,} to test on: {N_COLUMNS:,} "
        f"features, {train.x.nnz / rows:.1f} a row, {percent_text(train.y.mean())} clicked; "
        f"{bytes_text(size)} of text in {time.monotonic() - began:.1f} s"
    )
    return train, test


def _train(out: Path, name: str, seed: int, test: ClickLog) -> Outcome | None:
    click.echo(f"\n{_NAMES[name]}")
    reading = Reading(str(out / TRAIN), str(out / TEST))
    plan, reader = make_plan(
        reading, reading.scan(), width=N_COLUMNS, index_base=0, seed=seed, **SETTINGS[name]
    )
    training = Training(plan, reader, out / name)
    progress, stop = Progress(plan), Stop()
    try:
        with stop.listening():
            finished = training.run(progress, should_stop=stop)
    finally:
        progress.close()
    if not finished:
        return None
    training.draw(best=test.best())
    record = training.position.history[-1]
    settings = plan.settings
    return Outcome(
        log_loss=record["valid_log_loss"],
        auc=record["valid_auc"],
        rows_per_second=progress.rows_per_second,
        touched=_touched(plan.counts, plan.rows, settings.batch_size),
        numbers=1 + settings.factors,
        steps=plan.batches * settings.epochs,
    )


def _touched(counts: np.ndarray | None, rows: int, batch_size: int) -> float:
    """How many columns a batch has on average, if rows come in random order."""
    assert counts is not None
    return float(-np.expm1(batch_size * np.log1p(-np.minimum(counts / rows, 1 - 1e-12))).sum())


def _show(train: ClickLog, test: ClickLog, outcomes: dict[str, Outcome]) -> None:
    best = test.best()
    share = np.full(len(test.y), train.y.mean())
    guess = {"log_loss": binary_log_loss(test.y, share), "auc": auc(test.y, share)}

    def line(name: str, log_loss: float, area: float) -> str:
        gap = (guess["log_loss"] - log_loss) / (guess["log_loss"] - best["log_loss"])
        return f"{name:<22}  {log_loss:>8.4f}  {area:>6.4f}  {100 * gap:>4.0f}%"

    click.echo(f"\n{'on the test rows':<22}  log loss     AUC  of what can be known")
    click.echo(line("share of clicks alone", guess["log_loss"], guess["auc"]))
    for name, outcome in outcomes.items():
        click.echo(line(_NAMES[name], outcome.log_loss, outcome.auc))
    click.echo(line("true probabilities", best["log_loss"], best["auc"]))
    click.echo("")
    for name, outcome in outcomes.items():
        dense = 4 * N_COLUMNS * outcome.numbers
        rows = 4 * math.ceil(outcome.touched) * outcome.numbers
        click.echo(
            f"{_NAMES[name]}: {outcome.rows_per_second:,.0f} rows/s. A gradient had "
            f"{outcome.touched:,.0f} of {N_COLUMNS:,} rows, {bytes_text(rows)}; a dense one would "
            f"have taken {bytes_text(dense)} a step, {bytes_text(dense * outcome.steps)} in all."
        )
