"""The command `rarefy` and its subcommands."""

import sys

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
    """Linear models and factorization machines for sparse data in LibSVM files.

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


def main() -> None:
    """The entry point of the command line."""
    sys.exit(guarded(lambda state: cli.main(standalone_mode=False, obj=state)))
