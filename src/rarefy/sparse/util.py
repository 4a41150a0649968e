"""`jax.experimental.sparse.util` under its name: what its users import from there."""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from rarefy.sparse._info import CuSparseEfficiencyWarning as CuSparseEfficiencyWarning
from rarefy.sparse._info import Shape as Shape
from rarefy.sparse._info import SparseEfficiencyError as SparseEfficiencyError
from rarefy.sparse._info import SparseEfficiencyWarning as SparseEfficiencyWarning
from rarefy.sparse._info import SparseInfo as SparseInfo
from rarefy.sparse._layout import csr_coordinates


def nfold_vmap(
    fun: Callable[..., Any], N: int, *, broadcasted: bool = True, in_axes: Any = 0
) -> Callable[..., Any]:
    """Maps a function over `N` leading axes, which may be 1 and then stand for all."""
    for _ in range(N):
        fun = (broadcasting_vmap if broadcasted else jax.vmap)(fun, in_axes=in_axes)
    return fun


def broadcasting_vmap(
    fun: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0
) -> Callable[..., Any]:
    """`jax.vmap` whose mapped axes may be 1 beside axes of another size.

    Raises:
      ValueError: mapped axes have two sizes other than 1.
    """

    @wraps(fun)
    def mapped(*args):
        axes = in_axes if isinstance(in_axes, tuple | list) else (in_axes,) * len(args)
        leaves, tree = jax.tree.flatten(args)
        flat = [axis for arg, axis in zip(args, axes, strict=True) for _ in jax.tree.leaves(arg)]
        sizes = {x.shape[a] for x, a in zip(leaves, flat, strict=True) if a is not None}
        if len(sizes - {1}) > 1:
            raise ValueError(f"broadcasting_vmap: mismatched input shapes, axes of {sorted(sizes)}")
        if len(sizes) > 1:
            for i, axis in enumerate(flat):
                if axis is not None and leaves[i].shape[axis] == 1:
                    leaves[i], flat[i] = lax.squeeze(leaves[i], (axis,)), None

        def on_leaves(*leaves):
            return fun(*jax.tree.unflatten(tree, leaves))

        return jax.vmap(on_leaves, in_axes=tuple(flat), out_axes=out_axes)(*leaves)

    return mapped


@jax.jit
def _csr_to_coo(indices: Any, indptr: Any) -> tuple[jax.Array, jax.Array]:
    """Rows and columns of the entries of a csr matrix; padding has the number of rows."""
    width = np.iinfo(np.int32).max
    places = csr_coordinates(indices, indptr, shape=(indptr.shape[-1] - 1, width))
    return places[:, 0], indices


def _csr_extract(indices: Any, indptr: Any, mat: Any) -> jax.Array:
    """Values of a dense matrix at the places of a csr one."""
    row, col = _csr_to_coo(indices, indptr)
    return _coo_extract(row, col, mat)


def _coo_extract(row: Any, col: Any, mat: Any) -> jax.Array:
    """Values of a dense matrix at places; zero out of range."""
    return mat.at[row, col].get(mode="fill", fill_value=0)


def _count_stored_elements_per_batch(mat: Any, n_batch: int = 0, n_dense: int = 0) -> jax.Array:
    """How many cells of each batch of a dense array must be stored."""
    mat = jnp.asarray(mat)
    occupied = (mat != 0).any(axis=tuple(range(mat.ndim - n_dense, mat.ndim)))
    return occupied.sum(axis=tuple(range(n_batch, occupied.ndim)))


def _count_stored_elements(mat: Any, n_batch: int = 0, n_dense: int = 0) -> jax.Array:
    """The most cells that a batch of a dense array must store."""
    return _count_stored_elements_per_batch(mat, n_batch, n_dense).max(initial=0)


def _dot_general_validated_shape(
    lhs_shape: Shape, rhs_shape: Shape, dimension_numbers: Any
) -> Shape:
    """The shape of `jax.lax.dot_general`, or what it raises."""
    product = partial(lax.dot_general, dimension_numbers=dimension_numbers)
    lhs, rhs = (jax.ShapeDtypeStruct(s, np.float32) for s in (lhs_shape, rhs_shape))
    return jax.eval_shape(product, lhs, rhs).shape
