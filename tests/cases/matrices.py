"""Matrices of a given size, for tests and benchmarks."""

from typing import Any

import numpy as np
import scipy.sparse


def random_csr(
    rows: int, columns: int, per_row: int, dtype: Any = np.float32, seed: int = 0
) -> scipy.sparse.csr_matrix:
    """A matrix with `per_row` entries in each row, at sorted random columns; int32 indices."""
    rng = np.random.default_rng(seed)
    indices = np.sort(rng.integers(0, columns - per_row + 1, (rows, per_row)), axis=1)
    indices = (indices + np.arange(per_row)).astype(np.int32).reshape(-1)  # sorted, and no repeats
    data = rng.standard_normal(rows * per_row).astype(dtype)
    indptr = np.arange(0, rows * per_row + 1, per_row, dtype=np.int32)
    return scipy.sparse.csr_matrix((data, indices, indptr), shape=(rows, columns))
