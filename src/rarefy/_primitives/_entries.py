"""What the products on csr buffers share: the rows of entries, the types they sum in, batches."""

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp


def rows_of_entries(indptr, nse: int):
    """The row of each of `nse` entries; -1 before the first row, m after the last."""
    return jnp.searchsorted(indptr, lax.iota(indptr.dtype, nse), side="right") - 1


def accumulator(dtype) -> np.dtype:
    """The type that products of `dtype` are summed in: float32 for narrower floats."""
    if dtype == np.bool_:
        return np.dtype(np.int32)
    if jnp.issubdtype(dtype, np.floating) and np.dtype(dtype).itemsize < 4:
        return np.dtype(np.float32)
    return np.dtype(dtype)


def take_or_zero(table, rows, is_real):
    """`table[rows]` where `is_real`, else zeros, whatever is in the table; it may be empty."""
    n, (k,) = table.shape[0], rows.shape
    if n == 0 or k == 0:
        return jnp.zeros((k, *table.shape[1:]), table.dtype)
    return table.at[jnp.where(is_real, rows, n)].get(mode="fill", fill_value=0)


def scale_rows(weights, rows, dtype):
    """`weights[i] * rows[i]`, computed in `dtype`."""
    weights = weights.reshape(-1, *(1,) * (rows.ndim - 1))
    return weights.astype(dtype) * rows.astype(dtype)


def sum_rows(products, rows, is_real, n: int, dtype):
    """The sums over each of `n` rows of the products that belong to it, rounded to `dtype`."""
    out = jnp.zeros((n, *products.shape[1:]), products.dtype)
    if out.size and products.size:
        out = out.at[jnp.where(is_real, rows, n)].add(products, mode="drop")
    return out.astype(dtype)


def check_csr(name: str, indices, indptr, data=None) -> None:
    """Raises ValueError or TypeError where the buffers of a csr matrix do not fit together."""
    if indices.ndim != 1 or (data is not None and data.shape != indices.shape):
        found = indices.shape if data is None else f"{data.shape} and {indices.shape}"
        raise ValueError(f"{name}: data and indices must both be (nse,), got {found}")
    if indptr.ndim != 1 or indptr.shape[0] == 0:
        raise ValueError(f"{name}: indptr must be (m + 1,), got {indptr.shape}")
    if indices.dtype != indptr.dtype or indices.dtype not in (np.int32, np.int64):
        raise TypeError(
            f"{name}: indices and indptr must both be int32 or both int64, "
            f"got {indices.dtype} and {indptr.dtype}"
        )


def check_dense(name: str, dense, rows: int, what: str) -> None:
    """Raises ValueError where `dense` has not `rows` rows, one for each of `what`."""
    if dense.ndim == 0 or dense.shape[0] != rows:
        raise ValueError(f"{name}: dense must have {rows} rows, as many as {what}: {dense.shape}")


def check_dtypes(name: str, a, b) -> None:
    """Raises TypeError where the values of two operands differ in type."""
    if a.dtype != b.dtype:
        raise TypeError(f"{name}: values must be of one dtype, got {a.dtype} and {b.dtype}")


def batch_size(args, dims) -> int:
    """The size of the mapped dimension."""
    return next(x.shape[d] for x, d in zip(args, dims, strict=True) if d is not None)


def batch_first(x, dim: int | None, size: int):
    """`x` with the batch in front, repeated if it is not mapped."""
    return jnp.moveaxis(x, dim, 0) if dim is not None else jnp.broadcast_to(x, (size, *x.shape))


def stacked_rows(x, dim: int | None, size: int):
    """The rows of a batch of matrices one below the other: `(size * n, *k)`."""
    x = batch_first(x, dim, size)
    return x.reshape(size * x.shape[1], *x.shape[2:])


def diagonal_blocks(indices, indptr, n_cols: int, *, shared: bool):
    """The indices of a batch of csr matrices as one: blocks down a diagonal, or below each other.

    Args:
      indices: `(batch, nse)`.
      indptr: `(batch, m + 1)`.
      n_cols: columns of each matrix.
      shared: whether the matrices keep their columns, instead of each having its own.

    Returns:
      `(batch * nse,)` and `(batch * m + 1,)`, where a padding entry has a column out of range; None
      where such positions or columns need 64 bits that are not switched on.
    """
    batch, nse = indices.shape
    width = n_cols if shared else batch * n_cols
    dtype = indices.dtype
    if max(width, batch * nse) > jnp.iinfo(dtype).max:
        dtype = jax.dtypes.canonicalize_dtype(np.int64)
        if max(width, batch * nse) > jnp.iinfo(dtype).max:
            return None
    position = lax.iota(indptr.dtype, nse)[None, :]
    is_real = (position >= indptr[:, :1]) & (position < indptr[:, -1:])
    is_real &= (indices >= 0) & (indices < n_cols)
    block = lax.iota(dtype, batch)[:, None]
    columns = indices.astype(dtype) + (0 if shared else n_cols) * block
    starts = indptr[:, :-1].astype(dtype) + nse * block
    last = jnp.full(1, batch * nse, dtype)
    return (
        jnp.where(is_real, columns, width).reshape(-1),
        jnp.concatenate([starts.reshape(-1), last]),
    )
