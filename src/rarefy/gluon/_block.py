"""Blocks: functions with parameters, made of other blocks."""

import re
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from weakref import WeakSet

from rarefy.base import ArgumentError
from rarefy.context import Context
from rarefy.gluon._hook import HookHandle
from rarefy.gluon._naming import BlockScope
from rarefy.gluon._parameter import Parameter
from rarefy.gluon._parameter_dict import ParameterDict
from rarefy.gluon._printing import brief, indented
from rarefy.gluon._summary import print_summary
from rarefy.initializer import Uniform
from rarefy.nd import load, save


class Block:
    """The base of layers and models.

    A subclass makes its children and parameters in `__init__`, inside `with self.name_scope():`, as
    attributes, and overrides `forward`.

    Args:
      prefix: what the names of its parameters begin with; its class and a number by default.
      params: parameters of another block to share.
    """

    _is_container = False  # its children alone stand in a summary

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None):
        self._empty_prefix = prefix == ""
        self._prefix, self._params = BlockScope.create(prefix, params, self._alias())
        self._name = self._prefix.removesuffix("_")
        self._scope = BlockScope(self)
        self._children: dict[str, Block] = {}
        self._users: WeakSet[Any] = WeakSet()
        self._reg_params: dict[str, Parameter] = {}
        self._forward_hooks: OrderedDict[int, Callable[..., None]] = OrderedDict()
        self._forward_pre_hooks: OrderedDict[int, Callable[..., None]] = OrderedDict()

    def _alias(self) -> str:
        return type(self).__name__.lower()

    def __repr__(self) -> str:
        return self._listed((n, b) for n, b in vars(self).items() if isinstance(b, Block))

    def _listed(self, blocks: Any) -> str:
        lines = "\n".join(f"  ({name}): {indented(repr(block), 2)}" for name, block in blocks)
        return f"{type(self).__name__}(\n{lines}\n)"

    def __setattr__(self, name: str, value: Any) -> None:
        existing = getattr(self, name, None)
        if isinstance(existing, Parameter | Block) and not isinstance(value, type(existing)):
            raise TypeError(
                f"Changing attribute type for {name} from {type(existing)} to {type(value)} is not "
                "allowed."
            )
        if isinstance(value, Block):
            self.register_child(value, name)
        elif isinstance(value, Parameter):
            if name in self._reg_params:
                raise ArgumentError(
                    f"Overriding Parameter attribute {name} is not allowed. To share parameters "
                    "between blocks, give 'params' when a block is made."
                )
            self._reg_params[name] = value
            self._changed()
        super().__setattr__(name, value)

    def register_child(self, block: "Block", name: str | None = None) -> None:
        """Makes a block a child; blocks that are attributes are so by themselves.

        Args:
          block: the child.
          name: its name; its number by default.
        """
        self._children[name if name is not None else str(len(self._children))] = block
        block._users.add(self)
        self._changed()

    def _changed(self) -> None:
        """Children or parameters have changed: compiled programs of this block, and of what uses it,
        are of no use any more."""
        for user in self._users:
            user._changed()

    # Names and parameters

    @property
    def prefix(self) -> str:
        """What the names of its parameters begin with."""
        return self._prefix

    @property
    def name(self) -> str:
        """The prefix without the '_' at its end."""
        return self._name

    def name_scope(self) -> BlockScope:
        """The scope, for `with`, in which children and parameters are made."""
        return self._scope

    @property
    def params(self) -> ParameterDict:
        """Its own parameters, without those of its children."""
        return self._params

    def collect_params(self, select: str | None = None) -> ParameterDict:
        """Its parameters and those of its children.

        Args:
          select: a regular expression that the beginning of a name must match, or None for all.
        """
        found = ParameterDict(self._params.prefix)
        chosen = re.compile(select).match if select else bool
        for block in self._tree():
            block._warn_of_containers()
            found.update({n: p for n, p in block.params.items() if chosen(n)})
        return found

    def _tree(self) -> "Iterator[Block]":
        """The block and everything below it."""
        yield self
        for child in self._children.values():
            yield from child._tree()

    def _warn_of_containers(self) -> None:
        children = set(map(id, self._children.values()))
        for name, value in vars(self).items():
            if name in ("_children", "_users") or not isinstance(value, list | tuple | dict):
                continue
            if any(id(block) not in children for block in _blocks_in(value)):
                warnings.warn(
                    f'"{type(self).__name__}.{name}" is an unregistered container with Blocks. Note '
                    "that Blocks inside the list, tuple or dict will not be registered "
                    "automatically. Make sure to register them using register_child() or switching "
                    "to nn.Sequential/nn.HybridSequential instead. ",
                    stacklevel=4,
                )

    def _collect_params_with_prefix(self, prefix: str = "") -> dict[str, Parameter]:
        """Parameters by the path of attributes that leads to them, such as '0.weight'."""
        prefix = prefix and prefix + "."
        found = {prefix + name: param for name, param in self._reg_params.items()}
        for name, child in self._children.items():
            found.update(child._collect_params_with_prefix(prefix + name))
        return found

    # Files

    def save_parameters(self, filename: str, deduplicate: bool = False) -> None:
        """Writes all parameters to a file in MXNet's format, by the paths that lead to them.

        Args:
          filename: the file.
          deduplicate: whether a shared parameter is written once only.
        """
        params = self._collect_params_with_prefix()
        if deduplicate:
            params = {name: param for param, name in {p: n for n, p in params.items()}.items()}
        save(filename, {name: param._reduce() for name, param in params.items()})

    def save_params(self, filename: str) -> None:
        """Deprecated; writes the file that `collect_params().save` does. Use `save_parameters`."""
        warnings.warn("save_params is deprecated. Please use save_parameters.", stacklevel=2)
        self.collect_params().save(filename, strip_prefix=self.prefix)

    def load_parameters(
        self,
        filename: str,
        ctx: Context | Sequence[Context] | None = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        cast_dtype: bool = False,
        dtype_source: str = "current",
    ) -> None:
        """Reads the parameters from a file that `save_parameters` wrote, here or in MXNet, or
        `collect_params().save`.

        Args:
          filename: the file.
          ctx: the contexts of parameters that have no values yet.
          allow_missing: whether parameters may be left as they are.
          ignore_extra: whether the file may have further arrays.
          cast_dtype: whether other dtypes are converted.
          dtype_source: to which: 'current' or 'saved'.

        Raises:
          ArgumentError: a parameter is missing, or does not fit.
          ValueError: the file has an array too much.
        """
        loaded = load(filename)
        params = self._collect_params_with_prefix()
        if not loaded and not params:
            return
        if not isinstance(loaded, dict):
            raise ValueError(f"file '{filename}' holds arrays without names; expected parameters")
        if not any("." in name for name in loaded):
            collected = self.collect_params()
            collected.load_dict(
                loaded,
                ctx,
                allow_missing,
                ignore_extra,
                "" if any(n in loaded or f"arg:{n}" in loaded for n in collected) else self.prefix,
                filename,
                cast_dtype,
                dtype_source,
            )
            return
        there = {params[name] for name in loaded if name in params}
        for name, param in params.items() if not allow_missing else ():
            if param not in there:
                raise ArgumentError(
                    f"Parameter '{name}' is missing in file '{filename}', which contains parameters: "
                    f"{brief(loaded)}. Set allow_missing=True to ignore missing parameters."
                )
        for name, array in loaded.items():
            if name in params:
                params[name]._load_init(array, ctx, cast_dtype, dtype_source)
            elif not ignore_extra:
                raise ValueError(
                    f"Parameter '{name}' loaded from file '{filename}' is not present in this block, "
                    f"which contains parameters {brief(params)}. Set ignore_extra=True to ignore."
                )

    def load_params(
        self,
        filename: str,
        ctx: Context | Sequence[Context] | None = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
    ) -> None:
        """Deprecated; use `load_parameters`."""
        warnings.warn("load_params is deprecated. Please use load_parameters.", stacklevel=2)
        self.load_parameters(filename, ctx, allow_missing, ignore_extra)

    # What is done with the whole

    def initialize(
        self,
        init: Any = Uniform(),  # noqa: B008 - initializers do not change
        ctx: Context | Sequence[Context] | None = None,
        verbose: bool = False,
        force_reinit: bool = False,
    ) -> None:
        """Gives all parameters their first values; see `ParameterDict.initialize`."""
        self.collect_params().initialize(init, ctx, verbose, force_reinit)

    def apply(self, fn: "Callable[[Block], Any]") -> "Block":
        """Calls a function with every block below and then with this one.

        Returns:
          The block.
        """
        for child in self._children.values():
            child.apply(fn)
        fn(self)
        return self

    def hybridize(self, active: bool = True, **kwargs: Any) -> None:
        """Lets all HybridBlocks below compile what they do, or run it operator by operator."""
        for child in self._children.values():
            child.hybridize(active, **kwargs)

    def cast(self, dtype: Any) -> None:
        """Converts all parameters to another dtype."""
        for child in self._children.values():
            child.cast(dtype)
        for param in self.params.values():
            param.cast(dtype)

    # Running

    def __call__(self, *args: Any) -> Any:
        """Calls hooks and `forward`."""
        for hook in self._forward_pre_hooks.values():
            hook(self, args)
        out = self._run(*args)
        for hook in self._forward_hooks.values():
            hook(self, args, out)
        return out

    def _run(self, *args: Any) -> Any:
        return self.forward(*args)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the block computes; to be overridden."""
        raise NotImplementedError(f"{type(self).__name__} must override forward")

    def register_forward_pre_hook(self, hook: Callable[..., None]) -> HookHandle:
        """Has a function called before `forward`, as `hook(block, inputs)`."""
        handle = HookHandle()
        handle.attach(self._forward_pre_hooks, hook)
        return handle

    def register_forward_hook(self, hook: Callable[..., None]) -> HookHandle:
        """Has a function called after `forward`, as `hook(block, inputs, outputs)`."""
        handle = HookHandle()
        handle.attach(self._forward_hooks, hook)
        return handle

    def register_op_hook(
        self, callback: Callable[[str, Any], Any] | None, monitor_all: bool = False
    ) -> None:
        """Has a function called with the name and the array of every operator's results, in all
        HybridBlocks below that are hybridized.

        Args:
          callback: the function; None for none.
          monitor_all: whether it is called with what operators read as well.
        """
        for child in self._children.values():
            child.register_op_hook(callback, monitor_all)

    def summary(self, *inputs: Any) -> None:
        """Prints the layers with the shapes of their results and numbers of parameters.

        Args:
          *inputs: what the block is called with, once. It must not be hybridized.

        Raises:
          ArgumentError: it is hybridized.
        """
        print_summary(self, inputs)


def _blocks_in(value: Any) -> Iterator[Block]:
    if isinstance(value, Block):
        yield value
    elif isinstance(value, list | tuple | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _blocks_in(part)
