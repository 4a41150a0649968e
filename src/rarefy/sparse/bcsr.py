"""`jax.experimental.sparse.bcsr` under its name: BCSR, its functions, and the same on buffers."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import numpy as jnp

from rarefy.sparse import _rows
from rarefy.sparse._bcsr import BCSR as BCSR
from rarefy.sparse._bcsr_functions import bcsr_broadcast_in_dim as bcsr_broadcast_in_dim
from rarefy.sparse._bcsr_functions import bcsr_concatenate as bcsr_concatenate
from rarefy.sparse._bcsr_functions import bcsr_dot_general as bcsr_dot_general
from rarefy.sparse._bcsr_functions import bcsr_eliminate_zeros as bcsr_eliminate_zeros
from rarefy.sparse._bcsr_functions import bcsr_extract as bcsr_extract
from rarefy.sparse._bcsr_functions import bcsr_fromdense as bcsr_fromdense
from rarefy.sparse._bcsr_functions import bcsr_sum_duplicates as bcsr_sum_duplicates
from rarefy.sparse._bcsr_functions import bcsr_todense as bcsr_todense
from rarefy.sparse._check import check_bcsr
from rarefy.sparse._info import Shape as Shape
from rarefy.sparse._info import SparseEfficiencyWarning as SparseEfficiencyWarning
from rarefy.sparse._info import SparseInfo as SparseInfo
from rarefy.sparse._layout import csr_coordinates
from rarefy.sparse._primitive import primitive_of


class BCSRProperties(NamedTuple):
    """How a BCSR is laid out."""

    n_batch: int
    n_dense: int
    nse: int


def _validate_bcsr(data: Any, indices: Any, indptr: Any, shape: Sequence[int]) -> BCSRProperties:
    """Reads the layout off the buffers.

    Raises:
      ValueError: they do not fit together or the shape.
    """
    check_bcsr("BCSR", data, indices, indptr, tuple(shape))
    return _validate_bcsr_indices(indices, indptr, shape)


def _validate_bcsr_indices(indices: Any, indptr: Any, shape: Sequence[int]) -> BCSRProperties:
    n_batch = indices.ndim - 1
    dense = tuple(shape)[n_batch + 2 :]
    stand_in = jax.ShapeDtypeStruct((*(1,) * n_batch, indices.shape[-1], *dense), np.float32)
    check_bcsr("BCSR", stand_in, indices, indptr, tuple(shape))
    return BCSRProperties(n_batch, len(dense), indices.shape[-1])


def _of(data: Any, indices: Any, indptr: Any, spinfo: SparseInfo) -> BCSR:
    data, indices, indptr = map(jnp.asarray, (data, indices, indptr))
    return BCSR._trusted(data, indices, indptr, *spinfo)


def _bcsr_to_bcoo(indices: Any, indptr: Any, *, shape: Sequence[int]) -> jax.Array:
    """BCOO indices of BCSR ones."""
    return csr_coordinates(jnp.asarray(indices), jnp.asarray(indptr), shape=tuple(shape))


def _bcoo_to_bcsr(
    indices: Any, *, shape: Sequence[int], index_dtype: Any = None
) -> tuple[jax.Array, jax.Array]:
    """BCSR indices and indptr of sorted BCOO indices.

    Raises:
      ValueError: there are not two sparse dimensions.
    """
    if indices.shape[-1] != 2:
        raise ValueError("Must have 2 sparse dimensions to be converted to BCSR.")
    columns, indptr = _rows.compress(indices, shape=tuple(shape))
    dtype = columns.dtype if index_dtype is None else jax.dtypes.canonicalize_dtype(index_dtype)
    return columns.astype(dtype), indptr.astype(dtype)


def _bcsr_fromdense(
    mat: Any, *, nse: int, n_batch: int = 0, n_dense: int = 0, index_dtype: Any = np.int32
) -> tuple[Any, Any, Any]:
    options = {"n_batch": n_batch, "n_dense": n_dense, "index_dtype": index_dtype}
    return BCSR.fromdense(mat, nse=nse, **options)._bufs


def _bcsr_todense(data: Any, indices: Any, indptr: Any, *, spinfo: SparseInfo) -> jax.Array:
    return _of(data, indices, indptr, spinfo).todense()


def _bcsr_dot_general(
    lhs_data: Any,
    lhs_indices: Any,
    lhs_indptr: Any,
    rhs: Any,
    *,
    dimension_numbers: Any,
    preferred_element_type: Any = None,
    lhs_spinfo: SparseInfo,
) -> jax.Array:
    return bcsr_dot_general(
        _of(lhs_data, lhs_indices, lhs_indptr, lhs_spinfo),
        rhs,
        dimension_numbers=dimension_numbers,
        preferred_element_type=preferred_element_type,
    )


bcsr_fromdense_p = primitive_of("bcsr_fromdense", _bcsr_fromdense, multiple_results=True)
bcsr_todense_p = primitive_of("bcsr_todense", _bcsr_todense, multiple_results=False)
bcsr_extract_p = primitive_of("bcsr_extract", bcsr_extract, multiple_results=False)
bcsr_dot_general_p = primitive_of("bcsr_dot_general", _bcsr_dot_general, multiple_results=False)
