"""Binding: from a graph, shapes and arrays to an executor."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rarefy._ops.shapes import is_known
from rarefy._ops.storage import SType
from rarefy.base import MXNetError
from rarefy.context import Context, current_context
from rarefy.executor._executor import Executor, Program
from rarefy.nd import NDArray, zeros
from rarefy.sym import Symbol
from rarefy.sym._infer_shape import from_user, infer_graph_shapes
from rarefy.sym._infer_storage import (
    gradient_requests,
    gradient_storage,
    infer_graph_storage,
    require_stype,
)
from rarefy.sym._infer_type import infer_graph_types
from rarefy.sym._node import Node


class Binding:
    """What `Symbol.bind` and `Symbol.simple_bind` do."""

    def bind(
        self,
        symbol: Symbol,
        ctx: Any,
        *,
        args: Any,
        args_grad: Any = None,
        grad_req: Any = "write",
        aux_states: Any = None,
        group2ctx: Any = None,
        shared_exec: Any = None,
    ) -> Executor:
        """See `Symbol.bind`."""
        ctx = current_context() if ctx is None else ctx
        if not isinstance(ctx, Context):
            raise TypeError("Context type error")
        names = symbol.list_arguments()
        arrays = _arrays("args", args, names)
        grads: list[NDArray | None] = [None] * len(names)
        if args_grad is not None:
            grads = _arrays("args_grad", args_grad, names, allow_missing=True)
        states = _arrays("aux_states", aux_states or [], symbol.list_auxiliary_states())
        reqs = gradient_requests(grad_req, names)
        _check(symbol, names, arrays)
        return _made(symbol, ctx, grad_req, group2ctx, arrays, grads, reqs, states)

    def simple_bind(
        self,
        symbol: Symbol,
        ctx: Any,
        *,
        grad_req: Any,
        type_dict: Any,
        stype_dict: Any,
        group2ctx: Any,
        shared_arg_names: Any,
        shared_exec: Any,
        shared_buffer: Any,
        shapes: Mapping[str, Any],
    ) -> Executor:
        """See `Symbol.simple_bind`."""
        if not isinstance(ctx, Context):
            raise TypeError("Context type error")
        if isinstance(grad_req, list | dict) and not grad_req:
            kind = type(grad_req).__name__
            raise RuntimeError(f"grad_req in simple_bind cannot be an empty {kind}")
        names = symbol.list_arguments()
        try:
            reqs = gradient_requests(grad_req, names)
            found = _Properties(symbol, shapes, type_dict or {}, stype_dict or {})
        except (MXNetError, ValueError) as error:
            listed = "\n".join(f"{name}: {shape}" for name, shape in shapes.items())
            raise RuntimeError(f"simple_bind error. Arguments:\n{listed}\n{error}") from error
        shared, shared_grads = dict(shared_buffer or {}), {}
        if shared_exec is not None:
            taken = shared_exec.arg_dict
            shared.update({n: taken[n] for n in shared_arg_names or () if n in taken})
            shared.update(shared_exec.aux_dict)
            # So that those of 'add' are added up over both.
            shared_grads = {n: g for n, g in shared_exec.grad_dict.items() if n in shared}
        states = symbol._states()
        arguments = [n for n in symbol._variables() if id(n) not in states]
        auxiliary = [n for n in symbol._variables() if id(n) in states]
        at = {n: _context_of(n, ctx, group2ctx or {}) for n in (*arguments, *auxiliary)}
        arrays = [found.array(n, at[n], shared) for n in arguments]
        grads = [
            found.gradient(n, at[n], shared_grads) if r != "null" else None
            for n, r in zip(arguments, reqs, strict=True)
        ]
        aux = [found.array(n, at[n], shared) for n in auxiliary]
        if shared_buffer is not None:
            dense = zip(names, arrays, strict=True)
            shared_buffer.update({n: a for n, a in dense if a.stype == "default"})
        program = None
        if shared_exec is not None and shared_exec._symbol is symbol:
            program = shared_exec._program
        return _made(symbol, ctx, grad_req, group2ctx, arrays, grads, reqs, aux, program)


class _Properties:
    """Shape, dtype and storage type of every variable of a graph."""

    def __init__(self, symbol: Symbol, shapes, types, stypes):
        entries = symbol._entries
        # As in MXNet, names that the graph does not have are passed over.
        given = {n: from_user(s) for n, s in shapes.items() if isinstance(s, tuple | list)}
        self._shapes = infer_graph_shapes(entries, given)
        missing = [
            f"{v.name}: {self._shapes[id(v), 0]}"
            for v in symbol._variables()
            if not is_known(self._shapes[id(v), 0])
        ]
        if missing:
            raise MXNetError(
                "InferShape pass cannot decide shapes for the following arguments (-1 means unknown "
                f"dimensions). Please consider providing them as inputs:\n{', '.join(missing)}"
            )
        kinds = {n: np.dtype(t).name for n, t in types.items()}
        self._types = infer_graph_types(entries, kinds, blank="float32")
        stored: dict[str, SType] = {n: require_stype(s, n) for n, s in stypes.items()}
        self._stored = infer_graph_storage(entries, stored, self._shapes)
        self._gradients = gradient_storage(entries, self._stored)

    def array(self, node: Node, ctx: Context, shared: Mapping[str, NDArray]) -> NDArray:
        """An array for a variable: a shared one where it fits, else zeros."""
        shape, dtype = self._shapes[id(node), 0], self._types[id(node), 0]
        stype = self._stored[id(node)].outputs[0]
        return _fitting(shared.get(node.name), shape, dtype, stype, ctx)

    def gradient(self, node: Node, ctx: Context, shared: Mapping[str, NDArray | None]) -> NDArray:
        """An array for the gradient of a variable: a shared one where it fits, else zeros."""
        shape, dtype = self._shapes[id(node), 0], self._types[id(node), 0]
        return _fitting(shared.get(node.name), shape, dtype, self._gradients[node.name].stype, ctx)


def _context_of(node: Node, ctx: Context, group2ctx: Mapping[str, Context]) -> Context:
    """The context of a variable's arrays: that of its group, where it is the same device."""
    context = group2ctx.get(node.attrs.get("__ctx_group__", ""), ctx)
    return context if context.device == ctx.device else ctx


def _fitting(array: NDArray | None, shape: Any, dtype: Any, stype: SType, ctx: Context) -> NDArray:
    """The array, if it is one of that kind; zeros otherwise."""
    kind = (shape, stype, dtype)
    if array is not None and (array.shape, array.stype, np.dtype(array.dtype).name) == kind:
        return array
    return zeros(shape, ctx=ctx, dtype=dtype, stype=stype)


def _made(symbol, ctx, grad_req, group2ctx, arrays, grads, reqs, states, program=None) -> Executor:
    names = symbol.list_arguments()
    stypes = {n: a.stype for n, a in zip(names, arrays, strict=True)}
    program = program or Program(symbol, states, stypes)
    return Executor(symbol, ctx, grad_req, group2ctx, arrays, grads, reqs, program)


def _arrays(
    what: str, given: Any, names: Sequence[str], *, allow_missing: bool = False
) -> list[Any]:
    """The arrays in the order of the names."""
    if isinstance(given, Mapping):
        found = []
        for name in names:
            if name not in given and not allow_missing:
                raise ValueError(f"key `{name}` is missing in `{what}`")
            found.append(given.get(name))
    elif isinstance(given, list | tuple):
        if len(given) != len(names):
            raise ValueError(f"Length of {what} does not match the number of arguments")
        found = list(given)
    else:
        raise TypeError("Only accept list of NDArrays or dict of str to NDArray")
    for array in found:
        if not isinstance(array, NDArray) and not (array is None and allow_missing):
            raise TypeError("Only accept list of NDArrays or dict of str to NDArray")
    return found


def _check(symbol: Symbol, names: Sequence[str], arrays: Sequence[NDArray]) -> None:
    """Refuses arrays whose shapes do not go together."""
    shapes = {name: tuple(a.shape) or None for name, a in zip(names, arrays, strict=True)}
    infer_graph_shapes(symbol._entries, shapes)


Symbol._executors = Binding()
