"""Sparse arrays without a dense one, and their way back."""

import operator
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from rarefy.sparse._base import JAXSparse
from rarefy.sparse._bcoo import BCOO
from rarefy.sparse._bcsr import BCSR
from rarefy.sparse._check import as_shape
from rarefy.sparse._coo import COO
from rarefy.sparse._csr_classes import CSC, CSR
from rarefy.sparse._primitive import todense_p

FORMATS = {"bcsr": BCSR, "bcoo": BCOO, "coo": COO, "csr": CSR, "csc": CSC}


def todense(arr: Any) -> Any:
    """Makes a sparse array dense; a dense one is returned as it is."""
    if isinstance(arr, JAXSparse):
        return arr.todense()
    if isinstance(arr, Tracer):
        # It leaves a mark, by which a sparse value that is traced as a dense one can be found.
        leaves, tree = jax.tree_util.tree_flatten(arr)
        return todense_p.bind(*leaves, tree=tree)
    return arr


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
      sparse_format: "bcoo", "bcsr", "coo", "csr" or "csc".
      kwds: for "bcoo" and "bcsr" `n_batch`, `n_dense` and `nse` (slots, all padding), each 0 if not
        given.

    Raises:
      ValueError: the format is unknown, or the dimensions do not fit.
    """
    layout = _format(sparse_format)
    return layout._empty(as_shape("empty", shape), dtype=dtype, index_dtype=index_dtype, **kwds)


def _format(name: str) -> Any:
    if name not in FORMATS:
        raise ValueError(
            f"sparse_format={name!r} not recognized; must be one of {list(FORMATS.keys())}"
        )
    return FORMATS[name]


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
      sparse_format: "bcoo", "bcsr", "coo", "csr" or "csc".
      kwds: for "bcoo" `n_batch` and `n_dense`, each 0 if not given.

    Raises:
      ValueError: a size is negative or the format is unknown.
    """
    n_rows = operator.index(N)
    n_columns = n_rows if M is None else operator.index(M)
    k = operator.index(k)
    if n_rows < 0 or n_columns < 0:
        raise ValueError(f"eye: sizes must not be negative, got {n_rows} and {n_columns}")
    layout = _format(sparse_format)
    return layout._eye(
        N=n_rows, M=n_columns, k=k, dtype=dtype, index_dtype=np.dtype(index_dtype), **kwds
    )
