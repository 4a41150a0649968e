"""Update operators by table: a rule, its parameters in order and its formula make an operator.

`optimizer_update.py` has those with a kernel of their own, written out.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import jax.numpy as jnp

from rarefy._ops.defs._update import any_mix, update
from rarefy._ops.defs._update_rules import ROW_RULES
from rarefy._ops.defs.optimizer_update import copy_rows
from rarefy._ops.opdef import Operator, Scalar, operator
from rarefy._primitives.rows_update import RULES

REQUIRED = inspect.Parameter.empty
_MEANING = {
    "lr": "learning rate.",
    "wd": "weight decay.",
    "rescale_grad": "factor on the gradient, applied before it is clipped.",
    "clip_gradient": "bound on the absolute value of each element of the gradient; negative: none.",
    "clip_grad": "the same as `clip_gradient` of other updates.",
    "clip_weights": "bound on the absolute value of each element of the weight; negative: none.",
    "momentum": "how much of the momentum is kept.",
    "wd_lh": "weight decay that does not go through the momentum.",
    "beta1": "how much of the mean is kept.",
    "beta2": "how much of the variance is kept.",
    "epsilon": "keeps divisors from zero.",
    "eta": "factor on the whole step, weight decay included.",
    "t": "number of this update, from 1 on.",
    "gamma1": "how much of the averages is kept.",
    "gamma2": "how much of the last step is kept.",
    "rho": "how much of the averages is kept.",
    "lamda": "strength of the compensation for delay.",
}
Numbers = Mapping[str, Any]


def _define(
    name: str,
    rule: str,
    title: str,
    formula: str,
    parameters: Mapping[str, Any],
    *,
    prepare: Callable[[dict[str, Any]], Numbers] = dict,
    lazy_update: bool = False,
    through_copy: bool = False,
    **options: Any,
) -> Operator:
    """Makes the operator of a rule.

    Args:
      name: of the operator.
      rule: key of the tables of rules.
      title: first line of its documentation, without the word for the copy.
      formula: lines of its documentation.
      parameters: scalars by name with their defaults, in order.
      prepare: from the parameters to the numbers that the rule names.
      lazy_update: the default of the parameter.
      through_copy: whether the operator updates a float32 copy and rounds the weight from it.
      **options: of `operator`.
    """
    known = ROW_RULES.get(rule) or RULES[rule]

    def fn(weight, grad, *states, lazy_update, **numbers):
        ready = prepare(numbers)
        hyper = [ready[n] for n in known.hyper]
        if not through_copy:
            return update(rule, lazy_update, (weight, *states), grad, hyper)
        *states, copy = states
        copy, *states = update(rule, lazy_update, (copy, *states), grad, hyper)
        return copy_rows.fn(weight, copy, grad, lazy_update=lazy_update), *states, copy

    extra = (*known.states, *(["weight32"] if through_copy else []))
    arrays = ("weight", "grad", *extra)
    kind = inspect.Parameter
    fn.__signature__ = inspect.Signature(
        [kind(a, kind.POSITIONAL_OR_KEYWORD) for a in arrays]
        + [
            kind(p, kind.KEYWORD_ONLY, annotation=Scalar, default=default)
            for p, default in parameters.items()
        ]
        + [kind("lazy_update", kind.KEYWORD_ONLY, annotation=bool, default=lazy_update)]
    )
    fn.__name__, fn.__doc__ = (
        name,
        _document(title, formula, known.states, parameters, through_copy),
    )
    op = operator(
        name,
        updates=("weight", *extra),
        results=1 + len(extra),
        differentiable=False,
        **options,
    )(fn)
    return any_mix(op)


def _document(title, formula, states, parameters, through_copy) -> str:
    lines = [
        title + (", through a float32 copy." if through_copy else "."),
        "",
        *(f"    {line}" for line in formula.strip().splitlines()),
        "",
        "    Args:",
        "      weight: `(n, *d)`, floating, default or row_sparse. Pass it as `out` too, and it is",
        "        updated in place.",
        "      grad: of the weight's shape and a dtype no wider, default or row_sparse.",
        *(f"      {s}: state, default or row_sparse; updated in place." for s in states),
        *(["      weight32: the copy; updated in place."] if through_copy else []),
        *(f"      {p}: {_MEANING[p]}" for p in parameters),
        "      lazy_update: whether a row_sparse gradient moves only the rows that it stores.",
        "",
        "    Returns:",
        "      The new weight, in the storage type of `weight`.",
        "    ",
    ]
    return "\n".join(lines)


_LAST = {"wd": 0.0, "rescale_grad": 1.0, "clip_gradient": -1.0}
_MOMENTUM = {"lr": REQUIRED, "momentum": 0.0, **_LAST}
_ADAM = {"lr": REQUIRED, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}
_G = "g = clip(rescale_grad * grad)"
_G_DECAYED = "g = clip(rescale_grad * grad + wd * weight)"


def rest(beta: Any, t: Any) -> Any:
    """`1 - beta**t`: what the first t terms of an average make up."""
    return 1.0 - jnp.asarray(beta, jnp.float64) ** jnp.asarray(t, jnp.float64)


def _ftml_numbers(n: Numbers) -> Numbers:
    rests = {"rest1": rest(n["beta1"], n["t"]), "rest2": rest(n["beta2"], n["t"])}
    return {**n, "clip_gradient": n["clip_grad"], **rests}


def _unless_skipped(n: Numbers) -> Numbers:
    """Numbers that change nothing where the factor on the gradient is NaN, infinite or zero."""
    scale = jnp.asarray(n["rescale_grad"]).reshape(())
    good = jnp.isfinite(scale) & (scale != 0)
    still = {"rescale_grad": 0.0, "lr": 0.0, "wd": 0.0, "beta1": 1.0, "beta2": 1.0}
    given = {**n, "rescale_grad": scale}
    return {**n, **{name: jnp.where(good, given[name], value) for name, value in still.items()}}


_SGD = (f"{_G}\nweight = (1 - lr * wd) * weight - lr * g", {"lr": REQUIRED, **_LAST})
mp_sgd_update = _define(
    "mp_sgd_update",
    "sgd",
    "Update of stochastic gradient descent",
    *_SGD,
    lazy_update=True,
    through_copy=True,
)
mp_sgd_mom_update = _define(
    "mp_sgd_mom_update",
    "sgd_mom",
    "Update of stochastic gradient descent with momentum",
    f"{_G}\nmom = momentum * mom - lr * wd * weight - lr * g\nweight = weight + mom",
    _MOMENTUM,
    lazy_update=True,
    through_copy=True,
)
_NAG = f"""{_G}
weight = weight + momentum * (momentum * mom - lr * (g + wd * weight)) - lr * (g + wd * weight)
mom = momentum * mom - lr * (g + wd * weight), with the new weight"""
nag_mom_update, mp_nag_mom_update = (
    _define(
        f"{prefix}nag_mom_update",
        "nag_mom",
        "Update of Nesterov's accelerated gradient",
        _NAG,
        _MOMENTUM,
        through_copy=bool(prefix),
    )
    for prefix in ("", "mp_")
)
signsgd_update = _define(
    "signsgd_update",
    "signsgd",
    "Update by the sign of the gradient (Bernstein and others, 2018)",
    f"{_G}\nweight = (1 - lr * wd) * weight - lr * sign(g)",
    {"lr": REQUIRED, **_LAST},
)
signum_update = _define(
    "signum_update",
    "signum",
    "Update by the sign of the momentum (Bernstein and others, 2018)",
    f"{_G}\nmom = momentum * mom - (1 - momentum) * (g + wd * weight)\n"
    "weight = (1 - lr * wd_lh) * weight + lr * sign(mom)",
    {**_MOMENTUM, "wd_lh": 0.0},
)
ftml_update = _define(
    "ftml_update",
    "ftml",
    "Update of FTML (Zheng and Kwok, 2017)",
    f"""{_G_DECAYED}
v = beta2 * v + (1 - beta2) * g**2
d' = (1 - beta1**t) / lr * (sqrt(v / (1 - beta2**t)) + epsilon)
z = beta1 * z + (1 - beta1) * g - (d' - beta1 * d) * weight
d = d'
weight = -z / d""",
    {
        **_ADAM,
        "beta1": 0.6,
        "t": REQUIRED,
        "wd": 0.0,
        "rescale_grad": 1.0,
        "clip_grad": -1.0,
    },
    prepare=_ftml_numbers,
)
_CLIPPED = {**_LAST, "clip_weights": -1.0}
rmsprop_update = _define(
    "rmsprop_update",
    "rmsprop",
    "Update of RMSProp (Tieleman and Hinton, 2012)",
    f"""{_G_DECAYED}
n = gamma1 * n + (1 - gamma1) * g**2
weight = clip(weight - lr * g / sqrt(n + epsilon), clip_weights)""",
    {"lr": REQUIRED, "gamma1": 0.95, "epsilon": 1e-8, **_CLIPPED},
)
rmspropalex_update = _define(
    "rmspropalex_update",
    "rmspropalex",
    "Update of centered RMSProp (Graves, 2013)",
    f"""{_G_DECAYED}
n = gamma1 * n + (1 - gamma1) * g'**2, with g' this gradient
g = gamma1 * g + (1 - gamma1) * g'
delta = gamma2 * delta - lr * g' / sqrt(n - g**2 + epsilon)
weight = clip(weight + delta, clip_weights)""",
    {"lr": REQUIRED, "gamma1": 0.95, "gamma2": 0.9, "epsilon": 1e-8, **_CLIPPED},
)
adamw_update, mp_adamw_update = (
    _define(
        f"_{prefix}adamw_update",
        "adamw",
        "Update of Adam with decoupled weight decay (Loshchilov and Hutter, 2019)",
        f"""{_G}; without effect where rescale_grad is NaN, infinite or zero
mean = beta1 * mean + (1 - beta1) * g
var = beta2 * var + (1 - beta2) * g**2
weight = weight - eta * (lr * mean / (sqrt(var) + epsilon) + wd * weight)""",
        {
            "rescale_grad": REQUIRED,
            **_ADAM,
            "wd": 0.0,
            "eta": REQUIRED,
            "clip_gradient": -1.0,
        },
        prepare=_unless_skipped,
        through_copy=bool(prefix),
        visible="internal",
    )
    for prefix in ("", "mp_")
)
group_adagrad_update = _define(
    "_contrib_group_adagrad_update",
    "group_adagrad",
    "Update of AdaGrad with one history for each row",
    f"""{_G}
history = history + mean(g**2) over each row
weight = weight - lr * g / sqrt(history + epsilon)""",
    {"lr": REQUIRED, "rescale_grad": 1.0, "clip_gradient": -1.0, "epsilon": 1e-5},
    prepare=lambda n: {**n, "wd": 0.0},
    lazy_update=True,
    visible="internal",
)


def _plain(rule: str) -> Operator:
    """The operator of an optimizer that MXNet writes in Python: internal, all numbers required."""
    return _define(
        f"_{rule}_update",
        rule,
        f"The rule {rule} of `_update_rules.py`",
        "",
        dict.fromkeys(ROW_RULES[rule].hyper, REQUIRED),
        visible="internal",
    )


_MEANING |= {
    "of_grad": "factor on the gradient in the step.",
    "of_mean": "factor on the mean in the step.",
    "rest2": "1 - beta2**t.",
}
adadelta_update = _plain("adadelta")
adamax_update = _plain("adamax")
nadam_update = _plain("nadam")
dcasgd_update = _plain("dcasgd")
dcasgd_mom_update = _plain("dcasgd_mom")
test_update = _plain("test")
