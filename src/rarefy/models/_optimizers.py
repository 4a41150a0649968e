"""The optimizers as training uses them: lazy, with an L2 penalty that is exact in expectation."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import betaln

from rarefy._primitives.take_rows import take_rows
from rarefy.lr_scheduler import PolyScheduler
from rarefy.models._settings import Settings
from rarefy.nd import array
from rarefy.nd._handle import Handle
from rarefy.optimizer import SGD, AdaGrad, Adam, Ftrl, Optimizer
from rarefy.sparse import BCOO
from rarefy.sparse._row_sparse import row_sparse, row_sparse_rows


def make_optimizer(
    settings: Settings,
    names: Mapping[int, str],
    rates: Mapping[str, float],
    steps: int,
    rows_a_step: float,
    scale: np.ndarray | None = None,
) -> Optimizer:
    """The optimizer for a loss that is summed over the rows of a batch.

    AdaGrad and FTRL take the sum as it is and start with squares of 1: a feature that occurs in one
    row then moves by about half the learning rate, not by all of it, and the batch size does not
    matter. SGD and Adam take the mean.

    Args:
      settings: of the training.
      names: parameter names by index.
      rates: learning rates of parameters relative to that of the settings; 1 for the others.
      steps: number of updates until the learning rate is zero.
      rows_a_step: on average: the last batch of an epoch may be shorter than the others.
      scale: `(width,)`, what the columns were divided by; None for nothing.
    """
    common: dict[str, Any] = {"param_idx2name": names, "learning_rate": settings.lr}
    falls = settings.schedule == "linear"
    if falls and settings.optimizer != "ftrl":
        # One more than there are: the rate of the last update is not zero yet.
        common["lr_scheduler"] = PolyScheduler(steps + 1, settings.lr, pwr=1, final_lr=0)
    mean = 1.0 / settings.batch_size
    if settings.optimizer == "adagrad":
        optimizer = AdaGrad(eps=1.0, **common)
    elif settings.optimizer == "ftrl":
        # Without L1 nothing depends on the size of weights.
        optimizer = GrowingFtrl(
            settings.l1 * rows_a_step,
            steps=steps if falls else None,
            scale=scale if settings.l1 else None,
            **common,
        )
    elif settings.optimizer == "adam":
        optimizer = Adam(rescale_grad=mean, lazy_update=True, **common)
    else:
        optimizer = SGD(rescale_grad=mean, lazy_update=True, **common)
    optimizer.set_lr_mult(dict(rates))
    return optimizer


class GrowingFtrl(Ftrl):
    """FTRL-proximal that ends at the minimum of `mean loss + l1 |w|`.

    Three things keep plain FTRL from it, and are different here:

    - With a fixed `lamda1`, L1 rules the first updates and hardly matters after many epochs. Here it
      grows with the gradients that are summed up (regularized dual averaging; Xiao, 2010).
    - With gradients that all count the same the last steps are not much smaller than those in the
      middle, and the weights wander about the minimum. A rate that falls is no help, as the rate
      stands in what the state means. Here the gradients and the growth of L1 count less and less
      instead, down to nothing, which makes the steps smaller and keeps the balance of the two.
    - A state of zeros means weights of zero, whatever they start with. Here it means the first ones.

    The squares start at 1, so that `beta` is not needed. Where columns were scaled for the training,
    gradients are multiplied by `scale` and the squares start at its square: that scales the state and
    leaves the weights as they are, but for L1, which is then that of unscaled columns.

    Args:
      lamda1: what an update adds to the L1 term. The bias has none.
      steps: how many updates until gradients count nothing; None: all count the same.
      scale: `(width,)`, what the columns of all parameters but the bias were divided by; None for
        nothing.
      **kwargs: of `Ftrl`.
    """

    def __init__(
        self, lamda1: float, *, steps: int | None, scale: np.ndarray | None = None, **kwargs: Any
    ):
        super().__init__(lamda1, beta=0.0, **kwargs)
        self.steps = steps
        self._scale = None if scale is None else scale.astype(np.float32)[:, None]

    def create_state(self, index: Any, weight: Handle) -> tuple:
        """z and n, and where columns were scaled their scale, `(width, 1)`."""
        first = weight.asnumpy()  # pyright: ignore[reportAttributeAccessIssue]
        scale = None if self._is_bias(index) else self._scale
        root = np.broadcast_to(np.float32(1) if scale is None else scale, first.shape)
        z, n = -first * root / np.float32(self._get_lr(index)), np.square(root)
        n = np.maximum(n, np.finfo(np.float32).tiny)
        return (array(z), array(n), *(() if scale is None else (array(scale),)))

    def hyper(self, index: Any) -> dict[str, float]:
        numbers = super().hyper(index)
        count = self._index_update_count[index]
        counts = 1.0 if self.steps is None else max(1.0 - count / (self.steps + 1), 0.0)
        return {**numbers, "rescale_grad": counts, "lamda1": self._lamda1_after(index, count)}

    def apply(self, index: Any, weight: Handle, grad: Handle, state: Any, hyper: Any) -> None:
        z, n, *scale = state
        if scale:
            value = grad._value
            assert isinstance(value, BCOO)
            rows = row_sparse_rows(value)
            data = value.data * take_rows(scale[0]._value, rows)
            grad = Handle._wrap(row_sparse(data, rows, value.shape))
        super().apply(index, weight, grad, (z, n), hyper)

    def weights(self, index: Any, z: np.ndarray, n: np.ndarray) -> np.ndarray:
        """The weights of a parameter that a state means now.

        A lazy weight is as old as the last batch that had its column, and L1 has grown since.
        """
        lamda1 = self._lamda1_after(index, self.num_update)
        return refreshed_ftrl(z, n, self._get_lr(index), lamda1)

    def _lamda1_after(self, index: Any, count: int) -> float:
        """The L1 term after so many updates."""
        if self._is_bias(index):
            return 0.0
        if self.steps is None:
            return self.lamda1 * count
        count = min(count, self.steps)
        return self.lamda1 * (count - count * (count + 1) / (2.0 * (self.steps + 1)))

    def _is_bias(self, index: Any) -> bool:
        return self.idx2name.get(index) == "bias"


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
    whole, rest = divmod(rows, batch_size)
    # Of the batches of an epoch, so many have the column; the last one may be short.
    batches = whole * _chance(counts, rows, batch_size) + _chance(counts, rows, rest)
    strength = np.divide(l2 * rows, batches, out=np.zeros(len(counts)), where=counts > 0)
    if scale is not None:
        strength /= np.square(scale, dtype=np.float64)
    return strength.astype(np.float32)[:, None]


def _chance(counts: np.ndarray, rows: int, size: int) -> np.ndarray:
    """The chance that some of `size` rows out of `rows` is one of `counts` rows, float64.

    It is `1 - C(rows - count, size) / C(rows, size)`. With Beta functions in place of factorials a
    column of one row in a billion keeps its digits.
    """
    count = np.clip(counts, 1, rows).astype(np.float64)
    others = rows - count
    with np.errstate(invalid="ignore", over="ignore"):
        missed = betaln(others + 1, count) - betaln(others - size + 1, count)
    return np.where(others < size, 1.0, -np.expm1(missed)) if size else np.zeros(len(count))


def refreshed_ftrl(z: np.ndarray, n: np.ndarray, lr: float, lamda1: float) -> np.ndarray:
    """The weights that the state of FTRL without `beta` means.

    Args:
      z, n: the state; `n` positive.
      lr: the learning rate.
      lamda1: the L1 term.
    """
    weight = (np.sign(z) * lamda1 - z) * lr / np.sqrt(n)
    return np.where(np.abs(z) > lamda1, weight, 0.0).astype(z.dtype)
