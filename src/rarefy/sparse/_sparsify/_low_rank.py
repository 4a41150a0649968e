"""Dense matrices that are a multiple of the identity plus outer products, which are never made.

A quasi-Newton method updates its matrix as `(I - r s y') H (I - r y s')`. With the factors as they
are written that is two products of whole matrices; with the factors' structure, two of a matrix and a
vector. In a program whose data is sparse the former would be all of its time.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jax import lax
from jax import numpy as jnp

from rarefy.sparse._sparsify._values import Call, Grid, LowRank, dtype_of, is_dense, is_zero

# Below this many cells the matrix itself is as good.
FEW_CELLS = 2**12
# They go into the body, where the values are used.
INLINED = ("jit", "pjit", "closed_call", "core_call", "core_closed_call")


def of_dense(call: Call, ins: Sequence[Any]) -> Any:
    """A structured result of dense operands, or None."""
    if call.name == "iota":
        shape, dimension = tuple(call.params["shape"]), call.params["dimension"]
        if len(shape) == 2 and shape[0] == shape[1] and shape[0] ** 2 >= FEW_CELLS:
            return Grid(shape, dimension, np.dtype(call.params["dtype"]))
    if call.name == "mul" and call.params.get("out_dtype") is None:
        x, y = ins
        if np.ndim(x) == np.ndim(y) == 2 and jnp.issubdtype(dtype_of(x), jnp.floating):
            x, y = (x, y) if np.shape(x)[1] == 1 else (y, x)
            (n, one), (other, m) = np.shape(x), np.shape(y)
            if one == other == 1 and n * m >= FEW_CELLS and min(n, m) > 1:
                terms = ((jnp.reshape(x, (n,)), jnp.reshape(y, (m,))),)
                return LowRank((n, m), dtype_of(x), None, terms)
    return None


def of_structured(call: Call, ins: Sequence[Any]) -> Any:
    """The structured or dense result of operands one of which is structured; None if there is none."""
    rule = RULES.get(call.name)
    return None if rule is None else rule(call, ins)


def _combined(call: Call, ins: Sequence[Any]) -> Any:
    x, y = ins
    if call.name != "sub" and isinstance(x, Grid) and is_zero(y) and np.ndim(y) == 0:
        return x
    if not (isinstance(x, LowRank) and isinstance(y, LowRank) and x.shape == y.shape):
        return None
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return None
    y = _scaled(y, -1) if call.name == "sub" else y
    eyes = [e for e in (x.eye, y.eye) if e is not None]
    return LowRank(x.shape, x.dtype, sum(eyes) if eyes else None, (*x.terms, *y.terms))


def _scaled(value: LowRank, by: Any) -> LowRank:
    eye = None if value.eye is None else value.eye * by
    return LowRank(value.shape, value.dtype, eye, tuple((u * by, v) for u, v in value.terms))


def _mul(call: Call, ins: Sequence[Any]) -> Any:
    x, y = ins if isinstance(ins[0], LowRank) else ins[::-1]
    if not (isinstance(x, LowRank) and is_dense(y) and np.ndim(y) == 0):
        return None
    return _scaled(x, y) if jnp.issubdtype(x.dtype, jnp.floating) else None


def _neg(call: Call, ins: Sequence[Any]) -> Any:
    (x,) = ins
    is_float = isinstance(x, LowRank) and jnp.issubdtype(x.dtype, jnp.floating)
    return _scaled(x, -1) if is_float else None


def _eq(call: Call, ins: Sequence[Any]) -> Any:
    x, y = ins
    if not (isinstance(x, Grid) and isinstance(y, Grid)) or x.dimension == y.dimension:
        return None
    return LowRank(x.shape, np.dtype(bool), np.bool_(True), ())


def _convert(call: Call, ins: Sequence[Any]) -> Any:
    (x,), dtype = ins, np.dtype(call.params["new_dtype"])
    if not isinstance(x, LowRank) or x.terms or not jnp.issubdtype(dtype, jnp.floating):
        return None
    return LowRank(x.shape, dtype, jnp.asarray(x.eye, dtype), ())


def _transpose(call: Call, ins: Sequence[Any]) -> Any:
    (x,) = ins
    if not isinstance(x, LowRank) or tuple(call.params["permutation"]) != (1, 0):
        return None
    return LowRank(x.shape[::-1], x.dtype, x.eye, tuple((v, u) for u, v in x.terms))


def _dot_general(call: Call, ins: Sequence[Any]) -> Any:
    (lhs_dims, rhs_dims), batch = call.params["dimension_numbers"]
    on_left = isinstance(ins[0], LowRank)
    x, y = ins if on_left else ins[::-1]
    if not (isinstance(x, LowRank) and is_dense(y) and np.ndim(y) in (1, 2)):
        return None
    if any(map(len, batch)) or len(lhs_dims) != 1 or not jnp.issubdtype(x.dtype, jnp.floating):
        return None
    (own,), (of_dense_side,) = (lhs_dims, rhs_dims) if on_left else (rhs_dims, lhs_dims)
    y = jnp.moveaxis(jnp.asarray(y), of_dense_side, 0)
    total = None if x.eye is None else x.eye * y
    for u, v in x.terms:
        u, v = (u, v) if own == 1 else (v, u)
        found = lax.dot_general(
            v, y, (((0,), (0,)), ((), ())), precision=call.params.get("precision")
        )
        term = u.reshape(-1, *(1,) * found.ndim) * found
        total = term if total is None else total + term
    if total is None:
        return None
    dtype = call.params.get("preferred_element_type")
    total = total if dtype is None else total.astype(dtype)
    return total if on_left else jnp.moveaxis(total, 0, -1)


RULES = {
    "add": _combined,
    "add_any": _combined,
    "sub": _combined,
    "mul": _mul,
    "neg": _neg,
    "eq": _eq,
    "convert_element_type": _convert,
    "transpose": _transpose,
    "dot_general": _dot_general,
}


def made(value: Grid | LowRank) -> Any:
    """The dense matrix."""
    if isinstance(value, Grid):
        return lax.broadcasted_iota(value.dtype, value.shape, value.dimension)
    total = None
    if value.eye is not None:
        total = jnp.eye(value.shape[0], dtype=value.dtype)
        total = total if value.dtype == np.bool_ else total * value.eye
    for u, v in value.terms:
        term = u[:, None] * v[None, :]
        total = term if total is None else total + term
    return jnp.zeros(value.shape, value.dtype) if total is None else total
