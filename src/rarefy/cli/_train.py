"""`rarefy train`: learns a model from a file."""

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from rarefy.cli._errors import debug_option
from rarefy.cli._format import (
    bytes_text,
    metrics_text,
    percent_text,
    plural,
    program,
    show_pairs,
)
from rarefy.cli._progress import Progress, Stop
from rarefy.io import LibSVMScan
from rarefy.models import (
    CHECKPOINT,
    HEADER,
    KINDS,
    MAIN_METRIC,
    Plan,
    Reading,
    Training,
    make_plan,
)

# Options that are settings, under the names that settings have.
_SETTINGS = (
    "model",
    "optimizer",
    "lr",
    "schedule",
    "l1",
    "l2",
    "batch_size",
    "epochs",
    "patience",
    "shuffle",
    "seed",
    "normalize",
    "scaling",
    "factors",
    "factor_lr",
    "factor_std",
    "hidden",
    "dropout",
)
_POSITIVE = click.IntRange(min=1)

# A loss on the validation rows that ends so much above its least is worth a word.
_WORSE = 1.005


def _one_of(*choices: str) -> click.Choice:
    return click.Choice(choices)


@click.command()
@click.argument("file", metavar="TRAIN", required=False)
@click.option("--valid", metavar="FILE", help="Rows to hold the model against after each epoch.")
@click.option("--out", metavar="RUN", help="Folder of the run.  [TRAIN.run, numbered if taken]")
@click.option("--resume", is_flag=True, help="Go on from the last checkpoint in RUN.")
@click.option("--overwrite", is_flag=True, help="Replace the run that RUN holds.")
@click.option(
    "--model",
    type=_one_of(*KINDS),
    help="fm: factorization machine; widedeep, deepfm: with a network; mf: matrix factorization, of "
    "rows of a user and an item.  [linear]",
)
@click.option(
    "--loss",
    type=_one_of("squared", "logistic", "softmax"),
    help="[two labels: logistic; 3 to 20 whole numbers: softmax; else squared]",
)
@click.option("--optimizer", type=_one_of("adagrad", "sgd", "adam", "ftrl"), help="[adagrad]")
@click.option("--lr", type=float, help="Learning rate.  [0.5 or less, by optimizer and rows]")
@click.option(
    "--schedule",
    type=_one_of("linear", "constant"),
    help="Whether steps fall to nothing over all epochs.  [linear]",
)
@click.option("--l1", type=float, help="L1 on the mean loss; needs ftrl.  [0]")
@click.option("--l2", type=float, help="L2 on the mean loss, as l2/2 |w|^2.  [0]")
@click.option("--batch-size", type=_POSITIVE, help="Rows a step.  [16 to 1024, by rows]")
@click.option("--epochs", type=_POSITIVE, help="Passes over TRAIN.  [300,000 rows in all, 1 to 30]")
@click.option(
    "--early-stop",
    "patience",
    type=_POSITIVE,
    metavar="N",
    help="Stop after N epochs without a better validation loss and keep the best model.",
)
@click.option("--seed", type=click.IntRange(min=0), help="Of shuffling and first factors.  [0]")
@click.option(
    "--shuffle/--no-shuffle",
    default=None,
    help="Rows in another random order in each epoch.  [if equal labels stand together]",
)
@click.option("--factors", type=_POSITIVE, metavar="K", help="Length of factor vectors.  [8]")
@click.option("--factor-lr", type=float, help="Their learning rate, relative to --lr.  [0.3]")
@click.option("--factor-std", type=float, help="Their size at the start.  [0.02]")
@click.option("--hidden", metavar="N,N...", help="Units of the layers of a network.  [64,32]")
@click.option("--dropout", type=float, help="Share of them that a step leaves out.  [0]")
@click.option(
    "--normalize",
    type=_one_of("none", "l2"),
    help="l2: divide each row by its norm, here and when predicting.  [none]",
)
@click.option(
    "--scaling",
    type=_one_of("auto", "none"),
    help="auto: train on scaled columns where they are dense or large.  [auto]",
)
@click.option("--features", type=_POSITIVE, metavar="N", help="Number of columns.  [as found]")
@click.option(
    "--users",
    type=_POSITIVE,
    metavar="N",
    help="mf: the first N columns are users.  [those before the first item]",
)
@click.option("--items", type=_POSITIVE, metavar="N", help="mf: N columns are items.  [as found]")
@click.option("--index-base", type=_one_of("auto", "0", "1"), help="Index of column one.  [auto]")
@click.option("--weights", is_flag=True, help="Labels carry row weights, as in 1:0.5 3:1.")
@click.option(
    "--duplicates",
    type=_one_of("error", "sum"),
    default="error",
    help="What to do with a column twice in a row.  [error]",
)
@click.option("--skip-bad-lines", is_flag=True, help="Leave bad lines out and count them.")
@click.option(
    "--memory",
    type=_POSITIVE,
    metavar="MIB",
    default=256,
    help="For rows that are kept between epochs or shuffled.  [256]",
)
@click.option(
    "--checkpoint-every",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    default=30.0,
    help="Longest time without a checkpoint.  [30]",
)
@debug_option
@click.pass_context
def train(context: click.Context, /, file: str | None, **options: Any) -> int | None:
    """Learn a model from the LibSVM file TRAIN.

    What is not said is chosen to suit the rows (in brackets below), printed, and stored in RUN with
    the model, the learning curves and a checkpoint. Ctrl-C stops and saves; --resume goes on.
    """
    folder = _folder(file, options)
    if options["resume"] and (folder / CHECKPOINT).exists():
        training = _resumed(context, folder, file, options)
        if training.position.finished:
            epochs = plural(training.position.epoch, "epoch")
            click.echo(f"the run in {folder} is finished already, after {epochs}")
            return None
    else:
        training = _new(folder, file, options)
    return run_training(training, folder, options["checkpoint_every"])


def run_training(training: Training, folder: Path, checkpoint_seconds: float) -> int | None:
    """Runs a training with a bar and lets Ctrl-C stop it. Returns the exit status."""
    progress = Progress(training.plan)
    stop = Stop()
    try:
        with stop.listening():
            finished = training.run(
                progress, checkpoint_seconds=checkpoint_seconds, should_stop=stop
            )
    finally:
        progress.close()
    training.draw()
    if not finished:
        position = training.position
        row = plural(position.row, "row")
        click.echo(
            f"stopped after {plural(position.epoch, 'epoch')} and {row}; saved. Go on with:\n  "
            f"{program()} train --out {shlex.quote(str(folder))} --resume",
            err=True,
        )
        return 128 + (stop.signal or 0)
    _show_result(training, folder)
    return None


def _folder(file: str | None, options: Mapping[str, Any]) -> Path:
    """Where the run is, or will be."""
    if options["out"] is not None:
        folder = Path(options["out"])
        if not options["out"]:
            raise click.UsageError("--out: the name is empty; name a folder")
        if folder.exists() and not folder.is_dir():
            raise click.UsageError(f"--out {folder}: that is a file; name a folder")
    elif file is None:
        raise click.UsageError("Missing argument 'TRAIN' (or --resume with --out RUN)")
    else:
        folder = _free_folder(f"{Path(file).name}.run", options["resume"])
    if options["resume"] and options["overwrite"]:
        raise click.UsageError("--resume goes on and --overwrite starts anew: give one of them")
    taken = (folder / HEADER).exists() or (folder / CHECKPOINT).exists()
    if taken and not options["resume"] and not options["overwrite"]:
        raise click.UsageError(
            f"{folder} holds a run already: --resume goes on with it, --overwrite replaces it"
        )
    if file is None and not (options["resume"] and (folder / CHECKPOINT).exists()):
        raise click.UsageError(f"Missing argument 'TRAIN' ({folder} has no checkpoint)")
    return folder


def _free_folder(name: str, resume: bool) -> Path:
    """The first of NAME, NAME-2, NAME-3 ... that is free; the last that is not, to resume."""
    last, number = Path(name), 1
    while (folder := Path(name if number == 1 else f"{name}-{number}")).exists():
        last, number = folder, number + 1
    return last if resume else folder


def _new(folder: Path, file: str | None, options: Mapping[str, Any]) -> Training:
    assert file is not None
    if options["patience"] and options["valid"] is None:
        raise click.UsageError("--early-stop needs --valid, rows to see how good the model is")
    reading = Reading(
        train=file,
        valid=options["valid"],
        duplicates=options["duplicates"],
        bad_lines="skip" if options["skip_bad_lines"] else "error",
        weights=options["weights"],
        window_mib=options["memory"],
    )
    found = reading.scan()
    base = options["index_base"]
    plan, reader = make_plan(
        reading,
        found,
        loss=options["loss"],
        width=options["features"],
        index_base=None if base in (None, "auto") else int(base),
        users=options["users"],
        items=options["items"],
        **{name: options[name] for name in _SETTINGS},
    )
    _show_plan(plan, found, {name for name in _SETTINGS if options[name] is not None}, folder)
    return Training(plan, reader, folder)


def _resumed(
    context: click.Context, folder: Path, file: str | None, options: Mapping[str, Any]
) -> Training:
    training = Training.resumed(folder, train=file)
    given = [
        name
        for name in options
        if context.get_parameter_source(name) == ParameterSource.COMMANDLINE
    ]
    _refuse_changes(training.plan, given, options, folder)
    position = training.position
    if position.finished:
        return training
    click.echo(
        f"going on in {folder} after {plural(position.epoch, 'epoch')} and "
        f"{plural(position.row, 'row')}"
    )
    return training


def _refuse_changes(plan: Plan, given: list[str], options: Mapping[str, Any], folder: Path) -> None:
    """A training that goes on is the same training: its options cannot change."""
    header = plan.header
    stored = {
        **plan.settings.as_dict(),
        "loss": header.loss,
        "features": header.width,
        "users": header.users or None,
        "items": header.width - header.users if header.users else None,
        "index_base": str(header.index_base),
        "duplicates": plan.reading.duplicates,
        "skip_bad_lines": plan.reading.bad_lines == "skip",
        "weights": plan.reading.weights,
        "memory": plan.reading.window_mib,
        "valid": plan.reading.valid,
    }
    for name in given:
        value = options[name]
        if name == "valid":
            value = os.path.abspath(value)
        if name in stored and value != stored[name] and value != "auto":
            option = {"patience": "early-stop"}.get(name, name.replace("_", "-"))
            raise click.UsageError(
                f"--{option} {value}: the run in {folder} has {stored[name]}, and a run goes on "
                "with the options it began with; leave it out, or start anew in another folder"
            )


def _show_plan(plan: Plan, found: LibSVMScan, given: set[str], folder: Path) -> None:
    settings, problem = plan.settings, plan.problem
    base = plan.header.index_base
    rows = f"{found.rows:,} rows, {plan.header.width:,} columns from {base}, {found.nnz:,} stored"
    pairs = [("rows", f"{rows} ({percent_text(found.density)} not zero)")]
    if found.bad_lines.count:
        first = found.bad_lines.reports[0]
        pairs.append(("bad lines", f"{found.bad_lines.count:,} left out, the first: {first}"))
    pairs.append(("loss", f"{problem.loss} ({problem.reason})"))
    chosen = ", ".join(
        f"{'early-stop' if name == 'patience' else name.replace('_', '-')} "
        f"{_setting_text(value)}{'' if name in given else '*'}"
        for name, value in settings.as_dict().items()
        if settings.concerns(name)
    )
    pairs.append(("settings", f"{chosen}  (* chosen by rarefy)"))
    if not plan.scaling.is_none:
        scaled = 0 if plan.scaling.scale is None else int((plan.scaling.scale != 1).sum())
        pairs.append(
            ("scaling", f"{scaled:,} columns scaled, {len(plan.scaling.dense):,} of them centered")
        )
    pairs.append(("run", str(folder)))
    show_pairs(pairs)


def _setting_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _show_result(training: Training, folder: Path) -> None:
    position, plan = training.position, training.plan
    epoch = position.best_epoch if plan.settings.patience else position.epoch
    record = position.history[epoch - 1]
    part = "valid" if plan.reading.valid else "train"
    metrics = {
        name.removeprefix(f"{part}_"): value
        for name, value in record.items()
        if name.startswith(f"{part}_")
    }
    if plan.settings.patience and epoch < position.epoch:
        click.echo(f"no better since epoch {epoch}, whose model is kept")
    main, best = MAIN_METRIC[plan.problem.loss], position.best
    if not plan.settings.patience and best is not None and metrics[main] > _WORSE * best:
        click.echo(
            f"valid was best after epoch {position.best_epoch} ({main} {best:.5f}); "
            "--early-stop 2 keeps the best model"
        )
    size = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
    show_pairs(
        [
            (part, f"{metrics_text(metrics)}"),
            ("time", f"{position.seconds:.1f} s"),
            ("saved", f"{folder} ({bytes_text(size)}): model, curves.png, history.csv"),
        ]
    )
