"""Kinds of models that are blocks: networks over features, and matrix factorization."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.sparse import csr_array

from rarefy import nd
from rarefy.gluon import HybridBlock, Parameter
from rarefy.gluon.nn import Dense
from rarefy.models._columns import ColumnScaling
from rarefy.models._deep import DeepFM, WideDeep
from rarefy.models._header import ModelHeader
from rarefy.models._matrix_factorization import MatrixFactorization
from rarefy.models._settings import Settings
from rarefy.sparse._capacity import host_csr


class BlockFormula:
    """A block in training.

    Args:
      block: scores rows.
      parameters: those of the block by the names that they have in files.
      numbers: their values.
      tables, vectors: see `Formula`.
      arguments: see `Formula`.
    """

    def __init__(
        self,
        block: HybridBlock,
        parameters: Mapping[str, Parameter],
        numbers: Mapping[str, np.ndarray],
        tables: Mapping[str, slice],
        vectors: Sequence[str],
        arguments: Callable[[Any, int], tuple[Any, ...]],
    ):
        self.tables, self.vectors = tables, vectors
        self.layers: Sequence[str] = [name for name in parameters if name.startswith("layer")]
        self._block, self._arguments = block, arguments
        for name, parameter in parameters.items():
            parameter._load_init(nd.array(numbers[name]), None)
        self.params = {name: parameter.data() for name, parameter in parameters.items()}

    def arguments(self, x: Any, rows: int) -> tuple[Any, ...]:
        return self._arguments(x, rows)

    def scores(self, *arguments: Any) -> nd.NDArray:
        return self._block(*arguments)


class _BlockKind:
    """What the kinds have in common: their scores are those of the block."""

    def formula(self, numbers: Mapping[str, np.ndarray], dropout: float = 0.0) -> BlockFormula:
        raise NotImplementedError

    def scores(self, numbers: Mapping[str, np.ndarray], x: csr_array) -> np.ndarray:
        rows = len(x.indptr) - 1
        if not rows:
            return np.zeros((0, 1), np.float32)
        formula = self.formula(numbers)
        on_device = jax.tree.map(jnp.asarray, formula.arguments(x, rows))
        return formula.scores(*map(nd.NDArray._wrap, on_device)).asnumpy().reshape(rows, 1)


class Deep(_BlockKind):
    """Wide & deep models and DeepFM, for rows whose features have no fields.

    Numbers: `weight`, `(width, 1)`, `factors`, `(width, k)`, and of layer i from 0 on
    `layer{i}.weight`, `(units, inputs)`, and `layer{i}.bias`, `(units,)`.
    """

    def __init__(self, header: ModelHeader):
        self._header = header

    def shapes(self) -> dict[str, tuple[int, ...]]:
        header = self._header
        shapes = {"weight": (header.width, 1), "factors": (header.width, header.factors)}
        inputs = header.factors
        for i, units in enumerate((*header.hidden, 1)):
            shapes |= {f"layer{i}.weight": (units, inputs), f"layer{i}.bias": (units,)}
            inputs = units
        return shapes

    def first(self, settings: Settings, bias: np.ndarray) -> dict[str, np.ndarray]:
        numbers, rng = {}, np.random.default_rng(settings.seed)
        for name, shape in self.shapes().items():
            numbers[name] = np.zeros(shape, np.float32)
            if name == "factors":
                factors = rng.standard_normal(shape, np.float32)
                numbers[name] = factors * np.float32(settings.factor_std)
            elif name.startswith("layer") and len(shape) == 2:
                # Glorot and Bengio, Understanding the difficulty of training deep networks (2010).
                limit = math.sqrt(6.0 / sum(shape))
                numbers[name] = (limit * (2 * rng.random(shape) - 1)).astype(np.float32)
        return {**numbers, f"layer{len(self._header.hidden)}.bias": bias}

    def formula(self, numbers: Mapping[str, np.ndarray], dropout: float = 0.0) -> BlockFormula:
        header = self._header
        make = DeepFM if header.kind == "deepfm" else WideDeep
        block = make(header.factors, None, header.width, header.hidden, dropout)
        parameters = {"weight": block.weight, "factors": block.factors}
        layers = (child for child in block.network if isinstance(child, Dense))
        for i, layer in enumerate(layers):
            assert layer.bias is not None
            parameters |= {f"layer{i}.weight": layer.weight, f"layer{i}.bias": layer.bias}
        tables = {"weight": slice(None), "factors": slice(None)}
        return BlockFormula(block, parameters, numbers, tables, ["factors"], self._arguments)

    def _arguments(self, x: Any, rows: int) -> tuple[Any, ...]:
        return (host_csr(x.data, x.indices, x.indptr, (rows, self._header.width)),)

    def check(self, x: csr_array, first_row: int, source: str) -> None:
        """Any rows will do."""

    def plain(
        self,
        numbers: Mapping[str, np.ndarray],
        scaling: ColumnScaling,
        center: float,
        spread: float,
    ) -> dict[str, np.ndarray]:
        last = f"layer{len(self._header.hidden)}"
        factors, plain = numbers["factors"], dict(numbers)
        # The network reads the sum of `(x / scale - center) * factors`: the first bias takes what is
        # subtracted, and the linear part and the pairs are those of a factorization machine.
        paired = factors if self._header.kind == "deepfm" else None
        weight, bias, _ = scaling.unscaled(numbers["weight"], numbers[f"{last}.bias"], paired)
        plain |= {"weight": weight * spread, f"{last}.bias": bias}
        shift = numbers["layer0.weight"] @ (scaling.center @ factors[scaling.dense])
        plain["layer0.bias"] = plain["layer0.bias"] - shift
        plain["factors"] = factors if scaling.scale is None else factors / scaling.scale[:, None]
        if paired is not None:  # a pair has the product of two factors, so each takes the root
            root = math.sqrt(spread)
            plain["factors"] = plain["factors"] * root
            plain["layer0.weight"] = plain["layer0.weight"] / root
        plain[f"{last}.weight"] = plain[f"{last}.weight"] * spread
        plain[f"{last}.bias"] = plain[f"{last}.bias"] * spread + center
        return {name: array.astype(np.float32) for name, array in plain.items()}


class Pairs(_BlockKind):
    """Matrix factorization, for rows of two ones: a user's column, then an item's.

    Numbers: `user`, `(users, k)`, `item`, `(width - users, k)`, `user_bias`, `(users, 1)`,
    `item_bias`, `(width - users, 1)`, and `bias`, `(1,)`.
    """

    def __init__(self, header: ModelHeader):
        self._header = header
        self._sizes = {"user": header.users, "item": header.width - header.users}

    def shapes(self) -> dict[str, tuple[int, ...]]:
        vectors = {name: (n, self._header.factors) for name, n in self._sizes.items()}
        return {
            **vectors,
            **{f"{name}_bias": (n, 1) for name, n in self._sizes.items()},
            "bias": (1,),
        }

    def first(self, settings: Settings, bias: np.ndarray) -> dict[str, np.ndarray]:
        numbers = {name: np.zeros(shape, np.float32) for name, shape in self.shapes().items()}
        rng = np.random.default_rng(settings.seed)
        for name in self._sizes:
            factors = rng.standard_normal(numbers[name].shape, np.float32)
            numbers[name] = factors * np.float32(settings.factor_std)
        return {**numbers, "bias": bias}

    def formula(self, numbers: Mapping[str, np.ndarray], dropout: float = 0.0) -> BlockFormula:
        users, width = self._header.users, self._header.width
        block = MatrixFactorization(users, width - users, self._header.factors)
        parameters = {name: getattr(block, name) for name in self.shapes()}
        columns = {"user": slice(users), "item": slice(users, None)}
        tables = {**columns, **{f"{name}_bias": at for name, at in columns.items()}}
        return BlockFormula(block, parameters, numbers, tables, list(columns), self._arguments)

    def _arguments(self, x: Any, rows: int) -> tuple[Any, ...]:
        ids = x.indices.reshape(-1, 2) - np.array([0, self._header.users], x.indices.dtype)
        # Filled up with the last pair: whatever rows of tables it has, the batch has them anyway.
        return tuple(np.pad(ids, ((0, rows - len(ids)), (0, 0)), "edge").T)

    def check(self, x: csr_array, first_row: int, source: str) -> None:
        _require_sides(
            pairs_of(x, first_row, source),
            self._header.users,
            self._header.index_base,
            first_row,
            source,
        )

    def plain(
        self,
        numbers: Mapping[str, np.ndarray],
        scaling: ColumnScaling,
        center: float,
        spread: float,
    ) -> dict[str, np.ndarray]:
        assert scaling.is_none
        plain = {}
        for name, array in numbers.items():
            plain[name] = array * (math.sqrt(spread) if name in self._sizes else spread)
        plain["bias"] += center
        return {name: array.astype(np.float32) for name, array in plain.items()}


def pairs_of(x: csr_array, first_row: int, source: str) -> np.ndarray:
    """The columns of rows that have two ones each, `(rows, 2)`.

    Args:
      x: `(rows, width)`, columns sorted in each row.
      first_row: how many rows came before, for the message.
      source: where the rows come from, for the message.

    Raises:
      ValueError: a row has something else.
    """
    lengths = np.diff(x.indptr)
    if (lengths != 2).any():
        row = int(np.argmax(lengths != 2))
        found = f"{lengths[row]} column{'' if lengths[row] == 1 else 's'}"
    elif (x.data != 1).any():
        at = int(np.argmax(x.data != 1))
        row, found = at // 2, f"the value {x.data[at]:g}"
    else:
        return x.indices.reshape(-1, 2)
    raise ValueError(
        f"{_place(source, first_row + row)} has {found}; matrix factorization takes rows of a user "
        "and an item, as in 4.5 7:1 812:1 (a factorization machine takes any)"
    )


def _require_sides(pairs: np.ndarray, users: int, base: int, first_row: int, source: str) -> None:
    """Raises ValueError for a pair that is not a user and an item after the users."""
    outside = (pairs[:, 0] >= users) | (pairs[:, 1] < users)
    if outside.any():
        row = int(np.argmax(outside))
        raise ValueError(
            f"{_place(source, first_row + row)} has the columns {pairs[row, 0] + base} and "
            f"{pairs[row, 1] + base}; a row has a user's column, up to {users - 1 + base}, and an "
            "item's after that"
        )


class PairsSeen:
    """Finds out which columns of pairs are users: those up to the last that is first in a row.

    Args:
      source: where the rows come from, for messages.
      base: the number of the first column in the file, for messages.
      users: how many they are, where that is known; then it is checked.
    """

    def __init__(self, source: str, base: int, users: int | None = None):
        self._source, self._base, self._known = source, base, users
        self._last_user, self._first_item = -1, 2**63 - 1

    def update(self, x: csr_array, first_row: int) -> None:
        """Looks at some rows; raises ValueError for one that is no pair."""
        pairs = pairs_of(x, first_row, self._source)
        if self._known is not None:
            _require_sides(pairs, self._known, self._base, first_row, self._source)
        elif len(pairs):
            self._last_user = max(self._last_user, int(pairs[:, 0].max()))
            self._first_item = min(self._first_item, int(pairs[:, 1].min()))

    def users(self) -> int:
        """How many columns are users; where it is not known, all before the first item.

        Raises:
          ValueError: users and items are mixed.
        """
        if self._known is not None:
            return self._known
        user, item, base = self._last_user, self._first_item, self._base
        if user >= item:
            raise ValueError(
                f"{self._source}: column {user + base} is the first of a row and column {item + base} "
                "the second of another; matrix factorization needs all users before all items"
            )
        return item


def _place(source: str, row: int) -> str:
    return f"{source}: row {row + 1}" if source else f"row {row + 1}"
