"""The largest eigenvalues of a symmetric operator."""

from collections.abc import Callable
from typing import Any

import jax
from jax import lax
from jax import numpy as jnp

HIGHEST = lax.Precision.HIGHEST


def lobpcg_standard(
    A: Any, X: Any, m: int = 100, tol: float | None = None
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Finds the largest eigenvalues of a symmetric operator and their eigenvectors.

    Every step takes the best vectors (Rayleigh and Ritz) in the space of the present ones, their
    residuals and the direction of the last step; the basis of that space is kept orthonormal.

    Args:
      A: symmetric: a function `(n, k) -> (n, k)`, or a dense or sparse matrix `(n, n)`.
      X: `(n, k)`, real floating, the vectors to begin with; `0 < 5 * k < n`.
      m: the most steps to make.
      tol: the relative residual at which a pair counts as found; None: the rounding of the dtype.

    Returns:
      the `k` largest eigenvalues, descending; their eigenvectors, `(n, k)`, orthonormal; and the
      number of steps that were made.

    Raises:
      ValueError: the shapes do not fit.

    Source: Knyazev, Toward the Optimal Preconditioned Eigensolver (2001), without preconditioner.
    """
    X = jnp.asarray(X)
    multiply: Callable[[Any], Any] = A if callable(A) else lambda v: A @ v
    _check(multiply, X)
    return _run(multiply, X, m, float(jnp.finfo(X.dtype).eps) if tol is None else tol)


def _check(multiply: Callable[[Any], Any], X: jax.Array) -> None:
    if X.ndim != 2:
        raise ValueError(f"lobpcg_standard: X must be (n, k), got {X.shape}")
    n, k = X.shape
    if k == 0:
        raise ValueError(f"must have search dim > 0, got {k}")
    if k * 5 >= n:
        raise ValueError(f"expected search dim * 5 < matrix dim (got {k * 5}, {n})")
    out = jax.eval_shape(multiply, jax.ShapeDtypeStruct((n, k), X.dtype))
    if out.dtype != X.dtype:
        raise ValueError(f"A, X must have same dtypes (were {out.dtype}, {X.dtype})")
    if out.shape != (n, k):
        raise ValueError(f"A must be ({n}, {n}) matrix A, got output {out.shape}")


def _run(multiply: Callable[[Any], Any], X: jax.Array, m: int, tol: float):
    k = X.shape[1]
    X = _orthonormal(X)
    values, rotation = _largest(_dot(X.T, multiply(X)))
    X = _dot(X, rotation)

    def going(state):
        step, _, _, _, done = state
        return (step < m) & ~done

    def advance(state):
        step, values, X, P, _ = state
        R = _residual(multiply, values, X)
        R = _orthonormal(_without(X, R))
        P = _orthonormal(_without(jnp.concatenate([X, R], axis=1), P))
        basis = jnp.concatenate([X, R, P], axis=1)
        values, rotation = _largest(_dot(basis.T, multiply(basis)))
        values, rotation = values[:k], rotation[:, :k]
        new = _dot(basis, rotation)
        # What a step adds to the old vectors is the direction that the next one may go on in.
        direction = _dot(basis[:, k:], rotation[k:])
        new = _orthonormal_signed(new)
        return step + 1, values, new, direction, _converged(multiply, values, new, tol)

    start = (0, values, X, jnp.zeros_like(X), _converged(multiply, values, X, tol))
    steps, values, X, _, _ = lax.while_loop(going, advance, start)
    return values, X, jnp.asarray(steps)


def _converged(multiply, values, X, tol):
    n, k = X.shape
    error = jnp.linalg.norm(_residual(multiply, values, X), axis=0)
    scale = jnp.maximum(jnp.abs(values), jnp.abs(values).max() * jnp.finfo(X.dtype).eps)
    return jnp.all(error <= tol * n * 10 * scale) if k else jnp.asarray(True)


def _residual(multiply, values, X):
    return multiply(X) - X * values[None, :]


def _dot(a, b):
    return jnp.matmul(a, b, precision=HIGHEST)


def _largest(matrix):
    """Eigenvalues, descending, and eigenvectors of a small matrix that should be symmetric."""
    values, vectors = jnp.linalg.eigh((matrix + matrix.T) / 2)
    return values[::-1], vectors[:, ::-1]


def _without(basis, vectors):
    """Takes away what lies in an orthonormal basis; twice, as the first time leaves roundings."""
    for _ in range(2):
        vectors = vectors - _dot(basis, _dot(basis.T, vectors))
    return vectors


def _orthonormal(vectors):
    """An orthonormal basis of the space of vectors; a direction that is missing becomes zero."""
    for _ in range(2):
        norms = jnp.linalg.norm(vectors, axis=0, keepdims=True)
        vectors = jnp.where(norms > 0, vectors / jnp.where(norms > 0, norms, 1), 0)
        values, rotation = jnp.linalg.eigh(_dot(vectors.T, vectors))
        small = values <= values[-1] * jnp.finfo(vectors.dtype).eps * vectors.shape[1] * 4
        scale = jnp.where(small, 0, lax.rsqrt(jnp.where(small, 1, values)))
        vectors = _dot(vectors, rotation * scale[None, :])
    return vectors


def _orthonormal_signed(vectors):
    """Orthonormalizes vectors that nearly are, each staying close to itself."""
    q, r = jnp.linalg.qr(vectors)
    signs = jnp.where(jnp.diagonal(r) < 0, -1, 1).astype(q.dtype)
    return q * signs[None, :]
