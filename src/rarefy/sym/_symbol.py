"""The symbol: operators on it become nodes of a graph."""

from collections.abc import Callable, Mapping
from numbers import Number
from typing import Any, ClassVar, Protocol

import numpy as np

from rarefy._ops.defs import OPERATORS
from rarefy.base import MXNetError, NotImplementedForSymbol
from rarefy.sym._apply import applied, called
from rarefy.sym._fluent import Fluent
from rarefy.sym._graph import Graph, single
from rarefy.sym._infer import Inference
from rarefy.sym._params import as_text


class Executors(Protocol):
    """What runs graphs: it lies above them, and enters itself here."""

    simple_bind: Callable[..., Any]
    bind: Callable[..., Any]


class Symbol(Fluent, Inference):
    """Results of a graph of operators on variables that get their arrays later.

    Made by `sym.var` and by the functions of `rarefy.sym`, never by calling the class. Its methods
    that are operators (`x.sum()`, `x.exp()`, ...) are documented in `rarefy.nd`.
    """

    __slots__ = ()
    __hash__: ClassVar[None] = None  # type: ignore[assignment] - as in MXNet: == is an operator
    __array_priority__ = 1000.0
    _executors: ClassVar[Executors | None] = None

    # Arithmetic

    def __add__(self, other) -> "Symbol":
        return ADD(self, other)

    def __sub__(self, other) -> "Symbol":
        return SUBTRACT(self, other)

    def __rsub__(self, other) -> "Symbol":
        return SUBTRACT(other, self)

    def __mul__(self, other) -> "Symbol":
        return MULTIPLY(self, other)

    def __truediv__(self, other) -> "Symbol":
        return DIVIDE(self, other)

    def __rtruediv__(self, other) -> "Symbol":
        return DIVIDE(other, self)

    def __mod__(self, other) -> "Symbol":
        return MODULO(self, other)

    def __rmod__(self, other) -> "Symbol":
        return MODULO(other, self)

    def __pow__(self, other) -> "Symbol":
        return POWER(self, other)

    def __rpow__(self, other) -> "Symbol":
        return POWER(other, self)

    def __neg__(self) -> "Symbol":
        return MULTIPLY(self, -1.0)

    def __abs__(self) -> "Symbol":
        return self._apply("abs", "abs")

    def __eq__(self, other) -> "Symbol":  # type: ignore[override]
        return EQUAL(self, other)

    def __ne__(self, other) -> "Symbol":  # type: ignore[override]
        return NOT_EQUAL(self, other)

    def __gt__(self, other) -> "Symbol":
        return GREATER(self, other)

    def __ge__(self, other) -> "Symbol":
        return GREATER_EQUAL(self, other)

    def __lt__(self, other) -> "Symbol":
        return LESSER(self, other)

    def __le__(self, other) -> "Symbol":
        return LESSER_EQUAL(self, other)

    __radd__ = __add__
    __rmul__ = __mul__
    __div__ = __truediv__
    __rdiv__ = __rtruediv__

    def _inplace(self, other) -> "Symbol":
        raise NotImplementedForSymbol(self._inplace, "+=, -=, *= or /=", other)

    __iadd__ = __isub__ = __imul__ = __itruediv__ = _inplace

    def __bool__(self) -> bool:
        raise NotImplementedForSymbol(self.__bool__, "bool")

    def _apply(self, name: str, hint: str, **params: Any) -> "Symbol":
        attrs = {k: as_text(k, v) for k, v in params.items()}
        return Symbol(applied(OPERATORS[name], hint, [single(self, "data")], attrs))

    # Methods that are operators with their own way of taking arguments

    def reshape(self, *shape: Any, **kwargs: Any) -> "Symbol":
        """The same elements in another shape, as `Reshape`: `x.reshape((2, 3))`, `x.reshape(2, 3)`."""
        if shape:
            given = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
            kwargs["shape"] = tuple(given)
        return Symbol(called(OPERATORS["Reshape"], "reshape", (self,), kwargs))

    def astype(self, dtype: Any, **kwargs: Any) -> "Symbol":
        """The elements in another dtype, as `Cast`."""
        return Symbol(called(OPERATORS["Cast"], "cast", (self,), {**kwargs, "dtype": dtype}))

    def split_v2(
        self, indices_or_sections: Any, axis: int = 0, squeeze_axis: bool = False
    ) -> "Symbol":
        """Cuts the array along an axis into equal parts, or before each of some indices."""
        return split_v2(self, indices_or_sections, axis, squeeze_axis)

    def tostype(self, stype: str) -> "Symbol":
        """The elements in another storage type, as `cast_storage`."""
        return self._apply("cast_storage", "cast_storage", stype=stype)

    # Running

    def simple_bind(
        self,
        ctx: Any,
        grad_req: Any = "write",
        type_dict: Mapping[str, Any] | None = None,
        stype_dict: Mapping[str, str] | None = None,
        group2ctx: Mapping[str, Any] | None = None,
        shared_arg_names: list[str] | None = None,
        shared_exec: Any = None,
        shared_buffer: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Makes arrays for all variables and an executor on them.

        Args:
          ctx: where the arrays live.
          grad_req: 'write', 'add' or 'null', for all arguments or a list or dict of them; what a dict
            lacks is 'null'.
          type_dict: dtypes by name.
          stype_dict: storage types by name, instead of those that variables declare.
          group2ctx: contexts by `ctx_group`; all runs on the device of `ctx`.
          shared_arg_names: arguments whose arrays are those of `shared_exec`.
          shared_exec: an executor to share arrays with.
          shared_buffer: arrays by name that may be used; new ones are put into it.
          **kwargs: shapes by name.

        Returns:
          An `Executor` whose arrays are zero.

        Raises:
          RuntimeError: a shape does not follow from those given, or `grad_req` is none of the three.
        """
        return self._run("simple_bind").simple_bind(
            self,
            ctx,
            grad_req=grad_req,
            type_dict=type_dict,
            stype_dict=stype_dict,
            group2ctx=group2ctx,
            shared_arg_names=shared_arg_names,
            shared_exec=shared_exec,
            shared_buffer=shared_buffer,
            shapes=kwargs,
        )

    def bind(
        self,
        ctx: Any,
        args: Any,
        args_grad: Any = None,
        grad_req: Any = "write",
        aux_states: Any = None,
        group2ctx: Mapping[str, Any] | None = None,
        shared_exec: Any = None,
    ) -> Any:
        """Makes an executor on arrays.

        Args:
          ctx: where it runs.
          args: the arrays of the arguments, a list in order or a dict by name.
          args_grad: the arrays that their gradients are written to; those that are left out of a dict
            or None have no gradient.
          grad_req: 'write', 'add' or 'null', for all arguments or a list or dict of them.
          aux_states: the arrays of the auxiliary states.
          group2ctx: contexts by `ctx_group`; all runs on the device of `ctx`.
          shared_exec: accepted for MXNet's sake.

        Returns:
          An `Executor`.

        Raises:
          ValueError: an array is missing, or `grad_req` is none of the three.
          TypeError: something is no array, or `ctx` no context.
          MXNetError: an operator does not take such arrays.
        """
        return self._run("bind").bind(
            self,
            ctx,
            args=args,
            args_grad=args_grad,
            grad_req=grad_req,
            aux_states=aux_states,
            group2ctx=group2ctx,
            shared_exec=shared_exec,
        )

    def eval(self, ctx: Any = None, **kwargs: Any) -> list[Any]:
        """The results on arrays, given by name.

        Args:
          ctx: where it runs; the current context by default.
          **kwargs: the arrays of the arguments.
        """
        return self._run("eval").bind(self, ctx, args=kwargs).forward()

    def _run(self, what: str) -> Executors:
        if Symbol._executors is None:
            raise MXNetError(f"{what}: nothing runs graphs; import rarefy.executor")
        return Symbol._executors


def split_v2(
    ary: Symbol, indices_or_sections: Any, axis: int = 0, squeeze_axis: bool = False
) -> Symbol:
    """Cuts an array along an axis into equal parts, or before each of some indices.

    Args:
      ary: a symbol.
      indices_or_sections: how many parts there are, or the indices.
      axis: the axis.
      squeeze_axis: whether the axis is left out of parts that have size 1 along it.

    Raises:
      ValueError: `indices_or_sections` is neither a number nor a list of numbers.
    """
    sections, indices = 0, []
    if isinstance(indices_or_sections, int):
        sections = indices_or_sections
    elif isinstance(indices_or_sections, tuple | list):
        indices = [0, *indices_or_sections]
    else:
        raise ValueError("indices_or_sections must either int or tuple of ints")
    params = {"indices": indices, "axis": axis, "squeeze_axis": squeeze_axis, "sections": sections}
    return Symbol(called(OPERATORS["_split_v2"], "_split_v2", (ary,), params))


class _Binary:
    """An arithmetic function of symbols and numbers.

    Args:
      function: its name.
      array: the operator on two symbols, and how its nodes are named.
      scalar: that on a symbol and a number.
      reverse: that on a number and a symbol; None where it is the same.
      python: the function of two numbers.
    """

    def __init__(
        self,
        array: tuple[str, str],
        scalar: tuple[str, str],
        reverse: tuple[str, str] | None = None,
        python: Callable[[Any, Any], Any] | None = None,
    ):
        self._array, self._scalar, self._reverse = array, scalar, reverse or scalar
        self._python = python

    def __call__(self, lhs: Any, rhs: Any) -> Any:
        if isinstance(lhs, Graph) and isinstance(rhs, Graph):
            name, hint = self._array
            return Symbol(
                applied(OPERATORS[name], hint, [single(lhs, "lhs"), single(rhs, "rhs")], {})
            )
        if isinstance(lhs, Symbol) and isinstance(rhs, Number | np.generic):
            return lhs._apply(*self._scalar, scalar=rhs)
        if isinstance(rhs, Symbol) and isinstance(lhs, Number | np.generic):
            return rhs._apply(*self._reverse, scalar=lhs)
        if self._python is not None and isinstance(lhs, Number) and isinstance(rhs, Number):
            return self._python(lhs, rhs)
        wrong = rhs if isinstance(lhs, Graph | Number) else lhs
        raise TypeError(f"type {type(wrong)} not supported")


def _both(name: str) -> tuple[str, str]:
    return name, name


ADD = _Binary(("elemwise_add", "_plus"), ("_plus_scalar", "_plusscalar"))
SUBTRACT = _Binary(
    ("elemwise_sub", "_minus"),
    ("_minus_scalar", "_minusscalar"),
    ("_rminus_scalar", "_rminusscalar"),
)
MULTIPLY = _Binary(("elemwise_mul", "_mul"), ("_mul_scalar", "_mulscalar"))
DIVIDE = _Binary(
    ("elemwise_div", "_div"), ("_div_scalar", "_divscalar"), ("_rdiv_scalar", "_rdivscalar")
)
MODULO = _Binary(_both("_mod"), ("_mod_scalar", "_modscalar"), ("_rmod_scalar", "_rmodscalar"))
POWER = _Binary(
    _both("_power"), ("_power_scalar", "_powerscalar"), _both("_rpower_scalar"), lambda a, b: a**b
)
EQUAL = _Binary(_both("_equal"), _both("_equal_scalar"))
NOT_EQUAL = _Binary(_both("_not_equal"), _both("_not_equal_scalar"))
GREATER = _Binary(_both("_greater"), _both("_greater_scalar"), _both("_lesser_scalar"))
GREATER_EQUAL = _Binary(
    _both("_greater_equal"), _both("_greater_equal_scalar"), _both("_lesser_equal_scalar")
)
LESSER = _Binary(_both("_lesser"), _both("_lesser_scalar"), _both("_greater_scalar"))
LESSER_EQUAL = _Binary(
    _both("_lesser_equal"), _both("_lesser_equal_scalar"), _both("_greater_equal_scalar")
)
POW = _Binary(
    _both("_power"),
    ("_power_scalar", "_powerscalar"),
    ("_rpower_scalar", "_rpowerscalar"),
    lambda a, b: a**b,
)
MAXIMUM = _Binary(_both("_maximum"), ("_maximum_scalar", "_maximumscalar"), python=max)
MINIMUM = _Binary(_both("_minimum"), ("_minimum_scalar", "_minimumscalar"), python=min)
HYPOT = _Binary(
    _both("_hypot"), ("_hypot_scalar", "_hypotscalar"), python=lambda a, b: float(np.hypot(a, b))
)
