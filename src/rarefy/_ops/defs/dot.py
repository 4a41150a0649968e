"""Products of matrices."""

from typing import Any, Literal

import jax.numpy as jnp

from rarefy._ops.defs._numbers import require_same_dtype
from rarefy._ops.defs._sparse import csr_of_columns
from rarefy._ops.gradient import cotangent_like, pull_back
from rarefy._ops.opdef import operator
from rarefy._ops.places import rows_at, rows_of, with_data, with_stored
from rarefy._ops.storage import is_traced, to_dense
from rarefy._primitives.csr_sample_dot import csr_sample_dot
from rarefy.sparse import BCOO, BCSR
from rarefy.sparse._capacity import capacity
from rarefy.sparse._csr import csr_dot, csr_matmul, csr_matmul_known, csr_t_dot, take_csr_rows
from rarefy.sparse._row_sparse import csr_dot_row_sparse
from rarefy.sparse._row_sparse import csr_transpose_dot as _csr_transpose_dot

Stype = Literal["default", "csr", "row_sparse"]


@operator("dot", hint="forward_stype")
def dot(
    lhs,
    rhs,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    forward_stype: Stype | None = None,
):
    """Multiplies two arrays: the last axis of `lhs` with the first of `rhs`.

    | lhs | rhs | result |
    |---|---|---|
    | csr | default, row_sparse | default |
    | csr, transpose_a | default, row_sparse | row_sparse: the columns that have entries |
    | default | csr, also with transpose_b | csr |
    | csr, also with transpose_a | csr, also with transpose_b | csr |
    | row_sparse | default, also with transpose_b | row_sparse: the rows of lhs |
    | row_sparse, transpose_a | default, also with transpose_b | default |
    | default | default | default |

    The gradient of `dot(csr, weight)` with respect to `weight` is row_sparse where that is asked for
    (`weight.attach_grad(stype="row_sparse")`); it has a row for every column with an entry.

    Args:
      lhs: any number of dimensions, csr or row_sparse only two.
      rhs: likewise, dtype of `lhs`.
      transpose_a: use the first axis of `lhs` instead of the last.
      transpose_b: use the last axis of `rhs` instead of the first.
      forward_stype: storage type of the result where another than that of the table is wanted. Most
        are made by converting the result; csr.T @ dense is computed as 'default' at once.

    Returns:
      dtype of `lhs`; two vectors give shape (1,).

    Raises:
      MXNetError: the shapes do not align, the dtypes differ, or a sparse array meets a vector.

    Cost: with a csr `lhs` O(nnz * columns of rhs); integers take the plain XLA form.
    """
    require_same_dtype(lhs, rhs)
    if not lhs.ndim or not rhs.ndim:
        raise ValueError(f"arrays need a dimension; lhs is {lhs.shape}, rhs {rhs.shape}")
    left = 0 if transpose_a else lhs.ndim - 1
    right = rhs.ndim - 1 if transpose_b else 0
    _require_aligned(lhs, rhs, lhs.shape[left], rhs.shape[right], transpose_a, transpose_b)
    out = jnp.tensordot(lhs, rhs, axes=((left,), (right,)), preferred_element_type=lhs.dtype)
    return out.reshape(1) if out.ndim == 0 else out


def _require_aligned(lhs, rhs, left: int, right: int, transpose_a: bool, transpose_b: bool) -> None:
    if left == right:
        return
    of_lhs = "rows" if transpose_a else "columns"
    of_rhs = "columns" if transpose_b else "rows"
    flips = (transpose_b and rhs.shape[0] == left) or (not transpose_b and rhs.shape[-1] == left)
    advice = f" Pass transpose_b={not transpose_b}." if flips else ""
    raise ValueError(
        f"lhs {lhs.shape} and rhs {rhs.shape} do not align; lhs {of_lhs} ({left}) must equal rhs "
        f"{of_rhs} ({right}).{advice}"
    )


def _check_sparse(lhs, rhs, transpose_a: bool, transpose_b: bool) -> None:
    require_same_dtype(lhs, rhs)
    for name, array in (("lhs", lhs), ("rhs", rhs)):
        if len(array.shape) != 2:
            raise ValueError(
                f"a product with a sparse array takes two matrices; {name} has shape {array.shape}. "
                "Reshape a vector to (n, 1)"
            )
    left = lhs.shape[0] if transpose_a else lhs.shape[1]
    right = rhs.shape[1] if transpose_b else rhs.shape[0]
    _require_aligned(lhs, rhs, left, right, transpose_a, transpose_b)


def _plain(transpose_a, transpose_b, forward_stype) -> Stype | None:
    if transpose_a or forward_stype not in (None, "default"):
        return None
    return "default"


def _transposed(transpose_a, transpose_b, forward_stype) -> Stype | None:
    return "row_sparse" if transpose_a and forward_stype in (None, "row_sparse") else None


def _transposed_dense(transpose_a, transpose_b, forward_stype) -> Stype | None:
    return "default" if transpose_a and forward_stype == "default" else None


def csr_transpose_dot(csr: BCSR, dense) -> BCOO:
    """`csr.T @ dense` with slots from the capacity ladder, which also bounds what is compiled."""
    slots = capacity(min(csr.nse, csr.shape[1]), csr.shape[1])
    return _csr_transpose_dot(csr, dense, capacity=slots)


def _turned(value: Any, transposed: bool) -> Any:
    return value.T if transposed and value is not None else value


@dot.rule("csr", "default", out=_plain)
def _(lhs, rhs, *, transpose_a, transpose_b, forward_stype):
    _check_sparse(lhs, rhs, transpose_a, transpose_b)
    return csr_dot(lhs, _turned(rhs, transpose_b))


@dot.rule("csr", "default", out=_transposed)
def _(lhs, rhs, *, transpose_a, transpose_b, forward_stype):
    _check_sparse(lhs, rhs, transpose_a, transpose_b)
    return csr_transpose_dot(lhs, _turned(rhs, transpose_b))


@dot.rule("csr", "default", out=_transposed_dense)
def _(lhs, rhs, *, transpose_a, transpose_b, forward_stype):
    _check_sparse(lhs, rhs, transpose_a, transpose_b)
    return csr_t_dot(lhs, _turned(rhs, transpose_b))


@dot.gradient("csr", "default")
def _(want, inputs, output, cotangent, *, transpose_a, transpose_b, forward_stype):
    lhs, rhs = inputs
    turned = _turned(rhs, transpose_b)
    left = right = None
    if want[1] is not None:
        right = _weight_gradient(want[1], lhs, cotangent, transpose_a, transpose_b)
    if want[0] is not None:
        left = _csr_gradient(want[0], lhs, turned, to_dense(cotangent), transpose_a)
    return left, right


def _weight_gradient(want, csr: BCSR, cotangent, transpose_a: bool, transpose_b: bool):
    """The cotangent of the dense factor: `csr.T @ cotangent`, or `csr @ cotangent` if transposed."""
    if transpose_a:
        product = (
            csr_dot_row_sparse(csr, cotangent)
            if isinstance(cotangent, BCOO)
            else csr_dot(csr, to_dense(cotangent))
        )
    elif want == "row_sparse" and not transpose_b:
        return csr_transpose_dot(csr, to_dense(cotangent))
    else:
        product = csr_t_dot(csr, to_dense(cotangent))
    return product.T if transpose_b else product


def _csr_gradient(want, csr: BCSR, rhs, cotangent, transpose_a: bool):
    """The cotangent of the csr factor: sampled in its places, or whole where a dense one is wanted."""
    by_row, by_column = (rhs, cotangent) if transpose_a else (cotangent, rhs)
    if want == "csr":
        return with_data(csr, csr_sample_dot(csr.indices, csr.indptr, by_row, by_column))
    return by_row @ by_column.T


@dot.rule("csr", "row_sparse", out=_plain)
def _(lhs, rhs, *, transpose_a, transpose_b, forward_stype):
    _check_sparse(lhs, rhs, transpose_a, transpose_b)
    if transpose_b:
        return _spread_columns(csr_dot(lhs, rhs.data.T), rhs)
    return csr_dot_row_sparse(lhs, rhs)


@dot.rule("csr", "row_sparse", out=_transposed)
def _(lhs, rhs, *, transpose_a, transpose_b, forward_stype):
    _check_sparse(lhs, rhs, transpose_a, transpose_b)
    if transpose_b:
        return _wide_rows(csr_transpose_dot(lhs, rhs.data.T), rhs)
    return csr_transpose_dot(take_csr_rows(lhs, rows_of(rhs), lhs.nse), rhs.data)


def _spread_columns(product, rhs: BCOO):
    """Puts each column of a product where the row of `rhs` that it comes from belongs."""
    out = jnp.zeros((product.shape[0], rhs.shape[0]), product.dtype)
    return out.at[:, rows_of(rhs)].set(product, mode="drop")


def _wide_rows(product: BCOO, rhs: BCOO) -> BCOO:
    return BCOO._trusted(
        _spread_columns(product.data, rhs),
        product.indices,
        (product.shape[0], rhs.shape[0]),
        indices_sorted=True,
        unique_indices=True,
    )


@dot.gradient("csr", "row_sparse")
def _(want, inputs, output, cotangent, *, transpose_a, transpose_b, forward_stype):
    lhs, rhs = inputs
    left = right = None
    if want[1] is not None:
        right = _weight_gradient(want[1], lhs, cotangent, transpose_a, transpose_b)
    if want[0] is not None:
        turned = _turned(to_dense(rhs), transpose_b)
        left = _csr_gradient(want[0], lhs, turned, to_dense(cotangent), transpose_a)
    return left, right


def _rows_stay(transpose_a, transpose_b, forward_stype) -> Stype | None:
    return "row_sparse" if not transpose_a and forward_stype in (None, "row_sparse") else None


@dot.rule("row_sparse", "default", out=_rows_stay)
def _(lhs, rhs, *, transpose_a, transpose_b, forward_stype):
    _check_sparse(lhs, rhs, transpose_a, transpose_b)
    product = _matmul(lhs.data, _turned(rhs, transpose_b))
    shape = (lhs.shape[0], product.shape[1])
    return BCOO._trusted(product, lhs.indices, shape, lhs.indices_sorted, lhs.unique_indices)


@dot.rule("row_sparse", "default", out=lambda transpose_a, **_: "default" if transpose_a else None)
def _(lhs, rhs, *, transpose_a, transpose_b, forward_stype):
    _check_sparse(lhs, rhs, transpose_a, transpose_b)
    turned = _turned(rhs, transpose_b)
    return _matmul(with_stored(lhs, lhs.data).data.T, rows_at(turned, rows_of(lhs)))


def _matmul(a, b):
    return jnp.matmul(a, b, preferred_element_type=a.dtype)


def _into_csr(transpose_a, transpose_b, forward_stype) -> Stype | None:
    return "csr" if not transpose_a and forward_stype in (None, "csr") else None


def _into_dense(transpose_a, transpose_b, forward_stype) -> Stype | None:
    return "default"


@dot.rule("default", "csr", out=_into_csr, eager=True)
def _(lhs, rhs, *, transpose_a, transpose_b, forward_stype):
    _check_sparse(lhs, rhs, transpose_a, transpose_b)
    other = rhs.T if transpose_b else rhs
    return csr_of_columns(csr_transpose_dot(other, lhs.T))


@dot.rule("default", "csr", out=_into_dense, eager=True)
def _(lhs, rhs, *, transpose_a, transpose_b, forward_stype):
    _check_sparse(lhs, rhs, transpose_a, transpose_b)
    left = lhs if transpose_a else lhs.T
    return (csr_dot(rhs, left) if transpose_b else csr_t_dot(rhs, left)).T


@dot.gradient("default", "csr")
def _(want, inputs, output, cotangent, *, transpose_a, transpose_b, forward_stype):
    """With `out = A @ B`: the cotangent of A is `G @ B.T`, that of B is `A.T @ G`."""
    lhs, rhs = inputs
    g = to_dense(cotangent)
    a = lhs.T if transpose_a else lhs
    left = right = None
    if want[0] is not None:
        left = (csr_t_dot(rhs, g.T) if transpose_b else csr_dot(rhs, g.T)).T
        left = left.T if transpose_a else left
    if want[1] is not None:
        by_row, by_column = (g.T, a.T) if transpose_b else (a.T, g.T)
        if want[1] == "csr":
            right = with_data(rhs, csr_sample_dot(rhs.indices, rhs.indptr, by_row, by_column))
        else:
            right = by_row @ by_column.T
    return left, right


def _csr_csr(transpose_a, transpose_b, forward_stype) -> Stype | None:
    return "csr" if forward_stype in (None, "csr") else None


@dot.rule("csr", "csr", out=_csr_csr, eager=True)
def _(lhs, rhs, *, transpose_a, transpose_b, forward_stype):
    _check_sparse(lhs, rhs, transpose_a, transpose_b)
    left, right = _turned(lhs, transpose_a), _turned(rhs, transpose_b)
    if is_traced(left) or is_traced(right):
        raise NotImplementedError(
            "the product of two csr arrays has a size that depends on their values, which are not "
            "known in a compiled step; make one of them dense with tostype('default')"
        )
    return csr_matmul_known(left, right)


@dot.gradient("csr", "csr")
def _(want, inputs, output, cotangent, *, transpose_a, transpose_b, forward_stype):
    lhs, rhs = inputs
    left, right = _turned(lhs, transpose_a), _turned(rhs, transpose_b)
    if "default" in want:
        g = to_dense(cotangent)
        dense_left = csr_dot(right, g.T).T if want[0] else None
        dense_right = csr_t_dot(left, g) if want[1] else None
        return _turned(dense_left, transpose_a), _turned(dense_right, transpose_b)

    def product(a, b):
        a, b = _turned(a, transpose_a), _turned(b, transpose_b)
        return (csr_matmul(a, b, nse=output.nse),)

    return pull_back(product, inputs, (cotangent_like(cotangent, output),), want)


@operator("batch_dot")
def batch_dot(
    lhs,
    rhs,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    forward_stype: Stype | None = None,
):
    """Multiplies the matrices of two batches.

    Args:
      lhs: `(b, m, k)`, or `(b, k, m)` with transpose_a.
      rhs: `(b, k, n)`, or `(b, n, k)` with transpose_b; dtype of `lhs`.
      transpose_a, transpose_b: whether the matrices of `lhs`, `rhs` are transposed.
      forward_stype: accepted for MXNet's sake; the result is dense.

    Returns:
      `(b, m, n)`, dtype of `lhs`.

    Raises:
      MXNetError: the shapes do not align or the dtypes differ.
    """
    require_same_dtype(lhs, rhs)
    if lhs.ndim != 3 or rhs.ndim != 3 or lhs.shape[0] != rhs.shape[0]:
        raise ValueError(
            f"batch_dot takes two batches of matrices of one size, got {lhs.shape} and {rhs.shape}"
        )
    left = jnp.swapaxes(lhs, 1, 2) if transpose_a else lhs
    right = jnp.swapaxes(rhs, 1, 2) if transpose_b else rhs
    if left.shape[2] != right.shape[1]:
        raise ValueError(f"matrices of {left.shape} and {right.shape} do not align")
    return jnp.matmul(left, right, preferred_element_type=lhs.dtype)
