"""What a model can be: the kinds, and what training and prediction ask of one."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from scipy.sparse import csr_array

from rarefy.models._block_kinds import Deep, Pairs
from rarefy.models._columns import ColumnScaling
from rarefy.models._header import DEEP, ModelHeader
from rarefy.models._linear import Linear
from rarefy.models._settings import Settings
from rarefy.nd import NDArray

Numbers = Mapping[str, np.ndarray]
"""The arrays of a model by name, float32."""


class Formula(Protocol):
    """What a model computes, with numbers that can be trained.

    Attributes:
      params: the numbers by name, with gradients attached.
      tables: of these the ones that have a row for each of these columns, with gradients by rows.
      vectors: of the tables those whose rows are multiplied with one another.
      layers: names of the numbers of a network.
    """

    params: dict[str, NDArray]
    tables: Mapping[str, slice]
    vectors: Sequence[str]
    layers: Sequence[str]

    def arguments(self, x: Any, rows: int) -> tuple[Any, ...]:
        """What `scores` takes, on the host.

        Args:
          x: csr with `data`, `indices` and `indptr`, of at least one row and at most `rows`.
          rows: how many rows to fill up to.
        """
        ...

    def scores(self, *arguments: Any) -> NDArray:
        """`(rows, outputs)`, or `(rows,)` for one output."""
        ...


class Kind(Protocol):
    """A kind of model, for a header."""

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the numbers."""
        ...

    def first(self, settings: Settings, bias: np.ndarray) -> dict[str, np.ndarray]:
        """The numbers that a training begins with: those that the seed stands for.

        Args:
          settings: of the training.
          bias: `(outputs,)`, the scores of a row without features.
        """
        ...

    def formula(self, numbers: Numbers, dropout: float = 0.0) -> Formula:
        """What the model computes, to be trained."""
        ...

    def check(self, x: csr_array, first_row: int, source: str) -> None:
        """Raises ValueError for rows that the model is not made for.

        Args:
          x: `(rows, width)`.
          first_row: how many rows came before, for the message.
          source: where the rows come from, for the message.
        """
        ...

    def scores(self, numbers: Numbers, x: csr_array) -> np.ndarray:
        """What the model computes: `(rows, outputs)` in the dtype of the numbers."""
        ...

    def plain(
        self, numbers: Numbers, scaling: ColumnScaling, center: float, spread: float
    ) -> dict[str, np.ndarray]:
        """Numbers for rows and targets as they stand in files.

        Args:
          numbers: for scaled columns and standardized targets.
          scaling: of the columns.
          center, spread: a target is `center + spread * score`.
        """
        ...


def kind_of(header: ModelHeader) -> Kind:
    """What a header describes."""
    if header.kind in DEEP:
        return Deep(header)
    return Pairs(header) if header.kind == "mf" else Linear(header)
