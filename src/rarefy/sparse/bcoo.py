"""`jax.experimental.sparse.bcoo` under its name: BCOO, its functions, and the same on buffers."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import numpy as jnp

from rarefy.sparse import _entries
from rarefy.sparse._bcoo import BCOO as BCOO
from rarefy.sparse._bcoo_conv import bcoo_conv_general_dilated as bcoo_conv_general_dilated
from rarefy.sparse._bcoo_functions import bcoo_dot_general as bcoo_dot_general
from rarefy.sparse._bcoo_functions import bcoo_dot_general_sampled as bcoo_dot_general_sampled
from rarefy.sparse._bcoo_functions import bcoo_eliminate_zeros as bcoo_eliminate_zeros
from rarefy.sparse._bcoo_functions import bcoo_extract as bcoo_extract
from rarefy.sparse._bcoo_functions import bcoo_fromdense as bcoo_fromdense
from rarefy.sparse._bcoo_functions import bcoo_multiply_dense as bcoo_multiply_dense
from rarefy.sparse._bcoo_functions import bcoo_multiply_sparse as bcoo_multiply_sparse
from rarefy.sparse._bcoo_functions import bcoo_reduce_sum as bcoo_reduce_sum
from rarefy.sparse._bcoo_functions import bcoo_set_nse
from rarefy.sparse._bcoo_functions import bcoo_sort_indices as bcoo_sort_indices
from rarefy.sparse._bcoo_functions import bcoo_sum_duplicates as bcoo_sum_duplicates
from rarefy.sparse._bcoo_functions import bcoo_todense as bcoo_todense
from rarefy.sparse._bcoo_functions import bcoo_transpose as bcoo_transpose
from rarefy.sparse._bcoo_functions import bcoo_update_layout as bcoo_update_layout
from rarefy.sparse._bcoo_functions import extract as _extract
from rarefy.sparse._bcoo_shapes import bcoo_broadcast_in_dim as bcoo_broadcast_in_dim
from rarefy.sparse._bcoo_shapes import bcoo_concatenate as bcoo_concatenate
from rarefy.sparse._bcoo_shapes import bcoo_dynamic_slice as bcoo_dynamic_slice
from rarefy.sparse._bcoo_shapes import bcoo_gather as bcoo_gather
from rarefy.sparse._bcoo_shapes import bcoo_reshape as bcoo_reshape
from rarefy.sparse._bcoo_shapes import bcoo_rev as bcoo_rev
from rarefy.sparse._bcoo_shapes import bcoo_slice as bcoo_slice
from rarefy.sparse._bcoo_shapes import bcoo_squeeze as bcoo_squeeze
from rarefy.sparse._check import check_bcoo
from rarefy.sparse._info import CuSparseEfficiencyWarning as CuSparseEfficiencyWarning
from rarefy.sparse._info import Shape as Shape
from rarefy.sparse._info import SparseEfficiencyError as SparseEfficiencyError
from rarefy.sparse._info import SparseEfficiencyWarning as SparseEfficiencyWarning
from rarefy.sparse._info import SparseInfo as SparseInfo
from rarefy.sparse._primitive import primitive_of

_bcoo_set_nse = bcoo_set_nse


class BCOOProperties(NamedTuple):
    """How a BCOO is laid out."""

    n_batch: int
    n_sparse: int
    n_dense: int
    nse: int


def _validate_bcoo(data: Any, indices: Any, shape: Sequence[int]) -> BCOOProperties:
    """Reads the layout off the buffers.

    Raises:
      ValueError: they do not fit together or the shape.
    """
    check_bcoo("BCOO", data, indices, tuple(shape))
    return _validate_bcoo_indices(indices, shape)


def _validate_bcoo_indices(indices: Any, shape: Sequence[int]) -> BCOOProperties:
    n_batch, n_sparse = indices.ndim - 2, indices.shape[-1]
    n_dense = len(shape) - n_batch - n_sparse
    batch = indices.shape[:n_batch]
    if n_dense < 0 or any(b not in (1, s) for b, s in zip(batch, shape[:n_batch], strict=True)):
        raise ValueError(
            f"indices batch dimensions not compatible for indices.shape={indices.shape}, "
            f"shape={tuple(shape)}"
        )
    return BCOOProperties(n_batch, n_sparse, n_dense, indices.shape[-2])


def _of(data: Any, indices: Any, spinfo: SparseInfo) -> BCOO:
    data, indices = jnp.asarray(data), jnp.asarray(indices)
    _validate_bcoo(data, indices, spinfo.shape)
    return BCOO._trusted(data, indices, *spinfo)


def _bcoo_todense(data: Any, indices: Any, *, spinfo: SparseInfo) -> jax.Array:
    return _of(data, indices, spinfo).todense()


def _bcoo_fromdense(
    mat: Any, *, nse: int, n_batch: int = 0, n_dense: int = 0, index_dtype: Any = np.int32
) -> tuple[Any, Any]:
    options = {"n_batch": n_batch, "n_dense": n_dense, "index_dtype": index_dtype}
    return BCOO.fromdense(mat, nse=nse, **options)._bufs


def _bcoo_extract(indices: Any, arr: Any, *, assume_unique: bool = True) -> jax.Array:
    return _extract(jnp.asarray(indices), jnp.asarray(arr), assume_unique)


def _bcoo_transpose(
    data: Any, indices: Any, *, permutation: Sequence[int], spinfo: SparseInfo
) -> tuple[Any, Any]:
    return bcoo_transpose(_of(data, indices, spinfo), permutation=permutation)._bufs


def _bcoo_dot_general(
    lhs_data: Any,
    lhs_indices: Any,
    rhs: Any,
    *,
    dimension_numbers: Any,
    preferred_element_type: Any = None,
    lhs_spinfo: SparseInfo,
) -> jax.Array:
    return bcoo_dot_general(
        _of(lhs_data, lhs_indices, lhs_spinfo),
        rhs,
        dimension_numbers=dimension_numbers,
        preferred_element_type=preferred_element_type,
    )


def _bcoo_rdot_general(
    lhs: Any,
    rhs_data: Any,
    rhs_indices: Any,
    *,
    dimension_numbers: Any,
    preferred_element_type: Any = None,
    rhs_spinfo: SparseInfo,
) -> jax.Array:
    return bcoo_dot_general(
        lhs,
        _of(rhs_data, rhs_indices, rhs_spinfo),
        dimension_numbers=dimension_numbers,
        preferred_element_type=preferred_element_type,
    )


def _bcoo_spdot_general(
    lhs_data: Any,
    lhs_indices: Any,
    rhs_data: Any,
    rhs_indices: Any,
    *,
    lhs_spinfo: SparseInfo,
    rhs_spinfo: SparseInfo,
    dimension_numbers: Any,
    preferred_element_type: Any = None,
) -> tuple[Any, Any]:
    out = bcoo_dot_general(
        _of(lhs_data, lhs_indices, lhs_spinfo),
        _of(rhs_data, rhs_indices, rhs_spinfo),
        dimension_numbers=dimension_numbers,
        preferred_element_type=preferred_element_type,
    )
    return out._bufs


def _bcoo_sort_indices(data: Any, indices: Any, *, spinfo: SparseInfo) -> tuple[Any, Any]:
    return _of(data, indices, spinfo).sort_indices()._bufs


def _bcoo_sum_duplicates(
    data: Any, indices: Any, *, spinfo: SparseInfo, nse: int | None
) -> tuple[Any, Any]:
    return bcoo_sum_duplicates(_of(data, indices, spinfo), nse)._bufs


def _bcoo_broadcast_in_dim(
    data: Any, indices: Any, *, spinfo: SparseInfo, shape: Shape, broadcast_dimensions: Any
) -> tuple[Any, Any]:
    mat = _of(data, indices, spinfo)
    options = {"shape": shape, "broadcast_dimensions": broadcast_dimensions}
    return bcoo_broadcast_in_dim(mat, **options)._bufs


def _bcoo_reduce_sum(
    data: Any, indices: Any, *, spinfo: SparseInfo, axes: Sequence[int]
) -> tuple[Any, Any, Shape]:
    out = bcoo_reduce_sum(_of(data, indices, spinfo), axes=axes)
    return *out._bufs, out.shape


def _bcoo_multiply_sparse(
    lhs_data: Any,
    lhs_indices: Any,
    rhs_data: Any,
    rhs_indices: Any,
    *,
    lhs_spinfo: SparseInfo,
    rhs_spinfo: SparseInfo,
) -> tuple[Any, Any, Shape]:
    lhs = _of(lhs_data, lhs_indices, lhs_spinfo)
    out = bcoo_multiply_sparse(lhs, _of(rhs_data, rhs_indices, rhs_spinfo))
    return *out._bufs, out.shape


def _bcoo_multiply_dense(data: Any, indices: Any, v: Any, *, spinfo: SparseInfo) -> jax.Array:
    return bcoo_multiply_dense(_of(data, indices, spinfo), v)


def _sampled(A: Any, B: Any, indices: Any, *, dimension_numbers: Any) -> jax.Array:
    return bcoo_dot_general_sampled(A, B, indices, dimension_numbers=dimension_numbers)


def _unique_indices(indices: Any, *, shape: Sequence[int]) -> jax.Array:
    """The distinct cells that indices name, sorted, in as many slots."""
    nse = indices.shape[-2]
    flags = jnp.zeros(indices.shape[:-1], bool)
    dense = (1,) * (len(shape) - indices.ndim + 2 - indices.shape[-1])
    stored = tuple(shape)[: len(shape) - len(dense)]
    return _entries.sum_duplicates(flags, indices, shape=stored, nse=nse, remove_zeros=False)[1]


bcoo_todense_p = primitive_of("bcoo_todense", _bcoo_todense, multiple_results=False)
bcoo_fromdense_p = primitive_of("bcoo_fromdense", _bcoo_fromdense, multiple_results=True)
bcoo_extract_p = primitive_of("bcoo_extract", _bcoo_extract, multiple_results=False)
bcoo_transpose_p = primitive_of("bcoo_transpose", _bcoo_transpose, multiple_results=True)
bcoo_dot_general_p = primitive_of("bcoo_dot_general", _bcoo_dot_general, multiple_results=False)
bcoo_dot_general_sampled_p = primitive_of(
    "bcoo_dot_general_sampled", _sampled, multiple_results=False
)
bcoo_spdot_general_p = primitive_of(
    "bcoo_spdot_general", _bcoo_spdot_general, multiple_results=True
)
bcoo_sort_indices_p = primitive_of("bcoo_sort_indices", _bcoo_sort_indices, multiple_results=True)
bcoo_sum_duplicates_p = primitive_of(
    "bcoo_sum_duplicates",
    _bcoo_sum_duplicates,
    multiple_results=True,
    eager=_bcoo_sum_duplicates,
)
