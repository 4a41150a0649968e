"""Numbers for people."""

import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def bytes_text(count: float) -> str:
    """A number of bytes with a unit: `512 B`, `1.5 GiB`.

    >>> bytes_text(1536)
    '1.5 KiB'
    """
    unit = 0
    while count >= 1024 and unit < len(_UNITS) - 1:
        count /= 1024
        unit += 1
    return f"{count:.0f} B" if unit == 0 else f"{count:.3g} {_UNITS[unit]}"


def percent_text(fraction: float) -> str:
    """A fraction as a percentage with three digits: `11.3%`, `0.00297%`."""
    return f"{100 * fraction:.3g}%"


def plural(count: int, noun: str) -> str:
    """`1 row`, `2,000 rows`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def metrics_text(metrics: Mapping[str, Any]) -> str:
    """Metrics on one line: `log_loss 0.32471  auc 0.90178`."""
    return "  ".join(f"{name} {value:.5f}" for name, value in metrics.items())


def program() -> str:
    """How to call the command again: `rarefy`, with its folder where it is not on the path."""
    called = sys.argv[0]
    if os.path.basename(called) != "rarefy":
        return "rarefy"
    found = shutil.which("rarefy")
    if found is not None and os.path.samefile(found, called):
        return "rarefy"
    return shlex.quote(called)


def show_pairs(pairs: Sequence[tuple[str, str]]) -> None:
    """Prints names and values in two columns; a value may have several lines."""
    width = max(len(name) for name, _ in pairs)
    for name, value in pairs:
        for i, line in enumerate(value.split("\n")):
            click.echo(f"{name if i == 0 else '':<{width}}  {line}".rstrip())
