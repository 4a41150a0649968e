"""Rows in random order, in bounded memory. The order depends on the seed, never on threads."""

import hashlib
from collections.abc import Iterator
from typing import Literal

from rarefy._primitives._text import permutation
from rarefy.io._rows import RowBlock
from rarefy.io._source import Piece

ShuffleKind = Literal["full", "chunks", "window"]

ByteRange = tuple[Piece, int, int]

# A window is filled from about a hundred chunks or more, unless that makes them tiny or huge.
_CHUNKS_A_WINDOW = 64
_LEAST_CHUNK, _MOST_CHUNK = 1 << 16, 1 << 23
_ROWS_AT_ONCE = 1 << 13  # how many rows are copied at a time: some megabytes


def shuffled_chunks(ranges: list[ByteRange], window_bytes: int, seed: int) -> list[ByteRange]:
    """The byte ranges, cut into chunks much smaller than the window, in random order."""
    size = min(max(window_bytes // _CHUNKS_A_WINDOW, _LEAST_CHUNK), _MOST_CHUNK)
    chunks = [
        (piece, at, min(at + size, stop))
        for piece, start, stop in ranges
        for at in range(start, stop, size)
    ]
    order = permutation(len(chunks), _seed64(seed, "chunks"))
    return [chunks[i] for i in order.tolist()]


def shuffled_rows(blocks: Iterator[RowBlock], seed: int, batch_size: int) -> Iterator[RowBlock]:
    """The rows of each block in random order, some thousands at a time."""
    step = -(-_ROWS_AT_ONCE // batch_size) * batch_size
    for number, block in enumerate(blocks):
        order = permutation(block.rows, _seed64(seed, number))
        for start in range(0, block.rows, step):
            yield block.take(order[start : start + step])
        del block  # the next one needs the room


def cut(blocks: Iterator[RowBlock], start_row: int) -> Iterator[RowBlock]:
    """Leaves out the first `start_row` rows."""
    for block in blocks:
        skipped = min(start_row, block.rows)
        start_row -= skipped
        if skipped < block.rows:
            yield block.slice(skipped, block.rows)


def _seed64(seed: int, purpose: int | str) -> int:
    """64 bits that differ for every seed and purpose."""
    digest = hashlib.blake2b(f"{seed}/{purpose}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")
