"""What the operators of BCOO do with another sparse array, and cells by number.

The functions take BCOO values without importing the class, which is built on them.
"""

import math
import operator
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from rarefy.sparse import _dot, _elementwise, _entries, _spdot, _structure, _window
from rarefy.sparse._check import is_concrete
from rarefy.sparse._ladder import capacity

Shape = tuple[int, ...]


def spdot_general(lhs: Any, rhs: Any, dimension_numbers: Any, out_dtype: Any = None) -> Any:
    """`jax.lax.dot_general` of two BCOO, giving a sorted and unique BCOO.

    The number of slots follows from shapes while tracing: the product of both nse, or the number of
    cells where that is less. Eagerly, a result of more than 4096 such slots is given as many as it
    needs, rounded up.
    """
    numbers = _dot.canonical_dimension_numbers(dimension_numbers)
    product = _spdot.plan(lhs.shape, lhs.indices.shape, rhs.shape, rhs.indices.shape, numbers)
    concrete = is_concrete(lhs.indices) and is_concrete(rhs.indices)
    in_order = (lhs.indices_sorted, rhs.indices_sorted)
    sides = (lhs.indices, rhs.indices, in_order)
    nse = _spdot.slots_of(product, *sides) if concrete else product.slots
    options = {"product": product, "nse": nse, "in_order": in_order, "out_dtype": out_dtype}
    data, indices = _spdot.spdot(*lhs._bufs, *rhs._bufs, **options)
    return lhs._trusted(data, indices, product.shape, True, True)


def csr_product(lhs: Any, rhs: Any, numbers: Any, out_dtype: Any = None) -> Any:
    """The product of two BCSR matrices over the columns of the first and the rows of the second.

    Returns:
      data, indices and indptr, sorted and unique, of as many slots as `spdot_general` gives; None
      where the product is another one, or a matrix is much larger than what both store.
    """
    if lhs.n_batch or rhs.n_batch or numbers != (((1,), (0,)), ((), ())):
        return None
    if lhs.n_dense or rhs.n_dense or not _spdot.few_rows(lhs.shape, rhs.shape, lhs.nse + rhs.nse):
        return None
    product = _spdot.plan(lhs.shape, (lhs.nse, 2), rhs.shape, (rhs.nse, 2), numbers)
    slots, sizes = product.slots, None
    places = lhs.indices, lhs.indptr, rhs.indices, rhs.indptr
    if slots > _spdot.FEW_SLOTS and all(map(is_concrete, places)):
        with jax.ensure_compile_time_eval():
            count, sizes = _spdot.csr_sizes(*places, n_cols=rhs.shape[1])
            slots = capacity(int(np.asarray(count)), slots)
    options = {"n_cols": rhs.shape[1], "nse": slots, "out_dtype": out_dtype}
    return _spdot.csr_spdot(lhs.data, rhs.data, *places, sizes, **options)[:3]


def matmul(lhs: Any, rhs: Any) -> Any:
    """`lhs @ rhs` of two BCOO, with the rules of NumPy; a dense scalar for two vectors."""
    plan = _dot.matmul_plan(lhs.shape, rhs.shape)
    out = spdot_general(lhs, rhs, plan.dimension_numbers)
    if plan.permutation is not None:
        out = out.update_layout(n_batch=0).transpose(plan.permutation)
        out = reshape(out, plan.shape)
    return out


def multiply(lhs: Any, rhs: Any) -> Any:
    """`lhs * rhs` of two BCOO, cell by cell; shapes broadcast as NumPy's do."""
    shape = jnp.broadcast_shapes(lhs.shape, rhs.shape)
    if lhs.indices is rhs.indices and lhs.shape == rhs.shape and lhs.unique_indices:
        return lhs._with_buffers(lhs.data * rhs.data, lhs.indices)
    lhs, rhs = (_with_rank(m, len(shape)) for m in (lhs, rhs))
    n_batch, n_dense = min(lhs.n_batch, rhs.n_batch), min(lhs.n_dense, rhs.n_dense)
    lhs, rhs = (m.update_layout(n_batch=n_batch, n_dense=n_dense) for m in (lhs, rhs))
    data, indices = _elementwise.multiply_sparse(
        lhs.data, lhs.indices, rhs.data, rhs.indices, lhs_shape=lhs.shape, rhs_shape=rhs.shape
    )
    return lhs._trusted(data, indices, shape)


def _with_rank(mat: Any, rank: int) -> Any:
    """Puts dimensions of size 1 in front."""
    more = rank - mat.ndim
    if not more:
        return mat
    mat = mat.update_layout(n_batch=0)
    out = (1,) * more + mat.shape
    data, indices = _structure.sparse_axes_in_front(mat.data, mat.indices, shape=mat.shape, n=more)
    return mat._trusted(data, indices, out)


def add(a: Any, b: Any) -> Any:
    """`a + b` of two BCOO of one shape: their entries one after another."""
    if a.shape != b.shape:
        raise ValueError(
            f"add: the shapes of sparse operands must be equal, got {a.shape} and {b.shape}"
        )
    if a.indices is b.indices and a.n_dense == b.n_dense:
        return a._with_buffers(a.data + b.data, a.indices)
    n_batch, n_dense = min(a.n_batch, b.n_batch), min(a.n_dense, b.n_dense)
    a, b = (m.update_layout(n_batch=n_batch, n_dense=n_dense) for m in (a, b))
    data, indices = _entries.concatenate_entries(
        (a.data, b.data), (a.indices, b.indices), shape=a.shape
    )
    return a._trusted(data, indices, a.shape)


def reshape(mat: Any, new: Sequence[int], dimensions: Sequence[int] | None = None) -> Any:
    """Gives a BCOO another shape of as many cells.

    Raises:
      ValueError: cells of batch, sparse and dense dimensions would mix.
    """
    new = tuple(map(operator.index, new))
    permutation = tuple(range(mat.ndim))
    if dimensions is not None:
        permutation = tuple(map(operator.index, dimensions))
        if not (len(permutation) == mat.ndim and mat._keeps_kinds(permutation)):
            raise ValueError(
                f"bcoo_reshape: dimensions {permutation} must permute batch, sparse and dense "
                f"dimensions of {mat!r} each among themselves"
            )
    if math.prod(new) != mat.size:
        raise ValueError(
            f"reshape total size must be unchanged, got new_sizes {new} (of total size "
            f"{math.prod(new)}) for shape {mat.shape} (of total size {mat.size})."
        )
    n_batch, n_stored = mat.n_batch, mat.n_batch + mat.n_sparse
    kinds = (mat.shape[:n_batch], mat.shape[n_batch:n_stored], mat.shape[n_stored:])
    batch, sparse, dense = (math.prod(k) for k in kinds)
    split = _structure.split_sizes((batch, sparse, dense), new)
    if split is None:
        partial_products = {math.prod(new[:i]) for i in range(len(new) + 1)}
        first = batch not in partial_products
        what = ("batch and sparse", "n_batch") if first else ("sparse and dense", "n_dense")
        count = n_batch if first else mat.n_dense
        raise ValueError(
            f"bcoo_reshape: new shape cannot mix {what[0]} dimensions; got shape={mat.shape} "
            f"new_shape={new} with {what[1]}={count}"
        )
    data, indices = _structure.reshape(
        mat.data, mat.indices, shape=mat.shape, new=new, parts=split, permutation=permutation
    )
    return mat._trusted(data, indices, new)


def resolve_sizes(mat: Any, given: Sequence[Any]) -> Shape:
    """Reads the arguments of `reshape`: sizes one by one or as a sequence, one of which may be -1."""
    sizes = given[0] if len(given) == 1 and not hasattr(given[0], "__index__") else given
    new = tuple(map(operator.index, sizes))
    if new.count(-1) > 1:
        raise ValueError("can only specify one unknown axis size with a `-1` value")
    if -1 in new:
        known = math.prod(s for s in new if s != -1)
        if known == 0 or mat.size % known:
            raise TypeError(f"cannot reshape array of shape {mat.shape} into shape {new}")
        new = tuple(mat.size // known if s == -1 else s for s in new)
    if math.prod(new) != mat.size:
        raise TypeError(f"cannot reshape array of shape {mat.shape} into shape {new}")
    return new


def take(mat: Any, ids: jax.Array | np.ndarray, axis: int) -> Any:
    """Takes cells of one dimension by number; `ids` of any shape, in range."""
    n_batch, n_sparse = mat.n_batch, mat.n_sparse
    shape = (*mat.shape[:axis], *ids.shape, *mat.shape[axis + 1 :])
    flat = ids.reshape(-1)
    if axis < n_batch:
        buffers = []
        for b in mat._bufs:
            whole = jnp.broadcast_to(b, (*b.shape[:axis], mat.shape[axis], *b.shape[axis + 1 :]))
            buffers.append(_spread(jnp.take(whole, flat, axis=axis), axis, ids.shape))
        return mat._trusted(*buffers, shape, mat.indices_sorted, mat.unique_indices)
    if axis >= n_batch + n_sparse:
        where = axis - n_sparse + 1
        data = _spread(jnp.take(mat.data, flat, axis=where), where, ids.shape)
        return mat._trusted(data, mat.indices, shape, mat.indices_sorted, mat.unique_indices)
    first = axis - n_batch
    if first:
        # Bring the dimension in front of the sparse ones, and what it becomes back.
        order = (axis, *(d for d in range(n_batch, n_batch + n_sparse) if d != axis))
        dense = range(n_batch + n_sparse, mat.ndim)
        out = take(mat.transpose((*range(n_batch), *order, *dense)), ids, n_batch)
        out = out.update_layout(n_batch=n_batch)
        new = [*range(n_batch, n_batch + ids.ndim)]
        others = [*range(n_batch + ids.ndim, n_batch + ids.ndim + n_sparse - 1)]
        back = (*others[:first], *new, *others[first:])
        tail = range(n_batch + len(back), out.ndim)
        return out.transpose((*range(n_batch), *back, *tail))
    data, indices = mat.data, mat.indices
    in_order = mat.indices_sorted
    rest = math.prod(mat.shape[n_batch + 1 : n_batch + n_sparse])
    width = min(mat.nse, rest) if mat.unique_indices else mat.nse
    if width * ids.size > _spdot.FEW_SLOTS and is_concrete(indices) and is_concrete(flat):
        with jax.ensure_compile_time_eval():
            options = {"n_rows": mat.shape[axis], "in_order": in_order}
            *runs, widest = _window.row_runs(indices, flat, **options)
            width = capacity(int(widest), width)
        data, indices = _window.take_runs(data, indices, *runs, shape=mat.shape, width=width)
    else:
        data, indices = _window.take_rows(
            data, indices, flat, shape=mat.shape, width=width, in_order=in_order
        )
    data = _spread(data, n_batch, ids.shape)
    indices = _spread(indices, n_batch, ids.shape)
    out = mat._trusted(data, indices, shape, mat.indices_sorted, mat.unique_indices)
    if out.nse > rest and not mat.unique_indices:
        merged, places, _ = _entries.sum_duplicates(
            data, indices, shape=shape, nse=rest, remove_zeros=False
        )
        out = mat._trusted(merged, places, shape, True, True)
    return out


def _spread(array: jax.Array, axis: int, sizes: Shape) -> jax.Array:
    if len(sizes) == 1:
        return array
    return lax.reshape(array, (*array.shape[:axis], *sizes, *array.shape[axis + 1 :]))
