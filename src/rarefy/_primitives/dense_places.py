"""Where a dense matrix is not zero."""

from typing import Any, NamedTuple

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp
from jax.interpreters import batching

from rarefy._primitives._batching import one_by_one
from rarefy._primitives._define import KERNEL_FLOATS, Form, bind, define, like, public

KINDS = KERNEL_FLOATS | frozenset(
    np.dtype(f"{kind}{bits}") for kind in ("int", "uint") for bits in (8, 16, 32, 64)
)
KINDS |= {np.dtype(bool)}


class DensePlaces(NamedTuple):
    """Places of a csr matrix; the docstring of `dense_places` says what the fields hold."""

    indices: jax.Array
    indptr: jax.Array
    count: jax.Array  # pyright: ignore[reportIncompatibleMethodOverride]


@public("nse", "index_dtype")
def dense_places(mat, *, nse: int, index_dtype: Any = np.int32, form: Form = "auto") -> DensePlaces:
    """Finds the cells of a dense matrix that are not zero.

    Args:
      mat: `(m, n)`, any type; the kernel takes real and boolean ones.
      nse: how many places to make room for.
      index_dtype: int32 or int64.
      form: which implementation to use.

    Returns:
      indices `(nse,)` and indptr `(m + 1,)`, `index_dtype`: the columns of each row's cells,
      ascending; padding, of column `n`, comes last. Where there are more than `nse`, the last are
      left out.
      count: `()`, int32: the number of cells, also beyond `nse`.

    Raises:
      ValueError: `mat` is no matrix, or a size does not fit `index_dtype`.

    Cost: O(m * n).
    """
    dtype = np.dtype(index_dtype)
    return DensePlaces(*bind("dense_places", mat, nse=nse, index_dtype=dtype, form=form))


def _dense_places_xla(mat, *, nse, index_dtype):
    m, n = mat.shape
    occupied = mat != 0
    counts = jnp.cumsum(occupied.sum(axis=1, dtype=jnp.int32), dtype=jnp.int32)
    starts = jnp.concatenate([jnp.zeros(1, jnp.int32), counts])
    within = jnp.cumsum(occupied, axis=1, dtype=jnp.int32)
    slot = jnp.where(occupied, starts[:-1, None] + within - 1, nse)
    columns = jnp.broadcast_to(lax.iota(index_dtype, n), (m, n))
    indices = jnp.full(nse, n, index_dtype).at[slot].set(columns, mode="drop")
    return indices, jnp.minimum(starts, nse).astype(index_dtype), starts[-1]


def _dense_places_abstract(mat, *, nse, index_dtype):
    if mat.ndim != 2:
        raise ValueError(f"dense_places: mat must be (m, n), got {mat}")
    if index_dtype not in (np.int32, np.int64):
        raise ValueError(f"dense_places: index_dtype must be int32 or int64, got {index_dtype}")
    most = jnp.iinfo(index_dtype).max
    if not 0 <= nse <= most or mat.shape[1] > most:
        raise ValueError(f"dense_places: nse {nse} and {mat.shape[1]} columns must be 0 to {most}")
    return (
        like(mat, (nse,), index_dtype),
        like(mat, (mat.shape[0] + 1,), index_dtype),
        like(mat, (), np.dtype(np.int32)),
    )


dense_places_p = define(
    "dense_places",
    abstract=_dense_places_abstract,
    xla=_dense_places_xla,
    multiple_results=True,
    supports=lambda mat: mat.dtype in KINDS,
)
batching.primitive_batchers[dense_places_p] = one_by_one(dense_places_p)
