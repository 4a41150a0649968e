"""What a training has achieved epoch by epoch: as a table and as a picture."""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from rarefy.io import replacing
from rarefy.models._files import write_text

HISTORY = "history.csv"
CURVES = "curves.png"

Record = dict[str, float | int]


def write_history(folder: Path, history: Sequence[Record]) -> None:
    """Writes `history.csv`: a line an epoch; a metric without a value is an empty field."""
    names = list(dict.fromkeys(name for record in history for name in record))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for record in history:
        writer.writerow([_field(record.get(name)) for name in names])
    write_text(folder / HISTORY, text.getvalue())


def _field(value: float | int | None) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def add_to_trace(trace: list[list[float]], epochs: float, value: float) -> None:
    """Adds a point to a trace; one that has grown long gets half as many points."""
    trace.append([epochs, value])
    if len(trace) > _LONGEST_TRACE:
        pairs = zip(trace[::2], trace[1::2], strict=False)
        trace[:] = [[b[0], (a[1] + b[1]) / 2] for a, b in pairs]


def draw_curves(
    folder: Path,
    title: str,
    history: Sequence[Record],
    trace: Sequence[Sequence[float]],
    best: Mapping[str, float],
) -> None:
    """Draws `curves.png`: each metric over the epochs, training and validation in one panel.

    Args:
      folder: where to.
      title: above the panels.
      history: a record for each epoch, at least one.
      trace: `(epochs, value)` of the first metric within the epochs.
      best: by metric, the best value that can be reached, drawn as a line.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    names = [n.removeprefix("train_") for n in history[0] if n.startswith("train_")]
    # A figure of one's own, not pyplot's: no global state, no display, whatever the environment.
    figure = Figure(figsize=(4.2 * len(names), 3.4), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    epochs = [record["epoch"] for record in history]
    for place, name in enumerate(names):
        axes = figure.add_subplot(1, len(names), place + 1)
        if place == 0 and len(trace) > 1:
            at, values = zip(*trace, strict=True)
            axes.plot(at, values, color="#4477aa", alpha=0.35, linewidth=1)
        for part, color in (("train", "#4477aa"), ("valid", "#ee6677")):
            if f"{part}_{name}" in history[0]:
                values = [record.get(f"{part}_{name}", math.nan) for record in history]
                axes.plot(epochs, values, marker="o", markersize=3, color=color, label=_LABEL[part])
        if name in best:
            axes.axhline(best[name], color="#228833", linestyle="--", label="best possible")
        axes.set_title(name.replace("_", " "), fontsize=10)
        axes.set_xlabel("epoch", fontsize=9)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.tick_params(labelsize=8)
        axes.grid(alpha=0.3)
        if place == 0:
            axes.legend(fontsize=8, frameon=False)
    figure.suptitle(title, fontsize=11)
    with replacing(folder / CURVES) as file:
        figure.savefig(file, format="png")


_LONGEST_TRACE = 600
_LABEL = {"train": "training, before each step", "valid": "validation"}
