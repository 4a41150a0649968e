"""BCSR: batched compressed sparse row layout."""

import operator
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp

from rarefy.sparse import _dot, _fill, _layout, _operators, _rows, _slicing, _torch, _window
from rarefy.sparse._base import JAXSparse
from rarefy.sparse._bcoo import BCOO
from rarefy.sparse._check import as_data, as_indices, as_shape, check_bcsr, is_concrete
from rarefy.sparse._getitem import ids_of
from rarefy.sparse._index import index_dtype_for, widens
from rarefy.sparse._info import SparseInfo
from rarefy.sparse._ladder import FEW_SLOTS, capacity
from rarefy.sparse._vmap import register

Shape = tuple[int, ...]


@jax.tree_util.register_pytree_with_keys_class
class BCSR(JAXSparse):
    """A sparse array that stores rows one after another, with the conventions of JAX.

    The dimensions are `n_batch` batch dimensions, two sparse ones (rows, columns) and `n_dense`
    dense ones, in this order. Row `i` has the entries from `indptr[i]` to `indptr[i + 1]`.

    Slots from `indptr[-1]` on, and entries whose column is the number of columns, are padding and
    count for nothing. Order within a row is free and repeated columns add up, unless the flags
    promise otherwise.

    >>> m = BCSR.fromdense(jnp.array([[0.0, 1.0], [2.0, 0.0]]))
    >>> m
    BCSR(float32[2, 2], nse=2)

    Attributes:
      data: `(*batch, nse, *dense)`; a batch axis may be 1 and then stands for all.
      indices: `(*batch, nse)`, integer: columns; a batch axis may be 1.
      indptr: `(*batch, m + 1)`, integer; a batch axis may be 1.
      shape: the shape of the array, `(*batch, m, n, *dense)`.
      indices_sorted: whether the columns within each row ascend.
      unique_indices: whether no cell is stored twice, padding apart.
    """

    data: jax.Array
    indices: jax.Array
    indptr: jax.Array
    shape: Shape
    indices_sorted: bool
    unique_indices: bool
    # What this was made of as its transpose; as a hint it does not pass through a pytree.
    _source: "BCSR | None" = None

    def __init__(
        self,
        args: tuple[Any, Any, Any],
        *,
        shape: Sequence[int],
        indices_sorted: bool = False,
        unique_indices: bool = False,
    ):
        """Makes a BCSR of its buffers and checks them; values of indices and indptr if concrete.

        Args:
          args: `(data, indices, indptr)`, array-like, shapes as above.
          shape: shape of the array.
          indices_sorted: a promise.
          unique_indices: a promise.

        Raises:
          TypeError: indices or indptr are not integers.
          ValueError: the shapes do not agree; a column is negative or exceeds the number of columns
            (equal to it is padding); indptr does not ascend from 0 to at most nse.
        """
        data, indices, indptr = args
        self.shape = as_shape("BCSR", shape)
        self.data = as_data("BCSR", data)
        indices = indices if hasattr(indices, "ndim") else np.asarray(indices)
        n_columns = self.shape[indices.ndim : indices.ndim + 1]
        self.indices = as_indices("BCSR", "indices", indices, n_columns)
        self.indptr = as_indices("BCSR", "indptr", indptr, ())
        check_bcsr("BCSR", self.data, self.indices, self.indptr, self.shape)
        self.indices_sorted = bool(indices_sorted)
        self.unique_indices = bool(unique_indices)

    @classmethod
    def _trusted(
        cls,
        data: Any,
        indices: Any,
        indptr: Any,
        shape: Shape,
        indices_sorted: bool = False,
        unique_indices: bool = False,
    ) -> "BCSR":
        self = object.__new__(cls)
        self.data, self.indices, self.indptr, self.shape = data, indices, indptr, shape
        self.indices_sorted, self.unique_indices = indices_sorted, unique_indices
        return self

    def _with_buffers(
        self, data: Any, indices: Any, indptr: Any, *, shape: Shape | None = None
    ) -> "BCSR":
        """The same with other buffers, for changes that keep order and uniqueness."""
        shape = self.shape if shape is None else shape
        return BCSR._trusted(data, indices, indptr, shape, self.indices_sorted, self.unique_indices)

    @property
    def _bufs(self) -> tuple[Any, Any, Any]:
        return self.data, self.indices, self.indptr

    @property
    def _info(self) -> SparseInfo:
        return SparseInfo(self.shape, self.indices_sorted, self.unique_indices)

    @classmethod
    def _transposed(cls, source: "BCSR") -> "BCSR":
        """The transpose of a matrix, which keeps in mind what it is of: products with a dense array
        read that. Its own buffers are made when something looks at them, or at once under a trace,
        which drops what is not used."""
        self = object.__new__(cls)
        self.shape, self._source = source.shape[::-1], source
        self.indices_sorted, self.unique_indices = True, source.unique_indices
        if not all(is_concrete(b) for b in source._bufs):
            self._make_buffers(source)
        return self

    def _make_buffers(self, source: "BCSR") -> None:
        buffers = _rows.transpose(*source._bufs, shape=source.shape)
        self.data, self.indices, self.indptr = buffers

    def __getattr__(self, name: str) -> Any:
        # Asked only for what is not there: the buffers of a transpose that nothing looked at.
        source = self.__dict__.get("_source")
        if name in ("data", "indices", "indptr") and source is not None:
            with jax.ensure_compile_time_eval():
                self._make_buffers(source)
            return self.__dict__[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _with_data(self, data: Any) -> "BCSR":
        return self._with_buffers(data, self.indices, self.indptr)

    # Pytree.

    def tree_flatten(self) -> tuple[tuple[Any, Any, Any], dict[str, Any]]:
        return (self.data, self.indices, self.indptr), {
            "shape": self.shape,
            "indices_sorted": self.indices_sorted,
            "unique_indices": self.unique_indices,
            **_layout.shared_axes(self.shape, np.ndim(self.indices) - 1, *self._bufs),
        }

    def tree_flatten_with_keys(self):
        key = jax.tree_util.GetAttrKey
        (data, indices, indptr), aux = self.tree_flatten()
        return ((key("data"), data), (key("indices"), indices), (key("indptr"), indptr)), aux

    @classmethod
    def tree_unflatten(cls, aux: dict[str, Any], children: Sequence[Any]) -> "BCSR":
        shared = aux.get("shared", ())
        aux = {k: v for k, v in aux.items() if k != "shared"}
        if aux.keys() != {"shape", "indices_sorted", "unique_indices"}:
            raise ValueError(f"BCSR.tree_unflatten: invalid aux_data={aux!r}")
        data, indices, indptr = children
        self = cls._trusted(data, indices, indptr, **aux)
        if hasattr(data, "ndim") and hasattr(indices, "ndim") and indices.ndim >= 1:
            n_batch = indices.ndim - 1
            rank = data.ndim + 1
            self.shape = _layout.mapped_shape(self.shape, rank, n_batch, shared, data, indices)
        return self

    # Properties.

    @property
    def nse(self) -> int:
        return self.indices.shape[-1]

    @property
    def dtype(self) -> np.dtype:
        return self.data.dtype

    @property
    def n_batch(self) -> int:
        """Number of batch dimensions."""
        return self.indices.ndim - 1

    @property
    def n_sparse(self) -> int:
        """Number of sparse dimensions: always 2."""
        return 2

    @property
    def n_dense(self) -> int:
        """Number of dense dimensions."""
        return self.data.ndim - 1 - self.n_batch

    @property
    def _sparse_shape(self) -> Shape:
        return self.shape[self.n_batch : self.n_batch + 2]

    def _layout(self) -> Sequence[tuple[str, int]]:
        if self.n_batch + 2 + self.n_dense != len(self.shape):
            raise ValueError("buffers and shape do not agree")
        return ("n_batch", self.n_batch), ("n_dense", self.n_dense)

    # From and to other forms.

    @classmethod
    def _empty(
        cls,
        shape: Sequence[int],
        *,
        dtype: Any = None,
        index_dtype: Any = "int32",
        n_dense: int = 0,
        n_batch: int = 0,
        nse: int = 0,
    ) -> "BCSR":
        shape = as_shape("BCSR", shape)
        options = {"n_dense": n_dense, "n_batch": n_batch, "nse": nse}
        data, indices = _fill.empty(shape, dtype=dtype, index_dtype=index_dtype, **options)
        if indices.shape[-1] != 2:
            raise ValueError(
                f"empty: bcsr must have 2 sparse dimensions, n_batch={n_batch} and "
                f"n_dense={n_dense} leave {indices.shape[-1]} of {shape}"
            )
        indptr = jnp.zeros((*shape[:n_batch], shape[n_batch] + 1), index_dtype)
        return cls._trusted(data, indices[..., 1], indptr, shape, True, True)

    @classmethod
    def _eye(cls, N: int, M: int, k: int, **options: Any) -> "BCSR":
        return cls.from_bcoo(BCOO._eye(N, M, k, **options))

    @classmethod
    def fromdense(
        cls,
        mat: Any,
        *,
        nse: int | None = None,
        index_dtype: Any = np.int32,
        n_dense: int = 0,
        n_batch: int = 0,
    ) -> "BCSR":
        """Stores the non-zero cells of a dense array, sorted and unique.

        Args:
          mat: dense, `(*batch, m, n, *dense)`.
          nse: number of slots in each batch; None: as many as needed, which must be known now.
            Cells beyond them are left out.
          index_dtype: integer type of indices and indptr.
          n_dense: how many trailing dimensions to store whole.
          n_batch: how many leading dimensions are batch dimensions.

        Raises:
          ValueError: the dimensions do not add up.
          jax.errors.ConcretizationTypeError: `nse` is None under `jit`.
        """
        mat = mat if isinstance(mat, jax.Array | np.ndarray) else jnp.asarray(mat)
        if mat.ndim - operator.index(n_batch) - operator.index(n_dense) != 2:
            raise ValueError(
                f"BCSR.fromdense: an array of {mat.ndim} dimensions with n_batch={n_batch} and "
                f"n_dense={n_dense} does not leave two sparse dimensions"
            )
        data, indices = _layout.fromdense("BCSR", mat, nse, index_dtype, n_batch, n_dense)
        nse, dtype = indices.shape[-2], np.dtype(index_dtype)
        if nse > np.iinfo(dtype).max:
            raise ValueError(
                f"BCSR.fromdense: {dtype} cannot count {nse} elements; pass a wider one"
            )
        indices, indptr = _rows.compress(indices, shape=mat.shape)
        dtype = jax.dtypes.canonicalize_dtype(dtype)
        buffers = data, indices.astype(dtype), indptr.astype(dtype)
        return cls._trusted(*buffers, mat.shape, True, True)

    @classmethod
    def from_scipy_sparse(
        cls, mat: Any, *, index_dtype: Any = None, n_dense: int = 0, n_batch: int = 0
    ) -> "BCSR":
        """Makes a BCSR of a two-dimensional SciPy sparse matrix or array.

        Args:
          mat: any SciPy sparse format; csr keeps its entries in their order.
          index_dtype: type of indices and indptr; None: int32, or int64 where sizes need it.
          n_dense, n_batch: only 0.

        Raises:
          NotImplementedError: `n_dense` or `n_batch` is not 0.
        """
        if n_dense or n_batch:
            raise NotImplementedError("BCSR.from_scipy_sparse with nonzero n_dense/n_batch")
        csr = mat.tocsr()
        dtype = index_dtype
        if dtype is None:
            dtype = index_dtype_for(*mat.shape, int(csr.indptr[-1]))
        nse = int(csr.indptr[-1])
        buffers = (csr.data[:nse], csr.indices[:nse].astype(dtype), csr.indptr.astype(dtype))
        return cls(
            buffers,
            shape=mat.shape,
            indices_sorted=bool(csr.has_sorted_indices),
            unique_indices=bool(csr.has_canonical_format),
        )

    def to_scipy_sparse(self) -> Any:
        """Makes a `scipy.sparse.csr_array` without the padding; waits for the values.

        Raises:
          ValueError: there are batch or dense dimensions.
        """
        from scipy.sparse import csr_array

        if self.n_batch or self.n_dense:
            raise ValueError(f"to_scipy_sparse: {self!r} has batch or dense dimensions")
        # SciPy works in place: it gets copies of what JAX may share.
        data, indices, indptr = (np.array(b) for b in self._bufs)
        data, indices = data[: indptr[-1]], indices[: indptr[-1]]
        real = (indices >= 0) & (indices < self.shape[1])
        if not real.all():
            indptr = np.concatenate([[0], np.cumsum(real)])[indptr].astype(indptr.dtype)
            data, indices = data[real], indices[real]
        return csr_array((data, indices, indptr), shape=self.shape)

    @classmethod
    def from_torch(cls, tensor: Any) -> "BCSR":
        """Makes a BCSR of a sparse tensor of PyTorch, a csr one without reordering.

        Raises:
          TypeError: it is not a sparse coo, csr or csc tensor.
        """
        if _torch.layout_of(tensor) != "csr":
            return cls.from_bcoo(BCOO.from_torch(tensor))
        data, indices, indptr, shape = _torch.csr_parts(tensor)
        dtype = index_dtype_for(*shape, indices.shape[-1])
        return cls((data, indices.astype(dtype), indptr.astype(dtype)), shape=shape)

    def to_torch(self) -> Any:
        """Makes a `torch.sparse_csr_tensor` without the padding, sorted and unique.

        Raises:
          ValueError: there are batch or dense dimensions.
        """
        if self.n_batch or self.n_dense:
            raise ValueError(f"to_torch: {self!r} has batch or dense dimensions")
        mat = self.sum_duplicates(remove_zeros=False)  # without padding too
        return _torch.csr_tensor(mat.data, mat.indices, mat.indptr, self.shape)

    @classmethod
    def from_bcoo(cls, arr: BCOO) -> "BCSR":
        """Makes a BCSR of a BCOO with two sparse dimensions; sorts the entries if need be.

        Raises:
          NotImplementedError: there are not two sparse dimensions; use `update_layout` first.
        """
        if arr.n_sparse != 2:
            raise NotImplementedError(
                f"BCSR.from_bcoo requires n_sparse=2, two sparse dimensions; got {arr!r} with "
                f"n_sparse={arr.n_sparse}; use update_layout first"
            )
        arr = arr if arr.indices_sorted else arr.sort_indices()
        indices, indptr = _rows.compress(arr.indices, shape=arr.shape)
        return cls._trusted(arr.data, indices, indptr, arr.shape, True, arr.unique_indices)

    def to_bcoo(self) -> BCOO:
        """Makes a BCOO of the same entries in the same order."""
        indices = _layout.csr_coordinates(self.indices, self.indptr, shape=self.shape)
        flags = self.indices_sorted, self.unique_indices
        return BCOO._trusted(self.data, indices, self.shape, *flags)

    @classmethod
    def from_jax(cls, mat: Any) -> "BCSR":
        """Takes over one of JAX's own sparse arrays: BCSR or CSR without a copy, others sorted."""
        if type(mat).__name__ in ("BCSR", "CSR"):
            return cls._trusted(*_layout.bcsr_parts_of_jax(mat))
        return cls.from_bcoo(BCOO.from_jax(mat))

    def to_jax(self) -> Any:
        """Makes a `jax.experimental.sparse.BCSR` of the same buffers."""
        return _layout.jax_class("BCSR")(
            (self.data, self.indices, self.indptr),
            shape=self.shape,
            indices_sorted=self.indices_sorted,
            unique_indices=self.unique_indices,
        )

    def todense(self) -> jax.Array:
        return self.to_bcoo().todense()

    def astype(self, dtype: Any) -> "BCSR":
        """The same with stored values of another type; as `BCOO.astype`."""
        dtype = jax.dtypes.canonicalize_dtype(dtype)
        if self.unique_indices or widens(self.dtype, dtype):
            return self._with_data(self.data.astype(dtype))
        return BCSR.from_bcoo(self.to_bcoo().astype(dtype))

    # Order and layout.

    def sort_indices(self) -> "BCSR":
        """Sorts the columns within each row, padding last; equal ones keep their order."""
        if self.indices_sorted:
            return self
        return BCSR.from_bcoo(self.to_bcoo())

    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> "BCSR":
        """Adds up repeated entries; the result is sorted and unique. As `BCOO.sum_duplicates`."""
        return BCSR.from_bcoo(self.to_bcoo().sum_duplicates(nse, remove_zeros))

    def transpose(self, axes: Sequence[int] | None = None) -> "BCSR":
        """Permutes dimensions within their kind; the default swaps rows and columns of a matrix.

        Raises:
          TypeError: `axes` is no permutation.
          NotImplementedError: it mixes batch, sparse and dense dimensions.

        Cost: O(nse + n) for a matrix of n columns.
        """
        source = self._source
        kinds = (self.n_batch, 2, self.n_dense) if source is None else (0, 2, 0)
        permutation = _layout.permutation_of(axes, *kinds)
        if permutation == tuple(range(self.ndim)):
            return self
        if permutation == (1, 0):
            if source is not None and source.indices_sorted:
                return source
            return BCSR._transposed(self)
        return BCSR.from_bcoo(self.to_bcoo().transpose(permutation))

    # Reductions and products.

    def sum(
        self,
        axis: int | Sequence[int] | None = None,
        dtype: Any = None,
        keepdims: bool = False,
    ) -> Any:
        """Sums over `axis`: a BCOO of the rest, or a dense scalar where nothing is left.

        As `BCOO.sum`.
        """
        if not _layout.canonical_axes(axis, self.ndim):
            return self.astype(_layout.sum_dtype(self.dtype, dtype))
        return self.to_bcoo().sum(axis, dtype, keepdims)

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, JAXSparse):
            if isinstance(other, BCSR) and self.ndim == other.ndim == 2:
                return self._spdot_general(other, (((1,), (0,)), ((), ())))
            # One conversion, which keeps the entries' order; the result comes sorted.
            return _with_rows(self.to_bcoo() @ other)
        other = other if isinstance(other, jax.Array) else jnp.asarray(other)
        plan = _dot.matmul_plan(self.shape, other.shape)
        return plan.finish(self._dot_general(other, plan.dimension_numbers))

    def __rmatmul__(self, other: Any) -> Any:
        other = other if isinstance(other, jax.Array) else jnp.asarray(other)
        plan = _dot.matmul_plan(other.shape, self.shape)
        return plan.finish(self._rdot_general(other, plan.dimension_numbers))

    def _dot_general(self, other: Any, dimension_numbers: Any, out_dtype: Any = None) -> jax.Array:
        numbers = _dot.canonical_dimension_numbers(dimension_numbers)
        (own, its), batch = numbers
        mat, own = self._as_stored(own)
        options = {"shape": mat.shape, "dimension_numbers": ((own, its), batch)}
        return _dot.csr_dot_general(*mat._bufs, other, **options, out_dtype=out_dtype)

    def _rdot_general(self, other: Any, dimension_numbers: Any, out_dtype: Any = None) -> jax.Array:
        numbers = _dot.canonical_dimension_numbers(dimension_numbers)
        (its, own), batch = numbers
        mat, own = self._as_stored(own)
        options = {"shape": mat.shape, "dimension_numbers": ((its, own), batch)}
        return _dot.dense_dot_general_csr(other, *mat._bufs, **options, out_dtype=out_dtype)

    def _as_stored(self, contract: tuple[int, ...]) -> tuple["BCSR", tuple[int, ...]]:
        """The matrix whose rows are stored, and which of its dimensions a product contracts."""
        if self._source is None or len(contract) != 1:
            return self, contract
        return self._source, (1 - contract[0],)

    def _spdot_general(self, other: "BCSR", dimension_numbers: Any, out_dtype: Any = None) -> Any:
        numbers = _dot.canonical_dimension_numbers(dimension_numbers)
        product = _operators.csr_product(self, other, numbers, out_dtype)
        if product is not None:
            shape = (self.shape[0], other.shape[1])
            data, indices, indptr = product
            return BCSR._trusted(data, indices, indptr, shape, True, True)
        out = _operators.spdot_general(
            self.to_bcoo(), other.to_bcoo(), dimension_numbers, out_dtype
        )
        return _with_rows(out)

    # Elementwise.

    def __neg__(self) -> "BCSR":
        return self._with_data(-self.data)

    def __pos__(self) -> "BCSR":
        return self

    def __abs__(self) -> "BCSR":
        if self.unique_indices:
            return self._with_data(abs(self.data))
        return BCSR.from_bcoo(abs(self.to_bcoo()))

    def __pow__(self, exponent: Any) -> "BCSR":
        """Raises every cell to a positive power; as `BCOO.__pow__`."""
        powers = self.to_bcoo() ** exponent
        return self._with_data(powers.data) if self.unique_indices else BCSR.from_bcoo(powers)

    def __rpow__(self, base: Any) -> Any:
        raise self._lacks("__rpow__, which would give a dense result")

    def __mul__(self, other: Any) -> "BCSR":
        if isinstance(other, BCSR) and self._merges_with(other):
            product = _rows.multiply(self._bufs, other._bufs, shape=self.shape)
            data, indices, indptr, _ = product
            return BCSR._trusted(data, indices, indptr, self.shape, True, True)
        if isinstance(other, JAXSparse):
            return _with_rows(self.to_bcoo() * other)
        if np.ndim(other) == 0:
            return self._with_data(self.data * other)
        return self._with_data((self.to_bcoo() * other).data)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "BCSR":
        if not isinstance(other, JAXSparse) and np.ndim(other) == 0:
            return self._with_data(self.data / other)
        return self._with_data((self.to_bcoo() / other).data)

    def __rtruediv__(self, other: Any) -> Any:
        return self.to_bcoo().__rtruediv__(other)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, BCSR):
            if self.shape == other.shape and self._shares_pattern(other):
                return self._with_data(self.data + other.data)
            if self._merges_with(other):
                data, indices, indptr = _rows.add(self._bufs, other._bufs, shape=self.shape)
                return BCSR._trusted(data, indices, indptr, self.shape, True, True)
            return BCSR.from_bcoo(self.to_bcoo() + other.to_bcoo())
        return _with_rows(self.to_bcoo() + other)

    __radd__ = __add__

    def _merges_with(self, other: "BCSR") -> bool:
        """Whether both are matrices of one shape, in order and without repeats."""
        both = (self, other)
        in_order = all(m.indices_sorted and m.unique_indices for m in both)
        return in_order and self.shape == other.shape and all(m.data.ndim == 1 for m in both)

    def _shares_pattern(self, other: "BCSR") -> bool:
        return self.indices is other.indices and self.indptr is other.indptr

    def __sub__(self, other: Any) -> Any:
        return self + (-other if isinstance(other, JAXSparse) else -jnp.asarray(other))

    def __rsub__(self, other: Any) -> Any:
        return (-self) + other

    def __getitem__(self, item: Any) -> Any:
        """Indexing as of a BCOO.

        A contiguous range of rows of a matrix is a BCSR and costs O(nse); what else leaves two
        sparse dimensions is a BCSR, the rest a BCOO, as from `BCOO.__getitem__`.

        Raises:
          IndexError: too many indices, or a mask that does not fit.
        """
        if self._is_row_list(item):
            return self._take_rows(ids_of(item, self.shape[0]))
        rows = self._row_range(item)
        if rows is None:
            return _with_rows(self.to_bcoo()[item])
        buffers = _rows.slice_rows(
            *self._bufs, rows.start, n_rows=rows.size, nse=self.nse, n_columns=self.shape[1]
        )
        return self._with_buffers(*buffers, shape=(rows.size, *self.shape[1:]))

    def _is_row_list(self, item: Any) -> bool:
        is_array = isinstance(item, np.ndarray | jax.Array) and item.ndim == 1
        return is_array and not self.n_batch and jnp.issubdtype(item.dtype, jnp.integer)

    def _take_rows(self, ids: Any) -> BCOO:
        """Rows by number, in range, as `BCOO.__getitem__` gives them."""
        n, is_unique = self.shape[1], self.unique_indices
        width = min(self.nse, n) if is_unique else self.nse
        if width * ids.size > FEW_SLOTS and is_concrete(self.indptr) and is_concrete(ids):
            indptr = np.asarray(self.indptr)
            widest = int((indptr[ids + 1] - indptr[ids]).max(initial=0))
            width = capacity(widest, width)
        data, indices = _window.take_csr_rows(*self._bufs, ids, n_columns=n, width=width)
        shape = (ids.size, *self.shape[1:])
        out = BCOO._trusted(data, indices, shape, self.indices_sorted, is_unique)
        repeats = width > n and not is_unique
        return out.sum_duplicates(nse=n, remove_zeros=False) if repeats else out

    def _row_range(self, item: Any) -> _slicing.Span | None:
        items = item if isinstance(item, tuple) else (item,)
        if self.n_batch or any(isinstance(i, list) or getattr(i, "ndim", 0) for i in items):
            return None
        return _slicing.row_range_of(_slicing.plan_of(item, self.shape), self.shape)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))


def _with_rows(value: Any) -> Any:
    """A BCSR of a BCOO with two sparse dimensions; anything else as it is."""
    if isinstance(value, BCOO) and value.n_sparse == 2:
        return BCSR.from_bcoo(value)
    return value


register(BCSR)
