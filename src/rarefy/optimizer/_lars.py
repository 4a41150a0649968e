"""LARS."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp

from rarefy._ops.defs.lamb_update import multi_lars
from rarefy._ops.precision import wide
from rarefy._ops.storage import Value, canonical
from rarefy.nd._handle import Handle
from rarefy.optimizer._optimizer import Hyper, State, register
from rarefy.optimizer._sgd import SGD

_PLAIN = ("gamma", "beta", "bias")


@register
class LARS(SGD):
    """`SGD` with a learning rate for each layer, by the norms of its weight and gradient (You and
    others, 2017).

        lr' = lr * eta * |weight| / (|rescale_grad * grad| + wd * |weight| + eps)

    unless one of the norms is zero, or the parameter's name ends in `gamma`, `beta` or `bias`; then
    `lr' = lr`. A row_sparse gradient moves its own rows, as in `SGD`; the weight's norm is of all
    rows.

    Args:
      momentum: how much of the last step is kept.
      lazy_update: as in `SGD`.
      eta: coefficient.
      eps: added to the divisor.
      momentum_correction: whether the momentum is multiplied by the ratio of the learning rate to the
        one of the parameter's last update.
      **kwargs: of `Optimizer`.
    """

    def __init__(
        self,
        momentum: float = 0.0,
        lazy_update: bool = True,
        eta: float = 0.001,
        eps: float = 0,
        momentum_correction: bool = True,
        **kwargs: Any,
    ):
        super().__init__(momentum=momentum, lazy_update=lazy_update, **kwargs)
        self.momentum_correction = momentum_correction
        self.eta = eta
        self.eps = eps
        self._last_lr: dict[Any, float] = {}

    def set_wd_mult(self, args_wd_mult: Mapping[Any, float]) -> None:
        """As in `Optimizer`, but a name that ends in `_gamma` has the factor 0 by default too."""
        gammas = {n: 0.0 for n in self.idx2name.values() if n.endswith("_gamma")}
        super().set_wd_mult({**gammas, **self._symbol_mult("__wd_mult__"), **args_wd_mult})

    def hyper(self, index: Any) -> dict[str, float]:
        numbers = super().hyper(index)
        lr = float(self.learning_rate)
        last = self._last_lr.get(index, lr)
        self._last_lr[index] = lr
        if self.momentum_correction and last != 0:
            numbers["momentum"] *= lr / last
        return {**numbers, "eta": float(self.eta), "eps": float(self.eps)}

    def apply(self, index: Any, weight: Handle, grad: Handle, state: State, hyper: Hyper) -> None:
        own = {name: value for name, value in hyper.items() if name not in ("eta", "eps")}
        if not str(self.idx2name.get(index, index)).endswith(_PLAIN):
            numbers = [hyper[n] for n in ("lr", "wd", "eta", "eps", "rescale_grad")]
            with wide():
                values = canonical(weight._value), canonical(grad._value)
                own["lr"] = _layer_rate(*values, *numbers)
        super().apply(index, weight, grad, state, own)

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "last_lr": [[i, lr] for i, lr in self._last_lr.items()]}

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        super().load_state_dict(saved)
        self._last_lr = dict(saved.get("last_lr", ()))


@jax.jit
def _layer_rate(weight: Value, grad: Value, lr, wd, eta, eps, rescale_grad) -> jax.Array:
    squares = (_sum_of_squares(weight), _sum_of_squares(grad))
    dtype = squares[0].dtype
    lr, wd = jnp.asarray(lr, dtype), jnp.asarray(wd, dtype)
    return multi_lars.fn(lr, *squares, wd, eta=eta, eps=eps, rescale_grad=rescale_grad)


def _sum_of_squares(value: Value) -> jax.Array:
    stored: Any = getattr(value, "data", value)
    return jnp.sum(jnp.square(stored.astype(jnp.promote_types(stored.dtype, jnp.float32))))
