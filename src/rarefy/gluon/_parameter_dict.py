"""The parameters of a block by name."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rarefy.base import ArgumentError
from rarefy.context import Context
from rarefy.gluon._parameter import Constant, Parameter
from rarefy.gluon._printing import brief, indented
from rarefy.initializer import Uniform
from rarefy.nd import NDArray, load, save


class ParameterDict:
    """Parameters by name, in the order in which they were made.

    Args:
      prefix: what the names of parameters that `get` makes begin with.
      shared: where `get` looks for a parameter before it makes one.
    """

    def __init__(self, prefix: str = "", shared: "ParameterDict | None" = None):
        self._prefix = prefix
        self._params: dict[str, Parameter] = {}
        self._shared = shared

    def __repr__(self) -> str:
        lines = "\n".join(indented(f"  {p}", 2) for p in self.values())
        return f"{self._prefix + ' ' if self._prefix else ''}(\n{lines}\n)"

    def __getitem__(self, key: str) -> Parameter:
        return self._params[key]

    def __contains__(self, key: object) -> bool:
        return key in self._params

    def __iter__(self) -> Iterator[str]:
        return iter(self._params)

    def __len__(self) -> int:
        return len(self._params)

    def items(self):
        """Names and parameters."""
        return self._params.items()

    def keys(self):
        """The names."""
        return self._params.keys()

    def values(self):
        """The parameters."""
        return self._params.values()

    @property
    def prefix(self) -> str:
        """What the names of parameters that `get` makes begin with."""
        return self._prefix

    # Making parameters

    def get(self, name: str, **kwargs: Any) -> Parameter:
        """The parameter of a name: one that is there, or is shared, or a new one.

        Args:
          name: the name without the prefix.
          **kwargs: what `Parameter` takes. One that is there must agree with it; sizes that one side
            does not know are taken from the other.

        Raises:
          ArgumentError: it does not agree; a ValueError and an AssertionError.
        """
        name = self.prefix + name
        param = self._find(name)
        if param is None:
            param = self._params[name] = Parameter(name, **kwargs)
            return param
        for attribute, wanted in kwargs.items():
            _agree(param, attribute, wanted)
        return param

    def _find(self, name: str) -> Parameter | None:
        if name not in self._params and self._shared is not None and name in self._shared._params:
            self._params[name] = self._shared._params[name]
        return self._params.get(name)

    def get_constant(self, name: str, value: Any = None) -> Constant:
        """The constant of a name: one that is there, or is shared, or a new one.

        Args:
          name: the name without the prefix.
          value: its values. One that is there must have the same.

        Raises:
          KeyError: there is none, and no values were given.
          ArgumentError: one of the name is no constant, or has other values.
        """
        name = self.prefix + name
        param = self._find(name)
        if param is None:
            if value is None:
                raise KeyError(
                    f"No constant named '{name}'. Please specify value if you want to create a new "
                    "constant."
                )
            constant = self._params[name] = Constant(name, value)
            return constant
        if not isinstance(param, Constant):
            raise ArgumentError(f"Parameter '{name}' already exists but it is not a constant.")
        if value is not None:
            value = value.asnumpy() if isinstance(value, NDArray) else np.asarray(value)
            if param.shape != value.shape or not (param.value.asnumpy() == value).all():
                raise ArgumentError(f"Constant '{name}' already exists with other values.")
        return param

    def update(self, other: "ParameterDict | Mapping[str, Parameter]") -> None:
        """Takes over the parameters of another dictionary.

        Raises:
          ArgumentError: both have a parameter of one name and they are not the same.
        """
        for name, param in other.items():
            if self._params.get(name, param) is not param:
                raise ArgumentError(
                    "Cannot update self with other because they have different Parameters with the "
                    f"same name '{name}'"
                )
        self._params.update(other.items())

    # What is done with all of them

    def initialize(
        self,
        init: Any = Uniform(),  # noqa: B008 - initializers do not change
        ctx: Context | Sequence[Context] | None = None,
        verbose: bool = False,
        force_reinit: bool = False,
    ) -> None:
        """Gives all parameters their first values.

        Args:
          init: the initializer of those that have none of their own.
          ctx: one context or several, each of which gets a copy.
          verbose: whether each array is logged.
          force_reinit: whether parameters that have values get new ones.
        """
        if verbose:
            init.set_verbosity(verbose=verbose)
        for param in self.values():
            param.initialize(None, ctx, init, force_reinit=force_reinit)

    def zero_grad(self) -> None:
        """Sets all gradients to zero."""
        for param in self.values():
            param.zero_grad()

    def reset_ctx(self, ctx: Context | Sequence[Context] | None) -> None:
        """Moves all parameters to other contexts."""
        for param in self.values():
            param.reset_ctx(ctx)

    def list_ctx(self) -> list[Context]:
        """All contexts that a parameter is on."""
        return list(dict.fromkeys(c for param in self.values() for c in param.list_ctx()))

    def setattr(self, name: str, value: Any) -> None:
        """Sets an attribute of all parameters, such as `grad_req`.

        Args:
          name: the attribute.
          value: its value.
        """
        for param in self.values():
            setattr(param, name, value)

    # Files

    def save(self, filename: str, strip_prefix: str = "") -> None:
        """Writes all values to a file in MXNet's format.

        Args:
          filename: the file.
          strip_prefix: what is taken off the beginning of names.

        Raises:
          ValueError: a name does not begin with it.
        """
        arrays = {}
        for param in self.values():
            if not param.name.startswith(strip_prefix):
                raise ValueError(
                    f"Prefix '{strip_prefix}' is to be striped before saving, but Parameter's name "
                    f"'{param.name}' does not start with '{strip_prefix}'. Is it shared with another "
                    "block, or was its block made outside name_scope()?"
                )
            arrays[param.name[len(strip_prefix) :]] = param._reduce()
        save(filename, arrays)

    def load(
        self,
        filename: str,
        ctx: Context | Sequence[Context] | None = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        restore_prefix: str = "",
        cast_dtype: bool = False,
        dtype_source: str = "current",
    ) -> None:
        """Reads values from a file in MXNet's format.

        Args:
          filename: the file.
          ctx: the contexts of parameters that have no values yet.
          allow_missing: whether parameters may be left as they are.
          ignore_extra: whether the file may have further arrays.
          restore_prefix: what is put before the names of the file.
          cast_dtype: whether other dtypes are converted.
          dtype_source: to which: 'current' or 'saved'.

        Raises:
          ArgumentError: a parameter is missing, an array is too much, or one does not fit.
        """
        for name in self.keys() if restore_prefix else ():
            if not name.startswith(restore_prefix):
                raise ArgumentError(
                    f"restore_prefix is '{restore_prefix}' but Parameters name '{name}' does not "
                    f"start with '{restore_prefix}'"
                )
        self.load_dict(
            load(filename),
            ctx,
            allow_missing,
            ignore_extra,
            restore_prefix,
            filename,
            cast_dtype,
            dtype_source,
        )

    def load_dict(
        self,
        param_dict: Any,
        ctx: Context | Sequence[Context] | None = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        restore_prefix: str = "",
        filename: str | None = None,
        cast_dtype: bool = False,
        dtype_source: str = "current",
    ) -> None:
        """Takes values from a dictionary of arrays; as `load`.

        Args:
          param_dict: arrays by name; `arg:` and `aux:` before a name are taken off.
          filename: where it comes from, for messages.
        """
        pairs: Iterable[Any] = param_dict
        if isinstance(param_dict, dict):
            pairs = ((k[4:] if k[:4] in ("arg:", "aux:") else k, v) for k, v in param_dict.items())
        arrays = {restore_prefix + name: value for name, value in pairs}
        where = f"file: {filename}" if filename else "param_dict"
        cut = len(restore_prefix)
        for name in self.keys() if not allow_missing else ():
            if name not in arrays:
                raise ArgumentError(
                    f"Parameter '{name[cut:]}' is missing in {where}, which contains parameters: "
                    f"{brief(arrays)}. Please make sure source and target networks have the same "
                    "prefix."
                )
        for name, value in arrays.items():
            if name in self._params:
                self[name]._load_init(value, ctx, cast_dtype, dtype_source)
            elif not ignore_extra:
                raise ArgumentError(
                    f"Parameter '{name[cut:]}' loaded from {where} is not present in ParameterDict, "
                    f"choices are: {brief(self._params)}. Set ignore_extra to True to ignore."
                )


def _agree(param: Parameter, attribute: str, wanted: Any) -> None:
    """Sees to it that a parameter has an attribute that it is asked to have."""
    existing = getattr(param, attribute, None)
    if existing is None:
        setattr(param, attribute, wanted)
        return
    if attribute == "shape" and wanted is not None:
        wanted = (wanted,) if isinstance(wanted, int) else tuple(wanted)
        if len(wanted) == len(existing) and all(
            n == m or n <= 0 or m <= 0 for n, m in zip(wanted, existing, strict=True)
        ):
            param._shape = tuple(n if n > 0 else m for n, m in zip(wanted, existing, strict=True))
            return
    if attribute == "dtype" and wanted is not None and np.dtype(wanted) == np.dtype(existing):
        return
    if wanted is not None and wanted != existing:
        raise ArgumentError(
            f"Cannot retrieve Parameter '{param.name}' because desired attribute does not match with "
            f"stored for attribute '{attribute}': desired '{wanted}' vs stored '{existing}'."
        )
