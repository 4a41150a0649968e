"""Functions on BCSR under JAX's names. What has no routine of its own converts to BCOO once."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from rarefy.sparse._base import JAXSparse
from rarefy.sparse._bcoo_functions import extract
from rarefy.sparse._bcoo_shapes import bcoo_broadcast_in_dim, bcoo_concatenate
from rarefy.sparse._bcsr import BCSR
from rarefy.sparse._layout import csr_coordinates


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
    return expect_bcsr("bcsr_todense", mat).todense()


def bcsr_sum_duplicates(mat: BCSR, nse: int | None = None) -> BCSR:
    """See `BCSR.sum_duplicates`; elements of value zero stay."""
    return expect_bcsr("bcsr_sum_duplicates", mat).sum_duplicates(nse, remove_zeros=False)


def bcsr_eliminate_zeros(mat: BCSR, nse: int | None = None) -> BCSR:
    """See `BCSR.sum_duplicates`; entries of value zero are dropped before adding up."""
    return expect_bcsr("bcsr_eliminate_zeros", mat).sum_duplicates(nse, remove_zeros=True)


def bcsr_extract(indices: Any, indptr: Any, mat: Any) -> jax.Array:
    """Looks up cells, given as rows, in a dense array.

    Args:
      indices: `(*batch, nse)`; indptr: `(*batch, m + 1)`.
      mat: dense, `(*batch, m, n, *dense)`.

    Returns:
      `(*batch, nse, *dense)`; padding has zero.
    """
    indices, indptr, mat = jnp.asarray(indices), jnp.asarray(indptr), jnp.asarray(mat)
    return extract(csr_coordinates(indices, indptr, shape=mat.shape), mat)


def bcsr_dot_general(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Any:
    """`jax.lax.dot_general` of BCSR and dense arrays.

    Args:
      lhs, rhs: BCSR or dense.
      dimension_numbers: as `jax.lax.dot_general` takes them.
      precision: accepted and without effect on sparse products.
      preferred_element_type: type of the result.
      out_sharding: only None.

    Returns:
      Dense where one operand is. Of two BCSR what `bcoo_dot_general` gives, as a BCSR where it has
      two sparse dimensions.
    """
    if out_sharding is not None:
        raise NotImplementedError("out_sharding of a sparse product is not implemented")
    options = (dimension_numbers, preferred_element_type)
    if isinstance(lhs, BCSR):
        if isinstance(rhs, BCSR):
            return lhs._spdot_general(rhs, *options)
        if not isinstance(rhs, JAXSparse):
            return lhs._dot_general(jnp.asarray(rhs), *options)
    elif isinstance(rhs, BCSR) and not isinstance(lhs, JAXSparse):
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
        f"bcsr_dot_general is implemented for BCSR and ndarray operands, got "
        f"{type(lhs).__name__} and {type(rhs).__name__}; convert with BCSR.from_bcoo()"
    )


def bcsr_broadcast_in_dim(
    mat: BCSR, *, shape: Sequence[int], broadcast_dimensions: Sequence[int], sharding: Any = None
) -> BCSR:
    """`jax.lax.broadcast_in_dim` of a BCSR, as `bcoo_broadcast_in_dim`.

    Raises:
      NotImplementedError: the result has not two sparse dimensions.
    """
    mat = expect_bcsr("bcsr_broadcast_in_dim", mat)
    out = bcoo_broadcast_in_dim(
        mat.to_bcoo(), shape=shape, broadcast_dimensions=broadcast_dimensions, sharding=sharding
    )
    return BCSR.from_bcoo(out)


def bcsr_concatenate(operands: Sequence[BCSR], *, dimension: int) -> BCSR:
    """`jax.lax.concatenate` of BCSR, as `bcoo_concatenate`."""
    if not operands or not all(isinstance(op, BCSR) for op in operands):
        raise ValueError(
            f"bcsr_concatenate: expected operands to be a sequence of BCSR arrays. Got {operands}"
        )
    return BCSR.from_bcoo(bcoo_concatenate([op.to_bcoo() for op in operands], dimension=dimension))


def expect_bcsr(name: str, value: Any) -> BCSR:
    """The value, which must be a BCSR.

    Raises:
      TypeError: it is not.
    """
    if not isinstance(value, BCSR):
        raise TypeError(f"{name}: expected a BCSR, got {type(value).__name__}")
    return value
