"""Loops and branches on arrays, as plain Python that is recorded like all else."""

from collections.abc import Callable
from typing import Any

from rarefy._ops.defs import OPERATORS
from rarefy.nd._create import zeros
from rarefy.nd._invoke import invoke
from rarefy.nd._ndarray import NDArray


def foreach(body: Callable, data: Any, init_states: Any) -> tuple[Any, Any]:
    """Runs a function over the rows of arrays, with a state that goes from row to row.

    Args:
      body: takes a row (or a list of rows) and the state; returns an output and the new state.
      data: an array, or nested lists of arrays, of one length.
      init_states: the first state: an array, or nested lists of arrays.

    Returns:
      The outputs of all rows, stacked along axis 0, and the last state.

    Raises:
      ValueError: the arrays are not of one length, or have none.
    """
    leaves = _leaves(data)
    lengths = {leaf.shape[0] for leaf in leaves}
    if len(lengths) != 1 or lengths == {0}:
        raise ValueError(f"foreach: arrays must have one length, not zero; got {sorted(lengths)}")
    outputs, states = [], init_states
    for i in range(leaves[0].shape[0]):
        output, states = body(_mapped(lambda x, i=i: x[i], data), states)
        outputs.append(output)
    return _stacked(outputs), states


def while_loop(
    cond: Callable, func: Callable, loop_vars: Any, max_iterations: int | None = None
) -> tuple[Any, Any]:
    """Runs a function on loop variables as long as a condition holds.

    Args:
      cond: takes the variables; returns an array of one element, or a number.
      func: takes the variables; returns an output and the new variables.
      loop_vars: an array, or a list of arrays: the first variables.
      max_iterations: the loop ends after so many.

    Returns:
      The outputs, stacked along axis 0 and filled up with zeros to `max_iterations` rows (an empty
      list where the condition never held), and the last variables.

    Raises:
      ValueError: `max_iterations` is missing.
    """
    if max_iterations is None:
        raise ValueError("while_loop: max_iterations is missing")
    single = isinstance(loop_vars, NDArray)
    variables, outputs = [loop_vars] if single else list(loop_vars), []
    while len(outputs) < max_iterations and _holds(cond(*variables)):
        output, fresh = func(*variables)
        outputs.append([] if output is None else output)
        variables = [fresh] if isinstance(fresh, NDArray) else list(fresh or [])
    last = variables[0] if single else variables
    if not outputs:
        return [], last
    missing = max_iterations - len(outputs)
    return _mapped(lambda x: _filled(x, missing), _stacked(outputs)), last


def cond(pred: Any, then_func: Callable, else_func: Callable) -> Any:
    """Runs one of two functions.

    Args:
      pred: an array of one element, or a number.
      then_func, else_func: take nothing; the first is run where `pred` is not zero.
    """
    return then_func() if _holds(pred) else else_func()


def _holds(value: Any) -> bool:
    return bool(value.asscalar()) if isinstance(value, NDArray) else bool(value)


def _filled(stacked: NDArray, missing: int) -> NDArray:
    if not missing:
        return stacked
    rest = zeros((missing, *stacked.shape[1:]), dtype=stacked.dtype)
    return invoke(OPERATORS["Concat"], (stacked, rest), {"dim": 0})


def _leaves(nested: Any) -> list[NDArray]:
    if isinstance(nested, list | tuple):
        return [leaf for part in nested for leaf in _leaves(part)]
    return [nested]


def _mapped(function: Callable, nested: Any) -> Any:
    if isinstance(nested, list | tuple):
        return [_mapped(function, part) for part in nested]
    return function(nested)


def _stacked(outputs: list) -> Any:
    """Stacks the outputs of all steps, leaf by leaf."""
    if isinstance(outputs[0], list | tuple):
        return [_stacked(list(parts)) for parts in zip(*outputs, strict=True)]
    return invoke(OPERATORS["stack"], outputs, {"axis": 0})
