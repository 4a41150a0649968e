"""How the command ends: one line for what a user can cause, a traceback for our own mistakes."""

import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

import click

USER_ERROR = 2
"""Exit status for anything that a user can put right."""

FAULT = 1
INTERRUPTED = 130
BROKEN_PIPE = 1  # what click makes of it

# What input, files and options can lead to. Anything else is a mistake of the program.
_USER_ERRORS = (ValueError, OSError, NotImplementedError, EOFError, MemoryError)


def guarded(command: Callable[[dict[str, Any]], int | None]) -> int:
    """Runs the command and turns what it raises into an exit status and a message.

    Args:
      command: takes a dictionary, in which it may set `debug`, and returns an exit status or None.
    """
    state: dict[str, Any] = {}
    if sys.stdout is None:  # closed by the caller, as `>&-` does
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    try:
        status = command(state)
        sys.stdout.flush()
        return status or 0
    except BrokenPipeError:
        return _pipe_closed()
    except (click.Abort, KeyboardInterrupt):
        click.echo("\nrarefy: interrupted; nothing was saved", err=True)
        return INTERRUPTED
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        _show_usage(error)
        return USER_ERROR
    except _USER_ERRORS as error:
        if state.get("debug"):
            traceback.print_exc()
        click.echo(f"rarefy: error: {one_line(error)}", err=True)
        return USER_ERROR
    except Exception:
        traceback.print_exc()
        click.echo(
            "rarefy: this is a mistake in rarefy, not in your input; please report", err=True
        )
        return FAULT


def _show_usage(error: click.ClickException) -> None:
    hint = ""
    if isinstance(error, click.UsageError) and error.ctx is not None:
        hint = f" (see '{error.ctx.command_path} --help')"
    click.echo(f"rarefy: error: {' '.join(error.format_message().split())}{hint}", err=True)


def one_line(error: BaseException) -> str:
    """What went wrong, without line breaks, with the file first where there is one."""
    if isinstance(error, MemoryError):
        return f"out of memory{': ' if str(error) else ''}{' '.join(str(error).split())}"
    if isinstance(error, OSError) and error.strerror:
        place = f"{os.fsdecode(error.filename)}: " if error.filename is not None else ""
        return f"{place}{error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


def _pipe_closed() -> int:
    """The reader of our output has gone, as `| head` does: that is no error to talk about."""
    # Python would flush the rest at exit and complain.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return BROKEN_PIPE


def debug_option(function: Callable) -> Callable:
    """Gives a command the option `--debug`."""

    def remember(context: click.Context, parameter: click.Parameter, value: bool) -> None:
        if value:
            context.find_root().ensure_object(dict)["debug"] = True

    return click.option(
        "--debug",
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=remember,
        help="Show the traceback of an error.",
    )(function)
