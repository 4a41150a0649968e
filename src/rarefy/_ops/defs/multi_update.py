"""Updates of several weights in one program, made by table from the updates of one."""

import inspect
from collections.abc import Mapping
from typing import Any

from rarefy._ops.defs.lamb_update import lamb_update, mp_lamb_update
from rarefy._ops.defs.optimizer_update import sgd_mom_update, sgd_update
from rarefy._ops.defs.rule_update import (
    adamw_update,
    mp_adamw_update,
    mp_sgd_mom_update,
    mp_sgd_update,
)
from rarefy._ops.opdef import Operator, Scalars, operator

_REQUIRED = inspect.Parameter.empty


def _define(
    name: str,
    single: Operator,
    each: Mapping[str, str],
    count: str = "num_weights",
    *,
    preloaded: bool = False,
    **options: Any,
) -> Operator:
    """Makes the operator that does an update for several weights.

    Args:
      name: of the operator.
      single: the update of one weight.
      each: parameters that have a number for each weight, by the name that `single` has for them.
      count: name of the parameter for the number of weights.
      preloaded: whether these numbers come as arrays after the others.
      **options: of `operator`.
    """
    stride = len(single.arrays)
    own = [single.arrays.index(a) for a in single.updates]  # pyright: ignore[reportGeneralTypeIssues]
    # MXNet's operators have no such parameter: rows move as they do by default one weight at a time.
    lazy = {n: p.default for n, p in single.parameters.items() if n == "lazy_update"}

    def groups(data, given):
        for i in range(given[count]):
            yield data[i * stride : (i + 1) * stride]

    def fn(*data, **given):
        shared = {n: v for n, v in given.items() if n != count and n not in each.values()}
        numbers = data[-len(each) :] if preloaded else [given[n] for n in each.values()]
        done = [
            single.fn(
                *group, **shared, **lazy, **{p: n[i] for p, n in zip(each, numbers, strict=True)}
            )
            for i, group in enumerate(groups(data, given))
        ]
        done = [d if isinstance(d, tuple) else (d,) for d in done]
        return (*(d[0] for d in done), *(state for d in done for state in d[1:]))

    def updates(**given):
        n = range(given[count])
        return (*(i * stride for i in n), *(i * stride + k for i in n for k in own[1:]))

    def check(values, given):
        n = given[count]
        expected = n * stride + (len(each) if preloaded else 0)
        if len(values) != expected:
            arrays = ", ".join((*single.arrays, *(each.values() if preloaded else ())))
            raise ValueError(f"{len(values)} arrays given; {count}={n} needs {expected} ({arrays})")
        for p in () if preloaded else each.values():
            if len(given[p]) != n:
                raise ValueError(f"{p} has {len(given[p])} numbers; {count}={n} needs {n}")

    kind = inspect.Parameter
    parameters = [
        p.replace(name=each[p.name], annotation=Scalars, default=_REQUIRED) if p.name in each else p
        for p in single.parameters.values()
        if p.name != "lazy_update" and not (preloaded and p.name in each)
    ]
    parameters.append(kind(count, kind.KEYWORD_ONLY, annotation=int, default=1))
    fn.__signature__ = inspect.Signature([kind("data", kind.VAR_POSITIONAL), *parameters])
    fn.__name__, fn.__doc__ = name, _document(name, single, each, count, preloaded)
    return operator(
        name,
        updates=updates,
        returned=lambda **given: given[count],
        results=lambda **given: given[count] * len(own),
        differentiable=False,
        mixes=single.is_sparse,
        check=check,
        **options,
    )(fn)


def _document(name, single, each, count, preloaded) -> str:
    numbers = ", ".join(each.values())
    where = (
        f"after all of them the arrays {numbers} with a number for each weight"
        if preloaded
        else f"{numbers} with a number for each weight"
    )
    return f"""`{single.name}` for several weights at once, in one program.

    Args:
      *data: for each weight, one after the other, {", ".join(single.arrays)}; {where}.
        default or row_sparse as in `{single.name}`.
      {count}: the number of weights.
      The others are those of `{single.name}`.

    Returns:
      The new weights. Pass the weights as `out`, and they are updated in place; the states are so
      always.
    """


_LRS = {"lr": "lrs", "wd": "wds"}
for _prefix, _mark in (("", False), ("preloaded_", True)):
    for _name, _single in (
        ("multi_sgd_update", sgd_update),
        ("multi_sgd_mom_update", sgd_mom_update),
        ("multi_mp_sgd_update", mp_sgd_update),
        ("multi_mp_sgd_mom_update", mp_sgd_mom_update),
    ):
        _define(f"{_prefix}{_name}", _single, _LRS, preloaded=_mark)
for _name, _single in (("", adamw_update), ("mp_", mp_adamw_update)):
    _define(f"_multi_{_name}adamw_update", _single, {**_LRS, "eta": "etas"}, visible="internal")
_LAMB = {"lr": "learning_rates", "wd": "wds", "t": "step_count"}
for _name, _single in (("", lamb_update), ("mp_", mp_lamb_update)):
    _define(f"_multi_{_name}lamb_update", _single, _LAMB, "num_tensors", visible="internal")
