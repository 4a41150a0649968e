"""Running a symbol, or a function of arrays, forward and backward by one interface."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rarefy import autograd
from rarefy.context import Context
from rarefy.nd import NDArray, array, zeros
from rarefy.test_utils._tolerance import default_context

Location = Mapping[str, Any] | Sequence[Any]


class FunctionRun:
    """What an executor is to a symbol, for a function of arrays.

    Attributes:
      arg_dict: the arrays by name.
      grad_dict: their gradients by name, those that are asked for.
      outputs: the results of the last `forward`.
    """

    def __init__(
        self, function: Callable, arrays: dict[str, NDArray], grads: dict, reqs: dict[str, str]
    ):
        self._function = function
        self.arg_dict = arrays
        self.grad_dict = grads
        self.outputs: list[NDArray] = []
        autograd.mark_variables(
            [arrays[name] for name in grads], list(grads.values()), [reqs[n] for n in grads]
        )

    def forward(self, is_train: bool = False) -> list[NDArray]:
        """Runs the function on the present arrays."""
        with autograd.record(train_mode=is_train):
            found = self._function(*self.arg_dict.values())
        self.outputs = list(found) if isinstance(found, list | tuple) else [found]
        return self.outputs

    def backward(self, out_grads: list[NDArray]) -> None:
        """Writes the gradients, given those of the outputs."""
        autograd.backward(self.outputs, out_grads)


def is_symbol(target: Any) -> bool:
    """Whether a target is a symbol; else it is a function of arrays."""
    return hasattr(target, "list_arguments")


def argument_names(target: Any) -> list[str]:
    """The names of the arguments of a symbol or function."""
    if is_symbol(target):
        return target.list_arguments()
    return list(inspect.signature(target).parameters)


def output_names(target: Any, count: int) -> list[str]:
    """A name for each output."""
    return target.list_outputs() if is_symbol(target) else [f"output{i}" for i in range(count)]


def as_location(target: Any, location: Location, ctx: Context, dtype: Any) -> dict[str, NDArray]:
    """The arrays of a call by name, in the order of the arguments.

    Args:
      target: a symbol or function.
      location: a dict by name, or a list; NumPy arrays or arrays of any storage type.
      ctx: where new arrays live.
      dtype: the dtype that NumPy arrays get.

    Raises:
      ValueError: the names or the number do not match the arguments.
    """
    names = argument_names(target)
    if isinstance(location, Mapping):
        if set(location) != set(names):
            raise ValueError(
                "Symbol arguments and keys of the given location do not match. "
                f"Arguments: {sorted(names)}, location: {sorted(location)}"
            )
        given = {name: location[name] for name in names}
    else:
        if len(location) != len(names):
            raise ValueError(f"{len(location)} arrays for the arguments {names}")
        given = dict(zip(names, location, strict=True))
    return {name: as_array(value, ctx, dtype) for name, value in given.items()}


def as_array(value: Any, ctx: Context, dtype: Any) -> NDArray:
    """An array as it is; anything else as a dense array of `dtype`."""
    return value if isinstance(value, NDArray) else array(np.asarray(value), ctx=ctx, dtype=dtype)


def per_name(given: Any, names: Sequence[str], default: Any) -> dict[str, Any]:
    """One thing for all names, a list or a dict of them; what a dict lacks is `default`."""
    if isinstance(given, Mapping):
        return {name: given.get(name, default) for name in names}
    if isinstance(given, list | tuple):
        return dict(zip(names, given, strict=True))
    return dict.fromkeys(names, default if given is None else given)


def bound(
    target: Any,
    arrays: dict[str, NDArray],
    grads: dict[str, NDArray],
    reqs: dict[str, str],
    aux_states: Any = None,
    ctx: Context | None = None,
) -> Any:
    """An executor of the target on `arrays` that writes its gradients into `grads`."""
    if not is_symbol(target):
        return FunctionRun(target, arrays, grads, reqs)
    ctx = ctx or default_context()
    if isinstance(aux_states, list | tuple):
        aux_states = dict(zip(target.list_auxiliary_states(), aux_states, strict=True))
    aux = {name: as_array(a, ctx, np.float32) for name, a in (aux_states or {}).items()}
    return target.bind(ctx, args=arrays, args_grad=grads, grad_req=reqs, aux_states=aux)


def empty_gradients(
    arrays: dict[str, NDArray], reqs: dict[str, str], stypes: Any, ctx: Context
) -> dict[str, NDArray]:
    """Zero gradients of those arrays that get one, with the storage types asked for."""
    kinds = per_name(stypes, list(arrays), None)
    return {
        name: zeros(a.shape, ctx=ctx, dtype=a.dtype, stype=kinds[name] or "default")
        for name, a in arrays.items()
        if reqs[name] != "null"
    }
