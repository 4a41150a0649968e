"""Linear models and factorization machines."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from rarefy import nd
from rarefy.models._columns import ColumnScaling
from rarefy.models._header import ModelHeader
from rarefy.models._settings import Settings
from rarefy.sparse._capacity import host_csr


class Linear:
    """`bias + x @ weight`, and for a factorization machine the products of pairs of features.

    These are `0.5 * sum over factors of ((x @ factors)^2 - x^2 @ factors^2)`, the sum of
    `<factors_i, factors_j> x_i x_j` over the pairs of features `i < j` (Rendle, 2010).

    Numbers: `weight`, `(width, outputs)`, `bias`, `(outputs,)`, and `factors`, `(width, k)`.
    """

    def __init__(self, header: ModelHeader):
        self._header = header

    def shapes(self) -> dict[str, tuple[int, ...]]:
        header = self._header
        shapes = {"weight": (header.width, header.outputs), "bias": (header.outputs,)}
        return shapes | ({"factors": (header.width, header.factors)} if header.factors else {})

    def first(self, settings: Settings, bias: np.ndarray) -> dict[str, np.ndarray]:
        shapes = self.shapes()
        numbers = {"weight": np.zeros(shapes["weight"], np.float32), "bias": bias}
        if "factors" in shapes:
            # From NumPy's generator: the numbers that a seed stands for must not change.
            rng = np.random.default_rng(settings.seed)
            factors = rng.standard_normal(shapes["factors"], np.float32)
            numbers["factors"] = factors * np.float32(settings.factor_std)
        return numbers

    def formula(self, numbers: Mapping[str, np.ndarray], dropout: float = 0.0) -> "LinearFormula":
        return LinearFormula(numbers)

    def check(self, x: csr_array, first_row: int, source: str) -> None:
        """Any rows will do."""

    def scores(self, numbers: Mapping[str, np.ndarray], x: csr_array) -> np.ndarray:
        z = x @ numbers["weight"] + numbers["bias"]
        if "factors" in numbers:
            factors = numbers["factors"]
            squares = csr_array((x.data**2, x.indices, x.indptr), shape=x.shape)
            pairs = (x @ factors) ** 2 - squares @ factors**2
            z += 0.5 * pairs.sum(axis=1, keepdims=True)
        return z

    def plain(
        self,
        numbers: Mapping[str, np.ndarray],
        scaling: ColumnScaling,
        center: float,
        spread: float,
    ) -> dict[str, np.ndarray]:
        weight, bias, factors = scaling.unscaled(
            numbers["weight"], numbers["bias"], numbers.get("factors")
        )
        plain = {"weight": weight * spread, "bias": bias * spread + center}
        if factors is not None:
            # A pair has the product of two factors, so each takes the root.
            plain["factors"] = factors * math.sqrt(spread)
        return {name: array.astype(np.float32) for name, array in plain.items()}


class LinearFormula:
    """A linear model or a factorization machine in training."""

    def __init__(self, numbers: Mapping[str, np.ndarray]):
        self.params = {name: nd.array(array) for name, array in numbers.items()}
        self.tables: Mapping[str, slice] = {name: slice(None) for name in numbers if name != "bias"}
        self.vectors: Sequence[str] = [name for name in numbers if name == "factors"]
        self.layers: Sequence[str] = ()
        for name, param in self.params.items():
            param.attach_grad(stype="row_sparse" if name in self.tables else "default")

    def arguments(self, x: Any, rows: int) -> tuple[Any, ...]:
        return (host_csr(x.data, x.indices, x.indptr, (rows, self.params["weight"].shape[0])),)

    def scores(self, *arguments: Any) -> nd.NDArray:
        (x,) = arguments
        scores = nd.dot(x, self.params["weight"]) + self.params["bias"]
        if "factors" in self.params:
            scores = scores + nd.sparse.factorization_machine(x, self.params["factors"])
        return scores
