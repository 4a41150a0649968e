"""Blocks that can be compiled as a whole."""

import os
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from operator import is_
from typing import Any

import jax

from rarefy import nd, sym
from rarefy._later import seen
from rarefy._ops.storage import is_traced
from rarefy.context import Context
from rarefy.executor._walk import Walk
from rarefy.gluon._block import Block
from rarefy.gluon._infer_shape import infer_shapes
from rarefy.gluon._parameter import DeferredInitializationError, Parameter, shape_is_known
from rarefy.gluon._parameter_dict import ParameterDict
from rarefy.nd import NDArray
from rarefy.nd._cached_op import CachedOp
from rarefy.sym import Symbol


class HybridBlock(Block):
    """A block that `hybridize` lets compile.

    A subclass overrides `hybrid_forward(F, x, ..., **params)`, which gets the operators (`F`:
    `rarefy.nd`, or `rarefy.sym` when the block is called with symbols), its inputs and its parameters
    by the names of their attributes; or `forward(x, ...)`, as in a `Block`. Until `hybridize` is
    called it runs operator by operator. After that, what it does is traced once for each combination
    of shapes and storage types and runs as one program, which is one node of the record; blocks inside
    it are part of that program.

    While it is traced, numbers are not known: it may not ask for them (`asnumpy`), and what Python
    decides is decided once.
    """

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None):
        self._active = False
        self._waits = True  # whether parameters may be there whose shapes are not known
        self._compiled: dict[Any, _Compiled] = {}
        self._last: _Compiled | None = None  # that of the last run, if it took plain arrays
        self._form: Any = None  # how inputs nest, from the first compiled run on
        self._op_hook: tuple[Callable[..., Any], bool] | None = None
        super().__init__(prefix, params)

    def register_child(self, block: Block, name: str | None = None) -> None:
        """Makes a block a child.

        Raises:
          ValueError: it is no HybridBlock.
        """
        if not isinstance(block, HybridBlock):
            raise ValueError(
                f"Children of HybridBlock must also be HybridBlock, but {block} has type "
                f"{type(block)}. If you are using Sequential, please try HybridSequential instead."
            )
        super().register_child(block, name)

    def _changed(self) -> None:
        self._waits = True
        self._compiled = {}
        self._last = None
        super()._changed()

    def hybridize(
        self,
        active: bool = True,
        backend: Any = None,
        clear: bool = True,
        static_alloc: bool = False,
        static_shape: bool = False,
        **kwargs: Any,
    ) -> None:
        """Lets the block, and those below, compile what they do, or run it operator by operator.

        Args:
          active: whether to compile.
          clear: whether programs that were compiled before are dropped.
          backend, static_alloc, static_shape, **kwargs: accepted for MXNet's sake. XLA plans memory,
            and always for the shapes at hand.
        """
        self._active = active
        self._last = None
        if clear:
            self._compiled = {}
        if active and (self._forward_hooks or self._forward_pre_hooks):
            warnings.warn(
                f'"{self}" is being hybridized while still having forward hook/pre-hook. If "{self}" '
                "is a child of HybridBlock, the hooks will not take effect.",
                stacklevel=2,
            )
        super().hybridize(active, clear=clear)

    def cast(self, dtype: Any) -> None:
        """Converts all parameters to another dtype; compiled programs are dropped."""
        self._changed()
        super().cast(dtype)

    @property
    def compilations(self) -> int:
        """How often the block has been compiled, forward and backward, since it was hybridized."""
        return sum(each.op.compilations for each in self._compiled.values())

    # Running

    def _run(self, *args: Any) -> Any:
        last = self._last
        if last is not None and last.takes(args):
            return last.op(args, last.held(None))
        if not (self._active or self._waits):
            return self.forward(*args)
        flat, form = flatten(args)
        arrays = [a for a in flat if isinstance(a, NDArray)]
        if not arrays:
            return self.forward(*args)
        if len(arrays) < len(flat) and any(isinstance(each, Symbol) for each in flat):
            raise _mixed()
        if self._active and self._form is None:
            self._form = form
        if any(is_traced(seen(a._cell)) for a in arrays):
            return self.forward(*args)
        if not self._active:
            # Together now, if they can be, rather than layer by layer as the run comes to them.
            with suppress(ValueError):
                self._finish_deferred_init(args)
            return self.forward(*args)
        if self._waits:
            self._finish_deferred_init(args)
        for each in flat:
            if each is not None and not isinstance(each, NDArray):
                raise ValueError(
                    f"When hybridized, the input of HybridBlock {self.name} must be (nested) list of "
                    f"NDArray, but got {each} of type {type(each)}"
                )
        return self._run_compiled(flat, form, arrays)

    def _run_compiled(self, flat: Any, form: Any, arrays: Sequence[NDArray]) -> Any:
        ctx = _only_context(arrays)
        if self._op_hook is not None:
            self._last = None
            return self._run_watched(flat, form, ctx, *self._op_hook)
        compiled = self._compiled.get((form, ctx))
        if compiled is None:
            compiled = self._compiled[form, ctx] = _Compiled(self, form)
        held = compiled.held(ctx)
        if ctx is None:
            self._last = compiled if isinstance(form, int) and not self._waits else None
            return compiled.op(flat, held)
        with ctx:
            return compiled.op(flat, held)

    def _run_watched(
        self, flat: Any, form: Any, ctx: Context | None, callback: Callable[..., Any], inputs: bool
    ) -> Any:
        """Runs the block's graph operator by operator, and tells of each."""
        variables, out, nested = self._graph(form)
        arrays: dict[str, NDArray] = {n: p._of(ctx) for n, p in self.collect_params().items()}
        taken = iter(variables)
        arrays.update({next(taken).name: a for a in flat if a is not None})  # type: ignore[misc]
        walk = Walk(out)
        return jax.tree.unflatten(
            nested, walk.run([arrays[v.name] for v in walk.variables], callback, inputs)
        )

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Calls `hybrid_forward` with the operators and the parameters.

        Raises:
          ValueError: no argument is an array or a symbol, or there are both; or the shape of a
            parameter cannot be inferred.
        """
        first = None
        for leaf in _leaves(args):
            if isinstance(leaf, NDArray | Symbol):
                if first is None:
                    first = leaf
                elif isinstance(first, Symbol) != isinstance(leaf, Symbol):
                    raise _mixed()
        if first is None:
            raise ValueError(
                "In HybridBlock, there must be one NDArray or one Symbol in the input. Please check "
                "the type of the args."
            )
        if isinstance(first, Symbol):
            variables = {name: p.var() for name, p in self._reg_params.items()}
            with self.name_scope():
                return self.hybrid_forward(sym, *args, **kwargs, **variables)
        ctx = first._ctx
        try:
            params = {name: p._of(ctx) for name, p in self._reg_params.items()}
        except DeferredInitializationError:
            self._finish_deferred_init(args)
            params = {name: p._of(ctx) for name, p in self._reg_params.items()}
        if ctx is None:
            return self.hybrid_forward(nd, *args, **kwargs, **params)
        with ctx:
            return self.hybrid_forward(nd, *args, **kwargs, **params)

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        """What the block computes; to be overridden.

        Args:
          F: the operators.
          x, *args: the inputs.
          **kwargs: the block's own parameters.
        """
        raise NotImplementedError(f"{type(self).__name__} must override hybrid_forward or forward")

    # Shapes of parameters

    def infer_shape(self, *args: Any) -> None:
        """Finds out the shapes of parameters from inputs, without computing anything.

        Raises:
          ValueError: they do not follow from the inputs.
        """
        infer_shapes(self.forward, self.collect_params().values(), args)

    def infer_type(self, *args: Any) -> None:
        """Gives parameters the dtypes that follow from those of inputs, by the block's graph.

        Raises:
          ValueError: they do not follow from the inputs.
        """
        flat, form = flatten(args)
        inputs, out, _ = self._graph(form)
        arrays = [a for a in flat if a is not None]
        given: dict[str, Any] = {v.name or "": a.dtype for v, a in zip(inputs, arrays, strict=True)}
        arguments, _, states = out.infer_type_partial(**given)
        names = [*out.list_arguments(), *out.list_auxiliary_states()]
        found = dict(zip(names, [*arguments, *states], strict=True))
        params = self.collect_params()
        missing = [name for name in params if found.get(name) is None]
        if missing:
            raise ValueError(f"the dtypes of {', '.join(missing)} do not follow from {given}")
        for name, param in params.items():
            param.dtype = found[name]

    def _finish_deferred_init(self, args: Sequence[Any]) -> None:
        params = self.collect_params().values()
        if any(p._deferred_init is not None for p in params):
            self.infer_shape(*args)
            for param in params:
                if shape_is_known(param._shape):
                    param._finish_deferred_init()
        self._waits = any(p._data is None for p in params)

    # As a graph

    def _graph(self, form: Any) -> tuple[list[Symbol], Symbol, Any]:
        """The block as a graph.

        Args:
          form: how its inputs nest.

        Returns:
          The variables that stand for its inputs, the results, and how these nest.
        """
        absent = (False,) * form if isinstance(form, int) else form[1]
        count = absent.count(False)
        names = iter(["data"] if count == 1 else [f"data{i}" for i in range(count)])
        inputs = [None if is_absent else sym.var(next(names)) for is_absent in absent]
        out = self.forward(*unflatten(form, inputs))
        return [v for v in inputs if v is not None], *as_graph(out)

    def _exported(self) -> Symbol:
        """The graph that `export` writes.

        Raises:
          RuntimeError: the block was not run since `hybridize`.
        """
        if self._form is None:
            raise RuntimeError(
                "Please first call block.hybridize() and then run forward with this block at least "
                "once before calling export."
            )
        return self._graph(self._form)[1]

    def export(
        self, path: str | os.PathLike[str], epoch: int = 0, remove_amp_cast: bool = True
    ) -> None:
        """Writes the block's graph and parameters: `PATH-symbol.json` and `PATH-EPOCH.params`.

        MXNet reads both, and so do `SymbolBlock.imports`, `Module.load` and `sym.load`. An input is
        called `data`; several are `data0`, `data1`, ...

        Args:
          path: what the names of the files begin with.
          epoch: a number for the name, written with four digits.
          remove_amp_cast: accepted for MXNet's sake.

        Raises:
          RuntimeError: the block was not hybridized and run before.
          AttributeError, ValueError: it does something that only arrays can, such as to look at
            shapes.
        """
        symbol = self._exported()
        symbol.save(f"{path}-symbol.json", remove_amp_cast)
        params = self.collect_params()
        kinds = dict.fromkeys(symbol.list_arguments(), "arg")
        kinds.update(dict.fromkeys(symbol.list_auxiliary_states(), "aux"))
        for name in params:
            if name not in kinds:
                warnings.warn(f'Parameter "{name}" is not found in the graph. ', stacklevel=2)
        arrays = {f"{kinds[n]}:{n}": p._reduce() for n, p in params.items() if n in kinds}
        nd.save(f"{path}-{epoch:04d}.params", arrays)

    def register_op_hook(
        self, callback: Callable[[str, NDArray], Any] | None, monitor_all: bool = False
    ) -> None:
        """Has a function called with the name and the array of every operator's results.

        It takes effect where the block is hybridized. While there is such a function, the block's
        graph runs operator by operator and not as a compiled program.

        Args:
          callback: the function; None for none.
          monitor_all: whether it is called with what operators read as well.
        """
        self._op_hook = None if callback is None else (callback, monitor_all)
        self._last = None
        super().register_op_hook(callback, monitor_all)


def _mixed() -> ValueError:
    return ValueError(
        "In HybridBlock, we do not support mixed NDArrays and Symbols types for the input. Please "
        "check the type of the args."
    )


class _Compiled:
    """The programs of a block for one structure of its inputs.

    Args:
      block: the block.
      form: the structure.
    """

    def __init__(self, block: HybridBlock, form: Any):
        self.op = CachedOp(lambda *flat: block.forward(*unflatten(form, flat)))
        self._form = form
        self._params: list[Parameter] = list(block.collect_params().values())
        self._data: list[Any] = [None] * len(self._params)
        self._held: list[NDArray] = []

    def takes(self, args: Sequence[Any]) -> bool:
        """Whether it is for such arguments: arrays of no particular device, and not traced."""
        if len(args) != self._form:
            return False
        for a in args:
            if not isinstance(a, NDArray) or a._ctx is not None or is_traced(seen(a._cell)):
                return False
        return True

    def held(self, ctx: Context | None) -> list[NDArray]:
        """The arrays of all parameters; the same list as long as they are the same arrays."""
        data = [p._data for p in self._params]
        if not all(map(is_, data, self._data)):
            self._data = data  # whatever replaces a parameter's arrays makes a new list
            self._held = [p._of(ctx) for p in self._params]
        return self._held


def as_graph(outputs: Any) -> tuple[Symbol, Any]:
    """Symbols in nested lists as one, and how they nest."""
    spread = jax.tree.map(lambda s: list(s) if len(s) > 1 else s, outputs)
    leaves, form = jax.tree.flatten(spread)
    return (leaves[0] if len(leaves) == 1 else sym.Group(leaves)), form


def flatten(args: tuple[Any, ...]) -> tuple[list[Any], Any]:
    """What nested lists hold, and how they nest."""
    if all(isinstance(a, NDArray | Symbol) for a in args):
        return list(args), len(args)
    flat, form = jax.tree.flatten(args, is_leaf=lambda x: x is None)
    return flat, (form, tuple(leaf is None for leaf in flat))


def unflatten(form: Any, flat: Sequence[Any]) -> Sequence[Any]:
    return flat if isinstance(form, int) else jax.tree.unflatten(form[0], flat)


def _leaves(args: Sequence[Any]) -> Any:
    for arg in args:
        if isinstance(arg, list | tuple):
            yield from _leaves(arg)
        else:
            yield arg


def _only_context(arrays: Sequence[NDArray]) -> Context | None:
    found = {a._ctx for a in arrays}
    if len(found) > 1:
        raise ValueError(
            "Find multiple contexts in the input, After hybridized, the HybridBlock only supports one "
            f"input context. Find all contexts = {[a.context for a in arrays]}"
        )
    return found.pop()
