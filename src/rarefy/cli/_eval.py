"""`rarefy eval`: how good a model is on rows with labels."""

import json
import math
from pathlib import Path

import click

from rarefy.cli._errors import debug_option
from rarefy.cli._format import show_pairs
from rarefy.cli._rows import open_rows
from rarefy.models import Model, evaluate


@click.command("eval")
@click.argument("run")
@click.argument("file")
@click.option("--weights", is_flag=True, help="Labels carry weights, as in 1:0.5 3:1.")
@click.option(
    "--duplicates",
    type=click.Choice(["error", "sum"]),
    default="error",
    help="What to do with a column twice in a row.  [error]",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@debug_option
def evaluate_run(run: str, file: str, weights: bool, duplicates: str, as_json: bool) -> None:
    """Print the metrics of the model in RUN on the rows of FILE (- for standard input)."""
    model = Model.load(Path(run))
    reader = open_rows(
        file, model.header, labels="required", duplicates=duplicates, weights=weights
    )
    found = evaluate(model, reader.epoch(), file)
    if not found["rows"]:
        raise ValueError(f"{file}: there are no rows")
    if as_json:
        # JSON has no NaN: the AUC of one class is null.
        click.echo(json.dumps({k: None if math.isnan(v) else v for k, v in found.items()}))
        return
    rows = found.pop("rows")
    show_pairs([("rows", f"{rows:,}"), *((name, f"{value:.6f}") for name, value in found.items())])
