"""A trained model: scores rows of sparse features, saves and loads itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from rarefy.models._files import ModelFileError, read_tensors, take_array, write_tensors
from rarefy.models._header import ModelHeader
from rarefy.models._kinds import kind_of

HEADER = "model.json"
TENSORS = "model.safetensors"
_KIND = "rarefy-model-tensors"


@dataclass(frozen=True)
class Model:
    """A model over sparse rows.

    Attributes:
      header: what the numbers mean.
      numbers: the arrays, by the names and in the shapes that the kind of the model has.
    """

    header: ModelHeader
    numbers: Mapping[str, np.ndarray]

    @property
    def weight(self) -> np.ndarray:
        """`(width, outputs)`; matrix factorization has none."""
        return self.numbers["weight"]

    @property
    def bias(self) -> np.ndarray:
        """`(outputs,)`; a network has one in each layer instead."""
        return self.numbers["bias"]

    @property
    def factors(self) -> np.ndarray | None:
        """`(width, k)`, or None for a linear model; matrix factorization has two such tables."""
        return self.numbers.get("factors")

    def scores(self, x: csr_array, first_row: int = 0, source: str = "") -> np.ndarray:
        """What the model computes before the link.

        Args:
          x: `(rows, width)` csr, floating. Order and repetition of columns in a row do not matter
            to a linear model; the others need each at most once.
          first_row: how many rows came before, for messages.
          source: where the rows come from, for messages.

        Returns:
          `(rows,)` for one output (log-odds of class 1, or the predicted value), else
          `(rows, outputs)` logits, in the model's dtype.

        Raises:
          ValueError: `x` has another number of columns, or a row is not one that the model is made for:
            matrix factorization takes pairs of a user and an item.
        """
        columns = _shape(x)[1]
        if columns != self.header.width:
            raise ValueError(
                f"the rows have {columns} columns, and the model has {self.header.width} features"
            )
        if not x.has_sorted_indices:
            x = x.sorted_indices()
        kind = kind_of(self.header)
        kind.check(x, first_row, source)
        if self.header.normalize == "l2":
            x = unit_rows(x)
        z = kind.scores(self.numbers, x)
        return z[:, 0] if self.header.outputs == 1 else z

    def predict(self, x: csr_array, first_row: int = 0, source: str = "") -> np.ndarray:
        """Probabilities, or the predicted values for the loss 'squared'.

        Args:
          x, first_row, source: see `scores`.

        Returns:
          `(rows,)`: the probability of class 1 for 'logistic', the value for 'squared';
          `(rows, classes)`: the probability of each class for 'softmax'.
        """
        return link(self.header.loss, self.scores(x, first_row, source))

    def save(self, folder: Path) -> None:
        """Writes `model.json` and `model.safetensors`, each in one stroke.

        While a run goes on its header stays the same and only the numbers are replaced, so the two
        files fit together at any moment.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.header.save(folder / HEADER)
        self.save_numbers(folder)

    def save_numbers(self, folder: Path) -> None:
        """Writes `model.safetensors` beside a header that is there already."""
        write_tensors(folder / TENSORS, self.numbers, {"format": _KIND, "run": self.header.run})

    @classmethod
    def load(cls, folder: Path) -> "Model":
        """Reads a model and checks that its files are whole and belong together.

        Raises:
          ModelFileError: a file is absent, damaged, newer than this release, of another run, or
            does not fit its header.
        """
        header = ModelHeader.load(folder / HEADER)
        path = folder / TENSORS
        tensors, about = read_tensors(path, _KIND)
        if about.get("run") != header.run:
            raise ModelFileError(path, f"belongs to another run than {HEADER}")
        shapes = kind_of(header).shapes()
        return cls(
            header,
            {n: take_array(path, tensors, n, shape, header.dtype) for n, shape in shapes.items()},
        )


def unit_rows(x: csr_array) -> csr_array:
    """Rows divided by their Euclidean norms; a row of zeros stays one."""
    norms = np.sqrt(np.bincount(_row_of(x), x.data.astype(np.float64) ** 2, _shape(x)[0]))
    scale = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    return csr_array(
        ((x.data * scale[_row_of(x)]).astype(x.dtype), x.indices, x.indptr), shape=_shape(x)
    )


def _shape(x: csr_array) -> tuple[int, int]:
    rows, columns = x.shape  # pyright: ignore[reportGeneralTypeIssues] scipy: may be None
    return rows, columns


def _row_of(x: csr_array) -> np.ndarray:
    return np.repeat(np.arange(_shape(x)[0]), np.diff(x.indptr))


def link(loss: str, scores: np.ndarray) -> np.ndarray:
    """Turns scores into predictions: sigmoid for 'logistic', softmax for 'softmax'."""
    if loss == "logistic":
        # The exponent is never positive, so nothing overflows.
        e = np.exp(-np.abs(scores))
        return np.where(scores >= 0, 1.0, e) / (1.0 + e)
    if loss == "softmax":
        e = np.exp(scores - scores.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)
    return scores
