"""Checks of symbols on several contexts, their speed and their structure."""

import json
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rarefy.context import Context
from rarefy.nd import array, waitall
from rarefy.test_utils._compare import assert_almost_equal
from rarefy.test_utils._tolerance import default_context


def check_consistency(
    sym: Any,
    ctx_list: Sequence[Mapping[str, Any]],
    scale: float = 1.0,
    grad_req: Any = "write",
    arg_params: dict[str, Any] | None = None,
    aux_params: dict[str, Any] | None = None,
    rtol: Any = None,
    atol: Any = None,
    raise_on_err: bool = True,
    ground_truth: Mapping[str, Any] | None = None,
    equal_nan: bool = False,
    use_uniform: bool = False,
    rand_type: Any = np.float64,
) -> Mapping[str, Any]:
    """Asserts that a symbol computes the same in several settings: contexts, dtypes.

    Args:
      sym: a symbol, or one for each setting.
      ctx_list: the settings: for each what `simple_bind` takes by name (`ctx`, shapes, `type_dict`).
      scale: standard deviation of the random arguments.
      grad_req: what is done with the gradients.
      arg_params: arguments by name; those that are missing are drawn, and put into it.
      aux_params: auxiliary states by name; those that are missing are zero.
      rtol, atol: tolerances; by default those of the less precise dtype.
      raise_on_err: whether a difference is raised or only printed.
      ground_truth: results and gradients by name to compare with; by default those of the setting
        with the most precise result.
      equal_nan: whether NaN equals NaN.
      use_uniform: whether arguments are drawn uniformly.
      rand_type: the dtype in which they are drawn.

    Returns:
      What was compared with.

    Raises:
      AssertionError: a result or a gradient differs, or the symbols do not have the same names.
    """
    if len(ctx_list) < 2:
        raise AssertionError("check_consistency needs two settings at least")
    symbols = list(sym) if isinstance(sym, list | tuple) else [sym] * len(ctx_list)
    arguments, outputs = symbols[0].list_arguments(), symbols[0].list_outputs()
    for symbol in symbols:
        if symbol.list_arguments() != arguments or symbol.list_outputs() != outputs:
            raise AssertionError("the symbols do not have the same arguments and outputs")
    runs = [
        s.simple_bind(grad_req=grad_req, **options)
        for s, options in zip(symbols, ctx_list, strict=True)
    ]
    values = {} if arg_params is None else arg_params
    for name, own in sorted(runs[0].arg_dict.items()):
        if name not in values:
            drawn = np.random.uniform(-0.92 * scale, 0.92 * scale, own.shape)
            if not use_uniform:
                drawn = np.random.normal(0.0, scale, own.shape)
            values[name] = drawn.astype(rand_type)
    for run in runs:
        for name, own in run.arg_dict.items():
            own[:] = values[name]
        for name, own in run.aux_dict.items():
            own[:] = (aux_params or {}).get(name, 0)
    for run in runs:
        run.forward(is_train=False)
    best = max(range(len(runs)), key=lambda i: np.dtype(runs[i].outputs[0].dtype).itemsize)
    compare = _Comparison(best, rtol, atol, equal_nan, raise_on_err)
    truth = ground_truth or dict(runs[best].output_dict)
    compare("forward", [r.output_dict for r in runs], truth)
    if grad_req == "null":
        return truth
    for run in runs:
        run.forward(is_train=True)
    heads = [out.asnumpy() for out in runs[0].outputs]
    for run in runs:
        run.backward(
            [
                array(head, ctx=run._ctx, dtype=out.dtype).tostype(out.stype)
                for head, out in zip(heads, run.outputs, strict=True)
            ]
        )
    if ground_truth is None:
        truth = {**runs[best].output_dict, **runs[best].grad_dict}
    compare("backward", [{**r.output_dict, **r.grad_dict} for r in runs], truth)
    return truth


class _Comparison:
    def __init__(self, best: int, rtol, atol, equal_nan: bool, raise_on_err: bool):
        self._best, self._raise = best, raise_on_err
        self._options = {"rtol": rtol, "atol": atol, "equal_nan": equal_nan}

    def __call__(self, what: str, found: Sequence[Mapping[str, Any]], truth) -> None:
        for i, results in enumerate(found):
            if i == self._best:
                continue
            for name, got in results.items():
                if got is None or truth.get(name) is None:
                    continue
                try:
                    assert_almost_equal(got, truth[name], **self._options)
                except AssertionError as error:
                    text = f"{what}: setting {i} differs from setting {self._best} at {name}"
                    if self._raise:
                        raise AssertionError(f"{text}: {error}") from None
                    print(f"{text}: {error}", file=sys.stderr)


def check_speed(
    sym: Any,
    location: Mapping[str, np.ndarray] | None = None,
    ctx: Context | None = None,
    N: int = 20,
    grad_req: Any = None,
    typ: str = "whole",
    **kwargs: Any,
) -> float:
    """How many seconds a symbol takes, on average.

    Args:
      sym: the symbol.
      location: its arguments by name; random ones by default.
      ctx: where it runs.
      N: how often it is run, after once that does not count.
      grad_req: what is done with the gradients; 'write' by default.
      typ: 'whole' for forward and backward, 'forward' for forward only.
      **kwargs: what `simple_bind` takes, where there is no `location`.

    Raises:
      ValueError: `typ` is neither.
    """
    if typ not in ("whole", "forward"):
        raise ValueError('typ can only be "whole" or "forward".')
    shapes = kwargs if location is None else {k: v.shape for k, v in location.items()}
    run = sym.simple_bind(ctx=ctx or default_context(), grad_req=grad_req or "write", **shapes)
    for name, own in run.arg_dict.items():
        own[:] = np.random.normal(size=own.shape) if location is None else location[name]

    def once() -> None:
        run.forward(is_train=typ == "whole")
        if typ == "whole":
            run.backward(out_grads=run.outputs)

    once()
    waitall()
    start = time.perf_counter()
    for _ in range(N):
        once()
    waitall()
    return (time.perf_counter() - start) / N


def same_symbol_structure(sym1: Any, sym2: Any) -> bool:
    """Whether two symbols have the same operators in the same order."""
    first, second = (json.loads(s.tojson())["nodes"] for s in (sym1, sym2))
    return [n["op"] for n in first] == [n["op"] for n in second]
