"""Arrays of unknown shape: stand-ins for parameters whose shape an operator that reads them tells."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from rarefy._cell import Cell
from rarefy._ops.opdef import Operator
from rarefy._ops.shapes import infer_shapes, is_known
from rarefy._ops.storage import Value
from rarefy.base import MXNetError
from rarefy.nd._handle import Handle

Shape = tuple[int, ...]


class UnknownShapeError(MXNetError):
    """An array was read whose shape is not known yet."""


class OpenCell(Cell):
    """A cell whose value is there as soon as its shape is.

    Args:
      name: of the parameter, for messages.
      shape: gives what is known of the shape, unknown sizes as -1.
      settle: is told the shape.
      make: gives the value from the shape.
    """

    __slots__ = ("_made", "_make", "name", "settle", "shape")

    def __init__(
        self,
        name: str,
        shape: Callable[[], Shape | None],
        settle: Callable[[Shape], None],
        make: Callable[[Shape], Value],
    ):
        self.name, self.shape, self.settle, self._make = name, shape, settle, make
        self._made: Value | None = None
        super().__init__(None)  # pyright: ignore[reportArgumentType]

    @property
    def value(self) -> Value:
        """The value.

        Raises:
          UnknownShapeError: the shape is not known.
        """
        if self._made is None:
            shape = self.shape()
            if shape is None or not is_known(shape):
                raise UnknownShapeError(
                    f"the shape {shape} of parameter '{self.name}' does not follow from what is done "
                    "with it first; give all its sizes"
                )
            self._made = self._make(shape)
        return self._made

    @value.setter
    def value(self, value: Value | None) -> None:
        self._made = value


def settle(op: Operator, arrays: Sequence[Any], params: dict[str, Any]) -> None:
    """Finds out shapes of arrays of an operator from those of the others, as far as it can."""
    shapes = [_shape_of(a) for a in arrays]
    with suppress(ValueError, TypeError):  # the operator itself tells what is wrong
        shapes, _ = infer_shapes(op, params, shapes, [None] * op.n_results(params))
    for array, shape in zip(arrays, shapes, strict=False):
        if isinstance(array, Handle) and isinstance(array._cell, OpenCell) and is_known(shape):
            assert shape is not None
            array._cell.settle(shape)


def _shape_of(array: Any) -> tuple[int, ...] | None:
    if not isinstance(array, Handle):
        return None
    if isinstance(array._cell, OpenCell):
        return array._cell.shape()
    return array._value.shape
