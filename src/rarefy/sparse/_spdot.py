"""Products of two sparse arrays, on plain BCOO buffers."""

import math
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import NamedTuple

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from rarefy._primitives.coo_to_csr import coo_to_csr
from rarefy._primitives.csr_dot_csr import EXACT, csr_dot_csr
from rarefy._primitives.csr_dot_csr_places import csr_dot_csr_places
from rarefy._primitives.csr_matmul import csr_matmul
from rarefy._primitives.csr_to_coo import csr_to_coo
from rarefy._primitives.csr_transpose import csr_transpose
from rarefy._primitives.group_rows import group_rows
from rarefy.sparse._entries import groups_of
from rarefy.sparse._index import (
    along_last,
    as_kernel_index,
    cell_numbers,
    common_dtype,
    in_range,
    index_dtype_for,
    row_of_entry,
    row_starts,
)
from rarefy.sparse._ladder import FEW_SLOTS, capacity
from rarefy.sparse._layout import relayout

Shape = tuple[int, ...]
DimensionNumbers = tuple[tuple[Shape, Shape], tuple[Shape, Shape]]
NO_ORDER = (False, False)


class Side(NamedTuple):
    """One operand of a product, and what must be done to its buffers; static."""

    given: Shape
    order: tuple[int, ...]  # its dimensions: batch, free, contracted
    n_batch: int  # how many of them are batch dimensions of the buffers
    n_contract: int

    @property
    def shape(self) -> Shape:
        """The sizes of the sparse dimensions, in order."""
        return tuple(self.given[d] for d in self.order[self.n_batch :])

    @property
    def contract(self) -> tuple[int, ...]:
        """Which of the sparse dimensions are contracted: the last ones."""
        n = len(self.order) - self.n_batch
        return tuple(range(n - self.n_contract, n))


class Product(NamedTuple):
    """A product of sparse arrays, planned from shapes alone; static."""

    lhs: Side
    rhs: Side
    n_batch: int  # leading dimensions, batch dimensions of both
    batch: int  # leading sparse dimensions of both that are multiplied one by one
    shape: Shape
    slots: int  # the most that a result may need, or the number of cells

    @property
    def n_batch_out(self) -> int:
        """Number of batch dimensions of the result."""
        return self.lhs.n_batch + self.rhs.n_batch - self.n_batch


@lru_cache(maxsize=1024)
def plan(
    lhs_shape: Shape,
    lhs_indices: Shape,
    rhs_shape: Shape,
    rhs_indices: Shape,
    dimension_numbers: DimensionNumbers,
) -> Product:
    """Plans a product of BCOO buffers.

    Batch dimensions stay batch dimensions where `dot_general` leaves them in front; in any other
    case both sides are rewritten without batch dimensions. Dense dimensions become sparse.

    Args:
      lhs_shape, rhs_shape: shapes of the operands.
      lhs_indices, rhs_indices: shapes of their indices.
      dimension_numbers: as `jax.lax.dot_general` takes them, canonical.
    """
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = dimension_numbers
    lhs_n, rhs_n = len(lhs_indices) - 2, len(rhs_indices) - 2
    shape = jax.eval_shape(
        partial(lax.dot_general, dimension_numbers=dimension_numbers),
        jax.ShapeDtypeStruct(lhs_shape, np.float32),
        jax.ShapeDtypeStruct(rhs_shape, np.float32),
    ).shape
    lhs_free = [d for d in range(len(lhs_shape)) if d not in lhs_contract and d not in lhs_batch]
    rhs_free = [d for d in range(len(rhs_shape)) if d not in rhs_contract and d not in rhs_batch]
    stays = (
        all(d < lhs_n for d in lhs_batch)
        and all(d < rhs_n for d in rhs_batch)
        and all(d >= lhs_n for d in lhs_contract)
        and all(d >= rhs_n for d in rhs_contract)
        and (rhs_n == len(rhs_batch) or all(d < lhs_n for d in lhs_free))
    )
    lhs_nse = _slots_without(lhs_shape, lhs_indices, lhs_n if stays else 0)
    rhs_nse = _slots_without(rhs_shape, rhs_indices, rhs_n if stays else 0)
    if not stays:
        lhs_n = rhs_n = 0
    lhs = Side(lhs_shape, (*lhs_batch, *lhs_free, *lhs_contract), lhs_n, len(lhs_contract))
    rhs = Side(rhs_shape, (*rhs_batch, *rhs_free, *rhs_contract), rhs_n, len(rhs_contract))
    n_batch, batch = (len(lhs_batch), 0) if stays else (0, len(lhs_batch))
    slots = lhs_nse if len(lhs.shape) > len(lhs_contract) else 1
    slots *= rhs_nse if len(rhs.shape) > len(rhs_contract) + batch else 1
    n_out = lhs_n + rhs_n - n_batch
    return Product(lhs, rhs, n_batch, batch, shape, min(slots, math.prod(shape[n_out:])))


def _slots_without(shape: Shape, indices: Shape, n_batch: int) -> int:
    """The slots of an operand whose dense dimensions and batch ones from `n_batch` on turn sparse."""
    n_stored = len(indices) - 2 + indices[-1]
    return indices[-2] * math.prod(shape[n_batch : len(indices) - 2]) * math.prod(shape[n_stored:])


def _prepared(side: Side, data, indices):
    """Brings buffers into the layout and order of a side."""
    n_batch, shape = side.n_batch, side.given
    data, indices = relayout(data, indices, shape=shape, n_batch=n_batch, n_dense=0)
    data = jnp.broadcast_to(data, (*shape[:n_batch], data.shape[n_batch]))
    indices = jnp.broadcast_to(indices, (*shape[:n_batch], *indices.shape[n_batch:]))
    lead, rest = side.order[:n_batch], side.order[n_batch:]
    if lead != tuple(range(n_batch)):
        data = data.transpose(*lead, n_batch)
        indices = indices.transpose(*lead, n_batch, n_batch + 1)
    columns = [d - n_batch for d in rest]
    if columns != list(range(len(columns))):
        indices = indices[..., np.asarray(columns, np.int32)]
    return data, indices


def slots_of(product: Product, lhs_indices, rhs_indices, in_order=NO_ORDER) -> int:
    """How many slots the result of concrete operands gets: all that may be, or enough of them.

    Args:
      product: the plan.
      lhs_indices, rhs_indices: BCOO indices.
      in_order: for each side, whether its entries are sorted by coordinates.
    """
    if product.slots <= FEW_SLOTS:
        return product.slots
    # The pattern may be known while values are traced: a constant of the program.
    with jax.ensure_compile_time_eval():
        options = {"product": product, "in_order": in_order}
        needed = int(count(lhs_indices, rhs_indices, **options))
    return capacity(needed, product.slots)


@partial(jax.jit, static_argnames=("product", "in_order"))
def count(lhs_indices, rhs_indices, *, product, in_order=NO_ORDER):
    """How many elements the product has, in the batch that has most."""
    if _is_of_matrices(product, lhs_indices, rhs_indices):
        a, b = _csr_sides(product, lhs_indices, rhs_indices, in_order)
        return csr_dot_csr_places(*a[1:], *b[1:], n_cols=product.shape[1], nse=0).count

    def one(_, lhs_indices, __, rhs_indices):
        return _places(lhs_indices, rhs_indices, product, 0).count

    sides = []
    for side, indices in ((product.lhs, lhs_indices), (product.rhs, rhs_indices)):
        n_batch, n_sparse = indices.ndim - 2, indices.shape[-1]
        dense = side.given[n_batch + n_sparse :]
        none = jnp.zeros((*(1,) * n_batch, indices.shape[-2], *dense), bool)
        sides += _prepared(side, none, indices)
    return _over(one, product)(*sides).max(initial=0)


@partial(jax.jit, static_argnames=("product", "nse", "in_order", "out_dtype"), inline=True)
def spdot(
    lhs_data,
    lhs_indices,
    rhs_data,
    rhs_indices,
    *,
    product,
    nse,
    in_order=NO_ORDER,
    out_dtype=None,
):
    """Multiplies two sparse arrays as planned.

    Args:
      lhs_data, lhs_indices, rhs_data, rhs_indices: BCOO buffers.
      product: the plan.
      nse: slots of the result in each batch.
      in_order: for each side, whether its entries are sorted by coordinates.
      out_dtype: type of the result; None: the promoted type.

    Returns:
      data `(*batch, nse)` and indices `(*batch, nse, n_sparse)`: sorted, unique, padding last.
      Where there are more elements than `nse`, the last are left out.

    Cost: O(pairs of entries that meet + nse) for each batch, besides sorting both sides.
    """
    dtype = common_dtype(lhs_data, rhs_data) if out_dtype is None else np.dtype(out_dtype)
    if _is_of_matrices(product, lhs_indices, rhs_indices):
        (a_order, *a), (b_order, *b) = _csr_sides(product, lhs_indices, rhs_indices, in_order)
        values = (
            _ordered(lhs_data, a_order).astype(dtype),
            _ordered(rhs_data, b_order).astype(dtype),
        )
        return matrix_product(*values, *a, *b, n_cols=product.shape[1], nse=nse)

    def one(lhs_data, lhs_indices, rhs_data, rhs_indices):
        found = _places(lhs_indices, rhs_indices, product, nse)
        a, b = lhs_data[found.lhs_order], rhs_data[found.rhs_order]
        data = _values(a.astype(dtype), b.astype(dtype), found.buffers, found.n_cols)
        return data, found.indices

    left = _prepared(product.lhs, lhs_data, lhs_indices)
    return _over(one, product)(*left, *_prepared(product.rhs, rhs_data, rhs_indices))


def _is_of_matrices(product: Product, lhs_indices, rhs_indices) -> bool:
    """Whether this is the product over one dimension of two matrices not much larger than what they
    store: their rows need no numbers of their own then."""
    shapes = {lhs_indices.ndim, lhs_indices.shape[-1], rhs_indices.ndim, rhs_indices.shape[-1]}
    if shapes != {2} or product.batch or product.lhs.n_contract != 1:
        return False
    if max(len(product.lhs.given), len(product.rhs.given)) > 2:
        return False
    nse = lhs_indices.shape[0] + rhs_indices.shape[0]
    return few_rows(product.lhs.given, product.rhs.given, nse)


def few_rows(lhs: Shape, rhs: Shape, nse: int) -> bool:
    """Whether arrays as long as these dimensions are small beside the entries of both sides."""
    return max(*lhs, *rhs) <= 4 * nse + 1024


def _csr_sides(product: Product, lhs_indices, rhs_indices, in_order):
    """Both sides as csr matrices, the contracted dimension the columns of the first and the rows of
    the second: the order of entries (None: as they are), columns and indptr of each."""
    lhs_indices, rhs_indices = as_kernel_index(lhs_indices, rhs_indices)
    left, right = product.lhs, product.rhs
    return (
        _as_csr(lhs_indices, left.given, left.order[0], in_order[0]),
        _as_csr(rhs_indices, right.given, right.order[-1], in_order[1]),
    )


def _as_csr(indices, shape: Shape, row_axis: int, in_order: bool):
    turned = shape if row_axis == 0 else shape[::-1]
    if in_order and row_axis == 0:
        return None, *coo_to_csr(indices, shape=turned)
    # Entries by row are those of a matrix of one row by column.
    rows = jnp.where(in_range(indices, shape), indices[:, row_axis], turned[0])
    one_row = jnp.array([0, indices.shape[0]], indices.dtype)
    found = csr_transpose(rows, one_row, n_cols=turned[0])
    return found.order, indices[found.order, 1 - row_axis], found.indptr


def _ordered(data, order):
    return data if order is None else data[order]


@partial(jax.jit, static_argnames="n_cols")
def csr_sizes(a_indices, a_indptr, b_indices, b_indptr, *, n_cols):
    """How many elements the product of two csr matrices has, and how many in each row."""
    places = as_kernel_index(a_indices, a_indptr, b_indices, b_indptr)
    found = csr_dot_csr_places(*places, n_cols=n_cols, nse=0)
    return found.count, found.sizes


@partial(jax.jit, static_argnames=("n_cols", "nse", "out_dtype"), inline=True)
def csr_spdot(
    a, b, a_indices, a_indptr, b_indices, b_indptr, sizes=None, *, n_cols, nse, out_dtype=None
):
    """The product of two csr matrices, of `nse` slots: data, indices and indptr, as `spdot`, and the
    number of elements, also beyond `nse`; `sizes` are those of `csr_sizes`, where they are known."""
    dtype = common_dtype(a, b) if out_dtype is None else np.dtype(out_dtype)
    places = as_kernel_index(a_indices, a_indptr, b_indices, b_indptr)
    values = a.astype(dtype), b.astype(dtype)
    return matrix_product(*values, *places, n_cols=n_cols, nse=nse, csr=True, sizes=sizes)


def matrix_product(
    a, b, a_indices, a_indptr, b_indices, b_indptr, *, n_cols, nse, csr=False, sizes=None
):
    """Multiplies two csr matrices whose values are of one dtype, any.

    Returns:
      data `(nse,)` and coordinates `(nse, 2)`, or for `csr` data, indices, indptr and the number of
      elements, also beyond `nse`; sorted, unique, padding last.
    """
    places, dtype = (a_indices, a_indptr, b_indices, b_indptr), a.dtype
    if dtype in EXACT:
        out = csr_matmul(a, b, *places, sizes, n_cols=n_cols, nse=nse, coordinates=not csr)
        return out if csr else out[:2]
    found = csr_dot_csr_places(*places, n_cols=n_cols, nse=nse)
    data = _values(a, b, (*places, found.indices, found.indptr), n_cols)
    if csr:
        return data, found.indices, found.indptr, found.count
    return data, csr_to_coo(found.indices, found.indptr, n_cols=n_cols)


def _over(function, product: Product):
    for _ in range(product.rhs.n_batch - product.n_batch):
        function = jax.vmap(function, in_axes=(None, None, 0, 0))
    for _ in range(product.lhs.n_batch - product.n_batch):
        function = jax.vmap(function, in_axes=(0, 0, None, None))
    for _ in range(product.n_batch):
        function = jax.vmap(function)
    return function


class _Places(NamedTuple):
    lhs_order: jax.Array
    rhs_order: jax.Array
    buffers: tuple[jax.Array, ...]  # what csr_dot_csr takes besides values
    n_cols: int
    indices: jax.Array
    count: jax.Array  # pyright: ignore[reportIncompatibleMethodOverride]


def _places(lhs, rhs, product: Product, nse: int) -> _Places:
    lhs, rhs = as_kernel_index(lhs, rhs)
    lhs_real, rhs_real = in_range(lhs, product.lhs.shape), in_range(rhs, product.rhs.shape)
    n_batch = product.batch
    lhs_contract, rhs_contract = product.lhs.contract, product.rhs.contract
    batch = tuple(range(n_batch))
    row_dims = [d for d in range(lhs.shape[1]) if d not in lhs_contract]
    column_dims = [d for d in range(n_batch, rhs.shape[1]) if d not in rhs_contract]
    rows = _compact(lhs, lhs_real, row_dims, product.lhs.shape)
    columns = _compact(rhs, rhs_real, column_dims, product.rhs.shape)
    left, right, n_inner = _inner(
        lhs, lhs_real, (*batch, *lhs_contract), rhs, rhs_real, (*batch, *rhs_contract), product
    )
    n_rows, n_cols = rows.coordinates.shape[0], columns.coordinates.shape[0]
    lhs_order = group_rows(rows.ids, n_rows=n_rows, capacity=0).order
    rhs_order = group_rows(right, n_rows=n_inner, capacity=0).order
    a = left[lhs_order], row_starts(rows.ids[lhs_order], n_rows)
    b = columns.ids[rhs_order], row_starts(right[rhs_order], n_inner)
    c = csr_dot_csr_places(*a, *b, n_cols=n_cols, nse=nse)
    row = row_of_entry(c.indptr, nse)
    parts = [_at(rows.coordinates, row), _at(columns.coordinates, c.indices)]
    sizes = [product.lhs.shape[d] for d in row_dims] + [product.rhs.shape[d] for d in column_dims]
    dtype = np.result_type(*(p.dtype for p in parts), index_dtype_for(*sizes))
    indices = jnp.concatenate([p.astype(dtype) for p in parts], axis=-1)
    real = (row < n_rows)[:, None]
    indices = jnp.where(real, indices, along_last(sizes, indices))
    return _Places(lhs_order, rhs_order, (*a, *b, c.indices, c.indptr), n_cols, indices, c.count)


def _at(coordinates, ids):
    if coordinates.shape[0] == 0:
        return jnp.zeros((ids.shape[0], coordinates.shape[1]), coordinates.dtype)
    return coordinates.at[ids].get(mode="clip")


class _Ids(NamedTuple):
    ids: jax.Array  # (nse,), int32, ascending with the cell; the number of coordinates is padding
    coordinates: jax.Array  # (n, dims)


def _compact(indices, real, dims: Sequence[int], shape: Shape) -> _Ids:
    """Numbers the cells of `dims` that are named, with not many more numbers than entries."""
    nse, sizes = indices.shape[0], [shape[d] for d in dims]
    cells = math.prod(sizes)
    part = indices[:, np.asarray(dims, np.int32)]
    part = jnp.where(real[:, None], part, along_last(sizes, part))
    if cells <= 4 * nse + 1024:
        known = cell_numbers(part, sizes)
        assert known is not None
        ids = jnp.where(real, known, cells).astype(jnp.int32)
        own = np.indices(sizes).reshape(len(sizes), cells).T
        return _Ids(ids, jnp.asarray(own, part.dtype))
    groups = groups_of(part, tuple(sizes), nse)
    return _Ids(groups.inverse, groups.cells)


def _inner(lhs, lhs_real, lhs_dims, rhs, rhs_real, rhs_dims, product: Product):
    """Numbers the contracted cells alike on both sides: two lists of ids and how many there are."""
    sizes = [product.lhs.shape[d] for d in lhs_dims]
    left, right = lhs[:, np.asarray(lhs_dims, np.int32)], rhs[:, np.asarray(rhs_dims, np.int32)]
    both = _compact(
        jnp.concatenate([left, right]),
        jnp.concatenate([lhs_real, rhs_real]),
        range(len(sizes)),
        tuple(sizes),
    )
    return both.ids[: lhs.shape[0]], both.ids[lhs.shape[0] :], both.coordinates.shape[0]


def _values(a, b, places, n_cols: int):
    """The values of the product of any dtype: the kernel takes four."""
    dtype = a.dtype

    def run(a, b):
        return csr_dot_csr(a, b, *places, n_cols=n_cols)

    if jnp.issubdtype(dtype, jnp.complexfloating):
        real = run(a.real, b.real) - run(a.imag, b.imag)
        return lax.complex(real, run(a.real, b.imag) + run(a.imag, b.real))
    if dtype in EXACT:
        return run(a, b)
    if dtype == np.bool_:
        return run(a.astype(jnp.int32), b.astype(jnp.int32)) != 0
    if jnp.issubdtype(dtype, jnp.integer):
        wide = jnp.int64 if dtype.itemsize == 8 else jnp.int32
    else:
        wide = jnp.float32
    return run(a.astype(wide), b.astype(wide)).astype(dtype)
