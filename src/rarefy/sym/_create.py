"""Variables, groups, files, and symbols that are made from numbers."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from rarefy import attribute
from rarefy._ops.custom import custom_operator
from rarefy._ops.defs import OPERATORS
from rarefy.sym import _infer_storage, _infer_type, _json
from rarefy.sym._apply import called
from rarefy.sym._graph import stored_attributes
from rarefy.sym._node import Entry, Node
from rarefy.sym._params import as_text, is_attribute
from rarefy.sym._symbol import HYPOT, MAXIMUM, MINIMUM, POW, Symbol


def var(
    name: str,
    attr: dict[str, str] | None = None,
    shape: Sequence[int] | int | None = None,
    lr_mult: float | None = None,
    wd_mult: float | None = None,
    dtype: Any = None,
    init: Any = None,
    stype: str | None = None,
    profiler_scope: str | None = None,
    **kwargs: Any,
) -> Symbol:
    """A variable: an array that is given when the graph is bound.

    Args:
      name: its name.
      attr: attributes; strings.
      shape: its shape; 0 for a size that follows from others.
      lr_mult, wd_mult: what the learning rate and the weight decay are multiplied by for it.
      dtype: its dtype.
      init: how it begins: an initializer, or what `dumps` of one says.
      stype: its storage type: 'default', 'csr' or 'row_sparse'.
      profiler_scope: accepted for MXNet's sake.
      **kwargs: further attributes, `__name__=value`.

    Raises:
      TypeError: `name` is no string.
      ValueError: an attribute is no string, or its name is not of that form; there is no such `stype`.
    """
    if not isinstance(name, str):
        raise TypeError("Expect a string for variable `name`")
    attrs = stored_attributes(attribute.current().get(attr))
    if shape is not None:
        attrs["__shape__"] = str(shape if isinstance(shape, int) else tuple(map(int, shape)))
    if lr_mult is not None:
        attrs["__lr_mult__"] = str(lr_mult)
    if wd_mult is not None:
        attrs["__wd_mult__"] = str(wd_mult)
    if dtype is not None:
        attrs["__dtype__"] = _infer_type.code_of(dtype)
    if init is not None:
        attrs["__init__"] = init if isinstance(init, str) else init.dumps()
    if stype is not None:
        attrs["__storage_type__"] = _infer_storage.code_of(stype)
    if profiler_scope is not None:
        attrs["__profiler_scope__"] = profiler_scope
    for key, value in kwargs.items():
        if not is_attribute(key):
            raise ValueError(
                f"Attribute name={key} is not supported. Additional attributes must start and end "
                "with double underscores, e.g, __yourattr__"
            )
        attrs[key] = str(value)
    return Symbol([Entry(Node(None, name, attrs))])


Variable = var


def Group(symbols: Sequence[Symbol], create_fn: Any = Symbol) -> Symbol:
    """The results of several symbols together.

    Args:
      symbols: the symbols.
      create_fn: the class of the result.

    Raises:
      TypeError: there is none, or one is no symbol.
    """
    if not symbols or any(not isinstance(s, Symbol) for s in symbols):
        raise TypeError("Expected a list of symbols as input")
    return create_fn([entry for symbol in symbols for entry in symbol._entries])


def load(fname: str | os.PathLike[str]) -> Symbol:
    """The symbol in a file that `Symbol.save` or MXNet wrote.

    Raises:
      TypeError: `fname` is no path.
      MXNetError: the file cannot be read, is damaged, or an operator is not known.
    """
    return Symbol(_json.load(fname))


def load_json(json_str: str) -> Symbol:
    """The symbol in JSON that `Symbol.tojson` or MXNet wrote.

    Raises:
      TypeError: it is no string.
      MXNetError: it is no such JSON, or an operator is not known.
    """
    if not isinstance(json_str, str):
        raise TypeError("fname required to be string")
    return Symbol(_json.read(json_str))


fromjson = load_json


def _made(name: str, params: dict[str, Any], kwargs: dict[str, Any]) -> Symbol:
    dtype = params.get("dtype")
    params["dtype"] = np.dtype("float32" if dtype is None else dtype).name
    return Symbol(called(OPERATORS[name], name, (), {**params, **kwargs}))


def zeros(shape: Any, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Zeros of a shape; float32 by default."""
    return _made("_zeros", {"shape": shape, "dtype": dtype}, kwargs)


def ones(shape: Any, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Ones of a shape; float32 by default."""
    return _made("_ones", {"shape": shape, "dtype": dtype}, kwargs)


def full(shape: Any, val: float, dtype: Any = None, **kwargs: Any) -> Symbol:
    """An array of a shape that is `val` throughout; float32 by default."""
    return _made("_full", {"shape": shape, "dtype": dtype, "value": float(val)}, kwargs)


def eye(N: int, M: int = 0, k: int = 0, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Ones on a diagonal, `(N, M)`, or `(N, N)` for M = 0; float32 by default."""
    return _made("_eye", {"N": N, "M": M, "k": k, "dtype": dtype}, kwargs)


def arange(
    start: float,
    stop: float | None = None,
    step: float = 1.0,
    repeat: int = 1,
    infer_range: bool = False,
    name: str | None = None,
    dtype: Any = None,
) -> Symbol:
    """Numbers from `start` up to `stop` in steps, or from 0 up to `start`; float32 by default."""
    params = {"start": start, "stop": stop, "step": step, "repeat": repeat, "dtype": dtype}
    return _made("_arange", {**params, "infer_range": infer_range}, {"name": name})


def linspace(
    start: float,
    stop: float,
    num: int,
    endpoint: bool = True,
    name: str | None = None,
    dtype: Any = None,
) -> Symbol:
    """`num` numbers at equal distances from `start` to `stop`; float32 by default."""
    params = {"start": start, "stop": stop, "num": num, "endpoint": endpoint, "dtype": dtype}
    return _made("_linspace", params, {"name": name})


def histogram(a: Symbol, bins: Any = 10, range: Any = None, **kwargs: Any) -> Symbol:
    """How many elements lie in each of some intervals, and where these begin and end.

    Args:
      a: a symbol.
      bins: how many intervals there are, or a symbol with their ends.
      range: the whole interval, where `bins` is a number.

    Raises:
      ValueError: `bins` is a number and there is no range.
    """
    op = OPERATORS["_histogram"]
    if isinstance(bins, Symbol):
        return Symbol(called(op, "_histogram", (), {"data": a, "bins": bins, **kwargs}))
    if range is None:
        raise ValueError("null range is not supported in symbol mode")
    return Symbol(
        called(op, "_histogram", (), {"data": a, "bin_cnt": bins, "range": range, **kwargs})
    )


def Custom(*data: Symbol, op_type: str, **kwargs: Any) -> Symbol:
    """A custom operator, one that is written in Python (`rarefy.operator`).

    Args:
      data: its arrays, then its auxiliary states; those that are missing become variables.
      op_type: the name it was registered with.
      **kwargs: given to its `CustomOpProp` as strings; symbols by the names of its arrays; `name`.

    Raises:
      MXNetError: no such operator is registered.
    """
    given = {k: v for k, v in kwargs.items() if k not in ("name", "attr")}
    options = {k: as_text(k, v) for k, v in given.items() if not isinstance(v, Symbol)}
    op = custom_operator({**options, "op_type": op_type})
    return Symbol(called(op, "custom", data, {**kwargs, "op_type": op_type}))


def pow(base: Any, exp: Any) -> Any:
    """base to the power exp, of symbols or numbers."""
    return POW(base, exp)


power = pow


def maximum(left: Any, right: Any) -> Any:
    """The larger of the two, element by element, of symbols or numbers."""
    return MAXIMUM(left, right)


def minimum(left: Any, right: Any) -> Any:
    """The smaller of the two, element by element, of symbols or numbers."""
    return MINIMUM(left, right)


def hypot(left: Any, right: Any) -> Any:
    """The length of the hypotenuse, element by element, of symbols or numbers."""
    return HYPOT(left, right)
