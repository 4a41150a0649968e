"""BCOO: batched coordinate layout."""

import operator
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp

from rarefy.sparse import _dot, _entries, _fill, _layout, _operators, _structure, _torch
from rarefy.sparse._base import JAXSparse
from rarefy.sparse._check import as_data, as_indices, as_shape, check_bcoo
from rarefy.sparse._getitem import getitem
from rarefy.sparse._index import index_dtype_for, widens
from rarefy.sparse._info import SparseInfo
from rarefy.sparse._vmap import register

Shape = tuple[int, ...]


@jax.tree_util.register_pytree_with_keys_class
class BCOO(JAXSparse):
    """A sparse array that stores coordinates, with the conventions of JAX.

    The dimensions are of three kinds, in this order: `n_batch` batch dimensions, over which the
    pattern may vary but has the same number of slots; `n_sparse` sparse ones, which the coordinates
    index; `n_dense` dense ones, stored whole.

    An entry with a coordinate out of range is padding and counts for nothing; by convention it has
    every coordinate equal to the size of its dimension, value zero, and comes last. Order is free
    and repeated entries add up, unless the flags promise otherwise.

    >>> m = BCOO.fromdense(jnp.array([[0.0, 1.0], [2.0, 0.0]]))
    >>> m
    BCOO(float32[2, 2], nse=2)

    Attributes:
      data: `(*batch, nse, *dense)`; a batch axis may be 1 and then stands for all.
      indices: `(*batch, nse, n_sparse)`, integer; a batch axis may be 1.
      shape: the shape of the array.
      indices_sorted: whether the entries of each batch are sorted by coordinates.
      unique_indices: whether no cell is stored twice, padding apart.
    """

    data: jax.Array
    indices: jax.Array
    shape: Shape
    indices_sorted: bool
    unique_indices: bool
    # By which dimensions a transpose left the entries sorted. It is only a hint for products and does
    # not pass through a pytree, whose static data are JAX's.
    _order: tuple[int, ...] | None
    # The csr and the dense value of which it is the transposed product; such a hint too.
    _factors: tuple[Any, jax.Array] | None = None

    def __init__(
        self,
        args: tuple[Any, Any],
        *,
        shape: Sequence[int],
        indices_sorted: bool = False,
        unique_indices: bool = False,
    ):
        """Makes a BCOO of its buffers and checks them; the values of indices only if concrete.

        Args:
          args: `(data, indices)`, array-like, shapes as above.
          shape: shape of the array.
          indices_sorted: a promise.
          unique_indices: a promise.

        Raises:
          TypeError: indices are not integers.
          ValueError: the shapes do not agree; a coordinate is negative or exceeds the size of its
            dimension (equal to it is padding).
        """
        data, indices = args
        self.shape = as_shape("BCOO", shape)
        self.data = as_data("BCOO", data)
        given = indices if hasattr(indices, "ndim") else np.asarray(indices)
        n_batch = given.ndim - 2
        n_sparse = given.shape[-1] if given.ndim else 0
        self.indices = as_indices(
            "BCOO", "indices", given, self.shape[max(n_batch, 0) : max(n_batch, 0) + n_sparse]
        )
        check_bcoo("BCOO", self.data, self.indices, self.shape)
        self.indices_sorted = bool(indices_sorted)
        self.unique_indices = bool(unique_indices)
        self._order = None

    @classmethod
    def _trusted(
        cls,
        data: Any,
        indices: Any,
        shape: Shape,
        indices_sorted: bool = False,
        unique_indices: bool = False,
    ) -> "BCOO":
        self = object.__new__(cls)
        self._order = None
        self.data, self.indices, self.shape = data, indices, shape
        self.indices_sorted, self.unique_indices = indices_sorted, unique_indices
        return self

    def _with_buffers(self, data: Any, indices: Any, *, shape: Shape | None = None) -> "BCOO":
        """The same with other buffers, for changes that keep order and uniqueness."""
        shape = self.shape if shape is None else shape
        out = BCOO._trusted(data, indices, shape, self.indices_sorted, self.unique_indices)
        out._order = self._order if out.n_batch == self.n_batch else None
        return out

    @property
    def _sorted_by(self) -> tuple[int, ...]:
        """The batch dimensions, then the sparse ones by which the entries are known to be sorted."""
        if self._order is not None:
            return self._order
        return tuple(range(self.n_batch + (self.n_sparse if self.indices_sorted else 0)))

    @property
    def _bufs(self) -> tuple[Any, Any]:
        return self.data, self.indices

    @property
    def _info(self) -> SparseInfo:
        return SparseInfo(self.shape, self.indices_sorted, self.unique_indices)

    # Pytree.

    def tree_flatten(self) -> tuple[tuple[Any, Any], dict[str, Any]]:
        return (self.data, self.indices), {
            "shape": self.shape,
            "indices_sorted": self.indices_sorted,
            "unique_indices": self.unique_indices,
            **_layout.shared_axes(self.shape, np.ndim(self.indices) - 2, *self._bufs),
        }

    def tree_flatten_with_keys(self):
        key = jax.tree_util.GetAttrKey
        (data, indices), aux = self.tree_flatten()
        return ((key("data"), data), (key("indices"), indices)), aux

    @classmethod
    def tree_unflatten(cls, aux: dict[str, Any], children: Sequence[Any]) -> "BCOO":
        shared = aux.get("shared", ())
        aux = {k: v for k, v in aux.items() if k != "shared"}
        if aux.keys() != {"shape", "indices_sorted", "unique_indices"}:
            raise ValueError(f"BCOO.tree_unflatten: invalid aux_data={aux!r}")
        data, indices = children
        self = cls._trusted(data, indices, **aux)
        if hasattr(data, "ndim") and hasattr(indices, "ndim") and indices.ndim >= 2:
            n_batch = indices.ndim - 2
            rank = data.ndim - 1 + indices.shape[-1]
            self.shape = _layout.mapped_shape(self.shape, rank, n_batch, shared, data, indices)
        return self

    # Properties.

    @property
    def nse(self) -> int:
        return self.indices.shape[-2]

    @property
    def dtype(self) -> np.dtype:
        return self.data.dtype

    @property
    def n_batch(self) -> int:
        """Number of batch dimensions."""
        return self.indices.ndim - 2

    @property
    def n_sparse(self) -> int:
        """Number of sparse dimensions."""
        return self.indices.shape[-1]

    @property
    def n_dense(self) -> int:
        """Number of dense dimensions."""
        return self.data.ndim - 1 - self.n_batch

    def _layout(self) -> Sequence[tuple[str, int]]:
        if self.n_batch + self.n_sparse + self.n_dense != len(self.shape):
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
    ) -> "BCOO":
        shape = as_shape("BCOO", shape)
        options = {"n_dense": n_dense, "n_batch": n_batch, "nse": nse}
        data, indices = _fill.empty(shape, dtype=dtype, index_dtype=index_dtype, **options)
        return cls._trusted(data, indices, shape, True, True)

    @classmethod
    def _eye(
        cls,
        N: int,
        M: int,
        k: int,
        *,
        dtype: Any = None,
        index_dtype: Any = "int32",
        n_batch: int = 0,
        n_dense: int = 0,
    ) -> "BCOO":
        n_batch, n_dense = operator.index(n_batch), operator.index(n_dense)
        if n_batch < 0 or n_dense < 0 or n_batch + n_dense > 2:
            raise ValueError(
                f"eye: n_batch={n_batch} and n_dense={n_dense} do not fit two dimensions"
            )
        data, indices = _fill.diagonal(N, M, k, dtype=dtype, index_dtype=index_dtype)
        out = cls._trusted(data, indices, (N, M), True, True)
        if not (n_batch or n_dense):
            return out
        out = out.update_layout(n_batch=n_batch, n_dense=n_dense, on_inefficient=None)
        # A row has one element, so one slot for each is enough.
        return out.sum_duplicates(nse=1, remove_zeros=True) if n_batch else out

    @classmethod
    def fromdense(
        cls,
        mat: Any,
        *,
        nse: int | None = None,
        index_dtype: Any = np.int32,
        n_dense: int = 0,
        n_batch: int = 0,
    ) -> "BCOO":
        """Stores the non-zero cells of a dense array, sorted and unique.

        Args:
          mat: dense, `(*batch, *sparse, *dense)`.
          nse: number of slots in each batch; None: as many as needed, which must be known now.
            Cells beyond them are left out.
          index_dtype: integer type of the indices.
          n_dense: how many trailing dimensions to store whole.
          n_batch: how many leading dimensions are batch dimensions.

        Raises:
          ValueError: the dimensions do not add up.
          jax.errors.ConcretizationTypeError: `nse` is None under `jit`.
        """
        mat = mat if isinstance(mat, jax.Array | np.ndarray) else jnp.asarray(mat)
        data, indices = _layout.fromdense("BCOO", mat, nse, index_dtype, n_batch, n_dense)
        return cls._trusted(data, indices, mat.shape, True, True)

    @classmethod
    def from_scipy_sparse(
        cls, mat: Any, *, index_dtype: Any = None, n_dense: int = 0, n_batch: int = 0
    ) -> "BCOO":
        """Makes a BCOO of a SciPy sparse matrix or array, keeping its entries in their order.

        Args:
          mat: any SciPy sparse format.
          index_dtype: type of the indices; None: int32, or int64 where the shape needs it.
          n_dense, n_batch: only 0; use `update_layout` afterwards.

        Raises:
          NotImplementedError: `n_dense` or `n_batch` is not 0.
        """
        if n_dense or n_batch:
            raise NotImplementedError(
                "BCOO.from_scipy_sparse with nonzero n_dense/n_batch; use update_layout afterwards"
            )
        canonical = mat.format == "csr" and mat.has_canonical_format
        coo = mat.tocoo()
        dtype = index_dtype_for(*mat.shape) if index_dtype is None else np.dtype(index_dtype)
        indices = np.stack([np.asarray(c) for c in coo.coords], axis=-1).astype(dtype)
        return cls(
            (coo.data, indices),
            shape=mat.shape,
            indices_sorted=canonical,
            unique_indices=canonical,
        )

    def to_scipy_sparse(self) -> Any:
        """Makes a `scipy.sparse.coo_array` without the padding; waits for the values.

        Raises:
          ValueError: there are batch or dense dimensions.
        """
        from scipy.sparse import coo_array

        if self.n_batch or self.n_dense:
            raise ValueError(
                f"to_scipy_sparse: {self!r} has batch or dense dimensions; "
                f"use update_layout(n_batch=0, n_dense=0) first"
            )
        indices, data = np.asarray(self.indices), np.asarray(self.data)
        # Picking by mask copies, and SciPy works in place.
        real = (indices >= 0).all(axis=1) & (indices < np.asarray(self.shape)).all(axis=1)
        return coo_array((data[real], tuple(indices[real].T)), shape=self.shape)

    @classmethod
    def from_jax(cls, mat: Any) -> "BCOO":
        """Takes over one of JAX's own sparse arrays: a BCOO, BCSR, COO, CSR or CSC."""
        return cls._trusted(*_layout.bcoo_parts_of_jax(mat))

    def to_jax(self) -> Any:
        """Makes a `jax.experimental.sparse.BCOO` of the same buffers."""
        return _layout.jax_class("BCOO")(
            (self.data, self.indices),
            shape=self.shape,
            indices_sorted=self.indices_sorted,
            unique_indices=self.unique_indices,
        )

    @classmethod
    def from_torch(cls, tensor: Any) -> "BCOO":
        """Makes a BCOO of a sparse tensor of PyTorch (coo, csr or csc), keeping its entries.

        Raises:
          TypeError: it is not such a tensor.
        """
        layout = _torch.layout_of(tensor)
        if layout in ("csr", "csc"):
            tensor, layout = tensor.to_sparse_coo(), "coo"
        if layout != "coo":
            raise TypeError(f"BCOO.from_torch: expected a sparse coo tensor, got a {layout} one")
        data, indices, shape, coalesced = _torch.coo_parts(tensor)
        indices = indices.astype(index_dtype_for(*shape[: indices.shape[1]]))
        return cls((data, indices), shape=shape, indices_sorted=coalesced, unique_indices=coalesced)

    def to_torch(self) -> Any:
        """Makes a `torch.sparse_coo_tensor` without the padding; batch dimensions become sparse."""
        mat = self.update_layout(n_batch=0)
        indices, data = np.asarray(mat.indices), np.asarray(mat.data)
        real = (indices >= 0) & (indices < np.asarray(mat.shape[: mat.n_sparse]))
        real = real.all(axis=1)
        # Sorted and unique is what PyTorch calls coalesced.
        canonical = mat.indices_sorted and mat.unique_indices
        return _torch.coo_tensor(data[real], indices[real], mat.shape, canonical=canonical)

    def todense(self) -> jax.Array:
        return _entries.todense(self.data, self.indices, shape=self.shape)

    def astype(self, dtype: Any) -> "BCOO":
        """The same with stored values of another type.

        Where that may change a value, repeated entries are added up first.
        """
        dtype = jax.dtypes.canonicalize_dtype(dtype)
        if widens(self.dtype, dtype):
            return self._with_buffers(self.data.astype(dtype), self.indices)
        return self._map(lambda data: data.astype(dtype))

    # Order and layout.

    def sort_indices(self) -> "BCOO":
        """Sorts the entries of each batch by coordinates, padding last; equal ones keep order."""
        data, indices = _entries.sort_indices(self.data, self.indices, shape=self.shape)
        return BCOO._trusted(data, indices, self.shape, True, self.unique_indices)

    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> "BCOO":
        """Adds up repeated entries; the result is sorted and unique.

        Args:
          nse: slots of the result in each batch; None: as many as needed, which must be known now.
            Cells beyond them are left out.
          remove_zeros: whether entries of value zero are dropped (before adding up).

        Raises:
          ValueError: `nse` is None under `jit`.
        """
        data, indices = _layout.sum_duplicates(
            "bcoo_sum_duplicates",
            (self.data, self.indices),
            self.shape,
            nse,
            remove_zeros,
        )
        return BCOO._trusted(data, indices, self.shape, True, True)

    def update_layout(
        self,
        *,
        n_batch: int | None = None,
        n_dense: int | None = None,
        on_inefficient: str | None = "error",
    ) -> "BCOO":
        """Changes how many dimensions are batch and dense ones.

        Args:
          n_batch, n_dense: the new numbers; None: as they are.
          on_inefficient: what to do where the new layout stores much more: "error", "warn" or None.

        Raises:
          SparseEfficiencyError: the new layout is inefficient and `on_inefficient` is "error".
          ValueError: the numbers do not fit the shape.
        """
        n_batch = self.n_batch if n_batch is None else operator.index(n_batch)
        n_dense = self.n_dense if n_dense is None else operator.index(n_dense)
        if (n_batch, n_dense) == (self.n_batch, self.n_dense):
            return self
        data, indices = _layout.update_layout(
            self.data, self.indices, self.shape, n_batch, n_dense, on_inefficient
        )
        return BCOO._trusted(data, indices, self.shape)

    def transpose(self, axes: Sequence[int] | None = None) -> "BCOO":
        """Permutes dimensions within their kind.

        Raises:
          TypeError: `axes` is no permutation.
          NotImplementedError: it mixes batch, sparse and dense dimensions; use `update_layout`
            first.
        """
        permutation = _layout.permutation_of(axes, self.n_batch, self.n_sparse, self.n_dense)
        if permutation == tuple(range(self.ndim)):
            return self
        data, indices = _entries.transpose(
            self.data, self.indices, shape=self.shape, permutation=permutation
        )
        shape = tuple(self.shape[p] for p in permutation)
        batch = range(self.n_batch)
        order = (*batch, *(permutation.index(d) for d in self._sorted_by[self.n_batch :]))
        is_sorted = order == tuple(range(self.n_batch + self.n_sparse))
        out = BCOO._trusted(data, indices, shape, is_sorted, self.unique_indices)
        out._order = order
        return out

    # Reductions and products.

    def sum(
        self,
        axis: int | Sequence[int] | None = None,
        dtype: Any = None,
        keepdims: bool = False,
    ) -> Any:
        """Sums over `axis`: a BCOO of the rest, or a dense scalar where nothing is left.

        Args:
          axis: one or several dimensions; None: all.
          dtype: type of the result; None: that of `jax.numpy.sum`.
          keepdims: whether summed dimensions stay, with size 1.
        """
        axes = _layout.canonical_axes(axis, self.ndim)
        wanted = _layout.sum_dtype(self.dtype, dtype)
        if not axes:
            return self if wanted == self.dtype else self.astype(wanted)
        data = self.data if wanted == self.dtype else self.data.astype(wanted)
        data, indices = _entries.reduce_sum(data, self.indices, shape=self.shape, axes=axes)
        kept = tuple(d for d in range(self.ndim) if d not in axes)
        total = BCOO._trusted(data, indices, tuple(self.shape[d] for d in kept))
        if not kept:
            dense = total.todense()
            return dense.reshape((1,) * self.ndim) if keepdims else dense
        if keepdims:
            out = tuple(1 if d in axes else s for d, s in enumerate(self.shape))
            data, indices = _structure.broadcast_in_dim(
                data, indices, shape=total.shape, out=out, dimensions=kept
            )
            return BCOO._trusted(data, indices, out)
        return total

    def reshape(self, *shape: Any, order: str = "C") -> "BCOO":
        """Gives the array another shape of as many cells; one size may be -1.

        Raises:
          ValueError: cells of batch, sparse and dense dimensions would mix; use `update_layout`
            first.
          NotImplementedError: `order` is not "C".
        """
        if order != "C":
            raise NotImplementedError(f"BCOO.reshape: order must be 'C', got {order!r}")
        return _operators.reshape(self, _operators.resolve_sizes(self, shape))

    def _keeps_kinds(self, permutation: tuple[int, ...]) -> bool:
        """Whether a permutation moves batch, sparse and dense dimensions among themselves only."""
        bounds = (0, self.n_batch, self.n_batch + self.n_sparse, self.ndim)
        return all(sorted(permutation[i:j]) == list(range(i, j)) for i, j in pairwise(bounds))

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, JAXSparse):
            return _operators.matmul(self, _as_bcoo(other, "product"))
        other = _as_operand(other)
        plan = _dot.matmul_plan(self.shape, other.shape)
        return plan.finish(self._dot_general(other, plan.dimension_numbers))

    def __rmatmul__(self, other: Any) -> Any:
        other = other if isinstance(other, jax.Array) else jnp.asarray(other)
        plan = _dot.matmul_plan(other.shape, self.shape)
        return plan.finish(self._rdot_general(other, plan.dimension_numbers))

    def _dot_general(self, other: Any, dimension_numbers: Any, out_dtype: Any = None) -> jax.Array:
        return _dot.coo_dot_general(
            self.data,
            self.indices,
            other,
            shape=self.shape,
            dimension_numbers=_dot.canonical_dimension_numbers(dimension_numbers),
            sorted_by=self._sorted_by,
            out_dtype=out_dtype,
        )

    def _rdot_general(self, other: Any, dimension_numbers: Any, out_dtype: Any = None) -> jax.Array:
        return _dot.dense_dot_general_coo(
            other,
            self.data,
            self.indices,
            shape=self.shape,
            dimension_numbers=_dot.canonical_dimension_numbers(dimension_numbers),
            sorted_by=self._sorted_by,
            out_dtype=out_dtype,
        )

    # Elementwise.

    def __neg__(self) -> "BCOO":
        return self._with_buffers(-self.data, self.indices)

    def __pos__(self) -> "BCOO":
        return self

    def __abs__(self) -> "BCOO":
        return self._map(jnp.abs)

    def __pow__(self, exponent: Any) -> "BCOO":
        """Raises every cell to a positive power.

        Raises:
          NotImplementedError: the exponent is not a positive Python number, so zeros would change.
        """
        if not isinstance(exponent, int | float | np.number) or exponent <= 0:
            raise NotImplementedError(
                f"power of a sparse array: the exponent must be a positive number, so that zero "
                f"stays zero; got {exponent!r}. Use .todense() if a dense result is wanted"
            )
        return self._map(lambda data: data**exponent)

    def __rpow__(self, base: Any) -> Any:
        raise self._lacks("__rpow__, which would give a dense result")

    def _map(self, function: Callable[[jax.Array], jax.Array]) -> "BCOO":
        """Applies a function with `f(0) == 0` to the cells; repeats are added up first."""
        one = self if self.unique_indices else self._unique()
        return one._with_buffers(function(one.data), one.indices)

    def _unique(self) -> "BCOO":
        data, indices, _ = _entries.sum_duplicates(
            self.data,
            self.indices,
            shape=self.shape,
            nse=self.nse,
            remove_zeros=False,
        )
        return BCOO._trusted(data, indices, self.shape, True, True)

    def __mul__(self, other: Any) -> "BCOO":
        if isinstance(other, JAXSparse):
            return _operators.multiply(self, _as_bcoo(other, "product"))
        other = _as_operand(other)
        if other.ndim == 0:
            return self._with_buffers(self.data * other, self.indices)
        values = self._extract("multiplication", other)
        return self._with_buffers(_entries.multiply(self.data, values), self.indices)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "BCOO":
        if isinstance(other, JAXSparse):
            return self.__rtruediv__(other)
        other = _as_operand(other)
        if other.ndim == 0:
            return self._with_buffers(self.data / other, self.indices)
        real = self._extract("division", jnp.ones_like(other, shape=(1,) * other.ndim))
        values = jnp.where(real != 0, self._extract("division", other), 1)
        return self._with_buffers(_entries.divide(self.data, values), self.indices)

    def __rtruediv__(self, other: Any) -> Any:
        raise NotImplementedError(
            "Division by a sparse array is not implemented because it would result in dense "
            "output. If this is your intent, use sparse.todense() to convert your arguments to a "
            "dense array."
        )

    def _extract(self, what: str, other: jax.Array) -> jax.Array:
        shape = jnp.broadcast_shapes(self.shape, other.shape)
        if shape != self.shape:
            raise NotImplementedError(
                f"{what} of sparse {self.shape} and dense {other.shape} is implemented only where "
                f"the result has the shape of the sparse operand; got {shape}"
            )
        other = other.reshape((1,) * (self.ndim - other.ndim) + other.shape)
        return _entries.extract(self.indices, other, shape=self.shape)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, JAXSparse):
            return _operators.add(self, _as_bcoo(other, "sum"))
        other = _as_operand(other)
        if jnp.broadcast_shapes(self.shape, other.shape) != other.shape:
            raise NotImplementedError(
                f"Addition between a sparse array of shape {self.shape} and a dense array of shape "
                f"{other.shape} is not implemented where the output is larger than the dense "
                f"operand. This prevents silent densification; use .todense() if it is your intent."
            )
        return self.todense() + other

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + (-other if isinstance(other, JAXSparse) else -_as_operand(other))

    def __rsub__(self, other: Any) -> Any:
        return (-self) + other

    def __getitem__(self, item: Any) -> "BCOO":
        """Indexing by integers, slices, `...`, None, arrays of integers and known masks.

        Arrays make batch dimensions where they index the first sparse dimension or several, else
        dimensions of the kind that they index. A number out of range means the nearest cell.

        Raises:
          IndexError: too many indices, or a mask that does not fit.
          TypeError: an index of another kind, or a traced mask.
        """
        return getitem(self, item)

    def __iter__(self) -> Iterator["BCOO"]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: Any) -> Any:
        raise _would_be_dense("eq")

    def __ne__(self, other: Any) -> Any:
        raise _would_be_dense("ne")

    def __lt__(self, other: Any) -> Any:
        raise _would_be_dense("lt")

    def __le__(self, other: Any) -> Any:
        raise _would_be_dense("le")

    def __gt__(self, other: Any) -> Any:
        raise _would_be_dense("gt")

    def __ge__(self, other: Any) -> Any:
        raise _would_be_dense("ge")

    __hash__ = None  # pyright: ignore[reportAssignmentType]


def _as_operand(value: Any) -> jax.Array:
    return value if isinstance(value, jax.Array) else jnp.asarray(value)


def _as_bcoo(value: Any, what: str) -> BCOO:
    if isinstance(value, BCOO):
        return value
    if not hasattr(value, "to_bcoo"):
        raise NotImplementedError(f"{what} of a BCOO and a {type(value).__name__}")
    return value.to_bcoo()


def _would_be_dense(name: str) -> NotImplementedError:
    return NotImplementedError(
        f"sparse rule for {name} is not implemented because it would result in dense output. If "
        f"this is your intent, use sparse.todense() to convert your arguments to dense matrices."
    )


register(BCOO)
