"""The product of two csr matrices, its places and values in one pass."""

from typing import NamedTuple

import jax
import numpy as np
from jax import numpy as jnp
from jax.core import ShapedArray
from jax.interpreters import ad, batching

from rarefy._primitives._batching import one_by_one
from rarefy._primitives._define import Form, bind, define, like, public
from rarefy._primitives._entries import check_csr, check_dtypes
from rarefy._primitives.csr_dot_csr import EXACT
from rarefy._primitives.csr_to_coo import csr_to_coo


class CsrProduct(NamedTuple):
    """A product; the docstring of `csr_matmul` says what the fields hold."""

    data: jax.Array
    indices: jax.Array
    indptr: jax.Array
    count: jax.Array  # pyright: ignore[reportIncompatibleMethodOverride]


@public("n_cols", "nse", "coordinates")
def csr_matmul(
    a,
    b,
    a_indices,
    a_indptr,
    b_indices,
    b_indptr,
    sizes=None,
    *,
    n_cols: int,
    nse: int,
    coordinates: bool = False,
    form: Form = "auto",
) -> CsrProduct:
    """Multiplies two CSR matrices: what `csr_dot_csr_places` and then `csr_dot_csr` give.

    Args:
      a: `(a_nse,)`, b: `(b_nse,)`: the values, of one dtype: float32, float64, int32 or int64;
        other types use the XLA form.
      a_indices, a_indptr, b_indices, b_indptr: as `csr_dot_csr_places` takes them.
      sizes: `(m,)`, dtype of the indices: the `sizes` that `csr_dot_csr_places` found for these
        operands, which saves finding them again. None: not known.
      n_cols: number of columns of b.
      nse: how many elements to make room for.
      coordinates: whether to give both coordinates of the elements instead of columns.
      form: which implementation to use.

    Returns:
      data `(nse,)`, indices `(nse,)` and indptr `(m + 1,)`: columns ascending in each row without
      repeats; padding, of column `n_cols` and value zero, comes last. With `coordinates`, indices
      are `(nse, 2)`, those of padding `(m, n_cols)`. Where there are more elements than `nse`, the
      last are left out.
      count: `()`, int32: the number of elements, also beyond `nse`.

    Raises:
      ValueError, TypeError: the operands do not fit together.

    Cost: O(pairs that meet + m + n_cols + nse); besides the result, working memory of a row for
    each thread. Differentiable with respect to the values.
    Source: Gustavson, Two Fast Algorithms for Sparse Matrices (1978).
    """
    sizes = jnp.zeros(0, a_indptr.dtype) if sizes is None else sizes
    operands = a, b, a_indices, a_indptr, b_indices, b_indptr, sizes
    params = {"n_cols": n_cols, "nse": nse, "coordinates": coordinates, "form": form}
    return CsrProduct(*bind("csr_matmul", *operands, **params))


def _csr_matmul_xla(a, b, *places_and_sizes, n_cols, nse, coordinates):
    *places, _ = places_and_sizes
    params = {"n_cols": n_cols, "form": "xla"}
    indices, indptr, count, _ = bind("csr_dot_csr_places", *places, nse=nse, **params)
    data = bind("csr_dot_csr", a, b, *places, indices, indptr, wanted=2, **params)
    if coordinates:
        indices = csr_to_coo(indices, indptr, n_cols=n_cols, form="xla")
    return data, indices, indptr, count


def _csr_matmul_abstract(a, b, *places_and_sizes, n_cols, nse, coordinates):
    a_indices, a_indptr, b_indices, b_indptr, sizes = places_and_sizes
    check_csr("csr_matmul", a_indices, a_indptr, a)
    check_csr("csr_matmul", b_indices, b_indptr, b)
    check_dtypes("csr_matmul", a, b)
    dtype = a_indices.dtype
    if b_indices.dtype != dtype:
        raise TypeError(
            f"csr_matmul: indices must be of one type, got {dtype} and {b_indices.dtype}"
        )
    m = a_indptr.shape[0] - 1
    if sizes.dtype != dtype or sizes.shape not in ((0,), (m,)):
        raise ValueError(f"csr_matmul: sizes must be ({m},) {dtype}, got {sizes}")
    most = jnp.iinfo(dtype).max
    if not 0 <= n_cols < most or not 0 <= nse <= most:
        raise ValueError(f"csr_matmul: n_cols={n_cols} and nse={nse} must be 0 to {most}")
    return (
        like(a, (nse,), a.dtype),
        like(a, (nse, 2) if coordinates else (nse,), dtype),
        like(a, a_indptr.shape, dtype),
        like(a, (), np.dtype(np.int32)),
    )


def _csr_matmul_jvp(primals, tangents, *, n_cols, nse, coordinates, form):
    a, b, *places, _ = primals
    params = {"n_cols": n_cols, "form": form}
    out = bind("csr_matmul", *primals, nse=nse, coordinates=coordinates, **params)
    _, indices, indptr, _ = out
    own = indices[:, 1] if coordinates else indices, indptr
    terms = [
        bind("csr_dot_csr", *pair, *places, *own, wanted=2, **params)
        for tangent, pair in zip(tangents[:2], ((tangents[0], b), (a, tangents[1])), strict=True)
        if type(tangent) is not ad.Zero
    ]
    tangent = sum(terms[1:], terms[0]) if terms else ad.Zero(jax.typeof(out[0]))
    rest = [ad.Zero(ShapedArray(x.shape, jax.dtypes.float0)) for x in out[1:]]
    return out, [tangent, *rest]


csr_matmul_p = define(
    "csr_matmul",
    abstract=_csr_matmul_abstract,
    xla=_csr_matmul_xla,
    multiple_results=True,
    supports=lambda a, *rest: a.dtype in EXACT,
    attributes=("n_cols",),
)
ad.primitive_jvps[csr_matmul_p] = _csr_matmul_jvp
batching.primitive_batchers[csr_matmul_p] = one_by_one(csr_matmul_p)
