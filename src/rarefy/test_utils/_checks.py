"""Checks of a symbol, or of a function of arrays: values, gradients, finite differences."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from rarefy.context import Context
from rarefy.nd import NDArray, array
from rarefy.test_utils._compare import assert_almost_equal
from rarefy.test_utils._run import (
    Location,
    as_array,
    as_location,
    bound,
    empty_gradients,
    output_names,
    per_name,
)
from rarefy.test_utils._tolerance import default_context, default_numeric_eps


def simple_forward(sym, ctx=None, is_train=False, **inputs) -> Any:
    """The outputs of a symbol (or function) on named inputs, as NumPy arrays."""
    ctx = ctx or default_context()
    arrays = as_location(sym, inputs, ctx, np.float32)
    run = bound(sym, arrays, {}, dict.fromkeys(arrays, "null"), ctx=ctx)
    outputs = [out.asnumpy() for out in run.forward(is_train=is_train)]
    return outputs[0] if len(outputs) == 1 else outputs


def check_symbolic_forward(
    sym,
    location: Location,
    expected,
    rtol=None,
    atol=None,
    aux_states=None,
    ctx: Context | None = None,
    equal_nan=False,
    dtype: Any = np.float32,
) -> list[NDArray]:
    """Asserts that a symbol has the values expected.

    Args:
      sym: a symbol, or a function of arrays.
      location: its inputs, a dict by name or a list; NumPy arrays or arrays of any storage type.
      expected: its outputs, a dict by name or a list.
      rtol, atol: tolerances; by default those of the dtypes.
      aux_states: the auxiliary states, a dict by name or a list.
      ctx: where it runs.
      equal_nan: whether NaN equals NaN.
      dtype: the dtype of inputs that are NumPy arrays.

    Returns:
      The outputs.

    Raises:
      AssertionError: an output differs.
      ValueError: `location` does not match the arguments.
    """
    ctx = ctx or default_context()
    arrays = as_location(sym, location, ctx, dtype)
    run = bound(sym, arrays, {}, dict.fromkeys(arrays, "null"), aux_states, ctx)
    outputs = run.forward(is_train=False)
    names = output_names(sym, len(outputs))
    wanted = [expected[n] for n in names] if isinstance(expected, Mapping) else expected
    for name, want, got in zip(names, wanted, outputs, strict=True):
        assert_almost_equal(
            want, got, rtol, atol, (f"EXPECTED_{name}", f"FORWARD_{name}"), equal_nan
        )
    return outputs


def check_symbolic_backward(
    sym,
    location: Location,
    out_grads,
    expected,
    rtol=None,
    atol=None,
    aux_states=None,
    grad_req="write",
    ctx: Context | None = None,
    grad_stypes=None,
    equal_nan=False,
    dtype: Any = np.float32,
) -> dict[str, NDArray]:
    """Asserts that a symbol has the gradients expected.

    Args:
      sym: a symbol, or a function of arrays.
      location: its inputs, a dict by name or a list.
      out_grads: the gradients of its outputs, a dict by name or a list.
      expected: the gradients of its inputs, a dict by name or a list.
      rtol, atol: tolerances; by default those of the dtypes.
      aux_states: the auxiliary states, a dict by name or a list.
      grad_req: 'write', 'add' or 'null', for all inputs or a dict or list of them. Where it is
        'add' the gradient is added to random numbers, where it is 'null' nothing is compared.
      ctx: where it runs.
      grad_stypes: the storage type of each gradient, a dict by name; 'default' where it has none.
      equal_nan: whether NaN equals NaN.
      dtype: the dtype of inputs that are NumPy arrays.

    Returns:
      The gradients by name.

    Raises:
      AssertionError: a gradient differs in its values or its storage type.
      ValueError: `location` does not match the arguments.
    """
    ctx = ctx or default_context()
    arrays = as_location(sym, location, ctx, dtype)
    names = list(arrays)
    wanted = dict(expected) if isinstance(expected, Mapping) else _named(names, expected)
    reqs = {n: r if n in wanted else "null" for n, r in per_name(grad_req, names, "null").items()}
    grads = empty_gradients(arrays, reqs, grad_stypes, ctx)
    before = {}
    for name, grad in grads.items():
        numbers = np.random.normal(size=grad.shape).astype(grad.dtype)
        before[name] = numbers
        filled = array(numbers, dtype=grad.dtype, ctx=ctx)
        filled.tostype(grad.stype).copyto(grad)
    run = bound(sym, arrays, grads, reqs, aux_states, ctx)
    outputs = run.forward(is_train=True)
    heads = _heads(sym, out_grads, outputs, ctx, dtype)
    run.backward(heads)
    kinds = per_name(grad_stypes, names, None)
    for name, grad in run.grad_dict.items():
        if name not in grads:
            continue
        if kinds[name] is not None and grad.stype != kinds[name]:
            raise AssertionError(f"gradient of {name} is {grad.stype}, expected {kinds[name]}")
        got = grad.asnumpy()
        if reqs[name] == "add":
            got = got - before[name]
        assert_almost_equal(
            wanted[name], got, rtol, atol, (f"EXPECTED_{name}", f"BACKWARD_{name}"), equal_nan
        )
    return {name: run.grad_dict[name] for name in grads}


def _named(names: list[str], values) -> dict[str, Any]:
    if len(values) != len(names):
        raise ValueError(f"{len(values)} gradients expected for the arguments {names}")
    return dict(zip(names, values, strict=True))


def _heads(sym, out_grads, outputs: list[NDArray], ctx: Context, dtype) -> list[NDArray]:
    if isinstance(out_grads, Mapping):
        out_grads = [out_grads[name] for name in output_names(sym, len(outputs))]
    elif out_grads is None:
        out_grads = [np.ones(out.shape) for out in outputs]
    elif not isinstance(out_grads, list | tuple):
        out_grads = [out_grads]
    return [as_array(g, ctx, dtype) for g in out_grads]


def numeric_grad(
    executor, location, aux_states=None, eps=1e-4, use_forward_train=True, dtype: Any = np.float32
) -> dict[str, np.ndarray]:
    """The gradient of the sum of an executor's outputs by central differences.

    Args:
      executor: what `Symbol.bind` returns.
      location: the inputs by name, NumPy arrays or arrays; where the gradient is taken.
      aux_states: auxiliary states by name; they are put back before each forward pass.
      eps: the step between the two points of a difference.
      use_forward_train: whether the forward passes are those of training.
      dtype: the dtype of the result.

    Returns:
      The gradients by name. Inputs that are not floating have zeros.
    """
    kept = {name: aux.copy() for name, aux in (aux_states or {}).items()}

    def total() -> float:
        for name, aux in kept.items():
            executor.aux_dict[name][:] = aux
        outputs = executor.forward(is_train=use_forward_train)
        return float(sum(out.asnumpy().astype(np.float64).sum() for out in outputs))

    gradients = {}
    for name, start in location.items():
        target = executor.arg_dict[name]
        values = start.asnumpy() if isinstance(start, NDArray) else np.asarray(start)
        gradient = np.zeros(values.shape, dtype)
        if values.dtype.kind == "f":
            for at in np.ndindex(*values.shape):
                sides = []
                for step in (eps / 2, -eps / 2):
                    moved = values.copy()
                    moved[at] += step
                    _put(target, moved)
                    sides.append(total())
                gradient[at] = (sides[0] - sides[1]) / eps
            _put(target, values)
        gradients[name] = gradient
    return gradients


def _put(target: NDArray, values: np.ndarray) -> None:
    """Writes dense values into an array of any storage type."""
    array(values, dtype=target.dtype, ctx=target.context).tostype(target.stype).copyto(target)


def check_numeric_gradient(
    sym,
    location: Location,
    aux_states=None,
    numeric_eps=None,
    rtol=None,
    atol=None,
    grad_nodes=None,
    use_forward_train=True,
    ctx: Context | None = None,
    grad_stype_dict=None,
    dtype: Any = np.float32,
) -> None:
    """Asserts that gradients agree with central differences.

    Each output is multiplied by random numbers of its shape, so that one sum tests all of it.

    Args:
      sym: a symbol, or a function of arrays.
      location: its inputs, a dict by name or a list; NumPy arrays or arrays of any storage type.
      aux_states: the auxiliary states, a dict by name or a list.
      numeric_eps: the step; by default that of the dtype.
      rtol, atol: tolerances; by default those of the dtypes.
      grad_nodes: the inputs to test, a list of names or a dict of names and `grad_req`; all
        by default.
      use_forward_train: whether the numeric passes are those of training.
      ctx: where it runs.
      grad_stype_dict: the storage type that each gradient must have, by name.
      dtype: 'float16', 'float32' or 'float64': the dtype of inputs that are NumPy arrays.

    Raises:
      AssertionError: a gradient differs in its values or its storage type.
      ValueError: `location` does not match the arguments.
    """
    kind = np.dtype(dtype)
    if kind not in default_numeric_eps():
        raise AssertionError(f"dtype must be floating; got {kind}")
    ctx = ctx or default_context()
    arrays = as_location(sym, location, ctx, kind)
    names = list(arrays)
    if grad_nodes is None:
        reqs = dict.fromkeys(names, "write")
    elif isinstance(grad_nodes, Mapping):
        reqs = {name: grad_nodes.get(name, "null") for name in names}
    else:
        reqs = {name: "write" if name in grad_nodes else "null" for name in names}
    tested = {name: array for name, array in arrays.items() if reqs[name] != "null"}
    start = {name: a.copy() for name, a in tested.items()}
    grads = empty_gradients(arrays, reqs, grad_stype_dict, ctx)
    aux = _aux(sym, aux_states, ctx)

    run = bound(sym, arrays, grads, reqs, aux, ctx)
    outputs = run.forward(is_train=True)
    weights = [np.random.rand(*out.shape).astype(np.float64) + 0.1 for out in outputs]
    run.backward(
        [array(w, dtype=out.dtype, ctx=ctx) for w, out in zip(weights, outputs, strict=True)]
    )
    exact = {name: run.grad_dict[name].asnumpy() for name in tested}

    projected = _Projected(run, weights)
    eps = default_numeric_eps()[kind] if numeric_eps is None else numeric_eps
    numeric = numeric_grad(projected, start, aux, eps, use_forward_train, kind)
    for name in tested:
        wanted_stype = (grad_stype_dict or {}).get(name)
        if wanted_stype is not None and run.grad_dict[name].stype != wanted_stype:
            raise AssertionError(
                f"gradient of {name} is {run.grad_dict[name].stype}, expected {wanted_stype}"
            )
        assert_almost_equal(
            numeric[name], exact[name], rtol, atol, (f"NUMERICAL_{name}", f"BACKWARD_{name}")
        )


def _aux(sym, aux_states, ctx: Context) -> dict[str, NDArray]:
    if isinstance(aux_states, list | tuple):
        aux_states = dict(zip(sym.list_auxiliary_states(), aux_states, strict=True))
    return {name: as_array(a, ctx, np.float32) for name, a in (aux_states or {}).items()}


class _Projected:
    """A run whose outputs are multiplied by fixed numbers."""

    def __init__(self, run: Any, weights: list[np.ndarray]):
        self._run, self._weights = run, weights
        self.arg_dict = run.arg_dict
        self.aux_dict = getattr(run, "aux_dict", {})

    def forward(self, is_train: bool) -> list[Any]:
        outputs = self._run.forward(is_train=is_train)
        return [_Values(o, w) for o, w in zip(outputs, self._weights, strict=True)]


class _Values:
    def __init__(self, output: NDArray, weight: np.ndarray):
        self._output, self._weight = output, weight

    def asnumpy(self) -> np.ndarray:
        return self._output.asnumpy().astype(np.float64) * self._weight
