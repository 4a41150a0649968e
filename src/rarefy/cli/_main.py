"""The command `rarefy` and its subcommands."""

import sys
from collections.abc import Sequence
from typing import Any

import click

from rarefy._version import __version__
from rarefy.cli._demo import demo
from rarefy.cli._errors import debug_option, guarded
from rarefy.cli._eval import evaluate_run
from rarefy.cli._inspect import inspect
from rarefy.cli._predict import predict
from rarefy.cli._train import train


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="rarefy %(version)s")
@debug_option
def cli() -> None:
    """Linear models, factorization machines and networks for sparse data in LibSVM files.

    \b
      rarefy inspect FILE      what is in a file
      rarefy train FILE        learn a model; it lands in a folder
      rarefy eval RUN FILE     how good it is on other rows
      rarefy predict RUN FILE  its predictions, one a line
      rarefy demo              all of that on a made-up click log
    """


cli.add_command(train)
cli.add_command(predict)
cli.add_command(evaluate_run)
cli.add_command(inspect)
cli.add_command(demo)


def run(arguments: Sequence[str] | None = None) -> int:
    """Runs the command.

    Args:
      arguments: without the program's name; by default those of the process.

    Returns:
      The exit status: 0; 2 for anything that a user can put right; 130 after Ctrl-C.
    """

    def command(state: dict[str, Any]) -> int | None:
        given = None if arguments is None else list(arguments)
        return cli.main(given, prog_name="rarefy", standalone_mode=False, obj=state)

    return guarded(command)


def main() -> None:
    """The entry point of the command line."""
    sys.exit(run())
