"""Arrays in files, in MXNet's own binary format: what it writes is read, what is written it reads.

All numbers are little-endian. A file is a list of records, then as many names or none:

    head      uint64 0x112, uint64 0, uint64 number of records
    record    uint32 magic
              int32 storage type, and of a sparse array the shape of its values
              shape
              int32 device type, int32 device number
              int32 dtype, and for each index array of a sparse one int32 dtype and shape
              values, index arrays
    shape     int32 number of dimensions, int64 each
    names     uint64 number; each uint64 length and UTF-8

The magic says how old a record is: V3 has shapes in which no dimension means a scalar, V2 is the
ordinary one, V1 has no storage type, and the oldest has no magic: it begins with a shape of uint32.
"""

import math
import os
import struct
import warnings
from collections.abc import Mapping
from io import BytesIO
from typing import Any, BinaryIO, NoReturn

import jax.numpy as jnp
import numpy as np

from rarefy._atomic import replacing
from rarefy._ops.precision import wide
from rarefy._ops.storage import count_stored, is_traced
from rarefy.base import MXNetError
from rarefy.context import Context, num_gpus
from rarefy.nd._codes import DTYPE_CODES, DTYPES, STYPE_CODES, STYPE_NAMES
from rarefy.nd._create import at
from rarefy.nd._create_sparse import csr_of_stored, row_sparse_of_stored
from rarefy.nd._ndarray import NDArray
from rarefy.sparse import BCSR
from rarefy.util import is_np_shape

LIST_MAGIC = 0x112
V1, V2, V3 = 0xF993FAC8, 0xF993FAC9, 0xF993FACA
MOST_DIMENSIONS = 32
_CPU, _GPU = 1, 2


def save(fname: str | os.PathLike, data: NDArray | list[NDArray] | dict[str, NDArray]) -> None:
    """Writes arrays to a file that `load`, and MXNet, can read.

    The file is there as a whole or not at all: a crash leaves what was there before.

    Args:
      fname: the file's name.
      data: an array, a list of arrays or a dict of arrays by name; dense and sparse ones may stand
        side by side. Of a sparse array what is stored is written.

    Raises:
      ValueError: `data` is none of these.
      TypeError: `fname` is no name, or the list or dict holds something else than arrays.
      MXNetError: the file cannot be written, or an array's dtype has no place in the format.
    """
    path = _path(fname)
    arrays, names = _arrays_and_names(data)
    try:
        with replacing(path) as file:
            file.write(struct.pack("<QQQ", LIST_MAGIC, 0, len(arrays)))
            for array in arrays:
                _write_record(file, array)
            file.write(struct.pack("<Q", len(names)))
            for name in names:
                file.write(struct.pack("<Q", len(name)) + name)
    except OSError as error:
        raise MXNetError(f"{path}: cannot be written: {error.strerror or error}") from error


def load(fname: str | os.PathLike) -> list[NDArray] | dict[str, NDArray]:
    """Reads the arrays of a file that `save`, or MXNet, has written.

    Args:
      fname: the file's name.

    Returns:
      The arrays by name if they have names, else a list. They live on the host, or on a GPU if that
      is where they were and there is one.

    Raises:
      TypeError: `fname` is no name.
      MXNetError: there is no such file, or it is damaged; with the place in bytes. No more memory is
        taken than the file has bytes, whatever sizes it claims.
    """
    path = _path(fname)
    try:
        with open(path, "rb") as file:
            if file.seekable():
                size = file.seek(0, os.SEEK_END)
                file.seek(0)
                return _read_list(_Reader(file, size, path))
            return load_frombuffer(file.read())
    except OSError as error:
        raise MXNetError(f"{path}: cannot be read: {error.strerror or error}") from error


def load_frombuffer(buf: bytes | str) -> list[NDArray] | dict[str, NDArray]:
    """Reads arrays as `load` does, from the bytes of such a file.

    Args:
      buf: the bytes.

    Raises:
      TypeError: `buf` is something else.
      MXNetError: they are damaged; with the place in bytes.
    """
    if isinstance(buf, str):
        buf = buf.encode()
    if not isinstance(buf, bytes):
        raise TypeError(f"buf required to be a string or bytes; got {type(buf).__name__}")
    return _read_list(_Reader(BytesIO(buf), len(buf), "buffer"))


def _path(fname: Any) -> str:
    if not isinstance(fname, str | os.PathLike):
        raise TypeError(f"fname required to be a string; got {type(fname).__name__}")
    return os.fsdecode(fname)


def _arrays_and_names(data: Any) -> tuple[list[NDArray], list[bytes]]:
    if isinstance(data, NDArray):
        return [data], []
    if isinstance(data, Mapping):
        arrays, names = list(data.values()), list(data)
    elif isinstance(data, list):
        arrays, names = data, []
    else:
        raise ValueError(
            "data needs to either be a NDArray, dict of str, NDArray pairs or a list of NDarrays; "
            f"got {type(data).__name__}"
        )
    wrong = [v for v in arrays if not isinstance(v, NDArray)]
    wrong += [n for n in names if not isinstance(n, str)]
    if wrong:
        raise TypeError(
            "save only accept dict str->NDArray or list of NDArray; it holds a "
            f"{type(wrong[0]).__name__}"
        )
    return arrays, [name.encode() for name in names]


def _write_record(file: BinaryIO, array: NDArray) -> None:
    value: Any = array._value
    if is_traced(value):
        raise MXNetError("save: the elements are not known while a function is being compiled")
    values, indices = np.asarray(getattr(value, "data", value)), []
    if array.stype != "default":
        stored = count_stored(value)
        places = np.asarray(value.indices)[:stored]
        values = values[:stored]
        csr = isinstance(value, BCSR)
        indices = [np.asarray(value.indptr), places] if csr else [places[:, 0]]
        indices = [i.astype(np.int64) for i in indices]
    dtype = np.dtype(value.dtype)
    if dtype not in DTYPE_CODES:
        raise MXNetError(f"save: MXNet's files hold no {dtype}; convert with astype")
    # In the ordinary form no dimension means no array; sparse arrays have only that form.
    scalar = not array.ndim or (is_np_shape() and not indices)
    file.write(struct.pack("<Ii", V3 if scalar else V2, STYPE_CODES[array.stype]))
    if indices:
        file.write(_shape_bytes(values.shape))
    device = array.context
    file.write(_shape_bytes(array.shape))
    file.write(struct.pack("<iii", device.device_typeid, device.device_id, DTYPE_CODES[dtype]))
    for index in indices:
        file.write(struct.pack("<i", DTYPE_CODES[index.dtype]) + _shape_bytes(index.shape))
    for part in (values, *indices):
        file.write(_little(np.ascontiguousarray(part)).reshape(-1).view(np.uint8).data)


def _shape_bytes(shape: tuple[int, ...]) -> bytes:
    return struct.pack(f"<i{len(shape)}q", len(shape), *shape)


def _little(array: np.ndarray) -> np.ndarray:
    """The array with the byte order of the file; itself on ordinary machines."""
    order = array.dtype.newbyteorder("<") if array.dtype.kind in "iuf" else array.dtype
    return array.astype(order, copy=False)


class _Reader:
    """Takes parts off a file of known size, and says where in it something is wrong."""

    def __init__(self, file: BinaryIO, size: int, name: str):
        self._file = file
        self._name = name
        self.offset = 0
        self.left = size
        self.part = "the head"

    def fail(self, problem: str, offset: int | None = None) -> NoReturn:
        place = self.offset if offset is None else offset
        raise MXNetError(f"{self._name}: byte {place}: {self.part}: {problem}")

    def numbers(self, form: str, what: str) -> Any:
        """One or more numbers; a single one by itself."""
        form = f"<{form}"
        found = struct.unpack(form, self.take(struct.calcsize(form), what))
        return found[0] if len(found) == 1 else found

    def take(self, count: int, what: str) -> bytes:
        self._require(count, what)
        found = self._file.read(count)
        self._moved(count, len(found), what)
        return found

    def array(self, dtype: np.dtype, shape: tuple[int, ...], what: str) -> np.ndarray:
        """An array of its own; nothing is allocated before the file is known to hold as much."""
        count = math.prod(shape)
        self._require(count * dtype.itemsize, f"{what} of shape {shape} and dtype {dtype}")
        found = np.empty(count, dtype)
        raw = found.view(np.uint8)
        read = self._file.readinto(raw.data) if count else 0  # pyright: ignore[reportAttributeAccessIssue]
        self._moved(raw.size, read, what)
        if dtype.kind == "b":
            found = raw != 0
        return _little(found).astype(dtype, copy=False).reshape(shape)

    def _require(self, count: int, what: str) -> None:
        if count > self.left:
            self.fail(f"{what} takes {count} bytes, {self.left} are left; the file is truncated")

    def _moved(self, want: int, got: int, what: str) -> None:
        if got != want:
            self.fail(f"{what} takes {want} bytes, {got} could be read")
        self.offset += want
        self.left -= want

    def shape(self, form: str = "iq") -> tuple[int, ...]:
        """A shape: its number of dimensions and its sizes, of the types in `form`."""
        begin = self.offset
        count = self.numbers(form[0], "a shape")
        if not 0 <= count <= MOST_DIMENSIONS:
            self.fail(f"a shape of {count} dimensions; expected 0 to {MOST_DIMENSIONS}", begin)
        sizes = struct.unpack(
            f"<{count}{form[1]}", self.take(count * struct.calcsize(f"<{form[1]}"), "a shape")
        )
        if min(sizes, default=0) < 0:
            self.fail(f"shape {sizes} has a negative size", begin)
        return sizes

    def dtype(self, what: str) -> np.dtype:
        begin = self.offset
        code = self.numbers("i", f"the dtype of {what}")
        if code not in DTYPES:
            self.fail(f"dtype {code} of {what} is unknown; expected 0 to {max(DTYPES)}", begin)
        return DTYPES[code]


def _read_list(reader: _Reader) -> list[NDArray] | dict[str, NDArray]:
    magic, _ = reader.numbers("QQ", "the head")
    if magic != LIST_MAGIC:
        reader.fail(f"this is no file of arrays: it begins with {magic:#x}, not {LIST_MAGIC:#x}", 0)
    count = reader.numbers("Q", "the number of arrays")
    if count * 8 > reader.left:  # the shortest record, an old one of no array, is longer
        reader.fail(f"{count} arrays cannot stand in the {reader.left} bytes left", 16)
    arrays = []
    for i in range(count):
        reader.part = f"array {i}"
        arrays.append(_read_record(reader))
    names = _read_names(reader, count)
    if reader.left:
        warnings.warn(
            f"{reader._name}: {reader.left} bytes after the last array are ignored", stacklevel=3
        )
    return dict(zip(names, arrays, strict=True)) if names else arrays


def _read_names(reader: _Reader, count: int) -> list[str]:
    reader.part = "the names"
    begin = reader.offset
    n = reader.numbers("Q", "the number of names")
    if n not in (0, count):
        reader.fail(f"{n} names for {count} arrays", begin)
    names = []
    for i in range(n):
        reader.part = f"name {i}"
        length = reader.numbers("Q", "its length")
        begin = reader.offset
        try:
            names.append(reader.take(length, "the name").decode())
        except UnicodeDecodeError as error:
            reader.fail(f"not UTF-8: {error.reason}", begin + error.start)
    return names


def _read_record(reader: _Reader) -> NDArray:
    begin = reader.offset
    magic = reader.numbers("I", "the record")
    stype = 0
    if magic in (V2, V3):
        stype = reader.numbers("i", "the storage type")
        if stype not in STYPE_NAMES:
            reader.fail(f"storage type {stype} is unknown; expected 0, 1 or 2", begin + 4)
        stored = reader.shape() if stype else ()
        shape = reader.shape()
    elif magic == V1:
        stored, shape = (), reader.shape()
    else:
        if magic > MOST_DIMENSIONS:
            reader.fail(f"no array begins with {magic:#x}; expected {V2:#x}", begin)
        stored = ()
        shape = struct.unpack(f"<{magic}I", reader.take(4 * magic, "a shape"))
    if not shape and magic != V3:
        reader.fail("it was saved without ever having got a value", begin)
    kind, number = reader.numbers("ii", "the device")
    dtype = reader.dtype("the values")
    gpu = kind == _GPU and 0 <= number < num_gpus()
    context = Context("gpu", number) if gpu else Context("cpu", 0)
    if stype == 0:
        values = reader.array(dtype, shape, "the values")
        with wide():
            return at(context, jnp.asarray(values))
    read = _read_csr if STYPE_NAMES[stype] == "csr" else _read_row_sparse
    try:
        array = read(reader, stored, shape, dtype)
    except ValueError as error:
        reader.fail(str(error), begin)
    return array if context == Context("cpu", 0) else array.as_in_context(context)


def _index_head(reader: _Reader, what: str) -> tuple[np.dtype, int]:
    """The dtype and the length of an index array."""
    begin = reader.offset
    dtype = reader.dtype(what)
    shape = reader.shape()
    if dtype.kind not in "iu" or len(shape) != 1:
        reader.fail(
            f"{what} have dtype {dtype} and shape {shape}; expected integers in a row", begin
        )
    return dtype, shape[0]


def _read_csr(reader: _Reader, stored, shape, dtype: np.dtype) -> NDArray:
    begin = reader.offset
    pointer_dtype, n_pointers = _index_head(reader, "row pointers")
    column_dtype, n = _index_head(reader, "columns")
    # MXNet writes (0,) for a matrix that is still being computed; the number of columns is right.
    if len(shape) != 2 or stored not in ((n,), (0,)):
        reader.fail(f"a csr matrix of shape {shape} with values {stored} and {n} columns", begin)
    values = reader.array(dtype, (n,), "the values")
    starts_at = reader.offset
    starts = reader.array(pointer_dtype, (n_pointers,), "the row pointers").astype(np.int64)
    columns_at = reader.offset
    columns = reader.array(column_dtype, (n,), "the columns").astype(np.int64)
    # MXNet's csr +- csr leaves room behind what the row pointers cover.
    covered = int(starts[-1]) if n_pointers and 0 <= starts[-1] <= n else n
    wrong = np.flatnonzero((columns[:covered] < 0) | (columns[:covered] >= shape[1]))
    if wrong.size:
        k = int(wrong[0])
        place = columns_at + k * column_dtype.itemsize
        reader.fail(f"column {columns[k]} lies outside the {shape[1]} columns", place)
    try:
        return csr_of_stored(values[:covered], columns[:covered], starts, shape)
    except ValueError as error:
        reader.fail(str(error), starts_at)


def _read_row_sparse(reader: _Reader, stored, shape, dtype: np.dtype) -> NDArray:
    begin = reader.offset
    row_dtype, n = _index_head(reader, "row numbers")
    if not shape or stored not in ((n, *shape[1:]), (0, *shape[1:])):
        reader.fail(f"a row_sparse array of shape {shape} with values {stored} and {n} rows", begin)
    values = reader.array(dtype, (n, *shape[1:]), "the values")
    rows_at = reader.offset
    rows = reader.array(row_dtype, (n,), "the row numbers").astype(np.int64)
    wrong = np.flatnonzero((rows < 0) | (rows >= shape[0]))
    if wrong.size:
        k = int(wrong[0])
        place = rows_at + k * row_dtype.itemsize
        reader.fail(f"row {rows[k]} lies outside the {shape[0]} rows", place)
    return row_sparse_of_stored(values, rows, shape)
