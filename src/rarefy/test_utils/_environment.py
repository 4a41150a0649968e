"""What surrounds a test: environment variables, the error output, another try."""

import functools
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def environment(*args: Any) -> Iterator[None]:
    """Sets environment variables for the time of a `with` block.

    Args:
      args: a name and a value, or one dict of them; None as a value unsets.

    Raises:
      ValueError: there are neither one nor two arguments.
    """
    if len(args) not in (1, 2):
        raise ValueError(f"environment takes a dict, or a name and a value; got {len(args)}")
    wanted = dict(args[0]) if len(args) == 1 else {args[0]: args[1]}
    before = {name: os.environ.get(name) for name in wanted}
    _set(wanted)
    try:
        yield
    finally:
        _set(before)


def _set(values: dict[str, Any]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = str(value)


@contextmanager
def discard_stderr() -> Iterator[None]:
    """Drops what a `with` block writes to the error output, native code included."""
    sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
        sys.stderr.flush()
    finally:
        os.dup2(kept, 2)
        os.close(nowhere)
        os.close(kept)


def retry(n: int) -> Callable:
    """A decorator: a test that fails by chance may be tried `n` times.

    Raises:
      ValueError: `n` is not positive.
    """
    if n <= 0:
        raise ValueError(f"n must be positive; got {n}")

    def decorate(test: Callable) -> Callable:
        @functools.wraps(test)
        def tried(*args, **kwargs):
            for _ in range(n - 1):
                try:
                    return test(*args, **kwargs)
                except AssertionError:
                    pass
            return test(*args, **kwargs)

        return tried

    return decorate
