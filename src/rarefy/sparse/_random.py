"""Random sparse arrays, in time and memory of what they store."""

import math
import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from rarefy.sparse._bcoo import BCOO
from rarefy.sparse._check import as_shape
from rarefy.sparse._index import index_dtype_for

ROUNDS = 8


def random_bcoo(
    key: jax.Array,
    shape: Sequence[int],
    *,
    dtype: Any = np.float64,
    indices_dtype: Any = None,
    nse: float = 0.2,
    n_batch: int = 0,
    n_dense: int = 0,
    unique_indices: bool = True,
    sorted_indices: bool = False,
    generator: Callable[..., jax.Array] = jax.random.uniform,
    **kwds: Any,
) -> BCOO:
    """Makes a BCOO with random values in random cells.

    Args:
      key: a random key.
      shape: shape of the result.
      dtype: type of the values; 64-bit types become 32-bit where those are disabled.
      indices_dtype: type of the indices; None: int32, or int64 where the shape needs it.
      nse: number of cells in each batch, or below 1 their share of all cells.
      n_batch, n_dense: the layout.
      unique_indices: whether cells must differ.
      sorted_indices: whether to sort them.
      generator: `(key, shape=, dtype=, **kwds)` for the values.

    Returns:
      BCOO of `shape`.

    Raises:
      ValueError: more distinct cells are asked for than there are, or the dimensions do not fit.

    Cost: O(nse), whatever the shape.
    """
    shape = as_shape("random_bcoo", shape)
    n_batch, n_dense = operator.index(n_batch), operator.index(n_dense)
    if n_batch < 0 or n_dense < 0 or n_batch + n_dense > len(shape):
        raise ValueError(f"random_bcoo: n_batch={n_batch} and n_dense={n_dense} do not fit {shape}")
    batch, sparse = shape[:n_batch], shape[n_batch : len(shape) - n_dense]
    dense = shape[len(shape) - n_dense :]
    cells = math.prod(sparse)
    if nse < 0:
        raise ValueError(f"random_bcoo: nse must not be negative, got {nse}")
    stored = math.ceil(nse * cells) if 0 < nse < 1 else operator.index(int(nse))
    if unique_indices and stored > cells:
        raise ValueError(f"random_bcoo: nse={stored} distinct cells of {cells} are impossible")
    index_dtype = index_dtype_for(*sparse) if indices_dtype is None else np.dtype(indices_dtype)
    dtype = jax.dtypes.canonicalize_dtype(dtype)
    cell_key, data_key = jax.random.split(key)
    indices = _cells(
        cell_key, batch=batch, sparse=sparse, nse=stored, unique=unique_indices
    ).astype(index_dtype)
    data = generator(data_key, shape=(*batch, stored, *dense), dtype=dtype, **kwds)
    out = BCOO._trusted(data, indices, shape, False, bool(unique_indices))
    return out.sort_indices() if sorted_indices else out


def _cells(key, *, batch, sparse, nse, unique):
    """Draws cells: `(*batch, nse, n_sparse)`."""
    n_batches = math.prod(batch)
    if not sparse or not nse or not n_batches:
        return jnp.zeros((*batch, nse, len(sparse)), jnp.int32)
    keys = jax.random.split(key, n_batches)
    if not unique:
        draw = partial(_independent, sparse=sparse, nse=nse)
    elif math.prod(sparse) <= max(4 * nse, 1024):
        draw = partial(_shuffled, sparse=sparse, nse=nse)
    else:
        draw = partial(_scattered, sparse=sparse, nse=nse)
    out = jax.vmap(draw)(keys)
    return out.reshape(*batch, nse, len(sparse))


@partial(jax.jit, static_argnames=("sparse", "nse"))
def _independent(key, *, sparse, nse):
    keys = jax.random.split(key, len(sparse))
    dtype = index_dtype_for(*sparse)
    return jnp.stack(
        [jax.random.randint(k, (nse,), 0, s, dtype) for k, s in zip(keys, sparse, strict=True)],
        axis=-1,
    )


@partial(jax.jit, static_argnames=("sparse", "nse"))
def _shuffled(key, *, sparse, nse):
    chosen = jax.random.permutation(key, math.prod(sparse))[:nse]
    return jnp.stack(jnp.unravel_index(chosen, sparse), axis=-1)


def _scattered(key, *, sparse, nse):
    """Draws few of many cells: the first `nse` values of a random permutation of all cells.

    The permutation is a Feistel network on the two digits of a cell number in base
    `ceil(sqrt(cells))`, applied again to what falls outside the cells, so no two results agree and
    nothing is drawn twice.
    Source: Black and Rogaway, Ciphers with Arbitrary Finite Domains (2002).
    """
    keys = jax.random.bits(key, (ROUNDS,), jnp.uint32)
    cells = math.prod(sparse)
    if cells < 2**31:
        return _permuted(keys, sparse=sparse, nse=nse, wide=False)
    with jax.enable_x64(True):
        return _permuted(keys, sparse=sparse, nse=nse, wide=True)


@partial(jax.jit, static_argnames=("sparse", "nse", "wide"))
def _permuted(keys, *, sparse, nse, wide):
    dtype = jnp.int64 if wide else jnp.int32
    cells = math.prod(sparse)
    base = math.isqrt(cells - 1) + 1

    def permute(cell):
        left, right = cell // base, cell % base
        for r in range(ROUNDS):
            mixed = _mix(right.astype(jnp.uint32) ^ keys[r]) % np.uint32(base)
            left, right = right, (left + mixed.astype(dtype)) % base
        return left * base + right

    def walk(cell):
        return jnp.where(cell < cells, cell, permute(cell))

    first = permute(lax.iota(dtype, nse))
    cell = lax.while_loop(lambda c: jnp.any(c >= cells), walk, first)
    parts = []
    for size in reversed(sparse):
        parts.append(cell % size)
        cell = cell // size
    return jnp.stack(parts[::-1], axis=-1).astype(index_dtype_for(*sparse))


def _mix(bits):
    """Spreads 32 bits; the finalizer of MurmurHash3 (Appleby, public domain)."""
    bits = (bits ^ (bits >> 16)) * np.uint32(0x85EBCA6B)
    bits = (bits ^ (bits >> 13)) * np.uint32(0xC2B2AE35)
    return bits ^ (bits >> 16)
