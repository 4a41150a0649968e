"""The executor: a graph bound to arrays, run forward and backward as compiled programs."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rarefy import autograd
from rarefy._config import config
from rarefy._ops.storage import SType
from rarefy.autograd._mode import _scope
from rarefy.autograd._tape import Leaf, Slot, release
from rarefy.base import MXNetError
from rarefy.context import Context
from rarefy.executor._heads import heads_that_need_gradients
from rarefy.executor._walk import Seen, Walk
from rarefy.nd import NDArray, ones, zeros
from rarefy.nd._cached_op import CachedOp
from rarefy.sym import Symbol
from rarefy.sym._infer_storage import infer_graph_storage
from rarefy.sym._optimise import optimise


class Program:
    """What executors of one graph share: the order of its nodes and what has been compiled.

    Args:
      symbol: the graph.
      states: the arrays of its auxiliary states, in order.
      stypes: how the arrays of its arguments are stored, by name.

    Attributes:
      compiled: whether it is run as a compiled program, which is found out by trying.
      optimised: the graph that is run.
    """

    def __init__(self, symbol: Symbol, states: Sequence[NDArray], stypes: Mapping[str, SType]):
        self.symbol = self.optimised = symbol
        if config.optimise_graphs:
            stored = infer_graph_storage(symbol._entries, stypes)
            self.optimised = Symbol(optimise(symbol._entries, stored)[0])
        self.states = list(states)
        self.compiled = True
        of_states = symbol._states()
        variables = symbol._variables()
        self._arguments = [n for n in variables if id(n) not in of_states]
        self._states = [n for n in variables if id(n) in of_states]
        self.walk = Walk(self.optimised)
        self.op = CachedOp(lambda *arguments: self.walk.run(self.arrays(arguments)))

    def _of(self, walk: Walk, arguments: Sequence[NDArray]) -> list[NDArray]:
        """The array of each variable of a walk. A variable that nothing reads is in none."""
        # By identity: several variables may have one name.
        found = {id(n): a for n, a in zip(self._states, self.states, strict=True)}
        found.update((id(n), a) for n, a in zip(self._arguments, arguments, strict=True))
        return [found[id(node)] for node in walk.variables]

    def arrays(self, arguments: Sequence[NDArray]) -> list[NDArray]:
        """The arrays that `walk.run` takes, from those of the arguments."""
        return self._of(self.walk, arguments)

    def run(self, arguments: Sequence[NDArray]) -> list[NDArray]:
        """The results, compiled where that can be."""
        if self.compiled:
            try:
                return self.op(arguments, self.states)
            except NotImplementedError:
                # The size of a result depends on numbers: csr @ csr, a mask.
                self.compiled = False
        return self.walk.run(self.arrays(arguments))

    def watched(self, arguments: Sequence[NDArray], seen: Seen, *, inputs: bool) -> list[NDArray]:
        """The results of the graph as the user made it, node by node; `seen` is told of each."""
        walk = Walk(self.symbol)
        return walk.run(self._of(walk, arguments), seen, inputs)


class Executor:
    """A graph bound to arrays. Made by `Symbol.bind` and `Symbol.simple_bind`.

    Forward and backward are one compiled program each; `compilations` counts them.

    Attributes:
      arg_arrays: the arrays of the arguments, in the order of `Symbol.list_arguments`.
      grad_arrays: for each the array of its gradient, or None.
      aux_arrays: the arrays of the auxiliary states.
    """

    def __init__(
        self,
        symbol: Symbol,
        ctx: Context,
        grad_req: Any,
        group2ctx: Any,
        arg_arrays: Sequence[NDArray],
        grad_arrays: Sequence[NDArray | None],
        reqs: Sequence[str],
        program: Program,
    ):
        self._symbol, self._ctx = symbol, ctx
        self._grad_req, self._group2ctx = grad_req, group2ctx
        self._program = program
        self.arg_arrays = list(arg_arrays)
        self.grad_arrays = list(grad_arrays)
        self.aux_arrays = program.states
        self._names = symbol.list_arguments()
        self._reqs = list(reqs)
        self._outputs: list[NDArray] | None = None
        self._monitor: tuple[Callable[[str, NDArray], None], bool] | None = None
        self._arguments = [
            _bound(a, g, r)
            for a, g, r in zip(self.arg_arrays, self.grad_arrays, self._reqs, strict=True)
        ]
        self._needed = heads_that_need_gradients(
            symbol, {n for n, a in zip(self._names, self._arguments, strict=True) if a._slot}
        )

    @property
    def compilations(self) -> int:
        """How often a program has been compiled, forward and backward."""
        return self._program.op.compilations

    @property
    def arg_dict(self) -> dict[str, NDArray]:
        """The arrays of the arguments by name."""
        return _by_name(self._names, self.arg_arrays)

    @property
    def grad_dict(self) -> dict[str, NDArray | None]:
        """The arrays of the gradients by name of the argument; None where there is none."""
        return _by_name(self._names, self.grad_arrays)

    @property
    def aux_dict(self) -> dict[str, NDArray]:
        """The arrays of the auxiliary states by name."""
        return _by_name(self._symbol.list_auxiliary_states(), self.aux_arrays)

    @property
    def output_dict(self) -> dict[str, NDArray]:
        """The results of the last `forward` by name."""
        return _by_name(self._symbol.list_outputs(), self.outputs)

    @property
    def outputs(self) -> list[NDArray]:
        """The results of the last `forward`; before the first one, those on the present arrays."""
        if self._outputs is None:
            self.forward()
        assert self._outputs is not None
        return self._outputs

    def forward(self, is_train: bool = False, **kwargs: Any) -> list[NDArray]:
        """Runs the graph.

        Args:
          is_train: whether operators behave as in training; then `backward` may follow.
          **kwargs: arrays by name of the argument, copied into its array first.

        Returns:
          The results, in arrays of their own.

        Raises:
          ValueError: something is no array, or not of the argument's shape.
          TypeError: there is no argument of a name.
          MXNetError: an operator does not take such arrays.
        """
        if kwargs:
            arguments = self.arg_dict
            for name, array in kwargs.items():
                if not isinstance(array, NDArray | np.ndarray):
                    raise ValueError("only accept keyword argument of NDArrays and numpy.ndarray")
                if name not in arguments:
                    raise TypeError(f"Unknown argument {name}")
                mine = arguments[name]
                if mine.shape != array.shape:
                    raise ValueError(
                        f"Shape not match! Argument {name}, need: {mine.shape}, received: "
                        f"{array.shape}"
                    )
                mine[:] = array
        self._forget()
        self._outputs = self._run(record=bool(is_train), training=bool(is_train))
        return self._outputs

    def _forget(self) -> None:
        """Lets the record of the last forward pass go, which is kept for more than one backward."""
        release(o._slot for o in self._outputs or () if o._slot is not None)

    def _run(self, *, record: bool, training: bool) -> list[NDArray]:
        with _scope(record, training):
            if self._monitor is None:
                return self._program.run(self._arguments)
            seen, inputs = self._monitor
            return self._program.watched(self._arguments, seen, inputs=inputs)

    def backward(self, out_grads: Any = None, is_train: bool = True) -> None:
        """Writes the gradients of the arguments, as their `grad_req` says.

        Args:
          out_grads: the gradients of the results: an array, a list or a dict by name. Results that are
            losses (`SoftmaxOutput`, `MakeLoss`, ...) need none.
          is_train: whether operators are pulled back as in training.

        Raises:
          MXNetError: a gradient of a result is missing or not of its shape.
          TypeError: one is no array.
        """
        grads = _listed(out_grads, self._symbol)
        if self._outputs is None or not any(o._slot for o in self._outputs):
            self._outputs = self._run(record=True, training=False)
        heads, cotangents = [], []
        for i, output in enumerate(self._outputs):
            given = grads[i] if i < len(grads) else None
            if output._slot is None or self._needed[i] is None:
                continue
            if self._needed[i] and given is None:
                raise MXNetError(
                    "Because the last operator is not Loss function, head_gradient is required when "
                    "calling backward. If you are attempting to minimize the output as an objective, "
                    "please modify your network and pass it through the make_loss symbol."
                )
            if given is not None and given.shape != output.shape:
                raise MXNetError(
                    f"backward: the gradient of {self._symbol.list_outputs()[i]} has shape "
                    f"{given.shape}, it must be {output.shape}"
                )
            heads.append(output)
            if given is None:
                given = ones(output.shape, ctx=self._ctx, dtype=output.dtype)
            cotangents.append(given if given.dtype == output.dtype else given.astype(output.dtype))
        if heads:
            autograd.backward(heads, cotangents, retain_graph=True, train_mode=bool(is_train))

    def copy_params_from(
        self,
        arg_params: Mapping[str, NDArray],
        aux_params: Mapping[str, NDArray] | None = None,
        allow_extra_params: bool = False,
    ) -> None:
        """Copies arrays into those of the arguments and auxiliary states.

        Args:
          arg_params, aux_params: arrays by name.
          allow_extra_params: whether names that the graph does not have are passed over.

        Raises:
          ValueError: the graph has no such name.
          MXNetError: an array has another shape.
        """
        for found, given, kind in (
            (self.arg_dict, arg_params, "arguments"),
            (self.aux_dict, aux_params or {}, "auxiliary states"),
        ):
            for name, array in given.items():
                if name not in found:
                    if allow_extra_params:
                        continue
                    raise ValueError(f'Find name "{name}" that is not in the {kind}')
                mine = found[name]
                if mine.shape != array.shape:
                    raise MXNetError(
                        f"{name} has shape {mine.shape}; the array given has {array.shape}"
                    )
                array.astype(mine.dtype).copyto(mine)

    def set_monitor_callback(
        self, callback: Callable[[str, NDArray], None] | None, monitor_all: bool = False
    ) -> None:
        """Has a function called with the name and array of every operator's results.

        While there is one, the graph runs operator by operator and not as a compiled program.

        Args:
          callback: the function; None for none.
          monitor_all: whether it is called with what operators read as well.
        """
        self._monitor = None if callback is None else (callback, monitor_all)

    def reshape(
        self, partial_shaping: bool = False, allow_up_sizing: bool = False, **kwargs: Any
    ) -> "Executor":
        """An executor for arguments of other shapes; arrays whose shape stays are shared.

        Args:
          partial_shaping: whether arguments that are not named may change their shape.
          allow_up_sizing: whether an array may become larger.
          **kwargs: shapes by name.

        Raises:
          MXNetError: an array would change that may not.
        """
        shapes, _, _ = self._symbol.infer_shape(**kwargs)
        if shapes is None:
            raise MXNetError("Insufficient argument shapes provided.")
        arrays, grads = [], []
        for name, shape, array, grad in zip(
            self._names, shapes, self.arg_arrays, self.grad_arrays, strict=True
        ):
            if shape != array.shape:
                if name not in kwargs and not partial_shaping:
                    raise MXNetError(
                        f"Shape of unspecified arg: {name} changed. This can cause the new executor "
                        "to not share parameters with the old one. Please check for error in "
                        "network. If this is intended, set partial_shaping=True to suppress this "
                        "warning."
                    )
                if np.prod(shape) > np.prod(array.shape) and not allow_up_sizing:
                    raise MXNetError(
                        f"New shape of arg: {name} is larger than original. First making a big "
                        "executor and then down sizing it is more efficient than the reverse. If you "
                        "really want to up size, set allow_up_sizing=True to enable allocation of "
                        "new arrays."
                    )
                array = _first_of(array, shape, self._ctx)
                if grad is not None:
                    grad = zeros(shape, ctx=self._ctx, dtype=grad.dtype, stype=grad.stype)
            arrays.append(array)
            grads.append(grad)
        other = Executor(
            self._symbol,
            self._ctx,
            self._grad_req,
            self._group2ctx,
            arrays,
            grads,
            self._reqs,
            self._program,
        )
        other._monitor = self._monitor
        return other

    # For what makes the graph a part of a larger program, such as one that updates as well.

    @property
    def is_watched(self) -> bool:
        """Whether a monitor looks at the results of operators."""
        return self._monitor is not None

    @property
    def ends_in_losses(self) -> bool:
        """Whether `backward` needs no gradient of any result, and there is something to go back from."""
        return False in self._needed and True not in self._needed

    def variables(self) -> dict[str, NDArray]:
        """Handles on the arrays of the arguments by name; those with a gradient are variables."""
        return _by_name(self._names, self._arguments)

    def run(self, arguments: Mapping[str, NDArray]) -> list[NDArray]:
        """The results on other arrays than those bound, with the auxiliary states that are.

        Args:
          arguments: an array for each argument by name.
        """
        return self._program.run([arguments[name] for name in self._names])

    def losses(self, results: Sequence[NDArray]) -> list[NDArray]:
        """Those of the results that `backward` goes back from."""
        return [r for r, needed in zip(results, self._needed, strict=True) if needed is not None]

    def take_outputs(self, outputs: Sequence[NDArray]) -> None:
        """Has `outputs` be results that were computed elsewhere."""
        for output in outputs:
            output._ctx = self._ctx
        self._outputs = list(outputs)

    def debug_str(self) -> str:
        """The nodes of the graph, and how they are stored."""
        kinds = {n: a.stype for n, a in zip(self._names, self.arg_arrays, strict=True)}
        return f"{self._symbol.debug_str()}\n{self._symbol.storage_plan(**kinds)}\n"

    def get_optimized_symbol(self) -> Symbol:
        """The graph as it is run."""
        return self._program.optimised


def _bound(array: NDArray, grad: NDArray | None, req: str) -> NDArray:
    """A handle on an argument's array that is a variable for this executor alone."""
    slot = None
    if grad is not None and req != "null":
        slot = Slot(array.stype, leaf=Leaf(grad._cell, req, grad.stype))
    handle = type(array)(array._cell, array._path, slot)
    handle._ctx = array._ctx
    return handle


def _first_of(array: NDArray, shape: tuple[int, ...], ctx: Context) -> NDArray:
    """An array of another shape: a view of the beginning of a dense one that is large enough."""
    size = math.prod(shape)
    if array.stype != "default" or size > array.size or not size:
        return zeros(shape, ctx=ctx, dtype=array.dtype, stype=array.stype)
    return array.reshape((-1,))[:size].reshape(shape)


def _by_name(names: Sequence[str], arrays: Sequence[Any]) -> dict[str, Any]:
    if len(set(names)) < len(names):
        raise ValueError(f"Duplicate names detected, {names}")
    return dict(zip(names, arrays, strict=True))


def _listed(out_grads: Any, symbol: Symbol) -> list[NDArray | None]:
    if out_grads is None:
        return []
    if isinstance(out_grads, NDArray):
        return [out_grads]
    if isinstance(out_grads, Mapping):
        out_grads = [out_grads[name] for name in symbol.list_outputs()]
    for grad in out_grads:
        if grad is not None and not isinstance(grad, NDArray):
            raise TypeError("inputs must be NDArray")
    return list(out_grads)
