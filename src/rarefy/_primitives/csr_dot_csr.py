"""The values of the product of two csr matrices, and its derivatives."""

from typing import Literal

import jax
import numpy as np
from jax import numpy as jnp
from jax.interpreters import ad, batching

from rarefy._primitives._batching import one_by_one
from rarefy._primitives._define import Form, bind, define, like, public
from rarefy._primitives._entries import check_csr, check_dtypes
from rarefy._primitives._meetings import over_pairs

A, B, C = 0, 1, 2
EXACT = frozenset(map(np.dtype, ("float32", "float64", "int32", "int64")))


@public("n_cols", "wanted")
def csr_dot_csr(
    first,
    second,
    a_indices,
    a_indptr,
    b_indices,
    b_indptr,
    c_indices,
    c_indptr,
    *,
    n_cols: int,
    wanted: Literal[0, 1, 2] = C,
    form: Form = "auto",
) -> jax.Array:
    """Computes the values of one of three CSR matrices a, b, c from those of the other two.

    Each pair of an entry of a and an entry of b that meet, and the entry of c in whose place they
    do, form a triple. The value of an entry of `wanted` is the sum, over the triples it is in, of
    the product of the other two values: the product `c = a @ b`, or its derivatives.

    Args:
      first, second: the values of the two others in the order a, b, c, `(nse,)` each, of one dtype:
        float32, float64, int32 or int64; other types use the XLA form.
      a_indices, a_indptr, b_indices, b_indptr: as `csr_dot_csr_places` takes them.
      c_indices, c_indptr: as it returns them; pairs that meet elsewhere count for nothing.
      n_cols: number of columns of b and c.
      wanted: 0 for a, 1 for b, 2 for c.
      form: which implementation to use.

    Returns:
      `(nse of wanted,)`; zero for padding. The bits are the same for any number of threads.

    Raises:
      ValueError, TypeError: the operands do not fit together.

    Cost: O(triples + nse + m + n_cols); working memory of a row for each thread. The XLA form
    searches for each triple: times log(nse).
    """
    places = (a_indices, a_indptr, b_indices, b_indptr, c_indices, c_indptr)
    return bind("csr_dot_csr", first, second, *places, n_cols=n_cols, wanted=wanted, form=form)


def _csr_dot_csr_xla(first, second, *places, n_cols, wanted):
    *operands, c_indices, c_indptr = places
    sizes = (operands[0].shape[0], operands[2].shape[0], c_indices.shape[0])
    out = jnp.zeros(sizes[wanted], first.dtype)
    if 0 in sizes:
        return out

    def step(pairs, out):
        slot, found = _slot_of(pairs.row, pairs.column, c_indices, c_indptr)
        # Where each side's values are: of a, of b, of c.
        at = (pairs.a, pairs.b, slot)
        left, right = (at[role] for role in (A, B, C) if role != wanted)
        products = jnp.where(found & pairs.real, first[left] * second[right], 0)
        return out.at[at[wanted]].add(products.astype(out.dtype))

    return over_pairs(operands, n_cols, step, out)


def _slot_of(row, column, indices, indptr):
    """Where the places stand in a csr matrix whose columns ascend, and whether they do."""
    nse, m = indices.shape[0], indptr.shape[0] - 1
    low = jnp.clip(indptr.at[row].get(mode="clip"), 0, nse)
    end = jnp.clip(indptr.at[jnp.minimum(row + 1, m)].get(mode="clip"), 0, nse)
    high = end
    for _ in range(nse.bit_length()):
        middle = jnp.minimum((low + high) // 2, nse - 1)
        less = (indices[middle] < column) & (low < high)
        low, high = jnp.where(less, middle + 1, low), jnp.where(less, high, middle)
    slot = jnp.minimum(low, nse - 1)
    return slot, (low < end) & (indices[slot] == column)


def _csr_dot_csr_abstract(first, second, *places, n_cols, wanted):
    a_indices, a_indptr, b_indices, b_indptr, c_indices, c_indptr = places
    check_csr("csr_dot_csr", a_indices, a_indptr)
    check_csr("csr_dot_csr", b_indices, b_indptr)
    check_csr("csr_dot_csr", c_indices, c_indptr)
    check_dtypes("csr_dot_csr", first, second)
    sizes = [a_indices.shape, b_indices.shape, c_indices.shape]
    given = [sizes[r] for r in (A, B, C) if r != wanted]
    if [first.shape, second.shape] != given or c_indptr.shape != a_indptr.shape:
        raise ValueError(
            f"csr_dot_csr: values {first.shape} and {second.shape} do not fit matrices of {sizes} "
            f"entries, {a_indptr.shape} and {c_indptr.shape} row starts"
        )
    if len({a_indices.dtype, b_indices.dtype, c_indices.dtype}) > 1:
        raise TypeError(
            f"csr_dot_csr: indices must be of one type, got {a_indices.dtype}, {b_indices.dtype} "
            f"and {c_indices.dtype}"
        )
    return like(first, sizes[wanted], first.dtype)


def _csr_dot_csr_jvp_first(tangent, first, second, *places, **params):
    return bind("csr_dot_csr", tangent, second, *places, **params)


def _csr_dot_csr_jvp_second(tangent, first, second, *places, **params):
    return bind("csr_dot_csr", first, tangent, *places, **params)


def _csr_dot_csr_transpose(cotangent, first, second, *places, n_cols, wanted, form):
    given = [r for r in (A, B, C) if r != wanted]
    is_first = ad.is_undefined_primal(first)
    role, other = (given[0], given[1]) if is_first else (given[1], given[0])
    if type(cotangent) is ad.Zero:
        out = ad.Zero((first if is_first else second).aval)
    else:
        values = {wanted: cotangent, other: second if is_first else first}
        pair = [values[r] for r in (A, B, C) if r != role]
        out = bind("csr_dot_csr", *pair, *places, n_cols=n_cols, wanted=role, form=form)
    rest = (None,) * len(places)
    return (out, None, *rest) if is_first else (None, out, *rest)


csr_dot_csr_p = define(
    "csr_dot_csr",
    abstract=_csr_dot_csr_abstract,
    xla=_csr_dot_csr_xla,
    supports=lambda first, second, *places: first.dtype in EXACT,
    attributes=("n_cols", "wanted"),
)
ad.defjvp(csr_dot_csr_p, _csr_dot_csr_jvp_first, _csr_dot_csr_jvp_second, *(None,) * 6)
ad.primitive_transposes[csr_dot_csr_p] = _csr_dot_csr_transpose
batching.primitive_batchers[csr_dot_csr_p] = one_by_one(csr_dot_csr_p)
