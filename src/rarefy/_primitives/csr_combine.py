"""Sums and products of two CSR matrices, element by element."""

from typing import NamedTuple

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp
from jax.core import ShapedArray
from jax.interpreters import ad, batching

from rarefy._primitives._batching import one_by_one
from rarefy._primitives._define import Form, bind, define, like, public
from rarefy._primitives._entries import check_csr, check_dtypes, take_or_zero
from rarefy._primitives.csr_dot_csr import EXACT


class CsrCombined(NamedTuple):
    """A result of `csr_combine`, whose docstring says what the fields hold."""

    data: jax.Array
    indices: jax.Array
    indptr: jax.Array
    count: jax.Array  # pyright: ignore[reportIncompatibleMethodOverride]


@public("n_cols", "nse", "product", "drop_zeros")
def csr_combine(
    a,
    b,
    a_indices,
    a_indptr,
    b_indices,
    b_indptr,
    *,
    n_cols: int,
    nse: int,
    product: bool = False,
    drop_zeros: bool = False,
    form: Form = "auto",
) -> CsrCombined:
    """Computes `a + b` or `a * b` of two CSR matrices of one shape.

    Args:
      a: `(a_nse,)`, b: `(b_nse,)`: the values, of one dtype. The kernel takes float32, float64,
        int32 and int64.
      a_indices, a_indptr, b_indices, b_indptr: as `csr_merge` takes them.
      n_cols: number of columns.
      nse: how many elements to make room for.
      product: whether to multiply instead of adding.
      drop_zeros: whether an element whose value is zero is left out.
      form: which implementation to use.

    Returns:
      data `(nse,)`, indices `(nse,)` and indptr `(m + 1,)`: the elements that either matrix has, of
      the product those that both have. Columns ascend in each row without repeats; padding, of
      column `n_cols` and value zero, comes last. Where there are more elements than `nse`, the last
      are left out.
      count: `()`, int32: the number of elements, also beyond `nse`.

    Raises:
      ValueError, TypeError: the operands do not fit together.

    Cost: O(a_nse + b_nse + m + nse). Differentiable with respect to the values.
    """
    operands = a, b, a_indices, a_indptr, b_indices, b_indptr
    params = {"n_cols": n_cols, "nse": nse, "product": product, "drop_zeros": drop_zeros}
    params["form"] = form
    return CsrCombined(*bind("csr_combine", *operands, **params))


def _merged(a, b, places, n_cols, product, form):
    """All elements, and functions that bring numbers of either matrix to them."""
    room = min(a.shape[0], b.shape[0]) if product else a.shape[0] + b.shape[0]
    found = bind("csr_merge", *places, n_cols=n_cols, nse=room, both=product, form=form)
    indices, indptr, *entries, _ = found
    sizes = a.shape[0], b.shape[0]
    at = [
        lambda x, e=e, n=n: take_or_zero(x, e, e < n) for e, n in zip(entries, sizes, strict=True)
    ]
    return indices, indptr, at


def _kept(values, indptr, nse, drop_zeros):
    """The slot in the result of each merged element, `nse` for none, and the row starts there."""
    kept = lax.iota(indptr.dtype, values.shape[0]) < indptr[-1]
    if drop_zeros:
        kept &= values != 0
    ranks = jnp.concatenate([jnp.zeros(1, indptr.dtype), jnp.cumsum(kept, dtype=indptr.dtype)])
    return jnp.where(kept, ranks[:-1], nse), ranks[indptr]


def _csr_combine_xla(a, b, *places, n_cols, nse, product, drop_zeros):
    indices, indptr, (of_a, of_b) = _merged(a, b, places, n_cols, product, "xla")
    x, y = of_a(a), of_b(b)
    values = x * y if product else x + y
    slot, starts = _kept(values, indptr, nse, drop_zeros)
    columns = jnp.full(nse, n_cols, indices.dtype).at[slot].set(indices, mode="drop")
    data = jnp.zeros(nse, values.dtype).at[slot].set(values, mode="drop")
    return data, columns, jnp.minimum(starts, nse), starts[-1].astype(jnp.int32)


def _csr_combine_abstract(a, b, *places, n_cols, nse, product, drop_zeros):
    a_indices, a_indptr, b_indices, b_indptr = places
    check_csr("csr_combine", a_indices, a_indptr, a)
    check_csr("csr_combine", b_indices, b_indptr, b)
    check_dtypes("csr_combine", a, b)
    if a_indices.dtype != b_indices.dtype or a_indptr.shape != b_indptr.shape:
        raise ValueError(
            f"csr_combine: the matrices must have equally many rows and indices of one type, got "
            f"{a_indptr} and {b_indptr}"
        )
    if not 0 <= n_cols <= jnp.iinfo(a_indices.dtype).max or not 0 <= nse < 2**31:
        raise ValueError(f"csr_combine: n_cols={n_cols} and nse={nse} must fit the indices")
    return (
        like(a, (nse,), a.dtype),
        like(a, (nse,), a_indices.dtype),
        like(a, a_indptr.shape, a_indices.dtype),
        like(a, (), np.dtype(np.int32)),
    )


def _csr_combine_jvp(primals, tangents, *, n_cols, nse, product, drop_zeros, form):
    a, b, *places = primals
    params = {"n_cols": n_cols, "nse": nse, "product": product, "drop_zeros": drop_zeros}
    params["form"] = form
    out = bind("csr_combine", *primals, **params)
    _, indptr, (of_a, of_b) = _merged(a, b, places, n_cols, product, form)
    x, y = of_a(a), of_b(b)
    terms = []
    if type(tangents[0]) is not ad.Zero:
        terms.append(of_a(tangents[0]) * y if product else of_a(tangents[0]))
    if type(tangents[1]) is not ad.Zero:
        terms.append(x * of_b(tangents[1]) if product else of_b(tangents[1]))
    rest = [ad.Zero(ShapedArray(o.shape, jax.dtypes.float0)) for o in out[1:]]
    if not terms:
        return out, [ad.Zero(jax.typeof(out[0])), *rest]
    slot, _ = _kept(x * y if product else x + y, indptr, nse, drop_zeros)
    total = sum(terms[1:], terms[0])
    # Added, as JAX does not transpose what is set.
    return out, [jnp.zeros(nse, total.dtype).at[slot].add(total, mode="drop"), *rest]


csr_combine_p = define(
    "csr_combine",
    abstract=_csr_combine_abstract,
    xla=_csr_combine_xla,
    multiple_results=True,
    supports=lambda a, *rest: a.dtype in EXACT,
    attributes=("n_cols", "product", "drop_zeros"),
)
ad.primitive_jvps[csr_combine_p] = _csr_combine_jvp
batching.primitive_batchers[csr_combine_p] = one_by_one(csr_combine_p)
