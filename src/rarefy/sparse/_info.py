"""What is known of a sparse value apart from its buffers, and what may be said about its layout."""

from typing import NamedTuple

Shape = tuple[int, ...]


class SparseInfo(NamedTuple):
    """The static part of a BCOO or BCSR."""

    shape: Shape
    indices_sorted: bool = False
    unique_indices: bool = False


class COOInfo(NamedTuple):
    """The static part of a COO."""

    shape: Shape
    rows_sorted: bool = False
    cols_sorted: bool = False


class SparseEfficiencyError(ValueError):
    """A layout was asked for that stores much more than the one at hand."""


class SparseEfficiencyWarning(UserWarning):
    """A layout was chosen that stores much more than the one before."""


class CuSparseEfficiencyWarning(SparseEfficiencyWarning):
    """A product runs without the vendor's library. Kept for its name: nothing here warns with it."""
