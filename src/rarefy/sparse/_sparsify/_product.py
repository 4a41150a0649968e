"""Products: `dot_general` and convolutions."""

from collections.abc import Sequence
from typing import Any

from jax import lax
from jax import numpy as jnp

from rarefy.sparse import _dot, _operators, _spdot
from rarefy.sparse._bcoo import BCOO
from rarefy.sparse._bcoo_conv import bcoo_conv_general_dilated
from rarefy.sparse._sparsify import _pattern
from rarefy.sparse._sparsify._refusals import unsupported
from rarefy.sparse._sparsify._values import (
    Call,
    Filled,
    Rows,
    Rule,
    is_dense,
    is_sparse,
    stored,
    with_data,
)
from rarefy.sparse._sparsify._walk import Walk


def dot_general(walk: Walk, call: Call, ins: list[Any]) -> Sequence[Any]:
    """Sparse with dense gives dense, sparse with sparse a sorted and unique sparse array."""
    params = call.params
    if params.get("out_sharding") is not None:
        raise unsupported(call, ins, "A product with out_sharding needs dense operands.")
    numbers, dtype = params["dimension_numbers"], params["preferred_element_type"]
    lhs, rhs = ins
    if isinstance(lhs, Filled) or isinstance(rhs, Filled):
        return [_of_filled(walk, call, lhs, rhs)]
    if is_sparse(lhs) and is_sparse(rhs):
        return [_of_sparse(walk, lhs, rhs, numbers, dtype)]
    if is_sparse(lhs):
        return [stored(lhs)._dot_general(jnp.asarray(walk.dense(rhs)), numbers, dtype)]
    if is_sparse(rhs):
        return [stored(rhs)._rdot_general(jnp.asarray(walk.dense(lhs)), numbers, dtype)]
    return [
        lax.dot_general(
            walk.dense(lhs),
            walk.dense(rhs),
            numbers,
            precision=params.get("precision"),
            preferred_element_type=dtype,
        )
    ]


def _of_sparse(walk: Walk, lhs: Any, rhs: Any, numbers: Any, dtype: Any) -> Any:
    a, b = walk.coo(lhs), walk.coo(rhs)
    numbers = _dot.canonical_dimension_numbers(numbers)
    product = _spdot.plan(a.shape, a.indices.shape, b.shape, b.indices.shape, numbers)
    if product.slots > _spdot.FEW_SLOTS:
        walk.want_numbers()
    out = _operators.spdot_general(a, b, numbers, dtype)
    return out if isinstance(stored(lhs), BCOO) and not isinstance(lhs, Rows) else Rows(out)


def _of_filled(walk: Walk, call: Call, lhs: Any, rhs: Any) -> Any:
    """The product with the difference from the background, and that with the background."""
    if not (is_dense(lhs) or is_dense(rhs)):
        raise unsupported(
            call, [lhs, rhs], "One operand must be dense, or both zero where unstored."
        )
    filled, other = (lhs, rhs) if isinstance(lhs, Filled) else (rhs, lhs)
    under = _pattern.look_up(walk, filled.mat, jnp.asarray(filled.base))
    data = stored(filled.mat).data
    difference = with_data(filled.mat, data - jnp.broadcast_to(under, data.shape))
    one = [difference, other] if filled is lhs else [other, difference]
    (total,) = dot_general(walk, call, one)
    (contracted, _), (batched, _) = (
        call.params["dimension_numbers"]
        if filled is lhs
        else [pair[::-1] for pair in call.params["dimension_numbers"]]
    )
    full = [
        s if d in (*contracted, *batched) else b
        for d, (s, b) in enumerate(zip(filled.shape, filled.base.shape, strict=True))
    ]
    base = jnp.broadcast_to(filled.base, full)
    two = [base, other] if filled is lhs else [other, base]
    (rest,) = dot_general(walk, call, two)
    return total + rest


def _convolution(walk: Walk, call: Call, ins: list[Any]) -> Sequence[Any]:
    lhs, rhs = ins
    if isinstance(lhs, Filled) or isinstance(rhs, Filled):
        raise unsupported(call, ins)
    lhs, rhs = (x if is_sparse(x) else walk.dense(x) for x in (lhs, rhs))
    return [bcoo_conv_general_dilated(lhs, rhs, **call.params)]


NATIVE: dict[str, Rule] = {"dot_general": dot_general}
RULES: dict[str, Rule] = {"conv_general_dilated": _convolution}
