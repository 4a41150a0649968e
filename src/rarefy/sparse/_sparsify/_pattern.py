"""Several sparse operands at the same cells."""

import math
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp

from rarefy.sparse import _entries
from rarefy.sparse._bcoo import BCOO
from rarefy.sparse._bcsr import BCSR
from rarefy.sparse._index import in_range
from rarefy.sparse._sparsify._values import Filled, Rows, Spread, is_dense, stored
from rarefy.sparse._sparsify._walk import Walk


def key_of(mat: Any) -> tuple[Any, ...]:
    """Equal for values whose stored values belong to the same cells, slot by slot."""
    indptr = id(mat.indptr) if isinstance(mat, BCSR) else None
    return id(mat.indices), indptr, mat.shape, mat.data.ndim


def align(walk: Walk, operands: Sequence[Any]) -> tuple[Any, list[jax.Array]]:
    """Brings sparse or filled operands to common cells, each stored once.

    Returns:
      An operand with those cells, and the values of each operand there.
    """
    values = [walk.merged(x.mat if isinstance(x, Filled) else x) for x in operands]
    keys = {key_of(stored(v)) for v in values}
    if len(keys) == 1:
        return values[0], [stored(v).data for v in values]
    mats = [walk.coo(v) for v in values]
    if len({key_of(m) for m in mats}) == 1:
        return values[0], [m.data for m in mats]
    n_batch, n_dense = min(m.n_batch for m in mats), min(m.n_dense for m in mats)
    mats = [m.update_layout(n_batch=n_batch, n_dense=n_dense) for m in mats]
    bases = [x.base if isinstance(x, Filled) else None for x in operands]
    pattern, data = _union(mats, bases)
    return (pattern if isinstance(values[0], BCOO) else Rows(pattern)), data


def _union(mats: Sequence[BCOO], bases: Sequence[Any]) -> tuple[BCOO, list[jax.Array]]:
    shape, n_batch, n_sparse = mats[0].shape, mats[0].n_batch, mats[0].n_sparse
    zeros = [jnp.zeros_like(m.data) for m in mats]
    indices = [m.indices for m in mats]
    total = sum(m.nse for m in mats)
    room = min(total, math.prod(shape[n_batch : n_batch + n_sparse]))

    def merged(parts):
        one, places = _entries.concatenate_entries(parts, indices, shape=shape)
        return _entries.sum_duplicates(one, places, shape=shape, nse=room, remove_zeros=False)[:2]

    found, places = [], None
    for k, (mat, base) in enumerate(zip(mats, bases, strict=True)):
        parts = [mat.data if i == k else zeros[i].astype(mat.dtype) for i in range(len(mats))]
        data, places = merged(parts)
        if base is not None:
            there, _ = merged([jnp.full_like(p, i == k, bool) for i, p in enumerate(parts)])
            data = jnp.where(there, data, _at(places, base, shape))
        found.append(data)
    return BCOO._trusted(found[0], places, shape, True, True), found


def look_up(walk: Walk, pattern: Any, value: Any, padding: int = 0) -> Any:
    """A dense or spread value at the cells of a sparse one.

    Returns:
      A number, or an array that broadcasts to the stored values; `padding` at padding.
    """
    base = value.base if isinstance(value, Spread) else value
    if not is_dense(base):
        raise AssertionError("only dense values are looked up")
    if math.prod(np.shape(base)) == 1:
        return jnp.reshape(jnp.asarray(base), ())
    mat = walk.coo(pattern)
    found = _at(mat.indices, base, mat.shape)
    if not padding:
        return found
    sparse = mat.shape[mat.n_batch : mat.n_batch + mat.n_sparse]
    real = in_range(mat.indices, sparse)
    real = real.reshape(*real.shape, *(1,) * (found.ndim - real.ndim))
    return jnp.where(real, found, padding)


def _at(indices: jax.Array, base: Any, shape: tuple[int, ...]) -> jax.Array:
    if math.prod(np.shape(base)) == 1:
        return jnp.reshape(jnp.asarray(base), ())
    return _entries.extract(indices, jnp.asarray(base), shape=shape)
