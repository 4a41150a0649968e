"""CSR and CSC: the simple compressed matrices, faces of BCSR."""

from collections.abc import Sequence
from typing import Any, Self

import jax
import numpy as np
from jax import numpy as jnp

from rarefy.sparse._base import JAXSparse
from rarefy.sparse._bcoo import BCOO
from rarefy.sparse._bcsr import BCSR
from rarefy.sparse._coo import check_vector_or_matrix, matrix_shape
from rarefy.sparse._primitive import primitive_of

Shape = tuple[int, ...]


class _Compressed(JAXSparse):
    """What CSR and CSC share: three buffers that are those of a BCSR, `self` or its transpose."""

    data: jax.Array
    indices: jax.Array
    indptr: jax.Array
    shape: Shape
    _is_transposed: bool

    def __init__(self, args: tuple[Any, Any, Any], *, shape: Sequence[int]):
        """Makes a matrix of its buffers and checks them; values only if concrete.

        Args:
          args: `(data, indices, indptr)`: as BCSR takes them, of the matrix or its transpose.
          shape: `(m, n)`.

        Raises:
          TypeError: indices or indptr are not integers.
          ValueError: the buffers do not fit together or the shape.
        """
        self.shape = matrix_shape(type(self).__name__, shape)
        step = -1 if self._is_transposed else 1
        checked = BCSR(args, shape=self.shape[::step])
        if checked.n_batch or checked.n_dense:
            raise ValueError(
                f"{type(self).__name__}: data and indices must be (nse,), got {checked.data.shape} "
                f"and {checked.indices.shape}"
            )
        self.data, self.indices, self.indptr = checked._bufs

    @classmethod
    def _trusted(cls, data: Any, indices: Any, indptr: Any, shape: Shape) -> Self:
        self = object.__new__(cls)
        self.data, self.indices, self.indptr, self.shape = data, indices, indptr, shape
        return self

    @property
    def _bufs(self) -> tuple[Any, Any, Any]:
        return self.data, self.indices, self.indptr

    @property
    def nse(self) -> int:
        return self.data.size

    @property
    def dtype(self) -> np.dtype:
        return self.data.dtype

    def tree_flatten(self) -> tuple[tuple[Any, Any, Any], dict[str, Any]]:
        return self._bufs, {"shape": self.shape}

    def tree_flatten_with_keys(self):
        names = ("data", "indices", "indptr")
        pairs = zip(names, self._bufs, strict=True)
        keyed = tuple((jax.tree_util.GetAttrKey(n), b) for n, b in pairs)
        return keyed, {"shape": self.shape}

    @classmethod
    def tree_unflatten(cls, aux: dict[str, Any], children: Sequence[Any]) -> Self:
        if aux.keys() != {"shape"}:
            raise ValueError(f"{cls.__name__}.tree_unflatten: invalid aux_data={aux!r}")
        data, indices, indptr = children
        return cls._trusted(data, indices, indptr, aux["shape"])

    @classmethod
    def _of(cls, mat: BCSR, shape: Shape) -> Self:
        return cls._trusted(*mat._bufs, shape)

    def _rows(self) -> BCSR:
        """The matrix, or for CSC its transpose, as a BCSR of the same buffers."""
        return BCSR._trusted(*self._bufs, self.shape[:: -1 if self._is_transposed else 1])

    @classmethod
    def fromdense(cls, mat: Any, *, nse: int | None = None, index_dtype: Any = np.int32) -> Self:
        """Stores the non-zero cells of a dense matrix; as `BCSR.fromdense`."""
        mat = mat if isinstance(mat, jax.Array | np.ndarray) else jnp.asarray(mat)
        shape = matrix_shape(cls.__name__, mat.shape)
        rows = mat.T if cls._is_transposed else mat
        return cls._of(BCSR.fromdense(rows, nse=nse, index_dtype=index_dtype), shape)

    @classmethod
    def _empty(cls, shape: Sequence[int], *, dtype: Any = None, index_dtype: Any = "int32") -> Self:
        shape = matrix_shape(cls.__name__, shape)
        step = -1 if cls._is_transposed else 1
        return cls._of(BCSR._empty(shape[::step], dtype=dtype, index_dtype=index_dtype), shape)

    @classmethod
    def _eye(cls, N: int, M: int, k: int, *, dtype: Any = None, index_dtype: Any = "int32") -> Self:
        place = (M, N, -k) if cls._is_transposed else (N, M, k)
        return cls._of(BCSR._eye(*place, dtype=dtype, index_dtype=index_dtype), (N, M))


@jax.tree_util.register_pytree_with_keys_class
class CSR(_Compressed):
    """A sparse matrix that stores rows one after another.

    It has neither batch nor dense dimensions and few methods: BCSR does everything that it does, and
    more.

    Attributes:
      data: `(nse,)`; indices: `(nse,)`: columns; indptr: `(m + 1,)`.
      shape: `(m, n)`.
    """

    _is_transposed = False

    def to_bcsr(self) -> BCSR:
        """Makes a BCSR of the same buffers."""
        return self._rows()

    def to_bcoo(self) -> BCOO:
        """Makes a BCOO of the same entries in the same order."""
        return self._rows().to_bcoo()

    def todense(self) -> jax.Array:
        return self._rows().todense()

    def transpose(self, axes: Sequence[int] | None = None) -> "CSC":
        """The transpose: a CSC of the same buffers.

        Raises:
          NotImplementedError: `axes` is given.
        """
        if axes is not None:
            raise NotImplementedError("axes argument to transpose()")
        return CSC._trusted(*self._bufs, self.shape[::-1])

    def __matmul__(self, other: Any) -> Any:
        return self._rows() @ other

    def __rmatmul__(self, other: Any) -> Any:
        return other @ self._rows()


@jax.tree_util.register_pytree_with_keys_class
class CSC(_Compressed):
    """A sparse matrix that stores columns one after another: the transpose of a CSR.

    Attributes:
      data: `(nse,)`; indices: `(nse,)`: rows; indptr: `(n + 1,)`.
      shape: `(m, n)`.
    """

    _is_transposed = True

    def to_bcoo(self) -> BCOO:
        """Makes a BCOO of the same entries in the same order."""
        return self._rows().to_bcoo().T

    def to_bcsr(self) -> BCSR:
        """Makes a BCSR: sorts the entries by row, in time O(nse + m)."""
        return self._rows().T

    def todense(self) -> jax.Array:
        return self._rows().todense().T

    def transpose(self, axes: Sequence[int] | None = None) -> CSR:
        """The transpose: a CSR of the same buffers.

        Raises:
          NotImplementedError: `axes` is given.
        """
        if axes is not None:
            raise NotImplementedError("axes argument to transpose()")
        return CSR._trusted(*self._bufs, self.shape[::-1])

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, JAXSparse) or np.ndim(other) > 2:
            return self.to_bcoo() @ other
        numbers = (((0,), (0,)), ((), ()))
        return self._rows()._dot_general(jnp.asarray(other), numbers)

    def __rmatmul__(self, other: Any) -> Any:
        return other @ self.to_bcoo()


def csr_fromdense(mat: Any, *, nse: int | None = None, index_dtype: Any = np.int32) -> CSR:
    """See `CSR.fromdense`."""
    return CSR.fromdense(mat, nse=nse, index_dtype=index_dtype)


def csr_todense(mat: CSR) -> jax.Array:
    """See `CSR.todense`."""
    return mat.todense()


def csr_matvec(mat: CSR, v: Any, transpose: bool = False) -> jax.Array:
    """Multiplies a CSR, or its transpose, by a vector."""
    v = check_vector_or_matrix("csr_matvec", v, 1)
    return (mat.T if transpose else mat) @ v


def csr_matmat(mat: CSR, B: Any, *, transpose: bool = False) -> jax.Array:
    """Multiplies a CSR, or its transpose, by a matrix."""
    B = check_vector_or_matrix("csr_matmat", B, 2)
    return (mat.T if transpose else mat) @ B


# The same on buffers, and the primitives of those names.


def _csr_fromdense(mat: Any, *, nse: int, index_dtype: Any = np.int32):
    return CSR.fromdense(mat, nse=nse, index_dtype=index_dtype)._bufs


def _csr_todense(data: Any, indices: Any, indptr: Any, *, shape: Shape) -> jax.Array:
    return CSR._trusted(data, indices, indptr, shape).todense()


def _csr_matvec(data, indices, indptr, v, *, shape: Shape, transpose: bool = False) -> jax.Array:
    return csr_matvec(CSR._trusted(data, indices, indptr, shape), v, transpose)


def _csr_matmat(data, indices, indptr, B, *, shape: Shape, transpose: bool = False) -> jax.Array:
    return csr_matmat(CSR._trusted(data, indices, indptr, shape), B, transpose=transpose)


csr_fromdense_p = primitive_of("csr_fromdense", _csr_fromdense, multiple_results=True)
csr_todense_p = primitive_of("csr_todense", _csr_todense, multiple_results=False)
csr_matvec_p = primitive_of("csr_matvec", _csr_matvec, multiple_results=False)
csr_matmat_p = primitive_of("csr_matmat", _csr_matmat, multiple_results=False)
