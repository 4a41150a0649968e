"""Awkward batched coordinate entries: NumPy buffers with their dense meaning, without rarefy."""

from typing import NamedTuple

import numpy as np


class Entries(NamedTuple):
    """Buffers of a batched coordinate array and the dense array they stand for."""

    data: np.ndarray
    indices: np.ndarray
    dense: np.ndarray

    @property
    def shape(self):
        return self.dense.shape


def awkward_entries(
    shape, *, n_batch=0, n_dense=0, nse=7, dtype=np.float32, index_dtype=np.int32, seed=0
) -> Entries:
    """Shuffled entries with repeats, a stored zero, and padding that is not last and not zero."""
    rng = np.random.default_rng(seed)
    batch, sparse = shape[:n_batch], shape[n_batch : len(shape) - n_dense]
    dense_shape = shape[len(shape) - n_dense :]
    data = rng.integers(-4, 5, (*batch, nse, *dense_shape)).astype(dtype)
    indices = np.stack([rng.integers(0, s, (*batch, nse)) for s in sparse], axis=-1)
    if nse > 2:
        indices[..., 2, :] = indices[..., 0, :]
        data[..., 1, *(slice(None) for _ in dense_shape)] = 0
    if nse > 4:
        indices[..., 3, :] = sparse
        indices[..., 4, 0] = sparse[0]
    dense = np.zeros(shape, dtype)
    for place in np.ndindex(*batch, nse):
        cell = tuple(indices[place])
        if all(c < s for c, s in zip(cell, sparse, strict=True)):
            dense[(*place[:-1], *cell)] += data[place]
    return Entries(data, indices.astype(index_dtype), dense)


# Every mix of batch, sparse and dense dimensions that an operation may meet.
LAYOUTS = [
    {"shape": (5,), "n_batch": 0, "n_dense": 0},
    {"shape": (5, 6), "n_batch": 0, "n_dense": 0},
    {"shape": (5, 3), "n_batch": 0, "n_dense": 1},
    {"shape": (2, 5, 6), "n_batch": 1, "n_dense": 0},
    {"shape": (2, 3, 4, 2), "n_batch": 1, "n_dense": 1},
    {"shape": (3, 4, 5), "n_batch": 0, "n_dense": 0},
]
