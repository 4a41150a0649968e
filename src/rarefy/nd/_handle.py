"""What every array handle is: a cell, a path into it, and a place on the tape."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from rarefy import autograd
from rarefy._cell import Cell
from rarefy._later import like, seen
from rarefy._ops.precision import wide
from rarefy._ops.storage import SType, Value, is_traced, stype_of
from rarefy.autograd._tape import Slot
from rarefy.base import MXNetError
from rarefy.context import Context

Path = tuple[Any, ...]


class Handle:
    """A mutable array: a cell and, for a view, the place in it that the view shows.

    A handle is no pytree; functions of `rarefy.sparse` and of JAX take its `_value`.
    """

    __slots__ = ("__weakref__", "_cell", "_ctx", "_grad", "_path", "_seen", "_slot")
    _classes: ClassVar[dict[SType, type["Handle"]]] = {}
    _stype: ClassVar[SType] = "default"

    def __init_subclass__(cls, *, stype: SType | None = None, **kwargs):
        super().__init_subclass__(**kwargs)
        if stype:
            cls._classes[stype] = cls
            cls._stype = stype

    def __init__(self, cell: Cell, path: Path | None = None, slot: Slot | None = None):
        self._cell = cell
        self._path = path
        self._slot = slot
        self._grad: Handle | None = None
        self._seen: tuple[int, Value] | None = None
        self._ctx: Context | None = None

    @staticmethod
    def _wrap(value: Value, slot: Slot | None = None, *, shared: bool = False) -> Any:
        """A new handle of the class of the value's storage type."""
        return Handle._classes[stype_of(value)](Cell(value, shared=shared), None, slot)

    @property
    def _value(self) -> Value:
        """The immutable value that the handle shows now."""
        cell = self._cell
        if self._path is None:
            return cell.value
        if self._seen is None or self._seen[0] != cell.version:
            with wide():
                self._seen = (cell.version, self._read(cell.value, self._path))
        return self._seen[1]

    @property
    def _given(self) -> Any:
        """The value, or the `Later` that the handle's cell waits for."""
        return seen(self._cell) if self._path is None else self._value

    @property
    def _like(self) -> Any:
        """What has the value's shape and dtype. Asking for it does nothing that was put off."""
        return like(self._given)

    def _store(self, value: Value, *, shared: bool = False) -> None:
        """Replaces what the handle shows; a view writes through to its base.

        Raises:
          MXNetError: operators are being recorded and the array takes part in it.
        """
        self._leave_record()
        if self._ctx is not None and not is_traced(value):
            value = jax.device_put(value, self._ctx.device)
        if self._path is None:
            self._cell.store(value, shared=shared)
        else:
            with wide():
                self._cell.store(self._write(self._cell.value, self._path, value))

    def _value_for(self, other: "Handle") -> Value:
        """The value, to be put into another array, which may live elsewhere."""
        if self._ctx is None or other._ctx is not None or is_traced(self._cell.value):
            return self._value
        # Arrays of the ordinary context are not bound to a device; through the host, this one is not.
        with wide():
            return jax.tree.map(lambda part: jnp.asarray(np.asarray(part)), self._value)

    def _leave_record(self) -> None:
        """Ends the part of a result in the record, as it is going to change.

        Raises:
          MXNetError: operators are being recorded and the array takes part in it.
        """
        if self._slot is None:
            return
        if autograd.is_recording() and not self._slot.released:
            raise MXNetError(
                "an array that takes part in autograd.record() cannot be changed in place (+=, "
                "x[:] = ..., out=); assign the result to a new name"
            )
        if self._slot.leaf is None:
            self._slot = None

    def _read(self, base: Value, path: Path) -> Value:
        raise NotImplementedError

    def _write(self, base: Value, path: Path, value: Value) -> Value:
        raise NotImplementedError
