"""Parsed rows in a file beside their text, read back by mapping it into memory.

The file: eight bytes that name the format and its version, the length and the CRC of a header (uint64
each, little-endian), the header in JSON, and the arrays of a `RowBlock`, each at a multiple of 64
bytes. The header has the fingerprint of what was parsed, how it counts, and type, length, place and
CRC of every array.
"""

import hashlib
import json
import mmap
import os
import shutil
import tempfile
import warnings
import zlib
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from rarefy._atomic import replacing
from rarefy.io._batch import index_dtype
from rarefy.io._errors import BadLines, LibSVMError
from rarefy.io._parse import ParseOptions
from rarefy.io._rows import RowBlock
from rarefy.io._source import Piece

_MAGIC = b"RFYROWS1"
_ALIGN = 64
_PROBE_BYTES = 1 << 16  # at either end of a file, what of its content goes into the fingerprint
_PROCESSING = ("n_threads", "chunk_bytes")  # options that change no row


@dataclass(frozen=True)
class CachedRows:
    """What a cache holds.

    Attributes:
      rows: the rows, whose arrays are mapped and read-only.
      n_features: number of columns.
      index_base: the index of the first column in the text.
      bad_lines: lines that were left out.
    """

    rows: RowBlock
    n_features: int
    index_base: int
    bad_lines: BadLines


def cache_path(path: str | os.PathLike, part_index: int, num_parts: int) -> str:
    """The file for a part: parts do not share one."""
    name = os.fspath(path)
    return name if num_parts == 1 else f"{name}.part{part_index}-of-{num_parts}"


def fingerprint(
    pieces: list[Piece], options: ParseOptions, find_base: bool, part: tuple[int, int]
) -> str:
    """What a cache depends on: the files (path, size, time of change, content at both ends), how they
    are read, and which part.

    Raises:
      ValueError: the input is a stream.
      OSError: a file cannot be read.
    """
    described = {f.name: str(getattr(options, f.name)) for f in fields(options)}
    for name in _PROCESSING:
        del described[name]
    if find_base:
        described["index_base"] = "auto"
    facts = [list(part), described, [_file_facts(piece) for piece in pieces]]
    return hashlib.blake2b(json.dumps(facts).encode(), digest_size=16).hexdigest()


def _file_facts(piece: Piece) -> list[Any]:
    if piece.path is None:
        raise ValueError(f"cache_file: {piece.name} is a stream; only files can have a cache")
    with open(piece.path, "rb") as file:
        status = os.fstat(file.fileno())
        content = hashlib.blake2b(file.read(_PROBE_BYTES), digest_size=16)
        file.seek(max(status.st_size - _PROBE_BYTES, 0))
        content.update(file.read(_PROBE_BYTES))
    path = os.path.realpath(piece.path)
    return [path, status.st_size, status.st_mtime_ns, content.hexdigest()]


def write_cache(
    path: str,
    mark: str,
    blocks: Iterable[RowBlock],
    *,
    n_features: int,
    index_base: int,
    bad_lines: Any,
) -> None:
    """Writes rows as they come, in memory for one block, and puts the file in place at the end.

    Args:
      path: the file. Two processes may write it at once; either result is whole.
      mark: the fingerprint.
      blocks: at least one.
      n_features, index_base: as of `CachedRows`.
      bad_lines: called when all rows have come, as lines are counted while they are parsed.

    Raises:
      OSError: the file cannot be written.
    """
    folder = os.path.dirname(os.path.realpath(path))
    indices = index_dtype(n_features, 0)
    with ExitStack() as stack:
        columns: dict[str, _Column] = {}
        for block in blocks:
            for part in fields(RowBlock):
                array = getattr(block, part.name)
                if array is None:
                    continue
                if part.name not in columns:
                    file = stack.enter_context(tempfile.TemporaryFile(dir=folder))
                    columns[part.name] = _Column(file, part.name.endswith("indptr"))
                columns[part.name].append(
                    array.astype(indices, copy=False) if part.name == "indices" else array
                )
        skipped = bad_lines()
        head = {
            "fingerprint": mark,
            "n_features": n_features,
            "index_base": index_base,
            "bad_lines": [skipped.count, [vars(report) for report in skipped.reports]],
            "arrays": {name: column.facts() for name, column in columns.items()},
        }
        with replacing(path) as out:
            text = json.dumps(head).encode()
            sizes = np.array([len(text), zlib.crc32(text)], "<u8")
            out.write(_MAGIC + sizes.tobytes() + text)
            for column in columns.values():
                out.write(bytes(-out.tell() % _ALIGN))
                column.file.seek(0)
                shutil.copyfileobj(column.file, out, 1 << 22)


class _Column:
    """An array that grows in a file."""

    def __init__(self, file: Any, bounds: bool):
        self.file = file
        self._bounds = bounds
        self._last = 0
        self._dtype = ""
        self._length = self._crc = 0

    def append(self, array: np.ndarray) -> None:
        if self._bounds:  # of each block they begin with 0
            array = array[1:] + self._last if self._length else array
            self._last = int(array[-1]) if len(array) else self._last
        self._dtype = array.dtype.str
        self._length += len(array)
        data = np.ascontiguousarray(array).data.cast("B") if len(array) else b""
        self._crc = zlib.crc32(data, self._crc)
        self.file.write(data)

    def facts(self) -> list[Any]:
        return [self._dtype, self._length, self._crc]


def read_cache(path: str, mark: str) -> CachedRows | None:
    """Opens a cache; None if there is none, or it is of another input.

    A damaged one is reported with a warning, and is None too. All of it is read once for that.

    Raises:
      OSError: the file is there and cannot be read.
    """
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                raise _DamageError("it is empty")
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return _read(content, mark)
    except FileNotFoundError:
        return None
    except _DamageError as damage:
        warnings.warn(f"{path}: the cache is made anew, as {damage}", stacklevel=3)
        return None


class _DamageError(Exception):
    """What is wrong with a cache."""


def _read(content: mmap.mmap, mark: str) -> CachedRows | None:
    start = len(_MAGIC) + 16
    if content[: len(_MAGIC)] != _MAGIC or len(content) < start:
        raise _DamageError("it is not one of this version")
    length, crc = np.frombuffer(content, "<u8", 2, len(_MAGIC)).tolist()
    text = content[start : start + length]
    if len(text) != length or zlib.crc32(text) != crc:
        raise _DamageError("its header is damaged")
    head = json.loads(text)
    if head["fingerprint"] != mark:
        return None
    at, arrays = start + length, {}
    for name, (dtype, count, crc) in head["arrays"].items():
        at += -at % _ALIGN
        size = np.dtype(dtype).itemsize * count
        if at + size > len(content):
            raise _DamageError("it is cut off")
        arrays[name] = np.frombuffer(content, dtype, count, at)
        if zlib.crc32(arrays[name].data if count else b"") != crc:
            raise _DamageError(f"its {name} is damaged")
        at += size
    rows = RowBlock(**arrays)
    _check(rows, head["n_features"])
    count, reports = head["bad_lines"]
    return CachedRows(
        rows=rows,
        n_features=head["n_features"],
        index_base=head["index_base"],
        bad_lines=BadLines(count, tuple(LibSVMError(**report) for report in reports)),
    )


def _check(rows: RowBlock, n_features: int) -> None:
    """Kernels trust bounds and columns, and anyone can write a file with a sound CRC."""
    bounds, lists = [(rows.indptr, len(rows.data))], rows.label_indptr
    if lists is not None and rows.label_ids is not None:
        bounds.append((lists, len(rows.label_ids)))
    sound = len(rows.indices) == len(rows.data)
    for indptr, count in bounds:
        sound &= len(indptr) == rows.rows + 1 and indptr[0] == 0 and indptr[-1] == count
        sound &= bool((indptr[1:] >= indptr[:-1]).all())
    if len(rows.indices):
        sound &= bool(rows.indices.min() >= 0 and rows.indices.max() < n_features)
    for beside in (rows.labels, rows.qid, rows.weights):
        sound &= beside is None or len(beside) == rows.rows
    if not sound:
        raise _DamageError("its rows do not fit together")
