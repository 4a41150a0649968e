"""MXNet's switches of its engine. XLA runs what it is given as it sees fit, so they only keep count."""

from collections.abc import Iterator
from contextlib import contextmanager

_bulk_size = 0


def set_bulk_size(size: int) -> int:
    """Accepts how many operators are run as one; nothing depends on it.

    Returns:
      The size before.
    """
    global _bulk_size
    before, _bulk_size = _bulk_size, int(size)
    return before


@contextmanager
def bulk(size: int) -> Iterator[None]:
    """A block in which the bulk size is another one."""
    before = set_bulk_size(size)
    try:
        yield
    finally:
        set_bulk_size(before)
