"""Optimizer updates of `contrib` that take lists of arrays, or the factor on gradients as an array."""

from collections.abc import Sequence
from typing import Any

from rarefy._ops.defs import OPERATORS
from rarefy.nd._handle import Handle
from rarefy.nd._invoke import invoke

Arrays = Sequence[Handle]


def _run(name: str, arrays: Sequence[Any], out: Any, given: dict[str, Any]) -> Any:
    op = OPERATORS[name]
    defaults = {n: p.default for n, p in op.parameters.items() if p.default is not p.empty}
    unknown = sorted(given.keys() - op.parameters.keys())
    if unknown:
        raise TypeError(f"{name} has no parameter {', '.join(unknown)}")
    return invoke(op, arrays, {**defaults, **given}, out)


def _number(scale: Any) -> Any:
    return scale._value if isinstance(scale, Handle) else scale


def _each(arrays: Sequence[Arrays]) -> list[Handle]:
    """The arrays of all weights, weight after weight."""
    return [array for one in zip(*arrays, strict=True) for array in one]


def adamw_update(
    weight: Handle,
    grad: Handle,
    mean: Handle,
    var: Handle,
    rescale_grad: Any,
    lr: float,
    eta: float,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    wd: float = 0,
    clip_gradient: float = -1,
    out: Handle | None = None,
    name: str | None = None,
    lazy_update: bool = False,
) -> Any:
    """Update of Adam with decoupled weight decay (Loshchilov and Hutter, 2019).

    g = clip(rescale_grad * grad)
    mean = beta1 * mean + (1 - beta1) * g
    var = beta2 * var + (1 - beta2) * g**2
    weight = weight - eta * (lr * mean / (sqrt(var) + epsilon) + wd * weight)

    Args:
      weight: `(n, *d)`, floating, default or row_sparse. Pass it as `out` too, and it is updated in
        place.
      grad: of the weight's shape and a dtype no wider, default or row_sparse.
      mean: state; updated in place.
      var: state; updated in place.
      rescale_grad: factor on the gradient, a number or an array of one. Where it is NaN, infinite or
        zero, nothing changes.
      lr: learning rate.
      eta: factor on the whole step, weight decay included.
      beta1: how much of the mean is kept.
      beta2: how much of the variance is kept.
      epsilon: added to the root of the variance.
      wd: weight decay.
      clip_gradient: bound on the absolute value of each element of the gradient; negative: none.
      out: the array to write to.
      name: not used.
      lazy_update: whether a row_sparse gradient moves only the rows that it stores.

    Returns:
      The new weight.
    """
    numbers = {"lr": lr, "eta": eta, "beta1": beta1, "beta2": beta2, "epsilon": epsilon, "wd": wd}
    numbers |= {"clip_gradient": clip_gradient, "lazy_update": lazy_update}
    numbers["rescale_grad"] = _number(rescale_grad)
    return _run("_adamw_update", [weight, grad, mean, var], out, numbers)


def mp_adamw_update(
    weight: Handle,
    grad: Handle,
    mean: Handle,
    var: Handle,
    weight32: Handle,
    rescale_grad: Any,
    lr: float,
    eta: float,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    wd: float = 0,
    clip_gradient: float = -1,
    out: Handle | None = None,
    name: str | None = None,
    lazy_update: bool = False,
) -> Any:
    """`adamw_update` of a float32 copy of the weight, which is updated; the weight is rounded from
    it."""
    numbers = {"lr": lr, "eta": eta, "beta1": beta1, "beta2": beta2, "epsilon": epsilon, "wd": wd}
    numbers |= {"clip_gradient": clip_gradient, "lazy_update": lazy_update}
    numbers["rescale_grad"] = _number(rescale_grad)
    return _run("_mp_adamw_update", [weight, grad, mean, var, weight32], out, numbers)


def multi_adamw_update(
    weights: Arrays,
    grads: Arrays,
    mean: Arrays,
    var: Arrays,
    rescale_grad: Any,
    lrs: Sequence[float],
    wds: Sequence[float],
    etas: Sequence[float],
    out: Any = None,
    name: str | None = None,
    size: int = 0,
    **kwargs: Any,
) -> Any:
    """`adamw_update` for several weights at once, in one program; lists have an entry for each."""
    numbers = {"lrs": tuple(lrs), "wds": tuple(wds), "etas": tuple(etas), **kwargs}
    numbers |= {"rescale_grad": _number(rescale_grad), "num_weights": size or len(weights)}
    return _run("_multi_adamw_update", _each([weights, grads, mean, var]), out, numbers)


def multi_mp_adamw_update(
    weights: Arrays,
    grads: Arrays,
    mean: Arrays,
    var: Arrays,
    weights32: Arrays,
    rescale_grad: Any,
    lrs: Sequence[float],
    wds: Sequence[float],
    etas: Sequence[float],
    out: Any = None,
    name: str | None = None,
    size: int = 0,
    **kwargs: Any,
) -> Any:
    """`mp_adamw_update` for several weights at once, in one program; lists have an entry for each."""
    numbers = {"lrs": tuple(lrs), "wds": tuple(wds), "etas": tuple(etas), **kwargs}
    numbers |= {"rescale_grad": _number(rescale_grad), "num_weights": size or len(weights)}
    arrays = _each([weights, grads, mean, var, weights32])
    return _run("_multi_mp_adamw_update", arrays, out, numbers)


def multi_lamb_update(
    weights: Arrays,
    grads: Arrays,
    mean: Arrays,
    var: Arrays,
    step_count: Sequence[int],
    lrs: Sequence[float],
    wds: Sequence[float],
    out: Any = None,
    num_tensors: int = 0,
    **kwargs: Any,
) -> Any:
    """Both parts of an update of LAMB for several weights at once, in one program.

    Args:
      weights: the weights. Pass them as `out` too, and they are updated in place.
      grads: a gradient for each.
      mean: states; updated in place.
      var: states; updated in place.
      step_count: the number of this update for each, from 1 on.
      lrs: learning rates.
      wds: weight decays.
      out: the arrays to write to.
      num_tensors: the number of weights; by default that of the lists.
      **kwargs: the parameters of `lamb_update_phase1` and `lamb_update_phase2`.

    Returns:
      The new weights.
    """
    numbers = {"learning_rates": tuple(lrs), "wds": tuple(wds), "step_count": tuple(step_count)}
    numbers = {**numbers, **kwargs, "num_tensors": num_tensors or len(weights)}
    return _run("_multi_lamb_update", _each([weights, grads, mean, var]), out, numbers)


def multi_mp_lamb_update(
    weights: Arrays,
    grads: Arrays,
    mean: Arrays,
    var: Arrays,
    weights32: Arrays,
    step_count: Sequence[int],
    lrs: Sequence[float],
    wds: Sequence[float],
    out: Any = None,
    num_tensors: int = 0,
    **kwargs: Any,
) -> Any:
    """`multi_lamb_update` of float32 copies of the weights, which are updated; the weights are rounded
    from them."""
    numbers = {"learning_rates": tuple(lrs), "wds": tuple(wds), "step_count": tuple(step_count)}
    numbers = {**numbers, **kwargs, "num_tensors": num_tensors or len(weights)}
    arrays = _each([weights, grads, mean, var, weights32])
    return _run("_multi_mp_lamb_update", arrays, out, numbers)
