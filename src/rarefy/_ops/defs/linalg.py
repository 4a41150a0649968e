"""Linear algebra on matrices and batches of matrices: `(*b, m, n)`, float32 or float64.

Triangular arguments are read in their triangle only; so is their gradient.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import solve_triangular

from rarefy._ops.defs._numbers import require_same_dtype
from rarefy._ops.opdef import operator
from rarefy._ops.storage import is_traced


def _public(name: str) -> dict:
    return {"name": f"_linalg_{name}", "aliases": (f"linalg_{name}",)}


def _require_matrices(*arrays, square: bool = False) -> None:
    """Refuses arrays that are no matrices of 32- or 64-bit floats.

    Raises:
      TypeError: of the dtype.
      ValueError: of the shape.
    """
    require_same_dtype(*arrays)
    for array in arrays:
        if array.dtype not in (jnp.float32, jnp.float64):
            raise TypeError(f"linear algebra takes float32 or float64; got {array.dtype}")
        if array.ndim < 2 or (square and array.shape[-1] != array.shape[-2]):
            kind = "square matrices" if square else "matrices"
            raise ValueError(f"expected {kind} (*b, m, n); got shape {array.shape}")


def _t(x, transposed: bool = True):
    return jnp.swapaxes(x, -1, -2) if transposed else x


def _number_of(scalar, array):
    return jnp.asarray(scalar, array.dtype)


def _at_rows(array, axis: int):
    """Matrices whose rows lie along another axis, with the rows in front of the columns."""
    return jnp.moveaxis(array, axis, -2)


def _product(a, b, transpose_a: bool, transpose_b: bool):
    a, b = _t(a, transpose_a), _t(b, transpose_b)
    if a.shape[:-2] != b.shape[:-2] or a.shape[-1] != b.shape[-2]:
        raise ValueError(f"matrices of {a.shape} and {b.shape} do not align")
    return jnp.matmul(a, b)


@operator(**_public("gemm"))
def gemm(
    A,
    B,
    C,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    alpha: float = 1.0,
    beta: float = 1.0,
    axis: int = -2,
):
    """Computes alpha * A @ B + beta * C.

    Args:
      A, B, C: batches of matrices that align.
      transpose_a, transpose_b: whether the matrices of A, B are transposed.
      alpha, beta: numbers.
      axis: where the rows of the matrices lie.

    Returns:
      Shape and dtype of C.

    Raises:
      MXNetError: shapes or dtypes do not fit.
    """
    _require_matrices(A, B, C)
    A, B, C = (_at_rows(x, axis) for x in (A, B, C))
    out = _number_of(alpha, A) * _product(A, B, transpose_a, transpose_b)
    if out.shape != C.shape:
        raise ValueError(f"C has shape {C.shape}, the product {out.shape}; they must be equal")
    return jnp.moveaxis(out + _number_of(beta, C) * C, -2, axis)


@operator(**_public("gemm2"))
def gemm2(
    A,
    B,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    alpha: float = 1.0,
    axis: int = -2,
):
    """Computes alpha * A @ B.

    Args:
      A, B: batches of matrices that align.
      transpose_a, transpose_b: whether the matrices of A, B are transposed.
      alpha: a number.
      axis: where the rows of the matrices lie.

    Returns:
      dtype of A.

    Raises:
      MXNetError: shapes or dtypes do not fit.
    """
    _require_matrices(A, B)
    A, B = _at_rows(A, axis), _at_rows(B, axis)
    out = _number_of(alpha, A) * _product(A, B, transpose_a, transpose_b)
    return jnp.moveaxis(out, -2, axis)


@operator(**_public("syrk"))
def syrk(A, *, transpose: bool = False, alpha: float = 1.0):
    """Computes alpha * A @ A.T, or alpha * A.T @ A with transpose.

    Args:
      A: `(*b, m, n)`.
      transpose: whether A.T stands in front.
      alpha: a number.

    Returns:
      `(*b, m, m)`, or `(*b, n, n)` with transpose.
    """
    _require_matrices(A)
    return _number_of(alpha, A) * _product(A, A, transpose, not transpose)


def _check_positive(values, params) -> None:
    """Refuses matrices without a Cholesky factor, which XLA would fill with NaN."""
    (matrices,) = values
    if not is_traced(matrices) and matrices.ndim >= 2:
        factors = _cholesky(matrices)
        if bool(jnp.isnan(factors).any() & ~jnp.isnan(matrices).any()):
            raise ValueError("a matrix is not symmetric positive definite")


def _check_invertible(values, params) -> None:
    (matrices,) = values
    square = matrices.ndim >= 2 and matrices.shape[-1] == matrices.shape[-2]
    if square and not is_traced(matrices) and bool((jnp.linalg.det(matrices) == 0).any()):
        raise ValueError("a matrix has no inverse")


def _cholesky(matrices):
    return jnp.linalg.cholesky(matrices, symmetrize_input=False)


@operator(**_public("potrf"), check=_check_positive)
def potrf(A):
    """Computes the Cholesky factor L, lower triangular, with L @ L.T = A.

    Args:
      A: `(*b, n, n)`, symmetric positive definite; its gradient is symmetric.

    Returns:
      `(*b, n, n)`.

    Raises:
      MXNetError: a matrix is not positive definite.
    """
    _require_matrices(A, square=True)
    return jnp.linalg.cholesky(A, symmetrize_input=True)


@operator(**_public("potri"))
def potri(A):
    """Computes the inverse of L @ L.T from the Cholesky factor L.

    Args:
      A: `(*b, n, n)`: L; what lies above the diagonal is not read.

    Returns:
      `(*b, n, n)`, symmetric.
    """
    _require_matrices(A, square=True)
    inverse = solve_triangular(
        A, jnp.broadcast_to(jnp.eye(A.shape[-1], dtype=A.dtype), A.shape), lower=True
    )
    return _t(inverse) @ inverse


def _triangle(A, lower: bool):
    return jnp.tril(A) if lower else jnp.triu(A)


@operator(**_public("trmm"))
def trmm(
    A,
    B,
    *,
    transpose: bool = False,
    rightside: bool = False,
    lower: bool = True,
    alpha: float = 1.0,
):
    """Computes alpha * A @ B, or alpha * B @ A with rightside, with triangular A.

    Args:
      A: `(*b, n, n)`, triangular; the other triangle is not read.
      B: batch of matrices.
      transpose: whether A is transposed.
      rightside: whether A stands behind.
      lower: whether A is lower triangular.
      alpha: a number.

    Returns:
      Shape of B.
    """
    _require_matrices(A, B)
    _require_matrices(A, square=True)
    matrix = _triangle(A, lower)
    if rightside:
        return _number_of(alpha, A) * _product(B, matrix, False, transpose)
    return _number_of(alpha, A) * _product(matrix, B, transpose, False)


@operator(**_public("trsm"))
def trsm(
    A,
    B,
    *,
    transpose: bool = False,
    rightside: bool = False,
    lower: bool = True,
    alpha: float = 1.0,
):
    """Solves A @ X = alpha * B, or X @ A = alpha * B with rightside, with triangular A.

    Args:
      A: `(*b, n, n)`, triangular; the other triangle is not read.
      B: batch of matrices.
      transpose: whether A is transposed.
      rightside: whether A stands behind.
      lower: whether A is lower triangular.
      alpha: a number.

    Returns:
      X, shape of B.
    """
    _require_matrices(A, B)
    _require_matrices(A, square=True)
    side = -1 if rightside else -2
    if A.shape[:-2] != B.shape[:-2] or A.shape[-1] != B.shape[side]:
        raise ValueError(f"matrices of {A.shape} and {B.shape} do not align")
    scaled = _t(_number_of(alpha, A) * B, rightside)
    # X @ A = B is A.T @ X.T = B.T.
    out = solve_triangular(A, scaled, trans=int(transpose != rightside), lower=lower)
    return _t(out, rightside)


@operator(**_public("det"))
def det(A):
    """Computes the determinant.

    Args:
      A: `(*b, n, n)`.

    Returns:
      `(*b,)`, or `(1,)` of one matrix.
    """
    _require_matrices(A, square=True)
    return jnp.atleast_1d(jnp.linalg.det(A))


@operator(**_public("slogdet"), results=2)
def slogdet(A):
    """Computes the sign and the logarithm of the absolute value of the determinant.

    Args:
      A: `(*b, n, n)`.

    Returns:
      Two arrays `(*b,)`, or `(1,)` of one matrix; no gradient goes through the sign.
    """
    _require_matrices(A, square=True)
    sign, logarithm = jnp.linalg.slogdet(A)
    return jax.lax.stop_gradient(jnp.atleast_1d(sign)), jnp.atleast_1d(logarithm)


@operator(**_public("inverse"), check=_check_invertible)
def inverse(A):
    """Computes the inverse.

    Args:
      A: `(*b, n, n)`.

    Returns:
      `(*b, n, n)`.

    Raises:
      MXNetError: a matrix has none.
    """
    _require_matrices(A, square=True)
    return jnp.linalg.inv(A)


@operator(**_public("extractdiag"))
def extractdiag(A, *, offset: int = 0):
    """Takes a diagonal.

    Args:
      A: `(*b, n, n)`.
      offset: which; above the main one where positive.

    Returns:
      `(*b, n - |offset|)`.
    """
    _require_matrices(A, square=True)
    return jnp.diagonal(A, offset, -2, -1)


def _places(n: int, offset: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of a diagonal of `n` elements."""
    i = np.arange(n)
    return i + max(-offset, 0), i + max(offset, 0)


@operator(**_public("makediag"))
def makediag(A, *, offset: int = 0):
    """Makes matrices with a diagonal and zeros elsewhere.

    Args:
      A: `(*b, n)`.
      offset: which diagonal; above the main one where positive.

    Returns:
      `(*b, n + |offset|, n + |offset|)`.
    """
    n = A.shape[-1] + abs(offset)
    rows, columns = _places(A.shape[-1], offset)
    return jnp.zeros((*A.shape[:-1], n, n), A.dtype).at[..., rows, columns].set(A)


def _trian_places(n: int, offset: int, lower: bool) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the triangle of an (n, n) matrix that begins at a diagonal: of a lower one
    row by row, of an upper one column by column."""
    rows, columns = np.tril_indices(n, -abs(offset))
    return (columns, rows) if offset > 0 or (offset == 0 and not lower) else (rows, columns)


@operator(**_public("extracttrian"))
def extracttrian(A, *, offset: int = 0, lower: bool = True):
    """Takes a triangle: a lower one row by row, an upper one column by column.

    Args:
      A: `(*b, n, n)`.
      offset: the diagonal it begins at: the triangle lies below a negative one, above a positive one.
      lower: for offset 0, whether the triangle lies below.

    Returns:
      `(*b, k)`.
    """
    _require_matrices(A, square=True)
    rows, columns = _trian_places(A.shape[-1], offset, lower)
    return A[..., rows, columns]


@operator(**_public("maketrian"))
def maketrian(A, *, offset: int = 0, lower: bool = True):
    """Makes matrices with a triangle, given as `extracttrian` takes it, and zeros elsewhere.

    Args:
      A: `(*b, k)`, with k = 1 + 2 + ... + m.
      offset: the diagonal it begins at: the triangle lies below a negative one, above a positive one.
      lower: for offset 0, whether the triangle lies below.

    Returns:
      `(*b, m + |offset|, m + |offset|)`.

    Raises:
      MXNetError: k elements make no triangle.
    """
    k = A.shape[-1]
    m = int((np.sqrt(8 * k + 1) - 1) / 2)
    if m * (m + 1) // 2 != k:
        raise ValueError(f"{k} elements make no triangle; 1 + 2 + ... + m do")
    n = m + abs(offset)
    rows, columns = _trian_places(n, offset, lower)
    return jnp.zeros((*A.shape[:-1], n, n), A.dtype).at[..., rows, columns].set(A)


@operator(**_public("sumlogdiag"))
def sumlogdiag(A):
    """Sums the logarithms of the diagonal.

    Args:
      A: `(*b, n, n)`.

    Returns:
      `(*b,)`, or `(1,)` of one matrix.
    """
    _require_matrices(A, square=True)
    return jnp.atleast_1d(jnp.log(jnp.diagonal(A, 0, -2, -1)).sum(-1))


@operator(**_public("gelqf"), results=2)
def gelqf(A):
    """Factors A = L @ Q with lower triangular L and orthonormal rows in Q.

    Args:
      A: `(*b, m, n)`, m at most n, of full rank.

    Returns:
      Q `(*b, m, n)` and L `(*b, m, m)`.
    """
    _require_matrices(A)
    if A.shape[-2] > A.shape[-1]:
        raise ValueError(f"matrices must not have more rows than columns; got {A.shape}")
    q, r = jnp.linalg.qr(_t(A))
    return _t(q), _t(r)


@operator(**_public("syevd"), results=2)
def syevd(A):
    """Finds eigenvectors and eigenvalues of symmetric matrices: A = U.T @ diag(L) @ U.

    Args:
      A: `(*b, n, n)`, symmetric.

    Returns:
      U `(*b, n, n)`, with eigenvectors as rows, and L `(*b, n)`, ascending. The sign of a row is such
      that its largest element in magnitude is positive.
    """
    _require_matrices(A, square=True)
    values, vectors = jnp.linalg.eigh(A)
    largest = jnp.argmax(jnp.abs(vectors), axis=-2, keepdims=True)
    sign = jnp.sign(jnp.take_along_axis(vectors, largest, axis=-2))
    return _t(vectors * jax.lax.stop_gradient(sign)), values


@operator("khatri_rao", differentiable=False)
def khatri_rao(*args):
    """Computes the Khatri-Rao product: column by column, the Kronecker product of columns.

    Args:
      args: matrices `(m_i, n)` of one dtype.

    Returns:
      `(m_1 * m_2 * ..., n)`.

    Raises:
      MXNetError: the matrices do not have one number of columns or one dtype.
    """
    require_same_dtype(*args)
    if any(a.ndim != 2 or a.shape[1] != args[0].shape[1] for a in args):
        raise ValueError(f"expected matrices of one width; got {[a.shape for a in args]}")
    out = args[0]
    for other in args[1:]:
        out = (out[:, None, :] * other[None, :, :]).reshape(-1, out.shape[1])
    return out
