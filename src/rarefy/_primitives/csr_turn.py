"""The transpose of a CSR matrix, values and all."""

from typing import NamedTuple

import jax
from jax import numpy as jnp
from jax.core import ShapedArray
from jax.interpreters import ad, batching

from rarefy._primitives._batching import one_by_one
from rarefy._primitives._define import Form, bind, define, like, public
from rarefy._primitives._entries import check_csr


class CsrTurned(NamedTuple):
    """A transpose; the docstring of `csr_turn` says what the fields hold."""

    data: jax.Array
    indices: jax.Array
    indptr: jax.Array


@public("n_cols")
def csr_turn(data, indices, indptr, *, n_cols: int, form: Form = "auto") -> CsrTurned:
    """Transposes a CSR matrix: `csr_transpose`, and the values in the same pass.

    Args:
      data: `(nse,)`. The kernel takes elements of 1, 2, 4 or 8 bytes.
      indices, indptr, n_cols: as `csr_transpose` takes them.
      form: which implementation to use.

    Returns:
      data, indices `(nse,)` and indptr `(n_cols + 1,)`: a row for each column, sorted, repeats in
      their order; padding, of column `m` and value zero, comes last.

    Raises:
      ValueError, TypeError: the operands do not fit together.

    Cost: O(nse + m + n_cols), shared among threads. Differentiable with respect to the values.
    """
    return CsrTurned(*bind("csr_turn", data, indices, indptr, n_cols=n_cols, form=form))


def _gathered(data, order, indptr):
    if data.shape[0] == 0:
        return data
    real = jnp.arange(data.shape[0], dtype=indptr.dtype) < indptr[-1]
    return jnp.where(real, data[order], jnp.zeros((), data.dtype))


def _csr_turn_xla(data, indices, indptr, *, n_cols):
    rows, starts, order = bind("csr_transpose", indices, indptr, n_cols=n_cols, form="xla")
    return _gathered(data, order, starts), rows, starts


def _csr_turn_abstract(data, indices, indptr, *, n_cols):
    check_csr("csr_turn", indices, indptr, data)
    if not 0 <= n_cols <= jnp.iinfo(indices.dtype).max or indices.shape[0] >= 2**31:
        raise ValueError(
            f"csr_turn: n_cols {n_cols} must fit {indices.dtype}, and the number of entries "
            f"{indices.shape[0]} int32"
        )
    return (
        like(data, data.shape, data.dtype),
        like(indices, indices.shape, indices.dtype),
        like(indices, (n_cols + 1,), indices.dtype),
    )


def _csr_turn_jvp(primals, tangents, *, n_cols, form):
    out = bind("csr_turn", *primals, n_cols=n_cols, form=form)
    rest = [ad.Zero(ShapedArray(o.shape, jax.dtypes.float0)) for o in out[1:]]
    if type(tangents[0]) is ad.Zero:
        return out, [ad.Zero(jax.typeof(out[0])), *rest]
    _, starts, order = bind("csr_transpose", *primals[1:], n_cols=n_cols, form=form)
    return out, [_gathered(tangents[0], order, starts), *rest]


csr_turn_p = define(
    "csr_turn",
    abstract=_csr_turn_abstract,
    xla=_csr_turn_xla,
    multiple_results=True,
    supports=lambda data, *rest: data.dtype.itemsize <= 8 and data.dtype.kind != "c",
    attributes=("n_cols",),
)
ad.primitive_jvps[csr_turn_p] = _csr_turn_jvp
batching.primitive_batchers[csr_turn_p] = one_by_one(csr_turn_p)
