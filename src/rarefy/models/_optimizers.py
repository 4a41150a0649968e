"""The optimizers as training uses them: lazy, with an L2 penalty that is exact in expectation."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from rarefy._primitives.take_rows import take_rows
from rarefy.lr_scheduler import PolyScheduler
from rarefy.models._settings import Settings
from rarefy.nd import array
from rarefy.nd._handle import Handle
from rarefy.optimizer import SGD, AdaGrad, Adam, Ftrl, Optimizer
from rarefy.sparse import BCOO
from rarefy.sparse._row_sparse import row_sparse, row_sparse_rows

FTRL_BETA = 1.0


def make_optimizer(settings: Settings, names: Mapping[int, str], steps: int) -> Optimizer:
    """The optimizer for a loss that is summed over the rows of a batch.

    AdaGrad and FTRL take the sum as it is and start with squares of 1: a feature that occurs in one
    row then moves by about half the learning rate, not by all of it, and the batch size does not
    matter. SGD and Adam take the mean.

    Args:
      settings: of the training.
      names: parameter names by index.
      steps: number of updates until the learning rate is zero.
    """
    common: dict[str, Any] = {"param_idx2name": names, "learning_rate": settings.lr}
    if settings.schedule == "linear":
        # One more than there are: the rate of the last update is not zero yet.
        common["lr_scheduler"] = PolyScheduler(steps + 1, settings.lr, pwr=1, final_lr=0)
    mean = 1.0 / settings.batch_size
    if settings.optimizer == "adagrad":
        optimizer = AdaGrad(eps=1.0, **common)
    elif settings.optimizer == "ftrl":
        optimizer = GrowingFtrl(settings.l1 * settings.batch_size, beta=FTRL_BETA, **common)
    elif settings.optimizer == "adam":
        optimizer = Adam(rescale_grad=mean, lazy_update=True, **common)
    else:
        optimizer = SGD(rescale_grad=mean, lazy_update=True, **common)
    optimizer.set_lr_mult({"factors": settings.factor_lr})
    return optimizer


class GrowingFtrl(Ftrl):
    """FTRL-proximal whose L1 term grows with the gradients that are summed up.

    With a fixed `lamda1`, L1 rules the first updates and hardly matters after many epochs. With one
    that is proportional to the number of updates the minimum is that of `mean loss + l1 |w|`
    (regularized dual averaging; Xiao, 2010).

    Args:
      lamda1: what an update adds to the L1 term. The bias has none.
      **kwargs: of `Ftrl`.
    """

    def hyper(self, index: Any) -> dict[str, float]:
        numbers = super().hyper(index)
        bias = self.idx2name.get(index) == "bias"
        count = self._index_update_count[index]
        return {**numbers, "lamda1": 0.0 if bias else self.lamda1 * count}


class WithL2(Optimizer):
    """Adds an L2 penalty to row_sparse gradients before another optimizer sees them.

    The penalty `l2 / 2 * |w|^2` of the objective pulls at every weight at every step. Here it pulls
    at the rows that the batch has only, harder the rarer a column is: by `1 / p` where `p` is the
    chance that a batch has the column. In expectation that is the same gradient, so the minimum is
    the same, and a step still costs what its rows cost. Columns that no row has keep their zeros.

    Args:
      inner: the optimizer; its state comes first in the state of a parameter.
      strengths: by parameter index, `(rows, 1)` float32: what the gradient gets for each unit of
        weight. Parameters without have no penalty. They are kept in the state, which is what a
        compiled step passes from call to call without copying.
    """

    def __init__(self, inner: Optimizer, strengths: Mapping[int, np.ndarray]):
        super().__init__()
        self.inner = inner
        self.strengths = dict(strengths)

    def create_state(self, index: Any, weight: Handle) -> tuple:
        strength = self.strengths.get(index)
        own = () if strength is None else (array(strength),)
        return self.inner.create_state(index, weight), own

    def hyper(self, index: Any) -> dict[str, float]:
        return self.inner.hyper(index)

    def apply(self, index: Any, weight: Handle, grad: Handle, state: Any, hyper: Any) -> None:
        inner_state, own = state
        if own:
            assert isinstance(grad._value, BCOO)
            grad = Handle._wrap(_penalized(grad._value, weight._value, own[0]._value))
        self.inner.apply(index, weight, grad, inner_state, hyper)

    def state_dict(self) -> dict[str, Any]:
        return self.inner.state_dict()

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        self.inner.load_state_dict(saved)


def _penalized(grad: BCOO, weight: Any, strength: Any) -> BCOO:
    rows = row_sparse_rows(grad)
    pull = take_rows(strength, rows) * take_rows(weight, rows)
    return row_sparse(grad.data + pull, rows, grad.shape)


def l2_strengths(
    l2: float, counts: np.ndarray, rows: int, batch_size: int, scale: np.ndarray | None
) -> np.ndarray:
    """What `WithL2` needs for a penalty on the weights of unscaled columns.

    Args:
      l2: strength in the objective.
      counts: `(width,)`, how many rows have each column.
      rows: number of rows.
      batch_size: rows a batch, over which gradients are summed.
      scale: `(width,)`, what the columns were divided by; None for nothing. A weight of `x / scale`
        is `scale` times that of `x`.

    Returns:
      `(width, 1)` float32.
    """
    share = np.minimum(counts / max(rows, 1), 1.0)
    with np.errstate(divide="ignore"):
        chance = -np.expm1(batch_size * np.log1p(-share))
    strength = np.divide(l2 * batch_size, chance, out=np.zeros(len(counts)), where=counts > 0)
    if scale is not None:
        strength /= np.square(scale, dtype=np.float64)
    return strength.astype(np.float32)[:, None]


def refreshed_ftrl(z: np.ndarray, n: np.ndarray, lr: float, lamda1: float) -> np.ndarray:
    """The weights that FTRL's state means under the final L1 term.

    A lazy weight is as old as the last batch that had its column, and L1 has grown since.

    Args:
      z, n: the state.
      lr: the learning rate.
      lamda1: the L1 term.
    """
    weight = (np.sign(z) * lamda1 - z) / ((FTRL_BETA + np.sqrt(n)) / lr)
    return np.where(np.abs(z) > lamda1, weight, 0.0).astype(z.dtype)
