"""`rarefy predict`: predictions, one a line, in the order of the rows."""

import sys
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np

from rarefy.cli._errors import debug_option
from rarefy.cli._rows import LabelMode, open_rows
from rarefy.io import LibSVMReader, replacing
from rarefy.models import Model
from rarefy.models._problem import plain

WHAT = ("probability", "score", "class")


@click.command()
@click.argument("run")
@click.argument("file")
@click.option(
    "--what",
    type=click.Choice(WHAT),
    help="The probability of the larger label (of each class, if there are more than two), the score "
    "before the link, or the predicted label. Without classes: the value.  [probability]",
)
@click.option("--out", type=click.Path(path_type=Path), help="Write here, not to standard output.")
@click.option(
    "--labels",
    type=click.Choice(["auto", "none", "required"]),
    default="auto",
    help="Whether rows begin with a label; auto looks at the first row.  [auto]",
)
@click.option(
    "--duplicates",
    type=click.Choice(["error", "sum"]),
    default="error",
    help="What to do with a column twice in a row.  [error]",
)
@debug_option
def predict(
    run: str, file: str, what: str | None, out: Path | None, labels: LabelMode, duplicates: str
) -> None:
    """Print what the model in RUN predicts for each row of FILE (- for standard input).

    Rows are read and answered as a stream; blank lines and comments are no rows.
    """
    model = Model.load(Path(run))
    if model.header.loss == "squared" and what in ("probability", "class"):
        raise click.UsageError(f"--what {what}: a model of numbers (loss squared) has no classes")
    reader = open_rows(file, model.header, labels=labels, duplicates=duplicates)
    lines = _lines(model, reader, what or "probability", file)
    if out is not None:
        with replacing(out) as target:
            target.writelines(lines)
        return
    for text in lines:
        sys.stdout.buffer.write(text)
        sys.stdout.buffer.flush()


def _lines(model: Model, reader: LibSVMReader, what: str, source: str) -> Iterator[bytes]:
    for batch in reader.epoch():
        x = batch.to_scipy()
        if what == "class":
            yield _text(_predicted_labels(model, model.scores(x, batch.first_row, source)))
        else:
            ask = model.scores if what == "score" else model.predict
            yield _text(ask(x, batch.first_row, source))


def _predicted_labels(model: Model, scores: np.ndarray) -> np.ndarray:
    classes = np.array([plain(label) for label in model.header.classes or ()], object)
    return classes[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]


def _text(values: np.ndarray) -> bytes:
    """A line for each row. Nine digits bring back the same float32."""
    if values.dtype == object:
        return "".join(f"{value}\n" for value in values).encode()
    if values.ndim == 1:
        return "".join(map("%.9g\n".__mod__, values.tolist())).encode()
    row = " ".join(["%.9g"] * values.shape[1]) + "\n"
    return "".join(row % tuple(line) for line in values.tolist()).encode()
