"""More slots for a sparse value, so that results of several programs have one form."""

from typing import Any

from jax import lax
from jax import numpy as jnp

from rarefy.sparse._bcoo import BCOO
from rarefy.sparse._bcoo_functions import bcoo_set_nse
from rarefy.sparse._bcsr import BCSR


def lengthened(value: BCOO | BCSR, nse: int) -> Any:
    """The value with at least as many slots, new ones padding."""
    missing = nse - value.nse
    if missing <= 0:
        return value
    if isinstance(value, BCOO):
        return bcoo_set_nse(value, nse)
    axis = value.indices.ndim - 1
    pads = [(0, missing if d == axis else 0, 0) for d in range(value.data.ndim)]
    data = lax.pad(value.data, jnp.zeros((), value.dtype), pads)
    limit = jnp.asarray(value.shape[axis + 1], value.indices.dtype)
    return value._with_buffers(data, lax.pad(value.indices, limit, pads[: axis + 1]), value.indptr)
