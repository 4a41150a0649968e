"""Two arrays, element by element: of one shape (`elemwise_*`) or broadcast (`broadcast_*`)."""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from rarefy._ops.defs._numbers import (
    divide,
    in_float,
    larger,
    logical,
    modulo,
    require_same_dtype,
    require_same_shape,
    smaller,
)
from rarefy._ops.defs._sparse import negated, toward, unbroadcast
from rarefy._ops.opdef import Operator, operator
from rarefy._ops.places import add_to, sample, with_data, with_stored
from rarefy._ops.storage import SPARSE, fit, is_traced, to_dense
from rarefy.sparse._capacity import capacity
from rarefy.sparse._csr import csr_add, csr_combine, csr_multiply, csr_multiply_known
from rarefy.sparse._row_sparse import (
    add_row_sparse,
    combine_row_sparse,
    multiply_row_sparse,
)

ARGS = (
    "Args:\n"
    "  lhs: any shape and storage type.\n"
    "  rhs: dtype of `lhs`; {shapes}.\n\n"
    "Returns:\n"
    "  dtype of `lhs`. {stypes}\n\n"
    "Raises:\n"
    "  MXNetError: the dtypes differ, or the shapes do not fit.\n"
)


def _pair(
    name: str,
    fn: Callable,
    formula: str,
    *,
    same_shape: bool = False,
    aliases: tuple[str, ...] = (),
    differentiable: bool = True,
    stypes: str = "The result is dense.",
    visible="public",
) -> Operator:
    def meaning(lhs, rhs):
        require_same_dtype(lhs, rhs)
        if same_shape:
            require_same_shape(lhs, rhs)
        return fn(lhs, rhs).astype(lhs.dtype)

    shapes = "the shape of `lhs`" if same_shape else "a shape that broadcasts with it"
    meaning.__doc__ = f"Computes {formula}, element by element.\n\n" + ARGS.format(
        shapes=shapes, stypes=stypes
    )
    options = {"aliases": aliases, "differentiable": differentiable, "visible": visible}
    return operator(name, **options)(meaning)


def _zero_of_zeros(op: Operator, fn: Callable) -> None:
    """Rules of a function that is zero where both arrays are: on what either of them stores."""
    broadcast = op.name.startswith("broadcast_")

    @op.rule("csr", "csr", out="csr", eager=True, one_shape=broadcast)
    def _(lhs, rhs):
        require_same_dtype(lhs, rhs)
        require_same_shape(lhs, rhs)
        if is_traced(lhs) or is_traced(rhs):
            raise NotImplementedError(
                f"{op.name} of two csr arrays has a size that depends on their values, which are not "
                "known in a compiled step; make one of them dense with tostype('default')"
            )
        return fit(*csr_combine(lhs, rhs, fn))

    @op.rule("row_sparse", "row_sparse", out="row_sparse", eager=True, one_shape=broadcast)
    def _(lhs, rhs):
        require_same_dtype(lhs, rhs)
        require_same_shape(lhs, rhs)
        return fit(combine_row_sparse(lhs, rhs, fn))

    for stype in SPARSE:

        @op.gradient(stype, stype)
        def _(want, inputs, output, cotangent):
            return tuple(
                None if w is None else _slope_times(fn, inputs, cotangent, position, w)
                for position, w in enumerate(want)
            )


def _slope_times(fn: Callable, inputs, cotangent, position: int, want: str):
    """The cotangent of one of the two arrays of `fn`, in its places or dense."""
    value = inputs[position]
    if want == "default":
        arrays, g = [to_dense(v) for v in inputs], to_dense(cotangent)
        return jax.vjp(fn, *arrays)[1](g)[position]
    arrays = [v.data if v is value else sample(value, v) for v in inputs]
    if inputs[0] is inputs[1]:
        arrays = [value.data, value.data]
    return with_stored(value, jax.vjp(fn, *arrays)[1](sample(value, cotangent))[position])


_SUM = "Two csr give csr, two row_sparse give row_sparse (the union of rows), others dense."
_PRODUCT = "csr or row_sparse where an array is so: what is absent stays zero."

elemwise_add = _pair(
    "elemwise_add",
    jnp.add,
    "lhs + rhs",
    same_shape=True,
    aliases=("_plus", "_add", "_Plus", "_grad_add"),
    stypes=_SUM,
)
elemwise_sub = _pair(
    "elemwise_sub",
    jnp.subtract,
    "lhs - rhs",
    same_shape=True,
    aliases=("_minus", "_sub", "_Minus"),
    stypes=_SUM,
)
elemwise_mul = _pair(
    "elemwise_mul",
    jnp.multiply,
    "lhs * rhs",
    same_shape=True,
    aliases=("_mul", "_Mul"),
    stypes=_PRODUCT,
)
_QUOTIENT = "The result is dense; of two sparse arrays it is NaN where neither stores anything."
elemwise_div = _pair(
    "elemwise_div",
    divide,
    "lhs / rhs",
    same_shape=True,
    aliases=("_div", "_Div"),
    stypes=_QUOTIENT,
)

broadcast_add = _pair(
    "broadcast_add", jnp.add, "lhs + rhs", aliases=("broadcast_plus",), stypes=_SUM
)
broadcast_sub = _pair(
    "broadcast_sub", jnp.subtract, "lhs - rhs", aliases=("broadcast_minus",), stypes=_SUM
)
_LEFT = "csr where `lhs` is csr and `rhs` dense; two csr give csr; others dense."
broadcast_mul = _pair("broadcast_mul", jnp.multiply, "lhs * rhs", stypes=_LEFT)
broadcast_div = _pair("broadcast_div", divide, "lhs / rhs", stypes=_LEFT)
_pair("broadcast_mod", modulo, "lhs mod rhs with the sign of rhs; 0 where rhs is 0")
_pair("broadcast_power", in_float(jnp.power), "lhs to the power rhs")


def _same(name: str, fn: Callable, formula: str, *, differentiable: bool = True) -> Operator:
    """Registers the internal form for arrays of one shape, also under the name it had before."""
    old = "_" + "_".join(word.capitalize() for word in name.strip("_").split("_"))
    return _pair(
        name,
        fn,
        formula,
        same_shape=True,
        aliases=(old,),
        differentiable=differentiable,
        visible="internal",
    )


_same("_mod", modulo, "lhs mod rhs with the sign of rhs; 0 where rhs is 0")
_same("_power", in_float(jnp.power), "lhs to the power rhs")

_BOTH = "Two csr give csr, two row_sparse give row_sparse (the union of rows), others dense."
for _name, _fn, _says in (
    ("maximum", larger, "the larger of lhs and rhs"),
    ("minimum", smaller, "the smaller of lhs and rhs"),
    ("hypot", in_float(jnp.hypot), "sqrt(lhs^2 + rhs^2)"),
):
    _zero_of_zeros(_pair(f"broadcast_{_name}", _fn, _says, stypes=_BOTH), _fn)
    _zero_of_zeros(_same(f"_{_name}", _fn, _says), _fn)


def _comparison(name: str, fn: Callable, sign: str) -> None:
    formula = f"lhs {sign} rhs as 1 or 0"
    _pair(f"broadcast_{name}", fn, formula, differentiable=False)
    _same(f"_{name}", fn, formula, differentiable=False)


_comparison("equal", jnp.equal, "==")
_comparison("not_equal", jnp.not_equal, "!=")
_comparison("greater", jnp.greater, ">")
_comparison("greater_equal", jnp.greater_equal, ">=")
_comparison("lesser", jnp.less, "<")
_comparison("lesser_equal", jnp.less_equal, "<=")
_comparison("logical_and", lambda a, b: logical(a) & logical(b), "and")
_comparison("logical_or", lambda a, b: logical(a) | logical(b), "or")
_comparison("logical_xor", lambda a, b: logical(a) ^ logical(b), "xor")


def _sums(op: Operator, *, minus: bool) -> None:
    """Rules of `+` or `-`: csr with csr, row_sparse with row_sparse, sparse with dense."""

    broadcast = op.name.startswith("broadcast_")

    def signed(value):
        return negated(value) if minus else value

    @op.rule("csr", "csr", out="csr", eager=True, one_shape=broadcast)
    def _(lhs, rhs):
        require_same_dtype(lhs, rhs)
        require_same_shape(lhs, rhs)
        if is_traced(lhs) or is_traced(rhs):
            return csr_add(lhs, rhs, minus=minus, drop_zeros=True)
        nse = capacity(lhs.nse + rhs.nse)
        return fit(csr_add(lhs, rhs, minus=minus, drop_zeros=True, nse=nse))

    @op.rule("row_sparse", "row_sparse", out="row_sparse", eager=True, one_shape=broadcast)
    def _(lhs, rhs):
        require_same_dtype(lhs, rhs)
        require_same_shape(lhs, rhs)
        return fit(add_row_sparse(lhs, signed(rhs)))

    def through(want, inputs, output, cotangent):
        left, right = (unbroadcast(cotangent, v.shape) for v in inputs)
        return toward(want[0], inputs[0], left), toward(want[1], inputs[1], signed(right))

    for stype in SPARSE:
        op.gradient(stype, stype)(through)
        op.gradient(stype, "default")(through)
        op.gradient("default", stype)(through)

        @op.rule(stype, "default", out="default")
        def _(lhs, rhs):
            shape = _shape(op, lhs, rhs)
            if shape != lhs.shape:
                return op.fn(to_dense(lhs), rhs)
            return add_to(jnp.broadcast_to(signed(rhs), shape), lhs)

        @op.rule("default", stype, out="default")
        def _(lhs, rhs):
            shape = _shape(op, lhs, rhs)
            if shape != rhs.shape:
                return op.fn(lhs, to_dense(rhs))
            return add_to(jnp.broadcast_to(lhs, shape), signed(rhs))


def _shape(op: Operator, lhs, rhs) -> tuple[int, ...]:
    """The shape of a result, after the checks that the dense meaning makes."""
    like = jax.ShapeDtypeStruct
    return jax.eval_shape(op.fn, like(lhs.shape, lhs.dtype), like(rhs.shape, rhs.dtype)).shape


for _op, _minus in (
    (elemwise_add, False),
    (elemwise_sub, True),
    (broadcast_add, False),
    (broadcast_sub, True),
):
    _sums(_op, minus=_minus)


def _csr_product(lhs, rhs):
    require_same_dtype(lhs, rhs)
    require_same_shape(lhs, rhs)
    if is_traced(lhs) or is_traced(rhs):
        return csr_multiply(lhs, rhs)
    return csr_multiply_known(lhs, rhs)


elemwise_mul.rule("csr", "csr", out="csr", eager=True)(_csr_product)
broadcast_mul.rule("csr", "csr", out="csr", eager=True, one_shape=True)(_csr_product)


@elemwise_mul.rule("row_sparse", "row_sparse", out="row_sparse", eager=True)
def _(lhs, rhs):
    require_same_dtype(lhs, rhs)
    require_same_shape(lhs, rhs)
    return fit(multiply_row_sparse(lhs, rhs))


def _product_back(want, inputs, output, cotangent):
    lhs, rhs = inputs

    def of(stype, value, other):
        if stype is None:
            return None
        if stype == "default":
            return to_dense(cotangent) * to_dense(other)
        return with_data(value, sample(value, cotangent) * sample(value, other))

    return of(want[0], lhs, rhs), of(want[1], rhs, lhs)


elemwise_mul.gradient("csr", "csr")(_product_back)
broadcast_mul.gradient("csr", "csr")(_product_back)
elemwise_mul.gradient("row_sparse", "row_sparse")(_product_back)


def _scaled(op: Operator, stype, fn, *, same_shape: bool) -> None:
    """The rule of a sparse left side and a dense right side, on what the left side stores."""

    @op.rule(stype, "default", out=stype, places_of=0 if stype == "csr" else None)
    def _(lhs, rhs):
        shape = _shape(op, lhs, rhs)
        if shape != lhs.shape:
            raise ValueError(
                f"{stype} of shape {lhs.shape} cannot be broadcast to {shape}; only the dense array "
                "can. Convert with tostype('default')"
            )
        return with_stored(lhs, fn(lhs.data, sample(lhs, rhs)).astype(lhs.dtype))

    if same_shape:

        @op.rule("default", stype, out=stype, places_of=1 if stype == "csr" else None)
        def _(lhs, rhs):
            _shape(op, lhs, rhs)
            return with_stored(rhs, fn(sample(rhs, lhs), rhs.data).astype(lhs.dtype))


for _stype in SPARSE:
    _scaled(elemwise_mul, _stype, jnp.multiply, same_shape=True)
_scaled(broadcast_mul, "csr", jnp.multiply, same_shape=False)


@broadcast_div.rule("csr", "default", out="csr", places_of=0)
def _(lhs, rhs):
    """A vector along either side divides what is stored; MXNet refuses other equal shapes here."""
    shape = _shape(broadcast_div, lhs, rhs)
    if shape != lhs.shape or (lhs.shape == rhs.shape and 1 not in shape):
        raise ValueError(
            f"csr {lhs.shape} / dense {rhs.shape} takes a row or column vector; use elemwise_div for "
            "the dense quotient of equal shapes"
        )
    return with_stored(lhs, divide(lhs.data, sample(lhs, rhs)))


@operator("_scatter_elemwise_div", visible="internal")
def scatter_elemwise_div(lhs, rhs):
    """Computes lhs / rhs on what `lhs` stores; what is absent stays zero.

    Args:
      lhs: any shape and storage type.
      rhs: dense, shape and dtype of `lhs`.

    Returns:
      Shape, dtype and storage type of `lhs`.
    """
    require_same_dtype(lhs, rhs)
    require_same_shape(lhs, rhs)
    return divide(lhs, rhs)


for _stype in SPARSE:
    _scaled(scatter_elemwise_div, _stype, divide, same_shape=False)


@operator("add_n", aliases=("ElementWiseSum",))
def add_n(*args):
    """Adds arrays of one shape.

    Args:
      args: one or more arrays of one shape and dtype.

    Returns:
      Their sum; csr or row_sparse where all are so, else dense.

    Raises:
      MXNetError: there is none, or shapes or dtypes differ.
    """
    if not args:
        raise ValueError("add_n needs at least one array")
    for other in args[1:]:
        require_same_dtype(args[0], other)
        require_same_shape(args[0], other)
    total = args[0]
    for other in args[1:]:
        total = total + other
    return total if len(args) > 1 else jnp.copy(total)


@add_n.rule("row_sparse", out="row_sparse", eager=True)
def _(*args):
    return _sum_of(args, add_row_sparse)


@add_n.rule("csr", out="csr", eager=True)
def _(*args):
    total = args[0]
    for other in args[1:]:
        total = elemwise_add.rules["csr", "csr"][0].fn(total, other)
    return total if len(args) > 1 else with_data(total, jnp.copy(total.data))


@add_n.gradient("csr")
@add_n.gradient("row_sparse")
def _(want, inputs, output, cotangent):
    return tuple(toward(w, v, cotangent) for w, v in zip(want, inputs, strict=True))


def _sum_of(args, add):
    total = args[0]
    for other in args[1:]:
        require_same_dtype(total, other)
        require_same_shape(total, other)
        total = fit(add(total, other))
    return total
