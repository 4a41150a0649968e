"""What an array of the program that is sparsified can be while it is walked through."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import numpy as jnp

from rarefy.sparse._bcoo import BCOO
from rarefy.sparse._bcsr import BCSR

Shape = tuple[int, ...]


class Call(NamedTuple):
    """A primitive with its parameters, which is all that a rule needs of an equation."""

    primitive: Any
    params: dict[str, Any]

    @property
    def name(self) -> str:
        return self.primitive.name


@partial(jax.tree_util.register_dataclass, data_fields=["mat"], meta_fields=[])
@dataclass(frozen=True, eq=False)
class Rows:
    """A BCOO computed from a BCSR. It becomes one again when it leaves the program, if it can.

    In between, sorting it after each step would be lost work: `x.T @ v` needs no order.
    """

    mat: BCOO

    @property
    def shape(self) -> Shape:
        return self.mat.shape


@partial(jax.tree_util.register_dataclass, data_fields=["base"], meta_fields=["shape"])
@dataclass(frozen=True, eq=False)
class Spread:
    """A small dense array that stands for its repetition along dimensions; never made.

    Attributes:
      base: of the rank of `shape`; 1 where it is repeated. NumPy where it is known.
      shape: what it stands for.
    """

    base: Any
    shape: Shape

    @property
    def dtype(self) -> Any:
        return self.base.dtype


@partial(
    jax.tree_util.register_dataclass, data_fields=["mat", "base"], meta_fields=["shape", "refusal"]
)
@dataclass(frozen=True, eq=False)
class Filled:
    """Stored cells on a background that is not zero, such as `exp(x)` or `x - x.mean(0)`.

    Reductions and products of one are computed without making it. Only where it leaves the program it
    must be dense, or is refused.

    Attributes:
      mat: BCOO, BCSR or Rows with unique indices, which holds the values of the stored cells.
      base: the value of the others: of the rank of `shape`, 1 where it is repeated.
      shape: its shape.
      refusal: why it may not be made dense; None where it may.
    """

    mat: Any
    base: Any
    shape: Shape
    refusal: str | None = field(default=None)

    @property
    def dtype(self) -> Any:
        return self.base.dtype


@dataclass(frozen=True, eq=False)
class Grid:
    """A square matrix of its own row or column numbers, not made."""

    shape: Shape
    dimension: int
    dtype: Any


@dataclass(frozen=True, eq=False)
class LowRank:
    """A dense matrix `eye * I + sum of u v'`, not made.

    Attributes:
      shape, dtype: of the matrix.
      eye: the multiple of the identity; None for none, and True for a mask of the diagonal.
      terms: pairs of vectors.
    """

    shape: Shape
    dtype: Any
    eye: Any
    terms: tuple[tuple[Any, Any], ...]


def is_sparse(value: Any) -> bool:
    """Whether the value has stored cells on zeros."""
    return isinstance(value, BCOO | BCSR | Rows)


def is_dense(value: Any) -> bool:
    """Whether the value is an ordinary array or number."""
    return not isinstance(value, BCOO | BCSR | Rows | Spread | Filled | Grid | LowRank)


def known(value: Any) -> np.ndarray | None:
    """The value of a number that is known while tracing, or None."""
    if isinstance(value, Spread):
        value = value.base
    if isinstance(value, jax.Array) or not is_dense(value):
        return None
    value = np.asarray(value)
    return value if value.size == 1 else None


def is_zero(value: Any) -> bool:
    """Whether the value is sparse, or known to be zero: every cell that is not stored is zero."""
    if is_sparse(value):
        return True
    number = known(value)
    return number is not None and not number.any()


def shape_of(value: Any) -> Shape:
    return tuple(np.shape(value)) if is_dense(value) else value.shape


def dtype_of(value: Any) -> Any:
    if isinstance(value, Rows):
        return value.mat.dtype
    return jnp.result_type(value) if is_dense(value) else value.dtype


def stored(value: Any) -> Any:
    """The BCOO or BCSR of a sparse value."""
    return value.mat if isinstance(value, Rows) else value


def with_data(value: Any, data: Any) -> Any:
    """The sparse value with other stored values."""
    if isinstance(value, Rows):
        return Rows(with_data(value.mat, data))
    if isinstance(value, BCSR):
        return value._with_data(data)
    return value._with_buffers(data, value.indices)


def describe(value: Any) -> str:
    """The layout of a value, for an error message."""
    if isinstance(value, Rows):
        value = value.mat
    kind = f"{np.dtype(dtype_of(value)).name}{list(shape_of(value))}"
    if isinstance(value, BCOO | BCSR):
        counts = (("n_batch", value.n_batch), ("n_dense", value.n_dense))
        tail = "".join(f", {name}={count}" for name, count in counts if count)
        return f"{type(value).__name__}({kind}, nse={value.nse}{tail})"
    if isinstance(value, Filled):
        return f"{describe(value.mat)} on a background that is not zero"
    return f"dense {kind}"


class Spec(NamedTuple):
    """How values are made of a list of buffers.

    Attributes:
      structure: of the list of values.
      leaves: for each leaf the number of its buffer, or `(value,)` where it is known.
    """

    structure: Any
    leaves: tuple[Any, ...]

    def values(self, buffers: Sequence[Any]) -> list[Any]:
        leaves = [buffers[x] if isinstance(x, int) else x[0] for x in self.leaves]
        return jax.tree.unflatten(self.structure, leaves)


def pack(values: Sequence[Any], given: Sequence[Any] = ()) -> tuple[list[Any], Spec]:
    """Takes values apart into buffers, each but once; known numbers stay outside of them.

    Args:
      values: what to take apart.
      given: buffers that are there anyway, None for one that must not be used.

    Returns:
      The buffers that are not given; and a spec that numbers them after the given ones.
    """
    leaves, structure = jax.tree.flatten(list(values))
    numbers = {id(b): i for i, b in enumerate(given) if b is not None}
    buffers: list[Any] = []
    refs: list[Any] = []
    for leaf in leaves:
        if known(leaf) is not None:
            refs.append((leaf,))
            continue
        if id(leaf) not in numbers:
            numbers[id(leaf)] = len(given) + len(buffers)
            buffers.append(leaf)
        refs.append(numbers[id(leaf)])
    return buffers, Spec(structure, tuple(refs))


Rule = Callable[[Any, Call, list[Any]], Sequence[Any]]
