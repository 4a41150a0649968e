"""Elementwise operations: on the stored values alone, and on the background once.

An operation `f` of sparse operands is computed at the stored cells, and at zero for all others. If
that is zero too, the result is sparse; otherwise it is `Filled`. Nothing is asked of `f` but its value
at zero, so one rule serves for all; the others here are those whose operands need not be known.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jax import numpy as jnp

from rarefy.sparse import _operators
from rarefy.sparse._bcoo import BCOO
from rarefy.sparse._bcoo_shapes import bcoo_broadcast_in_dim
from rarefy.sparse._bcsr import BCSR
from rarefy.sparse._index import widens
from rarefy.sparse._jaxpr import evaluate
from rarefy.sparse._sparsify import _pattern
from rarefy.sparse._sparsify._refusals import densifies, no_power
from rarefy.sparse._sparsify._values import (
    Call,
    Filled,
    Rows,
    Rule,
    Shape,
    Spread,
    dtype_of,
    is_dense,
    is_sparse,
    is_zero,
    known,
    shape_of,
    stored,
    with_data,
)
from rarefy.sparse._sparsify._walk import Walk, folded

# These commute with the sum over repeated entries.
LINEAR = frozenset(("neg", "conj", "real", "imag", "copy", "copy_p", "stage", "stop_gradient"))
UNARY = LINEAR | {
    *("abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "bessel_i0e", "bessel_i1e"),
    *("cbrt", "ceil", "clz", "convert_element_type", "cos", "cosh", "digamma", "erf", "erf_inv"),
    *("erfc", "exp", "exp2", "expm1", "floor", "integer_pow", "is_finite", "lgamma", "log"),
    *("log1p", "logistic", "not", "population_count", "reduce_precision", "round", "rsqrt"),
    *("sign", "sin", "sinh", "sqrt", "square", "tan", "tanh"),
}
SEVERAL = {
    *("add", "add_any", "sub", "mul", "div", "rem", "pow", "max", "min", "atan2", "nextafter"),
    *("and", "or", "xor", "eq", "ne", "lt", "le", "gt", "ge", "eq_to", "le_to", "lt_to"),
    *("shift_left", "shift_right_arithmetic", "shift_right_logical", "select_n", "clamp"),
}
# A cell that is zero in the operand of this number is zero in the result, whatever the others are.
ZERO_FROM_FIRST = {"div", "rem", "shift_left", "shift_right_arithmetic", "shift_right_logical"}
ZERO_FROM_ANY = {"mul", "and"}
# A dense copy of an operand that is repeated is cheap up to here.
CHEAP_CELLS = 2**20


def elementwise(walk: Walk, call: Call, ins: list[Any]) -> Sequence[Any]:
    """The rule of all elementwise primitives."""
    if is_sparse(ins[0]) and (call.name in LINEAR or _widens(call, ins)):
        return [with_data(ins[0], evaluate(call, [stored(ins[0]).data])[0])]
    if not any(is_sparse(x) or isinstance(x, Filled) for x in ins):
        return [_of_spread(walk, call, ins)]
    special = SPECIAL.get(call.name)
    out = None if special is None else special(walk, call, ins)
    return [_general(walk, call, ins) if out is None else out]


def _widens(call: Call, ins: list[Any]) -> bool:
    if call.name != "convert_element_type" or not jnp.issubdtype(dtype_of(ins[0]), jnp.inexact):
        return False  # sums of integers may wrap, and those of bools are no sums
    return widens(dtype_of(ins[0]), call.params["new_dtype"])


def _of_spread(walk: Walk, call: Call, ins: list[Any]) -> Any:
    """Without sparse operands: on what is repeated, if nothing has the whole shape."""
    shape = np.broadcast_shapes(*map(shape_of, ins))
    if any(is_dense(x) and np.size(x) > 1 and np.shape(x) == shape for x in ins):
        return evaluate(call, [walk.dense(x) for x in ins])[0]
    base = background(call, [base_of(x, shape) for x in ins], shape)
    return base if base.shape == shape else Spread(base, shape)


def base_of(value: Any, shape: Shape) -> Any:
    """What stands for the cells of a value that are not stored: of the rank of `shape`."""
    if is_sparse(value):
        return np.zeros((1,) * len(shape), dtype_of(value))
    base = value if is_dense(value) else value.base
    number = known(base)
    if number is not None:
        return number.reshape((1,) * len(shape))
    return base if np.ndim(base) == len(shape) else jnp.reshape(base, (1,) * len(shape))


def background(call: Call, bases: Sequence[Any], shape: Shape) -> Any:
    """The value of the operation where nothing is stored; NumPy where it is known."""
    number = folded(call, bases) if all(known(b) is not None for b in bases) else None
    if number is not None:
        return number.reshape((1,) * len(shape))
    small = np.broadcast_shapes(*(b.shape for b in bases))
    return evaluate(call, [jnp.broadcast_to(b, small) for b in bases])[0]


def _zero_kept(call: Call, ins: Sequence[Any]) -> bool:
    """Whether unstored cells are zero for reasons that need no number."""
    zeros = [is_zero(x) for x in ins]
    if call.name in ZERO_FROM_ANY:
        return any(zeros)
    if call.name in ZERO_FROM_FIRST:
        return zeros[0] and not is_sparse(ins[1]) and not is_zero(ins[1])
    if call.name == "select_n":
        return all(zeros[1:]) or (zeros[0] and zeros[1])
    if call.name == "pow":
        exponent = known(ins[1])
        return zeros[0] and exponent is not None and bool((exponent > 0).all())
    return False


def _general(walk: Walk, call: Call, ins: list[Any]) -> Any:
    shape = np.broadcast_shapes(*map(shape_of, ins))
    whole = [is_dense(x) and np.shape(x) == shape and np.size(x) > 1 for x in ins]
    if any(whole) and not _zero_kept(call, ins):
        # An operand is as large as the result, so a dense one is nothing that the user lacks.
        return evaluate(call, [jnp.broadcast_to(walk.dense(x), shape) for x in ins])[0]
    has_whole = any(shape_of(x) == shape and (is_sparse(x) or isinstance(x, Filled)) for x in ins)
    ins = [_repeated(walk, x, shape, has_whole) for x in ins]
    zero_kept = _zero_kept(call, ins)
    if zero_kept and call.name in ZERO_FROM_FIRST | ZERO_FROM_ANY:
        return _scaled(walk, call, ins, shape)
    at = [i for i, x in enumerate(ins) if is_sparse(x) or isinstance(x, Filled)]
    if not at:
        return evaluate(call, [jnp.broadcast_to(walk.dense(x), shape) for x in ins])[0]
    pattern, data = _pattern.align(walk, [ins[i] for i in at])
    of = dict(zip(at, data, strict=True))
    values = [of[i] if i in of else _pattern.look_up(walk, pattern, x) for i, x in enumerate(ins)]
    out = with_data(pattern, _on_data(call, values))
    if zero_kept:
        return out
    base = background(call, [base_of(x, shape) for x in ins], shape)
    if known(base) is not None and not np.any(base):
        return out
    return Filled(out, base, shape, _refusal(call, ins))


def _on_data(call: Call, values: Sequence[Any]) -> Any:
    size = np.broadcast_shapes(*map(np.shape, values))
    return evaluate(call, [jnp.broadcast_to(jnp.asarray(v), size) for v in values])[0]


def _refusal(call: Call, ins: Sequence[Any]) -> str | None:
    filled = [x for x in ins if isinstance(x, Filled)]
    for x in filled:
        if x.refusal is not None:
            return x.refusal
    others = [x for x in ins if not is_sparse(x) and not isinstance(x, Filled)]
    # A dense array that the program itself makes as large as the result may be added.
    sums = call.name in ("add", "add_any", "sub")
    if filled or (sums and others and all(isinstance(x, Spread) for x in others)):
        return None
    if call.name == "integer_pow" and call.params["y"] <= 0:
        return no_power(call.params["y"])
    return densifies(call.name)


def _repeated(walk: Walk, value: Any, shape: Shape, as_base: bool) -> Any:
    """Lets no sparse operand be repeated: it becomes dense if small, or is repeated here."""
    if shape_of(value) == shape or not (is_sparse(value) or isinstance(value, Filled)):
        return value
    if isinstance(value, Filled):
        return walk.dense(value)
    mat = walk.coo(value)
    if as_base and mat.size <= max(CHEAP_CELLS, 64 * mat.nse):
        return mat.todense() if mat.ndim else jnp.reshape(mat.todense(), ())
    if not mat.ndim:
        return mat.todense()
    dims = tuple(range(mat.ndim))
    grown = bcoo_broadcast_in_dim(mat, shape=shape, broadcast_dimensions=dims)
    return grown if isinstance(value, BCOO) else Rows(grown)


def _scaled(walk: Walk, call: Call, ins: list[Any], shape: Shape) -> Any:
    """`x * v` and `x / v`, which need no merging of repeats."""
    at = 0 if is_sparse(ins[0]) else 1
    if not is_sparse(ins[at]):
        return _known_zero(call, ins, shape)
    if isinstance(ins[1 - at], Filled) or is_sparse(ins[1 - at]):
        pattern, data = _pattern.align(walk, ins)
        return with_data(pattern, evaluate(call, data)[0])
    pattern = ins[at]
    if call.name in ZERO_FROM_FIRST and call.name != "div":
        pattern = walk.merged(pattern)
    divides = call.name in ("div", "rem")
    other = _pattern.look_up(walk, pattern, ins[1 - at], padding=1 if divides else 0)
    data = stored(pattern).data
    return with_data(pattern, _on_data(call, [data, other] if at == 0 else [other, data]))


def _known_zero(call: Call, ins: list[Any], shape: Shape) -> Any:
    zeros = np.zeros((1,) * len(shape), dtype_of(ins[0]))
    return Spread(zeros, shape)


def _add(walk: Walk, call: Call, ins: list[Any]) -> Any:
    x, y = ins
    if is_sparse(x) and is_sparse(y) and shape_of(x) == shape_of(y):
        return _sum(walk, x, y, subtract=call.name == "sub")
    if (
        is_sparse(x)
        and _is_nothing(y)
        and np.broadcast_shapes(shape_of(x), shape_of(y)) == shape_of(x)
    ):
        return x
    if (
        is_sparse(y)
        and _is_nothing(x)
        and np.broadcast_shapes(shape_of(x), shape_of(y)) == shape_of(y)
    ):
        return with_data(y, -stored(y).data) if call.name == "sub" else y
    return None


def _meet(walk: Walk, x: Any, y: Any) -> tuple[BCOO, BCOO]:
    """Two sparse values as BCOO; of one pattern if merging, done before, makes it one."""
    a, b = walk.coo(x), walk.coo(y)
    if a.indices is b.indices or a.shape != b.shape or walk.places(a) is not walk.places(b):
        return a, b
    return walk.merged(a), walk.merged(b)


def _is_nothing(value: Any) -> bool:
    return is_zero(value) and not is_sparse(value)


def _sum(walk: Walk, x: Any, y: Any, *, subtract: bool) -> Any:
    if subtract:
        y = with_data(y, -stored(y).data)
    a, b = stored(x), stored(y)
    if isinstance(a, BCSR) and isinstance(b, BCSR) and a._shares_pattern(b):
        return a._with_data(a.data + b.data)
    out = _operators.add(*_meet(walk, x, y))
    return out if isinstance(x, BCOO) else Rows(out)


def _mul(walk: Walk, call: Call, ins: list[Any]) -> Any:
    x, y = ins
    wider = call.params.get("out_dtype")
    if not (is_sparse(x) and is_sparse(y)) or wider is not None:
        return None
    a, b = stored(x), stored(y)
    if _pattern.key_of(a) == _pattern.key_of(b) and a.unique_indices:
        return with_data(x, a.data * b.data)
    out = _operators.multiply(*_meet(walk, x, y))
    return out if isinstance(x, BCOO) else Rows(out)


SPECIAL = {"add": _add, "add_any": _add, "sub": _add, "mul": _mul}

NATIVE: dict[str, Rule] = dict.fromkeys(sorted(UNARY | SEVERAL), elementwise)
