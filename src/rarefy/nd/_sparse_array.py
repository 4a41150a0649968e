"""The sparse arrays: csr and row_sparse."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from rarefy._ops.defs import OPERATORS
from rarefy._ops.precision import wide
from rarefy._ops.storage import convert, count_stored, is_traced
from rarefy._primitives.from_host import from_host
from rarefy.base import MXNetError, NotSupportedForSparseNDArray
from rarefy.nd import _arithmetic as arithmetic
from rarefy.nd._handle import Handle
from rarefy.nd._invoke import invoke
from rarefy.nd._ndarray import NDArray
from rarefy.sparse import BCSR
from rarefy.sparse._csr import check_csr
from rarefy.sparse._row_sparse import check_row_sparse


class BaseSparseNDArray(NDArray):
    """What csr and row_sparse arrays have in common."""

    __slots__ = ()
    _AUX: ClassVar[tuple[str, ...]] = ()

    def __repr__(self) -> str:
        sizes = "x".join(map(str, self.shape))
        return f"\n<{type(self).__name__} {sizes} @{self.context}>"

    @property
    def size(self) -> int:
        """Not available, as in MXNet: the number of cells or of stored elements could be meant."""
        raise NotImplementedError(
            "size is not defined for sparse arrays; use nnz for what is stored, shape for the cells"
        )

    @property
    def nnz(self) -> int:
        """The number of stored elements (for row_sparse: of stored rows)."""
        return count_stored(self._known())

    @property
    def nbytes(self) -> int:
        """Bytes that the stored elements and their indices take, as far as they are in use."""
        return self.data.nbytes + self.indices.nbytes

    @property
    def data(self) -> NDArray:
        """A copy of the stored values."""
        value = self._known()
        return self._host_copy(np.asarray(value.data)[: count_stored(value)])

    @property
    def indices(self) -> NDArray:
        """A copy of where they are stored, int64."""
        raise NotImplementedError

    @property
    def _num_aux(self) -> int:
        """How many index arrays there are."""
        return len(self._AUX)

    @property
    def _aux_types(self) -> list[type]:
        """The dtypes of the index arrays."""
        return [np.int64] * self._num_aux

    def _aux_type(self, i: int) -> type:
        """The dtype of one index array."""
        return self._aux_types[i]

    def _aux_data(self, i: int) -> NDArray:
        """A copy of one index array: row pointers and columns, or row numbers."""
        return getattr(self, self._AUX[i])

    def _data(self) -> NDArray:
        """A copy of the stored values."""
        return self.data

    def _known(self) -> Any:
        value = self._value
        if is_traced(value):
            raise MXNetError(
                "how many elements a sparse array stores is not known while a function is being "
                "compiled; use operators on the whole array"
            )
        return value

    def _host_copy(self, array: np.ndarray, dtype: Any = None) -> NDArray:
        with wide():
            handle = Handle._wrap(jnp.array(array, dtype=dtype or array.dtype, copy=True))
        return handle if self._ctx is None else handle.as_in_context(self._ctx)

    def asnumpy(self) -> np.ndarray:
        """A dense NumPy array with a copy of the elements; waits for them."""
        return np.array(self._dense_host())

    def _dense_host(self) -> np.ndarray:
        raise NotImplementedError

    def asscalar(self) -> Any:
        """Not available, as in MXNet."""
        raise NotImplementedError(
            "asscalar is not defined for sparse arrays; use tostype('default')"
        )

    def reshape(self, *shape, **kwargs) -> NDArray:
        """Not available, as in MXNet; `nd.reshape` makes the array dense."""
        raise NotSupportedForSparseNDArray(self.reshape, None, *shape)

    def _at(self, idx):
        raise NotSupportedForSparseNDArray(self._at, "[idx]", idx)

    def _slice(self, start, stop):
        raise NotSupportedForSparseNDArray(self._slice, None, start, stop)

    def _view(self, offset, shape):
        raise NotSupportedForSparseNDArray(self._view, "idx", offset, shape)

    def __setitem__(self, key, value) -> None:
        name = type(self).__name__
        if not (isinstance(key, slice) and key == slice(None)):
            kind = ValueError if isinstance(key, slice) else TypeError
            raise kind(f"{name} only supports [:] for assignment")
        self._assign(value)

    def _assign(self, value) -> None:
        mine = self._value
        if isinstance(value, NDArray):
            if value is self:
                return
            have, want = value.stype, self.stype
            if have != want and have != "default":
                raise TypeError(
                    f"copyto does not support destination NDArray stype {want} from {have}"
                )
            if value._is_recorded() and value.shape == self.shape:
                self._record_copy(value)
                return
            given: Any = value._value_for(self)
        elif isinstance(value, arithmetic.NUMBERS):
            given = self._filled(value)
        elif isinstance(value, np.ndarray | list | tuple):
            with wide():
                given = from_host(np.asarray(value).astype(mine.dtype), owned=True)
        else:
            raise TypeError(
                f"cannot assign {value!r} of type {type(value)} to {type(self).__name__}"
            )
        if given.shape != mine.shape:
            raise MXNetError(f"an array of shape {given.shape} cannot be assigned to {mine.shape}")
        with wide():
            if given.dtype != mine.dtype:
                given = given.astype(mine.dtype)
            new = convert(given, self.stype)
        if isinstance(value, NDArray) and new is value._value:
            value._cell.shared = True
            self._store(new, shared=True)
        else:
            self._store(new)

    def _filled(self, value) -> Any:
        raise NotImplementedError

    def check_format(self, full_check: bool = True) -> None:
        """Checks the buffers.

        Args:
          full_check: whether order, repeats and range are checked too, not only shapes and row
            pointers.

        Raises:
          MXNetError: with the first fault and its place.
        """
        check = check_csr if isinstance(self._value, BCSR) else check_row_sparse
        try:
            check(self._known(), full_check)
        except ValueError as error:
            raise MXNetError(f"check_format: {error}") from error

    def __add__(self, other):
        return arithmetic.ADD.sparse(self, other)

    def __iadd__(self, other):
        return arithmetic.ADD.sparse(self, other, self)

    def __sub__(self, other):
        return arithmetic.SUBTRACT.sparse(self, other)

    def __isub__(self, other):
        return arithmetic.SUBTRACT.sparse(self, other, self)

    def __mul__(self, other):
        return arithmetic.MULTIPLY.sparse(self, other)

    def __imul__(self, other):
        return arithmetic.MULTIPLY.sparse(self, other, self)

    def __reduce__(self) -> Any:
        buffers, layout = self._known().tree_flatten()
        return _rebuild, (type(self._value), layout, tuple(map(np.asarray, buffers)))


def _rebuild(kind: Any, layout: Any, buffers: tuple[np.ndarray, ...]) -> Any:
    with wide():
        return Handle._wrap(kind.tree_unflatten(layout, tuple(map(jnp.asarray, buffers))))


class CSRNDArray(BaseSparseNDArray, stype="csr"):
    """A matrix in compressed sparse row form: `data`, `indices` (columns) and `indptr`.

    Made by `nd.sparse.csr_matrix` and by operators.
    """

    __slots__ = ()
    _AUX = ("indptr", "indices")

    @property
    def indices(self) -> NDArray:
        """A copy of the column of each stored element, int64."""
        value = self._known()
        return self._host_copy(np.asarray(value.indices)[: count_stored(value)], np.int64)

    @property
    def indptr(self) -> NDArray:
        """A copy of where each row begins among the stored elements, int64, `(rows + 1,)`."""
        return self._host_copy(np.asarray(self._known().indptr), np.int64)

    def asscipy(self) -> Any:
        """A `scipy.sparse.csr_matrix` with a copy of the elements."""
        from scipy.sparse import csr_matrix

        value = self._known()
        n = count_stored(value)
        data, indices = np.array(value.data)[:n], np.array(value.indices)[:n]
        return csr_matrix((data, indices, np.array(value.indptr)), shape=value.shape)

    def _dense_host(self) -> np.ndarray:
        value = self._known()
        n = count_stored(value)
        dense = np.zeros(value.shape, value.dtype)
        indptr = np.asarray(value.indptr)
        rows = np.repeat(np.arange(value.shape[0]), np.diff(indptr))
        data, columns = np.asarray(value.data)[:n], np.asarray(value.indices)[:n]
        if value.unique_indices:
            dense[rows, columns] = data
        else:
            np.add.at(dense, (rows, columns), data)
        return dense

    def __getitem__(self, key) -> Any:
        rows = self.shape[0]
        if isinstance(key, slice):
            if key == slice(None):
                return self
            if key.step not in (None, 1):
                raise ValueError("CSRNDArray only supports continuous slicing on axis 0")
            begin, end, _ = key.indices(rows)
            return self._rows(begin, max(begin, end))
        if isinstance(key, tuple):
            raise ValueError(
                "Multi-dimension indexing is not supported for csr; use nd.slice for a block, or "
                "asscipy()"
            )
        if isinstance(key, int | np.integer) and not isinstance(key, bool):
            if not -rows <= key < rows:
                raise IndexError(f"index {key} is out of bounds for axis 0 with size {rows}")
            begin = int(key) % rows
            return self._rows(begin, begin + 1)
        if isinstance(key, list | np.ndarray | NDArray):
            return self._picked(key)
        raise ValueError(f"CSRNDArray does not support slicing with {key!r} of type {type(key)}")

    def _picked(self, key) -> "CSRNDArray":
        """The rows whose numbers are given, or where a mask of bool is true."""
        ids = key.asnumpy() if isinstance(key, NDArray) else np.asarray(key)
        rows = self.shape[0]
        if ids.ndim != 1:
            raise IndexError(f"rows of a csr array are picked by a vector; got shape {ids.shape}")
        if ids.dtype == bool:
            if ids.shape[0] != rows:
                raise IndexError(f"a mask of {ids.shape[0]} does not fit {rows} rows")
            ids = np.flatnonzero(ids)
        ids = ids.astype(np.int64)
        outside = np.flatnonzero((ids < -rows) | (ids >= rows))
        if outside.size:
            raise IndexError(
                f"index {ids[outside[0]]} is out of bounds for axis 0 with size {rows}"
            )
        with wide():
            places = Handle._wrap(jnp.asarray(ids % rows if rows else ids))
        return invoke(OPERATORS["take"], (self, places), {"axis": 0, "mode": "clip"})

    def _rows(self, begin: int, end: int) -> "CSRNDArray":
        params = {"begin": (begin,), "end": (end,), "step": ()}
        return invoke(OPERATORS["slice"], (self,), params)

    def _filled(self, value):
        raise ValueError(
            "Assigning numeric types to CSRNDArray is not implemented; use dense arrays"
        )


class RowSparseNDArray(BaseSparseNDArray, stype="row_sparse"):
    """An array of which some rows are stored: `data` and `indices` (row numbers, ascending).

    Made by `nd.sparse.row_sparse_array` and by operators; the storage of gradients of tables.
    """

    __slots__ = ()
    _AUX = ("indices",)

    @property
    def indices(self) -> NDArray:
        """A copy of the numbers of the stored rows, int64."""
        value = self._known()
        return self._host_copy(np.asarray(value.indices)[: count_stored(value), 0], np.int64)

    def retain(self, indices) -> "RowSparseNDArray":
        """The array with the named rows only; see `nd.sparse.retain`."""
        return invoke(OPERATORS["_sparse_retain"], (self, indices), {})

    def _dense_host(self) -> np.ndarray:
        value = self._known()
        n = count_stored(value)
        dense = np.zeros(value.shape, value.dtype)
        rows, data = np.asarray(value.indices)[:n, 0], np.asarray(value.data)[:n]
        if value.unique_indices:
            dense[rows] = data
        else:
            np.add.at(dense, rows, data)
        return dense

    def __getitem__(self, key) -> Any:
        if isinstance(key, slice) and key == slice(None):
            return self
        kind = NotImplementedError if isinstance(key, slice | int | np.integer) else ValueError
        raise kind(
            "RowSparseNDArray only supports [:] for __getitem__; use retain for rows by number, or "
            "tostype('default')"
        )

    def _filled(self, value) -> jax.Array:
        with wide():
            return jnp.full(self.shape, value, self._value.dtype)
