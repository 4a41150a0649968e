"""Sharing memory with other libraries: NumPy's arrays and DLPack."""

import ctypes
from typing import Any

import jax
import numpy as np

from rarefy._cell import Cell
from rarefy._ops.precision import wide
from rarefy._ops.storage import Value
from rarefy.nd._create import at, host_array, waitall
from rarefy.nd._ndarray import NDArray


class _HostCell(Cell):
    """A cell that shows NumPy's memory, and writes there what is stored in it.

    XLA's values do not change, so nobody else may hold the one that shows the memory: arrays that take
    a value over from a shared cell copy it, or set `shared`, which ends the tie to NumPy's memory at
    the next store. `shared` reads true, lest the memory is donated.
    """

    __slots__ = ("_host", "_shows", "_taken")

    def __init__(self, host: np.ndarray):
        with wide():
            value = jax.dlpack.from_dlpack(host) if host.dtype != bool else jax.numpy.array(host)
        self._taken = False
        super().__init__(value)
        self._host: np.ndarray | None = host
        self._shows = True

    @property
    def shared(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return True

    @shared.setter
    def shared(self, value: bool) -> None:
        self._taken = self._taken or value

    def store(self, value: Value, *, shared: bool = False) -> None:
        taken = self._taken
        super().store(value, shared=shared)
        if self._shows:
            self._shows = False
            if taken:
                self._host = None
            else:
                waitall()  # what still reads the memory must be done before it changes
        if self._host is not None:
            np.copyto(self._host, np.asarray(value))


def from_numpy(ndarray: np.ndarray, zero_copy: bool = True) -> NDArray:
    """Makes an array of a NumPy array, of its dtype.

    Args:
      ndarray: any shape.
      zero_copy: whether both are to be one: the NumPy array becomes read-only and follows what is done
        to the new array in place. Its memory is used as it is where it begins at a multiple of 64
        bytes, as XLA wants, else its elements are copied once. A read-only view of other memory is
        always copied.

    Raises:
      ValueError: `zero_copy` of an array whose elements do not stand in C order.
      TypeError: it is no NumPy array.
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"from_numpy needs a NumPy array; got {type(ndarray).__name__}")
    flags = ndarray.flags
    if not zero_copy or not (flags.writeable or flags.owndata):
        return at(None, host_array(ndarray, ndarray.dtype))
    if not flags.c_contiguous:
        raise ValueError(
            "Only c-contiguous arrays are supported for zero-copy; pass zero_copy=False, or "
            "numpy.ascontiguousarray(...)"
        )
    flags.writeable = True  # again, perhaps: of an array that is shared already
    cell = _HostCell(ndarray[...])
    flags.writeable = False
    return NDArray(cell)


class _Capsule:
    """A bare DLPack capsule as an object that has one, which is what is asked for nowadays."""

    def __init__(self, capsule: Any):
        self._capsule = capsule

    def __dlpack__(self, **_) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        try:
            tensor = pointer(self._capsule, b"dltensor")
        except ValueError:
            raise ValueError(
                "Invalid DLPack Tensor. DLTensor capsules can be consumed only once."
            ) from None
        # A DLTensor begins with a pointer to its data, then the type and number of its device.
        at_device = tensor + ctypes.sizeof(ctypes.c_void_p)
        kind, number = (ctypes.c_int32 * 2).from_address(at_device)
        return kind, number


def from_dlpack(dlpack: Any) -> NDArray:
    """Makes an array of what another library exports by DLPack, without a copy where XLA allows it.

    Args:
      dlpack: an object with `__dlpack__`, or a capsule, which can be used once. Its owner must not
        change the elements; changing the new array in place does not change the owner's.

    Raises:
      ValueError: it is neither, or a capsule that was used before.
    """
    if not hasattr(dlpack, "__dlpack__"):
        if type(dlpack).__name__ != "PyCapsule":
            raise ValueError(
                f"from_dlpack needs an object with __dlpack__ or a capsule; got {type(dlpack)}"
            )
        dlpack = _Capsule(dlpack)
        dlpack.__dlpack_device__()
    with wide():
        array = at(None, jax.dlpack.from_dlpack(dlpack))
    array._cell.shared = True
    return array


def to_dlpack_for_read(data: NDArray) -> Any:
    """A DLPack capsule of the elements, not copied, that must not be written to; see the method."""
    return data.to_dlpack_for_read()


def to_dlpack_for_write(data: NDArray) -> Any:
    """A DLPack capsule of the elements that may be written to; see the method."""
    return data.to_dlpack_for_write()
