"""Batches of rows from LibSVM text."""

import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from rarefy.io._batch import RowBatch
from rarefy.io._disk_cache import CachedRows, cache_path, fingerprint, read_cache, write_cache
from rarefy.io._errors import BadLines
from rarefy.io._options import check_at_least, check_part, checked_options
from rarefy.io._parse import (
    BadLineLog,
    Duplicates,
    IndexBase,
    LabelMode,
    LineParser,
    OnBadLine,
    find_form_of,
    row_blocks,
    windows_of,
)
from rarefy.io._prefetch import prefetched
from rarefy.io._rows import RowBlock, batches, concatenate
from rarefy.io._scan import resolved
from rarefy.io._shuffle import ShuffleKind, cut, shuffled_chunks, shuffled_rows
from rarefy.io._source import Source, find_pieces, part_ranges

CacheMode = Literal["auto", "never"]
# Text so much larger than the window is not tried on it: what it parses to would hardly fit.
_HOPELESS = 8


class LibSVMReader:
    """Reads an input as batches of rows, again and again, in bounded memory.

    Iterating yields `RowBatch`es of exactly `batch_size` rows, the last one shorter. While one is
    used, the next are parsed on `n_threads` threads. Neither threads nor chunks change a batch.

    Memory: about `4 * chunk_bytes` while streaming; twice `window_bytes` at most while shuffling or
    where the rows are kept.

    Rows that fit into `window_bytes` once parsed are kept after the first whole pass, and later
    passes parse nothing (`cache="auto"`).

    With a `cache_file` the first pass writes all parsed rows to that file before it yields any, and
    every later pass, of this process or another, reads them from there through a memory map, however
    many there are. The file is made anew when its text or the arguments have changed, or when it is
    damaged.

    Attributes:
      batch_size: rows a batch.
      shuffle_seed: what iteration passes to `epoch`.
      start_row: what iteration passes to `epoch`.
    """

    def __init__(
        self,
        source: Source,
        *,
        batch_size: int,
        n_features: int | None = None,
        index_base: IndexBase = "auto",
        dtype: Any = np.float32,
        duplicates: Duplicates = "error",
        bad_lines: OnBadLine = "error",
        labels: LabelMode = "required",
        multilabel: bool = False,
        weights: bool = False,
        allow_nonfinite: bool = False,
        part_index: int = 0,
        num_parts: int = 1,
        n_threads: int | None = None,
        prefetch: int = 2,
        start_row: int = 0,
        shuffle_seed: int | None = None,
        cache: CacheMode = "auto",
        cache_file: str | os.PathLike | None = None,
        window_bytes: int = 1 << 28,
        chunk_bytes: int = 1 << 22,
    ):
        """Checks the arguments and looks at the first rows.

        Args:
          source: a path (plain, .gz, .bz2, .xz), a folder (its files by name), a list of paths, `-`
            for standard input, or a binary file object. What is not seekable can be read once.
          batch_size: rows a batch.
          n_features: number of columns; a larger index is an error. By default the whole input (all
            parts) is looked at first, and the largest index decides.
          index_base: the index of the first column, 0 or 1. `auto` looks at the whole input (all
            parts): 0 if index 0 occurs, else 1.
          dtype: float32 or float64, for values, labels and weights.
          duplicates: a column twice in a row is an error, or the values are summed (in float64).
          bad_lines: a bad line is an error, or is counted in `bad_lines` and left out.
          labels: `required`: every row begins with a label; `none`: no row does; `auto`: the first
            row decides, which has a label unless its first token has a colon.
          multilabel: labels are lists of integers, as in `3,6,7 1:0.5`, possibly empty.
          weights: a label may carry a weight, as in `1:0.5 3:1`; rows without have weight 1.
          allow_nonfinite: takes nan, inf and numbers that are too large.
          part_index, num_parts: which part to read. Each row is in exactly one part. Plain files
            are cut by bytes: a row belongs where its first byte lies. Anything else goes round by
            turns of 256 rows, and every part parses all of it.
          n_threads: threads that parse, by default as many as there are cores.
          prefetch: how many chunks are parsed ahead in the background; 0 parses when asked.
          start_row, shuffle_seed: see `epoch`.
          cache: `auto` keeps rows that fit into `window_bytes`, `never` parses every time.
          cache_file: a file for the parsed rows; see above. Parts add their number to its name.
          window_bytes: how much memory parsed rows may take to be shuffled or kept.
          chunk_bytes: how much text is parsed at a time.

        Raises:
          ValueError, TypeError: an argument is not as it must be.
          OSError: a file cannot be opened.
        """
        check_at_least("batch_size", batch_size, 1)
        check_at_least("prefetch", prefetch, 0)
        check_at_least("start_row", start_row, 0)
        check_at_least("window_bytes", window_bytes, 1)
        check_part(part_index, num_parts)
        if cache not in ("auto", "never"):
            raise ValueError(f"cache: {cache!r} is not 'auto' or 'never'")
        self._find_base = isinstance(index_base, str) and index_base == "auto"
        self._options = checked_options(
            dtype=dtype,
            index_base=0 if self._find_base else index_base,
            n_features=n_features,
            duplicates=duplicates,
            bad_lines=bad_lines,
            labels=labels,
            multilabel=multilabel,
            weights=weights,
            allow_nonfinite=allow_nonfinite,
            n_threads=n_threads,
            chunk_bytes=chunk_bytes,
        )
        self._pieces = find_pieces(source)
        self._form = find_form_of(self._pieces, self._options)
        self.batch_size = int(batch_size)
        self.shuffle_seed = shuffle_seed
        self.start_row = int(start_row)
        self._part = (int(part_index), int(num_parts))
        self._prefetch = int(prefetch)
        self._window_bytes = int(window_bytes)
        self._keep = cache == "auto"
        self._cached: list[RowBlock] | None = None
        self._kind: ShuffleKind | None = None
        self._log = BadLineLog()
        self._skipped: BadLines | None = None  # as a cache file remembers it
        self._file, self._mark = None, ""
        if cache_file is not None:
            self._file = cache_path(cache_file, *self._part)
            self._mark = fingerprint(self._pieces, self._options, self._find_base, self._part)
            self._take(read_cache(self._file, self._mark))

    @property
    def index_base(self) -> int:
        """The index of the first column. May read the input, if it was to be found."""
        self._resolve()
        return self._options.index_base

    @property
    def n_features(self) -> int:
        """Number of columns. May read the input, if it was to be found."""
        self._resolve()
        assert self._options.n_features is not None
        return self._options.n_features

    @property
    def labelled(self) -> bool:
        """Whether rows have labels."""
        return self._form[0]

    @property
    def has_qid(self) -> bool:
        """Whether rows have query ids."""
        return self._form[1]

    @property
    def bad_lines(self) -> BadLines:
        """The lines left out by the last pass that parsed."""
        return self._log.bad_lines() if self._skipped is None else self._skipped

    @property
    def shuffle_kind(self) -> ShuffleKind | None:
        """How the last shuffled pass mixed its rows; `None` before the first.

        `full`: all rows fit into `window_bytes` and every order is possible. `chunks`: pieces of
        the files come in random order, and the rows of as many as fit are mixed. `window`: the rows
        of a compressed or piped input are mixed as far as fits; they stay in their part of it.
        """
        return self._kind

    def __iter__(self) -> Iterator[RowBatch]:
        return self.epoch(self.shuffle_seed, start_row=self.start_row)

    def epoch(self, seed: int | None = None, *, start_row: int = 0) -> Iterator[RowBatch]:
        """One pass over the part.

        Args:
          seed: rows come in an order that the input, this number and the arguments of the reader
            determine; with `None` they come as they stand in the input.
          start_row: how many rows of the pass are left out at its beginning, as after a resumed
            training. Batches are cut from there. Lines before it may go unchecked.

        Raises:
          LibSVMError: a line is bad, or an archive damaged. Whole batches before it come first.
          ValueError: a stream would have to be read twice.
        """
        check_at_least("start_row", start_row, 0)
        if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int | np.integer)):
            raise TypeError(f"seed: {seed!r} is not an integer")
        self._resolve()
        if self._file is not None and self._skipped is None:
            self._write_file(self._file)
        blocks = self._in_order(start_row) if seed is None else self._shuffled(int(seed), start_row)
        return self._batches(blocks, start_row)

    def _batches(self, blocks: Iterator[RowBlock], start_row: int) -> Iterator[RowBatch]:
        with closing(prefetched(blocks, self._prefetch)) as ahead:
            yield from batches(ahead, self.batch_size, start_row, self.n_features)

    def _resolve(self) -> None:
        """Finds the base and the width, if they are still to be found."""
        self._options = resolved(self._pieces, self._options, self._find_base)
        self._find_base = False

    def _write_file(self, path: str) -> None:
        assert self._options.n_features is not None
        write_cache(
            path,
            self._mark,
            self._blocks_to_write(),
            n_features=self._options.n_features,
            index_base=self._options.index_base,
            bad_lines=lambda: self._log.bad_lines(),
        )
        self._take(read_cache(path, self._mark))

    def _blocks_to_write(self) -> Iterator[RowBlock]:
        parser = LineParser(self._options, self._form, self._log)
        yield RowBlock(**parser.new_rows().take(parser.format))  # there may be no other
        yield from self._parsed(self._ranges(), 1)

    def _take(self, found: CachedRows | None) -> None:
        """Reads from the cache file from now on."""
        if found is None:
            return
        self._options = replace(
            self._options, n_features=found.n_features, index_base=found.index_base
        )
        self._find_base = False
        self._cached, self._skipped = [found.rows], found.bad_lines

    @property
    def _splittable(self) -> bool:
        return all(piece.size is not None for piece in self._pieces)

    def _ranges(self) -> list:
        if self._splittable:
            return part_ranges(self._pieces, *self._part)
        return [(piece, 0, None) for piece in self._pieces]

    def _may_fit(self) -> bool:
        """Whether it is worth a try to parse the part into the window."""
        text_bytes = sum((stop or 0) - start for _, start, stop in self._ranges())
        return text_bytes <= _HOPELESS * self._window_bytes

    def _parsed(self, ranges: list, limit_bytes: int, skip_rows: int = 0) -> Iterator[RowBlock]:
        """The rows of the ranges, in order, parsed."""
        self._log = BadLineLog()
        parser = LineParser(self._options, self._form, self._log)
        part_index, num_parts = (0, 1) if self._splittable else self._part
        return row_blocks(
            windows_of(ranges, self._options.chunk_bytes),
            parser,
            limit_bytes=limit_bytes,
            skip_rows=skip_rows,
            part_index=part_index,
            num_parts=num_parts,
        )

    def _in_order(self, start_row: int) -> Iterator[RowBlock]:
        if self._cached is not None:
            yield from cut(iter(self._cached), start_row)
            return
        kept: list[RowBlock] | None = []
        if not self._keep or start_row or not self._may_fit():
            kept = None
        kept_bytes = 0
        for block in self._parsed(self._ranges(), 1, start_row):
            kept_bytes += block.nbytes
            if kept_bytes > self._window_bytes:
                kept = None
            if kept is not None:
                kept.append(block)
            yield block
        self._cached = kept

    def _shuffled(self, seed: int, start_row: int) -> Iterator[RowBlock]:
        blocks = self._to_shuffle(seed)
        return cut(shuffled_rows(blocks, seed, self.batch_size), start_row)

    def _to_shuffle(self, seed: int) -> Iterator[RowBlock]:
        """Blocks whose rows may be mixed, each as large as the window or all there is."""
        if self._cached is not None:
            self._kind = "full"
            if self._cached:
                self._cached = [concatenate(self._cached)]
                yield self._cached[0]
            return
        if self._kind != "chunks" and (self._may_fit() or not self._splittable):
            blocks = self._parsed(self._ranges(), self._window_bytes)
            first, second = next(blocks, None), next(blocks, None)
            if second is None:
                self._kind = "full"
                whole = [] if first is None else [first]
                if self._keep:
                    self._cached = whole
                yield from whole
                return
            if not self._splittable:
                self._kind = "window"
                assert first is not None
                yield first
                first = None
                yield second
                second = None
                yield from blocks
                return
            del first, second, blocks
        self._kind = "chunks"
        ranges = shuffled_chunks(self._ranges(), self._window_bytes, seed)
        yield from self._parsed(ranges, self._window_bytes)
