"""One look at a whole input: how large it is, and how it counts."""

import hashlib
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from rarefy._primitives._text import Scan
from rarefy.io._errors import BadLines
from rarefy.io._options import checked_options
from rarefy.io._parse import (
    BadLineLog,
    Duplicates,
    LabelMode,
    OnBadLine,
    ParseOptions,
    error_at,
    find_form_of,
    make_format,
    make_plan,
)
from rarefy.io._source import Piece, Source, find_pieces
from rarefy.io._windows import Window, read_windows


@dataclass(frozen=True, kw_only=True)
class LibSVMScan:
    """Facts about an input. Sizes count good rows only.

    Attributes:
      rows: number of rows.
      nnz: number of entries, written zeros among them.
      zeros: entries whose value is 0.
      min_index, max_index: smallest and largest index as written; `None` without entries.
      nnz_per_row: `(smallest, mean, largest)`.
      histogram: `(low, high, rows)`: rows with that many entries; powers of two part the ranges.
      labelled, multilabel, has_qid, weights: what the rows have.
      labels: distinct labels in ascending order and how often each occurs; `None` for more than
        1000 distinct ones.
      label_range: `(smallest, mean, largest)` label, `None` without labels.
      bad_lines: lines that were left out.
      line_ending: `lf`, `crlf`, `mixed` or `none`.
      text_bytes: bytes of text, unpacked.
      inexact_float32: entries with a whole value that float32 cannot hold, such as large ids.
      beyond_2_53: entries with a value so large that not even float64 holds every whole number.
      fingerprint: text size and BLAKE2b of the text, `None` if not asked for. Packing does not
        change it.
    """

    rows: int
    nnz: int
    zeros: int
    min_index: int | None
    max_index: int | None
    nnz_per_row: tuple[int, float, int]
    histogram: tuple[tuple[int, int, int], ...]
    labelled: bool
    multilabel: bool
    has_qid: bool
    weights: bool
    labels: dict[float, int] | None
    label_range: tuple[float, float, float] | None
    bad_lines: BadLines
    line_ending: str
    text_bytes: int
    inexact_float32: int
    beyond_2_53: int
    fingerprint: str | None

    @property
    def index_base(self) -> int:
        """0 if index 0 occurs, else 1, as the format has it."""
        return 0 if self.min_index == 0 else 1

    def n_features(self, index_base: int | None = None) -> int:
        """The number of columns if they are counted from `index_base` (by default the one found).

        Raises:
          ValueError: the base is 1 and index 0 occurs.
        """
        base = self.index_base if index_base is None else index_base
        if self.max_index is None or self.min_index is None:
            return 0
        if self.min_index < base:
            raise ValueError(f"index {self.min_index} occurs, so the columns do not count from 1")
        return self.max_index + 1 - base

    @property
    def density(self) -> float:
        """Entries that are not zero, as a fraction of all cells."""
        cells = self.rows * self.n_features()
        return (self.nnz - self.zeros) / cells if cells else 0.0


def scan_libsvm(
    source: Source,
    *,
    labels: LabelMode = "auto",
    multilabel: bool = False,
    weights: bool = False,
    duplicates: Duplicates = "error",
    bad_lines: OnBadLine = "error",
    allow_nonfinite: bool = False,
    fingerprint: bool = True,
    n_threads: int | None = None,
    chunk_bytes: int = 1 << 22,
) -> LibSVMScan:
    """Reads the whole input once, on all cores and in bounded memory, and says what it holds.

    Args:
      source: a path (plain, .gz, .bz2, .xz), a folder, a list of paths, `-`, or a binary file
        object; a seekable one is left where it was.
      labels: whether rows begin with a label; `auto` looks at the first row.
      multilabel: labels are lists, as in `3,6,7 1:0.5`.
      weights: labels may carry a weight, as in `1:0.5 3:1`.
      duplicates: whether repeated columns of a row are an error or are summed.
      bad_lines: whether a bad line is an error or is counted and left out.
      allow_nonfinite: takes nan, inf and numbers that are too large.
      fingerprint: whether to compute the fingerprint. It is what takes longest.
      n_threads: by default as many as there are cores.
      chunk_bytes: how much text is read at a time.

    Raises:
      LibSVMError: a line is bad, or an archive damaged.
      OSError: a file cannot be read.
    """
    options = checked_options(
        dtype=np.float64,
        index_base=0,
        n_features=None,
        duplicates=duplicates,
        bad_lines=bad_lines,
        labels=labels,
        multilabel=multilabel,
        weights=weights,
        allow_nonfinite=allow_nonfinite,
        n_threads=n_threads,
        chunk_bytes=chunk_bytes,
    )
    pieces = find_pieces(source)
    try:
        return scan_pieces(pieces, options, fingerprint=fingerprint)
    finally:
        for piece in pieces:
            piece.rewind()


def scan_pieces(
    pieces: list[Piece], options: ParseOptions, *, fingerprint: bool = False
) -> LibSVMScan:
    """`scan_libsvm` for pieces that have been found already."""
    labelled, has_qid = find_form_of(pieces, options)
    native = make_format(options)
    native.base, native.width = 0, -1
    native.labelled, native.qid = labelled, has_qid
    plan = make_plan(options)
    scan, log = Scan(), BadLineLog()
    newlines = text_bytes = 0
    digest = hashlib.blake2b(digest_size=16)
    with ThreadPoolExecutor(1, "rarefy-fingerprint") as pool:
        for window in _windows(pieces, options.chunk_bytes, digest):
            text = window.text.data[window.begin : window.end]
            hashed: Future | None = pool.submit(digest.update, text) if fingerprint else None
            try:
                lines, bad, reports = scan.scan(window.text, window.begin, window.end, native, plan)
            finally:
                if hashed is not None:
                    hashed.result()
            if bad:
                errors = (error_at(window, r, native, options.dtype) for r in reports)
                if options.bad_lines == "error":
                    raise next(errors)
                log.add(bad, errors if log.wants() else ())
            window.newlines = lines
            newlines += lines
            text_bytes += window.end - window.begin
    facts = scan.facts()
    return LibSVMScan(
        rows=facts["rows"],
        nnz=facts["entries"],
        zeros=facts["zeros"],
        min_index=facts["min_index"] if facts["entries"] else None,
        max_index=facts["max_index"] if facts["entries"] else None,
        nnz_per_row=(
            facts["min_row"],
            facts["entries"] / facts["rows"] if facts["rows"] else 0.0,
            facts["max_row"],
        ),
        histogram=_histogram(facts["row_bits"]),
        labelled=labelled,
        multilabel=options.multilabel,
        has_qid=has_qid,
        weights=options.weights,
        labels=None if facts["many_labels"] else dict(sorted(facts["label_counts"].items())),
        label_range=(
            facts["min_label"],
            facts["label_sum"] / facts["labels"],
            facts["max_label"],
        )
        if facts["labels"]
        else None,
        bad_lines=log.bad_lines(),
        line_ending=_line_ending(newlines, facts["crlf"]),
        text_bytes=text_bytes,
        inexact_float32=facts["inexact_float32"],
        beyond_2_53=facts["beyond_2_53"],
        fingerprint=f"{text_bytes}-{digest.hexdigest()}" if fingerprint else None,
    )


def resolved(pieces: list[Piece], options: ParseOptions, find_base: bool) -> ParseOptions:
    """The options with the width, if they have none, and the base, if `find_base`, of all pieces.

    Raises:
      ValueError: a piece can be read only once.
      LibSVMError: a line is bad.
    """
    if not find_base and options.n_features is not None:
        return options
    for piece in pieces:
        if not piece.rewindable:
            raise ValueError(
                f"{piece.name} can be read only once; pass index_base=0 or 1 and n_features=, "
                "which otherwise takes a look at the whole input first"
            )
    scan = scan_pieces(pieces, replace(options, index_base=0, n_features=None))
    base = scan.index_base if find_base else options.index_base
    width = options.n_features
    if width is None:
        width = 0 if scan.max_index is None else max(scan.max_index + 1 - base, 0)
    return replace(options, index_base=base, n_features=width)


def _windows(pieces: list[Piece], chunk_bytes: int, digest) -> Iterator[Window]:
    for number, piece in enumerate(pieces):
        if number:
            digest.update(b"\x00")  # a byte that no sound text has: files are not just their sum
        yield from read_windows(piece, chunk_bytes)


def _histogram(row_bits: list[int]) -> tuple[tuple[int, int, int], ...]:
    """Counts by bit length as (low, high, rows); empty ranges at the upper end are left out."""
    ranges = [(0, 0, row_bits[0])]
    ranges += [((1 << b) >> 1, (1 << b) - 1, row_bits[b]) for b in range(1, len(row_bits))]
    while len(ranges) > 1 and ranges[-1][2] == 0:
        ranges.pop()
    return tuple(ranges)


def _line_ending(newlines: int, crlf: int) -> str:
    if newlines == 0:
        return "none"
    return {0: "lf", newlines: "crlf"}.get(crlf, "mixed")
