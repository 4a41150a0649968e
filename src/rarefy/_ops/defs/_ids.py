"""Ids that operators are given as arrays: row numbers of tables, columns, classes."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from rarefy._ops.storage import is_traced
from rarefy.sparse._capacity import capacity
from rarefy.sparse._index import pad_leading

INT32_MAX = 2**31 - 1
_UNSIGNED = {4: np.dtype(np.uint32), 8: np.dtype(np.uint64)}


def require_ids(name: str, ids: Any, limit: int, of: str) -> None:
    """Refuses concrete ids outside `[0, limit)`.

    Raises:
      ValueError: with the position of the first such id, the id, and what it should index.
    """
    if is_traced(ids):
        return
    host = np.asarray(ids)
    if host.size == 0:
        return
    if host.dtype == np.int64 or host.dtype == np.int32:
        # Negative ones are larger than any limit when read without a sign.
        if host.view(_UNSIGNED[host.dtype.itemsize]).max() < limit:
            return
    elif host.min() >= 0 and host.max() < limit:
        return
    flat = host.reshape(-1)
    outside = ~((flat >= 0) & (flat < limit))
    first = int(np.argmax(outside))
    place = ", ".join(str(int(i)) for i in np.unravel_index(first, host.shape)) if host.ndim else ""
    raise ValueError(
        f"{name}[{place}] is {flat[first]:g}, outside the {limit} {of} (ids 0 to {limit - 1}); "
        f"{int(outside.sum())} of {flat.size} ids are outside"
    )


def as_ids(ids, limit: int):
    """Ids of any numeric dtype as int32, or as int64 where `limit` needs it."""
    dtype = jnp.int32 if limit <= INT32_MAX else jnp.int64
    return ids if ids.dtype == dtype else ids.astype(dtype)


def padded_ids(ids, limit: int):
    """Ids `(k,)` lengthened with `limit`, which is padding, up to the capacity ladder."""
    return pad_leading(ids, capacity(ids.shape[0]), limit)
