"""Optimizer states that MXNet has pickled, read without running what a pickle may ask for."""

import io
import pickle
import struct
from typing import Any

from rarefy.nd._file import LIST_MAGIC, load_frombuffer

_COUNTS = ("begin_num_update", "num_update")
_OWN = ("m_schedule",)


class _Object:
    """Stands for an object of MXNet: its attributes, and nothing that they do."""

    kind = ""

    def __init__(self, *args: Any):
        self.attributes: dict[str, Any] = {}

    def __setstate__(self, state: Any) -> None:
        self.attributes = dict(state)


class _Array(_Object):
    """Stands for an array: the bytes that it was saved as."""

    def read(self) -> Any:
        """The array."""
        record = bytes(self.attributes["handle"])
        file = struct.pack("<QQQ", LIST_MAGIC, 0, 1) + record + struct.pack("<Q", 0)
        (array,) = load_frombuffer(file)
        return array


class _Unpickler(pickle.Unpickler):
    """Knows arrays and objects of MXNet by their attributes, and refuses everything else."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("builtins", "bytearray"):
            return bytearray
        if module.startswith("mxnet.ndarray."):
            return _Array
        if module.startswith("mxnet."):
            return type(name, (_Object,), {"kind": name.lower()})
        raise pickle.UnpicklingError(f"{module}.{name} has no place in optimizer states")


def load_pickled_states(data: bytes) -> tuple[dict[Any, Any], dict[str, Any] | None]:
    """Reads what `Updater.get_states` of MXNet wrote.

    Args:
      data: the pickle.

    Returns:
      The states by index, and what `Optimizer.state_dict` would say, or None where the optimizer was
      not saved with them.

    Raises:
      pickle.UnpicklingError: it holds something else than states of arrays.
    """
    found = _Unpickler(io.BytesIO(data)).load()
    states, optimizer = found if isinstance(found, tuple) else (found, None)
    if not isinstance(states, dict):
        raise pickle.UnpicklingError(f"expected states by index; found {type(states).__name__}")
    own = None
    if optimizer is not None:
        saved = optimizer.attributes
        own = {
            "optimizer": optimizer.kind,
            "learning_rate": saved["lr"],
            "update_counts": list(saved["_index_update_count"].items()),
            **{name: saved[name] for name in _COUNTS},
            **{name: saved[name] for name in _OWN if name in saved},
        }
    return {index: _arrays(state) for index, state in states.items()}, own


def _arrays(state: Any) -> Any:
    if isinstance(state, list | tuple):
        return tuple(map(_arrays, state))
    if state is None:
        return None
    if not isinstance(state, _Array):
        raise pickle.UnpicklingError(f"a state holds {type(state).__name__}; expected an array")
    return state.read()
