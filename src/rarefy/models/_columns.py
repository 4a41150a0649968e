"""How columns are scaled and centered for training, and how that is taken back afterwards."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

DENSE = 0.9
"""A column that is stored in this share of the rows is centered: its zeros are rare."""


class ColumnStats:
    """Counts, sums and sums of squares of the stored elements of each column.

    Args:
      width: number of columns. The memory is 24 bytes a column.
    """

    def __init__(self, width: int):
        self.rows = 0
        self.count = np.zeros(width, np.int64)
        self.total = np.zeros(width)
        self.squares = np.zeros(width)

    def update(self, data: np.ndarray, indices: np.ndarray, rows: int) -> None:
        """Takes in the stored elements of some rows. Cost: O(stored elements)."""
        self.rows += rows
        values = data.astype(np.float64)
        np.add.at(self.count, indices, 1)
        np.add.at(self.total, indices, values)
        np.add.at(self.squares, indices, values * values)


@dataclass(frozen=True)
class ColumnScaling:
    """Trained is on `x / scale - center` instead of on `x`.

    Two things make plain gradient steps slow: columns of very different size, and columns that are
    hardly ever zero, whose common part all weights fit at once. Columns that are stored in nearly
    all rows are therefore standardized, and of the others those whose stored values have a root
    mean square above 1 are divided by it. Columns of ones, as hashed and one-hot features are, and
    tf-idf values stay as they are, and so does the sparsity.

    The result is not another model: `unscaled` turns the weights into those for plain `x`.

    Attributes:
      scale: `(width,)` float32, positive; None if all are 1.
      dense: `(d,)` int64, the columns that are centered, ascending.
      center: `(d,)` float32, what is subtracted from each of them after scaling.
    """

    scale: np.ndarray | None
    dense: np.ndarray
    center: np.ndarray

    @classmethod
    def none(cls) -> "ColumnScaling":
        """Leaves all columns as they are."""
        return cls(None, np.zeros(0, np.int64), np.zeros(0, np.float32))

    @classmethod
    def fit(cls, stats: ColumnStats, *, center: bool = True) -> "ColumnScaling":
        """Chooses from the statistics of the training rows."""
        count = np.maximum(stats.count, 1)
        scale = np.maximum(1.0, np.sqrt(stats.squares / count))
        mean = stats.total / max(stats.rows, 1)
        spread = np.sqrt(np.maximum(stats.squares / max(stats.rows, 1) - mean**2, 0.0))
        # A constant column says nothing, and rounding leaves its spread a little above zero.
        varies = spread > 1e-6 * np.abs(mean)
        dense = np.flatnonzero((stats.count >= DENSE * stats.rows) & varies) if center else []
        dense = np.asarray(dense, np.int64)
        scale[dense] = spread[dense]
        scale = scale.astype(np.float32)
        return cls(
            None if np.all(scale == 1.0) else scale,
            dense,
            (mean[dense] / scale[dense]).astype(np.float32),
        )

    def squared_norm(self, stats: ColumnStats) -> float:
        """Mean squared norm of the rows of which these are the statistics, after scaling."""
        squares = stats.squares.copy()
        squares[self.dense] = 0.0
        if self.scale is not None:
            squares /= np.square(self.scale, dtype=np.float64)
        return float(squares.sum()) / max(stats.rows, 1) + len(self.dense)

    @property
    def is_none(self) -> bool:
        """Whether all columns stay as they are."""
        return self.scale is None and not len(self.dense)

    def apply(self, x: csr_array) -> csr_array:
        """Rows as they are trained on.

        Args:
          x: `(rows, width)` csr, float32, columns sorted and unique in each row.

        Returns:
          Another csr, also sorted and unique, in which the centered columns are stored in all rows.
        """
        if self.is_none:
            return x
        rows, width = len(x.indptr) - 1, x.shape[1]  # pyright: ignore[reportOptionalSubscript]
        data = x.data if self.scale is None else x.data / self.scale[x.indices]
        scaled = csr_array((data, x.indices, x.indptr), shape=(rows, width))
        if not len(self.dense):
            return scaled
        shift = csr_array(
            (
                np.tile(self.center, rows),
                np.tile(self.dense.astype(x.indices.dtype), rows),
                np.arange(rows + 1, dtype=x.indptr.dtype) * len(self.dense),
            ),
            shape=(rows, width),
        )
        return scaled - shift

    def scale_of(self, columns: np.ndarray) -> np.ndarray:
        """What the given columns are divided by, float32."""
        if self.scale is None:
            return np.ones(len(columns), np.float32)
        return self.scale[columns]

    def unscaled(
        self, weight: np.ndarray, bias: np.ndarray, factors: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Weights that give on `x` the scores that these give on `x / scale - center`.

        Args:
          weight: `(width, outputs)`.
          bias: `(outputs,)`.
          factors: `(width, k)` of a factorization machine, or None.

        Returns:
          The three in the same shapes and dtypes. Computed in float64; for the centered columns of
          a factorization machine, with `c = sum_j center_j factors_j`, by expanding the square in
          `0.5 * (|x factors - c|^2 - sum_j |factors_j|^2 (x_j - center_j)^2)`.
        """
        if self.is_none:
            return weight, bias, factors
        w, b = weight.astype(np.float64), bias.astype(np.float64)
        center, dense = self.center.astype(np.float64), self.dense
        b = b - center @ w[dense]
        if factors is not None and len(dense):
            v = factors.astype(np.float64)
            lengths = (v[dense] ** 2).sum(axis=1)
            c = center @ v[dense]
            b = b + 0.5 * (c @ c - (lengths * center**2).sum())
            w = w - (v @ c)[:, None]
            w[dense, 0] += lengths * center
        scaled_factors = factors
        if self.scale is not None:
            w = w / self.scale[:, None]
            if factors is not None:
                scaled_factors = (factors / self.scale[:, None]).astype(factors.dtype)
        return w.astype(weight.dtype), b.astype(bias.dtype), scaled_factors
