"""Functions on BCOO under JAX's names: conversions, order, sums and products."""

import operator
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from rarefy.sparse import _entries, _layout, _operators, _sampled, _structure
from rarefy.sparse._base import JAXSparse
from rarefy.sparse._bcoo import BCOO
from rarefy.sparse._dot import canonical_dimension_numbers


def bcoo_fromdense(
    mat: Any,
    *,
    nse: int | None = None,
    n_batch: int = 0,
    n_dense: int = 0,
    index_dtype: Any = np.int32,
) -> BCOO:
    """See `BCOO.fromdense`."""
    return BCOO.fromdense(mat, nse=nse, n_batch=n_batch, n_dense=n_dense, index_dtype=index_dtype)


def bcoo_todense(mat: BCOO) -> jax.Array:
    """See `BCOO.todense`."""
    return expect_bcoo("bcoo_todense", mat).todense()


def bcoo_sort_indices(mat: BCOO) -> BCOO:
    """See `BCOO.sort_indices`."""
    return expect_bcoo("bcoo_sort_indices", mat).sort_indices()


def bcoo_sum_duplicates(mat: BCOO, nse: int | None = None) -> BCOO:
    """See `BCOO.sum_duplicates`; elements of value zero stay."""
    return expect_bcoo("bcoo_sum_duplicates", mat).sum_duplicates(nse, remove_zeros=False)


def bcoo_eliminate_zeros(mat: BCOO, nse: int | None = None) -> BCOO:
    """See `BCOO.sum_duplicates`; entries of value zero are dropped before adding up."""
    return expect_bcoo("bcoo_eliminate_zeros", mat).sum_duplicates(nse, remove_zeros=True)


def bcoo_transpose(mat: BCOO, *, permutation: Sequence[int]) -> BCOO:
    """See `BCOO.transpose`."""
    if not isinstance(permutation, tuple | list | np.ndarray):
        raise TypeError(
            f"transpose permutation must be a tuple/list/ndarray, got {type(permutation)}."
        )
    return expect_bcoo("bcoo_transpose", mat).transpose(permutation)


def bcoo_reduce_sum(mat: BCOO, *, axes: Sequence[int]) -> BCOO:
    """Sums over `axes`; the result is a BCOO even without dimensions, of the dtype of `jnp.sum`."""
    mat = expect_bcoo("bcoo_reduce_sum", mat)
    axes = tuple(sorted({operator.index(a) for a in axes}))
    if any(not 0 <= a < mat.ndim for a in axes):
        raise ValueError(f"bcoo_reduce_sum: axes {axes} are out of range for {mat!r}")
    data = mat.data.astype(_layout.sum_dtype(mat.dtype, None))
    data, indices = _entries.reduce_sum(data, mat.indices, shape=mat.shape, axes=axes)
    return BCOO._trusted(data, indices, tuple(s for d, s in enumerate(mat.shape) if d not in axes))


def bcoo_update_layout(
    mat: BCOO,
    *,
    n_batch: int | None = None,
    n_dense: int | None = None,
    on_inefficient: str | None = "error",
) -> BCOO:
    """See `BCOO.update_layout`."""
    mat = expect_bcoo("bcoo_update_layout", mat)
    return mat.update_layout(n_batch=n_batch, n_dense=n_dense, on_inefficient=on_inefficient)


def bcoo_multiply_dense(sp_mat: BCOO, v: Any) -> jax.Array:
    """Gives the data of `sp_mat * v`, whose indices are those of `sp_mat`."""
    return (expect_bcoo("bcoo_multiply_dense", sp_mat) * v).data


def bcoo_multiply_sparse(lhs: BCOO, rhs: BCOO) -> BCOO:
    """Multiplies two BCOO with equally many dimensions, cell by cell; sizes of 1 broadcast.

    Returns:
      BCOO. Where one side is not broadcast along a sparse dimension, it has the slots of that side
      (of the one with fewer, where both are): a slot keeps its cell and has zero where the other
      side stores nothing. Where both sides are broadcast, there is a slot for each pair.

    Raises:
      TypeError: the numbers of dimensions differ.
      ValueError: the shapes do not broadcast.
    """
    lhs, rhs = expect_bcoo("bcoo_multiply_sparse", lhs), expect_bcoo("bcoo_multiply_sparse", rhs)
    if lhs.ndim != rhs.ndim:
        raise TypeError(
            f"bcoo_multiply_sparse: arrays must have same number of dimensions, got {lhs.shape}, "
            f"{rhs.shape}"
        )
    return _operators.multiply(lhs, rhs)


def bcoo_extract(sparr: BCOO, arr: Any, *, assume_unique: bool | None = None) -> BCOO:
    """Looks up the stored cells of a sparse array in a dense one.

    Args:
      sparr: which cells.
      arr: dense, of the same shape.
      assume_unique: whether cells are taken to be stored once; None: as its flag says. Otherwise
        the value of a cell goes to the first entry that names it and the others get zero.

    Returns:
      BCOO of the same cells; padding has zero.

    Raises:
      TypeError: `sparr` is no BCOO.
      ValueError: the shapes differ.
    """
    sparr = expect_bcoo("bcoo_extract: the first argument", sparr)
    arr = jnp.asarray(arr)
    if arr.shape != sparr.shape:
        raise ValueError(
            f"bcoo_extract: shape mismatch, shapes differ: {sparr.shape} and {arr.shape}"
        )
    unique = sparr.unique_indices if assume_unique is None else bool(assume_unique)
    return sparr._with_buffers(extract(sparr.indices, arr, unique), sparr.indices)


def extract(indices: Any, arr: Any, assume_unique: bool = True) -> jax.Array:
    """`bcoo_extract` on buffers: `(*batch, nse, *dense)`, with whole batch axes."""
    data = _entries.extract(indices, arr, shape=arr.shape)
    if not assume_unique:
        data = _entries.keep_first(data, indices, shape=arr.shape)
    n_batch = indices.ndim - 2
    full = (*arr.shape[:n_batch], indices.shape[-2], *arr.shape[n_batch + indices.shape[-1] :])
    return jnp.broadcast_to(data, full)


def bcoo_dot_general(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Any:
    """`jax.lax.dot_general` of BCOO and dense arrays.

    Args:
      lhs, rhs: BCOO or dense.
      dimension_numbers: as `jax.lax.dot_general` takes them; any dimension may be contracted or
        batch.
      precision: accepted and without effect on sparse products, which are summed in full
        precision.
      preferred_element_type: type of the result.
      out_sharding: only None.

    Returns:
      Dense where one operand is; a sorted and unique BCOO of two BCOO, of as many slots as the
      product of their nse, or as there are cells where that is less. Outside of `jit` a result of
      more than 4096 slots has as many as it needs, rounded up.
    """
    if out_sharding is not None:
        raise NotImplementedError("out_sharding of a sparse product is not implemented")
    options = (canonical_dimension_numbers(dimension_numbers), preferred_element_type)
    if isinstance(lhs, BCOO):
        if isinstance(rhs, BCOO):
            return _operators.spdot_general(lhs, rhs, *options)
        if not isinstance(rhs, JAXSparse):
            return lhs._dot_general(jnp.asarray(rhs), *options)
    elif isinstance(rhs, BCOO) and not isinstance(lhs, JAXSparse):
        return rhs._rdot_general(jnp.asarray(lhs), *options)
    elif not isinstance(lhs, JAXSparse) and not isinstance(rhs, JAXSparse):
        return lax.dot_general(
            lhs,
            rhs,
            dimension_numbers,
            precision=precision,
            preferred_element_type=preferred_element_type,
        )
    raise NotImplementedError(
        f"bcoo_dot_general: needs BCOO or dense operands, got {type(lhs).__name__} and "
        f"{type(rhs).__name__}; convert with to_bcoo() or todense()"
    )


def bcoo_dot_general_sampled(A: Any, B: Any, indices: Any, *, dimension_numbers: Any) -> jax.Array:
    """`jax.lax.dot_general` of dense arrays, computed only at given places.

    Args:
      A, B: dense.
      indices: `(*batch, nse, n_sparse)`: BCOO indices of an array of the product's shape.
      dimension_numbers: as `jax.lax.dot_general` takes them.

    Returns:
      `(*batch, nse, *dense)`: BCOO data, in the order of the indices; zero for padding.

    Raises:
      ValueError: `indices` do not fit the product.

    Cost: O(nse * size of what is contracted).
    """
    A, B, indices = jnp.asarray(A), jnp.asarray(B), jnp.asarray(indices)
    numbers = canonical_dimension_numbers(dimension_numbers)
    return _sampled.dot_general_sampled(A, B, indices, dimension_numbers=numbers)


def bcoo_set_nse(mat: BCOO, nse: int) -> BCOO:
    """Lengthens a BCOO by padding, or shortens it by its last slots."""
    nse, n_batch = operator.index(nse), mat.n_batch
    if nse < 0:
        raise ValueError(f"nse must not be negative, got {nse}")
    if nse == mat.nse:
        return mat
    data = lax.slice_in_dim(mat.data, 0, min(nse, mat.nse), axis=n_batch)
    indices = lax.slice_in_dim(mat.indices, 0, min(nse, mat.nse), axis=n_batch)
    data, indices = _structure.lengthen(data, indices, shape=mat.shape, nse=nse)
    return mat._with_buffers(data, indices)


def expect_bcoo(name: str, value: Any) -> BCOO:
    """The value, which must be a BCOO.

    Raises:
      TypeError: it is not.
    """
    if not isinstance(value, BCOO):
        raise TypeError(f"{name}: expected a BCOO, got {type(value).__name__}")
    return value
