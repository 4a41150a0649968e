"""`python -m rarefy.cli`, for where the command is not on the path."""

from rarefy.cli._main import main

main()
