"""Rows for a model that is there already: its width and its index base, nothing guessed."""

from typing import Literal, cast

from rarefy.io import LibSVMReader
from rarefy.models import ModelHeader

BATCH_ROWS = 8192

LabelMode = Literal["required", "auto", "none"]


def open_rows(
    file: str, header: ModelHeader, *, labels: LabelMode, duplicates: str = "error", weights=False
) -> LibSVMReader:
    """Reads rows as the model counts its columns; any other column is an error with its place.

    Args:
      file: a path, a folder, or `-` for standard input.
      header: of the model.
      labels: as for `LibSVMReader`.
      duplicates: 'error' or 'sum'.
      weights: whether labels carry weights.
    """
    return LibSVMReader(
        file,
        batch_size=BATCH_ROWS,
        n_features=header.width,
        index_base=cast(Literal[0, 1], header.index_base),
        labels=labels,
        duplicates=cast(Literal["error", "sum"], duplicates),
        weights=weights,
        cache="never",
    )
