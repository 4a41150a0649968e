"""Text of an input, a window of whole lines at a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rarefy._primitives._text import PADDING, count_newlines, find_last_newline, find_newline
from rarefy.io._errors import LibSVMError
from rarefy.io._source import Piece, is_damage, readinto

_BOM = b"\xef\xbb\xbf"
_NEWLINE = ord("\n")


@dataclass(eq=False)
class Window:
    """Whole lines of one piece: `text[begin:end]`.

    Attributes:
      text: uint8. It is reused for the next window.
      begin, end: where the lines lie; the last ends with a newline, or one stands at `text[end]`.
      piece: where they come from.
      offset: where `text[begin]` stands in the piece's text.
      lines_before: newlines of the piece before `begin`, `None` if nobody has counted them.
      newlines: newlines of the window itself, set by who parses it, as parsing counts them anyway.
    """

    text: np.ndarray
    begin: int
    end: int
    piece: Piece
    offset: int
    lines_before: int | None
    newlines: int | None = None

    def line_number(self, at: int) -> int:
        """The number of the line that begins at `text[at]`, from 1. May read the file again."""
        before = self.lines_before
        if before is None:
            before = _lines_before(self.piece, self.offset)
        return before + count_newlines(self.text, self.begin, at) + 1


def read_windows(
    piece: Piece, chunk_bytes: int, start: int = 0, stop: int | None = None
) -> Iterator[Window]:
    """Yields the lines of `piece` whose first byte lies in `[start, stop)`.

    A byte order mark at the beginning of the piece is left out.

    Args:
      piece: where to read. `start` and `stop` need a piece that has a `size`.
      chunk_bytes: how much text a window holds, roughly; longer lines make longer windows.
      start, stop: offsets in the text; `None` means to the end.

    Raises:
      LibSVMError: the archive is damaged, or the text is not UTF-8.
      OSError: reading failed.
    """
    stream = piece.open()
    try:
        reader = _WindowReader(piece, stream, chunk_bytes, start, stop)
        yield from reader.windows()
    finally:
        stream.close()


class _WindowReader:
    """Reads a piece into one buffer and cuts it at line ends."""

    def __init__(self, piece: Piece, stream: Any, chunk_bytes: int, start: int, stop: int | None):
        self._piece, self._stream = piece, stream
        # From the byte before: whether a line begins at `start` depends on it.
        self._offset = max(start - 1, 0)  # of text[0] in the piece
        if self._offset:
            stream.seek(self._offset)
        self._skip_line = start > 0
        self._stop = stop
        self._text = np.empty(max(chunk_bytes, len(_BOM) + 1) + PADDING, np.uint8)
        self._filled = 0
        self._lines = None if start else 0
        self._ended = False
        self._bom = 0  # bytes of the byte order mark, which is part of the first line

    def windows(self) -> Iterator[Window]:
        begin = 0
        if self._skip_line:
            begin = self._after_first_newline()
        elif self._offset == 0:
            begin = self._bom = self._length_of_bom()
        while begin is not None:
            end = self._whole_lines(begin)
            end, last = self._cut_at_stop(begin, end)
            if end > begin:
                if self._text[end - 1] != _NEWLINE:
                    self._text[end] = _NEWLINE
                window = Window(
                    self._text, begin, end, self._piece, self._offset + begin, self._lines
                )
                yield window
                if self._lines is not None:
                    lines = window.newlines
                    self._lines += (
                        count_newlines(self._text, begin, end) if lines is None else lines
                    )
            if last:
                return
            self._drop(end)
            begin = 0

    def _whole_lines(self, begin: int) -> int:
        """Fills the buffer until whole lines follow `begin`; returns where they end."""
        searched = begin
        while True:
            self._fill()
            if self._ended:
                return self._filled
            newline = find_last_newline(self._text, searched, self._filled)
            if newline >= 0:
                return newline + 1
            searched = self._filled
            self._grow()

    def _cut_at_stop(self, begin: int, end: int) -> tuple[int, bool]:
        """Leaves out lines that begin at or after `stop`; says whether none can follow."""
        if self._stop is None:
            return end, self._ended
        line = self._offset + begin
        if line >= self._stop and line != self._bom:
            return begin, True
        # The last line that counts ends with the first newline at stop - 1 or later.
        at = max(self._stop - 1 - self._offset, 0)
        if at >= end:
            return end, self._ended
        newline = find_newline(self._text, max(at, begin), end)
        return (newline + 1 if newline >= 0 else end), True

    def _after_first_newline(self) -> int | None:
        """Where the first line begins that begins at or after `start`; `None` if none does."""
        while True:
            self._fill()
            newline = find_newline(self._text, 0, self._filled)
            if newline >= 0:
                return newline + 1
            if self._ended:
                return None
            self._drop(self._filled)

    def _length_of_bom(self) -> int:
        while self._filled < len(_BOM) and not self._ended:
            self._fill(len(_BOM))
        head = self._text[: min(self._filled, len(_BOM))].tobytes()
        if head.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise LibSVMError(
                file=self._piece.name,
                line=1,
                column=1,
                found=head[:2].decode("latin-1"),
                expected="text in UTF-8 or ASCII; this begins like UTF-16",
                kind="encoding",
            )
        return len(_BOM) if head == _BOM else 0

    def _fill(self, wanted: int | None = None) -> None:
        """Reads until the buffer is full, or holds `wanted` bytes, or the text ends."""
        capacity = len(self._text) - PADDING if wanted is None else wanted
        view = self._text.data
        while self._filled < capacity and not self._ended:
            count = self._read_into(view[self._filled : capacity])
            self._ended = count == 0
            self._filled += count

    def _read_into(self, view: memoryview) -> int:
        try:
            return readinto(self._stream, view)
        except Exception as error:
            if self._piece.compression is None or not is_damage(error):
                raise
            raise self._damaged(error) from error

    def _damaged(self, error: Exception) -> LibSVMError:
        lines = (self._lines or 0) + count_newlines(self._text, 0, self._filled)
        cut = isinstance(error, EOFError)
        return LibSVMError(
            file=self._piece.name,
            line=lines + 1,
            column=1,
            found="end of file" if cut else str(error),
            expected=f"the rest of the {self._piece.compression} archive"
            if cut
            else f"a sound {self._piece.compression} archive",
            kind="archive",
            hint="The file is cut off; copy or download it again." if cut else None,
        )

    def _drop(self, end: int) -> None:
        """Moves what follows `end` to the front of the buffer."""
        rest = self._filled - end
        self._text[:rest] = self._text[end : self._filled].copy()
        self._offset += end
        self._filled = rest

    def _grow(self) -> None:
        larger = np.empty(2 * len(self._text), np.uint8)
        larger[: self._filled] = self._text[: self._filled]
        self._text = larger


def _lines_before(piece: Piece, offset: int) -> int:
    """How many newlines stand before `offset`."""
    text = np.empty(1 << 20, np.uint8)
    view, lines, left = text.data, 0, offset
    stream = piece.open()
    try:
        while left > 0:
            count = readinto(stream, view[: min(left, len(text))])
            if count == 0:
                break
            lines += count_newlines(text, 0, count)
            left -= count
    finally:
        stream.close()
    return lines
