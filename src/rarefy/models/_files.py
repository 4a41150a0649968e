"""Files that are whole or absent: written aside, then put in place; checked when read."""

import json
import math
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open

from rarefy.io import replacing

JSON_LIMIT = 64 << 20
"""Longest JSON text that is read, in bytes: a header with two million classes has 20 MB."""

_DTYPES = {
    "float64": "F64",
    "float32": "F32",
    "int64": "I64",
    "int32": "I32",
    "uint32": "U32",
    "bool": "BOOL",
}


class ModelFileError(ValueError):
    """A file of a run is damaged, incomplete, of another kind, or written by a newer release."""

    def __init__(self, path: Path, problem: str):
        super().__init__(f"{path}: {problem}")
        self.path = path


def sweep(folder: Path, *names: str) -> None:
    """Removes what a killed process had begun to write in place of these files."""
    for name in names:
        for unfinished in folder.glob(f".{name}.*"):
            unfinished.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Writes a text file in one stroke."""
    with replacing(path) as file:
        file.write(text.encode())


def write_json(path: Path, value: Any) -> None:
    """Writes JSON in one stroke, indented for people. NaN and infinities are refused."""
    write_text(path, json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False) + "\n")


def read_json(path: Path) -> dict[str, Any]:
    """Reads a JSON object.

    Raises:
      ModelFileError: no such file, too long, not UTF-8, not JSON (NaN and infinities are none), or
        not an object.
    """
    try:
        if path.stat().st_size > JSON_LIMIT:
            raise ModelFileError(path, f"is longer than {JSON_LIMIT} bytes, so it is no header")
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ModelFileError(path, "there is no such file; is this the folder of a run?") from None
    except UnicodeDecodeError:
        raise ModelFileError(path, "is not UTF-8 text") from None
    return parse_json(path, text)


def parse_json(path: Path, text: str) -> dict[str, Any]:
    """Parses the JSON object `text`, found in `path`; raises ModelFileError."""
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(path, f"is not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise ModelFileError(path, f"must hold a JSON object; found {type(value).__name__}")
    return value


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON number")


def write_tensors(path: Path, tensors: Mapping[str, np.ndarray], about: dict[str, Any]) -> None:
    """Writes named arrays as one safetensors file, in one stroke.

    The file's metadata has `about` as JSON and the CRC-32 of each array, so that a damaged file is
    noticed: safetensors checks its own header only.

    Args:
      path: where to.
      tensors: arrays of bool, int32, int64, uint32, float32 or float64, of any shape.
      about: JSON-able; comes back from `read_tensors`.
    """
    # Arrays with wide elements come first, so that all lie aligned in the file.
    arrays = [(name, np.ascontiguousarray(array)) for name, array in tensors.items()]
    arrays.sort(key=lambda item: -item[1].itemsize)
    header: dict[str, Any] = {
        "__metadata__": {
            "about": json.dumps(about, allow_nan=False),
            "crc32": json.dumps({name: _checksum(array) for name, array in arrays}),
        }
    }
    end = 0
    for name, array in arrays:
        start, end = end, end + array.nbytes
        header[name] = {
            "dtype": _DTYPES[array.dtype.name],
            "shape": array.shape,
            "data_offsets": [start, end],
        }
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    # Written here, as safetensors' own functions take a copy of everything or a name, not a file.
    with replacing(path) as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for _, array in arrays:
            file.write(_bytes(array))


def read_tensors(path: Path, kind: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Reads what `write_tensors` wrote.

    Args:
      path: the file.
      kind: what `about["format"]` must be.

    Returns:
      The arrays, and `about`.

    Raises:
      ModelFileError: no such file, no safetensors, of another kind, or its bytes have changed.
    """
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            if "about" not in metadata or "crc32" not in metadata:
                raise ModelFileError(path, "is a safetensors file, but not one of rarefy's")
            about = parse_json(path, metadata["about"])
            if about.get("format") != kind:
                raise ModelFileError(path, f"is a {about.get('format')!r}, not a {kind!r}")
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise ModelFileError(path, "there is no such file; is this the folder of a run?") from None
    except SafetensorError as error:
        raise ModelFileError(path, f"is damaged or no safetensors file: {error}") from None
    except TypeError as error:  # an element type that NumPy lacks
        raise ModelFileError(path, f"has an array that cannot be read: {error}") from None
    sums = parse_json(path, metadata["crc32"])
    for name, array in tensors.items():
        if _checksum(array) != sums.get(name):
            raise ModelFileError(path, f"is damaged: array {name!r} does not match its checksum")
    if missing := sorted(set(sums) - set(tensors)):
        raise ModelFileError(path, f"is damaged: array {missing[0]!r} is missing")
    return tensors, about


def _bytes(array: np.ndarray) -> memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _checksum(array: np.ndarray) -> int:
    return zlib.crc32(_bytes(array))


def take_array(
    path: Path,
    tensors: Mapping[str, np.ndarray],
    name: str,
    shape: tuple[int, ...],
    dtype: Any,
) -> np.ndarray:
    """An array out of a file that must have this shape and dtype and, if floating, be finite."""
    array = tensors.get(name)
    if array is None:
        raise ModelFileError(path, f"array {name!r} is missing")
    if array.shape != shape or array.dtype != np.dtype(dtype):
        raise ModelFileError(
            path,
            f"array {name!r} is {array.dtype}{list(array.shape)}; "
            f"expected {np.dtype(dtype)}{list(shape)}",
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ModelFileError(path, f"array {name!r} has values that are not finite")
    return array


def take(
    path: Path,
    where: Mapping[str, Any],
    name: str,
    kind: type | tuple[type, ...],
    test: Callable[[Any], bool],
    say: str,
) -> Any:
    """A field out of a JSON object that must be of a type and pass a test.

    Args:
      path: the file, for the message.
      where: the object.
      name: the field.
      kind: type or types; bool is no int, and an int is a float.
      test: takes the value and says whether it is acceptable.
      say: what is acceptable, for the message.
    """
    if name not in where:
        raise ModelFileError(path, f"field {name!r} is missing")
    value = where[name]
    is_bool = isinstance(value, bool)
    kinds = kind if isinstance(kind, tuple) else (kind,)
    fits = isinstance(value, kinds) and (not is_bool or bool in kinds)
    if isinstance(value, float) and not math.isfinite(value):
        fits = False  # an overlong exponent in JSON
    if not fits or not test(value):
        raise ModelFileError(path, f"field {name!r} must be {say}; found {_short(value)}")
    return value


def _short(value: Any) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= 60 else text[:57] + "..."
