"""Blocks made of graphs, such as those that another program has exported."""

import os
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

import jax
import numpy as np

from rarefy import sym
from rarefy.base import mx_real_t
from rarefy.context import Context
from rarefy.executor._walk import Walk
from rarefy.gluon._hybrid_block import HybridBlock, as_graph, flatten, unflatten
from rarefy.gluon._parameter_dict import ParameterDict
from rarefy.nd import NDArray
from rarefy.sym import Symbol
from rarefy.sym._graph import single
from rarefy.sym._infer_storage import gradient_storage, infer_graph_storage
from rarefy.sym._node import replaced


class SymbolBlock(HybridBlock):
    """A block that does what a graph says. It is compiled; `hybridize(False)` runs it node by node.

    Args:
      outputs: the results, a symbol or nested lists of symbols.
      inputs: the variables of the graph that are the block's inputs, a symbol or a list.
      params: parameters by name, for the other variables; those that are not there are made.

    New parameters have the storage types and the initializers that their variables declare. Their
    gradients are stored as those of a bound graph: by rows where the graph reads a table with a csr
    input (of which `sym.var(..., stype="csr")` tells) or with `sparse_grad`.

    Raises:
      AssertionError: an input is no variable.
    """

    def __init__(self, outputs: Any, inputs: Any, params: ParameterDict | None = None):
        super().__init__(prefix=None, params=None)
        self._prefix = ""
        self._params = ParameterDict("", params)
        self._active = True
        given = list(inputs) if isinstance(inputs, Symbol | list | tuple) else [inputs]
        self._inputs, self._in_form = flatten(tuple(given))
        for each in self._inputs:
            if len(each.get_internals()) != 1:
                raise AssertionError(
                    f"Input symbols must be variable, but {each} is an output of operators"
                )
        if isinstance(outputs, list | tuple) and len(outputs) == 1:
            outputs = outputs[0]
        self._symbol, self._out_form = as_graph(outputs)
        self._add_parameters()
        self._walk = Walk(self._symbol)

    def __repr__(self) -> str:
        count = f"{len(self._inputs)} -> {len(self._symbol)}"
        return f"{type(self).__name__}(\n{self._symbol} : {count}\n)"

    @staticmethod
    def imports(
        symbol_file: str | os.PathLike[str],
        input_names: str | Sequence[str],
        param_file: str | os.PathLike[str] | None = None,
        ctx: Context | Sequence[Context] | None = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
    ) -> "SymbolBlock":
        """The block that `HybridBlock.export` wrote, here or in MXNet, or `Module.save_checkpoint`.

        Args:
          symbol_file: the file of the graph.
          input_names: the names of the variables that are inputs.
          param_file: the file of the parameters; None to initialize them otherwise.
          ctx: where the parameters live.
          allow_missing: whether parameters may be missing in the file.
          ignore_extra: whether the file may have further arrays.

        Raises:
          MXNetError: a file cannot be read, or an operator is not known.
          ArgumentError: a parameter is missing, or an array is too much.
        """
        names = [input_names] if isinstance(input_names, str) else input_names
        dtype = mx_real_t if param_file is None else None
        block = SymbolBlock(sym.load(symbol_file), [sym.var(n, dtype=dtype) for n in names])
        if param_file is not None:
            block.collect_params().load(
                os.fspath(param_file),
                ctx,
                allow_missing,
                ignore_extra,
                cast_dtype=True,
                dtype_source="saved",
            )
        return block

    def _add_parameters(self) -> None:
        """Finds or makes the parameters of all variables that are no inputs."""
        symbol, names = self._symbol, {v.name for v in self._inputs}
        used = names & set(symbol.list_inputs())
        types = {v.name: v.infer_type_partial()[0][0] for v in self._inputs if v.name in used}
        arguments, _, states = symbol.infer_type_partial(**types)
        dtypes = dict(zip(symbol.list_arguments(), arguments, strict=True))
        dtypes.update(zip(symbol.list_auxiliary_states(), states, strict=True))
        declared = {v.name: v.infer_storage_type()[0][0] for v in self._inputs if v.name in used}
        stored = infer_graph_storage(symbol._entries, declared)
        gradients = gradient_storage(symbol._entries, stored)
        auxiliary = set(symbol.list_auxiliary_states())
        for node in symbol._variables():
            if node.name in names:
                continue
            settings: dict[str, Any] = {"dtype": dtypes[node.name] or mx_real_t}
            if self._params._find(node.name) is None:
                settings["stype"] = stored[id(node)].outputs[0]
                settings["grad_stype"] = gradients[node.name].stype
                settings["init"] = node.attrs.get("__init__")
            if node.name in auxiliary:
                settings["grad_req"] = "null"
            self._params.get(node.name, allow_deferred_init=True, **settings)
        first, last = min(self._params, default=""), max(self._params, default="")
        same = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
        cut = sum(1 for _ in same)  # what all names begin with is left out
        self._reg_params = {name[cut:]: param for name, param in self._params.items()}

    # Running

    def forward(self, *args: Any) -> Any:
        """Runs the graph on arrays; or puts symbols in the place of its inputs.

        Raises:
          ValueError: the arguments are not as many, or nest in another way, than the inputs.
        """
        flat, form = flatten(args)
        if form != self._in_form:
            raise ValueError(
                "The argument structure of HybridBlock does not match the graph's inputs: expected "
                f"{[v.name for v in self._inputs]}, nested as they were given; got {len(flat)}"
            )
        names = [v.name for v in self._inputs]
        if isinstance(flat[0], Symbol):
            instead = {n: single(v, n) for n, v in zip(names, flat, strict=True)}
            entries = replaced(self._symbol._entries, instead)
            return jax.tree.unflatten(self._out_form, [Symbol([entry]) for entry in entries])
        ctx = flat[0]._ctx
        arrays: Mapping[str, NDArray] = {
            **{name: param._of(ctx) for name, param in self._params.items()},
            **dict(zip(names, flat, strict=True)),
        }
        results = self._walk.run([arrays[v.name] for v in self._walk.variables])
        return jax.tree.unflatten(self._out_form, results)

    def _run_compiled(self, flat: Any, form: Any, arrays: Sequence[NDArray]) -> Any:
        try:
            return super()._run_compiled(flat, form, arrays)
        except NotImplementedError:
            # The size of a result depends on numbers: csr @ csr, a mask.
            self._active = False
            return self.forward(*unflatten(form, flat))

    def infer_shape(self, *args: Any) -> None:
        """Finds out the shapes of parameters from inputs.

        Raises:
          ValueError: they do not follow from the inputs.
        """
        given = {v.name: a.shape for v, a in zip(self._inputs, flatten(args)[0], strict=True)}
        arguments, _, states = self._symbol.infer_shape_partial(**given)
        names = [*self._symbol.list_arguments(), *self._symbol.list_auxiliary_states()]
        found = dict(zip(names, [*arguments, *states], strict=True))
        for name, param in self._params.items():
            if not found[name] or 0 in found[name]:
                raise ValueError(f"the shape of {name} does not follow from {given}")
            param.shape = found[name]

    # As a graph

    def _graph(self, form: Any) -> tuple[list[Symbol], Symbol, Any]:
        return self._inputs, self._symbol, self._out_form

    def _exported(self) -> Symbol:
        return self._symbol

    # Dtypes and places

    def cast(self, dtype: Any) -> None:
        """Converts all parameters to another dtype; for float16, those of BatchNorm stay float32."""
        super().cast(dtype)
        if np.dtype(dtype) == np.float16:
            for node in self._symbol._nodes:
                if node.op is not None and node.op.name == "BatchNorm":
                    for entry in node.given()[1:]:
                        self._params[entry.node.name].cast("float32")

    def reset_ctx(self, ctx: Context | Sequence[Context] | None) -> None:
        """Moves the parameters to other contexts."""
        for param in self._params.values():
            param.reset_ctx(ctx)
