"""What the sparse layouts have in common: an immutable value, its shape, dtype and operators."""

import abc
import math
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.core import Tracer


class JAXSparse(abc.ABC):
    """Base of the sparse layouts, named as in JAX.

    A value is a pytree whose leaves are its buffers; what else it knows travels as static data.
    When JAX unflattens one with placeholders (None, `object()`, shapes), it holds them without
    looking.

    `*`, `+` and the like are elementwise, `@` is the matrix product. An operator that a layout
    lacks raises NotImplementedError.
    """

    # NumPy must not take an array operator apart into one call for each element.
    __array_priority__ = 100
    __array_ufunc__ = None

    data: jax.Array
    shape: tuple[int, ...]

    def __init__(self, args: Sequence[Any], *, shape: Sequence[int]) -> None:
        del args  # what the buffers are called is up to the layout
        self.shape = tuple(shape)

    @property
    @abc.abstractmethod
    def nse(self) -> int:
        """Number of slots for specified elements, in each batch."""

    @property
    @abc.abstractmethod
    def dtype(self) -> np.dtype:
        """Type of the stored values."""

    @property
    def size(self) -> int:
        """Number of cells, stored or not."""
        return math.prod(self.shape)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def T(self) -> Any:
        """The transpose."""
        return self.transpose()

    @abc.abstractmethod
    def tree_flatten(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Gives the buffers and, as static data, the rest."""

    @classmethod
    @abc.abstractmethod
    def tree_unflatten(cls, aux: dict[str, Any], children: Sequence[Any]) -> Any:
        """Puts a value together again from what `tree_flatten` gave."""

    @abc.abstractmethod
    def todense(self) -> jax.Array:
        """Makes the dense array; repeated entries add up."""

    @abc.abstractmethod
    def transpose(self, axes: Sequence[int] | None = None) -> Any:
        """Permutes the dimensions; the default reverses them."""

    def sum(self, *args: Any, **kwargs: Any) -> Any:
        """Sums over dimensions, where the layout can."""
        raise self._lacks("sum")

    @property
    def _bufs(self) -> tuple[Any, ...]:
        return self.tree_flatten()[0]

    def block_until_ready(self) -> "JAXSparse":
        """Waits until all buffers are computed, and returns the value."""
        for buffer in self._bufs:
            buffer.block_until_ready()
        return self

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a sparse array without dimensions")
        return self.shape[0]

    def __array__(self, *_: Any, **__: Any) -> Any:
        # Or NumPy would walk through it row by row.
        raise TypeError(f"{type(self).__name__} is no dense array; use .todense()")

    def __repr__(self) -> str:
        name = type(self).__name__
        try:
            tag = f"{np.dtype(self.dtype).name}{list(self.shape)}, nse={self.nse}"
            tag += "".join(f", {n}={c}" for n, c in self._layout() if c)
        except Exception:  # a placeholder or a broken value must still print
            return f"{name}(<invalid>)"
        if isinstance(self.data, Tracer):
            return f"{type(self.data).__name__}[{name}({tag})]"
        return f"{name}({tag})"

    def _layout(self) -> Sequence[tuple[str, int]]:
        return ()

    def _lacks(self, what: str) -> NotImplementedError:
        return NotImplementedError(
            f"{type(self).__name__} has no {what}; use .todense() if a dense result is wanted"
        )

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __neg__(self) -> Any:
        raise self._lacks("__neg__")

    def __pos__(self) -> Any:
        raise self._lacks("__pos__")

    def __matmul__(self, other: Any) -> Any:
        raise self._lacks("__matmul__")

    def __rmatmul__(self, other: Any) -> Any:
        raise self._lacks("__rmatmul__")

    def __mul__(self, other: Any) -> Any:
        raise self._lacks("__mul__")

    def __rmul__(self, other: Any) -> Any:
        raise self._lacks("__rmul__")

    def __add__(self, other: Any) -> Any:
        raise self._lacks("__add__")

    def __radd__(self, other: Any) -> Any:
        raise self._lacks("__radd__")

    def __sub__(self, other: Any) -> Any:
        raise self._lacks("__sub__")

    def __rsub__(self, other: Any) -> Any:
        raise self._lacks("__rsub__")

    def __getitem__(self, item: Any) -> Any:
        raise self._lacks("__getitem__")
