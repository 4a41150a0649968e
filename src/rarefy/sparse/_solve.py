"""Linear systems with a sparse matrix: direct on the host, and iterative."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp
from jax.scipy.sparse import linalg as iterative

from rarefy.sparse._base import JAXSparse
from rarefy.sparse._bcoo import BCOO
from rarefy.sparse._bcsr import BCSR


def spsolve(
    data: Any,
    indices: Any,
    indptr: Any = None,
    b: Any = None,
    tol: float = 1e-6,
    reorder: int = 1,
) -> jax.Array:
    """Solves a linear system with a sparse matrix by an LU factorization (SuperLU, on the host).

    Differentiable to any order with respect to `data` and `b`, and works under `jit` and `vmap`.

    Args:
      data: `(nse,)`, floating or complex; indices: `(nse,)`; indptr: `(n + 1,)`: the matrix in csr
        form. Or `data` is a square sparse matrix of any kind, and `indices` the right side.
      b: `(n,)` or `(n, k)`, dtype of `data`.
      tol: without effect, as with JAX on CPU.
      reorder: 0 to 3: no reordering of columns, or one that keeps the factors sparse.

    Returns:
      The solution, shape and dtype of `b`; NaN where the matrix is singular.

    Raises:
      ValueError: shapes or dtypes do not agree.
      ImportError: SciPy is not installed.
    """
    if isinstance(data, JAXSparse):
        if b is None:
            b = indices
        matrix = _as_bcsr(data)
    else:
        data, indices, indptr = map(jnp.asarray, (data, indices, indptr))
        _check_buffers(data, indices, indptr, jnp.asarray(b))
        n = indptr.shape[0] - 1
        matrix = BCSR._trusted(data, indices, indptr, (n, n))
    b = jnp.asarray(b)
    if matrix.dtype != b.dtype:
        raise ValueError(f"spsolve: data types do not match: {matrix.dtype} and {b.dtype}")
    n = matrix.shape[0]
    if matrix.n_batch or matrix.n_dense or matrix.shape != (n, n) or b.shape[:1] != (n,):
        raise ValueError(
            f"spsolve: needs a square matrix and as many rows of b, got {matrix!r} and {b.shape}"
        )
    if b.ndim > 2:
        raise ValueError(f"spsolve: b must be (n,) or (n, k), got {b.shape}")
    if reorder not in (0, 1, 2, 3):
        raise ValueError(f"spsolve: reorder={reorder!r} not valid, must be one of [0, 1, 2, 3]")
    del tol
    solve = partial(_solve, still(matrix), reorder=int(reorder))
    return lax.custom_linear_solve(
        lambda x: matrix @ x,
        b,
        solve=lambda _, right: solve(right, transposed=False),
        transpose_solve=lambda _, right: solve(right, transposed=True),
    )


def _check_buffers(data: Any, indices: Any, indptr: Any, b: Any) -> None:
    integers = all(jnp.issubdtype(i.dtype, jnp.integer) for i in (indices, indptr))
    if not integers:
        raise ValueError(
            f"spsolve: index arrays must be integer typed; got {indices.dtype} and {indptr.dtype}"
        )
    if not data.ndim == indices.ndim == indptr.ndim == 1:
        raise ValueError(
            f"spsolve: Arrays must be one-dimensional. Got data {data.shape}, indices "
            f"{indices.shape} and indptr {indptr.shape}"
        )
    if data.shape != indices.shape or b.shape[:1] != (indptr.shape[0] - 1,):
        raise ValueError(
            f"spsolve: Invalid CSR buffer sizes: data {data.shape}, indices {indices.shape}, indptr "
            f"{indptr.shape} for b {b.shape}"
        )


def still(matrix: BCSR) -> BCSR:
    """The matrix as the solver sees it: its derivative is that of the product."""
    return matrix._with_data(lax.stop_gradient(matrix.data))


def _as_bcsr(matrix: Any) -> BCSR:
    if isinstance(matrix, BCSR):
        return matrix
    if hasattr(matrix, "to_bcsr"):
        return matrix.to_bcsr()
    return BCSR.from_bcoo(matrix if isinstance(matrix, BCOO) else matrix.to_bcoo())


def _solve(matrix: BCSR, b: jax.Array, *, reorder: int, transposed: bool) -> jax.Array:
    out = jax.ShapeDtypeStruct(b.shape, b.dtype)
    host = partial(_solve_on_host, reorder=reorder, transposed=transposed)
    return jax.pure_callback(host, out, *matrix._bufs, b, vmap_method="sequential")


def _solve_on_host(data: Any, indices: Any, indptr: Any, b: Any, *, reorder, transposed):
    from scipy.sparse import csc_array
    from scipy.sparse.linalg import splu

    data, indices, indptr, b = map(np.asarray, (data, indices, indptr, b))
    n = indptr.shape[0] - 1
    end = int(indptr[-1])
    rows = np.repeat(np.arange(n), np.diff(indptr))
    columns, values = indices[:end], data[:end]
    real = (columns >= 0) & (columns < n)
    wide = np.result_type(data.dtype, np.float32)
    if wide not in (np.float32, np.float64, np.complex64, np.complex128):
        wide = np.dtype(np.float64)
    places = (rows[real], columns[real])
    matrix = csc_array((values[real].astype(wide), places), shape=(n, n))
    order = "COLAMD" if reorder else "NATURAL"
    if n == 0:
        return b
    try:
        out = splu(matrix, permc_spec=order).solve(b.astype(wide), "T" if transposed else "N")
    except RuntimeError:  # exactly singular
        return np.full_like(b, np.nan)
    return out.astype(b.dtype)


def _operator(matrix: Any) -> Any:
    """A function that multiplies by a sparse matrix; anything else as it is."""
    if not isinstance(matrix, JAXSparse):
        return matrix
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"linear operator must be a square matrix, but has shape: {matrix.shape}")
    return lambda x: matrix @ x


def _accepting_sparse(solve: Callable[..., Any]) -> Callable[..., Any]:
    def run(A, b, x0=None, *, M=None, **options):
        return solve(_operator(A), b, x0, M=_operator(M), **options)

    run.__name__ = run.__qualname__ = solve.__name__
    run.__doc__ = (
        f"`jax.scipy.sparse.linalg.{solve.__name__}`, whose matrix `A` and preconditioner `M` may "
        f"be sparse arrays too."
    )
    return run


cg = _accepting_sparse(iterative.cg)
gmres = _accepting_sparse(iterative.gmres)
bicgstab = _accepting_sparse(iterative.bicgstab)
