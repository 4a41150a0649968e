"""Windows of text to rows, and faults to errors."""

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rarefy._primitives._text import (
    ERROR_KINDS,
    PADDING,
    Format,
    Labels,
    Plan,
    Rows,
    count_rows,
    find_form,
)
from rarefy.io._batch import INT32_MAX
from rarefy.io._errors import BadLines, LibSVMError, expectation, looks_like
from rarefy.io._rows import RowBlock
from rarefy.io._source import Piece
from rarefy.io._windows import Window, read_windows

IndexBase = Literal["auto", 0, 1]
LabelMode = Literal["required", "none", "auto"]
Duplicates = Literal["error", "sum"]
OnBadLine = Literal["error", "skip"]

TASK_BYTES = 1 << 18  # fits the second-level cache along with the rows it becomes
REPORTS = 10  # bad lines that are described one by one
ROWS_PER_TURN = 256  # rows in a row that go to one part of an input that cannot be cut by bytes
_HEAD_BYTES = 1 << 16
_WIDE = ERROR_KINDS.index("index_beyond_int32")
_LONGEST_FOUND = 60


@dataclass(frozen=True, kw_only=True)
class ParseOptions:
    """How lines are read; the arguments of the reader with the same names."""

    dtype: np.dtype
    index_base: int
    n_features: int | None
    duplicates: Duplicates
    bad_lines: OnBadLine
    labels: LabelMode
    multilabel: bool
    weights: bool
    allow_nonfinite: bool
    n_threads: int
    chunk_bytes: int


class BadLineLog:
    """Counts bad lines and keeps the first reports."""

    def __init__(self) -> None:
        self._count = 0
        self._reports: list[LibSVMError] = []

    def wants(self) -> bool:
        return len(self._reports) < REPORTS

    def add(self, count: int, reports: Iterable[LibSVMError]) -> None:
        self._count += count
        self._reports += list(reports)[: REPORTS - len(self._reports)]

    def bad_lines(self) -> BadLines:
        return BadLines(self._count, tuple(self._reports))


class LineParser:
    """Parses windows of one input, whose form is known."""

    def __init__(self, options: ParseOptions, form: tuple[bool, bool], log: BadLineLog):
        """`form` is `(labelled, qid)`, as `find_form_of` returns it."""
        self._options, self._log = options, log
        self.format = make_format(options)
        self.format.labelled, self.format.qid = form
        self.plan = make_plan(options)

    def new_rows(self) -> Any:
        """An empty collection of rows for `parse`."""
        options = self._options
        # Where bad lines are skipped, a wide index must not pass for one.
        if options.n_features is None:
            wide = options.bad_lines == "skip"
        else:
            wide = options.n_features > INT32_MAX
        return Rows(float64=options.dtype == np.float64, int64=wide)

    def parse(self, window: Window, rows: Any) -> LibSVMError | None:
        """Appends the rows of `window` to `rows`.

        Returns:
          The error at which the window's rows end, `None` if they are complete. It is returned, not
          raised, so that the rows before it can be handed on first.
        """
        begin = window.begin
        while True:
            newlines, bad, reports = rows.parse(
                window.text, begin, window.end, self.format, self.plan
            )
            if bad and reports[0][3] == _WIDE and not rows.int64:
                rows.widen()
                begin = reports[0][0]
                continue
            break
        if begin == window.begin:
            window.newlines = newlines
        if not bad:
            return None
        if self._options.bad_lines == "error":
            return self.error(window, reports[0])
        wanted = (self.error(window, report) for report in reports)
        self._log.add(bad, wanted if self._log.wants() else ())
        return None

    def error(self, window: Window, report: tuple[int, int, int, int]) -> LibSVMError:
        """The error that a report of the native parser stands for."""
        return error_at(window, report, self.format, self._options.dtype)


def make_format(options: ParseOptions) -> Any:
    native = Format()
    native.multilabel = options.multilabel
    native.weights = options.weights
    native.allow_nonfinite = options.allow_nonfinite
    native.sum_repeats = options.duplicates == "sum"
    native.base = options.index_base
    native.width = -1 if options.n_features is None else options.n_features
    return native


def make_plan(options: ParseOptions) -> Any:
    plan = Plan()
    plan.task_bytes = TASK_BYTES
    plan.threads = options.n_threads
    plan.skip_bad = options.bad_lines == "skip"
    plan.max_reports = REPORTS
    return plan


def error_at(window: Window, report, native_format, dtype: np.dtype) -> LibSVMError:
    line, token, token_end, kind = report
    if kind == 0:
        raise AssertionError(f"the parser refused a sound line of {window.piece.name}")
    end = line + int(np.flatnonzero(window.text[line:] == ord("\n"))[0])
    end = min(end, window.end)
    found = window.text[token:token_end].tobytes().decode("utf-8", "backslashreplace")
    whole = window.text[line:end].tobytes().decode("utf-8", "backslashreplace")
    number = window.line_number(line)
    return LibSVMError(
        file=window.piece.name,
        line=number,
        column=token - line + 1,
        found=found if len(found) <= _LONGEST_FOUND else found[: _LONGEST_FOUND - 1] + "…",
        expected=expectation(
            kind, base=native_format.base, width=native_format.width, dtype=str(dtype)
        ),
        kind=ERROR_KINDS[kind],
        hint=looks_like(whole, number == 1),
    )


def find_form_of(pieces: list[Piece], options: ParseOptions) -> tuple[bool, bool]:
    """`(labelled, qid)` as the first row of the whole input shows, whichever part is read.

    With `bad_lines="skip"` it is the first sound row of the first stretch of text that has one.
    """
    native, skip = make_format(options), options.bad_lines == "skip"
    native.width, native.base = -1, 0
    mode = getattr(Labels, options.labels.upper())
    for piece in pieces:
        wanted = _HEAD_BYTES
        while True:
            head = piece.peek(wanted)
            ended = len(head) < wanted
            text = np.zeros(len(head) + 1 + PADDING, np.uint8)
            text[: len(head)] = np.frombuffer(head, np.uint8)
            text[len(head)] = ord("\n")
            begin = 3 if head.startswith(b"\xef\xbb\xbf") else 0
            end = len(head) if ended else head.rfind(b"\n") + 1
            form = find_form(text, begin, max(begin, end), mode, native, skip)
            if form is not None:
                return form
            if ended:
                break
            wanted *= 8
    return options.labels != "none", False


def row_blocks(
    windows: Iterable[Window],
    parser: LineParser,
    *,
    limit_bytes: int,
    skip_rows: int = 0,
    part_index: int = 0,
    num_parts: int = 1,
    text_bytes: int = 0,
) -> Generator[RowBlock, None, None]:
    """Parses windows and yields their rows in order.

    Args:
      windows: the text.
      parser: how to read it.
      limit_bytes: a block is yielded as soon as its rows take this many bytes.
      skip_rows: how many rows to leave out at the beginning.
      part_index, num_parts: which turns of `ROWS_PER_TURN` rows to keep.
      text_bytes: how much text there is, if that is known; saves memory from being moved.

    Raises:
      LibSVMError: a line is bad; all rows before it have been yielded.
    """
    rows = parser.new_rows()
    passed = 0  # rows seen, of all parts
    for window in windows:
        if skip_rows and num_parts == 1 and not parser.plan.skip_bad:
            here = count_rows(window.text, window.begin, window.end)
            if here <= skip_rows:
                skip_rows -= here
                continue
        before = rows.rows
        error = parser.parse(window, rows)
        if text_bytes and not before and limit_bytes >= text_bytes:
            # What is reserved too much is never touched.
            more = 1.1 * text_bytes / (window.end - window.begin)
            rows.reserve(parser.format, int(more * rows.rows), int(more * rows.entries))
        if num_parts > 1:
            parsed = rows.rows - before
            rows.keep_blocks(parser.format, before, passed, ROWS_PER_TURN, part_index, num_parts)
            passed += parsed
        if error is not None or rows.bytes(parser.format) >= limit_bytes:
            block = RowBlock(**rows.take(parser.format))
            skipped = min(skip_rows, block.rows)
            skip_rows -= skipped
            if skipped < block.rows:
                yield block.slice(skipped, block.rows)
            del block  # the consumer may want the memory back
        if error is not None:
            raise error
    if rows.rows > skip_rows:
        block = RowBlock(**rows.take(parser.format))
        yield block.slice(skip_rows, block.rows)


def windows_of(
    ranges: Iterable[tuple[Piece, int, int | None]], chunk_bytes: int
) -> Iterator[Window]:
    """The lines that begin in each of some byte ranges, one range after the other."""
    for piece, start, stop in ranges:
        yield from read_windows(piece, chunk_bytes, start, stop)
