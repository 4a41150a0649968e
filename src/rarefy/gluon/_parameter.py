"""Parameters: the arrays that a block learns."""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rarefy import autograd, sym
from rarefy._ops.precision import wide
from rarefy._ops.storage import SType, is_traced, zeros_of
from rarefy.base import ArgumentError, MXNetError, mx_real_t
from rarefy.context import Context, cpu, current_context
from rarefy.initializer import InitDesc, Initializer, Uniform, create, fill
from rarefy.nd import NDArray, array, zeros
from rarefy.nd.sparse import retain
from rarefy.util import is_np_shape

Shape = tuple[int, ...]

STYPES = ("default", "row_sparse", "csr")
GRAD_REQS = ("write", "add", "null")


class DeferredInitializationError(MXNetError):
    """A parameter was read whose first values wait for a first batch, which will tell its shape."""


class UninitializedParameterError(MXNetError):
    """A parameter was read that was never initialized."""


class _Deferred(NamedTuple):
    """What is needed to give a parameter its first values once its shape is known."""

    init: Any
    ctx: list[Context]
    default_init: Any
    data: NDArray | None


class Parameter:
    """An array that is learned, with a copy on each of its contexts, and its gradients.

    Args:
      name: the name.
      grad_req: how `backward` writes the gradient: 'write', 'add' (to what is there; `zero_grad`
        clears it) or 'null' for none.
      shape: the shape; a size of 0 (or -1) is unknown, and found out by a first batch where
        `allow_deferred_init` is set.
      dtype: the dtype.
      lr_mult: factor on the learning rate.
      wd_mult: factor on weight decay.
      init: the initializer, or its name; by default that of the model.
      allow_deferred_init: whether `initialize` may wait for the shape.
      differentiable: False for what has no gradient, such as a running mean; then `grad_req` is
        'null' whatever it is set to.
      stype: the storage type, 'default' or 'row_sparse'.
      grad_stype: the storage type of the gradient; 'row_sparse' for a table of which few rows are
        used at a time.

    Raises:
      ArgumentError: `grad_req` or a storage type is none; a ValueError and an AssertionError.
    """

    def __init__(
        self,
        name: str,
        grad_req: str = "write",
        shape: int | Sequence[int] | None = None,
        dtype: Any = mx_real_t,
        lr_mult: float = 1.0,
        wd_mult: float = 1.0,
        init: Any = None,
        allow_deferred_init: bool = False,
        differentiable: bool = True,
        stype: SType = "default",
        grad_stype: SType = "default",
    ):
        for what, given in (("grad_stype", grad_stype), ("stype", stype)):
            if given not in STYPES:
                raise ArgumentError(
                    f"{what} of parameter '{name}' must be one of {', '.join(STYPES)}; got {given!r}"
                )
        self.name = name
        self.lr_mult = lr_mult
        self.wd_mult = wd_mult
        self.init = init
        self._dtype = dtype
        self._shape: Shape | None = _as_shape(shape)
        self._allow_deferred_init = allow_deferred_init
        self._differentiable = differentiable
        self._stype: SType = stype
        self._grad_stype: SType = grad_stype
        self._data: list[NDArray] | None = None
        self._grad: list[NDArray] | None = None
        self._ctx_list: list[Context] = []
        self._deferred_init: _Deferred | None = None
        self._trainer: Any = None
        self._var: sym.Symbol | None = None
        self._grad_req = ""
        self.grad_req = grad_req

    def __repr__(self) -> str:
        return f"{type(self).__name__} {self.name} (shape={self.shape}, dtype={self.dtype})"

    # What it is

    @property
    def grad_req(self) -> str:
        """'write', 'add' or 'null'; may be set at any time."""
        return self._grad_req

    @grad_req.setter
    def grad_req(self, req: str) -> None:
        if req not in GRAD_REQS:
            raise ArgumentError(f"grad_req must be one of {', '.join(GRAD_REQS)}; got {req!r}")
        req = req if self._differentiable else "null"
        if req == self._grad_req:
            return
        self._grad_req = req
        if self._data is None:
            return
        if req == "null":
            self._grad = None
            self._data = [part.detach() for part in self._data]
        else:
            self._init_grad()

    @property
    def dtype(self) -> Any:
        """The dtype; setting it is `cast`."""
        return self._dtype

    @dtype.setter
    def dtype(self, dtype: Any) -> None:
        self.cast(dtype)

    @property
    def stype(self) -> SType:
        """The storage type."""
        return self._stype

    @property
    def grad_stype(self) -> SType:
        """The storage type of the gradient."""
        return self._grad_stype

    @property
    def shape(self) -> Shape | None:
        """The shape; sizes that are not known yet are 0, or -1 with NumPy's shapes switched on.
        Setting it fills in what was unknown."""
        if self._shape is None or not is_np_shape():
            return self._shape
        return tuple(n or -1 for n in self._shape)

    @shape.setter
    def shape(self, new_shape: Sequence[int]) -> None:
        new = _as_shape(new_shape)
        assert new is not None
        old = self._shape
        fits = old is None or (
            len(old) == len(new) and all(m in (-1, 0, n) for m, n in zip(old, new, strict=True))
        )
        if not fits:
            raise ArgumentError(
                f"parameter '{self.name}' has shape {old}, which cannot become {new}"
            )
        self._shape = new

    def var(self) -> sym.Symbol:
        """The variable that stands for the parameter in graphs. It is always the same one, with the
        shape as it was known at first, until the parameter is cast."""
        if self._var is None:
            self._var = sym.var(
                self.name,
                shape=self.shape,
                dtype=self.dtype,
                lr_mult=self.lr_mult,
                wd_mult=self.wd_mult,
                init=self.init,
                stype=self._stype,
            )
        return self._var

    # First values

    def initialize(
        self,
        init: Any = None,
        ctx: Context | Sequence[Context] | None = None,
        default_init: Any = Uniform(),  # noqa: B008 - initializers do not change
        force_reinit: bool = False,
    ) -> None:
        """Gives the parameter its first values, or notes to do so when its shape is known.

        Args:
          init: the initializer; goes before the parameter's own and `default_init`.
          ctx: one context or several, each of which gets a copy; the current one by default.
          default_init: the initializer of a parameter that has none.
          force_reinit: whether a parameter that has values gets new ones. Otherwise that is warned
            about and nothing is done.

        Raises:
          ValueError: the shape is not known, and `allow_deferred_init` was not set.
        """
        if self._data is not None and not force_reinit:
            warnings.warn(
                f"Parameter '{self.name}' is already initialized, ignoring. Set force_reinit=True "
                "to re-initialize.",
                stacklevel=2,
            )
            return
        self._data = self._grad = None
        if init is None:
            init = default_init if self.init is None else self.init
        if not shape_is_known(self._shape) and not self._allow_deferred_init:
            raise ValueError(
                f"Cannot initialize Parameter '{self.name}' because it has invalid shape: "
                f"{self.shape}. Give all sizes, or allow_deferred_init=True to learn them from a "
                "first batch"
            )
        self._deferred_init = _Deferred(init, _listed(ctx), default_init, None)
        if shape_is_known(self._shape):
            self._finish_deferred_init()

    def _finish_deferred_init(self) -> None:
        """Gives the parameter the first values that wait for its shape."""
        if self._deferred_init is None:
            return
        if not shape_is_known(self._shape):
            raise ArgumentError(
                f"Cannot initialize Parameter '{self.name}' because it has invalid shape: "
                f"{self.shape}. Give the layer its sizes (in_units, ...)"
            )
        init, ctx, default_init, data = self._deferred_init
        self._deferred_init = None
        with autograd.pause():
            if data is None:
                data = zeros(self._shape, cpu(), np.dtype(self.dtype), self._stype)  # pyright: ignore[reportArgumentType]
                _give_first_values(self.name, data, init, default_init)
                self._init_impl(data, ctx, is_own=True)
            else:
                self._init_impl(data, ctx)

    def _init_impl(self, data: NDArray, ctx: Sequence[Context], *, is_own: bool = False) -> None:
        """Makes the copies on the contexts, and their gradients.

        Args:
          is_own: whether nobody else has `data`, so that it can be one of the copies.
        """
        self._ctx_list = list(ctx)
        dtype = np.dtype(self.dtype)
        data = data.astype(dtype, copy=False)
        data = data if data.stype == self._stype else data.tostype(self._stype)
        first = self._ctx_list[0]
        mine = data if is_own and data.context == first else data.copyto(first)
        self._data = [mine, *(data.copyto(c) for c in self._ctx_list[1:])]
        self._init_grad()

    def _init_grad(self) -> None:
        if self.grad_req == "null":
            self._grad = None
            return
        assert self._data is not None
        self._grad = [
            zeros(part.shape, c, part.dtype, self._grad_stype)
            for part, c in zip(self._data, self._ctx_list, strict=True)
        ]
        autograd.mark_variables(self._data, self._grad, self.grad_req)

    def _load_init(
        self,
        data: NDArray,
        ctx: Context | Sequence[Context] | None,
        cast_dtype: bool = False,
        dtype_source: str = "current",
    ) -> None:
        """Takes over values from a file.

        Args:
          data: the values.
          ctx: the contexts of a parameter that has no values yet.
          cast_dtype: whether another dtype is converted.
          dtype_source: to which: 'current', the parameter's, or 'saved', that of `data`.

        Raises:
          ArgumentError: shape, dtype or contexts do not fit.
        """
        if cast_dtype and dtype_source not in ("current", "saved"):
            raise ArgumentError(f"dtype_source must be current or saved; got {dtype_source!r}")
        refused = f"Failed loading Parameter '{self.name}' from saved params: "
        if self._shape:
            known = len(self._shape) == len(data.shape) and all(
                mine in (0, -1, theirs)
                for mine, theirs in zip(self._shape, data.shape, strict=False)
            )
            if not known:
                raise ArgumentError(
                    f"{refused}shape incompatible expected {self.shape} vs saved {data.shape}"
                )
        self._shape = data.shape
        mine, theirs = np.dtype(self.dtype), np.dtype(data.dtype)
        if mine != theirs and not cast_dtype:
            raise ArgumentError(
                f"{refused}dtype incompatible expected {mine} vs saved {theirs}. Set cast_dtype=True "
                "to cast the dtype of saved params."
            )
        if mine != theirs and dtype_source == "saved":
            self.cast(data.dtype)
        where = None if ctx is None else _listed(ctx)
        have = self._ctx_list if self._data is not None else None
        if have is None and self._deferred_init is not None:
            have = self._deferred_init.ctx
        if where is not None and have is not None and set(where) != set(have):
            raise ArgumentError(
                f"Failed to load Parameter '{self.name}' on {where} because it was previous "
                f"initialized on {have}."
            )
        if self._data is None:
            with autograd.pause():
                self._init_impl(data, where or have or [cpu()])
        else:
            self.set_data(data)
        self._deferred_init = None

    def _is_ready(self) -> bool:
        """Whether `initialize` was called: there are values, or there will be at a first batch."""
        return self._data is not None or self._deferred_init is not None

    # Values

    def _copies(self, parts: list[NDArray] | None) -> list[NDArray]:
        """The copies on all contexts.

        Raises:
          DeferredInitializationError: the shape is not known yet.
          UninitializedParameterError: `initialize` was not called.
        """
        if parts is not None:
            return parts
        if self._deferred_init is not None:
            raise DeferredInitializationError(
                f"Parameter '{self.name}' has not been initialized yet because initialization was "
                f"deferred: its shape is {self.shape}. Run the network on one batch, or give its "
                "layers their sizes (in_units, ...)."
            )
        raise UninitializedParameterError(
            f"Parameter '{self.name}' has not been initialized. Call initialize(); note that "
            "Block.collect_params() has the parameters of children too and Block.params has not."
        )

    def _copy_on(self, parts: list[NDArray] | None, ctx: Context | None) -> NDArray:
        parts = self._copies(parts)
        if len(parts) == 1 and (ctx is None or ctx == self._ctx_list[0]):
            return parts[0]
        ctx = ctx if ctx is not None else current_context()
        for part, its in zip(parts, self._ctx_list, strict=True):
            if (its.device_typeid & 1, its.device_id) == (ctx.device_typeid & 1, ctx.device_id):
                return part
        raise RuntimeError(
            f"Parameter '{self.name}' was not initialized on context {ctx}. It was only initialized "
            f"on {self._ctx_list}."
        )

    def _of(self, ctx: Context | None = None) -> NDArray:
        """The array on a context, of whatever storage type; where there is one copy, that."""
        data = self._data
        if data is not None and len(data) == 1:
            return data[0]
        return self._copy_on(data, ctx)

    def data(self, ctx: Context | None = None) -> NDArray:
        """The array on a context (not a copy). It may be left out where there is only one.

        Raises:
          DeferredInitializationError: its shape is not known yet.
          RuntimeError: it is not on this context, or not initialized, or is row_sparse.
        """
        self._refuse_sparse("data", "row_sparse_data")
        return self._copy_on(self._data, ctx)

    def list_data(self) -> list[NDArray]:
        """The arrays on all contexts.

        Raises:
          RuntimeError: as `data`.
        """
        self._refuse_sparse("list_data", "list_row_sparse_data")
        return self._copies(self._data)

    def _refuse_sparse(self, method: str, other: str) -> None:
        if self._stype != "default":
            raise RuntimeError(
                f"{method}() gives no Parameter '{self.name}' whose storage type is {self._stype}; "
                f"use {other}() for the rows that are needed"
            )

    def row_sparse_data(self, row_id: NDArray) -> NDArray:
        """Rows of a row_sparse parameter; with a Trainer or without.

        Under `autograd.record()` the gradient goes through to the parameter.

        Args:
          row_id: integers of any shape, repeats allowed.

        Returns:
          row_sparse, of the parameter's shape, with these rows, sorted and each once.

        Raises:
          TypeError: `row_id` is no array.
          RuntimeError: the parameter is not row_sparse, or not initialized.
          MXNetError: there is no such row.
        """
        self._refuse_dense("row_sparse_data", "data")
        return _rows(self._copy_on(self._data, _context_of_rows(row_id)), row_id)

    def list_row_sparse_data(self, row_id: NDArray) -> list[NDArray]:
        """Rows of a row_sparse parameter on all contexts, as `row_sparse_data` gives them."""
        self._refuse_dense("list_row_sparse_data", "list_data")
        _context_of_rows(row_id)
        return [_rows(part, row_id) for part in self._copies(self._data)]

    def _refuse_dense(self, method: str, other: str) -> None:
        if self._stype != "row_sparse":
            raise RuntimeError(
                f"{method}() gives no Parameter '{self.name}' whose storage type is {self._stype}; "
                f"use {other}()"
            )

    def set_data(self, data: Any) -> None:
        """Replaces the values on all contexts; kept for later where the shape was not known.

        Args:
          data: an array of the parameter's shape.

        Raises:
          ArgumentError: the shape differs, or `initialize` was not called.
        """
        self.shape = data.shape
        if self._data is None:
            if self._deferred_init is None:
                raise ArgumentError(f"Parameter '{self.name}' has not been initialized")
            data = data if isinstance(data, NDArray) else array(data, dtype=data.dtype)
            self._deferred_init = self._deferred_init._replace(data=data)
            return
        trainer = self._trainer
        if trainer is not None and trainer._update_on_kvstore:
            trainer._reset_kvstore()  # the store has a copy of its own
        for part in self._data:
            if isinstance(data, NDArray) and (data.stype, part.stype) != ("default", "default"):
                (data if data.stype == part.stype else data.tostype(part.stype)).copyto(part)
            else:
                part[:] = data

    def _reduce(self) -> NDArray:
        """The mean of the copies on the host; the array itself where it is the only one."""
        parts = self._copies(self._data)
        if len(parts) == 1:
            return parts[0]
        host = [part.as_in_context(cpu()) for part in parts]
        total = host[0]
        for part in host[1:]:
            total = total + part
        return total / len(host)

    # Gradients

    def grad(self, ctx: Context | None = None) -> NDArray:
        """The gradient on a context.

        Raises:
          RuntimeError: `grad_req` is 'null', or as `data`.
        """
        self._refuse_null()
        return self._copy_on(self._grad, ctx)

    def list_grad(self) -> list[NDArray]:
        """The gradients on all contexts.

        Raises:
          RuntimeError: as `grad`.
        """
        self._refuse_null()
        return self._copies(self._grad)

    def _refuse_null(self) -> None:
        if self._data is not None and self._grad is None:
            raise RuntimeError(
                f"Cannot get gradient array for Parameter '{self.name}' because grad_req='null'"
            )

    def zero_grad(self) -> None:
        """Sets the gradients to zero; a row_sparse one then stores no row."""
        for part in self._grad or ():
            with wide():
                part._store(zeros_of(part.shape, part.dtype, part.stype))

    # Places and dtypes

    def list_ctx(self) -> list[Context]:
        """The contexts.

        Raises:
          RuntimeError: `initialize` was not called.
        """
        if self._data is not None:
            return self._ctx_list
        if self._deferred_init is not None:
            return self._deferred_init.ctx
        raise UninitializedParameterError(f"Parameter '{self.name}' has not been initialized")

    def reset_ctx(self, ctx: Context | Sequence[Context] | None) -> None:
        """Moves the parameter to other contexts; gradients start at zero.

        Args:
          ctx: one context or several; the current one by default.

        Raises:
          ValueError: the parameter is not initialized.
        """
        where = _listed(ctx)
        if self._data is not None:
            data = self._reduce()
            with autograd.pause():
                self._init_impl(data, where)
        elif self._deferred_init is not None:
            self._deferred_init = self._deferred_init._replace(ctx=where)
        else:
            raise ValueError(
                f"Cannot reset context for Parameter '{self.name}' because it has not been "
                "initialized."
            )

    def cast(self, dtype: Any) -> None:
        """Converts values and gradients to another dtype.

        Args:
          dtype: the dtype.
        """
        self._dtype = dtype
        self._var = None
        if self._data is None:
            return
        with autograd.pause():
            dtype = np.dtype(dtype)
            self._data = [part.astype(dtype) for part in self._data]
            if self._grad is not None:
                self._grad = [part.astype(dtype) for part in self._grad]
                autograd.mark_variables(self._data, self._grad, self.grad_req)

    def _set_trainer(self, trainer: Any) -> None:
        """Notes the trainer.

        Raises:
          RuntimeError: a row_sparse parameter has another one.
        """
        mine = self._trainer
        if self._stype != "default" and mine and trainer and mine is not trainer:
            raise RuntimeError(
                f"Parameter '{self.name}' is {self._stype} and has a trainer already; more than one "
                "is not supported"
            )
        self._trainer = trainer


class Constant(Parameter):
    """A parameter that is not learned: no gradient, and no trainer changes it.

    Args:
      name: the name.
      value: its values, an array or what `nd.array` takes.
    """

    def __init__(self, name: str, value: Any):
        if not isinstance(value, NDArray):
            value = array(value)
        self.value = value
        super().__init__(
            name, grad_req="null", shape=value.shape, dtype=value.dtype, init=_Given(value)
        )

    @property
    def grad_req(self) -> str:
        """'null'."""
        return "null"

    @grad_req.setter
    def grad_req(self, req: str) -> None:
        if req != "null":
            warnings.warn(
                f'Constant parameter "{self.name}" does not support grad_req other than "null", and '
                f'new value "{req}" is ignored.',
                stacklevel=2,
            )


class _Given(Initializer):
    """The values of a constant."""

    def __init__(self, value: NDArray):
        super().__init__()
        self._given = value

    def _init_weight(self, name: str, arr: Any) -> None:
        fill(arr, self._given._value)


def shape_is_known(shape: Shape | None) -> bool:
    """Whether no size is missing.

    Args:
      shape: a shape in which unknown sizes are 0 or -1, or None.
    """
    return shape is not None and all(n > 0 for n in shape)


def _as_shape(shape: int | Sequence[int] | None) -> Shape | None:
    if shape is None or isinstance(shape, tuple):
        return shape
    return (int(shape),) if isinstance(shape, int | np.integer) else tuple(shape)  # pyright: ignore[reportArgumentType]


def _listed(ctx: Context | Sequence[Context] | None) -> list[Context]:
    if ctx is None:
        return [current_context()]
    return [ctx] if isinstance(ctx, Context) else list(ctx)


def _give_first_values(name: str, data: NDArray, init: Any, default_init: Any) -> None:
    given = default_init
    if not callable(given):
        given = create(given)
    # An initializer for the whole model, such as Mixed, decides by the name itself.
    attrs = (
        {} if init is default_init and not isinstance(given, Initializer) else {"__init__": init}
    )
    given(InitDesc(name, attrs), data)


def _context_of_rows(row_id: Any) -> Context:
    if not isinstance(row_id, NDArray):
        raise TypeError(f"row_id must have NDArray type, but {type(row_id)} is given")
    return row_id.context


def _rows(table: NDArray, row_id: NDArray) -> NDArray:
    with autograd.pause():
        rows = (
            np.unique(row_id.asnumpy().astype(np.int64)) if not is_traced(row_id._value) else None
        )
        ids = row_id.reshape(-1) if rows is None else array(rows, row_id.context, np.int64)
    if rows is not None and len(rows) and not 0 <= rows[0] <= rows[-1] < table.shape[0]:
        bad = rows[0] if rows[0] < 0 else rows[-1]
        raise MXNetError(f"row_id has {bad}; the parameter's rows are 0 to {table.shape[0] - 1}")
    return retain(table, ids)
