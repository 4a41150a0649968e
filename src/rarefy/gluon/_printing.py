"""How blocks and lists of names are printed."""

from collections.abc import Iterable


def indented(text: str, spaces: int) -> str:
    """The text with all lines but the first moved to the right."""
    return text.replace("\n", "\n" + " " * spaces)


def brief(names: Iterable[object], limit: int = 7) -> str:
    """Some names for a message: all of them, or the first and the last where there are many."""
    shown = [f"'{name}'" for name in names]
    if len(shown) > limit:
        half = limit // 2
        shown = [*shown[:half], "...", *shown[-half:]]
    return ", ".join(shown)
