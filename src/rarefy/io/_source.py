"""Where bytes come from: files, folders, archives, standard input, file objects."""

import bz2
import gzip
import io
import lzma
import os
import stat
import sys
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

Source = str | os.PathLike | BinaryIO | Sequence[str | os.PathLike]
"""A path (plain, .gz, .bz2 or .xz), a folder, `-` for standard input, a list of paths, or a binary
file object."""

_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz"}
_SUFFIXES = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz"}
_UNKNOWN_MAGIC = {
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"\x04\x22\x4d\x18": "lz4",
}
_OPENERS: dict[str, Any] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}
_MAGIC_BYTES = 6
_DAMAGE = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)


def is_damage(error: Exception) -> bool:
    """Whether an exception from reading an archive means that its content is damaged.

    bz2 raises a bare OSError for that; one of the system has a number.
    """
    return isinstance(error, _DAMAGE) or (isinstance(error, OSError) and error.errno is None)


@dataclass(eq=False)
class Piece:
    """One file or stream of an input.

    Attributes:
      name: how messages call it.
      path: where to open it, `None` for a stream.
      compression: `gzip`, `bzip2`, `xz` or `None`.
      size: bytes of a plain regular file, which can be read from any offset; otherwise `None`.
    """

    name: str
    path: str | None = None
    compression: str | None = None
    size: int | None = None
    _stream: Any = None
    _start: int | None = field(default=None)
    _used: bool = False

    @property
    def rewindable(self) -> bool:
        """Whether it can be read more than once."""
        return self.path is not None or self._start is not None

    def open(self) -> Any:
        """The (decompressed) text from its beginning, as an object with `readinto` and `close`.

        Raises:
          ValueError: it is a stream that has been read already.
          OSError: the file cannot be opened.
        """
        if self.path is not None:
            if self.compression is None:
                return open(self.path, "rb", buffering=0)
            return _OPENERS[self.compression](self.path, "rb")
        if self._start is not None:
            self._stream.seek(self._start)
            return _Borrowed(self._decompressed(self._stream))
        if self._used:
            raise ValueError(
                f"{self.name} can be read only once; save it to a file to read it again"
            )
        self._used = True
        return _Borrowed(self._stream)

    def peek(self, count: int) -> bytes:
        """The first `count` bytes of the text, fewer at its end. Nothing is used up.

        A damaged archive seems to end where the damage begins; reading it in earnest says more.
        """
        if self.rewindable:
            with self.open() as text:
                return _read(text, count)
        if self._used:
            raise ValueError(f"{self.name} can be read only once")
        head = _read(self._stream, count)
        self._stream = _Pushback(self._stream, head)
        return head

    def rewind(self) -> None:
        """Puts a seekable stream back to where it was found."""
        if self._start is not None:
            self._stream.seek(self._start)

    def in_memory(self) -> "Piece":
        """The same text, read to its end and held in memory, so that it can be read again."""
        with self.open() as text:
            stream = io.BytesIO(text.read(-1))
        return Piece(self.name, _stream=stream, _start=0)

    def _decompressed(self, stream: Any) -> Any:
        return stream if self.compression is None else _OPENERS[self.compression](stream, "rb")


def find_pieces(source: Source) -> list[Piece]:
    """The files and streams that `source` stands for, in the order in which they are read.

    Raises:
      FileNotFoundError: there is no such file, or no file in the folder.
      ValueError: a file is packed in a way that is not known, or its name promises another; a
        folder holds folders; the list is empty.
      TypeError: `source` is of another kind.
    """
    if isinstance(source, str) and source == "-":
        return [_stream_piece(sys.stdin.buffer, "<stdin>")]
    if isinstance(source, str | os.PathLike):
        return _path_pieces(os.fspath(source))
    if hasattr(source, "readinto") or hasattr(source, "read"):
        return [_stream_piece(source, str(getattr(source, "name", "<stream>")))]
    if isinstance(source, Iterable) and not isinstance(source, bytes | bytearray):
        pieces = [piece for path in source for piece in _path_pieces(os.fspath(path))]
        if not pieces:
            raise ValueError("source: the list of paths is empty")
        return pieces
    raise TypeError(
        f"source: {type(source).__name__} is not a path, a folder, a list of paths or a binary "
        "file object"
    )


def part_ranges(
    pieces: list[Piece], part_index: int, num_parts: int
) -> list[tuple[Piece, int, int]]:
    """Part `part_index` of `num_parts` of plain files laid end to end, as byte ranges of files."""
    sizes = [piece.size or 0 for piece in pieces]
    total = sum(sizes)
    start, stop = (total * k // num_parts for k in (part_index, part_index + 1))
    ranges, before = [], 0
    for piece, size in zip(pieces, sizes, strict=True):
        first, last = max(start - before, 0), min(stop - before, size)
        if first < last:
            ranges.append((piece, first, last))
        before += size
    return ranges


def _path_pieces(path: str | bytes) -> list[Piece]:
    name = os.fsdecode(path)
    if not os.path.isdir(name):
        return [_file_piece(name)]
    entries = sorted(e for e in os.listdir(name) if not e.startswith((".", "_")))
    paths = [str(Path(name, entry)) for entry in entries]
    folders = [p for p in paths if os.path.isdir(p)]
    if folders:
        raise ValueError(f"{name}: holds the folder {folders[0]}; name the folder with the files")
    if not paths:
        raise FileNotFoundError(f"{name}: the folder has no files")
    return [_file_piece(p) for p in paths]


def _file_piece(path: str) -> Piece:
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):  # a pipe or device: what is read of it is gone
        return _stream_piece(open(path, "rb", buffering=0), path)
    with open(path, "rb", buffering=0) as file:
        compression = _compression(_read(file, _MAGIC_BYTES), path)
    size = status.st_size if compression is None else None
    return Piece(path, path=path, compression=compression, size=size)


def _stream_piece(stream: Any, name: str) -> Piece:
    if isinstance(stream, io.TextIOBase):
        raise TypeError(f"source: {name} is open as text; open it in binary mode ('rb')")
    if _seekable(stream):
        start = stream.tell()
        compression = _compression(_read(stream, _MAGIC_BYTES), "")
        stream.seek(start)
        return Piece(name, compression=compression, _stream=stream, _start=start)
    head = _read(stream, _MAGIC_BYTES)
    piece = Piece(name, compression=_compression(head, ""))
    piece._stream = piece._decompressed(_Pushback(stream, head))
    return piece


def _seekable(stream: Any) -> bool:
    seekable = getattr(stream, "seekable", None)
    return bool(seekable and seekable())


def _compression(head: bytes, path: str) -> str | None:
    suffix = Path(path).suffix.lower()
    for magic, name in _UNKNOWN_MAGIC.items():
        if head.startswith(magic):
            raise ValueError(
                f"{path or 'source'}: packed with {name}; pipe it through its unpacker"
            )
    found = next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)
    promised = _SUFFIXES.get(suffix)
    if promised and head and found != promised:
        held = found or "no archive"
        raise ValueError(f"{path}: the name promises {promised}, the content is {held}")
    return found


def _read(stream: Any, count: int) -> bytes:
    """`count` bytes, fewer only at the end."""
    pieces, wanted = [], count
    while wanted > 0:
        try:
            piece = stream.read(wanted)
        except Exception as error:
            if not is_damage(error):
                raise
            break
        if not piece:
            break
        pieces.append(piece)
        wanted -= len(piece)
    return b"".join(pieces)


class _Pushback(io.RawIOBase):
    """A stream whose first bytes have been read already and are read again."""

    def __init__(self, stream: Any, head: bytes):
        self._stream, self._head = stream, head

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        if self._head:
            count = min(len(view), len(self._head))
            view[:count] = self._head[:count]
            self._head = self._head[count:]
            return count
        return readinto(self._stream, view)


class _Borrowed:
    """A stream that is not ours to close."""

    def __init__(self, stream: Any):
        self._stream = stream

    def read(self, count: int) -> bytes:
        return self._stream.read(count)

    def readinto(self, buffer: Any) -> int:
        return readinto(self._stream, buffer)

    def close(self) -> None:
        pass

    def __enter__(self) -> "_Borrowed":
        return self

    def __exit__(self, *_: object) -> None:
        pass


def readinto(stream: Any, view: Any) -> int:
    """Reads some bytes into `view`; 0 at the end. For streams that can only `read`, too."""
    if hasattr(stream, "readinto"):
        return stream.readinto(view) or 0
    data = stream.read(len(view))
    view[: len(data)] = data
    return len(data)
