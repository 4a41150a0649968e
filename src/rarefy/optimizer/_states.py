"""Optimizer states as bytes: arrays in safetensors form and a JSON description, no pickles."""

import json
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from safetensors.numpy import load, save

from rarefy._ops.precision import wide
from rarefy._ops.storage import stype_of
from rarefy.nd._handle import Handle
from rarefy.optimizer._mxnet_states import load_pickled_states
from rarefy.sparse import BCOO
from rarefy.sparse._row_sparse import row_sparse, row_sparse_rows

FORMAT = "rarefy optimizer states 1"
PICKLE = b"\x80"  # what every pickle begins with


def dump_states(states: Mapping[Any, Any], optimizer: Mapping[str, Any] | None) -> bytes:
    """Writes states by index.

    Args:
      states: for each index (a string or an integer) None, an array or a (nested) tuple of arrays.
      optimizer: what `Optimizer.state_dict` returned, or None.

    Raises:
      TypeError: a state holds something else.
    """
    arrays: dict[str, np.ndarray] = {}
    entries = [[index, _describe(state, arrays)] for index, state in states.items()]
    header = {"format": FORMAT, "states": entries, "optimizer": optimizer}
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    return save(arrays)


def load_states(data: bytes) -> tuple[dict[Any, Any], dict[str, Any] | None]:
    """Reads what `dump_states` wrote, or MXNet: the states, and the optimizer's own state or None.

    Raises:
      ValueError: the bytes are something else.
    """
    if data[:1] == PICKLE and _is_no_safetensors(data):
        try:
            return load_pickled_states(data)
        except Exception as error:
            raise ValueError(f"this pickle holds no optimizer states: {error}") from error
    try:
        arrays = load(data)
        header = json.loads(arrays["header"].tobytes())
        known = header["format"] == FORMAT
    except Exception as error:
        raise ValueError(f"these bytes are no optimizer states: {error}") from error
    if not known:
        raise ValueError(f"optimizer states of format {header['format']!r}; expected {FORMAT!r}")
    states = {index: _restore(entry, arrays) for index, entry in header["states"]}
    return states, header["optimizer"]


def _is_no_safetensors(data: bytes) -> bool:
    try:
        load(data)
    except Exception:
        return True
    return False


def _describe(state: Any, arrays: dict[str, np.ndarray]) -> Any:
    """Adds the buffers of a state to `arrays`; returns its structure as JSON data."""
    if state is None:
        return None
    if isinstance(state, list | tuple):
        return {"tuple": [_describe(part, arrays) for part in state]}
    if not isinstance(state, Handle):
        raise TypeError(
            f"an optimizer state is None, an array or a tuple; got {type(state).__name__}"
        )
    value = state._value
    entry: dict[str, Any] = {"stype": stype_of(value), "shape": list(value.shape)}
    if isinstance(value, BCOO):
        rows = np.asarray(row_sparse_rows(value))
        real = rows < value.shape[0]
        entry["rows"] = _add(rows[real], arrays)
        entry["data"] = _add(np.asarray(value.data)[real], arrays)
    else:
        entry["data"] = _add(np.asarray(value), arrays)
    entry["dtype"] = np.dtype(value.dtype).name
    return entry


def _add(array: np.ndarray, arrays: dict[str, np.ndarray]) -> str:
    name = str(len(arrays))
    # safetensors does not read bfloat16 into NumPy.
    plain = array.view(np.uint16) if array.dtype == jnp.bfloat16 else array
    arrays[name] = np.ascontiguousarray(plain)
    return name


def _restore(entry: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    if entry is None:
        return None
    if "tuple" in entry:
        return tuple(_restore(part, arrays) for part in entry["tuple"])
    shape = tuple(entry["shape"])
    data = arrays[entry["data"]]
    if entry["dtype"] == "bfloat16":
        data = data.view(jnp.bfloat16)
    with wide():
        # Copies, as safetensors' arrays may share the memory of `data`.
        own: jax.Array = jnp.array(data)
        if entry["stype"] == "row_sparse":
            return Handle._wrap(row_sparse(own, jnp.array(arrays[entry["rows"]]), shape))
        return Handle._wrap(own.reshape(shape))
