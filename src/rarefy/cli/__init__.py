"""The command line."""

from rarefy.cli._main import main

__all__ = ["main"]
