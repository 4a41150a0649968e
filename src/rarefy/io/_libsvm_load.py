"""A whole LibSVM input in memory."""

import dataclasses
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rarefy.io._batch import LabelLists, index_dtype
from rarefy.io._errors import BadLines
from rarefy.io._options import check_at_least, check_part, checked_options
from rarefy.io._parse import (
    BadLineLog,
    Duplicates,
    IndexBase,
    LabelMode,
    LineParser,
    OnBadLine,
    ParseOptions,
    find_form_of,
    row_blocks,
    windows_of,
)
from rarefy.io._rows import RowBlock, concatenate
from rarefy.io._scan import resolved
from rarefy.io._source import Piece, Source, find_pieces, part_ranges

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_NO_LIMIT = 1 << 62


@dataclass(frozen=True, eq=False, kw_only=True)
class LibSVMData:
    """What an input held.

    Attributes:
      X: `(rows, n_features)`, csr with sorted, unique columns.
      y: `(rows,)`, the labels; `LabelLists` if they are lists; `None` without labels.
      qid: `(rows,)`, int64, or `None`.
      weights: `(rows,)`, or `None`.
      n_features: number of columns.
      index_base: the index of the first column in the text.
      bad_lines: lines that were left out.
    """

    X: "csr_array"
    y: "np.ndarray | LabelLists | None"
    qid: np.ndarray | None
    weights: np.ndarray | None
    n_features: int
    index_base: int
    bad_lines: BadLines


def load_libsvm(
    source: Source,
    *,
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
    nrows: int | None = None,
    n_threads: int | None = None,
    chunk_bytes: int = 1 << 22,
) -> LibSVMData:
    """Reads an input into a SciPy csr array.

    Width and base are those of the whole input, also if only a part or some rows of it are read;
    finding them then takes a pass over all of it, unless both are given.

    Args:
      nrows: how many rows to read at most; by default all.
      (others): as for `LibSVMReader`.

    Raises:
      LibSVMError: a line is bad, or an archive damaged.
      ValueError, TypeError: an argument is not as it must be.
      OSError: a file cannot be read.
    """
    check_part(part_index, num_parts)
    if nrows is not None:
        check_at_least("nrows", nrows, 0)
    auto = isinstance(index_base, str) and index_base == "auto"
    options = checked_options(
        dtype=dtype,
        index_base=0 if auto else index_base,
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
    pieces = find_pieces(source)
    looks_first = (auto or n_features is None) and (nrows is not None or num_parts > 1)
    if looks_first or (auto and n_features is not None):
        pieces = [piece if piece.rewindable else piece.in_memory() for piece in pieces]
    if looks_first:
        options, auto = resolved(pieces, options, auto), False
    form = find_form_of(pieces, options)
    parsing = options
    if auto and options.n_features is not None:
        # Index n_features is sound exactly if the base turns out to be 1.
        parsing = dataclasses.replace(options, n_features=options.n_features + 1)
    log = BadLineLog()
    block = _parse(pieces, parsing, form, log, part_index, num_parts, nrows)
    base, indices = options.index_base, block.indices
    if auto:
        base = 0 if len(indices) and indices.min() == 0 else 1
        if base == 1:
            indices.flags.writeable = True
            indices -= 1
    width, largest = options.n_features, int(indices.max(initial=-1))
    if width is None:
        width = largest + 1
    elif largest >= width:  # in a file counted from 0: parse it again for the place
        located = dataclasses.replace(options, index_base=base)
        _parse(pieces, located, form, BadLineLog(), part_index, num_parts, nrows)
        raise AssertionError("an index beyond the width was not found again")
    return _data(block, base, width, log.bad_lines())


def _parse(
    pieces: list[Piece],
    options: ParseOptions,
    form: tuple[bool, bool],
    log: BadLineLog,
    part_index: int,
    num_parts: int,
    nrows: int | None,
) -> RowBlock:
    """All rows of a part, or the first `nrows`, in one block."""
    parser = LineParser(options, form, log)
    ranges = [(piece, 0, None) for piece in pieces]
    if all(piece.size is not None for piece in pieces):
        ranges = part_ranges(pieces, part_index, num_parts)
        part_index, num_parts = 0, 1
    blocks = row_blocks(
        windows_of(ranges, options.chunk_bytes),
        parser,
        limit_bytes=_NO_LIMIT if nrows is None else 1,
        part_index=part_index,
        num_parts=num_parts,
        text_bytes=sum((stop or 0) - start for _, start, stop in ranges),
    )
    collected = [RowBlock(**parser.new_rows().take(parser.format))]
    rows = 0
    with closing(blocks):
        while nrows is None or rows < nrows:
            block = next(blocks, None)
            if block is None:
                break
            collected.append(block)
            rows += block.rows
    whole = concatenate(collected[1:] or collected)
    return whole if nrows is None else whole.slice(0, min(nrows, rows))


def _data(block: RowBlock, base: int, width: int, bad_lines: BadLines) -> LibSVMData:
    from scipy.sparse import csr_array

    dtype = index_dtype(width, len(block.data))
    parts = (block.data, block.indices.astype(dtype, copy=False), block.indptr.astype(dtype))
    for array in (*parts, block.labels, block.qid, block.weights):
        if array is not None and array.flags.owndata:
            array.flags.writeable = True
    y = block.labels
    if block.label_indptr is not None and block.label_ids is not None:
        y = LabelLists(block.label_indptr, block.label_ids)
    return LibSVMData(
        X=csr_array(parts, shape=(block.rows, width)),
        y=y,
        qid=block.qid,
        weights=block.weights,
        n_features=width,
        index_base=base,
        bad_lines=bad_lines,
    )
