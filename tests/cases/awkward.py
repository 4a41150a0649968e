"""Awkward arrays: every shape of csr and row_sparse data that has broken something somewhere.

The cases are plain, read-only NumPy arrays with the dense answer beside them, made without rarefy:

    @pytest.mark.parametrize("case", csr_cases(), ids=str)
    def test_todense(case):
        value = BCSR._trusted(case.data, case.indices, case.indptr, case.shape)
        assert_array_equal(value.todense(), case.dense)

Values are multiples of 1/4 between -8 and 8: sums of a few of them are exact in every float type,
so that answers can be compared for equality.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import ml_dtypes
import numpy as np

FLOATS = tuple(map(np.dtype, (np.float16, np.float32, np.float64, ml_dtypes.bfloat16)))
INDICES = (np.dtype(np.int32), np.dtype(np.int64))


@dataclass(frozen=True)
class CsrCase:
    """A csr matrix.

    Attributes:
      name: says what is awkward about it.
      data: `(nse,)` floating.
      indices: `(nse,)` int32 or int64, columns; a column outside the width is padding.
      indptr: `(rows + 1,)`, dtype of `indices`. Entries from `indptr[-1]` on are padding.
      shape: rows and columns.
      dense: `shape`, dtype of `data`, or None where it would be too large.
      tags: "shuffled", "repeated", "stored zeros", "padded" (at the end, as the package pads),
        "holes" (padding elsewhere, or with values that are not zero), "strided", "big",
        "non-finite".
    """

    name: str
    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    shape: tuple[int, int]
    dense: np.ndarray | None
    tags: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return f"{self.name}-{self.data.dtype}-{self.indices.dtype}".replace(" ", "_")

    @property
    def is_canonical(self) -> bool:
        """Whether each row's columns are sorted and unique and nothing is padding."""
        return not self.tags & {"shuffled", "repeated", "padded", "holes"}


@dataclass(frozen=True)
class RowSparseCase:
    """A row_sparse array.

    Attributes:
      name: says what is awkward about it.
      data: `(nse, *shape[1:])` floating.
      rows: `(nse,)` int32 or int64; a row outside the height is padding.
      shape: the whole shape; one dimension or more.
      dense: `shape`, dtype of `data`, or None where it would be too large.
      tags: as in `CsrCase`; "shuffled" and "repeated" are about `rows`.
    """

    name: str
    data: np.ndarray
    rows: np.ndarray
    shape: tuple[int, ...]
    dense: np.ndarray | None
    tags: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return f"{self.name}-{self.data.dtype}-{self.rows.dtype}".replace(" ", "_")

    @property
    def is_canonical(self) -> bool:
        """Whether the rows are sorted and unique and nothing is padding."""
        return not self.tags & {"shuffled", "repeated", "padded", "holes"}


@cache
def csr_cases(
    floats: Sequence[np.dtype] = FLOATS,
    indices: Sequence[np.dtype] = INDICES,
    *,
    without: Sequence[str] = ("non-finite",),
) -> tuple[CsrCase, ...]:
    """The csr cases: every structure in float32 and int32, and three of them in every type.

    Args:
      floats: types of the values (a tuple).
      indices: types of the indices (a tuple).
      without: cases with one of these tags are left out (a tuple).
    """
    cases = [*_csr_structures(), *_strided_csr()]
    typed = {"everything at once", "canonical", "nothing stored"}
    return _in_types(cases, typed, floats, indices, without, ("indices", "indptr"))


@cache
def row_sparse_cases(
    floats: Sequence[np.dtype] = FLOATS,
    indices: Sequence[np.dtype] = INDICES,
    *,
    without: Sequence[str] = ("non-finite",),
) -> tuple[RowSparseCase, ...]:
    """The row_sparse cases; the arguments are those of `csr_cases`."""
    cases = [*_row_sparse_structures(), *_strided_row_sparse()]
    typed = {"everything at once", "canonical", "nothing stored"}
    return _in_types(cases, typed, floats, indices, without, ("rows",))


def _in_types(cases, typed, floats, indices, without, index_fields):
    """Spreads the cases over the types and leaves out what is not wanted."""
    out = []
    for case in cases:
        if case.tags & set(without):
            continue
        own = getattr(case, index_fields[0]).dtype
        kinds = [(f, i) for f in floats for i in indices]
        if case.name not in typed:
            i = own if own in indices and own == np.int64 else indices[0]
            kinds = [(np.dtype("float32") if np.dtype("float32") in floats else floats[0], i)]
        for float_type, index_type in kinds:
            fields = {f: _frozen(_cast(getattr(case, f), index_type)) for f in index_fields}
            dense = None if case.dense is None else _frozen(case.dense.astype(float_type))
            data = _frozen(_cast(case.data, float_type))
            out.append(replace(case, data=data, dense=dense, **fields))
    return tuple(out)


def _cast(array: np.ndarray, dtype) -> np.ndarray:
    """Like astype, but what was a strided view stays one."""
    return array if array.dtype == dtype else array.astype(dtype)


def _frozen(array: np.ndarray) -> np.ndarray:
    """A read-only view: a test's input that is written to raises."""
    array = array.view()
    array.flags.writeable = False
    return array


def _values(count: int | tuple[int, ...], seed: int = 1) -> np.ndarray:
    """Multiples of 1/4, none of them zero."""
    quarters = np.random.default_rng(seed).integers(1, 33, count)
    signs = np.random.default_rng(seed + 1).choice([-1, 1], count)
    return (quarters * signs / 4).astype(np.float32)


def _csr(name, rows, shape, *tags, data=None, tail=(), index_type=np.int32) -> CsrCase:
    """Builds a case from the columns of each row; `tail` is (column, value) after the last row."""
    columns = np.array([c for row in rows for c in row] + [c for c, _ in tail], index_type)
    indptr = np.cumsum([0, *map(len, rows)]).astype(index_type)
    nnz = int(indptr[-1])
    data = _values(nnz) if data is None else np.asarray(data, np.float32)
    data = np.concatenate([data, np.array([v for _, v in tail], np.float32)])
    dense = None if "big" in tags else np.zeros(shape, np.float32)
    for row in range(shape[0] if dense is not None else 0):
        for entry in range(indptr[row], indptr[row + 1]):
            if 0 <= columns[entry] < shape[1]:
                dense[row, columns[entry]] += data[entry]
    return CsrCase(name, data, columns, indptr, shape, dense, frozenset(tags))


def _csr_structures() -> Iterator[CsrCase]:
    yield _csr("canonical", [[0, 2, 5], [1], [0, 3, 4, 5], [2, 3]], (4, 6))
    yield _csr("full", [[0, 1, 2], [0, 1, 2]], (2, 3))
    yield _csr("shuffled columns", [[5, 0, 2], [1], [4, 0, 5, 3], [3, 2]], (4, 6), "shuffled")
    yield _csr("repeated columns", [[0, 0, 2], [1, 1, 1, 1], [], [5, 5]], (4, 6), "repeated")
    repeats_apart = [[3, 0, 3], [5, 1, 5, 1]]
    yield _csr("repeats apart", repeats_apart, (2, 6), "shuffled", "repeated")
    zeros = [1, 0, 0, -2, 0, 0.25]
    yield _csr("stored zeros", [[0, 1], [2], [0, 1, 2]], (3, 4), "stored zeros", data=zeros)
    yield _csr("only stored zeros", [[1], [], [0, 3]], (3, 4), "stored zeros", data=[0, 0, -0.0])
    cancel = [2, -2, 1, 1]
    yield _csr("repeats that cancel", [[1, 1], [0, 0]], (2, 3), "repeated", data=cancel)
    yield _csr("empty first rows", [[], [], [0, 2], [1]], (4, 3))
    yield _csr("empty middle rows", [[0, 2], [], [], [1]], (4, 3))
    yield _csr("empty last rows", [[0, 2], [1], [], []], (4, 3))
    yield _csr("empty first columns", [[3, 4], [4], [2]], (3, 5))
    yield _csr("empty last columns", [[0, 1], [1], []], (3, 9))
    yield _csr("one long row among empty ones", [[], list(range(0, 200, 3)), []], (3, 200))
    yield _csr("one column", [[0], [], [0], [0]], (4, 1))
    yield _csr("one row", [[0, 3, 4]], (1, 5))
    yield _csr("tall", [[r % 3] if r % 5 else [] for r in range(70)], (70, 3))
    yield _csr("nothing stored", [[], [], []], (3, 4))
    yield _csr("no rows", [], (0, 5))
    yield _csr("no columns", [[], [], []], (3, 0))
    yield _csr("no rows and no columns", [], (0, 0))
    yield _csr("1x1", [[0]], (1, 1))
    yield _csr("1x1 empty", [[]], (1, 1))
    yield _csr("1x1 repeated", [[0, 0, 0]], (1, 1), "repeated")
    yield _csr("padded", [[0, 2], [], [1]], (3, 4), "padded", tail=[(4, 0), (4, 0), (4, 0)])
    yield _csr("padding only", [[], []], (2, 4), "padded", tail=[(4, 0), (4, 0)])
    yield _csr("padded without columns", [[], []], (2, 0), "padded", tail=[(0, 0), (0, 0)])
    loud = [(4, 3), (4, -1)]
    yield _csr("padding with values", [[0, 2], [], [1]], (3, 4), "holes", tail=loud)
    in_range = [(0, 3), (1, -1)]
    yield _csr("padding with columns in range", [[0, 2], [1]], (2, 4), "holes", tail=in_range)
    yield _csr("padding inside rows", [[0, 4, 2], [4], [1, 4]], (3, 4), "holes")
    tags = ("shuffled", "repeated", "stored zeros", "padded")
    rows = [[], [6, 0, 6, 2], [], [3, 3, 3], [7, 1], [], []]
    mess = [1.5, 0, -2, 4, 1, -1, 0, 0.25, -8]
    yield _csr("everything at once", rows, (7, 10), *tags, data=mess, tail=[(10, 0)] * 7)
    yield _huge()
    wide = 5_000_000_000
    columns = [[0, 2**31 - 1, 2**31], [], [wide - 1], [2**32]]
    yield _csr("columns beyond int32", columns, (4, wide), "big", index_type=np.int64)
    odd = [np.nan, np.inf, -np.inf, 1]
    yield _csr("nan and inf", [[0, 2], [1], [], [3]], (4, 4), "non-finite", data=odd)


def _huge() -> CsrCase:
    side = 3_000_000
    rows = np.array([0, 1, 7, 999_999, 1_500_000, 2_000_001, 2_999_998, *[side - 1] * 3])
    columns = np.array([11, 7930, 55_444, side - 1, 0, 1, 2, 0, 1_234_567, side - 1], np.int32)
    indptr = np.searchsorted(rows, np.arange(side + 1)).astype(np.int32)
    tags = frozenset({"big"})
    return CsrCase("3,000,000 x 3,000,000", _values(10), columns, indptr, (side, side), None, tags)


def _strided_csr() -> Iterator[CsrCase]:
    base = _csr("", [[0, 2, 5], [1], [], [0, 3, 4, 5]], (4, 6))
    tags = frozenset({"strided"})
    parts = (base.data, base.indices, base.indptr)
    for name, view in (
        ("every second", _every_second),
        ("reversed", _reversed),
        ("column", _column),
    ):
        data, indices, indptr = map(view, parts)
        yield CsrCase(f"strided {name}", data, indices, indptr, base.shape, base.dense, tags)


def _every_second(array):
    wide = np.full((2 * array.shape[0], *array.shape[1:]), 77, array.dtype)
    wide[::2] = array
    return wide[::2]


def _reversed(array):
    return np.ascontiguousarray(array[::-1])[::-1]


def _column(array):
    """A column of a table in C order."""
    table = np.full((array.shape[0], 3, *array.shape[1:]), 77, array.dtype)
    table[:, 1] = array
    return table[:, 1]


def _row_sparse(name, rows, shape, *tags, data=None, index_type=np.int32) -> RowSparseCase:
    rows = np.array(rows, index_type)
    data = _values((len(rows), *shape[1:])) if data is None else np.asarray(data, np.float32)
    data = data.reshape(len(rows), *shape[1:])
    if "padded" in tags:
        data[(rows < 0) | (rows >= shape[0])] = 0
    dense = None if "big" in tags else np.zeros(shape, np.float32)
    for entry, row in enumerate(rows if dense is not None else ()):
        if 0 <= row < shape[0]:
            dense[row] += data[entry]
    return RowSparseCase(name, data, rows, shape, dense, frozenset(tags))


def _row_sparse_structures() -> Iterator[RowSparseCase]:
    yield _row_sparse("canonical", [1, 4, 5], (7, 3))
    yield _row_sparse("full", range(5), (5, 2))
    yield _row_sparse("unsorted rows", [5, 1, 4], (7, 3), "shuffled")
    yield _row_sparse("repeated rows", [1, 1, 4, 4, 4], (7, 3), "repeated")
    yield _row_sparse("repeats apart", [4, 1, 4, 0, 1], (7, 3), "shuffled", "repeated")
    yield _row_sparse("one row many times", [2] * 40, (3, 2), "repeated", data=[1, -0.25] * 40)
    cancel = [[1, 2], [-1, -2], [3, 0]]
    yield _row_sparse("repeats that cancel", [1, 1, 3], (5, 2), "repeated", data=cancel)
    zeros = [[0, 0], [1, 0], [0, -0.0]]
    yield _row_sparse("stored zero rows", [0, 2, 3], (5, 2), "stored zeros", data=zeros)
    yield _row_sparse("first and last row", [0, 6], (7, 3))
    yield _row_sparse("nothing stored", [], (4, 3))
    yield _row_sparse("no rows", [], (0, 3))
    yield _row_sparse("no columns", [1, 2], (4, 0))
    yield _row_sparse("no rows and no columns", [], (0, 0))
    yield _row_sparse("1x1", [0], (1, 1))
    yield _row_sparse("1x1 empty", [], (1, 1))
    yield _row_sparse("one column", [0, 3], (5, 1))
    yield _row_sparse("one dimension", [1, 3], (5,))
    yield _row_sparse("three dimensions", [0, 2], (4, 2, 3))
    yield _row_sparse("three dimensions, one of them 0", [0, 2], (4, 0, 3))
    yield _row_sparse("padded", [1, 4, 7, 7, 7], (7, 3), "padded")
    yield _row_sparse("padding only", [5, 5], (5, 2), "padded")
    yield _row_sparse("padded without rows", [0, 0], (0, 2), "padded")
    yield _row_sparse("padding with values", [1, 4, 7, 7], (7, 3), "holes")
    yield _row_sparse("padding first and far out", [9, -1, 1, 100, 4], (7, 3), "holes")
    tags = ("shuffled", "repeated", "stored zeros", "padded")
    mess = [[1, 2], [0, 0], [3, -4], [0.25, 1], [-1, -2], [0, 0], [0, 0]]
    yield _row_sparse("everything at once", [6, 2, 0, 6, 6, 8, 8], (8, 2), *tags, data=mess)
    tall = [0, 9, 1_000_000, 2_999_999]
    yield _row_sparse("3,000,000 rows", tall, (3_000_000, 200), "big")
    far = [0, 2**31 - 1, 2**31, 4_999_999_999]
    yield _row_sparse("rows beyond int32", far, (5_000_000_000, 2), "big", index_type=np.int64)
    odd = [[np.nan, 1], [np.inf, -np.inf]]
    yield _row_sparse("nan and inf", [0, 2], (4, 2), "non-finite", data=odd)


def _strided_row_sparse() -> Iterator[RowSparseCase]:
    base = _row_sparse("", [1, 4, 5], (7, 3))
    views = {
        "every second": _every_second,
        "reversed": _reversed,
        "column": _column,
        "transposed": lambda a: np.asfortranarray(a) if a.ndim > 1 else a,
        "broadcast": lambda a: a,
    }
    for name, view in views.items():
        data, rows, dense = view(base.data), view(base.rows), base.dense
        if name == "broadcast":  # strides of 0: every row is the same memory
            data = np.broadcast_to(base.data[:1], base.data.shape)
            dense = np.zeros_like(base.dense)
            dense[base.rows] = base.data[0]
        tags = frozenset({"strided"})
        yield RowSparseCase(f"strided {name}", data, rows, base.shape, dense, tags)
