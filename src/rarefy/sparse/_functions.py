"""The functions of the layer under JAX's names; most of them are methods of BCOO and BCSR too."""

import operator
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp

from rarefy.sparse import _entries
from rarefy.sparse._base import JAXSparse
from rarefy.sparse._bcoo import BCOO
from rarefy.sparse._bcsr import BCSR
from rarefy.sparse._check import as_shape


def todense(arr: Any) -> jax.Array:
    """Makes a sparse array dense; a dense one is returned as it is."""
    return arr.todense() if isinstance(arr, JAXSparse) else arr


def empty(
    shape: Sequence[int],
    dtype: Any = None,
    index_dtype: Any = "int32",
    sparse_format: str = "bcoo",
    **kwds: Any,
) -> Any:
    """Makes a sparse array of zeros.

    Args:
      shape: its shape.
      dtype: type of the values; None: the default float.
      index_dtype: type of the indices.
      sparse_format: "bcoo" or "bcsr".
      kwds: `n_batch`, `n_dense` and `nse` (slots, all padding), each 0 if not given.

    Raises:
      ValueError: the format is unknown, or the dimensions do not fit.
    """
    shape = as_shape("empty", shape)
    counts = [operator.index(kwds.pop(name, 0)) for name in ("n_batch", "n_dense", "nse")]
    if kwds:
        raise TypeError(f"empty: unexpected arguments {sorted(kwds)}")
    n_batch, n_dense, nse = counts
    if min(counts) < 0 or n_batch + n_dense > len(shape):
        raise ValueError(
            f"empty: n_batch={n_batch}, n_dense={n_dense} and nse={nse} do not fit shape {shape}"
        )
    batch, sparse = shape[:n_batch], shape[n_batch : len(shape) - n_dense]
    data = jnp.zeros((*batch, nse, *shape[len(shape) - n_dense :]), dtype)
    if _format(sparse_format) == "bcsr":
        if len(sparse) != 2:
            raise ValueError(
                f"empty: bcsr needs two sparse dimensions, {sparse} are left of {shape}"
            )
        columns = jnp.full((*batch, nse), sparse[1], index_dtype)
        indptr = jnp.zeros((*batch, sparse[0] + 1), index_dtype)
        return BCSR._trusted(data, columns, indptr, shape, True, True)
    limit = np.asarray(sparse, index_dtype)
    indices = jnp.broadcast_to(jnp.asarray(limit), (*batch, nse, len(sparse)))
    return BCOO._trusted(data, indices, shape, True, True)


def _format(name: str) -> str:
    if name not in ("bcoo", "bcsr"):
        raise ValueError(f"sparse_format must be 'bcoo' or 'bcsr', got {name!r}")
    return name


def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: Any = None,
    index_dtype: Any = "int32",
    sparse_format: str = "bcoo",
    **kwds: Any,
) -> Any:
    """Makes a sparse matrix with ones on a diagonal.

    Args:
      N, M: rows and columns; `M=None` means `N`.
      k: which diagonal; above the main one if positive.
      dtype: type of the values; None: the default float.
      index_dtype: type of the indices.
      sparse_format: "bcoo" or "bcsr".
      kwds: `n_batch` and `n_dense`, each 0 if not given.
    """
    n_rows = operator.index(N)
    n_columns = n_rows if M is None else operator.index(M)
    k = operator.index(k)
    if n_rows < 0 or n_columns < 0:
        raise ValueError(f"eye: sizes must not be negative, got {n_rows} and {n_columns}")
    n_batch, n_dense = (
        operator.index(kwds.pop("n_batch", 0)),
        operator.index(kwds.pop("n_dense", 0)),
    )
    if kwds:
        raise TypeError(f"eye: unexpected arguments {sorted(kwds)}")
    length = max(0, min(n_rows - max(-k, 0), n_columns - max(k, 0)))
    places = np.arange(length) + np.asarray([[max(-k, 0)], [max(k, 0)]])
    out = BCOO._trusted(
        jnp.ones(length, dtype),
        jnp.asarray(places.T.astype(index_dtype)),
        (n_rows, n_columns),
        True,
        True,
    )
    if n_batch or n_dense:
        out = _eye_layout(out, n_batch, n_dense)
    return BCSR.from_bcoo(out) if _format(sparse_format) == "bcsr" else out


def _eye_layout(out: BCOO, n_batch: int, n_dense: int) -> BCOO:
    """Gives the diagonal batch or dense dimensions; a row has one element, so nse becomes 1."""
    if n_batch < 0 or n_dense < 0 or n_batch + n_dense > 2:
        raise ValueError(f"eye: n_batch={n_batch} and n_dense={n_dense} do not fit two dimensions")
    out = out.update_layout(n_batch=n_batch, n_dense=n_dense, on_inefficient=None)
    return out.sum_duplicates(nse=1, remove_zeros=True) if n_batch else out


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
    return _expect(BCOO, "bcoo_todense", mat).todense()


def bcoo_sort_indices(mat: BCOO) -> BCOO:
    """See `BCOO.sort_indices`."""
    return _expect(BCOO, "bcoo_sort_indices", mat).sort_indices()


def bcoo_sum_duplicates(mat: BCOO, nse: int | None = None) -> BCOO:
    """See `BCOO.sum_duplicates`; elements of value zero stay."""
    return _expect(BCOO, "bcoo_sum_duplicates", mat).sum_duplicates(nse, remove_zeros=False)


def bcoo_transpose(mat: BCOO, *, permutation: Sequence[int]) -> BCOO:
    """See `BCOO.transpose`."""
    return _expect(BCOO, "bcoo_transpose", mat).transpose(permutation)


def bcoo_reduce_sum(mat: BCOO, *, axes: Sequence[int]) -> BCOO:
    """Sums over `axes`; the result is a BCOO even without dimensions."""
    mat = _expect(BCOO, "bcoo_reduce_sum", mat)
    axes = tuple(sorted(operator.index(a) % mat.ndim for a in axes))
    data, indices = _entries.reduce_sum(mat.data, mat.indices, shape=mat.shape, axes=axes)
    return BCOO._trusted(data, indices, tuple(s for d, s in enumerate(mat.shape) if d not in axes))


def bcoo_update_layout(
    mat: BCOO,
    *,
    n_batch: int | None = None,
    n_dense: int | None = None,
    on_inefficient: str | None = "error",
) -> BCOO:
    """See `BCOO.update_layout`."""
    mat = _expect(BCOO, "bcoo_update_layout", mat)
    return mat.update_layout(n_batch=n_batch, n_dense=n_dense, on_inefficient=on_inefficient)


def bcoo_multiply_dense(sp_mat: BCOO, v: Any) -> jax.Array:
    """Gives the data of `sp_mat * v`, whose indices are those of `sp_mat`."""
    return (_expect(BCOO, "bcoo_multiply_dense", sp_mat) * v).data


def bcoo_extract(sparr: BCOO, arr: Any, *, assume_unique: bool | None = None) -> BCOO:
    """Looks up the stored cells of a sparse array in a dense one.

    Args:
      sparr: which cells.
      arr: dense, of the same shape.
      assume_unique: whether cells are taken to be stored once; None: as its flag says. Otherwise
        the value of a cell goes to the first entry that names it and the others get zero.

    Returns:
      BCOO of the same cells; padding has zero.
    """
    sparr = _expect(BCOO, "bcoo_extract", sparr)
    arr = jnp.asarray(arr)
    if arr.shape != sparr.shape:
        raise ValueError(f"bcoo_extract: shapes differ: {sparr.shape} and {arr.shape}")
    data = _entries.extract(sparr.indices, arr, shape=sparr.shape)
    if not (sparr.unique_indices if assume_unique is None else assume_unique):
        data = _entries.keep_first(data, sparr.indices, shape=sparr.shape)
    return sparr._with_buffers(data, sparr.indices)


def bcoo_dot_general(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> jax.Array:
    """`jax.lax.dot_general` of a BCOO and a dense array, either way round.

    Args:
      lhs, rhs: one BCOO, one dense.
      dimension_numbers: as `jax.lax.dot_general` takes them; any dimension may be contracted or
        batch.
      precision: accepted and without effect: products are summed in full precision.
      preferred_element_type: type of the result.
      out_sharding: only None.

    Returns:
      Dense.

    Raises:
      NotImplementedError: both or neither operand is sparse.
    """
    _no_out_sharding(out_sharding)
    if isinstance(lhs, BCOO) and not isinstance(rhs, JAXSparse):
        return lhs._dot_general(jnp.asarray(rhs), dimension_numbers, preferred_element_type)
    if isinstance(rhs, BCOO) and not isinstance(lhs, JAXSparse):
        return rhs._rdot_general(jnp.asarray(lhs), dimension_numbers, preferred_element_type)
    raise NotImplementedError(
        f"bcoo_dot_general: needs one BCOO and one dense operand, got {type(lhs).__name__} and "
        f"{type(rhs).__name__}; make one of them dense with todense()"
    )


def bcsr_fromdense(
    mat: Any,
    *,
    nse: int | None = None,
    n_batch: int = 0,
    n_dense: int = 0,
    index_dtype: Any = np.int32,
) -> BCSR:
    """See `BCSR.fromdense`."""
    return BCSR.fromdense(mat, nse=nse, n_batch=n_batch, n_dense=n_dense, index_dtype=index_dtype)


def bcsr_todense(mat: BCSR) -> jax.Array:
    """See `BCSR.todense`."""
    return _expect(BCSR, "bcsr_todense", mat).todense()


def bcsr_sum_duplicates(mat: BCSR, nse: int | None = None) -> BCSR:
    """See `BCSR.sum_duplicates`; elements of value zero stay."""
    return _expect(BCSR, "bcsr_sum_duplicates", mat).sum_duplicates(nse, remove_zeros=False)


def bcsr_extract(indices: Any, indptr: Any, mat: Any) -> jax.Array:
    """Looks up cells, given as rows, in a dense array.

    Args:
      indices: `(*batch, nse)`; indptr: `(*batch, m + 1)`.
      mat: dense, `(*batch, m, n, *dense)`.

    Returns:
      `(*batch, nse, *dense)`; padding has zero.
    """
    indices, indptr, mat = jnp.asarray(indices), jnp.asarray(indptr), jnp.asarray(mat)
    cells = BCSR._trusted(indices, indices, indptr, mat.shape).to_bcoo()
    return _entries.extract(cells.indices, mat, shape=mat.shape)


def bcsr_dot_general(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> jax.Array:
    """`jax.lax.dot_general` of a BCSR and a dense array, either way; as `bcoo_dot_general`."""
    _no_out_sharding(out_sharding)
    if isinstance(lhs, BCSR) and not isinstance(rhs, JAXSparse):
        return lhs._dot_general(jnp.asarray(rhs), dimension_numbers, preferred_element_type)
    if isinstance(rhs, BCSR) and not isinstance(lhs, JAXSparse):
        return rhs._rdot_general(jnp.asarray(lhs), dimension_numbers, preferred_element_type)
    raise NotImplementedError(
        f"bcsr_dot_general: needs one BCSR and one dense operand, got {type(lhs).__name__} and "
        f"{type(rhs).__name__}; make one of them dense with todense()"
    )


def _expect(layout: type, name: str, value: Any) -> Any:
    if not isinstance(value, layout):
        raise TypeError(f"{name}: expected a {layout.__name__}, got {type(value).__name__}")
    return value


def _no_out_sharding(out_sharding: Any) -> None:
    if out_sharding is not None:
        raise NotImplementedError("out_sharding of a sparse product is not implemented")
