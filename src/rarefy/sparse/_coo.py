"""COO: the simple coordinate matrix, a face of BCOO."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp

from rarefy.sparse._base import JAXSparse
from rarefy.sparse._bcoo import BCOO
from rarefy.sparse._check import as_data, as_indices, as_shape
from rarefy.sparse._index import as_kernel_index
from rarefy.sparse._info import COOInfo
from rarefy.sparse._primitive import primitive_of

Shape = tuple[int, ...]


@jax.tree_util.register_pytree_with_keys_class
class COO(JAXSparse):
    """A sparse matrix that stores the row and the column of every entry.

    It has neither batch nor dense dimensions and few methods: BCOO does everything that it does, and
    more. Repeated entries add up; an entry out of range is padding.

    Attributes:
      data: `(nse,)`; row, col: `(nse,)`, integer.
      shape: `(m, n)`.
    """

    data: jax.Array
    row: jax.Array
    col: jax.Array
    shape: Shape
    _rows_sorted: bool
    _cols_sorted: bool

    def __init__(
        self,
        args: tuple[Any, Any, Any],
        *,
        shape: Sequence[int],
        rows_sorted: bool = False,
        cols_sorted: bool = False,
    ):
        """Makes a COO of its buffers and checks them; values of row and col only if concrete.

        Args:
          args: `(data, row, col)`.
          shape: `(m, n)`.
          rows_sorted, cols_sorted: promises.

        Raises:
          TypeError: row or col are not integers.
          ValueError: the shapes do not agree, or an index is out of range.
        """
        data, row, col = args
        self.shape = matrix_shape("COO", shape)
        self.data = as_data("COO", data)
        self.row = as_indices("COO", "row", row, self.shape[:1])
        self.col = as_indices("COO", "col", col, self.shape[1:])
        if self.data.ndim != 1 or not self.data.shape == self.row.shape == self.col.shape:
            raise ValueError(
                f"COO: data, row and col must be (nse,), got {self.data.shape}, {self.row.shape} "
                f"and {self.col.shape}"
            )
        self._rows_sorted, self._cols_sorted = bool(rows_sorted), bool(cols_sorted)

    @classmethod
    def _trusted(
        cls, data: Any, row: Any, col: Any, shape: Shape, rows_sorted=False, cols_sorted=False
    ) -> "COO":
        self = object.__new__(cls)
        self.data, self.row, self.col, self.shape = data, row, col, shape
        self._rows_sorted, self._cols_sorted = rows_sorted, cols_sorted
        return self

    @property
    def _info(self) -> COOInfo:
        return COOInfo(self.shape, self._rows_sorted, self._cols_sorted)

    @property
    def _bufs(self) -> tuple[Any, Any, Any]:
        return self.data, self.row, self.col

    @property
    def nse(self) -> int:
        return self.data.size

    @property
    def dtype(self) -> np.dtype:
        return self.data.dtype

    def tree_flatten(self) -> tuple[tuple[Any, Any, Any], dict[str, Any]]:
        return self._bufs, self._info._asdict()

    def tree_flatten_with_keys(self):
        names, aux = ("data", "row", "col"), self._info._asdict()
        pairs = zip(names, self._bufs, strict=True)
        return tuple((jax.tree_util.GetAttrKey(n), b) for n, b in pairs), aux

    @classmethod
    def tree_unflatten(cls, aux: dict[str, Any], children: Sequence[Any]) -> "COO":
        if aux.keys() != {"shape", "rows_sorted", "cols_sorted"}:
            raise ValueError(f"COO.tree_unflatten: invalid aux_data={aux!r}")
        return cls._trusted(*children, **aux)

    @classmethod
    def _of(cls, mat: BCOO) -> "COO":
        row, col = mat.indices[:, 0], mat.indices[:, 1]
        return cls._trusted(mat.data, row, col, mat.shape, mat.indices_sorted)

    def to_bcoo(self) -> BCOO:
        """Makes a BCOO of the same entries in the same order."""
        row, col = as_kernel_index(self.row, self.col)
        out = BCOO._trusted(self.data, jnp.stack([row, col], axis=-1), self.shape)
        # Sorted rows say nothing of the columns within, so the flag stays down.
        out._order = (0,) if self._rows_sorted else (1,) if self._cols_sorted else None
        return out

    @classmethod
    def fromdense(cls, mat: Any, *, nse: int | None = None, index_dtype: Any = np.int32) -> "COO":
        """Stores the non-zero cells of a dense matrix, sorted by rows; as `BCOO.fromdense`."""
        mat = mat if isinstance(mat, jax.Array | np.ndarray) else jnp.asarray(mat)
        matrix_shape("COO", mat.shape)
        return cls._of(BCOO.fromdense(mat, nse=nse, index_dtype=index_dtype))

    @classmethod
    def _empty(cls, shape: Sequence[int], *, dtype: Any = None, index_dtype: Any = "int32"):
        shape = matrix_shape("COO", shape)
        none = jnp.zeros(0, index_dtype)
        return cls._trusted(jnp.zeros(0, dtype), none, none, shape, True, True)

    @classmethod
    def _eye(cls, N: int, M: int, k: int, *, dtype: Any = None, index_dtype: Any = "int32"):
        out = cls._of(BCOO._eye(N, M, k, dtype=dtype, index_dtype=index_dtype))
        out._cols_sorted = True
        return out

    def todense(self) -> jax.Array:
        return self.to_bcoo().todense()

    def _sort_indices(self) -> "COO":
        """Sorts the entries by row and column; as it is where the rows are sorted."""
        return self if self._rows_sorted else COO._of(self.to_bcoo().sort_indices())

    def transpose(self, axes: Sequence[int] | None = None) -> "COO":
        """Swaps rows and columns.

        Raises:
          NotImplementedError: `axes` is given.
        """
        if axes is not None:
            raise NotImplementedError("axes argument to transpose()")
        flags = self._cols_sorted, self._rows_sorted
        return COO._trusted(self.data, self.col, self.row, self.shape[::-1], *flags)

    def __matmul__(self, other: Any) -> Any:
        return self.to_bcoo() @ other

    def __rmatmul__(self, other: Any) -> Any:
        return other @ self.to_bcoo()


def matrix_shape(name: str, shape: Any) -> Shape:
    """Checks the shape of a matrix.

    Raises:
      ValueError: it has not two dimensions.
    """
    shape = as_shape(name, shape)
    if len(shape) != 2:
        raise ValueError(f"{name} must have ndim=2; got shape={shape!r}")
    return shape


def check_vector_or_matrix(name: str, value: Any, ndim: int) -> jax.Array:
    """An array of `ndim` dimensions.

    Raises:
      ValueError: it has another number of them.
    """
    value = jnp.asarray(value)
    if value.ndim != ndim:
        raise ValueError(f"{name}: expected an array of {ndim} dimensions, got {value.shape}")
    return value


def coo_fromdense(mat: Any, *, nse: int | None = None, index_dtype: Any = np.int32) -> COO:
    """See `COO.fromdense`."""
    return COO.fromdense(mat, nse=nse, index_dtype=index_dtype)


def coo_todense(mat: COO) -> jax.Array:
    """See `COO.todense`."""
    return mat.todense()


def coo_matvec(mat: COO, v: Any, transpose: bool = False) -> jax.Array:
    """Multiplies a COO, or its transpose, by a vector."""
    v = check_vector_or_matrix("coo_matvec", v, 1)
    return (mat.T if transpose else mat) @ v


def coo_matmat(mat: COO, B: Any, *, transpose: bool = False) -> jax.Array:
    """Multiplies a COO, or its transpose, by a matrix."""
    B = check_vector_or_matrix("coo_matmat", B, 2)
    return (mat.T if transpose else mat) @ B


# The same on buffers, and the primitives of those names.


def _coo_fromdense(mat: Any, *, nse: int, index_dtype: Any = np.int32):
    return COO.fromdense(mat, nse=nse, index_dtype=index_dtype)._bufs


def _coo_todense(data: Any, row: Any, col: Any, *, spinfo: COOInfo) -> jax.Array:
    return COO._trusted(data, row, col, **spinfo._asdict()).todense()


def _coo_matvec(data, row, col, v, *, spinfo: COOInfo, transpose: bool = False) -> jax.Array:
    return coo_matvec(COO._trusted(data, row, col, **spinfo._asdict()), v, transpose)


def _coo_matmat(data, row, col, B, *, spinfo: COOInfo, transpose: bool = False) -> jax.Array:
    return coo_matmat(COO._trusted(data, row, col, **spinfo._asdict()), B, transpose=transpose)


coo_fromdense_p = primitive_of("coo_fromdense", _coo_fromdense, multiple_results=True)
coo_todense_p = primitive_of("coo_todense", _coo_todense, multiple_results=False)
coo_matvec_p = primitive_of("coo_matvec", _coo_matvec, multiple_results=False)
coo_matmat_p = primitive_of("coo_matmat", _coo_matmat, multiple_results=False)
